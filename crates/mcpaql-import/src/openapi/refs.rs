//! Resolves references: inside a document, to other documents, and through chains.
//!
//! What always holds: other documents come only from the caller's [`ReferenceLoader`], and each is loaded once. The cache of
//! values is bounded. A cycle of references is reported and never followed forever.

use super::document::OpenApiDocument;
use super::scan;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Resolves references.
pub trait Refs {
    /// Returns the target of a `$ref` in the document `base` ("" is the main document). A chain of references is followed to
    /// its end.
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved>;
}

/// The target of a reference.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The value.
    pub value: Arc<Value>,
    /// The id of its document; references inside `value` are relative to it.
    pub base: String,
    /// The JSON pointer to the value in its document.
    pub pointer: String,
}

/// Loads referenced documents. The loader decides which sources, sizes and numbers of documents are allowed.
pub trait ReferenceLoader: Send + Sync {
    /// Loads the document that `reference` (without its fragment) in the document `base` leads to; "" is the main document.
    ///
    /// # Errors
    ///
    /// Returns the reason, in one sentence.
    fn load(&self, base: &str, reference: &str) -> Result<LoadedReference, String>;
}

/// A loaded document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedReference {
    /// The id of the document, the same for every reference to it; "" for the main document.
    pub id: String,
    /// The text of the document; may be empty for the main document.
    pub text: String,
}

/// A loader that loads nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLoader;

impl ReferenceLoader for NoLoader {
    fn load(&self, _: &str, _: &str) -> Result<LoadedReference, String> {
        Err("other documents are not loaded".to_owned())
    }
}

/// Maximum references in a chain.
const MAX_CHAIN: usize = 32;
/// Maximum bytes of text that cached values were read from.
const MAX_CACHED_TEXT: usize = 1 << 20;
/// Maximum number of problems that are kept.
const MAX_PROBLEMS: usize = 1000;
/// Keys next to a `$ref` that do not change its meaning.
const ANNOTATIONS: &[&str] =
    &["$ref", "summary", "description", "title", "deprecated", "example", "examples"];

/// The main document and all documents that it refers to.
pub(crate) struct Documents {
    pub(crate) main: Arc<OpenApiDocument>,
    loader: Arc<dyn ReferenceLoader>,
    others: Mutex<ReferencedDocuments>,
    kept: Mutex<ValueCache>,
    problems: Mutex<Problems>,
}

#[derive(Default)]
struct ReferencedDocuments {
    /// (base, reference) → id.
    ids: HashMap<(String, String), Option<String>>,
    documents: HashMap<String, Option<Arc<OpenApiDocument>>>,
}

#[derive(Default)]
struct ValueCache {
    values: HashMap<(String, String), Arc<Value>>,
    text: usize,
}

#[derive(Default)]
struct Problems {
    seen: HashSet<String>,
    list: Vec<Diagnostic>,
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Documents").field("bytes", &self.main.text().len()).finish_non_exhaustive()
    }
}

/// A position in a document.
#[derive(Debug, Clone)]
pub(crate) struct DocumentLocation {
    pub(crate) document: Arc<OpenApiDocument>,
    pub(crate) base: String,
    pub(crate) pointer: String,
}

impl Documents {
    pub(crate) fn new(main: OpenApiDocument, loader: Arc<dyn ReferenceLoader>) -> Documents {
        Documents {
            main: Arc::new(main),
            loader,
            others: Mutex::default(),
            kept: Mutex::default(),
            problems: Mutex::default(),
        }
    }

