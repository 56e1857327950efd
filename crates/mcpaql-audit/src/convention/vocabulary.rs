//! Which words of a name say what is done: more than the classifier knows, since here a verb need not say what it does to the
//! world. Words that are nouns more often than verbs are left out.

use mcpaql_lexicon::verbs;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Besides the classifier's.
static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "accelerate adapt advance advise aim align allocate amend annotate answer arrange ask assemble assert \
     assess augment auth auto automate balance benchmark bisect blend blur boost branch bring bundle calibrate \
     catch cd chat choose chunk collapse collect combine compact compile compress concat condense consolidate \
     construct contact continue contribute correct cut debug dedupe defer define defragment del delegate \
     deliver depart derive determine dig disassemble display distribute divide double drain draw dump \
     elaborate elicit emit emulate end enforce enhance enrich enter escalate establish exclude exit expand \
     expose fail feed finish fire fit flatten flip focus fold forgot format freeze gather grep grow guess \
     guide gunzip gzip halt harvest heal help highlight hydrate improve include infer inflate inform inject \
     instrument integrate interpret interrupt intersect invert isolate iterate jump keep learn let lift listen \
     locate loop maintain mask measure meet mint mirror mock monitor mount multiply mutate narrow negotiate \
     nest next observe offer opt orchestrate organize outline pack paginate paint park pass paste peel pick \
     pipe plot plug poke pop populate postpone practice print probe produce propose prototype prove punch \
     quarantine quit raise rank rate reach rearrange reason rebalance recall recompute recover recreate \
     recycle redirect reduce refactor refine reformat regen regress reinstall reinvite relate rem remediate \
     remember reorganize repair repeat rephrase reposition represent reproduce rescale reschedule reseed \
     reshape respond resync retain rethink retrain rewind rewrite roll sanitize say scaffold scroll seal \
     secure seed seek separate serve shift shorten shrink shuffle skip sleep slice smooth snooze solve spawn \
     speak specify spin split squash stash stay stitch straighten stream stretch strip study substitute \
     subtract switch talk tell think throttle tidy tone touch train transcode transpile traverse treat triage \
     trim trust tune turn unfold unload unmount unpack unset unstage unwrap unzip upscale use vacuum vouch \
     wake warm warn weigh wire wrap zip zoom"
    .split_whitespace()
    .collect()
});

/// Short commands that stand inside of other words: `hgetall`, `xreadgroup`.
const COMMANDS: &[&str] =
    &["get", "set", "del", "rem", "pop", "push", "add", "ack", "read", "write", "trim", "think"];

/// Whether a word can be a verb.
pub(crate) fn is_verb(word: &str) -> bool {
    let ending = word.len() >= 7 && ["ize", "ise", "ify"].iter().any(|ending| word.ends_with(ending));
    ending || verbs::verb(word).is_some() || VERBS.contains(word)
}

/// Whether a word is a verb, inflected or not, or has one within it.
pub(crate) fn says_verb(word: &str) -> bool {
    if is_verb(word) || verbs::inflected(word).is_some() {
        return true;
    }
    // Longer words are no names of commands.
    if word.len() > 24 || !word.is_ascii() {
        return false;
    }
    let ends = |length: usize| {
        let head = word.get(..length).and_then(verbs::verb);
        head.or_else(|| word.get(word.len() - length..).and_then(verbs::verb)).is_some()
    };
    COMMANDS.iter().any(|command| word.contains(command)) || (3..word.len()).any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_heard_in_every_spelling() {
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
            assert!(says_verb(word), "{word}");
        }
        for word in ["manifest", "definition", "wiki", "lifecycle", "é", ""] {
            assert!(!says_verb(word), "{word}");
        }
    }
}
