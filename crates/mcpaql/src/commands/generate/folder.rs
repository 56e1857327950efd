//! Compares a project with its folder, and plans the changes.
//!
//! What always holds: nothing outside the folder is read or changed, because links are not followed; a file of the author is never
//! overwritten; an edited generated file is recognized by its hash.

use super::error::{GenerateError, GenerateErrorKind, GenerateIssue};
use mcpaql_gate::trust::TrustLevel;
use mcpaql_generate::manifest::{self, Difference};
use mcpaql_generate::provenance::{self, ProvenanceRecord};
use mcpaql_generate::{FileOwner, ProjectFile};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileChange {
    Created,
    Changed,
    Removed,
    Unchanged,
    /// A file of the author, which is not overwritten.
    Kept,
    /// A file that is no longer generated, but was edited.
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

    /// Returns the reason for the user.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            FileChange::Created => "new file",
            FileChange::Changed => "its generated content has changed",
            FileChange::Removed => "no longer generated",
            FileChange::Unchanged => "its generated content is the same",
            FileChange::Kept => "it is your file",
            FileChange::Left => "no longer generated, but it was edited",
        }
    }
}

/// One file and its change.
#[derive(Debug)]
pub(crate) struct FileStep {
    pub(crate) path: String,
    pub(crate) change: FileChange,
    /// The current content.
    pub(crate) old: Option<Vec<u8>>,
    /// The new content.
    pub(crate) new: Option<String>,
}

/// All changes of a run.
#[derive(Debug)]
pub(crate) struct FolderPlan {
    /// Sorted by path.
    pub(crate) steps: Vec<FileStep>,
    /// Generated files that were edited and would be overwritten.
    pub(crate) edited: Vec<String>,
    /// The folder is not empty and was not generated.
    pub(crate) is_foreign: bool,
    /// The language of the existing project, if it is another one.
    pub(crate) other_language: Option<String>,
    /// Files of the author whose templates have changed since they were written.
    pub(crate) outdated: Vec<String>,
    /// Differences between the author's manifests and the project.
    pub(crate) differences: Vec<(String, Difference)>,
    /// Files of the author that are no longer used, each with its replacement.
    pub(crate) abandoned: BTreeMap<String, Option<String>>,
}

/// Returns the trust level of the project in a folder, if its author chose one. A regenerated project keeps it.
pub(crate) fn recorded_trust(root: &Path) -> Result<Option<TrustLevel>, GenerateError> {
    check_root(root)?;
    let Some(word) = record(root)?.and_then(|record| record.trust) else { return Ok(None) };
    TrustLevel::parse(&word).map(Some).ok_or_else(|| {
        let message = format!("{} has an unknown trust level", root.join(provenance::FILE).display());
        let levels = TrustLevel::ALL.map(TrustLevel::as_str).join(", ");
        GenerateError::new(GenerateErrorKind::Configuration, message)
            .hint(format!("pass --trust with one of {levels}"))
    })
}

