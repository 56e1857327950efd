//! Where a `$ref` leads: within the document, into other files, through chains, never in circles.
//!
//! What always holds: other documents are only what the caller's [`Loader`] hands out, each is loaded once, and what is kept
//! of read values is bounded.

use super::document::OpenApiDocument;
use super::scan;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Something that can follow references.
pub trait Refs {
    /// The value a `$ref` leads to, read from `base` (a document id; "" is the main document); with the document it
    /// stands in. A chain of references is followed to its end.
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved>;
}

/// A value that a reference led to.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// What stands there.
    pub value: Arc<Value>,
    /// The document it stands in: what references inside `value` are read from.
    pub base: String,
    /// Where in that document, as a JSON pointer.
    pub pointer: String,
}

/// Where other documents come from. How many, how large and from where is the loader's decision.
pub trait ReferenceLoader: Send + Sync {
    /// The document that `reference`, without its fragment, means when it stands in the document `base` ("" is the main
    /// document).
    ///
    /// # Errors
    ///
    /// Why not, in one sentence.
    fn load(&self, base: &str, reference: &str) -> Result<LoadedReference, String>;
}

/// A document that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedReference {
    /// What it is called from now on, the same for every reference to it; "" for the main document.
    pub id: String,
    /// Its text; may be empty for the main document.
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

/// How many links a chain of references may have.
const MAX_CHAIN: usize = 32;
/// How much text the kept values were read from, at most.
const MAX_CACHED_TEXT: usize = 1 << 20;
/// How many problems are remembered.
const MAX_PROBLEMS: usize = 1000;
/// What may stand beside a `$ref` without changing what it means.
const ANNOTATIONS: &[&str] =
    &["$ref", "summary", "description", "title", "deprecated", "example", "examples"];

/// The main document and all that it leads to.
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

/// A place in a document.
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

    /// What went wrong with references so far.
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        lock(&self.problems).list.clone()
    }

    /// The document of that id.
    pub(crate) fn document(&self, base: &str) -> Option<Arc<OpenApiDocument>> {
        if base.is_empty() {
            return Some(self.main.clone());
        }
        lock(&self.others).documents.get(base).cloned().flatten()
    }

    /// The place a reference means, without following what stands there.
    pub(crate) fn locate(&self, base: &str, reference: &str) -> Option<DocumentLocation> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let pointer = percent_decoded(fragment);
        if !pointer.is_empty() && !pointer.starts_with('/') {
            self.report(reference, "it names an anchor, and only JSON pointers are followed");
            return None;
        }
        if file.is_empty() {
            return Some(DocumentLocation { document: self.document(base)?, base: base.to_owned(), pointer });
        }
        if let Some(place) = self.bare_name(base, file) {
            return Some(place);
        }
        let base = self.load(base, file)?;
        Some(DocumentLocation { document: self.document(&base)?, base, pointer })
    }

    /// `Pet` instead of `#/definitions/Pet`, as old tools wrote it.
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
        // Not under the lock: loading may take its time.
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
            Err(faults) => {
                let reason = faults.first().map_or("it cannot be read", |fault| &fault.message);
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
            let message = format!("The reference '{reference}' leads nowhere: {reason}");
            problems.list.push(Diagnostic::warning(Code::SchemaUnresolvedRef, "", message).found(reference));
        }
    }

    fn read(&self, place: &DocumentLocation, reference: &str) -> Option<Arc<Value>> {
        let key = (place.base.clone(), place.pointer.clone());
        if let Some(value) = lock(&self.kept).values.get(&key) {
            return Some(value.clone());
        }
        let Some(text) = place.document.at(&place.pointer) else {
            self.report(reference, "nothing stands there");
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

    /// The place at the end of a chain of references, without reading what stands there.
    pub(crate) fn locate_end(&self, base: &str, reference: &str) -> Option<DocumentLocation> {
        let mut place = self.locate(base, reference)?;
        for _ in 0..MAX_CHAIN {
            let next = scan::child(place.document.at(&place.pointer)?, "$ref").and_then(scan::string);
            let Some(next) = next.map(std::borrow::Cow::into_owned) else { return Some(place) };
            place = self.locate(&place.base, &next)?;
        }
        self.report(reference, "it leads back to itself");
        None
    }
}

impl Refs for Documents {
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved> {
        let mut place = self.locate(base, reference)?;
        let mut reference = reference.to_owned();
        let mut seen = HashSet::new();
        loop {
            if seen.len() > MAX_CHAIN || !seen.insert((place.base.clone(), place.pointer.clone())) {
                self.report(&reference, "it leads back to itself");
                return None;
            }
            let value = self.read(&place, &reference)?;
            let Some(next) = only_reference(&value) else {
                return Some(Resolved { value, base: place.base, pointer: place.pointer });
            };
            reference = next.to_owned();
            place = self.locate(&place.base, &reference)?;
        }
    }
}

/// The reference of a value that is nothing but one.
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
