//! How an operation reaches its target: an HTTP request, an action on the store, or a process.

use super::operation::Setting;
use super::params::{Draft, plain};
use super::wire::WireNames;
use crate::adapter::Target;
use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::operation::{
    Arg, Binding, BodyForm, CommandBinding, ExitMeaning, HttpBinding, Output, Param, Place, Segment, Stdin,
};
use crate::reader::{Object, Reader, child, short};
use crate::suggest;
use indexmap::IndexMap;
use serde_json::{Value, json};

/// Keys of `http`.
pub(super) const HTTP_BINDING_KEYS: &[&str] = &["method", "path", "body"];
/// Keys of conditional arguments.
pub(super) const WHEN_KEYS: &[&str] = &["when", "args"];
/// How a body may be written.
pub(super) const BODIES: &[&str] = &["json", "form"];
/// How a program's output may be read.
pub(super) const OUTPUTS: &[&str] = &["json", "jsonlines", "lines", "text"];
pub(super) const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// A binding and the parameters with their places.
pub(super) struct Bound {
    pub(super) binding: Binding,
    pub(super) params: Vec<Param>,
}

/// Reads the binding that fits the document's target.
pub(super) fn read(
    reader: &mut Reader,
    operation: &Object<'_>,
    drafts: Vec<Draft>,
    setting: &Setting<'_>,
) -> Option<Bound> {
    match setting.target {
        Target::Http(target) => http(reader, operation, drafts, target.serialization),
        Target::Command(_) => command(reader, operation, drafts),
        Target::Store(store) => {
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

fn http(
    reader: &mut Reader,
    operation: &Object<'_>,
    drafts: Vec<Draft>,
    serialization: BodyForm,
) -> Option<Bound> {
    let (method, path, pointer, body) = if let Some(http) = reader.member(operation, "http") {
        reader.known(&http, HTTP_BINDING_KEYS);
        let method = reader.required_string(&http, "method");
        let path = reader.required_string(&http, "path");
        (method?, path?, http.at("path"), reader.choice(&http, "body", BODIES, parse_body))
    } else {
        let text = reader.required_string(operation, "maps_to")?;
        let pointer = operation.at("maps_to");
        let Some((method, path)) = text.split_once(char::is_whitespace) else {
            reader.push(
                Diagnostic::error(Code::SchemaInvalidValue, &pointer, "maps_to needs a method and a path")
                    .expected("METHOD /path/{placeholder}")
                    .found(text),
            );
            return None;
        };
        (method.to_owned(), path.trim().to_owned(), pointer, None)
    };
    let (method, path) = (method_of(reader, &method, &pointer), path_of(reader, &path, &pointer));
    let (method, mut path) = (method?, path?);
    let body_form = body.or_else(|| reader.choice(operation, "body", BODIES, parse_body));
    let mut params = place_params(reader, drafts, &mut path, &method, &pointer);
    let body_param = body_param(reader, operation, &mut params);
    Some(Bound {
        binding: Binding::Http(HttpBinding {
            method,
            path,
            body: body_form.unwrap_or(serialization),
            body_param,
            content_type: None,
            base_url: None,
            auth: None,
        }),
        params,
    })
}

/// `body_param: items` makes the value of that parameter the whole body.
fn body_param(reader: &mut Reader, operation: &Object<'_>, params: &mut [Param]) -> Option<String> {
    let name = reader.string(operation, "body_param")?;
    if let Some(param) = params.iter_mut().find(|param| param.name == name && param.place != Place::Path) {
        param.place = Place::Body;
        return Some(name);
    }
    reader.push(
        Diagnostic::error(
            Code::SchemaUnresolvedRef,
            operation.at("body_param"),
            format!("'{name}' is not a declared parameter that could be the body"),
        )
        .found(name),
    );
    None
}

pub(super) fn parse_body(word: &str) -> Option<BodyForm> {
    match word {
        "json" => Some(BodyForm::Json),
        "form" => Some(BodyForm::Form),
        _ => None,
    }
}

fn method_of(reader: &mut Reader, method: &str, pointer: &str) -> Option<String> {
    let upper = method.to_ascii_uppercase();
    if METHODS.contains(&upper.as_str()) {
        return Some(upper);
    }
    let mut diagnostic =
        Diagnostic::error(Code::SchemaInvalidValue, pointer, format!("'{method}' is not an HTTP method"))
            .expected(METHODS.join(", "))
            .found(method);
    if let Some(word) = suggest::nearest(&upper, METHODS.iter().copied()) {
        diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
    }
    reader.push(diagnostic);
    None
}

fn path_of(reader: &mut Reader, path: &str, pointer: &str) -> Option<Vec<Segment>> {
    if let Some((before, query)) = path.split_once('?').filter(|(before, _)| before.starts_with('/')) {
        let keys: Vec<&str> =
            query.split('&').map(|pair| pair.split(['=', '#']).next().unwrap_or_default()).collect();
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                pointer,
                format!("The path holds a query ({}), which belongs under params", keys.join(", ")),
            )
            .expected(before)
            .suggest("declare each as a parameter with `in: query`, fixed values with `default` or `const`"),
        );
        return None;
    }
    if !path.starts_with('/') || path.contains(['?', '#']) || path.chars().any(char::is_whitespace) {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                pointer,
                "The path must begin with '/' and hold no query, fragment or space",
            )
            .expected("/path/{placeholder}; query parameters are declared under params")
            .found(path),
        );
        return None;
    }
    template(reader, path, pointer)
}

