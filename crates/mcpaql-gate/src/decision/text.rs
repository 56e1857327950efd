//! The sentences of decisions. Models and people read them.
//!
//! What always holds: no sentence fails the leak check. Names and reasons of the operator may, so such a sentence is replaced by one without
//! them.

use crate::call::GatedCall;
use crate::config::{GateRule, Prerequisite, Quota, RateLimit, describe_window};
use crate::trust::TrustLevel;
use mcpaql_lexicon::Danger;
use mcpaql_schema::error::looks_internal;

/// The reason if the document asks for a confirmation.
pub(super) const DOCUMENT_CONFIRMS: &str = "The adapter asks for a confirmation of each call.";

fn or(text: String, without_names: &str) -> String {
    if looks_internal(&text) { without_names.to_owned() } else { text }
}

/// Ends a sentence of the operator.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Why operations of a level are confirmed.
pub(super) fn risk(danger: Danger) -> Option<String> {
    let text = match danger {
        Danger::Safe | Danger::Reversible => return None,
        Danger::Destructive => "The operation is destructive: its effect cannot be undone.",
        Danger::Dangerous => "The operation is dangerous: it can destroy a lot, or bypass safeguards.",
        Danger::Forbidden => "The operation is forbidden in normal use.",
    };
    Some(text.to_owned())
}

pub(super) fn rule_confirms(rule: &GateRule) -> String {
    let text = match &rule.reason {
        Some(reason) => sentence(reason),
        None => format!("The operator's rule '{}' asks for a confirmation.", rule.name),
    };
    or(text, "A rule of the operator asks for a confirmation.")
}

pub(super) fn rule_denies(rule: &GateRule) -> String {
    let why = rule.reason.as_deref().map_or_else(|| "Tell the user.".to_owned(), sentence);
    let text = format!("The operator's rule '{}' denies this call. {why}", rule.name);
    or(text, "A rule of the operator denies this call. Tell the user.")
}

pub(super) fn untested(call: &GatedCall<'_>) -> String {
    let name = call.adapter;
    or(
        format!(
            "Adapter '{name}' is not trusted yet, so it can only be introspected. Tell the user to run `mcpaql trust {name}`."
        ),
        "The adapter is not trusted yet, so it can only be introspected. Tell the user to run `mcpaql trust`.",
    )
}

pub(super) fn generated(call: &GatedCall<'_>, danger: Danger) -> String {
    let (operation, name, level) = (call.operation, call.adapter, danger.as_str());
    or(
        format!(
            "Operation '{operation}' is {level}, and adapter '{name}' is trusted as generated, which only allows safe operations. \
             Tell the user to run `mcpaql trust {name} --level validated`."
        ),
        "The adapter is trusted as generated, which only allows safe operations. Tell the user to run `mcpaql trust`.",
    )
}

pub(super) fn too_dangerous(call: &GatedCall<'_>, danger: Danger, trust: TrustLevel) -> String {
    let (operation, level, trust) = (call.operation, danger.as_str(), trust.as_str());
    or(
        format!(
            "Operation '{operation}' is {level}, which the trust level {trust} does not allow. \
             Choose a safer operation, or tell the user."
        ),
        "The operation is too dangerous for the adapter's trust level. Choose a safer operation, or tell the user.",
    )
}

/// `limit` is `rule NAME` or `quota NAME`.
pub(super) fn undecidable(limit: &str) -> String {
    or(
        format!(
            "The call is denied, because the state for the operator's {limit} cannot be read. Tell the user."
        ),
        "The call is denied, because the operator's state cannot be read. Tell the user.",
    )
}

pub(super) fn missing_success(rule: &GateRule, after: &Prerequisite) -> String {
    let (operation, within) = (&after.operation, describe_window(after.within_seconds));
    let place = after.adapter.as_ref().map(|name| format!(" of adapter '{name}'")).unwrap_or_default();
    or(
        format!(
            "Call '{operation}'{place} first: the operator's rule '{}' needs its success within the last {within}.",
            rule.name
        ),
        "A rule of the operator needs the success of another operation first. Tell the user.",
    )
}

pub(super) fn too_many(rule: &GateRule, limit: &RateLimit, seconds: u64) -> String {
    let (calls, window) = (count(limit.calls, "call"), describe_window(limit.window_seconds));
    let wait = count(seconds, "second");
    or(
        format!("The operator's rule '{}' allows {calls} per {window}. Try again in {wait}.", rule.name),
        &format!("A rule of the operator allows {calls} per {window}. Try again in {wait}."),
    )
}

pub(super) fn exhausted(quota: &Quota, used: u64, stop: u64, seconds: u64) -> String {
    let wait = count(seconds, "second");
    or(
        format!(
            "Quota '{}' is used up: {used} of {stop}. Stop, and tell the user. A part is free in {wait}.",
            quota.name
        ),
        &format!("A quota is used up. Stop, and tell the user. A part is free in {wait}."),
    )
}

pub(super) fn paused(quota: &Quota, used: u64, pause: u64) -> String {
    or(
        format!(
            "Quota '{}' pauses calls: {used} of {pause} are used. Ask the user whether to continue.",
            quota.name
        ),
        "A quota pauses calls. Ask the user whether to continue.",
    )
}

pub(super) fn nearly_used(quota: &Quota, used: u64, limit: Option<u64>) -> String {
    let of = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    or(
        format!("Quota '{}' is nearly used up: {used}{of}. Make fewer calls.", quota.name),
        "A quota is nearly used up. Make fewer calls.",
    )
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
