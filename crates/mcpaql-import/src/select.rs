//! Which operations to take: by tag, path, name, category, and whether they are deprecated.
//!
//! A rule is `tag:NAME`, `path:/repos/**`, `op:get_*`, `category:READ` or `deprecated`; a word that begins with `/` is a
//! path, any other a name. What is excluded stays out, whatever includes it; where nothing is included, all are.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{Binding, Category, Operation};
use mcpaql_core::suggest;

/// What can stand before a colon.
const KINDS: [&str; 4] = ["tag", "path", "op", "category"];

/// One rule, as it was written and as it is meant.
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

/// A rule that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionRuleError(pub String);

impl std::fmt::Display for SelectionRuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectionRuleError {}

impl SelectionRule {
    /// Reads a rule.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<SelectionRule, SelectionRuleError> {
        let written = text.trim();
        let glob = |text: &str| match text.trim() {
            "" => Err(SelectionRuleError(format!("'{written}' says nothing to match"))),
            glob => Ok(glob.to_owned()),
        };
        let meant = match written.split_once(':') {
            Some(("tag", tag)) => RuleMatcher::Tag(glob(tag)?),
            Some(("path", path)) => RuleMatcher::Path(glob(path)?),
            Some(("op", name)) => RuleMatcher::Operation(glob(name)?),
            Some(("category", word)) => {
                RuleMatcher::Category(Category::parse(word.trim()).ok_or_else(|| {
                    let words = Category::ALL.map(Category::as_str).join(", ");
                    SelectionRuleError(format!("'{word}' is no category; there are {words}"))
                })?)
            }
            _ if written == "deprecated" => RuleMatcher::Deprecated,
            _ if written.starts_with('/') => RuleMatcher::Path(written.to_owned()),
            // A name may hold a colon, but then it is more likely that the kind is misspelt.
            Some((kind, rest)) if kind.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                let instead = match suggest::nearest(kind, KINDS.iter().copied()) {
                    Some(kind) => format!("did you mean '{kind}:{rest}'?"),
                    None => format!("write 'op:{written}' for an operation of that name"),
                };
                let kinds = KINDS.join(", ");
                return Err(SelectionRuleError(format!(
                    "'{kind}' is no kind of rule; there are {kinds}; {instead}"
                )));
            }
            _ => RuleMatcher::Operation(glob(written)?),
        };
        Ok(SelectionRule { written: written.to_owned(), matcher: meant })
    }

    /// The rule as it was typed.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether an operation is meant; `path` is the API's own.
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

/// What is taken and what is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    include: Vec<SelectionRule>,
    exclude: Vec<SelectionRule>,
}

impl Selection {
    /// Reads rules as they are typed.
    ///
    /// # Errors
    /// The first rule that cannot be understood.
    pub fn parse(include: &[String], exclude: &[String]) -> Result<Selection, SelectionRuleError> {
        let read =
            |rules: &[String]| rules.iter().map(|rule| SelectionRule::parse(rule)).collect::<Result<_, _>>();
        Ok(Selection { include: read(include)?, exclude: read(exclude)? })
    }

    /// Whether an operation is taken; `path` is the API's own.
    #[must_use]
    pub fn takes(&self, operation: &Operation, path: &str) -> bool {
        let any = |rules: &[SelectionRule]| rules.iter().any(|rule| rule.fits(operation, path));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }

    /// Leaves only those operations of a document that are taken, and says which rules did nothing, or that none is left.
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
        let mut noticed = unmatched(&idle);
        if operations.is_empty() && before > 0 {
            noticed.push(empty_selection(before));
        }
        noticed
    }

    /// Every rule.
    #[must_use]
    pub fn rules(&self) -> Vec<&SelectionRule> {
        self.include.iter().chain(&self.exclude).collect()
    }
}

/// Warns of rules that do nothing.
pub(crate) fn unmatched(idle: &[&SelectionRule]) -> Vec<Diagnostic> {
    let warning = |rule: &&SelectionRule| {
        let message = format!("The rule '{}' matches no operation", rule.written());
        Diagnostic::warning(Code::SchemaUnresolvedRef, "", message)
    };
    idle.iter().map(warning).collect()
}

/// Reports a selection that takes none of the operations.
pub(crate) fn empty_selection(operations: usize) -> Diagnostic {
    let message = format!("`include` and `exclude` leave none of {operations} operations");
    Diagnostic::error(Code::SchemaInvalidValue, "", message)
        .suggest("include a rule that matches, or exclude less")
}

/// Whether a text fits a glob, whatever the case: `?` is any character, `*` any number of them but no `separator`, `**` any
/// number of any.
fn matches(glob: &str, text: &str, separator: Option<char>) -> bool {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (glob, text) = (lower(glob), lower(text));
    // Row by row: which prefixes of the text the glob so far fits.
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
        fn everything_fits_itself_and_two_stars(text in "[a-z/_]{0,20}") {
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
    fn a_kind_that_there_is_not_is_told_with_what_may_be_meant() {
        let told = |text| SelectionRule::parse(text).unwrap_err().to_string();
        assert_eq!(
            told("zzz:x"),
            "'zzz' is no kind of rule; there are tag, path, op, category; write 'op:zzz:x' for an operation of that name"
        );
        assert!(told("tags:x").ends_with("did you mean 'tag:x'?"), "{}", told("tags:x"));
    }
}
