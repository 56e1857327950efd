//! Writes an adapter as a document that people can read, edit and compare: Markdown with YAML front matter, YAML or JSON.
//!
//! ```
//! use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! use mcpaql_import::emit;
//!
//! let adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! let provenance = emit::Provenance { source: "todo.json".into(), version: None, fingerprint: None };
//! let document = emit::markdown(&adapter, &provenance);
//! assert!(document.starts_with("---\nname: todo\n"));
//! assert!(emit::is_imported(&document));
//! ```
//!
//! What always holds: the document loads as the same adapter, as far as documents can express it. The same adapter always gives
//! the same bytes. The document contains no credential: no default and no example of a secret parameter, and no text that looks
//! like a token.

mod configuration;
mod json;
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
use mcpaql_document::source::SourceFormat;
use operation::MembersBuilder;
use std::borrow::Cow;
use yaml::YamlValue;

/// The source of an imported adapter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// File name or URL of the description. Credentials and folders are not written.
    pub source: String,
    /// The version in the description.
    pub version: Option<String>,
    /// A fingerprint of the description, such as `sha256:…`.
    pub fingerprint: Option<String>,
}

/// Returns the document of an adapter whose operations are complete.
#[must_use]
pub fn document(adapter: &Adapter, provenance: &Provenance, format: SourceFormat) -> String {
    match format {
        SourceFormat::Markdown => markdown(adapter, provenance),
        SourceFormat::Yaml => yaml(adapter, provenance),
        SourceFormat::Json => json::write(adapter, provenance),
    }
}

/// Returns the document as Markdown with front matter.
#[must_use]
pub fn markdown(adapter: &Adapter, provenance: &Provenance) -> String {
    let mut out = String::with_capacity(capacity(adapter));
    out.push_str("---\n");
    sections(&mut out, adapter);
    out.push_str("---\n");
    text::write(&mut out, adapter, provenance);
    out
}

fn yaml(adapter: &Adapter, provenance: &Provenance) -> String {
    let mut out = String::with_capacity(capacity(adapter));
    text::write_comments(&mut out, adapter, provenance);
    sections(&mut out, adapter);
    out
}

/// Returns the estimated size of a document.
fn capacity(adapter: &Adapter) -> usize {
    1024 * (adapter.operations.len() + adapter.types.len() + 1)
}

/// Writes the whole adapter as YAML.
fn sections(out: &mut String, adapter: &Adapter) {
    section(out, identity(adapter));
    section(out, vec![(Cow::Borrowed("target"), target::target(&adapter.target))]);
    if !adapter.targets.is_empty() {
        section(out, target::targets(adapter));
    }
    if adapter.auth != Auth::None {
        section(out, vec![(Cow::Borrowed("auth"), block_style(target::auth(&adapter.auth)))]);
    }
    if has_written_operations(adapter) {
        operations(out, adapter);
    }
    types(out, adapter);
}

/// Whether the document lists its operations. A store derives its operations from its resources.
fn has_written_operations(adapter: &Adapter) -> bool {
    !matches!(adapter.target, TargetConfig::Store(_))
}

/// Returns a configuration file with these adapters, without settings. The same entries always give the same bytes.
#[must_use]
pub fn configuration(entries: &[AdapterEntry]) -> String {
    configuration::write(entries)
}

/// Whether a document was written by an import, so that another import may overwrite it.
#[must_use]
pub fn is_imported(text: &str) -> bool {
    text::is_imported(text)
}

/// Returns the operations in the order of the document: by category, path and method.
///
/// Path and method identify an operation in the API. So operations keep their position in a new version of the description,
/// even if names or the order of the description change, and related operations are next to each other.
#[must_use]
pub fn order(operations: &[Operation]) -> Vec<&Operation> {
    let mut sorted: Vec<&Operation> = operations.iter().collect();
    sorted.sort_by_cached_key(|operation| sort_key(operation));
    sorted
}

/// Returns the key that operations of a document are sorted by.
pub(crate) fn sort_key(operation: &Operation) -> (Category, String, String, String) {
    let (path, method, name) = match &operation.binding {
        Binding::Http(http) => (shape(&http.path), http.method.clone(), operation.name.clone()),
        Binding::Command(_) | Binding::Code => (String::new(), String::new(), operation.name.clone()),
        Binding::Mcp(mcp) => (mcp.tool.clone(), String::new(), operation.name.clone()),
        // Derived operations keep their order.
        Binding::Store(_) | Binding::Introspect | Binding::Execution(_) => Default::default(),
    };
    (operation.category, path, method, name)
}

/// Returns a path without the names of its parameters, because names may change.
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

/// Writes top-level keys, after an empty line unless they are the first.
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
        yaml::item(out, &operation_node(operation, adapter), 4);
    }
}

fn operation_node<'a>(operation: &'a Operation, adapter: &'a Adapter) -> YamlValue<'a> {
    let mut node = operation::node(operation, adapter);
    mask("", &mut node);
    node
}

/// Writes the types sorted by name, because their order in a description has no meaning and changes easily.
fn types(out: &mut String, adapter: &Adapter) {
    if adapter.types.is_empty() {
        return;
    }
    out.push_str("\ntypes:\n");
    for (name, node) in type_nodes(adapter) {
        yaml::members(out, &[(name, node)], 2);
    }
}

fn type_nodes(adapter: &Adapter) -> impl Iterator<Item = (Cow<'_, str>, YamlValue<'_>)> {
    let mut types: Vec<_> = adapter.types.iter().collect();
    types.sort_by_key(|(name, _)| *name);
    types.into_iter().map(|(name, schema)| {
        let mut node = schema::node(schema);
        mask("", &mut node);
        (Cow::from(name), node)
    })
}

fn block_style(node: YamlValue<'_>) -> YamlValue<'_> {
    match node {
        YamlValue::Map(members) => YamlValue::Tall(members),
        node => node,
    }
}

/// Returns a description with `\n` as line breaks and without surrounding blanks.
fn prose(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains('\r') {
        return Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    Cow::Borrowed(text)
}

/// Masks credentials in all texts, because descriptions of APIs often contain some.
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
