//! The adapters of `mcpaql.yaml`.

use super::{
    AdapterPlan, AdapterSource, CONFIG_FILE, EntryOverrides, McpSource, PlanPurpose, PlannedAdapter,
    SettingsLayers, builtin_document, client_config, openapi_source, read_adapter_source, read_overrides,
    read_source, trusted,
};
use crate::args::ImportOptions;
use crate::openapi_files::{self, Description};
use crate::output::{self, HintedError, error_with_hint};
use crate::trust::{self, TrustSubject, UntrustedConfig};
use anyhow::{Context, Result};
use mcpaql_audit::settings;
use mcpaql_core::diagnostic::{Diagnostic, Severity, capitalize};
use mcpaql_core::error::Code;
use mcpaql_core::host::NetworkAccess;
use mcpaql_core::suggest::snake_case;
use mcpaql_document::config::{self, AdapterEntry, AdapterOrigin, Config};
use mcpaql_document::source::Source;
use mcpaql_import::select::SelectionRule;
use mcpaql_import::{mcp, openapi};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Loads `mcpaql.yaml`: the adapters, the settings of audits, and all problems, each with its pointer.
pub(crate) fn load_config(source: &Source) -> (Config, settings::AuditSettings, Vec<Diagnostic>) {
    match source.parse() {
        Ok(parsed) => {
            let (config, mut diagnostics) = config::load(&parsed.value);
            let (audit, problems) = settings::read(&parsed.value, &config.settings.policies);
            diagnostics.extend(problems);
            diagnostics.extend(parsed.diagnostics);
            (config, audit, diagnostics)
        }
        Err(diagnostics) => (Config::default(), settings::AuditSettings::default(), diagnostics),
    }
}

/// A larger file is not taken for a configuration.
const MAX_CONFIGURATION_BYTES: u64 = 1 << 20;

/// Whether a file is a configuration: one with `adapters`, or the servers of an MCP client. It does not parse texts that are clearly
/// something else.
pub(crate) fn is_configuration(path: &Path) -> bool {
    let is_small = |data: std::fs::Metadata| data.is_file() && data.len() <= MAX_CONFIGURATION_BYTES;
    if !path.metadata().is_ok_and(is_small) {
        return false;
    }
    if client_config::is_client_config(path) {
        return true;
    }
    let Ok(source) = read_source(path) else { return false };
    let may_be =
        source.text.lines().any(|line| line.trim_start().trim_start_matches('"').starts_with("adapters"));
    let parsed = may_be.then(|| source.parse().ok()).flatten();
    parsed.is_some_and(|parsed| {
        parsed.value.get("adapters").is_some() && parsed.value.get("operations").is_none()
    })
}

/// Returns the error for an adapter document or a description in place of a configuration.
fn check_is_configuration(source: &Source) -> Result<()> {
    let parsed = source.parse();
    let has = |key: &str| parsed.as_ref().is_ok_and(|parsed| parsed.value.get(key).is_some());
    let found = match () {
        () if has("adapters") => return Ok(()),
        () if openapi::is_description(&source.text) => "an OpenAPI description",
        () if has("operations") || has("target") => "an adapter document",
        () => return Ok(()),
    };
    let name = &source.name;
    Err(error_with_hint(
        format!("{name} is {found}, not a configuration"),
        format!("pass it without --config: `mcpaql serve {name}`"),
    ))
}

/// The result of looking up a name in a configuration.
pub(crate) enum AdapterLookup {
    /// The adapter with that name.
    Adapter {
        adapter: Box<PlannedAdapter>,
        /// The data folder of the configuration.
        data: Option<PathBuf>,
        /// The configuration, as the operator trusts it.
        trusted: Option<TrustSubject>,
    },
    /// No adapter has that name.
    Unknown {
        /// Names of the adapters that could be read.
        names: Vec<String>,
        /// The configuration and its problems.
        config: Option<(Source, Vec<Diagnostic>)>,
    },
}

impl AdapterPlan {
    /// Looks up a name in the configuration of this folder.
    pub(crate) fn find_configured(
        name: &str,
        layers: &SettingsLayers,
        purpose: PlanPurpose,
    ) -> Result<AdapterLookup> {
        let AdapterPlan { adapters, data, config, trusted_config: trusted, .. } =
            AdapterPlan::from_config(Path::new(CONFIG_FILE), layers, ConfigPlace::Found(purpose))?;
        let mut names = Vec::new();
        for adapter in adapters {
            let own = adapter.name();
            if own.as_ref().is_some_and(|own| snake_case(own) == snake_case(name)) {
                return Ok(AdapterLookup::Adapter { adapter: Box::new(adapter), data, trusted });
            }
            names.extend(own);
        }
        Ok(AdapterLookup::Unknown { names, config })
    }

