//! `MCPAQL-PROVENANCE.json`: the source and the generator of a project, and a hash of each generated file.
//!
//! ```
//! use mcpaql_generate::provenance::fingerprint_of;
//! use serde_json::json;
//!
//! assert_eq!(fingerprint_of(&json!({"a": 1, "b": 2})), fingerprint_of(&json!({"b": 2, "a": 1})));
//! ```
//!
//! What always holds: two documents with the same content have the same fingerprint, in any format; the hashes reveal which
//! generated files were edited. The file contains no local paths.

use crate::{FileOwner, Project, ProjectDocument, ProjectFile, ProjectOptions, VERSION};
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::introspect::PROTOCOL_VERSION;
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file name.
pub const FILE: &str = "MCPAQL-PROVENANCE.json";
/// The name of the generator.
pub const GENERATOR: &str = "mcpaql";

/// The origin of a document that its author did not write.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentOrigin {
    /// The kind of the origin.
    pub kind: OriginKind,
    /// A file name without its folder, a URL without credentials and query, or a command.
    pub name: String,
    /// The version that the origin states.
    pub version: Option<String>,
    /// The fingerprint of the origin, as in [`fingerprint`].
    pub fingerprint: String,
    /// The fingerprints of all documents that it refers to.
    pub references: Vec<String>,
    /// The options of the import that were set.
    pub options: Map<String, Value>,
    /// The name of the adapter in `mcpaql.yaml`, if its settings apply.
    pub configured_as: Option<String>,
}

/// The kind of a document's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginKind {
    /// An adapter document with settings from a configuration.
    Document,
    /// An OpenAPI description.
    Openapi,
    /// A saved answer of `tools/list`.
    Tools,
    /// A running MCP server.
    Server,
}

impl OriginKind {
    /// Returns the word in the provenance file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OriginKind::Document => "document",
            OriginKind::Openapi => "openapi",
            OriginKind::Tools => "tools",
            OriginKind::Server => "server",
        }
    }

    /// Returns the name in a sentence.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            OriginKind::Document => "the document",
            OriginKind::Openapi => "the OpenAPI description",
            OriginKind::Tools => "the saved tools",
            OriginKind::Server => "the MCP server",
        }
    }
}

impl DocumentOrigin {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("kind".to_owned(), self.kind.as_str().into());
        out.insert("name".to_owned(), self.name.as_str().into());
        out.extend(self.version.as_deref().map(|version| ("version".to_owned(), version.into())));
        out.insert("fingerprint".to_owned(), self.fingerprint.as_str().into());
        if !self.references.is_empty() {
            out.insert("references".to_owned(), self.references.clone().into());
        }
        if !self.options.is_empty() {
            out.insert("options".to_owned(), self.options.clone().into());
        }
        out.extend(self.configured_as.as_deref().map(|name| ("configured_as".to_owned(), name.into())));
        out.into()
    }
}

/// Returns the hash of a text: `sha256:…`.
#[must_use]
pub fn hash(text: &str) -> String {
    hash_bytes(text.as_bytes())
}

/// Returns the hash of bytes: `sha256:…`.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Returns the fingerprint of a document: the hash of its value with sorted keys and without spaces.
#[must_use]
pub fn fingerprint(document: &ProjectDocument<'_>) -> String {
    match Source::new(document.file, document.text).parse() {
        Ok(parsed) => fingerprint_of(&parsed.value),
        Err(_) => hash(document.text),
    }
}

/// Returns the fingerprint of a value.
#[must_use]
pub fn fingerprint_of(value: &Value) -> String {
    hash(&canonical(value))
}

/// Writes a value as JavaScript's `JSON.stringify` does if all keys are sorted.
fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(&mut out, value);
    out
}

fn write_canonical(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_canonical(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(out, value);
            }
            out.push('}');
        }
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            // `1.0` and `1` are the same number, and JavaScript writes it without the point.
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => {
                let _ = write!(out, "{}", if float == 0.0 { 0.0 } else { float });
            }
            _ => out.push_str(&number.to_string()),
        },
        other => out.push_str(&other.to_string()),
    }
}

