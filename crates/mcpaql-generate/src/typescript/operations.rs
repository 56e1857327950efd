//! One file for each endpoint: the parameters of its operations, how they reach the target, and a typed function for each.

use super::literal::literal;
use super::types;
use crate::binding::{self, BindingKind, UsedTargets};
use crate::model::{CodeWriter, IdentifierCase, Model, Signature, identifier};
use crate::{ProjectFile, Unsupported};
use indexmap::IndexMap;
use mcpaql_core::operation::Operation;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// The files of the endpoints, and the one that brings them together.
pub(super) fn files(
    kinds: &UsedTargets,
    model: &Model<'_>,
    wide_names: &BTreeSet<String>,
) -> Result<Vec<ProjectFile>, Unsupported> {
    let mut endpoints: IndexMap<String, Vec<&Signature<'_>>> = IndexMap::new();
    for signature in &model.operations {
        endpoints.entry(module(&signature.operation.endpoint)).or_default().push(signature);
    }
    let mut files =
        vec![ProjectFile::generated("src/operations/index.ts", index(&endpoints, kinds, wide_names))];
    let taken: HashSet<&str> = model.operations.iter().map(|operation| operation.function.as_str()).collect();
    for (module, operations) in &endpoints {
        let text = endpoint(operations, &taken)?;
        files.push(ProjectFile::generated(format!("src/operations/{module}.ts"), text));
    }
    Ok(files)
}

/// The file of an endpoint, without its ending.
fn module(endpoint: &str) -> String {
    match identifier(endpoint, IdentifierCase::Snake) {
        name if name == "index" => "index_".to_owned(),
        name => name,
    }
}

fn index(
    endpoints: &IndexMap<String, Vec<&Signature<'_>>>,
    kinds: &UsedTargets,
    wide_names: &BTreeSet<String>,
) -> String {
    let space = |module: &str| format!("{}Operations", identifier(module, IdentifierCase::Camel));
    let mut text = CodeWriter::new("  ");
    text.line("// What answers each operation. Generated from the adapter's document: another answer goes into src/handlers.ts.")
        .line("")
        .line("import type { Handler, Project } from \"../runtime/call.js\";");
    if kinds.command {
        text.line("import { CommandRunner, type CommandTarget } from \"../runtime/command.js\";");
    }
    if kinds.http {
        text.line("import { HttpClient, type HttpTarget } from \"../runtime/http.js\";");
    }
    for module in endpoints.keys() {
        text.line(format!("import * as {} from \"./{module}.js\";", space(module)));
    }
    let each = |write: &mut dyn FnMut(&str, &Signature<'_>)| {
        for (module, operations) in endpoints {
            operations.iter().for_each(|operation| write(&space(module), operation));
        }
    };
    let open = match (kinds.http, kinds.command) {
        (true, true) => {
            "(target: HttpTarget | CommandTarget) =>\n  target.protocol === \"http\" ? new HttpClient(target) : new CommandRunner(target);"
        }
        (false, true) => "(target: CommandTarget) => new CommandRunner(target);",
        _ => "(target: HttpTarget) => new HttpClient(target);",
    };
    text.line("").line("/** Reaches the target of the operations. */");
    text.line(format!("export const open: Project[\"open\"] = {open}"));
    let head = "export const wide: readonly string[] = ";
    let names = Value::from_iter(wide_names.iter().map(String::as_str));
    text.line("")
        .line("/** Names of members whose integers may be larger than 2^53, and are bigints then. */");
    text.line(format!("{head}{};", literal(&names, head.len(), 0)));
    if endpoints.is_empty() {
        text.line("").line("/** What answers each operation; there is none. */");
        text.line("export type Handlers = Record<string, Handler<never, unknown>>;");
        text.line("").line("export const defaults: Handlers = {};");
        return text.finish();
    }
    text.line("").line("/** What answers each operation. */");
    text.block("export interface Handlers {", "}", |text| {
        each(&mut |space, Signature { operation, params, .. }| {
            text.line(format!("{}: Handler<{space}.{params}, unknown>;", operation.name));
        });
    });
    text.line("").line("/** Every operation as the document describes it. */");
    text.block("export const defaults: Handlers = {", "};", |text| {
        each(&mut |space, Signature { operation, function, .. }| {
            text.line(format!("{}: {space}.{function},", operation.name));
        });
    });
    text.finish()
}

