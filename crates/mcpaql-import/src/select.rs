//! Selects operations by tag, path, name, category or deprecation.
//!
//! ```
//! use mcpaql_import::select::SelectionRule;
//!
//! assert_eq!(SelectionRule::parse("tag:orders").unwrap().written(), "tag:orders");
//! assert!(SelectionRule::parse("colour:red").is_err());
//! ```
//!
//! A rule is `tag:NAME`, `path:/repos/**`, `op:get_*`, `category:READ` or `deprecated`. A word that starts with `/` is a path;
//! any other word is a name. `exclude` wins over `include`. Without `include`, all operations are included.
//!
//! `prompt:NAME` and `resource:URI` select prompts and resources of an MCP server, and no operations. So does a bare name, beside
//! operations. With `include`, a server's prompts and resources are served only if a rule names them.

use mcpaql_core::diagnostic::{Diagnostic, Span};
use mcpaql_core::error::Code;
use mcpaql_core::glob::matches;
use mcpaql_core::operation::{Binding, Category, Operation};
use mcpaql_core::selection::{FeatureRule, FeatureSelection};
use mcpaql_core::suggest;

/// The words before the colon of a rule.
const KINDS: [&str; 6] = ["tag", "path", "op", "category", "prompt", "resource"];

/// The syntax of a rule.
const SYNTAX: &str =
    "write tag:NAME, path:/PATH/**, op:NAME, category:WORD, deprecated, prompt:NAME or resource:URI";

/// A rule: its text and its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionRule {
    written: String,
    matcher: RuleMatcher,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RuleMatcher {
    Tag(String),
    Path(String),
    Operation(String),
    /// A bare name: of operations, prompts and resources.
    Name(String),
    Category(Category),
    Deprecated,
    Prompt(String),
    Resource(String),
}

/// A rule that cannot be parsed: the reason, and how to correct the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionRuleError {
    /// What is wrong with the rule.
    pub message: String,
    /// How to correct it.
    pub hint: String,
}

impl std::fmt::Display for SelectionRuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SelectionRuleError {}

impl SelectionRule {
    /// Parses a rule.
    ///
    /// # Errors
    /// Returns the reason if the rule is invalid.
    pub fn parse(text: &str) -> Result<SelectionRule, SelectionRuleError> {
        let written = text.trim();
        let error = |message: String, hint: String| SelectionRuleError { message, hint };
        let glob = |text: &str| match text.trim() {
            "" => Err(error(format!("the rule '{written}' is incomplete"), SYNTAX.to_owned())),
            glob => Ok(glob.to_owned()),
        };
        let matcher = match written.split_once(':') {
            Some(("tag", tag)) => RuleMatcher::Tag(glob(tag)?),
            Some(("path", path)) => RuleMatcher::Path(glob(path)?),
            Some(("op", name)) => RuleMatcher::Operation(glob(name)?),
            Some(("prompt", name)) => RuleMatcher::Prompt(glob(name)?),
            Some(("resource", uri)) => RuleMatcher::Resource(glob(uri)?),
            Some(("category", word)) => {
                RuleMatcher::Category(Category::parse(word.trim()).ok_or_else(|| {
                    let words = Category::ALL.map(Category::as_str).join(", ");
                    error(format!("'{word}' is not a category"), format!("use one of {words}"))
                })?)
            }
            _ if written == "deprecated" => RuleMatcher::Deprecated,
            _ if written.starts_with('/') => RuleMatcher::Path(written.to_owned()),
            // A name may contain a colon, but a misspelled kind is more likely.
            Some((kind, rest)) if kind.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                let hint = match suggest::nearest(kind, KINDS.iter().copied()) {
                    Some(kind) => format!("did you mean '{kind}:{rest}'?"),
                    None => format!("{SYNTAX}; for an operation with this name, write op:{written}"),
                };
                return Err(error(format!("unknown rule '{written}'"), hint));
            }
            _ => RuleMatcher::Name(glob(written)?),
        };
        Ok(SelectionRule { written: written.to_owned(), matcher })
    }

    /// The text of the rule.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether the rule matches an operation; `path` is the path in the API.
    #[must_use]
    pub fn fits(&self, operation: &Operation, path: &str) -> bool {
        match &self.matcher {
            RuleMatcher::Tag(tag) => operation.tags.iter().any(|own| matches(tag, own, None)),
            RuleMatcher::Path(glob) => matches(glob, path, Some('/')),
            RuleMatcher::Operation(glob) | RuleMatcher::Name(glob) => {
                let tool = match &operation.binding {
                    Binding::Mcp(mcp) => Some(mcp.tool.as_str()),
                    _ => None,
                };
                let mut names = operation.source_id.as_deref().into_iter().chain(tool);
                matches(glob, &operation.name, None) || names.any(|name| matches(glob, name, None))
            }
            RuleMatcher::Category(category) => operation.category == *category,
            RuleMatcher::Deprecated => operation.deprecated.is_some(),
            RuleMatcher::Prompt(_) | RuleMatcher::Resource(_) => false,
        }
    }

    /// Whether the rule is about prompts or resources, and not about operations.
    const fn is_of_features(&self) -> bool {
        matches!(self.matcher, RuleMatcher::Prompt(_) | RuleMatcher::Resource(_))
    }

    /// Returns the rule for prompts and resources, if it is about them.
    fn feature_rule(&self) -> Option<FeatureRule> {
        match &self.matcher {
            RuleMatcher::Prompt(glob) => Some(FeatureRule::Prompt(glob.clone())),
            RuleMatcher::Resource(glob) => Some(FeatureRule::Resource(glob.clone())),
            RuleMatcher::Name(glob) => Some(FeatureRule::Name(glob.clone())),
            RuleMatcher::Tag(_)
            | RuleMatcher::Path(_)
            | RuleMatcher::Operation(_)
            | RuleMatcher::Category(_)
            | RuleMatcher::Deprecated => None,
        }
    }
}

