//! Patterns of names and titles: literal text around placeholders such as `{product}`.
//!
//! What always holds: literal text is matched from the right, at its last occurrence, so that `{words}_mcpaql_{endpoint}` splits
//! a name from the right. Matching takes time in proportion to the length of pattern and name.

use super::NameRequirements;
use super::action_words::{ActionProblem, ActionWords};
use mcpaql_lexicon::verbs::{self, Weight};

/// Placeholders in the pattern of names.
pub(crate) const NAME_PLACEHOLDERS: &[&str] =
    &["product", "verb", "object", "endpoint", "adapter", "words", "prefix"];
/// Placeholders in the pattern of titles.
pub(crate) const TITLE_PLACEHOLDERS: &[&str] =
    &["name", "endpoint", "adapter", "product", "verb", "object", "words"];
/// Placeholders in the pattern of names shown by clients.
pub(crate) const CLIENT_NAME_PLACEHOLDERS: &[&str] = &["server", "tool"];

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternPart<'p> {
    Text(&'p str),
    Placeholder(&'p str),
}

/// Splits a pattern into its parts. An unclosed `{` is literal text.
fn parts(pattern: &str) -> Vec<PatternPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some((text, opened)) = rest.split_once('{') {
        let Some((placeholder, after)) = opened.split_once('}') else { break };
        if !text.is_empty() {
            parts.push(PatternPart::Text(text));
        }
        parts.push(PatternPart::Placeholder(placeholder));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(PatternPart::Text(rest));
    }
    parts
}

/// Returns the first unknown placeholder. Only `{server}` may have a width.
pub(crate) fn unknown_placeholder<'p>(pattern: &'p str, known: &[&str]) -> Option<&'p str> {
    let is_known = |placeholder: &str| match placeholder.split_once(':') {
        Some((name, width)) => name == "server" && known.contains(&name) && width.parse::<usize>().is_ok(),
        None => known.contains(&placeholder),
    };
    parts(pattern).into_iter().find_map(|part| match part {
        PatternPart::Placeholder(placeholder) if !is_known(placeholder) => Some(placeholder),
        _ => None,
    })
}

/// Returns the name that a client shows for a tool.
pub(crate) fn client_name(pattern: &str, server: &str, tool: &str) -> String {
    let mut shown = String::with_capacity(pattern.len() + server.len() + tool.len());
    for part in parts(pattern) {
        match part {
            PatternPart::Text(text) => shown.push_str(text),
            PatternPart::Placeholder("tool") => shown.push_str(tool),
            PatternPart::Placeholder("server") => shown.push_str(server),
            PatternPart::Placeholder(placeholder) => {
                let width = placeholder.strip_prefix("server:").and_then(|width| width.parse().ok());
                shown.extend(server.chars().take(width.unwrap_or(0)));
            }
        }
    }
    shown
}

/// Returns whether a pattern has an endpoint.
pub(crate) fn has_endpoint(pattern: &str) -> bool {
    pattern.contains("{endpoint}")
}

/// Why a name does not follow a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternMismatch<'p> {
    /// This text is missing.
    Text(&'p str),
    /// This placeholder matches nothing.
    Empty(&'p str),
    /// The name has none of the listed products where one is required.
    Product,
    /// Its words do not form an action and its object.
    Action(ActionProblem),
}

/// How a name follows a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternFit {
    /// The pattern ends in an endpoint, and the name has none because the tool serves all endpoints.
    pub(crate) lacks_endpoint: bool,
}

/// Matches a name against the pattern of a convention.
pub(crate) fn match_name<'p>(
    pattern: &'p str,
    name: &str,
    names: &NameRequirements,
) -> Result<PatternFit, PatternMismatch<'p>> {
    let fill = |placeholders: &[&'p str], text: &str| fill_name(placeholders, text, names);
    let found = match_pattern(&parts(pattern), name, &fill).map(|()| PatternFit { lacks_endpoint: false });
    let Err(mismatch) = found else { return found };
    let whole = pattern.strip_suffix("_{endpoint}");
    let whole = whole.is_some_and(|whole| match_pattern(&parts(whole), name, &fill).is_ok());
    if whole { Ok(PatternFit { lacks_endpoint: true }) } else { Err(mismatch) }
}

/// Returns whether a title follows a pattern. With `serves_all`, an endpoint at the end may be missing.
pub(crate) fn matches_title(pattern: &str, title: &str, serves_all: bool) -> bool {
    let parts = parts(pattern);
    let without = || match parts.as_slice() {
        [rest @ .., PatternPart::Text(_), PatternPart::Placeholder("endpoint")] => {
            match_pattern(rest, title, &fill_title).is_ok()
        }
        _ => false,
    };
    match_pattern(&parts, title, &fill_title).is_ok() || (serves_all && without())
}

