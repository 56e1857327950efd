//! Prepares a tool call: turns its arguments into a validated call of one operation.
//!
//! ```
//! # use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! # use mcpaql_core::facts::{Facts, Reach};
//! # use mcpaql_core::operation::{Binding, Category, Operation};
//! # let mut adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! # let facts = Facts::read(Reach::Process);
//! # adapter.operations.push(Operation::new("list_tasks", Category::Read, facts, Binding::Code));
//! # let catalog = mcpaql_core::compile::compile(adapter, &Default::default()).catalog.unwrap();
//! use mcpaql_core::request;
//! use serde_json::json;
//!
//! let arguments = |operation: &str| json!({"operation": operation}).as_object().cloned().unwrap();
//! let call = request::prepare(&catalog, "todo_mcpaql_read", arguments("list_tasks")).unwrap();
//! assert!(call.args.is_empty());
//! let error = request::prepare(&catalog, "todo_mcpaql_read", arguments("list_taks")).unwrap_err();
//! assert!(error.message.contains("Did you mean 'list_tasks'?"));
//! ```
//!
//! The checks run in this order: envelope, known operation, right endpoint, dry run, query controls ([`shape`]), then
//! the parameters ([`validate`](crate::validate)). The agent can recover from all of these errors, except for arguments that are not
//! an envelope.

use crate::batch;
use crate::catalog::{Catalog, CatalogEntry, FullOperation, ToolScope};
use crate::error::{Code, OpError};
use crate::operation::{Binding, Category, INTROSPECT, Operation, StoreAction};
use crate::response::Warning;
pub(crate) use crate::response::quoted_name;
use crate::schema::type_name;
use crate::shape::{self, PageRequest, QueryControls};
use crate::signature;
use crate::validate::asks_dry_run;
use serde_json::{Map, Value};

/// The specification's field beside `operation` that names a kind of resource.
const ELEMENT_TYPE: &str = "element_type";
/// Maximum estimated tokens of a suggested signature.
pub(crate) const MAX_SIGNATURE_TOKENS: usize = 80;
/// Maximum parameter names that are used to guess the intended operation.
const MAX_HINT_KEYS: usize = 12;
/// Maximum length of a parameter name that is used to guess the intended operation.
const MAX_KEY_LENGTH: usize = 64;

/// A call that is ready to run: an operation and its validated arguments.
#[derive(Debug)]
pub struct PreparedCall<'c> {
    /// The operation's catalog entry.
    pub entry: &'c CatalogEntry,
    /// The operation with its schemas.
    pub full_operation: FullOperation<'c>,
    /// Arguments by parameter name, with defaults.
    pub args: Map<String, Value>,
    /// The query controls, if the call has any.
    pub controls: Option<Box<QueryControls>>,
    /// The caller asks what the call would do, without making it.
    pub dry_run: bool,
    /// The token with which the caller confirms the call.
    pub confirmation: Option<String>,
    /// Warnings for the agent.
    pub warnings: Vec<Warning>,
}

