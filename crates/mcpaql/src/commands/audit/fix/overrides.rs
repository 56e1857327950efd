//! Writes corrections as overrides for `mcpaql import mcp`: a new file, or additions to an existing one.

use super::{Corrections, ToolCorrection, name, write_or_show_diff as write_file};
use crate::commands::audit::sources::Sources;
use crate::file;
use crate::output;
use anyhow::{Result, bail};
use mcpaql_core::suggest::snake_case;
use mcpaql_document::overrides;
use mcpaql_document::source::{MemberEdit, Source, members, plain_key};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

const HEAD: &str = "# Corrections for `mcpaql import mcp --overrides`, created by `mcpaql audit --fix`.\n";

/// Writes the corrections of a server, and applies them to its tools in `sources`.
pub(super) fn write(
    path: &Path,
    dry_run: bool,
    sources: &mut Sources,
    server: usize,
    corrections: &Corrections,
) -> Result<()> {
    let tools = corrections.get(&server).into_iter().flatten();
    let Some(server) = sources.servers.get_mut(server) else { return Ok(()) };
    let importable: BTreeMap<usize, ToolCorrection> =
        tools.map(|(index, correction)| (*index, without_invalid_name(correction))).collect();
    let named = |index: &usize| server.tools.get(*index).map(name).unwrap_or_default();
    let pairs: Vec<(&str, &ToolCorrection)> =
        importable.iter().map(|(index, correction)| (named(index), correction)).collect();
    let old = if file::would_replace(path) { file::read_text(path)? } else { String::new() };
    let new = if old.trim().is_empty() { new_file(&pairs) } else { merged(path, &old, &pairs)? };
    let written = Source::new(path.display().to_string(), new);
    if let Err(diagnostics) = overrides::parse(&written) {
        output::print_diagnostics(&written, &diagnostics);
        bail!("{} was not written: the corrections would cause errors", written.name);
    }
    let is_unchanged = written.text == old;
    match (importable.is_empty(), is_unchanged) {
        (true, true) => {
            output::status_line(&format!("No safe corrections found; {} is unchanged", written.name));
        }
        (false, true) => output::status_line(&format!("{} already has all corrections", written.name)),
        // The user may pass the file to an import next, so it is written even without corrections.
        (true, false) => {
            if !dry_run {
                file::write(path, &written.text)?;
            }
            output::status_line("No safe corrections found; the overrides file has no entries");
        }
        (false, false) => write_file(path, &old, &written.text, dry_run)?,
    }
    for (index, correction) in &importable {
        if let Some(tool) = server.tools.get_mut(*index) {
            correction.apply(tool);
        }
    }
    Ok(())
}

/// Removes a name that is not valid for an operation.
fn without_invalid_name(correction: &ToolCorrection) -> ToolCorrection {
    let is_valid = |name: &String| {
        name.starts_with(|first: char| first.is_ascii_lowercase()) && snake_case(name) == *name
    };
    ToolCorrection { name: correction.name.clone().filter(is_valid), ..correction.clone() }
}

fn override_members(correction: &ToolCorrection) -> Map<String, Value> {
    let mut members: Map<String, Value> =
        correction.members().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let annotations = correction.annotations();
    if !annotations.is_empty() {
        members.insert("annotations".to_owned(), Value::Object(annotations));
    }
    members
}

/// Returns the text of a new file.
fn new_file(tools: &[(&str, &ToolCorrection)]) -> String {
    format!("{HEAD}{}", operations(tools))
}

fn operations(tools: &[(&str, &ToolCorrection)]) -> String {
    if tools.is_empty() {
        return "operations: {}\n".to_owned();
    }
    let mut text = String::from("operations:\n");
    for (tool, correction) in tools {
        text.push_str(&format!("  {}:\n", plain_key(tool)));
        for (key, value) in override_members(correction) {
            match value {
                Value::Object(hints) => {
                    text.push_str(&format!("    {key}:\n"));
                    for (hint, value) in hints {
                        text.push_str(&format!("      {hint}: {value}\n"));
                    }
                }
                value => text.push_str(&format!("    {key}: {value}\n")),
            }
        }
    }
    text
}

/// Returns the existing text with the missing corrections. Existing decisions stay.
fn merged(path: &Path, old: &str, tools: &[(&str, &ToolCorrection)]) -> Result<String> {
    let source = Source::new(path.display().to_string(), old);
    if let Err(diagnostics) = overrides::parse(&source) {
        output::print_diagnostics(&source, &diagnostics);
        bail!("{} exists, but is not a valid overrides file", source.name);
    }
    let document = source.parse().map(|parsed| parsed.value).unwrap_or_default();
    if tools.is_empty() {
        return Ok(old.to_owned());
    }
    let Some(known) = document.get("operations").and_then(Value::as_object) else {
        let gap = if old.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{old}{gap}{}", operations(tools)));
    };
    let mut edits = Vec::new();
    for (tool, correction) in tools {
        let imported = snake_case(tool);
        let key = [*tool, imported.as_str()].into_iter().find(|key| known.contains_key(*key));
        let members_of = override_members(correction);
        match key {
            None => {
                let value = Value::Object(members_of);
                edits.push(MemberEdit { parent: "/operations".into(), key: (*tool).to_owned(), value });
            }
            Some(key) => {
                let own = known.get(key).and_then(Value::as_object);
                let parent = format!("/operations/{}", key.replace('~', "~0").replace('/', "~1"));
                edits.extend(missing(&document, &parent, own, members_of));
            }
        }
    }
    let (text, refused) = source.apply_edits(&edits);
    for edit in refused.iter().filter_map(|index| edits.get(*index)) {
        output::status_line(&format!(
            "Add {} to {} by hand: the file cannot be edited automatically",
            edit.key, edit.parent
        ));
    }
    Ok(text)
}

/// Returns the edits for the members that are missing in an override.
fn missing(
    document: &Value,
    parent: &str,
    own: Option<&Map<String, Value>>,
    wanted: Map<String, Value>,
) -> Vec<MemberEdit> {
    let has = |key: &str| own.is_some_and(|own| own.contains_key(key));
    let mut edits = Vec::new();
    for (key, value) in wanted {
        match value {
            Value::Object(mut hints) => {
                let existing = own.and_then(|own| own.get(&key)?.as_object());
                hints.retain(|hint, _| existing.is_none_or(|existing| !existing.contains_key(hint)));
                if !hints.is_empty() {
                    edits.extend(members(document, parent, &key, hints));
                }
            }
            value if !has(&key) => edits.push(MemberEdit { parent: parent.to_owned(), key, value }),
            _ => {}
        }
    }
    edits
}
