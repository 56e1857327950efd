//! The warnings of query controls.
//!
//! What always holds: their number and their length are limited, whatever the data is. A name from the data stands in a
//! message only if it is a plain name, so that an API cannot write sentences there.

use super::ShapeRequest;
use super::controls::QueryControls;
use super::path::{self, FieldPath};
use super::preset::FieldPreset;
use crate::answer::{Warning, is_plain_name, quoted_name};
use mcpaql_schema::suggest;
use mcpaql_schema::syntax::ReadableChanges;
use serde_json::{Map, Value};

/// Maximum warnings about unknown fields of one control. One more tells their number.
pub(super) const MAX_UNKNOWN_FIELDS: usize = 5;
/// Maximum fields that a warning shows.
const MAX_SHOWN_FIELDS: usize = 12;
/// Maximum fields of a filter whose values a warning shows.
const MAX_EXAMPLE_FIELDS: usize = 5;
/// Maximum examples of values in a warning.
const MAX_EXAMPLES: usize = 5;

/// Operators of other query languages, and what to write here.
const OTHER_OPERATORS: [(&str, &str); 8] = [
    ("eq", "in"),
    ("$eq", "in"),
    ("equals", "in"),
    ("ne", "not"),
    ("neq", "not"),
    ("$ne", "not"),
    ("not_equals", "not"),
    ("nin", "not"),
];

/// Warns about fields that no item has.
pub(super) fn warn_unknown_fields<'p>(
    control: &'static str,
    paths: impl Iterator<Item = &'p FieldPath>,
    items: &[Value],
    operators: &[&str],
    warnings: &mut Vec<Warning>,
) {
    let mut seen: Vec<&FieldPath> = Vec::new();
    let mut known = None;
    for path in paths {
        if items.is_empty() || seen.contains(&path) || items.iter().any(|item| path.first(item).is_some()) {
            continue;
        }
        seen.push(path);
        if seen.len() <= MAX_UNKNOWN_FIELDS {
            let known = known.get_or_insert_with(|| path::known_paths(items));
            warnings.push(unknown_field(control, path, known, operators));
        }
    }
    warnings.extend(more_unknown_fields(control, seen.len()));
}

/// Warns about the unknown fields after those that have warnings of their own.
pub(super) fn more_unknown_fields(control: &str, unknown: usize) -> Option<Warning> {
    let more = unknown.checked_sub(MAX_UNKNOWN_FIELDS).filter(|more| *more > 0)?;
    let message = format!("No item has {more} more field(s) of '{control}'.");
    Some(
        Warning::new("FIELD_NOT_FOUND", message).with_detail("param_name", control).with_detail("more", more),
    )
}

pub(super) fn unknown_field(
    control: &str,
    path: &FieldPath,
    known: &[String],
    operators: &[&str],
) -> Warning {
    let near = path::nearest_paths(path.as_str(), known);
    let operator = path.parts().split_last().and_then(|(last, parent)| {
        let is_field = known.contains(&parent.join("."));
        let operator = suggest::nearest(last, operators.iter().copied());
        OTHER_OPERATORS
            .iter()
            .find(|(name, _)| name == last)
            .map(|(_, advice)| *advice)
            .or(operator)
            .filter(|_| is_field && !operators.is_empty())
    });
    let shown: Vec<&str> = near.iter().copied().filter(|path| is_plain_name(path)).collect();
    let mut hint = String::new();
    if let Some(operator) = operator {
        hint = format!(" Did you mean the operator '{operator}'?");
    } else if control == "fields" && FieldPreset::nearest(path.as_str()).is_some() {
        let preset = FieldPreset::nearest(path.as_str()).map_or("", FieldPreset::as_str);
        hint = format!(" Did you mean the preset '{preset}'?");
    } else if !shown.is_empty() {
        hint = format!(" Nearest: {}.", shown.join(", "));
    } else if near.is_empty() {
        let top = known.iter().map(String::as_str).filter(|path| !path.contains('.') && is_plain_name(path));
        let shown: Vec<&str> = top.take(MAX_SHOWN_FIELDS).collect();
        hint = if shown.is_empty() { hint } else { format!(" Fields: {}.", shown.join(", ")) };
    }
    let name = quoted_name(path.as_str());
    let field = if name.is_empty() { "a requested field".to_owned() } else { format!("the field{name}") };
    let message = format!("No item has {field} of '{control}'.{hint}");
    Warning::new("FIELD_NOT_FOUND", message).with_detail("param_name", control).with_detail("nearest", near)
}

