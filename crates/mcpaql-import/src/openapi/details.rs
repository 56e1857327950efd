//! Reads the details of an operation: everything that its head does not have.
//!
//! What always holds: no operation makes this fail or panic, and everything that is changed or left out is noted. Parameters
//! have distinct valid names, the same in the outline and in the details. A default in the document is never sent, because it
//! describes what the API assumes if the parameter is missing.

#[cfg(test)]
mod tests;

use super::answer::{self, AnswerCache, Response};
use super::body::{self, OpenApiBody};
use super::document::escaped;
use super::params::{self, FileParam, UnwrittenParam};
use super::refs::Refs;
use super::schema::{SchemaWriter, WrittenTypes};
use super::text::shorten;
use super::type_names::TypeNames;
use super::{examples, names, pagination};
use crate::report::Note;
use indexmap::IndexMap;
use mcpaql_core::library::{AnswerOutline, Outline, ParamOutline};
use mcpaql_core::operation::{
    Binding, BodyForm, Example, Operation, Pagination, Param, ParamLocation, Returns, Segment,
};
use serde_json::{Map, Value, json};

/// The version of OpenAPI that a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// Swagger 2.0.
    V2,
    /// OpenAPI 3.0.
    V30,
    /// OpenAPI 3.1.
    V31,
    /// OpenAPI 3.2.
    V32,
}

impl Version {
    /// Whether keywords next to a `$ref` have a meaning.
    pub(super) fn has_siblings(self) -> bool {
        self >= Version::V31
    }
}

/// The parts of a document that are needed to read any of its operations.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Resolves references.
    pub(crate) refs: &'a dyn Refs,
    /// The names of types.
    pub(crate) types: &'a TypeNames,
    /// The document's version.
    pub(crate) version: Version,
    /// The id of the operation's document; "" is the main document.
    pub(crate) base: &'a str,
    /// `consumes` of the document (Swagger 2.0).
    pub(crate) consumes: &'a [String],
    /// Locations and names of the API keys of all security schemes. They are not parameters of operations.
    pub(crate) credentials: &'a [(ParamLocation, String)],
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("version", &self.version)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// Everything that the head of an operation does not have.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    /// The path, with the names of parameters as placeholders.
    pub(crate) path: Vec<Segment>,
    /// The parameters, in the order path, query, headers, cookies, body.
    pub(crate) params: Vec<Param>,
    /// The answer.
    pub(crate) returns: Option<Returns>,
    /// The example in the document, at most one.
    pub(crate) examples: Vec<Example>,
    /// How answers are split into pages.
    pub(crate) pagination: Option<Pagination>,
    /// The form of the body.
    pub(crate) body: BodyForm,
    /// The media type of the body, if it is not the default of its form.
    pub(crate) content_type: Option<String>,
    /// The parameter that is the whole body.
    pub(crate) body_param: Option<String>,
    /// All types that the schemas refer to; types that are far away have no content.
    pub(crate) types: IndexMap<String, Value>,
    /// What was changed or left out.
    pub(crate) notes: Vec<Note>,
}

/// The parameters of an operation with their names, before their schemas are written.
struct NamedParams {
    drafts: Vec<UnwrittenParam>,
    names: Vec<String>,
    body: Option<OpenApiBody>,
}

impl NamedParams {
    /// Whether the document has example values for a call.
    fn has_example(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.example.is_some())
            || self.drafts.iter().any(|draft| draft.required && draft.example.is_some())
    }
}

/// Reads the details of one operation; `path_params` are the parameters of its path item.
#[must_use]
pub(crate) fn details(
    cx: &Context<'_>,
    head: &Operation,
    path_params: &[Value],
    operation: &Value,
) -> Details {
    let mut notes = Vec::new();
    let drafted = named_params(cx, head, path_params, operation, false, &mut notes);
    let mut writer = SchemaWriter::new(cx);
    writer.notes = notes;
    read(cx, head, operation, drafted, &mut writer)
}

