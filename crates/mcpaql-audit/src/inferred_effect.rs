//! Infers what a tool does: exactly, if an adapter document says so; otherwise as the set of all possible effects.
//!
//! What always holds: an unknown effect is represented by all alternatives, so a conclusion is unknown if they disagree.

mod aside;
mod deletion;
mod repeat;
mod trash;

pub(super) use deletion::evidence_of_deletion;
pub(super) use repeat::certainly_accumulates;

use crate::convention::RuleLevel;
use crate::tool::{ParsedTool, listed_effects, parameters, required};
use aside::suggests_write_only_aside;
use mcpaql_core::facts::{Effect, Facts, Guard, Reach, Repeat};
use mcpaql_core::operation::{Category, Danger};
use mcpaql_lexicon::classify::{Classification, Confidence, EvidenceKind, Reason};
use mcpaql_lexicon::verbs;
use repeat::{guard, repeats};
use trash::trash_effect;

/// A possible effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PossibleEffect {
    pub(super) category: Category,
    pub(super) facts: Facts,
}

/// Returns the effect of a tool from its name, description and hints, if it is more than a guess.
pub(super) fn effect(tool: &ParsedTool<'_>) -> Option<Effect> {
    if let Some(known) = tool.known {
        return Some(known.facts.effect);
    }
    if tool.switch.is_some() {
        return Some(Effect::Multiplexed);
    }
    decision(tool).map(|decision| decision.effect)
}

/// Returns whether the tool changed the state in a probe.
pub(super) fn changed_when_probed(tool: &ParsedTool<'_>) -> bool {
    tool.observed.is_some_and(|observed| observed.changed == Some(true))
}

/// Returns whether the tool certainly changes something, regardless of its hints.
pub(super) fn certainly_writes(tool: &ParsedTool<'_>) -> bool {
    tool.known.map_or_else(
        || is_sure(&tool.by_name) && tool.by_name.category != Category::Read && !may_be_read_only(tool),
        |known| known.category != Category::Read,
    )
}

/// Returns whether the tool certainly only reads, regardless of its hints.
pub(super) fn certainly_reads(tool: &ParsedTool<'_>) -> bool {
    tool.known.map_or_else(
        || {
            let reads = is_sure(&tool.by_name) && tool.by_name.category == Category::Read;
            reads && !saves_a_file(tool) && tool.switch.is_none()
        },
        |known| known.category == Category::Read,
    )
}

/// Returns whether a name that starts with a possible noun has a verb after all, because the description starts with the same one.
fn is_confirmed(tool: &ParsedTool<'_>) -> bool {
    let by_name = &tool.by_name;
    by_name.review.is_none()
        && !matches!(by_name.effect, Effect::Read | Effect::Compute | Effect::Execute)
        && described_action(tool).is_some_and(|verb| {
            verb.effect == by_name.effect && tool.words.iter().any(|word| word == verb.word)
        })
}

fn is_sure(decision: &Classification) -> bool {
    decision.confidence > Confidence::Low && decision.review.is_none()
}

/// Returns whether the tool is marked read-only and its name allows it: `generate_chart` need not store anything.
fn may_be_read_only(tool: &ParsedTool<'_>) -> bool {
    tool.declared.read_only == Some(true)
        && tool.with_hints.category == Category::Read
        && tool.by_name.category != Category::Read
}

/// Returns the classification if it is more than a guess: by the name, else by name and hints.
fn decision<'t>(tool: &'t ParsedTool<'_>) -> Option<&'t Classification> {
    let by_name = Some(&tool.by_name)
        .filter(|decision| (is_sure(decision) || is_confirmed(tool)) && !may_be_read_only(tool));
    // A tool whose name says `get` may still write a file.
    let by_name = by_name.filter(|decision| {
        decision.category != Category::Read || (tool.declared.read_only != Some(false) && !saves_a_file(tool))
    });
    // `readOnlyHint: false` does not say what the tool does. A declared `destructiveHint` is more reliable than a name that could be
    // a noun or only says that something runs.
    let runs = tool.by_name.effect == Effect::Execute && tool.by_name.confidence == Confidence::Low;
    let noun = runs && tool.declared.destructive.is_some();
    let named = tool.by_name.review.is_none() && tool.by_name.effect == tool.with_hints.effect && !noun;
    let judged = Some(&tool.with_hints).filter(|decision| is_sure(decision));
    by_name.or_else(|| judged.filter(|decision| decision.category == Category::Read || named))
}

