//! Text that looks as if it came from the system, from a person or from a tool: tags, markers of chat templates, headings.

use super::Certainty;
use super::signals::{Signal, SignalSet, tokens};
use aho_corasick::AhoCorasick;
use std::ops::Range;
use std::sync::LazyLock;

/// A marker in a folded text.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) range: Range<usize>,
    pub(super) certainty: Certainty,
    pub(super) what: &'static str,
}

/// Markers that separate the turns of a chat in the templates of models. No description needs them.
const TEMPLATES: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|eot_id|>",
    "<|begin_of_text|>",
    "<|channel|>",
    "<|message|>",
    "<|start|>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<</sys>>",
    "<start_of_turn>",
    "<end_of_turn>",
    "\n\nhuman:",
    "\n\nassistant:",
];
/// Tags that a description has no use for; what is inside is written for the model.
const SYSTEM_TAGS: &[&str] =
    &["system", "sys", "admin", "sudo", "override", "hidden", "developer", "root", "jailbreak", "secret"];
/// Tags that honest descriptions use, too.
const NOTE_TAGS: &[&str] = &["important", "critical", "urgent", "mandatory"];
/// Ends of the envelope around a description, and results of tools.
const ENVELOPE_TAGS: &[&str] = &[
    "</tool_description>",
    "</description>",
    "</tool>",
    "</tools>",
    "</function>",
    "</functions>",
    "<tool_result>",
    "<tool_response>",
    "<function_results>",
    "<function_result>",
    "</system>",
    "<tool_output>",
    "<user_message>",
    "</user_message>",
    "</context>",
];
/// Starts of lines that claim to be a message of somebody else.
const SPEAKERS: &[&str] = &[
    "system:",
    "system message:",
    "system prompt:",
    "system note:",
    "system notice:",
    "developer:",
    "admin:",
    "administrator:",
    "platform:",
    "anthropic:",
    "openai:",
    "human:",
    "assistant:",
    "ai:",
    "[system]",
    "[admin]",
    "[developer]",
    "### system",
    "## system",
    "# system",
    "### instruction",
    "=== system",
    "--- system",
    "note to ai",
    "note to the ai",
    "note to the assistant",
    "note to the model",
    "developer note",
    "developer message",
    "message from the developer",
    "message to the ai",
    "attention ai",
    "begin system",
    "system override",
    "admin override",
    "note to llm",
    "note to agent",
    "note to claude",
    "note to language",
    "hey claude",
    "hey assistant",
    "hey ai",
    "hey gpt",
    "dear assistant",
    "dear ai",
    "dear model",
    "dear llm",
    "attention model",
    "attention assistant",
    "attention agent",
    "attention all ai",
    "attention all agents",
    "model:",
    "llm:",
    "claude:",
];

/// Starts of text that people do not see.
const CONCEALING: &[&str] = &[
    "<!--",
    "[hidden",
    "[//]: #",
    "display:none",
    "display: none",
    "[invisible",
    "[for the model",
    "[model only",
];
/// Pretended ends of a description.
const ENDINGS: &[&str] = &[
    "end of tool description",
    "end of description",
    "end of the description",
    "end of documentation",
    "end of system prompt",
    "end of tool output",
    "end of context",
];

/// Speakers in brackets: `[SYSTEM OVERRIDE]`.
const BRACKETS: &[&str] = &["system", "admin", "developer", "root", "platform", "security"];

/// What an instruction to the model contains.
const ORDERS: SignalSet = SignalSet::any(&[
    Signal::You,
    Signal::Must,
    Signal::Call,
    Signal::Read,
    Signal::Give,
    Signal::Not,
    Signal::Model,
    Signal::Before,
    Signal::User,
    Signal::Consent,
    Signal::Everything,
    Signal::Void,
    Signal::Off,
    Signal::Restrictions,
    Signal::Override,
    Signal::Instructions,
    Signal::Rules,
]);

/// The markers, and the starts of tags.
static HINTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let tags = SYSTEM_TAGS.iter().chain(NOTE_TAGS).flat_map(|tag| [format!("<{tag}"), format!("< {tag}")]);
    let brackets = BRACKETS.iter().map(|speaker| format!("[{speaker} "));
    let fixed = [TEMPLATES, ENVELOPE_TAGS, SPEAKERS, CONCEALING, ENDINGS]
        .into_iter()
        .flatten()
        .map(|text| (*text).to_owned());
    AhoCorasick::new(fixed.chain(tags).chain(brackets)).ok()
});

