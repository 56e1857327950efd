//! The query controls of a call: splits them from the parameters of its operation, and reads them.
//!
//! What always holds: a name that the operation has as a parameter belongs to the operation. With an underscore, `_filter`,
//! it is always the control.

use super::aggregate::Aggregations;
use super::computed::is_computed;
use super::declared::DeclaredFields;
use super::fields::FieldSelection;
use super::filter::ItemFilter;
use super::page::PageRequest;
use super::part::PartRequest;
use super::path::{FieldPath, MAX_PATH_PARTS};
use super::preset::FieldPreset;
use super::sort::{self, SortKey};
use crate::answer::Warning;
use mcpaql_lexicon::snake_case;
use mcpaql_schema::error::{Code, OpError};
use mcpaql_schema::schema::type_name;
use serde_json::{Map, Value};

/// The names of all controls, and what they are for.
pub const CONTROLS: [(&str, &str); 17] = [
    ("fields", "Fields to return: minimal, standard, full, or a list of paths"),
    ("preset", "The same as fields, for a preset"),
    (
        "filter",
        "Conditions on fields: value, list, or gt, gte, lt, lte, contains, starts_with, in, not, exists",
    ),
    ("sort", "{field, order: asc or desc}, or a list of them"),
    ("aggregate", "Labels with count, group_by, sum, avg, min, max; returns only these values"),
    ("include_items", "Also return the items of an aggregate"),
    ("first", "Page size from the start of the list"),
    ("after", "endCursor of the page before"),
    ("last", "Page size from the end of the list"),
    ("before", "startCursor of the page after"),
    ("limit", "Items to return"),
    ("offset", "Items to skip"),
    ("page", "Number of the page, from 1"),
    ("page_size", "Items on a page"),
    ("all_pages", "true: get all pages from the API first, up to a maximum"),
    ("part", "{field, offset, length}: a part of one long text or list"),
    ("answer_budget", "Maximum tokens of the answer"),
];
/// Maximum selected fields.
const MAX_FIELDS: usize = 200;
/// Minimum of `answer_budget`.
const MIN_ANSWER_BUDGET: u64 = 100;

/// The query controls of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryControls {
    /// The fields to return.
    pub fields: Option<FieldSelection>,
    /// The items to return.
    pub filter: Option<ItemFilter>,
    /// The order of the items.
    pub sort: Vec<SortKey>,
    /// The values to compute from the items.
    pub aggregate: Option<Aggregations>,
    /// Also return the items of an aggregate.
    pub include_items: bool,
    /// Get all pages of the list from the upstream first.
    pub all_pages: bool,
    /// The page to return.
    pub page: Option<PageRequest>,
    /// The part of one value to return.
    pub part: Option<PartRequest>,
    /// Maximum tokens of the answer.
    pub answer_budget: Option<usize>,
    /// The filter, the order and the aggregations as they were sent, for cursors.
    pub(super) scope: Map<String, Value>,
}

