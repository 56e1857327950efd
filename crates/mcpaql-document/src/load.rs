//! Turns the value of a document into an [`Adapter`] and collects all problems.
//!
//! ```
//! use mcpaql_document::{load, source::Source};
//!
//! let text = "{name: shop, type: adapter, version: 1.0.0, description: A shop, target: {base_url: 'https://shop.example'},
//!     operations: {read: [{name: list_items, maps_to: GET /items}]}}";
//! let loaded = load::load(&Source::new("shop.yaml", text).parse().unwrap().value);
//! assert_eq!(loaded.adapter.unwrap().operations[0].name, "list_items");
//! ```
//!
//! A document has one of two forms. The element form has `name`, `target` and `operations`; the generator form has
//! `schema_version`, `adapter` and `endpoints`. Both forms share everything below an operation, so a key means the same in both.

mod address;
mod auth;
mod binding;
mod caller_headers;
mod dialect;
#[cfg(test)]
mod document_schema;
mod exchange;
mod fields;
mod http;
mod identity;
mod lifecycle;
mod mcp;
mod operation;
mod origins;
mod pagination;
mod params;
mod profile;
mod secrets;
mod store_operations;
mod target;
mod targets;
mod texts;
mod types;
mod wire;

use identity::AdapterIdentity;
use indexmap::IndexMap;
use mcpaql_core::adapter::{Adapter, Auth, ErrorPolicy, Mode, ResultForm, TargetConfig, ToolNames};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::operation::{Category, Operation, operation_pointer, param_pointer};
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_core::policy::HintOverrides;
use mcpaql_core::reader::{self, DocumentObject, DocumentReader, child};
use mcpaql_core::suggest;
use operation::OperationContext;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

pub(crate) use auth::read as read_auth;
pub use dialect::SCHEMA_KEYS;
pub(crate) use fields::{answer_budget as read_answer_budget, hidden as read_hidden};
pub(crate) use identity::{adapter_name, shown_name};
pub(crate) use mcp::target as mcp_target;
pub use operation::guard_of;
pub use store_operations::{
    DEFAULT_RECORDS_PAGE_SIZE, MAX_RECORDS_PAGE_SIZE, RECORD_KEYS, is_filter, is_update_param,
    operations as store_operations, search_fields,
};
pub(crate) use targets::{default as default_target, read as load_targets};

/// The JSON Schema of documents, for editors.
pub const DOCUMENT_SCHEMA: &str = include_str!("load/document.schema.json");

pub use origins::Origins;
pub(crate) use secrets::redact;
pub use secrets::{is_credential_name, without_credentials};

