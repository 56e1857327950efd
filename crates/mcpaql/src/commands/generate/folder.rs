//! What a project's folder holds, and what generating would change in it.
//!
//! What always holds: nothing outside the folder is looked at or touched, wherever links in it lead; a file of the author's is
//! never written over; a generated file that was edited is told from one that was not.

use super::error::{GenerateError, GenerateErrorKind, GenerateIssue};
use mcpaql_generate::manifest::{self, Difference};
use mcpaql_generate::provenance::{self, ProvenanceRecord};
use mcpaql_generate::{FileOwner, ProjectFile};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileChange {
    Created,
    Changed,
    Removed,
    Unchanged,
    /// The author's, which is there.
    Kept,
    /// No longer generated, but edited.
    Left,
}

impl FileChange {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            FileChange::Created => "created",
            FileChange::Changed => "changed",
            FileChange::Removed => "removed",
            FileChange::Unchanged => "unchanged",
            FileChange::Kept => "kept",
            FileChange::Left => "left",
        }
    }

    /// Why, for people.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            FileChange::Created => "it was not there",
            FileChange::Changed => "it is generated otherwise now",
            FileChange::Removed => "it is no longer generated",
            FileChange::Unchanged => "it is generated alike",
            FileChange::Kept => "it is yours",
            FileChange::Left => "it is no longer generated, but somebody edited it",
        }
    }
}

/// One file and what happens to it.
#[derive(Debug)]
pub(crate) struct FileStep {
    pub(crate) path: String,
    pub(crate) change: FileChange,
    /// What is there.
    pub(crate) old: Option<Vec<u8>>,
    /// What shall be there.
    pub(crate) new: Option<String>,
}

/// Everything that generating would change.
#[derive(Debug)]
pub(crate) struct FolderPlan {
    /// In order of the paths.
    pub(crate) steps: Vec<FileStep>,
    /// Generated files that somebody edited and that would be written over.
    pub(crate) edited: Vec<String>,
    /// The folder holds something, and nothing of it is known to be generated.
    pub(crate) is_foreign: bool,
    /// The language of the project that the folder holds, where it is another one.
    pub(crate) other_language: Option<String>,
    /// Files of the author's whose templates have changed since they were written.
    pub(crate) outdated: Vec<String>,
    /// Where manifests of the author's say something else of the package than the project.
    pub(crate) differences: Vec<(String, Difference)>,
    /// Files of the author's that are left, each with the one that takes its place.
    pub(crate) abandoned: BTreeMap<String, Option<String>>,
}

/// Compares a project in a language with its folder.
pub(crate) fn plan_changes(
    root: &Path,
    language: &str,
    files: Vec<ProjectFile>,
) -> Result<FolderPlan, GenerateError> {
    check_root(root)?;
    let record = record(root)?;
    let is_foreign = record.is_none() && !is_empty(root)?;
    let record = record.unwrap_or_default();
    let other_language = record.target.clone().filter(|target| target != language);
    let mut plan = FolderPlan {
        steps: Vec::new(),
        edited: Vec::new(),
        is_foreign,
        other_language,
        outdated: Vec::new(),
        differences: Vec::new(),
        abandoned: BTreeMap::new(),
    };
    let authors: Vec<String> =
        files.iter().filter(|file| file.owner == FileOwner::Author).map(|file| file.path.clone()).collect();
    let mut paths = HashSet::new();
    for ProjectFile { path, text, owner } in files {
        if !is_safe_path(&path) || !paths.insert(path.clone()) {
            return Err(GenerateError::new(
                GenerateErrorKind::Internal,
                format!("'{path}' cannot be a file of a project"),
            ));
        }
        let old = read_file(root, &path)?;
        let change = match &old {
            None => FileChange::Created,
            Some(old) if old == text.as_bytes() => FileChange::Unchanged,
            Some(old) if owner == FileOwner::Author && !is_unedited(&record, &path, Some(old)) => {
                let is_outdated = record.hash_of(&path).is_some_and(|was| was != provenance::hash(&text));
                plan.outdated.extend(is_outdated.then(|| path.clone()));
                let kept = String::from_utf8_lossy(old);
                let otherwise = manifest::differences(&path, &kept, &text);
                plan.differences.extend(otherwise.into_iter().map(|one| (path.clone(), one)));
                FileChange::Kept
            }
            Some(old) if path == provenance::FILE => match std::str::from_utf8(old) {
                Ok(old) if provenance::equal_except_timestamp(old, &text) => FileChange::Unchanged,
                _ => FileChange::Changed,
            },
            Some(_) => FileChange::Changed,
        };
        if change == FileChange::Changed
            && path != provenance::FILE
            && !is_unedited(&record, &path, old.as_deref())
        {
            plan.edited.push(path.clone());
        }
        let new = matches!(change, FileChange::Created | FileChange::Changed).then_some(text);
        plan.steps.push(FileStep { path, change, old, new });
    }
    for path in record.paths().filter(|path| is_safe_path(path) && !paths.contains(*path)) {
        // Whatever else stands there now was not generated.
        let Ok(Some(old)) = read_file(root, path) else { continue };
        let change =
            if is_unedited(&record, path, Some(&old)) { FileChange::Removed } else { FileChange::Left };
        if change == FileChange::Left && record.handwritten.contains_key(path) {
            let name = Path::new(path).file_name();
            let successor = authors.iter().find(|other| Path::new(other.as_str()).file_name() == name);
            plan.abandoned.insert(path.to_owned(), successor.cloned());
        }
        plan.steps.push(FileStep { path: path.to_owned(), change, old: Some(old), new: None });
    }
    plan.steps.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(plan)
}

