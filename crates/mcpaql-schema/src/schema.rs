//! JSON Schema for parameters: the keywords that describe them, compiled once into an arena.
//!
//! ```
//! use mcpaql_schema::schema::SchemaSet;
//! use serde_json::json;
//!
//! let (mut schemas, _) = SchemaSet::compile(&Default::default());
//! let (limit, problems) = schemas.add(&json!({"type": "integer", "minimum": 1}), "/limit");
//! assert!(problems.is_empty());
//! assert!(schemas.check(limit, &json!(5)).is_empty());
//! assert_eq!(schemas.check(limit, &json!("5")).len(), 1);
//! ```
//!
//! Two rules are deliberately lenient:
//!
//! - `oneOf` accepts a value that matches *at least* one variant. Variants of real documents overlap, and the target
//!   decides in the end.
//! - `nullable: true` accepts `null` regardless of the other keywords.
//!
//! What always holds:
//!
//! - Compiling never fails. Wrong parts of a schema are reported and then not enforced.
//! - A check walks the compiled schema and always ends: depth and steps are bounded, and types that refer only to
//!   themselves are replaced.
//! - A violation describes what the schema expects, never the value that was sent.
//!
//! Named types may refer to each other as `#/types/Name`, also recursively.

mod check;
mod compile;
mod cycles;
mod export;
mod format;
mod integers;
pub mod keywords;
mod pattern;
#[cfg(any(test, feature = "strategies"))]
pub mod strategies;
#[cfg(test)]
mod tests;

use crate::reader::is_integral;
pub use crate::reader::type_name;
pub use keywords::nearest_type;
pub use pattern::pattern_mistake;
pub use pattern::translate;

use crate::diagnostic::Diagnostic;
use format::StringFormat;
use indexmap::IndexMap;
use pattern::{SchemaPattern, SchemaPatternCache};
use serde_json::{Number, Value};
use std::fmt::{self, Write};
use std::sync::Arc;

/// A problem in a schema, with a pointer such as `/types/Issue/properties/state`.
pub type SchemaProblem = Diagnostic;

/// A compiled schema of a [`SchemaSet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SchemaId(u32);

/// All compiled schemas of an adapter.
#[derive(Debug, Clone, Default)]
pub struct SchemaSet {
    nodes: Vec<SchemaNode>,
    names: IndexMap<String, SchemaId>,
    patterns: SchemaPatternCache,
}

impl SchemaSet {
    /// Compiles the named types. Problems are reported at `/types/NAME`.
    #[must_use]
    pub fn compile(types: &IndexMap<String, Value>) -> (SchemaSet, Vec<SchemaProblem>) {
        compile::types(types)
    }

    /// Compiles one more schema, which may refer to the named types. Problems are reported below `pointer`.
    pub fn add(&mut self, schema: &Value, pointer: &str) -> (SchemaId, Vec<SchemaProblem>) {
        compile::schema(self, schema, pointer)
    }

    /// Returns the violations of `value`: none if it is valid, at most ten otherwise.
    #[must_use]
    pub fn check(&self, id: SchemaId, value: &Value) -> Vec<Violation> {
        check::check(self, id, value)
    }

    /// Replaces whole floats (`1.0`, `1e3`) with integers where the schema expects an integer.
    pub fn normalize_integers(&self, id: SchemaId, value: &mut Value) {
        integers::normalize_integers(self, id, value);
    }

    /// Returns the named type.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SchemaId> {
        self.names.get(name).copied()
    }

    fn node(&self, id: SchemaId) -> Option<&SchemaNode> {
        self.nodes.get(id.0 as usize)
    }

    /// Returns the JSON types that a schema accepts. Follows references and variants to a limited depth.
    fn types(&self, id: SchemaId, fuel: u8) -> TypeSet {
        let (Some(node), Some(fuel)) = (self.node(id), fuel.checked_sub(1)) else {
            return TypeSet::ANY;
        };
        let mut set = node.types;
        if let Some(rules) = &node.rules {
            for &id in rules.reference.iter().chain(&rules.all_of) {
                set = set.intersection(self.types(id, fuel));
            }
            for variants in &rules.choices {
                let any = variants
                    .iter()
                    .take(16)
                    .fold(TypeSet::NONE, |set, &id| set.union(self.types(id, fuel / 2)));
                set = set.intersection(any);
            }
        }
        if node.nullable { set.union(TypeSet::NULL) } else { set }
    }
}

/// One violation of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The path inside the value; empty for the value itself.
    pub path: Vec<PathPart>,
    /// The schema marks this value as a secret (`sensitive: true` or `format: password`).
    pub sensitive: bool,
    /// The kind of violation.
    pub kind: ViolationKind,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// A declared property.
    Field(String),
    /// A key that the caller chose.
    Key(String),
    /// A position in an array.
    Index(usize),
}