/// Reads the details of one of many operations. Its types go to `written`, once for all operations, and not to `types`. An
/// operation with examples has its own types, because examples are validated against them.
pub(super) fn details_sharing(
    cx: &Context<'_>,
    head: &Operation,
    path_params: &[Value],
    operation: &Value,
    written: &mut WrittenTypes,
) -> Details {
    let mut notes = Vec::new();
    let drafted = named_params(cx, head, path_params, operation, false, &mut notes);
    let mut writer = match drafted.has_example() {
        true => SchemaWriter::new(cx),
        false => SchemaWriter::with_shared_types(cx, written),
    };
    writer.notes = notes;
    let details = read(cx, head, operation, drafted, &mut writer);
    writer.return_shared_types(written);
    details
}

fn read(
    cx: &Context<'_>,
    head: &Operation,
    operation: &Value,
    drafted: NamedParams,
    writer: &mut SchemaWriter<'_>,
) -> Details {
    let NamedParams { drafts, names, body } = drafted;
    let params: Vec<Param> =
        drafts.iter().zip(&names).map(|(draft, name)| param(writer, draft, name)).collect();
    writer.place = "requestBody".to_owned();
    writer.finish();
    let whole = body.as_ref().is_some_and(|body| body.whole);
    let example = body.as_ref().and_then(|body| body.example.as_ref());
    let examples = examples::call(&drafts, &params, example, whole, &writer.types);
    let examples = examples::keep_valid(head, &params, examples, &writer.types);
    let response = answer::response(cx, operation);
    let seen = response
        .as_ref()
        .and_then(|response| response.schema.as_ref())
        .map(|(schema, base)| answer::answer_layout(cx, schema, base))
        .unwrap_or_default();
    let link = response.as_ref().is_some_and(|response| response.link);
    let pagination = pagination::pages(head, &params, &seen, link);
    let returns = response.and_then(|response| returns(writer, response));
    let body_param = names.last().filter(|_| whole).cloned();
    Details {
        path: path(head, &drafts, &names),
        params,
        returns,
        examples,
        pagination,
        body: body.as_ref().map_or(BodyForm::Json, |body| body.form),
        content_type: body.and_then(|body| body.content_type),
        body_param,
        types: std::mem::take(&mut writer.types),
        notes: std::mem::take(&mut writer.notes),
    }
}

/// Returns the outline of an operation, which has only names, for discovery.
#[must_use]
pub(super) fn outline(
    cx: &Context<'_>,
    head: &Operation,
    path_params: &[Value],
    operation: &Value,
    answers: &AnswerCache,
) -> Outline {
    let NamedParams { drafts, names, .. } =
        named_params(cx, head, path_params, operation, true, &mut Vec::new());
    let params = drafts.iter().zip(names).map(|(draft, name)| ParamOutline {
        name,
        required: draft.required,
        in_path: draft.location == ParamLocation::Path,
        is_choice: draft.is_choice,
    });
    let answer = answer::response(cx, operation)
        .and_then(|response| response.schema)
        .map(|(schema, base)| answers.outline(cx, &schema, &base))
        .filter(|outline| *outline != AnswerOutline::default());
    Outline { params: params.collect(), answer }
}

/// Returns the type of this name, if it is a component of the main document.
#[must_use]
pub(crate) fn type_named(cx: &Context<'_>, name: &str) -> Option<Value> {
    let (component, input) = cx.types.component(name)?;
    let escaped = escaped(component);
    let section = if cx.version == Version::V2 { "#/definitions/" } else { "#/components/schemas/" };
    let target = cx.refs.resolve("", &format!("{section}{escaped}"))?;
    let mut writer = SchemaWriter::new(cx);
    if !input {
        writer.side = super::schema::Side::Answer;
    }
    Some(writer.body(&target))
}

fn named_params(
    cx: &Context<'_>,
    head: &Operation,
    path_params: &[Value],
    operation: &Value,
    light: bool,
    notes: &mut Vec<Note>,
) -> NamedParams {
    let declared = params::declared(cx, path_params, operation, notes);
    let mut drafts = params::read(cx, head, &declared, light, notes);
    let mut body = body::read(cx, head, &declared, operation, light, notes);
    drafts.extend(body.as_mut().map(|body| std::mem::take(&mut body.drafts)).unwrap_or_default());
    let names = names::assign(drafts.iter().map(|draft| (draft.location, draft.wire.as_str())));
    NamedParams { drafts, names, body }
}

