//! Identifiers: valid in a language, unique in their scope, and close to the names in the document.

use mcpaql_core::suggest::snake_case;
use std::collections::HashSet;

/// The case of identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdentifierCase {
    /// `create_issue`.
    Snake,
    /// `createIssue`.
    Camel,
    /// `CreateIssue`.
    Pascal,
}

/// The naming rules of a language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanguageStyle {
    /// The case of functions.
    pub(crate) functions: IdentifierCase,
    /// The case of parameters and properties.
    pub(crate) fields: IdentifierCase,
    /// Names that no function or field may have.
    pub(crate) reserved: &'static [&'static str],
    /// Names that no type of an adapter may have: those of the language, and those that generated files use.
    pub(crate) types: &'static [&'static str],
    /// Whether results of operations have types.
    pub(crate) results: bool,
}

/// Returns the words of a name in lower case, with ASCII letters and digits only.
pub(crate) fn words(name: &str) -> Vec<String> {
    // Digits do not start a new word: `md5sum`, `oauth2_token`.
    let plain: String = name.chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' }).collect();
    snake_case(&plain).split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns any name as an identifier. It starts with a letter.
pub(crate) fn identifier(name: &str, case: IdentifierCase) -> String {
    let words = words(name);
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    let ident = match case {
        IdentifierCase::Snake => words.join("_"),
        IdentifierCase::Pascal => words.iter().map(|word| capital(word)).collect(),
        IdentifierCase::Camel => words
            .iter()
            .enumerate()
            .map(|(n, word)| if n == 0 { word.clone() } else { capital(word) })
            .collect(),
    };
    match (ident.chars().next(), case) {
        (None, IdentifierCase::Pascal) => "Unnamed".to_owned(),
        (None, _) => "unnamed".to_owned(),
        (Some(first), IdentifierCase::Pascal) if first.is_ascii_digit() => format!("N{ident}"),
        (Some(first), _) if first.is_ascii_digit() => format!("n{ident}"),
        _ => ident,
    }
}

/// Maximum length of a type name, so that it fits on a line.
const MAX_TYPE: usize = 64;

/// Returns a name as the name of a type, cut after a word if it is too long.
pub(crate) fn type_name(name: &str) -> String {
    let ident = identifier(name, IdentifierCase::Pascal);
    let ends = ident.char_indices().skip(1).filter(|(at, ch)| ch.is_ascii_uppercase() && *at <= MAX_TYPE);
    let end = match ends.last() {
        _ if ident.len() <= MAX_TYPE => ident.len(),
        Some((at, _)) => at,
        None => MAX_TYPE,
    };
    ident.get(..end).unwrap_or(&ident).to_owned()
}

/// The identifiers of one scope.
#[derive(Debug)]
pub(crate) struct IdentifierScope {
    reserved: &'static [&'static str],
    taken: HashSet<String>,
}

impl IdentifierScope {
    /// Starts a scope with reserved names.
    pub(crate) fn new(reserved: &'static [&'static str]) -> IdentifierScope {
        IdentifierScope { reserved, taken: HashSet::new() }
    }

    /// Returns the identifier, or a similar one that is free: `type_` for a reserved word, `name2` for the second `name`.
    pub(crate) fn take(&mut self, ident: &str) -> String {
        let ident = if self.reserved.contains(&ident) { format!("{ident}_") } else { ident.to_owned() };
        // `Self2`, because names of types have no underscores; `type_2` for other identifiers.
        let is_type = ident.starts_with(|first: char| first.is_ascii_uppercase());
        let base = if is_type { ident.trim_end_matches('_') } else { ident.as_str() };
        let numbered = (2..).map(|n: usize| {
            let gap = if base.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
            format!("{base}{gap}{n}")
        });
        let free = |name: &String| !self.taken.contains(name) && !self.reserved.contains(&name.as_str());
        let found = std::iter::once(ident.clone()).chain(numbered).find(free).unwrap_or_default();
        self.taken.insert(found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_in_every_case() {
        for (name, snake, camel, pascal) in [
            ("create_issue", "create_issue", "createIssue", "CreateIssue"),
            ("perPage", "per_page", "perPage", "PerPage"),
            ("X-GitHub-Api-Version", "x_git_hub_api_version", "xGitHubApiVersion", "XGitHubApiVersion"),
            ("filter[state]", "filter_state", "filterState", "FilterState"),
            ("2fa_code", "n2fa_code", "n2faCode", "N2faCode"),
            ("größe", "gr_e", "grE", "GrE"),
            ("+1", "n1", "n1", "N1"),
            ("💥", "unnamed", "unnamed", "Unnamed"),
            ("", "unnamed", "unnamed", "Unnamed"),
        ] {
            assert_eq!(identifier(name, IdentifierCase::Snake), snake);
            assert_eq!(identifier(name, IdentifierCase::Camel), camel);
            assert_eq!(identifier(name, IdentifierCase::Pascal), pascal);
        }
    }

    #[test]
    fn names_of_types_have_a_maximum_length() {
        assert_eq!(type_name("create_issue"), "CreateIssue");
        assert_eq!(type_name(&"word_".repeat(20)), "Word".repeat(16));
        assert_eq!(type_name(&"long_words_".repeat(9)), "LongWords".repeat(7));
        assert_eq!(type_name(&"x".repeat(99)).len(), 64);
    }

    #[test]
    fn used_and_reserved_names_are_not_returned() {
        let mut scope = IdentifierScope::new(&["type", "self_"]);
        assert_eq!(scope.take("type"), "type_");
        assert_eq!(scope.take("type"), "type_2");
        assert_eq!(scope.take("a"), "a");
        assert_eq!(scope.take("a"), "a2");
        assert_eq!(scope.take("a2"), "a2_2");
        assert_eq!(scope.take("self"), "self");
        assert_eq!(scope.take("self_"), "self__");
        let mut scope = IdentifierScope::new(&["Self", "Self2"]);
        assert_eq!(["Self", "Self", "Self"].map(|name| scope.take(name)), ["Self_", "Self3", "Self4"]);
    }
}
