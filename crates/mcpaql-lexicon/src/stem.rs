//! Finds the stem of an English word: the common part of its plural, past, participle and noun of action.
//!
//! What always holds: the stem depends only on the word, and is never empty for a non-empty word. Stems are only
//! compared with other stems; they need not be words. Nouns for people who act (`reviewer`, `contributor`) keep their
//! ending, because APIs list reviewers and reviews separately. [`related_stems`] connects them.

use crate::number::singular;

/// Minimum length of a word whose ending is removed.
const MIN_LENGTH: usize = 4;

/// Returns the stem of a lower-case word.
#[must_use]
pub fn stem(word: &str) -> String {
    if word.len() < MIN_LENGTH || !word.is_ascii() {
        return word.to_owned();
    }
    let mut word = singular(word).into_owned();
    // `statistics` is a singular, but the same word as `statistic`.
    if word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        word.pop();
    }
    let ending = inflection(&mut word) || adverb(&mut word);
    if !ending || word.ends_with("ion") {
        abstract_noun(&mut word);
    }
    if word.len() >= MIN_LENGTH && word.ends_with('e') {
        word.pop();
    }
    if word.len() >= 7 && word.ends_with("at") {
        cut(&mut word, 2);
    }
    word
}

fn cut(word: &mut String, count: usize) {
    word.truncate(word.len().saturating_sub(count));
}

fn replace(word: &mut String, ending: &str, by: &str) -> bool {
    if !word.ends_with(ending) {
        return false;
    }
    cut(word, ending.len());
    word.push_str(by);
    true
}

/// Removes `-ing` or `-ed`. Returns whether there was one.
fn inflection(word: &mut String) -> bool {
    if word.len() > MIN_LENGTH && replace(word, "ied", "y") {
        return true;
    }
    let ending = if word.ends_with("ing") {
        3
    } else if word.ends_with("ed") && !word.ends_with("eed") {
        2
    } else {
        return false;
    };
    let kept = word.len().saturating_sub(ending);
    let pronounceable = word.bytes().take(kept).any(is_vowel);
    if kept < 3 || !pronounceable {
        return false;
    }
    word.truncate(kept);
    undouble(word);
    true
}

/// Removes a doubled consonant: `runn` becomes `run`, but `call` and `access` do not change.
fn undouble(word: &mut String) {
    let mut end = word.bytes().rev();
    if let (Some(last), Some(before)) = (end.next(), end.next())
        && last == before
        && !is_vowel(last)
        && !matches!(last, b'l' | b's' | b'z')
        && word.len() > 3
    {
        word.pop();
    }
}

fn adverb(word: &mut String) -> bool {
    word.len() > 5 && replace(word, "ly", "")
}

/// Removes `-ion` and `-ity` if enough letters remain.
fn abstract_noun(word: &mut String) {
    let long = word.len();
    let acting = long >= 6 && (word.ends_with("tion") || word.ends_with("sion"));
    if acting || (long >= 8 && word.ends_with("ity")) {
        cut(word, 3);
    }
}

const fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Returns the stems of related words: the person who acts, and the action.
#[must_use]
pub fn related_stems(stem: &str) -> Vec<String> {
    const ENDINGS: [&str; 6] = ["er", "or", "ee", "ment", "ship", "al"];
    if stem.len() < 3 || !stem.is_ascii() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for ending in ENDINGS {
        if let Some(root) = stem.strip_suffix(ending)
            && root.len() >= 4
        {
            found.push(root.to_owned());
            let mut simple = root.to_owned();
            undouble(&mut simple);
            if simple != root {
                found.push(simple);
            }
        }
    }
    for ending in ["er", "or", "e", "ment", "ship", "r"] {
        found.push(format!("{stem}{ending}"));
    }
    if let Some(last) = stem.chars().next_back() {
        found.push(format!("{stem}{last}er"));
    }
    found
}

/// Returns the stems of nouns for people who do the action: `review` → `reviewer`.
#[must_use]
pub fn agent_noun_stems(stem: &str) -> Vec<String> {
    let mut found: Vec<String> =
        ["er", "or", "r", "e"].iter().map(|ending| format!("{stem}{ending}")).collect();
    if let Some(last) = stem.chars().next_back() {
        found.push(format!("{stem}{last}er"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["release", "releases", "released", "releasing"][..],
            &["repository", "repositories"],
            &["merge", "merged", "merges", "merging"],
            &["invite", "invitation", "invitations", "invited"],
            &["create", "creation", "created", "creating"],
            &["authenticate", "authentication", "authenticated"],
            &["configure", "configuration", "configurations"],
            &["install", "installation", "installations", "installed"],
            &["recommend", "recommendation", "recommended"],
            &["copy", "copies", "copied"],
            &["run", "runs", "running"],
            &["branch", "branches"],
            &["popular", "popularity"],
            &["access", "accesses"],
            &["box", "boxes"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?} are {stems:?}");
        }
    }

    #[test]
    fn words_that_apis_tell_apart_stay_apart() {
        for (one, other) in [
            ("reviewers", "reviews"),
            ("followers", "following"),
            ("status", "stat"),
            ("user", "use"),
            ("string", "str"),
        ] {
            assert_ne!(stem(one), stem(other), "{one}, {other}");
        }
    }

    #[test]
    fn short_and_foreign_words_are_left_as_they_are() {
        for word in ["", "id", "tv", "bus", "größe", "größen", "日本"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn relatives_lead_from_who_acts_to_the_act_and_back() {
        assert!(related_stems("contributor").contains(&"contribut".to_owned()));
        assert!(related_stems("contribut").contains(&"contributor".to_owned()));
        assert!(related_stems("runner").contains(&"run".to_owned()));
        assert!(related_stems("deploy").contains(&"deployment".to_owned()));
    }

    #[test]
    fn who_does_it_has_the_stem_of_the_word_for_them() {
        for (deed, doer) in
            [("watches", "watchers"), ("contributed", "contributors"), ("assigned", "assignees")]
        {
            assert!(agent_noun_stems(&stem(deed)).contains(&stem(doer)), "{doer}");
        }
    }
}
