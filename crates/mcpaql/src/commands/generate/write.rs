//! Applies a plan completely or not at all.
//!
//! What always holds: every file is written to a staging folder first and then moved into place; if anything fails, all changes are
//! rolled back; a run that was killed is rolled back by the next one. Only one run at a time writes into a folder, and only if the
//! folder has not changed since the plan was made.

mod journal;
mod lock;

use super::error::{GenerateError, GenerateErrorKind};
use super::folder::{self, FileChange, FileStep, FolderPlan};
use journal::Journal;
use lock::StagingLock;
use mcpaql_generate::provenance;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the staging folder, which exists in the project folder during a run.
pub(crate) const STAGING_FOLDER: &str = ".mcpaql-generating";

/// Rolls back an interrupted run. A trial (`--dry-run` or `--diff`) changes nothing and fails instead.
pub(crate) fn recover_interrupted(root: &Path, is_trial: bool) -> Result<(), GenerateError> {
    let staging = root.join(STAGING_FOLDER);
    if !fs::symlink_metadata(&staging).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    if is_trial {
        if StagingLock::is_held(&staging) {
            return Err(busy(root));
        }
        let message = format!("an earlier run was interrupted while writing to {}", root.display());
        let hint = "run without --dry-run and --diff to roll it back";
        return Err(GenerateError::new(GenerateErrorKind::Io, message).hint(hint));
    }
    let Some(lock) = with_path(&staging, StagingLock::acquire(&staging)).map_err(failed)? else {
        return Err(busy(root));
    };
    if let Some(journal) = Journal::read(&staging) {
        journal.roll_back(root, &staging);
    }
    with_path(&staging, lock.release()).map_err(failed)
}

pub(crate) fn write(root: &Path, plan: &FolderPlan) -> Result<(), GenerateError> {
    let steps = changed_steps(plan);
    if steps.is_empty() {
        return Ok(());
    }
    ignore_signals();
    with_staging(root, |staging| {
        check_unchanged(root, &steps)?;
        apply_steps(root, staging, &steps).map_err(failed)?;
        // Before the journal is removed, so that the next run finishes this if the process is killed here.
        let removed = steps.iter().filter(|step| step.change == FileChange::Removed);
        remove_empty_folders(root, removed.map(|step| step.path.as_str()));
        Ok(())
    })
}

/// Returns the steps that change a file. The provenance describes all other files, so it comes last.
pub(super) fn changed_steps(plan: &FolderPlan) -> Vec<&FileStep> {
    let is_change = |step: &&FileStep| {
        matches!(step.change, FileChange::Created | FileChange::Changed | FileChange::Removed)
    };
    let mut steps: Vec<&FileStep> = plan.steps.iter().filter(is_change).collect();
    steps.sort_by_key(|step| step.path == provenance::FILE);
    steps
}

/// Runs `work` with a locked staging folder. Creates the project folder if necessary.
pub(super) fn with_staging(
    root: &Path,
    work: impl FnOnce(&Path) -> Result<(), GenerateError>,
) -> Result<(), GenerateError> {
    let mut folders = RollbackLog::default();
    let staging = root.join(STAGING_FOLDER);
    let begun = folders.create_folder(root).map_err(failed).and_then(|()| match fs::create_dir(&staging) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(busy(root)),
        Err(error) => Err(failed((root.to_path_buf(), error))),
    });
    let worked = begun.and_then(|()| match StagingLock::acquire(&staging) {
        Ok(Some(lock)) => {
            let worked = work(&staging);
            // If this fails, the next run removes the rest, which contains no journal.
            let _ = lock.release();
            worked
        }
        Ok(None) => Err(busy(root)),
        Err(error) => {
            let _ = fs::remove_dir(&staging);
            Err(failed((staging.clone(), error)))
        }
    });
    if worked.is_err() {
        folders.roll_back();
    }
    worked
}

/// Stages all files and moves them into place. Rolls back on failure.
pub(super) fn apply_steps(root: &Path, staging: &Path, steps: &[&FileStep]) -> WriteResult<()> {
    let mut done = RollbackLog::default();
    let written = stage(staging, steps)
        .and_then(|()| with_path(staging, Journal::of(steps).write(staging)))
        .and_then(|()| move_into_place(root, staging, steps, &mut done));
    if written.is_err() {
        done.roll_back();
    }
    written
}

fn busy(root: &Path) -> GenerateError {
    let message = format!("another run of the generator is writing to {}", root.display());
    GenerateError::new(GenerateErrorKind::Io, message)
        .hint("wait until it has finished, then run the command again")
}

