//! Compiled schemas as data: one arena for all operations, in which equal nodes are one.
//!
//! What always holds: every number that stands for a node or a pattern is a place in the arena; only what a parameter leads to
//! is there; a cycle goes through a named type.

use super::check;
use super::pattern::Pattern;
use super::{Additional, ArrayRules, Node, NumberRules, ObjectRules, Rules, SchemaId, Schemas, StringRules};
use crate::portable::pattern::portable;
use indexmap::IndexMap;
use serde_json::{Map, Number, Value, json};
use std::collections::{HashMap, VecDeque};

/// Nodes and patterns, as they come up.
#[derive(Default)]
pub(crate) struct Arena<'s> {
    nodes: Vec<Value>,
    /// Nodes without a name, by what they say.
    known: HashMap<String, usize>,
    /// Named types have their place before they are written, since they may lead to themselves.
    named: HashMap<Named, usize>,
    waiting: VecDeque<(&'s Schemas, SchemaId, usize)>,
    /// As the author wrote them, and as every engine reads them.
    patterns: IndexMap<String, Option<String>>,
}

/// The schemas a type belongs to, by their address, and its number there.
type Named = (usize, u32);

impl<'s> Arena<'s> {
    /// The place of a schema.
    pub(crate) fn place(&mut self, schemas: &'s Schemas, id: SchemaId) -> usize {
        let place = self.visit(schemas, id);
        while let Some((schemas, id, place)) = self.waiting.pop_front() {
            let written = self.written(schemas, id);
            if let Some(slot) = self.nodes.get_mut(place) {
                *slot = written;
            }
        }
        place
    }

    /// `nodes` and `patterns`.
    pub(crate) fn finish(self) -> (Value, Value) {
        let patterns = self.patterns.into_iter().map(|(text, portable)| json!([text, portable])).collect();
        (self.nodes.into(), patterns)
    }

    fn visit(&mut self, schemas: &'s Schemas, id: SchemaId) -> usize {
        // The named types were placed first.
        if (id.0 as usize) < schemas.names.len() {
            let key = (std::ptr::from_ref(schemas).addr(), id.0);
            return *self.named.entry(key).or_insert_with(|| {
                self.nodes.push(Value::Null);
                let place = self.nodes.len() - 1;
                self.waiting.push_back((schemas, id, place));
                place
            });
        }
        let written = self.written(schemas, id);
        *self.known.entry(written.to_string()).or_insert_with(|| {
            self.nodes.push(written);
            self.nodes.len() - 1
        })
    }

    fn written(&mut self, schemas: &'s Schemas, id: SchemaId) -> Value {
        let node = schemas.node(id).unwrap_or(&Node::ANY);
        if !node.nullable && !node.sensitive && node.rules.is_none() {
            return node.types.0.into();
        }
        let mut out = Map::new();
        out.insert("types".into(), node.types.0.into());
        flag(&mut out, "nullable", node.nullable);
        flag(&mut out, "sensitive", node.sensitive);
        if let Some(rules) = node.rules.as_deref() {
            self.rules(schemas, rules, &mut out);
        }
        out.into()
    }