/// Splits `…{name}…` into pieces.
fn template(reader: &mut Reader, text: &str, pointer: &str) -> Option<Vec<Segment>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else {
            reader.push(
                Diagnostic::error(Code::SchemaInvalidValue, pointer, "A '{' is never closed")
                    .expected("{parameter}")
                    .found(text),
            );
            return None;
        };
        if !literal.is_empty() {
            pieces.push(Segment::Literal(literal.to_owned()));
        }
        pieces.push(Segment::Param(name.trim().to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Segment::Literal(rest.to_owned()));
    }
    Some(pieces)
}

/// Gives every parameter its place and makes the path speak of parameters by their own names.
fn place_params(
    reader: &mut Reader,
    drafts: Vec<Draft>,
    path: &mut [Segment],
    method: &str,
    pointer: &str,
) -> Vec<Param> {
    let default =
        if matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS") { Place::Query } else { Place::Body };
    resolve_placeholders(reader, &drafts, path, pointer);
    let in_path =
        |name: &str| path.iter().any(|piece| matches!(piece, Segment::Param(param) if param == name));
    let mut params = Vec::with_capacity(drafts.len());
    let mut wire = WireNames::default();
    for draft in drafts {
        let placed = in_path(&draft.param.name);
        match (placed, draft.place) {
            (true, Some(place)) if place != Place::Path => reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    child(&draft.pointer, "in"),
                    format!("Parameter '{}' stands in the path", draft.param.name),
                )
                .expected("path"),
            ),
            (false, Some(Place::Path)) => reader.push(
                Diagnostic::error(
                    Code::SchemaUnresolvedRef,
                    &draft.pointer,
                    format!(
                        "Parameter '{}' is in the path, but the path has no '{{{}}}'",
                        draft.param.name, draft.param.wire
                    ),
                )
                .suggest(format!("add `{{{}}}` to the path or remove `in: path`", draft.param.name)),
            ),
            _ => {}
        }
        let place = if placed { Place::Path } else { draft.place.unwrap_or(default) };
        wire.check(reader, &draft, place);
        if placed && !draft.param.required {
            reader.push(
                Diagnostic::warning(
                    Code::SchemaInvalidValue,
                    &draft.pointer,
                    format!("Parameter '{}' stands in the path and is therefore required", draft.param.name),
                )
                .suggest("add `required: true`"),
            );
        }
        let mut param = draft.finish(place);
        param.required |= placed;
        params.push(param);
    }
    params
}

