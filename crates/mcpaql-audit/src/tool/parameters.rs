//! The parameters of a tool that tell its effect: which are required, and whether one of them switches between reading and writing.

use super::ParsedTool;
use super::tree::value_member;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::Category;
use mcpaql_lexicon::verbs::{self, Verb, Weight};
use serde_json::Value;

/// Maximum length of a word that is examined.
const MAX_WORD_LENGTH: usize = 32;
/// Maximum number of words of a description that are examined.
const MAX_DESCRIPTION_WORDS: usize = 200;

/// Last words of parameter names that choose the action of a call.
const SWITCHES: [&str; 5] = ["action", "command", "method", "operation", "op"];

/// Verbs that occur in descriptions of any switch.
const FILLERS: [&str; 6] = ["execute", "has", "invoke", "is", "perform", "submit"];
/// Words in names of tools that send arbitrary requests.
const REQUEST_TOOL_WORDS: [&str; 7] = ["api", "call", "curl", "fetch", "http", "request", "rest"];

/// A parameter that decides whether a call reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EffectSwitch<'a> {
    /// Its name.
    pub(crate) parameter: &'a str,
    /// A value that reads.
    pub(crate) reads: String,
    /// A value that writes.
    pub(crate) acts: String,
}

/// Returns the name and schema of each parameter.
pub(crate) fn parameters<'a>(tool: &ParsedTool<'a>) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
    let properties = tool.schema.and_then(|schema| value_member(schema, "properties")?.as_object());
    properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// Returns the names of the required parameters.
pub(crate) fn required<'a>(tool: &ParsedTool<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let names = tool.schema.and_then(|schema| value_member(schema, "required")?.as_array());
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the parameter that switches between reading and writing, if there is one.
pub(crate) fn switch<'a>(tool: &ParsedTool<'a>) -> Option<EffectSwitch<'a>> {
    parameters(tool).find_map(|(name, schema)| {
        let is_mode = switch_mode(tool, name)?;
        let found = value_verbs(tool, schema, is_mode);
        // A mode says how something is done, unless its values are clearly actions.
        let acts = |verb: &Verb| {
            verb.effect.category() != Category::Read && (!is_mode || verb.weight == Weight::Strong)
        };
        let reads = found.iter().find(|(_, verb)| verb.reads())?.0.clone();
        let acts = found.iter().find(|(_, verb)| acts(verb))?.0.clone();
        Some(EffectSwitch { parameter: name, reads, acts })
    })
}

/// Returns the effects of the listed values of a switch.
pub(crate) fn listed_effects(tool: &ParsedTool<'_>) -> Vec<Effect> {
    let listed = parameters(tool).find_map(|(name, schema)| {
        switch_mode(tool, name).filter(|is_mode| !is_mode)?;
        let effects: Vec<Effect> =
            values(schema).into_iter().filter_map(|value| Some(leading_verb(value)?.effect)).collect();
        (effects.len() > 1).then_some(effects)
    });
    listed.unwrap_or_default()
}

/// Returns `None` if a parameter is not a switch, otherwise whether it is a mode.
fn switch_mode(tool: &ParsedTool<'_>, name: &str) -> Option<bool> {
    // Cheap test first: all switches end in one of these letters.
    if !matches!(name.as_bytes().last(), Some(b'n' | b'd' | b'p' | b'e' | b'N' | b'D' | b'P' | b'E')) {
        return None;
    }
    let ends = SWITCHES.iter().chain(&["mode"]).any(|switch| {
        let end = name.len().checked_sub(switch.len()).and_then(|start| name.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(switch))
    });
    // Most names are ruled out here, before they are split into words.
    if !ends || name.len() > MAX_WORD_LENGTH {
        return None;
    }
    let words = mcpaql_lexicon::words(name);
    let last = words.last()?;
    let is_mode = last == "mode";
    // The HTTP method is a switch only for tools that send arbitrary requests.
    let is_http = words.iter().any(|word| word == "http");
    let sends = || tool.words.iter().any(|word| REQUEST_TOOL_WORDS.contains(&word.as_str()));
    let decides = is_mode || SWITCHES.contains(&last.as_str());
    (decides && (!is_http || sends())).then_some(is_mode)
}

/// Returns the verbs of the listed values; if none are listed, those in the description of the parameter, or of the tool if it
/// manages something.
fn value_verbs(tool: &ParsedTool<'_>, schema: &Value, is_mode: bool) -> Vec<(String, &'static Verb)> {
    let values = values(schema);
    if !values.is_empty() || is_mode {
        return values.iter().filter_map(|value| Some(((*value).to_owned(), leading_verb(value)?))).collect();
    }
    let found = described_verbs(schema.get("description").and_then(Value::as_str).unwrap_or_default());
    let manages = tool.words.iter().any(|word| word.starts_with("manage") || word == "crud");
    if found.is_empty() && manages { described_verbs(tool.description.unwrap_or_default()) } else { found }
}

/// Returns the listed values of a parameter.
fn values(schema: &Value) -> Vec<&str> {
    let one_of = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array());
    let nested = one_of.into_iter().flatten().flat_map(|branch| listed(branch).chain(branch.get("const")));
    listed(schema).chain(nested).filter_map(Value::as_str).collect()
}

fn listed(schema: &Value) -> impl Iterator<Item = &Value> {
    schema.get("enum").and_then(Value::as_array).into_iter().flatten()
}

/// Returns the verbs in a description.
fn described_verbs(text: &str) -> Vec<(String, &'static Verb)> {
    let tokens = text.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty());
    let short = tokens.take(MAX_DESCRIPTION_WORDS).filter(|token| token.len() <= MAX_WORD_LENGTH);
    let verbs = short.filter_map(|token| Some((token.to_owned(), verbs::verb(token)?)));
    let telling = |verb: &Verb| verb.weight == Weight::Strong && !FILLERS.contains(&verb.word);
    verbs.filter(|(_, verb)| telling(verb)).collect()
}

fn leading_verb(value: &str) -> Option<&'static Verb> {
    let first = mcpaql_lexicon::words(value.get(..value.len().min(64))?).into_iter().next()?;
    verbs::verb(&first)
}
