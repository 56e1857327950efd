//! Changes one entry of a TOML text. A new entry becomes a table at the end of the text.

use super::{item_to_json, parse, to_json};
use crate::clients::edit::{EditError, TextEdit, apply};
use crate::clients::jsonc::strip_bom;
use serde_json::{Map, Value};
use std::ops::Range;
use toml_edit::{Document, InlineTable, Item, Key, Table, Value as TomlValue};

/// Returns the text with `value` at this path of keys. Missing tables are created.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let document = parse(text).map_err(EditError::Invalid)?;
    let mut expected = to_json(&document);
    set_json(&mut expected, path, value);
    let layout = TomlLayout::of(strip_bom(text));
    let candidates = layout.set(&document, path, value)?;
    let mut edited = candidates.into_iter().map(|edits| apply(text, edits));
    edited.find(|new| is_parsed_as(new, &expected)).ok_or_else(|| impossible(path))
}

/// Returns the text without the entry at this path of keys, or the same text if there is no such entry.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, EditError> {
    let document = parse(text).map_err(EditError::Invalid)?;
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let parent = above.iter().try_fold(document.as_item(), |item, key| item.get(key));
    let Some((parent, target)) = parent.and_then(|parent| Some((parent, parent.get(last)?))) else {
        return Ok(text.to_owned());
    };
    let mut expected = to_json(&document);
    let pointer: String =
        above.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect();
    if let Some(object) = expected.pointer_mut(&pointer).and_then(Value::as_object_mut) {
        object.shift_remove(*last);
    }
    let layout = TomlLayout::of(strip_bom(text));
    let ranges = match parent {
        Item::Value(TomlValue::InlineTable(table)) => layout.inline_member(table, last).into_iter().collect(),
        _ => layout.blocks(target),
    };
    let edits = ranges.into_iter().map(|range| TextEdit { range, text: String::new() }).collect();
    let new = apply(text, edits);
    // A table that only existed because of the entry is gone with it.
    let without_empty = |mut value: Value| {
        prune(&mut value, above);
        value
    };
    match parse(&new).map(|document| to_json(&document)) {
        Ok(found) if without_empty(found.clone()) == without_empty(expected) => Ok(new),
        _ => Err(impossible(path)),
    }
}

fn impossible(path: &[&str]) -> EditError {
    EditError::Invalid(format!(
        "`{}` is written in a form that cannot be changed automatically",
        path.join(".")
    ))
}

fn is_parsed_as(text: &str, expected: &Value) -> bool {
    parse(text).is_ok_and(|document| to_json(&document) == *expected)
}

