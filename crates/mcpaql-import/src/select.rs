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

use mcpaql_core::diagnostic::{Diagnostic, Span};
use mcpaql_core::error::Code;
use mcpaql_core::operation::{Binding, Category, Operation};
use mcpaql_core::suggest;

/// The words before the colon of a rule.
const KINDS: [&str; 4] = ["tag", "path", "op", "category"];

/// The syntax of a rule.
const SYNTAX: &str = "write tag:NAME, path:/PATH/**, op:NAME, category:WORD or deprecated";

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
    Category(Category),
    Deprecated,
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
            _ => RuleMatcher::Operation(glob(written)?),
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
            RuleMatcher::Operation(glob) => {
                let tool = match &operation.binding {
                    Binding::Mcp(mcp) => Some(mcp.tool.as_str()),
                    _ => None,
                };
                let mut names = operation.source_id.as_deref().into_iter().chain(tool);
                matches(glob, &operation.name, None) || names.any(|name| matches(glob, name, None))
            }
            RuleMatcher::Category(category) => operation.category == *category,
            RuleMatcher::Deprecated => operation.deprecated.is_some(),
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
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
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

    /// Returns all rules.
    #[must_use]
    pub fn rules(&self) -> Vec<&SelectionRule> {
        self.include.iter().chain(&self.exclude).collect()
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

/// Whether a text matches a glob, ignoring case. `?` matches one character and `*` any number of characters, but not
/// `separator`; `**` matches any number of any characters.
fn matches(glob: &str, text: &str, separator: Option<char>) -> bool {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (glob, text) = (lower(glob), lower(text));
    // Row by row: which prefixes of the text match the glob so far.
    let mut fits = vec![false; text.len() + 1];
    fits.first_mut().into_iter().for_each(|start| *start = true);
    let mut rest = glob.iter().copied().peekable();
    while let Some(piece) = rest.next() {
        let doubled = piece == '*' && rest.next_if_eq(&'*').is_some();
        let mut next = vec![false; fits.len()];
        let mut reached = false;
        for position in 0..fits.len() {
            let before = position.checked_sub(1);
            let letter = before.and_then(|before| text.get(before)).copied();
            let from = before.and_then(|before| fits.get(before)).copied().unwrap_or(false);
            let here = fits.get(position).copied().unwrap_or(false);
            let now = match piece {
                '*' => {
                    let stopped = !doubled && letter.is_some() && letter == separator;
                    reached = here || (reached && !stopped);
                    reached
                }
                '?' => from && letter != separator,
                piece => from && letter == Some(piece),
            };
            if let Some(slot) = next.get_mut(position) {
                *slot = now;
            }
        }
        fits = next;
    }
    fits.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globs() {
        for (glob, text, separator, fits) in [
            ("get_*", "get_repo", None, true),
            ("get_*", "list_repos", None, false),
            ("*", "", None, true),
            ("repos/*", "repos/get-content", None, true),
            ("/repos/*", "/repos/a", Some('/'), true),
            ("/repos/*", "/repos/a/b", Some('/'), false),
            ("/repos/**", "/repos/a/b", Some('/'), true),
            ("/repos/**/b", "/repos/a/x/b", Some('/'), true),
            ("/repos/?", "/repos//", Some('/'), false),
            ("Issues", "issues", None, true),
            ("a*b*c", "aXbYbZc", None, true),
            ("a*b*c", "aXbYbZ", None, false),
        ] {
            assert_eq!(matches(glob, text, separator), fits, "{glob} {text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_matches_itself_and_two_stars(text in "[a-z/_]{0,20}") {
            prop_assert!(matches(&text, &text, Some('/')));
            prop_assert!(matches("**", &text, Some('/')));
        }
    }

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
}