/// Prepares a call of a tool.
///
/// # Errors
/// The first problem with the envelope, the operation, the endpoint or the parameters, in that order.
pub fn prepare<'c>(
    catalog: &'c Catalog,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<PreparedCall<'c>, OpError> {
    let Some(route) = catalog.route(tool) else {
        return Err(catalog.withheld_tool_error(tool).unwrap_or_else(|| no_tool(tool)));
    };
    let mut warnings = Vec::new();
    if let Some(name) = &route.renamed_to {
        let message = format!("The tool '{tool}' is deprecated: it is now called '{name}'.");
        warnings.push(deprecated("feature", tool, message).with_detail("replacement", name.as_str()));
    }
    let (entry, params) = match &route.scope {
        ToolScope::Operation(index) => {
            let Some(entry) = catalog.operations.get(*index) else {
                return Err(no_tool(tool));
            };
            let full = full_operation(catalog, entry)?;
            if batch::is_batch(&arguments) && !full.params.accepts(batch::OPERATIONS) {
                return Err(batch::no_batch_error(tool));
            }
            let mut params = flat_params(full.operation, arguments)?;
            params.retain(|name, _| !is_foreign(full, name));
            (entry, params)
        }
        scope => {
            let (operation, mut params) = split_envelope(arguments)?;
            let name = operation.ok_or_else(missing_operation)?;
            let entry = find(catalog, &name, &params.own)?;
            if let ToolScope::Endpoint(endpoint) = scope
                && entry.operation.endpoint != *endpoint
            {
                return Err(wrong_endpoint(entry, endpoint, tool));
            }
            note_alias(entry, &name, &mut warnings);
            if let Some(kind) = params.element_type.take() {
                place_element_type(catalog, entry, kind, &mut params.own, &mut warnings)?;
            }
            if !params.beside.is_empty() {
                let full = full_operation(catalog, entry)?;
                params.own.retain(|name, _| !params.beside.contains(name) || !is_foreign(full, name));
            }
            (entry, params.own)
        }
    };
    finish(catalog, entry, params, warnings)
}

/// Prepares a call by the operation's name, as the command line does.
///
/// # Errors
/// The same as for [`prepare`], except for endpoints.
pub fn prepare_operation<'c>(
    catalog: &'c Catalog,
    name: &str,
    params: Map<String, Value>,
) -> Result<PreparedCall<'c>, OpError> {
    let entry = find(catalog, name, &params)?;
    let mut warnings = Vec::new();
    note_alias(entry, name, &mut warnings);
    finish(catalog, entry, params, warnings)
}

/// Returns the error of a call through an endpoint tool, for a catalog without operations in that endpoint.
pub(crate) fn wrong_endpoint_error(
    catalog: &Catalog,
    endpoint: &str,
    tool: &str,
    arguments: Map<String, Value>,
) -> OpError {
    let found = split_envelope(arguments).and_then(|(operation, params)| {
        let name = operation.ok_or_else(missing_operation)?;
        find(catalog, &name, &params.own)
    });
    match found {
        Ok(entry) => wrong_endpoint(entry, endpoint, tool),
        Err(error) => error,
    }
}

fn finish<'c>(
    catalog: &'c Catalog,
    entry: &'c CatalogEntry,
    mut params: Map<String, Value>,
    mut warnings: Vec<Warning>,
) -> Result<PreparedCall<'c>, OpError> {
    let full = full_operation(catalog, entry)?;
    let confirmation = take_confirmation(full, &mut params)?;
    let dry_run = take_dry_run(full, &mut params)?;
    refuse_unknown(full, &params)?;
    let controls =
        if full.operation.takes_controls() { take_controls(full, &mut params, &mut warnings)? } else { None };
    let args = full.params.validate(params, full.schemas, &catalog.limits)?;
    if let Some(instead) = &entry.operation.deprecated {
        let name = &entry.operation.name;
        let text = format!("The operation '{name}' is deprecated. {instead}");
        warnings.push(deprecated("operation", name, text.trim_end()));
    }
    Ok(PreparedCall { entry, full_operation: full, args, controls, dry_run, confirmation, warnings })
}

/// Names of the protocol that are no parameters.
const PROTOCOL_NAMES: [&str; 1] = ["_meta"];
/// The name that always carries the token of a confirmation.
const CONFIRMATION_ALWAYS: &str = "_confirmation";
/// The names of a token, unless the operation has such a parameter.
const CONFIRMATION: [&str; 3] = ["confirmation_token", "confirmationToken", CONFIRMATION_ALWAYS];
/// Maximum length of a token. Tokens of this server are much shorter.
const MAX_CONFIRMATION_BYTES: usize = 256;

