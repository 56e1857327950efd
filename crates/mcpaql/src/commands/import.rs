//! `mcpaql import`: the description of an API → an adapter document.

use crate::documents::Wanted;
use crate::output::Hinted;
use crate::{Outcome, args, descriptions, output};
use anyhow::{Context, Result};
use mcpaql_core::diagnostic::render;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::openapi::{self, Whole};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &args::ImportOpenapi) -> Result<Outcome> {
    let description = descriptions::read(&args.source)?;
    let name = description.name.clone();
    let fingerprint = descriptions::fingerprint(&description.text);
    let wanted = Wanted::new(description, &args.importing)?;
    if let Some(path) = args.output.as_deref().filter(|_| !args.force) {
        check_overwrite(path)?;
    }
    let import = match wanted.open() {
        Ok(import) => import,
        Err((source, diagnostics)) => {
            output::talk(&render::full(&[(&source, &diagnostics)], output::stderr_is_terminal()));
            return Ok(Outcome::Findings);
        }
    };
    let Whole { adapter, notes } = openapi::whole(&import);
    let provenance = Provenance { source: name, version: import.version, fingerprint: Some(fingerprint) };
    let report = import.report.without_lost(&adapter);
    match (&args.output, args.report) {
        (Some(path), _) => write(path, &emit::markdown(&adapter, &provenance))?,
        (None, None) => output::data(&emit::markdown(&adapter, &provenance)),
        (None, Some(_)) => {}
    }
    match args.report {
        Some(args::Shape::Json) => output::data(&serde_json::to_string_pretty(&report.to_json(&notes))?),
        Some(args::Shape::Text) => output::data(&report.text(&notes)),
        None => output::talk(&report.summary(&notes)),
    }
    if let Some(path) = &args.output {
        output::talk(&format!("Wrote {}; serve it with `mcpaql serve {}`", path.display(), path.display()));
    }
    Ok(Outcome::Clean)
}

/// Refuses to write over what somebody else wrote.
fn check_overwrite(path: &Path) -> Result<()> {
    let ours = match std::fs::read(path) {
        Ok(bytes) => std::str::from_utf8(&bytes).is_ok_and(emit::is_imported),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if ours {
        return Ok(());
    }
    Err(Hinted {
        message: format!("{} is there and is not an imported adapter document", path.display()),
        hint: "choose another --output, or write over it with --force".into(),
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
