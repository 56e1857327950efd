//! Adapter → document: Markdown with YAML front matter, made to be read, corrected and compared.
//!
//! What always holds: the document loads as the adapter it was written from, as far as a document can say it; the same
//! adapter gives the same bytes; and no credential gets into it: no default and no example of a secret parameter, and
//! nothing that has the shape of a token.

mod configuration;
mod operation;
mod scalar;
mod schema;
mod target;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

use mcpaql_core::adapter::{Adapter, Auth, TargetConfig};
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{Binding, Category, Operation, Segment};
use mcpaql_document::config::AdapterEntry;
use mcpaql_document::load::without_credentials;
use operation::MembersBuilder;
use std::borrow::Cow;
use yaml::YamlValue;

/// Where an adapter comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// File name or URL of the description. Credentials and folders in it are not written.
    pub source: String,
    /// The version that the description gives itself.
    pub version: Option<String>,
    /// A fingerprint of the description's content, such as `sha256:…`.
    pub fingerprint: Option<String>,
}

/// The whole document of an adapter whose operations are all there.
#[must_use]
pub fn markdown(adapter: &Adapter, provenance: &Provenance) -> String {
    let mut out = String::with_capacity(1024 * (adapter.operations.len() + adapter.types.len() + 1));
    out.push_str("---\n");
    section(&mut out, identity(adapter));
    let mut where_to = MembersBuilder::default();
    where_to.put("target", target::target(&adapter.target));
    section(&mut out, where_to.0);
    if !adapter.targets.is_empty() {
        section(&mut out, target::targets(adapter));
    }
    if adapter.auth != Auth::None {
        section(&mut out, vec![(Cow::Borrowed("auth"), block_style(target::auth(&adapter.auth)))]);
    }
    // A store derives its operations itself.
    if !matches!(adapter.target, TargetConfig::Store(_)) {
        operations(&mut out, adapter);
    }
    types(&mut out, adapter);
    out.push_str("---\n");
    text::write(&mut out, adapter, provenance);
    out
}

/// The `adapters` of a configuration, without settings and `auth`. The same entries give the same bytes.
#[must_use]
pub fn configuration(entries: &[AdapterEntry]) -> String {
    configuration::write(entries)
}

/// Whether a document was written by an import, so that another import may write over it.
#[must_use]
pub fn is_imported(text: &str) -> bool {
    text::is_imported(text)
}

/// The operations in the order of the document: by category, path and method.
///
/// Path and method are what the API itself calls an operation, so a new version of its description leaves what it keeps
/// where it was, even where a name changes or the description was sorted anew, and what belongs together stands together.
#[must_use]
pub fn order(operations: &[Operation]) -> Vec<&Operation> {
    let mut sorted: Vec<&Operation> = operations.iter().collect();
    sorted.sort_by_cached_key(|operation| sort_key(operation));
    sorted
}

/// What decides where an operation stands in a document.
pub(crate) fn sort_key(operation: &Operation) -> (Category, String, String, String) {
    let (path, method, name) = match &operation.binding {
        Binding::Http(http) => (shape(&http.path), http.method.clone(), operation.name.clone()),
        Binding::Command(_) | Binding::Code => (String::new(), String::new(), operation.name.clone()),
        Binding::Mcp(mcp) => (mcp.tool.clone(), String::new(), operation.name.clone()),
        // Derived, in an order of their own.
        Binding::Store(_) | Binding::Introspect | Binding::Execution(_) => Default::default(),
    };
    (operation.category, path, method, name)
}

/// A path without the names of its parameters, which may change.
fn shape(path: &[Segment]) -> String {
    path.iter()
        .map(|piece| match piece {
            Segment::Literal(text) => text.as_str(),
            Segment::Param(_) => "{}",
        })
        .collect()
}

fn identity(adapter: &Adapter) -> yaml::YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    out.put("name", adapter.name.as_str());
    out.put("type", "adapter");
    out.put("version", adapter.version.as_str());
    let named = adapter.display_name != title_of(&adapter.name) && !adapter.display_name.trim().is_empty();
    out.put_if(named, "display_name", || adapter.display_name.as_str().into());
    out.put("description", prose(&adapter.description));
    out.put_texts("tags", &adapter.tags);
    target::presentation(&mut out, adapter);
    out.0
}

/// Top-level keys, with an empty line before all but the first of the document.
fn section(out: &mut String, mut members: yaml::YamlMembers<'_>) {
    if !out.ends_with("---\n") {
        out.push('\n');
    }
    for (key, node) in &mut members {
        mask(key, node);
    }
    yaml::members(out, &members, 0);
}

fn operations(out: &mut String, adapter: &Adapter) {
    out.push_str(if adapter.operations.is_empty() { "\noperations: {}\n" } else { "\noperations:\n" });
    let mut last: Option<Category> = None;
    for operation in order(&adapter.operations) {
        if last.is_some() {
            out.push('\n');
        }
        if last != Some(operation.category) {
            out.push_str("  ");
            out.push_str(operation.category.endpoint());
            out.push_str(":\n");
            last = Some(operation.category);
        }
        let mut node = operation::node(operation, adapter);
        mask("", &mut node);
        yaml::item(out, &node, 4);
    }
}

/// Types by name, because their order in a description says nothing and changes easily.
fn types(out: &mut String, adapter: &Adapter) {
    if adapter.types.is_empty() {
        return;
    }
    out.push_str("\ntypes:\n");
    let mut types: Vec<_> = adapter.types.iter().collect();
    types.sort_by_key(|(name, _)| *name);
    for (name, schema) in types {
        let mut node = schema::node(schema);
        mask("", &mut node);
        yaml::members(out, &[(Cow::from(name), node)], 2);
    }
}

fn block_style(node: YamlValue<'_>) -> YamlValue<'_> {
    match node {
        YamlValue::Map(members) => YamlValue::Tall(members),
        node => node,
    }
}

/// Prose with line breaks of one kind and nothing behind it, which is all that is ever seen of it.
fn prose(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains('\r') {
        return Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    Cow::Borrowed(text)
}

/// Takes out of every text what looks like a credential; descriptions of APIs hold more of them than one would think.
fn mask(key: &str, node: &mut YamlValue<'_>) {
    match node {
        YamlValue::Text(text) => {
            if let Cow::Owned(masked) = without_credentials(key, text) {
                *text = Cow::Owned(masked);
            }
        }
        YamlValue::List(items) => items.iter_mut().for_each(|item| mask("", item)),
        YamlValue::Map(members) | YamlValue::Tall(members) => {
            members.iter_mut().for_each(|(key, node)| mask(key, node));
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}