impl FolderPlan {
    /// Why it must not be carried out.
    pub(crate) fn refusal(&self, root: &Path) -> Option<GenerateError> {
        let shown = root.display();
        let whole = |code: &str, message: String, reason: String| {
            let hint = "choose another folder with --output, or write into it with --force";
            let detail = GenerateIssue::new(shown.to_string(), code, reason).suggest(hint);
            Some(GenerateError::new(GenerateErrorKind::Io, message).hint(hint).details(vec![detail]))
        };
        if self.is_foreign {
            let message = format!("{shown} is not empty, and was not generated");
            let reason = format!("there is no {} that tells what is generated", provenance::FILE);
            return whole("OUTPUT_NOT_EMPTY", message, reason);
        }
        if let Some(language) = &self.other_language {
            let message = format!("{shown} holds a project in another language");
            return whole("OUTPUT_OTHER_LANGUAGE", message, format!("it was generated for {language}"));
        }
        if self.edited.is_empty() {
            return None;
        }
        let details = self.edited.iter().map(|path| {
            GenerateIssue::new(path, "FILE_EDITED", "the file was edited after it was generated")
                .suggest("move what you changed to where it is kept, or write over it with --force")
        });
        let count = self.edited.len();
        let message = format!(
            "{count} generated file{} of {shown} {} edited, and would be written over",
            if count == 1 { "" } else { "s" },
            if count == 1 { "was" } else { "were" },
        );
        let hint = "`--diff` shows what would be lost; move it to a handler of your own, or write over it with --force";
        Some(GenerateError::new(GenerateErrorKind::Io, message).hint(hint).details(details.collect()))
    }

    /// Why what happens to a file happens, for people.
    pub(crate) fn reason(&self, step: &FileStep) -> &'static str {
        match self.edited.contains(&step.path) {
            true if self.is_foreign => "it was not generated, and --force writes over it",
            true => "it was edited, and --force writes over it",
            false => step.change.reason(),
        }
    }

    /// What the author has to mend, because the files are the author's.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = GenerateIssue> {
        self.differences.iter().map(|(path, Difference { actual: says, expected: should, line })| {
            let message = match says {
                Some(says) => {
                    format!("{path} is yours and stays, but says `{says}` where the project has `{should}`")
                }
                None => format!("{path} is yours and stays, but does not say `{should}`"),
            };
            let mend = match line {
                Some(line) => format!("change line {line} of it to `{should}`"),
                None => format!("add `{should}` to it"),
            };
            let detail = GenerateIssue::new(path, "MANIFEST_DIFFERS", message).suggest(mend);
            detail.with_expected(should, says.as_deref(), *line)
        })
    }

    /// What whoever goes on with the folder should know, and need not mend; `forced` is whether edited files are written over.
    pub(crate) fn notes(&self, forced: bool) -> impl Iterator<Item = GenerateIssue> {
        let replaced = self.edited.iter().filter(move |_| forced).map(|path| {
            let was = if self.is_foreign { "not generated" } else { "edited" };
            GenerateIssue::new(
                path,
                "FILE_REPLACED",
                format!("{path} was {was}, and is written over by --force"),
            )
        });
        let left = self.steps.iter().filter(|step| step.change == FileChange::Left).map(|step| {
            let path = step.path.as_str();
            match self.abandoned.get(path) {
                Some(Some(successor)) => GenerateIssue::new(
                    path,
                    "HANDLERS_UNUSED",
                    format!(
                        "what you wrote stands in {path} and is not used any more: move it to {successor}"
                    ),
                ),
                Some(None) => GenerateIssue::new(
                    path,
                    "HANDLERS_UNUSED",
                    format!("{path} is yours and is not used any more: remove it or keep it"),
                ),
                None => GenerateIssue::new(
                    path,
                    "FILE_LEFT",
                    format!("{path} is no longer generated, but was edited: remove it or keep it"),
                ),
            }
        });
        // A warning says more.
        let is_warned = |path: &String| self.differences.iter().any(|(other, _)| other == path);
        let outdated = self.outdated.iter().filter(move |path| !is_warned(path)).map(|path| {
            let message =
                format!("{path} is yours and stays; generated anew, it would not be as it was then");
            GenerateIssue::new(path, "TEMPLATE_CHANGED", message)
        });
        replaced.chain(left).chain(outdated)
    }

    pub(crate) fn count(&self, change: FileChange) -> usize {
        self.steps.iter().filter(|step| step.change == change).count()
    }
}

