//! Imports OpenAPI descriptions (2.0, 3.0, 3.1, 3.2) as adapters.
//!
//! ```
//! use mcpaql_import::openapi;
//! use std::sync::Arc;
//!
//! let text = r#"{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "https://shop.example"}],
//!     "paths": {"/items": {"get": {"operationId": "listItems", "summary": "Lists items"}}}}"#;
//! let import = openapi::open(text.to_owned(), &Default::default(), Arc::new(openapi::NoLoader)).unwrap();
//! assert_eq!(import.adapter.operations[0].name, "list_items");
//! ```
//!
//! The text is scanned once, and only the heads of operations are built. Everything else is read on demand.
//!
//! What always holds: a broken operation is reported, left out and counted. It never prevents the import of the others.

mod answer;
mod body;
mod collection;
pub(crate) mod corrections;
pub(crate) mod details;
mod document;
mod examples;
#[cfg(test)]
mod fixture;
mod full_adapter;
pub(crate) mod identity;
mod index;
mod library;
pub(crate) mod markdown;
pub(crate) mod names;
mod operation_heads;
mod pagination;
pub(crate) mod params;
pub(crate) mod refs;
mod scan;
pub(crate) mod schema;
mod security;
mod servers;
mod template;
pub(crate) mod text;
pub(crate) mod type_names;

use details::Version;
use document::OpenApiDocument;
pub use full_adapter::{FullAdapter, full_adapter};
pub use library::OpenApiLibrary;
pub use refs::{LoadedReference, NoLoader, ReferenceLoader, Refs, Resolved};

use crate::emit;
use crate::naming::{NameInput, name_operations};
use crate::report::{ClassifiedOperation, ImportReport, OperationOrigin};
use crate::select::{self, Selection};
use indexmap::IndexMap;
use library::{ApiSettings, OperationDecision};
use mcpaql_core::adapter::{Adapter, Auth, HttpTarget, TargetConfig};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::facts::Guard;
use mcpaql_core::host::{NetworkAccess, is_loopback};
use mcpaql_core::operation::{Binding, BodyForm, Category};
use mcpaql_document::overrides::Overrides;
use mcpaql_lexicon::classify::{Classification, classify};
use operation_heads::{LocatedPathItem, UnnamedOperation};
use refs::Documents;
use security::{AuthCache, Security};
use servers::UrlContext;
use std::sync::Arc;

/// The options of an OpenAPI import.
#[derive(Debug, Clone, Default)]
pub struct OpenApiImportOptions {
    /// The adapter's name. Default: derived from the document's title.
    pub name: Option<String>,
    /// The URL that the document was fetched from; relative URLs are resolved against it.
    pub url: Option<String>,
    /// The operations to import.
    pub selection: Selection,
    /// The author's corrections.
    pub overrides: Overrides,
}

/// An imported OpenAPI description.
#[derive(Debug)]
pub struct ImportedApi {
    /// The adapter, with only the heads of operations and without types.
    pub adapter: Adapter,
    /// The complete operations, at the same positions.
    pub library: Arc<OpenApiLibrary>,
    /// The decisions and problems of the import.
    pub report: ImportReport,
    /// The version in the description.
    pub version: Option<String>,
}

