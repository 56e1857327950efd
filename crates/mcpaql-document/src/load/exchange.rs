//! Reads how requests and answers of an HTTP API differ from plain fields and data: `body_template`, `fixed`, `result` and
//! `error`.

use super::params::{LOCATIONS, parse_location, plain};
use super::wire::check_header_name;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::exchange::{AnswerPath, AnswerRules, ErrorRule, ErrorTest, FixedValue, placeholders};
use mcpaql_core::operation::{BodyForm, Param, ParamLocation, ParamStyle};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::suggest;
use serde_json::Value;

/// Keys of `error`.
pub(super) const ERROR_RULE_KEYS: &[&str] = &["path", "equals", "not", "message"];
/// Keys of a fixed value that names its location.
pub(super) const FIXED_VALUE_KEYS: &[&str] = &["in", "value"];
/// Keys of an operation that only HTTP APIs have.
pub(super) const HTTP_ONLY_KEYS: &[&str] = &["body_template", "result", "error"];

/// Reports keys that have no effect for another kind of target.
pub(super) fn report_http_only_keys(reader: &mut DocumentReader, operation: &DocumentObject<'_>) {
    for key in HTTP_ONLY_KEYS.iter().filter(|key| operation.get(key).is_some()) {
        reader.push(
            Diagnostic::error(
                Code::SchemaUnsupported,
                operation.pointer_to(key),
                format!("'{key}' is only for HTTP APIs"),
            )
            .at_key()
            .suggest("remove it"),
        );
    }
}

/// Reads `body_template`. Its parameters become part of the body; every other parameter of the body is reported, because it
/// would not be sent.
pub(super) fn body_template(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    params: &mut [Param],
    body: BodyForm,
) -> Option<Value> {
    let pointer = operation.pointer_to("body_template");
    let Some(template) = operation.get("body_template") else {
        if body == BodyForm::Xml && operation.get("body_param").is_none() {
            reader.push(
                Diagnostic::error(
                    Code::SchemaMissingField,
                    &operation.pointer,
                    "An XML body needs `body_template`: an object with the root element",
                )
                .suggest("write `body_template: { Order: { Item: \"{item}\" } }`"),
            );
        }
        return None;
    };
    let problem = match (body, template) {
        (BodyForm::Multipart | BodyForm::Text | BodyForm::Binary, _) => {
            Some("A template is for bodies of the form json, form or xml")
        }
        (BodyForm::Form, value) if !value.is_object() => Some("The template of a form is an object"),
        (BodyForm::Xml, value) if value.as_object().is_none_or(|root| root.len() != 1) => {
            Some("The template of an XML body is an object with one member: the root element")
        }
        _ if operation.get("body_param").is_some() => {
            Some("A body has either `body_template` or `body_param`")
        }
        _ => None,
    };
    if let Some(problem) = problem {
        reader.push(Diagnostic::error(Code::SchemaInvalidValue, &pointer, problem));
        return None;
    }
    let used = placeholders(template);
    for name in &used {
        match params.iter_mut().find(|param| param.name == *name) {
            Some(param) if param.location != ParamLocation::Path => {
                param.location = ParamLocation::Body;
                param.style = ParamStyle::default_for(ParamLocation::Body);
            }
            Some(_) => {}
            None => report_placeholder(reader, &pointer, name, params),
        }
    }
    let unsent = params.iter().filter(|param| param.location == ParamLocation::Body);
    for param in unsent.filter(|param| !used.contains(&param.name.as_str())) {
        reader.push(
            Diagnostic::error(
                Code::SchemaUnresolvedRef,
                &pointer,
                format!("Parameter '{}' is not in the template, so it would not be sent", param.name),
            )
            .suggest(format!("write `\"{{{}}}\"` where it belongs, or give it another `in`", param.name)),
        );
    }
    Some(template.clone())
}

