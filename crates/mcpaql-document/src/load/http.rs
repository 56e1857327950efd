//! Reads the HTTP request of an operation: method, path, the location of each parameter, the body, and settings that differ
//! from the target's.

use super::binding::{BoundOperation, resolve_placeholders};
use super::params::UnplacedParam;
use super::wire::{self, WireNames};
use super::{address, auth, exchange};
use mcpaql_core::adapter::{Auth, HttpTarget};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{Binding, BodyForm, HttpBinding, Param, ParamLocation, Segment};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::suggest;
use mcpaql_core::{header, host};

/// Keys of `http`.
pub(super) const HTTP_BINDING_KEYS: &[&str] = &["method", "path", "body", "content_type"];
/// The values of `serialization`, the default body form of a target.
pub(super) const SERIALIZATIONS: &[&str] = &[BodyForm::Json.as_str(), BodyForm::Form.as_str()];
/// The methods of HTTP, then those of WebDAV and CalDAV.
pub(super) const METHODS: &[&str] = &[
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "PROPFIND",
    "PROPPATCH",
    "REPORT",
    "SEARCH",
    "MKCOL",
    "MKCALENDAR",
    "COPY",
    "MOVE",
];

/// Reads the request of an operation.
pub(super) fn read(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    drafts: Vec<UnplacedParam>,
    target: &HttpTarget,
) -> Option<BoundOperation> {
    let nested = reader.member(operation, "http");
    let (method, path, pointer) = if let Some(http) = &nested {
        reader.check_keys(http, HTTP_BINDING_KEYS);
        let method = reader.required_string(http, "method");
        let path = reader.required_string(http, "path");
        (method?, path?, http.pointer_to("path"))
    } else {
        let text = reader.required_string(operation, "maps_to")?;
        let pointer = operation.pointer_to("maps_to");
        let Some((method, path)) = text.split_once(char::is_whitespace) else {
            reader.push(
                Diagnostic::error(Code::SchemaInvalidValue, &pointer, "maps_to needs a method and a path")
                    .expected("METHOD /path/{placeholder}")
                    .found(text),
            );
            return None;
        };
        (method.to_owned(), path.trim().to_owned(), pointer)
    };
    let (method, path) = (method_of(reader, &method, &pointer), path_of(reader, &path, &pointer));
    let (method, mut path) = (method?, path?);
    // The generator form has the keys of the body under `http`.
    let holder = |key: &str| nested.as_ref().filter(|http| http.get(key).is_some()).unwrap_or(operation);
    let body = reader
        .choice(holder("body"), "body", &BodyForm::ALL.map(BodyForm::as_str), BodyForm::parse)
        .unwrap_or(target.serialization);
    let content_type = content_type(reader, holder("content_type"), body);
    let mut params = place_params(reader, drafts, &mut path, &method, &pointer);
    let body_param = body_param(reader, operation, &mut params, body);
    let body_template = exchange::body_template(reader, operation, &mut params, body);
    let fixed = exchange::fixed(reader, operation, &params, default_location(&method));
    let answer = exchange::answer_rules(reader, operation);
    let (base_url, auth) = operation_overrides(reader, operation, target);
    let idempotency_header =
        wire::idempotency_header(reader, operation).or_else(|| target.idempotency_header.clone());
    let binding = HttpBinding {
        method,
        path,
        body,
        body_param,
        content_type,
        base_url,
        auth,
        body_template: body_template.map(Box::new),
        fixed,
        answer: Box::new(answer),
        idempotency_header,
    };
    Some(BoundOperation { binding: Binding::Http(binding), params })
}

/// Reads `base_url` and `auth` of an operation, which replace those of the target and the adapter.
fn operation_overrides(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    target: &HttpTarget,
) -> (Option<String>, Option<Auth>) {
    let base_url = reader.string(operation, "base_url");
    let base_url = base_url.and_then(|text| address::base_url(reader, operation, &text, target.allow_http));
    let auth = operation.get("auth").is_some().then(|| auth::read(reader, operation, target.allow_http));
    (base_url, auth)
}