    fn rules(&mut self, schemas: &'s Schemas, rules: &'s Rules, out: &mut Map<String, Value>) {
        if let Some(literals) = &rules.literals {
            out.insert("enum".into(), literals.clone().into());
            if !literals.iter().all(is_plain) {
                out.insert("enum_says".into(), check::literals_said(literals).into());
            }
        }
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(key.into(), value);
            }
        };
        add("number", rules.number.as_ref().map(number));
        add("string", rules.string.as_ref().map(|rules| self.string(rules)));
        add("array", rules.array.as_ref().map(|rules| self.array(schemas, rules)));
        add("object", rules.object.as_ref().map(|rules| self.object(schemas, rules)));
        add("ref", rules.reference.map(|id| self.visit(schemas, id).into()));
        let all = self.several(schemas, &rules.all_of);
        add("all", (!rules.all_of.is_empty()).then_some(all));
        let choices: Vec<Value> = rules.choices.iter().map(|choice| self.several(schemas, choice)).collect();
        add("choices", (!choices.is_empty()).then(|| choices.into()));
        add("not", rules.not.map(|id| self.visit(schemas, id).into()));
    }

    fn several(&mut self, schemas: &'s Schemas, ids: &[SchemaId]) -> Value {
        ids.iter().map(|id| self.visit(schemas, *id)).collect::<Vec<_>>().into()
    }

    fn string(&mut self, rules: &StringRules) -> Value {
        let mut out = Map::new();
        bounds(&mut out, rules.min, rules.max);
        if let Some(pattern) = &rules.pattern {
            out.insert("pattern".into(), self.pattern(&rules.pattern_text, pattern).into());
        }
        if let Some(format) = rules.format {
            out.insert("format".into(), format.name().into());
        }
        out.into()
    }

    fn pattern(&mut self, text: &str, pattern: &Pattern) -> usize {
        if let Some(place) = self.patterns.get_index_of(text) {
            return place;
        }
        self.patterns.insert_full(text.to_owned(), portable(pattern.translated())).0
    }

    fn array(&mut self, schemas: &'s Schemas, rules: &ArrayRules) -> Value {
        let mut out = Map::new();
        if !rules.prefix.is_empty() {
            out.insert("prefix".into(), self.several(schemas, &rules.prefix));
        }
        if let Some(items) = rules.items {
            out.insert("items".into(), self.visit(schemas, items).into());
        }
        bounds(&mut out, rules.min, rules.max);
        flag(&mut out, "unique", rules.unique);
        out.into()
    }

    fn object(&mut self, schemas: &'s Schemas, rules: &ObjectRules) -> Value {
        let mut out = Map::new();
        if !rules.properties.is_empty() {
            let pairs: Vec<Value> =
                rules.properties.iter().map(|(name, id)| json!([name, self.visit(schemas, *id)])).collect();
            out.insert("properties".into(), pairs.into());
        }
        if !rules.required.is_empty() {
            out.insert("required".into(), rules.required.clone().into());
        }
        if !rules.patterns.is_empty() {
            let pairs: Vec<Value> = rules
                .patterns
                .iter()
                .map(|(pattern, id)| {
                    json!([self.pattern(pattern.translated(), pattern), self.visit(schemas, *id)])
                })
                .collect();
            out.insert("patterns".into(), pairs.into());
        }
        match rules.additional {
            Additional::Any => {}
            Additional::None => {
                out.insert("additional".into(), false.into());
            }
            Additional::Schema(id) => {
                out.insert("additional".into(), self.visit(schemas, id).into());
            }
        }
        bounds(&mut out, rules.min, rules.max);
        out.into()
    }
}

fn flag(out: &mut Map<String, Value>, key: &str, set: bool) {
    if set {
        out.insert(key.into(), true.into());
    }
}

fn bounds(out: &mut Map<String, Value>, min: Option<u64>, max: Option<u64>) {
    for (key, bound) in [("min", min), ("max", max)] {
        if let Some(bound) = bound {
            out.insert(key.into(), bound.into());
        }
    }
}

/// Numbers are spelled differently elsewhere, so what is wrong with one is said here.
fn number(rules: &NumberRules) -> Value {
    let mut out = Map::new();
    let bound = |(number, exclusive): &(Number, bool)| json!([number, exclusive]);
    if let Some(minimum) = &rules.minimum {
        out.insert("minimum".into(), bound(minimum));
    }
    if let Some(maximum) = &rules.maximum {
        out.insert("maximum".into(), bound(maximum));
    }
    if !out.is_empty() {
        out.insert("says".into(), check::bounds_said(rules).into());
    }
    if let Some(step) = &rules.multiple_of {
        out.insert("multiple_of".into(), step.clone().into());
        out.insert("multiple_says".into(), check::multiple_said(step).into());
    }
    out.into()
}

