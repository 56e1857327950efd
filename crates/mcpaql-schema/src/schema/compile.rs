//! Compiles JSON Schema into nodes.
//!
//! What always holds: a keyword that cannot be understood is reported and then allows every value, so one bad keyword
//! never removes an operation.

use super::format::StringFormat;
use super::{
    AdditionalRule, ArrayRules, NumberRules, ObjectRules, Rules, SchemaId, SchemaNode, SchemaProblem,
    SchemaSet, StringRules, TypeSet, required_fields, shorten, type_name,
};
use super::{cycles, keywords, pattern};
use crate::diagnostic::Severity;
use crate::error::Code;
use crate::reader::short_value;
use crate::suggest::nearest;
use indexmap::IndexMap;
use serde_json::{Map, Number, Value};

/// Maximum nesting depth of a schema. Deeper schemas are reported and cut; real documents are never that deep.
const MAX_DEPTH: usize = 64;

pub(super) fn types(types: &IndexMap<String, Value>) -> (SchemaSet, Vec<SchemaProblem>) {
    let mut schemas = SchemaSet::default();
    // All names get an id before any type is compiled, so types may refer to each other in any order.
    for name in types.keys() {
        let id = push(&mut schemas, SchemaNode::ANY);
        schemas.names.insert(name.clone(), id);
    }
    let mut compiler = SchemaCompiler {
        schemas: &mut schemas,
        problems: Vec::new(),
        pointer: "/types".to_owned(),
        depth: 0,
    };
    for (name, schema) in types {
        let node = compiler.with_pointer(&[name], |compiler| compiler.node(schema));
        if let Some(id) = compiler.schemas.named(name)
            && let Some(slot) = compiler.schemas.nodes.get_mut(id.0 as usize)
        {
            *slot = node;
        }
    }
    let mut problems = compiler.problems;
    cycles::break_cycles(&mut schemas, &mut problems);
    (schemas, problems)
}

pub(super) fn schema(
    schemas: &mut SchemaSet,
    schema: &Value,
    pointer: &str,
) -> (SchemaId, Vec<SchemaProblem>) {
    let mut compiler =
        SchemaCompiler { schemas, problems: Vec::new(), pointer: pointer.to_owned(), depth: 0 };
    let id = compiler.add(schema);
    (id, compiler.problems)
}

fn push(schemas: &mut SchemaSet, node: SchemaNode) -> SchemaId {
    let id = SchemaId(u32::try_from(schemas.nodes.len()).unwrap_or(u32::MAX));
    schemas.nodes.push(node);
    id
}

struct SchemaCompiler<'s> {
    schemas: &'s mut SchemaSet,
    problems: Vec<SchemaProblem>,
    pointer: String,
    depth: usize,
}