/// Matches literal text from the right, and passes the text between to `fill`.
fn match_pattern<'p>(
    parts: &[PatternPart<'p>],
    text: &str,
    fill: &impl Fn(&[&'p str], &str) -> Result<(), PatternMismatch<'p>>,
) -> Result<(), PatternMismatch<'p>> {
    let mut rest = text;
    // Placeholders after the remaining text.
    let mut placeholders: Vec<&'p str> = Vec::new();
    for (index, part) in parts.iter().enumerate().rev() {
        match part {
            PatternPart::Placeholder(placeholder) => placeholders.insert(0, placeholder),
            // An underscore between two placeholders only separates words.
            PatternPart::Text("_") if index > 0 && !placeholders.is_empty() => {}
            PatternPart::Text(literal) => {
                let at = match (index, placeholders.is_empty()) {
                    (0, _) => rest.starts_with(literal).then_some(0),
                    (_, true) => rest.ends_with(literal).then(|| rest.len().saturating_sub(literal.len())),
                    (_, false) => rest.rfind(literal),
                };
                let (before, behind) = at
                    .and_then(|at| Some((rest.get(..at)?, rest.get(at + literal.len()..)?)))
                    .ok_or(PatternMismatch::Text(literal))?;
                if placeholders.is_empty() && !behind.is_empty() {
                    return Err(PatternMismatch::Text(literal));
                }
                if !placeholders.is_empty() {
                    fill(&placeholders, behind)?;
                    placeholders.clear();
                }
                rest = before;
            }
        }
    }
    match placeholders.is_empty() {
        true => Ok(()),
        false => fill(&placeholders, rest),
    }
}

/// Checks the text of adjacent placeholders of a title: it must not be blank.
fn fill_title<'p>(placeholders: &[&'p str], text: &str) -> Result<(), PatternMismatch<'p>> {
    match (placeholders, text.trim().is_empty()) {
        ([placeholder, ..], true) => Err(PatternMismatch::Empty(placeholder)),
        _ => Ok(()),
    }
}

/// Checks the words of adjacent placeholders of a name.
fn fill_name<'p>(
    placeholders: &[&'p str],
    text: &str,
    names: &NameRequirements,
) -> Result<(), PatternMismatch<'p>> {
    if let [placeholder @ "prefix"] = placeholders {
        let is_prefix = |words: &str| words.split('_').all(|word| !word.is_empty());
        let fits = text.is_empty() || text.strip_suffix('_').is_some_and(is_prefix);
        return if fits { Ok(()) } else { Err(PatternMismatch::Empty(placeholder)) };
    }
    let mut words: Vec<&str> = text.split('_').collect();
    let first = placeholders.first().copied().unwrap_or("words");
    if words.iter().any(|word| word.is_empty()) {
        return Err(PatternMismatch::Empty(first));
    }
    if placeholders.contains(&"product") {
        let taken = product_words(&words, &names.products).ok_or(PatternMismatch::Product)?;
        // A name without a product: `create_user`.
        let strong = |word: &&str| verbs::verb(word).is_some_and(|verb| verb.weight == Weight::Strong);
        if names.products.is_empty() && placeholders.contains(&"verb") && words.first().is_some_and(strong) {
            return Err(PatternMismatch::Product);
        }
        words.drain(..taken);
    }
    let others = placeholders.iter().find(|placeholder| **placeholder != "product").copied();
    match others {
        None if !words.is_empty() => Err(PatternMismatch::Product),
        Some(placeholder) if words.is_empty() => Err(PatternMismatch::Empty(placeholder)),
        Some(_) if placeholders.contains(&"verb") || placeholders.contains(&"object") => {
            let action = ActionWords {
                words: &words,
                names,
                wants_verb: placeholders.contains(&"verb"),
                wants_object: placeholders.contains(&"object"),
                product_is_open: placeholders.contains(&"product") && names.products.is_empty(),
            };
            action.problem().map_or(Ok(()), |problem| Err(PatternMismatch::Action(problem)))
        }
        _ => Ok(()),
    }
}

