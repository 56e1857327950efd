//! OpenAPI (2.0, 3.0, 3.1, 3.2) → adapter.
//!
//! The text is gone over once and only the heads of operations are made; everything else is read when somebody asks for it.
//! One broken operation is diagnosed, left out and counted, never the whole document.

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
use mcpaql_core::adapter::{Adapter, HttpTarget, TargetConfig};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::facts::Guard;
use mcpaql_core::host::is_loopback;
use mcpaql_core::operation::{Binding, BodyForm, Category};
use mcpaql_document::overrides::Overrides;
use mcpaql_lexicon::classify::{Classification, classify};
use operation_heads::{LocatedPathItem, UnnamedOperation};
use refs::Documents;
use security::{AuthCache, Security};
use servers::UrlContext;
use std::sync::Arc;

/// What the caller wants.
#[derive(Debug, Clone, Default)]
pub struct OpenApiImportOptions {
    /// The adapter's name; from the document's title unless set.
    pub name: Option<String>,
    /// Where the document came from, if from the network: relative addresses are relative to it.
    pub url: Option<String>,
    /// Which operations to take.
    pub selection: Selection,
    /// What the author corrects.
    pub overrides: Overrides,
}

/// A document that was opened.
#[derive(Debug)]
pub struct ImportedApi {
    /// With heads of operations, and without types.
    pub adapter: Adapter,
    /// The rest of the operations, at the same positions.
    pub library: Arc<OpenApiLibrary>,
    /// What was decided and what was left out.
    pub report: ImportReport,
    /// The version that the description gives itself.
    pub version: Option<String>,
}

/// Opens a document.
///
/// # Errors
///
/// Why the text is no OpenAPI document at all, or which corrections match nothing in it.
pub fn open(
    text: String,
    options: &OpenApiImportOptions,
    loader: Arc<dyn ReferenceLoader>,
) -> Result<ImportedApi, Vec<Diagnostic>> {
    let mut notes = Vec::new();
    let main = OpenApiDocument::read(text, &mut notes)?;
    if !main.describes_an_api() {
        return Err(vec![
            Diagnostic::error(Code::SchemaMissingField, "", "This is not an OpenAPI document")
                .expected("`openapi` or `swagger`, `info` and `paths`"),
        ]);
    }
    let (version, unsure) = main.version();
    notes.extend(unsure);
    let mut identity =
        identity::read(&main, options.name.as_deref().or(options.overrides.adapter.name.as_deref()));
    identity.apply_override(&options.overrides.adapter);
    let documents = Documents::new(main, loader);
    let homes = operation_heads::path_items(&documents, &mut notes);
    let (drafts, skipped) = read_operations(&homes, &mut notes);
    let setting = api_settings(&documents, version, &identity, options, &drafts, &mut notes);

    let decisions: Vec<Classification> = drafts
        .iter()
        .filter_map(|draft| Some((draft, homes.get(draft.place.0)?)))
        .map(|(draft, home)| classify(&library::evidence(&documents, home, draft)))
        .collect();
    let names = names(&drafts, &decisions);
    let corrections = corrections::find(&options.overrides, &drafts, &names)?;
    let mut report = ImportReport { skipped, ..ImportReport::default() };
    let mut taken = Vec::with_capacity(drafts.len());
    let mut idle = options.selection.rules();
    let judged = drafts.iter().zip(decisions).zip(names).zip(corrections);
    for (((draft, mut decision), name), correction) in judged {
        let Some(home) = homes.get(draft.place.0) else { continue };
        let binding = Binding::Http(setting.binding(draft, home));
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
        let judged = ClassifiedOperation {
            name,
            source_id: operation.source_id.clone(),
            origin: OperationOrigin::Request { method: draft.method.to_owned(), path: draft.path.to_owned() },
            category,
            decision,
            corrected: correction.is_some(),
        };
        taken.push((operation, entry, judged));
    }
    // A description is served in the order in which its document would be.
    taken.sort_by_cached_key(|(operation, ..)| emit::sort_key(operation));
    let mut operations = Vec::with_capacity(taken.len());
    let mut entries = Vec::with_capacity(taken.len());
    for (operation, entry, judged) in taken {
        operations.push(operation);
        entries.push(entry);
        report.operations.push(judged);
    }
    let is_chosen_away = operations.is_empty() && !drafts.is_empty() && !options.selection.rules().is_empty();
    if operations.is_empty() && !is_chosen_away {
        notes.push(Diagnostic::warning(
            Code::SchemaMissingField,
            "/paths",
            "The document describes no operation that can be called",
        ));
    }
    notes.extend(select::unmatched(&idle));
    if is_chosen_away {
        notes.push(select::empty_selection(drafts.len()));
        return Err(notes);
    }
    let callbacks = drafts.iter().map(|draft| draft.said.callbacks).sum();
    report.ignored =
        vec![("webhooks".to_owned(), documents.main.webhooks()), ("callbacks".to_owned(), callbacks)];
    drop(drafts);
    notes.extend(documents.problems());
    report.diagnostics = notes;
    let said_version = identity.declared_version.clone();
    let adapter = adapter(identity, &setting, operations);
    let library = Arc::new(OpenApiLibrary::new(documents, homes, entries, setting));
    corrections::check_params(&options.overrides, &library, &adapter.operations)?;
    Ok(ImportedApi { adapter, library, report, version: said_version })
}

