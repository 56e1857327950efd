//! The words of JSON Schema, to recognise the ones that were meant.

use crate::suggest::nearest;

/// Keywords that mean something here or to people.
#[rustfmt::skip]
const KEYWORDS: [&str; 60] = [
    "type", "nullable", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minLength", "maxLength", "pattern", "format", "items", "prefixItems", "minItems",
    "maxItems", "uniqueItems", "properties", "required", "additionalProperties", "patternProperties",
    "minProperties", "maxProperties", "oneOf", "anyOf", "allOf", "not", "$ref", "title", "description",
    "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "sensitive", "$comment", "$id",
    "$schema", "$defs", "$anchor", "definitions", "discriminator", "xml", "externalDocs", "contentEncoding",
    "contentMediaType", "contentSchema", "additionalItems", "contains", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas", "if", "then",
    "else",
];

/// What people write for a type when they mean another word.
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

/// The keyword that `key` nearly is; nothing for keywords themselves, extensions and words of another kind.
pub(super) fn meant(key: &str) -> Option<&'static str> {
    if KEYWORDS.contains(&key) || key.starts_with("x-") || key.len() > 40 {
        return None;
    }
    KEYWORDS.into_iter().filter(|keyword| keyword.len() > 3).find(|keyword| {
        keyword.eq_ignore_ascii_case(&key.replace(['_', '-'], ""))
            || strsim::damerau_levenshtein(keyword, key) == 1
    })
}

/// The type that `name`, in lower case, probably stands for.
pub fn meant_type(name: &str) -> Option<&'static str> {
    let synonym = TYPE_SYNONYMS.iter().find(|(word, _)| *word == name).map(|(_, meant)| *meant);
    synonym.or_else(|| nearest(name, TYPES))
}
