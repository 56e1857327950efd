//! The verbs of APIs: what each says about the effect, and the spelling that names use.
//!
//! One table for everybody who reads names: the classifier, the namer and search. A word that is not here is a noun.

use crate::facts::Effect;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// How far a verb can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// A verb wherever it leads a name.
    Strong,
    /// A noun just as often (`status`, `archive`, `transfer`): it needs a place where only a verb can stand.
    Weak,
    /// Reads in one API, and in the next it writes a file, starts a job or costs money (`export`, `analyze`).
    Doubtful,
}

/// A verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verb {
    /// As it is written, lower case.
    pub word: &'static str,
    /// The spelling that names use: `fetch` and `retrieve` are `get`.
    pub canonical: &'static str,
    /// What it says about the effect.
    pub effect: Effect,
    /// How far it can be trusted.
    pub weight: Weight,
}

impl Verb {
    /// Whether it reads and never does anything else.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.weight != Weight::Doubtful && self.effect.category() == crate::operation::Category::Read
    }

    /// Whether it surely changes something.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.weight == Weight::Strong && self.effect.category() != crate::operation::Category::Read
    }
}

type Row = (Effect, Weight, &'static str);

use Weight::{Doubtful, Strong, Weak};

/// Rows of words with the same meaning. `word=canonical` where names use another spelling.
const TABLE: &[Row] = &[
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
         untag revoke unbind dismiss leave unfavorite unwatch unlabel kick evict",
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

static BY_WORD: LazyLock<Table<Verb>> = LazyLock::new(|| {
    let rows = TABLE.iter().flat_map(|(effect, weight, words)| {
        words.split_whitespace().map(move |entry| {
            let (word, canonical) = entry.split_once('=').unwrap_or((entry, entry));
            (word, Verb { word, canonical, effect: *effect, weight: *weight })
        })
    });
    rows.collect()
});

/// Words before a verb that change how it is done, not what.
static MODIFIERS: WordSet =
    LazyLock::new(|| set("async auto batch bulk force hard mass multi permanently quick safe soft sync try"));

/// Words that mean the same to somebody.
pub(super) type WordSet = LazyLock<HashSet<&'static str, Short>>;

/// Something about each of some words.
pub(super) type Table<T> = HashMap<&'static str, T, Short>;

/// A hash for short words that are known beforehand: nobody can choose them so that they collide.
pub(super) type Short = BuildHasherDefault<Ends>;

/// Hashes a word by how it begins, how it ends and how long it is, which is all of it up to sixteen letters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends(u64);

impl Hasher for Ends {
    #[inline]
    fn write(&mut self, word: &[u8]) {
        let (first, last) = match (word.first_chunk(), word.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (word.first_chunk(), word.last_chunk()) {
                (Some(first), Some(last)) => {
                    (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
                }
                _ => (word.iter().fold(0, |all, byte| (all << 8) | u64::from(*byte)), 0),
            },
        };
        let mixed = (first ^ last.rotate_left(29) ^ word.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= mixed ^ (mixed >> 32);
    }

    /// The end of a text says nothing more.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// The words of a list that is written as one text.
pub(super) fn set(list: &'static str) -> HashSet<&'static str, Short> {
    list.split_whitespace().collect()
}

/// Longer words are no verbs.
const LONGEST: usize = 24;

/// The verb that is written so.
#[must_use]
pub fn verb(word: &str) -> Option<&'static Verb> {
    // Longer ones are none, and hashing them would take long.
    if word.len() > LONGEST { None } else { BY_WORD.get(word) }
}

/// The verb in its base form or as people describe an operation: `Returns`, `Deletes`, `applies`, `Creating`.
#[must_use]
pub fn inflected(word: &str) -> Option<&'static Verb> {
    if let Some(found) = verb(word) {
        return Some(found);
    }
    if let Some(singular) = word.strip_suffix('s') {
        let y = word.strip_suffix("ies").and_then(|stem| verb(&format!("{stem}y")));
        return y.or_else(|| word.strip_suffix("es").and_then(verb)).or_else(|| verb(singular));
    }
    let stem = word.strip_suffix("ing")?;
    verb(stem).or_else(|| verb(&format!("{stem}e")))
}

/// Verbs that no API uses as a noun: they are the verb even where they stand last (`issue_read`, `alert-policy-get`).
static NEVER_NOUNS: WordSet =
    LazyLock::new(|| set("create delete describe fetch get read remove retrieve update"));

/// Verbs that can turn a POST into a read. `read`, `view` and `ping` are not among them: posting one of those marks a message,
/// counts a view or sends something.
static QUERIES: WordSet = LazyLock::new(|| {
    set("autocomplete browse calculate check compare count describe enumerate estimate explain fetch find \
         geocode get inspect lint list lookup obtain preview query retrieve search validate")
});

impl Verb {
    /// Whether it is a verb in every place.
    #[must_use]
    pub fn never_noun(&self) -> bool {
        NEVER_NOUNS.contains(self.word)
    }

    /// Whether a request that asks with a body is meant.
    #[must_use]
    pub fn queries(&self) -> bool {
        QUERIES.contains(self.word)
    }
}

/// Whether the word only says how the verb behind it is done.
#[must_use]
pub fn is_modifier(word: &str) -> bool {
    MODIFIERS.contains(word)
}

/// A verb glued to its object in lower case: `createuser`. Only verbs that begin no common noun.
#[must_use]
pub fn glued(word: &str) -> Option<&'static Verb> {
    const PREFIXES: [&str; 5] = ["create", "delete", "update", "remove", "fetch"];
    let (prefix, rest) =
        PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix).map(|rest| (*prefix, rest)))?;
    (rest.len() >= 3).then(|| verb(prefix)).flatten()
}

/// How much harm a wrong guess does: of two verbs in one name, the riskier one counts.
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
        assert_eq!(words.len(), BY_WORD.len(), "a word stands twice");
        for found in BY_WORD.values() {
            assert!(verb(found.canonical).is_some() && found.word.len() <= LONGEST, "{}", found.canonical);
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
}