/// Takes the token of a confirmation out of the parameters.
fn take_confirmation(
    full: FullOperation<'_>,
    params: &mut Map<String, Value>,
) -> Result<Option<String>, OpError> {
    let mut token = None;
    for name in CONFIRMATION.into_iter().filter(|name| !full.params.accepts(name)) {
        match params.shift_remove(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.len() <= MAX_CONFIRMATION_BYTES => token = Some(text),
            Some(Value::String(_)) => {
                let message =
                    "The confirmation token is unknown. Send the call without a token to get a new one.";
                return Err(OpError::new(Code::TokenInvalid, message));
            }
            Some(other) => {
                let message = format!("Parameter '{name}' must be the text of a confirmation token.");
                return Err(OpError::new(Code::InvalidType, message)
                    .with_detail("param_name", name)
                    .with_detail("expected_type", "string")
                    .with_detail("actual_type", type_name(&other)));
            }
        }
    }
    Ok(token)
}

/// Takes the request for a dry run out of the parameters. Such a request is never ignored, because the call would then run.
fn take_dry_run(full: FullOperation<'_>, params: &mut Map<String, Value>) -> Result<bool, OpError> {
    let mut wanted = false;
    let asked = params.keys().filter(|name| asks_dry_run(name) && !full.params.accepts(name));
    for name in asked.cloned().collect::<Vec<String>>() {
        let Some(value) = params.shift_remove(&name) else { continue };
        let operation = full.operation;
        if !operation.takes_dry_run() {
            let why = if operation.category == Category::Read { ", because it only reads" } else { "" };
            let message =
                format!("The operation '{}' has no dry run{why}; call it without '{name}'.", operation.name);
            return Err(OpError::new(Code::UnknownParam, message)
                .with_detail("operation", operation.name.as_str())
                .with_detail("unknown_params", vec![name])
                .with_detail("signature", full.params.signature()));
        }
        wanted |= match value {
            Value::Bool(wanted) => wanted,
            Value::Null => false,
            other => {
                let message = format!("Parameter '{name}' must be true or false.");
                return Err(OpError::new(Code::InvalidType, message)
                    .with_detail("param_name", name)
                    .with_detail("expected_type", "boolean")
                    .with_detail("actual_type", type_name(&other)));
            }
        };
    }
    Ok(wanted)
}

/// Refuses a name with an underscore that is neither a parameter nor part of the protocol. It may be a misspelled dry run
/// or control.
fn refuse_unknown(full: FullOperation<'_>, params: &Map<String, Value>) -> Result<(), OpError> {
    let takes_controls = full.operation.takes_controls();
    let is_unknown = |name: &str| {
        let is_control = !takes_controls && name.starts_with('_') && shape::control_of(name).is_some();
        is_foreign(full, name) || is_control && !full.params.accepts(name)
    };
    let unknown =
        params.keys().find(|name| is_unknown(name.as_str()) && !PROTOCOL_NAMES.contains(&name.as_str()));
    unknown.map_or(Ok(()), |unknown| Err(full.params.unknown_control(unknown)))
}

/// Returns whether a name belongs neither to the operation nor to the protocol.
fn is_foreign(full: FullOperation<'_>, name: &str) -> bool {
    name.starts_with('_')
        && !asks_dry_run(name)
        && name != CONFIRMATION_ALWAYS
        && !full.params.accepts(name)
        && shape::control_of(name).is_none()
}

