//! The verbs of APIs: the effect of each, and its canonical spelling in names.
//!
//! ```
//! use mcpaql_lexicon::Category;
//! use mcpaql_lexicon::verbs::verb;
//!
//! let fetch = verb("fetch").unwrap();
//! assert_eq!((fetch.canonical, fetch.category()), ("get", Category::Read));
//! assert!(verb("invoice").is_none());
//! ```
//!
//! The classifier, the namer and search use the same table. A word that is not in it counts as a noun.

mod further;

pub use further::further;

use crate::effect::{Category, Effect};
use crate::word_set::{MAX_WORD_BYTES, WordMap, WordSet};
use std::collections::HashSet;
use std::sync::LazyLock;

/// How reliable a verb is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// A verb wherever it starts a name.
    Strong,
    /// Just as often a noun (`status`, `archive`, `transfer`). It counts only in a position where a noun is not
    /// possible.
    Weak,
    /// Reads in some APIs, but writes a file, starts a job or costs money in others (`export`, `analyze`).
    Doubtful,
}

/// A verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verb {
    /// The word, in lower case.
    pub word: &'static str,
    /// The canonical spelling: `fetch` and `retrieve` become `get`.
    pub canonical: &'static str,
    /// The effect that it indicates.
    pub effect: Effect,
    /// How reliable it is.
    pub weight: Weight,
    /// One bit for each of [`TRAITS`].
    traits: u16,
}

/// Further properties of verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbTrait {
    /// Never a noun in APIs. It is the verb even at the end of a name (`issue_read`, `alert-policy-get`).
    NeverNoun,
    /// Shows that a POST may be a read. `read`, `view` and `ping` do not: such a POST marks a message as read, counts a
    /// view or sends something.
    Queries,
    /// Half of all operations start with one of these. Such a verb shows the kind of operation, but does not
    /// distinguish operations of that kind.
    Common,
    /// As often a noun as a verb. It counts as a verb only if the description has it, too.
    Acting,
    /// Makes something and returns it. The result may also be stored.
    Making,
    /// A weak verb that does harm and is rarely a noun after another verb.
    Harming,
    /// A weak verb that does harm, but is a noun in many names.
    Risky,
    /// Reads, but can also be a noun, an adjective or another verb: `view_count`, `read_receipt`, `list_item`.
    Homograph,
    /// A read in many names, but a write in others: `log_event`, `load_page`.
    Twofold,
    /// A write in the name of a tool, but often a read in a description: "Resolves a name".
    Mild,
    /// As often a noun as a verb at the start of a name: `order_status`.
    Thing,
}

/// The verbs with each trait, in the order of [`VerbTrait`].
const TRAITS: [(VerbTrait, &str); 11] = [
    (VerbTrait::NeverNoun, "create delete describe fetch get read remove retrieve update"),
    (
        VerbTrait::Queries,
        "autocomplete browse calculate check compare count describe enumerate estimate explain fetch find geocode get \
         inspect lint list lookup obtain preview query retrieve search validate",
    ),
    (
        VerbTrait::Common,
        "add change create delete edit fetch find get list make mark modify new obtain open perform post put read \
         remove retrieve return set show update view write",
    ),
    (
        VerbTrait::Acting,
        "archive charge clean cleanup clear deploy deposit dispatch drop email forward kill launch message pay play \
         post purchase push refund release reset revert rollback run schedule start transfer trash withdraw",
    ),
    (VerbTrait::Making, "generate regenerate render"),
    (VerbTrait::Harming, "clean cleanup clear drop empty kill reset revert rollback"),
    (
        VerbTrait::Risky,
        "charge deploy deposit dispatch launch pay purchase redact refund run set start store trash void withdraw",
    ),
    (VerbTrait::Homograph, "check count list preview query read show view"),
    (VerbTrait::Twofold, "index load log match trace"),
    (VerbTrait::Mild, "resolve track"),
    (
        VerbTrait::Thing,
        "action alert batch build call comment commit deploy email issue message order post process record release \
         request review run schedule test transfer",
    ),
];

impl Verb {
    /// Returns whether it only reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.weight != Weight::Doubtful && self.category() == Category::Read
    }

    /// Returns whether it certainly changes something.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.weight == Weight::Strong && self.category() != Category::Read
    }

    /// Returns whether its effect is a write.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.category() != Category::Read
    }

    /// Returns the category of its effect.
    #[must_use]
    pub const fn category(&self) -> Category {
        self.effect.category()
    }

    /// Returns whether it has a trait.
    #[must_use]
    pub const fn has(&self, feature: VerbTrait) -> bool {
        self.traits & (1 << feature as u16) != 0
    }
}