/// Compares the files of a project with its folder, and plans the changes.
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
                format!("'{path}' is not a valid path in a project"),
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
                let differences = manifest::differences(&path, &kept, &text);
                plan.differences.extend(differences.into_iter().map(|one| (path.clone(), one)));
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
        // A folder or link at this path was not generated.
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
    /// Returns the error if the plan must not be applied without `--force`.
    pub(crate) fn refusal(&self, root: &Path) -> Option<GenerateError> {
        let shown = root.display();
        let whole = |code: &str, message: String, reason: String| {
            let hint = "choose another folder with --output, or write into it with --force";
            let detail = GenerateIssue::new(shown.to_string(), code, reason).suggest(hint);
            Some(GenerateError::new(GenerateErrorKind::Io, message).hint(hint).details(vec![detail]))
        };
        if self.is_foreign {
            let reason = format!("no {}", provenance::FILE);
            let message = format!("{shown} is not empty and was not generated by mcpaql ({reason})");
            return whole("OUTPUT_NOT_EMPTY", message, reason);
        }
        if let Some(language) = &self.other_language {
            let reason = format!("generated for {language}");
            let message = format!("{shown} contains a project in another language ({reason})");
            return whole("OUTPUT_OTHER_LANGUAGE", message, reason);
        }
        if self.edited.is_empty() {
            return None;
        }
        let details = self.edited.iter().map(|path| {
            GenerateIssue::new(path, "FILE_EDITED", "the file was edited after it was generated")
                .suggest("move your changes to your handlers file, or discard them with --force")
        });
        let count = self.edited.len();
        let message = format!(
            "{count} generated file{} in {shown} {} edited and would be overwritten",
            if count == 1 { "" } else { "s" },
            if count == 1 { "was" } else { "were" },
        );
        let hint = "--diff shows your changes; move them to your handlers file, or discard them with --force";
        Some(GenerateError::new(GenerateErrorKind::Io, message).hint(hint).details(details.collect()))
    }

    /// Returns the reason for the change of a file.
    pub(crate) fn reason(&self, step: &FileStep) -> &'static str {
        match self.edited.contains(&step.path) {
            true if self.is_foreign => "it was not generated; overwritten because of --force",
            true => "it was edited; overwritten because of --force",
            false => step.change.reason(),
        }
    }

    /// Returns warnings about manifests that the author must fix.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = GenerateIssue> {
        self.differences.iter().map(|(path, Difference { actual, expected, line })| {
            let message = match actual {
                Some(actual) => {
                    format!(
                        "{path} is your file and was not changed, but has `{actual}` instead of `{expected}`"
                    )
                }
                None => format!("{path} is your file and was not changed, but lacks `{expected}`"),
            };
            let suggestion = match line {
                Some(line) => format!("change line {line} to `{expected}`"),
                None => format!("add `{expected}`"),
            };
            let detail = GenerateIssue::new(path, "MANIFEST_DIFFERS", message).suggest(suggestion);
            detail.with_expected(expected, actual.as_deref(), *line)
        })
    }

    /// Returns notes about the folder, which need no fix; `forced` means that edited files are overwritten.
    pub(crate) fn notes(&self, forced: bool) -> impl Iterator<Item = GenerateIssue> {
        let replaced = self.edited.iter().filter(move |_| forced).map(|path| {
            let state = if self.is_foreign { "not generated" } else { "edited" };
            GenerateIssue::new(
                path,
                "FILE_REPLACED",
                format!("{path} was {state} and is overwritten because of --force"),
            )
        });
        let left = self.steps.iter().filter(|step| step.change == FileChange::Left).map(|step| {
            let path = step.path.as_str();
            match self.abandoned.get(path) {
                Some(Some(successor)) => GenerateIssue::new(
                    path,
                    "HANDLERS_UNUSED",
                    format!("{path} is no longer used; move your code to {successor}"),
                ),
                Some(None) => GenerateIssue::new(
                    path,
                    "HANDLERS_UNUSED",
                    format!("{path} is your file and is no longer used; remove it or keep it"),
                ),
                None => GenerateIssue::new(
                    path,
                    "FILE_LEFT",
                    format!("{path} is no longer generated, but was edited; remove it or keep it"),
                ),
            }
        });
        // The warning contains more.
        let is_warned = |path: &String| self.differences.iter().any(|(other, _)| other == path);
        let outdated = self.outdated.iter().filter(move |path| !is_warned(path)).map(|path| {
            let message = format!(
                "{path} is your file and was not changed, but its template has changed since it was generated"
            );
            GenerateIssue::new(path, "TEMPLATE_CHANGED", message)
        });
        replaced.chain(left).chain(outdated)
    }

    pub(crate) fn count(&self, change: FileChange) -> usize {
        self.steps.iter().filter(|step| step.change == change).count()
    }
}

/// Whether a file has the content that was generated.
fn is_unedited(record: &ProvenanceRecord, path: &str, old: Option<&[u8]>) -> bool {
    match (record.hash_of(path), old) {
        (Some(hash), Some(old)) => {
            hash == provenance::hash_bytes(old) || hash == provenance::hash(&with_unix_line_ends(old))
        }
        _ => false,
    }
}

/// Returns the text with Unix line ends. Git on Windows may change line ends, which does not count as an edit.
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
                    let message = format!("{} is a broken symbolic link", link.display());
                    let hint = "create the folder that it points to, or choose another folder with --output";
                    Err(GenerateError::new(GenerateErrorKind::Io, message).hint(hint))
                }
            }
        }
        Err(error) => Err(failed("read", root, &error)),
    }
}

/// Whether a path is a symbolic link to a missing file.
fn is_broken_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) && !path.exists()
}

/// Whether a folder is empty or missing. A folder with only `.git` is empty, too.
fn is_empty(root: &Path) -> Result<bool, GenerateError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(failed("read", root, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed("read", root, &error))?;
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

/// Whether a relative path stays inside the folder, on every system.
pub(super) fn is_safe_path(path: &str) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    !path.is_empty()
        && !path.contains(['\\', ':', '\0'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && Path::new(path).components().all(plain)
}

/// Reads a file without following links. Returns `None` if it does not exist.
pub(super) fn read_file(root: &Path, path: &str) -> Result<Option<Vec<u8>>, GenerateError> {
    let mut at = root.to_path_buf();
    let parts: Vec<&str> = path.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        at.push(part);
        let is_last = index + 1 == parts.len();
        let found = match fs::symlink_metadata(&at) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // For example, a parent is a file.
            Err(error) => return Err(failed("read", &at, &error)),
        };
        let problem = match (is_last, found.is_symlink()) {
            (_, true) if is_broken_link(&at) => "is a broken symbolic link",
            (_, true) => "is a symbolic link; links are not followed",
            (false, _) if !found.is_dir() => "is a file, but must be a folder",
            (true, _) if !found.is_file() => "is not a file",
            _ => continue,
        };
        let message = format!("{} {problem}", at.display());
        return Err(GenerateError::new(GenerateErrorKind::Io, message)
            .hint("remove it, or choose another folder with --output"));
    }
    fs::read(&at).map(Some).map_err(|error| failed("read", &at, &error))
}
