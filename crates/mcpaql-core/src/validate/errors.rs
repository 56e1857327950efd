//! Builds the validation errors for the model: one sentence with the fix, the rest in `details`, and always the
//! signature.

use super::limits::LimitExceeded;
use super::{CompiledParam, CompiledParams, DRY_RUN, INPUT, ParamViolation};
use crate::error::{self, Code, LimitType, OpError};
use crate::operation::Param;
use crate::schema::{PathPart, Violation, ViolationKind, path_text, shorten, type_name};
use crate::shape::CONTROLS;
use crate::signature::type_of;
use crate::suggest::nearest;
use serde_json::{Map, Value};

/// Maximum characters of a value in `details`.
const MAX_ECHO_CHARS: usize = 200;
/// Maximum names in a message.
const MAX_LISTED_NAMES: usize = 10;
/// Maximum further problems in `details.also`.
const MAX_FURTHER_PROBLEMS: usize = 4;

/// Returns the type and the purpose of a parameter: `string (repository owner)`. Leaves out a purpose that is empty or
/// that a leak check would flag.
pub(super) fn expected(param: &Param) -> String {
    let kind = type_of(&param.schema);
    let first = param.description.lines().next().unwrap_or_default();
    let first = first.split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    let whole = format!("{kind} ({})", shorten(first, 80));
    if first.is_empty() || error::looks_internal(&whole) { kind } else { whole }
}

/// Writes a caller's name for a message: short and without spaces, so it cannot look like part of our sentence.
fn display_name(name: &str) -> String {
    shorten(name, 64).split_whitespace().collect::<Vec<_>>().join("_")
}

/// Lists names for a message.
fn join_names(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(MAX_LISTED_NAMES).map(|name| display_name(name)).collect();
    let rest = names.len() - shown.len();
    if rest == 0 { shown.join(", ") } else { format!("{}, and {rest} more", shown.join(", ")) }
}

/// Maps each unknown name to the nearest declared one.
fn nearest_names(unknown: &[String], valid: &[String]) -> Map<String, Value> {
    let pairs = unknown.iter().take(MAX_LISTED_NAMES).filter_map(|name| {
        let suggestion = nearest(name, valid.iter().map(String::as_str))?;
        Some((shorten(name, 64).into_owned(), Value::from(suggestion)))
    });
    pairs.collect()
}

/// Writes the hint `. Did you mean 'force'?`.
fn did_you_mean(suggestions: &Map<String, Value>, unknown: usize) -> String {
    let quoted = |name: &Value| format!("'{}'", name.as_str().unwrap_or_default());
    let words: Vec<String> = match unknown {
        1 => suggestions.values().map(quoted).collect(),
        _ => suggestions
            .iter()
            .map(|(name, suggestion)| format!("{} for '{}'", quoted(suggestion), display_name(name)))
            .collect(),
    };
    if words.is_empty() { String::new() } else { format!(". Did you mean {}?", words.join(", ")) }
}

fn texts(names: &[String]) -> Value {
    names.iter().take(MAX_LISTED_NAMES).map(|name| shorten(name, 64)).collect::<Vec<_>>().into()
}

impl CompiledParams {
    fn error(&self, code: Code, message: String) -> OpError {
        OpError::new(code, message).with_detail("operation", self.operation.as_str())
    }

    fn with_signature_detail(&self, error: OpError) -> OpError {
        error.with_detail("signature", self.signature.as_str())
    }

    fn names(&self, keep: impl Fn(&CompiledParam) -> bool) -> Vec<String> {
        self.params.iter().filter(|param| keep(param)).map(|param| param.name.clone()).collect()
    }

    pub(super) fn unknown_params(&self, unknown: &[String]) -> OpError {
        let mut valid = self.names(|_| true);
        valid.extend(self.takes_input.then(|| INPUT.to_owned()));
        let controls = CONTROLS.iter().filter(|_| self.takes_controls).map(|(name, _)| (*name).to_owned());
        let dry_run = self.takes_dry_run.then(|| DRY_RUN.to_owned());
        let known: Vec<String> = valid.iter().cloned().chain(controls).chain(dry_run).collect();
        let suggestions = nearest_names(unknown, &known);
        let hint = if valid.is_empty() && suggestions.is_empty() {
            ". It takes no parameters".to_owned()
        } else if suggestions.is_empty() {
            format!(". Valid parameters: {}", join_names(&valid))
        } else {
            did_you_mean(&suggestions, unknown.len())
        };
        let message =
            format!("Unknown parameter(s) for operation '{}': {}{hint}", self.operation, join_names(unknown));
        let mut error = self
            .error(Code::UnknownParam, message)
            .with_detail("unknown_params", texts(unknown))
            .with_detail("valid_params", valid);
        if !suggestions.is_empty() {
            error = error.with_detail("did_you_mean", suggestions);
        }
        self.with_signature_detail(error)
    }