const ELEMENT_KEYS: &[&str] = &[
    "name",
    "type",
    "version",
    "description",
    "display_name",
    "target",
    "targets",
    "default_target",
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
    "results",
    "hide",
    "answer_budget",
    "trust",
    "rate_limits",
    "author",
    "tags",
    "triggers",
    "created",
    "modified",
    "license",
    "homepage",
    "$schema",
    "$comment",
];
const GENERATOR_KEYS: &[&str] = &[
    "schema_version",
    "adapter",
    "targets",
    "default_target",
    "auth",
    "endpoints",
    "types",
    "tool_names",
    "mode",
    "policy",
    "annotations",
    "errors",
    "results",
    "hide",
    "answer_budget",
    "trust",
    "rate_limits",
    "$schema",
    "$comment",
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
const LISTED_TYPE_KEYS: &[&str] = &["name", "fields", "description"];
const TOOL_NAME_KEYS: &[&str] = &["pattern", "prefix", "aliases"];
const ERROR_KEYS: &[&str] = &["is_error"];
const SCHEMA_VERSIONS: &[&str] = &["1.0"];
const UNSUPPORTED_KEYS: &[(&str, &str)] =
    &[("rate_limits", "the number of calls is not limited; the operator can limit it with `quotas` in config.yaml")];

/// The result of loading a document.
#[derive(Debug)]
pub struct LoadOutput {
    /// The adapter without the operations that have errors; `None` if the document has an error outside its operations.
    pub adapter: Option<Adapter>,
    /// All problems, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The positions of the adapter's parts in the document.
    pub origins: Origins,
}

impl LoadOutput {
    /// Whether a problem is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Loads a document from its untyped value.
#[must_use]
pub fn load(value: &Value) -> LoadOutput {
    let mut draft = read(value);
    let diagnostics = std::mem::take(&mut draft.diagnostics);
    draft.remove_broken_operations(&diagnostics);
    let is_rejected = diagnostics.iter().any(|diagnostic| draft.is_rejected_by(diagnostic));
    LoadOutput { adapter: draft.adapter.filter(|_| !is_rejected), diagnostics, origins: draft.origins }
}

/// The readable part of a document. A document that cannot be served is still read to its end, so that all its problems are
/// reported at once.
pub(crate) struct DocumentDraft {
    /// The adapter, with placeholders for a missing name and target.
    pub(crate) adapter: Option<Adapter>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) origins: Origins,
    /// The key with the operations: `operations` or `endpoints`.
    operations_key: &'static str,
    /// The names of all operations that the document declares, including those with errors.
    declared: HashSet<String>,
}

impl DocumentDraft {
    /// Whether the problem rejects the whole document. An error inside an operation removes only that operation.
    pub(crate) fn is_rejected_by(&self, problem: &Diagnostic) -> bool {
        problem.severity == Severity::Error && self.operation_at(&problem.pointer).is_none()
    }

    /// Removes the operations with errors. They may do something that their author did not mean.
    pub(crate) fn remove_broken_operations(&mut self, problems: &[Diagnostic]) {
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        let errors = errors.filter(|error| !self.is_demoted_read(error));
        let broken: HashSet<&str> = errors.filter_map(|error| self.operation_at(&error.pointer)).collect();
        if let Some(adapter) = self.adapter.as_mut().filter(|_| !broken.is_empty()) {
            adapter.operations.retain(|operation| {
                !broken.contains(self.origins.resolve(&operation_pointer(&operation.name)).as_str())
            });
        }
    }

    /// Whether the error is about an operation that is listed as a read, but is served as EXECUTE.
    fn is_demoted_read(&self, error: &Diagnostic) -> bool {
        let read = child(&child("", self.operations_key), Category::Read.endpoint());
        let Some(place) = self.operation_at(&error.pointer).filter(|place| place.starts_with(&read)) else {
            return false;
        };
        let is_at =
            |operation: &Operation| self.origins.resolve(&operation_pointer(&operation.name)) == place;
        let demoted = |operation: &Operation| operation.category == Category::Execute && is_at(operation);
        error.pointer == child(place, "name")
            && self.adapter.as_ref().is_some_and(|adapter| adapter.operations.iter().any(demoted))
    }

    /// Removes the old tool names of operations that the document declares but the adapter does not serve: the names are
    /// correct, but no tool has them.
    pub(crate) fn remove_unused_aliases(&self, adapter: &mut Adapter) {
        if adapter.tool_names.aliases.is_empty() {
            return;
        }
        let served: HashSet<&str> = adapter.operations.iter().flat_map(Operation::names).collect();
        let is_used = |name: &String| served.contains(name.as_str()) || !self.declared.contains(name);
        adapter.tool_names.aliases.retain(|_, refers_to| is_used(refers_to));
    }

    /// The part of a pointer that names an operation: `/operations/CATEGORY/INDEX`.
    fn operation_at<'p>(&self, pointer: &'p str) -> Option<&'p str> {
        let mut ends = pointer.match_indices('/').map(|(at, _)| at).chain([pointer.len()]).skip(1);
        let (key, operation) = (ends.next()?, ends.nth(1)?);
        (pointer.get(1..key)? == self.operations_key).then(|| pointer.get(..operation)).flatten()
    }
}

/// Reads a document from its untyped value.
pub(crate) fn read(value: &Value) -> DocumentDraft {
    let mut reader = DocumentReader::default();
    let mut origins = Origins::default();
    let is_generated =
        ["schema_version", "adapter"].iter().any(|key| value.get(key).is_some_and(|one| !one.is_null()));
    let read = reader.object(value, "").map(|document| {
        let form = if is_generated {
            generator_form(&mut reader, &document, &mut origins)
        } else {
            element_form(&mut reader, &document, &mut origins)
        };
        assemble(&mut reader, &document, &form, &mut origins)
    });
    secrets::scan(&mut reader, value);
    let mut diagnostics = reader.diagnostics;
    // A credential can be found by its key and by its pattern. The diagnostic for the key has better advice and comes first.
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| {
        diagnostic.code != Code::SchemaEmbeddedCredential || seen.insert(diagnostic.pointer.clone())
    });
    diagnostics.iter_mut().for_each(secrets::redact);
    let operations_key = if is_generated { "endpoints" } else { "operations" };
    let (adapter, declared) = read.unzip();
    let declared = declared.unwrap_or_default();
    DocumentDraft { adapter, diagnostics, origins, operations_key, declared }
}