/// Reads the media type of the body, which must match the body form.
fn content_type(reader: &mut DocumentReader, holder: &DocumentObject<'_>, body: BodyForm) -> Option<String> {
    let text = reader.string(holder, "content_type")?;
    let (expected, suggestion) = if !header::is_media_type(&text) {
        ("a media type such as application/vnd.api+json", None)
    } else if body == BodyForm::Multipart && !text.starts_with("multipart/") {
        ("multipart/…", Some("remove it, or choose another `body`"))
    } else if body != BodyForm::Multipart && text.starts_with("multipart/") {
        ("another media type", Some("write `body: multipart`"))
    } else {
        return Some(text);
    };
    let mut diagnostic = Diagnostic::error(
        Code::SchemaInvalidValue,
        holder.pointer_to("content_type"),
        format!("'{text}' is not a valid media type for this body"),
    )
    .expected(expected)
    .found(text.as_str());
    if let Some(suggestion) = suggestion {
        diagnostic = diagnostic.suggest(suggestion);
    }
    reader.push(diagnostic);
    None
}

/// Reads `body_param`, the parameter whose value is the whole body. A text or binary body is always one parameter.
fn body_param(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    params: &mut [Param],
    body: BodyForm,
) -> Option<String> {
    let Some(name) = reader.string(operation, "body_param") else {
        return only_body_param(reader, operation, params, body);
    };
    if let Some(param) =
        params.iter_mut().find(|param| param.name == name && param.location != ParamLocation::Path)
    {
        param.location = ParamLocation::Body;
        return Some(name);
    }
    reader.push(
        Diagnostic::error(
            Code::SchemaUnresolvedRef,
            operation.pointer_to("body_param"),
            format!("'{name}' is not a declared parameter that can be the body"),
        )
        .found(name),
    );
    None
}

fn only_body_param(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    params: &[Param],
    body: BodyForm,
) -> Option<String> {
    let word = match body {
        BodyForm::Text => "text",
        BodyForm::Binary => "binary",
        BodyForm::Json | BodyForm::Form | BodyForm::Multipart | BodyForm::Xml => return None,
    };
    let names: Vec<&str> = params
        .iter()
        .filter(|param| param.location == ParamLocation::Body)
        .map(|param| param.name.as_str())
        .collect();
    match names.as_slice() {
        [only] => return Some((*only).to_owned()),
        [] => reader.push(
            Diagnostic::warning(
                Code::SchemaInvalidValue,
                operation.pointer_to("body"),
                format!("A {word} body needs a body parameter, but this operation has none"),
            )
            .suggest("declare the parameter with `in: body`"),
        ),
        several => reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                operation.pointer_to("body"),
                format!(
                    "A {word} body is one parameter, but the operation has several: {}",
                    several.join(", ")
                ),
            )
            .suggest("choose one with `body_param`, and give the others another `in`"),
        ),
    }
    None
}

fn method_of(reader: &mut DocumentReader, method: &str, pointer: &str) -> Option<String> {
    let upper = method.to_ascii_uppercase();
    if METHODS.contains(&upper.as_str()) {
        return Some(upper);
    }
    let mut diagnostic =
        Diagnostic::error(Code::SchemaInvalidValue, pointer, format!("'{method}' is not an HTTP method"))
            .expected_one_of(METHODS)
            .found(method);
    if let Some(word) = suggest::nearest(&upper, METHODS.iter().copied()) {
        diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
    }
    reader.push(diagnostic);
    None
}

