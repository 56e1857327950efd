//! Reads the parameters of an operation, from a map (`params: {owner: {…}}`) or a list (`params: [{name: owner, …}]`).

use super::dialect::{self, SCHEMA_KEYS};
use super::secrets;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
pub(super) use mcpaql_core::naming::is_snake_case;
use mcpaql_core::operation::{Param, ParamLocation, ParamStyle, StyleForm};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::schema::SchemaSet;
use mcpaql_core::suggest;
use serde_json::{Map, Value};

/// Keys of a parameter, in addition to the keywords of its schema.
pub(super) const PARAM_KEYS: &[&str] =
    &["name", "in", "as", "sensitive", "style", "explode", "allow_reserved", "from", "api_default"];

/// The values of `in`.
pub(super) const LOCATIONS: &[&str] = &["path", "query", "header", "cookie", "body"];

/// A parameter needs at least one of these keys, which define its type.
pub(super) const TYPE_KEYS: &[&str] =
    &["type", "$ref", "ref", "enum", "const", "oneOf", "anyOf", "allOf", "properties", "items"];

/// A parameter whose location is not final: a placeholder in the path can still decide it.
#[derive(Debug)]
pub(super) struct UnplacedParam {
    pub(super) param: Param,
    pub(super) location: Option<ParamLocation>,
    pub(super) pointer: String,
    form: Option<StyleForm>,
    explode: Option<bool>,
    reserved: bool,
}

impl UnplacedParam {
    /// Warns about a style that OpenAPI does not define for this location.
    pub(super) fn check_style(&self, reader: &mut DocumentReader, location: ParamLocation) {
        use StyleForm::{
            DeepObject, Form, Json, Label, Matrix, PipeDelimited, Segments, Simple, SpaceDelimited,
        };
        let fitting: &[StyleForm] = match location {
            ParamLocation::Path => &[Simple, Label, Matrix, Json, Segments],
            ParamLocation::Header => &[Simple, Json],
            ParamLocation::Cookie => &[Form, Json],
            // `simple` stays allowed, because documents use it for comma-separated queries.
            ParamLocation::Query | ParamLocation::Body | ParamLocation::Target => {
                &[Form, SpaceDelimited, PipeDelimited, DeepObject, Json, Simple]
            }
        };
        let Some(form) = self.form.filter(|form| !fitting.contains(form)) else { return };
        let words: Vec<&str> = fitting.iter().map(|form| form.as_str()).collect();
        reader.push(
            Diagnostic::warning(
                Code::SchemaInvalidValue,
                child(&self.pointer, "style"),
                format!(
                    "Parameter '{}' cannot have the style '{}' in this location",
                    self.param.name,
                    form.as_str()
                ),
            )
            .expected_one_of(&words),
        );
    }

    /// Returns the parameter with its final location.
    pub(super) fn finish(mut self, location: ParamLocation) -> Param {
        let fallback = ParamStyle::default_for(location);
        let form = self.form.unwrap_or(fallback.form);
        let explode = self.explode.unwrap_or(matches!(form, StyleForm::Form | StyleForm::DeepObject));
        self.param.location = location;
        self.param.style = ParamStyle { form, explode, reserved: self.reserved };
        self.param
    }
}

/// Reports problems in the schemas of rejected operations, which are not compiled.
pub(super) fn report_schemas(
    reader: &mut DocumentReader,
    drafts: &[UnplacedParam],
    types: &IndexMap<String, Value>,
) {
    if drafts.is_empty() {
        return;
    }
    let (mut schemas, _) = SchemaSet::compile(types);
    for draft in drafts {
        let (_, problems) = schemas.add(&draft.param.schema, &draft.pointer);
        // Unknown keys have already been reported.
        reader
            .diagnostics
            .extend(problems.into_iter().filter(|problem| problem.code != Code::SchemaUnknownField));
    }
}

/// Reads all parameters of an operation.
pub(super) fn read(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    types: &[String],
) -> Vec<UnplacedParam> {
    let pointer = operation.pointer_to("params");
    let mut drafts: Vec<UnplacedParam> = Vec::new();
    match operation.get("params") {
        None => {}
        Some(Value::Object(map)) => {
            for (name, value) in map {
                drafts.extend(param(reader, name, value, child(&pointer, name), types, &|name| {
                    map.contains_key(name)
                }));
            }
        }
        Some(Value::Array(items)) => {
            let taken =
                |name: &str| items.iter().any(|item| item.get("name").and_then(Value::as_str) == Some(name));
            for (index, item) in items.iter().enumerate() {
                let pointer = child(&pointer, index);
                let Some(object) = reader.object(item, &pointer) else { continue };
                let Some(name) = reader.required_string(&object, "name") else { continue };
                if let Some(draft) = param(reader, &name, item, pointer.clone(), types, &taken) {
                    if drafts.iter().any(|other| other.param.name == name) {
                        reader.push(
                            Diagnostic::error(
                                Code::SchemaDuplicateName,
                                object.pointer_to("name"),
                                format!("Parameter '{name}' is declared twice"),
                            )
                            .found(name)
                            .suggest("rename or remove one"),
                        );
                    } else {
                        drafts.push(draft);
                    }
                }
            }
        }
        Some(other) => reader.wrong_type(&pointer, "object", other),
    }
    drafts
}

