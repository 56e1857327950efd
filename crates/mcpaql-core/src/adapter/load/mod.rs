//! value → `Adapter`: both forms of the document, every problem collected.
//!
//! The element form has `name`, `target`, `operations`; the generator form has `schema_version`, `adapter`, `endpoints`. They
//! share everything below an operation, so a key that means something in one form means the same in the other.

mod binding;
mod dialect;
mod operation;
mod params;
mod profile;
mod secrets;
mod target;

use crate::adapter::{Adapter, Auth, ErrorPolicy, Mode, Target, ToolNames, store_operations};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Code;
use crate::operation::{Category, Operation};
use crate::policy::{self, HintOverrides, Policy};
use crate::reader::{self, Object, Reader, child};
use crate::suggest;
use indexmap::IndexMap;
use operation::Setting;
use serde_json::Value;
use std::collections::HashSet;

pub(crate) use binding::introspect_params;
pub(crate) use operation::title_of;

const ELEMENT_KEYS: &[&str] = &[
    "name",
    "type",
    "version",
    "description",
    "display_name",
    "target",
    "auth",
    "operations",
    "types",
    "tool_names",
    "mode",
    "endpoints",
    "profile",
    "policy",
    "annotations",
    "errors",
    "trust",
    "rate_limits",
    "author",
    "tags",
    "triggers",
    "created",
    "modified",
    "license",
    "homepage",
];
const GENERATOR_KEYS: &[&str] = &[
    "schema_version",
    "adapter",
    "auth",
    "endpoints",
    "types",
    "tool_names",
    "mode",
    "policy",
    "annotations",
    "errors",
    "trust",
    "rate_limits",
];
const ADAPTER_KEYS: &[&str] = &[
    "name",
    "display_name",
    "version",
    "description",
    "target_api",
    "author",
    "tags",
    "license",
    "homepage",
];
const SCHEMA_VERSIONS: &[&str] = &["1.0"];
const NOT_YET: &[(&str, &str)] = &[
    ("trust", "trust is granted by the operator, not claimed by a document"),
    ("rate_limits", "calls are not counted"),
];

/// The outcome of loading.
#[derive(Debug)]
pub struct Loaded {
    /// The adapter, unless the document is too broken to name one or its target.
    pub adapter: Option<Adapter>,
    /// Every problem, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Operation name → its pointer in the document.
    pub origins: IndexMap<String, String>,
}

impl Loaded {
    /// Whether anything is wrong enough to be an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Loads a document from its untyped value.
#[must_use]
pub fn load(value: &Value) -> Loaded {
    let mut reader = Reader::default();
    let mut origins = IndexMap::new();
    let adapter = reader.object(value, "").and_then(|document| {
        secrets::scan(&mut reader, value);
        if document.get("schema_version").is_some() || document.get("adapter").is_some() {
            generator_form(&mut reader, &document, &mut origins)
        } else {
            element_form(&mut reader, &document, &mut origins)
        }
    });
    let mut diagnostics = reader.diagnostics;
    // A credential may be found by its key and by its shape.
    diagnostics.dedup_by(|b, a| a.code == b.code && a.pointer == b.pointer);
    Loaded { adapter, diagnostics, origins }
}

fn element_form(
    reader: &mut Reader,
    document: &Object<'_>,
    origins: &mut IndexMap<String, String>,
) -> Option<Adapter> {
    reader.known(document, ELEMENT_KEYS);
    match document.get("type") {
        None => reader.missing(document, "type", "adapter"),
        Some(Value::String(kind)) if kind == "adapter" => {}
        Some(other) => reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                document.at("type"),
                "This is not an adapter document",
            )
            .expected("adapter")
            .found(reader::short(other)),
        ),
    }
    let identity = identity(reader, document);
    let types = types(reader, document);
    let target = target::read(reader, document, "target", &type_names(&types));
    let auth = target::auth(reader, document);
    let operations =
        document.get("operations").map(|_| ()).and_then(|()| reader.member(document, "operations"));
    if document.get("operations").is_none() && !matches!(target, Some(Target::Store(_))) {
        reader.missing(
            document,
            "operations",
            "operations by category: create, read, update, delete, execute",
        );
    }
    let body = Body { types, target: target?, auth, operations };
    let profile_source = document.get("endpoints").is_some().then_some(document);
    assemble(reader, document, identity?, body, profile_source, origins)
}

