//! Reads the parameters outside the body: path, query, headers and cookies.
//!
//! What always holds: a parameter of the operation replaces a parameter of its path with the same name and location. Every
//! placeholder of the path has exactly one required parameter. No parameter is a credential or a header about the message.

use super::details::{Context, Version};
use super::names;
use super::schema::shape;
use crate::report::Note;
use mcpaql_core::header;
use mcpaql_core::library::is_choice;
use mcpaql_core::operation::{
    Binding, CREDENTIAL_HEADERS, Operation, ParamLocation, ParamStyle, Segment, StyleForm,
};
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::Arc;

/// Headers that OpenAPI tells importers to ignore, because other parts of the description define them.
const IGNORED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// A parameter whose schema has not been written yet.
#[derive(Debug, Clone)]
pub(crate) struct UnwrittenParam {
    pub(crate) wire: String,
    pub(super) location: ParamLocation,
    pub(crate) required: bool,
    pub(super) description: Option<String>,
    pub(super) deprecated: bool,
    /// The schema in the document; null if only the outline is needed.
    pub(crate) schema: Value,
    /// Whether its values are known: an enum, a constant or a boolean.
    pub(super) is_choice: bool,
    /// The id of its document.
    pub(super) base: String,
    pub(super) style: ParamStyle,
    pub(super) file: FileParam,
    pub(super) example: Option<Value>,
}

/// Whether a parameter is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileParam {
    No,
    One,
    Many,
}

impl UnwrittenParam {
    pub(crate) fn new(wire: &str, location: ParamLocation, schema: Value, base: &str) -> UnwrittenParam {
        UnwrittenParam {
            wire: wire.to_owned(),
            location,
            required: false,
            description: None,
            deprecated: false,
            is_choice: is_choice(&schema),
            schema,
            base: base.to_owned(),
            style: ParamStyle::default_for(location),
            file: FileParam::No,
            example: None,
        }
    }
}

/// A value of the document, or the target of a reference.
pub(super) enum DocumentValue<'v> {
    Here(&'v Value),
    There(Arc<Value>),
}

impl Deref for DocumentValue<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        match self {
            DocumentValue::Here(value) => value,
            DocumentValue::There(value) => value,
        }
    }
}

/// A value and the id of its document.
pub(super) struct LocatedValue<'v> {
    pub(super) node: DocumentValue<'v>,
    pub(super) base: String,
}

/// Returns the value itself, or the target of its reference.
pub(super) fn locate_value<'v>(cx: &Context<'_>, value: &'v Value, base: &str) -> Option<LocatedValue<'v>> {
    match value.get("$ref").and_then(Value::as_str) {
        None => Some(LocatedValue { node: DocumentValue::Here(value), base: base.to_owned() }),
        Some(reference) => cx
            .refs
            .resolve(base, reference)
            .map(|target| LocatedValue { node: DocumentValue::There(target.value), base: target.base }),
    }
}

/// Returns the parameters of an operation and its path; those of the operation replace those of the path.
pub(super) fn declared<'v>(
    cx: &Context<'_>,
    path_params: &'v [Value],
    operation: &'v Value,
    notes: &mut Vec<Note>,
) -> Vec<LocatedValue<'v>> {
    let own = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let mut out: Vec<LocatedValue<'v>> = Vec::new();
    for value in path_params.iter().chain(own) {
        let Some(param) = locate_value(cx, value, cx.base) else {
            notes.push(Note::lost("parameters", "a parameter whose reference cannot be resolved"));
            continue;
        };
        if word(&param.node, "name").is_none() || word(&param.node, "in").is_none() {
            notes.push(Note::lost("parameters", "a parameter without 'name' or 'in'"));
            continue;
        }
        let same = |other: &LocatedValue<'_>| {
            let [(name, location), (other, other_location)] =
                [&param, other].map(|param| (word(&param.node, "name"), word(&param.node, "in")));
            let is_header = location == Some("header");
            let same_header =
                || name.zip(other).is_some_and(|(name, other)| name.eq_ignore_ascii_case(other));
            location == other_location && (name == other || (is_header && same_header()))
        };
        match out.iter().position(same) {
            Some(at) => {
                if let Some(slot) = out.get_mut(at) {
                    *slot = param;
                }
            }
            None => out.push(param),
        }
    }
    out
}

