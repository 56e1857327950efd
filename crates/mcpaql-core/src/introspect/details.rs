//! Describes one operation. Nested object parameters are named types.
//!
//! What always holds: [`operation`] has the closed shape of the specification's `OperationDetails`. [`full`] has the same
//! values, and what is ours beside them.

use super::fields::{self, kind};
use crate::catalog::{Catalog, CatalogEntry, FullOperation};
use crate::lifecycle::{ExecutionAction, ExecutionStatus, Lifecycle};
use crate::links::MAX_NAMED_PRODUCERS;
use crate::operation::{Operation, Param, assumed_default, fills_default};
use crate::shape::{self, CONTROLS, DeclaredFields, FieldPath, FieldPreset};
use crate::signature::{self, BriefOptions, TypeBudget};
use crate::tokens;
use crate::validate::{DRY_RUN, INPUT};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Describes an operation as the specification does; `None` if it cannot be read.
pub(super) fn operation(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let operation = full.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    out.insert("semantic_category".into(), operation.category.as_str().into());
    out.insert("endpoint".into(), operation.endpoint.as_str().into());
    out.insert("mcpTool".into(), entry.tool.as_str().into());
    out.insert("description".into(), operation.description.as_str().into());
    out.insert(
        "permissions".into(),
        json!({"readOnly": entry.hints.read_only, "destructive": entry.hints.destructive}),
    );
    let mut parameters: Vec<Value> =
        operation.params.iter().map(|param| parameter(operation, param)).collect();
    if full.params.takes_input() {
        parameters.push(input(operation));
    }
    parameters.extend(common(full));
    out.insert("parameters".into(), parameters.into());
    out.insert("returns".into(), returns(full));
    out.insert("examples".into(), examples(operation));
    if operation.takes_controls() {
        out.insert("aggregation_support".into(), aggregation_support());
    }
    if entry.operation.lifecycle.is_some() {
        out.insert("lifecycle".into(), lifecycle());
    }
    Some(Value::Object(out))
}

/// Describes an operation as the specification does, and adds what is ours: danger, signature, tags, whole schemas, the
/// operations that return identifiers. `None` if it cannot be read.
pub(super) fn full(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let operation = full.operation;
    let mut out = self::operation(catalog, entry)?;
    let members = out.as_object_mut()?;
    let producers = catalog.producers(entry);
    for (shown, param) in members.get_mut("parameters")?.as_array_mut()?.iter_mut().zip(&operation.params) {
        let shown = shown.as_object_mut()?;
        shown.extend(fields::extras(&param.schema));
        if let Some(default) = param.api_default.as_ref().filter(|_| !param.sensitive) {
            shown.insert("api_default".into(), default.clone());
        }
        if let Some((_, names)) = producers.iter().find(|(name, _)| *name == param.name) {
            shown.insert("from".into(), json!(names));
        }
    }
    members.insert("danger".into(), operation.effective_danger().as_str().into());
    members.insert("idempotent".into(), entry.hints.idempotent.into());
    members.insert("signature".into(), signature::line_with_types(operation, full.types).into());
    if let Some(declared) = &operation.fields {
        members.extend(declared_fields(declared));
    }
    if !operation.tags.is_empty() {
        members.insert("tags".into(), json!(operation.tags));
    }
    if !operation.aliases.is_empty() {
        members.insert("aliases".into(), json!(operation.aliases));
    }
    if let Some(lifecycle) = &entry.operation.lifecycle {
        members.insert("background".into(), background(lifecycle));
    }
    if let Some(instead) = &operation.deprecated {
        members.insert(
            "deprecated".into(),
            if instead.is_empty() { true.into() } else { instead.as_str().into() },
        );
    }
    Some(out)
}

/// Maximum types of the parameters of a call.
const MAX_CALL_TYPES: usize = 12;
/// Maximum estimated tokens of what a call needs.
const MAX_CALL_TOKENS: usize = 118;
/// Maximum bytes of the same. Long names of types cost more tokens than estimated.
const MAX_CALL_BYTES: usize = 570;
/// Maximum tokens of a signature, and maximum producers of an identifier, from long to short.
const CALL_SIZES: [(usize, usize); 6] = [(110, 3), (110, 1), (95, 1), (80, 1), (60, 1), (60, 0)];

