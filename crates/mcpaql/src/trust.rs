//! What the operator trusts: grants for files and adapters, each bound to a fingerprint of its content.
//!
//! What always holds: nothing here asks a question; a content that differs from the granted one is not trusted; a file that cannot
//! be read is part of the content, too.

pub(crate) mod content;
pub(crate) mod summary;

use crate::blocking::blocking;
use crate::operator;
use crate::output::{HintedError, shell_word};
use anyhow::Result;
use mcpaql_core::gate::fingerprint::{fingerprint, sha256_hex};
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_runtime::operator::TrustGrant;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Larger programs are covered by their size only.
const MAX_PROGRAM_BYTES: u64 = 64 << 20;

/// Something that can be trusted, with the content that a grant covers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrustSubject {
    /// What identifies it, such as `file:/home/me/mcpaql.yaml`.
    pub(crate) id: String,
    pub(crate) kind: TrustKind,
    /// How the user writes it.
    pub(crate) shown: String,
    pub(crate) content: Value,
}

/// The kind of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustKind {
    /// `mcpaql.yaml` or another configuration, with every local file that it names.
    Configuration,
    /// An adapter document or an OpenAPI description.
    Document,
    /// One adapter of a configuration, or of this program.
    Adapter,
    /// An address.
    Address,
}

impl TrustKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            TrustKind::Configuration => "configuration",
            TrustKind::Document => "document",
            TrustKind::Adapter => "adapter",
            TrustKind::Address => "address",
        }
    }
}

impl TrustSubject {
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(&self.content)
    }

    /// Returns a grant of the current content.
    pub(crate) fn grant(&self, level: TrustLevel, accepts_edits: bool) -> TrustGrant {
        TrustGrant {
            subject: self.id.clone(),
            kind: self.kind.as_str().to_owned(),
            fingerprint: self.fingerprint(),
            level,
            accepts_edits,
            content: self.content.clone(),
            granted_at: 0,
            granted_by: operator::user(),
        }
    }

    /// Compares the content with what was granted.
    pub(crate) fn state(&self, grant: Option<&TrustGrant>) -> TrustState {
        match grant {
            None => TrustState::Absent,
            Some(grant) if grant.accepts_edits || grant.fingerprint == self.fingerprint() => {
                TrustState::Granted(grant.level)
            }
            Some(grant) => TrustState::Changed(grant.level),
        }
    }
}

/// Whether a subject is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// Its current content was granted.
    Granted(TrustLevel),
    /// Another content was granted.
    Changed(TrustLevel),
    Absent,
}

impl TrustState {
    /// Returns the level of an adapter that the operator names. A change loses a level that was raised, and keeps one that was lowered.
    pub(crate) fn level(self) -> Option<TrustLevel> {
        match self {
            TrustState::Granted(level) => Some(level),
            TrustState::Changed(level) => Some(level.min(TrustLevel::Validated)),
            TrustState::Absent => None,
        }
    }
}

/// A configuration that was found in the working folder and is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UntrustedConfig {
    name: String,
    has_changed: bool,
}

impl fmt::Display for UntrustedConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for UntrustedConfig {}

impl UntrustedConfig {
    /// Returns the reason if a subject is not trusted.
    pub(crate) fn of(subject: &TrustSubject, state: TrustState) -> Option<UntrustedConfig> {
        let name = subject.shown.clone();
        match state {
            TrustState::Granted(_) => None,
            TrustState::Changed(_) => Some(UntrustedConfig { name, has_changed: true }),
            TrustState::Absent => Some(UntrustedConfig { name, has_changed: false }),
        }
    }

    pub(crate) fn message(&self) -> String {
        match self.has_changed {
            true => format!("{} has changed since it was trusted", self.name),
            false => format!("{} is not trusted", self.name),
        }
    }

    /// Returns the command that shows or grants the content.
    pub(crate) fn command(&self) -> String {
        let show = if self.has_changed { "--show " } else { "" };
        format!("mcpaql trust {show}{}", typed_path(&self.name))
    }

    pub(crate) fn error(&self) -> anyhow::Error {
        let hinted = HintedError { message: self.message(), hint: self.command() };
        anyhow::Error::new(self.clone()).context(hinted)
    }
}

/// Returns a path as it is typed, so that it is never taken for a name.
pub(crate) fn typed_path(path: &str) -> String {
    let is_bare = matches!(Path::new(path).components().next(), Some(Component::Normal(_)));
    shell_word(&if is_bare { format!("./{path}") } else { path.to_owned() })
}

