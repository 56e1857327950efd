//! Imported operations in the form that search and links read: heads and outlines.
//!
//! They come from an OpenAPI description, from the list of tools of an MCP server, or from a folder of such lists.

use anyhow::{Context, Result, bail};
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::library::{Library, Outline};
use mcpaql_core::operation::{Binding, Operation, Segment};
use mcpaql_core::search::Doc;
use mcpaql_import::mcp::{McpImportOptions, import};
use mcpaql_import::openapi::{NoLoader, OpenApiImportOptions, is_description, open};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// One operation of the document.
pub struct Loaded {
    pub operation: Operation,
    pub outline: Outline,
    pub method: String,
    pub path: String,
}

/// The names that a search document borrows from an operation.
pub struct Names<'a> {
    tags: Vec<&'a str>,
    params: Vec<&'a str>,
    fields: Vec<&'a str>,
}

impl Loaded {
    pub fn names(&self) -> Names<'_> {
        Names {
            tags: self.operation.tags.iter().map(String::as_str).collect(),
            params: self.outline.params.iter().map(|param| param.name.as_str()).collect(),
            fields: self
                .outline
                .answer
                .iter()
                .flat_map(|answer| &answer.fields)
                .map(String::as_str)
                .collect(),
        }
    }

    pub fn doc<'a>(&'a self, names: &'a Names<'a>) -> Doc<'a> {
        Doc {
            name: &self.operation.name,
            path: &self.path,
            summary: &self.operation.title,
            description: &self.operation.description,
            tags: &names.tags,
            params: &names.params,
            category: self.operation.category,
            deprecated: self.operation.deprecated.is_some(),
            fields: &names.fields,
        }
    }

    pub fn id(&self) -> &str {
        self.operation.source_id.as_deref().unwrap_or(&self.operation.name)
    }
}

/// Reads a file, or every list of tools in a folder. The tools of a folder have the name of their file as a tag, and
/// `file/tool` as id.
pub fn read(path: &Path) -> Result<Vec<Loaded>> {
    if !path.is_dir() {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        return if is_description(&text) { read_description(text) } else { read_tools(&text, None) };
    }
    let mut files: Vec<_> = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(|file| file.file_name());
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file.path())?;
        let name = file.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
        all.extend(read_tools(&text, name.as_deref())?);
    }
    Ok(all)
}

fn read_tools(text: &str, server: Option<&str>) -> Result<Vec<Loaded>> {
    let capture = Capture::from_json(serde_json::from_str(text)?).context("this is no list of tools")?;
    let target = McpTarget::new(McpLink::Url {
        url: "http://localhost/mcp".into(),
        headers: Default::default(),
        allow_http: true,
    });
    let options = McpImportOptions { name: server.map(str::to_owned), ..McpImportOptions::default() };
    let Ok(imported) = import(&capture, target, Auth::None, &options) else {
        bail!("the tools cannot be imported");
    };
    let types = imported.adapter.types;
    let tools = imported.adapter.operations.into_iter().map(|mut operation| {
        let outline = Outline::of(&operation, &types);
        if let Some(server) = server {
            operation.tags.push(server.to_owned());
            let Binding::Mcp(binding) = &operation.binding else { bail!("{} is no tool", operation.name) };
            operation.source_id = Some(format!("{server}/{}", binding.tool));
        }
        Ok(Loaded { operation, outline, method: String::new(), path: String::new() })
    });
    tools.collect()
}

fn read_description(text: String) -> Result<Vec<Loaded>> {
    let Ok(import) = open(text, &OpenApiImportOptions::default(), Arc::new(NoLoader)) else {
        bail!("this is not an OpenAPI document");
    };
    let start = Instant::now();
    let all: Vec<Loaded> = import
        .adapter
        .operations
        .into_iter()
        .enumerate()
        .map(|(index, operation)| {
            let (method, path) = route(&operation);
            Loaded { outline: import.library.outline(index), operation, method, path }
        })
        .collect();
    println!("outlines read in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(all)
}

fn route(operation: &Operation) -> (String, String) {
    let Binding::Http(http) = &operation.binding else { return Default::default() };
    let mut path = String::new();
    for segment in &http.path {
        match segment {
            Segment::Literal(text) => path.push_str(text),
            Segment::Param(name) => path.push_str(&format!("{{{name}}}")),
        }
    }
    (http.method.clone(), path)
}