/// Whether every language spells it alike.
fn is_plain(literal: &Value) -> bool {
    match literal {
        Value::Number(number) => number.as_i64().is_some_and(|number| number.abs() < 1 << 53),
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::Format;
    use super::super::strategies::{any_json, schema};
    use super::super::{TypeSet, Violation};
    use super::*;
    use proptest::prelude::*;

    /// The schemas that were written so.
    fn read(nodes: &Value, patterns: &Value) -> Schemas {
        let mut schemas = Schemas::default();
        for node in nodes.as_array().unwrap() {
            let node = read_node(node, patterns, &mut schemas);
            schemas.nodes.push(node);
        }
        schemas
    }

    fn id(value: &Value) -> Option<SchemaId> {
        Some(SchemaId(u32::try_from(value.as_u64()?).unwrap()))
    }

    fn ids(value: &Value) -> Vec<SchemaId> {
        value.as_array().into_iter().flatten().filter_map(id).collect()
    }

    fn read_node(node: &Value, patterns: &Value, schemas: &mut Schemas) -> Node {
        let types = node.as_u64().or(node["types"].as_u64()).unwrap();
        let types = TypeSet(u8::try_from(types).unwrap());
        let (nullable, sensitive) = (node["nullable"] == true, node["sensitive"] == true);
        if node.is_u64() {
            return Node { types, nullable, sensitive, rules: None };
        }
        let mut pattern = |number: &Value| {
            let text = patterns[usize::try_from(number.as_u64()?).unwrap()][0].as_str()?;
            Some((schemas.patterns.read(text)?, text.to_owned()))
        };
        let bound = |value: &Value| Some((value[0].as_number()?.clone(), value[1] == true));
        let [number, string, array, object] =
            ["number", "string", "array", "object"].map(|key| node.get(key).cloned());
        let string = string.map(|rules| {
            let (pattern, pattern_text) = pattern(&rules["pattern"]).unzip();
            StringRules {
                min: rules["min"].as_u64(),
                max: rules["max"].as_u64(),
                pattern,
                pattern_text: pattern_text.unwrap_or_default(),
                format: rules["format"].as_str().and_then(Format::named),
            }
        });
        let object = object.map(|rules| {
            let pairs = |key: &str| rules[key].as_array().cloned().unwrap_or_default();
            let property = |pair: &Value| (pair[0].as_str().unwrap().to_owned(), id(&pair[1]).unwrap());
            ObjectRules {
                properties: pairs("properties").iter().map(property).collect(),
                required: pairs("required").iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
                patterns: pairs("patterns")
                    .iter()
                    .map(|pair| (pattern(&pair[0]).unwrap().0, id(&pair[1]).unwrap()))
                    .collect(),
                additional: match &rules["additional"] {
                    Value::Null => Additional::Any,
                    Value::Bool(_) => Additional::None,
                    number => Additional::Schema(id(number).unwrap()),
                },
                min: rules["min"].as_u64(),
                max: rules["max"].as_u64(),
            }
        });
        let rules = Rules {
            literals: node["enum"].as_array().cloned(),
            number: number.map(|rules| NumberRules {
                minimum: bound(&rules["minimum"]),
                maximum: bound(&rules["maximum"]),
                multiple_of: rules["multiple_of"].as_number().cloned(),
            }),
            string,
            array: array.map(|rules| ArrayRules {
                prefix: ids(&rules["prefix"]),
                items: id(&rules["items"]),
                min: rules["min"].as_u64(),
                max: rules["max"].as_u64(),
                unique: rules["unique"] == true,
            }),
            object,
            reference: id(&node["ref"]),
            all_of: ids(&node["all"]),
            choices: node["choices"].as_array().into_iter().flatten().map(ids).collect(),
            not: id(&node["not"]),
        };
        Node { types, nullable, sensitive, rules: Some(Box::new(rules)) }
    }

    fn written_and_read(schemas: &Schemas, id: SchemaId, value: &Value) -> (Vec<Violation>, Vec<Violation>) {
        let mut arena = Arena::default();
        let place = arena.place(schemas, id);
        let (nodes, patterns) = arena.finish();
        let read = read(&nodes, &patterns);
        let place = SchemaId(u32::try_from(place).unwrap());
        (schemas.check(id, value), read.check(place, value))
    }

    proptest! {
        #[test]
        fn what_is_written_checks_as_what_was_compiled(
            schema in prop_oneof![schema(), any_json()], node in prop_oneof![schema(), any_json()], value in any_json(),
        ) {
            let (mut schemas, _) = Schemas::compile(&IndexMap::from([("Node".to_owned(), node)]));
            let (id, _) = schemas.add(&schema, "/p");
            for id in [id, schemas.named("Node").unwrap()] {
                let (compiled, read) = written_and_read(&schemas, id, &value);
                prop_assert_eq!(compiled, read);
            }
        }
    }

    #[test]
    fn equal_nodes_are_one_and_plain_ones_a_number() {
        let (mut schemas, _) = Schemas::compile(&IndexMap::new());
        let texts =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        let (id, _) = schemas.add(&texts, "");
        let mut arena = Arena::default();
        assert_eq!(arena.place(&schemas, id), 1);
        let (nodes, _) = arena.finish();
        assert_eq!(nodes, json!([16, {"types": 64, "object": {"properties": [["a", 0], ["b", 0]]}}]));
    }
}
