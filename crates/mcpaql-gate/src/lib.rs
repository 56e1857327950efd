//! Decides whether a call may run, as pure functions: danger, trust, rules, quotas, fingerprints, and the format of the log.
//!
//! ```
//! use mcpaql_gate::trust::{TrustLevel, Verdict, matrix};
//! use mcpaql_lexicon::Danger;
//!
//! assert_eq!(matrix(Danger::Destructive, TrustLevel::Validated), Verdict::Confirm);
//! ```
//!
//! What always holds: every combination of inputs has a decision, and the same inputs have the same decision. Clocks, random numbers and
//! stored state are inputs.

pub mod trust;
