//! One file for each endpoint: the parameters of its operations, what they do on their way to the target, and what answers them.

use super::literal::{literal, string};
use super::types;
use crate::model::{Case, Model, Signature, Text, identifier};
use crate::{File, IN_RUST, Unsupported};
use indexmap::IndexMap;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::operation::{
    Arg, Binding, BodyForm, Category, CommandBinding, ExitMeaning, HttpBinding, McpBinding, Operation, Param,
    Place, Segment, Stdin, StoreBinding, Style,
};
use mcpaql_core::portable;
use mcpaql_core::schema::is_file;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The files of the endpoints, and the one that brings them together.
pub(super) fn files(catalog: &Catalog, model: &Model<'_>) -> Result<Vec<File>, Unsupported> {
    let mut endpoints: IndexMap<String, Vec<&Signature<'_>>> = IndexMap::new();
    for signature in &model.operations {
        endpoints.entry(module(&signature.operation.endpoint)).or_default().push(signature);
    }
    let mut files = vec![File::generated("src/operations/index.ts", index(&endpoints))];
    let taken: HashSet<&str> = model.operations.iter().map(|operation| operation.function.as_str()).collect();
    for (module, operations) in &endpoints {
        let text = endpoint(catalog, operations, &taken)?;
        files.push(File::generated(format!("src/operations/{module}.ts"), text));
    }
    Ok(files)
}

/// The file of an endpoint, without its ending.
fn module(endpoint: &str) -> String {
    match identifier(endpoint, Case::Snake) {
        name if name == "index" => "index_".to_owned(),
        name => name,
    }
}

