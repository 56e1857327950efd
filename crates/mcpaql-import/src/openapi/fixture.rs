//! A document in memory, for tests.

use super::answer::AnswerCache;
use super::details::{Context, Details, Version, details, outline, type_named};
use super::refs::{Refs, Resolved};
use super::type_names::TypeNames;
use mcpaql_core::facts::{Facts, Reach, Repeat};
use mcpaql_core::library::Outline;
use mcpaql_core::operation::{Binding, Category, HttpBinding, Operation, Param, ParamLocation, Segment};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) struct ApiFixture(pub(super) Value);

impl Refs for ApiFixture {
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved> {
        let mut reference = reference.to_owned();
        for _ in 0..8 {
            let pointer = reference.strip_prefix('#')?.to_owned();
            let value = self.0.pointer(&pointer)?;
            match value.get("$ref").and_then(Value::as_str) {
                Some(next) => reference = next.to_owned(),
                None => {
                    return Some(Resolved { value: Arc::new(value.clone()), base: base.to_owned(), pointer });
                }
            }
        }
        None
    }
}

impl ApiFixture {
    /// Returns an OpenAPI 3.0 document that has only schemas.
    pub(super) fn schemas(schemas: Value) -> ApiFixture {
        ApiFixture(json!({"openapi": "3.0.3", "components": {"schemas": schemas}}))
    }

    pub(super) fn with<R>(&self, run: impl FnOnce(&Context<'_>) -> R) -> R {
        let version = match self.0.get("openapi").and_then(Value::as_str) {
            None => Version::V2,
            Some(text) if text.starts_with("3.0") => Version::V30,
            Some(text) if text.starts_with("3.1") => Version::V31,
            Some(_) => Version::V32,
        };
        let section = if version == Version::V2 { "/definitions" } else { "/components/schemas" };
        let components: Vec<String> = self
            .0
            .pointer(section)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        let types = TypeNames::new(components.iter().map(String::as_str));
        let consumes: Vec<String> = self
            .0
            .get("consumes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let credentials =
            [(ParamLocation::Query, "api_key".to_owned()), (ParamLocation::Header, "X-Api-Key".to_owned())];
        run(&Context {
            refs: self,
            types: &types,
            version,
            base: "",
            consumes: &consumes,
            credentials: &credentials,
        })
    }

    pub(super) fn read(&self, method: &str, path: &str, operation: Value) -> Details {
        let read = self.with(|cx| details(cx, &head(method, path), &[], &operation));
        let outline = self.outline(method, path, operation);
        let outlined: Vec<(&str, bool)> =
            outline.params.iter().map(|param| (param.name.as_str(), param.required)).collect();
        let params: Vec<(&str, bool)> =
            read.params.iter().map(|param| (param.name.as_str(), param.required)).collect();
        assert_eq!(outlined, params, "outline and details have the same parameters");
        read
    }

    pub(super) fn outline(&self, method: &str, path: &str, operation: Value) -> Outline {
        self.with(|cx| outline(cx, &head(method, path), &[], &operation, &AnswerCache::default()))
    }

    pub(super) fn type_named(&self, name: &str) -> Option<Value> {
        self.with(|cx| type_named(cx, name))
    }
}

/// Returns the head of an operation; the method decides its category.
pub(super) fn head(method: &str, path: &str) -> Operation {
    let category = match method {
        "GET" => Category::Read,
        "POST" => Category::Create,
        "DELETE" => Category::Delete,
        _ => Category::Update,
    };
    let facts = Facts { repeat: Repeat::Unknown, ..Facts::read(Reach::Open) };
    let mut segments = Vec::new();
    for (index, piece) in path.split(['{', '}']).enumerate() {
        match index % 2 {
            0 if piece.is_empty() => {}
            0 => segments.push(Segment::Literal(piece.to_owned())),
            _ => segments.push(Segment::Param(piece.to_owned())),
        }
    }
    Operation::new("do_it", category, facts, Binding::Http(HttpBinding::new(method, segments)))
}

pub(super) fn param<'d>(details: &'d Details, name: &str) -> &'d Param {
    details
        .params
        .iter()
        .find(|param| param.name == name)
        .unwrap_or_else(|| panic!("no {name} in {details:#?}"))
}

/// Lists the parameters in order, as in `path id!, query page=$page`.
pub(super) fn listed(details: &Details) -> String {
    let one = |param: &Param| {
        let mark = if param.required { "!" } else { "" };
        let wire = if param.wire == param.name { String::new() } else { format!("={}", param.wire) };
        format!("{} {}{wire}{mark}", format!("{:?}", param.location).to_lowercase(), param.name)
    };
    details.params.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn notes(details: &Details) -> Vec<&str> {
    details.notes.iter().map(|note| note.what.as_str()).collect()
}
