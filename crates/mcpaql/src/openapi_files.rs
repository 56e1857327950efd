//! Reads OpenAPI descriptions from files and URLs, with all documents that they refer to.
//!
//! What always holds: a file refers only to files below its own folder or the current folder, and a URL only to the same origin.
//! Redirects and references reach private networks only if the operator allows it.
//! Everything is read before the import starts; the import itself reads nothing.

use crate::blocking::blocking;
use crate::file::{not_found_error, read_text};
use crate::output::{error_with_hint, messages};
use anyhow::Result;
use mcpaql_core::host::NetworkAccess;
use mcpaql_import::openapi::{LoadedReference, ReferenceLoader};
use mcpaql_runtime::fetch;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Maximum number of referenced documents.
const MAX_REFERENCED_DOCUMENTS: usize = 500;

/// An OpenAPI description, with the documents that it refers to.
#[derive(Debug, Clone)]
pub(crate) struct Description {
    /// Name for messages, without credentials.
    pub(crate) name: String,
    /// The URL it was fetched from, which is the base for relative server URLs.
    pub(crate) url: Option<Url>,
    /// The URL that the user typed, if it was fetched. Only its host is trusted.
    pub(crate) typed: Option<String>,
    pub(crate) text: String,
    pub(crate) references: Arc<DescriptionReferences>,
}

/// Reads a file or fetches a URL.
pub(crate) fn read(source: &str) -> Result<Description> {
    read_with(source, &NetworkAccess::default())
}

/// Reads a file or fetches a URL. Redirects and references of the URL may also go to the networks in `access`.
pub(crate) fn read_with(source: &str, access: &NetworkAccess) -> Result<Description> {
    if is_url(source) {
        let (url, text) = fetch_text(source, access)?;
        let mut granted = access.clone();
        granted.grant_address(source);
        let main = DescriptionLocation::Address(url.clone());
        let references = DescriptionReferences::read_all(main, &text, &granted);
        return Ok(Description {
            name: fetch::display_url(&url),
            typed: Some(source.to_owned()),
            url: Some(url),
            text,
            references: Arc::new(references),
        });
    }
    let path = Path::new(source);
    if !path.exists() {
        return Err(not_found_error(source, [], "pass a file, or a URL that starts with https://"));
    }
    Ok(from_text(source, read_text(path)?))
}

/// Returns the description with this text, and reads the documents that it refers to.
pub(crate) fn from_text(source: &str, text: String) -> Description {
    let main = DescriptionLocation::File(PathBuf::from(source));
    let references = DescriptionReferences::read_all(main, &text, &NetworkAccess::default());
    Description { name: source.to_owned(), url: None, typed: None, text, references: Arc::new(references) }
}

/// Returns the fingerprint of a text.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut digest = Digest::new();
    digest.0.update(text);
    format!("sha256:{}", digest.finish())
}

/// Computes the fingerprint of a list of texts.
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(Sha256::new())
    }

    /// Adds a text. Its length goes first, so that different lists never give the same input.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.update(text.len().to_le_bytes());
        self.0.update(text);
    }

    pub(crate) fn finish(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }
}

pub(crate) fn is_url(source: &str) -> bool {
    source.starts_with("https://") || source.starts_with("http://")
}

fn fetch_text(address: &str, access: &NetworkAccess) -> Result<(Url, String)> {
    blocking(async || {
        fetch::text(address, access).await.map_err(|error| error_with_hint(error.to_string(), error.hint()))
    })
}

/// Fetches a document that a description refers to.
fn fetch_reference(url: &Url, access: &NetworkAccess) -> Result<String> {
    let fetched = blocking(async || {
        let fetched = fetch::linked_text(url.as_str(), access).await;
        fetched.map_err(|error| error_with_hint(error.to_string(), error.hint()))
    });
    fetched.map(|(_, text)| text)
}

/// The location of a description or of a document that it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum DescriptionLocation {
    File(PathBuf),
    Address(Url),
}

impl DescriptionLocation {
    fn id(&self) -> String {
        match self {
            DescriptionLocation::File(path) => path.display().to_string(),
            DescriptionLocation::Address(url) => url.to_string(),
        }
    }

    /// Resolves a reference in the document at this location.
    fn resolve(&self, reference: &str) -> Result<DescriptionLocation, String> {
        let document = reference.split_once('#').map_or(reference, |(document, _)| document);
        match self {
            DescriptionLocation::Address(url) => {
                let target = url.join(document).map_err(|_| format!("'{document}' is not a valid URL"))?;
                if target.origin() != url.origin() {
                    return Err(format!("'{document}' is on another host; such references are not followed"));
                }
                Ok(DescriptionLocation::Address(target))
            }
            DescriptionLocation::File(_) if is_url(document) || document.contains("://") => {
                Err(format!("'{document}' is a URL; references from a file to the network are not followed"))
            }
            DescriptionLocation::File(path) => {
                let target = Path::new(document);
                let plain = |part: Component<'_>| {
                    matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir)
                };
                let known = target.extension().is_some_and(|extension| {
                    ["json", "yaml", "yml"].iter().any(|known| extension.eq_ignore_ascii_case(known))
                });
                if !target.components().all(plain) || !known {
                    return Err(format!("'{document}' is not the relative path of a JSON or YAML file"));
                }
                Ok(DescriptionLocation::File(normalize_path(
                    &path.parent().unwrap_or(Path::new("")).join(target),
                )))
            }
        }
    }

    fn read(&self, access: &NetworkAccess) -> Result<String, String> {
        match self {
            DescriptionLocation::File(path) => read_text(path),
            DescriptionLocation::Address(url) => fetch_reference(url, access),
        }
        .map_err(|error| messages(&error).join(": "))
    }
}

