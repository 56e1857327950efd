//! Reads overrides files: an author's corrections of an imported API or MCP server, applied on every import.
//!
//! ```
//! use mcpaql_document::{overrides, source::Source};
//!
//! let source = Source::new("overrides.yaml", "operations: {delete_repo: {include: false}}");
//! assert_eq!(overrides::parse(&source).unwrap().operations.len(), 1);
//! ```
//!
//! ```yaml
//! adapter:
//!   name: github
//! operations:
//!   repos/get-content:            # the original id, the imported name, or `GET /repos/{owner}/{repo}`
//!     name: read_file
//!     description: Reads a file or lists a folder.
//!     params:
//!       path: {description: Path in the repository, from: [search_code]}
//!   delete_repo: {include: false}
//!   issue_write:                  # a tool with several operations, selected by the parameter `method`
//!     split:
//!       by: method
//!       values:
//!         create: {name: create_issue, category: CREATE}
//! allow_flagged: [get_fact]       # served although its description looks like an attack
//! ```

use crate::load;
use crate::source::Source;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::{Category, Danger, Operation};
use mcpaql_core::policy::{Hint, HintOverrides};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use serde_json::Value;

const TOP_KEYS: &[&str] = &["adapter", "operations", "allow_flagged"];
const ADAPTER_KEYS: &[&str] = &["name", "display_name", "description", "base_url"];
const OPERATION_KEYS: &[&str] = &[
    "name",
    "category",
    "effect",
    "danger",
    "idempotent",
    "annotations",
    "title",
    "description",
    "include",
    "deprecated",
    "tags",
    "params",
    "split",
];
const SPLIT_KEYS: &[&str] = &["by", "values"];
const PARAM_KEYS: &[&str] = &["description", "sensitive", "from"];

/// The content of an overrides file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Overrides of the adapter itself.
    pub adapter: AdapterOverride,
    /// Overrides of operations, by name, original id, or method and path.
    pub operations: IndexMap<String, OperationOverride>,
    /// Operations that are served although their texts look like an attack, by name or original id.
    pub allow_flagged: Vec<String>,
}

/// Overrides of the adapter itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdapterOverride {
    /// The adapter's name: lower case, with hyphens or underscores.
    pub name: Option<String>,
    /// The name that people see.
    pub display_name: Option<String>,
    /// The purpose of the API.
    pub description: Option<String>,
    /// The URL that calls are sent to.
    pub base_url: Option<String>,
}

/// Overrides of one operation; an empty field keeps the imported value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationOverride {
    /// The new name.
    pub name: Option<String>,
    /// The category.
    pub category: Option<Category>,
    /// The effect; it also sets the category if `category` is `None`.
    pub effect: Option<Effect>,
    /// The danger level.
    pub danger: Option<Danger>,
    /// Whether a repeated call has no further effect.
    pub idempotent: Option<bool>,
    /// Hints that replace those derived from the operation's facts.
    pub hints: HintOverrides,
    /// The title that people see.
    pub title: Option<String>,
    /// A description of what the operation does.
    pub description: Option<String>,
    /// Whether the operation is imported.
    pub include: Option<bool>,
    /// Marks the operation as deprecated; the text names the replacement.
    pub deprecated: Option<String>,
    /// Groups for discovery.
    pub tags: Option<Vec<String>>,
    /// Overrides of parameters, by the name callers use, or by wire name.
    pub params: IndexMap<String, ParamOverride>,
    /// Splits the operation into several; only tools of MCP servers can be split.
    pub split: Option<Split>,
}

/// How to split a tool into one operation per value of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The parameter that selects the operation, by the name callers use, or by wire name.
    pub by: String,
    /// The operation of each value. Values that are not listed stay together in one operation. If the map is empty, each
    /// value becomes an operation.
    pub values: IndexMap<String, SplitOperation>,
}

/// One operation of a split tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitOperation {
    /// The name, category, title and other overrides of this operation.
    pub overrides: OperationOverride,
    /// The parameters that this operation uses, by name or wire name; `None` means all.
    pub params: Option<Vec<String>>,
}

/// Overrides of one parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamOverride {
    /// The description that models read.
    pub description: Option<String>,
    /// Whether values are never logged and never echoed.
    pub sensitive: Option<bool>,
    /// Operations that return a value for this parameter.
    pub from: Option<Vec<String>>,
}

impl OperationOverride {
    /// The category, or else the category of the effect.
    #[must_use]
    pub fn category(&self) -> Option<Category> {
        self.category.or(self.effect.map(Effect::category))
    }

