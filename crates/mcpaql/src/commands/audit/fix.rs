//! `mcpaql audit --fix`: writes safe corrections, into the document itself or as overrides for an import.
//!
//! What always holds: nothing that people wrote is lost; a document without errors stays without errors; only corrections that a rule
//! calls safe are made.

mod overrides;

use super::sources::Sources;
use super::write_and_report;
use crate::file;
use crate::output::error_with_hint;
use crate::{args, diff, output};
use anyhow::Result;
use mcpaql_audit::{Finding, Fix, ToolsOrigin};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::facts::Effect;
use mcpaql_core::policy::{Hint, HintOverrides};
use mcpaql_document::check::check;
use mcpaql_document::source::{MemberEdit, Source, members};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The corrections of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
struct ToolCorrection {
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    effect: Option<Effect>,
    hints: HintOverrides,
}

impl ToolCorrection {
    /// Adds a correction. The first value of each property wins.
    fn add(&mut self, fix: &Fix) {
        match fix {
            Fix::Name(name) => self.name.get_or_insert_with(|| name.clone()).len(),
            Fix::Title(title) => self.title.get_or_insert_with(|| title.clone()).len(),
            Fix::Description(text) => self.description.get_or_insert_with(|| text.clone()).len(),
            Fix::Effect(effect) => self.effect.get_or_insert(*effect).as_str().len(),
            Fix::Hints(hints) => {
                self.hints = self.hints.with_fallback(*hints);
                0
            }
        };
    }

    fn is_empty(&self) -> bool {
        *self == ToolCorrection::default()
    }

