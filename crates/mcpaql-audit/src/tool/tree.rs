//! All schemas and texts of a tool, collected in one walk.
//!
//! What always holds: the walk does not recurse, so nesting can be arbitrarily deep. It copies nothing. Pointers are built only for
//! findings, because most of a tool is correct.

use super::reference::{self, Reference};
use crate::text::prefilter::Prefilter;
use mcpaql_core::reader::child;
use mcpaql_core::schema::keywords::{KeywordValue, keyword_value};
use mcpaql_lexicon::poison::{PoisonFinding, TextRole, scan};
use serde_json::{Map, Value};

/// The parts of a tool that clients show to models or people.
#[derive(Debug, Default)]
pub(crate) struct ToolTree<'a> {
    steps: Vec<PointerStep<'a>>,
    /// The schemas in document order, starting with the root of the input schema.
    pub(crate) schemas: Vec<Schema<'a>>,
    /// The texts in document order.
    pub(crate) texts: Vec<ToolText<'a>>,
    /// Poisoned texts, found once for several rules.
    pub(crate) poison: Vec<PoisonedText>,
    /// The references, in the order of the schemas.
    pub(crate) references: Vec<Reference<'a>>,
}

/// A poisoned text.
#[derive(Debug)]
pub(crate) struct PoisonedText {
    /// Index of the text.
    pub(crate) text: usize,
    /// What it does.
    pub(crate) finding: PoisonFinding,
}

/// The position of a value in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreePosition(u32);

#[derive(Debug)]
struct PointerStep<'a> {
    parent: u32,
    key: StepKey<'a>,
}

#[derive(Debug, Clone, Copy)]
enum StepKey<'a> {
    Name(&'a str),
    Index(usize),
}

/// A schema that is an object; there is nothing to check in `true` and `false`.
#[derive(Debug)]
pub(crate) struct Schema<'a> {
    /// Bits of the keywords that rules look up, because lookups in the map are slow.
    keywords: u32,
    /// Its keywords.
    pub(crate) map: &'a Map<String, Value>,
    /// Its position.
    pub(crate) at: TreePosition,
    /// Whether it belongs to the input schema, not the output schema.
    pub(crate) is_input: bool,
    /// Number of values around the described value.
    pub(crate) depth: usize,
    /// Index of the enclosing schema.
    pub(crate) parent: Option<usize>,
    /// Whether it describes the same value as the enclosing schema: a variant or a condition.
    pub(crate) is_variant: bool,
}

/// Returns a member of an object. With few members, comparing is faster than hashing.
#[inline]
pub(crate) fn member<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    const MAX_LINEAR_MEMBERS: usize = 10;
    if map.len() > MAX_LINEAR_MEMBERS {
        return map.get(key);
    }
    map.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value)
}

/// Returns a member of a value, if the value is an object.
#[inline]
pub(crate) fn value_member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.as_object().and_then(|map| member(map, key))
}

/// Returns the bit of a keyword that rules look up, or 0 for other keywords.
///
/// A `match`, so that the compiler computes it for literals.
#[inline]
fn bit(keyword: &str) -> u32 {
    match keyword {
        "type" => 1 << 0,
        "enum" => 1 << 1,
        "default" => 1 << 2,
        "$ref" => 1 << 3,
        "required" => 1 << 4,
        "pattern" => 1 << 5,
        "items" => 1 << 6,
        "prefixItems" => 1 << 7,
        "anyOf" => 1 << 8,
        "oneOf" => 1 << 9,
        "allOf" => 1 << 10,
        "const" => 1 << 11,
        "nullable" => 1 << 12,
        "exclusiveMinimum" => 1 << 13,
        "exclusiveMaximum" => 1 << 14,
        "format" => 1 << 15,
        "properties" => 1 << 16,
        "$id" => 1 << 17,
        "id" => 1 << 18,
        "$anchor" => 1 << 19,
        "patternProperties" => 1 << 20,
        "if" => 1 << 21,
        "dependentSchemas" => 1 << 22,
        _ => 0,
    }
}