/// Every placeholder must be a declared parameter, by its name or by its name on the wire.
fn resolve_placeholders(reader: &mut Reader, drafts: &[Draft], pieces: &mut [Segment], pointer: &str) {
    for piece in pieces {
        let Segment::Param(name) = piece else { continue };
        // The name on the wire may be another parameter's name, so names go first.
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

fn command(reader: &mut Reader, operation: &Object<'_>, drafts: Vec<Draft>) -> Option<Bound> {
    let Some(items) = reader.array(operation, "command") else {
        if operation.get("command").is_none() {
            reader.missing(operation, "command", "a list: the program and its arguments");
        }
        return None;
    };
    let pointer = operation.at("command");
    let mut argv = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        argv.extend(arg(reader, item, &child(&pointer, index), &drafts));
    }
    if !matches!(argv.first(), Some(Arg::Template(pieces)) if matches!(pieces.as_slice(), [Segment::Literal(_)]))
    {
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
    let output = reader.choice(operation, "output", OUTPUTS, parse_output);
    let timeout_ms = reader.seconds(operation, "timeout");
    let exit = exit(reader, operation);
    let params = drafts.into_iter().map(|draft| draft.finish(Place::Body)).collect();
    let binding = CommandBinding { argv, stdin, output: output.unwrap_or(Output::Text), timeout_ms, exit };
    Some(Bound { binding: Binding::Command(binding), params })
}

/// `text`, `[together, {or}, not]`, or `{when: flag, args: […]}`.
fn arg(reader: &mut Reader, item: &Value, pointer: &str, drafts: &[Draft]) -> Option<Arg> {
    match item {
        Value::String(text) => Some(Arg::Template(pieces(reader, text, pointer, drafts)?)),
        Value::Number(number) => Some(Arg::Template(vec![Segment::Literal(number.to_string())])),
        Value::Array(items) => Some(Arg::Group(group(reader, items, pointer, drafts))),
        Value::Object(_) => {
            let object = reader.object(item, pointer)?;
            reader.known(&object, WHEN_KEYS);
            let mut flag = vec![Segment::Param(reader.required_string(&object, "when")?)];
            resolve_placeholders(reader, drafts, &mut flag, &object.at("when"));
            let items = arguments(reader, &object)?;
            let args = group(reader, items, &object.at("args"), drafts);
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

fn arguments<'a>(reader: &mut Reader, object: &Object<'a>) -> Option<&'a [Value]> {
    if object.get("args").is_none() {
        reader.missing(object, "args", "a list of arguments");
    }
    reader.array(object, "args")
}

fn group(reader: &mut Reader, items: &[Value], pointer: &str, drafts: &[Draft]) -> Vec<Vec<Segment>> {
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

fn pieces(reader: &mut Reader, text: &str, pointer: &str, drafts: &[Draft]) -> Option<Vec<Segment>> {
    // Only `{snake_case}` is a placeholder in an argument: programs take braces of their own (`{}`, `HEAD@{1}`, scripts).
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

fn stdin(reader: &mut Reader, operation: &Object<'_>, drafts: &[Draft]) -> Stdin {
    match reader.string(operation, "stdin").as_deref() {
        None => Stdin::Closed,
        Some("params") => Stdin::Params,
        Some(text) => {
            let name = text.trim_start_matches('{').trim_end_matches('}');
            let mut piece = [Segment::Param(name.to_owned())];
            resolve_placeholders(reader, drafts, &mut piece, &operation.at("stdin"));
            Stdin::Param(name.to_owned())
        }
    }
}

fn parse_output(word: &str) -> Option<Output> {
    match word {
        "json" => Some(Output::Json),
        "jsonlines" => Some(Output::JsonLines),
        "lines" => Some(Output::Lines),
        "text" => Some(Output::Text),
        _ => None,
    }
}

/// `exit: {1: success, 2: NOT_FOUND_RESOURCE}`.
fn exit(reader: &mut Reader, operation: &Object<'_>) -> IndexMap<i32, ExitMeaning> {
    let mut meanings = IndexMap::new();
    let Some(map) = reader.member(operation, "exit") else { return meanings };
    for (status, meaning) in map.map {
        let pointer = map.at(status);
        let parsed = match meaning.as_str() {
            Some("success") => Some(ExitMeaning::Success),
            Some(text) => Code::parse(text).map(ExitMeaning::Error),
            None => None,
        };
        match (status.parse::<i32>(), parsed) {
            (Ok(status), Some(meaning)) => {
                meanings.insert(status, meaning);
            }
            _ => reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    &pointer,
                    format!("Exit status '{status}' has no usable meaning"),
                )
                .expected("a number, and `success` or an error code such as NOT_FOUND_RESOURCE")
                .found(short(meaning)),
            ),
        }
    }
    meanings
}

/// The parameters of `introspect`, which every adapter has.
pub(crate) fn introspect_params() -> Vec<Param> {
    let text = |name: &str, description: &str, schema: Value| Param {
        description: description.to_owned(),
        ..plain(name, schema)
    };
    vec![
        text("query", "What to list", json!({"type": "string", "enum": ["operations", "types"]})),
        text(
            "name",
            "One name, or several, for details",
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": 50}]}),
        ),
    ]
}