/// Returns the number of words of the product that the words start with.
pub(crate) fn product_words(words: &[&str], products: &[String]) -> Option<usize> {
    if products.is_empty() {
        return (!words.is_empty()).then_some(1);
    }
    let begins = |product: &&String| {
        let mut at = words.iter();
        product.split('_').all(|part| at.next() == Some(&part))
    };
    products.iter().filter(begins).map(|product| product.split('_').count()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// The convention of a team with three products.
    fn adobe() -> NameRequirements {
        NameRequirements {
            products: list("firefly photoshop lightroom"),
            verbs: list("generate expand fill apply replace check list train upload auto"),
            objects: list("image video preset manifest actions text auth models"),
            ..NameRequirements::default()
        }
    }

    #[test]
    fn products_verbs_and_objects_may_have_the_order_that_teams_use() {
        let pattern = "{product}_{verb}_{object}";
        for name in [
            "firefly_generate_image",
            "firefly_generate_similar",
            "firefly_check_auth",
            "photoshop_smart_object_replace",
            "photoshop_document_manifest",
            "photoshop_apply_actions",
            "photoshop_edit_text",
            "lightroom_auto_tone",
        ] {
            assert!(match_name(pattern, name, &adobe()).is_ok(), "{name}");
        }
        assert_eq!(match_name(pattern, "generate_image", &adobe()), Err(PatternMismatch::Product));
        assert_eq!(match_name(pattern, "fireflies_generate_image", &adobe()), Err(PatternMismatch::Product));
        assert_eq!(match_name(pattern, "firefly", &adobe()), Err(PatternMismatch::Empty("verb")));
        assert_eq!(match_name(pattern, "firefly__image", &adobe()), Err(PatternMismatch::Empty("product")));
        assert_eq!(
            match_name(pattern, "firefly_do_something", &adobe()),
            Err(PatternMismatch::Action(ActionProblem::Vocabulary))
        );
    }

    #[test]
    fn a_prefix_may_be_missing_but_ends_in_an_underscore() {
        let follows =
            |name: &str| match_name("{prefix}mcp_aql_{endpoint}", name, &NameRequirements::default());
        for name in
            ["mcp_aql_read", "github_mcp_aql_query", "git_hub_mcp_aql_read", "mcp_aql", "github_mcp_aql"]
        {
            assert!(follows(name).is_ok(), "{name}");
        }
        for name in ["githubmcp_aql_read", "_mcp_aql_read", "git__mcp_aql_read", "mcpaql_read", "mcp_aql_"] {
            assert!(follows(name).is_err(), "{name}");
        }
    }

    #[test]
    fn products_may_have_several_words_and_need_not_be_listed() {
        let names =
            NameRequirements { products: list("creative creative_cloud"), ..NameRequirements::default() };
        assert!(match_name("{product}_{words}", "creative_cloud_assets", &names).is_ok());
        assert_eq!(
            match_name("{product}_{words}", "creative_cloud", &names),
            Err(PatternMismatch::Empty("words"))
        );
        for name in ["shop_list_orders", "nc_calendar_create_event", "ldt_compile_query"] {
            assert!(
                match_name("{product}_{verb}_{object}", name, &NameRequirements::default()).is_ok(),
                "{name}"
            );
        }
        let unknown = match_name("{product}_{verb}_{object}", "shop_orders", &NameRequirements::default());
        assert_eq!(unknown, Err(PatternMismatch::Action(ActionProblem::Vocabulary)));
    }

    #[test]
    fn text_around_placeholders_is_literal() {
        let pattern = "lightdash_tools__{verb}_{object}";
        let names = NameRequirements::default();
        assert!(match_name(pattern, "lightdash_tools__list_projects", &names).is_ok());
        assert!(match_name(pattern, "lightdash_tools__bulk_delete_charts", &names).is_ok());
        assert_eq!(
            match_name(pattern, "ldt__list_projects", &names),
            Err(PatternMismatch::Text("lightdash_tools__"))
        );
        assert_eq!(
            match_name(pattern, "lightdash_tools__projects", &names),
            Err(PatternMismatch::Action(ActionProblem::Vocabulary))
        );
        assert_eq!(match_name(pattern, "lightdash_tools__", &names), Err(PatternMismatch::Empty("verb")));
        assert_eq!(match_name("{words}_v2", "list_notes_v3", &names), Err(PatternMismatch::Text("_v2")));
        assert!(match_name("{words}_v2", "list_notes_v2", &names).is_ok());
    }

    #[test]
    fn names_of_adapter_tools_are_split_from_the_right() {
        let pattern = "{words}_mcpaql_{endpoint}";
        let names = NameRequirements::default();
        let whole = |name: &str| match_name(pattern, name, &names).map(|found| found.lacks_endpoint);
        assert_eq!(whole("apple_mail_mcpaql_read"), Ok(false));
        assert_eq!(whole("apple_mail_mcpaql"), Ok(true), "one tool for everything");
        for name in ["mcp_aql_read", "mcpaql_read", "apple_mail_aql_read", "_mcpaql_read", "mail_mcpaql_", ""]
        {
            assert!(whole(name).is_err(), "{name}");
        }
    }

    #[test]
    fn titles_must_contain_the_literal_text() {
        let pattern = "{name} — {endpoint}";
        assert!(matches_title(pattern, "Apple Mail — Read", false));
        assert!(!matches_title(pattern, "Apple Mail", false));
        assert!(matches_title(pattern, "Apple Mail", true), "one tool for everything");
        assert!(!matches_title(pattern, " — Read", false));
        assert!(!matches_title(pattern, "Apple Mail - Read", false));
    }

    #[test]
    fn clients_put_the_server_before_the_name() {
        assert_eq!(client_name("mcp__{server}__{tool}", "notes", "get_note"), "mcp__notes__get_note");
        assert_eq!(client_name("mcp_{server:5}_{tool}", "notebooks", "get"), "mcp_noteb_get");
        assert_eq!(unknown_placeholder("mcp_{server:x}_{tool}", CLIENT_NAME_PLACEHOLDERS), Some("server:x"));
        assert_eq!(unknown_placeholder("{verb:3}", NAME_PLACEHOLDERS), Some("verb:3"));
        assert_eq!(unknown_placeholder("{open", NAME_PLACEHOLDERS), None);
    }
}
