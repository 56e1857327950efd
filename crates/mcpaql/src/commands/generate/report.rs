//! What is told: for people or for programs. Data goes to standard output, warnings and errors of people's reports to
//! standard error.

use super::config::Wanted;
use super::failure::{Detail, Failure};
use super::folder::{Change, Plan};
use crate::args::{self, OutputFormat};
use crate::output;
use mcpaql_core::diagnostic::render;
use mcpaql_generate::{Project, VERSION};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What came of a run.
pub(crate) struct Done<'a> {
    pub(crate) args: &'a args::Generate,
    pub(crate) wanted: &'a Wanted,
    pub(crate) plan: &'a Plan,
    pub(crate) fingerprint: String,
    /// What an import noticed; its summary names the first of it.
    pub(crate) noticed: Vec<Detail>,
    pub(crate) warnings: Vec<Detail>,
    /// What an import decided.
    pub(crate) summary: Option<String>,
    pub(crate) project: &'a Project<'a>,
    /// What would change, where somebody asked.
    pub(crate) diff: Option<String>,
}

impl Done<'_> {
    pub(crate) fn tell(&self) {
        match self.args.output_format {
            OutputFormat::Json => output::data(&format!("{:#}", self.to_json())),
            OutputFormat::Human => self.talk(),
        }
    }

    fn to_json(&self) -> Value {
        let is_file = |change: Change| !matches!(change, Change::Removed | Change::Left);
        let files: Vec<&str> = self
            .plan
            .steps
            .iter()
            .filter(|step| is_file(step.change))
            .map(|step| step.path.as_str())
            .collect();
        let mut value = json!({
            "success": true,
            "output_directory": self.wanted.output.display().to_string(),
            "files_generated": files,
            "provenance": {"schema_fingerprint": self.fingerprint, "generator_version": VERSION},
            "warnings": self.noticed.iter().chain(&self.warnings).map(Detail::to_json).collect::<Vec<_>>(),
            "changes": self.changes(),
            "written": !self.is_trial(),
        });
        if let (Some(diff), Some(members)) = (&self.diff, value.as_object_mut()) {
            members.insert("diff".to_owned(), diff.as_str().into());
        }
        value
    }

    /// What becomes of which files, but for those that stay as they are.
    fn changes(&self) -> Value {
        let of = |change: Change| -> Vec<&str> {
            self.plan
                .steps
                .iter()
                .filter(|step| step.change == change)
                .map(|step| step.path.as_str())
                .collect()
        };
        let told = [Change::Created, Change::Changed, Change::Removed, Change::Kept, Change::Left];
        told.into_iter().map(|change| (change.as_str().to_owned(), json!(of(change)))).collect()
    }

    fn is_trial(&self) -> bool {
        self.args.dry_run || self.args.diff
    }

    fn talk(&self) {
        if !self.args.quiet {
            self.summary.iter().for_each(|summary| output::talk(summary));
            if self.args.verbose {
                warn(&self.noticed, true);
            }
            warn(&self.warnings, self.args.verbose);
        }
        if let Some(diff) = &self.diff {
            if !diff.is_empty() {
                output::data(diff);
            }
            return;
        }
        if self.args.quiet {
            return;
        }
        let mut text = self.summary();
        if self.args.verbose || self.args.dry_run {
            for step in &self.plan.steps {
                let _ = write!(text, "\n  {:<9}  {}", step.change.as_str(), step.path);
                if self.args.verbose {
                    let _ = write!(text, "  ({})", step.change.reason());
                }
            }
        }
        let left = self.plan.steps.iter().filter(|step| step.change == Change::Left);
        for path in left.map(|step| &step.path) {
            let _ = match self.plan.abandoned.get(path) {
                Some(Some(successor)) => write!(
                    text,
                    "\nwhat you wrote stands in {path} and is not used any more: move it to {successor}"
                ),
                Some(None) => {
                    write!(text, "\n{path} is yours and is not used any more: remove it or keep it")
                }
                None => {
                    write!(text, "\n{path} is no longer generated, but was edited: remove it or keep it")
                }
            };
        }
        for path in &self.plan.outdated {
            let _ =
                write!(text, "\n{path} is yours and stays; generated anew, it would not be as it was then");
        }
        if !self.is_trial() {
            text.push_str("\n\n");
            text.push_str(&self.next_steps());
        }
        output::data(&output::visible(&text));
    }

    fn summary(&self) -> String {
        let language = self.wanted.options.language.name();
        let counts: Vec<String> =
            [Change::Created, Change::Changed, Change::Removed, Change::Unchanged, Change::Kept]
                .into_iter()
                .map(|change| (self.plan.count(change), change.as_str()))
                .filter(|(count, _)| *count > 0)
                .map(|(count, word)| format!("{count} {word}"))
                .collect();
        let verb = if self.is_trial() { "Would write" } else { "Wrote" };
        format!(
            "{verb} {} in {language} to {}: {}",
            self.project.package(),
            self.wanted.output.display(),
            counts.join(", ")
        )
    }

    fn next_steps(&self) -> String {
        let folder = self.wanted.output.display();
        let mut text = format!("Next:\n  cd {folder}\n");
        for command in self.project.build() {
            let _ = writeln!(text, "  {command}");
        }
        let start = self.project.start().join(" ");
        let _ = write!(text, "  {start}   # an MCP server on standard input and output");
        text
    }
}

/// How many warnings are shown unless all are asked for.
const SHOWN: usize = 10;

fn warn(warnings: &[Detail], all: bool) {
    let shown = if all { warnings.len() } else { SHOWN };
    for warning in warnings.iter().take(shown) {
        let place = if warning.path.is_empty() { String::new() } else { format!(" ({})", warning.path) };
        output::talk(&format!("warning: {}{place}", warning.message));
    }
    let more = warnings.len().saturating_sub(shown);
    if more > 0 {
        output::talk(&format!("warning: and {more} more, which --verbose shows"));
    }
}

/// Tells why nothing was generated.
pub(crate) fn tell_failure(failure: &Failure, format: OutputFormat) {
    if format == OutputFormat::Json {
        output::data(&format!("{:#}", failure.to_json()));
        return;
    }
    match failure.shown.as_deref() {
        Some((source, diagnostics)) => {
            output::painted(&render::full(&[(source, diagnostics)], output::stderr_is_terminal()));
        }
        None => {
            for detail in &failure.details {
                output::talk(&format!("{}: {}", detail.path, detail.message));
            }
        }
    }
    output::talk(&format!("error: {}", failure.message));
    if let Some(hint) = &failure.hint {
        output::talk(&format!("\nhint: {hint}"));
    }
}

/// A diff with colours.
pub(crate) fn painted(diff: &str) -> String {
    let mut out = String::with_capacity(diff.len());
    for line in diff.split_inclusive('\n') {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        let color = match text.as_bytes() {
            [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => "1",
            [b'@', b'@', ..] => "36",
            [b'+', ..] => "32",
            [b'-', ..] => "31",
            _ => "",
        };
        let _ = match color {
            "" => write!(out, "{text}{end}"),
            color => write!(out, "\u{1b}[{color}m{text}\u{1b}[0m{end}"),
        };
    }
    out
}
