//! Corrections that an author keeps beside a source, applied each time it is imported.
//!
//! ```yaml
//! adapter:
//!   name: github
//! operations:
//!   repos/get-content:            # by original id, by imported name, or as `GET /repos/{owner}/{repo}`
//!     name: read_file
//!     description: Reads a file or lists a folder.
//!     params:
//!       path: {description: Path in the repository, from: [search_code]}
//!   delete_repo: {include: false}
//!   issue_write:                  # a tool that is several operations behind a switch
//!     split:
//!       by: method
//!       values:
//!         create: {name: create_issue, category: CREATE}
//! ```

use crate::source::Source;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::{Category, Danger, Operation};
use mcpaql_core::policy::{Hint, HintOverrides};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use serde_json::Value;

const TOP_KEYS: &[&str] = &["adapter", "operations"];
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

/// All corrections of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// What the adapter is called and where it is.
    pub adapter: AdapterOverride,
    /// By name, original id, or method and path.
    pub operations: IndexMap<String, OperationOverride>,
}

/// Corrections of the adapter itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdapterOverride {
    /// Lower case, with hyphens or underscores.
    pub name: Option<String>,
    /// For people.
    pub display_name: Option<String>,
    /// What the API is for.
    pub description: Option<String>,
    /// Where calls go.
    pub base_url: Option<String>,
}

/// Corrections of one operation; what is not there stays as it was imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationOverride {
    /// Another name.
    pub name: Option<String>,
    /// Another category.
    pub category: Option<Category>,
    /// Another effect; the category follows unless it is given as well.
    pub effect: Option<Effect>,
    /// Another danger.
    pub danger: Option<Danger>,
    /// Whether a repeat changes nothing more.
    pub idempotent: Option<bool>,
    /// What its hints are, whatever its facts say.
    pub hints: HintOverrides,
    /// For people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Whether it is taken at all.
    pub include: Option<bool>,
    /// Set where it is discouraged; says what to use instead.
    pub deprecated: Option<String>,
    /// Groups for discovery.
    pub tags: Option<Vec<String>>,
    /// By the name callers use, or by wire name.
    pub params: IndexMap<String, ParamOverride>,
    /// How it becomes several operations, which only a tool of an MCP server can.
    pub split: Option<Split>,
}

/// One tool that is several operations behind a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The parameter that is the switch, by the name callers use, or by wire name.
    pub by: String,
    /// What each of its values is. Where some are named, the others stay together in one operation; where none is, each
    /// becomes an operation of its own.
    pub values: IndexMap<String, SplitOperation>,
}

/// One operation of a tool that is several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitOperation {
    /// Its name, category and words.
    pub overrides: OperationOverride,
    /// The parameters that mean something to it, by name or wire name; all of them unless it says so.
    pub params: Option<Vec<String>>,
}

/// Corrections of one parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamOverride {
    /// For the model.
    pub description: Option<String>,
    /// Never logged, never echoed.
    pub sensitive: Option<bool>,
    /// Operations that return a value for it.
    pub from: Option<Vec<String>>,
}

impl OperationOverride {
    /// The category it asks for.
    #[must_use]
    pub fn category(&self) -> Option<Category> {
        self.category.or(self.effect.map(Effect::category))
    }

    /// Puts the words of the correction in place of the imported ones; what an operation is and does is decided before.
    pub fn apply(&self, operation: &mut Operation) {
        if let Some(title) = &self.title {
            operation.title.clone_from(title);
        }
        if let Some(description) = &self.description {
            operation.description.clone_from(description);
        }
        operation.hints = self.hints.with_fallback(operation.hints);
        if let Some(tags) = &self.tags {
            operation.tags.clone_from(tags);
        }
        if self.deprecated.is_some() {
            operation.deprecated.clone_from(&self.deprecated);
        }
        for param in &mut operation.params {
            let Some(correction) = self.params.get(&param.name).or_else(|| self.params.get(&param.wire))
            else {
                continue;
            };
            if let Some(description) = &correction.description {
                param.description.clone_from(description);
            }
            param.sensitive = correction.sensitive.unwrap_or(param.sensitive);
            if let Some(from) = &correction.from {
                param.from.clone_from(from);
            }
        }
    }
}

/// Reads a file of corrections.
///
/// # Errors
/// Everything that is wrong with it, located.
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
    Overrides { adapter: adapter.unwrap_or_default(), operations }
}

