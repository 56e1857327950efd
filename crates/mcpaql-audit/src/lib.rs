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
pub use compare::{Change, compare};
pub use hints::{HintComparison, compare_hints};
pub use report::{Audited, Failed, Found, Origin, Report, Spot};
pub use rule::{Example, Finding, Fix, Group, Rule};
pub use rules::{all_rules, find_rule};
pub use run::{Seen, Share, audit, conclude, shares};
pub use score::{Score, WINDOW, scores};
pub use tool::{Known, Place, Server, Surface, Tool, surfaces};
