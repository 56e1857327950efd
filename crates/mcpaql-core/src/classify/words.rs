//! Names, paths and sentences as words, and words in singular and plural.

use super::verbs::{self, Table, Verb, Weight, WordSet, risk, set};
use crate::facts::Effect;
use crate::operation::Category;
use crate::suggest::snake_case;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What makes one word with a word before it: `OAuth`, `log in`. A match, because it is asked of every word of every text.
fn seconds(first: &str) -> &'static [&'static str] {
    match first {
        "o" => &["auth"],
        "i" => &["ds"],
        "un" => &["follow", "subscribe", "star", "lock", "archive"],
        "ip" => &["v4", "v6"],
        "log" => &["in", "out", "off"],
        "git" => &["hub", "lab"],
        "web" => &["hook", "hooks"],
        "who" => &["am"],
        "sign" => &["in", "out", "up"],
        "look" => &["up"],
        "shut" | "tear" => &["down"],
        "auto" => &["complete"],
        "open" => &["id"],
        "roll" => &["back"],
        "fail" => &["over"],
        "java" => &["script"],
        _ => &[],
    }
}

fn pairs(list: &'static str) -> impl DoubleEndedIterator<Item = (&'static str, &'static str)> {
    let pairs: Vec<&str> = list.split_whitespace().collect();
    pairs.into_iter().filter_map(|pair| pair.split_once('/'))
}

/// The words of a text in lower case, whatever its spelling, with words that belong together joined.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b' '));
    // Most texts have no capitals, and then they need not be spelled anew first.
    let snake = if plain { Cow::Borrowed(text) } else { Cow::Owned(snake_case(text)) };
    for word in snake.split(['_', '-', ' ']).filter(|word| !word.is_empty()) {
        match out.last_mut() {
            Some(last) if joins(last, word) => last.push_str(word),
            _ => out.push(word.to_owned()),
        }
    }
    out
}

/// The same words, one after another and copied only where they are not spelled like that.
pub(super) fn spoken(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut single = tokens(text).flat_map(|(token, is_word)| match is_word {
        true => Pieces::One(Some(Cow::Borrowed(token))),
        false => Pieces::of(token, |token| {
            let snake = snake_case(token);
            snake.split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }),
    });
    let mut last: Option<Cow<'_, str>> = None;
    std::iter::from_fn(move || {
        loop {
            let Some(word) = single.next() else { return last.take() };
            match &mut last {
                Some(last) if joins(last, &word) => last.to_mut().push_str(&word),
                last => {
                    if let Some(spoken) = last.replace(word) {
                        return Some(spoken);
                    }
                }
            }
        }
    })
}

/// The words of a token: most have one.
pub(super) enum Pieces<'t> {
    One(Option<Cow<'t, str>>),
    Many(std::vec::IntoIter<String>),
}

impl<'t> Pieces<'t> {
    /// A word that only begins with a capital, or has nothing else, is one in small letters; others are taken apart.
    pub(super) fn of(token: &'t str, apart: impl Fn(&str) -> Vec<String>) -> Pieces<'t> {
        let small = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        match token.as_bytes() {
            [b'A'..=b'Z', rest @ ..] if rest.iter().all(small) || rest.iter().all(u8::is_ascii_uppercase) => {
                Pieces::One(Some(Cow::Owned(token.to_ascii_lowercase())))
            }
            _ => Pieces::Many(apart(token).into_iter()),
        }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Cow<'t, str>;

    #[inline]
    fn next(&mut self) -> Option<Cow<'t, str>> {
        match self {
            Pieces::One(word) => word.take(),
            Pieces::Many(words) => words.next().map(Cow::Owned),
        }
    }
}

/// What stands between marks and blanks, and whether it is spelled in small letters and digits of ASCII alone.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    let tokens = std::iter::from_fn(move || {
        let from = rest.bytes().position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())?;
        let token = rest.get(from..)?;
        let small = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let end = token.bytes().position(|byte| !small(&byte)).unwrap_or(token.len());
        let odd = token.as_bytes().get(end).is_some_and(|byte| byte.is_ascii_uppercase() || !byte.is_ascii());
        if !odd {
            rest = token.get(end..)?;
            return Some((token.get(..end)?, true));
        }
        let end = token.find(|ch: char| !ch.is_alphanumeric()).unwrap_or(token.len());
        let mark = token.get(end..)?.chars().next().map_or(0, char::len_utf8);
        rest = token.get(end + mark..)?;
        Some((token.get(..end)?, false))
    });
    // A mark that is not of ASCII may stand alone.
    tokens.filter(|(token, _)| !token.is_empty())
}

fn joins(first: &str, second: &str) -> bool {
    seconds(first).contains(&second) || (first == "re" && verbs::verb(&format!("re{second}")).is_some())
}