/// Describes what a call needs: the signature with the types of its parameters, and the producers of its identifiers.
/// If the types do not fit, they are left out; then optional parameters are.
pub(super) fn signature_with_types(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let call = Operation { returns: None, examples: Vec::new(), ..full.operation.clone() };
    let producers = catalog.producers(entry);
    let describe = |signature: String, named: usize| {
        let mut out = Map::new();
        out.insert("name".into(), call.name.as_str().into());
        out.insert("endpoint".into(), call.endpoint.as_str().into());
        out.insert("signature".into(), signature.into());
        let from = producers.iter().filter(|_| named > 0).map(|(param, names)| {
            (param.clone(), names.iter().copied().take(named).collect::<Vec<_>>().into())
        });
        let from: Map<String, Value> = from.collect();
        if !from.is_empty() {
            out.insert("from".into(), Value::Object(from));
        }
        Value::Object(out)
    };
    let fits = |shown: &Value| {
        let text = shown.to_string();
        text.len() <= MAX_CALL_BYTES && tokens::estimate(&text) <= MAX_CALL_TOKENS
    };
    let budget = TypeBudget { lines: MAX_CALL_TYPES, tokens: MAX_CALL_TOKENS };
    if let Some(whole) = signature::line_with_all_types(&call, full.types, budget)
        && let Some(shown) =
            [MAX_NAMED_PRODUCERS, 1].map(|named| describe(whole.clone(), named)).into_iter().find(fits)
    {
        return Some(shown);
    }
    let mut shown = Value::Null;
    for (tokens, named) in CALL_SIZES {
        let options = BriefOptions { tokens, types: Some(full.types), ..BriefOptions::default() };
        shown = describe(signature::brief_with(&call, &options), named);
        if fits(&shown) {
            break;
        }
    }
    Some(shown)
}

/// Describes an operation in a list: its signature, with types if they are few.
pub(super) fn list_signature(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let call = Operation { returns: None, examples: Vec::new(), ..full.operation.clone() };
    let signature = match signature::line_with_all_types(&call, full.types, TypeBudget::LISTED) {
        Some(signature) => signature,
        None => signature::call(&call),
    };
    Some(json!({"name": call.name, "signature": signature}))
}

/// Describes `aggregate`, in the closed shape of the specification's `AggregationSupport`.
fn aggregation_support() -> Value {
    json!({"supported": true, "default_mode": "summary_only", "functions": shape::FUNCTIONS})
}

/// Describes what the document declares about the fields of answers.
fn declared_fields(declared: &DeclaredFields) -> Map<String, Value> {
    fn names(paths: &[FieldPath]) -> Vec<&str> {
        paths.iter().map(FieldPath::as_str).collect()
    }
    let mut out = Map::new();
    if let Some(default) = &declared.default_fields {
        let preset = default.preset.map(FieldPreset::as_str);
        let shown = preset.map_or_else(|| json!(names(&default.declared)), Value::from);
        out.insert("default_fields".into(), shown);
    }
    if !declared.presets.is_empty() {
        let presets = declared.presets.iter().map(|(name, paths)| (name.clone(), json!(names(paths))));
        out.insert("presets".into(), Value::Object(presets.collect()));
    }
    if !declared.computed.is_empty() {
        let fields =
            declared.computed.iter().map(|(name, source)| (format!("_computed.{name}"), source.clone()));
        out.insert("computed_fields".into(), Value::Object(fields.collect()));
    }
    out
}

/// Describes the states of an execution, in the closed shape of the specification's `LifecycleInfo`.
fn lifecycle() -> Value {
    json!({
        "states": ExecutionStatus::ALL.map(ExecutionStatus::as_str),
        "supports_cancel": true,
        "supports_retry": false,
        "progress_reporting": true,
    })
}

