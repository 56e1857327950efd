//! NAME-020.

use super::spelling::{clipped, named};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{Surface, Tool};

/// Fewer names are no custom.
const FEWEST: usize = 4;

rule! {
    /// A name is spelled in another style than the other names of the server.
    ///
    /// ## What it does
    ///
    /// Where more than two thirds of a server's names of several words have one style (`get_note`, `get-note`, `getNote`, `GetNote` or `notes.get`),
    /// looks for names in another one.
    ///
    /// ## Why it matters
    ///
    /// A model that has seen ten names in one style writes the eleventh in it, and calls a tool that does not exist.
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
enum Style {
    Snake,
    Kebab,
    Camel,
    Pascal,
    Dotted,
    Mixed,
}

impl Style {
    const ALL: [Style; 6] =
        [Style::Snake, Style::Kebab, Style::Camel, Style::Pascal, Style::Dotted, Style::Mixed];

    const fn as_str(self) -> &'static str {
        match self {
            Style::Snake => "snake_case",
            Style::Kebab => "kebab-case",
            Style::Camel => "camelCase",
            Style::Pascal => "PascalCase",
            Style::Dotted => "dotted",
            Style::Mixed => "of several styles",
        }
    }

    /// Of names of several words; one word has every style.
    fn of(name: &str) -> Option<Style> {
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
            (false, true, false, false) => Some(Style::Snake),
            (false, false, true, false) => Some(Style::Kebab),
            (false, false, false, true) if inner.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Some(Style::Pascal)
            }
            (false, false, false, true) => Some(Style::Camel),
            (true, _, _, _) => Some(Style::Dotted),
            _ => Some(Style::Mixed),
        }
    }
}

fn check(surface: &Surface<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let styled: Vec<(&Tool<'_>, Style)> =
        named(surface).filter_map(|tool| Some((tool, Style::of(tool.name)?))).collect();
    if styled.len() < FEWEST {
        return;
    }
    let count = |style: Style| styled.iter().filter(|(_, other)| *other == style).count();
    let Some(custom) = Style::ALL.into_iter().max_by_key(|style| count(*style)) else { return };
    if count(custom) * 3 <= styled.len() * 2 || custom == Style::Mixed {
        return;
    }
    for (tool, style) in styled.iter().filter(|(_, style)| *style != custom) {
        let message = format!(
            "The name '{}' is {}, and {} others of the server are {}",
            clipped(tool.name),
            style.as_str(),
            count(custom),
            custom.as_str()
        );
        findings.tool(tool, "/name", message);
    }
}
