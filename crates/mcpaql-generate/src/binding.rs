//! The call of an operation as one JSON literal, which each language writes in its own syntax.
//!
//! What always holds: variables are named, never read; default values are left out; `{name}` in a template is always a
//! parameter.
//!
//! A request (`HttpRequest`):
//!
//! | member | meaning |
//! |---|---|
//! | `method`, `path` | `GET`, `/repos/{owner}`; literal parts of a path are percent-encoded, including braces |
//! | `params` | name → `{in, as?, style?, explode?, reserved?, sensitive?, file?}` in the order of the document |
//! | `body?` | `form`, `multipart`, `text` or `binary`; JSON by default |
//! | `body_param?` | the parameter that is the whole body; always present for `text` and `binary` with one parameter |
//! | `body_template?` | the whole body; a text `{name}` in it stands for the parameter |
//! | `fixed?` | place → name → value: sent with every request |
//! | `result?` | the names and positions that lead to the result in the answer |
//! | `error?` | `{path, equals?, not?, message?}`: which answers are failures although their status says success |
//! | `page?` | the answer may be an HTML page |
//! | `content_type?`, `base_url?`, `auth?` | replace those of the target |
//! | `repeatable?` | may be sent again after a failure |
//! | `idempotency?` | the header for a key that is new for each call, in lower case |
//! | `removes?` | if a repeated request gets "not found", the first one succeeded |
//! | `target?` | the parameter that selects one of several targets |
//!
//! `style` and `explode` are those of OpenAPI, with its defaults for the location. `file` is true if a multipart field is a
//! file in base64. If the parameter is the whole body, `file` lists the properties that are files.
//!
//! A command (`CommandLine`):
//!
//! | member | meaning |
//! |---|---|
//! | `argv` | each entry is a template; a list of templates, left out if one of its parameters is missing; or `{when, args}`: arguments that are passed if the parameter `when` is true |
//! | `params` | name → `{as?, sensitive?}`; parameters without either are left out |
//! | `stdin?` | `params`: all parameters as JSON; `{param}`: the text of one parameter |
//! | `output` | `json`, `text`, `lines` or `jsonl` |
//! | `timeout_ms?` | replaces that of the target |
//! | `exit?` | exit status → `success` or an error code |
//! | `target?` | as above |

use crate::{USE_RUST, Unsupported};
use indexmap::IndexMap;
use mcpaql_core::adapter::{Adapter, Auth, HttpTarget, TargetConfig};
use mcpaql_core::error::Code;
use mcpaql_core::exchange::{AnswerRules, ErrorRule, ErrorTest, FixedValue, expects_page};
use mcpaql_core::failure_codes::{CODE_WORDS, CODES_BY_NUMBER, VALUE_WORDS, advice};
use mcpaql_core::operation::{
    Arg, Binding, BodyForm, Category, CommandBinding, ExitMeaning, HttpBinding, Operation, Param,
    ParamLocation, ParamStyle, Segment, Stdin,
};
use mcpaql_core::schema::is_file;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The kind of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindingKind {
    /// `HttpRequest`.
    Http,
    /// `CommandLine`.
    Command,
}

/// Returns the literal of an operation's call.
///
/// # Errors
/// Returns an error for targets that need Rust, and for templates that cannot be written as text.
pub(crate) fn operation_binding(operation: &Operation) -> Result<(BindingKind, Value), Unsupported> {
    let (kind, mut literal) = match &operation.binding {
        Binding::Http(binding) => {
            if let Some(needs) = rust_only_feature(binding) {
                let message = format!("the operation '{}' needs {needs}", operation.name);
                return Err(Unsupported { message, suggestion: USE_RUST });
            }
            (BindingKind::Http, http(operation, binding))
        }
        Binding::Command(binding) => (BindingKind::Command, command(operation, binding)?),
        _ => {
            let message = format!("the operation '{}' has a target that needs Rust", operation.name);
            return Err(Unsupported { message, suggestion: USE_RUST });
        }
    };
    if let Some(param) = operation.params.iter().find(|param| param.location == ParamLocation::Target) {
        literal.insert("target".to_owned(), param.name.as_str().into());
    }
    Ok((kind, literal.into()))
}

/// A feature of a request that projects in other languages than Rust do not have.
pub(crate) fn rust_only_feature(binding: &HttpBinding) -> Option<&'static str> {
    (binding.body == BodyForm::Xml).then_some("XML")
}

