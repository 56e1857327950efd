//! Decides whether a probe may trust a read-only hint, from the tool's name and the first sentence of its description.
//!
//! What always holds: a doubtful tool is not called. Rules need more evidence to report a tool (`inferred_effect`), because a wrong
//! finding is a nuisance, while a wrong call does harm.

use crate::inferred_effect;
use crate::tool::ParsedTool;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::{self, Confidence, Evidence};
use mcpaql_lexicon::questions::PARTICLES;
use mcpaql_lexicon::unicode;
use mcpaql_lexicon::verbs::{self, Verb, VerbTrait, Weight, is_changing_verb};
use mcpaql_lexicon::{OPENERS, WordSet, names};

/// Words that are verbs before an object: `format_disk`, but not `date_format`.
static BEFORE_AN_OBJECT: WordSet =
    WordSet::of("bump commit fire format freeze place print roll spawn stash touch turn wake");
/// Verbs that return something, in addition to those in the lexicon.
static REPORTING_VERBS: WordSet =
    WordSet::of("answer display give output present provide report return surface tell");
/// Nouns after which a verb is not an action: `order_status`.
static STATUS_NOUNS: WordSet = WordSet::of(
    "count detail details history id info log metadata metric result stats status summary timestamp type usage",
);
/// A word before one of these is a verb.
static OBJECTS: WordSet = WordSet::of("a all an any each every it its one or the their them these this your");
/// A word before one of these is a noun.
static PREPOSITIONS: WordSet = WordSet::of(
    "about across and are as at between by for from in is near of that to under via where which with within",
);

/// Returns why the read-only hint of a tool is not trusted.
pub(crate) fn distrust_reason(tool: &ParsedTool<'_>) -> Option<&'static str> {
    let described = tool.description.map(|text| judge_sentence(&visible_text(text))).unwrap_or_default();
    match judge_name(tool) {
        NameVerdict::Acts => Some("its name says that it changes something"),
        _ if described == SentenceVerdict::Acts => Some("its description says that it changes something"),
        // Everything that HINT-005 reports, except parameters: a probe sets these to a harmless value or does not call.
        _ if (tool.switch.is_some() || !inferred_effect::is_contradicted_by_parameter(tool))
            && inferred_effect::contradicts_read_only(tool).is_some() =>
        {
            Some("its name or a parameter says that it may change something")
        }
        NameVerdict::Doubtful if described != SentenceVerdict::Reads => {
            Some("neither its name nor its description clearly says that it reads")
        }
        _ => None,
    }
}

/// The verdict on a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameVerdict {
    Reads,
    Acts,
    /// It has a verb that may read or act.
    Doubtful,
}

fn judge_name(tool: &ParsedTool<'_>) -> NameVerdict {
    let seen = visible_text(tool.name);
    let acts = |decision: &classify::Classification| {
        decision.category != Category::Read && decision.confidence > Confidence::Low
    };
    let evidence = Evidence { name: &seen, ..Evidence::default() };
    // Parameters are judged one by one: a probe sets switches to their harmless value.
    let described = Evidence {
        name: tool.name,
        description: tool.description.unwrap_or_default(),
        ..Evidence::default()
    };
    if acts(&classify::classify(&described)) || (seen != tool.name && acts(&classify::classify(&evidence))) {
        return NameVerdict::Acts;
    }
    let parts = names::parts(&seen);
    let reading = names::name_verbs(&parts);
    let word = |found: names::NameVerb, offset: usize| {
        parts.get(found.part)?.get(found.word + offset).map(String::as_str)
    };
    let has_acting_verb = match reading.lead {
        // The object of a reading verb may look like an action: `list_merge_requests`.
        Some(found) if certainly_reads(found.verb) => {
            parts.get(found.part).and_then(|part| part.get(..found.word)).is_some_and(has_action)
        }
        _ => parts.iter().any(|part| has_action(part)),
    };
    if has_acting_verb || reading.second.is_some_and(|found| found.verb.acts()) {
        return NameVerdict::Acts;
    }
    let Some(found) = reading.lead else { return NameVerdict::Reads };
    let (verb, next) = (found.verb, word(found, 1));
    // A reading verb after the name of a server: `log_get_lines`.
    let reads_next = next
        .and_then(verbs::verb)
        .is_some_and(|next| certainly_reads(next) && next.has(VerbTrait::NeverNoun));
    match verb.effect {
        Effect::Read | Effect::Compute if verb.has(VerbTrait::Twofold) && !reads_next => {
            NameVerdict::Doubtful
        }
        // Converting or analyzing returns a result; exporting or waiting may store something.
        Effect::Read if verb.weight == Weight::Doubtful => NameVerdict::Doubtful,
        Effect::Read | Effect::Compute => NameVerdict::Reads,
        _ if reads_next || is_noun(verb, next) => NameVerdict::Doubtful,
        // `action-list`.
        _ if verb.has(VerbTrait::Thing) && reading.second.is_some_and(|last| certainly_reads(last.verb)) => {
            NameVerdict::Doubtful
        }
        _ => NameVerdict::Acts,
    }
}

