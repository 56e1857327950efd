//! Reads the binding of an operation to its target: an HTTP request (in `http`), a tool of an MCP server (in `mcp`), a command,
//! or code.

use super::operation::OperationContext;
use super::params::UnplacedParam;
use super::{exchange, http, texts};
use indexmap::IndexMap;
use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{
    Arg, Binding, CommandBinding, ExitMeaning, Output, Param, ParamLocation, Segment, Stdin,
};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child, short_value};
use mcpaql_core::suggest;
use serde_json::Value;

/// Keys of conditional arguments.
pub(super) const WHEN_KEYS: &[&str] = &["when", "args"];

/// A binding and the parameters with their locations.
pub(super) struct BoundOperation {
    pub(super) binding: Binding,
    pub(super) params: Vec<Param>,
}

/// Reads the binding for the document's target.
pub(super) fn read(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    drafts: Vec<UnplacedParam>,
    context: &OperationContext<'_>,
) -> Option<BoundOperation> {
    if !matches!(context.target, TargetConfig::Http(_)) {
        exchange::report_http_only_keys(reader, operation);
    }
    match context.target {
        TargetConfig::Http(target) => http::read(reader, operation, drafts, target),
        TargetConfig::Command(_) => command(reader, operation, drafts),
        TargetConfig::Mcp(_) => super::mcp::binding(reader, operation, drafts),
        TargetConfig::Code(_) => {
            let params = drafts.into_iter().map(|draft| draft.finish(ParamLocation::Body)).collect();
            Some(BoundOperation { binding: Binding::Code, params })
        }
        TargetConfig::Store(store) => {
            let names: Vec<&str> = store.resources.keys().map(String::as_str).collect();
            reader.push(
                Diagnostic::error(
                    Code::SchemaUnsupported,
                    &operation.pointer,
                    "A store derives its operations from its resources",
                )
                .suggest(format!(
                    "remove the operation and describe it under target.resources ({})",
                    names.join(", ")
                )),
            );
            None
        }
    }
}

/// Replaces placeholders by names of parameters. A placeholder is the name or the wire name of a declared parameter; others
/// are reported.
pub(super) fn resolve_placeholders(
    reader: &mut DocumentReader,
    drafts: &[UnplacedParam],
    pieces: &mut [Segment],
    pointer: &str,
) {
    for piece in pieces {
        let Segment::Param(name) = piece else { continue };
        // A wire name can be the name of another parameter, so names come first.
        let found = drafts
            .iter()
            .find(|draft| draft.param.name == *name)
            .or_else(|| drafts.iter().find(|draft| draft.param.wire == *name));
        if let Some(draft) = found {
            *name = draft.param.name.clone();
            continue;
        }
        let mut diagnostic = Diagnostic::error(
            Code::SchemaUnresolvedRef,
            pointer,
            format!("Placeholder '{{{name}}}' is not a declared parameter"),
        )
        .expected("a parameter under params")
        .found(format!("{{{name}}}"));
        diagnostic = match suggest::nearest(name, drafts.iter().map(|draft| draft.param.name.as_str())) {
            Some(word) => diagnostic.suggest(format!("did you mean `{{{word}}}`?")),
            None => {
                diagnostic.suggest(format!("add `{name}: {{ type: string, required: true }}` under params"))
            }
        };
        reader.push(diagnostic);
    }
}

fn command(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    drafts: Vec<UnplacedParam>,
) -> Option<BoundOperation> {
    let Some(items) = reader.array(operation, "command") else {
        if operation.get("command").is_none() {
            reader.missing(operation, "command", "a list: the program and its arguments");
        }
        return None;
    };
    let pointer = operation.pointer_to("command");
    let mut argv = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        argv.extend(arg(reader, item, &child(&pointer, index), &drafts));
    }
    let is_fixed = match argv.first() {
        Some(Arg::Template(pieces)) => {
            matches!(pieces.as_slice(), [Segment::Literal(program)] if !program.trim().is_empty())
        }
        _ => false,
    };
    if !is_fixed {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                child(&pointer, 0),
                "The program must be a fixed name",
            )
            .expected("the name of a program without placeholders"),
        );
        return None;
    }
    let stdin = stdin(reader, operation, &drafts);
    let output = reader.choice(operation, "output", &Output::ALL.map(Output::as_str), Output::parse);
    let timeout_ms = reader.seconds(operation, "timeout");
    let exit = exit(reader, operation);
    let params = drafts.into_iter().map(|draft| draft.finish(ParamLocation::Body)).collect();
    let binding = CommandBinding { argv, stdin, output: output.unwrap_or(Output::Text), timeout_ms, exit };
    Some(BoundOperation { binding: Binding::Command(binding), params })
}