fn report_placeholder(reader: &mut DocumentReader, pointer: &str, name: &str, params: &[Param]) {
    let mut diagnostic = Diagnostic::error(
        Code::SchemaUnresolvedRef,
        pointer,
        format!("Placeholder '{{{name}}}' is not a declared parameter"),
    )
    .expected("a parameter under params")
    .found(format!("{{{name}}}"));
    if let Some(word) = suggest::nearest(name, params.iter().map(|param| param.name.as_str())) {
        diagnostic = diagnostic.suggest(format!("did you mean `{{{word}}}`?"));
    }
    reader.push(diagnostic);
}

/// Reads `fixed`: values by their name in the request, each alone or as `{in, value}`. Without `in` they are sent where the
/// parameters of this method are sent.
pub(super) fn fixed(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    params: &[Param],
    default: ParamLocation,
) -> Vec<FixedValue> {
    let Some(object) = reader.member(operation, "fixed") else { return Vec::new() };
    let has_template = operation.get("body_template").is_some();
    let mut values = Vec::with_capacity(object.map.len());
    for (name, value) in object.map {
        let pointer = child(&object.pointer, name);
        let (location, value) = match value.as_object().filter(|map| map.contains_key("value")) {
            Some(map) if map.keys().all(|key| FIXED_VALUE_KEYS.contains(&key.as_str())) => {
                let located = DocumentObject { map, pointer: pointer.clone() };
                let location = reader.choice(&located, "in", LOCATIONS, parse_location);
                (location.unwrap_or(default), map.get("value").unwrap_or(&Value::Null))
            }
            _ => (default, value),
        };
        let taken = params.iter().find(|param| param.location == location && param.wire == *name);
        let problem = match (location, taken) {
            (ParamLocation::Path, _) => {
                Some("A fixed part of the path belongs into the path itself".to_owned())
            }
            (ParamLocation::Body, _) if has_template => {
                Some("A fixed part of the body belongs into `body_template`".to_owned())
            }
            (_, Some(param)) => {
                Some(format!("'{name}' is both a fixed value and the parameter '{}'", param.name))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            reader.push(Diagnostic::error(Code::SchemaInvalidValue, &pointer, problem).at_key());
            continue;
        }
        if location == ParamLocation::Header {
            check_header_name(reader, name, &pointer);
        }
        let mut param = plain(name, Value::Object(serde_json::Map::new()));
        param.location = location;
        param.style = ParamStyle::default_for(location);
        values.push(FixedValue { param, value: value.clone() });
    }
    values
}

/// Reads `result` and `error`.
pub(super) fn answer_rules(reader: &mut DocumentReader, operation: &DocumentObject<'_>) -> AnswerRules {
    AnswerRules { result: path(reader, operation, "result"), error: error_rule(reader, operation) }
}

/// Reads `error`: the path of a value that only failures have, or an object with a condition.
fn error_rule(reader: &mut DocumentReader, operation: &DocumentObject<'_>) -> Option<ErrorRule> {
    if operation.get("error")?.is_string() {
        let path = path(reader, operation, "error")?;
        return Some(ErrorRule { path, test: ErrorTest::Present, message: None });
    }
    let object = reader.member(operation, "error")?;
    reader.check_keys(&object, ERROR_RULE_KEYS);
    if object.get("path").is_none() {
        reader.missing(&object, "path", "the path of a value in the answer");
    }
    let test = match (object.get("equals"), object.get("not")) {
        (Some(_), Some(_)) => {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    object.pointer_to("not"),
                    "'equals' and 'not' contradict each other",
                )
                .suggest("keep one of them"),
            );
            return None;
        }
        (Some(value), None) => ErrorTest::Equals(value.clone()),
        (None, Some(value)) => ErrorTest::Not(value.clone()),
        (None, None) => ErrorTest::Present,
    };
    let message = path(reader, &object, "message");
    Some(ErrorRule { path: path(reader, &object, "path")?, test, message })
}

fn path(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<AnswerPath> {
    let text = reader.string(object, key)?;
    let path = AnswerPath::parse(&text);
    if path.is_none() {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to(key),
                format!("'{text}' is not a path in the answer"),
            )
            .expected("dotted names such as data.items, or a JSON pointer such as /data/items")
            .found(text),
        );
    }
    path
}