/// Returns whether a verb certainly reads.
fn certainly_reads(verb: &Verb) -> bool {
    verb.reads() && verb.weight == Weight::Strong
}

/// Returns whether a verb is a noun here: `order_status` is about an order, `reset_state` is not about a reset.
fn is_noun(verb: &Verb, next: Option<&str>) -> bool {
    verb.has(VerbTrait::Thing)
        && next.is_some_and(|next| STATUS_NOUNS.contains(&mcpaql_lexicon::singular(next)))
}

fn has_action(part: &[String]) -> bool {
    let is_before = |index: usize| part.len() == 1 || index + 1 < part.len();
    part.iter()
        .enumerate()
        .any(|(index, word)| is_changing_verb(word) || (BEFORE_AN_OBJECT.contains(word) && is_before(index)))
}

/// The verdict on a sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SentenceVerdict {
    Reads,
    Acts,
    #[default]
    Nothing,
}

/// Judges the first sentence. Symbols, numbers, headings and adverbs before its verb are skipped.
fn judge_sentence(text: &str) -> SentenceVerdict {
    let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let sentence = mcpaql_lexicon::first_sentence(text);
    let harms = |verb: &Verb| verb.acts() || verb.effect.category() == Category::Delete;
    if mcpaql_lexicon::sentence_verbs(sentence).any(harms) {
        return SentenceVerdict::Acts;
    }
    let mut found = SentenceVerdict::Nothing;
    let mut is_first = true;
    for clause in sentence.split([':', ';', ',', ']', ')', '(', '!', '\u{2014}', '\u{2013}']) {
        let words: Vec<String> = clause
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let (verdict, is_heading) = judge_clause(&words, is_first);
        if verdict == SentenceVerdict::Acts {
            return verdict;
        }
        if is_first && verdict == SentenceVerdict::Reads {
            found = verdict;
        }
        is_first &= is_heading;
    }
    found
}

/// Judges a clause, and returns whether it is only a heading for the next one.
fn judge_clause(words: &[String], is_first: bool) -> (SentenceVerdict, bool) {
    let is_filler = |word: &str| {
        OPENERS.contains(word)
            || matches!(
                word,
                "and" | "enable" | "enables" | "here" | "may" | "not" | "please" | "then" | "tool"
            )
            || verbs::is_modifier(word)
            || word.starts_with(|c: char| c.is_ascii_digit())
            || (word.ends_with("ly") && verbs::verb(word).is_none())
            || matches!(word, "afterwards" | "also" | "first" | "finally" | "later")
    };
    let start = words.iter().position(|word| !is_filler(word));
    let Some((start, word)) = start.and_then(|start| Some((start, words.get(start)?))) else {
        return (SentenceVerdict::Nothing, true);
    };
    let next = words.get(start + 1).map(String::as_str);
    let verdict = match () {
        () if REPORTING_VERBS.contains(base(word)) => SentenceVerdict::Reads,
        () if acts(word, next, is_first) => SentenceVerdict::Acts,
        () if verbs::inflected(word).is_some_and(certainly_reads) => SentenceVerdict::Reads,
        () => SentenceVerdict::Nothing,
    };
    (verdict, verdict == SentenceVerdict::Nothing && words.len() <= 2)
}

/// Returns whether the first word of a clause is an action.
fn acts(word: &str, next: Option<&str>, is_first: bool) -> bool {
    let third = word.ends_with('s') && verbs::verb(word).is_none();
    let has_object = next.is_some_and(|next| OBJECTS.contains(next) || PARTICLES.contains(next));
    let names_a_thing = next.is_none_or(|next| PREPOSITIONS.contains(next));
    if is_changing_verb(base(word)) {
        return is_first || third;
    }
    if BEFORE_AN_OBJECT.contains(base(word)) {
        return has_object;
    }
    let acting = |verb: &&Verb| verb.effect.category() != Category::Read && !verb.has(VerbTrait::Mild);
    let Some(verb) = verbs::inflected(word).filter(acting) else { return false };
    match (verb.weight, is_first) {
        (Weight::Strong, true) => true,
        (_, false) => {
            third
                && !names_a_thing
                && (verb.acts() || verb.effect.category() == Category::Delete || has_object)
        }
        (_, true) => has_object || !(names_a_thing || is_noun(verb, next)),
    }
}

