//! From a plan to the adapters of a gateway. An adapter that cannot be served is reported; the others are served.

use super::entry::EntryOverrides;
use super::source::{AdapterSource, McpSource, PlannedAdapter};
use super::{AdapterEnvironment, AdapterPlan, collision_error};
use crate::cache::CaptureCache;
use crate::output::{self, HintedError};
use anyhow::Result;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_document::check::CheckOutput;
use mcpaql_document::source::Source;
use mcpaql_runtime::environment;
use mcpaql_runtime::gate::Gate;
use mcpaql_runtime::gateway::{Gateway, GatewayMember, GatewayOptions, LiveAdapter, MemberOrigin};
use mcpaql_runtime::open::{self, OpenError};
use mcpaql_runtime::target::NoDataFolder;
use std::sync::Arc;

/// Opens every target and serves the adapters behind one gateway. With a single adapter, an error is fatal; with several, adapters
/// with errors are reported and the others are served.
pub(crate) async fn open_gateway(plan: AdapterPlan, cache: bool, gate: &Gate) -> Result<Gateway> {
    plan.set_trust(gate)?;
    let environment = plan.environment.as_ref().map_or_else(environment::process, AdapterEnvironment::lookup);
    let mut opening = GatewayOptions::new(plan.data.clone(), environment).with_gate(gate.clone());
    opening.list_timeout = plan.list_timeout.unwrap_or(opening.list_timeout);
    let members = if plan.is_single_adapter() {
        open_single_adapter(plan, &opening).await?
    } else {
        plan.members(None, cache)?
    };
    Gateway::open(members, opening).await.map_err(|collision| collision_error(&collision))
}

/// Opens the single adapter of a plan.
async fn open_single_adapter(plan: AdapterPlan, opening: &GatewayOptions) -> Result<Vec<GatewayMember>> {
    let keys: Vec<String> = plan.adapters.iter().map(|adapter| adapter.key().to_owned()).collect();
    let mut members = Vec::new();
    for ((source, catalog), key) in plan.catalogs()?.catalogs.into_iter().zip(keys) {
        let opened = open::open(catalog, &source, opening.data.as_deref(), &opening.environment).await;
        let served = opened.map_err(open_error_with_hint)?.with_gate(&opening.gate);
        let name = served.catalog().adapter.name.clone();
        members.push(GatewayMember { key, name, source, origin: MemberOrigin::Opened(Box::new(served)) });
    }
    Ok(members)
}

/// Adds a hint to an error that an option of the command line can fix.
fn open_error_with_hint(error: OpenError) -> anyhow::Error {
    if error.reason::<NoDataFolder>().is_none() {
        return error.into();
    }
    let hint = "pass a folder with --data, or set HOME".to_owned();
    HintedError { message: error.to_string(), hint }.into()
}