/// The parts that the two forms write under different keys.
struct DocumentForm<'a> {
    identity: Option<AdapterIdentity>,
    types: IndexMap<String, Value>,
    target: Option<TargetConfig>,
    /// Pointer to the target.
    target_pointer: String,
    auth: Auth,
    operations: Option<DocumentObject<'a>>,
    /// Whether `endpoints` is a custom profile, as in the element form.
    profile: bool,
}

fn element_form<'a>(
    reader: &mut DocumentReader,
    document: &DocumentObject<'a>,
    origins: &mut Origins,
) -> DocumentForm<'a> {
    reader.check_keys(document, ELEMENT_KEYS);
    match document.get("type") {
        None => reader.missing(document, "type", "adapter"),
        Some(Value::String(kind)) if kind == "adapter" => {}
        Some(other) => reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                document.pointer_to("type"),
                "This is not an adapter document",
            )
            .expected("adapter")
            .found(reader::short_value(other))
            .suggest("write `type: adapter`"),
        ),
    }
    let identity = identity::read(reader, document);
    let types = types::read(reader, document, origins);
    let target = target::read(reader, document, "target", &type_names(&types));
    let name = document.get("name").and_then(Value::as_str);
    let auth = auth::read_of_adapter(reader, document, allows_http(target.as_ref()), name);
    let is_store = |target: &Value| target.get("protocol").is_some_and(|protocol| protocol == "store");
    let written = document.get("target");
    let needs_operations = !written.is_some_and(is_store) && !target::has_unknown_kind(written);
    if document.get("operations").is_none() && needs_operations {
        reader.missing(
            document,
            "operations",
            "operations by category: create, read, update, delete, execute",
        );
    }
    let operations = reader.member(document, "operations");
    let target_pointer = document.pointer_to("target");
    DocumentForm { identity, types, target, target_pointer, auth, operations, profile: true }
}

fn generator_form<'a>(
    reader: &mut DocumentReader,
    document: &DocumentObject<'a>,
    origins: &mut Origins,
) -> DocumentForm<'a> {
    reader.check_keys(document, GENERATOR_KEYS);
    schema_version(reader, document);
    if document.get("adapter").is_none() {
        reader.missing(document, "adapter", "name, display_name, version, description, target_api");
    }
    let adapter = reader.member(document, "adapter");
    if let Some(adapter) = &adapter {
        reader.check_keys(adapter, ADAPTER_KEYS);
    }
    let identity = adapter.as_ref().and_then(|adapter| identity::read(reader, adapter));
    let types = types::read(reader, document, origins);
    let target =
        adapter.as_ref().and_then(|adapter| target::read(reader, adapter, "target_api", &type_names(&types)));
    let name = adapter.as_ref().and_then(|adapter| adapter.get("name")).and_then(Value::as_str);
    let auth = auth::read_of_adapter(reader, document, allows_http(target.as_ref()), name);
    let is_store = matches!(target, Some(TargetConfig::Store(_)));
    let written = adapter.as_ref().and_then(|adapter| adapter.get("target_api"));
    if document.get("endpoints").is_none() && !is_store && !target::has_unknown_kind(written) {
        reader.missing(
            document,
            "endpoints",
            "operations by endpoint: create, read, update, delete, execute",
        );
    }
    let operations = reader.member(document, "endpoints");
    let target_pointer = child(&document.pointer_to("adapter"), "target_api");
    DocumentForm { identity, types, target, target_pointer, auth, operations, profile: false }
}

fn allows_http(target: Option<&TargetConfig>) -> bool {
    matches!(target, Some(TargetConfig::Http(target)) if target.allow_http)
}

fn schema_version(reader: &mut DocumentReader, document: &DocumentObject<'_>) {
    match document.get("schema_version") {
        None => reader.missing(document, "schema_version", "'1.0'"),
        Some(Value::String(version)) if SCHEMA_VERSIONS.contains(&version.as_str()) => {}
        Some(Value::String(version)) => reader.push(
            Diagnostic::error(
                Code::SchemaVersionUnsupported,
                document.pointer_to("schema_version"),
                format!("Schema version '{version}' is not supported"),
            )
            .expected_one_of(SCHEMA_VERSIONS)
            .found(version.as_str())
            .suggest("write `schema_version: '1.0'`"),
        ),
        Some(other) => reader.wrong_type(&document.pointer_to("schema_version"), "string", other),
    }
}

