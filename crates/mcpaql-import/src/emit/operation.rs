//! Writes an operation: short facts first, then parameters, answer and examples. Values that the loader would infer are not
//! written.

use super::schema;
use super::target::{auth, hints};
use super::yaml::{YamlMembers, YamlValue};
use mcpaql_core::adapter::{Adapter, TargetConfig};
use mcpaql_core::exchange::{ErrorRule, ErrorTest, FixedValue};
use mcpaql_core::facts::{self, Declared, Effect, Facts, Reach, Repeat};
use mcpaql_core::lifecycle::Lifecycle;
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{
    Arg, Binding, BodyForm, Category, CommandBinding, ExitMeaning, HttpBinding, McpBinding, Operation,
    Output, Pagination, Param, ParamLocation, ParamStyle, Returns, Segment, Stdin, StyleForm,
};
use mcpaql_core::policy;
use mcpaql_core::shape::{DeclaredFields, FieldPath, HiddenFields};
use mcpaql_document::effects;
use mcpaql_document::load::guard_of;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Returns an operation as an entry in the list of its category.
pub(super) fn node<'a>(operation: &'a Operation, adapter: &'a Adapter) -> YamlValue<'a> {
    let mut out = MembersBuilder::default();
    out.put("name", operation.name.as_str());
    out.put_if(operation.title != title_of(&operation.name) && !operation.title.is_empty(), "title", || {
        super::prose(&operation.title).into()
    });
    // The binding already has the name of the tool.
    let is_tool_name =
        matches!(&operation.binding, Binding::Mcp(mcp) if operation.source_id.as_ref() == Some(&mcp.tool));
    out.put_some("source_id", operation.source_id.as_deref().filter(|_| !is_tool_name));
    match &operation.binding {
        Binding::Http(http) => http_binding(&mut out, http, &adapter.target),
        Binding::Command(command) => command_binding(&mut out, command),
        Binding::Mcp(mcp) => mcp_binding(&mut out, mcp, &operation.name),
        Binding::Store(_) | Binding::Code | Binding::Introspect | Binding::Execution(_) => {}
    }
    let description = super::prose(&operation.description);
    out.put_if(!description.is_empty(), "description", || description.into());
    out.put_texts("tags", &operation.tags);
    out.put_texts("aliases", &operation.aliases);
    match operation.deprecated.as_deref().map(str::trim) {
        None => {}
        Some("") => out.put("deprecated", true),
        Some(text) => out.put("deprecated", super::prose(text)),
    }
    declared_facts(&mut out, operation, &adapter.target);
    out.0.extend(hints(&operation.hints).map(|hints| (Cow::Borrowed("annotations"), hints)));
    hidden(&mut out, &operation.hide);
    declared(&mut out, operation.fields.as_deref());
    if let Some(pages) = &operation.pagination {
        out.put("pagination", pagination(pages));
    }
    if let Some(background) = &operation.lifecycle {
        out.put("lifecycle", lifecycle(background));
    }
    if !operation.params.is_empty() {
        let params = operation.params.iter().map(|written| {
            (Cow::Borrowed(written.name.as_str()), param(written, default_location(operation, written)))
        });
        out.put("params", YamlValue::Tall(params.collect()));
    }
    if let Some(answer) = &operation.returns {
        out.put("returns", returns(answer));
    }
    let examples = examples(operation);
    out.put_if(!examples.is_empty(), "examples", || YamlValue::List(examples));
    YamlValue::Tall(out.0)
}

/// Builds the members of a map, in order.
#[derive(Default)]
pub(super) struct MembersBuilder<'a>(pub(super) YamlMembers<'a>);

impl<'a> MembersBuilder<'a> {
    pub(super) fn put(&mut self, key: &'static str, node: impl Into<YamlValue<'a>>) {
        self.0.push((Cow::Borrowed(key), node.into()));
    }

    pub(super) fn put_if(&mut self, applies: bool, key: &'static str, node: impl FnOnce() -> YamlValue<'a>) {
        if applies {
            self.put(key, node());
        }
    }

    pub(super) fn put_some(&mut self, key: &'static str, text: Option<&'a str>) {
        if let Some(text) = text {
            self.put(key, text);
        }
    }

    pub(super) fn put_texts(&mut self, key: &'static str, texts: &'a [String]) {
        self.put_if(!texts.is_empty(), key, || YamlValue::texts(texts));
    }
}