type VerbRow = (Effect, Weight, &'static str);

use Weight::{Doubtful, Strong, Weak};

/// Rows of words with the same effect. `word=canonical` if the canonical spelling differs.
const TABLE: &[VerbRow] = &[
    (
        Effect::Read,
        Strong,
        "autocomplete browse check compare count describe discover enumerate=list explain explore fetch=get \
         find get has inspect introspect is list lookup obtain=get peek ping preview query read=get \
         retrieve=get search show=get view=get whoami",
    ),
    (
        Effect::Read,
        Weak,
        "blame details diff docs documentation exists filter head history index=list info instructions \
         load=get log logs match reflog schema stats status tail top trace tree usage",
    ),
    (Effect::Compute, Strong, "calculate echo estimate geocode lint validate"),
    (Effect::Read, Doubtful, "download export poll scan screenshot verify wait watch"),
    (
        Effect::Compute,
        Doubtful,
        "aggregate analyse=analyze analyze audit classify compute convert decode decrypt detect diagnose \
         embed encode encrypt extract identify parse predict recommend render score simulate suggest \
         summarize tokenize transcribe translate troubleshoot",
    ),
    (
        Effect::Create,
        Strong,
        "clone create duplicate generate insert=create install invite provision register reserve upload",
    ),
    (
        Effect::Create,
        Weak,
        "book build compose copy draft fork import init initialize issue make new=create order post schedule \
         snapshot take regenerate",
    ),
    (Effect::Append, Strong, "add append associate attach enqueue"),
    (Effect::Append, Weak, "comment commit push react record reply request track vote ingest"),
    (
        Effect::Update,
        Strong,
        "adjust alter=update apply configure customize decrement edit=update increment modify=update rebuild \
         rename reorder resize update",
    ),
    (
        Effect::Update,
        Weak,
        "change fix manage optimize patch=update scale sort sync synchronize=sync transform upgrade extend \
         renew reconcile refresh",
    ),
    (
        Effect::Set,
        Strong,
        "acknowledge activate assign enable grant mark mute overwrite put replace restore save toggle \
         unarchive undelete unlock unmute unpin unprotect upsert write reactivate reenable reopen override \
         untrash",
    ),
    (
        Effect::Set,
        Weak,
        "accept allow block close favorite follow hide like link lock open pause pin protect resume route set \
         star subscribe tag label bind bookmark store complete confirm finalize suspend unsuspend map share \
         join resolve select",
    ),
    (Effect::Move, Strong, "migrate move relocate"),
    (Effect::Move, Weak, "transfer rotate swap"),
    (Effect::SoftDelete, Strong, "deactivate disable"),
    (Effect::SoftDelete, Weak, "archive trash retire expire void"),
    (
        Effect::Delete,
        Strong,
        "delete destroy=delete erase purge remove terminate truncate uninstall wipe flush prune unregister \
         deregister dequeue discard forget expunge decommission deprovision teardown undeploy",
    ),
    (Effect::Delete, Weak, "clean cleanup clear drop pop reset rollback revert kill empty redact"),
    (
        Effect::Unlink,
        Strong,
        "detach disassociate dissociate unassign unblock unfollow unlike unlink unshare unstar unsubscribe \
         untag invalidate revoke unbind dismiss leave unfavorite unwatch unlabel kick evict",
    ),
    (Effect::Unlink, Weak, "disconnect release"),
    (
        Effect::Execute,
        Strong,
        "abort approve cancel decline deny disapprove exec=execute execute invoke merge perform promote \
         publish reboot recalculate redeploy redeliver reindex reload reject rerequest rerun restart resubmit retry \
         shutdown stop submit trigger unpublish initiate failover reprocess consume acquire claim begin \
         rebase demote resend undo redo enroll unenroll",
    ),
    (
        Effect::Execute,
        Weak,
        "action bulk call capture charge checkout crawl deploy dispatch eval=evaluate evaluate launch \
         manipulate pay play process pull purchase receive refund replay review research run scrape start test \
         withdraw authorize settle sign transact deposit return click type press drag fill navigate tap hover \
         batch do handle prepare crop",
    ),
    (Effect::Send, Strong, "broadcast notify remind send"),
    (Effect::Send, Weak, "alert dial email forward message announce tweet"),
    (
        Effect::Session,
        Strong,
        "authenticate connect impersonate login logout signin signout signup logoff logon",
    ),
];

static BY_WORD: LazyLock<WordMap<Verb>> = LazyLock::new(|| {
    let rows = TABLE.iter().flat_map(|(effect, weight, words)| {
        words.split_whitespace().map(move |entry| {
            let (word, canonical) = entry.split_once('=').unwrap_or((entry, entry));
            (word, Verb { word, canonical, effect: *effect, weight: *weight, traits: 0 })
        })
    });
    let mut table: WordMap<Verb> = rows.collect();
    for (feature, words) in TRAITS {
        for word in words.split_whitespace() {
            if let Some(verb) = table.get_mut(word) {
                verb.traits |= 1 << feature as u16;
            }
        }
    }
    table
});

/// Words before a verb that change how it is done, not what is done.
static MODIFIERS: WordSet = WordSet::of(
    "async auto batch bulk force hard mass multi partial partially permanently quick safe soft sync try",
);

/// Verbs that name an action, but not its effect. Words that are more often nouns are left out.
static UNSPECIFIC_VERBS: WordSet = WordSet::of(
    "accelerate adapt advance advise aim align allocate amend annotate answer arrange ask assemble assert assess \
     augment auth auto automate balance benchmark bisect blend blur boost branch bring bump bundle calibrate catch cd \
     chat choose chunk collapse collect combine compact compile compress concat condense consolidate construct \
     contact continue contribute correct cut debug dedupe defer define defragment delegate deliver depart derive \
     determine dig disassemble display distribute divide double drain draw dump elaborate elicit emit emulate end \
     enforce enhance enrich enter escalate establish exclude exit expand expel expose fail feed finish fire fit \
     flatten flip focus fold forbid forgot format freeze gather give grep grow guess guide gunzip gzip harvest heal \
     help highlight hydrate improve include infer inflate inform inject instrument integrate interpret interrupt \
     intersect introduce invert isolate iterate jump keep learn let lift listen locate look loop maintain mask \
     measure meet mint mirror mock monitor mount multiply mutate narrow negotiate nest next observe offer opt \
     orchestrate organize outline pack paginate paint park pass paste peel permit pick pipe plot plug poke populate \
     postpone practice prevent print probe produce prohibit propose prototype prove provide punch quarantine quit \
     raise rank rate reach rearrange reason reassign rebalance recall recolor recompute recover recreate recycle \
     redirect reduce refactor refine reformat regen regress reinstall reinvite relabel relate rem remediate remember \
     reorganize repair repeat rephrase reposition represent reproduce require rescale reschedule reseed reshape \
     respond restrict resync retain rethink retitle retrain reverse rewind rewrite roll sanitize say scaffold scroll seal \
     secure see seed seek separate serve shift ship shorten shrink shuffle silence skip sleep slice smooth solve spawn \
     speak specify spin split squash stash stay stitch straighten stream stretch strip study substitute subtract \
     switch talk tell think throttle tidy tone touch train transcode transpile traverse treat triage trim trust tune \
     turn unfold unload unmount unpack unstage unwrap unzip upscale use vouch wake warm warn weigh whitelist wire wrap zip zoom",
);
/// Further such verbs that certainly change something, anywhere in a name.
static CHANGING_VERBS: WordSet = WordSet::of(
    "ack ban buy chmod chown del destruct eject gc halt mkdir mkfs mv nuke obliterate rm rmdir scrub sell sendmail \
     shred shut snooze unban unset vacuum zap",
);

/// The categories that verbs ask for in a question, if they differ from the category of their effect.
const QUESTION_VERBS: [(Category, &str); 5] = [
    (
        Category::Create,
        "ask bookmark enable enroll file follow grant initiate introduce open provide publish report respond save sign \
         star store submit subscribe tag watch write",
    ),
    (Category::Read, "display know look see tell"),
    (
        Category::Update,
        "activate adapt amend approve archive confirm correct deactivate demote disable dismiss enable follow forbid \
         give grant increase lift limit lock move permit prevent prohibit promote reassign recolor reject relabel \
         require restore restrict retitle silence star stop subscribe swap switch turn unlock unpublish watch",
    ),
    (
        Category::Delete,
        "cancel deactivate decline disable dismiss eject end expel fire lift reject reset stop undo unpin unpublish \
         unset withdraw",
    ),
    (
        Category::Execute,
        "activate approve archive build calculate cancel compute confirm convert disable enable export finish import \
         lock move ping publish rebuild refresh reject render reset restore resume revert rollback scan share shut \
         stop submit suspend swap sync synchronize transfer unlock validate",
    ),
];

/// Weak verbs that count as verbs at the start of a question.
static QUESTION_VERBS_BY_EFFECT: WordSet = WordSet::of(
    "accept allow block book call change clear close comment compose copy deploy disconnect dispatch download draft \
     drop empty evaluate extend fix fork hide launch link make new order pause pin post protect react recommend record \
     release replay reply request resolve rotate run schedule set start suggest test trash upgrade vote",
);

/// Returns all verbs of questions with the category that they ask for. A verb appears once for each category.
pub fn question_verbs() -> impl Iterator<Item = (&'static str, Category)> {
    let listed = || {
        QUESTION_VERBS
            .iter()
            .flat_map(|(category, words)| words.split_whitespace().map(|word| (word, *category)))
    };
    let known: HashSet<&str> = listed().map(|(word, _)| word).collect();
    let by_effect = BY_WORD
        .values()
        .filter(move |verb| verb.weight == Weight::Strong || QUESTION_VERBS_BY_EFFECT.contains(verb.word))
        .filter(move |verb| !known.contains(verb.word))
        .map(|verb| (verb.word, verb.category()));
    by_effect.chain(listed())
}

/// Further verbs that tell operations apart no better than their category.
static MORE_COMMON_VERBS: WordSet = WordSet::of("give have look see use");

/// Returns whether half of all operations or questions start with this verb.
#[must_use]
pub fn is_common(word: &str) -> bool {
    MORE_COMMON_VERBS.contains(word) || verb(word).is_some_and(|verb| verb.has(VerbTrait::Common))
}

/// Returns the verbs that half of all operations or questions start with.
pub fn common_verbs() -> impl Iterator<Item = &'static str> {
    let own = BY_WORD.values().filter(|verb| verb.has(VerbTrait::Common)).map(|verb| verb.word);
    own.chain(MORE_COMMON_VERBS.iter())
}