fn operation_override(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> OperationOverride {
    reject_unknown_keys(reader, object, OPERATION_KEYS);
    let mut params = IndexMap::new();
    if let Some(members) = reader.member(object, "params") {
        for (key, value) in members.map {
            let Some(param) = reader.object(value, &child(&members.pointer, key)) else { continue };
            reject_unknown_keys(reader, &param, PARAM_KEYS);
            let from = param.get("from").map(|_| reader.strings(&param, "from"));
            let correction = ParamOverride {
                description: reader.string(&param, "description"),
                sensitive: reader.boolean(&param, "sensitive"),
                from,
            };
            params.insert(key.clone(), correction);
        }
    }
    let split = reader.member(object, "split").and_then(|member| split(reader, &member));
    OperationOverride { params, split, ..words(reader, object) }
}

/// What a correction says about an operation as a whole.
fn words(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> OperationOverride {
    let words = Category::ALL.map(Category::as_str);
    let deprecated = match object.get("deprecated") {
        Some(Value::Bool(true)) => Some(String::new()),
        _ => reader.string(object, "deprecated"),
    };
    OperationOverride {
        name: reader.string(object, "name"),
        category: reader.choice(object, "category", &words, Category::parse),
        effect: reader.choice(object, "effect", &Effect::ALL.map(Effect::as_str), Effect::parse),
        danger: reader.choice(object, "danger", &Danger::ALL.map(Danger::as_str), Danger::parse),
        idempotent: reader.boolean(object, "idempotent"),
        hints: hints(reader, object),
        title: reader.string(object, "title"),
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
        for (value, said) in members.map {
            let Some(said) = reader.object(said, &child(&members.pointer, value)) else { continue };
            reject_unknown_keys(reader, &said, &keys);
            let params = said.get("params").map(|_| reader.strings(&said, "params"));
            values.insert(value.clone(), SplitOperation { overrides: words(reader, &said), params });
        }
    }
    Some(Split { by: by?, values })
}

/// A key that means nothing would silently correct nothing, so it is an error here.
fn reject_unknown_keys(reader: &mut DocumentReader, object: &DocumentObject<'_>, keys: &[&str]) {
    let before = reader.diagnostics.len();
    reader.check_keys(object, keys);
    for diagnostic in reader.diagnostics.iter_mut().skip(before) {
        diagnostic.severity = Severity::Error;
    }
}

/// A correction of something that is not there.
#[must_use]
pub fn unmatched<'a>(key: &str, candidates: impl Iterator<Item = &'a str>) -> Diagnostic {
    let pointer = child("/operations", key);
    let message = format!("The correction of '{key}' matches no operation");
    let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message)
        .expected("an operation's name, its original id, or METHOD /path")
        .found(key);
    suggesting(diagnostic, key, candidates)
}

/// A correction of an operation that has one already, under another of its names.
#[must_use]
pub fn duplicate_override(key: &str) -> Diagnostic {
    let message = format!("The correction of '{key}' is about an operation that has one already");
    Diagnostic::error(Code::SchemaDuplicateName, child("/operations", key), message)
        .suggest("put both into one")
}

/// A correction of a parameter that the operation does not have.
#[must_use]
pub fn unmatched_param<'a>(key: &str, param: &str, candidates: impl Iterator<Item = &'a str>) -> Diagnostic {
    let message = format!("The correction of parameter '{param}' matches no parameter of '{key}'");
    let diagnostic = Diagnostic::error(Code::SchemaUnresolvedRef, param_pointer(key, param), message);
    suggesting(diagnostic.found(param), param, candidates)
}

/// A split that cannot be made; `path` leads from the correction to what is wrong with it.
#[must_use]
pub fn invalid_split(key: &str, path: &[&str], message: String) -> Diagnostic {
    let pointer = path.iter().fold(child(&child("/operations", key), "split"), |at, step| child(&at, step));
    Diagnostic::error(Code::SchemaUnresolvedRef, pointer, message)
}

/// A parameter whose value is to come from an operation that is not there.
#[must_use]
pub fn unmatched_producer<'a>(
    key: &str,
    param: &str,
    producer: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let message = format!("'{producer}' is no operation that a value of '{param}' could come from");
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
    fn corrections_are_read() {
        let overrides = read(
            "adapter: {name: github}\noperations:\n  repos/get:\n    name: get_repo\n    effect: delete\n    \
             deprecated: true\n    params: {owner: {from: [list_users], sensitive: true}}\n",
        )
        .unwrap();
        assert_eq!(overrides.adapter.name.as_deref(), Some("github"));
        let correction = &overrides.operations["repos/get"];
        assert_eq!(
            (correction.category(), correction.deprecated.as_deref()),
            (Some(Category::Delete), Some(""))
        );
        assert_eq!(correction.params["owner"].from.as_deref(), Some(&["list_users".to_owned()][..]));
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
    fn what_would_correct_nothing_is_an_error() {
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
