//! Descriptions of APIs: reading them from files and addresses, with the other documents they refer to.
//!
//! A description may lead to other documents, but not anywhere: a file to files below its folder or the present one, an
//! address to the same origin. Everything is read before the import begins, which itself reads nothing.

use crate::blocking::blocking;
use crate::file::read_text;
use crate::output::error_with_hint;
use anyhow::Result;
use mcpaql_import::openapi::{LoadedReference, ReferenceLoader};
use mcpaql_runtime::fetch;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Maximum number of other documents that are read.
const MAX_REFERENCED_DOCUMENTS: usize = 500;

/// A description of an API, with what it refers to.
#[derive(Debug, Clone)]
pub(crate) struct Description {
    /// As people may see it.
    pub(crate) name: String,
    /// Its address, where it has one: what relative servers are relative to.
    pub(crate) url: Option<Url>,
    pub(crate) text: String,
    pub(crate) references: Arc<DescriptionReferences>,
}

/// Reads a file, or fetches an address.
pub(crate) fn read(source: &str) -> Result<Description> {
    if is_url(source) {
        let (url, text) = fetch_text(source)?;
        let others = DescriptionReferences::read_all(DescriptionLocation::Address(url.clone()), &text);
        return Ok(Description {
            name: fetch::display_url(&url),
            url: Some(url),
            text,
            references: Arc::new(others),
        });
    }
    let path = Path::new(source);
    if !path.exists() {
        return Err(error_with_hint(
            format!("there is no file '{source}'"),
            "name a file, or an address that begins with https://",
        ));
    }
    Ok(from_text(source, read_text(path)?))
}

/// A description whose text was read already.
pub(crate) fn from_text(source: &str, text: String) -> Description {
    let others = DescriptionReferences::read_all(DescriptionLocation::File(PathBuf::from(source)), &text);
    Description { name: source.to_owned(), url: None, text, references: Arc::new(others) }
}

/// Fingerprint of a text.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut digest = Digest::new();
    digest.0.update(text);
    format!("sha256:{}", digest.finish())
}

/// Fingerprint of a list of texts.
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(Sha256::new())
    }

    /// The length goes first, so that no two lists run together alike.
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

fn fetch_text(address: &str) -> Result<(Url, String)> {
    blocking(async || Ok(fetch::text(address).await?))
}

/// Where a document stands.
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

    /// Where a reference from here leads.
    fn resolve(&self, reference: &str) -> Result<DescriptionLocation, String> {
        let document = reference.split_once('#').map_or(reference, |(document, _)| document);
        match self {
            DescriptionLocation::Address(url) => {
                let target = url.join(document).map_err(|_| format!("'{document}' is not an address"))?;
                if target.origin() != url.origin() {
                    return Err(format!("'{document}' leads to another host, which is not followed"));
                }
                Ok(DescriptionLocation::Address(target))
            }
            DescriptionLocation::File(_) if is_url(document) || document.contains("://") => {
                Err(format!("'{document}' leads from a file to the network, which is not followed"))
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
                    return Err(format!("'{document}' is not a JSON or YAML file beside the document"));
                }
                Ok(DescriptionLocation::File(normalize_path(
                    &path.parent().unwrap_or(Path::new("")).join(target),
                )))
            }
        }
    }

    fn read(&self) -> Result<String, String> {
        match self {
            DescriptionLocation::File(path) => read_text(path).map_err(|error| format!("{error:#}")),
            DescriptionLocation::Address(url) => {
                fetch_text(url.as_str()).map(|(_, text)| text).map_err(|error| format!("{error:#}"))
            }
        }
    }
}

/// The path without `.` and inner `..`.
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

/// The documents that a description refers to, each read once, or why it was not.
#[derive(Debug)]
pub(crate) struct DescriptionReferences {
    main: DescriptionLocation,
    read: HashMap<DescriptionLocation, Result<String, String>>,
}

impl DescriptionReferences {
    fn read_all(main: DescriptionLocation, text: &str) -> DescriptionReferences {
        let mut read: HashMap<DescriptionLocation, Result<String, String>> = HashMap::new();
        let mut wanted: VecDeque<DescriptionLocation> = referenced_locations(&main, text);
        while let Some(place) = wanted.pop_front() {
            if place == main || read.contains_key(&place) {
                continue;
            }
            if read.len() >= MAX_REFERENCED_DOCUMENTS {
                read.insert(place, Err(format!("more than {MAX_REFERENCED_DOCUMENTS} other documents")));
                continue;
            }
            let text =
                if may_be_read(&main, &place) { place.read() } else { Err(OUTSIDE_FOLDERS.to_owned()) };
            if let Ok(text) = &text {
                wanted.extend(referenced_locations(&place, text));
            }
            read.insert(place, text);
        }
        DescriptionReferences { main, read }
    }

    /// The files among them, read or not.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.main).chain(self.read.keys()).filter_map(|place| match place {
            DescriptionLocation::File(path) => Some(path.as_path()),
            DescriptionLocation::Address(_) => None,
        })
    }

    /// What was read, in a fixed order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self.read.values().flatten().map(String::as_str).collect();
        texts.sort_unstable();
        texts
    }

    fn place(&self, id: &str) -> DescriptionLocation {
        let known = self.read.keys().find(|place| place.id() == id);
        known.unwrap_or(&self.main).clone()
    }
}

/// Why a file is not read.
const OUTSIDE_FOLDERS: &str = "it is neither below the folder of the description nor below the present one";

/// Whether a file may be read for a description: a download must not make anything out of what else is on the machine.
fn may_be_read(main: &DescriptionLocation, place: &DescriptionLocation) -> bool {
    let (DescriptionLocation::File(main), DescriptionLocation::File(path)) = (main, place) else {
        return true;
    };
    let Ok(path) = path.canonicalize() else { return true };
    let beside = main.canonicalize().ok().and_then(|main| main.parent().map(Path::to_path_buf));
    let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
    beside.into_iter().chain(here).any(|root| path.starts_with(root))
}

fn referenced_locations(place: &DescriptionLocation, text: &str) -> VecDeque<DescriptionLocation> {
    external_references(text).filter_map(|reference| place.resolve(reference).ok()).collect()
}

/// What stands behind each `$ref` of a JSON or YAML text that is not a pointer into it. It may find too much, such as in
/// an example, but nothing is lost by that.
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
        let place = self.place(base).resolve(reference)?;
        if place == self.main {
            return Ok(LoadedReference { id: String::new(), text: String::new() });
        }
        match self.read.get(&place) {
            Some(Ok(text)) => Ok(LoadedReference { id: place.id(), text: text.clone() }),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err("it was not read".to_owned()),
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
    fn a_file_leads_to_files_and_an_address_to_its_origin() {
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
        let address =
            DescriptionLocation::Address(Url::parse("https://example.com/v1/openapi.json").unwrap());
        let led = DescriptionLocation::Address(Url::parse("https://example.com/v1/pet.json").unwrap());
        assert_eq!(address.resolve("pet.json#/Pet"), Ok(led));
        assert!(address.resolve("https://other.example/pet.json").is_err());
        assert!(address.resolve("http://example.com/pet.json").is_err());
    }
}