fn http(operation: &Operation, binding: &HttpBinding) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("method".into(), binding.method.as_str().into());
    out.insert("path".into(), path(&binding.path).into());
    let sent = operation.params.iter().filter(|param| param.location != ParamLocation::Target);
    let params: Map<String, Value> =
        sent.map(|param| (param.name.clone(), http_param(param, binding))).collect();
    out.insert("params".into(), params.into());
    let body = (binding.body != BodyForm::Json).then(|| binding.body.as_str());
    let texts = [
        ("body", body),
        ("body_param", binding.body_param.as_deref().or_else(|| only_body_param(operation, binding))),
        ("content_type", binding.content_type.as_deref()),
        ("base_url", binding.base_url.as_deref()),
    ];
    for (name, text) in texts {
        out.extend(text.map(|text| (name.to_owned(), text.into())));
    }
    out.extend(
        binding.body_template.as_deref().map(|template| ("body_template".to_owned(), template.clone())),
    );
    if !binding.fixed.is_empty() {
        out.insert("fixed".into(), fixed(&binding.fixed));
    }
    let AnswerRules { result, error } = &*binding.answer;
    out.extend(result.as_ref().map(|path| ("result".to_owned(), path.parts().into())));
    out.extend(error.as_ref().map(|rule| ("error".to_owned(), error_rule(rule))));
    if expects_page(operation) {
        out.insert("page".into(), true.into());
    }
    out.extend(binding.auth.as_ref().map(|own| ("auth".to_owned(), auth(own))));
    let idempotency = operation.idempotency_header().map(str::to_ascii_lowercase);
    if operation.may_repeat() || idempotency.is_some() {
        out.insert("repeatable".into(), true.into());
        if operation.category == Category::Delete {
            out.insert("removes".into(), true.into());
        }
    }
    out.extend(idempotency.map(|header| ("idempotency".to_owned(), header.into())));
    out
}

/// Returns fixed values by place and name.
fn fixed(values: &[FixedValue]) -> Value {
    let mut out: IndexMap<&str, Map<String, Value>> = IndexMap::new();
    for FixedValue { param, value } in values {
        out.entry(param.location.as_str()).or_default().insert(param.wire.clone(), value.clone());
    }
    json!(out)
}

fn error_rule(rule: &ErrorRule) -> Value {
    let mut out = Map::new();
    out.insert("path".into(), rule.path.parts().into());
    match &rule.test {
        ErrorTest::Present => {}
        ErrorTest::Equals(value) => drop(out.insert("equals".into(), value.clone())),
        ErrorTest::Not(value) => drop(out.insert("not".into(), value.clone())),
    }
    out.extend(rule.message.as_ref().map(|path| ("message".to_owned(), path.parts().into())));
    out.into()
}

/// Returns the only body parameter of a `text` or `binary` body, if the document has no `body_param`.
fn only_body_param<'o>(operation: &'o Operation, binding: &HttpBinding) -> Option<&'o str> {
    let mut declared = operation.params.iter().filter(|param| param.location == ParamLocation::Body);
    match (binding.body, declared.next(), declared.next()) {
        (BodyForm::Text | BodyForm::Binary, Some(only), None) => Some(&only.name),
        _ => None,
    }
}

fn path(segments: &[Segment]) -> String {
    let piece = |segment: &Segment| match segment {
        Segment::Literal(text) => text.chars().map(encoded).collect(),
        Segment::Param(name) => format!("{{{name}}}"),
    };
    segments.iter().map(piece).collect()
}

/// Encodes a literal character of a path. `%` is kept, because authors write `%2F` themselves.
fn encoded(literal: char) -> String {
    if literal.is_ascii_graphic() && !"\"#<>\\^`{|}".contains(literal) {
        return literal.to_string();
    }
    literal.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn http_param(param: &Param, binding: &HttpBinding) -> Value {
    let mut out = Map::new();
    out.insert("in".into(), param.location.as_str().into());
    if param.wire != param.name {
        out.insert("as".into(), param.wire.as_str().into());
    }
    let usual = ParamStyle::default_for(param.location);
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
        } else if param.location == ParamLocation::Body && is_file(&param.schema) {
            out.insert("file".into(), true.into());
        }
    }
    out.into()
}

/// Returns the names of the properties that are files.
fn files_in(schema: &Value) -> Vec<&str> {
    let all = schema.get("properties").and_then(Value::as_object);
    all.into_iter().flatten().filter(|(_, schema)| is_file(schema)).map(|(name, _)| name.as_str()).collect()
}

fn command(operation: &Operation, binding: &CommandBinding) -> Result<Map<String, Value>, Unsupported> {
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
    out.extend(binding.timeout_ms.map(|limit| ("timeout_ms".to_owned(), limit.into())));
    if !binding.exit.is_empty() {
        let meaning = |meaning: &ExitMeaning| match meaning {
            ExitMeaning::Success => "success",
            ExitMeaning::Error(code) => code.as_str(),
        };
        let exit: Map<String, Value> =
            binding.exit.iter().map(|(code, means)| (code.to_string(), meaning(means).into())).collect();
        out.insert("exit".into(), exit.into());
    }
    Ok(out)
}

/// Returns the entry of a parameter in `params`, unless it would be empty.
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

/// Returns a template as text.
fn template(operation: &Operation, pieces: &[Segment]) -> Result<String, Unsupported> {
    let piece = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Param(name) => format!("{{{name}}}"),
    };
    let text: String = pieces.iter().map(piece).collect();
    let params = pieces.iter().filter(|piece| matches!(piece, Segment::Param(_))).count();
    if placeholders(&text) == params {
        return Ok(text);
    }
    let message = format!(
        "the template {} of the operation '{}' contains braces that are not parameters",
        Value::from(text),
        operation.name
    );
    Err(Unsupported { message, suggestion: USE_RUST })
}

