//! Reads types from JSON Schemas. Each named type is read once. Keywords that are not about types are left to validation.
//!
//! If several keywords describe a value, each one alone allows everything that the schema allows, so the most specific one is
//! used.

use super::nullable::{resolve_nullable_types, union};
use super::{
    Definition, DefinitionKind, IdentifierScope, LanguageStyle, ModelField, Type, identifier, type_name,
};
use indexmap::IndexMap;
use mcpaql_core::operation::{Operation, Param, fills_default};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Maximum depth of a schema; deeper parts are any value.
const MAX_DEPTH: usize = 24;
/// Maximum number of schemas that are read for one parameter or named type; further ones are any value.
const MAX_STEPS: usize = 20_000;
/// Maximum number of literals; a longer list becomes their common type.
const MAX_LITERALS: usize = 100;
/// Maximum number of variants; a longer list becomes any value.
const MAX_VARIANTS: usize = 50;

type Types = IndexMap<String, Value>;

/// Reads the schemas of one adapter.
pub(super) struct SchemaReader<'c, 's> {
    style: &'s LanguageStyle,
    scope: IdentifierScope,
    definitions: Vec<DefinitionSlot>,
    /// Declared name → its identifiers. Operations with types of their own can use one name for different types.
    known: HashMap<&'c str, Vec<(&'c Value, String)>>,
    waiting: Vec<PendingDefinition<'c>>,
    steps: usize,
}

/// A definition, and whether it allows null.
pub(super) struct DefinitionSlot {
    pub(super) definition: Definition,
    pub(super) nullable: bool,
}

struct PendingDefinition<'c> {
    slot: usize,
    body: &'c Value,
    types: &'c Types,
}

/// The type that a schema describes.
struct ReadType {
    what: TypeOrFields,
    null: bool,
}

enum TypeOrFields {
    Type(Type),
    Object { fields: Vec<ModelField>, rest: Option<Type> },
}

impl ReadType {
    const ANY: ReadType = ReadType { what: TypeOrFields::Type(Type::Any), null: true };

    fn of(kind: Type) -> ReadType {
        ReadType { what: TypeOrFields::Type(kind), null: false }
    }

    /// Returns how specific the type is.
    fn rank(&self) -> u8 {
        match &self.what {
            TypeOrFields::Object { .. }
            | TypeOrFields::Type(Type::Literals(_) | Type::Integer | Type::WideInteger | Type::Named(_)) => 4,
            TypeOrFields::Type(Type::Any) => 0,
            TypeOrFields::Type(Type::List(inner) | Type::Map(inner)) if **inner == Type::Any => 1,
            TypeOrFields::Type(Type::Union(_)) => 2,
            TypeOrFields::Type(_) => 3,
        }
    }

    /// Returns the more specific of both types. It allows null only if both do.
    fn intersect(self, other: ReadType) -> ReadType {
        let null = self.null && other.null;
        let what = if other.rank() > self.rank() { other.what } else { self.what };
        ReadType { what, null }
    }
}

impl<'c, 's> SchemaReader<'c, 's> {
    pub(super) fn new(style: &'s LanguageStyle) -> SchemaReader<'c, 's> {
        SchemaReader {
            style,
            scope: IdentifierScope::new(style.types),
            definitions: Vec::new(),
            known: HashMap::new(),
            waiting: Vec::new(),
            steps: 0,
        }
    }

    /// Reserves the name of a type that is defined elsewhere.
    pub(super) fn reserve(&mut self, name: &str) -> String {
        self.scope.take(name)
    }

    /// Returns the parameters of an operation whose schemas refer to these types.
    pub(super) fn params(&mut self, operation: &'c Operation, types: &'c Types) -> Vec<ModelField> {
        let mut scope = IdentifierScope::new(self.style.reserved);
        operation.params.iter().map(|param| self.param(operation, param, types, &mut scope)).collect()
    }

    /// Returns the result of an operation, if the document declares it.
    pub(super) fn result(&mut self, operation: &'c Operation, types: &'c Types) -> Option<ModelField> {
        let returns = operation.returns.as_ref().filter(|_| self.style.results)?;
        self.steps = 0;
        let (kind, nullable) =
            self.kind(&returns.schema, types, &format!("{}_result", operation.name), 0).split_null();
        Some(ModelField {
            name: String::new(),
            ident: String::new(),
            required: true,
            nullable,
            sensitive: false,
            docs: returns.description.clone(),
            kind,
            default: None,
        })
    }

