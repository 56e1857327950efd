//! Writes a schema as the text of a type. It always fits on one line.

use super::bounds::{bounds, default_comment, only_length};
use super::{key, pascal_case, type_name};
use crate::schema::{required_fields, shorten};
use crate::tokens;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::cell::RefCell;

/// Maximum values of an enum on the line. A longer one is cut.
const MAX_ENUM_VALUES: usize = 8;
/// The same for a parameter that a call needs.
const MAX_NEEDED_ENUM_VALUES: usize = 16;
/// Maximum estimated tokens of a named type that is written out on the line.
const MAX_INLINE_TYPE_TOKENS: usize = 56;
/// Number of values that a cut enum shows.
const ENUM_SAMPLE: usize = 4;
/// Number of values that an enum shows if it does not fit below the line either.
const LARGE_ENUM_SAMPLE: usize = 48;
/// Maximum fields of an object on the line.
const MAX_INLINE_FIELDS: usize = 4;
/// Maximum nesting depth. Schemas for people are never deeper.
const MAX_DEPTH: usize = 12;
/// Formats that tell how a string must look. The others do not help a caller.
const SHOWN_FORMATS: [&str; 11] =
    ["date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "byte", "binary"];

/// How much of a type is written.
#[derive(Clone, Copy)]
pub(super) struct TypeFormat<'l> {
    /// Maximum values of an enum, and the number of values that are shown of a longer enum.
    pub(super) enums: Option<(usize, usize)>,
    /// Depth down to which objects of any size are written inline.
    pub(super) expand: usize,
    /// Whether to write bounds, patterns and defaults of the target.
    pub(super) hints: bool,
    /// Collects types that do not fit on the line.
    pub(super) hoisted: Option<&'l HoistedTypes<'l>>,
    /// Types that are written out if they are small.
    pub(super) types: Option<&'l IndexMap<String, Value>>,
    /// Whether this is the body of such a type. The types in it are not written out.
    pub(super) nested: bool,
}

/// Types that do not fit on the line, each with a name that is not in use yet.
pub(super) struct HoistedTypes<'t> {
    taken: &'t IndexMap<String, Value>,
    owner: RefCell<String>,
    types: RefCell<IndexMap<String, Value>>,
}

impl<'t> HoistedTypes<'t> {
    pub(super) fn new(taken: &'t IndexMap<String, Value>) -> HoistedTypes<'t> {
        HoistedTypes { taken, owner: RefCell::default(), types: RefCell::default() }
    }

    /// Sets the parameter that the next types belong to.
    pub(super) fn owned_by(&self, name: &str) {
        *self.owner.borrow_mut() = pascal_case(name);
    }

    /// Returns the name of a type. Equal schemas share a name.
    fn name(&self, schema: &Value) -> String {
        let mut types = self.types.borrow_mut();
        if let Some((name, _)) = types.iter().find(|(_, known)| *known == schema) {
            return name.clone();
        }
        let owner = self.owner.borrow();
        let base = if owner.is_empty() { "Value" } else { owner.as_str() };
        let free = |name: &String| !self.taken.contains_key(name) && !types.contains_key(name);
        let numbered = (2..).map(|n: usize| format!("{base}{n}"));
        let name = std::iter::once(base.to_owned()).chain(numbered).find(free).unwrap_or_default();
        types.insert(name.clone(), schema.clone());
        name
    }

    pub(super) fn into_types(self) -> IndexMap<String, Value> {
        self.types.into_inner()
    }
}

/// The text of a type, and whether it needs parentheses before `[]`.
struct TypeText {
    text: String,
    compound: bool,
}

impl TypeText {
    fn plain(text: impl Into<String>) -> TypeText {
        TypeText { text: text.into(), compound: false }
    }

    /// Joins distinct texts with a separator.
    fn joined(parts: impl IntoIterator<Item = TypeText>, separator: &str) -> TypeText {
        let mut distinct: IndexMap<String, bool> = IndexMap::new();
        for part in parts {
            distinct.insert(part.text, part.compound);
        }
        let compound = distinct.len() > 1 || distinct.values().any(|compound| *compound);
        TypeText { text: distinct.into_keys().collect::<Vec<_>>().join(separator), compound }
    }

