//! Carries out a plan: all of it or nothing.
//!
//! What always holds: every file is written beside the project first and then put in its place at once; where anything fails, all
//! that was put in place is taken back; a run that was killed half way is taken back by the next one. One run at a time writes
//! into a folder, and only where it is as it was when the plan was made.

mod claim;
mod journal;

use super::failure::{Failure, Kind};
use super::folder::{self, Change, Plan, Step};
use claim::Claim;
use journal::Journal;
use mcpaql_generate::provenance;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder in a project's that is there while it is written.
pub(crate) const STAGING: &str = ".mcpaql-generating";

/// Takes back what an earlier run began and could not end, unless this one is a trial, which changes nothing.
pub(crate) fn take_up(root: &Path, is_trial: bool) -> Result<(), Failure> {
    let staging = root.join(STAGING);
    if !fs::symlink_metadata(&staging).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    if is_trial {
        if Claim::is_taken(&staging) {
            return Err(busy(root));
        }
        let message = format!("an earlier run was interrupted while it wrote into {}", root.display());
        let hint = "generate without --dry-run and --diff: what it began is taken back then";
        return Err(Failure::new(Kind::Io, message).hint(hint));
    }
    let Some(claim) = at(&staging, Claim::take(&staging)).map_err(failed)? else {
        return Err(busy(root));
    };
    if let Some(journal) = Journal::read(&staging) {
        journal.take_back(root, &staging);
    }
    at(&staging, claim.release()).map_err(failed)
}

pub(crate) fn write(root: &Path, plan: &Plan) -> Result<(), Failure> {
    let steps = touched(plan);
    if steps.is_empty() {
        return Ok(());
    }
    hold_signals();
    in_staging(root, |staging| {
        check_unchanged(root, &steps)?;
        carry_out(root, staging, &steps).map_err(failed)?;
        // As long as there is a journal: whoever is killed here leaves this to the next run as well.
        let removed = steps.iter().filter(|step| step.change == Change::Removed);
        tidy(root, removed.map(|step| step.path.as_str()));
        Ok(())
    })
}

/// The steps that write anything. What tells of the others comes last.
pub(super) fn touched(plan: &Plan) -> Vec<&Step> {
    let is_touched =
        |step: &&Step| matches!(step.change, Change::Created | Change::Changed | Change::Removed);
    let mut steps: Vec<&Step> = plan.steps.iter().filter(is_touched).collect();
    steps.sort_by_key(|step| step.path == provenance::FILE);
    steps
}

/// Works in a folder of its own within the project's, which is made for it where there is none.
pub(super) fn in_staging(
    root: &Path,
    work: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut folders = Done::default();
    let staging = root.join(STAGING);
    let begun = folders.folder(root).map_err(failed).and_then(|()| match fs::create_dir(&staging) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(busy(root)),
        Err(error) => Err(failed((root.to_path_buf(), error))),
    });
    let worked = begun.and_then(|()| match Claim::take(&staging) {
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
        folders.take_back();
    }
    worked
}

/// Stages all files and puts them in place; where that fails, takes everything back.
pub(super) fn carry_out(root: &Path, staging: &Path, steps: &[&Step]) -> Outcome<()> {
    let mut done = Done::default();
    let written = stage(staging, steps)
        .and_then(|()| at(staging, Journal::of(steps).write(staging)))
        .and_then(|()| put(root, staging, steps, &mut done));
    if written.is_err() {
        done.take_back();
    }
    written
}

fn busy(root: &Path) -> Failure {
    let message = format!("another run of the generator is writing into {}", root.display());
    Failure::new(Kind::Io, message).hint("wait until it has ended, and generate again")
}

fn failed((path, error): (PathBuf, io::Error)) -> Failure {
    let message = format!("cannot write {}: {error}", path.display());
    Failure::new(Kind::Io, message)
        .hint("nothing was changed; mend it, or choose another folder with --output")
}

/// Refuses where somebody wrote after the plan was made.
fn check_unchanged(root: &Path, steps: &[&Step]) -> Result<(), Failure> {
    for step in steps {
        if folder::look(root, &step.path)? != step.old {
            let message = format!("somebody else wrote {} meanwhile", root.join(&step.path).display());
            return Err(Failure::new(Kind::Io, message).hint("nothing was changed; generate again"));
        }
    }
    Ok(())
}

/// Keeps Ctrl-C from ending the program half way: what is begun is done in a moment.
fn hold_signals() {
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

pub(super) type Outcome<T> = Result<T, (PathBuf, io::Error)>;

fn at<T>(path: &Path, outcome: io::Result<T>) -> Outcome<T> {
    outcome.map_err(|error| (path.to_path_buf(), error))
}

fn stage(staging: &Path, steps: &[&Step]) -> Outcome<()> {
    for (index, step) in steps.iter().enumerate() {
        if let Some(text) = &step.new {
            let path = new(staging, index);
            at(&path, fs::write(&path, text))?;
        }
    }
    Ok(())
}

fn new(staging: &Path, index: usize) -> PathBuf {
    staging.join(format!("new-{index}"))
}

fn old(staging: &Path, index: usize) -> PathBuf {
    staging.join(format!("old-{index}"))
}

fn put(root: &Path, staging: &Path, steps: &[&Step], done: &mut Done) -> Outcome<()> {
    for (index, step) in steps.iter().enumerate() {
        let path = root.join(&step.path);
        if step.old.is_some() {
            let aside = old(staging, index);
            if let Ok(found) = fs::metadata(&path) {
                // Whoever made a file executable wants the next one to be.
                let _ =
                    step.new.is_some().then(|| fs::set_permissions(new(staging, index), found.permissions()));
            }
            at(&path, fs::rename(&path, &aside))?;
            done.0.push(Deed::Moved { from: path.clone(), to: aside });
        }
        if step.new.is_some() {
            if let Some(folder) = path.parent() {
                done.folder(folder)?;
            }
            at(&path, fs::rename(new(staging, index), &path))?;
            done.0.push(Deed::Put(path));
        }
    }
    Ok(())
}

/// What was done, to be taken back.
#[derive(Default)]
struct Done(Vec<Deed>);

enum Deed {
    Moved { from: PathBuf, to: PathBuf },
    Put(PathBuf),
    Folder(PathBuf),
}

impl Done {
    /// Makes a folder and those above it.
    fn folder(&mut self, folder: &Path) -> Outcome<()> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.folder(above)?;
        }
        match fs::create_dir(folder) {
            Ok(()) => self.0.push(Deed::Folder(folder.to_path_buf())),
            // Somebody else made it at the same time.
            Err(_) if folder.is_dir() => {}
            Err(error) => return Err((folder.to_path_buf(), error)),
        }
        Ok(())
    }

    fn take_back(&mut self) {
        // What cannot be taken back is left for whoever reads the error.
        for deed in std::mem::take(&mut self.0).into_iter().rev() {
            let _ = match deed {
                Deed::Moved { from, to } => fs::rename(to, from),
                Deed::Put(path) => fs::remove_file(path),
                Deed::Folder(path) => fs::remove_dir(path),
            };
        }
    }
}

/// Removes the folders that nothing is left in.
fn tidy<'a>(root: &Path, removed: impl Iterator<Item = &'a str>) {
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
