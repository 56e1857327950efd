//! The audit: what is wrong with the tools that a server shows, whoever made it, and what they cost.
//!
//! A [`Server`] is what was heard or written, as raw JSON; a rule looks at a view of it and says what it finds. Rules stand in
//! `rules/`, one file each, and the doc comment of a rule is its documentation: `mcpaql explain` and the reference page show it,
//! and its examples are its tests. What always holds: no rule needs a tool to be well-formed, none calls anything, and the same
//! tools held against the same standard give the same findings in the same order.

mod baseline;
mod compare;
pub mod convention;
mod hints;
mod inferred_effect;
pub mod load;
pub mod probe;
pub mod render;
mod report;
mod rule;
mod rules;
mod run;
mod score;
pub mod settings;
mod text;
mod tool;
mod unicode;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use baseline::{Baseline, Fingerprint};
pub use compare::{HintChange, compare};
pub use hints::{HintComparison, compare_hints};
pub use report::{AuditInput, AuditReport, FailedServer, FindingLocation, LocatedFinding, ToolsOrigin};
pub use rule::{Finding, Fix, Rule, RuleExample, RuleGroup};
pub use rules::{all_rules, find_rule};
pub use run::{AuditedBatch, ToolBatch, audit, finish_audit, tool_batches};
pub use score::{CONTEXT_WINDOW, Score, scores};
pub use tool::{KnownFacts, ParsedServer, ParsedTool, ServerTools, ToolPlace, parse_servers};
