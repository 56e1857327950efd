//! Tool names as they are under a prefix that is only known when a server starts.

use crate::catalog::{Catalog, Scope};
use crate::naming::Subject;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A prefix that no name holds by itself.
const MARK: &str = "qzqzqzqz_";

/// Each name that a prefix changes → its text with `{prefix}` in it; null where the name is not made in that way. Names that
/// are not there stay as they are.
pub(super) fn under_a_prefix(catalog: &Catalog) -> Value {
    let (names, marked) = (&catalog.names, catalog.names.under(MARK));
    let mut out: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut add = |subject: Subject<'_>, known: &dyn Fn(&str) -> bool| {
        if let Ok(name) = names.name(subject)
            && known(&name)
        {
            let text = marked.unshortened(subject).map(|text| text.replace(MARK, "{prefix}"));
            out.insert(name, text);
        }
    };
    for endpoint in catalog.endpoints.keys() {
        let known = |name: &str| {
            catalog.route(name).is_some_and(|route| {
                route.renamed_to.is_none() && matches!(&route.scope, Scope::Endpoint(own) if own == endpoint)
            })
        };
        add(Subject::Endpoint(endpoint), &known);
    }
    let whole = |name: &str| {
        catalog.route(name).is_some_and(|route| route.renamed_to.is_none() && route.scope == Scope::Whole)
    };
    add(Subject::Whole, &whole);
    for (index, entry) in catalog.operations.iter().enumerate() {
        let known =
            |name: &str| catalog.route(name).is_some_and(|route| route.scope == Scope::Operation(index));
        let called = std::iter::once(&entry.operation.name).chain(&entry.operation.aliases);
        called.for_each(|name| add(Subject::Operation(name), &known));
    }
    for tool in &catalog.tools {
        out.entry(tool.name.clone()).or_insert(None);
    }
    json!(out)
}