/// Whether a file is as it was generated.
fn is_unedited(record: &ProvenanceRecord, path: &str, old: Option<&[u8]>) -> bool {
    match (record.hash_of(path), old) {
        (Some(hash), Some(old)) => {
            hash == provenance::hash_bytes(old) || hash == provenance::hash(&with_unix_line_ends(old))
        }
        _ => false,
    }
}

/// The text as it was written: git on Windows checks files out with other ends of lines, which edits nothing.
fn with_unix_line_ends(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace("\r\n", "\n")
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> GenerateError {
    GenerateError::new(GenerateErrorKind::Io, format!("cannot {what} {}: {error}", path.display()))
}

fn check_root(root: &Path) -> Result<(), GenerateError> {
    match fs::metadata(root) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => {
            let message = format!("{} is a file, not a folder", root.display());
            Err(GenerateError::new(GenerateErrorKind::Io, message)
                .hint("choose another folder with --output"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            match root.ancestors().find(|above| is_broken_link(above)) {
                None => Ok(()),
                Some(link) => {
                    let message = format!("{} is a symbolic link that leads nowhere", link.display());
                    let hint = "make the folder that it leads to, or choose another folder with --output";
                    Err(GenerateError::new(GenerateErrorKind::Io, message).hint(hint))
                }
            }
        }
        Err(error) => Err(failed("look into", root, &error)),
    }
}

/// A link that leads nowhere is there, although what it leads to is not.
fn is_broken_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) && !path.exists()
}

/// A repository that was only begun holds nothing yet.
fn is_empty(root: &Path) -> Result<bool, GenerateError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(failed("look into", root, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed("look into", root, &error))?;
        if entry.file_name() != ".git" {
            return Ok(false);
        }
    }
    Ok(true)
}

fn record(root: &Path) -> Result<Option<ProvenanceRecord>, GenerateError> {
    let text = read_file(root, provenance::FILE)?;
    Ok(text.and_then(|text| ProvenanceRecord::read(&String::from_utf8(text).ok()?)))
}

/// Whether a path stays below the folder, on every system.
pub(super) fn is_safe_path(path: &str) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    !path.is_empty()
        && !path.contains(['\\', ':', '\0'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && Path::new(path).components().all(plain)
}

/// What a file holds; `None` where there is none. Links are not followed.
pub(super) fn read_file(root: &Path, path: &str) -> Result<Option<Vec<u8>>, GenerateError> {
    let mut at = root.to_path_buf();
    let parts: Vec<&str> = path.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        at.push(part);
        let is_last = index + 1 == parts.len();
        let found = match fs::symlink_metadata(&at) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // What stands before it is a file.
            Err(error) => return Err(failed("look at", &at, &error)),
        };
        let problem = match (is_last, found.is_symlink()) {
            (_, true) if is_broken_link(&at) => "is a symbolic link that leads nowhere",
            (_, true) => "is a symbolic link, which is not followed",
            (false, _) if !found.is_dir() => "is a file where a folder must be",
            (true, _) if !found.is_file() => "is not a file",
            _ => continue,
        };
        let message = format!("{} {problem}", at.display());
        return Err(GenerateError::new(GenerateErrorKind::Io, message)
            .hint("take it away, or choose another folder with --output"));
    }
    fs::read(&at).map(Some).map_err(|error| failed("read", &at, &error))
}
