//! A described API whose operations are read one at a time.

use super::collection;
use super::details::{self, Context, Note};
use super::document::{Document, Version};
use super::heads::{Draft, Home, draft};
use super::refs::{Documents, Refs};
use super::security::{Asked, Security};
use super::servers::{self, Site};
use super::stand_in::{self, Evidence};
use super::type_names::TypeNames;
use mcpaql_core::adapter::{Auth, title_of};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::facts::Facts;
use mcpaql_core::library::{Full, Library, Outline};
use mcpaql_core::operation::{Binding, Category, Danger, HttpBinding, Operation, Place, Segment};
use serde_json::Value;
use std::sync::{Mutex, OnceLock, PoisonError};

/// An OpenAPI document as a library: heads are made from the text, the rest is read on demand.
#[derive(Debug)]
pub struct Described {
    documents: Documents,
    homes: Vec<Home>,
    entries: Vec<Entry>,
    setting: Setting,
    common: OnceLock<Common>,
}

/// What reading any operation whole needs, made when the first is read.
#[derive(Debug)]
struct Common {
    types: TypeNames,
    consumes: Vec<String>,
    credentials: Vec<(Place, String)>,
}

/// What was decided about an operation.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) place: (usize, usize),
    pub(crate) name: Box<str>,
    pub(crate) category: Category,
    pub(crate) danger: Danger,
    pub(crate) facts: Facts,
}

/// What all operations have in common.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) version: Version,
    pub(crate) url: Option<String>,
    pub(crate) prefix: String,
    pub(crate) base_url: String,
    pub(crate) security: Security,
    /// The adapter's way to authenticate.
    pub(crate) auth: Auth,
    /// That of operations that say nothing, where it is another.
    pub(crate) silent: Option<Auth>,
    pub(crate) asked: Mutex<Asked>,
}

impl Setting {
    /// The binding of an operation.
    pub(crate) fn binding(&self, draft: &Draft<'_>, home: &Home) -> HttpBinding {
        let mut binding = HttpBinding::new(draft.method, draft.template.path.clone());
        let site = Site { url: self.url.as_deref(), prefix: &self.prefix };
        let servers = draft.said.servers.or_else(|| home.servers());
        binding.base_url =
            servers.and_then(|servers| servers::choose(servers, &site)).filter(|url| *url != self.base_url);
        binding.auth = match draft.said.security {
            None => self.silent.clone(),
            Some(text) => {
                let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                Some(asked.auth(&self.security, text, &mut Vec::new())).filter(|auth| *auth != self.auth)
            }
        };
        binding
    }
}

/// The head of an operation.
pub(crate) fn head(draft: &Draft<'_>, entry: &Entry, binding: HttpBinding) -> Operation {
    let mut operation = Operation::new(&*entry.name, entry.category, entry.facts, Binding::Http(binding));
    operation.title = draft.title().unwrap_or_else(|| title_of(&entry.name));
    operation.description = draft.text();
    operation.tags =
        draft.said.tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
    operation.danger = entry.danger;
    operation.deprecated = draft.deprecation();
    operation.source_id = draft.said.id.as_deref().map(str::to_owned);
    operation
}

/// What is known about an operation before it is judged.
pub(crate) fn evidence<'d>(documents: &Documents, home: &Home, draft: &'d Draft<'_>) -> Evidence<'d> {
    let mut evidence = Evidence {
        method: Some(draft.method),
        path: Some(draft.path),
        name: draft.said.id.as_deref().unwrap_or_default(),
        summary: &draft.summary,
        description: &draft.description,
        has_body: draft.said.has_body.then_some(true),
        ..Evidence::default()
    };
    if stand_in::wants_answer(&evidence)
        && let Some(responses) = draft.said.responses
    {
        evidence.answers_collection = collection::answers(documents, &home.document, &home.base, responses);
    }
    evidence
}

impl Described {
    pub(crate) fn new(
        documents: Documents,
        homes: Vec<Home>,
        entries: Vec<Entry>,
        setting: Setting,
    ) -> Described {
        Described { documents, homes, entries, setting, common: OnceLock::new() }
    }

