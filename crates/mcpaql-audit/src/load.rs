//! Reads conventions from files, and provides the built-in ones.
//!
//! ```
//! use mcpaql_audit::load;
//! use mcpaql_document::source::Source;
//!
//! assert!(load::builtin("claude-code").is_some());
//! let source = Source::new("conventions.yaml", "ours: {extends: mcp, names: {prefix: shop_}}");
//! assert!(load::parse(&source).unwrap().iter().any(|convention| convention.name == "ours"));
//! ```

use crate::convention::template;
use crate::convention::{
    AnnotationRequirements, CLIENTS, Characters, Convention, ConventionKind, DescriptionRequirements, Hint,
    NameRequirements, RuleLevel, SchemaRequirements, SchemaTrap, Standard, TitleRequirements,
};
use crate::rules;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::{Diagnostic, Severity, field_path};
use mcpaql_core::error::Code;
use mcpaql_core::extends::ExtendableSet;
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use mcpaql_core::suggest;
use mcpaql_document::source::Source;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

const KEYS: &[&str] = &[
    "about",
    "source",
    "kind",
    "extends",
    "policy",
    "names",
    "titles",
    "annotations",
    "descriptions",
    "schemas",
    "max_tools",
    "rules",
];
const NAME_KEYS: &[&str] = &[
    "pattern",
    "characters",
    "max_length",
    "shown_as",
    "cuts",
    "words",
    "prefix",
    "products",
    "verbs",
    "objects",
    "word",
    "not_words",
];
const TITLE_KEYS: &[&str] = &["required", "in_annotations", "pattern", "max_length"];
const ANNOTATION_KEYS: &[&str] = &["explicit", "safety", "one_effect"];
const DESCRIPTION_KEYS: &[&str] = &["required", "max_length", "forbidden"];
const SCHEMA_KEYS: &[&str] =
    &["described", "refuses", "max_enum", "parameter_characters", "parameter_length"];

/// Names and texts of the built-in conventions.
const BUILTIN: &[(&str, &str)] = &[
    ("mcp", include_str!("builtin/mcp.yaml")),
    ("mcpaql", include_str!("builtin/mcpaql.yaml")),
    ("mcpaql-issue", include_str!("builtin/mcpaql-issue.yaml")),
    ("mcpaql-spec", include_str!("builtin/mcpaql-spec.yaml")),
    ("lightdash", include_str!("builtin/lightdash.yaml")),
    ("product-action-object", include_str!("builtin/product-action-object.yaml")),
    ("nextcloud", include_str!("builtin/nextcloud.yaml")),
    ("claude-code", include_str!("builtin/claude-code.yaml")),
    ("claude-desktop", include_str!("builtin/claude-desktop.yaml")),
    ("codex", include_str!("builtin/codex.yaml")),
    ("copilot-cli", include_str!("builtin/copilot-cli.yaml")),
    ("cursor", include_str!("builtin/cursor.yaml")),
    ("gemini-cli", include_str!("builtin/gemini-cli.yaml")),
    ("vscode", include_str!("builtin/vscode.yaml")),
    ("windsurf", include_str!("builtin/windsurf.yaml")),
    ("bedrock", include_str!("builtin/bedrock.yaml")),
    ("claude-api", include_str!("builtin/claude-api.yaml")),
    ("openai-api", include_str!("builtin/openai-api.yaml")),
    ("claude-directory", include_str!("builtin/claude-directory.yaml")),
    ("openai-apps", include_str!("builtin/openai-apps.yaml")),
];

/// The built-in conventions as untyped objects, before `extends` is resolved.
static RAW_BUILTINS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let value = |name: &str, text: &str| Source::new(name, text).parse().map(|parsed| parsed.value);
    let written = |(name, text): &(&str, &str)| Some(((*name).to_owned(), value(name, text).ok()?));
    BUILTIN.iter().filter_map(written).collect()
});

static PARSED_BUILTINS: LazyLock<Vec<Convention>> =
    LazyLock::new(|| read_builtins(&mut DocumentReader::default()));