/// Returns whether a word can be a verb, with a known effect or not.
#[must_use]
pub fn is_verb(word: &str) -> bool {
    let ending = word.len() >= 7 && ["ize", "ise", "ify"].iter().any(|ending| word.ends_with(ending));
    // `unbookmark`
    let undoes =
        || word.strip_prefix("un").and_then(verb).is_some_and(|verb| verb.writes() && verb.word.len() > 3);
    ending || verb(word).is_some() || undoes() || UNSPECIFIC_VERBS.contains(word) || is_changing_verb(word)
}

/// Returns whether a word that is not in the table certainly changes something.
#[must_use]
pub fn is_changing_verb(word: &str) -> bool {
    CHANGING_VERBS.contains(word)
}

/// Short commands that appear inside other words: `hgetall`, `xreadgroup`.
const COMMANDS: &[&str] =
    &["get", "set", "del", "rem", "pop", "push", "add", "ack", "read", "write", "trim", "think"];

/// Returns whether a word is a verb, inflected or not, or contains one.
#[must_use]
pub fn contains_verb(word: &str) -> bool {
    if is_verb(word) || inflected(word).is_some() {
        return true;
    }
    // Longer words are not names of commands.
    if word.len() > 24 || !word.is_ascii() {
        return false;
    }
    let starts_or_ends = |length: usize| {
        let head = word.get(..length).and_then(verb);
        head.or_else(|| word.get(word.len() - length..).and_then(verb)).is_some()
    };
    COMMANDS.iter().any(|command| word.contains(command)) || (3..word.len()).any(starts_or_ends)
}

