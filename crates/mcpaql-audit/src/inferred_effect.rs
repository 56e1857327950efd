//! What a tool does, as far as the evidence carries: of a document that says so exactly that, of a foreign tool everything that
//! it may be.
//!
//! What always holds: an effect that is not known is listed with every alternative, so that whoever asks what follows from it
//! hears "unknown" where the alternatives disagree.

use crate::convention::RuleLevel;
use crate::tool::{ParsedTool, listed_effects, parameters, required};
use mcpaql_core::facts::{Effect, Facts, Guard, Reach, Repeat};
use mcpaql_core::operation::{Category, Danger};
use mcpaql_lexicon::classify::{Classification, Confidence};
use mcpaql_lexicon::verbs;

/// Required parameters of these names hold what the caller saw last.
const VERSIONS: &[&str] =
    &["etag", "if_match", "ifmatch", "version", "revision", "rev", "lock_version", "sha"];
/// What a caller names a new thing by: where it is there already, a second creation fails.
const KEYS: &[&str] =
    &["name", "path", "filename", "key", "slug", "id", "email", "username", "uuid", "directory"];
/// Verbs that add once more whenever they are called.
const ADDING_VERBS: &[&str] = &["append", "comment", "enqueue", "reply", "post", "tweet", "track", "ingest"];

/// One thing that a tool may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PossibleEffect {
    pub(super) category: Category,
    pub(super) facts: Facts,
}

/// What the name, the description and the hints of a tool carry together: the effect, if it is more than a guess.
pub(super) fn effect(tool: &ParsedTool<'_>) -> Option<Effect> {
    if let Some(known) = tool.known {
        return Some(known.facts.effect);
    }
    if tool.switch.is_some() {
        return Some(Effect::Multiplexed);
    }
    decision(tool).map(|decision| decision.effect)
}

/// Whether a probe saw that it changes something.
pub(super) fn changed_when_probed(tool: &ParsedTool<'_>) -> bool {
    tool.observed.is_some_and(|observed| observed.changed == Some(true))
}

/// Whether it surely changes something, hints aside.
pub(super) fn certainly_writes(tool: &ParsedTool<'_>) -> bool {
    tool.known.map_or_else(
        || is_sure(&tool.by_name) && tool.by_name.category != Category::Read && !may_be_read_only(tool),
        |known| known.category != Category::Read,
    )
}

/// Whether it surely reads and does nothing else, hints aside.
pub(super) fn certainly_reads(tool: &ParsedTool<'_>) -> bool {
    tool.known.map_or_else(
        || {
            let reads = is_sure(&tool.by_name) && tool.by_name.category == Category::Read;
            reads && !saves_a_file(tool) && tool.switch.is_none()
        },
        |known| known.category == Category::Read,
    )
}

fn is_sure(decision: &Classification) -> bool {
    decision.confidence > Confidence::Low && decision.review.is_none()
}

/// Whether its server says that it reads, and its name could be meant so: to generate a chart keeps nothing.
fn may_be_read_only(tool: &ParsedTool<'_>) -> bool {
    tool.declared.read_only == Some(true)
        && tool.with_hints.category == Category::Read
        && tool.by_name.category != Category::Read
}

/// The decision that is more than a guess: by the name, else by the hints, too.
fn decision<'t>(tool: &'t ParsedTool<'_>) -> Option<&'t Classification> {
    let by_name = Some(&tool.by_name).filter(|decision| is_sure(decision) && !may_be_read_only(tool));
    // A tool may well say that it writes a file that its name only gets.
    let by_name = by_name.filter(|decision| {
        decision.category != Category::Read || (tool.declared.read_only != Some(false) && !saves_a_file(tool))
    });
    // That it does not only read says nothing yet about what it does; and whoever writes out whether it destroys knows that better
    // than a name that could be a noun, or says no more than that something runs.
    let runs = tool.by_name.effect == Effect::Execute && tool.by_name.confidence == Confidence::Low;
    let noun = runs && tool.declared.destructive.is_some();
    let named = tool.by_name.review.is_none() && tool.by_name.effect == tool.with_hints.effect && !noun;
    let judged = Some(&tool.with_hints).filter(|decision| is_sure(decision));
    by_name.or_else(|| judged.filter(|decision| decision.category == Category::Read || named))
}

