//! NAME-015.

use super::spelling::{clipped_name, letters_and_digits, named_tools};
use super::verb_position::shared_words;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::questions::synonym;
use mcpaql_lexicon::{PREPOSITIONS, is_plural};
use std::collections::HashMap;

rule! {
    /// Two names of one server have the same meaning.
    ///
    /// ## What it does
    ///
    /// Checks for tool names on the same server that have the same words in a different order, or differ only in a verb with the
    /// same meaning: `get_users` and `list_users`, `delete_file` and `remove_file`.
    ///
    /// ## Why it matters
    ///
    /// A model cannot choose between them. If the tools do different things, the names should show the difference. If they do the
    /// same, one of them is redundant.
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
    "NAME-015" "same-meaning" Advice Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let shared = shared_words(server);
    let mut first: HashMap<Vec<&str>, &ParsedTool<'_>> = HashMap::with_capacity(server.tools.len());
    for tool in named_tools(server) {
        let Some(key) = tool.words.get(shared..).filter(|own| own.len() > 1).map(canonical_words) else {
            continue;
        };
        match first.get(&key) {
            None => {
                first.insert(key, tool);
            }
            Some(other) if letters_and_digits(other.name) != letters_and_digits(tool.name) => {
                let message = format!(
                    "The name '{}' means the same as '{}'",
                    clipped_name(tool.name),
                    clipped_name(other.name)
                );
                let finding = findings
                    .tool(tool, "/name", message)
                    .help("show the difference in the names, or remove one of the tools");
                finding.related(other.place("/name"));
            }
            Some(_) => {}
        }
    }
}

/// Returns the words of a name with the leading verb replaced by its synonym, sorted unless their order matters.
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

/// Returns one verb for all verbs with the same meaning. To get many objects is to list them; to get one is not.
fn canonical(word: &str, is_many: bool) -> &str {
    match word {
        "list" | "enumerate" if !is_many => "list",
        "describe" | "list" | "enumerate" => "get",
        "change" => "update",
        "make" => "create",
        _ => synonym(word),
    }
}