    fn context<'a>(&'a self, base: &'a str) -> Context<'a> {
        let common = self.common.get_or_init(|| {
            let main = &self.documents.main;
            let sections = ["components/schemas", "definitions"];
            let components = sections.iter().flat_map(|section| main.section(section)).map(|(name, _)| name);
            let consumes = main.top("consumes").and_then(|text| serde_json::from_str(text).ok());
            Common {
                types: TypeNames::new(components),
                consumes: consumes.unwrap_or_default(),
                credentials: self.setting.security.keys(),
            }
        });
        Context {
            refs: &self.documents,
            types: &common.types,
            version: self.setting.version,
            base,
            consumes: &common.consumes,
            credentials: &common.credentials,
        }
    }

    /// The whole operation at that position, with what was changed or left out of it.
    #[must_use]
    pub fn read(&self, index: usize) -> Option<(Full, Vec<Note>)> {
        let source = self.source(index)?;
        let mut operation = self.head(index)?;
        let cx = self.context(&source.base);
        let details = details::details(&cx, &operation, &source.path_params, &source.operation);
        operation.params = details.params;
        operation.returns = details.returns;
        operation.examples = details.examples;
        operation.pagination = details.pagination;
        if let Binding::Http(http) = &mut operation.binding {
            http.path = details.path;
            http.path.extend(fixed_query(&source.query).map(Segment::Literal));
            http.body = details.body;
            http.body_param = details.body_param;
            http.content_type = details.content_type;
        }
        Some((Full { operation, types: details.types }, details.notes))
    }

    /// Where references lead.
    #[must_use]
    pub fn refs(&self) -> &(dyn Refs + Send + Sync) {
        &self.documents
    }

    /// The language the document speaks.
    #[must_use]
    pub fn version(&self) -> Version {
        self.setting.version
    }

    /// What went wrong with references so far, in whatever was read until now.
    #[must_use]
    pub fn problems(&self) -> Vec<Diagnostic> {
        self.documents.problems()
    }

    /// The head of the operation at that position, the same as in the adapter.
    #[must_use]
    pub fn head(&self, index: usize) -> Option<Operation> {
        let entry = self.entries.get(index)?;
        let home = self.homes.get(entry.place.0)?;
        let draft = draft(home, entry.place).ok()?;
        Some(head(&draft, entry, self.setting.binding(&draft, home)))
    }

    /// What the document says of the operation at that position.
    #[must_use]
    pub fn source(&self, index: usize) -> Option<OperationSource> {
        let entry = self.entries.get(index)?;
        let home = self.homes.get(entry.place.0)?;
        let operation = Document::value(home.operation(entry.place.1)?).ok()?;
        let shared = home.parameters().and_then(|text| Document::value(text).ok());
        let path_params = match shared {
            Some(Value::Array(params)) => params,
            _ => Vec::new(),
        };
        let query = draft(home, entry.place).map(|draft| draft.template.query).unwrap_or_default();
        Some(OperationSource { base: home.base.to_string(), operation, path_params, query })
    }
}

/// An operation as the document has it.
#[derive(Debug, Clone)]
pub struct OperationSource {
    /// The document it stands in ("" is the main one).
    pub base: String,
    /// The operation object.
    pub operation: Value,
    /// Parameters that all operations of the path share.
    pub path_params: Vec<Value>,
    /// Fixed pairs of the query that the path holds.
    pub query: Vec<(String, String)>,
}

/// `?a=1&b=2`, as the path has it.
fn fixed_query(pairs: &[(String, String)]) -> Option<String> {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| if value.is_empty() { name.clone() } else { format!("{name}={value}") })
        .collect();
    (!pairs.is_empty()).then(|| format!("?{}", pairs.join("&")))
}

impl Library for Described {
    fn operation(&self, index: usize) -> Option<Full> {
        self.read(index).map(|(full, _)| full)
    }

    fn outline(&self, index: usize) -> Outline {
        let (Some(source), Some(head)) = (self.source(index), self.head(index)) else {
            return Outline::default();
        };
        details::outline(&self.context(&source.base), &head, &source.path_params, &source.operation)
    }

    fn type_names(&self) -> Vec<String> {
        self.context("").types.all().to_vec()
    }

    fn type_named(&self, name: &str) -> Option<Value> {
        details::type_named(&self.context(""), name)
    }
}