/// The kind of a violation.
#[derive(Debug, Clone, PartialEq)]
pub enum ViolationKind {
    /// The value has another JSON type.
    Type {
        /// `integer`, `string | null`.
        expected: String,
        /// The type of the value.
        actual: &'static str,
    },
    /// A required property is missing.
    Missing {
        /// The property.
        field: String,
    },
    /// A closed object has a property that it does not declare.
    UnknownField {
        /// The property.
        field: String,
        /// The declared properties.
        valid: Vec<String>,
        /// The declared property with the nearest name.
        nearest: Option<String>,
    },
    /// The type is right, but the value is not allowed.
    Value {
        /// The rule as a fragment: `must be one of 'open', 'closed'`.
        fragment: String,
        /// The violated keywords with their values: `{"enum": ["open", "closed"]}`.
        allowed: Value,
        /// The enum value with the nearest spelling.
        nearest: Option<String>,
    },
    /// None of several forms matches.
    NoVariant {
        /// The first violation of each form, in the order of the schema.
        forms: Vec<Violation>,
    },
    /// The value is nested too deeply.
    TooDeep,
    /// The check would take too long.
    TooComplex,
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViolationKind::Type { expected, actual } => write!(f, "expected '{expected}', got '{actual}'"),
            ViolationKind::Missing { field } => {
                write!(f, "is missing required field '{}'", shorten(field, 64))
            }
            ViolationKind::UnknownField { field, nearest, .. } => {
                write!(f, "has unknown field '{}'", shorten(field, 64))?;
                nearest.iter().try_for_each(|name| write!(f, ", did you mean '{name}'?"))
            }
            ViolationKind::Value { fragment, .. } => f.write_str(fragment),
            ViolationKind::NoVariant { forms } => {
                f.write_str("matches none of its forms")?;
                for (index, form) in forms.iter().enumerate() {
                    f.write_str(if index == 0 { ": " } else { "; or " })?;
                    f.write_str(&path_text("", &form.path))?;
                    f.write_str(if form.path.is_empty() { "" } else { " " })?;
                    write!(f, "{}", form.kind)?;
                }
                Ok(())
            }
            ViolationKind::TooDeep => f.write_str("is nested too deeply"),
            ViolationKind::TooComplex => f.write_str("is too large to be checked against its schema"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "'{}' ", path_text("", &self.path))?;
        }
        write!(f, "{}", self.kind)
    }
}

/// Writes a path below the parameter `base`, as people write it: `labels[2].name`.
#[must_use]
pub fn path_text(base: &str, path: &[PathPart]) -> String {
    let mut out = base.to_owned();
    for part in path {
        match part {
            PathPart::Index(index) => {
                let _ = write!(out, "[{index}]");
            }
            PathPart::Field(key) | PathPart::Key(key) => {
                if !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
                    let dot = if out.is_empty() { "" } else { "." };
                    let _ = write!(out, "{dot}{}", shorten(key, 64));
                } else {
                    let _ = write!(out, "[\"{}\"]", shorten(key, 64).escape_debug());
                }
            }
        }
    }
    out
}

/// Shortens a text to `max` characters and `…`.
#[must_use]
pub fn shorten(text: &str, max: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => text.into(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
    }
}