    /// Returns the plan of a configuration. What it names is fetched only if the configuration is trusted.
    ///
    /// # Errors
    /// When the file cannot be read, or calls shall run and it was found and is not trusted.
    pub(super) fn from_config(path: &Path, layers: &SettingsLayers, place: ConfigPlace) -> Result<AdapterPlan> {
        if let Some(plan) = AdapterPlan::from_client_config(path, layers)? {
            return Ok(plan);
        }
        let source = read_source(path)?;
        check_is_configuration(&source)?;
        let (config, _, mut diagnostics) = load_config(&source);
        let folder = path.parent().unwrap_or(Path::new(""));
        let layers = layers.with_file(config.settings.clone());
        let is_config_broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let mut plan = AdapterPlan {
            is_config_broken,
            files: vec![path.to_path_buf()],
            is_found: matches!(place, ConfigPlace::Found(_)),
            ..AdapterPlan::default()
        };
        let mut servers = HashSet::new();
        // What is on this machine is read first: the operator trusts exactly that.
        let mut resolve = |entry: &AdapterEntry| resolve_adapter_entry(entry, folder, &mut servers);
        let local: Vec<Option<_>> =
            config.adapters.iter().map(|entry| (!is_fetched(entry)).then(|| resolve(entry))).collect();
        let mut resolved = Vec::new();
        let subject = trusted::of_configuration(&source, path, config.adapters.iter().zip(&local));
        if let ConfigPlace::Found(purpose) = place {
            let grant = trust::grant_of(&subject.id)?;
            plan.untrusted = UntrustedConfig::of(&subject, subject.state(grant.as_ref()));
            if let (Some(untrusted), PlanPurpose::Run) = (&plan.untrusted, purpose) {
                return Err(untrusted.error());
            }
        }
        plan.trusted_config = Some(subject);
        for (entry, known) in config.adapters.iter().zip(local) {
            resolved.push(match (known, &plan.untrusted) {
                (Some(known), _) => known,
                (None, Some(untrusted)) => Err(not_fetched(entry, untrusted)),
                (None, None) => resolve(entry),
            });
        }
        for (entry, resolved) in config.adapters.iter().zip(resolved) {
            let name = entry_name(entry, folder);
            let settings = layers.resolve_entry(&entry.settings);
            plan.files.extend(import_options(entry, folder).overrides);
            if let Err(error) = &resolved {
                let invalid_rules = invalid_rules(entry);
                let rules_are_valid = invalid_rules.is_empty();
                diagnostics.extend(invalid_rules);
                diagnostics.extend(rules_are_valid.then(|| unresolved_entry(entry, error)));
            }
            let (source, overrides) = resolved.map_or_else(
                |error| (Err(error), EntryOverrides::default()),
                |(source, overrides)| (Ok(source), overrides),
            );
            plan.add(&name, source, settings, overrides);
        }
        for adapter in &mut plan.adapters {
            adapter.untrusted.clone_from(&plan.untrusted);
        }
        if config.adapters.is_empty() && diagnostics.is_empty() {
            plan.is_config_broken = true;
            diagnostics.push(
                Diagnostic::error(Code::SchemaInvalidValue, "/adapters", "The configuration has no adapters")
                    .suggest("add `- document: PATH` or `- builtin: notebook` under `adapters`"),
            );
        }
        source.locate(&mut diagnostics);
        plan.data = config.data.as_ref().map(|data| folder.join(data));
        plan.list_timeout = config.list_timeout_ms.map(Duration::from_millis);
        plan.config = Some((source, diagnostics));
        Ok(plan)
    }
}

/// Returns a configuration as a subject of trust. Nothing is fetched or started.
///
/// # Errors
/// When the file cannot be read or is not a configuration.
pub(crate) fn trusted_configuration(path: &Path) -> Result<TrustSubject> {
    let layers = SettingsLayers::default();
    if let Some(plan) = AdapterPlan::from_client_config(path, &layers)? {
        return plan.subjects().into_iter().next().context("the configuration has no server");
    }
    let source = read_source(path)?;
    check_is_configuration(&source)?;
    let (config, _, _) = load_config(&source);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut servers = HashSet::new();
    let resolve = |entry: &AdapterEntry| (!is_fetched(entry)).then(|| resolve_adapter_entry(entry, folder, &mut servers));
    let local: Vec<Option<_>> = config.adapters.iter().map(resolve).collect();
    Ok(trusted::of_configuration(&source, path, config.adapters.iter().zip(&local)))
}

/// How a configuration came into the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigPlace {
    /// The user named it.
    Named,
    /// It is in the working folder.
    Found(PlanPurpose),
}

/// Whether the description of an entry is fetched.
fn is_fetched(entry: &AdapterEntry) -> bool {
    matches!(&entry.origin, AdapterOrigin::Openapi(source) if openapi_files::is_url(source))
}

fn not_fetched(entry: &AdapterEntry, untrusted: &UntrustedConfig) -> anyhow::Error {
    let name = entry_name(entry, Path::new(""));
    error_with_hint(
        format!("{name} is not fetched, because {}", untrusted.message()),
        format!("run `{}`", untrusted.command()),
    )
}