impl<'a> Schema<'a> {
    /// Returns the value of a keyword.
    #[inline]
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        let bit = bit(key);
        // A keyword without a bit has to be looked up in the map.
        (bit == 0 || self.keywords & bit != 0).then(|| member(self.map, key)).flatten()
    }

    /// Returns whether the schema has a keyword.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Prose: descriptions and titles.
    Prose,
    /// The name of a property.
    Name,
    /// Anything else: values of enums, defaults, examples, patterns.
    Other,
}

/// A text anywhere in a tool.
#[derive(Debug)]
pub(crate) struct ToolText<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: TreePosition,
    pub(crate) kind: TextKind,
    /// The result of the prefilter.
    pub(crate) prefilter: Prefilter,
}

struct Visit<'a> {
    value: &'a Value,
    at: u32,
    role: KeywordValue,
    kind: TextKind,
    is_input: bool,
    depth: usize,
    parent: Option<usize>,
    is_variant: bool,
}

impl<'a> ToolTree<'a> {
    pub(crate) fn of(value: &'a Value) -> ToolTree<'a> {
        let Some(tool) = value.as_object() else { return ToolTree::default() };
        // Capacities that are enough for most tools.
        let mut tree = ToolTree {
            steps: Vec::with_capacity(96),
            schemas: Vec::with_capacity(16),
            texts: Vec::with_capacity(64),
            ..ToolTree::default()
        };
        for key in ["title", "description"] {
            if let Some(Value::String(text)) = member(tool, key) {
                let at = tree.step(u32::MAX, StepKey::Name(key));
                tree.text(text, at, TextKind::Prose);
            }
        }
        if let Some(Value::String(text)) =
            member(tool, "annotations").and_then(|value| value_member(value, "title"))
        {
            let parent = tree.step(u32::MAX, StepKey::Name("annotations"));
            let at = tree.step(parent, StepKey::Name("title"));
            tree.text(text, at, TextKind::Prose);
        }
        for key in ["inputSchema", "outputSchema"] {
            if let Some(value) = member(tool, key) {
                let at = tree.step(u32::MAX, StepKey::Name(key));
                let is_input = key == "inputSchema";
                tree.walk(Visit {
                    value,
                    at,
                    role: KeywordValue::Schema,
                    kind: TextKind::Other,
                    is_input,
                    depth: 0,
                    parent: None,
                    is_variant: false,
                });
            }
        }
        tree.references = reference::tool_references(&tree, value);
        tree.poison = tree.poisoned_texts(tool);
        tree
    }

    fn poisoned_texts(&self, tool: &'a Map<String, Value>) -> Vec<PoisonedText> {
        let own = member(tool, "name").and_then(Value::as_str);
        let properties = member(tool, "inputSchema").and_then(|schema| value_member(schema, "properties"));
        let is_own =
            |name: &str| own == Some(name) || properties.is_some_and(|all| value_member(all, name).is_some());
        let scanned = self.texts.iter().enumerate().flat_map(|(index, text)| {
            let role = match text.kind {
                TextKind::Prose => {
                    self.property_of(text.at).map_or(TextRole::Description, TextRole::Parameter)
                }
                TextKind::Name => TextRole::Name,
                TextKind::Other => TextRole::Value,
            };
            scan(text.text, role, &is_own)
                .into_iter()
                .map(move |finding| PoisonedText { text: index, finding })
        });
        scanned.collect()
    }

    /// Returns the property that a position is in.
    fn property_of(&self, at: TreePosition) -> Option<&'a str> {
        let step = |index: u32| self.steps.get(index as usize);
        let mut here = step(at.0)?;
        loop {
            let around = step(here.parent)?;
            if let (StepKey::Name("properties"), StepKey::Name(name)) = (around.key, here.key) {
                return Some(name);
            }
            here = around;
        }
    }

    /// Returns the pointer of a position.
    pub(crate) fn pointer(&self, at: TreePosition) -> String {
        let mut keys = Vec::new();
        let mut here = at.0;
        while let Some(step) = self.steps.get(here as usize) {
            keys.push(step.key);
            here = step.parent;
        }
        keys.iter().rev().fold(String::new(), |pointer, key| match key {
            StepKey::Name(name) => child(&pointer, name),
            StepKey::Index(index) => format!("{pointer}/{index}"),
        })
    }