pub(super) fn word<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// Returns the placeholders of the operation's path.
pub(super) fn placeholders(head: &Operation) -> Vec<&str> {
    let Binding::Http(http) = &head.binding else { return Vec::new() };
    let mut names: Vec<&str> = Vec::new();
    for segment in &http.path {
        if let Segment::Param(name) = segment
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    names
}

/// Whether placeholder and parameter have the same name, in any spelling.
pub(super) fn is_same_name(placeholder: &str, wire: &str) -> bool {
    placeholder == wire || names::legal(placeholder) == names::legal(wire)
}

/// Reads the parameters outside the body; those of the path come first, in the order of the path. `light` leaves out schemas.
pub(super) fn read(
    cx: &Context<'_>,
    head: &Operation,
    declared: &[LocatedValue<'_>],
    light: bool,
    notes: &mut Vec<Note>,
) -> Vec<UnwrittenParam> {
    let mut drafts = Vec::new();
    for param in declared {
        let (Some(name), Some(location)) = (word(&param.node, "name"), word(&param.node, "in")) else {
            continue;
        };
        let location = match location {
            "path" => ParamLocation::Path,
            "query" => ParamLocation::Query,
            "header" => ParamLocation::Header,
            "cookie" => ParamLocation::Cookie,
            "querystring" => {
                drafts.extend(query_string(cx, param, light));
                continue;
            }
            "body" | "formData" => continue,
            other => {
                notes.push(Note::lost(name, format!("a parameter in '{other}'")));
                continue;
            }
        };
        if location == ParamLocation::Header && !header::is_name(name) {
            notes.push(Note::lost("parameters", format!("the header '{name}', which is not a valid name")));
            continue;
        }
        if !is_credential(cx, location, name, notes) {
            drafts.push(read_param(cx, param, name, location, light, notes));
        }
    }
    let mut out = take_path_params(head, &mut drafts, notes);
    for location in [ParamLocation::Query, ParamLocation::Header, ParamLocation::Cookie] {
        out.extend(drafts.iter().filter(|draft| draft.location == location).cloned());
    }
    out
}

/// Removes the parameters of the path from `drafts` and returns them in the order of the path.
fn take_path_params(
    head: &Operation,
    drafts: &mut Vec<UnwrittenParam>,
    notes: &mut Vec<Note>,
) -> Vec<UnwrittenParam> {
    let mut out = Vec::new();
    for placeholder in placeholders(head) {
        let exact = drafts
            .iter()
            .position(|draft| draft.location == ParamLocation::Path && draft.wire == placeholder);
        let position = exact.or_else(|| {
            drafts
                .iter()
                .position(|d| d.location == ParamLocation::Path && is_same_name(placeholder, &d.wire))
        });
        match position {
            Some(position) => out.push(UnwrittenParam { required: true, ..drafts.remove(position) }),
            None => {
                notes.push(Note::changed(
                    placeholder,
                    "a placeholder of the path without a parameter; its type is string",
                ));
                let draft =
                    UnwrittenParam::new(placeholder, ParamLocation::Path, json!({"type": "string"}), "");
                out.push(UnwrittenParam { required: true, ..draft });
            }
        }
    }
    drafts.retain(|draft| {
        if draft.location == ParamLocation::Path {
            notes.push(Note::changed(
                &draft.wire,
                "a path parameter without a placeholder in the path is left out",
            ));
        }
        draft.location != ParamLocation::Path
    });
    out
}

/// Whether a parameter is a credential or a header that callers cannot set.
fn is_credential(cx: &Context<'_>, location: ParamLocation, name: &str, notes: &mut Vec<Note>) -> bool {
    let lower = name.to_ascii_lowercase();
    if location == ParamLocation::Header && IGNORED_HEADERS.contains(&lower.as_str()) {
        return true;
    }
    let key = |(at, key): &(ParamLocation, String)| {
        *at == location
            && (key == name || (location == ParamLocation::Header && key.eq_ignore_ascii_case(name)))
    };
    if cx.credentials.iter().any(key) {
        notes.push(Note::changed(name, "a credential of the API is not a parameter"));
        return true;
    }
    let header = location == ParamLocation::Header
        && (header::is_framing(&lower) || CREDENTIAL_HEADERS.contains(&lower.as_str()));
    if header {
        notes.push(Note::changed(name, "a header that callers cannot set"));
    }
    header
}

fn read_param(
    cx: &Context<'_>,
    param: &LocatedValue<'_>,
    name: &str,
    location: ParamLocation,
    light: bool,
    notes: &mut Vec<Note>,
) -> UnwrittenParam {
    let node: &Value = &param.node;
    let media = node.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
    let schema = match media {
        Some((_, media)) => media.get("schema"),
        None => node.get("schema").or(Some(node)),
    };
    let mut draft = UnwrittenParam::new(name, location, Value::Null, &param.base);
    draft.required = node.get("required") == Some(&Value::Bool(true));
    let located = schema.and_then(|schema| locate_value(cx, schema, &param.base));
    draft.is_choice = located.is_some_and(|located| is_choice(&located.node));
    if light {
        return draft;
    }
    draft.schema = schema.cloned().unwrap_or_else(|| json!({}));
    draft.description = word(node, "description").map(str::to_owned);
    draft.deprecated = node.get("deprecated") == Some(&Value::Bool(true));
    draft.style = match media {
        Some((media, _)) if media.starts_with("text/") => draft.style,
        Some(_) => ParamStyle { form: StyleForm::Json, explode: false, reserved: false },
        None => style(cx, node, &draft.schema, location, name, notes),
    };
    draft.example = super::examples::example_of(cx, node, &param.base)
        .or_else(|| media.and_then(|(_, media)| super::examples::example_of(cx, media, &param.base)))
        .or_else(|| super::examples::schema_example(&draft.schema));
    draft
}

/// Reads `in: querystring` of OpenAPI 3.2; the fields of its schema become query parameters.
fn query_string(cx: &Context<'_>, param: &LocatedValue<'_>, light: bool) -> Vec<UnwrittenParam> {
    let media =
        param.node.get("content").and_then(Value::as_object).and_then(|content| content.values().next());
    let Some(schema) = media.and_then(|media| media.get("schema")) else { return Vec::new() };
    let mut drafts: Vec<UnwrittenParam> = Vec::new();
    let whole = shape(cx.refs, schema, &param.base, &mut |name, schema, base| {
        let is_choice = is_choice(schema);
        let schema = if light { Value::Null } else { schema.clone() };
        drafts.retain(|draft| draft.wire != name);
        drafts.push(UnwrittenParam {
            is_choice,
            ..UnwrittenParam::new(name, ParamLocation::Query, schema, base)
        });
    });
    let required = whole.map(|whole| whole.required).unwrap_or_default();
    for draft in &mut drafts {
        draft.required = required.contains(&draft.wire);
    }
    drafts
}

/// Returns the style of arrays and objects. Scalars have the default style, unless it is label or matrix.
pub(super) fn style(
    cx: &Context<'_>,
    node: &Value,
    schema: &Value,
    location: ParamLocation,
    name: &str,
    notes: &mut Vec<Note>,
) -> ParamStyle {
    let default = ParamStyle::default_for(location);
    let structured = is_structured(cx, schema);
    if cx.version == Version::V2 {
        return if structured { collection(node, location, name, notes) } else { default };
    }
    let reserved = location == ParamLocation::Query && node.get("allowReserved") == Some(&Value::Bool(true));
    let form = match word(node, "style") {
        None => default.form,
        Some(text) => match (location, text) {
            (ParamLocation::Path, "label") => StyleForm::Label,
            (ParamLocation::Path, "matrix") => StyleForm::Matrix,
            (ParamLocation::Path | ParamLocation::Header, "simple") => StyleForm::Simple,
            (ParamLocation::Query | ParamLocation::Cookie | ParamLocation::Body, "form") => StyleForm::Form,
            (ParamLocation::Query | ParamLocation::Body, "spaceDelimited") => StyleForm::SpaceDelimited,
            (ParamLocation::Query | ParamLocation::Body, "pipeDelimited") => StyleForm::PipeDelimited,
            (ParamLocation::Query | ParamLocation::Body, "deepObject") => StyleForm::DeepObject,
            (ParamLocation::Cookie, "cookie") => StyleForm::Form,
            (_, other) => {
                notes.push(Note::changed(
                    name,
                    format!("the style '{other}' is not defined for this location"),
                ));
                default.form
            }
        },
    };
    let shown_alone = matches!(form, StyleForm::Label | StyleForm::Matrix);
    if !structured && !shown_alone {
        return ParamStyle { reserved, ..default };
    }
    let explode = node.get("explode").and_then(Value::as_bool);
    let explode = explode.unwrap_or(matches!(form, StyleForm::Form | StyleForm::DeepObject));
    ParamStyle { form, explode: explode || form == StyleForm::DeepObject, reserved }
}

/// Converts `collectionFormat` of Swagger 2.0 to a style.
fn collection(node: &Value, location: ParamLocation, name: &str, notes: &mut Vec<Note>) -> ParamStyle {
    let default = ParamStyle { explode: false, ..ParamStyle::default_for(location) };
    let listed = location != ParamLocation::Path && location != ParamLocation::Header;
    match word(node, "collectionFormat") {
        None | Some("csv") => default,
        Some("ssv") if listed => ParamStyle { form: StyleForm::SpaceDelimited, ..default },
        Some("pipes") if listed => ParamStyle { form: StyleForm::PipeDelimited, ..default },
        Some("tsv") if listed => {
            notes.push(Note::changed(name, "a list separated by tabs is sent separated by spaces"));
            ParamStyle { form: StyleForm::SpaceDelimited, ..default }
        }
        Some("multi") if listed => ParamStyle { explode: true, ..default },
        Some(other) => {
            notes.push(Note::changed(
                name,
                format!("a list with the collection format '{other}' is sent separated by commas"),
            ));
            default
        }
    }
}

/// Whether values may be arrays or objects.
pub(super) fn is_structured(cx: &Context<'_>, schema: &Value) -> bool {
    let Some(schema) = locate_value(cx, schema, cx.base) else { return true };
    match schema.node.get("type") {
        Some(Value::String(kind)) => !matches!(kind.as_str(), "string" | "integer" | "number" | "boolean"),
        _ => schema.node.get("enum").is_none() && schema.node.get("const").is_none(),
    }
}