/// Returns the source and the overrides of an entry.
pub(super) fn resolve_adapter_entry(
    entry: &AdapterEntry,
    folder: &Path,
    servers: &mut HashSet<String>,
) -> Result<(AdapterSource, EntryOverrides)> {
    let overrides = EntryOverrides::from_entry(entry)?;
    let source = match &entry.origin {
        AdapterOrigin::Document(document) => {
            read_adapter_source(&folder.join(document), &import_options(entry, folder))?
        }
        AdapterOrigin::Builtin(name) => AdapterSource::Document(builtin_document(name)?),
        AdapterOrigin::Openapi(source) => openapi_source(
            read_description(source, folder, &overrides.access)?,
            &import_options(entry, folder),
        )?,
        AdapterOrigin::Mcp(target) => {
            let mut target = (**target).clone();
            overrides.limits.apply_to_server(&mut target);
            target.grant_own_host();
            target.access.extend(&overrides.access);
            let name = entry.name.clone().unwrap_or_else(|| mcp::name_from_link(&target.link));
            if !servers.insert(snake_case(&name)) {
                return Err(error_with_hint(
                    format!("two MCP servers have the name '{name}'"),
                    "set another `name` in one of the entries",
                ));
            }
            let import_options = import_options(entry, folder);
            let options = mcp::McpImportOptions {
                name: Some(name.clone()),
                selection: overrides.selection.clone(),
                overrides: read_overrides(&import_options)?.1,
                keep_input_schemas: false,
            };
            let auth = overrides.auth.clone().unwrap_or_default();
            AdapterSource::Mcp(Box::new(McpSource { name, target, auth, options, import_options }))
        }
    };
    Ok((source, overrides))
}

/// Returns the name of an entry in reports: the path of its file from the current folder, its URL, or its name.
fn entry_name(entry: &AdapterEntry, folder: &Path) -> String {
    match &entry.origin {
        AdapterOrigin::Openapi(source) if openapi_files::is_url(source) => source.clone(),
        AdapterOrigin::Document(path) | AdapterOrigin::Openapi(path) => {
            folder.join(path).display().to_string()
        }
        AdapterOrigin::Builtin(name) => format!("builtin:{name}"),
        AdapterOrigin::Mcp(target) => {
            format!("mcp:{}", entry.name.clone().unwrap_or_else(|| mcp::name_from_link(&target.link)))
        }
    }
}

/// Returns the import options of an entry.
pub(super) fn import_options(entry: &AdapterEntry, folder: &Path) -> ImportOptions {
    ImportOptions {
        name: entry.name.clone(),
        overrides: entry.overrides.as_ref().map(|file| folder.join(file)),
        include: entry.include.clone(),
        exclude: entry.exclude.clone(),
    }
}

fn read_description(source: &str, folder: &Path, access: &NetworkAccess) -> Result<Description> {
    if openapi_files::is_url(source) {
        return openapi_files::read_with(source, access);
    }
    openapi_files::read(&folder.join(source).display().to_string())
}

/// Returns an error for each invalid selection rule of an entry.
fn invalid_rules(entry: &AdapterEntry) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    // The pointer of an entry may end in the key of its origin, such as `document`.
    let owner = match entry.pointer.rsplit_once('/') {
        Some((owner, key)) if key.parse::<usize>().is_err() => owner,
        _ => entry.pointer.as_str(),
    };
    for (key, rules) in [("include", &entry.include), ("exclude", &entry.exclude)] {
        for (index, rule) in rules.iter().enumerate() {
            if let Err(error) = SelectionRule::parse(rule) {
                let pointer = format!("{owner}/{key}/{index}");
                problems.push(
                    Diagnostic::error(Code::SchemaInvalidValue, pointer, capitalize(&error.to_string()))
                        .expected("tag:NAME, path:/PATH/**, op:NAME, category:WORD or deprecated")
                        .found(rule.as_str())
                        .suggest(error.hint),
                );
            }
        }
    }
    problems
}

/// Returns the error for an entry whose document cannot be read.
fn unresolved_entry(entry: &AdapterEntry, error: &anyhow::Error) -> Diagnostic {
    let found = match &entry.origin {
        AdapterOrigin::Document(found) | AdapterOrigin::Builtin(found) | AdapterOrigin::Openapi(found) => {
            found.as_str()
        }
        AdapterOrigin::Mcp(_) => "mcp",
    };
    let suggestion = error.downcast_ref::<HintedError>().map_or_else(
        || "check the path; it is relative to the folder of the configuration".to_owned(),
        |hinted| hinted.hint.clone(),
    );
    Diagnostic::error(
        Code::SchemaUnresolvedRef,
        &entry.pointer,
        capitalize(&output::messages(error).join(": ")),
    )
    .found(found)
    .suggest(suggestion)
}