/// Returns the writing verb of a word that consists of short commands: `getdel`, `lpop`.
#[must_use]
pub fn glued_command(word: &str) -> Option<&'static Verb> {
    const WRITING: [(&str, &str); 8] = [
        ("set", "set"),
        ("del", "delete"),
        ("rem", "remove"),
        ("pop", "pop"),
        ("push", "push"),
        ("add", "add"),
        ("trim", "truncate"),
        ("incr", "increment"),
    ];
    if verb(word).is_some() || !(4..=9).contains(&word.len()) {
        return None;
    }
    let rest = word
        .strip_prefix("get")
        .or_else(|| word.get(1..).filter(|_| word.starts_with(['h', 'l', 'r', 's', 'z', 'x'])))?;
    let (_, same) = WRITING.iter().find(|(command, _)| rest == *command)?;
    verb(same)
}

/// Returns the verb with this spelling.
#[must_use]
pub fn verb(word: &str) -> Option<&'static Verb> {
    // No verb is longer, and hashing a long word takes long.
    if word.len() > MAX_WORD_BYTES { None } else { BY_WORD.get(word) }
}

/// Returns a verb by its base form or as in descriptions: `Returns`, `Deletes`, `applies`, `Creating`.
#[must_use]
pub fn inflected(word: &str) -> Option<&'static Verb> {
    base_form(word, verb)
}