fn http_binding<'a>(out: &mut MembersBuilder<'a>, http: &'a HttpBinding, target: &TargetConfig) {
    out.put("maps_to", format!("{} {}", http.method, template(&http.path)));
    out.put_some("base_url", http.base_url.as_deref());
    if let Some(own) = &http.auth {
        out.put("auth", auth(own));
    }
    let default = match target {
        TargetConfig::Http(target) => target.serialization,
        TargetConfig::Store(_) | TargetConfig::Command(_) | TargetConfig::Mcp(_) | TargetConfig::Code(_) => {
            BodyForm::Json
        }
    };
    out.put_if(http.body != default, "body", || http.body.as_str().into());
    out.put_some("content_type", http.content_type.as_deref());
    let of_target = match target {
        TargetConfig::Http(target) => target.idempotency_header.as_deref(),
        _ => None,
    };
    out.put_some(
        "idempotency_header",
        http.idempotency_header.as_deref().filter(|own| Some(*own) != of_target),
    );
    out.put_some("body_param", http.body_param.as_deref());
    if let Some(template) = &http.body_template {
        out.put("body_template", YamlValue::from(template.as_ref()));
    }
    exchange(out, http);
}

/// Writes `fixed`, `result` and `error`.
fn exchange<'a>(out: &mut MembersBuilder<'a>, http: &'a HttpBinding) {
    let fixed = http.fixed.iter().map(|FixedValue { param, value }| {
        let mut located = MembersBuilder::default();
        located.put("in", param.location.as_str());
        located.put("value", YamlValue::from(value));
        (Cow::from(&param.wire), YamlValue::Map(located.0))
    });
    let fixed: YamlMembers<'_> = fixed.collect();
    out.put_if(!fixed.is_empty(), "fixed", || YamlValue::Map(fixed));
    if let Some(path) = &http.answer.result {
        out.put("result", path.to_string());
    }
    if let Some(ErrorRule { path, test, message }) = &http.answer.error {
        let mut rule = MembersBuilder::default();
        rule.put("path", path.to_string());
        match test {
            ErrorTest::Present => {}
            ErrorTest::Equals(value) => rule.put("equals", YamlValue::from(value)),
            ErrorTest::Not(value) => rule.put("not", YamlValue::from(value)),
        }
        if let Some(message) = message {
            rule.put("message", message.to_string());
        }
        out.put("error", YamlValue::Map(rule.0));
    }
}

fn mcp_binding<'a>(out: &mut MembersBuilder<'a>, mcp: &'a McpBinding, name: &str) {
    out.put_if(mcp.tool != name, "tool", || mcp.tool.as_str().into());
    out.put_if(!mcp.fixed.is_empty(), "fixed", || {
        YamlValue::Map(
            mcp.fixed.iter().map(|(name, value)| (Cow::from(name), YamlValue::from(value))).collect(),
        )
    });
}

/// Returns the text with parameters as `{name}`.
fn template(pieces: &[Segment]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Segment::Literal(text) => out.push_str(text),
            Segment::Param(name) => {
                out.push('{');
                out.push_str(name);
                out.push('}');
            }
        }
    }
    out
}

fn command_binding<'a>(out: &mut MembersBuilder<'a>, command: &'a CommandBinding) {
    let group =
        |args: &[Vec<Segment>]| YamlValue::List(args.iter().map(|arg| template(arg).into()).collect());
    let argv = command.argv.iter().map(|arg| match arg {
        Arg::Template(pieces) => template(pieces).into(),
        Arg::Group(args) => group(args),
        Arg::When(flag, args) => {
            let mut when = MembersBuilder::default();
            when.put("when", flag.as_str());
            when.put("args", group(args));
            YamlValue::Map(when.0)
        }
    });
    out.put("command", YamlValue::List(argv.collect()));
    match &command.stdin {
        Stdin::Closed => {}
        Stdin::Params => out.put("stdin", "params"),
        Stdin::Param(name) => out.put("stdin", format!("{{{name}}}")),
    }
    out.put_if(command.output != Output::Text, "output", || command.output.as_str().into());
    if let Some(timeout) = command.timeout_ms {
        out.put("timeout", super::target::seconds(timeout));
    }
    let exit = command.exit.iter().map(|(status, meaning)| {
        let meaning = match meaning {
            ExitMeaning::Success => "success",
            ExitMeaning::Error(code) => code.as_str(),
        };
        (Cow::Owned(status.to_string()), YamlValue::from(meaning))
    });
    let exit: YamlMembers<'_> = exit.collect();
    out.put_if(!exit.is_empty(), "exit", || YamlValue::Map(exit));
}