impl QueryControls {
    /// Takes the controls out of the parameters of a call; `None` if there are none. `is_own` returns whether the
    /// operation has a parameter with a name; `declared` has its presets.
    ///
    /// # Errors
    /// When a control is invalid, or when a name with an underscore is unknown.
    pub fn take(
        params: &mut Map<String, Value>,
        declared: Option<&DeclaredFields>,
        is_own: impl Fn(&str) -> bool,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Box<QueryControls>>, OpError> {
        if !params.keys().any(|name| control_of(name).is_some() && !is_own(name)) {
            return Ok(None);
        }
        let mut given: Map<String, Value> = Map::new();
        let names: Vec<String> = params.keys().filter(|name| !is_own(name)).cloned().collect();
        for name in names {
            let Some(control) = control_of(&name) else { continue };
            let Some(value) = params.shift_remove(&name) else { continue };
            if value.is_null() {
                continue;
            }
            // The exact name wins over another spelling.
            if name.trim_start_matches('_') == control {
                given.insert(control.to_owned(), value);
            } else {
                given.entry(control).or_insert(value);
            }
        }
        QueryControls::read_declared(given, declared, warnings).map(|controls| Some(Box::new(controls)))
    }

    /// Reads controls.
    ///
    /// # Errors
    /// When a control is invalid.
    pub fn read(given: Map<String, Value>, warnings: &mut Vec<Warning>) -> Result<QueryControls, OpError> {
        QueryControls::read_declared(given, None, warnings)
    }

    /// Reads controls of an operation with declared fields.
    fn read_declared(
        mut given: Map<String, Value>,
        declared: Option<&DeclaredFields>,
        warnings: &mut Vec<Warning>,
    ) -> Result<QueryControls, OpError> {
        for name in ["filter", "sort", "aggregate", "part", "fields"] {
            if let Some(value) = given.get_mut(name) {
                unwrap_text(value);
            }
        }
        let controls = QueryControls {
            fields: fields(&given, declared)?,
            filter: given.get("filter").map(ItemFilter::read).transpose()?,
            sort: given.get("sort").map(sort::read).transpose()?.unwrap_or_default(),
            aggregate: given.get("aggregate").map(Aggregations::read).transpose()?,
            include_items: flag("include_items", given.get("include_items"))?,
            all_pages: flag("all_pages", given.get("all_pages"))?,
            page: PageRequest::read(|name| given.get(name), warnings)?,
            part: given.get("part").map(PartRequest::read).transpose()?,
            answer_budget: budget(given.get("answer_budget"))?,
            scope: Map::new(),
        };
        given.retain(|name, value| {
            matches!(name.as_str(), "filter" | "sort") || name == "all_pages" && *value == Value::Bool(true)
        });
        Ok(QueryControls { scope: given, ..controls })
    }

    /// The filter and the order as they were sent. They define the list that a cursor belongs to.
    pub fn scope(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.scope.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns whether only fields are selected, which needs no look at other items.
    pub(super) const fn selects_fields_only(&self) -> bool {
        self.filter.is_none()
            && self.sort.is_empty()
            && self.aggregate.is_none()
            && self.page.is_none()
            && self.part.is_none()
    }

    /// Returns whether the answer needs the whole list and not only one page of it.
    #[must_use]
    pub const fn needs_whole_list(&self) -> bool {
        self.filter.is_some()
            || !self.sort.is_empty()
            || self.aggregate.is_some()
            || self.page.is_some()
            || self.all_pages
    }

    /// Returns whether a control reads computed fields.
    pub(super) fn reads_computed(&self) -> bool {
        let selected = self.fields.iter().flat_map(FieldSelection::all_paths);
        let filtered = self.filter.iter().flat_map(ItemFilter::paths);
        let sorted = self.sort.iter().map(|key| &key.path);
        let aggregated = self.aggregate.iter().flat_map(Aggregations::paths);
        selected.chain(filtered).chain(sorted).chain(aggregated).any(is_computed)
    }
}

/// Returns the control that a name means, if any: `_filter`, `pageSize`.
#[must_use]
pub fn control_of(name: &str) -> Option<&'static str> {
    let plain = name.strip_prefix('_').unwrap_or(name);
    let find = |name: &str| CONTROLS.iter().map(|(control, _)| *control).find(|control| *control == name);
    find(plain).or_else(|| {
        let is_camel = plain.len() <= 16 && plain.bytes().any(|byte| byte.is_ascii_uppercase());
        is_camel.then(|| find(&snake_case(plain))).flatten()
    })
}

/// Some models send objects and lists as text. Their meaning is clear.
fn unwrap_text(value: &mut Value) {
    if let Value::String(text) = value
        && text.trim_start().starts_with(['{', '['])
        && let Ok(parsed) = serde_json::from_str(text)
    {
        *value = parsed;
    }
}

fn fields(
    given: &Map<String, Value>,
    declared: Option<&DeclaredFields>,
) -> Result<Option<FieldSelection>, OpError> {
    let named = |word: &str| {
        let paths = declared.and_then(|declared| declared.presets.get(word));
        let own = paths.map(|paths| FieldSelection { declared: paths.clone(), ..FieldSelection::default() });
        own.or_else(|| {
            Some(FieldSelection { preset: Some(FieldPreset::parse(word)?), ..FieldSelection::default() })
        })
    };
    let preset = match given.get("preset") {
        None => None,
        Some(Value::String(word)) => {
            let message = || {
                let own = declared.iter().flat_map(|declared| declared.presets.keys().map(String::as_str));
                let words: Vec<&str> =
                    FieldPreset::ALL.map(FieldPreset::as_str).into_iter().chain(own).collect();
                format!("Parameter 'preset' must be one of {}.", words.join(", "))
            };
            Some(named(word).ok_or_else(|| invalid_value("preset", message()))?)
        }
        Some(other) => {
            return Err(invalid_type("preset", "Parameter 'preset' must be a text.", "string", other));
        }
    };
    let names: Vec<&str> = match given.get("fields") {
        None => return Ok(preset),
        Some(Value::String(word)) => match named(word.trim()) {
            Some(selection) => return Ok(Some(selection)),
            None => word.split(',').collect(),
        },
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {
            names.iter().filter_map(Value::as_str).collect()
        }
        Some(other) => {
            let message = "Parameter 'fields' must be minimal, standard, full, or a list of field names.";
            return Err(invalid_type("fields", message, "string or array of strings", other));
        }
    };
    if names.is_empty() || names.len() > MAX_FIELDS {
        let message = format!("Parameter 'fields' must have from 1 to {MAX_FIELDS} names.");
        return Err(invalid_value("fields", message));
    }
    let paths: Option<Vec<FieldPath>> = names.iter().map(|name| FieldPath::parse(name)).collect();
    let Some(paths) = paths else {
        let message = format!(
            "Parameter 'fields' has an empty name or a path of more than {MAX_PATH_PARTS} names; write paths as 'user.login'."
        );
        return Err(invalid_value("fields", message));
    };
    Ok(Some(FieldSelection { paths, ..preset.unwrap_or_default() }))
}

fn flag(name: &str, value: Option<&Value>) -> Result<bool, OpError> {
    match value {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => {
            let message = format!("Parameter '{name}' must be true or false.");
            Err(invalid_type(name, message, "boolean", other))
        }
    }
}

fn budget(value: Option<&Value>) -> Result<Option<usize>, OpError> {
    let Some(value) = value else { return Ok(None) };
    match whole_number(value) {
        Some(tokens) if tokens >= MIN_ANSWER_BUDGET => {
            Ok(Some(usize::try_from(tokens).unwrap_or(usize::MAX)))
        }
        _ => {
            let message =
                format!("Parameter 'answer_budget' must be a number of tokens, {MIN_ANSWER_BUDGET} or more.");
            Err(invalid_value("answer_budget", message))
        }
    }
}

/// Returns a number without fraction and sign. Some models write `2.0` or `"2"`, and their meaning is clear.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    let whole = |number: f64| number >= 0.0 && number.fract() == 0.0 && number < 1e19;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number within 64 bits"
    )]
    let float = || value.as_f64().filter(|number| whole(*number)).map(|number| number as u64);
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64().or_else(float),
    }
}

