//! Which prompts and resources of an MCP server are served.
//!
//! What always holds: `exclude` wins over `include`; without `include`, everything is selected; with it, nothing is selected that no
//! rule names.
//!
//! ```
//! use mcpaql_core::selection::{FeatureRule, FeatureSelection};
//!
//! let only_notes = FeatureSelection { is_limited: true, include: vec![FeatureRule::Resource("file:///notes/**".into())], exclude: vec![] };
//! assert!(only_notes.takes_resource(["file:///notes/a"]) && !only_notes.takes_resource(["file:///etc/passwd"]));
//! assert!(!only_notes.takes_prompt("greet"));
//! ```

use crate::glob::matches;

/// A rule that selects prompts or resources, as a pattern of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureRule {
    /// Prompts with a matching name.
    Prompt(String),
    /// Resources with a matching URI, URI template or name. `*` does not match a slash.
    Resource(String),
    /// Prompts and resources with a matching name. The rule selects operations, too.
    Name(String),
}

impl FeatureRule {
    fn fits_prompt(&self, name: &str) -> bool {
        match self {
            FeatureRule::Prompt(glob) | FeatureRule::Name(glob) => matches(glob, name, None),
            FeatureRule::Resource(_) => false,
        }
    }

    fn fits_resource(&self, name: &str) -> bool {
        match self {
            FeatureRule::Resource(glob) => matches(glob, name, Some('/')),
            FeatureRule::Name(glob) => matches(glob, name, None),
            FeatureRule::Prompt(_) => false,
        }
    }
}

/// Which prompts and resources are served. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureSelection {
    /// Whether only what `include` names is served.
    pub is_limited: bool,
    /// Rules that select prompts and resources.
    pub include: Vec<FeatureRule>,
    /// Rules that leave them out.
    pub exclude: Vec<FeatureRule>,
}

impl FeatureSelection {
    /// Returns whether everything is served.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        !self.is_limited && self.exclude.is_empty()
    }

    /// Returns whether a prompt is served.
    #[must_use]
    pub fn takes_prompt(&self, name: &str) -> bool {
        (!self.is_limited || self.include.iter().any(|rule| rule.fits_prompt(name)))
            && !self.exclude.iter().any(|rule| rule.fits_prompt(name))
    }

    /// Returns whether a resource with these names is served: its URI or URI template, and its name.
    #[must_use]
    pub fn takes_resource<'a>(&self, names: impl IntoIterator<Item = &'a str> + Clone) -> bool {
        (!self.is_limited || self.includes_resource(names.clone())) && !self.excludes_resource(names)
    }

    /// Returns whether a rule of `include` names the resource.
    #[must_use]
    pub fn includes_resource<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        names.into_iter().any(|name| self.include.iter().any(|rule| rule.fits_resource(name)))
    }

    /// Returns whether a rule of `exclude` names the resource.
    #[must_use]
    pub fn excludes_resource<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        names.into_iter().any(|name| self.exclude.iter().any(|rule| rule.fits_resource(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclude_wins_and_a_limited_selection_takes_only_what_it_names() {
        let everything = FeatureSelection::default();
        assert!(
            everything.is_everything() && everything.takes_prompt("x") && everything.takes_resource(["x"])
        );
        let operations_only = FeatureSelection { is_limited: true, ..FeatureSelection::default() };
        assert!(!operations_only.takes_prompt("x") && !operations_only.takes_resource(["x"]));
        let rules = FeatureSelection {
            is_limited: true,
            include: vec![FeatureRule::Name("get_*".into()), FeatureRule::Resource("file:///a/*".into())],
            exclude: vec![FeatureRule::Name("*secret*".into())],
        };
        assert!(rules.takes_prompt("get_x") && !rules.takes_prompt("get_secret") && !rules.takes_prompt("x"));
        assert!(rules.takes_resource(["file:///a/b"]) && !rules.takes_resource(["file:///a/b/c"]));
        assert!(rules.takes_resource(["file:///x", "get_x"]), "by name");
        assert!(!rules.takes_resource(["file:///a/secret"]));
        let exclude =
            FeatureSelection { exclude: vec![FeatureRule::Prompt("x".into())], ..Default::default() };
        assert!(!exclude.takes_prompt("x") && exclude.takes_resource(["x"]) && !exclude.is_everything());
    }
}