/// Reads an argument: `text`, `[several, "{args}"]` or `{when: flag, args: […]}`.
fn arg(reader: &mut DocumentReader, item: &Value, pointer: &str, drafts: &[UnplacedParam]) -> Option<Arg> {
    match item {
        Value::String(text) => Some(Arg::Template(pieces(reader, text, pointer, drafts)?)),
        Value::Number(number) => Some(Arg::Template(vec![Segment::Literal(number.to_string())])),
        Value::Array(items) => Some(Arg::Group(group(reader, items, pointer, drafts))),
        Value::Object(_) => {
            let object = reader.object(item, pointer)?;
            reader.check_keys(&object, WHEN_KEYS);
            let mut flag = vec![Segment::Param(reader.required_string(&object, "when")?)];
            resolve_placeholders(reader, drafts, &mut flag, &object.pointer_to("when"));
            let items = arguments(reader, &object)?;
            let args = group(reader, items, &object.pointer_to("args"), drafts);
            match flag.pop() {
                Some(Segment::Param(name)) => Some(Arg::When(name, args)),
                _ => None,
            }
        }
        other => {
            reader.wrong_type(pointer, "string", other);
            None
        }
    }
}

fn arguments<'a>(reader: &mut DocumentReader, object: &DocumentObject<'a>) -> Option<&'a [Value]> {
    if object.get("args").is_none() {
        reader.missing(object, "args", "a list of arguments");
    }
    reader.array(object, "args")
}

fn group(
    reader: &mut DocumentReader,
    items: &[Value],
    pointer: &str,
    drafts: &[UnplacedParam],
) -> Vec<Vec<Segment>> {
    let mut args = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let pointer = child(pointer, index);
        match item {
            Value::String(text) => args.extend(pieces(reader, text, &pointer, drafts)),
            other => reader.wrong_type(&pointer, "string", other),
        }
    }
    args
}

fn pieces(
    reader: &mut DocumentReader,
    text: &str,
    pointer: &str,
    drafts: &[UnplacedParam],
) -> Option<Vec<Segment>> {
    texts::check_argument(reader, pointer, text);
    // Only `{snake_case}` is a placeholder: programs also use braces themselves (`{}`, `HEAD@{1}`, scripts).
    let mut out: Vec<Segment> = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        literal.push_str(before);
        match behind.split_once('}') {
            Some((name, after)) if super::params::is_snake_case(name) => {
                if !literal.is_empty() {
                    out.push(Segment::Literal(std::mem::take(&mut literal)));
                }
                out.push(Segment::Param(name.to_owned()));
                rest = after;
            }
            _ => {
                literal.push('{');
                rest = behind;
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() || out.is_empty() {
        out.push(Segment::Literal(literal));
    }
    resolve_placeholders(reader, drafts, &mut out, pointer);
    Some(out)
}

fn stdin(reader: &mut DocumentReader, operation: &DocumentObject<'_>, drafts: &[UnplacedParam]) -> Stdin {
    match reader.string(operation, "stdin").as_deref() {
        None => Stdin::Closed,
        Some("params") => Stdin::Params,
        Some(text) => {
            let inside = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let mut piece = [Segment::Param(inside.unwrap_or(text).to_owned())];
            resolve_placeholders(reader, drafts, &mut piece, &operation.pointer_to("stdin"));
            let [Segment::Param(name) | Segment::Literal(name)] = piece;
            Stdin::Param(name)
        }
    }
}

/// Reads `exit: {1: success, 2: NOT_FOUND_RESOURCE}`.
fn exit(reader: &mut DocumentReader, operation: &DocumentObject<'_>) -> IndexMap<i32, ExitMeaning> {
    let mut meanings = IndexMap::new();
    let Some(map) = reader.member(operation, "exit") else { return meanings };
    for (status, meaning) in map.map {
        let pointer = map.pointer_to(status);
        let parsed = match meaning.as_str() {
            Some("success") => Some(ExitMeaning::Success),
            Some(text) => Code::parse(text).map(ExitMeaning::Error),
            None => None,
        };
        // Only `7`, not `07` or `+7`, so that a status has one meaning.
        let number = status.parse::<u8>().ok().filter(|number| number.to_string() == *status);
        let (message, expected) = match (number, parsed) {
            (Some(number), Some(meaning)) => {
                meanings.insert(i32::from(number), meaning);
                continue;
            }
            (None, _) => (format!("'{status}' is not an exit status"), "a number from 0 to 255"),
            (Some(_), None) => (
                format!("The meaning of exit status {status} is invalid"),
                "`success`, or an error code such as NOT_FOUND_RESOURCE",
            ),
        };
        let problem = Diagnostic::error(Code::SchemaInvalidValue, &pointer, message).expected(expected);
        reader.push(match number {
            Some(_) => problem.found(short_value(meaning)),
            None => problem.at_key(),
        });
    }
    meanings
}