pub(super) fn no_numbers(field: &FieldPath) -> Warning {
    let name = quoted_name(field.as_str());
    let message = format!("No item has a number in the field{name} of 'aggregate', so nothing was added up.");
    Warning::new("NO_NUMBERS", message)
        .with_detail("param_name", "aggregate")
        .with_detail("field", field.as_str().chars().take(64).collect::<String>())
}

pub(super) fn skipped_values((field, count): (&FieldPath, usize)) -> Warning {
    let name = quoted_name(field.as_str());
    let message = format!(
        "{count} value(s) of the field{name} of 'aggregate' are no numbers, so they were not added up."
    );
    Warning::new("NO_NUMBERS", message).with_detail("param_name", "aggregate").with_detail("skipped", count)
}

pub(super) fn nothing_left(checked: usize, examples: Map<String, Value>) -> Warning {
    let message = format!("No item matches the filter; {checked} item(s) were checked.");
    let warning = Warning::new("EMPTY_RESULT", message).with_detail("checked", checked);
    if examples.is_empty() { warning } else { warning.with_detail("values", examples) }
}

/// Returns some values of the fields of a filter, which show how the data spells them.
pub(super) fn examples<'p>(
    paths: impl Iterator<Item = &'p FieldPath>,
    items: &[Value],
) -> Map<String, Value> {
    let mut out = Map::new();
    for path in paths.filter(|path| path.as_str().len() <= 96) {
        if out.len() >= MAX_EXAMPLE_FIELDS {
            break;
        }
        let mut values: Vec<Value> = Vec::new();
        let scalars = items.iter().take(200).flat_map(|item| path.values(item)).filter(|value| {
            value.as_str().is_none_or(|text| text.len() <= 40) && !value.is_object() && !value.is_array()
        });
        for value in scalars {
            if values.len() < MAX_EXAMPLES && !values.contains(value) {
                values.push(value.clone());
            }
        }
        if !values.is_empty() {
            out.insert(path.as_str().to_owned(), values.into());
        }
    }
    out
}

/// Warns about data in another form than that of the answer.
pub(super) fn converted(changes: ReadableChanges) -> Option<Warning> {
    let parts = [
        (changes.numbers, "numbers of more than 64 bits are strings"),
        (changes.characters, "broken characters are U+FFFD"),
        (changes.levels, "values inside more than 100 others are strings of JSON"),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|(changed, _)| *changed).map(|(_, part)| part).collect();
    (!parts.is_empty()).then(|| {
        let message = format!(
            "Some data has another form: {}. An answer without query controls and within its budget is unchanged.",
            parts.join(", ")
        );
        Warning::new("DATA_CONVERTED", message)
    })
}

pub(super) fn partial_list(count: usize, request: &ShapeRequest<'_>) -> Warning {
    // The pagination of the API is known.
    let all_pages = match request.may_have_more {
        true => format!("{}: true or ", request.control("all_pages")),
        false => String::new(),
    };
    let message = format!(
        "The API returned one page with {count} item(s), and there may be more. The query covers only this page; get the others with {all_pages}the page parameters of the operation."
    );
    Warning::new("PARTIAL_LIST", message).with_detail("items", count)
}

/// Warns about controls that need the items of an aggregate, and about `include_items` without an aggregate.
pub(super) fn no_items(request: &ShapeRequest<'_>, is_list: bool) -> Option<Warning> {
    let controls = request.controls;
    let include_items = request.control("include_items");
    let message = match (&controls.aggregate, controls.include_items) {
        (None, true) => format!("Ignored: {include_items}. It needs 'aggregate'."),
        (Some(_), false) if is_list => {
            let given = [("fields", controls.fields.is_some()), ("page parameters", controls.page.is_some())];
            let idle: Vec<&str> =
                given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
            if idle.is_empty() || controls.part.is_some() {
                return None;
            }
            format!(
                "Ignored: {}. The answer has no items, only values; for the items too, add {include_items}: true.",
                idle.join(", ")
            )
        }
        _ => return None,
    };
    Some(Warning::new("IGNORED_PARAMS", message))
}

/// Warns about controls that need a list.
pub(super) fn no_list(controls: &QueryControls) -> Option<Warning> {
    let given = [
        ("filter", controls.filter.is_some()),
        ("sort", !controls.sort.is_empty()),
        ("aggregate", controls.aggregate.is_some()),
        ("page parameters", controls.page.is_some()),
        ("all_pages", controls.all_pages),
    ];
    let idle: Vec<&str> = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    (!idle.is_empty()).then(|| {
        let message = format!("Ignored: {}. The answer is one item and not a list.", idle.join(", "));
        Warning::new("IGNORED_PARAMS", message)
    })
}