/// `get_request` with an `outputPath` writes a file.
fn saves_a_file(tool: &ParsedTool<'_>) -> bool {
    let may = |name: &str| {
        let any =
            |part: &[u8]| [b"fil", b"pat", b"dir"].iter().any(|other| part.eq_ignore_ascii_case(*other));
        (8..=40).contains(&name.len()) && name.as_bytes().windows(3).any(any)
    };
    parameters(tool).filter(|(name, _)| may(name)).any(|(name, _)| {
        let words = mcpaql_lexicon::words(name);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        has(&["file", "filepath", "path", "filename", "dir", "directory"])
            && has(&["output", "save", "target", "destination", "response", "download"])
    })
}

/// Whether nothing but name and description tells what it does: no document, no parameter, and no claim of its own to read.
pub(super) fn is_known_by_name_alone(tool: &ParsedTool<'_>) -> bool {
    tool.known.is_none()
        && endpoint(tool).is_none()
        && !is_single(tool)
        && tool.declared.read_only != Some(true)
        && tool.switch.is_none()
        && listed_effects(tool).is_empty()
        && !required(tool).any(is_version)
}

/// The endpoint of an adapter's tool, by its name.
pub(super) fn endpoint(tool: &ParsedTool<'_>) -> Option<Category> {
    let last = tool.words.last().filter(|_| tool.is_adapter)?;
    Category::ALL.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(last))
}

/// Whether it is the one tool of an adapter in single mode.
pub(super) fn is_single(tool: &ParsedTool<'_>) -> bool {
    tool.is_adapter && tool.words.last().is_some_and(|word| matches!(word.as_str(), "mcpaql" | "aql"))
}

/// Everything that it may be.
pub(super) fn possible_effects(tool: &ParsedTool<'_>) -> Vec<PossibleEffect> {
    if let Some(known) = tool.known {
        return vec![PossibleEffect { category: known.category, facts: known.facts }];
    }
    if let Some(category) = endpoint(tool) {
        // What stands behind an endpoint nobody can see.
        let repeats = [Repeat::NoEffect, Repeat::FailsWithoutEffect, Repeat::Accumulates];
        return set_reach(tool, repeats.map(|repeat| family(category, repeat)).into());
    }
    if is_single(tool) || tool.switch.is_some() {
        return set_reach(
            tool,
            vec![possible_effect(Effect::Multiplexed, Repeat::Unknown, Guard::None, false)],
        );
    }
    let chosen = listed_effects(tool);
    let Some(decision) = decision(tool).filter(|_| chosen.is_empty()) else {
        return set_reach(tool, all_possible_effects(tool, &chosen));
    };
    let guard = guard(tool, decision.effect);
    let reversible = decision.danger <= Danger::Reversible;
    let repeats = repeats(tool, decision.effect, guard);
    let effects = repeats.iter().map(|repeat| possible_effect(decision.effect, *repeat, guard, reversible));
    let mut effects: Vec<PossibleEffect> = effects.collect();
    if effects.iter().any(|effect| effect.facts.overwrites) && requires_destination(tool) {
        // What it works on may stay as it is.
        let made = [Repeat::NoEffect, Repeat::Accumulates];
        effects.extend(made.map(|repeat| possible_effect(Effect::Create, repeat, Guard::None, true)));
    }
    set_reach(tool, effects)
}

/// Whether a call must say where its results go.
fn requires_destination(tool: &ParsedTool<'_>) -> bool {
    required(tool).any(|name| {
        let words = mcpaql_lexicon::words(name);
        words.iter().any(|word| matches!(word.as_str(), "output" | "outputs" | "destination"))
    })
}

/// Everything that a call may choose; of a tool that nobody can make out, everything that there is.
fn all_possible_effects(tool: &ParsedTool<'_>, chosen: &[Effect]) -> Vec<PossibleEffect> {
    let writes = tool.declared.read_only == Some(false) && tool.by_name.category != Category::Read;
    let effects: &[Effect] = match (chosen, writes) {
        ([], true) => &[Effect::Create, Effect::Update, Effect::Delete, Effect::Execute],
        ([], false) => &[Effect::Read, Effect::Create, Effect::Update, Effect::Delete, Effect::Execute],
        (chosen, _) => chosen,
    };
    let effects = effects.iter().flat_map(|effect| {
        let repeats = [Repeat::NoEffect, Repeat::Accumulates];
        let reads = effect.category() == Category::Read;
        repeats
            .into_iter()
            .skip(usize::from(reads))
            .map(|repeat| possible_effect(*effect, repeat, Guard::None, true))
    });
    effects.collect()
}