/// Returns a word without the ending of the third person.
fn base(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.len() > 1 && !stem.ends_with('s')).unwrap_or(word)
}

/// Returns a text without invisible characters and with look-alike letters as ASCII.
fn visible_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let seen = text.chars().filter(|c| !unicode::is_invisible(*c));
    seen.map(|c| unicode::homoglyph(c).unwrap_or(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerTools;
    use crate::tool::ParsedServer;
    use serde_json::json;

    fn is_trusted(name: &str, description: &str) -> bool {
        let tool = json!({"name": name, "description": description, "annotations": {"readOnlyHint": true}});
        let server = ServerTools { tools: vec![tool], ..ServerTools::default() };
        ParsedServer::of(&server, 0).tools.iter().all(|tool| distrust_reason(tool).is_none())
    }

    #[test]
    fn a_name_with_an_acting_verb_is_not_trusted() {
        let reads = "Gets a thing that is stored here.";
        for name in [
            "close_issue",
            "format_disk",
            "rotate_keys",
            "ban_user",
            "lock_account",
            "buy_stock",
            "confirm_payment",
            "turn_on",
            "commit",
            "rm",
            "del_note",
            "sendmail",
            "run_migration",
            "acme_close_issue",
            "git_rm",
            "send_report",
            "deploy_app",
            "transfer_funds",
            "run_job",
            "close_order",
            "reset_state",
            "self_destruct",
            "wake_up",
            "merge_pr",
            "delete_note",
            "log_event",
            "pop_item",
            "get_logout",
        ] {
            let description = if name == "log_event" { "An event." } else { reads };
            assert!(!is_trusted(name, description), "{name}");
        }
        for name in [
            "list_commits",
            "get_order",
            "get_deleted_items",
            "get_update_status",
            "get_call_log",
            "find_by_tag",
            "directory_tree",
            "status",
            "whoami",
            "image_format",
            "order_status",
            "list_merge_requests",
            "acme_get_format_options",
            "log_get_lines",
            "validate_config",
            "note_card",
            "get_format",
            "issue_read",
            "convert_time",
            "users.list",
            "export_flows",
        ] {
            assert!(is_trusted(name, reads), "{name}");
        }
        assert!(
            !is_trusted("export_flows", "Exports flows."),
            "neither name nor description says that it reads"
        );
    }

    #[test]
    fn an_acting_sentence_is_recognized_after_any_introduction() {
        for text in [
            "Permanently deletes all notes.",
            "Irrevocably drops the table.",
            "Automatically sends an email.",
            "[ADMIN] Deletes all notes.",
            "1. Deletes notes",
            "Bulk delete notes.",
            "WARNING: this permanently erases all data.",
            "Performs maintenance: deletes old logs.",
            "Shuts down the server",
            "Rolls back the last deployment.",
            "Signs out the current user.",
            "Places an order.",
            "Closes an issue.",
            "Posts a message",
            "Close an issue.",
            "Lists users; afterwards resets their passwords.",
            "\n    Deletes notes.",
            "**Deletes** notes.",
            "Reset passwords",
            "Gets all notes, deletes them.",
            "Use this to reboot the device.",
            "Read the inbox and mark every message as read.",
            "This tool is used to delete all notes.",
            "D\u{435}letes all notes.",
        ] {
            assert!(!is_trusted("get_thing", text), "{text}");
            assert!(!is_trusted("thing", text), "{text}");
        }
        for text in [
            "Gets all notes. Deletes nothing.",
            "Lists notes that were deleted and restored.",
            "Notes, newest first.",
            "Returns a list of users.",
            "Posts of a user, newest first.",
            "Orders by customer",
            "Issue details",
            "Gets issues (open, closed), pull requests, updates.",
            "Only reads: nothing is changed.",
            "Resolves the name of a host.",
            "Search notes, comments, or posts by tag.",
            "",
        ] {
            assert!(is_trusted("get_thing", text), "{text}");
        }
    }

    #[test]
    fn a_tool_with_a_finding_is_not_trusted() {
        for (name, description) in [
            ("trigger_demo", "Demonstrates progress."),
            ("storage_state", "Saves cookies to a file."),
            ("stop_server", ""),
        ] {
            assert!(!is_trusted(name, description), "{name}");
        }
    }
}