fn read_builtins(reader: &mut DocumentReader) -> Vec<Convention> {
    let none = Map::new();
    let extendable = extendable_conventions(&none, &[]);
    let mut known = HashMap::new();
    let mut conventions = Vec::new();
    for (name, value) in RAW_BUILTINS.iter() {
        let whole = extendable.resolve(reader, value, "", &mut vec![name.clone()], &mut known);
        conventions.extend(reader.object(&whole, "").map(|object| read(reader, name, &object)));
    }
    conventions
}

fn extendable_conventions<'a>(
    members: &'a Map<String, Value>,
    builtin: &'a [&'static str],
) -> ExtendableSet<'a> {
    ExtendableSet {
        noun: "convention",
        members,
        builtin,
        builtin_value: &|name| RAW_BUILTINS.get(name).cloned(),
    }
}

/// Returns the names of the built-in conventions.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// Returns all built-in conventions.
#[must_use]
pub fn builtins() -> &'static [Convention] {
    &PARSED_BUILTINS
}

/// Returns the built-in convention with this name.
#[must_use]
pub fn builtin(name: &str) -> Option<&'static Convention> {
    PARSED_BUILTINS.iter().find(|convention| convention.name == name)
}

/// Reads a file of conventions: a mapping from names to requirements.
///
/// # Errors
/// Returns all problems of the file, with their locations.
pub fn parse(source: &Source) -> Result<Vec<Convention>, Vec<Diagnostic>> {
    let parsed = source.parse().map_err(|mut found| {
        if let ([empty], true) = (found.as_mut_slice(), source.text.trim().is_empty()) {
            empty.suggestion = Some("write a mapping from names of conventions to their requirements".into());
        }
        found
    })?;
    let (conventions, mut diagnostics) = read_all(&parsed.value, "");
    diagnostics.extend(parsed.diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        source.locate(&mut diagnostics);
        return Err(diagnostics);
    }
    Ok(conventions)
}

/// Reads conventions from an untyped mapping at `pointer`.
#[must_use]
pub fn read_all(value: &Value, pointer: &str) -> (Vec<Convention>, Vec<Diagnostic>) {
    let mut reader = DocumentReader::default();
    let Some(members) = reader.object(value, pointer) else { return (Vec::new(), reader.diagnostics) };
    for name in members.map.keys().filter(|name| !can_be_chosen(name)) {
        let message = format!("'{name}' cannot be the name of a convention");
        let diagnostic =
            Diagnostic::error(Code::SchemaInvalidValue, members.pointer_to(name), message).at_key();
        reader.push(
            diagnostic.suggest(format!("use a name without commas and spaces, other than `{CLIENTS}`")),
        );
    }
    let builtin: Vec<&'static str> = names().collect();
    let conventions = extendable_conventions(members.map, &builtin).read_all(&mut reader, pointer, read);
    (conventions, reader.diagnostics)
}

/// Returns whether a convention with this name can be selected in a comma-separated list.
fn can_be_chosen(name: &str) -> bool {
    !name.is_empty() && name != CLIENTS && !name.contains(|c: char| c == ',' || c.is_whitespace())
}

fn read(reader: &mut DocumentReader, name: &str, object: &DocumentObject<'_>) -> Convention {
    reader.check_keys(object, KEYS);
    Convention {
        name: name.to_owned(),
        about: reader.string(object, "about").unwrap_or_default(),
        source: reader.string(object, "source"),
        kind: reader
            .choice(object, "kind", &ConventionKind::ALL.map(ConventionKind::as_str), ConventionKind::parse)
            .unwrap_or_default(),
        policy: reader.string(object, "policy"),
        names: part(reader, object, "names", NAME_KEYS, name_requirements),
        titles: part(reader, object, "titles", TITLE_KEYS, |reader, object| TitleRequirements {
            required: flag(reader, object, "required"),
            in_annotations: flag(reader, object, "in_annotations"),
            pattern: pattern(reader, object, "pattern", template::TITLE_PLACEHOLDERS),
            max_length: size(reader, object, "max_length"),
        }),
        annotations: part(reader, object, "annotations", ANNOTATION_KEYS, |reader, object| {
            AnnotationRequirements {
                explicit: reader.choices(object, "explicit", &Hint::ALL.map(Hint::key), Hint::parse),
                safety: flag(reader, object, "safety"),
                one_effect: flag(reader, object, "one_effect"),
            }
        }),
        descriptions: part(reader, object, "descriptions", DESCRIPTION_KEYS, |reader, object| {
            DescriptionRequirements {
                required: flag(reader, object, "required"),
                max_length: size(reader, object, "max_length"),
                forbidden: reader.strings(object, "forbidden"),
            }
        }),
        schemas: part(reader, object, "schemas", SCHEMA_KEYS, schemas),
        max_tools: size(reader, object, "max_tools"),
        rules: levels(reader, object),
    }
}