/// The words of an identifier, one list per part: `issues/list-for-repo`, `users.list`, `Accounts_List` have two.
///
/// An underscore or a hyphen divides parts only where the identifier is otherwise in camel case.
#[must_use]
pub fn parts(name: &str) -> Vec<Vec<String>> {
    parted(name).map(words).filter(|part| !part.is_empty()).collect()
}

/// The parts of an identifier as they stand there; some may hold no word.
pub fn parted(name: &str) -> impl Iterator<Item = &str> {
    let hard = |ch: char| matches!(ch, '/' | '.' | ':' | '#' | ' ' | '\\');
    name.split(hard).flat_map(|part| {
        let camel = part.chars().any(char::is_uppercase) && part.chars().any(char::is_lowercase);
        part.split(move |ch| camel && matches!(ch, '_' | '-'))
    })
}

/// What the words of a name say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// The verb that leads the name, and the part and the word where it stands.
    pub lead: Option<Found>,
    /// The riskiest verb that is tied to it by `and` or `or`, or ends the name.
    pub second: Option<Found>,
    /// The two are one verb: `find_and_replace`.
    pub compound: bool,
}

impl Reading {
    /// The effect of the verb; of two that are tied together the riskier one's, and of `create_or_update` a set.
    #[must_use]
    pub fn effect(&self) -> Option<(Effect, String)> {
        let lead = self.lead?.verb;
        let second = self.second.filter(|_| self.compound).map(|found| found.verb);
        let Some(second) = second else { return Some((lead.effect, format!("'{}'", lead.word))) };
        let text = format!("'{}' and '{}'", lead.word, second.word);
        let categories = [lead.effect.category(), second.effect.category()];
        if categories.contains(&Category::Create) && categories.contains(&Category::Update) {
            return Some((Effect::Set, text));
        }
        let riskier = if risk(second.effect) > risk(lead.effect) { second } else { lead };
        Some((riskier.effect, text))
    }
}

/// A verb and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Which.
    pub verb: &'static Verb,
    /// The part of the name.
    pub part: usize,
    /// The word of the part.
    pub word: usize,
}

/// Finds the verb of a name: it leads the last part that begins with one, else stands anywhere as a clear verb, else
/// stands where a noun is unlikely.
#[must_use]
pub fn reading<W: AsRef<str>>(parts: &[Vec<W>]) -> Reading {
    let Some(lead) = lead(parts) else { return Reading::default() };
    let mut reading = Reading { lead: Some(lead), second: None, compound: false };
    let Some(part) = parts.get(lead.part) else { return reading };
    let tied = part.iter().enumerate().skip(lead.word + 1).find_map(|(index, word)| {
        let tie = matches!(word.as_ref(), "and" | "or" | "then");
        let next = part.get(index + 1).and_then(|next| verbs::verb(next.as_ref()));
        next.filter(|_| tie).map(|verb| Found { verb, part: lead.part, word: index + 1 })
    });
    if let Some(tied) = tied {
        reading.second = Some(tied);
        reading.compound = true;
        return reading;
    }
    let last = part.len().saturating_sub(1);
    reading.second = part
        .get(last)
        .filter(|_| last > lead.word)
        .and_then(|word| verbs::verb(word.as_ref()))
        .filter(|verb| verb.weight == Weight::Strong)
        .map(|verb| Found { verb, part: lead.part, word: last });
    reading
}

fn lead<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<Found> {
    leading(parts).or_else(|| anywhere(parts))
}

/// The verb that the last part to begin with one begins with.
fn leading<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<Found> {
    parts.iter().enumerate().rev().find_map(|(index, part)| {
        let found = first_verb(part, index)?;
        if found.verb.weight != Weight::Weak {
            return Some(found);
        }
        let last = part.len().checked_sub(1)?;
        let verb =
            part.get(last).and_then(|word| verbs::verb(word.as_ref())).filter(|verb| verb.never_noun());
        match verb {
            Some(verb) => Some(Found { verb, part: index, word: last }),
            None => (part.len() > found.word + 1).then_some(found),
        }
    })
}

/// A verb in the middle: a clear one, one glued to its object, else whatever can be a verb, the acting ones first.
fn anywhere<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<Found> {
    let all = || {
        parts.iter().enumerate().rev().flat_map(|(part, words)| {
            words.iter().enumerate().map(move |(word, text)| (part, word, text.as_ref()))
        })
    };
    let find = |accept: fn(&Verb) -> bool| {
        all().find_map(|(part, word, text)| {
            verbs::verb(text).filter(|verb| accept(verb)).map(|verb| Found { verb, part, word })
        })
    };
    let last = parts.len().checked_sub(1).and_then(|part| {
        let word = parts.get(part)?.len().checked_sub(1)?;
        let verb = verbs::verb(parts.get(part)?.get(word)?.as_ref()).filter(|verb| verb.never_noun())?;
        Some(Found { verb, part, word })
    });
    last.or_else(|| find(|verb| verb.weight == Weight::Strong))
        .or_else(|| {
            all().find_map(|(part, word, text)| verbs::glued(text).map(|verb| Found { verb, part, word }))
        })
        .or_else(|| find(|verb| verb.weight == Weight::Doubtful))
        .or_else(|| find(|verb| verbs::risk(verb.effect) > 0))
        .or_else(|| find(|_| true))
}

