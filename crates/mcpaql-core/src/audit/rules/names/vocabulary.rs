//! Which words say what is done: more than the classifier knows, since here a verb need not say what it does to the world.

use crate::classify::verbs;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Besides the classifier's.
static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "accelerate adapt advance advise aim align allocate amend annotate answer arrange ask assemble assert assess \
    augment auto automate back balance bench benchmark bisect blend branch blur boost bring bundle cache calibrate cast catch cd chat \
    choose chunk collapse collect combine compact compile compress concat condense consolidate construct contact continue \
    contribute correct cut debug dedupe defer define defragment del delegate deliver demo depart derive design determine dig \
    disassemble display distribute divide dock double drain draw dump edit elaborate elicit emit emulate end enforce enhance enrich \
    enter escalate establish exclude exit expand expose fail feed finish fire fit flag flatten flip focus fold format freeze gather \
    generate grep group grow guess guide gunzip gzip halt harvest heal help highlight host hydrate improve include \
    infer inflate inform inject install instrument integrate interpret interrupt intersect invert isolate iterate jump keep kill learn let \
    level lift listen localize locate loop maintain manipulate mask materialize measure meet mint mirror mock model modernize monitor \
    mount multiply mutate narrow negotiate nest next normalize note observe offer opt orchestrate organize outline pack page paginate \
    paint park partition pass paste peel pick pipe place plan plot plug point poke pop populate port postpone power practice price print \
    probe produce profile program project prompt propose prove prototype pseudonymize punch put qualify quantify quarantine quit quote \
    raise randomize rank rate reach rearrange reason rebalance recall recommend recompute record recover recreate recycle redirect reduce \
    refactor refine reformat regress reinstall reinvite relate rem remediate remember reorganize repair repeat rephrase report \
    reposition represent reproduce rescale reschedule reseed reserve reshape resolve respond resync retain rethink retrain rewind rewrite \
    roll round sample sanitize save say scaffold scroll seal secure seed seek segment separate serve shift shorten shrink shuffle \
    simplify skip sleep slice smooth snooze solve speak specify spin split spawn squash stage standardize stash stay step stitch straighten \
    stream stretch strip structure study style substitute subtract summarise surface switch talk target tell think throttle tidy \
    time toast tone touch train transcode transpile traverse treat trim triage trust tune turn unfold unify uninvite unload unmount unpack \
    unset unstage unwrap unzip upscale use vacuum vectorize visualize visualise vouch wake warm warn weigh wire work wrap zip zoom"
    .split_whitespace()
    .collect()
});

/// Short commands that stand inside of other words: `hgetall`, `xreadgroup`.
const COMMANDS: &[&str] =
    &["get", "set", "del", "rem", "pop", "push", "add", "ack", "read", "write", "trim", "think"];

/// Whether a word can be a verb.
pub(super) fn is_verb(word: &str) -> bool {
    let ending = word.len() >= 7 && ["ize", "ise", "ify"].iter().any(|ending| word.ends_with(ending));
    ending || verbs::inflected(word).is_some() || VERBS.contains(word)
}

/// Whether a word is a verb, or has one within it.
pub(super) fn says_verb(word: &str) -> bool {
    if is_verb(word) {
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