/// Returns the first marker of a folded text.
pub(super) fn marker(text: &str) -> Option<Marker> {
    // Most texts have no marker at all.
    if HINTS.as_ref().is_some_and(|hints| !hints.is_match(text)) {
        return None;
    }
    template(text)
        .or_else(|| tag(text))
        .or_else(|| envelope(text))
        .or_else(|| bracket(text))
        .or_else(|| concealed(text))
        .or_else(|| turns(text))
        .or_else(|| speaker(text))
}

fn template(text: &str) -> Option<Marker> {
    let (at, marker) = TEMPLATES.iter().filter_map(|marker| Some((text.find(marker)?, *marker))).min()?;
    if is_quoted(text, at) || is_mentioned(text, at) {
        return None;
    }
    let rest = text.get(at + marker.len()..).unwrap_or_default();
    if marker.starts_with('\n') && orders(rest) < 2 {
        return None;
    }
    let certainty =
        if rest.trim().len() > 8 && orders(rest) > 0 { Certainty::Certain } else { Certainty::Suspected };
    Some(Marker { range: at..at + marker.len(), certainty, what: "contains markers of a chat template" })
}

fn tag(text: &str) -> Option<Marker> {
    for (at, _) in text.match_indices('<') {
        let Some(rest) = text.get(at + 1..) else { continue };
        let name: String = rest
            .trim_start()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '))
            .take(40)
            .collect();
        let Some(close) = rest.find('>').filter(|close| *close < 48) else { continue };
        let first = name.trim().split([' ', '_', '-']).next().unwrap_or_default();
        let is_system = SYSTEM_TAGS.contains(&first);
        if !is_system && !NOTE_TAGS.contains(&name.trim()) || is_quoted(text, at) || is_mentioned(text, at) {
            continue;
        }
        let inside = rest.get(close + 1..).unwrap_or_default();
        let end = inside.find("</").or_else(|| inside.find("< /")).unwrap_or(inside.len());
        let (inside, has_end) = (inside.get(..end).unwrap_or_default(), end < inside.len());
        let count = orders(inside);
        // A tag without content is a placeholder or an example.
        if inside.trim().chars().count() < 12 || count == 0 || (!has_end && !is_system) {
            continue;
        }
        let certainty = if is_system && count >= 2 { Certainty::Certain } else { Certainty::Suspected };
        let range = at..at + close + 2 + end;
        return Some(Marker { range, certainty, what: "marks text as an instruction" });
    }
    None
}

fn envelope(text: &str) -> Option<Marker> {
    let (at, tag) = ENVELOPE_TAGS.iter().filter_map(|tag| Some((text.find(tag)?, *tag))).min()?;
    let name = tag.trim_matches(['<', '/', '>']);
    // In an example of XML, the tag is opened before.
    let is_opened =
        tag.starts_with("</") && text.get(..at).is_some_and(|before| before.contains(&format!("<{name}")));
    let rest = text.get(at + tag.len()..).unwrap_or_default();
    if is_opened
        || is_quoted(text, at)
        || is_mentioned(text, at)
        || orders(rest) == 0
        || rest.trim().len() < 12
    {
        return None;
    }
    let certainty = if orders(rest) >= 2 { Certainty::Certain } else { Certainty::Suspected };
    Some(Marker {
        range: at..at + tag.len(),
        certainty,
        what: "pretends to end its description, or to be the result of a tool",
    })
}

/// `[SYSTEM OVERRIDE]`
fn bracket(text: &str) -> Option<Marker> {
    text.match_indices('[').find_map(|(at, _)| {
        let inside = text.get(at + 1..)?.split(']').next()?;
        let mut words = inside.split_whitespace();
        let speaker = BRACKETS.contains(&words.next()?);
        let claims = words.next().is_some_and(|word| {
            matches!(
                word.trim_end_matches(':'),
                "override"
                    | "instruction"
                    | "instructions"
                    | "message"
                    | "notice"
                    | "prompt"
                    | "note"
                    | "directive"
                    | "update"
                    | "command"
            )
        });
        let rest = text.get(at + inside.len() + 2..)?;
        if !(speaker && claims && inside.len() < 60) || is_quoted(text, at) || is_mentioned(text, at) {
            return None;
        }
        let certainty = if orders(rest) >= 2 { Certainty::Certain } else { Certainty::Suspected };
        Some(Marker { range: at..at + inside.len() + 2, certainty, what: "marks text as an instruction" })
    })
}