fn generator_form(
    reader: &mut Reader,
    document: &Object<'_>,
    origins: &mut IndexMap<String, String>,
) -> Option<Adapter> {
    reader.known(document, GENERATOR_KEYS);
    match document.get("schema_version") {
        None => reader.missing(document, "schema_version", "'1.0'"),
        Some(Value::String(version)) if SCHEMA_VERSIONS.contains(&version.as_str()) => {}
        Some(Value::String(version)) => reader.push(
            Diagnostic::error(
                Code::SchemaVersionUnsupported,
                document.at("schema_version"),
                format!("Schema version '{version}' is not supported"),
            )
            .expected(SCHEMA_VERSIONS.join(", "))
            .found(version.as_str())
            .suggest("write `schema_version: '1.0'`"),
        ),
        Some(other) => reader.wrong_type(&document.at("schema_version"), "string", other),
    }
    if document.get("adapter").is_none() {
        reader.missing(document, "adapter", "name, display_name, version, description, target_api");
    }
    let adapter = reader.member(document, "adapter")?;
    reader.known(&adapter, ADAPTER_KEYS);
    let identity = identity(reader, &adapter);
    let types = types(reader, document);
    let target = target::read(reader, &adapter, "target_api", &type_names(&types));
    let auth = target::auth(reader, document);
    if document.get("endpoints").is_none() {
        reader.missing(
            document,
            "endpoints",
            "operations by endpoint: create, read, update, delete, execute",
        );
    }
    let operations = reader.member(document, "endpoints");
    let body = Body { types, target: target?, auth, operations };
    assemble(reader, document, identity?, body, None, origins)
}

struct Identity {
    name: String,
    display_name: String,
    version: String,
    description: String,
    tags: Vec<String>,
}

fn identity(reader: &mut Reader, object: &Object<'_>) -> Option<Identity> {
    let name = reader.required_string(object, "name");
    let version = reader.required_string(object, "version");
    let description = reader.required_string(object, "description");
    if let Some(version) = &version
        && semver::Version::parse(version).is_err()
    {
        let dots = version.matches('.').count();
        let better = match dots {
            0 => format!("{version}.0.0"),
            1 => format!("{version}.0"),
            _ => "1.0.0".into(),
        };
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.at("version"),
                format!("Version '{version}' is not a semantic version"),
            )
            .expected("MAJOR.MINOR.PATCH")
            .found(version.as_str())
            .suggest(format!("write `version: \"{better}\"`")),
        );
    }
    let name = adapter_name(reader, object, &name?)?;
    Some(Identity {
        display_name: reader.string(object, "display_name").unwrap_or_else(|| title_of(&name)),
        name,
        version: version.unwrap_or_else(|| "0.0.0".into()),
        description: description.unwrap_or_default(),
        tags: reader.strings(object, "tags"),
    })
}

fn adapter_name(reader: &mut Reader, object: &Object<'_>, name: &str) -> Option<String> {
    let legal = name.len() >= 2
        && name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with(['-', '_'])
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte));
    let branded = suggest::snake_case(name).split('_').any(|word| word == "mcpaql");
    if legal && !branded {
        return Some(name.to_owned());
    }
    let message = if branded {
        format!("Adapter name '{name}' holds the word that separates adapter and endpoint in tool names")
    } else {
        format!("Adapter name '{name}' is not a legal name")
    };
    let better = suggest::snake_case(name).replace("mcpaql", "").replace('_', "-");
    let better = better.trim_matches('-');
    let mut diagnostic = Diagnostic::error(Code::SchemaInvalidName, object.at("name"), message)
        .expected("2 to 64 lower case letters, digits and hyphens, beginning with a letter, without `mcpaql`")
        .found(name);
    if better.len() >= 2 {
        diagnostic = diagnostic.suggest(format!("write `name: {better}`"));
    }
    reader.push(diagnostic);
    None
}

