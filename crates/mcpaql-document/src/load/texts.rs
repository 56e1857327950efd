//! Reads the texts that a target sets for all its operations: headers, variables of programs, working directories, and the
//! prefix of credentials. Checks the arguments of programs.
//!
//! What always holds: every text that the server rejects when it opens the target is reported here, with its line.
//! `check`, `serve` and `generate` therefore accept the same documents.

use super::secrets;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::header;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::template::{EnvTemplate, is_variable_name};
use serde_json::Value;

const REFERENCE_SUGGESTION: &str =
    "write `${env:NAME}`, or `${env:NAME:-default}` if the variable is optional";

/// Reads `headers`.
pub(super) fn headers(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> IndexMap<String, String> {
    let (headers, pointer) = (text_map(reader, object, "headers"), object.pointer_to("headers"));
    report_plain_credentials(reader, &pointer, &headers, "write `${env:NAME}` instead, or use `auth`");
    for (name, value) in &headers {
        if let Some(reason) = header::problem(name, value) {
            let message = format!("The header '{name}' {reason}");
            let problem = Diagnostic::error(Code::SchemaInvalidValue, child(&pointer, name), message);
            let is_unclosed = EnvTemplate::parse(value).is_none();
            reader.push(if is_unclosed { problem.suggest(REFERENCE_SUGGESTION) } else { problem });
        }
    }
    headers
}

/// Reads `prefix`, the text before a credential.
pub(super) fn credential_prefix(reader: &mut DocumentReader, auth: &DocumentObject<'_>) -> Option<String> {
    let prefix = reader.string(auth, "prefix")?;
    if !header::is_value(&prefix) {
        let message = "The prefix contains a line break or another control character";
        reader.push(
            Diagnostic::error(Code::SchemaInvalidValue, auth.pointer_to("prefix"), message)
                .expected("text before the credential, such as `Bearer `"),
        );
    }
    Some(prefix)
}

/// Reads `env`, the names of variables for a program.
pub(super) fn variable_names(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Vec<String> {
    let (names, pointer) = (reader.strings(object, "env"), object.pointer_to("env"));
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !is_variable_name(name)) {
        let is_list = object.get("env").is_some_and(Value::is_array);
        let pointer = if is_list { child(&pointer, index) } else { pointer.clone() };
        // What follows `=` may be a secret, so it is not shown.
        let name = name.split('=').next().unwrap_or_default();
        let message = format!("`env` lists names of variables, and this is not one: '{name}'");
        reader.push(
            Diagnostic::error(Code::SchemaInvalidName, pointer, message)
                .expected("a name without `=` and NUL")
                .suggest("write only the name, or set a fixed value under `set_env`"),
        );
    }
    names
}

/// Reads `set_env`.
pub(super) fn variables(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    suggestion: &str,
) -> IndexMap<String, String> {
    let (variables, pointer) = (text_map(reader, object, "set_env"), object.pointer_to("set_env"));
    report_plain_credentials(reader, &pointer, &variables, suggestion);
    for (name, value) in &variables {
        if !is_variable_name(name) || value.contains('\0') {
            let message = format!("The variable '{name}' cannot be set");
            reader.push(
                Diagnostic::error(Code::SchemaInvalidValue, child(&pointer, name), message)
                    .expected("a name without `=`; no NUL in name or value"),
            );
        }
    }
    variables
}

/// Reads `set_env` whose values may contain variables.
pub(super) fn template_variables(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    suggestion: &str,
) -> IndexMap<String, String> {
    let (variables, pointer) = (variables(reader, object, suggestion), object.pointer_to("set_env"));
    for (name, value) in &variables {
        check_template(reader, &child(&pointer, name), value);
    }
    variables
}

/// Reads `cwd`.
pub(super) fn working_directory(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<String> {
    let text = reader.string(object, "cwd")?;
    check_template(reader, &object.pointer_to("cwd"), &text);
    check_argument(reader, &object.pointer_to("cwd"), &text);
    Some(text)
}

/// Reports a text that no program can receive, because it contains NUL.
pub(super) fn check_argument(reader: &mut DocumentReader, pointer: &str, text: &str) {
    if text.contains('\0') {
        let message = "The value contains a NUL character, which no program accepts";
        reader.push(Diagnostic::error(Code::SchemaInvalidValue, pointer, message).suggest("remove it"));
    }
}

/// Reports a `${` that is not a complete variable.
pub(super) fn check_template(reader: &mut DocumentReader, pointer: &str, text: &str) {
    if EnvTemplate::parse(text).is_none() {
        let message = "The value contains a `${` that is not a complete `${env:NAME}`";
        reader.push(
            Diagnostic::error(Code::SchemaInvalidValue, pointer, message).suggest(REFERENCE_SUGGESTION),
        );
    }
}

/// Reports credentials in headers or variables that are not written as `${env:NAME}`.
fn report_plain_credentials(
    reader: &mut DocumentReader,
    pointer: &str,
    values: &IndexMap<String, String>,
    suggestion: &str,
) {
    for (name, value) in values {
        if secrets::is_credential_name(name) && !value.contains("${env:") {
            secrets::report_credential(reader, &child(pointer, name), suggestion);
        }
    }
}

fn text_map(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> IndexMap<String, String> {
    let mut out = IndexMap::new();
    if let Some(map) = reader.member(object, key) {
        for name in map.map.keys() {
            if let Some(text) = reader.string(&map, name) {
                out.insert(name.clone(), text);
            }
        }
    }
    out
}
