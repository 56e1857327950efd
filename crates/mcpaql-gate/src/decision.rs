//! The decision about a call: what runs, what waits for a confirmation, what is refused, and why.
//!
//! ```
//! use mcpaql_gate::call::GatedCall;
//! use mcpaql_gate::config::GateConfig;
//! use mcpaql_gate::decision::{CounterKey, History, SuccessKey, Usage, decide};
//! use mcpaql_gate::trust::{TrustLevel, Verdict};
//! use mcpaql_lexicon::{Category, Danger};
//! use mcpaql_schema::error::Code;
//! use serde_json::{Map, json};
//!
//! /// The state of the operator; here ten calls were counted, and no operation has succeeded.
//! struct State;
//! impl History for State {
//!     fn used(&self, _: &CounterKey) -> Option<Usage> {
//!         Some(Usage { used: 10, resets_in_seconds: 12 })
//!     }
//!     fn succeeded(&self, _: &SuccessKey) -> Option<bool> {
//!         Some(false)
//!     }
//! }
//!
//! let (config, _) = GateConfig::load(&json!({
//!     "rules": [{"name": "slow", "match": {"category": "read"}, "at_most": {"calls": 10, "per": "minute"}}]
//! }));
//! let call = GatedCall {
//!     adapter: "shop", endpoint: "read", category: Category::Read, operation: "get_order", tags: &[], danger: Danger::Safe,
//!     needs_confirmation: false, caller: "alice", args: &Map::new(), continued_quotas: &[],
//! };
//! assert_eq!(config.needs(&call).counters[0].limit, "rule slow");
//!
//! let denial = decide(&call, TrustLevel::Validated, &config, &State).denial.unwrap();
//! assert_eq!(denial.code, Code::RateLimitExceeded);
//! assert_eq!(denial.retry_after_seconds, Some(12));
//! ```
//!
//! The order of the decision:
//!
//! 1. The operator's overrides give the danger.
//! 2. An untested adapter is refused, whatever rules say: a rule names an adapter, and nobody has approved what has this name now.
//! 3. Of the rules that match, deny wins over confirm, and confirm over allow. Without one, [`matrix`] decides, and a document may ask for
//!    a confirmation of what it allows.
//! 4. `after`, `at_most` and quotas refuse what is left, whatever else allows it. State that is needed and cannot be read refuses it, too.
//!
//! What always holds: a match that is [`MatchResult::Unknown`] only makes the decision stricter. Without a rule or an override of the
//! operator, no decision is milder than that of [`matrix`].

mod base;
mod limits;
#[cfg(test)]
mod tests;
mod text;

use crate::call::GatedCall;
use crate::config::{Approver, GateConfig, GateMode};
use crate::matching::{CallMatch, MatchResult};
#[cfg(doc)]
use crate::trust::matrix;
use crate::trust::{TrustLevel, Verdict};
use mcpaql_lexicon::Danger;
use mcpaql_schema::error::Code;

/// What the operator's state knows about earlier calls. `None` means that the state cannot be read; the call is then denied.
pub trait History {
    /// Returns how much of a limit is used.
    fn used(&self, key: &CounterKey) -> Option<Usage>;
    /// Returns whether an operation succeeded for a caller within a time.
    fn succeeded(&self, key: &SuccessKey) -> Option<bool>;
}

/// A history that cannot be read. It decides calls that no limit is about.
#[derive(Debug, Clone, Copy)]
pub struct UnknownHistory;

impl History for UnknownHistory {
    fn used(&self, _key: &CounterKey) -> Option<Usage> {
        None
    }

    fn succeeded(&self, _key: &SuccessKey) -> Option<bool> {
        None
    }
}

/// How much of a limit is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The sum of the costs of the calls in the window.
    pub used: u64,
    /// The time until a part of it is free again.
    pub resets_in_seconds: u64,
}

/// A counter that a call reads, and increases if it runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CounterKey {
    /// The limit: `rule NAME` or `quota NAME`.
    pub limit: String,
    /// What is counted separately, as JSON, such as `{"caller":"alice"}`.
    pub scope: String,
    /// The length of the window.
    pub window_seconds: u64,
    /// How much this call uses. It does not identify the counter.
    pub cost: u64,
}

/// An operation that must have succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SuccessKey {
    /// Its adapter.
    pub adapter: String,
    /// Its name.
    pub operation: String,
    /// For whom.
    pub caller: String,
    /// How long ago, at most.
    pub within_seconds: u64,
}

/// The state that a decision needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Counters. Each one increases by its cost if the call runs.
    pub counters: Vec<CounterKey>,
    /// Operations that must have succeeded.
    pub successes: Vec<SuccessKey>,
}

