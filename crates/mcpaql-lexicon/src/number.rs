//! Converts words between singular and plural.

use crate::word_set::{WordMap, WordSet};
use std::borrow::Cow;
use std::sync::LazyLock;

fn pairs(list: &'static str) -> impl DoubleEndedIterator<Item = (&'static str, &'static str)> {
    let pairs: Vec<&str> = list.split_whitespace().collect();
    pairs.into_iter().filter_map(|pair| pair.split_once('/'))
}

/// Singular words that end in `s`.
static SINGULAR_S: WordSet = WordSet::of(
    "access address alias analysis analytics apns atlas basis bonus bus business campus canvas census \
         class cors diagnosis dns dos express gas gps graphics https ics ios iss kudos lens logistics mass \
         news pass press process progress rss series sms species statistics status success synopsis tls vps \
         virus wireless corpus focus aws axis always sales os css js us sas kms ens sns sqs ecs eks rds saas \
         paas",
);
/// Nouns without a plural.
static UNCOUNTABLE: WordSet = WordSet::of(
    "analytics data equipment feedback history info information media metadata news series software \
         species statistics stats staff usage audio sms content access inventory stock weather traffic",
);
const IRREGULAR: &str = "person/people child/children index/indices index/indexes matrix/matrices vertex/vertices \
         criterion/criteria analysis/analyses movie/movies cookie/cookies alias/aliases status/statuses \
         bus/buses gas/gases lens/lenses canvas/canvases campus/campuses bonus/bonuses virus/viruses \
         database/databases case/cases release/releases lease/leases license/licenses response/responses \
         course/courses house/houses warehouse/warehouses purchase/purchases phase/phases use/uses base/bases \
         expense/expenses phrase/phrases horse/horses nurse/nurses increase/increases exercise/exercises \
         enterprise/enterprises cause/causes clause/clauses pause/pauses browse/browses close/closes \
         cache/caches axe/axes size/sizes resize/resizes prize/prizes quiz/quizzes tie/ties pie/pies \
         zombie/zombies calorie/calories selfie/selfies shoe/shoes half/halves shelf/shelves leaf/leaves \
         foot/feet man/men woman/women hypothesis/hypotheses hero/heroes potato/potatoes lie/lies \
         niche/niches headache/headaches tax/taxes box/boxes ad/ads ip/ips vm/vms pr/prs";

static SINGULARS: LazyLock<WordMap<&'static str>> =
    LazyLock::new(|| pairs(IRREGULAR).map(|(one, many)| (many, one)).collect());
/// Of two plurals, the first one is used.
static PLURALS: LazyLock<WordMap<&'static str>> = LazyLock::new(|| pairs(IRREGULAR).rev().collect());

/// Returns the singular: `issues` → `issue`. A singular does not change.
#[must_use]
pub fn singular(word: &str) -> Cow<'_, str> {
    // Most words end here, without a lookup.
    if !word.ends_with('s') && !matches!(word.as_bytes(), [.., b'n' | b'a' | b'e' | b't']) {
        return Cow::Borrowed(word);
    }
    if let Some(one) = SINGULARS.get(word) {
        return Cow::Borrowed(one);
    }
    let Some(stem) = word.strip_suffix('s') else { return Cow::Borrowed(word) };
    if word.len() < 4 || ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        return Cow::Borrowed(word);
    }
    if SINGULAR_S.contains(word) || UNCOUNTABLE.contains(word) {
        return Cow::Borrowed(word);
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return Cow::Owned(format!("{stem}y"));
    }
    let doubled = ["sses", "shes", "ches", "xes", "zzes"].iter().any(|ending| word.ends_with(ending));
    Cow::Borrowed(if doubled { stem.strip_suffix('e').unwrap_or(stem) } else { stem })
}

/// Returns the plural: `issue` → `issues`. A plural does not change.
#[must_use]
pub fn plural(word: &str) -> String {
    if is_plural(word) || UNCOUNTABLE.contains(word) || word.ends_with(|ch: char| ch.is_ascii_digit()) {
        return word.to_owned();
    }
    if let Some(many) = PLURALS.get(word) {
        return (*many).to_owned();
    }
    let before_y = word.chars().rev().nth(1);
    if word.ends_with('y') && !before_y.is_some_and(|ch| "aeiou".contains(ch)) {
        return format!("{}ies", word.strip_suffix('y').unwrap_or(word));
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) {
        return format!("{word}es");
    }
    format!("{word}s")
}

/// Returns whether a word is a plural.
#[must_use]
pub fn is_plural(word: &str) -> bool {
    !UNCOUNTABLE.contains(word) && singular(word) != word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_undo_each_other() {
        for (one, many) in [
            ("issue", "issues"),
            ("repository", "repositories"),
            ("branch", "branches"),
            ("person", "people"),
            ("address", "addresses"),
            ("movie", "movies"),
            ("status", "statuses"),
            ("key", "keys"),
            ("box", "boxes"),
            ("database", "databases"),
            ("class", "classes"),
            ("release", "releases"),
            ("index", "indices"),
        ] {
            assert_eq!(singular(many), one);
            assert_eq!(plural(one), many);
            assert_eq!(singular(one), one);
            assert_eq!(plural(many), many);
        }
        for word in ["series", "news", "metadata", "dns", "sms"] {
            assert_eq!(singular(word), word);
            assert!(!is_plural(word), "{word}");
        }
    }
}