    fn param(
        &mut self,
        operation: &Operation,
        param: &'c Param,
        types: &'c Types,
        scope: &mut IdentifierScope,
    ) -> ModelField {
        let filled = fills_default(operation, param);
        self.steps = 0;
        let hint = format!("{}_{}", operation.name, param.name);
        let (kind, nullable) = self.kind(&param.schema, types, &hint, 0).split_null();
        ModelField {
            ident: scope.take(&identifier(&param.name, self.style.fields)),
            name: param.name.clone(),
            required: param.required && !filled,
            nullable,
            sensitive: param.sensitive || is_secret(&param.schema),
            docs: param.description.clone(),
            kind,
            default: param.default.clone().filter(|_| filled && !param.sensitive),
        }
    }

    /// Returns the type of a schema. An inline object gets a name.
    fn kind(&mut self, schema: &'c Value, types: &'c Types, hint: &str, depth: usize) -> Type {
        let ReadType { what, null } = self.read(schema, types, hint, depth);
        let kind = match what {
            TypeOrFields::Type(kind) => kind,
            TypeOrFields::Object { fields, rest } => {
                let slot = self.define(hint, docs(schema));
                self.fill(slot, DefinitionKind::Object { fields, rest }, false)
            }
        };
        if null { union(vec![kind, Type::Null]) } else { kind }
    }

