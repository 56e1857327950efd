//! One walk over a value that ends as soon as a limit is passed, before anything more expensive looks at it.

use serde_json::Value;

/// How large a call and its answer may be; published to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeLimits {
    /// The parameters of a call as JSON.
    pub request_bytes: usize,
    /// The answer as JSON.
    pub response_bytes: usize,
    /// One string or key.
    pub string_bytes: usize,
    /// The elements of one array, or the fields of one object.
    pub array_items: usize,
    /// Objects and arrays inside each other, the parameters' own object included.
    pub depth: usize,
}

impl SizeLimits {
    /// The protocol's own.
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

/// Which characters a parameter's texts may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRule {
    Any,
    NoNul,
    /// Nothing below U+0020 but the tab, and no U+007F.
    NoControl,
}

/// What went beyond.
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
    /// Never more than the size as JSON: escapes and most digits are not counted.
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
            TextRule::Any => Ok(()),
            TextRule::NoNul if text.bytes().any(|byte| byte == 0) => Err(LimitExceeded::Nul),
            TextRule::NoControl if text.bytes().any(|byte| byte != b'\t' && byte.is_ascii_control()) => {
                Err(LimitExceeded::Control)
            }
            TextRule::NoNul | TextRule::NoControl => Ok(()),
        }
    }
}
