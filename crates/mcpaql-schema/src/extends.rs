//! Resolves `extends`: members of a file can extend each other and built-in members.
//!
//! ```
//! use mcpaql_schema::extends::ExtendableSet;
//! use mcpaql_schema::reader::DocumentReader;
//! use serde_json::json;
//!
//! let file = json!({"ours": {"extends": ["base"], "limit": 5}});
//! let policies = ExtendableSet {
//!     noun: "policy",
//!     members: file.as_object().unwrap(),
//!     builtin: &["base"],
//!     builtin_value: &|_| Some(json!({"limit": 10, "strict": true})),
//! };
//! let read = |_: &mut DocumentReader, _: &str, ours: &mcpaql_schema::reader::DocumentObject<'_>| {
//!     (ours.get("limit").cloned(), ours.get("strict").cloned())
//! };
//! let found = policies.read_all(&mut DocumentReader::default(), "", read);
//! assert_eq!(found, [(Some(json!(5)), Some(json!(true)))]);
//! ```
//!
//! A member overrides what it extends: objects are merged, everything else is replaced. A member is resolved once, even
//! if many others extend it.

use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::reader::{DocumentObject, DocumentReader, child};
use crate::suggest;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Maximum length of a chain of `extends`. A longer one is a mistake or an attack.
const MAX_EXTENDS_DEPTH: usize = 32;

/// The members that can be extended.
pub struct ExtendableSet<'a> {
    /// The noun for a member in messages, such as `policy`.
    pub noun: &'static str,
    /// The members of the file.
    pub members: &'a Map<String, Value>,
    /// The names of the built-in members.
    pub builtin: &'a [&'static str],
    /// Returns a built-in member as written.
    pub builtin_value: &'a dyn Fn(&str) -> Option<Value>,
}

impl ExtendableSet<'_> {
    /// Reads all members of the file at `pointer`, and resolves `extends`. A member may not have the name of a built-in
    /// member: otherwise a document that uses the name would mean something else without the file.
    pub fn read_all<T>(
        &self,
        reader: &mut DocumentReader,
        pointer: &str,
        read: impl Fn(&mut DocumentReader, &str, &DocumentObject<'_>) -> T,
    ) -> Vec<T> {
        let mut resolved = HashMap::new();
        let mut all = Vec::new();
        for (name, value) in self.members {
            let pointer = child(pointer, name);
            if self.builtin.contains(&name.as_str()) {
                let message = format!("'{name}' is a built-in {}", self.noun);
                let diagnostic = Diagnostic::error(Code::SchemaDuplicateName, &pointer, message);
                reader.push(
                    diagnostic
                        .at_key()
                        .suggest(format!("choose another name, and add `extends: {name}` to extend it")),
                );
                continue;
            }
            if reader.object(value, &pointer).is_some() {
                let value = self.resolve(reader, value, &pointer, &mut vec![name.clone()], &mut resolved);
                all.extend(reader.object(&value, &pointer).map(|object| read(reader, name, &object)));
            }
        }
        all
    }

    /// Resolves `extends` of a member and returns the merged value. `chain` lists the members from the first one in the
    /// chain of `extends` to this one.
    pub fn resolve(
        &self,
        reader: &mut DocumentReader,
        value: &Value,
        pointer: &str,
        chain: &mut Vec<String>,
        known: &mut HashMap<String, Value>,
    ) -> Value {
        let Some(map) = value.as_object() else { return value.clone() };
        let object = DocumentObject { map, pointer: pointer.to_owned() };
        let mut merged = Value::Object(Map::new());
        for base in reader.strings(&object, "extends") {
            if let Some(found) = known.get(&base) {
                merge(&mut merged, found.clone());
            } else if chain.contains(&base) || chain.len() >= MAX_EXTENDS_DEPTH {
                let problem = if chain.contains(&base) {
                    "extends itself"
                } else {
                    "is too deep in a chain of `extends`"
                };
                let message = format!("The {} '{base}' {problem}", self.noun);
                reader.push(Diagnostic::error(
                    Code::SchemaInvalidValue,
                    object.pointer_to("extends"),
                    message,
                ));
            } else if let Some(found) =
                self.members.get(&base).cloned().or_else(|| (self.builtin_value)(&base))
            {
                chain.push(base.clone());
                let found = self.resolve(reader, &found, pointer, chain, known);
                chain.pop();
                merge(&mut merged, found.clone());
                known.insert(base, found);
            } else {
                reader.push(self.missing(&base, object.pointer_to("extends")));
            }
        }
        merge(&mut merged, value.clone());
        merged
    }

    fn missing(&self, base: &str, pointer: String) -> Diagnostic {
        let known = self.members.keys().map(String::as_str).chain(self.builtin.iter().copied());
        let message = format!("Unknown {} '{base}' in `extends`", self.noun);
        let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message);
        match suggest::nearest(base, known) {
            Some(near) => diagnostic.suggest(format!("did you mean `{near}`?")),
            None => diagnostic.expected_one_of(self.builtin),
        }
    }
}

/// Merges `from` into `into`: objects are merged, everything else is replaced.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(slot) => merge(slot, value),
                    None => {
                        into.insert(key, value);
                    }
                }
            }
        }
        (into, from) => *into = from,
    }
}
