//! Derives name, title, version and description of an adapter from `info`.

use super::document::OpenApiDocument;
use super::markdown::flatten;
use super::scan;
use mcpaql_core::naming::{MAX_TOOL_NAME_LENGTH, title_of};
use mcpaql_document::overrides::AdapterOverride;
use mcpaql_lexicon::WordSet;

/// Words of a title that say nothing about the API.
static GENERIC: WordSet = WordSet::of(
    "an and api apis docs documentation extension for http of official openapi public reference rest restful \
     service services spec specification swagger the v1 v2 v3 v4 version web mcpaql",
);
/// Maximum words of a title in a name.
const MAX_WORDS: usize = 4;
/// Maximum length of a title that is used as display name.
const MAX_DISPLAY_NAME: usize = 40;
/// Maximum length of a description.
const MAX_DESCRIPTION: usize = 600;

/// The identity of an imported adapter.
#[derive(Debug)]
pub(crate) struct ImportedIdentity {
    pub(crate) name: String,
    pub(crate) display_name: String,
    pub(crate) version: String,
    /// The version in the document.
    pub(crate) declared_version: Option<String>,
    pub(crate) description: String,
}

/// Reads `info`; members that are missing or have the wrong type get a default.
pub(crate) fn read(document: &OpenApiDocument, name: Option<&str>) -> ImportedIdentity {
    let info = scan::members(document.top("info").unwrap_or("{}"));
    let text = |key: &str| info.get(key).and_then(|text| scan::string(text)).unwrap_or_default();
    let title = flatten(&text("title")).replace('\n', " ");
    let name = name.map_or_else(|| name_of_title(&title), legal);
    let declared = text("version").trim().to_owned();
    let version = declared.as_str().trim_start_matches('v');
    let description =
        [text("description"), text("summary")].iter().map(|text| flatten(text)).find(|text| !text.is_empty());
    ImportedIdentity {
        display_name: if is_display_name(&title) { title.clone() } else { title_of(&name) },
        version: if is_semver(version) { version.to_owned() } else { "1.0.0".to_owned() },
        declared_version: Some(declared.clone()).filter(|declared| !declared.is_empty()),
        description: description
            .map(|text| shortened(&text))
            .or(Some(title).filter(|title| !title.is_empty()))
            .unwrap_or_else(|| format!("The {} API", title_of(&name))),
        name,
    }
}

impl ImportedIdentity {
    /// Applies the author's display name and description.
    pub(crate) fn apply_override(&mut self, overrides: &AdapterOverride) {
        if let Some(display_name) = &overrides.display_name {
            self.display_name.clone_from(display_name);
        }
        if let Some(description) = &overrides.description {
            self.description.clone_from(description);
        }
    }
}

/// Whether a title is the name of the API, not of the document that describes it.
pub(crate) fn is_display_name(title: &str) -> bool {
    const ABOUT_THE_DOCUMENT: [&str; 4] = ["openapi", "swagger", "spec", "definition"];
    let lower = title.to_lowercase();
    !title.is_empty()
        && title.chars().count() <= MAX_DISPLAY_NAME
        && !ABOUT_THE_DOCUMENT.iter().any(|word| lower.contains(word))
}

fn name_of_title(title: &str) -> String {
    let title = title.to_lowercase().replace("'s ", " ").replace("’s ", " ");
    let words: Vec<&str> =
        title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let specific: Vec<&str> =
        words.iter().copied().filter(|word| !GENERIC.contains(word)).take(MAX_WORDS).collect();
    let chosen = if specific.is_empty() { words } else { specific };
    legal(&chosen.join("-"))
}

/// Converts a text to a valid adapter name: lower case letters, digits, hyphens and underscores, starting with a letter,
/// without the word `mcpaql`, which separates adapter and endpoint in tool names.
pub(crate) fn legal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() => out.push(letter),
            '_' if !out.ends_with(['-', '_']) => out.push('_'),
            _ if !out.ends_with(['-', '_']) => out.push('-'),
            _ => {}
        }
    }
    let words: Vec<&str> = out
        .split('-')
        .filter(|word| !word.is_empty() && !word.split('_').any(|part| part == "mcpaql"))
        .collect();
    let mut out = words.join("-");
    if out.len() > MAX_TOOL_NAME_LENGTH / 2 {
        let head = out.get(..MAX_TOOL_NAME_LENGTH / 2).unwrap_or_default();
        out = head.rsplit_once('-').map_or(head, |(words, _)| words).to_owned();
    }
    let out = out.trim_matches(['-', '_']);
    match out.chars().next() {
        None => "api".to_owned(),
        Some(first) if !first.is_ascii_lowercase() || out.len() < 2 => format!("api-{out}"),
        Some(_) => out.to_owned(),
    }
}

/// Shortens a description: as many paragraphs as fit, or else the start of the first one.
pub(crate) fn shortened(text: &str) -> String {
    let mut out = String::new();
    for paragraph in text.split("\n\n") {
        if !out.is_empty() && out.len() + paragraph.len() > MAX_DESCRIPTION {
            break;
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(paragraph);
    }
    if out.len() <= MAX_DESCRIPTION {
        return out;
    }
    let head = out.get(..out.floor_char_boundary(MAX_DESCRIPTION)).unwrap_or_default();
    let end = head.rfind(". ").map(|end| end + 1).or_else(|| head.rfind(' ')).unwrap_or(head.len());
    head.get(..end).unwrap_or(head).trim_end().to_owned()
}

/// Whether the version is `MAJOR.MINOR.PATCH`, with an optional suffix.
pub(crate) fn is_semver(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<&str> = core.split('.').collect();
    let number = |text: &&str| {
        !text.is_empty()
            && text.len() < 10
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text.len() == 1 || !text.starts_with('0'))
    };
    let suffix = version.get(core.len()..).unwrap_or_default();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
    // Suffixes with empty identifiers or leading zeros are refused, even where semver would allow them.
    numbers.len() == 3
        && numbers.iter().all(number)
        && suffix.bytes().all(legal)
        && suffix
            .split(['.', '-', '+'])
            .skip(1)
            .all(|part| !part.is_empty() && (part.len() == 1 || !part.starts_with('0')))
}
