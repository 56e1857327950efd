//! The library of an OpenAPI description, which reads its operations on demand.

use super::answer::AnswerCache;
use super::collection;
use super::details::{self, Context, Details, Version};
use super::document::OpenApiDocument;
use super::operation_heads::{LocatedPathItem, UnnamedOperation, read_operation};
use super::refs::{Documents, Refs};
use super::schema::WrittenTypes;
use super::security::{AuthCache, Security};
use super::servers::{self, UrlContext};
use super::type_names::TypeNames;
use crate::report::Note;
use mcpaql_core::adapter::Auth;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::facts::Facts;
use mcpaql_core::library::{Library, LibraryOperation, Outline};
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{Binding, Category, Danger, HttpBinding, Operation, Param, ParamLocation};
use mcpaql_document::overrides::OperationOverride;
use mcpaql_lexicon::classify::{Evidence, needs_answer_shape};
use mcpaql_lexicon::snake_case;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An OpenAPI description as a library: it returns complete operations and types on demand.
#[derive(Debug)]
pub struct OpenApiLibrary {
    documents: Documents,
    path_items: Vec<LocatedPathItem>,
    entries: Vec<OperationDecision>,
    settings: ApiSettings,
    /// Computed when the first type is needed.
    types: OnceLock<TypeNames>,
    answers: AnswerCache,
}

/// The name, category and facts that the import decided for an operation.
#[derive(Debug)]
pub(crate) struct OperationDecision {
    pub(crate) position: (usize, usize),
    pub(crate) name: Box<str>,
    pub(crate) category: Category,
    pub(crate) danger: Danger,
    pub(crate) facts: Facts,
    pub(crate) correction: Option<Arc<OperationOverride>>,
}

/// The settings that all operations share.
#[derive(Debug)]
pub(crate) struct ApiSettings {
    pub(crate) version: Version,
    pub(crate) url: Option<String>,
    pub(crate) prefix: String,
    pub(crate) base_url: String,
    /// `consumes` of the document (Swagger 2.0).
    pub(crate) consumes: Vec<String>,
    /// Locations and names of API keys.
    pub(crate) credentials: Vec<(ParamLocation, String)>,
    pub(crate) security: Security,
    /// The authentication of the adapter.
    pub(crate) auth: Auth,
    /// The authentication of operations without `security`, if it differs.
    pub(crate) undeclared_auth: Option<Auth>,
    pub(crate) auth_cache: Mutex<AuthCache>,
}

impl ApiSettings {
    /// Returns the binding of an operation.
    pub(crate) fn binding(&self, draft: &UnnamedOperation<'_>, located: &LocatedPathItem) -> HttpBinding {
        let mut binding = HttpBinding::new(draft.method, draft.template.path.clone());
        let site = UrlContext { url: self.url.as_deref(), prefix: &self.prefix };
        let servers = draft.members.servers.or_else(|| located.servers());
        binding.base_url = servers
            .and_then(|servers| servers::server_url(servers, &site))
            .filter(|url| *url != self.base_url);
        binding.auth = match draft.members.security {
            None => self.undeclared_auth.clone(),
            Some(text) => {
                let mut cache = self.auth_cache.lock().unwrap_or_else(PoisonError::into_inner);
                Some(cache.auth(&self.security, text, &mut Vec::new())).filter(|auth| *auth != self.auth)
            }
        };
        binding
    }
}

/// Returns the head of an operation.
pub(crate) fn head(draft: &UnnamedOperation<'_>, entry: &OperationDecision, binding: Binding) -> Operation {
    let mut operation = Operation::new(&*entry.name, entry.category, entry.facts, binding);
    operation.title = draft.title().unwrap_or_else(|| title_of(&entry.name));
    operation.description = draft.text();
    operation.tags =
        draft.members.tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
    operation.danger = entry.danger;
    operation.deprecated = draft.deprecation();
    operation.source_id = draft.members.id.as_deref().map(str::to_owned);
    if let Some(correction) = &entry.correction {
        correction.apply(&mut operation);
    }
    operation
}