fn type_names(types: &IndexMap<String, Value>) -> Vec<String> {
    types.keys().cloned().collect()
}

/// Reads the parts that both forms have in common, and builds the adapter. Returns the names of all declared operations, too.
fn assemble(
    reader: &mut DocumentReader,
    document: &DocumentObject<'_>,
    form: &DocumentForm<'_>,
    origins: &mut Origins,
) -> (Adapter, HashSet<String>) {
    reader.warn_unsupported_keys(document, UNSUPPORTED_KEYS);
    let target = form.target.clone().unwrap_or_else(|| target::placeholder_target(document));
    let mut operations = Operations::default();
    if let TargetConfig::Store(store) = &target {
        for (name, resource) in &store.resources {
            let pointer = format!("{}/resources/{name}", form.target_pointer);
            for operation in store_operations::operations(name, resource) {
                for field in resource.fields.keys() {
                    origins.note(param_pointer(&operation.name, field), format!("{pointer}/fields/{field}"));
                }
                if operations.claim_names(reader, &operation.name, &[], &pointer, &pointer) {
                    operations.add(operation, &pointer, origins);
                }
            }
        }
    }
    if let Some(object) = &form.operations {
        let context = OperationContext { types: &type_names(&form.types), target: &target };
        let rejected = read_operations(reader, object, &context, &mut operations, origins);
        params::report_schemas(reader, &rejected, &form.types);
        check_producers(reader, &mut operations, origins);
    }
    fields::check_hidden(reader, &operations.list, &form.types, origins);
    let profile = form.profile.then(|| profile::read(reader, document, &mut operations)).flatten();
    // Whether the policy exists is checked later: the configuration can define policies, too.
    let policy = reader.string(document, "policy");
    let families: Vec<&str> =
        profile.iter().flat_map(|profile| profile.families.keys()).map(String::as_str).collect();
    let (hints, endpoint_hints) = annotations(reader, document, &families);
    let identity = form.identity.clone().unwrap_or_else(AdapterIdentity::placeholder);
    let targets = targets::read(reader, document, &target, &form.auth);
    let adapter = Adapter {
        name: identity.name,
        display_name: identity.display_name,
        version: identity.version,
        description: identity.description,
        tags: identity.tags,
        tool_names: tool_names(reader, document),
        mode: reader.choice(document, "mode", &Mode::ALL.map(Mode::as_str), Mode::parse),
        policy,
        errors: errors(reader, document),
        results: reader.choice(document, "results", ResultForm::WORDS, ResultForm::parse),
        hide: fields::hidden(reader, document),
        answer_budget: fields::answer_budget(reader, document),
        trust: reader.choice(document, "trust", &TrustLevel::ALL.map(TrustLevel::as_str), TrustLevel::parse),
        types: form.types.clone(),
        default_target: targets::default(reader, document, &targets),
        targets,
        target,
        auth: form.auth.clone(),
        profile,
        hints,
        endpoint_hints,
        operations: operations.list,
    };
    (adapter, operations.seen.into_keys().collect())
}

/// The operations read so far, and all names, including those of operations that cannot be served.
#[derive(Default)]
struct Operations {
    list: Vec<Operation>,
    /// Name or alias → pointer to its declaration.
    seen: HashMap<String, String>,
    /// Whether an operation declares `lifecycle`, even if it has an error.
    executes: bool,
}

impl Operations {
    /// Registers the names of the operation at `pointer`. Returns `false` and reports the first name that is already taken.
    fn claim_names(
        &mut self,
        reader: &mut DocumentReader,
        name: &str,
        aliases: &[String],
        pointer: &str,
        at: &str,
    ) -> bool {
        let mut names = std::iter::once(name).chain(aliases.iter().map(String::as_str));
        if let Some((name, first)) = names.find_map(|name| self.seen.get(name).map(|first| (name, first))) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaDuplicateName,
                    at,
                    format!(
                        "Operation '{name}' is defined more than once (first in '{}')",
                        mcpaql_core::diagnostic::field_path(first)
                    ),
                )
                .expected("a unique name")
                .found(name)
                .suggest("operation names must be unique across all categories; rename or remove one"),
            );
            return false;
        }
        for name in std::iter::once(name).chain(aliases.iter().map(String::as_str)) {
            self.seen.insert(name.to_owned(), pointer.to_owned());
        }
        true
    }

    fn add(&mut self, operation: Operation, pointer: &str, origins: &mut Origins) {
        origins.note(operation_pointer(&operation.name), pointer);
        self.list.push(operation);
    }
}