    /// Returns the pointer of a keyword of a schema.
    pub(crate) fn keyword_pointer(&self, at: TreePosition, key: &str) -> String {
        child(&self.pointer(at), key)
    }

    /// Returns whether a schema describes a top-level parameter.
    pub(crate) fn is_parameter(&self, schema: &Schema<'a>) -> bool {
        let step = |index: u32| self.steps.get(index as usize);
        let among = step(schema.at.0).and_then(|own| step(own.parent)).map(|around| around.key);
        schema.is_input && schema.depth == 1 && matches!(among, Some(StepKey::Name("properties")))
    }

    /// Returns the schemas of the input.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Schema<'a>> {
        self.schemas.iter().filter(|schema| schema.is_input)
    }

    fn text(&mut self, text: &'a str, at: u32, kind: TextKind) {
        self.texts.push(ToolText { text, at: TreePosition(at), kind, prefilter: Prefilter::of(text) });
    }

    fn step(&mut self, parent: u32, key: StepKey<'a>) -> u32 {
        let index = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.steps.push(PointerStep { parent, key });
        index
    }

    fn walk(&mut self, root: Visit<'a>) {
        let mut open = vec![root];
        while let Some(visit) = open.pop() {
            match visit.value {
                Value::String(text) => {
                    self.text(text, visit.at, visit.kind);
                }
                Value::Array(items) => {
                    let role = match visit.role {
                        KeywordValue::Named | KeywordValue::NamedVariants | KeywordValue::Data => {
                            KeywordValue::Data
                        }
                        _ => KeywordValue::Schema,
                    };
                    let from = open.len();
                    for (index, value) in items.iter().enumerate() {
                        let at = self.step(visit.at, StepKey::Index(index));
                        open.push(Visit { value, at, role, ..visit });
                    }
                    reverse(&mut open, from);
                }
                Value::Object(map) => self.members(&visit, map, &mut open),
                _ => {}
            }
        }
    }

    fn members(&mut self, visit: &Visit<'a>, map: &'a Map<String, Value>, open: &mut Vec<Visit<'a>>) {
        let from = open.len();
        match visit.role {
            KeywordValue::Schema | KeywordValue::Variant => self.keywords(visit, map, open),
            role => {
                let role = if role == KeywordValue::Data { KeywordValue::Data } else { KeywordValue::Schema };
                for (key, value) in map {
                    let at = self.step(visit.at, StepKey::Name(key));
                    self.text(key, at, TextKind::Name);
                    open.push(Visit { value, at, role, kind: TextKind::Other, ..*visit });
                }
            }
        }
        reverse(open, from);
    }

    fn keywords(&mut self, visit: &Visit<'a>, map: &'a Map<String, Value>, open: &mut Vec<Visit<'a>>) {
        let Visit { is_input, depth, is_variant, .. } = *visit;
        let own = self.schemas.len();
        let mut keywords = 0;
        for (key, value) in map {
            let at = self.step(visit.at, StepKey::Name(key));
            keywords |= bit(key);
            let role = keyword_value(key);
            let is_variant =
                matches!(role, KeywordValue::Variant | KeywordValue::Variants | KeywordValue::NamedVariants);
            let kind = match key.as_str() {
                "description" | "title" => TextKind::Prose,
                _ => TextKind::Other,
            };
            let depth = if is_variant { depth } else { depth + 1 };
            open.push(Visit { value, at, role, kind, is_input, depth, parent: Some(own), is_variant });
        }
        let (at, parent) = (TreePosition(visit.at), visit.parent);
        self.schemas.push(Schema { keywords, map, at, is_input, depth, parent, is_variant });
    }
}

/// Reverses the new entries of the stack, so that they are visited in document order.
fn reverse(open: &mut [Visit<'_>], from: usize) {
    if let Some(pushed) = open.get_mut(from..) {
        pushed.reverse();
    }
}
