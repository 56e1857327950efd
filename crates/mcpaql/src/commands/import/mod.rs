//! `mcpaql import`: the description of an API, or an MCP server, → an adapter document.

pub(crate) mod mcp;
pub(crate) mod openapi;

use crate::output::Hinted;
use crate::{args, output};
use anyhow::{Context, Result};
use mcpaql_core::adapter::Adapter;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::report::{Notes, Report};
use std::io::Write;
use std::path::Path;

/// What came of an import.
struct Done {
    adapter: Adapter,
    report: Report,
    notes: Notes,
    provenance: Provenance,
}

/// Writes the document and tells what was decided.
fn tell(done: &Done, written: &args::Written) -> Result<()> {
    let Done { adapter, report, notes, provenance } = done;
    match (&written.output, written.report) {
        (Some(path), _) => write(path, &emit::markdown(adapter, provenance))?,
        (None, None) => output::data(&emit::markdown(adapter, provenance)),
        (None, Some(_)) => {}
    }
    match written.report {
        Some(args::Shape::Json) => output::data(&serde_json::to_string_pretty(&report.to_json(notes))?),
        Some(args::Shape::Text) => output::data(&output::visible(&report.text(notes))),
        None => output::talk(&output::visible(&report.summary(notes, "--report text"))),
    }
    if let Some(path) = &written.output {
        output::talk(&format!("Wrote {}; serve it with `mcpaql serve {}`", path.display(), path.display()));
    }
    Ok(())
}

/// Refuses to write over what somebody else wrote.
fn check_overwrite(written: &args::Written) -> Result<()> {
    match written.output.as_deref().filter(|_| !written.force) {
        Some(path) => check_ours(path, "an imported adapter document", emit::is_imported),
        None => Ok(()),
    }
}

/// Refuses a file that is there and not `ours`.
fn check_ours(path: &Path, kind: &str, ours: impl Fn(&str) -> bool) -> Result<()> {
    let ours = match std::fs::read(path) {
        Ok(bytes) => std::str::from_utf8(&bytes).is_ok_and(ours),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if ours {
        return Ok(());
    }
    Err(Hinted {
        message: format!("{} is there and is not {kind}", path.display()),
        hint: "choose another file, or write over it with --force".into(),
    }
    .into())
}

/// Writes the whole file or leaves the old one.
fn write(path: &Path, text: &str) -> Result<()> {
    let shown = path.display();
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    let beside = Path::new(&beside);
    let written = std::fs::File::create(beside)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(beside);
    }
    written.with_context(|| format!("cannot write {shown}"))
}