    /// Returns the error of a name with an underscore that is no query control.
    pub(crate) fn unknown_control(&self, name: &str) -> OpError {
        let controls = CONTROLS.iter().filter(|_| self.takes_controls).map(|(control, _)| *control);
        let dry_run = self.takes_dry_run.then_some(DRY_RUN);
        let controls: Vec<String> = controls.chain(dry_run).map(|control| format!("_{control}")).collect();
        let suggestions = nearest_names(&[name.to_owned()], &controls);
        let hint = if suggestions.is_empty() && self.takes_controls {
            format!(". Query controls: {}", join_names(&controls))
        } else if suggestions.is_empty() {
            String::new()
        } else {
            did_you_mean(&suggestions, 1)
        };
        let unknown = [name.to_owned()];
        let message =
            format!("Unknown parameter for operation '{}': {}{hint}", self.operation, join_names(&unknown));
        let error = self.error(Code::UnknownParam, message).with_detail("unknown_params", texts(&unknown));
        self.with_signature_detail(error.with_detail("valid_params", self.names(|_| true)))
    }

    pub(super) fn unknown_input_fields(&self, unknown: &[String]) -> OpError {
        let valid = self.names(|param| !param.identifier);
        let suggestions = nearest_names(unknown, &valid);
        let message = format!(
            "Unknown field(s) in 'input' of operation '{}': {}{}",
            self.operation,
            join_names(unknown),
            did_you_mean(&suggestions, unknown.len())
        );
        let mut error = self
            .error(Code::UnknownField, message)
            .with_detail("param_name", INPUT)
            .with_detail("unknown_fields", texts(unknown))
            .with_detail("valid_fields", valid);
        if !suggestions.is_empty() {
            error = error.with_detail("did_you_mean", suggestions);
        }
        self.with_signature_detail(error)
    }

    pub(super) fn identifier_in_input(&self, param: &CompiledParam) -> OpError {
        let name = &param.name;
        let message = format!("'{name}' identifies the resource to update. Move it out of 'input'");
        let error = self
            .error(Code::UnknownField, message)
            .with_detail("param_name", format!("{INPUT}.{name}"))
            .with_detail("unknown_fields", vec![name.clone()])
            .with_detail("valid_fields", self.names(|param| !param.identifier));
        self.with_signature_detail(error)
    }

    pub(super) fn given_twice(&self, param: &CompiledParam) -> OpError {
        let name = &param.name;
        let message =
            format!("Parameter '{name}' has two different values, one of them inside 'input'. Send it once");
        self.with_signature_detail(
            self.error(Code::InvalidValue, message).with_detail("param_name", name.as_str()),
        )
    }

    pub(super) fn input_not_an_object(&self, given: &Value) -> OpError {
        let actual = type_name(given);
        let message = format!(
            "Parameter 'input' expected 'object', got '{actual}'. Send the fields to change as an object, or as top-level parameters"
        );
        let error = self
            .error(Code::InvalidType, message)
            .with_detail("param_name", INPUT)
            .with_detail("expected_type", "object")
            .with_detail("actual_type", actual);
        self.with_signature_detail(error)
    }

    pub(super) fn missing_params(&self, missing: &[&CompiledParam]) -> OpError {
        let Some((first, rest)) = missing.split_first() else {
            return self.with_signature_detail(
                self.error(Code::MissingParam, "A required parameter is missing".to_owned()),
            );
        };
        let rest: Vec<String> = rest.iter().map(|param| format!("'{}'", param.name)).collect();
        let others = if rest.is_empty() {
            String::new()
        } else {
            format!(" (and {} more: {})", rest.len(), join_names(&rest))
        };
        let message =
            format!("Missing required parameter '{}'{others}. Expected: {}", first.name, first.expected);
        let names: Vec<&str> = missing.iter().map(|param| param.name.as_str()).collect();
        let error = self
            .error(Code::MissingParam, message)
            .with_detail("param_name", first.name.as_str())
            .with_detail("missing_params", names);
        self.with_signature_detail(error)
    }