impl Needs {
    /// Whether the decision needs no state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.successes.is_empty()
    }
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What happens to the call.
    pub verdict: Verdict,
    /// Who confirms; it only matters if the verdict is [`Verdict::Confirm`].
    pub approver: Approver,
    /// Why the call is refused; present if the verdict is [`Verdict::Deny`].
    pub denial: Option<Denial>,
    /// Why the call must be confirmed or is refused, in sentences; empty if it is allowed.
    pub reasons: Vec<String>,
    /// What decided.
    pub decided_by: DecidedBy,
    /// The danger of the call, after the operator's overrides.
    pub danger: Danger,
    /// The rules and quotas that matched, or may have matched.
    pub rules: Vec<RuleTrace>,
    /// Quotas that are nearly used up.
    pub warnings: Vec<QuotaWarning>,
    /// With `mode: observe`, what rules and quotas would have decided.
    pub observed: Option<Box<Decision>>,
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The error code.
    pub code: Code,
    /// One sentence with the next step, for the model.
    pub message: String,
    /// When it may be sent again, if time helps.
    pub retry_after_seconds: Option<u64>,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// The table of danger and trust.
    Matrix,
    /// The document, which asks for a confirmation.
    Document,
    /// A rule, by name.
    Rule(String),
    /// A quota, by name.
    Quota(String),
}

impl std::fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DecidedBy::Matrix => f.write_str("matrix"),
            DecidedBy::Document => f.write_str("document"),
            DecidedBy::Rule(name) => write!(f, "rule {name}"),
            DecidedBy::Quota(name) => write!(f, "quota {name}"),
        }
    }
}

/// A rule, a quota or an override, and whether it is about the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTrace {
    /// `rule NAME`, `quota NAME` or `danger override 2`.
    pub name: String,
    /// Whether it matches.
    pub matched: MatchResult,
    /// What it decides on its own, if it decides something.
    pub decision: Option<Verdict>,
    /// Why: the part that does not match, how much is used, what is missing.
    pub note: Option<String>,
}

/// A quota that is nearly used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaWarning {
    /// The name of the quota.
    pub quota: String,
    /// How much is used, with this call.
    pub used: u64,
    /// How much can be used before calls are paused or refused; `None` if the quota only warns.
    pub limit: Option<u64>,
    /// The time until a part of it is free again.
    pub resets_in_seconds: u64,
    /// One sentence for the model.
    pub message: String,
}

impl GateConfig {
    /// Returns the danger of a call after the operator's overrides: the highest level that matches.
    ///
    /// An override that may match only raises the level.
    #[must_use]
    pub fn danger_of(&self, call: &GatedCall<'_>) -> Danger {
        let (mut sure, mut possible) = (None, None);
        for entry in &self.danger {
            match entry.matches.test(call, call.danger) {
                MatchResult::Yes => sure = sure.max(Some(entry.level)),
                MatchResult::Unknown => possible = possible.max(Some(entry.level)),
                MatchResult::No => {}
            }
        }
        let danger = sure.unwrap_or(call.danger);
        possible.map_or(danger, |level| danger.max(level))
    }

    /// Returns the state that the decision about a call needs, and the counters that the call increases if it runs.
    #[must_use]
    pub fn needs(&self, call: &GatedCall<'_>) -> Needs {
        limits::needs(self, call, self.danger_of(call))
    }

    /// Returns every override, rule and quota, and whether it is about a call; for people who ask why.
    #[must_use]
    pub fn explain(&self, call: &GatedCall<'_>) -> Vec<RuleTrace> {
        let danger = self.danger_of(call);
        let trace = |name, matches: &CallMatch, danger, decision| RuleTrace {
            name,
            matched: matches.test(call, danger),
            decision,
            note: matches.mismatch(call, danger).map(|part| format!("'{part}' does not match")),
        };
        let overrides = self.danger.iter().enumerate().map(|(index, entry)| {
            let name = format!("danger override {}, {}", index + 1, entry.level.as_str());
            trace(name, &entry.matches, call.danger, None)
        });
        let rules =
            self.rules.iter().map(|rule| trace(limits::rule_key(rule), &rule.matches, danger, rule.decision));
        let quotas =
            self.quotas.iter().map(|quota| trace(limits::quota_key(quota), &quota.matches, danger, None));
        overrides.chain(rules).chain(quotas).collect()
    }
}

/// Decides about a call.
#[must_use]
pub fn decide(
    call: &GatedCall<'_>,
    trust: TrustLevel,
    config: &GateConfig,
    history: &dyn History,
) -> Decision {
    let danger = config.danger_of(call);
    let decision = enforce(call, danger, trust, config, history);
    match config.mode {
        GateMode::Enforce => decision,
        GateMode::Observe => Decision {
            rules: decision.rules.clone(),
            observed: Some(Box::new(decision)),
            ..base::decide(call, danger, trust, config, &[])
        },
    }
}

/// Decides with rules and quotas.
fn enforce(
    call: &GatedCall<'_>,
    danger: Danger,
    trust: TrustLevel,
    config: &GateConfig,
    history: &dyn History,
) -> Decision {
    let rules = limits::matching_rules(config, call, danger);
    let mut decision = base::decide(call, danger, trust, config, &rules);
    let limits = limits::check(config, call, danger, &rules, history);
    decision.rules = limits.traces;
    if decision.verdict == Verdict::Deny {
        return decision;
    }
    match limits.refusal {
        Some(refusal) => {
            decision.verdict = Verdict::Deny;
            decision.reasons = vec![refusal.denial.message.clone()];
            decision.denial = Some(refusal.denial);
            decision.decided_by = refusal.decided_by;
        }
        None => decision.warnings = limits.warnings,
    }
    decision
}