    fn read(&mut self, schema: &'c Value, types: &'c Types, hint: &str, depth: usize) -> ReadType {
        self.steps += 1;
        let Value::Object(map) = schema else { return ReadType::ANY };
        if depth > MAX_DEPTH || self.steps > MAX_STEPS {
            return ReadType::ANY;
        }
        let mut read = self.typed(map, types, hint, depth);
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            read = read.intersect(self.reference(target, types));
        }
        if let Some(literals) = literals(map) {
            read = read.intersect(literals);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Value::Array(variants)) = map.get(key) {
                read = read.intersect(self.choice(variants, types, hint, depth));
            }
        }
        if let Some(Value::Array(parts)) = map.get("allOf") {
            read = self.read_all_of(map, parts, read, types, hint, depth);
        }
        // `nullable` allows null, whatever the other keywords say.
        read.null |= map.get("nullable") == Some(&Value::Bool(true));
        read
    }

    /// Returns the type from `type` and the keywords that belong to it.
    fn typed(&mut self, map: &'c Map<String, Value>, types: &'c Types, hint: &str, depth: usize) -> ReadType {
        match map.get("type") {
            Some(Value::String(kind)) => self.one_type(kind, map, types, hint, depth),
            Some(Value::Array(kinds)) if !kinds.is_empty() => {
                let several = kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>();
                if several.len() < kinds.len() {
                    return ReadType::ANY;
                }
                match several.iter().copied().filter(|kind| *kind != "null").collect::<Vec<_>>().as_slice() {
                    [] => ReadType { what: TypeOrFields::Type(Type::Null), null: true },
                    [one] => {
                        let read = self.one_type(one, map, types, hint, depth);
                        ReadType { null: read.null || several.contains(&"null"), ..read }
                    }
                    kinds => {
                        let variants = kinds.iter().map(|kind| {
                            let read = self.one_type(kind, map, types, hint, depth);
                            self.named(read, map, hint)
                        });
                        let variants = variants.collect();
                        split(union(variants), several.contains(&"null"))
                    }
                }
            }
            _ if declared(map).is_some() => {
                let read = self.object(map, types, hint, depth);
                ReadType { null: false, ..read }
            }
            _ => ReadType::ANY,
        }
    }

    fn one_type(
        &mut self,
        kind: &str,
        map: &'c Map<String, Value>,
        types: &'c Types,
        hint: &str,
        depth: usize,
    ) -> ReadType {
        match kind {
            "null" => ReadType { what: TypeOrFields::Type(Type::Null), null: true },
            "boolean" => ReadType::of(Type::Boolean),
            "integer" => ReadType::of(if is_wide(map) { Type::WideInteger } else { Type::Integer }),
            "number" => ReadType::of(Type::Number),
            "string" => ReadType::of(Type::String),
            "array" => {
                let tuple = map.contains_key("prefixItems");
                let items = map.get("items").filter(|items| items.is_object() && !tuple);
                let inner = items.map(|items| self.kind(items, types, hint, depth + 1));
                ReadType::of(Type::List(Box::new(inner.unwrap_or(Type::Any))))
            }
            "object" => self.object(map, types, hint, depth),
            _ => ReadType::ANY,
        }
    }

    fn object(
        &mut self,
        map: &'c Map<String, Value>,
        types: &'c Types,
        hint: &str,
        depth: usize,
    ) -> ReadType {
        let rest = self.undeclared_keys_type(map, types, hint, depth);
        let Some(properties) = declared(map) else {
            return ReadType::of(Type::Map(Box::new(rest.unwrap_or(Type::Any))));
        };
        let required = required(map);
        let mut scope = IdentifierScope::new(self.style.reserved);
        let fields = properties.iter().map(|(name, schema)| {
            let hint = format!("{hint}_{name}");
            let marked = schema.get("required") == Some(&Value::Bool(true));
            let (kind, nullable) = self.kind(schema, types, &hint, depth + 1).split_null();
            ModelField {
                ident: scope.take(&identifier(name, self.style.fields)),
                name: name.clone(),
                required: marked || required.contains(&name.as_str()),
                nullable,
                sensitive: is_secret(schema),
                docs: docs(schema),
                kind,
                default: None,
            }
        });
        let fields = fields.collect();
        ReadType { what: TypeOrFields::Object { fields, rest }, null: false }
    }

    /// Returns the type of undeclared keys.
    fn undeclared_keys_type(
        &mut self,
        map: &'c Map<String, Value>,
        types: &'c Types,
        hint: &str,
        depth: usize,
    ) -> Option<Type> {
        let patterns =
            map.get("patternProperties").and_then(Value::as_object).is_some_and(|map| !map.is_empty());
        match map.get("additionalProperties") {
            Some(Value::Bool(false)) if !patterns => None,
            Some(schema @ Value::Object(_)) if !patterns => {
                Some(self.kind(schema, types, &format!("{hint}_value"), depth + 1))
            }
            _ => Some(Type::Any),
        }
    }

    fn choice(&mut self, variants: &'c [Value], types: &'c Types, hint: &str, depth: usize) -> ReadType {
        if variants.is_empty() || variants.len() > MAX_VARIANTS {
            return ReadType::ANY;
        }
        let variants = variants.iter().map(|variant| self.kind(variant, types, hint, depth + 1));
        let variants = variants.collect();
        split(union(variants), false)
    }

    /// Returns the combined type of a schema and its `allOf` parts: the fields of all of them if they are objects.
    fn read_all_of(
        &mut self,
        map: &'c Map<String, Value>,
        parts: &'c [Value],
        own: ReadType,
        types: &'c Types,
        hint: &str,
        depth: usize,
    ) -> ReadType {
        let telling: Vec<&'c Value> = parts.iter().filter(|part| has_type_keywords(part)).collect();
        if let ([one], None) = (telling.as_slice(), declared(map)) {
            return own.intersect(self.read(one, types, hint, depth + 1));
        }
        let mut reads = vec![own];
        for part in telling {
            // The fields of a named object are copied, so that one type has all fields.
            let target = part.get("$ref").and_then(Value::as_str).and_then(|target| resolved(target, types));
            let part = target.map_or(part, |(_, body)| body);
            reads.push(self.read(part, types, hint, depth + 1));
        }
        let null = reads.iter().all(|read| read.null);
        let mut objects = reads.iter_mut().filter_map(|read| match &mut read.what {
            TypeOrFields::Object { fields, .. } => Some(std::mem::take(fields)),
            TypeOrFields::Type(_) => None,
        });
        let Some(mut fields) = objects.next() else {
            return reads.into_iter().reduce(ReadType::intersect).unwrap_or(ReadType::ANY);
        };
        for field in objects.flatten() {
            match fields.iter_mut().find(|known| known.name == field.name) {
                Some(known) => known.required |= field.required,
                None => fields.push(field),
            }
        }
        let required: Vec<&str> = parts.iter().filter_map(Value::as_object).flat_map(required).collect();
        let mut scope = IdentifierScope::new(self.style.reserved);
        for field in &mut fields {
            field.required |= required.contains(&field.name.as_str());
            field.ident = scope.take(&identifier(&field.name, self.style.fields));
        }
        ReadType { what: TypeOrFields::Object { fields, rest: Some(Type::Any) }, null }
    }

    fn reference(&mut self, target: &str, types: &'c Types) -> ReadType {
        let Some((name, body)) = resolved(target, types) else { return ReadType::ANY };
        let known = self.known.get(name).into_iter().flatten().find(|(known, _)| *known == body);
        if let Some((_, ident)) = known {
            return ReadType::of(Type::Named(ident.clone()));
        }
        let slot = self.define(name, docs(body));
        self.waiting.push(PendingDefinition { slot, body, types });
        let ident = self.definitions.get(slot).map(|slot| slot.definition.ident.clone()).unwrap_or_default();
        self.known.entry(name).or_default().push((body, ident.clone()));
        ReadType::of(Type::Named(ident))
    }

    /// Defines a type for an object.
    fn named(&mut self, read: ReadType, map: &Map<String, Value>, hint: &str) -> Type {
        match read.what {
            TypeOrFields::Type(kind) => kind,
            TypeOrFields::Object { fields, rest } => {
                let docs = map.get("description").and_then(Value::as_str).unwrap_or_default();
                let slot = self.define(hint, docs.to_owned());
                self.fill(slot, DefinitionKind::Object { fields, rest }, read.null)
            }
        }
    }

    fn define(&mut self, name: &str, docs: String) -> usize {
        let ident = self.scope.take(&type_name(name));
        let definition = Definition { ident, docs, shape: DefinitionKind::Alias(Type::Any) };
        self.definitions.push(DefinitionSlot { definition, nullable: false });
        self.definitions.len() - 1
    }

    fn fill(&mut self, slot: usize, shape: DefinitionKind, nullable: bool) -> Type {
        let Some(slot) = self.definitions.get_mut(slot) else { return Type::Any };
        slot.definition.shape = shape;
        slot.nullable = nullable;
        Type::Named(slot.definition.ident.clone())
    }

    /// Returns all types and the used names. `fields` are the fields of parameters and results.
    pub(super) fn finish(mut self, fields: Vec<&mut Vec<ModelField>>) -> (Vec<Definition>, IdentifierScope) {
        while let Some(PendingDefinition { slot, body, types }) = self.waiting.pop() {
            self.steps = 0;
            let hint =
                self.definitions.get(slot).map(|slot| slot.definition.ident.clone()).unwrap_or_default();
            let ReadType { what, null } = self.read(body, types, &hint, 0);
            let shape = match what {
                TypeOrFields::Type(kind) => DefinitionKind::Alias(kind),
                TypeOrFields::Object { fields, rest } => DefinitionKind::Object { fields, rest },
            };
            self.fill(slot, shape, null);
        }
        (resolve_nullable_types(self.definitions, fields), self.scope)
    }
}

