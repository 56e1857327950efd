//! Reads the request body: one of the media types that the operation accepts, and the parameters of the body.
//!
//! What always holds: an object with named fields becomes one parameter per field; any other body becomes one parameter. A
//! field is required only if the body is required.

use super::details::Context;
use super::examples;
use super::params::{FileParam, LocatedValue, UnwrittenParam, is_structured, locate_value, style, word};
use super::schema::{AdditionalFields, ObjectShape, shape};
use crate::report::Note;
use mcpaql_core::header;
use mcpaql_core::library::is_choice;
use mcpaql_core::operation::{BodyForm, Operation, ParamLocation, ParamStyle, StyleForm};
use serde_json::{Map, Value, json};

/// The body of a request.
#[derive(Debug)]
pub(super) struct OpenApiBody {
    pub(super) form: BodyForm,
    /// The media type, if it is not the default of the form.
    pub(super) content_type: Option<String>,
    pub(super) drafts: Vec<UnwrittenParam>,
    /// Whether the only parameter is the body itself.
    pub(super) whole: bool,
    /// The document's example of the whole body.
    pub(super) example: Option<Value>,
}

/// Kinds of media types, the most descriptive first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Media {
    Json,
    JsonLike,
    JsonPatch,
    Form,
    Multipart,
    Text,
    Xml,
    Binary,
}

impl Media {
    fn of(media: &str) -> Media {
        let media = plain(media);
        let lines = ["ndjson", "jsonl", "json-seq", "jsonlines"].iter().any(|word| media.contains(word));
        match media.as_str() {
            "application/json" | "*/*" | "application/*" | "" | "*" => Media::Json,
            "application/x-www-form-urlencoded" => Media::Form,
            "multipart/form-data" => Media::Multipart,
            "application/json-patch+json" => Media::JsonPatch,
            other if other.starts_with("multipart/") => Media::Multipart,
            other if other.contains("json") && !lines => Media::JsonLike,
            other if other.contains("xml") => Media::Xml,
            "application/graphql" | "application/yaml" | "application/x-yaml" => Media::Text,
            other if other.starts_with("text/") || lines => Media::Text,
            _ => Media::Binary,
        }
    }

    const fn form(self) -> BodyForm {
        match self {
            Media::Json | Media::JsonLike | Media::JsonPatch => BodyForm::Json,
            Media::Form => BodyForm::Form,
            Media::Multipart => BodyForm::Multipart,
            Media::Text | Media::Xml => BodyForm::Text,
            Media::Binary => BodyForm::Binary,
        }
    }

    const fn default_media_type(self) -> &'static str {
        match self.form() {
            BodyForm::Json => "application/json",
            BodyForm::Form => "application/x-www-form-urlencoded",
            BodyForm::Multipart => "multipart/form-data",
            BodyForm::Text => "text/plain",
            BodyForm::Binary => "application/octet-stream",
            BodyForm::Xml => "text/xml",
        }
    }
}

/// Returns a media type without its parameters, in lower case.
pub(super) fn plain(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether the media type is JSON.
pub(super) fn is_json(media: &str) -> bool {
    matches!(Media::of(media), Media::Json | Media::JsonLike)
}

/// The content of the chosen media type.
struct MediaContent<'v> {
    media: Media,
    content_type: Option<String>,
    schema: Option<&'v Value>,
    encoding: Option<&'v Map<String, Value>>,
    base: &'v str,
    required: bool,
    description: Option<&'v str>,
    light: bool,
}