/// Returns the error for a plan without an adapter that can be served.
pub(super) fn no_adapter_error(config: Option<&(Source, Vec<Diagnostic>)>) -> anyhow::Error {
    match config.filter(|(_, diagnostics)| has_errors(diagnostics)) {
        Some((source, _)) => anyhow::anyhow!("{} has errors", source.name),
        None => anyhow::anyhow!("there is no adapter to serve"),
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

impl AdapterPlan {
    /// Whether the plan is one adapter without a configuration, whose errors are fatal.
    pub(crate) fn is_single_adapter(&self) -> bool {
        let is_server = |adapter: &PlannedAdapter| matches!(adapter.source, AdapterSource::Mcp(_));
        let is_followed = self.is_live && self.adapters.iter().any(is_server);
        self.config.is_none() && self.adapters.len() + self.unreadable.len() <= 1 && !is_followed
    }

    /// Returns all adapters, including those that cannot be served, and prints their problems. Adapters that `present` already serves
    /// are kept, and so are adapters whose new version has errors.
    ///
    /// # Errors
    /// When no adapter can be served, or when the configuration has errors and `present` can go on without it.
    pub(crate) fn members(self, present: Option<&Gateway>, cache: bool) -> Result<Vec<GatewayMember>> {
        if let Some(untrusted) = &self.untrusted {
            return Err(untrusted.error());
        }
        if let Some((source, diagnostics)) = &self.config {
            output::print_diagnostics(source, diagnostics);
            if present.is_some() && has_errors(diagnostics) && self.is_config_broken {
                anyhow::bail!("{} has errors", source.name);
            }
        }
        let mut members = Vec::new();
        let mut errors = Vec::new();
        for adapter in self.adapters {
            let (source, key) = (adapter.label(), adapter.key_with_values());
            if present.is_some_and(|gateway| gateway.has(&key)) {
                members.push(GatewayMember { key, name: source.clone(), source, origin: MemberOrigin::Kept });
                continue;
            }
            match build_member(adapter, cache, present.is_some()) {
                Ok((name, origin)) => members.push(GatewayMember { key, name, source, origin }),
                Err(error) => {
                    errors.push(error);
                    members.push(kept_or_broken(
                        present,
                        source,
                        "its document has errors; the log shows them",
                    ));
                }
            }
        }
        for (source, error) in self.unreadable {
            // With a configuration, the error is already printed at its entry.
            errors.extend(self.config.is_none().then_some(error));
            members.push(kept_or_broken(present, source, "its document cannot be read; the log shows why"));
        }
        if members.iter().all(|member| matches!(member.origin, MemberOrigin::Broken { .. })) {
            let error = errors.into_iter().next();
            return Err(error.unwrap_or_else(|| no_adapter_error(self.config.as_ref())));
        }
        errors.iter().for_each(output::print_error);
        Ok(members)
    }
}

/// Returns the adapter that `present` serves from this source, or a broken one.
fn kept_or_broken(present: Option<&Gateway>, source: String, reason: &str) -> GatewayMember {
    let slots = present.map(Gateway::slots).unwrap_or_default();
    if let Some(slot) = slots.iter().find(|slot| slot.source() == source) {
        tracing::warn!(adapter = slot.name(), %source, "the adapter has errors; its previous version is still served");
        let (key, name) = (slot.key().to_owned(), slot.name().to_owned());
        return GatewayMember { key, name, source, origin: MemberOrigin::Kept };
    }
    GatewayMember {
        key: format!("broken {source}"),
        name: source.clone(),
        source,
        origin: MemberOrigin::Broken { reason: reason.to_owned() },
    }
}

/// Builds one adapter. With `strict`, a document with any error is refused, so that it does not replace a served one.
fn build_member(adapter: PlannedAdapter, cache: bool, strict: bool) -> Result<(String, MemberOrigin)> {
    match adapter {
        PlannedAdapter { source: AdapterSource::Mcp(server), settings, entry, .. } => Ok((
            server.name.clone(),
            MemberOrigin::Live(Box::new(live_server(*server, settings, entry, cache))),
        )),
        adapter => {
            let catalog = adapter.compile_and_report(strict)?;
            Ok((catalog.adapter.name.clone(), MemberOrigin::Compiled(Box::new(catalog))))
        }
    }
}

/// Returns an adapter for an MCP server, which is asked for its tools while the other adapters are already served.
fn live_server(
    server: McpSource,
    settings: AdapterSettings,
    entry: EntryOverrides,
    cache: bool,
) -> LiveAdapter {
    let cache = server.capture_cache().filter(|_| cache);
    let last_capture = cache.as_ref().and_then(CaptureCache::read);
    let (target, auth) = (server.target.clone(), server.auth.clone());
    let pin = !entry.is_unpinned;
    let compile = Arc::new(move |capture: &_| {
        let CheckOutput { catalog, mut diagnostics } = server.check(capture, &settings, &entry);
        if catalog.is_some() {
            // The operator can fix rules that match nothing; all other problems are in the server.
            diagnostics.retain(|one| one.code == Code::SchemaUnresolvedRef && one.pointer.is_empty());
        }
        output::print_diagnostics(&Source::new(format!("mcp:{}", server.name), String::new()), &diagnostics);
        catalog.ok_or_else(|| "its tools cannot be served; the log shows why".to_owned())
    });
    let save = Arc::new(move |capture: &_| cache.iter().for_each(|cache| cache.write(capture)));
    LiveAdapter { target, auth, last_capture, compile, save, pin }
}