/// Counts the occurrences of `{snake_case}` in a text.
fn placeholders(text: &str) -> usize {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).filter(|(name, _)| is_name(name)).count()
}

/// Returns the target of an adapter and its alternatives, each with the names of its credentials.
pub(crate) fn target(adapter: &Adapter) -> Value {
    let mut out = one_target(&adapter.target, &adapter.auth);
    if !adapter.targets.is_empty() {
        let alternatives: Map<String, Value> = adapter
            .targets
            .iter()
            .map(|(name, own)| (name.clone(), one_target(&own.target, &own.auth).into()))
            .collect();
        out.insert("alternatives".into(), alternatives.into());
        out.insert("default".into(), json!(adapter.default_target));
    }
    out.into()
}

fn one_target(target: &TargetConfig, own: &Auth) -> Map<String, Value> {
    let members = match target {
        TargetConfig::Http(target) => http_target(target),
        TargetConfig::Command(command) => json!({
            "protocol": "command",
            "cwd": command.cwd,
            "env": command.env,
            "set_env": command.set_env,
            "timeout_ms": command.timeout_ms,
            "max_output_bytes": command.max_output_bytes,
        }),
        // The project has no operations for these targets.
        TargetConfig::Store(_) | TargetConfig::Mcp(_) | TargetConfig::Code(_) => json!({"protocol": "none"}),
    };
    let mut out = match members {
        Value::Object(out) => out,
        _ => Map::new(),
    };
    out.insert("auth".into(), auth(own));
    out
}

fn http_target(http: &HttpTarget) -> Value {
    json!({
        "protocol": "http",
        "base_url": http.base_url,
        "headers": http.headers,
        "serialization": http.serialization.as_str(),
        "allow_http": http.allow_http,
        "connect_timeout_ms": http.connect_timeout_ms,
        "timeout_ms": http.timeout_ms,
        "retries": http.retries,
        "max_response_bytes": http.max_response_bytes,
        "failures": failures(),
    })
}

/// Returns the tables that select the code of a failure, and what the agent can do about each code.
fn failures() -> Value {
    let codes: Map<String, Value> =
        CODES_BY_NUMBER.iter().map(|(number, code)| (number.to_string(), code.as_str().into())).collect();
    let words: Vec<Value> = CODE_WORDS.iter().map(|(code, words)| json!([code.as_str(), words])).collect();
    let known = CODES_BY_NUMBER.iter().map(|(_, code)| *code).chain([Code::InvalidType, Code::Internal]);
    let advice: BTreeMap<&str, &str> = known.map(|code| (code.as_str(), advice(code))).collect();
    json!({"codes": codes, "value_words": VALUE_WORDS, "words": words, "advice": advice})
}

/// Returns how calls are authenticated, with names of variables; null without authentication.
fn auth(own: &Auth) -> Value {
    match own {
        Auth::None => Value::Null,
        Auth::Bearer { token_env, header, prefix } => {
            json!({"type": "bearer", "token_env": token_env, "header": header, "prefix": prefix})
        }
        Auth::ApiKey { key_env, location: place, prefix } => {
            let (place, name) = place.parts();
            json!({"type": "api_key", "key_env": key_env, "in": place, "name": name, "prefix": prefix})
        }
        Auth::Basic { username_env, password_env } => {
            json!({"type": "basic", "username_env": username_env, "password_env": password_env})
        }
        Auth::OAuth2(oauth) => json!({
            "type": "oauth2",
            "token_url": oauth.token_url,
            "client_id_env": oauth.client_id_env,
            "client_secret_env": oauth.client_secret_env,
            "refresh_token_env": oauth.refresh_token_env,
            "scopes": oauth.scopes,
        }),
        Auth::All(several) => json!({"type": "all", "of": several.iter().map(auth).collect::<Vec<_>>()}),
        Auth::Any(several) => json!({"type": "any", "of": several.iter().map(auth).collect::<Vec<_>>()}),
    }
}

/// The kinds of targets that a project uses. It contains only the files for these.
pub(crate) struct UsedTargets {
    pub(crate) http: bool,
    pub(crate) command: bool,
}

impl UsedTargets {
    pub(crate) fn of(adapter: &Adapter) -> UsedTargets {
        let mut all = adapter.targets.values().map(|own| &own.target).chain([&adapter.target]);
        let command = all.clone().any(|target| matches!(target, TargetConfig::Command(_)));
        UsedTargets { http: all.any(|target| matches!(target, TargetConfig::Http(_))) || !command, command }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_a_path_are_percent_encoded() {
        let segments = [Segment::Literal("/a b/{é}/%2F?x=1&y=".to_owned()), Segment::Param("id".to_owned())];
        assert_eq!(path(&segments), "/a%20b/%7B%C3%A9%7D/%2F?x=1&y={id}");
    }
}
