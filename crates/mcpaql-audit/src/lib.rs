//! Audits the tools of any MCP server: what is wrong with them, and what they cost.
//!
//! [`ServerTools`] are the tools of a server as raw JSON. [`audit`] runs every rule on them and returns the findings:
//!
//! ```
//! use mcpaql_audit::convention::Standard;
//! use mcpaql_audit::{ServerTools, audit};
//!
//! let tools = vec![serde_json::json!({"name": "create issue", "inputSchema": {"type": "object"}})];
//! let server = ServerTools { name: "tracker".to_owned(), tools, ..ServerTools::default() };
//! let findings = audit(&[server], &Standard::default());
//! assert!(findings.iter().any(|finding| finding.rule.code == "NAME-001"));
//! ```
//!
//! Each rule has its own file in `rules/`. The doc comment of a rule is its documentation: `mcpaql explain` and the reference page
//! show it, and its examples are its tests.
//!
//! What always holds: no rule needs a tool to be well-formed, no rule calls anything, and the same tools and the same standard give
//! the same findings in the same order.

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