/// Returns the evidence for the classification of an operation.
pub(crate) fn evidence<'d>(
    documents: &Documents,
    located: &LocatedPathItem,
    draft: &'d UnnamedOperation<'_>,
) -> Evidence<'d> {
    let mut evidence = Evidence {
        method: Some(draft.method),
        path: Some(draft.path),
        name: draft.members.id.as_deref().unwrap_or_default(),
        summary: &draft.summary,
        description: &draft.description,
        has_body: draft.members.has_body.then_some(true),
        ..Evidence::default()
    };
    if needs_answer_shape(&evidence)
        && let Some(responses) = draft.members.responses
    {
        evidence.answers_collection =
            collection::returns_collection(documents, &located.document, &located.base, responses);
    }
    evidence
}

impl OpenApiLibrary {
    pub(crate) fn new(
        documents: Documents,
        path_items: Vec<LocatedPathItem>,
        entries: Vec<OperationDecision>,
        settings: ApiSettings,
    ) -> OpenApiLibrary {
        OpenApiLibrary {
            documents,
            path_items,
            entries,
            settings,
            types: OnceLock::new(),
            answers: AnswerCache::default(),
        }
    }

    /// Returns the resolver of references.
    #[must_use]
    pub fn refs(&self) -> &(dyn Refs + Send + Sync) {
        &self.documents
    }

    /// Returns the problems with references so far.
    #[must_use]
    pub fn problems(&self) -> Vec<Diagnostic> {
        self.documents.problems()
    }

    /// Returns the head of the operation at this position, the same as in the adapter.
    #[must_use]
    pub fn head(&self, index: usize) -> Option<Operation> {
        self.source(index).map(|source| source.head)
    }

    /// Returns the positions of operations with overrides, and the overrides.
    pub(crate) fn corrections(&self) -> impl Iterator<Item = (usize, &OperationOverride)> {
        let corrections = self.entries.iter().map(|entry| entry.correction.as_deref()).enumerate();
        corrections.filter_map(|(index, correction)| Some((index, correction?)))
    }

    /// Returns the complete operation at this position, and what was changed or left out of it.
    #[must_use]
    pub fn read(&self, index: usize) -> Option<(LibraryOperation, Vec<Note>)> {
        self.read_with(index, details::details)
    }

    /// Like [`OpenApiLibrary::read`] for one of many operations: shared types go to `written`.
    pub(super) fn read_sharing(
        &self,
        index: usize,
        written: &mut WrittenTypes,
    ) -> Option<(LibraryOperation, Vec<Note>)> {
        self.read_with(index, |cx, head, path_params, operation| {
            details::details_sharing(cx, head, path_params, operation, written)
        })
    }