/// Reads the body of an operation, in any version of OpenAPI.
pub(super) fn read(
    cx: &Context<'_>,
    head: &Operation,
    declared: &[LocatedValue<'_>],
    operation: &Value,
    light: bool,
    notes: &mut Vec<Note>,
) -> Option<OpenApiBody> {
    if let Some(body) = swagger(cx, declared, operation, light, notes) {
        return Some(body);
    }
    let request = locate_value(cx, operation.get("requestBody")?, cx.base)?;
    let content = request.node.get("content").and_then(Value::as_object)?;
    if let mcpaql_core::operation::Binding::Http(http) = &head.binding
        && matches!(http.method.as_str(), "GET" | "HEAD")
    {
        // Generators describe an empty body for requests without a body.
        let has_fields = |media: &Value| {
            media.get("schema").is_some_and(|schema| {
                schema.get("$ref").is_some()
                    || schema
                        .get("properties")
                        .and_then(Value::as_object)
                        .is_some_and(|fields| !fields.is_empty())
            })
        };
        if content.values().any(has_fields) {
            notes
                .push(Note::lost("requestBody", format!("{} requests are sent without a body", http.method)));
        }
        return None;
    }
    let (name, value) = content.iter().min_by_key(|(name, _)| Media::of(name))?;
    unused(content.keys().filter(|other| *other != name), name, notes);
    let media = Media::of(name);
    let content = MediaContent {
        media,
        content_type: content_type(media, name, notes),
        schema: value.get("schema"),
        encoding: value.get("encoding").and_then(Value::as_object),
        base: &request.base,
        required: request.node.get("required") == Some(&Value::Bool(true)),
        description: word(&request.node, "description"),
        light,
    };
    let mut body = body_params(cx, &content, notes);
    if !light {
        let of_media = examples::example_of(cx, value, &request.base);
        body.example = of_media.or_else(|| {
            let schema = locate_value(cx, value.get("schema")?, &request.base)?;
            examples::schema_example(&schema.node)
        });
    }
    Some(body)
}

/// Returns the media type to send, if it is not the default of the form.
fn content_type(media: Media, name: &str, notes: &mut Vec<Note>) -> Option<String> {
    let plain = plain(name);
    if media == Media::Xml {
        notes.push(Note::changed("requestBody", "the caller sends the XML body as text"));
    }
    if plain == media.default_media_type() || plain.is_empty() {
        return None;
    }
    if plain.contains('*') {
        if media == Media::Binary {
            notes
                .push(Note::changed("requestBody", format!("'{plain}' is sent as application/octet-stream")));
        }
        return None;
    }
    if media == Media::Multipart || !header::is_media_type(&plain) {
        let default = media.default_media_type();
        notes.push(Note::changed(
            "requestBody",
            format!("'{plain}' cannot be sent; the body is sent as {default}"),
        ));
        return None;
    }
    Some(plain)
}

fn unused<'n>(others: impl Iterator<Item = &'n String>, name: &str, notes: &mut Vec<Note>) {
    let others: Vec<&str> = others.map(String::as_str).collect();
    if !others.is_empty() {
        let what = format!("the body is sent as {name}, not as {}", others.join(", "));
        notes.push(Note::changed("requestBody", what));
    }
}

