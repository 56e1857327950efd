//! The catalog as data that a runtime in another language interprets: surface, checks, introspection, search, texts.
//!
//! What always holds: it is a view of the same catalog that serves here, so whoever follows it answers as we do; the same catalog
//! gives the same data, byte for byte; no secret is in it, only the names of the variables that hold them.

mod names;
pub(crate) mod pattern;
mod target;

pub use target::auth;

use crate::adapter::ErrorPolicy;
use crate::catalog::{Catalog, Entry, Route, Scope};
use crate::groups;
use crate::introspect::portable as introspection;
use crate::schema::Arena;
use crate::search;
use crate::surface::{self, Tool};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of this shape; a runtime refuses another one.
pub const FORMAT: u32 = 1;

/// The language that searches are asked in: the same for every adapter.
#[must_use]
pub fn lexicon() -> Value {
    search::lexicon()
}

/// The catalog as data.
#[must_use]
pub fn catalog(catalog: &Catalog) -> Value {
    let mut arena = Arena::default();
    let operations: Vec<Value> =
        catalog.operations.iter().filter_map(|entry| operation(catalog, entry, &mut arena)).collect();
    let (schemas, patterns) = arena.finish();
    let adapter = &catalog.adapter;
    let limits = &catalog.limits;
    json!({
        "format": FORMAT,
        "adapter": {
            "name": adapter.name,
            "display_name": adapter.display_name,
            "version": adapter.version,
            "description": adapter.description,
        },
        "instructions": surface::instructions(&[catalog]),
        "mode": catalog.mode.as_str(),
        "profile": catalog.profile,
        "errors": match catalog.errors {
            ErrorPolicy::Unrecoverable => "unrecoverable",
            ErrorPolicy::All => "all",
        },
        "limits": {
            "request_bytes": limits.request_bytes,
            "response_bytes": limits.response_bytes,
            "string_bytes": limits.string_bytes,
            "array_items": limits.array_items,
            "depth": limits.depth,
        },
        "protocol": introspection::protocol_of(catalog),
        "tools": catalog.tools.iter().map(Tool::to_json).collect::<Vec<_>>(),
        "routes": routes(catalog),
        "names": names::under_a_prefix(catalog),
        "target": target::target(adapter),
        "brief_sizes": introspection::brief_sizes(),
        "operations": operations,
        "schemas": schemas,
        "patterns": patterns,
        "types": introspection::types_of(catalog),
        "search": catalog.index().data(),
        "links": catalog.links().data(),
    })
}

fn routes(catalog: &Catalog) -> Value {
    let route = |route: &Route| {
        let mut out = Map::new();
        match &route.scope {
            Scope::Endpoint(endpoint) => out.insert("endpoint".into(), endpoint.as_str().into()),
            Scope::Whole => out.insert("whole".into(), true.into()),
            Scope::Operation(index) => out.insert("operation".into(), (*index).into()),
        };
        if let Some(name) = &route.renamed_to {
            out.insert("renamed_to".into(), name.as_str().into());
        }
        Value::Object(out)
    };
    let routes: BTreeMap<&str, Value> =
        catalog.tool_names().filter_map(|name| Some((name, route(catalog.route(name)?)))).collect();
    json!(routes)
}

/// An operation: its head, how it is validated, what is said about it.
fn operation<'c>(catalog: &'c Catalog, entry: &'c Entry, arena: &mut Arena<'c>) -> Option<Value> {
    let whole = catalog.whole(entry)?;
    let head = &entry.operation;
    let mut out = Map::new();
    out.insert("name".into(), head.name.as_str().into());
    out.insert("category".into(), head.category.as_str().into());
    out.insert("endpoint".into(), head.endpoint.as_str().into());
    out.insert("tool".into(), entry.tool.as_str().into());
    if !head.aliases.is_empty() {
        out.insert("aliases".into(), head.aliases.clone().into());
    }
    if !head.tags.is_empty() {
        out.insert("tags".into(), head.tags.clone().into());
    }
    if let Some(instead) = &head.deprecated {
        out.insert("deprecated".into(), instead.as_str().into());
    }
    let (group, tagged) = groups::group_of(head);
    out.insert("group".into(), group.into());
    if tagged {
        out.insert("tagged".into(), true.into());
    }
    introspection::describe(catalog, entry, whole, &mut out);
    whole.params.describe(whole.operation, whole.schemas, arena, &mut out);
    Some(out.into())
}