/// Returns the id of a file.
pub(crate) fn file_id(path: &Path) -> String {
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path));
    format!("file:{}", absolute.as_deref().unwrap_or(path).display())
}

/// Returns all grants; none if the operator's state does not exist yet.
pub(crate) fn grants() -> Result<Vec<TrustGrant>> {
    if !operator::has_state() {
        return Ok(Vec::new());
    }
    blocking(async || Ok(operator::open_state().await?.grants().await?))
}

/// Returns the grant of a subject.
pub(crate) fn grant_of(id: &str) -> Result<Option<TrustGrant>> {
    Ok(grants()?.into_iter().find(|grant| grant.subject == id))
}

/// Stores grants.
pub(crate) fn store(grants: &[TrustGrant]) -> Result<()> {
    blocking(async || {
        let state = operator::open_state().await?;
        for grant in grants {
            state.put_grant(grant.clone()).await?;
            operator::log_grant(grant, true).await?;
        }
        Ok(())
    })
}

/// Removes a grant, and returns whether there was one.
pub(crate) fn remove(grant: &TrustGrant) -> Result<bool> {
    blocking(async || {
        let is_removed = operator::open_state().await?.remove_grant(&grant.subject).await?;
        operator::log_grant(grant, false).await?;
        Ok(is_removed)
    })
}

/// Returns the hashes of files below a folder that the commands of a content name: programs and scripts that a checkout brings along.
pub(crate) fn programs(content: &Value, folder: &Path) -> Map<String, Value> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(root) = folder.canonicalize() else { return Map::new() };
    let mut found = Map::new();
    for word in content::command_words(content) {
        let candidates = [folder.join(word), PathBuf::from(word)];
        // A link in the folder counts, wherever it leads.
        let inside = |path: &PathBuf| {
            let parent = path.parent()?.canonicalize().ok()?;
            let real = path.canonicalize().ok()?;
            let is_inside = parent.starts_with(&root) || real.starts_with(&root);
            (is_inside && real.is_file()).then_some(real)
        };
        if let Some(path) = candidates.iter().find_map(inside) {
            found.insert(word.to_owned(), hash_of_file(&path).into());
        }
    }
    found
}

fn hash_of_file(path: &Path) -> String {
    match std::fs::metadata(path) {
        Ok(data) if data.len() > MAX_PROGRAM_BYTES => format!("{} bytes", data.len()),
        _ => std::fs::read(path).map_or_else(|_| "cannot be read".to_owned(), |bytes| sha256_hex(&bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn subject(content: Value) -> TrustSubject {
        TrustSubject { id: "file:/x".into(), kind: TrustKind::Document, shown: "x.yaml".into(), content }
    }

    #[test]
    fn a_change_loses_trust_and_keeps_distrust() {
        let old = subject(json!({"host": "a"}));
        let new = subject(json!({"host": "b"}));
        for (level, edits, after) in [
            (TrustLevel::Certified, false, TrustState::Changed(TrustLevel::Certified)),
            (TrustLevel::Certified, true, TrustState::Granted(TrustLevel::Certified)),
            (TrustLevel::Untested, false, TrustState::Changed(TrustLevel::Untested)),
        ] {
            let grant = old.grant(level, edits);
            assert_eq!(old.state(Some(&grant)), TrustState::Granted(level));
            assert_eq!(new.state(Some(&grant)), after);
        }
        assert_eq!(TrustState::Changed(TrustLevel::Certified).level(), Some(TrustLevel::Validated));
        assert_eq!(TrustState::Changed(TrustLevel::Untested).level(), Some(TrustLevel::Untested));
        assert_eq!(TrustState::Absent.level(), None);
    }

    #[test]
    fn a_path_is_never_typed_as_a_name() {
        for (path, typed) in [
            ("mcpaql.yaml", "./mcpaql.yaml"),
            ("a/mcpaql.yaml", "./a/mcpaql.yaml"),
            ("/a/mcpaql.yaml", "/a/mcpaql.yaml"),
            ("../mcpaql.yaml", "../mcpaql.yaml"),
            ("a b.yaml", "'./a b.yaml'"),
        ] {
            assert_eq!(typed_path(path), typed);
        }
    }

    #[test]
    fn programs_of_the_folder_are_covered_by_their_content_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.js"), "1").unwrap();
        let content = json!({"mcp": {"command": ["sh", "./server.js", "/bin/sh", "../outside"]}});
        let before = programs(&content, folder.path());
        assert_eq!(Vec::from_iter(before.keys()), ["./server.js"]);
        std::fs::write(folder.path().join("server.js"), "2").unwrap();
        assert_ne!(before, programs(&content, folder.path()));
    }
}