/// Returns the path without `.` and inner `..`.
fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// The documents that a description refers to: the text of each, or why it was not read.
#[derive(Debug)]
pub(crate) struct DescriptionReferences {
    main: DescriptionLocation,
    read: HashMap<DescriptionLocation, Result<String, String>>,
}

impl DescriptionReferences {
    fn read_all(main: DescriptionLocation, text: &str, access: &NetworkAccess) -> DescriptionReferences {
        let mut read: HashMap<DescriptionLocation, Result<String, String>> = HashMap::new();
        let mut queue: VecDeque<DescriptionLocation> = referenced_locations(&main, text);
        while let Some(location) = queue.pop_front() {
            if location == main || read.contains_key(&location) {
                continue;
            }
            if read.len() >= MAX_REFERENCED_DOCUMENTS {
                let reason =
                    format!("the description refers to more than {MAX_REFERENCED_DOCUMENTS} documents");
                read.insert(location, Err(reason));
                continue;
            }
            let text = match may_be_read(&main, &location) {
                true => location.read(access),
                false => Err(OUTSIDE_FOLDERS.to_owned()),
            };
            if let Ok(text) = &text {
                queue.extend(referenced_locations(&location, text));
            }
            read.insert(location, text);
        }
        DescriptionReferences { main, read }
    }

    /// Returns the files among the documents, including those that could not be read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.main).chain(self.read.keys()).filter_map(|location| match location {
            DescriptionLocation::File(path) => Some(path.as_path()),
            DescriptionLocation::Address(_) => None,
        })
    }

    /// Returns the texts that were read, in a fixed order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self.read.values().flatten().map(String::as_str).collect();
        texts.sort_unstable();
        texts
    }

    fn location(&self, id: &str) -> DescriptionLocation {
        let known = self.read.keys().find(|location| location.id() == id);
        known.unwrap_or(&self.main).clone()
    }
}

/// Why a file is not read.
const OUTSIDE_FOLDERS: &str = "it is outside the folder of the description and the current folder";

/// Whether a description may refer to this file: a downloaded description must not read arbitrary files of the machine.
fn may_be_read(main: &DescriptionLocation, location: &DescriptionLocation) -> bool {
    let (DescriptionLocation::File(main), DescriptionLocation::File(path)) = (main, location) else {
        return true;
    };
    let Ok(path) = path.canonicalize() else { return true };
    let folder = main.canonicalize().ok().and_then(|main| main.parent().map(Path::to_path_buf));
    let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
    folder.into_iter().chain(here).any(|root| path.starts_with(root))
}

fn referenced_locations(location: &DescriptionLocation, text: &str) -> VecDeque<DescriptionLocation> {
    external_references(text).filter_map(|reference| location.resolve(reference).ok()).collect()
}

/// Returns the value of each `$ref` in a JSON or YAML text, except pointers into the text itself. It also finds `$ref` in examples,
/// which only reads more than necessary.
fn external_references(text: &str) -> impl Iterator<Item = &str> {
    text.split("$ref").skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches(['"', '\'', ' ']).strip_prefix(':')?.trim_start();
        let value = match rest.chars().next()? {
            quote @ ('"' | '\'') => rest.get(1..)?.split(quote).next()?,
            _ => rest.split([',', '}', '\n', '\r']).next()?.trim(),
        };
        (!value.is_empty() && !value.starts_with('#') && value.len() < 2048).then_some(value)
    })
}

impl ReferenceLoader for DescriptionReferences {
    fn load(&self, base: &str, reference: &str) -> Result<LoadedReference, String> {
        let location = self.location(base).resolve(reference)?;
        if location == self.main {
            return Ok(LoadedReference { id: String::new(), text: String::new() });
        }
        match self.read.get(&location) {
            Some(Ok(text)) => Ok(LoadedReference { id: location.id(), text: text.clone() }),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err("the document was not read".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_leave_the_document_are_found() {
        let text = r##"{"$ref": "#/a", "x": {"$ref":"other.json#/b"}}
            $ref: './c.yaml'
            $ref: d.yml#/e
            y: {$ref: f.json}"##;
        let found: Vec<&str> = external_references(text).collect();
        assert_eq!(found, ["other.json#/b", "./c.yaml", "d.yml#/e", "f.json"]);
    }

    #[test]
    fn a_file_refers_to_files_and_a_url_to_its_origin() {
        let file = DescriptionLocation::File("api/openapi.json".into());
        assert_eq!(
            file.resolve("./schemas/../pet.yaml#/Pet"),
            Ok(DescriptionLocation::File("api/pet.yaml".into()))
        );
        assert_eq!(file.resolve("../common.json"), Ok(DescriptionLocation::File("common.json".into())));
        for refused in ["/etc/passwd", "/etc/x.json", "https://example.com/x.json", "file:///x.json", "notes"]
        {
            assert!(file.resolve(refused).is_err(), "{refused}");
        }
        let url = DescriptionLocation::Address(Url::parse("https://example.com/v1/openapi.json").unwrap());
        let other = DescriptionLocation::Address(Url::parse("https://example.com/v1/pet.json").unwrap());
        assert_eq!(url.resolve("pet.json#/Pet"), Ok(other));
        assert!(url.resolve("https://other.example/pet.json").is_err());
        assert!(url.resolve("http://example.com/pet.json").is_err());
    }
}
