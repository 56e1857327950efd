//! Checks the data folder: it can be written, others cannot read the records, and the store is intact. Creates no file that stays.

use super::report::{DoctorReport, DoctorSection, NextStep};
use crate::output::shell_word;
use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::catalog::Catalog;
use mcpaql_runtime::target::store::{STORE_FILE, Store};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

const SECTION: DoctorSection = DoctorSection::Data;

/// Whether an adapter keeps data: records, or executions.
pub(super) fn needs_data(catalog: &Catalog) -> bool {
    matches!(catalog.adapter.target, TargetConfig::Store(_)) || catalog.has_executions()
}

/// Checks the folder; `is_needed` says whether an adapter keeps data in it.
pub(super) async fn check(data: Option<&Path>, is_needed: bool, report: &mut DoctorReport) {
    let Some(folder) = data else {
        if is_needed {
            let message = "there is no data folder, because HOME is not set";
            let next = "set HOME, or set `data` in mcpaql.yaml";
            report.problem(SECTION, "data", message, NextStep::Do(next.to_owned()));
        }
        return;
    };
    let shown = folder.display().to_string();
    if !folder.exists() {
        check_missing(folder, &shown, report);
        return;
    }
    if let Err(error) = write_probe(folder) {
        let next = match folder.is_dir() {
            true if cfg!(unix) => NextStep::Run(format!("chmod u+rwx {}", shell_word(&shown))),
            true => NextStep::Do("allow this user to write to the folder".to_owned()),
            false => NextStep::Do("use another folder for `data`, or move the file away".to_owned()),
        };
        report.problem(SECTION, shown, format!("cannot be written: {error}"), next);
        return;
    }
    check_permissions(folder, report);
    let store = folder.join(STORE_FILE);
    if store.exists()
        && let Err(error) = Store::check_file(&store).await
    {
        let error = anyhow::Error::from(error);
        report.error(SECTION, shown, &error, "restore a backup, or use another data folder");
        return;
    }
    report.ok(SECTION, shown, "can be written");
}

/// Checks a folder that does not exist: it must be possible to create it.
fn check_missing(folder: &Path, shown: &str, report: &mut DoctorReport) {
    let mut parents = folder.ancestors().skip(1).map(|parent| match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    });
    match parents.find(|parent| parent.exists()).map(|parent| (parent, write_probe(parent))) {
        Some((_, Ok(()))) | None => {
            report.ok(SECTION, shown, "does not exist yet; the first record creates it")
        }
        Some((parent, Err(error))) => {
            let message = format!("cannot be created in {}: {error}", parent.display());
            let next = "use another folder for `data` in mcpaql.yaml, or with `serve --data DIR`";
            report.problem(SECTION, shown, message, NextStep::Do(next.to_owned()));
        }
    }
}

/// Creates and removes a file in the folder.
fn write_probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".mcpaql-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)
}

/// Warns if other users may read the records or replace the files.
#[cfg(unix)]
fn check_permissions(folder: &Path, report: &mut DoctorReport) {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.permissions().mode());
    let mut warn = |path: &Path, message: &str, mode: &str| {
        let shown = path.display().to_string();
        let next = NextStep::Run(format!("chmod {mode} {}", shell_word(&shown)));
        report.warning(SECTION, shown, message, next);
    };
    // A folder with the sticky bit, such as /tmp, does not let others replace files.
    if mode(folder) & 0o022 != 0 && mode(folder) & 0o1000 == 0 {
        warn(folder, "other users can replace files in this folder", "go-w");
    }
    let store = folder.join(STORE_FILE);
    if mode(&store) & 0o077 != 0 {
        warn(&store, "other users can read the records", "600");
    }
}

#[cfg(not(unix))]
fn check_permissions(_: &Path, _: &mut DoctorReport) {}