/// Returns the text of the file. `files` are all other files of the project.
pub(crate) fn text(
    project: &Project<'_>,
    fingerprint: &str,
    files: &[ProjectFile],
    timestamp: Option<&str>,
) -> String {
    let of = |owner: FileOwner| -> Map<String, Value> {
        let files = files.iter().filter(|file| file.owner == owner);
        files.map(|file| (file.path.clone(), hash(&file.text).into())).collect()
    };
    let (hashes, authors) = (of(FileOwner::Generator), of(FileOwner::Author));
    let mut generation = Map::new();
    generation.extend(timestamp.map(|timestamp| ("timestamp".to_owned(), timestamp.into())));
    generation.insert("target".to_owned(), project.options.language.as_str().into());
    generation.insert("options".to_owned(), options(&project.options).into());
    let mut schema = json!({
        "fingerprint": fingerprint,
        "filename": project.document.file,
        "version": project.catalog.adapter.version,
    });
    if let (Some(origin), Some(members)) = (&project.origin, schema.as_object_mut()) {
        members.insert("derived_from".to_owned(), origin.to_json());
    }
    let value = json!({
        "mcpaql_spec_version": PROTOCOL_VERSION,
        "generator": {
            "name": GENERATOR,
            "version": VERSION,
            "repository": env!("CARGO_PKG_REPOSITORY"),
        },
        "schema": schema,
        "generation": generation,
        "verification": {"code_hash": code_hash(&hashes)},
        "files": hashes,
        "handwritten": authors,
    });
    format!("{value:#}\n")
}

/// Returns one hash over all generated files: the hash of one line `HASH  PATH` per file, ordered by path, in the format of `sha256sum`.
fn code_hash(hashes: &Map<String, Value>) -> String {
    let lines = hashes.iter().map(|(path, hash)| {
        let hash = hash.as_str().unwrap_or_default();
        format!("{}  {path}\n", hash.strip_prefix("sha256:").unwrap_or(hash))
    });
    hash(&lines.collect::<String>())
}

