//! Shortens descriptions, because models read them with every call.

use super::markdown;

/// Maximum characters of a parameter's description.
pub(super) const PARAM_TEXT: usize = 300;
/// Maximum characters of a nested field's description.
pub(super) const FIELD_TEXT: usize = 160;

/// Converts Markdown to one line of plain text.
fn flatten(text: &str) -> String {
    markdown::flatten(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text on one line of at most `limit` characters. It is cut after a sentence that ends in the second half, or else
/// after a word.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let flat = flatten(text);
    let Some((end, _)) = flat.char_indices().nth(limit) else { return flat };
    let head = flat.get(..end).unwrap_or_default();
    let sentence = head.rfind(". ").map(|at| at + 1).filter(|at| *at * 2 >= end);
    let word = || head.rfind(' ').filter(|at| *at * 2 >= end);
    match sentence {
        Some(at) => head.get(..at).unwrap_or_default().to_owned(),
        None => {
            let cut = word().and_then(|at| head.get(..at)).unwrap_or(head);
            format!("{}…", cut.trim_end_matches([',', ';', ':', ' ']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_with_a_sentence_or_a_word() {
        assert_eq!(shorten("Short\n  and  sweet.", 40), "Short and sweet.");
        assert_eq!(shorten("The first sentence. The second one goes on.", 30), "The first sentence.");
        assert_eq!(shorten("No sentence ends here, at all, anywhere", 24), "No sentence ends here…");
        assert_eq!(shorten("äöüäöüäöüäöü", 4), "äöüä…");
    }
}
