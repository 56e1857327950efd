//! The documents in `examples/`: free of problems, within their token budgets, and correct for the real programs and
//! APIs.

#[cfg(unix)]
mod apple_mail;
mod git;
mod github;
mod unusual;

use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::error::OpError;
use mcpaql_core::surface;
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::open;
use serde_json::Value;
use crate::fixture::call_confirmed;
use std::path::PathBuf;
use std::sync::Arc;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns the example with this name.
fn example(name: &str) -> Source {
    let path = folder().join(format!("{name}-adapter.md"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Source::new(format!("{name}-adapter.md"), text)
}

fn catalog(source: &Source) -> Catalog {
    let checked = check(source, &AdapterSettings::default());
    assert!(checked.diagnostics.is_empty(), "{}: {:#?}", source.name, checked.diagnostics);
    checked.catalog.expect("a catalog")
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Arc::new(move |name| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
}

async fn served(source: &Source, variables: &[(&str, &str)]) -> ServedAdapter {
    open::open(catalog(source), &source.name, None, &environment(variables)).await.expect("a served adapter")
}

async fn call(served: &ServedAdapter, operation: &str, params: Value) -> Result<Value, OpError> {
    let Value::Object(params) = params else { panic!("parameters of {operation} must be an object") };
    let outcome = call_confirmed(served, operation, params).await;
    outcome.map(|answer| answer.data.into_value())
}

#[test]
fn every_example_is_clean_and_explains_itself() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the examples") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        // The other files are descriptions of APIs.
        let Some(name) = file.strip_suffix("-adapter.md") else { continue };
        let catalog = catalog(&example(name));
        assert_eq!(catalog.adapter.name, name, "file and adapter have the same name");
        for entry in &catalog.operations {
            let operation = &entry.operation;
            assert!(!operation.description.is_empty(), "{name}: {} has no description", operation.name);
            for param in operation.params.iter().filter(|_| operation.name != "introspect") {
                assert!(!param.description.is_empty(), "{name}: {}({})", operation.name, param.name);
            }
        }
        names.push(name.to_owned());
    }
    names.sort();
    assert_eq!(names, ["apple-mail", "firefly", "git", "github-api", "lightdash", "nextcloud", "notebook"]);
}

#[test]
fn every_surface_is_within_its_budget() {
    for name in ["apple-mail", "git", "github-api", "notebook"] {
        let tools = catalog(&example(name)).tools;
        let tokens = |text: &str| tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len();
        let cost: usize = tools.iter().map(|tool| tokens(&tool.to_json().to_string())).sum();
        assert!(cost <= surface::SEMANTIC_BUDGET, "{name} costs {cost}");
    }
}

#[test]
fn tools_have_the_names_and_titles_of_the_naming_proposal() {
    let surface = |name: &str| -> Vec<(String, String)> {
        catalog(&example(name)).tools.into_iter().map(|tool| (tool.name, tool.title)).collect()
    };
    let expected = |adapter: &str, title: &str| -> Vec<(String, String)> {
        [
            ("create", "Create"),
            ("read", "Read"),
            ("update", "Update"),
            ("delete", "Delete"),
            ("execute", "Execute"),
        ]
        .map(|(endpoint, word)| (format!("{adapter}_mcpaql_{endpoint}"), format!("{title} — {word}")))
        .to_vec()
    };
    assert_eq!(surface("apple-mail"), expected("apple_mail", "Apple Mail"));
    assert_eq!(surface("github-api"), expected("github_api", "GitHub API"));
    assert_eq!(surface("git"), expected("git", "Git"));
}

#[test]
fn an_adapter_of_medium_size_lists_its_operations_by_name() {
    let catalog = catalog(&example("git"));
    for entry in &catalog.operations {
        let tool = catalog.tools.iter().find(|tool| tool.name == entry.tool).expect("the operation's tool");
        assert!(tool.description.contains(&entry.operation.name), "{}", tool.description);
    }
}
