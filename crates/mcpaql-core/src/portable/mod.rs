//! The catalog as data that a runtime in another language interprets: surface, checks, introspection, search, texts.
//!
//! What always holds: it is a view of the same catalog that serves here, so whoever follows it answers as we do; the same catalog
//! gives the same data, byte for byte; no secret is in it, only the names of the variables that hold them.

mod names;
pub(crate) mod pattern;
mod target;

pub use target::auth;

use crate::adapter::ErrorPolicy;
use crate::catalog::Tool;
use crate::catalog::{Catalog, Entry, Route, Scope};
use crate::groups;
use crate::introspect::portable as introspection;
use crate::operation::{Binding, Operation};
use crate::schema::Arena;
use crate::search;
use crate::surface;
use indexmap::IndexSet;
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
    let mut parts = Parts::default();
    let operations: Vec<Value> =
        catalog.operations.iter().map(|entry| parts.operation(catalog, entry)).collect();
    let (schemas, patterns) = parts.arena.finish();
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
        "params": parts.params.into_iter().collect::<Vec<_>>(),
        "schemas": schemas,
        "patterns": patterns,
        "types": introspection::types_of(catalog),
        "search": catalog.index().data(),
        "links": catalog.links().data(),
    })
}

/// What another catalog of the same document says otherwise, in another mode or profile: its members in place of those of `base`,
/// and of its operations, by number, only the members that differ, null for those that are not there.
#[must_use]
pub fn difference(base: &Value, other: &Value) -> Value {
    let mut out = Map::new();
    for (key, value) in other.as_object().into_iter().flatten() {
        match (key.as_str(), base.get(key)) {
            (_, Some(same)) if same == value => {}
            ("operations", Some(before)) => {
                out.insert(key.clone(), operations_changed(before, value));
            }
            _ => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    out.into()
}

/// The same for another mode under the same profile, which differs in its surface alone, so that nothing else is made for it.
#[must_use]
pub fn mode_difference(base: &Value, other: &Catalog) -> Value {
    let mut surface = json!({
        "instructions": surface::instructions(&[other]),
        "mode": other.mode.as_str(),
        "protocol": introspection::protocol_of(other),
        "tools": other.tools.iter().map(Tool::to_json).collect::<Vec<_>>(),
        "routes": routes(other),
        "names": names::under_a_prefix(other),
    });
    let before = base.get("operations").and_then(Value::as_array).into_iter().flatten();
    let moved = before.zip(&other.operations).enumerate().filter(|(_, (before, entry))| {
        before.get("tool").and_then(Value::as_str) != Some(entry.tool.as_str())
    });
    let moved: Map<String, Value> =
        moved.map(|(number, (_, entry))| (number.to_string(), json!({"tool": entry.tool}))).collect();
    if let Some(members) = surface.as_object_mut() {
        members.retain(|key, value| base.get(key) != Some(value));
        if !moved.is_empty() {
            members.insert("operations".into(), moved.into());
        }
    }
    surface
}

fn operations_changed(before: &Value, after: &Value) -> Value {
    let pairs = before.as_array().into_iter().flatten().zip(after.as_array().into_iter().flatten());
    let changed = |(number, (before, after)): (usize, (&Value, &Value))| {
        let (before, after) = (before.as_object()?, after.as_object()?);
        let gone =
            before.keys().filter(|key| !after.contains_key(*key)).map(|key| (key.clone(), Value::Null));
        let new = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
        let members: Map<String, Value> =
            new.map(|(key, value)| (key.clone(), value.clone())).chain(gone).collect();
        (!members.is_empty()).then(|| (number.to_string(), members.into()))
    };
    Value::Object(pairs.enumerate().filter_map(changed).collect())
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

/// What operations share.
#[derive(Default)]
struct Parts<'c> {
    arena: Arena<'c>,
    /// Each parameter once, with what introspection says about it.
    params: IndexSet<Value>,
}

impl<'c> Parts<'c> {
    /// An operation: its head, how it is validated, what is said about it.
    fn operation(&mut self, catalog: &'c Catalog, entry: &'c Entry) -> Value {
        let mut out = head(entry);
        let Some(whole) = catalog.whole(entry) else {
            out.insert("unreadable".into(), true.into());
            return out.into();
        };
        background(entry, whole.operation, &mut out);
        let views = introspection::describe(catalog, entry, whole, &mut out);
        let checks = whole.params.data(whole.operation, whole.schemas, &mut self.arena);
        let params: Vec<usize> = checks
            .into_iter()
            .zip(views)
            .map(|(mut param, view)| {
                param.insert("view".into(), view);
                self.params.insert_full(param.into()).0
            })
            .collect();
        out.insert("params".into(), params.into());
        whole.params.describe(&mut out);
        out.into()
    }
}

/// That it runs in the background, or what it asks about work that does.
fn background(entry: &Entry, operation: &Operation, out: &mut Map<String, Value>) {
    if let Some(lifecycle) = entry.operation.lifecycle.or(operation.lifecycle) {
        let told = json!({
            "survives": lifecycle.survives,
            "keep_seconds": lifecycle.keep_seconds,
            "timeout_ms": lifecycle.timeout_ms,
        });
        out.insert("lifecycle".into(), told);
    }
    if let Binding::Execution(action) = operation.binding {
        out.insert("execution".into(), action.as_str().into());
    }
}

fn head(entry: &Entry) -> Map<String, Value> {
    let head = &entry.operation;
    let mut out = Map::new();
    out.insert("name".into(), head.name.as_str().into());
    out.insert("category".into(), head.category.as_str().into());
    out.insert("endpoint".into(), head.endpoint.as_str().into());
    out.insert("tool".into(), entry.tool.as_str().into());
    for (key, texts) in [("aliases", &head.aliases), ("tags", &head.tags)] {
        if !texts.is_empty() {
            out.insert(key.into(), texts.clone().into());
        }
    }
    if let Some(instead) = &head.deprecated {
        out.insert("deprecated".into(), instead.as_str().into());
    }
    let (group, tagged) = groups::group_of(head);
    out.insert("group".into(), group.into());
    if tagged {
        out.insert("tagged".into(), true.into());
    }
    out
}
