//! The decision about a call: what runs, what waits for a confirmation, what is refused, and why.

use crate::call::GatedCall;
use crate::config::{Approver, GateConfig};
use crate::matching::MatchResult;
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
    /// What is counted separately, as a JSON list, such as `["alice"]`.
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
    /// Returns the state that the decision about a call needs, and the counters that the call increases if it runs.
    #[must_use]
    pub fn needs(&self, call: &GatedCall<'_>) -> Needs {
        let _ = call;
        Needs::default()
    }

    /// Returns the danger of a call after the operator's overrides.
    #[must_use]
    pub fn danger_of(&self, call: &GatedCall<'_>) -> Danger {
        call.danger
    }

    /// Returns every rule, quota and override, and whether it is about a call; for people who ask why.
    #[must_use]
    pub fn explain(&self, call: &GatedCall<'_>) -> Vec<RuleTrace> {
        let _ = call;
        Vec::new()
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
    let _ = (trust, config, history);
    Decision {
        verdict: Verdict::Deny,
        approver: Approver::Person,
        denial: Some(Denial {
            code: Code::PermissionDenied,
            message: "Not decided.".to_owned(),
            retry_after_seconds: None,
        }),
        reasons: Vec::new(),
        decided_by: DecidedBy::Matrix,
        danger: call.danger,
        rules: Vec::new(),
        warnings: Vec::new(),
        observed: None,
    }
}
