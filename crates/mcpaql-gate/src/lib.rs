//! Decides whether a call may run, as pure functions: danger, trust, rules, quotas, fingerprints, tokens, and the format of the log.
//!
//! ```
//! use mcpaql_gate::call::GatedCall;
//! use mcpaql_gate::config::GateConfig;
//! use mcpaql_gate::decision::{UnknownHistory, decide};
//! use mcpaql_gate::trust::{TrustLevel, Verdict};
//! use mcpaql_lexicon::{Category, Danger};
//! use serde_json::{Map, json};
//!
//! let (config, problems) = GateConfig::load(&json!({
//!     "rules": [{"match": {"operation": "refund_*", "params": {"amount": {"gt": 100}}}, "decision": "deny"}]
//! }));
//! assert!(problems.is_empty());
//!
//! let args = json!({"amount": 250});
//! let call = GatedCall {
//!     adapter: "shop",
//!     endpoint: "execute",
//!     category: Category::Execute,
//!     operation: "refund_order",
//!     tags: &[],
//!     danger: Danger::Reversible,
//!     needs_confirmation: false,
//!     caller: "alice",
//!     args: args.as_object().unwrap(),
//!     continued_quotas: &[],
//! };
//! let decision = decide(&call, TrustLevel::Validated, &config, &UnknownHistory);
//! assert_eq!(decision.verdict, Verdict::Deny);
//!
//! let small = Map::from_iter([("amount".to_owned(), json!(20))]);
//! let decision = decide(&GatedCall { args: &small, ..call }, TrustLevel::Validated, &config, &UnknownHistory);
//! assert_eq!(decision.verdict, Verdict::Allow);
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`trust`] | trust levels, and the table that decides from danger and trust |
//! | [`call`] | what the gate knows about a call |
//! | [`matching`] | the `match` part of rules: patterns of names, tests of parameters |
//! | [`config`] | the operator's `config.yaml`: rules, quotas, who confirms, the log |
//! | [`decision`] | the decision about a call |
//! | [`fingerprint`] | canonical JSON, its hash, and the differences of two values |
//! | [`token`] | confirmation tokens and quota tokens; the hash of a call |
//! | [`log`] | records, the hash chain, signed checkpoints, verification |
//! | [`redact`] | parameters as the log and approvals show them |
//!
//! What always holds: every combination of inputs has a decision, and the same inputs have the same decision. Clocks, random numbers and
//! stored state are inputs.

pub mod call;
pub mod config;
pub mod decision;
pub mod fingerprint;
pub mod log;
pub mod matching;
pub mod redact;
pub mod token;
pub mod trust;
