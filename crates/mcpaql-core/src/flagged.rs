//! Texts of an adapter that look poisoned: which operations are withheld, which are only reported, and texts without invisible
//! characters.
//!
//! Every catalog passes through here once, when it is compiled. Operations of a library pass through when they are read.
//!
//! What always holds: no text of a catalog has invisible characters, except those that a script or an emoji needs. An operation
//! with a certain finding is not in the catalog, unless the operator allows it. A document cannot allow its own operations.

mod texts;

use crate::adapter::Adapter;
use crate::diagnostic::Diagnostic;
use crate::error::{Code, OpError};
use crate::operation::{Operation, operation_pointer};
use indexmap::IndexMap;
use mcpaql_lexicon::poison::{Certainty, PoisonFinding};
use serde_json::{Map, Value};
use std::collections::HashSet;
pub use texts::clean_value;
use texts::{TextScan, clean, clean_operation, remove_prose};

/// A poisoned text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlaggedText {
    /// Where it is: a pointer into the model, such as `/operations/get_sum/description`.
    pub pointer: String,
    /// What it does.
    pub finding: PoisonFinding,
}

/// An operation, or the adapter itself, with poisoned texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlaggedOperation {
    /// The name of the operation; empty for texts of the adapter and of its types.
    pub name: String,
    /// Whether the operation is not served.
    pub is_withheld: bool,
    /// The texts.
    pub texts: Vec<FlaggedText>,
}

impl FlaggedOperation {
    /// Returns the most serious finding in words: "asks for a file with keys: 'read ~/.ssh'".
    #[must_use]
    pub fn reason(&self) -> String {
        let text = self.texts.iter().max_by_key(|text| text.finding.certainty);
        text.map(|text| format!("{}: '{}'", text.finding.what, text.finding.evidence)).unwrap_or_default()
    }

    /// Returns the flagged operation as data, for reports.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("operation".into(), self.name.as_str().into());
        out.insert("withheld".into(), self.is_withheld.into());
        let findings = self.texts.iter().map(|text| {
            let certainty =
                if text.finding.certainty == Certainty::Certain { "certain" } else { "suspected" };
            let mut finding = Map::new();
            finding.insert("kind".into(), text.finding.kind.as_str().into());
            finding.insert("certainty".into(), certainty.into());
            finding.insert("at".into(), text.pointer.as_str().into());
            finding.insert("evidence".into(), text.finding.evidence.as_str().into());
            Value::Object(finding)
        });
        out.insert("findings".into(), findings.collect());
        Value::Object(out)
    }

    /// Returns the problems of a document: an error for an operation that is withheld, otherwise warnings.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let subject = match self.name.as_str() {
            "" => "The document".to_owned(),
            name => format!("'{name}'"),
        };
        let diagnostic = |text: &FlaggedText| {
            let FlaggedText { pointer, finding } = text;
            let message = format!("{subject} {}: '{}'", finding.what, finding.evidence);
            let is_error = self.is_withheld && finding.certainty == Certainty::Certain;
            if is_error {
                Diagnostic::error(Code::SchemaInvalidValue, pointer, message).suggest(format!(
                    "the operation is withheld; remove the text, or list '{}' under `allow_flagged` in mcpaql.yaml or the overrides",
                    self.name
                ))
            } else {
                Diagnostic::warning(Code::SchemaInvalidValue, pointer, message)
                    .suggest("models read this text; describe only what the operation does")
            }
        };
        self.texts.iter().map(diagnostic).collect()
    }

    /// Returns the error of a call of a withheld operation.
    pub(crate) fn refusal(&self) -> OpError {
        let name = &self.name;
        OpError::new(
            Code::PermissionTrust,
            format!(
                "The operation '{name}' is withheld, because its description may be an attack. Tell the user: the operator can review it and list it under `allow_flagged`."
            ),
        )
        .with_detail("operation", name.as_str())
        .with_detail("setting", "allow_flagged")
    }
}

