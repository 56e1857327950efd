//! The configuration file `mcpaql.yaml`: which adapters a server carries, and what is decided for them there.
//!
//! ```yaml
//! mode: semantic            # for every adapter below, unless it says otherwise
//! data: ./data              # where stores live
//! adapters:
//!   - document: github-api-adapter.md
//!     prefix: gh_
//!   - builtin: notebook
//! ```

use crate::adapter::{ErrorPolicy, Mode};
use crate::catalog::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::reader::{Object, Reader, child};
use serde_json::Value;

const SETTING_KEYS: &[&str] =
    &["mode", "profile", "pattern", "prefix", "policy", "operation_enum", "errors", "budget"];
const TOP_KEYS: &[&str] = &["data", "adapters"];
const ENTRY_KEYS: &[&str] = &["document", "builtin"];

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// For every adapter.
    pub settings: Settings,
    /// Folder of the stores, relative to the file.
    pub data: Option<String>,
    /// In order.
    pub adapters: Vec<AdapterEntry>,
}

/// One adapter of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterEntry {
    /// Where the document comes from.
    pub origin: Origin,
    /// For this adapter; over the file's own.
    pub settings: Settings,
    /// Where the document is named, for reports.
    pub pointer: String,
}

/// Where an adapter's document comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file, relative to the configuration file.
    Document(String),
    /// One that ships with the program.
    Builtin(String),
}

/// Reads the configuration from its untyped value.
#[must_use]
pub fn load(value: &Value) -> (Config, Vec<Diagnostic>) {
    let mut reader = Reader::default();
    let config = reader.object(value, "").map(|object| read(&mut reader, &object)).unwrap_or_default();
    (config, reader.diagnostics)
}

fn read(reader: &mut Reader, object: &Object<'_>) -> Config {
    let keys: Vec<&str> = SETTING_KEYS.iter().chain(TOP_KEYS).copied().collect();
    reader.known(object, &keys);
    let settings = settings(reader, object);
    let data = reader.string(object, "data");
    if object.get("adapters").is_none() {
        reader.missing(object, "adapters", "a list of adapters, each with `document` or `builtin`");
    }
    let mut adapters = Vec::new();
    for (index, item) in reader.array(object, "adapters").unwrap_or_default().iter().enumerate() {
        adapters.extend(entry(reader, item, child(&object.at("adapters"), index)));
    }
    Config { settings, data, adapters }
}

fn entry(reader: &mut Reader, item: &Value, pointer: String) -> Option<AdapterEntry> {
    if let Value::String(path) = item {
        // The shortest way to name a document.
        let origin = Origin::Document(path.clone());
        return Some(AdapterEntry { origin, settings: Settings::default(), pointer });
    }
    let object = reader.object(item, &pointer)?;
    let keys: Vec<&str> = SETTING_KEYS.iter().chain(ENTRY_KEYS).copied().collect();
    reader.known(&object, &keys);
    let settings = settings(reader, &object);
    let (origin, pointer) = match (reader.string(&object, "document"), reader.string(&object, "builtin")) {
        (Some(document), None) => (Origin::Document(document), object.at("document")),
        (None, Some(builtin)) => (Origin::Builtin(builtin), object.at("builtin")),
        (Some(_), Some(_)) => {
            reader.push(Diagnostic::error(
                Code::SchemaInvalidValue,
                &pointer,
                "An adapter is either a document or a builtin, not both",
            ));
            return None;
        }
        (None, None) => {
            reader.missing(&object, "document", "the path of an adapter document");
            return None;
        }
    };
    Some(AdapterEntry { origin, settings, pointer })
}

fn settings(reader: &mut Reader, object: &Object<'_>) -> Settings {
    Settings {
        mode: reader.choice(object, "mode", &Mode::ALL.map(Mode::as_str), Mode::parse),
        profile: reader.string(object, "profile"),
        pattern: reader.string(object, "pattern"),
        prefix: reader.string(object, "prefix"),
        policy: reader.string(object, "policy"),
        operation_enum: reader.boolean(object, "operation_enum"),
        errors: reader.choice(object, "errors", ErrorPolicy::WORDS, ErrorPolicy::parse),
        budget: reader.unsigned(object, "budget").and_then(|budget| usize::try_from(budget).ok()),
    }
}
