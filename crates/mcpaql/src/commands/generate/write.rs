//! Carries out a plan: all of it or nothing.
//!
//! What always holds: every file is written beside the project first and then put in its place at once; where anything fails, all
//! that was put in place is taken back.

use super::failure::{Failure, Kind};
use super::folder::{Change, Plan, Step};
use mcpaql_generate::provenance;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn write(root: &Path, plan: &Plan) -> Result<(), Failure> {
    let is_touched =
        |step: &&Step| matches!(step.change, Change::Created | Change::Changed | Change::Removed);
    let mut steps: Vec<&Step> = plan.steps.iter().filter(is_touched).collect();
    if steps.is_empty() {
        return Ok(());
    }
    // What tells of the others comes last.
    steps.sort_by_key(|step| step.path == provenance::FILE);
    let failed = |(path, error): (PathBuf, io::Error)| {
        Failure::new(Kind::Io, format!("cannot write {}: {error}", path.display()))
            .hint("nothing was changed")
    };
    let mut folders = Done::default();
    let written = folders.folder(root).and_then(|()| {
        let staging = root.join(format!(".mcpaql-{}", std::process::id()));
        // A run that was killed may have had the same number.
        let _ = fs::remove_dir_all(&staging);
        at(&staging, fs::create_dir(&staging))?;
        let mut done = Done::default();
        let written = stage(&staging, &steps).and_then(|()| put(root, &staging, &steps, &mut done));
        if written.is_err() {
            done.take_back();
        }
        let _ = fs::remove_dir_all(&staging);
        written
    });
    if written.is_err() {
        folders.take_back();
    }
    written.map_err(failed)?;
    tidy(root, &steps);
    Ok(())
}

type Outcome<T> = Result<T, (PathBuf, io::Error)>;

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

fn put(root: &Path, staging: &Path, steps: &[&Step], done: &mut Done) -> Outcome<()> {
    for (index, step) in steps.iter().enumerate() {
        let path = root.join(&step.path);
        if step.old.is_some() {
            let aside = staging.join(format!("old-{index}"));
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
        at(folder, fs::create_dir(folder))?;
        self.0.push(Deed::Folder(folder.to_path_buf()));
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
fn tidy(root: &Path, steps: &[&Step]) {
    for step in steps.iter().filter(|step| step.change == Change::Removed) {
        let mut path = Path::new(&step.path);
        while let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
            if fs::remove_dir(root.join(above)).is_err() {
                break;
            }
            path = above;
        }
    }
}
