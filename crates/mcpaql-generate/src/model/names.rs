//! Identifiers: legal in a language, unique where they stand, as near to the document's names as that allows.

use mcpaql_core::suggest::snake_case;
use std::collections::HashSet;

/// How identifiers of a kind are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdentifierCase {
    /// `create_issue`.
    Snake,
    /// `createIssue`.
    Camel,
    /// `CreateIssue`.
    Pascal,
}

/// How a language names things.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanguageStyle {
    /// Functions of operations.
    pub(crate) functions: IdentifierCase,
    /// Parameters and properties.
    pub(crate) fields: IdentifierCase,
    /// Words that are no function and no field.
    pub(crate) reserved: &'static [&'static str],
    /// Names that are no type of the adapter's: the language's own, and those that generated files use.
    pub(crate) types: &'static [&'static str],
    /// Whether what operations answer is typed, too.
    pub(crate) results: bool,
}

/// The words of a name, in lower case, ASCII letters and digits only.
pub(crate) fn words(name: &str) -> Vec<String> {
    // Digits and letters stay together: `md5sum`, `oauth2_token`.
    let plain: String = name.chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' }).collect();
    snake_case(&plain).split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A name as an identifier, whatever it is: begins with a letter, perhaps after an underscore where it would begin with a digit.
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

/// Longer names of types say no more, and no line has room for them.
const MAX_TYPE: usize = 64;

/// A name as that of a type, cut after a word where it is too long.
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

/// Identifiers that stand side by side.
#[derive(Debug)]
pub(crate) struct IdentifierScope {
    reserved: &'static [&'static str],
    taken: HashSet<String>,
}

impl IdentifierScope {
    /// Where these words are taken.
    pub(crate) fn new(reserved: &'static [&'static str]) -> IdentifierScope {
        IdentifierScope { reserved, taken: HashSet::new() }
    }

    /// The identifier, or the nearest that is free: `type_` for a reserved word, `name2` for the second of them.
    pub(crate) fn take(&mut self, ident: &str) -> String {
        let ident = if self.reserved.contains(&ident) { format!("{ident}_") } else { ident.to_owned() };
        // `Self2`, since no type has an underscore in its name; `type_2`, since words of others have.
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
    fn names_of_types_have_an_end() {
        assert_eq!(type_name("create_issue"), "CreateIssue");
        assert_eq!(type_name(&"word_".repeat(20)), "Word".repeat(16));
        assert_eq!(type_name(&"long_words_".repeat(9)), "LongWords".repeat(7));
        assert_eq!(type_name(&"x".repeat(99)).len(), 64);
    }

    #[test]
    fn what_is_taken_or_reserved_is_not_given_again() {
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
