//! An imported API in the form that search and links read: heads and outlines of operations.

use anyhow::{Result, bail};
use mcpaql_core::library::{Library, Outline};
use mcpaql_core::operation::{Binding, Operation, Segment};
use mcpaql_core::search::Doc;
use mcpaql_import::openapi::{NoLoader, OpenApiImportOptions, open};
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

pub fn read(text: String) -> Result<Vec<Loaded>> {
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
