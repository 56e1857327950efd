//! Shows a TOML text without the values of other programs.

use super::parse;
use crate::clients::edit::{TextEdit, apply};
use crate::clients::jsonc::strip_bom;
use std::ops::Range;
use toml_edit::{Item, Table, Value as TomlValue};

/// Returns the text for display: all values and comments are masked, except the values of `keys` in the table at `path`.
pub(crate) fn mask_values(text: &str, path: &[&str], keys: &[&str]) -> String {
    let Ok(document) = parse(text) else { return String::new() };
    let mut mask = TomlMask { keys, shown: Vec::new(), masked: Vec::new() };
    mask.table(document.as_table(), Some(path));
    let TomlMask { mut shown, masked, .. } = mask;
    shown.extend(masked.iter().map(|edit| edit.range.clone()));
    shown.sort_by_key(|range| range.start);
    let comments = comments(strip_bom(text), &shown);
    apply(text, masked.into_iter().chain(comments).collect())
}

/// Returns the comments outside keys and values. Text that only may be a comment counts as one.
fn comments(text: &str, others: &[Range<usize>]) -> Vec<TextEdit> {
    let mut found = Vec::new();
    let mut at = 0;
    let end = text.len()..text.len();
    for other in others.iter().chain([&end]) {
        let gap = text.get(at..other.start).unwrap_or_default();
        let mut offset = 0;
        for line in gap.split_inclusive('\n') {
            let comment = line.find('#').map(|hash| hash..line.trim_end_matches(['\r', '\n']).len());
            found.extend(comment.map(|range| TextEdit {
                range: at + offset + range.start..at + offset + range.end,
                text: "# …".into(),
            }));
            offset += line.len();
        }
        at = at.max(other.end);
    }
    found
}

struct TomlMask<'k> {
    keys: &'k [&'k str],
    /// Keys, and values that are shown.
    shown: Vec<Range<usize>>,
    masked: Vec<TextEdit>,
}

impl TomlMask<'_> {
    /// Masks a table; `path` is the remaining path to the table that may be shown, or `None` outside of it.
    fn table(&mut self, table: &Table, path: Option<&[&str]>) {
        for (key, item) in table.iter() {
            self.shown.extend(table.key(key).and_then(toml_edit::Key::span));
            let inner = self.below(path, key);
            match item {
                Item::None => {}
                Item::Value(value) => self.value(value, inner),
                Item::Table(table) => self.table(table, inner.path()),
                Item::ArrayOfTables(tables) => tables.iter().for_each(|table| self.table(table, None)),
            }
        }
    }

    fn value(&mut self, value: &TomlValue, visibility: Visibility<'_>) {
        match value {
            TomlValue::Array(items) => {
                let of_items = if matches!(visibility, Visibility::Shown) {
                    Visibility::Shown
                } else {
                    Visibility::Masked
                };
                items.iter().for_each(|item| self.value(item, of_items));
            }
            _ if matches!(visibility, Visibility::Shown) => self.shown.extend(value.span()),
            TomlValue::InlineTable(table) => {
                for (key, value) in table.iter() {
                    self.shown.extend(table.key(key).and_then(toml_edit::Key::span));
                    self.value(value, self.below(visibility.path(), key));
                }
            }
            scalar => {
                let text = if scalar.is_str() { "\"…\"" } else { "…" };
                self.masked.extend(scalar.span().map(|range| TextEdit { range, text: text.to_owned() }));
            }
        }
    }

    fn below<'p>(&self, path: Option<&'p [&'p str]>, key: &str) -> Visibility<'p> {
        match path {
            Some([]) if self.keys.contains(&key) => Visibility::Shown,
            Some([next, rest @ ..]) if *next == key => Visibility::Below(rest),
            _ => Visibility::Masked,
        }
    }
}

/// Whether a value is shown.
#[derive(Clone, Copy)]
enum Visibility<'p> {
    Shown,
    /// Only the value at this path below it may be shown.
    Below(&'p [&'p str]),
    Masked,
}

impl<'p> Visibility<'p> {
    fn path(self) -> Option<&'p [&'p str]> {
        match self {
            Visibility::Below(path) => Some(path),
            Visibility::Shown | Visibility::Masked => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_of_our_own_entry_are_shown() {
        let text = "a = 'hunter2' # hunter2\n\"#k\" = [1, '#hunter2', {z = \"hunter2\"}]\n[mcp_servers.mcpaql]\ncommand = 'x#y'\nargs = ['a', # hunter2\n]\nenv = { S = 'hunter2' }\n[mcp_servers.b]\ncommand = '''\nhunter2'''\n#hunter2";
        let shown = mask_values(text, &["mcp_servers", "mcpaql"], &["command", "args"]);
        assert_eq!(
            shown,
            "a = \"…\" # …\n\"#k\" = […, \"…\", {z = \"…\"}]\n[mcp_servers.mcpaql]\ncommand = 'x#y'\nargs = ['a', # …\n]\nenv = { S = \"…\" }\n[mcp_servers.b]\ncommand = \"…\"\n# …"
        );
    }
}