fn family(category: Category, repeat: Repeat) -> PossibleEffect {
    PossibleEffect {
        category,
        ..possible_effect(Effect::of(category), repeat, Guard::None, category != Category::Delete)
    }
}

fn possible_effect(effect: Effect, repeat: Repeat, guard: Guard, reversible: bool) -> PossibleEffect {
    let overwrites = matches!(effect, Effect::Update | Effect::Set | Effect::Move);
    let facts = Facts { effect, repeat, overwrites, reversible, guard, reach: Reach::Backend };
    PossibleEffect { category: effect.category(), facts }
}

/// How far a foreign server reaches is its secret, unless a tool takes addresses of the outside world.
fn set_reach(tool: &ParsedTool<'_>, effects: Vec<PossibleEffect>) -> Vec<PossibleEffect> {
    let reaches: &[Reach] = match outside_reach(tool) {
        Some(_) => &[Reach::Open],
        None => &[Reach::Process, Reach::Backend, Reach::Open],
    };
    let with = |reach: &Reach| {
        let reach = *reach;
        let reached = effects
            .iter()
            .map(move |effect| PossibleEffect { facts: Facts { reach, ..effect.facts }, ..*effect });
        reached.collect::<Vec<PossibleEffect>>()
    };
    reaches.iter().flat_map(with).collect()
}

fn guard(tool: &ParsedTool<'_>, effect: Effect) -> Guard {
    let writes = matches!(effect.category(), Category::Update | Category::Delete);
    let guarded = writes && required(tool).any(is_version);
    if guarded { Guard::Etag } else { Guard::None }
}

fn is_version(name: &str) -> bool {
    name.len() <= 16
        && VERSIONS.contains(&name.to_ascii_lowercase().replace('-', "_").trim_start_matches('_'))
}

/// What a second call may do.
fn repeats(tool: &ParsedTool<'_>, effect: Effect, guard: Guard) -> &'static [Repeat] {
    use Repeat::{Accumulates, FailsWithoutEffect, NoEffect, Unknown};
    let has = |list: &[&str]| tool.words.iter().any(|word| list.contains(&word.as_str()));
    match effect {
        Effect::Read | Effect::Compute => &[NoEffect],
        Effect::Send => &[Accumulates],
        Effect::Append if has(ADDING_VERBS) => &[Accumulates],
        Effect::Append => &[NoEffect, FailsWithoutEffect, Accumulates],
        Effect::Create if caller_names_result(tool) => &[NoEffect, FailsWithoutEffect, Accumulates],
        Effect::Create => &[Accumulates],
        Effect::Delete | Effect::SoftDelete | Effect::Unlink => &[FailsWithoutEffect],
        Effect::Update | Effect::Set | Effect::Move if guard == Guard::Etag => &[FailsWithoutEffect],
        // Who may give a version may be refused the second time.
        Effect::Set if parameters(tool).any(|(name, _)| is_version(name)) => {
            &[NoEffect, FailsWithoutEffect, Accumulates]
        }
        // What is written where is seen only where the caller says it.
        Effect::Set if has(&["write"]) && !caller_names_result(tool) => &[NoEffect, Accumulates],
        Effect::Set if is_plain_set(tool) && !has(&["toggle", "save", "restore"]) => &[NoEffect],
        Effect::Set | Effect::Update | Effect::Move => &[NoEffect, FailsWithoutEffect, Accumulates],
        Effect::Execute | Effect::Session | Effect::Multiplexed => &[Unknown, NoEffect],
    }
}

/// Whether it puts a value somewhere and does no more: who accepts an invitation may answer it once more.
fn is_plain_set(tool: &ParsedTool<'_>) -> bool {
    tool.by_name.confidence == Confidence::High || tool.words.iter().any(|word| word == "set")
}

/// Whether the caller names the new thing, or a text says what happens where it exists already.
pub(super) fn caller_names_result(tool: &ParsedTool<'_>) -> bool {
    let key = |name: &str| {
        let lower = name.to_ascii_lowercase();
        KEYS.contains(&lower.as_str())
            || ["name", "_path", "_key", "_slug"].iter().any(|end| lower.ends_with(end))
    };
    parameters(tool).any(|(name, _)| name.len() <= 40 && key(name))
        || tool.description.is_some_and(|text| text.contains("exist"))
}

/// Whether it surely adds something with every call.
pub(super) fn certainly_accumulates(tool: &ParsedTool<'_>) -> bool {
    if let Some(known) = tool.known {
        return known.facts.repeat == Repeat::Accumulates;
    }
    // What stands behind an endpoint nobody can see, and its hints are made from what is known of that.
    if endpoint(tool).is_some() {
        return false;
    }
    let adds = matches!(tool.by_name.effect, Effect::Send | Effect::Create | Effect::Append);
    let sure = tool.by_name.confidence == Confidence::High && tool.by_name.review.is_none();
    adds && sure && repeats(tool, tool.by_name.effect, Guard::None) == [Repeat::Accumulates]
}

/// What reaches into the outside world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutsideReach {
    /// Its name says so: it searches the web, or writes to people.
    Named,
    /// It fetches what its parameter points to.
    Address,
}