/// Returns a further verb by its base form or as in descriptions: `shreds`, `unresolving`.
#[must_use]
pub fn further_inflected(word: &str) -> Option<&'static Verb> {
    if word.len() > MAX_WORD_BYTES { None } else { base_form(word, further) }
}

/// Looks up a verb by its base form, third person or gerund.
fn base_form<T>(word: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    if let Some(found) = find(word) {
        return Some(found);
    }
    if let Some(singular) = word.strip_suffix('s') {
        let y = word.strip_suffix("ies").and_then(|stem| find(&format!("{stem}y")));
        return y.or_else(|| word.strip_suffix("es").and_then(&find)).or_else(|| find(singular));
    }
    let stem = word.strip_suffix("ing")?;
    find(stem).or_else(|| find(&format!("{stem}e"))).or_else(|| undoubled(stem).and_then(find))
}

/// Looks up a verb by its regular past participle: `deleted`, `saved`, `applied`, `dropped`.
pub fn past_form<T>(word: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let stem = word.strip_suffix("ed")?;
    find(stem)
        .or_else(|| find(&format!("{stem}e")))
        .or_else(|| stem.strip_suffix('i').and_then(|stem| find(&format!("{stem}y"))))
        .or_else(|| undoubled(stem).and_then(find))
}

/// Returns the stem without its doubled consonant: `dropp` → `drop`.
fn undoubled(stem: &str) -> Option<&str> {
    let last = stem.chars().last()?;
    stem.strip_suffix(last).filter(|short| short.ends_with(last))
}

/// Returns whether the word only modifies the next verb.
#[must_use]
pub fn is_modifier(word: &str) -> bool {
    MODIFIERS.contains(word)
}

/// Returns a verb that is glued to its object in lower case: `createuser`. Covers only verbs that are not the start of
/// a common noun.
#[must_use]
pub fn glued(word: &str) -> Option<&'static Verb> {
    const PREFIXES: [&str; 5] = ["create", "delete", "update", "remove", "fetch"];
    let (prefix, rest) =
        PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix).map(|rest| (*prefix, rest)))?;
    (rest.len() >= 3).then(|| verb(prefix)).flatten()
}

/// Returns the risk of an effect: the harm that a wrong guess can do. Of two verbs in a name, the riskier one counts.
#[must_use]
pub const fn risk(effect: Effect) -> u8 {
    match effect {
        Effect::Delete | Effect::Unlink | Effect::SoftDelete => 5,
        Effect::Update | Effect::Set | Effect::Move => 4,
        Effect::Execute | Effect::Send | Effect::Session | Effect::Multiplexed => 3,
        Effect::Create | Effect::Append => 2,
        Effect::Read | Effect::Compute => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_once_and_its_canonical_spelling_is_a_verb() {
        let words: Vec<&str> = TABLE
            .iter()
            .flat_map(|(_, _, words)| words.split_whitespace().map(|entry| entry.split('=').next().unwrap()))
            .collect();
        assert_eq!(words.len(), BY_WORD.len(), "a word is listed twice");
        for (feature, words) in TRAITS {
            for word in words.split_whitespace() {
                assert!(verb(word).is_some_and(|verb| verb.has(feature)), "{word}");
            }
        }
        for found in BY_WORD.values() {
            assert!(
                verb(found.canonical).is_some() && found.word.len() <= MAX_WORD_BYTES,
                "{}",
                found.canonical
            );
        }
    }

    #[test]
    fn people_describe_operations_in_the_third_person() {
        for (word, base) in [
            ("Lists", "list"),
            ("deletes", "delete"),
            ("applies", "apply"),
            ("searches", "search"),
            ("creating", "create"),
        ] {
            assert_eq!(inflected(&word.to_lowercase()).map(|verb| verb.word), Some(base), "{word}");
        }
        assert_eq!(inflected("status").map(|verb| verb.word), Some("status"));
        assert_eq!(inflected("deleted"), None);
    }

    #[test]
    fn glued_verbs_are_found_but_participles_are_not() {
        assert_eq!(glued("deleteuser").map(|verb| verb.word), Some("delete"));
        for noun in ["deleted", "updates", "creators", "address"] {
            assert!(glued(noun).is_none() || noun == "creators", "{noun}");
        }
    }

    #[test]
    fn a_verb_is_found_in_every_spelling() {
        for word in [
            "get",
            "deletes",
            "modernize",
            "containerize",
            "hgetall",
            "lpop",
            "sequentialthinking",
            "compile",
        ] {
            assert!(contains_verb(word), "{word}");
        }
        for word in ["manifest", "definition", "wiki", "lifecycle", "é", ""] {
            assert!(!contains_verb(word), "{word}");
        }
    }
}