pub(super) fn invalid_value(param: &str, message: impl Into<String>) -> OpError {
    OpError::new(Code::InvalidValue, message).with_detail("param_name", param)
}

pub(super) fn invalid_type(
    param: &str,
    message: impl Into<String>,
    expected: &str,
    found: &Value,
) -> OpError {
    OpError::new(Code::InvalidType, message)
        .with_detail("param_name", param)
        .with_detail("expected_type", expected)
        .with_detail("actual_type", type_name(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn take(params: Value, own: &[&str]) -> (Option<Box<QueryControls>>, Value) {
        let Value::Object(mut params) = params else { unreachable!() };
        let controls =
            QueryControls::take(&mut params, None, |name| own.contains(&name), &mut Vec::new()).unwrap();
        (controls, Value::Object(params))
    }

    #[test]
    fn a_parameter_of_the_operation_wins_and_the_underscore_reaches_the_control() {
        let (controls, rest) = take(json!({"filter": "x", "_filter": {"a": 1}, "owner": "o"}), &["filter"]);
        assert!(controls.unwrap().filter.is_some());
        assert_eq!(rest, json!({"filter": "x", "owner": "o"}));
        let (controls, rest) = take(json!({"filter": "x", "owner": "o"}), &["filter"]);
        assert_eq!((controls, rest), (None, json!({"filter": "x", "owner": "o"})));
    }

    #[test]
    fn other_spellings_are_accepted() {
        let (controls, rest) =
            take(json!({"pageSize": 2, "fields": "id, name", "filter": "{\"a\": 1}"}), &[]);
        let controls = controls.unwrap();
        assert_eq!(controls.page, Some(PageRequest::Number { page: 1, size: 2 }));
        assert_eq!(controls.fields.unwrap().paths.len(), 2);
        assert!(controls.filter.is_some());
        assert_eq!(rest, json!({}));
    }

    #[test]
    fn a_preset_and_fields_add_up() {
        let (controls, _) = take(json!({"preset": "minimal", "fields": ["body"]}), &[]);
        let fields = controls.unwrap().fields.unwrap();
        assert_eq!((fields.preset, fields.paths.len()), (Some(FieldPreset::Minimal), 1));
    }

    #[test]
    fn presets_of_a_document_come_before_the_built_in_ones() {
        let paths =
            |names: &[&str]| names.iter().filter_map(|name| FieldPath::parse(name)).collect::<Vec<_>>();
        let presets = [("card", paths(&["id", "name"])), ("minimal", paths(&["id"]))];
        let presets = presets.into_iter().map(|(name, paths)| (name.to_owned(), paths)).collect();
        let declared = DeclaredFields { presets, ..DeclaredFields::default() };
        let read = |given: Value| {
            QueryControls::read_declared(
                given.as_object().cloned().unwrap(),
                Some(&declared),
                &mut Vec::new(),
            )
        };
        let fields = |given| read(given).unwrap().fields.unwrap();
        assert_eq!(fields(json!({"fields": "card"})).declared, paths(&["id", "name"]));
        assert_eq!(fields(json!({"preset": "minimal"})).declared, paths(&["id"]));
        assert_eq!(fields(json!({"fields": "standard"})).preset, Some(FieldPreset::Standard));
        let both = fields(json!({"preset": "card", "fields": ["body"]}));
        assert_eq!((both.declared.len(), both.paths), (2, paths(&["body"])));
        let error = read(json!({"preset": "crad"})).unwrap_err();
        assert!(error.message.contains("full, card"), "{}", error.message);
    }

    #[test]
    fn invalid_controls_name_themselves() {
        for (name, value) in [
            ("fields", json!(5)),
            ("fields", json!([])),
            ("fields", json!(["a", ""])),
            ("preset", json!("tiny")),
            ("include_items", json!("yes")),
            ("all_pages", json!(1)),
            ("answer_budget", json!(5)),
            ("part", json!("x")),
        ] {
            let given = Map::from_iter([(name.to_owned(), value.clone())]);
            let error = QueryControls::read(given, &mut Vec::new()).unwrap_err();
            assert_eq!(error.details.get("param_name"), Some(&json!(name)), "{value}");
        }
    }
}