/// Removes invisible characters from all texts of an adapter, and returns the poisoned ones. `allowed` are the operations that the
/// operator serves in spite of their texts, by name or by original id.
pub(crate) fn inspect(adapter: &mut Adapter, allowed: &[String]) -> Vec<FlaggedOperation> {
    let names: HashSet<&str> = adapter
        .operations
        .iter()
        .flat_map(|operation| operation.names().chain(operation.source_id.as_deref()))
        .collect();
    let is_known = |name: &str| names.contains(name);
    let mut flagged: Vec<FlaggedOperation> =
        adapter.operations.iter().filter_map(|operation| scan(operation, &is_known, allowed)).collect();
    flagged.extend(inspect_texts(
        &mut adapter.types,
        &mut [&mut adapter.description, &mut adapter.display_name],
    ));
    adapter.operations.iter_mut().for_each(clean_operation);
    adapter.tags.iter_mut().for_each(clean);
    flagged
}

/// Removes invisible characters from an imported adapter, and returns what is poisoned in it as problems of the import. Other texts
/// stay as they are: whoever serves the document decides about them.
#[must_use]
pub fn clean_adapter(adapter: &mut Adapter) -> Vec<Diagnostic> {
    let flagged = inspect(&mut adapter.clone(), &[]);
    adapter.operations.iter_mut().for_each(clean_operation);
    adapter.types.values_mut().for_each(clean_value);
    [&mut adapter.description, &mut adapter.display_name]
        .into_iter()
        .chain(&mut adapter.tags)
        .for_each(clean);
    flagged.iter().flat_map(FlaggedOperation::diagnostics).collect()
}

/// Scans an entry of a list of prompts or resources: its names, descriptions and arguments.
#[must_use]
pub fn scan_entry(entry: &Value) -> Vec<PoisonFinding> {
    let found = TextScan::new(String::new(), &|_| true).entry(entry);
    found.into_iter().map(|text| text.finding).collect()
}

/// Like [`inspect`], for an operation of a library and the types that it uses.
pub(crate) fn inspect_operation(
    operation: &mut Operation,
    types: &mut IndexMap<String, Value>,
    allowed: &[String],
) -> Option<FlaggedOperation> {
    let flagged = scan(operation, &|_| false, allowed);
    inspect_texts(types, &mut []);
    clean_operation(operation);
    flagged
}

/// Returns a type without invisible characters and without poisoned texts.
pub(crate) fn inspect_type(name: &str, schema: Value) -> Value {
    let mut types = IndexMap::from([(name.to_owned(), schema)]);
    inspect_texts(&mut types, &mut []);
    types.swap_remove(name).unwrap_or_default()
}

/// Scans one operation.
fn scan(
    operation: &Operation,
    is_known: &dyn Fn(&str) -> bool,
    allowed: &[String],
) -> Option<FlaggedOperation> {
    let is_own = |name: &str| {
        is_known(name) || operation.params.iter().any(|param| param.name == name || param.wire == name)
    };
    let texts = TextScan::new(operation_pointer(&operation.name), &is_own).operation(operation);
    let is_certain = texts.iter().any(|text| text.finding.certainty == Certainty::Certain);
    let is_allowed = operation
        .names()
        .chain(operation.source_id.as_deref())
        .any(|name| allowed.iter().any(|allowed| allowed == name));
    (!texts.is_empty()).then(|| FlaggedOperation {
        name: operation.name.clone(),
        is_withheld: is_certain && !is_allowed,
        texts,
    })
}

/// Cleans texts that belong to no operation. A text with a certain finding is removed, because the operations are needed.
fn inspect_texts(types: &mut IndexMap<String, Value>, prose: &mut [&mut String]) -> Option<FlaggedOperation> {
    let is_certain = |text: &FlaggedText| text.finding.certainty == Certainty::Certain;
    let mut texts = Vec::new();
    for text in prose {
        let found = TextScan::new("/description".to_owned(), &|_| true).text(text);
        if found.iter().any(is_certain) {
            text.clear();
        }
        texts.extend(found);
        clean(text);
    }
    for (name, schema) in types {
        let scan = |schema: &Value| TextScan::new(format!("/types/{name}"), &|_| true).schema(schema);
        let found = scan(schema);
        if found.iter().any(is_certain) {
            remove_prose(schema);
            if scan(schema).iter().any(is_certain) {
                *schema = Value::Object(Map::new());
            }
        }
        texts.extend(found);
        clean_value(schema);
    }
    (!texts.is_empty()).then(|| FlaggedOperation { name: String::new(), is_withheld: false, texts })
}

#[cfg(test)]
mod tests;