    /// Returns the problems with references so far.
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        lock(&self.problems).list.clone()
    }

    /// Returns the document with this id.
    pub(crate) fn document(&self, base: &str) -> Option<Arc<OpenApiDocument>> {
        if base.is_empty() {
            return Some(self.main.clone());
        }
        lock(&self.others).documents.get(base).cloned().flatten()
    }

    /// Returns the position that a reference leads to, without following a reference there.
    pub(crate) fn locate(&self, base: &str, reference: &str) -> Option<DocumentLocation> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let pointer = percent_decoded(fragment);
        if !pointer.is_empty() && !pointer.starts_with('/') {
            self.report(reference, "anchors are not supported, only JSON pointers");
            return None;
        }
        if file.is_empty() {
            return Some(DocumentLocation { document: self.document(base)?, base: base.to_owned(), pointer });
        }
        if let Some(location) = self.bare_name(base, file) {
            return Some(location);
        }
        let base = self.load(base, file)?;
        Some(DocumentLocation { document: self.document(&base)?, base, pointer })
    }

    /// Returns the position of a bare name: old tools wrote `Pet` instead of `#/definitions/Pet`.
    fn bare_name(&self, base: &str, name: &str) -> Option<DocumentLocation> {
        if name.contains(['.', '/', ':']) {
            return None;
        }
        let document = self.document(base)?;
        let pointers = ["components/schemas", "definitions"].map(|section| format!("/{section}/{name}"));
        let pointer = pointers.into_iter().find(|pointer| document.at(pointer).is_some())?;
        Some(DocumentLocation { document, base: base.to_owned(), pointer })
    }

    fn load(&self, base: &str, file: &str) -> Option<String> {
        let key = (base.to_owned(), file.to_owned());
        if let Some(known) = lock(&self.others).ids.get(&key) {
            return known.clone();
        }
        // Not under the lock: loading may take long.
        let id = match self.loader.load(base, file) {
            Ok(loaded) => self.keep(loaded, file),
            Err(reason) => {
                self.report(file, &reason);
                None
            }
        };
        lock(&self.others).ids.insert(key, id.clone());
        id
    }

    fn keep(&self, loaded: LoadedReference, file: &str) -> Option<String> {
        let LoadedReference { id, text } = loaded;
        if id.is_empty() {
            return Some(id);
        }
        if let Some(known) = lock(&self.others).documents.get(&id) {
            return known.is_some().then_some(id);
        }
        let document = match OpenApiDocument::read(text, &mut Vec::new()) {
            Ok(document) => Some(Arc::new(document)),
            Err(problems) => {
                let reason = problems.first().map_or("it cannot be read", |problem| &problem.message);
                self.report(file, reason);
                None
            }
        };
        let known = lock(&self.others).documents.entry(id.clone()).or_insert(document).is_some();
        known.then_some(id)
    }

    fn report(&self, reference: &str, reason: &str) {
        let mut problems = lock(&self.problems);
        if problems.list.len() < MAX_PROBLEMS && problems.seen.insert(reference.to_owned()) {
            let message = format!("The reference '{reference}' cannot be resolved: {reason}");
            problems.list.push(Diagnostic::warning(Code::SchemaUnresolvedRef, "", message).found(reference));
        }
    }

    fn read(&self, location: &DocumentLocation, reference: &str) -> Option<Arc<Value>> {
        let key = (location.base.clone(), location.pointer.clone());
        if let Some(value) = lock(&self.kept).values.get(&key) {
            return Some(value.clone());
        }
        let Some(text) = location.document.at(&location.pointer) else {
            self.report(reference, "its target does not exist");
            return None;
        };
        let value = match OpenApiDocument::value(text) {
            Ok(value) => Arc::new(value),
            Err(reason) => {
                self.report(reference, &reason);
                return None;
            }
        };
        let mut kept = lock(&self.kept);
        if text.len() < MAX_CACHED_TEXT / 4 {
            if kept.text + text.len() > MAX_CACHED_TEXT {
                *kept = ValueCache::default();
            }
            kept.text += text.len();
            kept.values.insert(key, value.clone());
        }
        Some(value)
    }

    /// Returns the position at the end of a chain of references, without reading the value.
    pub(crate) fn locate_end(&self, base: &str, reference: &str) -> Option<DocumentLocation> {
        let mut location = self.locate(base, reference)?;
        for _ in 0..MAX_CHAIN {
            let next = scan::child(location.document.at(&location.pointer)?, "$ref").and_then(scan::string);
            let Some(next) = next.map(std::borrow::Cow::into_owned) else { return Some(location) };
            location = self.locate(&location.base, &next)?;
        }
        self.report(reference, "it refers to itself");
        None
    }
}

impl Refs for Documents {
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved> {
        let mut location = self.locate(base, reference)?;
        let mut reference = reference.to_owned();
        let mut seen = HashSet::new();
        loop {
            if seen.len() > MAX_CHAIN || !seen.insert((location.base.clone(), location.pointer.clone())) {
                self.report(&reference, "it refers to itself");
                return None;
            }
            let value = self.read(&location, &reference)?;
            let Some(next) = only_reference(&value) else {
                return Some(Resolved { value, base: location.base, pointer: location.pointer });
            };
            reference = next.to_owned();
            location = self.locate(&location.base, &reference)?;
        }
    }
}

/// Returns the reference, if the value is only a reference.
fn only_reference(value: &Value) -> Option<&str> {
    let map = value.as_object()?;
    let reference = map.get("$ref")?.as_str()?;
    map.keys().all(|key| ANNOTATIONS.contains(&key.as_str()) || key.starts_with("x-")).then_some(reference)
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = match (first, behind) {
            (b'%', [high, low, ..]) => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        match (code, behind) {
            (Some(byte), [_, _, after @ ..]) => {
                bytes.push(byte);
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
