//! The keywords and type names of JSON Schema, and the nearest one for a misspelled name.

use crate::suggest::nearest;

/// The keywords of schemas in documents, in the order in which they are written: type, constraints, annotations, nested
/// schemas. The last one, `ref`, is an alternative that authors may write for `$ref`.
#[rustfmt::skip]
pub const DOCUMENT_KEYWORDS: &[&str] = &[
    "type", "$ref", "nullable", "format", "enum", "const", "default", "minimum", "exclusiveMinimum", "maximum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "readOnly", "writeOnly", "deprecated",
    "title", "description", "example", "examples", "required", "properties", "additionalProperties", "items",
    "prefixItems", "allOf", "anyOf", "oneOf", "discriminator", "not", "ref",
];

/// Keywords of JSON Schema and OpenAPI that are only for people or for other tools.
#[rustfmt::skip]
const OTHER_KEYWORDS: &[&str] = &[
    "patternProperties", "sensitive", "$comment", "$id", "$schema", "$defs", "$anchor", "definitions", "xml",
    "externalDocs", "contentSchema", "additionalItems", "contains", "propertyNames", "unevaluatedProperties",
    "unevaluatedItems", "dependentRequired", "dependentSchemas", "if", "then", "else",
];

/// The kind of value that a keyword has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordValue {
    /// A schema.
    Schema,
    /// A schema for the same value: a variant or a condition.
    Variant,
    /// A list of schemas.
    Schemas,
    /// A list of schemas for the same value.
    Variants,
    /// A mapping from names to schemas.
    Named,
    /// A mapping from names to schemas for the same value.
    NamedVariants,
    /// Anything else.
    Data,
}

/// Returns the kind of value that a keyword has.
#[inline]
#[must_use]
pub fn keyword_value(keyword: &str) -> KeywordValue {
    match keyword {
        "items"
        | "additionalProperties"
        | "additionalItems"
        | "contains"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "contentSchema" => KeywordValue::Schema,
        "if" | "then" | "else" | "not" => KeywordValue::Variant,
        "prefixItems" => KeywordValue::Schemas,
        "anyOf" | "oneOf" | "allOf" => KeywordValue::Variants,
        "properties" | "patternProperties" | "$defs" | "definitions" => KeywordValue::Named,
        "dependentSchemas" => KeywordValue::NamedVariants,
        _ => KeywordValue::Data,
    }
}

/// Returns whether a keyword restricts the values of a schema. `allOf` and `$ref` do not: they refer to other schemas.
#[must_use]
pub fn constrains(keyword: &str) -> bool {
    match keyword {
        "allOf" | "$ref" | "ref" | "nullable" | "default" | "contentMediaType" | "readOnly" | "writeOnly"
        | "deprecated" | "title" | "description" | "example" | "examples" | "discriminator" => false,
        "patternProperties" => true,
        _ => DOCUMENT_KEYWORDS.contains(&keyword),
    }
}

/// Other names that people write for a type.
const TYPE_SYNONYMS: [(&str, &str); 16] = [
    ("int", "integer"),
    ("int32", "integer"),
    ("int64", "integer"),
    ("long", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("bool", "boolean"),
    ("str", "string"),
    ("text", "string"),
    ("list", "array"),
    ("tuple", "array"),
    ("dict", "object"),
    ("map", "object"),
    ("none", "null"),
    ("nil", "null"),
];

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// Returns the keyword that `key` misspells. Returns `None` for keywords, extensions and unrelated words.
pub(super) fn nearest_keyword(key: &str) -> Option<&'static str> {
    let keywords =
        || DOCUMENT_KEYWORDS.iter().chain(OTHER_KEYWORDS).copied().filter(|keyword| *keyword != "ref");
    if keywords().any(|keyword| keyword == key) || key.starts_with("x-") || key.len() > 40 {
        return None;
    }
    keywords().filter(|keyword| keyword.len() > 3).find(|keyword| {
        keyword.eq_ignore_ascii_case(&key.replace(['_', '-'], ""))
            || strsim::damerau_levenshtein(keyword, key) == 1
    })
}

/// Returns the type that `name`, in lower case, probably means.
pub fn nearest_type(name: &str) -> Option<&'static str> {
    let synonym = TYPE_SYNONYMS.iter().find(|(word, _)| *word == name).map(|(_, kind)| *kind);
    synonym.or_else(|| nearest(name, TYPES))
}
