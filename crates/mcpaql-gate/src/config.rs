//! The operator's file `config.yaml`: rules, quotas, who confirms, the log.
//!
//! ```
//! use mcpaql_gate::config::{GateConfig, GateMode};
//! use mcpaql_gate::trust::Verdict;
//! use serde_json::json;
//!
//! let (config, problems) = GateConfig::load(&json!({
//!     "rules": [{"name": "no-wipe", "match": {"operation": "wipe_*"}, "decision": "deny"}]
//! }));
//! assert!(problems.is_empty());
//! assert_eq!(config.mode, GateMode::Enforce);
//! assert_eq!(config.rules[0].decision, Some(Verdict::Deny));
//!
//! let (config, problems) = GateConfig::load(&json!({"rules": [{"match": {"operatoin": "wipe_*"}, "decision": "deny"}]}));
//! assert_eq!(problems[0].suggestion.as_deref(), Some("did you mean `operation`?"));
//! assert_eq!(config, GateConfig::deny_all());
//! ```
//!
//! ```yaml
//! mode: enforce                      # or observe: rules and quotas are only logged
//! rules:
//!   - name: no-refunds-over-100      # default: `rule 1`
//!     match:                         # all parts must fit; no part fits every call
//!       adapter: shop                # a name or a list; `*` stands for any text
//!       endpoint: [update, execute]
//!       category: execute
//!       operation: "refund_*"
//!       tag: billing
//!       danger: reversible           # this level or a higher one
//!       caller: [alice, "build-*"]
//!       params: {amount: {gt: 100}, region: [eu, us], note: {pattern: urgent}, customer.id: 3, id: {exists: true}}
//!     decision: confirm              # deny, confirm or allow; optional with at_most or after
//!     confirm: person                # token or person
//!     reason: Refunds over 100 need a person
//!     at_most: {calls: 10, per: minute, by: [caller]}
//!     after: {operation: get_invoice, within: 10m}
//! quotas:
//!   - {name: daily, match: {adapter: shop}, by: [caller], per: day, warn: 80, pause: 100, stop: 120}
//! danger:                            # the highest level that matches counts
//!   - {match: {adapter: shop, operation: delete_draft}, level: reversible}
//! confirm: {destructive: token, dangerous: person, forbidden: person, wait_seconds: 20}
//! log: {checkpoint_file: /elsewhere/mcpaql.checkpoints, keep_days: 365, rotate_bytes: 67108864}
//! form_clients: [claude-code]
//! ```
//!
//! What always holds: an unknown key, a key without a value and an empty list are errors, and a file with an error denies every call. So no
//! typing error makes a rule about more calls, or about none.

mod read;
mod read_match;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use window::describe as describe_window;

use crate::matching::{CallMatch, NamePattern};
use crate::trust::Verdict;
use mcpaql_lexicon::Danger;
use mcpaql_schema::diagnostic::{Diagnostic, Severity};
use mcpaql_schema::reader::DocumentReader;
use serde_json::Value;

/// The content of `config.yaml`. The default has no rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateConfig {
    /// Whether rules and quotas decide, or only report.
    pub mode: GateMode,
    /// The rules, in the order of the file.
    pub rules: Vec<GateRule>,
    /// The quotas, in the order of the file.
    pub quotas: Vec<Quota>,
    /// Corrections of the danger of operations.
    pub danger: Vec<DangerOverride>,
    /// Who confirms.
    pub confirm: ConfirmConfig,
    /// The log.
    pub log: LogConfig,
    /// Names of clients whose form elicitation counts as a person's approval.
    pub form_clients: Vec<NamePattern>,
}

/// Whether rules and quotas decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GateMode {
    /// They decide.
    #[default]
    Enforce,
    /// They are evaluated and logged, and the table of danger and trust decides.
    Observe,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRule {
    /// Its name, which is unique; `rule 3` if the file names none.
    pub name: String,
    /// The calls that it is about.
    pub matches: CallMatch,
    /// Its decision, if it has one.
    pub decision: Option<Verdict>,
    /// Who confirms, if the decision is `confirm`; `None` uses [`ConfirmConfig`].
    pub confirm: Option<Approver>,
    /// Why, for people and models.
    pub reason: Option<String>,
    /// The maximum number of calls in a time.
    pub at_most: Option<RateLimit>,
    /// The operation that must have succeeded before.
    pub after: Option<Prerequisite>,
}

/// Who confirms a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Approver {
    /// Whoever sends the token back, usually the model after it asked the user.
    Token,
    /// A person, through a channel that the model cannot use.
    Person,
}

/// At most so many calls in a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// The maximum number of calls.
    pub calls: u64,
    /// The length of the window.
    pub window_seconds: u64,
    /// What is counted separately; empty counts all calls together.
    pub by: Vec<CountedBy>,
}

/// An operation that must have succeeded before, for the same caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prerequisite {
    /// Its adapter; `None` means that of the call.
    pub adapter: Option<String>,
    /// Its name.
    pub operation: String,
    /// How long ago, at most.
    pub within_seconds: u64,
}