/// Returns the required property names of an object schema: its `required` list, and properties with `required: true`,
/// as in parameters.
pub fn required_fields(schema: &Value) -> Vec<&str> {
    let listed =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let flagged = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, property)| property.get("required") == Some(&Value::Bool(true)))
        .map(|(name, _)| name.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in listed.chain(flagged) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Maximum depth in a schema to search for files.
const MAX_FILE_DEPTH: usize = 8;

/// Returns whether a schema describes base64 data, directly, in a variant or in the items of a list. In a multipart
/// body, such a value is a file.
#[must_use]
pub fn is_file(schema: &Value) -> bool {
    is_file_within(schema, MAX_FILE_DEPTH)
}

fn is_file_within(schema: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let has = |key: &str, word: &str| schema.get(key).and_then(Value::as_str) == Some(word);
    has("format", "byte")
        || has("format", "binary")
        || has("contentEncoding", "base64")
        || schema.get("items").is_some_and(|items| is_file_within(items, depth))
        || ["anyOf", "oneOf", "allOf"].iter().any(|key| {
            let variants = schema.get(*key).and_then(Value::as_array);
            variants.into_iter().flatten().any(|variant| is_file_within(variant, depth))
        })
}

/// A set of JSON types. A whole number is `INTEGER`, any other is `FRACTION`; `number` is both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TypeSet(u8);

impl TypeSet {
    const NONE: TypeSet = TypeSet(0);
    const NULL: TypeSet = TypeSet(1);
    const BOOLEAN: TypeSet = TypeSet(2);
    const INTEGER: TypeSet = TypeSet(4);
    const FRACTION: TypeSet = TypeSet(8);
    const NUMBER: TypeSet = TypeSet(4 | 8);
    const STRING: TypeSet = TypeSet(16);
    const ARRAY: TypeSet = TypeSet(32);
    const OBJECT: TypeSet = TypeSet(64);
    const ANY: TypeSet = TypeSet(127);

    fn named(name: &str) -> Option<TypeSet> {
        Some(match name {
            "null" => TypeSet::NULL,
            "boolean" => TypeSet::BOOLEAN,
            "integer" => TypeSet::INTEGER,
            "number" => TypeSet::NUMBER,
            "string" => TypeSet::STRING,
            "array" => TypeSet::ARRAY,
            "object" => TypeSet::OBJECT,
            _ => return None,
        })
    }

    fn of(value: &Value) -> TypeSet {
        match value {
            Value::Null => TypeSet::NULL,
            Value::Bool(_) => TypeSet::BOOLEAN,
            Value::Number(number) if is_integral(number) => TypeSet::INTEGER,
            Value::Number(_) => TypeSet::FRACTION,
            Value::String(_) => TypeSet::STRING,
            Value::Array(_) => TypeSet::ARRAY,
            Value::Object(_) => TypeSet::OBJECT,
        }
    }

    const fn contains(self, other: TypeSet) -> bool {
        self.0 & other.0 == other.0
    }

    const fn intersects(self, other: TypeSet) -> bool {
        self.0 & other.0 != 0
    }

    const fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    const fn intersection(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    fn label(self) -> String {
        const NAMES: [(TypeSet, &str); 6] = [
            (TypeSet::STRING, "string"),
            (TypeSet::INTEGER, "integer"),
            (TypeSet::BOOLEAN, "boolean"),
            (TypeSet::ARRAY, "array"),
            (TypeSet::OBJECT, "object"),
            (TypeSet::NULL, "null"),
        ];
        let names: Vec<&str> = NAMES
            .into_iter()
            .filter(|(set, _)| {
                self.contains(*set) || (*set == TypeSet::INTEGER && self.intersects(TypeSet::NUMBER))
            })
            .map(
                |(_, name)| {
                    if name == "integer" && self.contains(TypeSet::FRACTION) { "number" } else { name }
                },
            )
            .collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" | ") }
    }
}

/// A compiled schema. Most schemas are plain types and need no rules.
#[derive(Debug, Clone)]
struct SchemaNode {
    types: TypeSet,
    nullable: bool,
    sensitive: bool,
    rules: Option<Box<Rules>>,
}

impl SchemaNode {
    const ANY: SchemaNode =
        SchemaNode { types: TypeSet::ANY, nullable: false, sensitive: false, rules: None };
    const NEVER: SchemaNode =
        SchemaNode { types: TypeSet::NONE, nullable: false, sensitive: false, rules: None };
}

/// The rules of a schema in addition to its types.
#[derive(Debug, Clone, Default)]
struct Rules {
    literals: Option<Vec<Value>>,
    number: Option<NumberRules>,
    string: Option<StringRules>,
    array: Option<ArrayRules>,
    object: Option<ObjectRules>,
    reference: Option<SchemaId>,
    all_of: Vec<SchemaId>,
    /// `anyOf` and `oneOf`, each with its variants.
    choices: Vec<Vec<SchemaId>>,
    not: Option<SchemaId>,
}

#[derive(Debug, Clone, Default)]
struct NumberRules {
    /// The bound, and whether it is exclusive.
    minimum: Option<(Number, bool)>,
    maximum: Option<(Number, bool)>,
    multiple_of: Option<Number>,
}

#[derive(Debug, Clone, Default)]
struct StringRules {
    min: Option<u64>,
    max: Option<u64>,
    pattern: Option<Arc<SchemaPattern>>,
    /// The pattern as the author wrote it, for messages.
    pattern_text: String,
    format: Option<StringFormat>,
}

#[derive(Debug, Clone, Default)]
struct ArrayRules {
    prefix: Vec<SchemaId>,
    items: Option<SchemaId>,
    min: Option<u64>,
    max: Option<u64>,
    unique: bool,
}

#[derive(Debug, Clone)]
struct ObjectRules {
    properties: IndexMap<String, SchemaId>,
    required: Vec<String>,
    patterns: Vec<(Arc<SchemaPattern>, SchemaId)>,
    additional: AdditionalRule,
    min: Option<u64>,
    max: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdditionalRule {
    Any,
    None,
    Schema(SchemaId),
}