    /// Replaces texts, hints, tags and parameters of an operation. Name, category, effect and danger are applied earlier,
    /// when the operation is classified.
    pub fn apply(&self, operation: &mut Operation) {
        if let Some(title) = &self.title {
            operation.title.clone_from(title);
        }
        if let Some(description) = &self.description {
            operation.description.clone_from(description);
        }
        if self.danger.is_some() {
            operation.danger_notes.get_or_insert_default().is_operators = true;
        }
        operation.hints = self.hints.with_fallback(operation.hints);
        if let Some(tags) = &self.tags {
            operation.tags.clone_from(tags);
        }
        if self.deprecated.is_some() {
            operation.deprecated.clone_from(&self.deprecated);
        }
        for param in &mut operation.params {
            let Some(overrides) = self.params.get(&param.name).or_else(|| self.params.get(&param.wire))
            else {
                continue;
            };
            if let Some(description) = &overrides.description {
                param.description.clone_from(description);
            }
            param.sensitive = overrides.sensitive.unwrap_or(param.sensitive);
            if let Some(from) = &overrides.from {
                param.from.clone_from(from);
            }
        }
    }
}

/// Reads an overrides file.
///
/// # Errors
/// Returns all problems of the file with their positions, if one of them is an error.
pub fn parse(source: &Source) -> Result<Overrides, Vec<Diagnostic>> {
    let parsed = source.parse()?;
    let mut reader = DocumentReader { diagnostics: parsed.diagnostics };
    let overrides = reader.object(&parsed.value, "").map(|object| read(&mut reader, &object));
    let mut diagnostics = reader.diagnostics;
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        source.locate(&mut diagnostics);
        return Err(diagnostics);
    }
    Ok(overrides.unwrap_or_default())
}

fn read(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Overrides {
    reject_unknown_keys(reader, object, TOP_KEYS);
    let adapter = reader.member(object, "adapter").map(|adapter| {
        reject_unknown_keys(reader, &adapter, ADAPTER_KEYS);
        AdapterOverride {
            name: reader.string(&adapter, "name"),
            display_name: reader.string(&adapter, "display_name"),
            description: reader.string(&adapter, "description"),
            base_url: reader.string(&adapter, "base_url"),
        }
    });
    let mut operations = IndexMap::new();
    if let Some(members) = reader.member(object, "operations") {
        for (key, value) in members.map {
            if let Some(member) = reader.object(value, &child(&members.pointer, key)) {
                operations.insert(key.clone(), operation_override(reader, &member));
            }
        }
    }
    let allow_flagged = reader.strings(object, "allow_flagged");
    Overrides { adapter: adapter.unwrap_or_default(), operations, allow_flagged }
}

fn operation_override(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> OperationOverride {
    reject_unknown_keys(reader, object, OPERATION_KEYS);
    let mut params = IndexMap::new();
    if let Some(members) = reader.member(object, "params") {
        for (key, value) in members.map {
            let Some(param) = reader.object(value, &child(&members.pointer, key)) else { continue };
            reject_unknown_keys(reader, &param, PARAM_KEYS);
            let from = param.get("from").map(|_| reader.strings(&param, "from"));
            let overrides = ParamOverride {
                description: reader.string(&param, "description"),
                sensitive: reader.boolean(&param, "sensitive"),
                from,
            };
            params.insert(key.clone(), overrides);
        }
    }
    let split = reader.member(object, "split").and_then(|member| split(reader, &member));
    OperationOverride { params, split, ..operation_fields(reader, object) }
}

/// Reads all keys of an operation except `params` and `split`.
fn operation_fields(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> OperationOverride {
    let categories = Category::ALL.map(Category::as_str);
    let deprecated = match object.get("deprecated") {
        Some(Value::Bool(true)) => Some(String::new()),
        _ => reader.string(object, "deprecated"),
    };
    OperationOverride {
        name: reader.string(object, "name"),
        category: reader.choice(object, "category", &categories, Category::parse),
        effect: reader.choice(object, "effect", &Effect::ALL.map(Effect::as_str), Effect::parse),
        danger: reader.choice(object, "danger", &Danger::ALL.map(Danger::as_str), Danger::parse),
        idempotent: reader.boolean(object, "idempotent"),
        hints: hints(reader, object),
        title: load::shown_name(reader, object, "title", "title"),
        description: reader.string(object, "description"),
        include: reader.boolean(object, "include"),
        deprecated,
        tags: object.get("tags").map(|_| reader.strings(object, "tags")),
        params: IndexMap::new(),
        split: None,
    }
}

fn hints(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> HintOverrides {
    let Some(member) = reader.member(object, "annotations") else { return HintOverrides::default() };
    reject_unknown_keys(reader, &member, &Hint::ALL.map(Hint::key));
    let mut hint = |hint: Hint| reader.boolean(&member, hint.key());
    HintOverrides {
        read_only: hint(Hint::ReadOnly),
        destructive: hint(Hint::Destructive),
        idempotent: hint(Hint::Idempotent),
        open_world: hint(Hint::OpenWorld),
    }
}

fn split(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<Split> {
    reject_unknown_keys(reader, object, SPLIT_KEYS);
    let by = reader.required_string(object, "by");
    let mut values = IndexMap::new();
    if let Some(members) = reader.member(object, "values") {
        let keys: Vec<&str> = OPERATION_KEYS.iter().copied().filter(|key| *key != "split").collect();
        for (value, operation) in members.map {
            let Some(operation) = reader.object(operation, &child(&members.pointer, value)) else { continue };
            reject_unknown_keys(reader, &operation, &keys);
            let params = operation.get("params").map(|_| reader.strings(&operation, "params"));
            let overrides = operation_fields(reader, &operation);
            values.insert(value.clone(), SplitOperation { overrides, params });
        }
    }
    Some(Split { by: by?, values })
}

/// Reports unknown keys as errors, not warnings: a misspelled key would silently override nothing.
fn reject_unknown_keys(reader: &mut DocumentReader, object: &DocumentObject<'_>, keys: &[&str]) {
    let before = reader.diagnostics.len();
    reader.check_keys(object, keys);
    for diagnostic in reader.diagnostics.iter_mut().skip(before) {
        diagnostic.severity = Severity::Error;
    }
}

/// The diagnostic for an override of an unknown operation.
#[must_use]
pub fn unmatched<'a>(key: &str, candidates: impl Iterator<Item = &'a str>) -> Diagnostic {
    let pointer = child("/operations", key);
    let message = format!("The override of '{key}' matches no operation");
    let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message)
        .expected("an operation's name, its original id, or METHOD /path")
        .found(key);
    suggesting(diagnostic, key, candidates)
}

/// The diagnostic for a second override of the same operation, under another of its names.
#[must_use]
pub fn duplicate_override(key: &str) -> Diagnostic {
    let message = format!("The operation of the override '{key}' already has an override under another name");
    Diagnostic::error(Code::SchemaDuplicateName, child("/operations", key), message)
        .suggest("combine the two overrides")
}

/// The diagnostic for an override of an unknown parameter.
#[must_use]
pub fn unmatched_param<'a>(key: &str, param: &str, candidates: impl Iterator<Item = &'a str>) -> Diagnostic {
    let message = format!("The override of parameter '{param}' matches no parameter of '{key}'");
    let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, param_pointer(key, param), message);
    suggesting(diagnostic.found(param), param, candidates)
}

/// The diagnostic for a split that is not possible; `path` leads from `split` to the wrong value.
#[must_use]
pub fn invalid_split(key: &str, path: &[&str], message: String) -> Diagnostic {
    let pointer = path.iter().fold(child(&child("/operations", key), "split"), |at, step| child(&at, step));
    Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message)
}