/// `types` as a map of schemas, or the generator's list of `{name, fields: […]}`.
fn types(reader: &mut Reader, document: &Object<'_>) -> IndexMap<String, Value> {
    let pointer = document.at("types");
    let mut sources: Vec<(String, Value, String)> = Vec::new();
    match document.get("types") {
        None => {}
        Some(Value::Object(map)) => {
            for (name, value) in map {
                sources.push((name.clone(), value.clone(), child(&pointer, name)));
            }
        }
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let Some(object) = reader.object(item, &child(&pointer, index)) else { continue };
                reader.known(&object, &["name", "fields", "description"]);
                let Some(name) = reader.required_string(&object, "name") else { continue };
                if sources.iter().any(|(other, _, _)| *other == name) {
                    reader.push(Diagnostic::error(
                        Code::SchemaDuplicateName,
                        object.at("name"),
                        format!("Type '{name}' is declared twice"),
                    ));
                    continue;
                }
                sources.push((name, fields_as_properties(reader, &object), object.at("fields")));
            }
        }
        Some(other) => reader.wrong_type(&pointer, "object", other),
    }
    let names: Vec<String> = sources.iter().map(|(name, _, _)| name.clone()).collect();
    sources
        .into_iter()
        .map(|(name, value, pointer)| {
            let schema = dialect::schema(reader, &value, &pointer, &names);
            (name, schema)
        })
        .collect()
}

/// `fields: [{name, type, required}]` as an object schema.
fn fields_as_properties(reader: &mut Reader, object: &Object<'_>) -> Value {
    let mut properties = serde_json::Map::new();
    for (index, field) in reader.array(object, "fields").unwrap_or_default().iter().enumerate() {
        let Some(field) = reader.object(field, &child(&object.at("fields"), index)) else { continue };
        let Some(name) = reader.required_string(&field, "name") else { continue };
        let schema: serde_json::Map<String, Value> =
            field.map.iter().filter(|(key, _)| *key != "name").map(|(k, v)| (k.clone(), v.clone())).collect();
        properties.insert(name, Value::Object(schema));
    }
    let mut schema = serde_json::Map::new();
    schema.insert("type".into(), "object".into());
    if let Some(description) = object.get("description") {
        schema.insert("description".into(), description.clone());
    }
    schema.insert("properties".into(), Value::Object(properties));
    Value::Object(schema)
}

fn type_names(types: &IndexMap<String, Value>) -> Vec<String> {
    types.keys().cloned().collect()
}

struct Body<'a> {
    types: IndexMap<String, Value>,
    target: Target,
    auth: Auth,
    operations: Option<Object<'a>>,
}

/// What both forms have in common.
fn assemble(
    reader: &mut Reader,
    document: &Object<'_>,
    identity: Identity,
    body: Body<'_>,
    profile_source: Option<&Object<'_>>,
    origins: &mut IndexMap<String, String>,
) -> Option<Adapter> {
    reader.not_yet(document, NOT_YET);
    let mut operations = Vec::new();
    if let Target::Store(store) = &body.target {
        for (name, resource) in &store.resources {
            for operation in store_operations::operations(name, resource) {
                origins.insert(operation.name.clone(), format!("/target/resources/{name}"));
                operations.push(operation);
            }
        }
    }
    if let Some(object) = &body.operations {
        let setting = Setting { types: &type_names(&body.types), target: &body.target };
        read_operations(reader, object, &setting, &mut operations, origins);
    }
    let profile = profile_source.and_then(|source| profile::read(reader, source, &operations));
    let names = policy::policies().map(|policy| policy.name).collect::<Vec<_>>();
    let policy =
        reader.choice(document, "policy", &names, |name| Policy::named(name).map(|policy| policy.name));
    let (hints, endpoint_hints) = annotations(reader, document);
    Some(Adapter {
        name: identity.name,
        display_name: identity.display_name,
        version: identity.version,
        description: identity.description,
        tags: identity.tags,
        tool_names: tool_names(reader, document),
        mode: reader.choice(document, "mode", &Mode::ALL.map(Mode::as_str), Mode::parse),
        policy: policy.map(str::to_owned),
        errors: errors(reader, document),
        types: body.types,
        target: body.target,
        auth: body.auth,
        profile,
        hints,
        endpoint_hints,
        operations,
    })
}