/// Returns whether a parameter names an output file: `get_request` with an `outputPath` writes one.
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

/// Returns the endpoint of an adapter tool, from its name.
pub(super) fn endpoint(tool: &ParsedTool<'_>) -> Option<Category> {
    let last = tool.words.last().filter(|_| tool.is_adapter)?;
    Category::ALL.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(last))
}

/// Returns whether it is the only tool of an adapter in single mode.
pub(super) fn is_single(tool: &ParsedTool<'_>) -> bool {
    tool.is_adapter && tool.words.last().is_some_and(|word| matches!(word.as_str(), "mcpaql" | "aql"))
}

/// Returns whether the tool takes something out of a trash.
pub(super) fn is_restoration(tool: &ParsedTool<'_>) -> bool {
    tool.known.is_none() && trash_effect(tool) == Some(Effect::Set)
}

/// Returns all possible effects of a tool.
pub(super) fn possible_effects(tool: &ParsedTool<'_>) -> Vec<PossibleEffect> {
    if let Some(known) = tool.known {
        return vec![PossibleEffect { category: known.category, facts: known.facts }];
    }
    if let Some(category) = endpoint(tool) {
        // The operations behind an endpoint are unknown.
        let repeats = [Repeat::NoEffect, Repeat::FailsWithoutEffect, Repeat::Accumulates];
        return set_reach(tool, repeats.map(|repeat| family(category, repeat)).into());
    }
    if is_single(tool) || tool.switch.is_some() {
        return set_reach(
            tool,
            vec![possible_effect(Effect::Multiplexed, Repeat::Unknown, Guard::None, false)],
        );
    }
    let trash = trash_effect(tool).filter(|_| tool.declared.read_only != Some(true));
    if let Some(effect) = trash {
        let repeat = if effect == Effect::Set { Repeat::NoEffect } else { Repeat::FailsWithoutEffect };
        return set_reach(tool, vec![possible_effect(effect, repeat, guard(tool, effect), true)]);
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
    if decision.effect == Effect::SoftDelete {
        // Outside a trash, this may only change a state: `disable_user`, `archive_card`.
        effects.push(possible_effect(Effect::Set, Repeat::NoEffect, guard, true));
    }
    if effects.iter().any(|effect| effect.facts.overwrites) && requires_destination(tool) {
        // The input may stay unchanged.
        let made = [Repeat::NoEffect, Repeat::Accumulates];
        effects.extend(made.map(|repeat| possible_effect(Effect::Create, repeat, Guard::None, true)));
    }
    set_reach(tool, effects)
}

/// Returns whether a required parameter names the destination of the results.
fn requires_destination(tool: &ParsedTool<'_>) -> bool {
    required(tool).any(|name| {
        let words = mcpaql_lexicon::words(name);
        words.iter().any(|word| matches!(word.as_str(), "output" | "outputs" | "destination"))
    })
}

/// Returns the effects that a call can choose from; all effects if nothing is known about the tool.
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

/// Adds the reach: unknown for a foreign server, unless the tool reaches the outside world.
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

/// How a tool reaches the outside world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutsideReach {
    /// By its name: it searches the web, or sends messages to people.
    Named,
    /// It fetches the address in a parameter.
    Address,
}

/// Returns how a tool certainly reaches the outside world.
pub(super) fn outside_reach(tool: &ParsedTool<'_>) -> Option<OutsideReach> {
    let has = |list: &[&str]| tool.words.iter().any(|word| list.contains(&word.as_str()));
    let lead = |list: &[&str]| tool.words.iter().take(2).any(|word| list.contains(&word.as_str()));
    let web = has(&["web", "internet", "google", "bing"]) && has(&["search", "browse", "crawl", "scrape"]);
    let writes = has(&["send", "resend"]) && has(&["email", "mail", "sms", "tweet", "whatsapp", "telegram"]);
    if web || writes || lead(&["crawl", "scrape", "tweet"]) {
        return Some(OutsideReach::Named);
    }
    // Tools that fetch documentation use fixed addresses.
    let fetches = !has(&["doc", "docs", "documentation"])
        && lead(&["fetch", "browse", "download", "visit", "navigate", "open", "goto", "import"]);
    let address = |name: &str| {
        let last = mcpaql_lexicon::words(name).pop();
        last.is_some_and(|word| matches!(word.as_str(), "url" | "urls" | "uri" | "website"))
    };
    let takes = || parameters(tool).any(|(name, _)| name.len() <= 40 && address(name));
    (fetches && takes()).then_some(OutsideReach::Address)
}