fn set_json(target: &mut Value, path: &[&str], value: &Value) {
    let Some((key, rest)) = path.split_first() else {
        *target = value.clone();
        return;
    };
    if let Value::Object(map) = target {
        set_json(map.entry(*key).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
}

/// Removes empty objects along a path, from the innermost one.
fn prune(value: &mut Value, path: &[&str]) {
    if let (Some((key, rest)), Value::Object(map)) = (path.split_first(), value) {
        if let Some(inner) = map.get_mut(*key) {
            prune(inner, rest);
        }
        if map.get(*key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            map.shift_remove(*key);
        }
    }
}

/// The layout of a text.
struct TomlLayout<'t> {
    text: &'t str,
    line_end: &'static str,
}

impl<'t> TomlLayout<'t> {
    fn of(text: &'t str) -> TomlLayout<'t> {
        TomlLayout { text, line_end: if text.contains("\r\n") { "\r\n" } else { "\n" } }
    }

    /// Returns the possible edits that set a value, in order of preference.
    fn set(
        &self,
        document: &Document<&str>,
        path: &[&str],
        value: &Value,
    ) -> Result<Vec<Vec<TextEdit>>, EditError> {
        let mut items = vec![document.as_item()];
        for (depth, key) in path.iter().enumerate() {
            let item = items.last().copied().unwrap_or(document.as_item());
            if item.as_table_like().is_none() {
                return Err(EditError::NotATable(path.get(..depth).unwrap_or(path).join(".")));
            }
            let Some(next) = item.get(key) else { return Ok(self.insert(&items, path, value)) };
            items.push(next);
        }
        let Some(item) = items.last() else { return Ok(Vec::new()) };
        if item_to_json(item) == *value {
            return Ok(vec![Vec::new()]);
        }
        let span = item.as_value().and_then(TomlValue::span);
        Ok(span.into_iter().map(|range| vec![TextEdit { range, text: inline(value) }]).collect())
    }

    /// Returns the possible edits that insert a value into the last of these nested items; each key of `path` leads to the next item.
    fn insert(&self, items: &[&Item], path: &[&str], value: &Value) -> Vec<Vec<TextEdit>> {
        let depth = items.len() - 1;
        let (Some(parent), Some(missing)) = (items.last(), path.get(depth + 1..)) else { return Vec::new() };
        let nested = missing
            .iter()
            .rev()
            .fold(value.clone(), |value, key| Value::Object(Map::from_iter([((*key).to_owned(), value)])));
        let mut candidates = Vec::new();
        if let (Value::Object(members), Item::Table(_)) = (value, parent) {
            candidates.push(vec![self.new_table(path, members)]);
        }
        // The nearest item that can hold a line: a table with a header, the root, or an inline table.
        let is_container = |item: &&Item| match item {
            Item::Table(table) => !table.is_dotted() && !table.is_implicit(),
            _ => true,
        };
        let container = items.iter().rposition(is_container).unwrap_or(0);
        let keys = path.get(container..=depth).unwrap_or_default();
        let assignment = format!("{} = {}", dotted_key(keys), inline(&nested));
        let edit = match items.get(container) {
            Some(Item::Value(TomlValue::InlineTable(table))) => self.insert_inline(table, &assignment),
            Some(Item::Table(table)) => {
                let dotted = parent.as_table().filter(|parent| parent.is_dotted()).and_then(own_end);
                let header = table.span().map(|span| span.end).filter(|_| container > 0);
                dotted.or_else(|| own_end(table)).or(header).map(|at| self.line_after(at, &assignment))
            }
            _ => None,
        };
        candidates.extend(edit.map(|edit| vec![edit]));
        candidates
    }

    /// Returns the edit that appends a table. [`blocks`](Self::blocks) removes exactly this text.
    fn new_table(&self, path: &[&str], members: &Map<String, Value>) -> TextEdit {
        let lines = members.iter().map(|(key, value)| format!("{} = {}", dotted_key(&[key]), inline(value)));
        let lines: Vec<String> = std::iter::once(format!("[{}]", dotted_key(path))).chain(lines).collect();
        let (block, end) = (lines.join(self.line_end), self.line_end);
        let text = match self.text {
            "" => format!("{block}{end}"),
            text if text.ends_with('\n') => format!("{end}{block}{end}"),
            _ => format!("{end}{end}{block}"),
        };
        TextEdit { range: self.text.len()..self.text.len(), text }
    }

    fn insert_inline(&self, table: &InlineTable, assignment: &str) -> Option<TextEdit> {
        let open = table.span()?.start + 1;
        let last = table.iter().filter_map(|(_, value)| value_end(value)).max();
        Some(match last {
            Some(at) => TextEdit { range: at..at, text: format!(", {assignment}") },
            None => TextEdit { range: open..open, text: format!(" {assignment}") },
        })
    }

    /// Inserts a line after the line at a position, with the same indentation.
    fn line_after(&self, at: usize, line: &str) -> TextEdit {
        let begin = self.line_start(at);
        let whole = self.text.get(begin..).unwrap_or_default();
        let indent =
            whole.get(..whole.len() - whole.trim_start_matches([' ', '\t']).len()).unwrap_or_default();
        let end = self.line_end;
        match self.text.get(at..).and_then(|rest| rest.find('\n')) {
            Some(length) => {
                let next = at + length + 1;
                TextEdit { range: next..next, text: format!("{indent}{line}{end}") }
            }
            None => {
                TextEdit { range: self.text.len()..self.text.len(), text: format!("{end}{indent}{line}") }
            }
        }
    }

    fn line_start(&self, at: usize) -> usize {
        self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
    }

    /// Returns the end of the line at a position, with its line end.
    fn line_stop(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |length| at + length + 1)
    }

    /// Returns the range of a member of an inline table, with the comma that would be left over.
    fn inline_member(&self, table: &InlineTable, name: &str) -> Option<Range<usize>> {
        let mut members: Vec<(&str, usize, usize)> = table
            .iter()
            .filter_map(|(key, value)| Some((key, table.key(key)?.span()?.start, value_end(value)?)))
            .collect();
        members.sort_by_key(|(_, start, _)| *start);
        let index = members.iter().position(|(key, ..)| *key == name)?;
        let (_, start, end) = members.get(index)?;
        let before = index.checked_sub(1).and_then(|index| members.get(index));
        Some(match (before, members.get(index + 1)) {
            (Some((.., previous)), _) => *previous..*end,
            (None, Some((_, next, _))) => *start..*next,
            (None, None) => {
                let rest = self.text.get(*end..).unwrap_or_default();
                let comma = rest.trim_start().starts_with(',').then(|| rest.find(',')).flatten();
                table.span()?.start + 1..comma.map_or(*end, |comma| end + comma + 1)
            }
        })
    }

    /// Returns the lines of an entry: its tables, each with the empty line before it, and its lines in other tables.
    fn blocks(&self, item: &Item) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.collect_blocks(item, &mut found);
        found.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        if let Some(last) = merged.last_mut().filter(|last| last.end == self.text.len())
            && !self.text.ends_with('\n')
        {
            let before = self.text.get(..last.start).unwrap_or_default();
            let without_end = before.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
            last.start = without_end.unwrap_or(before).len();
        }
        merged
    }

    fn collect_blocks(&self, item: &Item, out: &mut Vec<Range<usize>>) {
        match item {
            Item::None => {}
            Item::Value(value) => out.extend(
                value_lines(value).map(|range| self.line_start(range.start)..self.line_stop(range.end)),
            ),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| self.collect_table(table, out)),
            Item::Table(table) => self.collect_table(table, out),
        }
    }

    fn collect_table(&self, table: &Table, out: &mut Vec<Range<usize>>) {
        let has_header = !table.is_implicit() && !table.is_dotted();
        if let Some(header) = table.span().filter(|_| has_header) {
            let end = own_end(table).unwrap_or(header.end).max(header.end);
            out.push(self.start_with_empty_line(header.start)..self.line_stop(end));
        }
        for (_, inner) in table.iter() {
            let is_own = match inner {
                Item::Value(_) => true,
                Item::Table(inner) => inner.is_dotted(),
                _ => false,
            };
            if !(has_header && is_own) {
                self.collect_blocks(inner, out);
            }
        }
    }

    /// Returns the start of the line at a position, or of the line before it if that one is empty.
    fn start_with_empty_line(&self, at: usize) -> usize {
        let start = self.line_start(at);
        let before = self.text.get(..start).unwrap_or_default();
        let above = before.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        above.filter(|above| above.is_empty() || above.ends_with('\n')).map_or(start, str::len)
    }
}