/// The diagnostic for a `from` that names an unknown operation.
#[must_use]
pub fn unmatched_producer<'a>(
    key: &str,
    param: &str,
    producer: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let message = format!("'{producer}' in `from` of parameter '{param}' matches no operation");
    let pointer = child(&param_pointer(key, param), "from");
    let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message);
    suggesting(diagnostic.found(producer), producer, candidates)
}

fn param_pointer(key: &str, param: &str) -> String {
    child(&child(&child("/operations", key), "params"), param)
}

fn suggesting<'a>(diagnostic: Diagnostic, word: &str, words: impl Iterator<Item = &'a str>) -> Diagnostic {
    match mcpaql_core::suggest::nearest(word, words) {
        Some(near) => diagnostic.suggest(format!("did you mean '{near}'?")),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Overrides, Vec<Diagnostic>> {
        parse(&Source::new("overrides.yaml", text))
    }

    #[test]
    fn overrides_are_read() {
        let overrides = read(
            "adapter: {name: github}\noperations:\n  repos/get:\n    name: get_repo\n    effect: delete\n    \
             deprecated: true\n    params: {owner: {from: [list_users], sensitive: true}}\n",
        )
        .unwrap();
        assert_eq!(overrides.adapter.name.as_deref(), Some("github"));
        let operation = &overrides.operations["repos/get"];
        assert_eq!(
            (operation.category(), operation.deprecated.as_deref()),
            (Some(Category::Delete), Some(""))
        );
        assert_eq!(operation.params["owner"].from.as_deref(), Some(&["list_users".to_owned()][..]));
    }

    #[test]
    fn a_split_is_read() {
        let overrides = read(
            "operations:\n  issue_write:\n    split:\n      by: method\n      values:\n        \
             create: {name: create_issue, category: CREATE, params: [title]}\n        update: {}\n",
        )
        .unwrap();
        let split = overrides.operations["issue_write"].split.as_ref().unwrap();
        let create = &split.values["create"];
        assert_eq!(create.overrides.category(), Some(Category::Create));
        assert_eq!(create.params.as_deref(), Some(&["title".to_owned()][..]));
        assert_eq!((split.by.as_str(), &split.values["update"]), ("method", &SplitOperation::default()));
    }

    #[test]
    fn an_override_without_effect_is_an_error() {
        for text in [
            "operation: {}",
            "operations: {a: {nam: b}}",
            "operations: {a: {category: WRITE}}",
            "operations: {a: {annotations: {readOnly: true}}}",
            "operations: {a: {params: {b: {form: [c]}}}}",
            "operations: {a: {split: {values: {b: {}}}}}",
            "operations: {a: {split: {by: b, value: {}}}}",
            "operations: {a: {split: {by: b, values: {c: {split: {by: d}}}}}}",
            "operations: [a]",
            "- a",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("{}").unwrap(), Overrides::default());
    }
}
