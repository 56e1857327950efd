//! The state of each adapter for `/healthz` and status reports, without secrets and paths.

use super::slot::{AdapterSlot, AdapterState};
use super::{Gateway, GatewayShared};
use crate::health::{Health, HealthStatus};
use crate::state::timestamp;
use mcpaql_core::{surface, tokens};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

impl Gateway {
    /// The state of the adapters.
    #[must_use]
    pub fn health(&self) -> Health {
        self.inner.health()
    }
}

impl GatewayShared {
    fn health(&self) -> Health {
        let slots = self.slots().clone();
        let is_working = |slot: &AdapterSlot| {
            !matches!(slot.observed_state().0, AdapterState::Failing { .. } | AdapterState::Saturated { .. })
        };
        let status = if slots.iter().all(|slot| slot.served().is_none()) {
            HealthStatus::Down
        } else if slots.iter().all(|slot| is_working(slot)) {
            HealthStatus::Ok
        } else {
            HealthStatus::Degraded
        };
        Health { status, adapters: slots.iter().map(|slot| report(slot)).collect() }
    }
}

fn report(slot: &AdapterSlot) -> Value {
    let (state, since) = slot.observed_state();
    let mut report = json!({
        "name": slot.name(),
        "source": file_name(slot.source()),
        "state": state.as_str(),
        "since": rfc3339(since),
    });
    let Some(members) = report.as_object_mut() else { return report };
    if let Some(reason) = state.reason() {
        members.insert("reason".into(), reason.into());
    }
    if let Some(served) = slot.served() {
        let catalog = served.catalog();
        let (surface, discrete) = served.surface_tokens(|| {
            let listed = slot.backing_server().and_then(|server| server.known_tools());
            let listed =
                listed.map(|tools| tools.iter().map(|tool| tokens::estimate(&tool.to_string())).sum());
            (surface::surface_cost(catalog), listed.unwrap_or_else(|| surface::discrete_cost(catalog)))
        });
        members.insert("operations".into(), (catalog.operations.len() - 1).into());
        members.insert("tools".into(), catalog.tools.len().into());
        let flagged = catalog.flagged_operations();
        if !flagged.is_empty() {
            members.insert("flagged".into(), flagged.iter().map(|flagged| flagged.to_json()).collect());
        }
        members.insert("surface_tokens".into(), surface.into());
        let signed = |tokens: usize| i64::try_from(tokens).unwrap_or(i64::MAX);
        members.insert("tokens_saved".into(), (signed(discrete) - signed(surface)).into());
    }
    if let Value::Object(count) = slot.stats().count().to_json() {
        members.extend(count);
    }
    report
}

/// Returns the name of a document without its folder.
fn file_name(source: &str) -> String {
    if source.contains("://") || source.starts_with("builtin:") || source.starts_with("mcp:") {
        return source.to_owned();
    }
    Path::new(source)
        .file_name()
        .map_or_else(|| source.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Formats a time in UTC, with seconds.
fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    timestamp(i64::try_from(since.as_secs()).unwrap_or_default())
}