/// Reads the operations. Returns the parameters of operations that are not served: these are never compiled, so their
/// schemas must be checked separately.
fn read_operations(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    context: &OperationContext<'_>,
    operations: &mut Operations,
    origins: &mut Origins,
) -> Vec<params::UnplacedParam> {
    let mut rejected = Vec::new();
    reader.check_keys(object, &Category::ALL.map(Category::endpoint));
    for category in Category::ALL {
        let Some(items) = reader.array(object, category.endpoint()) else { continue };
        let list = object.pointer_to(category.endpoint());
        for (index, item) in items.iter().enumerate() {
            let pointer = child(&list, index);
            let before = reader.diagnostics.len();
            let read = operation::read(reader, item, &pointer, category, context, origins);
            operations.executes |=
                item.get("lifecycle").is_some_and(|lifecycle| *lifecycle != Value::Bool(false));
            let name = item.get("name").and_then(Value::as_str);
            let aliases = read.as_ref().map(|read| read.operation.aliases.clone()).unwrap_or_default();
            let is_valid = !reader.has_errors_since(before);
            let is_unique = name.is_some_and(|name| {
                operations.claim_names(reader, name, &aliases, &pointer, &child(&pointer, "name"))
            });
            // An operation with an error may do something that its author did not mean. It is not served; the others are.
            if let (Some(read), true, true) = (read, is_valid, is_unique) {
                operations.add(read.operation, &pointer, origins);
                // The error of a write under `read` does not withhold the operation: it is served as EXECUTE.
                reader.diagnostics.extend(read.contradiction);
            } else if let Some(map) = item.as_object() {
                // Read again only for the schemas; other problems have already been reported.
                let object = DocumentObject { map, pointer };
                rejected.extend(params::read(&mut DocumentReader::default(), &object, context.types));
            }
        }
    }
    rejected
}

/// Reports and removes names in `from` of parameters that are not operations of this document.
fn check_producers(reader: &mut DocumentReader, operations: &mut Operations, origins: &Origins) {
    let Operations { list, seen, .. } = operations;
    for operation in list {
        for param in operation.params.iter_mut().filter(|param| !param.from.is_empty()) {
            let pointer = || child(&origins.resolve(&param_pointer(&operation.name, &param.name)), "from");
            for name in param.from.iter().filter(|name| !seen.contains_key(*name)) {
                let mut diagnostic = Diagnostic::warning(
                    Code::SchemaUnresolvedRef,
                    pointer(),
                    format!("'{name}' is not an operation of this document"),
                )
                .expected("operations that return a value for the parameter")
                .found(name.as_str());
                if let Some(word) = suggest::nearest(name, seen.keys().map(String::as_str)) {
                    diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
                }
                reader.push(diagnostic);
            }
            param.from.retain(|name| seen.contains_key(name));
        }
    }
}

fn tool_names(reader: &mut DocumentReader, document: &DocumentObject<'_>) -> ToolNames {
    let Some(object) = reader.member(document, "tool_names") else { return ToolNames::default() };
    reader.check_keys(&object, TOOL_NAME_KEYS);
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
    reader: &mut DocumentReader,
    document: &DocumentObject<'_>,
    families: &[&str],
) -> (HintOverrides, IndexMap<String, HintOverrides>) {
    let hints = operation::hints(reader, document, "annotations", &["endpoints"]);
    let mut by_endpoint = IndexMap::new();
    if let Some(annotations) = document.get("annotations").and_then(Value::as_object) {
        let object = DocumentObject { map: annotations, pointer: document.pointer_to("annotations") };
        if let Some(endpoints) = reader.member(&object, "endpoints") {
            let known: Vec<&str> =
                families.iter().copied().chain(Category::ALL.map(Category::endpoint)).collect();
            reader.check_keys(&endpoints, &known);
            for endpoint in endpoints.map.keys() {
                by_endpoint.insert(endpoint.clone(), operation::hints(reader, &endpoints, endpoint, &[]));
            }
        }
    }
    (hints, by_endpoint)
}

fn errors(reader: &mut DocumentReader, document: &DocumentObject<'_>) -> ErrorPolicy {
    let Some(object) = reader.member(document, "errors") else { return ErrorPolicy::default() };
    reader.check_keys(&object, ERROR_KEYS);
    reader.choice(&object, "is_error", ErrorPolicy::WORDS, ErrorPolicy::parse).unwrap_or_default()
}