/// Reads the body of Swagger 2.0, which is one parameter in `body` or several in `formData`.
fn swagger(
    cx: &Context<'_>,
    declared: &[LocatedValue<'_>],
    operation: &Value,
    light: bool,
    notes: &mut Vec<Note>,
) -> Option<OpenApiBody> {
    let at = |location: &'static str| {
        declared.iter().filter(move |param| word(&param.node, "in") == Some(location))
    };
    let own: Option<Vec<String>> = operation
        .get("consumes")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    let consumes = own.unwrap_or_else(|| cx.consumes.to_vec());
    if let Some(param) = at("body").next() {
        let name = consumes.iter().min_by_key(|name| Media::of(name)).cloned().unwrap_or_default();
        unused(consumes.iter().filter(|other| **other != name), &name, notes);
        // A form would be in `formData`, so a form in `consumes` is ignored for a parameter in `body`.
        let media = match Media::of(&name) {
            Media::Form | Media::Multipart => Media::Json,
            media => media,
        };
        let content = MediaContent {
            media,
            content_type: if media == Media::of(&name) { content_type(media, &name, notes) } else { None },
            schema: param.node.get("schema"),
            encoding: None,
            base: &param.base,
            required: param.node.get("required") == Some(&Value::Bool(true)),
            description: word(&param.node, "description"),
            light,
        };
        let mut body = body_params(cx, &content, notes);
        body.example = examples::example_of(cx, &param.node, &param.base).filter(|_| !light);
        return Some(body);
    }
    at("formData").next()?;
    let file = at("formData").any(|param| word(&param.node, "type") == Some("file"));
    let only_multipart = consumes.iter().any(|name| Media::of(name) == Media::Multipart)
        && !consumes.iter().any(|name| Media::of(name) == Media::Form);
    let media = if file || only_multipart { Media::Multipart } else { Media::Form };
    let drafts = at("formData").filter_map(|param| {
        let name = word(&param.node, "name")?;
        let schema = if light { Value::Null } else { Value::clone(&param.node) };
        let mut draft = UnwrittenParam::new(name, ParamLocation::Body, schema, &param.base);
        draft.required = param.node.get("required") == Some(&Value::Bool(true));
        draft.description = word(&param.node, "description").map(str::to_owned);
        draft.style = style(cx, &param.node, &param.node, ParamLocation::Body, name, notes);
        draft.example = examples::example_of(cx, &param.node, &param.base);
        if word(&param.node, "type") == Some("file") {
            draft.file = FileParam::One;
        }
        Some(draft)
    });
    let drafts = drafts.collect();
    Some(OpenApiBody { form: media.form(), content_type: None, drafts, whole: false, example: None })
}

/// Returns the body with its parameters, for the chosen media type.
fn body_params(cx: &Context<'_>, content: &MediaContent<'_>, notes: &mut Vec<Note>) -> OpenApiBody {
    let mut body = OpenApiBody {
        form: content.media.form(),
        content_type: content.content_type.clone(),
        drafts: Vec::new(),
        whole: false,
        example: None,
    };
    let schema = match content.media.form() {
        BodyForm::Text => Some(json!({"type": "string"})),
        BodyForm::Binary => Some(json!({"type": "string", "format": "byte"})),
        _ => None,
    };
    if schema.is_none()
        && let Some((drafts, whole)) = fields(cx, content, notes)
    {
        for key in &whole.lost {
            notes.push(Note::lost("requestBody", format!("'{key}' is checked only by the API")));
        }
        if whole.additional == AdditionalFields::Open && content.media.form() == BodyForm::Json {
            notes.push(Note::lost("requestBody", "additional fields cannot be sent"));
        }
        body.drafts = drafts;
        return body;
    }
    let schema = schema.or_else(|| content.schema.cloned()).unwrap_or_else(|| json!({}));
    let schema = if content.light { Value::Null } else { schema };
    let draft = UnwrittenParam::new("body", ParamLocation::Body, schema, content.base);
    let description = content.description.map(str::to_owned);
    body.drafts.push(UnwrittenParam { required: content.required, description, ..draft });
    body.whole = true;
    body
}