    fn read_with(
        &self,
        index: usize,
        details: impl FnOnce(&Context<'_>, &Operation, &[Value], &Value) -> Details,
    ) -> Option<(LibraryOperation, Vec<Note>)> {
        let OperationSource { base, mut head, operation, path_params, query } = self.source(index)?;
        let mut details = details(&self.context(&base), &head, &path_params, &operation);
        let types = std::mem::take(&mut details.types);
        let notes = std::mem::take(&mut details.notes);
        complete(&mut head, details);
        for (name, value) in &query {
            fix(&mut head.params, name, value);
        }
        if let Some(correction) = self.entries.get(index).and_then(|entry| entry.correction.as_ref()) {
            correction.apply(&mut head);
        }
        Some((LibraryOperation { operation: head, types }, notes))
    }

    fn source(&self, index: usize) -> Option<OperationSource> {
        let entry = self.entries.get(index)?;
        let located = self.path_items.get(entry.position.0)?;
        let draft = read_operation(located, entry.position).ok()?;
        let operation = OpenApiDocument::value(located.operation(entry.position.1)?).ok()?;
        let path_params = match located.parameters().and_then(|text| OpenApiDocument::value(text).ok()) {
            Some(Value::Array(params)) => params,
            _ => Vec::new(),
        };
        let head = head(&draft, entry, Binding::Http(self.settings.binding(&draft, located)));
        Some(OperationSource {
            base: located.base.to_string(),
            head,
            operation,
            path_params,
            query: draft.template.query,
        })
    }

    fn context<'a>(&'a self, base: &'a str) -> Context<'a> {
        Context {
            refs: &self.documents,
            types: self.types(),
            version: self.settings.version,
            base,
            consumes: &self.settings.consumes,
            credentials: &self.settings.credentials,
        }
    }

    fn types(&self) -> &TypeNames {
        self.types.get_or_init(|| {
            let section =
                if self.settings.version == Version::V2 { "definitions" } else { "components/schemas" };
            TypeNames::new(self.documents.main.section(section).into_iter().map(|(name, _)| name))
        })
    }
}

/// An operation of the document, with its head.
struct OperationSource {
    base: String,
    head: Operation,
    operation: Value,
    path_params: Vec<Value>,
    /// Fixed pairs of the query in the path.
    query: Vec<(String, String)>,
}

fn complete(operation: &mut Operation, details: Details) {
    operation.params = details.params;
    operation.returns = details.returns;
    operation.examples = details.examples;
    operation.pagination = details.pagination;
    if let Binding::Http(http) = &mut operation.binding {
        http.path = details.path;
        http.body = details.body;
        http.body_param = details.body_param;
        http.content_type = details.content_type;
    }
}

/// Adds a pair of the path's query as a parameter with a fixed value.
fn fix(params: &mut Vec<Param>, wire: &str, value: &str) {
    if let Some(param) =
        params.iter_mut().find(|param| param.location == ParamLocation::Query && param.wire == wire)
    {
        param.required = false;
        let default = value_of_type(value, &param.schema).unwrap_or_else(|| {
            param.schema = json!({"type": "string", "const": value});
            json!(value)
        });
        param.default = Some(default);
        return;
    }
    let plain = snake_case(wire);
    let plain = if plain.starts_with(|first: char| first.is_ascii_lowercase()) {
        plain
    } else {
        format!("q_{plain}")
    };
    let taken = |name: &str| params.iter().any(|param| param.name == name);
    let name = if taken(&plain) { format!("{plain}_query") } else { plain };
    if taken(&name) {
        return;
    }
    let mut param = Param::new(name, ParamLocation::Query, json!({"type": "string", "const": value}));
    wire.clone_into(&mut param.wire);
    param.description = "Always this value.".to_owned();
    param.default = Some(json!(value));
    params.push(param);
}

/// Returns a value of a query as the schema wants it; `None` if the schema does not accept it.
fn value_of_type(text: &str, schema: &Value) -> Option<Value> {
    let value = match schema.get("type").and_then(Value::as_str) {
        Some("array") => json!([value_of_type(text, schema.get("items").unwrap_or(&Value::Null))?]),
        Some("integer") => json!(text.parse::<i64>().ok()?),
        Some("number") => json!(text.parse::<f64>().ok()?),
        Some("boolean") => json!(text.parse::<bool>().ok()?),
        Some("string") => json!(text),
        None if schema.get("$ref").is_none() => json!(text),
        _ => return None,
    };
    let is_allowed = |values: &Value| values.as_array().is_none_or(|values| values.contains(&value));
    schema.get("enum").is_none_or(is_allowed).then_some(value)
}

impl Library for OpenApiLibrary {
    fn operation(&self, index: usize) -> Option<LibraryOperation> {
        self.read(index).map(|(full, _)| full)
    }

    fn outline(&self, index: usize) -> Outline {
        let Some(source) = self.source(index) else { return Outline::default() };
        let context = self.context(&source.base);
        details::outline(&context, &source.head, &source.path_params, &source.operation, &self.answers)
    }

    fn type_names(&self) -> Vec<String> {
        self.types().all().to_vec()
    }

    fn type_named(&self, name: &str) -> Option<Value> {
        details::type_named(&self.context(""), name)
    }
}
