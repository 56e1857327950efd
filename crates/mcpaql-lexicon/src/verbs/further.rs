//! Further verbs that change something, by the kind of effect.
//!
//! They are rare in names of operations, but descriptions use them. The namer does not use them: a word of this table
//! may be a noun in a name. Like the main table, a verb is strong if it is hardly ever a noun.

use super::{Verb, Weight, verb};
use crate::effect::Effect;
use crate::word_set::{MAX_WORD_BYTES, WordMap};
use std::sync::LazyLock;

use Weight::{Strong, Weak};

/// Rows of words with the same effect.
const TABLE: &[(Effect, Weight, &str)] = &[
    (
        Effect::Create,
        Strong,
        "bootstrap coin conceive devise establish fabricate instantiate institute manufacture materialize mint mkdir mkfs \
         originate prebook preorder preprovision rebook replicate reproduce scaffold spawn",
    ),
    (Effect::Create, Weak, "author backup checkpoint file forge lodge pen seed stage stash touch"),
    (
        Effect::Append,
        Strong,
        "accrue affix annotate bestow contribute downvote donate enlist inject interject intersperse onboard prepend \
         reattach requeue superimpose upvote",
    ),
    (Effect::Append, Weak, "bid cast endorse jot place queue splice tip"),
    (
        Effect::Update,
        Strong,
        "amend backfill deepen defragment degrade downgrade emend enlarge fine-tune finetune harden lengthen mutate nudge \
         overhaul personalise personalize postpone prolong rearrange rebalance rebrand recalibrate recolor recompute \
         redesign refill reformulate regroup reimage rekey remap renumber reorganise reorganize repaint reparent \
         replenish reposition reprice reprioritise reprioritize restructure restyle resync retarget retitle retune revamp \
         revise rewire rework stagger synchronise tweak unstage unsync upscale widen",
    ),
    (
        Effect::Update,
        Weak,
        "advance bump correct delay lower populate repair reroute reschedule roll shift shrink slow squash stamp stretch \
         tune",
    ),
    (
        Effect::Set,
        Strong,
        "ack affirm allowlist anoint appoint attest ban blacklist blocklist certify commission cordon crosspost deafen \
         denylist designate disarm disallow earmark embargo empower enact enforce entitle escalate exempt forbid freeze \
         inactivate induct instate memorise memorize moderate mothball nominate nullify persist \
         prioritise prioritize prohibit quarantine ratify reassign recategorise recategorize reclassify reconfigure \
         redesignate reinstate relabel remember repurpose retag sanction silence snooze throttle undraft unfreeze unhide \
         unsnooze veto waive whitelist",
    ),
    (
        Effect::Set,
        Weak,
        "adopt arm authorise delegate elect fasten flag flip gate opt pledge power restrict seal staff stake switch \
         tie turn wire",
    ),
    (Effect::Move, Strong, "divert evacuate offload reallocate rehome siphon teleport transplant uproot mv"),
    (Effect::Move, Weak, "haul park shelve ship shove shuffle"),
    (Effect::SoftDelete, Strong, "discontinue hibernate offboard passivate sunset suppress tombstone unlist"),
    (Effect::SoftDelete, Weak, "abandon deprecate sideline"),
    (
        Effect::Delete,
        Strong,
        "abolish annul anonymise anonymize axe bulldoze clobber cull deallocate delist demolish destruct dispose ditch eject eliminate \
         eradicate expel exterminate extinguish gc jettison liquidate mangle nuke obliterate oust raze reap recycle \
         rescind rm rmdir scrap scrub shred unmake unset vacate vacuum vaporize zap zero zeroize",
    ),
    (
        Effect::Delete,
        Weak,
        "bin blank burn deplete drain dump exhaust junk lose scratch shed slash strip toss",
    ),
    (
        Effect::Unlink,
        Strong,
        "banish decouple deselect disaffiliate disband disengage disenroll disinvite dislodge dismantle disown disqualify \
         dissolve exile forfeit recuse resign sever unban unbook uncheck uncordon uncouple unfriend unhook uninvite \
         unmatch unmount unplug unqueue unreserve unschedule unvote",
    ),
    (Effect::Unlink, Weak, "quit"),
    (
        Effect::Execute,
        Strong,
        "actuate administer buy commence detonate dispense expedite fail-over fulfil fulfill halt ignite kickstart lend \
         levy orchestrate preempt procure quiesce recharge reclaim recommence recompile recruit redeem redrive refinance \
         refuel reimburse reinitialise reinitialize relaunch remit renegotiate repay repossess reseed retrain retransmit \
         revive sell sideload spend undertake underwrite unleash wager",
    ),
    (
        Effect::Execute,
        Weak,
        "auction award bill boot bounce buckle cash credit cycle deal debit deduct defer dock end exchange expend fine fire flash hire \
         insure interrupt invest invoice lease loan mine mount pawn penalise penalize pilot pinch pour pump punch recall \
         redirect rent ring sack shoot spin sponsor strike swipe tender trade train trip wake warm wind wreck yank",
    ),
    (
        Effect::Send,
        Strong,
        "advertise apprise bcc cc circulate communicate disseminate dm nag ping-back propagate publicise publicize \
         relay retweet sendmail solicit summon syndicate telephone transmit warn",
    ),
    (
        Effect::Send,
        Weak,
        "beep blast buzz contact fax greet hail inform mail page phone signal spam text whisper",
    ),
    (Effect::Session, Strong, "elevate masquerade reauthenticate reconnect sudo unimpersonate"),
    (Effect::Set, Strong, "chgrp chmod chown setuid"),
    (Effect::Create, Strong, "concoct contrive erect preassign prefabricate procreate sire"),
    (
        Effect::Append,
        Strong,
        "adjoin amass bequeath bestrew coauthor cosign countersign crossfile hoard intermix interpose",
    ),
    (
        Effect::Update,
        Strong,
        "accelerate aggravate ameliorate anneal attenuate backdate backport bowdlerize broaden \
         decelerate depreciate detune devalue dilute disfigure embellish enliven fortify garble \
         heighten intensify mistune modernise modernize overstate permute postdate predate \
         prorate rectify refashion refurbish rejig remaster remedy remodel reprogram retrofit revalue scramble \
         shorten soften stabilise stabilize strengthen tamper thicken tighten uprate weaken",
    ),
    (
        Effect::Set,
        Strong,
        "allot apportion confiscate consecrate depose deprioritise deprioritize deputise deputize destine \
         disenfranchise displace emancipate encumber enfranchise enjoin enthrone exonerate expropriate \
         foreclose furlough galvanize graylist greylist immobilise immobilize impound inaugurate incapacitate \
         indict mobilise mobilize naturalise naturalize ordain outlaw overrule perpetuate \
         readmit relegate relinquish requisition sequester subjugate supplant surrender unfurl \
         unlatch unpark unseal unstake usurp vaccinate weaponize",
    ),
    (
        Effect::Move,
        Strong,
        "airlift deport exfiltrate misplace recirculate repatriate replant resettle smuggle teletransport \
         tow transship unload",
    ),
    (
        Effect::SoftDelete,
        Strong,
        "deemphasize defrock demobilise demobilize demonetise demonetize depublish unfeature",
    ),
    (
        Effect::Delete,
        Strong,
        "annihilate asphyxiate cleanse crush debar decimate deface defund demagnetise demagnetize depopulate \
         desecrate despoil dispel dissipate efface evaporate excise exorcise extirpate incinerate neutralise \
         neutralize nix pulverise pulverize quash quell repeal scuttle squander sterilise sterilize stifle \
         uncreate vanquish",
    ),
    (
        Effect::Unlink,
        Strong,
        "alienate bereave debond decommit defederate disinherit disjoin estrange excommunicate \
         expatriate extricate ostracise ostracize secede uncap undelegate unenlist unglue unmoor unpair \
         untether unyoke withhold",
    ),
    (
        Effect::Execute,
        Strong,
        "bankroll catapult coerce collide compel conscript crowdfund disburse embezzle extort \
         fast-forward foist garnishee haggle hijack hospitalise hospitalize infiltrate irrigate jumpstart kidnap \
         lubricate overcharge overclock overpay plunder ransack rebill recoup reelect reenact repave \
         reprint respawn restock resurrect retaliate sabotage salvage shoplift subcontract sublet \
         subsidise subsidize swindle underbid unwind vend ventilate whitewash winterize",
    ),
    (
        Effect::Send,
        Strong,
        "badger beckon bombard congratulate forewarn heckle notarise notarize pester \
         proclaim rebroadcast serenade telefax",
    ),
    (Effect::Session, Strong, "deauthenticate deauthorise deauthorize preauthenticate relogin"),
];