    pub(super) fn limit_error(
        &self,
        param: &CompiledParam,
        params: &Map<String, Value>,
        exceeded: LimitExceeded,
    ) -> OpError {
        let name = &param.name;
        let (limit, actual, maximum, message) = match exceeded {
            LimitExceeded::Request { maximum } => {
                let actual = serde_json::to_vec(params).map_or(maximum, |json| json.len());
                let message = format!(
                    "The parameters are {actual} bytes long, the limit is {maximum}. Send less in one call"
                );
                (LimitType::RequestSize, Some(actual), maximum, message)
            }
            LimitExceeded::String { actual, maximum } => {
                let message = format!(
                    "Parameter '{name}' has a string of {actual} bytes, the limit is {maximum}. Send a shorter one"
                );
                (LimitType::StringLength, Some(actual), maximum, message)
            }
            LimitExceeded::Items { actual, maximum } => {
                let message =
                    format!("Parameter '{name}' has {actual} items, the limit is {maximum}. Split the call");
                (LimitType::ArrayElements, Some(actual), maximum, message)
            }
            LimitExceeded::Depth { maximum } => {
                let message = format!(
                    "Parameter '{name}' is nested deeper than {maximum} levels. Send a flatter value"
                );
                (LimitType::NestingDepth, None, maximum, message)
            }
            LimitExceeded::Nul => {
                let message = format!("Parameter '{name}' contains the character U+0000. Remove it");
                return self.with_signature_detail(
                    self.error(Code::InvalidEncoding, message).with_detail("param_name", name.as_str()),
                );
            }
            LimitExceeded::Control => {
                let message = format!(
                    "Parameter '{name}' contains a control character such as a line break. Send one plain line"
                );
                return self.with_signature_detail(
                    self.error(Code::InvalidEncoding, message).with_detail("param_name", name.as_str()),
                );
            }
        };
        let error = OpError::too_large(message, limit, actual, maximum)
            .with_detail("operation", self.operation.as_str())
            .with_detail("param_name", name.as_str());
        self.with_signature_detail(error)
    }

    /// Reports the most important violation as the error, the others in `details.also`.
    pub(super) fn violation_error(&self, mut found: Vec<ParamViolation<'_>>) -> OpError {
        found.sort_by_key(|(_, _, violation)| rank(&violation.kind));
        let mut reports = found.iter().filter_map(|(position, value, violation)| {
            Some(ViolationReport::new(self.param(*position)?, value, violation))
        });
        let Some(first) = reports.next() else {
            return self.with_signature_detail(
                self.error(Code::InvalidValue, "A parameter is not valid".to_owned()),
            );
        };
        let also: Vec<String> = reports.take(MAX_FURTHER_PROBLEMS).map(|report| report.message()).collect();
        let mut error = self.error(first.code(), first.message());
        error.details.extend(first.details());
        if !also.is_empty() {
            error = error.with_detail("also", also);
        }
        self.with_signature_detail(error)
    }
}

/// Sorts violations in the protocol's order: unknown → required → types → constraints.
fn rank(kind: &ViolationKind) -> u8 {
    match kind {
        ViolationKind::UnknownField { .. } => 0,
        ViolationKind::Missing { .. } => 1,
        ViolationKind::Type { .. } => 2,
        _ => 3,
    }
}

/// One violation of one parameter, ready to be reported. For a secret it shows nothing that the caller sent: no value,
/// no key, and no suggestion that depends on them.
struct ViolationReport<'v> {
    violation: &'v Violation,
    /// Path of the violation, such as `labels[2].name`.
    place: String,
    secret: bool,
    given: Option<&'v Value>,
}

impl<'v> ViolationReport<'v> {
    fn new(param: &CompiledParam, value: &'v Value, violation: &'v Violation) -> Self {
        let secret = param.sensitive || violation.sensitive;
        let shown = match violation.path.iter().position(|part| matches!(part, PathPart::Key(_))) {
            Some(end) if secret => violation.path.get(..end).unwrap_or_default(),
            _ => violation.path.as_slice(),
        };
        let given = violation.path.iter().try_fold(value, |value, part| match part {
            PathPart::Field(key) | PathPart::Key(key) => value.get(key),
            PathPart::Index(index) => value.get(index),
        });
        ViolationReport {
            violation,
            place: path_text(&param.name, shown),
            secret,
            given: given.filter(|_| !secret),
        }
    }

    fn code(&self) -> Code {
        match self.violation.kind {
            ViolationKind::Type { .. } => Code::InvalidType,
            ViolationKind::Missing { .. } => Code::MissingParam,
            ViolationKind::UnknownField { .. } => Code::UnknownField,
            ViolationKind::TooDeep | ViolationKind::TooComplex => Code::PayloadTooLarge,
            ViolationKind::Value { .. } | ViolationKind::NoVariant { .. } => Code::InvalidValue,
        }
    }

    fn message(&self) -> String {
        let whole = self.whole_message();
        if !error::looks_internal(&whole) {
            return whole;
        }
        // Values and names of the schema may have any words.
        let place = display_name(&self.place);
        match self.violation.kind {
            ViolationKind::Value { .. } => {
                format!("Parameter '{place}' does not fit its rule, see details.allowed")
            }
            _ => format!("Parameter '{place}' does not fit its schema, see details.signature"),
        }
    }