/// A quota: first it warns, then it asks, then it stops.
#[derive(Debug, Clone, PartialEq)]
pub struct Quota {
    /// Its name, which is unique; `quota 2` if the file names none.
    pub name: String,
    /// The calls that count.
    pub matches: CallMatch,
    /// What is counted separately; empty counts all calls together.
    pub by: Vec<CountedBy>,
    /// The length of the window.
    pub window_seconds: u64,
    /// Calls beyond this use have a warning.
    pub warn: Option<u64>,
    /// Calls beyond this use need the user's decision to continue.
    pub pause: Option<u64>,
    /// Calls beyond this use are refused.
    pub stop: Option<u64>,
    /// How much a call uses.
    pub cost: u64,
    /// Other costs of some calls; the highest that matches counts.
    pub costs: Vec<QuotaCost>,
}

/// The cost of some calls of a quota.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaCost {
    /// The calls.
    pub matches: CallMatch,
    /// How much one uses.
    pub cost: u64,
}

/// What a limit counts separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CountedBy {
    /// Each caller.
    Caller,
    /// Each adapter.
    Adapter,
    /// Each endpoint of an adapter.
    Endpoint,
    /// Each category.
    Category,
    /// Each operation of an adapter.
    Operation,
}

/// The operator's word about the danger of operations. It may raise or lower it.
#[derive(Debug, Clone, PartialEq)]
pub struct DangerOverride {
    /// The calls.
    pub matches: CallMatch,
    /// Their level.
    pub level: Danger,
}

/// Who confirms calls, by danger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmConfig {
    /// Safe operations that a document or a rule wants confirmed.
    pub safe: Approver,
    /// Reversible operations that a document or a rule wants confirmed.
    pub reversible: Approver,
    /// Destructive operations.
    pub destructive: Approver,
    /// Dangerous operations.
    pub dangerous: Approver,
    /// Forbidden operations.
    pub forbidden: Approver,
    /// How long a call waits for a person before it answers.
    pub wait_seconds: u64,
}

/// Where the log goes, and how long it stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogConfig {
    /// A file that gets a copy of each checkpoint.
    pub checkpoint_file: Option<String>,
    /// A command that gets each checkpoint on its standard input.
    pub checkpoint_command: Vec<String>,
    /// How many days records stay; `None` keeps them all.
    pub keep_days: Option<u64>,
    /// The size of a file of the log, after which a new one starts.
    pub rotate_bytes: Option<u64>,
}

impl GateConfig {
    /// Reads the file from its untyped value. If a diagnostic is an error, the returned configuration denies every call.
    #[must_use]
    pub fn load(value: &Value) -> (GateConfig, Vec<Diagnostic>) {
        // An empty file.
        if value.is_null() {
            return (GateConfig::default(), Vec::new());
        }
        let mut reader = DocumentReader::default();
        let config = reader.object(value, "").map(|file| read::read(&mut reader, &file));
        let has_errors = reader.diagnostics.iter().any(|problem| problem.severity == Severity::Error);
        let config = config.filter(|_| !has_errors).unwrap_or_else(GateConfig::deny_all);
        (config, reader.diagnostics)
    }

    /// Returns a configuration that denies every call, for a file that cannot be used.
    #[must_use]
    pub fn deny_all() -> GateConfig {
        GateConfig {
            rules: vec![GateRule {
                name: "config.yaml".to_owned(),
                matches: CallMatch::default(),
                decision: Some(Verdict::Deny),
                confirm: None,
                reason: Some("The operator's configuration has errors".to_owned()),
                at_most: None,
                after: None,
            }],
            ..GateConfig::default()
        }
    }
}

impl ConfirmConfig {
    /// Returns who confirms operations of a level.
    #[must_use]
    pub const fn approver(&self, danger: Danger) -> Approver {
        match danger {
            Danger::Safe => self.safe,
            Danger::Reversible => self.reversible,
            Danger::Destructive => self.destructive,
            Danger::Dangerous => self.dangerous,
            Danger::Forbidden => self.forbidden,
        }
    }
}

impl Default for ConfirmConfig {
    fn default() -> Self {
        ConfirmConfig {
            safe: Approver::Token,
            reversible: Approver::Token,
            destructive: Approver::Token,
            dangerous: Approver::Person,
            forbidden: Approver::Person,
            wait_seconds: 20,
        }
    }
}

impl CountedBy {
    /// All of them.
    pub const ALL: [CountedBy; 5] = [
        CountedBy::Caller,
        CountedBy::Adapter,
        CountedBy::Endpoint,
        CountedBy::Category,
        CountedBy::Operation,
    ];

    /// The word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            CountedBy::Caller => "caller",
            CountedBy::Adapter => "adapter",
            CountedBy::Endpoint => "endpoint",
            CountedBy::Category => "category",
            CountedBy::Operation => "operation",
        }
    }
}

impl GateMode {
    /// The word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            GateMode::Enforce => "enforce",
            GateMode::Observe => "observe",
        }
    }
}

impl Approver {
    /// The word in the file and in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Approver::Token => "token",
            Approver::Person => "person",
        }
    }
}