/// Returns the parameters of a body that is an object with named fields.
fn fields(
    cx: &Context<'_>,
    content: &MediaContent<'_>,
    notes: &mut Vec<Note>,
) -> Option<(Vec<UnwrittenParam>, ObjectShape)> {
    let mut drafts: Vec<UnwrittenParam> = Vec::new();
    let mut named = false;
    let whole = shape(cx.refs, content.schema?, content.base, &mut |name, schema, base| {
        named = true;
        let is_read_only = schema.get("readOnly") == Some(&Value::Bool(true));
        drafts.retain(|draft| draft.wire != name);
        if !is_read_only {
            let is_choice = is_choice(schema);
            let schema = if content.light { Value::Null } else { schema.clone() };
            let draft = UnwrittenParam::new(name, ParamLocation::Body, schema, base);
            drafts.push(UnwrittenParam { is_choice, ..draft });
        }
    })?;
    if !named || matches!(whole.additional, AdditionalFields::Like(..)) {
        return None;
    }
    for draft in &mut drafts {
        let listed =
            whole.required.contains(&draft.wire) || whole.discriminator.as_ref() == Some(&draft.wire);
        draft.required = content.required && listed;
        if content.light {
            continue;
        }
        let encoding = content.encoding.and_then(|encoding| encoding.get(&draft.wire));
        match content.media.form() {
            BodyForm::Form => {
                let default = json!({});
                let encoding = encoding.unwrap_or(&default);
                draft.style = match is_json_field(encoding) && is_structured(cx, &draft.schema) {
                    true => ParamStyle { form: StyleForm::Json, explode: false, reserved: false },
                    false => style(cx, encoding, &draft.schema, ParamLocation::Body, &draft.wire, notes),
                };
            }
            BodyForm::Multipart => part(cx, draft, encoding, notes),
            _ => draft.style = ParamStyle::default_for(ParamLocation::Body),
        }
        draft.example = examples::schema_example(&draft.schema);
    }
    Some((drafts, whole))
}

/// Whether a field of a form is JSON text. `contentType` counts only if there is no style.
fn is_json_field(encoding: &Value) -> bool {
    let styled = ["style", "explode", "allowReserved"].iter().any(|key| encoding.get(key).is_some());
    !styled && word(encoding, "contentType").is_some_and(is_json)
}

/// Reads a part of a multipart body: a file or a field.
fn part(cx: &Context<'_>, draft: &mut UnwrittenParam, encoding: Option<&Value>, notes: &mut Vec<Note>) {
    let content_type = encoding.and_then(|encoding| word(encoding, "contentType"));
    let schema = locate_value(cx, &draft.schema, &draft.base);
    let (mut file, mut encoded) = (FileParam::No, false);
    if let Some(schema) = &schema {
        let items = schema.node.get("items").and_then(|items| locate_value(cx, items, &schema.base));
        if is_file(&schema.node, content_type) {
            file = FileParam::One;
        } else if items.is_some_and(|items| is_file(&items.node, content_type)) {
            file = FileParam::Many;
        }
        encoded = word(&schema.node, "format") == Some("byte");
    }
    draft.file = file;
    if file == FileParam::No && encoded {
        // The API expects base64 text, not the decoded bytes.
        draft.schema = json!({"type": "string", "description": schema_text(&schema, "description")});
    }
    let lost_type = content_type.filter(|kind| {
        file == FileParam::No && !matches!(plain(kind).as_str(), "text/plain" | "application/json")
    });
    if let Some(kind) = lost_type {
        notes.push(Note::lost(&draft.wire, format!("the media type '{kind}' of the part")));
    }
}

fn schema_text(schema: &Option<LocatedValue<'_>>, key: &str) -> String {
    schema.as_ref().and_then(|schema| word(&schema.node, key)).unwrap_or_default().to_owned()
}

fn is_file(schema: &Value, content_type: Option<&str>) -> bool {
    let text = schema.get("type").is_none_or(|kind| kind == "string" || kind == "file");
    let binary =
        matches!(word(schema, "format"), Some("binary" | "file")) || word(schema, "type") == Some("file");
    let media = word(schema, "contentMediaType").is_some() && schema.get("contentEncoding").is_none();
    let composed =
        ["properties", "allOf", "oneOf", "anyOf", "$ref", "enum"].iter().any(|key| schema.get(key).is_some());
    let encoded = content_type.is_some_and(|kind| {
        kind.split(',').map(plain).all(|kind| {
            !kind.starts_with("text/plain") && !kind.contains("json") && !kind.contains("urlencoded")
        })
    });
    text && !composed && (binary || media || (encoded && word(schema, "format") != Some("byte")))
}