impl SchemaCompiler<'_> {
    fn add(&mut self, schema: &Value) -> SchemaId {
        let node = self.node(schema);
        push(self.schemas, node)
    }

    fn add_below(&mut self, parts: &[&str], schema: &Value) -> SchemaId {
        self.with_pointer(parts, |compiler| compiler.add(schema))
    }

    /// Runs `f` with `parts` appended to the pointer.
    fn with_pointer<R>(&mut self, parts: &[&str], f: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.pointer.len();
        for part in parts {
            self.pointer.push('/');
            for ch in part.chars() {
                match ch {
                    '~' => self.pointer.push_str("~0"),
                    '/' => self.pointer.push_str("~1"),
                    _ => self.pointer.push(ch),
                }
            }
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        self.pointer.truncate(length);
        result
    }

    fn error(&self, code: Code, key: &str, message: String) -> SchemaProblem {
        let pointer =
            if key.is_empty() { self.pointer.clone() } else { format!("{}/{}", self.pointer, escape(key)) };
        SchemaProblem::error(code, pointer, message)
    }

    fn wrong_type(&mut self, key: &str, expected: &str, found: &Value) {
        let mut problem = self
            .error(Code::SchemaInvalidType, key, format!("'{key}' must be {expected}"))
            .expected(expected)
            .found(type_name(found));
        if let Some(text) = found.as_str()
            && serde_json::from_str::<Value>(text).is_ok_and(|value| !value.is_string())
        {
            problem = problem.suggest(format!("{key}: {text}"));
        }
        self.problems.push(problem);
    }

    fn node(&mut self, schema: &Value) -> SchemaNode {
        let map = match schema {
            Value::Bool(true) => return SchemaNode::ANY,
            Value::Bool(false) => return SchemaNode::NEVER,
            Value::Object(map) => map,
            other => {
                let problem = self
                    .error(Code::SchemaInvalidType, "", "a schema must be an object".to_owned())
                    .expected("mapping")
                    .found(type_name(other));
                self.problems.push(problem);
                return SchemaNode::ANY;
            }
        };
        if self.depth > MAX_DEPTH {
            let text = format!("the schema is nested more than {MAX_DEPTH} levels deep");
            let problem = self.error(Code::SchemaInvalidValue, "", text);
            self.problems.push(problem);
            return SchemaNode::ANY;
        }
        self.report_misspelled_keywords(map);
        let rules = Rules {
            literals: self.literals(map),
            number: self.number_rules(map),
            string: self.string_rules(map),
            array: self.array_rules(map),
            object: self.object_rules(map, schema),
            reference: self.reference(map),
            all_of: self.list(map, "allOf"),
            choices: ["anyOf", "oneOf"]
                .into_iter()
                .map(|key| self.list(map, key))
                .filter(|list| !list.is_empty())
                .collect(),
            not: map.get("not").map(|schema| self.add_below(&["not"], schema)),
        };
        let types = self.types(map, &rules);
        self.literal_types(map, types);
        let password = map.get("format").and_then(Value::as_str) == Some("password");
        SchemaNode {
            types,
            nullable: self.flag(map, "nullable"),
            sensitive: self.flag(map, "sensitive") || password,
            rules: rules.into_boxed(),
        }
    }

    fn types(&mut self, map: &Map<String, Value>, rules: &Rules) -> TypeSet {
        let names: Vec<&Value> = match map.get("type") {
            None => return rules.implied_types(),
            Some(Value::Array(names)) if !names.is_empty() => names.iter().collect(),
            Some(name @ Value::String(_)) => vec![name],
            Some(other) => {
                self.wrong_type("type", "a type name or a list of type names", other);
                return TypeSet::ANY;
            }
        };
        let mut set = TypeSet::NONE;
        for name in names {
            match name.as_str().map(|name| (name, TypeSet::named(name))) {
                Some((_, Some(one))) => set = set.union(one),
                Some((name, None)) => {
                    self.unknown_type(name);
                    set = TypeSet::ANY;
                }
                None => {
                    self.wrong_type("type", "a type name or a list of type names", name);
                    set = TypeSet::ANY;
                }
            }
        }
        set
    }

    fn unknown_type(&mut self, name: &str) {
        let lower = name.to_ascii_lowercase();
        let suggestion = if self.schemas.names.contains_key(name) {
            Some(format!("$ref: \"#/types/{name}\""))
        } else if lower == "any" {
            Some("remove 'type' to allow every value".to_owned())
        } else {
            keywords::nearest_type(&lower).map(|name| format!("type: {name}"))
        };
        let text = format!("'{}' is not a JSON type", shorten(name, 64));
        let mut problem = self
            .error(Code::SchemaInvalidValue, "type", text)
            .expected("string, integer, number, boolean, array, object or null")
            .found(shorten(name, 64));
        problem.suggestion = suggestion;
        self.problems.push(problem);
    }

    fn literals(&mut self, map: &Map<String, Value>) -> Option<Vec<Value>> {
        if let Some(value) = map.get("const") {
            return Some(vec![value.clone()]);
        }
        match map.get("enum")? {
            Value::Array(values) if !values.is_empty() => Some(values.clone()),
            Value::Array(_) => {
                let problem = self.error(
                    Code::SchemaInvalidValue,
                    "enum",
                    "'enum' must list one or more values".to_owned(),
                );
                self.problems.push(problem);
                None
            }
            other => {
                self.wrong_type("enum", "a list", other);
                None
            }
        }
    }

    /// Reports literals that can never be sent, because they do not have the declared type.
    fn literal_types(&mut self, map: &Map<String, Value>, types: TypeSet) {
        let (Some(declared), Some(Value::Array(values))) = (map.get("type"), map.get("enum")) else { return };
        let nullable = map.get("nullable") == Some(&Value::Bool(true));
        let fits = |value: &Value| types.contains(TypeSet::of(value)) || (nullable && value.is_null());
        let none = !values.iter().any(fits);
        for (index, value) in values.iter().enumerate().filter(|(_, value)| !fits(value)) {
            let declared = declared.as_str().map_or_else(|| types.label(), str::to_owned);
            let text = format!("the value {} of 'enum' is not of type {declared}", short_value(value));
            let mut problem =
                self.error(Code::SchemaInvalidValue, "enum", text).expected(declared).found(type_name(value));
            problem.pointer = format!("{}/{index}", problem.pointer);
            if !none {
                problem.severity = Severity::Warning;
            }
            self.problems.push(problem);
        }
    }

    /// Warns about a format that is nearly a known one. It would otherwise be ignored, as all unknown formats are.
    fn report_misspelled_format(&mut self, name: &str) {
        if let Some(known) = StringFormat::nearest_name(name) {
            let pointer = format!("{}/format", self.pointer);
            let text = format!("'{}' is not a known format", shorten(name, 64));
            let problem = SchemaProblem::warning(Code::SchemaInvalidValue, pointer, text)
                .found(shorten(name, 64))
                .suggest(format!("did you mean `{known}`?"));
            self.problems.push(problem);
        }
    }

    fn unusable_pattern(&mut self, pattern: &str) {
        let pointer = format!("{}/pattern", self.pointer);
        let problem = match pattern::pattern_mistake(pattern) {
            Some(mistake) => {
                let text = format!("the pattern is not a regular expression: {mistake}");
                SchemaProblem::error(Code::SchemaInvalidValue, pointer, text).expected("a regular expression")
            }
            None => {
                let text = "the pattern is not supported here, so only the target checks it";
                SchemaProblem::warning(Code::SchemaInvalidValue, pointer, text)
                    .expected("a regular expression without look-around and back references")
            }
        };
        self.problems.push(problem.found(shorten(pattern, 80)));
    }

    fn number_rules(&mut self, map: &Map<String, Value>) -> Option<NumberRules> {
        let minimum = self.bound(map, "minimum", "exclusiveMinimum");
        let maximum = self.bound(map, "maximum", "exclusiveMaximum");
        let multiple_of = self.number(map, "multipleOf").filter(|number| {
            let positive = number.as_f64().is_some_and(|float| float > 0.0);
            if !positive {
                let text = "'multipleOf' must be greater than 0".to_owned();
                let problem = self.error(Code::SchemaInvalidValue, "multipleOf", text);
                self.problems.push(problem);
            }
            positive
        });
        if let (Some((low, _)), Some((high, _))) = (&minimum, &maximum) {
            self.ordered("minimum", low.as_f64(), "maximum", high.as_f64());
        }
        let rules = NumberRules { minimum, maximum, multiple_of };
        let empty = rules.minimum.is_none() && rules.maximum.is_none() && rules.multiple_of.is_none();
        if empty { None } else { Some(rules) }
    }

    /// Returns a bound. The exclusive form is a number of its own, or a flag (draft 4) on the inclusive one.
    fn bound(&mut self, map: &Map<String, Value>, key: &str, exclusive: &str) -> Option<(Number, bool)> {
        let inclusive = self.number(map, key);
        match map.get(exclusive) {
            Some(Value::Bool(flag)) => inclusive.map(|number| (number, *flag)),
            _ => match (inclusive, self.number(map, exclusive)) {
                (Some(inclusive), Some(exclusive)) => {
                    let exclusive_wins = if key == "minimum" {
                        exclusive.as_f64() >= inclusive.as_f64()
                    } else {
                        exclusive.as_f64() <= inclusive.as_f64()
                    };
                    Some(if exclusive_wins { (exclusive, true) } else { (inclusive, false) })
                }
                (Some(inclusive), None) => Some((inclusive, false)),
                (None, exclusive) => exclusive.map(|number| (number, true)),
            },
        }
    }

    fn ordered<T: PartialOrd>(&mut self, low_key: &str, low: T, high_key: &str, high: T) {
        if low > high {
            let text = format!("'{low_key}' is greater than '{high_key}', so no value is allowed");
            let problem = self.error(Code::SchemaInvalidValue, "", text);
            self.problems.push(problem);
        }
    }

    fn string_rules(&mut self, map: &Map<String, Value>) -> Option<StringRules> {
        let (min, max) = self.range(map, "minLength", "maxLength");
        let pattern_text = self.text(map, "pattern").unwrap_or_default();
        let pattern = if pattern_text.is_empty() { None } else { self.schemas.patterns.read(pattern_text) };
        if pattern.is_none() && !pattern_text.is_empty() {
            self.unusable_pattern(pattern_text);
        }
        let format_name = self.text(map, "format").unwrap_or_default();
        let format = StringFormat::named(format_name);
        if format.is_none() {
            self.report_misspelled_format(format_name);
        }
        if min.is_none() && max.is_none() && pattern.is_none() && format.is_none() {
            return None;
        }
        Some(StringRules { min, max, pattern, pattern_text: pattern_text.to_owned(), format })
    }

    fn array_rules(&mut self, map: &Map<String, Value>) -> Option<ArrayRules> {
        let (min, max) = self.range(map, "minItems", "maxItems");
        let mut prefix = self.list(map, "prefixItems");
        let items = match map.get("items") {
            None => None,
            // The tuple form of older drafts, with `additionalItems` for the other items.
            Some(Value::Array(_)) => {
                prefix = self.list(map, "items");
                map.get("additionalItems").map(|schema| self.add_below(&["additionalItems"], schema))
            }
            Some(schema) => Some(self.add_below(&["items"], schema)),
        };
        let unique = self.flag(map, "uniqueItems");
        let empty = prefix.is_empty() && items.is_none() && min.is_none() && max.is_none() && !unique;
        if empty { None } else { Some(ArrayRules { prefix, items, min, max, unique }) }
    }

    fn object_rules(&mut self, map: &Map<String, Value>, schema: &Value) -> Option<ObjectRules> {
        let (min, max) = self.range(map, "minProperties", "maxProperties");
        let mut properties = IndexMap::new();
        for (name, property) in self.mapping(map, "properties").into_iter().flatten() {
            properties.insert(name.clone(), self.add_below(&["properties", name], property));
        }
        if let Some(required) = map.get("required")
            && !required.is_boolean()
            && !required.as_array().is_some_and(|names| names.iter().all(Value::is_string))
        {
            self.wrong_type("required", "a list of property names", required);
        }
        let required: Vec<String> = required_fields(schema).into_iter().map(str::to_owned).collect();
        let mut additional = match map.get("additionalProperties") {
            None | Some(Value::Bool(true)) => AdditionalRule::Any,
            Some(Value::Bool(false)) => AdditionalRule::None,
            Some(schema) => AdditionalRule::Schema(self.add_below(&["additionalProperties"], schema)),
        };
        let mut patterns = Vec::new();
        for (pattern, property) in self.mapping(map, "patternProperties").into_iter().flatten() {
            let id = self.add_below(&["patternProperties", pattern], property);
            match self.schemas.patterns.read(pattern) {
                Some(read) => patterns.push((read, id)),
                // Keys that the unsupported pattern matches cannot be told apart from unknown keys.
                None => additional = AdditionalRule::Any,
            }
        }
        let rules = ObjectRules { properties, required, patterns, additional, min, max };
        let empty = rules.properties.is_empty()
            && rules.required.is_empty()
            && rules.patterns.is_empty()
            && rules.additional == AdditionalRule::Any
            && min.is_none()
            && max.is_none();
        if empty { None } else { Some(rules) }
    }

    fn reference(&mut self, map: &Map<String, Value>) -> Option<SchemaId> {
        let target = self.text(map, "$ref")?;
        let name = target.strip_prefix("#/types/").map(|name| name.replace("~1", "/").replace("~0", "~"));
        if let Some(id) = name.as_deref().and_then(|name| self.schemas.named(name)) {
            return Some(id);
        }
        let last = target.rsplit('/').next().unwrap_or(target);
        let names = self.schemas.names.keys().map(String::as_str);
        let suggestion = nearest(name.as_deref().unwrap_or(last), names);
        let text = format!("'{}' refers to an undeclared type", shorten(target, 80));
        let mut problem = self
            .error(Code::SchemaUnresolvedRef, "$ref", text)
            .expected("#/types/NAME of a declared type")
            .found(shorten(target, 80));
        problem.suggestion = suggestion.map(|name| format!("$ref: \"#/types/{name}\""));
        self.problems.push(problem);
        None
    }

    /// Warns about a key that is nearly a keyword. It would otherwise be ignored.
    fn report_misspelled_keywords(&mut self, map: &Map<String, Value>) {
        for key in map.keys() {
            if let Some(keyword) = keywords::nearest_keyword(key) {
                let pointer = format!("{}/{}", self.pointer, escape(key));
                let text = format!("'{}' is not a keyword of JSON Schema", shorten(key, 64));
                let problem =
                    SchemaProblem::warning(Code::SchemaUnknownField, pointer, text).at_key().suggest(keyword);
                self.problems.push(problem);
            }
        }
    }

    fn list(&mut self, map: &Map<String, Value>, key: &str) -> Vec<SchemaId> {
        match map.get(key) {
            None => Vec::new(),
            Some(Value::Array(schemas)) => schemas
                .iter()
                .enumerate()
                .map(|(index, schema)| self.add_below(&[key, &index.to_string()], schema))
                .collect(),
            Some(other) => {
                self.wrong_type(key, "a list of schemas", other);
                Vec::new()
            }
        }
    }

    fn mapping<'v>(&mut self, map: &'v Map<String, Value>, key: &str) -> Option<&'v Map<String, Value>> {
        let value = map.get(key)?;
        if !value.is_object() {
            self.wrong_type(key, "a mapping of names to schemas", value);
        }
        value.as_object()
    }

    fn text<'v>(&mut self, map: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
        let value = map.get(key)?;
        if !value.is_string() {
            self.wrong_type(key, "a string", value);
        }
        value.as_str()
    }

    fn flag(&mut self, map: &Map<String, Value>, key: &str) -> bool {
        match map.get(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.wrong_type(key, "true or false", other);
                false
            }
        }
    }

    fn number(&mut self, map: &Map<String, Value>, key: &str) -> Option<Number> {
        match map.get(key)? {
            Value::Number(number) => Some(number.clone()),
            other => {
                self.wrong_type(key, "a number", other);
                None
            }
        }
    }

    /// Returns two counts; reports if the first is larger than the second.
    fn range(&mut self, map: &Map<String, Value>, low: &str, high: &str) -> (Option<u64>, Option<u64>) {
        let [min, max] = [low, high].map(|key| self.count(map, key));
        if let (Some(min), Some(max)) = (min, max) {
            self.ordered(low, min, high, max);
        }
        (min, max)
    }

    fn count(&mut self, map: &Map<String, Value>, key: &str) -> Option<u64> {
        let value = map.get(key)?;
        let float = value.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0);
        let count = value.as_u64().or(float.map(|float| float as u64));
        if count.is_none() {
            self.wrong_type(key, "a whole number, 0 or more", value);
        }
        count
    }
}

impl Rules {
    fn into_boxed(self) -> Option<Box<Rules>> {
        let empty = self.literals.is_none()
            && self.number.is_none()
            && self.string.is_none()
            && self.array.is_none()
            && self.object.is_none()
            && self.reference.is_none()
            && self.all_of.is_empty()
            && self.choices.is_empty()
            && self.not.is_none();
        if empty { None } else { Some(Box::new(self)) }
    }

    /// Returns the types of a schema without `type`: declared properties mean an object, declared items an array.
    fn implied_types(&self) -> TypeSet {
        if self.reference.is_some()
            || !self.all_of.is_empty()
            || !self.choices.is_empty()
            || self.literals.is_some()
        {
            return TypeSet::ANY;
        }
        let object = self.object.as_ref().is_some_and(|object| !object.properties.is_empty());
        let array = self.array.as_ref().is_some_and(|array| array.items.is_some());
        match (object, array) {
            (true, false) => TypeSet::OBJECT,
            (false, true) => TypeSet::ARRAY,
            _ => TypeSet::ANY,
        }
    }
}

pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