    fn whole_message(&self) -> String {
        let place = &self.place;
        match &self.violation.kind {
            ViolationKind::Type { expected, .. } => {
                let advice = self.given.and_then(|given| advice(expected, given));
                let advice = advice.map(|advice| format!(". {advice}")).unwrap_or_default();
                format!("Parameter '{place}' {}{advice}", self.violation.kind)
            }
            ViolationKind::Missing { field } => format!("Missing required field '{field}' in '{place}'"),
            ViolationKind::UnknownField { valid, .. } if self.secret => {
                format!("Unknown field in '{place}'. Its fields are: {}", join_names(valid))
            }
            ViolationKind::UnknownField { field, valid, nearest } => {
                let hint = match nearest {
                    Some(nearest) => format!(". Did you mean '{nearest}'?"),
                    None if valid.is_empty() => ". It has no fields".to_owned(),
                    None => format!(". Its fields are: {}", join_names(valid)),
                };
                format!("Unknown field in '{place}': {}{hint}", display_name(field))
            }
            ViolationKind::Value { fragment, nearest, .. } => {
                let nearest = nearest.as_ref().filter(|_| !self.secret);
                let hint = nearest.map(|nearest| format!(". Did you mean '{nearest}'?")).unwrap_or_default();
                format!("Parameter '{place}' {fragment}{hint}")
            }
            ViolationKind::NoVariant { .. } if self.secret => {
                format!("Parameter '{place}' matches none of its forms")
            }
            kind => format!("Parameter '{place}' {kind}"),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        let mut add = |key: &str, value: Value| details.insert(key.to_owned(), value);
        let name = match &self.violation.kind {
            ViolationKind::Missing { field } => path_text(&self.place, &[PathPart::Field(field.clone())]),
            _ => self.place.clone(),
        };
        add("param_name", name.as_str().into());
        match &self.violation.kind {
            ViolationKind::Type { expected, actual } => {
                add("expected_type", expected.as_str().into());
                add("actual_type", (*actual).into());
            }
            ViolationKind::Missing { .. } => {
                add("missing_params", vec![name].into());
            }
            ViolationKind::UnknownField { field, valid, nearest } => {
                if !self.secret {
                    add("unknown_fields", vec![shorten(field, 64)].into());
                }
                add("valid_fields", valid.clone().into());
                if let Some(nearest) = nearest.as_ref().filter(|_| !self.secret) {
                    let pair = (shorten(field, 64).into_owned(), Value::from(nearest.as_str()));
                    add("did_you_mean", Map::from_iter([pair]).into());
                }
            }
            ViolationKind::Value { allowed, .. } => {
                add("allowed", allowed.clone());
            }
            _ => {}
        }
        let echoed = match &self.violation.kind {
            // A list or an object that was sent as a string may contain secrets.
            ViolationKind::Type { expected, .. } => {
                !expects_type(expected, "array") && !expects_type(expected, "object")
            }
            ViolationKind::Value { .. } => true,
            _ => false,
        };
        if let Some(value) = self.given.filter(|_| echoed).and_then(echo) {
            add("value", value);
        }
        details
    }
}

/// Returns a scalar for `details`, shortened. Lists and objects are not repeated, because they may contain a secret;
/// neither is a string that looks like one of them.
fn echo(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => None,
        Value::String(text) => Some(shorten(text, MAX_ECHO_CHARS).into()),
        Value::Number(_) | Value::Bool(_) => Some(value.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns whether `expected` (`string | integer`) includes the type `kind`.
fn expects_type(expected: &str, kind: &str) -> bool {
    expected.split(" | ").any(|name| name == kind || (name == "number" && kind == "integer"))
}

/// Suggests what to send instead of a value of the wrong type.
fn advice(expected: &str, given: &Value) -> Option<String> {
    match given {
        Value::Null => Some("Leave it out instead of sending null".to_owned()),
        Value::String(text) => match value_in_text(text)
            .filter(|value| expects_type(expected, type_name(value)))
        {
            Some(Value::Array(_) | Value::Object(_)) => Some("Send it as JSON, unquoted".to_owned()),
            Some(scalar) => Some(format!("Send it unquoted: {scalar}")),
            None if expects_type(expected, "array") => Some("Send a list such as [\"a\", \"b\"]".to_owned()),
            None => None,
        },
        Value::Number(_) | Value::Bool(_) if expects_type(expected, "string") => {
            Some(format!("Send it quoted: \"{given}\""))
        }
        _ => None,
    }
}

/// Parses the JSON value in a string.
fn value_in_text(text: &str) -> Option<Value> {
    let text = text.trim();
    let flag = [true, false]
        .into_iter()
        .find(|flag| text.eq_ignore_ascii_case(if *flag { "true" } else { "false" }));
    flag.map(Value::Bool).or_else(|| serde_json::from_str(text).ok())
}
