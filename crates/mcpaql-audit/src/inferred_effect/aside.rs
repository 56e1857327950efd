//! Tells what a description says about a tool from advice to its caller.

use crate::tool::ParsedTool;
use mcpaql_lexicon::classify::{Evidence, contradicts_read};
use mcpaql_lexicon::{iter_words, verbs};

/// Maximum number of sentences that are examined.
const MAX_SENTENCES: usize = 60;

/// Returns whether every sentence that suggests a write is an aside: an entry of a list, a sentence about the user, or what to do in
/// some case ("If it is missing, retry").
pub(super) fn suggests_write_only_aside(tool: &ParsedTool<'_>) -> bool {
    let text = tool.description.unwrap_or_default();
    let sentences =
        text.lines().flat_map(|line| line.split(". ")).filter(|sentence| !sentence.trim().is_empty());
    let mut suggesting = sentences
        .take(MAX_SENTENCES)
        .enumerate()
        .filter_map(|(position, sentence)| {
            let evidence = Evidence { name: "get", description: sentence, ..Evidence::default() };
            Some((position, sentence, contradicts_read(&evidence)?))
        })
        .peekable();
    suggesting.peek().is_some()
        && suggesting.all(|(position, sentence, phrase)| position > 0 && is_aside(sentence, &phrase))
}

fn is_aside(sentence: &str, phrase: &str) -> bool {
    let sentence = sentence.trim();
    let words: Vec<_> = iter_words(sentence).collect();
    let word = |position: usize| words.get(position).map_or("", |word| word.as_ref());
    let stresses = matches!(word(0), "caution" | "important" | "note" | "warning");
    let label = sentence.split_once(':').filter(|(label, _)| label.split_whitespace().count() <= 2);
    let is_entry = sentence.starts_with(['-', '*', '•', '–', '|']) || (label.is_some() && !stresses);
    let verb = phrase.split('\'').nth(1).and_then(|phrase| phrase.split(' ').next()).unwrap_or_default();
    let before =
        words.iter().position(|word| word == verb).and_then(|position| position.checked_sub(1)).map(word);
    let by_user =
        words.iter().any(|word| word == "you") || matches!(before, Some("user" | "users" | "service"));
    let called = words.iter().any(|word| matches!(word.as_ref(), "call" | "called" | "invoked" | "tool"));
    let event = matches!(word(0), "when" | "whenever" | "alternatively") || word(1) == "time";
    // "If it is missing, retry": the caller does that.
    let asked = word(0) == "if" && verbs::verb(verb).is_some();
    is_entry || by_user || (event && !called) || asked
}
