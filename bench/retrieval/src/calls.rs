//! Measures whether a search hit is enough to make a call, and what a description of an operation costs.
//!
//! A question with `params` names the parameters that its call needs. A hit is enough if its signature shows all of
//! them with a complete type: no parameter is left out, no enum is cut, and no type has only a name.

use crate::Question;
use crate::document::Loaded;
use anyhow::{Context, Result};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::compile::compile_deferred;
use mcpaql_core::introspect;
use mcpaql_import::openapi::{NoLoader, OpenApiImportOptions, open};
use serde_json::{Value, json};
use std::sync::Arc;

/// Compiles the catalog of an OpenAPI description.
pub fn catalog(text: String, mode: Option<Mode>) -> Result<Catalog> {
    let import = open(text, &OpenApiImportOptions::default(), Arc::new(NoLoader))
        .ok()
        .context("calls are measured with OpenAPI descriptions only")?;
    let settings = AdapterSettings { mode, ..AdapterSettings::default() };
    let compiled = compile_deferred(import.adapter, import.library, &settings);
    compiled.catalog.context("the description cannot be served")
}

/// Asks `introspect`.
pub fn ask(catalog: &Catalog, params: &Value) -> Result<Value> {
    let answer = introspect::answer(catalog, params.as_object().context("an object")?);
    answer.map(|answer| answer.data.into_value()).ok().context("introspect refuses the question")
}

/// Prints how many questions a hit answers completely. With `answers`, prints every answer as JSON.
pub fn report(
    catalog: &Catalog,
    operations: &[Loaded],
    questions: &[Question],
    misses: bool,
    answers: bool,
) -> Result<()> {
    let (mut found, mut enough, mut first) = (0, 0, 0);
    for question in questions {
        let data = ask(catalog, &json!({"search": question.text}))?;
        if answers {
            println!("{}", json!({"search": data}));
        }
        let names: Vec<&str> = question
            .gold
            .iter()
            .filter_map(|at| Some(operations.get(*at)?.operation.name.as_str()))
            .collect();
        let hits = data["operations"].as_array().context("hits")?;
        let Some(at) =
            hits.iter().position(|hit| hit["name"].as_str().is_some_and(|name| names.contains(&name)))
        else {
            if misses {
                println!("not found: {}", question.text);
            }
            continue;
        };
        found += 1;
        first += usize::from(at == 0);
        let signature = hits.get(at).and_then(|hit| hit["signature"].as_str()).unwrap_or_default();
        let full = hits.get(at).and_then(|hit| catalog.full_operation(catalog.get(hit["name"].as_str()?)?));
        let is_string = |param: &str| {
            let schema =
                full.as_ref().and_then(|full| full.operation.param(param)).map(|param| &param.schema);
            schema.is_some_and(|schema| schema["type"] == "string" && schema.get("enum").is_none())
        };
        let lacking: Vec<&str> = question
            .params
            .iter()
            .map(String::as_str)
            .filter(|param| !shows(signature, param, is_string))
            .collect();
        enough += usize::from(lacking.is_empty());
        if misses && !lacking.is_empty() {
            println!("hit {at}, lacks {lacking:?}: {}\n  {signature}", question.text);
        }
    }
    println!(
        "{} calls: {found} found in five hits, {first} as the first; {enough} need no description",
        questions.len()
    );
    Ok(())
}

/// Returns whether a signature shows a parameter with its whole type. The type of a string may be left out.
fn shows(signature: &str, param: &str, is_string: impl Fn(&str) -> bool) -> bool {
    let line = signature.split_once('(').map_or("", |(_, params)| params);
    let bare = line.trim_end_matches(')').split(", ").any(|one| one.trim_end_matches('?') == param);
    if bare {
        return is_string(param);
    }
    let start = [format!("{param}: "), format!("{param}?: ")].iter().find_map(|key| {
        line.match_indices(key.as_str())
            .find(|(at, _)| line[..*at].ends_with([' ', '(']) || *at == 0)
            .map(|(at, _)| at + key.len())
    });
    let Some(start) = start else { return false };
    let mut depth = 0;
    let end = line[start..].find(|c: char| match c {
        '{' | '(' | '[' => {
            depth += 1;
            false
        }
        '}' | ')' | ']' if depth == 0 => true,
        '}' | ')' | ']' => {
            depth -= 1;
            false
        }
        ',' => depth == 0,
        _ => false,
    });
    let kind = &line[start..end.map_or(line.len(), |end| start + end)];
    let named = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase()) && !signature.contains(&format!("type {word} ="))
    };
    let plain: String = kind.split('"').step_by(2).collect();
    let words = || plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    !kind.contains('…') && !words().any(named)
}

/// Prints what every operation costs to describe, as JSON.
pub fn descriptions(catalog: &Catalog) -> Result<()> {
    for entry in &catalog.operations {
        let name = entry.operation.name.as_str();
        println!("{}", json!({"describe": ask(catalog, &json!({"name": name, "detail": "signature"}))?}));
    }
    Ok(())
}
