//! The words of a name that stand for `{verb}` and `{object}`: the verb, its form, its position and its object.
//!
//! What always holds: a name that a team lists word by word is accepted, and a problem names the first thing that is wrong.

use super::NameRequirements;
use mcpaql_lexicon::WordSet;
use mcpaql_lexicon::verbs::{self, VerbTrait, Weight};

/// Verbs that are rarely nouns, even at the end of a name.
static RARE_NOUNS: WordSet = WordSet::of(
    "add append approve assign attach cancel configure detach disable enable execute insert modify publish rename replace \
     restore revoke save send submit trigger unassign",
);

/// Why words do not form an action and its object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ActionProblem {
    /// No verb, and no listed object.
    Vocabulary,
    /// The verb is not in its base form: `generates`.
    Form {
        /// The word.
        word: String,
        /// All words with the verb in its base form, if that cannot change their meaning.
        better: Option<String>,
    },
    /// The verb has no object.
    Object(String),
    /// The verb comes after its object.
    Order {
        /// The verb.
        verb: String,
        /// All words in the right order.
        better: String,
    },
}

/// The words of a name for `{verb}` and `{object}`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActionWords<'n> {
    /// The words after the product.
    pub(crate) words: &'n [&'n str],
    /// The listed verbs and objects.
    pub(crate) names: &'n NameRequirements,
    /// Whether the pattern has `{verb}`.
    pub(crate) wants_verb: bool,
    /// Whether the pattern has `{object}`.
    pub(crate) wants_object: bool,
    /// Whether some words before the verb may belong to the product, because products are not listed.
    pub(crate) product_is_open: bool,
}