/// The verb a part begins with, behind words that only modify it.
fn first_verb<W: AsRef<str>>(part: &[W], index: usize) -> Option<Found> {
    let modifiers = part.iter().take_while(|word| verbs::is_modifier(word.as_ref())).count();
    let at = |word: usize| {
        part.get(word).and_then(|text| verbs::verb(text.as_ref())).map(|verb| Found {
            verb,
            part: index,
            word,
        })
    };
    (0..=modifiers).rev().find_map(at)
}

/// Words that end in `s` and are one thing.
static SINGULAR_S: WordSet = LazyLock::new(|| {
    set("access address alias analysis analytics apns atlas basis bonus bus business campus canvas census \
         class cors diagnosis dns dos express gas gps graphics https ics ios iss kudos lens logistics mass \
         news pass press process progress rss series sms species statistics status success synopsis tls vps \
         virus wireless corpus focus aws axis always sales os css js us sas kms ens sns sqs ecs eks rds saas \
         paas")
});
/// Nouns that have no plural of their own.
static UNCOUNTABLE: WordSet = LazyLock::new(|| {
    set("analytics data equipment feedback history info information media metadata news series software \
         species statistics stats staff usage audio sms content access inventory stock weather traffic")
});
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
         niche/niches headache/headaches tax/taxes box/boxes";

static ONE_OF: LazyLock<Table<&'static str>> =
    LazyLock::new(|| pairs(IRREGULAR).map(|(one, many)| (many, one)).collect());
/// Of two plurals the first is ours.
static MANY_OF: LazyLock<Table<&'static str>> = LazyLock::new(|| pairs(IRREGULAR).rev().collect());

/// `issues` → `issue`; what is one thing already stays.
#[must_use]
pub fn singular(word: &str) -> Cow<'_, str> {
    // Almost every word is decided here, without looking anything up.
    if !word.ends_with('s') && !matches!(word.as_bytes(), [.., b'n' | b'a' | b'e' | b't']) {
        return Cow::Borrowed(word);
    }
    if let Some(one) = ONE_OF.get(word) {
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

/// `issue` → `issues`; what is many already stays.
#[must_use]
pub fn plural(word: &str) -> String {
    if is_plural(word) || UNCOUNTABLE.contains(word) || word.ends_with(|ch: char| ch.is_ascii_digit()) {
        return word.to_owned();
    }
    if let Some(many) = MANY_OF.get(word) {
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

/// Whether a word names many things.
#[must_use]
pub fn is_plural(word: &str) -> bool {
    !UNCOUNTABLE.contains(word) && singular(word) != word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart_however_they_are_spelled() {
        for (name, expected) in [
            ("issues/list-for-repo", "issues|list for repo"),
            ("actions/re-run-workflow", "actions|rerun workflow"),
            ("Accounts_List", "accounts|list"),
            ("PetController_findAll", "pet controller|find all"),
            ("chat_postMessage", "chat|post message"),
            ("users.list", "users|list"),
            ("list_pets", "list pets"),
            ("listOAuthApps", "list oauth apps"),
            ("ipam_ip-addresses_delete", "ipam ip addresses delete"),
            ("", ""),
            ("///", ""),
        ] {
            let found: Vec<String> = parts(name).iter().map(|part| part.join(" ")).collect();
            assert_eq!(found.join("|"), expected, "{name}");
        }
    }

    #[test]
    fn the_verb_is_found_where_it_stands() {
        for (name, expected) in [
            ("issues/list-for-repo", "list"),
            ("search_index_delete", "search"),
            ("SearchService_Update", "update"),
            ("mark_all_notifications_read", "mark"),
            ("batchGetUsers", "get"),
            ("users.list", "list"),
            ("ipam_ip-addresses_delete", "delete"),
            ("admin_users_session_reset", "reset"),
            ("repos/merge", "merge"),
            ("deleteuser", "delete"),
        ] {
            let found = reading(&parts(name)).lead.map(|found| found.verb.word);
            assert_eq!(found, Some(expected), "{name}");
        }
        assert!(reading(&parts("document_manifest")).lead.is_none());
        let compound = reading(&parts("find_and_replace"));
        assert!(compound.compound);
        assert_eq!(compound.second.map(|found| found.verb.word), Some("replace"));
    }

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