    /// Returns the members to write into documents and overrides, except hints.
    fn members(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        let all = [
            ("name", text(&self.name)),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("effect", self.effect.map(|effect| effect.as_str().into())),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    fn annotations(&self) -> Map<String, Value> {
        let set = Hint::ALL.into_iter().filter_map(|hint| Some((hint, self.hints.get(hint)?)));
        set.map(|(hint, value)| (hint.key().to_owned(), value.into())).collect()
    }

    /// Applies the corrections to a tool.
    fn apply(&self, tool: &mut Value) {
        let Some(tool) = tool.as_object_mut() else { return };
        for (key, value) in self.members() {
            if key != "effect" {
                tool.insert(key.to_owned(), value);
            }
        }
        let mut annotations = self.annotations();
        annotations.extend(self.title.as_ref().map(|title| ("title".to_owned(), title.clone().into())));
        if annotations.is_empty() {
            return;
        }
        match tool.entry("annotations").or_insert_with(|| json!({})) {
            Value::Object(own) => own.extend(annotations),
            other => *other = Value::Object(annotations),
        }
    }
}

/// Corrections by server, then by tool.
type Corrections = BTreeMap<usize, BTreeMap<usize, ToolCorrection>>;

/// Writes all safe corrections and updates `sources` accordingly.
pub(super) fn fix(args: &args::AuditArgs, sources: &mut Sources, findings: &[Finding]) -> Result<()> {
    let corrections = collect_corrections(sources, findings);
    let is_document =
        |index: &usize| matches!(sources.origins.get(*index), Some(ToolsOrigin::Document { .. }));
    let (inside, outside): (Vec<usize>, Vec<usize>) = corrections.keys().copied().partition(is_document);
    check_output(args, sources)?;
    check_replaced(args, sources)?;
    let mut corrected = 0;
    let foreign =
        sources.origins.iter().filter(|origin| !matches!(origin, ToolsOrigin::Document { .. })).count();
    // The user may pass the file of -o to an import next, so write it even without corrections.
    let only = sources.origins.len() == 1 && foreign == 1 && args.output.is_some();
    match if outside.is_empty() && only { &[0] } else { outside.as_slice() } {
        [] => {}
        // Overrides do not name their server, so one file is for one server.
        [server] if foreign == 1 && (args.config.is_none() || sources.failed.is_empty()) => {
            let Some(path) = &args.output else {
                return Err(error_with_hint(
                    "--fix needs -o FILE to write the overrides of a server",
                    "pass -o overrides.yaml, then import the server with `mcpaql import mcp --overrides overrides.yaml`",
                ));
            };
            overrides::write(path, args.dry_run, sources, *server, &corrections)?;
            if inside.is_empty() {
                return Ok(());
            }
        }
        _ => {
            return Err(error_with_hint(
                "--fix corrects one server at a time",
                "audit each server separately",
            ));
        }
    }
    for (server, tools) in corrections.iter().filter(|(index, _)| inside.contains(index)) {
        corrected += document(args, sources, *server, tools)?;
    }
    if corrected == 0 {
        output::status_line("No safe corrections found");
    }
    Ok(())
}

/// Collects the safe corrections of the findings, by tool. Tools with the same name are skipped.
fn collect_corrections(sources: &Sources, findings: &[Finding]) -> Corrections {
    let mut corrections = Corrections::new();
    for finding in findings {
        let (Some(fix), Some(tool)) = (&finding.fix, finding.place.tool) else { continue };
        let of_server = corrections.entry(finding.place.server).or_default();
        of_server.entry(tool).or_default().add(fix);
    }
    for (server, tools) in &mut corrections {
        let Some(server) = sources.servers.get(*server) else { continue };
        let names: Vec<&str> = server.tools.iter().map(name).collect();
        let mut taken: HashSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        tools.retain(|tool, correction| {
            let own = names.get(*tool).copied().unwrap_or_default();
            correction.name = correction.name.take().filter(|name| taken.insert(name.clone()));
            let same = names.iter().filter(|name| **name == own).count();
            !own.is_empty() && same == 1 && !correction.is_empty()
        });
    }
    corrections.retain(|_, tools| !tools.is_empty());
    corrections
}

fn name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Refuses `-o` for several sources if one of them is a document.
fn check_output(args: &args::AuditArgs, sources: &Sources) -> Result<()> {
    let has_document = sources.origins.iter().any(|origin| matches!(origin, ToolsOrigin::Document { .. }));
    let is_one = sources.origins.len() == 1 && sources.failed.iter().all(|failed| failed.in_part);
    if args.output.is_none() || !has_document || is_one {
        return Ok(());
    }
    Err(error_with_hint(
        "--fix can write only one document to the file of -o",
        "audit each document separately, or leave -o out to correct them in place",
    ))
}

/// Refuses to overwrite any file except the document itself with the corrected document.
fn check_replaced(args: &args::AuditArgs, sources: &Sources) -> Result<()> {
    let (Some(path), [ToolsOrigin::Document { source, .. }]) = (&args.output, sources.origins.as_slice())
    else {
        return Ok(());
    };
    if args.dry_run || !file::would_replace(path) || file::is_same_file(path, Path::new(&source.name)) {
        return Ok(());
    }
    Err(error_with_hint(
        format!("{} already exists and is not the document to correct", path.display()),
        "choose another file, or remove it first",
    ))
}

/// Corrects the text of an adapter document, in place or in another file, and replaces the server by the one of the new text.
fn document(
    args: &args::AuditArgs,
    sources: &mut Sources,
    server: usize,
    tools: &BTreeMap<usize, ToolCorrection>,
) -> Result<usize> {
    let (Some(audited), Some(ToolsOrigin::Document { source, operations })) =
        (sources.servers.get(server), sources.origins.get(server))
    else {
        return Ok(0);
    };
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(&source.name));
    let Ok(parsed) = source.parse() else { return Ok(0) };
    let mut edits = Vec::new();
    let mut owners = Vec::new();
    for (index, correction) in tools {
        let tool = audited.tools.get(*index).map(name).unwrap_or_default();
        if let Some(parent) = operations.get(tool) {
            edits.extend(changes(&parsed.value, parent, correction));
        }
        owners.resize(edits.len(), *index);
    }
    let (text, refused) = source.apply_edits(&edits);
    let uncorrected: HashSet<usize> = refused.iter().filter_map(|edit| owners.get(*edit).copied()).collect();
    for tool in &uncorrected {
        let tool = audited.tools.get(*tool).map(name).unwrap_or_default();
        output::status_line(&format!("Correct {tool} by hand: its text cannot be edited automatically"));
    }
    if text == source.text {
        return Ok(0);
    }
    if args.output.is_none() && !path.is_file() {
        return Err(error_with_hint(
            format!("{} is not a file, so it cannot be corrected in place", source.name),
            "pass a file with -o",
        ));
    }
    let errors = |source: &Source| check(source, &AdapterSettings::default()).errors();
    let new = Source::new(path.display().to_string(), text);
    let recompiled = sources.recompile(server, new.clone()).filter(|_| errors(&new) <= errors(source));
    let Some((corrected, origin)) = recompiled else {
        output::status_line(&format!("{} was not written: the correction would cause errors", new.name));
        return Ok(0);
    };
    write_or_show_diff(&path, &source.text, &new.text, args.dry_run)?;
    if let (Some(server), Some(old)) = (sources.servers.get_mut(server), sources.origins.get_mut(server)) {
        (*server, *old) = (corrected, origin);
    }
    let done: HashSet<usize> = owners.into_iter().filter(|owner| !uncorrected.contains(owner)).collect();
    Ok(done.len())
}

/// Returns the edits for the corrections that an operation does not have yet.
fn changes(document: &Value, parent: &str, correction: &ToolCorrection) -> Vec<MemberEdit> {
    let Some(own) = document.pointer(parent) else { return Vec::new() };
    let members_of = correction.members().into_iter().filter(|(key, value)| {
        // A new name changes the interface, which is for the author to decide. The section decides the effect.
        !["name", "effect"].contains(key) && own.get(key) != Some(value)
    });
    let edit =
        |(key, value): (&str, Value)| MemberEdit { parent: parent.to_owned(), key: key.to_owned(), value };
    let mut edits: Vec<MemberEdit> = members_of.map(edit).collect();
    let mut annotations = correction.annotations();
    annotations.retain(|hint, value| own.get("annotations").and_then(|own| own.get(hint)) != Some(value));
    if !annotations.is_empty() {
        edits.extend(members(document, parent, "annotations", annotations));
    }
    edits
}

/// Writes a file, or prints the diff for `--dry-run`.
fn write_or_show_diff(path: &Path, old: &str, new: &str, dry_run: bool) -> Result<()> {
    if dry_run {
        let shown = output::sanitize_line(&path.display().to_string());
        output::status_lines(&format!("--- {shown}\n+++ {shown}\n{}", diff::hunks(old, new)));
        output::status_line("Dry run: nothing was written");
        return Ok(());
    }
    write_and_report(path, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_correction_wins() {
        let mut correction = ToolCorrection::default();
        let hints =
            |read_only, destructive| HintOverrides { read_only, destructive, ..HintOverrides::default() };
        correction.add(&Fix::Title("A".into()));
        correction.add(&Fix::Title("B".into()));
        correction.add(&Fix::Hints(hints(Some(false), None)));
        correction.add(&Fix::Hints(hints(Some(true), Some(true))));
        let mut tool = json!({"name": "x", "annotations": {"openWorldHint": false}});
        correction.apply(&mut tool);
        let annotations =
            json!({"openWorldHint": false, "readOnlyHint": false, "destructiveHint": true, "title": "A"});
        assert_eq!(tool, json!({"name": "x", "title": "A", "annotations": annotations}));
    }
}