/// An order where people do not look, or after a pretended end of the description.
fn concealed(text: &str) -> Option<Marker> {
    CONCEALING.iter().chain(ENDINGS).find_map(|start| {
        let at = text.find(start)?;
        let rest = text.get(at + start.len()..)?;
        let end = match *start {
            "<!--" => rest.find("-->").unwrap_or(rest.len()),
            _ => rest.len(),
        };
        let inside = rest.get(..end)?;
        let is_example = inside.trim().len() < 12 || is_quoted(text, at) || is_mentioned(text, at);
        (!is_example && orders(inside) >= 2).then(|| Marker {
            range: at..at + start.len(),
            certainty: Certainty::Suspected,
            what: "marks text as an instruction",
        })
    })
}

/// Turns of a conversation that never took place.
fn turns(text: &str) -> Option<Marker> {
    let line = |speaker: &str| {
        text.match_indices(speaker)
            .map(|(at, _)| at)
            .find(|at| text.get(..*at).is_some_and(|before| before.trim_end_matches(' ').ends_with('\n')))
    };
    let assistant = line("assistant:")?;
    let user = line("user:").or_else(|| line("human:"))?;
    let at = assistant.min(user);
    let is_example =
        text.get(..at).is_some_and(|before| before.trim_end().ends_with(':')) || is_mentioned(text, at);
    (!is_example && !is_quoted(text, at) && orders(text.get(at..)?) >= 2).then_some(Marker {
        range: at..at + 5,
        certainty: Certainty::Suspected,
        what: "pretends to be a message of the system",
    })
}

/// A line or sentence that starts like a message of the system.
fn speaker(text: &str) -> Option<Marker> {
    let starts =
        std::iter::once(0).chain(text.match_indices(['\n', '.', '!', '>']).map(|(at, mark)| at + mark.len()));
    for start in starts {
        let rest = text.get(start..)?;
        let line = rest.trim_start();
        let at = start + rest.len() - line.len();
        let Some(speaker) = SPEAKERS.iter().find(|speaker| line.starts_with(**speaker)) else { continue };
        let is_line = start == 0 || text.get(..at).is_some_and(|before| before.ends_with('\n'));
        let said = line.get(speaker.len()..).unwrap_or_default();
        let count = orders(said.get(..floor(said, 300)).unwrap_or_default());
        // At the start of a text, "System: …" is the label of a field.
        let is_addressed =
            ["hey", "dear", "note to", "attention"].iter().any(|greeting| speaker.starts_with(greeting));
        let enough = if (at == 0 || !is_line) && !is_addressed { 3 } else { 2 };
        if count >= enough && !is_mentioned(text, at) {
            let certainty = if count >= 4 && at > 0 { Certainty::Certain } else { Certainty::Suspected };
            return Some(Marker {
                range: at..at + speaker.len(),
                certainty,
                what: "pretends to be a message of the system",
            });
        }
    }
    None
}

/// Returns the number of different signs of an instruction.
fn orders(text: &str) -> u32 {
    let text = text.get(..floor(text, 600)).unwrap_or_default();
    let tokens = tokens(text);
    let languages = tokens.iter().map(|token| token.language).collect::<std::collections::BTreeSet<u8>>();
    let count = |language: u8| {
        let own = tokens.iter().filter(|token| token.language == language && token.signals.meets(ORDERS));
        let mut signals = SignalSet::default();
        let mut words = 0;
        for token in own {
            words += u32::from(!signals.meets(token.signals));
            signals = signals.with(token.signals);
        }
        words.min(signals.count())
    };
    languages.into_iter().map(count).max().unwrap_or_default()
}

fn floor(text: &str, length: usize) -> usize {
    (0..=length.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// Returns whether a position is inside a code span or a quotation.
fn is_quoted(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    ['`', '"'].iter().any(|quote| line.matches(*quote).count() % 2 == 1)
        || before.matches("```").count() % 2 == 1
}

/// Returns whether the words before a position introduce an example.
fn is_mentioned(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let near = before
        .get(before.len() - before.len().min(60)..)
        .or_else(|| before.get(before.len() - floor_back(before, 60)..))
        .unwrap_or(before);
    [
        "such as",
        "e.g.",
        "example",
        "for instance",
        "like ",
        "detect",
        "parses",
        "tokens ",
        "token ",
        "style with",
        "format with",
    ]
    .iter()
    .any(|word| near.contains(word))
}

fn floor_back(text: &str, length: usize) -> usize {
    (0..=length.min(text.len()))
        .rev()
        .find(|back| text.is_char_boundary(text.len() - back))
        .unwrap_or_default()
}