fn name_requirements(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> NameRequirements {
    NameRequirements {
        pattern: pattern(reader, object, "pattern", template::NAME_PLACEHOLDERS),
        characters: characters(reader, object, "characters"),
        max_length: size(reader, object, "max_length"),
        shown_as: pattern(reader, object, "shown_as", template::CLIENT_NAME_PLACEHOLDERS),
        cuts: flag(reader, object, "cuts"),
        words: range(reader, object, "words"),
        prefix: reader.string(object, "prefix"),
        products: reader.strings(object, "products"),
        verbs: reader.strings(object, "verbs"),
        objects: reader.strings(object, "objects"),
        word: reader.string(object, "word"),
        not_words: reader.strings(object, "not_words"),
    }
}

/// Reads a pattern, and reports unknown placeholders.
fn pattern(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    placeholders: &[&str],
) -> Option<String> {
    let text = reader.string(object, key)?;
    if let Some(unknown) = template::unknown_placeholder(&text, placeholders) {
        let message = format!(
            "Field '{}' has the unknown placeholder '{{{unknown}}}'",
            field_path(&object.pointer_to(key))
        );
        let mut diagnostic = Diagnostic::error(Code::SchemaInvalidValue, object.pointer_to(key), message);
        diagnostic = diagnostic.expected(
            placeholders
                .iter()
                .map(|placeholder| format!("{{{placeholder}}}"))
                .collect::<Vec<_>>()
                .join(", "),
        );
        if let Some(near) = suggest::nearest(unknown, placeholders.iter().copied()) {
            diagnostic = diagnostic.suggest(format!("did you mean `{{{near}}}`?"));
        }
        reader.push(diagnostic);
        return None;
    }
    Some(text)
}

fn schemas(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> SchemaRequirements {
    SchemaRequirements {
        described: flag(reader, object, "described"),
        refuses: reader.choices(
            object,
            "refuses",
            &SchemaTrap::ALL.map(SchemaTrap::as_str),
            SchemaTrap::parse,
        ),
        max_enum: size(reader, object, "max_enum"),
        parameter_characters: characters(reader, object, "parameter_characters"),
        parameter_length: size(reader, object, "parameter_length"),
    }
}

fn part<T: Default>(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    keys: &[&str],
    read: impl Fn(&mut DocumentReader, &DocumentObject<'_>) -> T,
) -> T {
    let member = reader.member(object, key);
    member
        .map(|member| {
            reader.check_keys(&member, keys);
            read(reader, &member)
        })
        .unwrap_or_default()
}

fn flag(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> bool {
    reader.boolean(object, key).unwrap_or(false)
}

fn size(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<usize> {
    reader.unsigned(object, key).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn characters(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<Characters> {
    reader.choice(object, key, &Characters::ALL.map(Characters::as_str), Characters::parse)
}

/// Reads a range such as `[2, 4]`.
fn range(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<(usize, usize)> {
    let items = reader.array(object, key)?;
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let pair = match items {
        [least, most] => number(least).zip(number(most)).filter(|(least, most)| least <= most),
        _ => None,
    };
    if pair.is_none() {
        let message = format!("Field '{}' is not a range", field_path(&object.pointer_to(key)));
        let diagnostic = Diagnostic::error(Code::SchemaInvalidValue, object.pointer_to(key), message);
        reader.push(diagnostic.expected("the minimum and the maximum, such as [2, 4]"));
    }
    pair
}

/// Reads the levels of rules in `rules`, by code.
pub(crate) fn levels(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
) -> IndexMap<String, Option<RuleLevel>> {
    let Some(member) = reader.member(object, "rules") else { return IndexMap::new() };
    let mut levels = IndexMap::new();
    let words: Vec<&str> = std::iter::once("off").chain(RuleLevel::ALL.map(RuleLevel::as_str)).collect();
    for code in member.map.keys() {
        let Some(rule) = rules::find_rule(code) else {
            reader.push(unknown_rule(code, member.pointer_to(code)));
            continue;
        };
        let parse = |text: &str| if text == "off" { Some(None) } else { RuleLevel::parse(text).map(Some) };
        if let Some(level) = reader.choice(&member, code, &words, parse) {
            levels.insert(rule.code.to_owned(), level);
        }
    }
    levels
}

fn unknown_rule(code: &str, pointer: String) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::SchemaUnknownField, pointer, format!("Unknown rule '{code}'")).at_key();
    match suggest::nearest(code, rules::all_rules().map(|rule| rule.code)) {
        Some(near) => diagnostic.suggest(format!("did you mean `{near}`?")),
        None => diagnostic.suggest("`mcpaql explain` lists all rules"),
    }
}

impl Default for Standard {
    /// MCP and all known clients.
    fn default() -> Standard {
        let conventions = builtins();
        let wanted =
            |convention: &Convention| convention.name == "mcp" || convention.kind == ConventionKind::Client;
        Standard::from_conventions(
            conventions.iter().filter(|convention| wanted(convention)).cloned().collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_conventions_have_no_problems() {
        let mut reader = DocumentReader::default();
        let conventions = read_builtins(&mut reader);
        assert_eq!(reader.diagnostics, []);
        let names: Vec<&str> = conventions.iter().map(|convention| convention.name.as_str()).collect();
        assert_eq!(names, BUILTIN.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for convention in conventions {
            assert!(!convention.about.is_empty(), "{}", convention.name);
        }
    }

    #[test]
    fn a_team_can_extend_a_built_in_convention() {
        let text = "ours:\n  extends: product-action-object\n  names: {products: [shop], verbs: [ship]}\n  rules: {NAME-001: off}\n";
        let ours = parse(&Source::new("conventions.yaml", text)).unwrap();
        assert_eq!(ours[0].names.products, ["shop"]);
        assert_eq!(ours[0].names.words, Some((2, 4)), "from the base");
        assert_eq!(ours[0].rules["NAME-001"], None);
    }

    #[test]
    fn an_unknown_placeholder_is_reported() {
        let text = "ours:\n  names: {pattern: \"{prodct}_{verb}\", shown_as: \"{server:9}_{tool}\"}\n";
        let found = parse(&Source::new("conventions.yaml", text)).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].pointer, "/ours/names/pattern");
        assert_eq!(found[0].suggestion.as_deref(), Some("did you mean `{product}`?"));
    }

    #[test]
    fn a_name_that_cannot_be_selected_is_rejected() {
        for name in ["clients", "a,b", "", "a b"] {
            let text = format!("\"{name}\": {{about: a}}\n");
            let found = parse(&Source::new("conventions.yaml", text)).unwrap_err();
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert_eq!(found[0].message, format!("'{name}' cannot be the name of a convention"));
        }
    }

    #[test]
    fn negative_numbers_and_empty_files_are_reported() {
        let found = parse(&Source::new("c.yaml", "ours:\n  names: {max_length: -1}\n")).unwrap_err();
        assert_eq!(found[0].message, "Field 'ours.names.max_length' is less than 0");
        let found = parse(&Source::new("c.yaml", " \n")).unwrap_err();
        assert!(found[0].suggestion.as_deref().unwrap().contains("conventions"), "{found:?}");
    }

    #[test]
    fn problems_are_reported_with_their_location() {
        let text = "ours:\n  extends: [nextclout, ours]\n  names: {words: [4, 2], lenght: 3}\n  annotations: {explicit: [readOnly]}\n";
        let found = parse(&Source::new("conventions.yaml", text)).unwrap_err();
        let pointers: Vec<&str> = found.iter().map(|diagnostic| diagnostic.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [
                "/ours/extends",
                "/ours/extends",
                "/ours/names/lenght",
                "/ours/names/words",
                "/ours/annotations/explicit/0"
            ]
        );
        assert!(found.iter().all(|diagnostic| diagnostic.span.is_some()));
        assert_eq!(found[0].suggestion.as_deref(), Some("did you mean `nextcloud`?"));
    }
}