/// What a tool surely has to do with the outside world.
pub(super) fn outside_reach(tool: &ParsedTool<'_>) -> Option<OutsideReach> {
    let has = |list: &[&str]| tool.words.iter().any(|word| list.contains(&word.as_str()));
    let lead = |list: &[&str]| tool.words.iter().take(2).any(|word| list.contains(&word.as_str()));
    let web = has(&["web", "internet", "google", "bing"]) && has(&["search", "browse", "crawl", "scrape"]);
    let writes = has(&["send", "resend"]) && has(&["email", "mail", "sms", "tweet", "whatsapp", "telegram"]);
    if web || writes || lead(&["crawl", "scrape", "tweet"]) {
        return Some(OutsideReach::Named);
    }
    // Whoever fetches documentation knows where from.
    let fetches = !has(&["doc", "docs", "documentation"])
        && lead(&["fetch", "browse", "download", "visit", "navigate", "open", "goto", "import"]);
    let address = |name: &str| {
        let last = mcpaql_lexicon::words(name).pop();
        last.is_some_and(|word| matches!(word.as_str(), "url" | "urls" | "uri" | "website"))
    };
    let takes = || parameters(tool).any(|(name, _)| name.len() <= 40 && address(name));
    (fetches && takes()).then_some(OutsideReach::Address)
}

/// The verb that the description opens with, where it changes something; behind a heading in angle brackets, too.
pub(super) fn described_action(tool: &ParsedTool<'_>) -> Option<&'static verbs::Verb> {
    let text = tool.description?.trim_start();
    let text = match text.strip_prefix('<') {
        Some(heading) => heading.split_once('>')?.1,
        None => text,
    };
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|token| !token.is_empty())?;
    let verb = (first.len() <= 24).then(|| verbs::inflected(&first.to_ascii_lowercase())).flatten()?;
    (verb.effect.category() != Category::Read).then_some(verb)
}

/// The word of the name that says it: one that is surely a verb, before one that may be.
fn acting_word<'t>(tool: &'t ParsedTool<'_>) -> Option<&'t str> {
    let verb = |word: &&String| verbs::verb(word).or_else(|| verbs::inflected(word));
    let sure = tool.words.iter().find(|word| verb(word).is_some_and(|verb| verb.acts()));
    let of_effect = |verb: &verbs::Verb| verb.effect.category() != Category::Read;
    let likely = || tool.words.iter().find(|word| verb(word).is_some_and(of_effect));
    sure.or_else(likely).map(String::as_str)
}

/// What speaks against the claim of a tool that it only reads, and how loud.
pub(super) fn contradicts_read_only(tool: &ParsedTool<'_>) -> Option<(String, RuleLevel)> {
    if tool.known.is_some_and(|known| known.category != Category::Read) {
        return Some(("its document says otherwise".to_owned(), RuleLevel::Error));
    }
    let told = described_action(tool);
    if tool.with_hints.category != Category::Read {
        let runs = matches!(tool.by_name.effect, Effect::Execute | Effect::Session | Effect::Multiplexed);
        let level = match (certainly_writes(tool) && !runs, told) {
            (true, _) => RuleLevel::Error,
            (false, Some(_)) => RuleLevel::Warning,
            // What "triggers" or "starts" may be a demonstration.
            (false, None) => RuleLevel::Advice,
        };
        let action = if runs { "runs or switches something" } else { "changes something" };
        let what = acting_word(tool).map(|word| format!("'{word}' in its name {action}"));
        return Some((what.unwrap_or_else(|| "its name says otherwise".to_owned()), level));
    }
    if let Some(switch) = &tool.switch {
        return Some((format!("its '{}' can be '{}'", switch.parameter, switch.acts), RuleLevel::Warning));
    }
    let verb = told.filter(|verb| verb.acts() && verb.word != "generate")?;
    Some((format!("its description begins with '{}'", verb.word), RuleLevel::Advice))
}