fn failed((path, error): (PathBuf, io::Error)) -> GenerateError {
    let message = format!("cannot write {}: {error}", path.display());
    GenerateError::new(GenerateErrorKind::Io, message)
        .hint("nothing was changed; fix the cause, or choose another folder with --output")
}

/// Fails if a file has changed since the plan was made.
fn check_unchanged(root: &Path, steps: &[&FileStep]) -> Result<(), GenerateError> {
    for step in steps {
        if folder::read_file(root, &step.path)? != step.old {
            let message =
                format!("{} was changed by another program in the meantime", root.join(&step.path).display());
            return Err(GenerateError::new(GenerateErrorKind::Io, message)
                .hint("nothing was written; run the command again"));
        }
    }
    Ok(())
}

/// Ignores Ctrl-C and other signals while files are written, which takes only a moment.
fn ignore_signals() {
    #[cfg(unix)]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        use tokio::signal::unix::{SignalKind, signal};
        let _entered = runtime.enter();
        // After a handler was installed once, the signal no longer ends the process.
        for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
            drop(signal(kind));
        }
    }
}

pub(super) type WriteResult<T> = Result<T, (PathBuf, io::Error)>;

fn with_path<T>(path: &Path, outcome: io::Result<T>) -> WriteResult<T> {
    outcome.map_err(|error| (path.to_path_buf(), error))
}

fn stage(staging: &Path, steps: &[&FileStep]) -> WriteResult<()> {
    for (index, step) in steps.iter().enumerate() {
        if let Some(text) = &step.new {
            let path = staged_path(staging, index);
            with_path(&path, fs::write(&path, text))?;
        }
    }
    Ok(())
}

fn staged_path(staging: &Path, index: usize) -> PathBuf {
    staging.join(format!("new-{index}"))
}

fn backup_path(staging: &Path, index: usize) -> PathBuf {
    staging.join(format!("old-{index}"))
}

fn move_into_place(
    root: &Path,
    staging: &Path,
    steps: &[&FileStep],
    done: &mut RollbackLog,
) -> WriteResult<()> {
    for (index, step) in steps.iter().enumerate() {
        let path = root.join(&step.path);
        if step.old.is_some() {
            let backup = backup_path(staging, index);
            if let Ok(found) = fs::metadata(&path) {
                // Keep the permissions, such as an executable bit that the user set.
                let _ = step
                    .new
                    .is_some()
                    .then(|| fs::set_permissions(staged_path(staging, index), found.permissions()));
            }
            with_path(&path, fs::rename(&path, &backup))?;
            done.0.push(AppliedStep::Moved { from: path.clone(), to: backup });
        }
        if step.new.is_some() {
            if let Some(folder) = path.parent() {
                done.create_folder(folder)?;
            }
            with_path(&path, fs::rename(staged_path(staging, index), &path))?;
            done.0.push(AppliedStep::Put(path));
        }
    }
    Ok(())
}

/// The applied steps, for a rollback.
#[derive(Default)]
struct RollbackLog(Vec<AppliedStep>);

enum AppliedStep {
    Moved { from: PathBuf, to: PathBuf },
    Put(PathBuf),
    Folder(PathBuf),
}

impl RollbackLog {
    /// Creates a folder and its parents.
    fn create_folder(&mut self, folder: &Path) -> WriteResult<()> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.create_folder(above)?;
        }
        match fs::create_dir(folder) {
            Ok(()) => self.0.push(AppliedStep::Folder(folder.to_path_buf())),
            // Another process created it at the same time.
            Err(_) if folder.is_dir() => {}
            Err(error) => return Err((folder.to_path_buf(), error)),
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        // The error of the write is reported; errors of the rollback are ignored.
        for step in std::mem::take(&mut self.0).into_iter().rev() {
            let _ = match step {
                AppliedStep::Moved { from, to } => fs::rename(to, from),
                AppliedStep::Put(path) => fs::remove_file(path),
                AppliedStep::Folder(path) => fs::remove_dir(path),
            };
        }
    }
}

/// Removes the folders of removed files that are now empty.
fn remove_empty_folders<'a>(root: &Path, removed: impl Iterator<Item = &'a str>) {
    for path in removed {
        let mut path = Path::new(path);
        while let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
            match fs::remove_dir(root.join(above)) {
                // A missing folder does not mean that its parent is in use.
                Err(error) if error.kind() != io::ErrorKind::NotFound => break,
                _ => path = above,
            }
        }
    }
}
