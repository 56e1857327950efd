//! Named members of a file that build upon each other, and upon those of this version, with `extends`.
//!
//! What is written stands over what it extends: objects are merged, everything else is replaced. A member is made whole once,
//! however many others extend it.

use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::reader::{DocumentObject, DocumentReader, child};
use crate::suggest;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A longer line of descent is a mistake, or mischief.
const MAX_EXTENDS_DEPTH: usize = 32;

/// Where members are looked for.
pub struct ExtendableSet<'a> {
    /// What a member is, for reports: `policy`.
    pub noun: &'static str,
    /// Those of the file.
    pub members: &'a Map<String, Value>,
    /// The names of those of this version.
    pub builtin: &'a [&'static str],
    /// One of this version, as written.
    pub builtin_value: &'a dyn Fn(&str) -> Option<Value>,
}

impl ExtendableSet<'_> {
    /// Reads every member, each with what it extends; `pointer` is where they stand. None has the name of one of this version,
    /// because documents that name it would mean something else wherever the file is not.
    pub fn read_all<T>(
        &self,
        reader: &mut DocumentReader,
        pointer: &str,
        read: impl Fn(&mut DocumentReader, &str, &DocumentObject<'_>) -> T,
    ) -> Vec<T> {
        let mut whole = HashMap::new();
        let mut all = Vec::new();
        for (name, value) in self.members {
            let pointer = child(pointer, name);
            if self.builtin.contains(&name.as_str()) {
                let message = format!("'{name}' is a {} of this version", self.noun);
                let diagnostic = Diagnostic::error(Code::SchemaDuplicateName, &pointer, message);
                reader.push(
                    diagnostic.at_key().suggest(format!(
                        "choose another name, and write `extends: {name}` to build upon it"
                    )),
                );
                continue;
            }
            if reader.object(value, &pointer).is_some() {
                let value = self.resolve(reader, value, &pointer, &mut vec![name.clone()], &mut whole);
                all.extend(reader.object(&value, &pointer).map(|object| read(reader, name, &object)));
            }
        }
        all
    }

    /// What is written over what it extends, as one value. `chain` is who extends it, down to itself.
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
        let mut whole = Value::Object(Map::new());
        for base in reader.strings(&object, "extends") {
            if let Some(found) = known.get(&base) {
                merge(&mut whole, found.clone());
            } else if chain.contains(&base) || chain.len() >= MAX_EXTENDS_DEPTH {
                let problem = if chain.contains(&base) { "extends itself" } else { "is extended too often" };
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
                merge(&mut whole, found.clone());
                known.insert(base, found);
            } else {
                reader.push(self.missing(&base, object.pointer_to("extends")));
            }
        }
        merge(&mut whole, value.clone());
        whole
    }

    fn missing(&self, base: &str, pointer: String) -> Diagnostic {
        let known = self.members.keys().map(String::as_str).chain(self.builtin.iter().copied());
        let message = format!("There is no {} '{base}' to extend", self.noun);
        let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message);
        match suggest::nearest(base, known) {
            Some(near) => diagnostic.suggest(format!("did you mean `{near}`?")),
            None => diagnostic.expected(format!("one of {}", self.builtin.join(", "))),
        }
    }
}

/// Objects are merged, everything else is replaced.
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