/// The rules that include and exclude operations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    include: Vec<SelectionRule>,
    exclude: Vec<SelectionRule>,
}

impl Selection {
    /// Parses rules.
    ///
    /// # Errors
    /// Returns the reason for the first invalid rule.
    pub fn parse(include: &[String], exclude: &[String]) -> Result<Selection, SelectionRuleError> {
        let read =
            |rules: &[String]| rules.iter().map(|rule| SelectionRule::parse(rule)).collect::<Result<_, _>>();
        Ok(Selection { include: read(include)?, exclude: read(exclude)? })
    }

    /// Whether an operation is selected; `path` is the path in the API.
    #[must_use]
    pub fn takes(&self, operation: &Operation, path: &str) -> bool {
        let any = |rules: &[SelectionRule]| rules.iter().any(|rule| rule.fits(operation, path));
        let is_limited = self.include.iter().any(|rule| !rule.is_of_features());
        (!is_limited || any(&self.include)) && !any(&self.exclude)
    }

    /// Returns which prompts and resources of an MCP server are selected.
    #[must_use]
    pub fn features(&self) -> FeatureSelection {
        let rules = |rules: &[SelectionRule]| rules.iter().filter_map(SelectionRule::feature_rule).collect();
        FeatureSelection {
            is_limited: !self.include.is_empty(),
            include: rules(&self.include),
            exclude: rules(&self.exclude),
        }
    }

    /// Removes the operations that are not selected. Returns warnings about rules that match nothing, and an error if no
    /// operation is left.
    pub fn narrow(
        &self,
        operations: &mut Vec<Operation>,
        path: impl Fn(&Operation) -> String,
    ) -> Vec<Diagnostic> {
        let before = operations.len();
        let mut idle = self.rules();
        operations.retain(|operation| {
            let path = path(operation);
            idle.retain(|rule| !rule.fits(operation, &path));
            self.takes(operation, &path)
        });
        let mut problems = self.unmatched(&idle);
        if operations.is_empty() && before > 0 {
            problems.push(empty_selection(before));
        }
        problems
    }

    /// Returns all rules for operations.
    #[must_use]
    pub fn rules(&self) -> Vec<&SelectionRule> {
        self.include.iter().chain(&self.exclude).filter(|rule| !rule.is_of_features()).collect()
    }

    /// Returns warnings about rules that match no operation.
    pub(crate) fn unmatched(&self, idle: &[&SelectionRule]) -> Vec<Diagnostic> {
        let warning = |rule: &&SelectionRule| {
            let list = if self.include.contains(rule) { "include" } else { "exclude" };
            let message = format!("The rule '{}' in `{list}` matches no operation", rule.written());
            without_place(Diagnostic::warning(Code::SchemaUnresolvedRef, "", message)).suggest(SYNTAX)
        };
        idle.iter().map(warning).collect()
    }
}

/// The error for a selection that excludes all operations.
pub(crate) fn empty_selection(operations: usize) -> Diagnostic {
    let message = format!("`include` and `exclude` select none of the {operations} operations");
    without_place(Diagnostic::error(Code::SchemaInvalidValue, "", message))
        .suggest(format!("change the rules; {SYNTAX}"))
}

/// Rules come from flags or from the configuration, not from the text that is imported.
fn without_place(diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { span: Some(Span::NOWHERE), ..diagnostic }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        for (text, fine) in [
            ("tag:repos", true),
            ("category:read", true),
            ("deprecated", true),
            ("/repos/**", true),
            ("get_*", true),
            ("category:write", false),
            ("tag:", false),
            ("", false),
            ("op:repos:get", true),
            ("repos/x:get", true),
            ("zzz:x", false),
            ("tags:x", false),
        ] {
            assert_eq!(SelectionRule::parse(text).is_ok(), fine, "{text}");
        }
    }

    #[test]
    fn an_unknown_kind_is_reported_with_a_suggestion() {
        let error = |text| SelectionRule::parse(text).unwrap_err();
        assert_eq!(error("zzz:x").message, "unknown rule 'zzz:x'");
        assert!(error("zzz:x").hint.ends_with("write op:zzz:x"), "{}", error("zzz:x").hint);
        assert_eq!(error("tags:x").hint, "did you mean 'tag:x'?");
    }

    #[test]
    fn rules_for_prompts_and_resources_select_no_operations() {
        let rules = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let selection =
            Selection::parse(&rules(&["prompt:greet", "resource:file:///a/**"]), &rules(&["*secret*"]))
                .unwrap();
        let features = selection.features();
        assert!(features.takes_prompt("greet") && !features.takes_prompt("other"));
        assert!(features.takes_resource(["file:///a/b/c"]) && !features.takes_resource(["file:///a/secret"]));
        assert_eq!(selection.rules().len(), 1, "rules that could match an operation");
        let of_operations = Selection::parse(&rules(&["tag:x"]), &[]).unwrap().features();
        assert!(!of_operations.takes_prompt("greet"), "`include` names everything that is served");
        assert!(Selection::default().features().is_everything());
    }
}