/// Every operation that can be called; the others are diagnosed and counted.
fn read_operations<'h>(
    homes: &'h [LocatedPathItem],
    notes: &mut Vec<Diagnostic>,
) -> (Vec<UnnamedOperation<'h>>, usize) {
    let mut drafts = Vec::new();
    let mut skipped = 0;
    for (home_index, home) in homes.iter().enumerate() {
        let count = home.item().map_or(0, |item| item.operations.len());
        for index in 0..count {
            match operation_heads::read_operation(home, (home_index, index)) {
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
        drafts.iter().map(|draft| draft.said.tags.iter().map(|tag| &**tag).collect()).collect();
    let inputs: Vec<NameInput<'_>> = drafts
        .iter()
        .zip(&tags)
        .zip(decisions)
        .map(|((draft, tags), decision)| NameInput {
            operation_id: draft.said.id.as_deref(),
            method: draft.method,
            path: draft.path,
            tags,
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
        place: draft.place,
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
    let mut asked = AuthCache::default();
    let said = || drafts.iter().map(|draft| draft.said.security);
    let (auth, silent) = asked.common(&security, documents.main.top("security"), said, notes);
    ApiSettings {
        version,
        url: options.url.clone(),
        prefix,
        base_url,
        consumes: documents.main.top("consumes").map(media_types).unwrap_or_default(),
        credentials: security.keys(),
        security,
        auth,
        undeclared_auth: silent,
        auth_cache: asked.into(),
    }
}

fn media_types(text: &str) -> Vec<String> {
    scan::items(text).into_iter().filter_map(scan::string).map(Into::into).collect()
}

fn adapter(
    identity: identity::ImportedIdentity,
    setting: &ApiSettings,
    operations: Vec<mcpaql_core::operation::Operation>,
) -> Adapter {
    let allow_http = setting.base_url.starts_with("http://") && !is_loopback(&setting.base_url);
    let target = HttpTarget {
        base_url: setting.base_url.clone(),
        headers: IndexMap::new(),
        serialization: BodyForm::Json,
        allow_http,
        connect_timeout_ms: 10_000,
        timeout_ms: 60_000,
        retries: 2,
        max_response_bytes: 10 << 20,
    };
    Adapter {
        display_name: identity.display_name,
        version: identity.version,
        description: identity.description,
        operations,
        auth: setting.auth.clone(),
        ..Adapter::new(identity.name, TargetConfig::Http(target))
    }
}

/// Whether a text looks like a description, as far as a glance at its outermost members tells.
#[must_use]
pub fn is_description(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        return scan::members(text).iter().any(|(name, _)| name == "openapi" || name == "swagger");
    }
    text.lines().any(|line| line.starts_with("openapi:") || line.starts_with("swagger:"))
}