fn param(
    reader: &mut DocumentReader,
    name: &str,
    value: &Value,
    pointer: String,
    types: &[String],
    taken: &dyn Fn(&str) -> bool,
) -> Option<UnplacedParam> {
    if !is_snake_case(name) {
        let better = better_name(name, taken);
        let hint = better.as_ref().map_or_else(String::new, |better| format!(" (try '{better}')"));
        let mut diagnostic = Diagnostic::error(
            Code::SchemaInvalidName,
            &pointer,
            format!("Parameter name '{name}' must be snake_case{hint}"),
        )
        .at_key()
        .expected("lower case letters, digits and underscores, starting with a letter")
        .found(name);
        if let Some(better) = better {
            diagnostic = diagnostic
                .suggest(format!("rename it to `{better}` and add `as: {name}` to keep the wire name"));
        }
        reader.push(diagnostic);
    }
    if value.is_string() {
        // `owner: string` is short for `owner: {type: string}`.
        let schema = dialect::schema(reader, value, &pointer, types);
        let param = plain(name, schema);
        return Some(UnplacedParam {
            param,
            location: None,
            pointer,
            form: None,
            explode: None,
            reserved: false,
        });
    }
    let object = reader.object(value, &pointer)?;
    let keys: Vec<&str> = SCHEMA_KEYS.iter().chain(PARAM_KEYS).copied().collect();
    reader.check_keys(&object, &keys);
    if !TYPE_KEYS.iter().any(|key| object.get(key).is_some()) {
        reader.missing(&object, "type", "a JSON type or a declared type");
    }
    let mut schema = Value::Object(dialect::keywords(reader, &schema_part(&object).as_object(), types));
    let required = matches!(object.get("required"), Some(Value::Bool(true)));
    let location = reader.choice(&object, "in", LOCATIONS, parse_location);
    let mut param = plain(name, Value::Null);
    param.wire = reader.string(&object, "as").unwrap_or_else(|| name.to_owned());
    param.required = required;
    param.sensitive = reader.boolean(&object, "sensitive").unwrap_or(false);
    param.description = reader.string(&object, "description").unwrap_or_default();
    param.default = object.get("default").cloned();
    param.api_default = object.get("api_default").filter(|default| !default.is_null()).cloned();
    check_defaults(reader, &object, &param);
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("description");
        map.shift_remove("default");
        if param.sensitive {
            map.shift_remove("example");
            map.shift_remove("examples");
        }
    }
    param.schema = schema;
    let form = reader.choice(&object, "style", &StyleForm::ALL.map(StyleForm::as_str), StyleForm::parse);
    let explode = reader.boolean(&object, "explode");
    let reserved = reader.boolean(&object, "allow_reserved").unwrap_or(false);
    param.from = reader.strings(&object, "from");
    Some(UnplacedParam { param, location, pointer, form, explode, reserved })
}

/// Reports a default of a secret, and a parameter with both `default` and `api_default`.
fn check_defaults(reader: &mut DocumentReader, object: &DocumentObject<'_>, param: &Param) {
    for (key, default) in [("default", &param.default), ("api_default", &param.api_default)] {
        if param.sensitive && matches!(default, Some(Value::String(_) | Value::Number(_))) {
            secrets::report_credential(
                reader,
                &object.pointer_to(key),
                "remove the default: the caller sends the secret, or `auth` names the variable with the secret",
            );
        }
    }
    if param.default.is_some() && param.api_default.is_some() {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to("api_default"),
                format!("Parameter '{}' has both 'default' and 'api_default'", param.name),
            )
            .at_key()
            .expected("one of them")
            .suggest("keep `default` to send the value, or `api_default` to document what the API assumes"),
        );
    }
}

struct SchemaPart {
    map: Map<String, Value>,
    pointer: String,
}

impl SchemaPart {
    fn as_object(&self) -> DocumentObject<'_> {
        DocumentObject { map: &self.map, pointer: self.pointer.clone() }
    }
}

/// Returns the parameter without the keys that do not belong to its schema.
fn schema_part(object: &DocumentObject<'_>) -> SchemaPart {
    let map = object
        .map
        .iter()
        .filter(|(key, _)| !PARAM_KEYS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    SchemaPart { map, pointer: object.pointer.clone() }
}

/// Returns a parameter with only a name and a schema.
pub(super) fn plain(name: &str, schema: Value) -> Param {
    Param::new(name, ParamLocation::Query, schema)
}

/// Returns the `snake_case` form of `name`, if it is valid and not taken.
pub(super) fn better_name(name: &str, taken: impl Fn(&str) -> bool) -> Option<String> {
    Some(suggest::snake_case(name)).filter(|better| is_snake_case(better) && !taken(better))
}

pub(super) fn parse_location(word: &str) -> Option<ParamLocation> {
    match word {
        "path" => Some(ParamLocation::Path),
        "query" => Some(ParamLocation::Query),
        "header" => Some(ParamLocation::Header),
        "cookie" => Some(ParamLocation::Cookie),
        "body" => Some(ParamLocation::Body),
        _ => None,
    }
}
