//! NAME-015.

use super::spelling::{clipped_name, letters_and_digits, named_tools};
use super::verb_placement::shared_words;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::questions::synonym;
use mcpaql_lexicon::{PREPOSITIONS, is_plural};
use std::collections::HashMap;

rule! {
    /// Two names of one server say the same in other words.
    ///
    /// ## What it does
    ///
    /// Looks for names of one server that have the same words in another order, or differ only in a verb that means the same:
    /// `get_users` and `list_users`, `delete_file` and `remove_file`.
    ///
    /// ## Why it matters
    ///
    /// A model has nothing to choose by. Where they do different things, the names should say which; where they do the same, one of them
    /// is in the way.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/1/name
    /// {"tools": [{"name": "delete_file", "inputSchema": {"type": "object"}}, {"name": "remove_file", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "delete_file", "inputSchema": {"type": "object"}}, {"name": "delete_files_by_pattern", "inputSchema": {"type": "object"}}]}
    /// ```
    "NAME-015" "near-collision" Advice Server(check)
}

fn check(surface: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let shared = shared_words(surface);
    let mut first: HashMap<Vec<&str>, &ParsedTool<'_>> = HashMap::with_capacity(surface.tools.len());
    for tool in named_tools(surface) {
        let Some(key) = tool.words.get(shared..).filter(|own| own.len() > 1).map(canonical_words) else {
            continue;
        };
        match first.get(&key) {
            None => {
                first.insert(key, tool);
            }
            Some(other) if letters_and_digits(other.name) != letters_and_digits(tool.name) => {
                let message = format!(
                    "The name '{}' says the same as '{}'",
                    clipped_name(tool.name),
                    clipped_name(other.name)
                );
                let finding =
                    findings.tool(tool, "/name", message).help("say how they differ, or leave one out");
                finding.related(other.place("/name"));
            }
            Some(_) => {}
        }
    }
}

/// The words of a name, with one verb for all that mean the same where it leads, sorted where their order says nothing.
fn canonical_words(words: &[String]) -> Vec<&str> {
    let mut key: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_many = key.last().is_some_and(|word| is_plural(word));
    if let Some(verb) = key.first_mut() {
        *verb = canonical(verb, is_many);
    }
    let ordered = |word: &str| PREPOSITIONS.contains(word) || matches!(word, "and" | "or");
    if !words.iter().any(|word| ordered(word)) {
        key.sort_unstable();
    }
    key
}

/// One verb for all that say the same of the same object. To get many things is to list them; to get one is not.
fn canonical(word: &str, is_many: bool) -> &str {
    match word {
        "list" | "enumerate" if !is_many => "list",
        "describe" | "list" | "enumerate" => "get",
        "change" => "update",
        "make" => "create",
        _ => synonym(word),
    }
}
