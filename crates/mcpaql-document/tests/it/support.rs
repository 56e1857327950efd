//! Helpers that check documents and call their tools.

use mcpaql_core::catalog::{AdapterSettings, Catalog, Tool};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::introspect;
use mcpaql_core::request::{self, PreparedCall};
use mcpaql_document::check::{self, CheckOutput};
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};

/// The first five lines of a document; only the operations are missing.
pub(crate) const HEAD: &str = "name: demo
type: adapter
version: \"1.0.0\"
description: A demo
target: { base_url: \"https://api.example.com\" }
";

/// Returns a document with `HEAD` and these lines, which start in line 6.
pub(crate) fn document(rest: &str) -> Source {
    Source::new("demo-adapter.yaml", format!("{HEAD}{rest}"))
}

pub(crate) fn check(source: &Source) -> CheckOutput {
    check::check(source, &AdapterSettings::default())
}

/// Returns the problems of a document with `HEAD` and these lines.
pub(crate) fn problems(rest: &str) -> Vec<Diagnostic> {
    check(&document(rest)).diagnostics
}

/// Returns the catalog of a text, and asserts that the text has no problems.
pub(crate) fn catalog_of(source: &Source, settings: &AdapterSettings) -> Catalog {
    let checked = check::check(source, settings);
    assert_eq!(
        DiagnosticFormat::Concise.render(&[(source, &checked.diagnostics)], false),
        "",
        "{}",
        source.text
    );
    checked.catalog.expect("a document without problems can be served")
}

/// Returns the catalog of `HEAD` and these lines.
pub(crate) fn catalog(rest: &str) -> Catalog {
    catalog_of(&document(rest), &AdapterSettings::default())
}

pub(crate) fn tool<'c>(catalog: &'c Catalog, name: &str) -> &'c Tool {
    let names: Vec<&str> = catalog.tools.iter().map(|tool| tool.name.as_str()).collect();
    catalog
        .tools
        .iter()
        .find(|tool| tool.name == name)
        .unwrap_or_else(|| panic!("{name} is not in {names:?}"))
}

pub(crate) fn tool_names(catalog: &Catalog) -> Vec<&str> {
    catalog.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The expected content of a diagnostic; `message` is the start of the message.
pub(crate) struct Expected<'a> {
    pub(crate) code: Code,
    pub(crate) place: &'a str,
    pub(crate) message: &'a str,
    pub(crate) expected: Option<&'a str>,
    pub(crate) found: Option<&'a str>,
    pub(crate) suggestion: Option<&'a str>,
}

/// Asserts that there is exactly one problem, with this content.
#[track_caller]
pub(crate) fn assert_one(diagnostics: &[Diagnostic], expected: &Expected<'_>) {
    assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
    assert_says(&diagnostics[0], expected);
}

#[track_caller]
pub(crate) fn assert_says(diagnostic: &Diagnostic, expected: &Expected<'_>) {
    let span = diagnostic.span.expect("every diagnostic is located");
    assert_eq!(diagnostic.code, expected.code, "{diagnostic:#?}");
    assert_eq!(format!("{}:{}", span.line, span.column), expected.place, "{diagnostic:#?}");
    assert!(diagnostic.message.starts_with(expected.message), "{diagnostic:#?}");
    assert_eq!(diagnostic.expected.as_deref(), expected.expected, "{diagnostic:#?}");
    assert_eq!(diagnostic.found.as_deref(), expected.found, "{diagnostic:#?}");
    assert_eq!(diagnostic.suggestion.as_deref(), expected.suggestion, "{diagnostic:#?}");
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// Prepares a call of a tool.
pub(crate) fn call<'c>(
    catalog: &'c Catalog,
    tool: &str,
    arguments: Value,
) -> Result<PreparedCall<'c>, OpError> {
    let outcome = request::prepare(catalog, tool, object(arguments));
    if let Err(error) = &outcome {
        assert_says_nothing_like_a_stack(&error.message);
    }
    outcome
}

#[track_caller]
pub(crate) fn refused(catalog: &Catalog, tool: &str, arguments: Value) -> OpError {
    call(catalog, tool, arguments).map(|call| call.args).expect_err("the call must be refused")
}

/// Asserts that the reference's leak check accepts the message. It takes "at" and a word for a stack frame.
#[track_caller]
pub(crate) fn assert_says_nothing_like_a_stack(message: &str) {
    let words: Vec<&str> = message.split_whitespace().collect();
    let frame = words.windows(2).any(|pair| pair[0] == "at" && pair[1].starts_with(char::is_alphanumeric));
    assert!(!frame, "{message}");
}

/// Returns the data and the warnings of `introspect` with these parameters.
pub(crate) fn introspect(catalog: &Catalog, params: Value) -> (Value, Vec<String>) {
    let call = request::prepare_operation(catalog, "introspect", object(params)).expect("valid parameters");
    let answer = introspect::answer(catalog, &call.args).expect("introspection answers");
    let warnings = answer.warnings.into_iter().map(|warning| warning.message).collect();
    (answer.data.into_value(), warnings)
}

/// Returns the details of an operation with `detail: full`.
pub(crate) fn full_details(catalog: &Catalog, name: &str) -> Value {
    introspect(catalog, json!({"query": "operations", "name": name, "detail": "full"})).0["operation"].clone()
}

/// Returns the details of an operation.
pub(crate) fn details(catalog: &Catalog, name: &str) -> Value {
    introspect(catalog, json!({"query": "operations", "name": name})).0["operation"].clone()
}
