//! Rules about descriptions, and about every other text that a model reads.

mod encoded_blob;
mod forbidden_text;
mod hidden_instructions;
mod hidden_text;
mod invisible_characters;
mod missing;
mod no_introspection;
mod poison;
mod secret;
mod secret_collection;
mod shadowing;
mod suspicious_link;
mod too_long;
mod uninformative;
mod unknown_tool;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &missing::RULE,
    &uninformative::RULE,
    &too_long::RULE,
    &no_introspection::RULE,
    &hidden_instructions::RULE,
    &secret_collection::RULE,
    &shadowing::RULE,
    &invisible_characters::RULE,
    &hidden_text::RULE,
    &suspicious_link::RULE,
    &secret::RULE,
    &encoded_blob::RULE,
    &forbidden_text::RULE,
    &unknown_tool::RULE,
];

/// Returns the start of a text, on one line.
fn excerpt(text: &str) -> String {
    let line: String = text.chars().take(60).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    if line.len() < text.len() { format!("{line}…") } else { line }
}