pub(crate) fn param(writer: &mut SchemaWriter<'_>, draft: &UnwrittenParam, name: &str) -> Param {
    writer.place.clone_from(&draft.wire);
    let mut schema = match draft.file {
        FileParam::No => writer.schema(&draft.schema, &draft.base),
        FileParam::One => file(),
        FileParam::Many => json!({"type": "array", "items": file()}),
    };
    let mut take = |key: &str| schema.as_object_mut().and_then(|schema| schema.shift_remove(key));
    let own = take("description");
    let default = take("default");
    let deprecated = take("deprecated").is_some() || draft.deprecated;
    let text = draft.description.as_deref().filter(|text| !text.trim().is_empty());
    let text = text
        .or(draft.schema.get("description").and_then(Value::as_str))
        .or(own.as_ref().and_then(Value::as_str));
    let mut description = shorten(text.unwrap_or_default(), writer.texts.param);
    if deprecated && !description.to_ascii_lowercase().contains("deprecated") {
        description = format!("Deprecated. {description}").trim_end().to_owned();
    }
    let mut param = Param::new(name, draft.location, Value::Null);
    param.sensitive = is_secret(name, &schema);
    param.api_default = default.filter(|default| !default.is_null() && !param.sensitive);
    param.wire.clone_from(&draft.wire);
    param.required = draft.required;
    param.description = description;
    param.schema = schema;
    param.style = draft.style;
    param
}

/// Returns the schema of a file: base64, or an object with base64, name and media type.
fn file() -> Value {
    let bytes = json!({"type": "string", "format": "byte"});
    json!({"anyOf": [bytes, {
        "type": "object",
        "properties": {"data": bytes, "filename": {"type": "string"}, "content_type": {"type": "string"}},
        "required": ["data"]
    }]})
}

/// Whether values must not be logged or echoed.
fn is_secret(name: &str, schema: &Value) -> bool {
    const NAMES: [&str; 9] = [
        "password",
        "passphrase",
        "client_secret",
        "private_key",
        "secret_key",
        "secret",
        "access_token",
        "oauth_token",
        "api_key",
    ];
    let text = schema.get("type").is_some_and(|kind| kind == "string") && schema.get("enum").is_none();
    let named = NAMES
        .iter()
        .any(|word| name == *word || name.strip_suffix(word).is_some_and(|head| head.ends_with('_')));
    schema.get("format").is_some_and(|format| format == "password") || (text && named)
}

fn returns(writer: &mut SchemaWriter<'_>, response: Response) -> Option<Returns> {
    let (schema, base) = response.schema?;
    writer.place = "responses".to_owned();
    writer.start_answer();
    let mut schema = writer.schema(&schema, &base);
    writer.finish();
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("description");
    }
    let empty = schema.as_object().is_some_and(Map::is_empty) && response.description.is_empty();
    (!empty).then_some(Returns { schema, description: response.description })
}

fn path(head: &Operation, drafts: &[UnwrittenParam], names: &[String]) -> Vec<Segment> {
    let Binding::Http(http) = &head.binding else { return Vec::new() };
    let in_path = || drafts.iter().zip(names).filter(|(draft, _)| draft.location == ParamLocation::Path);
    let name_of = |placeholder: &str| {
        let exact = in_path().find(|(draft, _)| draft.wire == placeholder);
        exact
            .or_else(|| in_path().find(|(draft, _)| params::is_same_name(placeholder, &draft.wire)))
            .map(|(_, name)| name.clone())
    };
    http.path
        .iter()
        .map(|segment| match segment {
            Segment::Param(placeholder) => {
                Segment::Param(name_of(placeholder).unwrap_or_else(|| placeholder.clone()))
            }
            literal => literal.clone(),
        })
        .collect()
}