impl ActionWords<'_> {
    /// Returns the first problem.
    pub(crate) fn problem(&self) -> Option<ActionProblem> {
        let objects_count =
            !self.names.objects.is_empty() && (!self.wants_verb || self.names.verbs.is_empty());
        if objects_count && !self.lists_object() {
            return Some(ActionProblem::Vocabulary);
        }
        if !self.wants_verb {
            return None;
        }
        if let Some(problem) = self.clearly_inflected() {
            return Some(problem);
        }
        let Some(verb) = self.verb() else {
            return match self.inflected_verb() {
                Some(problem) => Some(problem),
                // A team may have names without a verb for objects that it lists: `photoshop_document_manifest`.
                None if self.lists_object() && self.words.len() > 1 => None,
                None => Some(ActionProblem::Vocabulary),
            };
        };
        self.object_or_order(verb)
    }

    fn object_or_order(&self, verb: usize) -> Option<ActionProblem> {
        let word = (*self.words.get(verb)?).to_owned();
        let (before, after) = (self.words.get(..verb)?, self.words.get(verb + 1..)?);
        let before = before.iter().filter(|word| !verbs::is_modifier(word)).count();
        let ends = after.is_empty();
        match (before, ends) {
            (0, true) => self.wants_object.then_some(ActionProblem::Object(word)),
            (0, false) => None,
            // `photoshop_smart_object_replace`: an object of several words may come first.
            (2.., true) => None,
            (_, false) if self.product_is_open => None,
            _ => Some(ActionProblem::Order { verb: word, better: self.with_verb_first(verb, None) }),
        }
    }

    /// Returns the position of the verb: a listed one, or any verb if none are listed.
    fn verb(&self) -> Option<usize> {
        let names = self.names;
        if !names.verbs.is_empty() {
            let listed = self.words.iter().position(|word| names.verbs.iter().any(|verb| verb == word));
            return listed.or_else(|| self.phrase(&names.verbs)).or_else(|| {
                // A verb of its own is enough for a listed object: `photoshop_edit_text`.
                self.words.first().filter(|word| verbs::is_verb(word) && self.lists_object()).map(|_| 0)
            });
        }
        let candidates = || self.words.iter().enumerate();
        // A modifier is the verb if nothing else could be its object: `auto_tone`.
        let modifies =
            |(position, word): &(usize, &&str)| verbs::is_modifier(word) && position + 2 < self.words.len();
        let plain = candidates().find(|found| verbs::is_verb(found.1) && !modifies(found));
        let found = plain.or_else(|| candidates().find(|(_, word)| verbs::is_verb(word)));
        let clear = |position: usize| {
            let verb = self.words.get(position).and_then(|word| verbs::verb(word));
            verb.is_some_and(|verb| verb.weight == Weight::Strong)
        };
        // `issue_read`, `message_trash`: the first word can be a noun, the last one cannot.
        let last = self.words.len().checked_sub(1)?;
        let thing = |word: &&str| verbs::verb(word).is_some_and(|verb| verb.has(VerbTrait::Thing));
        let ends = self.words.last().and_then(|word| verbs::verb(word)).filter(|verb| {
            let after_noun = self.words.first().is_some_and(thing) && !verb.has(VerbTrait::Thing);
            verb.has(VerbTrait::NeverNoun) || RARE_NOUNS.contains(verb.word) || after_noun
        });
        let ends = ends.map(|_| last);
        match found.map(|(position, _)| position) {
            Some(position) if clear(position) => Some(position),
            found => ends.or(found),
        }
    }

    /// Returns where one of the entries with several words starts.
    fn phrase(&self, list: &[String]) -> Option<usize> {
        let entries = list.iter().filter(|entry| entry.contains('_'));
        entries
            .map(|entry| entry.split('_').collect::<Vec<&str>>())
            .find_map(|entry| self.words.windows(entry.len()).position(|window| window == entry.as_slice()))
    }

    fn lists_object(&self) -> bool {
        let objects = &self.names.objects;
        self.words.iter().any(|word| objects.iter().any(|object| object == word))
            || self.phrase(objects).is_some()
    }

    fn is_base(&self, word: &str) -> bool {
        self.names.verbs.iter().any(|verb| verb == word) || verbs::is_verb(word)
    }

    /// Returns the problem of a verb at the start that cannot be a noun in this form, although another word could be a verb:
    /// `creates_list`, `sends_reply`.
    fn clearly_inflected(&self) -> Option<ActionProblem> {
        let first = self.words.first().filter(|word| !self.is_base(word))?;
        let is_past = first.ends_with("ed");
        let others = self.words.iter().skip(1).filter_map(|word| verbs::verb(word));
        let is_only = !others.clone().any(|verb| verb.weight == Weight::Strong);
        let before_thing = self.words.len() == 2 && others.clone().all(|verb| verb.has(VerbTrait::Thing));
        let base = base_form(first, |base| {
            verbs::verb(base).is_some_and(|verb| {
                let never_noun = verb.has(VerbTrait::NeverNoun) || verb.has(VerbTrait::Making);
                (never_noun && !is_past && !matches!(verb.word, "read" | "update"))
                    || (is_only && verb.weight == Weight::Strong)
                    || (before_thing && !verb.has(VerbTrait::Thing))
            })
        })?;
        (others.count() > 0).then(|| self.form_problem(0, &base))
    }

    /// Returns the problem of a verb that is not in its base form. A plural such as `orders` is a noun.
    fn inflected_verb(&self) -> Option<ActionProblem> {
        self.words.iter().enumerate().find_map(|(position, word)| {
            let base = base_form(word, |base| {
                let is_noun = verbs::verb(base).is_some_and(|verb| verb.has(VerbTrait::Thing));
                self.is_base(base) && !(is_noun && word.ends_with('s'))
            })?;
            (self.words.len() > 1).then(|| self.form_problem(position, &base))
        })
    }

    fn form_problem(&self, position: usize, base: &str) -> ActionProblem {
        let word = self.words.get(position).copied().unwrap_or_default().to_owned();
        // `deleted_items` are not to be deleted.
        let better = (!word.ends_with("ed")).then(|| self.with_verb_first(position, Some(base)));
        ActionProblem::Form { word, better }
    }

    /// Returns the words with the verb first, or where it is if the words before it belong to the product.
    fn with_verb_first(&self, position: usize, base: Option<&str>) -> String {
        let mut words = self.words.to_vec();
        let verb = words.remove(position);
        let ends = position == words.len();
        words.insert(if ends { 0 } else { position }, base.unwrap_or(verb));
        words.join("_")
    }
}