    fn in_parentheses(self) -> TypeText {
        if self.compound { TypeText::plain(format!("({})", self.text)) } else { self }
    }
}

impl TypeFormat<'_> {
    /// For a line: only small types.
    pub(super) const LINE: TypeFormat<'static> = TypeFormat {
        enums: Some((MAX_ENUM_VALUES, ENUM_SAMPLE)),
        expand: 0,
        hints: false,
        hoisted: None,
        types: None,
        nested: false,
    };
    /// For a parameter that a call needs: larger enums, too.
    pub(super) const NEEDED: TypeFormat<'static> =
        TypeFormat { enums: Some((MAX_NEEDED_ENUM_VALUES, ENUM_SAMPLE)), ..TypeFormat::LINE };
    /// For a single type: small objects, complete enums.
    pub(super) const TYPE: TypeFormat<'static> = TypeFormat { enums: None, ..TypeFormat::LINE };
    /// For the body of a named type: everything.
    pub(super) const FULL: TypeFormat<'static> =
        TypeFormat { enums: None, expand: usize::MAX, hints: true, ..TypeFormat::LINE };
    /// For the body of a named type that does not fit.
    pub(super) const FLAT: TypeFormat<'static> =
        TypeFormat { enums: Some((LARGE_ENUM_SAMPLE, LARGE_ENUM_SAMPLE)), expand: 1, ..TypeFormat::FULL };

    pub(super) fn text(self, schema: &Value) -> String {
        self.render(schema, 0).text
    }

    fn render(self, schema: &Value, depth: usize) -> TypeText {
        let map = match schema {
            Value::Object(map) if depth <= MAX_DEPTH => map,
            Value::Bool(false) => return TypeText::plain("never"),
            _ => return TypeText::plain("any"),
        };
        let body = self.body(schema, map, depth);
        let nullable = map.get("nullable") == Some(&Value::Bool(true));
        if nullable && body.text != "any" && !body.text.split('|').any(|part| part.trim() == "null") {
            return TypeText { text: format!("{} | null", body.text), compound: true };
        }
        body
    }

    fn body(self, schema: &Value, map: &Map<String, Value>, depth: usize) -> TypeText {
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            let name = type_name(target);
            return self.written_out(&name, depth).unwrap_or_else(|| TypeText::plain(name));
        }
        if let Some(value) = map.get("const") {
            return TypeText::plain(literal(value));
        }
        if let Some(values) = map.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            return self.enumeration(values);
        }
        let list = |name: &str| map.get(name).and_then(Value::as_array).into_iter().flatten();
        let is_known = |text: &TypeText| text.text != "any";
        let variants: Vec<TypeText> =
            list("oneOf").chain(list("anyOf")).map(|variant| self.render(variant, depth + 1)).collect();
        let parts: Vec<TypeText> =
            list("allOf").map(|part| self.render(part, depth + 1)).filter(is_known).collect();
        // Variants that only add conditions say nothing about the type.
        let variants = if variants.iter().any(is_known) { variants } else { Vec::new() };
        if variants.is_empty() && parts.is_empty() {
            return self.own(schema, map, depth);
        }
        let own = map.contains_key("properties").then(|| self.own(schema, map, depth));
        let choice = (!variants.is_empty()).then(|| TypeText::joined(variants, " | "));
        let mut all: Vec<TypeText> = own.into_iter().chain(parts).chain(choice).collect();
        match all.pop() {
            Some(only) if all.is_empty() => only,
            last => TypeText::joined(all.into_iter().chain(last).map(TypeText::in_parentheses), " & "),
        }
    }

    /// Writes a named type instead of its name, if it is small and says more. A type in a type is only an object.
    fn written_out(self, name: &str, depth: usize) -> Option<TypeText> {
        let schema = self.types?.get(name)?;
        if self.nested {
            return schema.get("properties").map(|_| TypeText::plain("object"));
        }
        let text = TypeFormat { nested: true, expand: depth + 2, ..self }.render(schema, depth + 1);
        let is_known = !matches!(text.text.as_str(), "any" | "object");
        (is_known && tokens::estimate(&text.text) <= MAX_INLINE_TYPE_TOKENS).then_some(text)
    }

    /// Writes the type that `type` and related keywords describe.
    fn own(self, schema: &Value, map: &Map<String, Value>, depth: usize) -> TypeText {
        match map.get("type") {
            Some(Value::String(name)) => self.typed(name, schema, map, depth),
            Some(Value::Array(names)) if names.iter().any(Value::is_string) => {
                let parts =
                    names.iter().filter_map(Value::as_str).map(|name| self.typed(name, schema, map, depth));
                TypeText::joined(parts, " | ")
            }
            _ if map.contains_key("properties") => self.typed("object", schema, map, depth),
            _ if map.contains_key("items") => self.typed("array", schema, map, depth),
            _ => TypeText::plain("any"),
        }
    }

    fn typed(self, name: &str, schema: &Value, map: &Map<String, Value>, depth: usize) -> TypeText {
        let format = map.get("format").and_then(Value::as_str).filter(|name| SHOWN_FORMATS.contains(name));
        let text = match (name, format) {
            ("string", Some(format)) => return TypeText::plain(format!("string({format})")),
            ("object", _) => return self.object(schema, map, depth),
            ("array", _) => self.array(map, depth),
            ("string" | "integer" | "number" | "boolean" | "null", _) => name.to_owned(),
            _ => return TypeText::plain("any"),
        };
        let hint = if self.hints { bounds(name, map) } else { None };
        TypeText::plain(hint.map_or(text.clone(), |hint| format!("{text}({hint})")))
    }

    fn array(self, map: &Map<String, Value>, depth: usize) -> String {
        let tuple = |items: &[Value]| {
            let parts: Vec<String> = items.iter().map(|item| self.render(item, depth + 1).text).collect();
            format!("[{}]", parts.join(", "))
        };
        match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(items)), _) | (None, Some(Value::Array(items))) => tuple(items),
            (_, Some(items)) => {
                let form = TypeFormat { hints: self.hints && !only_length(items), ..self };
                format!("{}[]", form.render(items, depth + 1).in_parentheses().text)
            }
            _ => "any[]".to_owned(),
        }
    }

    fn object(self, schema: &Value, map: &Map<String, Value>, depth: usize) -> TypeText {
        let properties = map.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty());
        let small = |properties: &Map<String, Value>| {
            properties.len() <= MAX_INLINE_FIELDS && properties.values().all(is_flat)
        };
        if depth >= self.expand && properties.is_some_and(|properties| !small(properties)) {
            return TypeText::plain(self.hoisted.map_or("object".to_owned(), |hoisted| hoisted.name(schema)));
        }
        let rest = map.get("additionalProperties").filter(|rest| rest.is_object());
        let rest = rest.map(|rest| format!("[key]: {}", self.render(rest, depth + 1).text));
        let Some(properties) = properties else {
            return TypeText::plain(rest.map_or("object".to_owned(), |rest| format!("{{{rest}}}")));
        };
        let required = required_fields(schema);
        let fields = properties.iter().map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            let text = self.render(property, depth + 1).text;
            let default = property.get("default").filter(|_| self.hints).and_then(default_comment);
            format!("{}{mark}: {text}{}", key(name), default.unwrap_or_default())
        });
        let fields: Vec<String> = fields.chain(rest).collect();
        TypeText::plain(format!("{{ {} }}", fields.join(", ")))
    }

    fn enumeration(self, values: &[Value]) -> TypeText {
        let cut = self.enums.filter(|(long, _)| values.len() > *long);
        if let (Some(_), Some(hoisted)) = (cut, self.hoisted) {
            return TypeText::plain(hoisted.name(&Value::from_iter([("enum", values.to_vec())])));
        }
        let shown = cut.map_or(values.len(), |(_, sample)| sample);
        let mut parts: Vec<String> = values.iter().take(shown).map(literal).collect();
        if cut.is_some() {
            parts.push(format!("…({})", values.len()));
        }
        TypeText { compound: parts.len() > 1, text: parts.join("|") }
    }
}

/// Returns whether a schema is a scalar, a named type, or a list of these.
fn is_flat(schema: &Value) -> bool {
    let is_simple = |schema: &Value| {
        ["$ref", "enum", "const"].iter().any(|key| schema.get(key).is_some())
            || matches!(
                schema.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "number" | "boolean")
            )
    };
    is_simple(schema)
        || schema.get("type").is_some_and(|t| t == "array") && schema.get("items").is_some_and(is_simple)
}

/// Writes a value. It is complete unless it is very long, because callers must be able to copy it.
fn literal(value: &Value) -> String {
    shorten(&value.to_string(), 256).into_owned()
}
