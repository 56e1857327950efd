//! The origin of a document, for the provenance of the project.
//!
//! What always holds: it contains no folder, no credential and no query of a URL.

use crate::args::ImportOptions;
use crate::file;
use crate::openapi_files::Description;
use mcpaql_core::adapter::{McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_document::load::without_credentials;
use mcpaql_document::source::Source;
use mcpaql_generate::ProjectDocument;
use mcpaql_generate::provenance::{DocumentOrigin, OriginKind, fingerprint, fingerprint_of};
use mcpaql_runtime::fetch;
use serde_json::{Map, Value, json};
use std::path::Path;
use url::Url;

/// Returns the origin for an OpenAPI description and the documents that it refers to.
pub(crate) fn openapi_origin(description: &Description, import_options: &ImportOptions) -> DocumentOrigin {
    let name = match &description.url {
        Some(url) => fetch::display_url(url),
        None => file_name(Path::new(&description.name)),
    };
    let of = |text: &str| fingerprint(&ProjectDocument { file: &name, text });
    let mut references: Vec<String> = description.references.texts().into_iter().map(of).collect();
    references.sort_unstable();
    let fingerprint = of(&description.text);
    DocumentOrigin { references, ..origin(OriginKind::Openapi, name, fingerprint, import_options) }
}

/// Returns the origin for an MCP server, running or saved in a file. Both have the same fingerprint if their tools are the same.
pub(crate) fn server_origin(
    capture: &Capture,
    saved: Option<&Path>,
    target: &McpTarget,
    import_options: &ImportOptions,
) -> DocumentOrigin {
    let (kind, name) = match saved {
        Some(path) => (OriginKind::Tools, file_name(path)),
        None => (OriginKind::Server, server_name(&target.link)),
    };
    let mut tools = capture.tools.clone();
    tools.sort_by_key(|tool| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned());
    let member = |key: &str| capture.initialize.get(key).cloned().unwrap_or_default();
    let value =
        json!({"instructions": member("instructions"), "serverInfo": member("serverInfo"), "tools": tools});
    origin(kind, name, fingerprint_of(&value), import_options)
}

/// Returns the origin for the document of an adapter in the configuration.
pub(crate) fn document_origin(source: &Source) -> DocumentOrigin {
    let file = file_name(Path::new(&source.name));
    let fingerprint = fingerprint(&ProjectDocument { file: &file, text: &source.text });
    origin(OriginKind::Document, file, fingerprint, &ImportOptions::default())
}

fn origin(
    kind: OriginKind,
    name: String,
    fingerprint: String,
    import_options: &ImportOptions,
) -> DocumentOrigin {
    DocumentOrigin {
        kind,
        name,
        version: None,
        fingerprint,
        references: Vec::new(),
        options: options(import_options),
        configured_as: None,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn server_name(link: &McpLink) -> String {
    match link {
        McpLink::Command(program) => {
            let words = program.command.iter().enumerate().map(|(index, word)| match index {
                // The folder of the program does not matter.
                0 => file_name(Path::new(word)),
                _ => without_credentials("base_url", word).into_owned(),
            });
            words.collect::<Vec<_>>().join(" ")
        }
        McpLink::Url { url, .. } => match Url::parse(url) {
            Ok(url) => fetch::display_url(&url),
            Err(_) => {
                without_credentials("base_url", url).split(['?', '#']).next().unwrap_or_default().to_owned()
            }
        },
    }
}

/// Returns the options of an import.
fn options(import_options: &ImportOptions) -> Map<String, Value> {
    let ImportOptions { name, overrides, include, exclude } = import_options;
    let mut out = Map::new();
    out.extend(name.as_deref().map(|name| ("name".to_owned(), name.into())));
    for (key, rules) in [("include", include), ("exclude", exclude)] {
        if !rules.is_empty() {
            out.insert(key.to_owned(), rules.clone().into());
        }
    }
    if let Some(path) = overrides {
        let file = file_name(path);
        let text = file::read_text(path).unwrap_or_default();
        let fingerprint = fingerprint(&ProjectDocument { file: &file, text: &text });
        out.insert("overrides".to_owned(), json!({"filename": file, "fingerprint": fingerprint}));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::adapter::McpCommand;

    fn capture(value: Value) -> Capture {
        Capture::from_json(value).unwrap()
    }

    fn target(link: McpLink) -> McpTarget {
        McpTarget::new(link)
    }

    #[test]
    fn a_server_and_its_saved_tools_have_the_same_fingerprint() {
        let address = target(McpLink::Url {
            url: "https://me:hunter2@example.com/mcp?key=hunter2#x".into(),
            headers: Default::default(),
            allow_http: false,
        });
        let none = ImportOptions::default();
        let one = capture(json!({"tools": [{"name": "b"}, {"name": "a", "x": 1}]}));
        let two = capture(json!([{"x": 1, "name": "a"}, {"name": "b"}]));
        let asked = server_origin(&one, None, &address, &none);
        let saved = server_origin(&two, Some(Path::new("/home/me/tools.json")), &address, &none);
        assert_eq!((asked.kind, asked.name.as_str()), (OriginKind::Server, "https://example.com/mcp"));
        assert_eq!((saved.kind, saved.name.as_str()), (OriginKind::Tools, "tools.json"));
        assert_eq!(asked.fingerprint, saved.fingerprint);
        let other = capture(json!([{"x": 2, "name": "a"}, {"name": "b"}]));
        assert_ne!(asked.fingerprint, server_origin(&other, None, &address, &none).fingerprint);
    }

    #[test]
    fn a_command_is_named_without_the_folder_of_its_program() {
        let command = ["/opt/bin/server", "--root", "data"].map(str::to_owned).to_vec();
        let link =
            McpLink::Command(McpCommand { command, cwd: None, env: Vec::new(), set_env: Default::default() });
        assert_eq!(server_name(&link), "server --root data");
    }
}