/// Writes `effect`, `danger` and `idempotent`, each only if the loader would infer something else.
fn declared_facts(out: &mut MembersBuilder<'_>, operation: &Operation, target: &TargetConfig) {
    let inferred = |effect: Option<Effect>, idempotent: Option<bool>| {
        facts::infer(&Declared {
            category: operation.category,
            effect,
            idempotent,
            danger: operation.danger,
            guard: guard_of(&operation.params),
            reach: if target.is_remote() { Reach::Open } else { Reach::Process },
            binding: &operation.binding,
        })
    };
    let own = operation.facts.effect;
    let effect = Some(own).filter(|own| inferred(None, None).effect != *own);
    // A read whose words say otherwise, such as one that the operator has declared, needs its effect.
    let contradicted = operation.category == Category::Read
        && effects::contradicts_read(&operation.name, &operation.description, &operation.binding).is_some();
    out.put_if(effect.is_some() || contradicted, "effect", || own.as_str().into());
    let inferred_danger = facts::danger_of(&operation.name, operation.category);
    out.put_if(operation.danger != inferred_danger, "danger", || operation.danger.as_str().into());
    if let Some(idempotent) = idempotent(operation, |idempotent| inferred(effect, idempotent)) {
        out.put("idempotent", idempotent);
    }
}

/// Returns the value of `idempotent` that gives the same facts about repeated calls; or else the same hints; or else the value
/// that forbids repeated calls. `None` omits the key.
fn idempotent(operation: &Operation, inferred: impl Fn(Option<bool>) -> Facts) -> Option<bool> {
    let values = [None, Some(true), Some(false)];
    let announced = |facts: &Facts| -> Vec<bool> {
        policy::policies().map(|policy| policy.hints(operation.category, facts).idempotent).collect()
    };
    let find = |matches: &dyn Fn(&Facts) -> bool| values.into_iter().find(|value| matches(&inferred(*value)));
    find(&|facts| facts.repeat == operation.facts.repeat)
        .or_else(|| find(&|facts| announced(facts) == announced(&operation.facts)))
        .or_else(|| find(&|facts| facts.repeat == Repeat::Accumulates))
        .flatten()
}

/// Writes `hide`.
pub(super) fn hidden<'a>(out: &mut MembersBuilder<'a>, hidden: &'a HiddenFields) {
    out.put_if(!hidden.is_empty(), "hide", || paths(hidden.paths()));
}

fn paths(paths: &[FieldPath]) -> YamlValue<'_> {
    YamlValue::List(paths.iter().map(|path| path.as_str().into()).collect())
}

/// Writes `default_fields`, `presets` and `computed`.
pub(super) fn declared<'a>(out: &mut MembersBuilder<'a>, declared: Option<&'a DeclaredFields>) {
    let Some(DeclaredFields { default_fields, presets, computed }) = declared else { return };
    if let Some(selection) = default_fields {
        match selection.preset {
            Some(preset) => out.put("default_fields", preset.as_str()),
            None => out.put("default_fields", paths(&selection.declared)),
        }
    }
    let named = presets.iter().map(|(name, fields)| (Cow::from(name), paths(fields)));
    out.put_if(!presets.is_empty(), "presets", || YamlValue::Map(named.collect()));
    let expressions = computed.iter().map(|(name, source)| (Cow::from(name), YamlValue::from(source)));
    out.put_if(!computed.is_empty(), "computed", || YamlValue::Map(expressions.collect()));
}

fn pagination(pages: &Pagination) -> YamlValue<'_> {
    let mut out = MembersBuilder::default();
    out.put("kind", pages.kind.as_str());
    out.put_some("at", pages.at.as_deref());
    out.put_some("size", pages.size.as_deref());
    out.put_some("next", pages.next.as_deref());
    out.put_some("items", pages.items.as_deref());
    YamlValue::Map(out.0)
}

fn lifecycle(background: &Lifecycle) -> YamlValue<'static> {
    let default = Lifecycle::default();
    if *background == default {
        return true.into();
    }
    let mut out = MembersBuilder::default();
    out.put_if(background.survives, "survives", || true.into());
    out.put_if(background.keep_seconds != default.keep_seconds, "keep", || {
        YamlValue::Number(background.keep_seconds.into())
    });
    if let Some(timeout) = background.timeout_ms {
        out.put("timeout", super::target::seconds(timeout));
    }
    YamlValue::Map(out.0)
}

/// Returns the location that the loader gives a parameter without `in`; `None` if the binding has no locations.
fn default_location(operation: &Operation, param: &Param) -> Option<ParamLocation> {
    let Binding::Http(http) = &operation.binding else { return None };
    let in_path = |piece: &Segment| matches!(piece, Segment::Param(name) if *name == param.name);
    Some(if http.path.iter().any(in_path) {
        ParamLocation::Path
    } else if matches!(http.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
        ParamLocation::Query
    } else {
        ParamLocation::Body
    })
}

