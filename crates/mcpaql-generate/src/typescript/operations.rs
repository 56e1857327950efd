//! Writes one file per endpoint: the parameters of its operations, their calls, and a typed function for each.

use super::literal::literal;
use super::types;
use crate::binding::{self, BindingKind, UsedTargets};
use crate::model::{CodeWriter, IdentifierCase, Model, Signature, identifier};
use crate::{ProjectFile, Unsupported};
use indexmap::IndexMap;
use mcpaql_core::operation::Operation;
use serde_json::Value;
use std::collections::HashSet;

/// Returns the files of the endpoints, and the file that combines them.
pub(super) fn files(kinds: &UsedTargets, model: &Model<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    let mut endpoints: IndexMap<String, Vec<&Signature<'_>>> = IndexMap::new();
    for signature in &model.operations {
        endpoints.entry(module(&signature.operation.endpoint)).or_default().push(signature);
    }
    let mut files = vec![ProjectFile::generated("src/operations/index.ts", index(&endpoints, kinds))];
    let taken: HashSet<&str> = model.operations.iter().map(|operation| operation.function.as_str()).collect();
    for (module, operations) in &endpoints {
        let text = endpoint(operations, &taken)?;
        files.push(ProjectFile::generated(format!("src/operations/{module}.ts"), text));
    }
    Ok(files)
}

/// Returns the file name of an endpoint, without its extension.
fn module(endpoint: &str) -> String {
    match identifier(endpoint, IdentifierCase::Snake) {
        name if name == "index" => "index_".to_owned(),
        name => name,
    }
}

fn index(endpoints: &IndexMap<String, Vec<&Signature<'_>>>, kinds: &UsedTargets) -> String {
    let space = |module: &str| format!("{}Operations", identifier(module, IdentifierCase::Camel));
    let mut text = CodeWriter::new("  ");
    text.line("// The handlers of all operations. Generated from the adapter's document: write your own handlers in src/handlers.ts.")
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
    text.line("").line("/** Opens the target of the operations. */");
    text.line(format!("export const open: Project[\"open\"] = {open}"));
    if endpoints.is_empty() {
        text.line("").line("/** The handlers of operations. This adapter has none. */");
        text.line("export type Handlers = Record<string, Handler<never, unknown>>;");
        text.line("").line("export const defaults: Handlers = {};");
        return text.finish();
    }
    text.line("").line("/** The handler of each operation. */");
    text.block("export interface Handlers {", "}", |text| {
        each(&mut |space, Signature { operation, params, .. }| {
            text.line(format!("{}: Handler<{space}.{params}, unknown>;", operation.name));
        });
    });
    text.line("").line("/** The generated handler of each operation. */");
    text.block("export const defaults: Handlers = {", "};", |text| {
        each(&mut |space, Signature { operation, function, .. }| {
            text.line(format!("{}: {space}.{function},", operation.name));
        });
    });
    text.finish()
}

/// The names of the runtime for a kind of call.
struct RuntimeBinding {
    /// `HttpRequest`.
    kind: &'static str,
    /// The module that exports it.
    from: &'static str,
    /// The suffix of the constant's name.
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
        "// Operations of the endpoint `{endpoint}`. Generated from the adapter's document: write your own handlers in src/handlers.ts."
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
    text.line("").line(format!("/** The call of `{}`. */", operation.name));
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
        // With the tag, linters would report every use, although the operation still works.
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