fn value_end(value: &TomlValue) -> Option<usize> {
    value_lines(value).map(|range| range.end).max()
}

/// Returns the ranges of the values that an assignment defines: one, or those of dotted keys.
fn value_lines(value: &TomlValue) -> impl Iterator<Item = Range<usize>> {
    let mut ranges = Vec::new();
    match value {
        TomlValue::InlineTable(table) if table.is_dotted() => {
            table.iter().for_each(|(_, value)| ranges.extend(value_lines(value)));
        }
        value => ranges.extend(value.span()),
    }
    ranges.into_iter()
}

/// Returns the end of the last value among the lines of a table.
fn own_end(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value_end(value),
        Item::Table(inner) if inner.is_dotted() => own_end(inner),
        _ => None,
    });
    ends.max()
}

fn dotted_key<K: AsRef<str>>(keys: &[K]) -> String {
    keys.iter().map(|key| Key::new(key.as_ref()).to_string()).collect::<Vec<_>>().join(".")
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".into(),
        Value::Object(map) => {
            let members =
                map.iter().map(|(key, value)| format!("{} = {}", dotted_key(&[key]), inline(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::String(text) => TomlValue::from(text.as_str()).to_string(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PATH: &[&str] = &["mcp_servers", "mcpaql"];

    fn entry() -> Value {
        json!({"command": "/bin/mcpaql", "args": ["serve", "a \"b\""], "env": {"A": "x"}})
    }

    /// Texts of every layout people have.
    const TEXTS: &[&str] = &[
        "",
        "\n",
        "# mine",
        "model = \"x\"  # fast\n\n[mcp_servers.git]\ncommand = 'npx'\n",
        "model = \"x\"\r\n[mcp_servers.git]\r\ncommand = 'npx' # last",
        "[mcp_servers]\n  git = { command = \"npx\", args = [ 'a' , ] }\n\n[tui]\ntheme = 1\n",
        "mcp_servers = { git = { command = \"npx\" } }\n[tui]\n",
        "mcp_servers = {}\n",
        "mcp_servers = { }\n",
        "mcp_servers.git.command = \"npx\"\n",
        "[mcp_servers]\ngit.command = \"npx\"",
        "\u{feff}[mcp_servers.git.env]\nT = '''\n[mcp_servers.mcpaql]\n'''\n\n\n",
    ];

    #[test]
    fn an_entry_is_added_and_removed_and_nothing_else_changes() {
        for text in TEXTS {
            let new = set(text, PATH, &entry()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let kept: String = text.trim_end_matches(['}', ' ', '\n']).to_owned();
            assert!(new.starts_with(kept.split(" } }").next().unwrap()), "{text:?}\n{new}");
            assert_eq!(set(&new, PATH, &entry()).unwrap(), new);
            assert_eq!(remove(&new, PATH).unwrap(), *text, "{new}");
            assert_eq!(remove(text, PATH).unwrap(), *text);
            assert_eq!(new.replace("\r\n", "").contains('\n'), !text.contains('\r'), "{new:?}");
        }
    }

    #[test]
    fn a_new_entry_is_a_table_of_its_own() {
        let new = set("model = 1\n", PATH, &entry()).unwrap();
        assert_eq!(
            new,
            "model = 1\n\n[mcp_servers.mcpaql]\ncommand = \"/bin/mcpaql\"\nargs = [\"serve\", 'a \"b\"']\nenv = { A = \"x\" }\n"
        );
        let quoted = set("", &["mcp_servers", "a b.c"], &json!({"command": "x"})).unwrap();
        assert!(quoted.starts_with("[mcp_servers.\"a b.c\"]\n"), "{quoted}");
    }

    #[test]
    fn one_key_of_an_entry_is_changed_in_place() {
        let args = json!(["serve", "new"]);
        for (text, expected) in [
            (
                "[mcp_servers.mcpaql] # mine\n  command = 'a' # b\n  args = [\n 'serve', # c\n]\nenv.T = 'x'\n[z]\n",
                "[mcp_servers.mcpaql] # mine\n  command = 'a' # b\n  args = [\"serve\", \"new\"]\nenv.T = 'x'\n[z]\n",
            ),
            (
                "[mcp_servers.mcpaql]\n\tcommand = 'a' # b\n\n[z]\n",
                "[mcp_servers.mcpaql]\n\tcommand = 'a' # b\n\targs = [\"serve\", \"new\"]\n\n[z]\n",
            ),
            (
                "[mcp_servers]\nmcpaql = { command = 'a' }\n",
                "[mcp_servers]\nmcpaql = { command = 'a', args = [\"serve\", \"new\"] }\n",
            ),
            (
                "[mcp_servers]\nmcpaql.command = 'a'\nz.command = 'b'\n",
                "[mcp_servers]\nmcpaql.command = 'a'\nmcpaql.args = [\"serve\", \"new\"]\nz.command = 'b'\n",
            ),
        ] {
            assert_eq!(set(text, &["mcp_servers", "mcpaql", "args"], &args).unwrap(), expected);
        }
    }

    #[test]
    fn variables_go_where_the_others_are() {
        for (text, expected) in [
            (
                "[mcp_servers.mcpaql]\ncommand = 'a'\n",
                "[mcp_servers.mcpaql]\ncommand = 'a'\nenv = { T = \"x\" }\n",
            ),
            (
                "[mcp_servers.mcpaql.env]\nA = 'a'\n\n[z]\n",
                "[mcp_servers.mcpaql.env]\nA = 'a'\nT = \"x\"\n\n[z]\n",
            ),
            ("[mcp_servers.mcpaql.env]", "[mcp_servers.mcpaql.env]\nT = \"x\""),
            ("[mcp_servers.mcpaql]\nenv = {A = 'a'}\n", "[mcp_servers.mcpaql]\nenv = {A = 'a', T = \"x\"}\n"),
            ("[mcp_servers.mcpaql]\nenv.A = 'a'\n", "[mcp_servers.mcpaql]\nenv.A = 'a'\nenv.T = \"x\"\n"),
        ] {
            assert_eq!(set(text, &["mcp_servers", "mcpaql", "env", "T"], &json!("x")).unwrap(), expected);
        }
    }

    #[test]
    fn all_tables_of_an_entry_are_removed_and_comments_of_others_stay() {
        let text = "# a\n[mcp_servers.mcpaql] # x\ncommand = 'a'\n\n[mcp_servers.z]\ncommand = 'z'\n# of env\n[mcp_servers.mcpaql.env]\nA = 'a'\n# end\n";
        let expected = "# a\n\n[mcp_servers.z]\ncommand = 'z'\n# of env\n# end\n";
        assert_eq!(remove(text, PATH).unwrap(), expected);
        let text = "mcp_servers = { a = { command = 'x' }, mcpaql = { command = 'y' }, b = {} }\n";
        let expected = "mcp_servers = { a = { command = 'x' }, b = {} }\n";
        assert_eq!(remove(text, PATH).unwrap(), expected);
    }

    #[test]
    fn a_value_that_is_not_a_table_is_refused() {
        assert_eq!(set("mcp_servers = 1", PATH, &entry()), Err(EditError::NotATable("mcp_servers".into())));
        assert_eq!(set("[[mcp_servers]]", PATH, &entry()), Err(EditError::NotATable("mcp_servers".into())));
        assert!(matches!(set("mcp_servers = [", PATH, &entry()), Err(EditError::Invalid(_))));
    }
}