/// Returns the first verb of the description if it changes something, skipping a heading in angle brackets.
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

/// Returns the acting word of a name, preferring a certain verb over a possible one.
fn acting_word<'t>(tool: &'t ParsedTool<'_>) -> Option<&'t str> {
    let verb = |word: &&String| verbs::verb(word).or_else(|| verbs::inflected(word));
    let sure = tool.words.iter().find(|word| verb(word).is_some_and(|verb| verb.acts()));
    let of_effect = |verb: &verbs::Verb| verb.effect.category() != Category::Read;
    let likely = || tool.words.iter().find(|word| verb(word).is_some_and(of_effect));
    sure.or_else(likely).map(String::as_str)
}

/// Returns whether a verb cannot mean that something is only computed.
fn is_never_a_read(verb: &verbs::Verb) -> bool {
    verb.word == "set"
        || matches!(
            verb.effect,
            Effect::SoftDelete | Effect::Delete | Effect::Unlink | Effect::Move | Effect::Send
        )
}

/// Returns the sign of a write in the description, the parameters or the answer of a tool that is marked read-only.
fn sign_of_write<'t>(tool: &'t ParsedTool<'_>) -> Option<&'t Reason> {
    let kinds = [EvidenceKind::Summary, EvidenceKind::Parameter, EvidenceKind::Answer];
    tool.with_hints.reasons.iter().find(|reason| kinds.contains(&reason.evidence))
}

/// Returns whether only a parameter contradicts a read-only hint.
pub(super) fn is_contradicted_by_parameter(tool: &ParsedTool<'_>) -> bool {
    sign_of_write(tool).is_some_and(|reason| reason.evidence == EvidenceKind::Parameter)
}

/// Returns what contradicts a read-only hint, and the level of the contradiction.
pub(super) fn contradicts_read_only(tool: &ParsedTool<'_>) -> Option<(String, RuleLevel)> {
    // A document outweighs words; `check` compares the two.
    if let Some(known) = tool.known {
        let writes = known.category != Category::Read;
        return writes.then(|| ("its adapter document declares a write".to_owned(), RuleLevel::Error));
    }
    let described = described_action(tool);
    if tool.with_hints.category != Category::Read {
        if let Some(reason) = sign_of_write(tool) {
            let aside = reason.evidence == EvidenceKind::Summary && suggests_write_only_aside(tool);
            let level = if aside { RuleLevel::Advice } else { RuleLevel::Warning };
            return Some((format!("{} suggests a write", reason.text), level));
        }
        let runs = matches!(tool.by_name.effect, Effect::Execute | Effect::Session | Effect::Multiplexed);
        let level = match (certainly_writes(tool) && !runs, described) {
            (true, _) => RuleLevel::Error,
            (false, Some(_)) => RuleLevel::Warning,
            // A tool that "triggers" or "starts" something may be a demonstration.
            (false, None) => RuleLevel::Advice,
        };
        let action = if runs { "that it starts or stops something" } else { "a write" };
        let what = acting_word(tool).map(|word| format!("the verb '{word}' in its name suggests {action}"));
        return Some((what.unwrap_or_else(|| "its name suggests a write".to_owned()), level));
    }
    if let Some(verb) = described.filter(|verb| is_confirmed(tool) && is_never_a_read(verb)) {
        let what = format!("its name and its description say '{}'", verb.word);
        return Some((what, RuleLevel::Warning));
    }
    if let Some(switch) = &tool.switch {
        return Some((
            format!("its parameter '{}' can be '{}'", switch.parameter, switch.acts),
            RuleLevel::Warning,
        ));
    }
    let verb = described.filter(|verb| verb.acts() && verb.word != "generate")?;
    Some((format!("its description starts with '{}'", verb.word), RuleLevel::Advice))
}