/// Takes the query controls out of the parameters.
fn take_controls(
    full: FullOperation<'_>,
    params: &mut Map<String, Value>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Box<QueryControls>>, OpError> {
    if params.keys().all(|name| full.params.accepts(name)) {
        return Ok(None);
    }
    // A store pages through its records itself, but a query needs all of them.
    let is_list = is_store_list(full.operation);
    let queries_store = is_list
        && params
            .keys()
            .any(|name| !full.params.accepts(name) && shape::control_of(name).is_some_and(is_query));
    let is_own =
        |name: &str| full.params.accepts(name) && !(queries_store && matches!(name, "first" | "after"));
    let declared = full.operation.fields.as_deref();
    let mut controls = QueryControls::take(params, declared, is_own, warnings)?;
    if let Some(controls) = controls.as_mut().filter(|controls| is_list && controls.needs_whole_list())
        && controls.page.is_none()
        && !controls.all_pages
        && (controls.aggregate.is_none() || controls.include_items)
    {
        controls.page = Some(PageRequest::First { size: shape::DEFAULT_PAGE_ITEMS, after: None });
    }
    Ok(controls)
}

/// Returns whether a control is about the whole list and not about the fields of an answer.
fn is_query(control: &str) -> bool {
    !matches!(control, "fields" | "preset" | "part" | "answer_budget" | "include_items")
}

fn is_store_list(operation: &Operation) -> bool {
    matches!(&operation.binding, Binding::Store(binding) if matches!(binding.action, StoreAction::List | StoreAction::Search))
}

fn full_operation<'c>(catalog: &'c Catalog, entry: &'c CatalogEntry) -> Result<FullOperation<'c>, OpError> {
    catalog.full_operation(entry).ok_or_else(|| {
        let name = &entry.operation.name;
        if let Some(error) = catalog.withheld_error(name) {
            return error;
        }
        OpError::new(
            Code::Internal,
            format!(
                "The operation '{name}' cannot be read from the description of its API; use another one."
            ),
        )
    })
}

fn deprecated(kind: &str, item: &str, message: impl Into<String>) -> Warning {
    Warning::new("DEPRECATION_WARNING", message)
        .with_detail("type", kind)
        .with_detail("deprecated_item", item)
}

fn note_alias(entry: &CatalogEntry, called: &str, warnings: &mut Vec<Warning>) {
    let name = &entry.operation.name;
    if name != called {
        let message = format!("The operation '{called}' is deprecated: it is now called '{name}'.");
        warnings.push(deprecated("operation", called, message).with_detail("replacement", name.as_str()));
    }
}

/// Returns the parameters of a tool that is one operation. The arguments are the parameters. An envelope is accepted,
/// too, unless the operation has parameters called `operation` or `params`.
fn flat_params(
    operation: &Operation,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, OpError> {
    let names_it = arguments
        .get("operation")
        .and_then(Value::as_str)
        .is_some_and(|name| name == operation.name || operation.aliases.iter().any(|alias| alias == name));
    if names_it && operation.param("operation").is_none() {
        arguments.shift_remove("operation");
    }
    if operation.param("params").is_some() {
        return Ok(arguments);
    }
    let params = take_params(&mut arguments)?;
    Ok(merge_params(params, arguments))
}

/// The parameters of a call, and the specification's field for the kind of resource beside them.
struct EnvelopeParams {
    own: Map<String, Value>,
    /// Names beside `params` that start with `_`. Those that nobody knows are allowed there.
    beside: Vec<String>,
    element_type: Option<Value>,
}

/// Passes `element_type` to an operation that has such a parameter. Otherwise it has no effect, and a warning says so.
fn place_element_type(
    catalog: &Catalog,
    entry: &CatalogEntry,
    kind: Value,
    params: &mut Map<String, Value>,
    warnings: &mut Vec<Warning>,
) -> Result<(), OpError> {
    if full_operation(catalog, entry)?.operation.param(ELEMENT_TYPE).is_some() {
        params.entry(ELEMENT_TYPE).or_insert(kind);
    } else {
        let message = format!(
            "Ignored: '{ELEMENT_TYPE}'. The operation '{}' works on one kind of resource.",
            entry.operation.name
        );
        warnings.push(Warning::new("IGNORED_PARAMS", message));
    }
    Ok(())
}

/// Returns the operation's name and its parameters: those in `params`, then those beside it.
fn split_envelope(mut arguments: Map<String, Value>) -> Result<(Option<String>, EnvelopeParams), OpError> {
    let operation = match arguments.shift_remove("operation") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(other) => {
            return Err(OpError::new(
                Code::InvalidType,
                "Field 'operation' must be a string, the name of an operation.",
            )
            .with_detail("param_name", "operation")
            .with_detail("actual_type", type_name(&other))
            .before_dispatch());
        }
    };
    let params = take_params(&mut arguments)?;
    let element_type = arguments.shift_remove(ELEMENT_TYPE);
    let beside = arguments
        .keys()
        .filter(|name| name.starts_with('_') && !params.contains_key(*name))
        .cloned()
        .collect();
    Ok((operation, EnvelopeParams { own: merge_params(params, arguments), beside, element_type }))
}

/// Removes `params` from the arguments and returns it.
fn take_params(arguments: &mut Map<String, Value>) -> Result<Map<String, Value>, OpError> {
    match arguments.shift_remove("params") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(params)) => Ok(params),
        // Some models send the object as a string. Its meaning is clear.
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(params)) => Ok(params),
            _ => Err(params_not_object("string")),
        },
        Some(other) => Err(params_not_object(type_name(&other))),
    }
}