fn index(endpoints: &IndexMap<String, Vec<&Signature<'_>>>) -> String {
    let space = |module: &str| format!("{}Operations", identifier(module, Case::Camel));
    let mut text = Text::new("  ");
    text.line("// What answers each operation. Generated from the adapter's document: another answer goes into src/handlers.ts.")
        .line("")
        .line("import type { Handler } from \"../runtime/pipeline.js\";");
    for module in endpoints.keys() {
        text.line(format!("import * as {} from \"./{module}.js\";", space(module)));
    }
    let each = |write: &mut dyn FnMut(&str, &Signature<'_>)| {
        for (module, operations) in endpoints {
            operations.iter().for_each(|operation| write(&space(module), operation));
        }
    };
    if endpoints.is_empty() {
        text.line("").line("/** What answers each operation; there is none. */");
        text.line("export type Handlers = Record<string, Handler<never>>;");
        text.line("").line("export const defaults: Handlers = {};");
        return text.finish();
    }
    text.line("").line("/** What answers each operation. */");
    text.block("export interface Handlers {", "}", |text| {
        each(&mut |space, Signature { operation, params, .. }| {
            text.line(format!("{}: Handler<{space}.{params}>;", operation.name));
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
struct Way {
    /// `HttpRequest`.
    kind: &'static str,
    /// Where that comes from.
    from: &'static str,
    /// What the constant's name ends with.
    suffix: &'static str,
    /// The method of a call that takes it.
    method: &'static str,
    binding: Value,
}

fn endpoint(
    catalog: &Catalog,
    operations: &[&Signature<'_>],
    taken: &HashSet<&str>,
) -> Result<String, Unsupported> {
    let mut ways = Vec::with_capacity(operations.len());
    for signature in operations {
        ways.push((*signature, way(catalog, signature.operation)?));
    }
    let mut text = Text::new("  ");
    let endpoint = operations.first().map_or("", |first| &first.operation.endpoint);
    text.line(format!(
        "// Operations of the endpoint `{endpoint}`. Generated from the adapter's document: another answer goes into src/handlers.ts."
    ))
    .line("");
    let mut imports: Vec<(&str, &str)> = ways.iter().map(|(_, way)| (way.from, way.kind)).collect();
    imports.push(("pipeline.js", "Handler"));
    imports.sort_unstable();
    imports.dedup();
    for (from, kind) in imports {
        text.line(format!("import type {{ {kind} }} from \"../runtime/{from}\";"));
    }
    let mut used: Vec<&str> =
        operations.iter().flat_map(|operation| types::used(&operation.fields)).collect();
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

fn operation(text: &mut Text, signature: &Signature<'_>, way: &Way, taken: &HashSet<&str>) {
    let Signature { operation, function, params, fields } = signature;
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
    types::comment(text, &said(operation));
    let (open, body) = (
        format!("export const {function}: Handler<{params}> = (params, call) =>"),
        format!("call.{}({constant}, params);", way.method),
    );
    if open.len() + body.len() < 110 {
        text.line(format!("{open} {body}"));
    } else {
        text.line(open).within(|text| {
            text.line(body);
        });
    }
}

fn said(operation: &Operation) -> String {
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

fn way(catalog: &Catalog, operation: &Operation) -> Result<Way, Unsupported> {
    let mut way = match &operation.binding {
        Binding::Http(binding) => Way {
            kind: "HttpRequest",
            from: "http/binding.js",
            suffix: "Request",
            method: "http",
            binding: http(operation, binding)?,
        },
        Binding::Store(binding) => Way {
            kind: "StoreAction",
            from: "store/binding.js",
            suffix: "Action",
            method: "store",
            binding: store(binding),
        },
        Binding::Command(binding) => Way {
            kind: "CommandLine",
            from: "command/binding.js",
            suffix: "Command",
            method: "command",
            binding: command(operation, binding)?,
        },
        Binding::Mcp(binding) => Way {
            kind: "ToolCall",
            from: "mcp/binding.js",
            suffix: "Tool",
            method: "tool",
            binding: tool(operation, binding),
        },
        Binding::Code | Binding::Introspect | Binding::Execution(_) => {
            let (name, adapter) = (&operation.name, &catalog.adapter.name);
            let message = format!(
                "the operation '{name}' of the adapter '{adapter}' has no target that projects in TypeScript know"
            );
            return Err(Unsupported { message, suggestion: IN_RUST });
        }
    };
    if let (Some(param), Some(fields)) =
        (operation.params.iter().find(|param| param.place == Place::Target), way.binding.as_object_mut())
    {
        fields.insert("target".to_owned(), param.name.as_str().into());
    }
    Ok(way)
}

fn http(operation: &Operation, binding: &HttpBinding) -> Result<Value, Unsupported> {
    let mut out = Map::new();
    out.insert("method".into(), binding.method.as_str().into());
    out.insert("path".into(), template(operation, &binding.path)?.into());
    let sent = operation.params.iter().filter(|param| param.place != Place::Target);
    let params: Map<String, Value> =
        sent.map(|param| (param.name.clone(), http_param(param, binding))).collect();
    out.insert("params".into(), params.into());
    let body = (binding.body != BodyForm::Json).then(|| binding.body.as_str());
    let texts = [
        ("body", body),
        ("bodyParam", binding.body_param.as_deref()),
        ("contentType", binding.content_type.as_deref()),
        ("baseUrl", binding.base_url.as_deref()),
    ];
    for (name, text) in texts {
        out.extend(text.map(|text| (name.to_owned(), text.into())));
    }
    out.extend(binding.auth.as_ref().map(|auth| ("auth".to_owned(), portable::auth(auth))));
    if operation.may_repeat() {
        out.insert("repeatable".into(), true.into());
        if operation.category == Category::Delete {
            out.insert("removes".into(), true.into());
        }
    }
    Ok(out.into())
}

fn http_param(param: &Param, binding: &HttpBinding) -> Value {
    let place = param.place.as_str();
    let mut out = Map::new();
    out.insert("in".into(), place.into());
    if param.wire != param.name {
        out.insert("as".into(), param.wire.as_str().into());
    }
    let usual = Style::default_for(param.place);
    if param.style.form != usual.form {
        out.insert("style".into(), param.style.form.as_str().into());
    }
    if param.style.explode != usual.explode {
        out.insert("explode".into(), param.style.explode.into());
    }
    if param.style.reserved != usual.reserved {
        out.insert("reserved".into(), param.style.reserved.into());
    }
    if param.sensitive {
        out.insert("sensitive".into(), true.into());
    }
    if binding.body == BodyForm::Multipart {
        if binding.body_param.as_deref() == Some(param.name.as_str()) {
            let files = files_in(&param.schema);
            if !files.is_empty() {
                out.insert("file".into(), files.into());
            }
        } else if param.place == Place::Body && is_file(&param.schema) {
            out.insert("file".into(), true.into());
        }
    }
    out.into()
}

/// The properties of an object that are files.
fn files_in(schema: &Value) -> Vec<&str> {
    let all = schema.get("properties").and_then(Value::as_object);
    all.into_iter().flatten().filter(|(_, schema)| is_file(schema)).map(|(name, _)| name.as_str()).collect()
}

fn store(binding: &StoreBinding) -> Value {
    json!({ "resource": binding.resource, "action": binding.action.as_str() })
}

fn command(operation: &Operation, binding: &CommandBinding) -> Result<Value, Unsupported> {
    let group = |group: &[Vec<Segment>]| -> Result<Value, Unsupported> {
        let entries: Result<Vec<String>, Unsupported> =
            group.iter().map(|pieces| template(operation, pieces)).collect();
        Ok(entries?.into())
    };
    let mut argv = Vec::with_capacity(binding.argv.len());
    for arg in &binding.argv {
        argv.push(match arg {
            Arg::Template(pieces) => template(operation, pieces)?.into(),
            Arg::Group(entries) => group(entries)?,
            Arg::When(param, entries) => json!({ "when": param, "args": group(entries)? }),
        });
    }
    let mut out = Map::new();
    out.insert("argv".into(), argv.into());
    let params: Map<String, Value> = operation.params.iter().filter_map(command_param).collect();
    out.insert("params".into(), params.into());
    match &binding.stdin {
        Stdin::Closed => {}
        Stdin::Params => drop(out.insert("stdin".into(), "params".into())),
        Stdin::Param(name) => drop(out.insert("stdin".into(), json!({ "param": name }))),
    }
    out.insert("output".into(), binding.output.as_str().into());
    out.extend(binding.timeout_ms.map(|limit| ("timeoutMs".to_owned(), limit.into())));
    if !binding.exit.is_empty() {
        let meaning = |meaning: &ExitMeaning| match meaning {
            ExitMeaning::Success => "success",
            ExitMeaning::Error(code) => code.as_str(),
        };
        let exit: Map<String, Value> =
            binding.exit.iter().map(|(code, means)| (code.to_string(), meaning(means).into())).collect();
        out.insert("exit".into(), exit.into());
    }
    Ok(out.into())
}

fn tool(operation: &Operation, binding: &McpBinding) -> Value {
    let mut out = Map::new();
    out.insert("tool".into(), binding.tool.as_str().into());
    let renamed = operation.params.iter().filter(|param| param.wire != param.name);
    let names: Map<String, Value> =
        renamed.map(|param| (param.name.clone(), param.wire.as_str().into())).collect();
    if !names.is_empty() {
        out.insert("names".into(), names.into());
    }
    if !binding.fixed.is_empty() {
        out.insert("fixed".into(), binding.fixed.clone().into());
    }
    let sensitive: Vec<&str> =
        operation.params.iter().filter(|param| param.sensitive).map(|param| param.name.as_str()).collect();
    if !sensitive.is_empty() {
        out.insert("sensitive".into(), sensitive.into());
    }
    out.into()
}

/// What is to be said of a parameter, where there is something.
fn command_param(param: &Param) -> Option<(String, Value)> {
    let mut out = Map::new();
    if param.wire != param.name {
        out.insert("as".into(), param.wire.as_str().into());
    }
    if param.sensitive {
        out.insert("sensitive".into(), true.into());
    }
    (!out.is_empty()).then(|| (param.name.clone(), out.into()))
}

/// A template as text, in which `{name}` is a parameter and nothing else is.
fn template(operation: &Operation, pieces: &[Segment]) -> Result<String, Unsupported> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Segment::Literal(literal) => text.push_str(literal),
            Segment::Param(name) => text.push_str(&format!("{{{name}}}")),
        }
    }
    let params = pieces.iter().filter(|piece| matches!(piece, Segment::Param(_))).count();
    if placeholders(&text) == params {
        return Ok(text);
    }
    let message = format!(
        "the template {} of the operation '{}' holds braces around what is no parameter",
        string(&text),
        operation.name
    );
    Err(Unsupported { message, suggestion: IN_RUST })
}

/// How many `{snake_case}` a text has.
fn placeholders(text: &str) -> usize {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).filter(|(name, _)| is_name(name)).count()
}