/// Imports a description.
///
/// # Errors
///
/// Returns the problems if the text is not an OpenAPI description, if overrides are invalid, or if the selection is empty.
pub fn open(
    text: String,
    options: &OpenApiImportOptions,
    loader: Arc<dyn ReferenceLoader>,
) -> Result<ImportedApi, Vec<Diagnostic>> {
    let mut notes = Vec::new();
    let main = OpenApiDocument::read(text, &mut notes)?;
    if !main.describes_an_api() {
        return Err(vec![
            Diagnostic::error(Code::SchemaMissingField, "", "This is not an OpenAPI description")
                .expected("`openapi` or `swagger`, `info` and `paths`"),
        ]);
    }
    let (version, unsure) = main.version();
    notes.extend(unsure);
    let mut identity =
        identity::read(&main, options.name.as_deref().or(options.overrides.adapter.name.as_deref()));
    identity.apply_override(&options.overrides.adapter);
    let documents = Documents::new(main, loader);
    let path_items = operation_heads::path_items(&documents, &mut notes);
    let (drafts, skipped) = read_operations(&path_items, &mut notes);
    let settings = api_settings(&documents, version, &identity, options, &drafts, &mut notes);

    let decisions: Vec<Classification> = drafts
        .iter()
        .filter_map(|draft| Some((draft, path_items.get(draft.position.0)?)))
        .map(|(draft, located)| classify(&library::evidence(&documents, located, draft)))
        .collect();
    let names = names(&drafts, &decisions);
    let corrections = corrections::find(&options.overrides, &drafts, &names)?;
    let mut report = ImportReport { skipped, ..ImportReport::default() };
    let mut taken = Vec::with_capacity(drafts.len());
    let mut idle = options.selection.rules();
    let classified = drafts.iter().zip(decisions).zip(names).zip(corrections);
    for (((draft, mut decision), name), correction) in classified {
        let Some(located) = path_items.get(draft.position.0) else { continue };
        let binding = Binding::Http(settings.binding(draft, located));
        let (name, category) = corrections::apply_correction(correction.as_deref(), name, &mut decision);
        let mut entry = operation_decision(draft, &decision, category, &name, &binding);
        entry.correction.clone_from(&correction);
        let operation = library::head(draft, &entry, binding);
        let wanted = correction.as_ref().and_then(|correction| correction.include);
        let is_taken = wanted.unwrap_or_else(|| options.selection.takes(&operation, draft.path));
        idle.retain(|rule| !rule.fits(&operation, draft.path));
        if !is_taken {
            report.excluded += 1;
            continue;
        }
        let classified = ClassifiedOperation {
            name,
            source_id: operation.source_id.clone(),
            origin: OperationOrigin::Request { method: draft.method.to_owned(), path: draft.path.to_owned() },
            category,
            decision,
            corrected: correction.is_some(),
        };
        taken.push((operation, entry, classified));
    }
    // The same order as in the document that `emit` writes.
    taken.sort_by_cached_key(|(operation, ..)| emit::sort_key(operation));
    let mut operations = Vec::with_capacity(taken.len());
    let mut entries = Vec::with_capacity(taken.len());
    for (operation, entry, classified) in taken {
        operations.push(operation);
        entries.push(entry);
        report.operations.push(classified);
    }
    let is_all_excluded =
        operations.is_empty() && !drafts.is_empty() && !options.selection.rules().is_empty();
    if operations.is_empty() && !is_all_excluded {
        notes.push(Diagnostic::warning(
            Code::SchemaMissingField,
            "/paths",
            "The description has no operation that can be called",
        ));
    }
    notes.extend(options.selection.unmatched(&idle));
    if is_all_excluded {
        notes.push(select::empty_selection(drafts.len()));
        return Err(notes);
    }
    let callbacks = drafts.iter().map(|draft| draft.members.callbacks).sum();
    report.ignored =
        vec![("webhooks".to_owned(), documents.main.webhooks()), ("callbacks".to_owned(), callbacks)];
    drop(drafts);
    notes.extend(documents.problems());
    let declared_version = identity.declared_version.clone();
    let adapter = adapter(identity, &settings, operations, &mut notes);
    report.diagnostics = notes;
    let library = Arc::new(OpenApiLibrary::new(documents, path_items, entries, settings));
    corrections::check_params(&options.overrides, &library, &adapter.operations)?;
    Ok(ImportedApi { adapter, library, report, version: declared_version })
}

/// Reads the operations that can be called; the others are reported and counted.
fn read_operations<'h>(
    path_items: &'h [LocatedPathItem],
    notes: &mut Vec<Diagnostic>,
) -> (Vec<UnnamedOperation<'h>>, usize) {
    let mut drafts = Vec::new();
    let mut skipped = 0;
    for (item_index, located) in path_items.iter().enumerate() {
        let count = located.item().map_or(0, |item| item.operations.len());
        for index in 0..count {
            match operation_heads::read_operation(located, (item_index, index)) {
                Ok(draft) => drafts.push(draft),
                Err(diagnostic) => {
                    skipped += 1;
                    notes.push(*diagnostic);
                }
            }
        }
    }
    (drafts, skipped)
}

