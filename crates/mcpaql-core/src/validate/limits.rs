//! Size limits of calls. Each value is walked once before the more expensive checks, and the walk ends at the first
//! exceeded limit.

use serde_json::Value;

/// The maximum sizes of a call and its response. Published to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeLimits {
    /// Bytes of the parameters as JSON.
    pub request_bytes: usize,
    /// Bytes of the response as JSON.
    pub response_bytes: usize,
    /// Bytes of one string or key.
    pub string_bytes: usize,
    /// Elements of one array, or fields of one object.
    pub array_items: usize,
    /// Nesting depth of objects and arrays, including the object of parameters.
    pub depth: usize,
}

impl SizeLimits {
    /// The limits of the protocol.
    pub const DEFAULT: SizeLimits = SizeLimits {
        request_bytes: 1 << 20,
        response_bytes: 10 << 20,
        string_bytes: 1 << 20,
        array_items: 10_000,
        depth: 32,
    };
}

impl Default for SizeLimits {
    fn default() -> Self {
        SizeLimits::DEFAULT
    }
}

/// Which characters the strings of a parameter may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRule {
    /// No U+0000.
    NoNul,
    /// No character below U+0020 except the tab, and no U+007F.
    NoControl,
}

/// The limit or text rule that a value exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitExceeded {
    Request { maximum: usize },
    String { actual: usize, maximum: usize },
    Items { actual: usize, maximum: usize },
    Depth { maximum: usize },
    Nul,
    Control,
}

pub(super) struct SizeChecker<'l> {
    limits: &'l SizeLimits,
    /// Lower bound of the size as JSON: escapes and most digits are not counted.
    bytes: usize,
}

impl<'l> SizeChecker<'l> {
    pub(super) fn new(limits: &'l SizeLimits) -> Self {
        SizeChecker { limits, bytes: 1 }
    }

    pub(super) fn param(&mut self, name: &str, value: &Value, rule: TextRule) -> Result<(), LimitExceeded> {
        self.add(name.len() + 4)?;
        self.walk(value, rule, 2)
    }

    fn add(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.bytes = self.bytes.saturating_add(bytes);
        let maximum = self.limits.request_bytes;
        if self.bytes > maximum { Err(LimitExceeded::Request { maximum }) } else { Ok(()) }
    }

    fn walk(&mut self, value: &Value, rule: TextRule, depth: usize) -> Result<(), LimitExceeded> {
        match value {
            Value::Null => self.add(4),
            Value::Bool(_) => self.add(4),
            Value::Number(_) => self.add(1),
            Value::String(text) => self.text(text, rule),
            Value::Array(items) => {
                self.container(items.len(), depth)?;
                items.iter().try_for_each(|item| {
                    self.add(1)?;
                    self.walk(item, rule, depth + 1)
                })
            }
            Value::Object(fields) => {
                self.container(fields.len(), depth)?;
                fields.iter().try_for_each(|(key, value)| {
                    self.add(2)?;
                    self.text(key, rule)?;
                    self.walk(value, rule, depth + 1)
                })
            }
        }
    }

    fn container(&mut self, length: usize, depth: usize) -> Result<(), LimitExceeded> {
        if depth > self.limits.depth {
            return Err(LimitExceeded::Depth { maximum: self.limits.depth });
        }
        if length > self.limits.array_items {
            return Err(LimitExceeded::Items { actual: length, maximum: self.limits.array_items });
        }
        self.add(1)
    }

    fn text(&mut self, text: &str, rule: TextRule) -> Result<(), LimitExceeded> {
        if text.len() > self.limits.string_bytes {
            return Err(LimitExceeded::String { actual: text.len(), maximum: self.limits.string_bytes });
        }
        self.add(text.len() + 2)?;
        match rule {
            TextRule::NoNul if text.bytes().any(|byte| byte == 0) => Err(LimitExceeded::Nul),
            TextRule::NoControl if text.bytes().any(|byte| byte != b'\t' && byte.is_ascii_control()) => {
                Err(LimitExceeded::Control)
            }
            TextRule::NoNul | TextRule::NoControl => Ok(()),
        }
    }
}