static BY_WORD: LazyLock<WordMap<Verb>> = LazyLock::new(|| {
    let rows = TABLE.iter().flat_map(|(effect, weight, words)| {
        let verb = |word| Verb { word, canonical: word, effect: *effect, weight: *weight, traits: 0 };
        words.split_whitespace().map(move |word| (word, verb(word)))
    });
    rows.collect()
});

/// Prefixes that turn a verb into another one with an effect of the same kind: `unresolve`, `reassign`.
const PREFIXES: [&str; 5] = ["un", "re", "de", "dis", "auto"];

/// Returns a verb of this table, or one of the main table with a prefix. `None` for a word of the main table.
#[must_use]
pub fn further(word: &str) -> Option<&'static Verb> {
    if word.len() > MAX_WORD_BYTES || verb(word).is_some() {
        return None;
    }
    BY_WORD.get(word).or_else(|| prefixed(word))
}

fn prefixed(word: &str) -> Option<&'static Verb> {
    // `remark` and `display` are other words.
    if matches!(word, "remark" | "display" | "reform" | "resort") {
        return None;
    }
    PREFIXES.iter().find_map(|prefix| {
        let base = word.strip_prefix(prefix)?;
        verb(base.strip_prefix('-').unwrap_or(base)).filter(|verb| {
            verb.acts()
                || (verb.weight == Weak && verb.writes() && verb.word.len() > 6)
                || (*prefix == "un" && verb.word.len() > 4 && verb.writes())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_verbs_and_verbs_with_a_prefix_have_an_effect() {
        for (word, effect) in [
            ("cordon", Effect::Set),
            ("relay", Effect::Send),
            ("unresolve", Effect::Set),
            ("unmark", Effect::Set),
            ("recreate", Effect::Create),
            ("reschedule", Effect::Update),
            ("shred", Effect::Delete),
        ] {
            assert_eq!(further(word).map(|verb| verb.effect), Some(effect), "{word}");
        }
        for word in ["display", "details", "refetch", "report", "delete", "remark", ""] {
            assert!(further(word).is_none(), "{word}");
        }
    }

    #[test]
    fn every_verb_is_listed_once_in_one_table() {
        let words: Vec<&str> = TABLE.iter().flat_map(|(_, _, words)| words.split_whitespace()).collect();
        assert_eq!(words.len(), BY_WORD.len(), "a word is listed twice");
        for word in words {
            assert!(word.len() <= MAX_WORD_BYTES && verb(word).is_none(), "{word}");
        }
    }
}