/// Returns whether the format or a bound allows integers that a double cannot hold exactly.
fn is_wide(map: &Map<String, Value>) -> bool {
    const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
    let says =
        |key: &str| map.get(key).and_then(Value::as_f64).is_some_and(|bound| bound.abs() > MAX_SAFE_INTEGER);
    let format = map.get("format").and_then(Value::as_str);
    let bounded =
        |key: &str| map.get(key).and_then(Value::as_f64).is_some_and(|bound| bound.abs() <= MAX_SAFE_INTEGER);
    let is_long = matches!(format, Some("int64" | "uint64")) && !(bounded("minimum") && bounded("maximum"));
    is_long || says("minimum") || says("maximum")
}

/// Returns the declared type that a reference refers to.
fn resolved<'t>(target: &str, types: &'t Types) -> Option<(&'t str, &'t Value)> {
    let name = target.strip_prefix("#/types/")?.replace("~1", "/").replace("~0", "~");
    types.get_key_value(&name).map(|(name, body)| (name.as_str(), body))
}

/// Returns the properties of an object, if it has any.
fn declared(map: &Map<String, Value>) -> Option<&Map<String, Value>> {
    map.get("properties").and_then(Value::as_object).filter(|properties| !properties.is_empty())
}

fn required(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a schema has keywords about types.
fn has_type_keywords(schema: &Value) -> bool {
    const TYPE_KEYWORDS: [&str; 9] =
        ["$ref", "type", "properties", "items", "enum", "const", "oneOf", "anyOf", "allOf"];
    TYPE_KEYWORDS.iter().any(|key| schema.get(key).is_some())
}

fn docs(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn is_secret(schema: &Value) -> bool {
    schema.get("sensitive") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

/// Returns the type from `const` or `enum`; `None` if they contain other values than literals.
fn literals(map: &Map<String, Value>) -> Option<ReadType> {
    let values = match (map.get("const"), map.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values.as_slice(),
        _ => return None,
    };
    let null = values.contains(&Value::Null);
    let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
    let all = |test: fn(&Value) -> bool| values.iter().all(test);
    if values.is_empty() {
        return null.then_some(ReadType { what: TypeOrFields::Type(Type::Null), null });
    }
    let plain = all(|value| value.is_boolean() || value.is_i64() || value.is_u64() || value.is_string());
    let kind = if plain && values.len() <= MAX_LITERALS {
        union(vec![Type::Literals(values)])
    } else if all(Value::is_string) {
        Type::String
    } else if all(|value| value.is_i64() || value.is_u64()) {
        Type::Integer
    } else if all(Value::is_number) {
        Type::Number
    } else {
        return None;
    };
    Some(ReadType { what: TypeOrFields::Type(kind), null })
}

fn split(kind: Type, null: bool) -> ReadType {
    let any = kind == Type::Any;
    let (kind, split) = kind.split_null();
    let only = kind == Type::Null;
    ReadType { what: TypeOrFields::Type(kind), null: null || split || any || only }
}
