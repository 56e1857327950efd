//! NAME-020.

use super::spelling::{clipped_name, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};

/// Minimum number of names with several words; fewer show no convention.
const MIN_NAMES: usize = 4;

rule! {
    /// Name uses a different style than the other names of the server.
    ///
    /// ## What it does
    ///
    /// Applies to servers with at least four names of several words, if more than two thirds of these have one style (`get_note`,
    /// `get-note`, `getNote`, `GetNote` or `notes.get`). Checks for names in another style.
    ///
    /// ## Why it matters
    ///
    /// A model that has seen ten names in one style writes the eleventh in the same style, and calls a tool that does not exist.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/4/name
    /// {"tools": [{"name": "get_note"}, {"name": "list_notes"}, {"name": "create_note"}, {"name": "update_note"}, {"name": "delete-note"}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "get_note"}, {"name": "list_notes"}, {"name": "create_note"}, {"name": "update_note"}, {"name": "delete_note"}]}
    /// ```
    "NAME-020" "mixed-styles" Advice Server(check)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameStyle {
    Snake,
    Kebab,
    Camel,
    Pascal,
    Dotted,
    Mixed,
}

impl NameStyle {
    const ALL: [NameStyle; 6] = [
        NameStyle::Snake,
        NameStyle::Kebab,
        NameStyle::Camel,
        NameStyle::Pascal,
        NameStyle::Dotted,
        NameStyle::Mixed,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            NameStyle::Snake => "snake_case",
            NameStyle::Kebab => "kebab-case",
            NameStyle::Camel => "camelCase",
            NameStyle::Pascal => "PascalCase",
            NameStyle::Dotted => "dotted",
            NameStyle::Mixed => "in mixed style",
        }
    }

    /// Returns the style of a name; `None` for a single word, which fits every style.
    fn of(name: &str) -> Option<NameStyle> {
        let inner = name.trim_matches(['_', '-', '.']);
        let has = |byte: u8| inner.as_bytes().contains(&byte);
        let lower = inner.bytes().any(|byte| byte.is_ascii_lowercase());
        let hump = lower
            && inner
                .bytes()
                .zip(inner.bytes().skip(1))
                .any(|(a, b)| (a.is_ascii_lowercase() || a.is_ascii_digit()) && b.is_ascii_uppercase());
        match (has(b'.'), has(b'_'), has(b'-'), hump) {
            (false, false, false, false) => None,
            (false, true, false, false) => Some(NameStyle::Snake),
            (false, false, true, false) => Some(NameStyle::Kebab),
            (false, false, false, true) if inner.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Some(NameStyle::Pascal)
            }
            (false, false, false, true) => Some(NameStyle::Camel),
            (true, _, _, _) => Some(NameStyle::Dotted),
            _ => Some(NameStyle::Mixed),
        }
    }
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let styled: Vec<(&ParsedTool<'_>, NameStyle)> =
        named_tools(server).filter_map(|tool| Some((tool, NameStyle::of(tool.name)?))).collect();
    if styled.len() < MIN_NAMES {
        return;
    }
    let count = |style: NameStyle| styled.iter().filter(|(_, other)| *other == style).count();
    let Some(prevailing) = NameStyle::ALL.into_iter().max_by_key(|style| count(*style)) else { return };
    if count(prevailing) * 3 <= styled.len() * 2 || prevailing == NameStyle::Mixed {
        return;
    }
    for (tool, style) in styled.iter().filter(|(_, style)| *style != prevailing) {
        let message = format!(
            "The name '{}' is {}, but {} other names of the server are {}",
            clipped_name(tool.name),
            style.as_str(),
            count(prevailing),
            prevailing.as_str()
        );
        findings.tool(tool, "/name", message);
    }
}