/// How an operation reaches its target, in words of the runtime.
struct RuntimeBinding {
    /// `HttpRequest`.
    kind: &'static str,
    /// Where that comes from.
    from: &'static str,
    /// What the constant's name ends with.
    suffix: &'static str,
    binding: Value,
}

fn endpoint(operations: &[&Signature<'_>], taken: &HashSet<&str>) -> Result<String, Unsupported> {
    let mut ways = Vec::with_capacity(operations.len());
    for signature in operations {
        ways.push((*signature, runtime_binding(signature.operation)?));
    }
    let mut text = CodeWriter::new("  ");
    let endpoint = operations.first().map_or("", |first| &first.operation.endpoint);
    text.line(format!(
        "// Operations of the endpoint `{endpoint}`. Generated from the adapter's document: another answer goes into src/handlers.ts."
    ))
    .line("");
    let mut imports: Vec<(&str, &str)> = ways.iter().map(|(_, way)| (way.from, way.kind)).collect();
    imports.push(("call.js", "Call"));
    imports.sort_unstable();
    imports.dedup();
    for (from, kind) in imports {
        text.line(format!("import type {{ {kind} }} from \"../runtime/{from}\";"));
    }
    let mut used: Vec<&str> =
        operations.iter().flat_map(|one| types::used(one.fields.iter().chain(&one.result))).collect();
    used.sort_unstable();
    used.dedup();
    if !used.is_empty() {
        text.line(format!("import type {{ {} }} from \"../types.js\";", used.join(", ")));
    }
    for (signature, way) in &ways {
        operation(&mut text, signature, way, taken);
    }
    Ok(text.finish())
}

fn operation(text: &mut CodeWriter, signature: &Signature<'_>, way: &RuntimeBinding, taken: &HashSet<&str>) {
    let Signature { operation, function, params, fields, result } = signature;
    let mut constant = format!("{function}{}", way.suffix);
    while taken.contains(constant.as_str()) {
        constant.push('_');
    }
    text.line("").line(format!("/** Parameters of `{}`. */", operation.name));
    types::object(text, params, fields, None);
    let head = format!("export const {constant}: {} = ", way.kind);
    text.line("").line(format!("/** How `{}` reaches its target. */", operation.name));
    text.line(format!("{head}{};", literal(&way.binding, head.len(), 0)));
    text.line("");
    types::comment(text, &operation_comment(operation));
    let result = result.first().map_or_else(|| "unknown".to_owned(), types::field_type);
    let cast = if result == "unknown" { String::new() } else { format!(" as Promise<{result}>") };
    let (open, body) = (
        format!("export const {function} = (params: {params}, call: Call) =>"),
        format!("call.send({constant}, params){cast};"),
    );
    if open.len() + body.len() < 118 {
        text.line(format!("{open} {body}"));
    } else {
        text.line(open).within(|text| {
            text.line(body);
        });
    }
}

fn operation_comment(operation: &Operation) -> String {
    let about = match operation.description.trim() {
        "" => operation.title.clone(),
        description => description.to_owned(),
    };
    match operation.deprecated.as_deref().map(str::trim) {
        // The tag would make every use of it a finding, and the operation is still served.
        Some("") => format!("{about}\n\nDeprecated."),
        Some(instead) => format!("{about}\n\nDeprecated: {instead}"),
        None => about,
    }
}

fn runtime_binding(operation: &Operation) -> Result<RuntimeBinding, Unsupported> {
    let (kind, binding) = binding::operation_binding(operation)?;
    Ok(match kind {
        BindingKind::Http => {
            RuntimeBinding { kind: "HttpRequest", from: "request.js", suffix: "Request", binding }
        }
        BindingKind::Command => {
            RuntimeBinding { kind: "CommandLine", from: "command.js", suffix: "Command", binding }
        }
    })
}
