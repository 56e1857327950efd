//! The `match` part of rules, quotas and overrides: which calls it means.
//!
//! ```
//! use mcpaql_gate::matching::NamePattern;
//!
//! let pattern = NamePattern::new("refund_*");
//! assert!(pattern.matches("refund_order"));
//! assert!(!pattern.matches("list_refunds"));
//! ```

mod number;
mod param;
#[cfg(test)]
mod tests;

pub use param::{ParamCondition, ParamPattern, ParamTest};

use crate::call::GatedCall;
use mcpaql_lexicon::{Category, Danger};

/// A name, in which each `*` stands for any text. Upper and lower case differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamePattern(String);

impl NamePattern {
    /// Creates a pattern.
    pub fn new(text: impl Into<String>) -> NamePattern {
        NamePattern(text.into())
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a name fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        // The leftmost place of each part leaves the most text for those after it.
        for part in parts {
            let Some((_, after)) = rest.split_once(part) else { return false };
            rest = after;
        }
        rest.ends_with(last)
    }
}

/// Whether a call fits a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchResult {
    /// It does not.
    No,
    /// It cannot be decided: a parameter has a value that the test cannot compare, or only some values of a list fit.
    Unknown,
    /// It does.
    Yes,
}

/// Which calls a rule, a quota or an override means. A call fits if all parts fit; an empty part fits every call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallMatch {
    /// Names of adapters.
    pub adapter: Vec<NamePattern>,
    /// Names of endpoints.
    pub endpoint: Vec<NamePattern>,
    /// Categories of operations.
    pub category: Vec<Category>,
    /// Names of operations.
    pub operation: Vec<NamePattern>,
    /// Tags; one of the operation's tags must fit.
    pub tag: Vec<NamePattern>,
    /// This level of danger or a higher one.
    pub danger: Option<Danger>,
    /// Names of callers.
    pub caller: Vec<NamePattern>,
    /// Tests of parameters. All must hold.
    pub params: Vec<ParamTest>,
}

impl CallMatch {
    /// Returns whether a call fits, with its danger after the operator's overrides.
    #[must_use]
    pub fn test(&self, call: &GatedCall<'_>, danger: Danger) -> MatchResult {
        if self.mismatched_name(call, danger).is_some() {
            return MatchResult::No;
        }
        self.params.iter().map(|param| param.test(call.args)).min().unwrap_or(MatchResult::Yes)
    }

    /// Returns the first part that does not fit a call, such as `operation` or `params.amount`; `None` if all fit or may fit.
    #[must_use]
    pub fn mismatch(&self, call: &GatedCall<'_>, danger: Danger) -> Option<String> {
        if let Some(part) = self.mismatched_name(call, danger) {
            return Some(part.to_owned());
        }
        let param = self.params.iter().find(|param| param.test(call.args) == MatchResult::No)?;
        Some(format!("params.{}", param.path))
    }

    fn mismatched_name(&self, call: &GatedCall<'_>, danger: Danger) -> Option<&'static str> {
        let names = [
            ("adapter", &self.adapter, call.adapter),
            ("endpoint", &self.endpoint, call.endpoint),
            ("operation", &self.operation, call.operation),
            ("caller", &self.caller, call.caller),
        ];
        let wrong = names.into_iter().find(|(_, patterns, name)| !fits(patterns, name));
        if let Some((part, ..)) = wrong {
            Some(part)
        } else if !self.category.is_empty() && !self.category.contains(&call.category) {
            Some("category")
        } else if !self.tag.is_empty() && !call.tags.iter().any(|tag| fits(&self.tag, tag)) {
            Some("tag")
        } else if self.danger.is_some_and(|level| danger < level) {
            Some("danger")
        } else {
            None
        }
    }
}

fn fits(patterns: &[NamePattern], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
}