/// Returns the base form of an inflected verb: `applies`, `generating`, `trained`.
fn base_form(word: &str, is_verb: impl Fn(&str) -> bool) -> Option<String> {
    let undoubled = |stem: &str| {
        let last = stem.chars().last()?;
        stem.strip_suffix(last).filter(|short| short.ends_with(last)).map(str::to_owned)
    };
    let of_stem = |stem: &str| {
        let forms = [Some(stem.to_owned()), Some(format!("{stem}e")), undoubled(stem)];
        forms.into_iter().flatten().find(|base| is_verb(base))
    };
    if let Some(stem) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) {
        let y = stem.strip_suffix('i').map(|stem| format!("{stem}y")).filter(|base| is_verb(base));
        return y.or_else(|| of_stem(stem));
    }
    let y = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let es = word.strip_suffix("es").map(str::to_owned);
    let s = word.strip_suffix('s').map(str::to_owned);
    [y, s, es].into_iter().flatten().find(|base| is_verb(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(words: &str, names: &NameRequirements, product_is_open: bool) -> Option<ActionProblem> {
        let words: Vec<&str> = words.split('_').collect();
        ActionWords { words: &words, names, wants_verb: true, wants_object: true, product_is_open }.problem()
    }

    #[test]
    fn a_verb_has_its_base_form_and_comes_before_its_object() {
        let none = NameRequirements::default();
        for words in
            ["generate_image", "smart_object_replace", "auto_tone", "bulk_delete_charts", "list_orders"]
        {
            assert_eq!(problem(words, &none, false), None, "{words}");
        }
        for (words, better) in [
            ("generates_image", "generate_image"),
            ("generating_image", "generate_image"),
            ("applies_preset", "apply_preset"),
            ("expands_image", "expand_image"),
            ("image_generates", "generate_image"),
            ("creates_list", "create_list"),
            ("dropping_table", "drop_table"),
        ] {
            let Some(ActionProblem::Form { better: found, .. }) = problem(words, &none, false) else {
                panic!("{words}: {:?}", problem(words, &none, false));
            };
            assert_eq!(found.as_deref(), Some(better), "{words}");
        }
        let past = Some(ActionProblem::Form { word: "deleted".to_owned(), better: None });
        assert_eq!(problem("deleted_items", &none, false), past);
        assert_eq!(problem("generate", &none, true), Some(ActionProblem::Object("generate".to_owned())));
        let order = |verb: &str, better: &str| {
            Some(ActionProblem::Order { verb: verb.to_owned(), better: better.to_owned() })
        };
        assert_eq!(problem("image_generate", &none, true), order("generate", "generate_image"));
        assert_eq!(problem("issue_read", &none, true), order("read", "read_issue"));
        for nouns in ["orders", "order_summaries", "projects"] {
            assert_ne!(
                problem(nouns, &none, false).map(|problem| matches!(problem, ActionProblem::Form { .. })),
                Some(true),
                "{nouns}"
            );
        }
        assert_eq!(problem("orders_overview", &none, false), Some(ActionProblem::Vocabulary), "a plural");
    }

    #[test]
    fn words_before_the_verb_belong_to_a_product_that_is_not_listed() {
        let none = NameRequirements::default();
        assert_eq!(problem("calendar_create_event", &none, true), None);
        assert!(matches!(problem("calendar_create_event", &none, false), Some(ActionProblem::Order { .. })));
    }

    #[test]
    fn listed_words_are_enough() {
        let list = |words: &str| words.split_whitespace().map(str::to_owned).collect();
        let names = NameRequirements {
            verbs: list("generate apply replace auto"),
            objects: list("image manifest text smart_object"),
            ..NameRequirements::default()
        };
        for words in
            ["generate_similar", "document_manifest", "edit_text", "auto_tone", "smart_object_replace"]
        {
            assert_eq!(problem(words, &names, false), None, "{words}");
        }
        assert_eq!(problem("image", &names, false), Some(ActionProblem::Vocabulary));
        assert_eq!(problem("paint_canvas", &names, false), Some(ActionProblem::Vocabulary));
        assert!(matches!(problem("generated_image", &names, false), Some(ActionProblem::Form { .. })));
        assert!(matches!(problem("generates_image", &names, false), Some(ActionProblem::Form { .. })));
        assert!(matches!(problem("image_generate", &names, false), Some(ActionProblem::Order { .. })));
    }
}