fn read_operations(
    reader: &mut Reader,
    object: &Object<'_>,
    setting: &Setting<'_>,
    operations: &mut Vec<Operation>,
    origins: &mut IndexMap<String, String>,
) {
    fn names(operation: &Operation) -> impl Iterator<Item = &String> {
        std::iter::once(&operation.name).chain(&operation.aliases)
    }
    reader.known(object, &Category::ALL.map(Category::endpoint));
    let mut taken: HashSet<String> = operations.iter().flat_map(names).cloned().collect();
    for category in Category::ALL {
        let Some(items) = reader.array(object, category.endpoint()) else { continue };
        let list = object.at(category.endpoint());
        for (index, item) in items.iter().enumerate() {
            let pointer = child(&list, index);
            let Some(operation) = operation::read(reader, item, &pointer, category, setting) else {
                continue;
            };
            let known = names(&operation).find(|name| taken.contains(*name)).cloned();
            if let Some(name) = known {
                let first = origins.get(&name).map_or(String::new(), |first| {
                    format!(" (first in '{}')", crate::diagnostic::field_path(first))
                });
                reader.push(
                    Diagnostic::error(
                        Code::SchemaDuplicateName,
                        child(&pointer, "name"),
                        format!("Operation '{name}' is defined more than once{first}"),
                    )
                    .found(name)
                    .suggest("operation names are unique over all categories; rename or remove one"),
                );
                continue;
            }
            taken.extend(names(&operation).cloned());
            origins.insert(operation.name.clone(), pointer);
            operations.push(operation);
        }
    }
}

fn tool_names(reader: &mut Reader, document: &Object<'_>) -> ToolNames {
    let Some(object) = reader.member(document, "tool_names") else { return ToolNames::default() };
    reader.known(&object, &["pattern", "prefix", "aliases"]);
    let mut aliases = IndexMap::new();
    if let Some(map) = reader.member(&object, "aliases") {
        for name in map.map.keys() {
            if let Some(stands_for) = reader.string(&map, name) {
                aliases.insert(name.clone(), stands_for);
            }
        }
    }
    ToolNames {
        pattern: reader.string(&object, "pattern"),
        prefix: reader.string(&object, "prefix"),
        aliases,
    }
}

fn annotations(
    reader: &mut Reader,
    document: &Object<'_>,
) -> (HintOverrides, IndexMap<String, HintOverrides>) {
    let hints = operation::hints(reader, document, "annotations", &["endpoints"]);
    let mut by_endpoint = IndexMap::new();
    if let Some(annotations) = document.get("annotations").and_then(Value::as_object) {
        let object = Object { map: annotations, pointer: document.at("annotations") };
        if let Some(endpoints) = reader.member(&object, "endpoints") {
            for endpoint in endpoints.map.keys() {
                by_endpoint.insert(endpoint.clone(), operation::hints(reader, &endpoints, endpoint, &[]));
            }
        }
    }
    (hints, by_endpoint)
}

fn errors(reader: &mut Reader, document: &Object<'_>) -> ErrorPolicy {
    let Some(object) = reader.member(document, "errors") else { return ErrorPolicy::default() };
    reader.known(&object, &["is_error"]);
    let parse = |word: &str| match word {
        "unrecoverable" => Some(ErrorPolicy::Unrecoverable),
        "all" => Some(ErrorPolicy::All),
        _ => None,
    };
    reader.choice(&object, "is_error", &["unrecoverable", "all"], parse).unwrap_or_default()
}