fn names(drafts: &[UnnamedOperation<'_>], decisions: &[Classification]) -> Vec<String> {
    let tags: Vec<Vec<&str>> =
        drafts.iter().map(|draft| draft.members.tags.iter().map(|tag| &**tag).collect()).collect();
    let inputs: Vec<NameInput<'_>> = drafts
        .iter()
        .zip(&tags)
        .zip(decisions)
        .map(|((draft, tags), decision)| NameInput {
            operation_id: draft.members.id.as_deref(),
            method: draft.method,
            path: draft.path,
            tags,
            summary: if draft.summary.is_empty() { &draft.description } else { &draft.summary },
            category: Some(decision.served_category()),
        })
        .collect();
    name_operations(&inputs)
}

fn operation_decision(
    draft: &UnnamedOperation<'_>,
    decision: &Classification,
    category: Category,
    name: &str,
    binding: &Binding,
) -> OperationDecision {
    OperationDecision {
        position: draft.position,
        name: name.into(),
        category,
        danger: decision.danger,
        facts: corrections::decided_facts(decision, category, Guard::None, binding),
        correction: None,
    }
}

fn api_settings(
    documents: &Documents,
    version: Version,
    identity: &identity::ImportedIdentity,
    options: &OpenApiImportOptions,
    drafts: &[UnnamedOperation<'_>],
    notes: &mut Vec<Diagnostic>,
) -> ApiSettings {
    let url = options.url.as_deref();
    let prefix = servers::screaming_snake(&identity.name);
    let base_url = match &options.overrides.adapter.base_url {
        Some(base_url) => base_url.trim_end_matches('/').to_owned(),
        None => servers::base_url(&documents.main, version, &UrlContext { url, prefix: &prefix }, notes),
    };
    let security = Security::read(documents, url, &prefix, notes);
    let mut auth_cache = AuthCache::default();
    let requirements = || drafts.iter().map(|draft| draft.members.security);
    let (auth, undeclared_auth) =
        auth_cache.common(&security, documents.main.top("security"), requirements, notes);
    ApiSettings {
        version,
        url: options.url.clone(),
        prefix,
        base_url,
        consumes: documents.main.top("consumes").map(media_types).unwrap_or_default(),
        credentials: security.keys(),
        security,
        auth,
        undeclared_auth,
        auth_cache: auth_cache.into(),
    }
}

fn media_types(text: &str) -> Vec<String> {
    scan::items(text).into_iter().filter_map(scan::string).map(Into::into).collect()
}

fn adapter(
    identity: identity::ImportedIdentity,
    settings: &ApiSettings,
    operations: Vec<mcpaql_core::operation::Operation>,
    notes: &mut Vec<Diagnostic>,
) -> Adapter {
    let plain_part = operations.iter().find_map(plain_http_url).or_else(|| plain_token_url(&settings.auth));
    if let Some(url) = plain_part {
        let message = "An operation or a token endpoint has only an http:// URL";
        notes.push(
            Diagnostic::warning(Code::SchemaInvalidValue, "", message)
                .found(url)
                .suggest("credentials are sent unencrypted; use an https:// URL if there is one"),
        );
    }
    let allow_http = is_plain_http(&settings.base_url) || plain_part.is_some();
    let target = HttpTarget {
        base_url: settings.base_url.clone(),
        headers: IndexMap::new(),
        serialization: BodyForm::Json,
        allow_http,
        connect_timeout_ms: 10_000,
        timeout_ms: 60_000,
        retries: 2,
        max_response_bytes: 10 << 20,
        idempotency_header: None,
        access: NetworkAccess::default(),
    };
    Adapter {
        display_name: identity.display_name,
        version: identity.version,
        description: identity.description,
        operations,
        auth: settings.auth.clone(),
        ..Adapter::new(identity.name, TargetConfig::Http(target))
    }
}

/// Whether a URL is plain http to another machine.
fn is_plain_http(url: &str) -> bool {
    url.starts_with("http://") && !is_loopback(url)
}

/// Returns the plain http URL that an operation uses instead of the URL of the API.
fn plain_http_url(operation: &mcpaql_core::operation::Operation) -> Option<&str> {
    let Binding::Http(binding) = &operation.binding else { return None };
    let own = binding.base_url.as_deref().filter(|url| is_plain_http(url));
    own.or_else(|| plain_token_url(binding.auth.as_ref()?))
}

/// Returns the first token endpoint with plain http.
fn plain_token_url(auth: &Auth) -> Option<&str> {
    match auth {
        Auth::OAuth2(oauth) => Some(oauth.token_url.as_str()).filter(|url| is_plain_http(url)),
        Auth::All(schemes) | Auth::Any(schemes) => schemes.iter().find_map(plain_token_url),
        Auth::None | Auth::Bearer { .. } | Auth::ApiKey { .. } | Auth::Basic { .. } => None,
    }
}

/// Whether a text looks like an OpenAPI description, classified by its top-level members.
#[must_use]
pub fn is_description(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        return scan::members(text).iter().any(|(name, _)| name == "openapi" || name == "swagger");
    }
    text.lines().any(|line| line.starts_with("openapi:") || line.starts_with("swagger:"))
}
