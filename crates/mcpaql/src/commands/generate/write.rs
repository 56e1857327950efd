//! Carries out a plan: all of it or nothing.
//!
//! What always holds: every file is written beside the project first and then put in its place at once; where anything fails, all
//! that was put in place is taken back; a run that was killed half way is taken back by the next one. One run at a time writes
//! into a folder, and only where it is as it was when the plan was made.

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

/// The folder in a project's that is there while it is written.
pub(crate) const STAGING_FOLDER: &str = ".mcpaql-generating";

/// Takes back what an earlier run began and could not end, unless this one is a trial, which changes nothing.
pub(crate) fn recover_interrupted(root: &Path, is_trial: bool) -> Result<(), GenerateError> {
    let staging = root.join(STAGING_FOLDER);
    if !fs::symlink_metadata(&staging).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    if is_trial {
        if StagingLock::is_held(&staging) {
            return Err(busy(root));
        }
        let message = format!("an earlier run was interrupted while it wrote into {}", root.display());
        let hint = "generate without --dry-run and --diff: what it began is taken back then";
        return Err(GenerateError::new(GenerateErrorKind::Io, message).hint(hint));
    }
    let Some(claim) = with_path(&staging, StagingLock::acquire(&staging)).map_err(failed)? else {
        return Err(busy(root));
    };
    if let Some(journal) = Journal::read(&staging) {
        journal.roll_back(root, &staging);
    }
    with_path(&staging, claim.release()).map_err(failed)
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
        // As long as there is a journal: whoever is killed here leaves this to the next run as well.
        let removed = steps.iter().filter(|step| step.change == FileChange::Removed);
        remove_empty_folders(root, removed.map(|step| step.path.as_str()));
        Ok(())
    })
}

/// The steps that write anything. What tells of the others comes last.
pub(super) fn changed_steps(plan: &FolderPlan) -> Vec<&FileStep> {
    let is_touched = |step: &&FileStep| {
        matches!(step.change, FileChange::Created | FileChange::Changed | FileChange::Removed)
    };
    let mut steps: Vec<&FileStep> = plan.steps.iter().filter(is_touched).collect();
    steps.sort_by_key(|step| step.path == provenance::FILE);
    steps
}

/// Works in a folder of its own within the project's, which is made for it where there is none.
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
        Ok(Some(claim)) => {
            let worked = work(&staging);
            // What is left of it holds no journal, and the next run removes it.
            let _ = claim.release();
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

/// Stages all files and puts them in place; where that fails, takes everything back.
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
    let message = format!("another run of the generator is writing into {}", root.display());
    GenerateError::new(GenerateErrorKind::Io, message).hint("wait until it has ended, and generate again")
}

fn failed((path, error): (PathBuf, io::Error)) -> GenerateError {
    let message = format!("cannot write {}: {error}", path.display());
    GenerateError::new(GenerateErrorKind::Io, message)
        .hint("nothing was changed; mend it, or choose another folder with --output")
}

/// Refuses where somebody wrote after the plan was made.
fn check_unchanged(root: &Path, steps: &[&FileStep]) -> Result<(), GenerateError> {
    for step in steps {
        if folder::read_file(root, &step.path)? != step.old {
            let message = format!("somebody else wrote {} meanwhile", root.join(&step.path).display());
            return Err(GenerateError::new(GenerateErrorKind::Io, message)
                .hint("nothing was changed; generate again"));
        }
    }
    Ok(())
}

/// Keeps Ctrl-C from ending the program half way: what is begun is done in a moment.
fn ignore_signals() {
    #[cfg(unix)]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        use tokio::signal::unix::{SignalKind, signal};
        let _entered = runtime.enter();
        // Whoever has listened once is not ended by it any more.
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
            let aside = backup_path(staging, index);
            if let Ok(found) = fs::metadata(&path) {
                // Whoever made a file executable wants the next one to be.
                let _ = step
                    .new
                    .is_some()
                    .then(|| fs::set_permissions(staged_path(staging, index), found.permissions()));
            }
            with_path(&path, fs::rename(&path, &aside))?;
            done.0.push(AppliedStep::Moved { from: path.clone(), to: aside });
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

/// What was done, to be taken back.
#[derive(Default)]
struct RollbackLog(Vec<AppliedStep>);

enum AppliedStep {
    Moved { from: PathBuf, to: PathBuf },
    Put(PathBuf),
    Folder(PathBuf),
}

impl RollbackLog {
    /// Makes a folder and those above it.
    fn create_folder(&mut self, folder: &Path) -> WriteResult<()> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.create_folder(above)?;
        }
        match fs::create_dir(folder) {
            Ok(()) => self.0.push(AppliedStep::Folder(folder.to_path_buf())),
            // Somebody else made it at the same time.
            Err(_) if folder.is_dir() => {}
            Err(error) => return Err((folder.to_path_buf(), error)),
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        // What cannot be taken back is left for whoever reads the error.
        for deed in std::mem::take(&mut self.0).into_iter().rev() {
            let _ = match deed {
                AppliedStep::Moved { from, to } => fs::rename(to, from),
                AppliedStep::Put(path) => fs::remove_file(path),
                AppliedStep::Folder(path) => fs::remove_dir(path),
            };
        }
    }
}

/// Removes the folders that nothing is left in.
fn remove_empty_folders<'a>(root: &Path, removed: impl Iterator<Item = &'a str>) {
    for path in removed {
        let mut path = Path::new(path);
        while let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
            match fs::remove_dir(root.join(above)) {
                // One that was never made, or is gone already, says nothing of those above it.
                Err(error) if error.kind() != io::ErrorKind::NotFound => break,
                _ => path = above,
            }
        }
    }
}