/// Describes how an operation runs in the background, and the operations to follow it.
fn background(lifecycle: &Lifecycle) -> Value {
    json!({
        "survives_session": lifecycle.survives,
        "timeout_seconds": lifecycle.limit_ms().div_ceil(1000),
        "keep_seconds": lifecycle.keep_seconds,
        "operations": ExecutionAction::ALL.map(ExecutionAction::operation_name),
    })
}

fn examples(operation: &Operation) -> Value {
    let example = |example: &crate::operation::Example| {
        let mut out = Map::new();
        if !example.description.is_empty() {
            out.insert("description".into(), example.description.as_str().into());
        }
        out.insert("request".into(), json!({"operation": operation.name, "params": example.params}));
        Value::Object(out)
    };
    operation.examples.iter().map(example).collect()
}

/// Describes a parameter.
fn parameter(operation: &Operation, param: &Param) -> Value {
    let filled = fills_default(operation, param);
    let mut out = fields::field(&param.name, &param.schema, param.required && !filled, &param.description);
    let default = param.default.as_ref().filter(|_| filled).or_else(|| assumed_default(operation, param));
    if let Some(default) = default.filter(|_| !param.sensitive) {
        out.insert("default".into(), default.clone());
    }
    if param.sensitive {
        out.insert("sensitive".into(), true.into());
    }
    Value::Object(out)
}

/// Describes the parameters that many operations have: query controls, dry run. A name that the operation has itself has an
/// underscore here.
fn common(full: FullOperation<'_>) -> Vec<Value> {
    let (controls, dry_run) = (full.operation.takes_controls(), full.operation.takes_dry_run());
    let controls = CONTROLS.iter().filter(|_| controls).copied();
    let dry_run = dry_run.then_some((DRY_RUN, "Show the request and send nothing"));
    let describe = |(name, text): (&'static str, &'static str)| {
        let shown = if full.params.accepts(name) { format!("_{name}") } else { name.to_owned() };
        let mut out = json!({"name": shown, "type": common_type(name), "required": false});
        // The names of the others say enough.
        if let Some(members) = out.as_object_mut().filter(|_| DESCRIBED.contains(&name)) {
            members.insert("description".into(), text.into());
        }
        out
    };
    controls.chain(dry_run).map(describe).collect()
}

/// The common parameters whose form is not clear from their name and type.
const DESCRIBED: [&str; 6] = ["fields", "filter", "sort", "aggregate", "part", DRY_RUN];

/// Returns the type of a common parameter.
fn common_type(name: &str) -> &'static str {
    match name {
        "fields" => "string | string[]",
        "preset" | "after" | "before" => "string",
        "filter" | "aggregate" | "part" => "object",
        "sort" => "object | object[]",
        "include_items" | "all_pages" | DRY_RUN => "boolean",
        _ => "integer",
    }
}

/// Describes `input`, which carries the fields of an update.
fn input(operation: &Operation) -> Value {
    let example = operation.params.iter().find(|param| !param.is_identifier());
    let example = example.map(|param| format!(", such as {{\"{}\": …}}", param.name)).unwrap_or_default();
    json!({
        "name": INPUT,
        "type": "object",
        "required": false,
        "description": format!("The fields to change in one object{example}, instead of beside the identifiers"),
    })
}

fn returns(full: FullOperation<'_>) -> Value {
    let Some(returns) = &full.operation.returns else {
        return json!({"name": "any", "kind": "scalar"});
    };
    let name = signature::type_of(&returns.schema);
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("kind".into(), kind(resolve(full.types, &returns.schema)).into());
    if !returns.description.is_empty() {
        out.insert("description".into(), returns.description.as_str().into());
    }
    Value::Object(out)
}

/// Follows one reference. A declared type is never only a reference to itself.
fn resolve<'v>(types: &'v IndexMap<String, Value>, schema: &'v Value) -> &'v Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/types/"));
    name.and_then(|name| types.get(name)).unwrap_or(schema)
}