fn param(param: &Param, default_location: Option<ParamLocation>) -> YamlValue<'_> {
    let mut written = match &param.schema {
        Value::Object(map) => schema::keywords(map, param.sensitive),
        // A schema that accepts no value.
        Value::Bool(false) => vec![(Cow::Borrowed("not"), YamlValue::from("any"))],
        _ => Vec::new(),
    };
    // Description and default are fields of the parameter in the model, and keywords in the document.
    written.retain(|(key, _)| !matches!(&**key, "description" | "default"));
    let required = param.required || param.location == ParamLocation::Path;
    if required && written.iter().any(|(key, _)| key == "required") {
        // `required` is about the parameter here, so a list of required fields must be in a nested schema.
        let inner = schema::members_node(written);
        written = vec![(Cow::Borrowed("type"), inner)];
    }
    let kind = match written.iter().position(|(key, _)| key == "type") {
        Some(at) => Some(written.remove(at)),
        None if written.iter().any(|(key, _)| TYPE_KEYS.contains(&&**key)) => None,
        None => Some((Cow::Borrowed("type"), YamlValue::from("any"))),
    };
    let mut out = MembersBuilder::default();
    out.0.extend(kind);
    out.put_if(required, "required", || true.into());
    out.put_if(default_location.is_some_and(|location| location != param.location), "in", || {
        param.location.as_str().into()
    });
    out.put_if(param.wire != param.name, "as", || param.wire.as_str().into());
    out.put_if(param.sensitive, "sensitive", || true.into());
    style(&mut out, param);
    out.put_texts("from", &param.from);
    let (before, after): (Vec<_>, Vec<_>) =
        written.into_iter().partition(|(key, _)| precedes_description(key));
    out.0.extend(before);
    if let Some(default) = param.default.as_ref().filter(|default| !default.is_null() && !is_secret(param)) {
        out.put("default", default);
    }
    let assumed = param.api_default.as_ref().filter(|default| !default.is_null() && !is_secret(param));
    if let Some(default) = assumed.filter(|_| param.default.is_none()) {
        out.put("api_default", default);
    }
    let description = super::prose(&param.description);
    out.put_if(!description.is_empty(), "description", || description.into());
    out.0.extend(after);
    schema::members_node(out.0)
}

/// The loader requires one of these keys, or `type`.
const TYPE_KEYS: &[&str] = &["$ref", "enum", "const", "oneOf", "anyOf", "allOf", "properties", "items"];

fn precedes_description(key: &str) -> bool {
    let position = |wanted: &str| schema::ORDER.iter().position(|known| *known == wanted);
    position(key).is_some_and(|own| Some(own) < position("description"))
}

fn is_secret(param: &Param) -> bool {
    param.sensitive || param.schema.get("format").is_some_and(|format| format == "password")
}

fn style(out: &mut MembersBuilder<'_>, param: &Param) {
    let ParamStyle { form, explode, reserved } = param.style;
    out.put_if(form != ParamStyle::default_for(param.location).form, "style", || form.as_str().into());
    let default = matches!(form, StyleForm::Form | StyleForm::DeepObject);
    out.put_if(explode != default, "explode", || explode.into());
    out.put_if(reserved, "allow_reserved", || true.into());
}

fn returns(answer: &Returns) -> YamlValue<'_> {
    let description = super::prose(&answer.description);
    if description.is_empty() {
        return schema::node(&answer.schema);
    }
    let mut written = answer.schema.as_object().map_or_else(Vec::new, |map| schema::keywords(map, false));
    written.retain(|(key, _)| key != "description");
    let at = written.iter().position(|(key, _)| !precedes_description(key)).unwrap_or(written.len());
    written.insert(at, (Cow::Borrowed("description"), description.into()));
    YamlValue::Tall(written)
}

/// Returns the examples without values of secrets. An example with a required secret is left out, because it would be
/// incomplete.
fn examples(operation: &Operation) -> Vec<YamlValue<'_>> {
    let secrets: Vec<&Param> = operation.params.iter().filter(|param| is_secret(param)).collect();
    let is_complete = |params: &Map<String, Value>| {
        !secrets.iter().any(|secret| secret.required && params.contains_key(&secret.name))
    };
    let shown = operation.examples.iter().filter(|example| is_complete(&example.params)).map(|example| {
        let mut out = MembersBuilder::default();
        let description = super::prose(&example.description);
        out.put_if(!description.is_empty(), "description", || description.into());
        let open =
            example.params.iter().filter(|(name, _)| !secrets.iter().any(|secret| secret.name == **name));
        let params = open.map(|(name, value)| (Cow::from(name), YamlValue::from(value)));
        out.put("params", YamlValue::Map(params.collect()));
        YamlValue::Tall(out.0)
    });
    shown.collect()
}