/// Merges the parameters. Those in `params` win over those beside it.
fn merge_params(mut params: Map<String, Value>, beside: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in beside {
        params.entry(name).or_insert(value);
    }
    params
}

fn params_not_object(found: &str) -> OpError {
    OpError::new(Code::InvalidType, "Field 'params' must be an object with the operation's parameters.")
        .with_detail("param_name", "params")
        .with_detail("expected_type", "object")
        .with_detail("actual_type", found)
        .before_dispatch()
}

fn no_tool(tool: &str) -> OpError {
    OpError::new(Code::NotFoundOperation, format!("Unknown tool{}.", quoted_name(tool)))
}

pub(crate) fn missing_operation() -> OpError {
    OpError::new(
        Code::MissingParam,
        r#"Missing required field 'operation'. Send {"operation": "introspect"} to list the operations."#,
    )
    .with_detail("param_name", "operation")
    .before_dispatch()
}

fn find<'c>(
    catalog: &'c Catalog,
    name: &str,
    params: &Map<String, Value>,
) -> Result<&'c CatalogEntry, OpError> {
    if let Some(entry) = catalog.get(name) {
        return Ok(entry);
    }
    if let Some(error) = catalog.withheld_error(name) {
        return Err(error);
    }
    let keys =
        params.keys().map(String::as_str).filter(|key| key.len() <= MAX_KEY_LENGTH).take(MAX_HINT_KEYS);
    let suggested = catalog.suggest_operations(name, keys);
    let names: Vec<&str> = suggested.iter().map(|entry| entry.operation.name.as_str()).collect();
    let shown: String = name.chars().take(64).collect();
    let hint = match names.first() {
        Some(first) => format!("Did you mean '{first}'?"),
        None => format!("Use '{INTROSPECT}' to list operations."),
    };
    let error =
        OpError::new(Code::NotFoundOperation, format!("Unknown operation{}. {hint}", quoted_name(name)))
            .with_detail("operation", shown)
            .with_detail("suggestions", names);
    let signatures: Vec<String> = suggested
        .iter()
        .filter_map(|entry| {
            Some(signature::brief(catalog.full_operation(entry)?.operation, MAX_SIGNATURE_TOKENS))
        })
        .collect();
    Err(if signatures.is_empty() { error } else { error.with_detail("signatures", signatures) })
}

fn wrong_endpoint(entry: &CatalogEntry, actual: &str, tool: &str) -> OpError {
    let operation = &entry.operation;
    OpError::new(
        Code::EndpointMismatch,
        format!("Operation '{}' must be called via {}, not {tool}.", operation.name, entry.tool),
    )
    .with_detail("operation", operation.name.as_str())
    .with_detail("expected_endpoint", operation.endpoint.as_str())
    .with_detail("actual_endpoint", actual)
    .with_detail("expected_tool", entry.tool.as_str())
}