fn path_of(reader: &mut DocumentReader, path: &str, pointer: &str) -> Option<Vec<Segment>> {
    if let Some((before, query)) = path.split_once('?').filter(|(before, _)| before.starts_with('/')) {
        let keys: Vec<&str> =
            query.split('&').map(|pair| pair.split(['=', '#']).next().unwrap_or_default()).collect();
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                pointer,
                format!("The path contains a query ({}), which belongs under params", keys.join(", ")),
            )
            .expected(before)
            .suggest(
                "declare each as a parameter with `in: query`, and values that never change under `fixed`",
            ),
        );
        return None;
    }
    if !path.starts_with('/') || path.contains(['?', '#']) || path.chars().any(char::is_whitespace) {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                pointer,
                "The path must start with '/' and must not contain a query, fragment or space",
            )
            .expected("/path/{placeholder}; query parameters are declared under params")
            .found(path),
        );
        return None;
    }
    if let Some(reason) = host::address_problem(path) {
        let message = format!("The path {reason}");
        reader.push(Diagnostic::error(Code::SchemaInvalidValue, pointer, message).found(path));
        return None;
    }
    template(reader, path, pointer)
}

/// Splits `…{name}…` into literals and placeholders.
fn template(reader: &mut DocumentReader, text: &str, pointer: &str) -> Option<Vec<Segment>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut unmatched = |message: &str| {
        let problem = Diagnostic::error(Code::SchemaInvalidValue, pointer, message);
        reader.push(problem.expected("{parameter}").found(text));
        None
    };
    while let Some((literal, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else {
            return unmatched("A '{' is never closed");
        };
        if literal.contains('}') {
            return unmatched("A '}' is never opened");
        }
        if !literal.is_empty() {
            pieces.push(Segment::Literal(literal.to_owned()));
        }
        pieces.push(Segment::Param(name.trim().to_owned()));
        rest = after;
    }
    if rest.contains('}') {
        return unmatched("A '}' is never opened");
    }
    if !rest.is_empty() {
        pieces.push(Segment::Literal(rest.to_owned()));
    }
    Some(pieces)
}

/// The location of parameters that name none.
fn default_location(method: &str) -> ParamLocation {
    if matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS") {
        ParamLocation::Query
    } else {
        ParamLocation::Body
    }
}

/// Gives every parameter its location, and replaces wire names in the path by names of parameters.
fn place_params(
    reader: &mut DocumentReader,
    drafts: Vec<UnplacedParam>,
    path: &mut [Segment],
    method: &str,
    pointer: &str,
) -> Vec<Param> {
    let default = default_location(method);
    resolve_placeholders(reader, &drafts, path, pointer);
    let in_path =
        |name: &str| path.iter().any(|piece| matches!(piece, Segment::Param(param) if param == name));
    let mut params = Vec::with_capacity(drafts.len());
    let mut wire = WireNames::default();
    for draft in drafts {
        let is_in_path = in_path(&draft.param.name);
        match (is_in_path, draft.location) {
            (true, Some(location)) if location != ParamLocation::Path => reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    child(&draft.pointer, "in"),
                    format!("Parameter '{}' is a placeholder of the path", draft.param.name),
                )
                .expected("path"),
            ),
            (false, Some(ParamLocation::Path)) => reader.push(
                Diagnostic::error(
                    Code::SchemaUnresolvedRef,
                    &draft.pointer,
                    format!(
                        "Parameter '{}' has `in: path`, but the path has no '{{{}}}'",
                        draft.param.name, draft.param.wire
                    ),
                )
                .suggest(format!("add `{{{}}}` to the path or remove `in: path`", draft.param.name)),
            ),
            _ => {}
        }
        let location = if is_in_path { ParamLocation::Path } else { draft.location.unwrap_or(default) };
        wire.check(reader, &draft, location);
        draft.check_style(reader, location);
        if is_in_path && !draft.param.required {
            reader.push(
                Diagnostic::warning(
                    Code::SchemaInvalidValue,
                    &draft.pointer,
                    format!(
                        "Parameter '{}' is a placeholder of the path and therefore required",
                        draft.param.name
                    ),
                )
                .suggest("add `required: true`"),
            );
        }
        let mut param = draft.finish(location);
        param.required |= is_in_path;
        params.push(param);
    }
    params
}
