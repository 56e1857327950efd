//! Helpers shared by rules about names: names in snake_case, and names in messages.

use crate::convention::{Characters, Standard};
use crate::rule::{Finding, Fix};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::snake_case;
use mcpaql_lexicon::unicode::{homoglyph, is_invisible};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum length of a name that every client accepts, without prefixes.
const MAX_SAFE_NAME: usize = 64;
/// Maximum number of characters of a name in a message.
const MAX_SHOWN_NAME: usize = 80;

/// The names of a server in snake_case, each with the number of tools that have it.
pub(super) struct Spellings(HashMap<String, usize>);

impl Spellings {
    pub(super) fn of(server: &ParsedServer<'_>) -> Spellings {
        let mut spellings = HashMap::with_capacity(server.tools.len());
        for tool in &server.tools {
            *spellings.entry(to_snake_case(tool.name)).or_insert(0) += 1;
        }
        Spellings(spellings)
    }

    /// Returns the name in snake_case as a fix, if it is legal and no other tool has or would get it.
    pub(super) fn fix(&self, name: &str) -> Option<Fix> {
        let spelled = to_snake_case(name);
        let is_legal = is_snake(&spelled) && spelled.len() <= MAX_SAFE_NAME && spelled != name;
        (is_legal && self.0.get(&spelled) == Some(&1)).then_some(Fix::Name(spelled))
    }
}

/// Returns the name in snake_case, without invisible characters and with look-alike letters as ASCII.
fn to_snake_case(name: &str) -> String {
    let plain: String =
        name.chars().filter(|c| !is_invisible(*c)).map(|c| homoglyph(c).unwrap_or(c)).collect();
    snake_case(&plain)
}

/// `^[a-z][a-z0-9_]*$`.
pub(super) fn is_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(|c| Characters::Snake.allow(c))
}

/// Returns a name for a message, truncated if it is long.
pub(in crate::rules) fn clipped_name(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_SHOWN_NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}

/// Returns a character for a message: its code point if it is not visible.
pub(super) fn character_label(c: char) -> String {
    if c == ' ' {
        "a space".to_owned()
    } else if c.is_control() || c.is_whitespace() || is_invisible(c) {
        format!("U+{:04X}", u32::from(c))
    } else {
        format!("'{c}'")
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(in crate::rules) fn join_list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Adds the names of the conventions that require it.
pub(in crate::rules) fn required_by_all(finding: &mut Finding, who: &[&str]) {
    for who in who {
        finding.required_by(*who);
    }
}

/// Returns the names of the conventions whose requirement a tool does not meet.
pub(in crate::rules) fn unmet_requirements<'s, T>(
    standard: &'s Standard,
    pick: impl Fn(&'s crate::convention::Convention) -> Option<T> + 's,
    is_met: impl Fn(&T) -> bool,
) -> Vec<&'s str> {
    standard.requirements(pick).filter(|(_, requirement)| !is_met(requirement)).map(|(who, _)| who).collect()
}

/// Returns the letters and digits in lower case, which are the same in all spellings of a name.
pub(super) fn letters_and_digits(name: &str) -> String {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    let mut bare = String::with_capacity(name.len());
    bare.extend(letters.map(|letter| char::from(letter.to_ascii_lowercase())));
    bare
}

/// Returns the tools that have a name.
pub(super) fn named_tools<'t, 'a>(server: &'t ParsedServer<'a>) -> impl Iterator<Item = &'t ParsedTool<'a>> {
    server.tools.iter().filter(|tool| !tool.name.is_empty())
}