/// Returns the options that differ from the defaults.
fn options(options: &ProjectOptions) -> Map<String, Value> {
    let usual = ProjectOptions::new(options.language);
    let mut out = Map::new();
    out.insert("license".to_owned(), options.license.as_str().into());
    let settings = &options.settings;
    let chosen = [
        ("copyright", options.copyright.clone()),
        ("mode", settings.mode.map(|mode| mode.as_str().to_owned())),
        ("profile", settings.profile.clone()),
        ("prefix", settings.prefix.clone()),
        ("policy", settings.policy.clone()),
        ("runtime", (options.runtime != usual.runtime).then(|| options.runtime.clone())),
    ];
    out.extend(chosen.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
    if options.skip_unsupported {
        out.insert("skip_unsupported".to_owned(), true.into());
    }
    if options.trust != usual.trust {
        out.insert("trust".to_owned(), options.trust.as_str().into());
    }
    out.extend(settings_without_flag(settings));
    out
}

/// Returns the settings of a configuration that have no flag.
pub(crate) fn settings_without_flag(settings: &AdapterSettings) -> Map<String, Value> {
    let errors = settings.errors.map(|errors| match errors {
        ErrorPolicy::Unrecoverable => "unrecoverable",
        ErrorPolicy::All => "all",
    });
    let policies: Vec<&str> = settings.policies.iter().map(|policy| policy.name.as_str()).collect();
    let decided = [
        ("policies", (!policies.is_empty()).then(|| policies.into())),
        ("pattern", settings.pattern.clone().map(Value::from)),
        ("operation_enum", settings.operation_enum.map(Value::from)),
        ("errors", errors.map(Value::from)),
        ("results", settings.results.map(|results| results.as_str().into())),
        ("budget", settings.budget.map(Value::from)),
        ("targets", settings.targets.clone().map(Value::from)),
    ];
    decided.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The provenance file of an earlier run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProvenanceRecord {
    /// Path → hash of each generated file.
    pub files: BTreeMap<String, String>,
    /// Path → hash of each file that was generated for the author to edit.
    pub handwritten: BTreeMap<String, String>,
    /// The language of the project.
    pub target: Option<String>,
    /// The trust level, if it is not the default.
    pub trust: Option<String>,
}

impl ProvenanceRecord {
    /// Reads the file; `None` if the text is not a provenance file.
    #[must_use]
    pub fn read(text: &str) -> Option<ProvenanceRecord> {
        let value: Value = serde_json::from_str(text).ok()?;
        let hashes = |key: &str| -> Option<BTreeMap<String, String>> {
            let files = value.get(key)?.as_object()?;
            files.iter().map(|(path, hash)| Some((path.clone(), hash.as_str()?.to_owned()))).collect()
        };
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Some(ProvenanceRecord {
            files: hashes("files")?,
            handwritten: hashes("handwritten").unwrap_or_default(),
            target: text("/generation/target"),
            trust: text("/generation/options/trust"),
        })
    }

    /// Returns the hash of a file as it was generated, for both kinds of files.
    #[must_use]
    pub fn hash_of(&self, path: &str) -> Option<&str> {
        self.files.get(path).or_else(|| self.handwritten.get(path)).map(String::as_str)
    }

    /// Returns the paths of all generated files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().chain(self.handwritten.keys()).map(String::as_str)
    }
}

/// Returns whether two provenance files differ only in the timestamp.
#[must_use]
pub fn equal_except_timestamp(old: &str, new: &str) -> bool {
    let timeless = |text: &str| {
        let mut value: Value = serde_json::from_str(text).ok()?;
        let timed = value.get_mut("generation")?.as_object_mut()?.remove("timestamp").is_some();
        Some((timed, value))
    };
    matches!((timeless(old), timeless(new)), (Some(old), Some(new)) if old == new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_content_has_the_same_fingerprint() {
        let yaml = "# a comment\nname: x\nlist: [1, 2.0]\n";
        let json = r#"{"list": [1.0, 2], "name": "x"}"#;
        let markdown = "---\nlist:\n  - 1\n  - 2\nname: \"x\"\n---\nProse.\n";
        let of = |file: &str, text: &str| fingerprint(&ProjectDocument { file, text });
        let first = of("a.yaml", yaml);
        assert_eq!(first, of("a.json", json));
        assert_eq!(first, of("a.md", markdown));
        assert_ne!(first, of("a.yaml", "name: x\nlist: [1, 3]\n"));
        // printf '{"list":[1,2],"name":"x"}' | sha256sum
        assert_eq!(first, hash(r#"{"list":[1,2],"name":"x"}"#));
    }

    #[test]
    fn keys_are_sorted_as_javascript_sorts_them() {
        let value = json!({"\u{ff61}": 1, "\u{1f600}": 2, "b": {"z": -0.0, "a": 1.5}, "a": "\u{7f}\n"});
        assert_eq!(
            canonical(&value),
            "{\"a\":\"\u{7f}\\n\",\"b\":{\"a\":1.5,\"z\":0},\"\u{1f600}\":2,\"\u{ff61}\":1}"
        );
    }

    #[test]
    fn a_record_is_read_and_other_texts_are_none() {
        let text = r#"{"generation": {"target": "rust"}, "files": {"a": "sha256:1"}}"#;
        let record = ProvenanceRecord::read(text).unwrap();
        assert_eq!(
            (record.files.get("a").unwrap().as_str(), record.target.as_deref()),
            ("sha256:1", Some("rust"))
        );
        for other in ["", "[]", "{}", r#"{"files": {"a": 1}}"#, r#"{"files": []}"#] {
            assert_eq!(ProvenanceRecord::read(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_timestamp_may_differ() {
        let at = |time: &str| format!(r#"{{"generation": {{"timestamp": "{time}", "target": "rust"}}}}"#);
        assert!(equal_except_timestamp(&at("a"), &at("b")));
        assert!(!equal_except_timestamp(&at("a"), r#"{"generation": {"target": "rust"}}"#));
        assert!(!equal_except_timestamp(&at("a"), &at("b").replace("rust", "python")));
        assert!(!equal_except_timestamp("", ""));
    }
}
