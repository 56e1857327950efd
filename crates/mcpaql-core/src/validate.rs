//! Validates the parameters of a call against the declaration of the operation. The declaration is compiled once.
//!
//! ```
//! use mcpaql_core::facts::{Facts, Reach};
//! use mcpaql_core::operation::{Binding, Category, Operation, Param, ParamLocation};
//! use mcpaql_core::schema::SchemaSet;
//! use mcpaql_core::validate::{CompiledParams, SizeLimits};
//! use serde_json::{Map, json};
//!
//! let mut list = Operation::new("list_tasks", Category::Read, Facts::read(Reach::Process), Binding::Code);
//! list.params.push(Param::new("limit", ParamLocation::Body, json!({"type": "integer"})));
//! let (mut schemas, _) = SchemaSet::compile(&Default::default());
//! let (params, _) = CompiledParams::compile(&list, &mut schemas, "");
//! let given = Map::from_iter([("limit".to_owned(), json!("many"))]);
//! let error = params.validate(given, &schemas, &SizeLimits::DEFAULT).unwrap_err();
//! assert_eq!(error.message, "Parameter 'limit' expected 'integer', got 'string'");
//! ```
//!
//! The checks run in a fixed order: unknown names → required parameters → size limits (they protect the later checks) →
//! types → constraints. Then defaults are filled in.
//!
//! - `perPage` and `per-page` are accepted for `per_page`. So is a parameter's wire name if only one parameter has it.
//!   If the exact name is also given, these spellings are ignored. Names that start with `_` belong to the protocol and
//!   are dropped.
//! - An UPDATE over HTTP may have its fields in `input`. Identifiers (path parameters) stay outside of it.
//! - The body of an update gets no defaults: they would change fields that the caller never mentioned.
//! - U+0000 is rejected everywhere. Headers reject all control characters except the tab.
//!
//! What always holds: a validated call has declared names only, all required ones, and only values that the schema
//! accepts. A valid call allocates nothing except its defaults. An error never contains a secret: no value of a
//! sensitive parameter, no part of it, and none of its keys.

mod errors;
mod export;
mod limits;

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;

pub use export::ParamRule;
pub use limits::SizeLimits;

use crate::error::OpError;
use crate::operation::{Binding, Category, Operation, Param, ParamLocation, fills_default};
use crate::schema::{SchemaId, SchemaProblem, SchemaSet, Violation};
use crate::signature;
use limits::{SizeChecker, TextRule};
use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Maximum length of a key that is compared as another spelling of a name.
const MAX_KEY_LENGTH: usize = 96;
/// The object that carries the fields of an update.
pub(crate) const INPUT: &str = "input";
/// The parameter that asks for a dry run.
pub(crate) const DRY_RUN: &str = "dry_run";

/// Returns whether a name asks for a dry run, in any spelling: `dryRun`, `_dry_run`, `_dry-run`.
pub(crate) fn asks_dry_run(name: &str) -> bool {
    let letters =
        name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).map(|c| c.to_ascii_lowercase());
    letters.eq("dryrun".chars())
}

/// The parameters of one operation, ready to validate calls.
#[derive(Debug, Clone)]
pub struct CompiledParams {
    operation: String,
    signature: String,
    params: Vec<CompiledParam>,
    /// Declared name → position.
    exact: HashMap<String, usize>,
    /// Wire name → position, if only one parameter has it and it is not a declared name.
    wire: HashMap<String, usize>,
    /// snake_case of a declared name → position, if only one parameter has it.
    spelled: HashMap<String, usize>,
    takes_input: bool,
    /// Callers may also send query controls.
    takes_controls: bool,
    takes_dry_run: bool,
}

#[derive(Debug, Clone)]
struct CompiledParam {
    name: String,
    schema: SchemaId,
    required: bool,
    sensitive: bool,
    /// Names the resource to change, so it is never inside `input`.
    identifier: bool,
    text: TextRule,
    /// The type and the purpose for messages: `string (repository owner)`.
    expected: String,
    default: Option<Value>,
}

/// A parameter's position, its value, and the violation.
type ParamViolation<'v> = (usize, &'v Value, Violation);

impl CompiledParams {
    /// Compiles the parameters of an operation. `pointer` is their place in the document; problems of a schema are
    /// reported at `{pointer}/{name}`.
    pub fn compile(
        op: &Operation,
        schemas: &mut SchemaSet,
        pointer: &str,
    ) -> (CompiledParams, Vec<SchemaProblem>) {
        let mut problems = Vec::new();
        let mut params = Vec::with_capacity(op.params.len());
        for param in &op.params {
            let (schema, found) = schemas.add(&param.schema, &format!("{pointer}/{}", param.name));
            problems.extend(found);
            params.push(CompiledParam::new(op, param, schema));
        }
        let exact: HashMap<String, usize> =
            op.params.iter().enumerate().map(|(index, param)| (param.name.clone(), index)).collect();
        let unambiguous = |names: Vec<String>| -> HashMap<String, usize> {
            let mut seen: HashMap<String, Option<usize>> = HashMap::new();
            for (index, name) in names.into_iter().enumerate() {
                seen.entry(name).and_modify(|position| *position = None).or_insert(Some(index));
            }
            seen.into_iter().filter_map(|(name, position)| Some((name, position?))).collect()
        };
        let mut wire = unambiguous(op.params.iter().map(|param| param.wire.clone()).collect());
        wire.retain(|name, _| !exact.contains_key(name));
        let spelled = unambiguous(op.params.iter().map(|param| snake_case(&param.name)).collect());
        let takes_input = op.category == Category::Update
            && matches!(op.binding, Binding::Http(_))
            && !exact.contains_key(INPUT)
            && !wire.contains_key(INPUT);
        let signature = signature::line(op);
        (
            CompiledParams {
                operation: op.name.clone(),
                signature,
                params,
                exact,
                wire,
                spelled,
                takes_input,
                takes_controls: op.takes_controls(),
                takes_dry_run: op.takes_dry_run(),
            },
            problems,
        )
    }

    /// Returns these parameters with another signature for error messages.
    #[must_use]
    pub(crate) fn with_signature(self, signature: String) -> Self {
        CompiledParams { signature, ..self }
    }

    /// Returns the operation's signature, as errors show it.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// Returns the parameters under their declared names, with defaults.
    ///
    /// # Errors
    /// The first problem in the order of the checks, with the fix.
    pub fn validate(
        &self,
        params: Map<String, Value>,
        schemas: &SchemaSet,
        limits: &SizeLimits,
    ) -> Result<Map<String, Value>, OpError> {
        let mut params = if params.keys().all(|name| self.exact.contains_key(name)) {
            params
        } else {
            self.under_declared_names(params)?
        };
        self.require(&params)?;
        self.check(&params, schemas, limits)?;
        for param in &self.params {
            if let Some(value) = params.get_mut(&param.name) {
                schemas.normalize_integers(param.schema, value);
            } else if let Some(default) = &param.default {
                params.insert(param.name.clone(), default.clone());
            }
        }
        Ok(params)
    }

    /// Returns whether a caller may send a parameter under this name: its own, another spelling or the wire name.
    #[must_use]
    pub fn accepts(&self, name: &str) -> bool {
        self.exact.contains_key(name)
            || self.takes_input && name == INPUT
            || self.param_by_spelling(name).is_some()
    }

    fn param(&self, index: usize) -> Option<&CompiledParam> {
        self.params.get(index)
    }

    /// Returns the parameter that has this other spelling or wire name.
    fn param_by_spelling(&self, name: &str) -> Option<&CompiledParam> {
        let position = match self.wire.get(name) {
            Some(position) => Some(position),
            None if name.starts_with('_') || name.len() > MAX_KEY_LENGTH => None,
            None => self.spelled.get(&snake_case(name)),
        };
        position.and_then(|&position| self.param(position))
    }

    fn under_declared_names(&self, params: Map<String, Value>) -> Result<Map<String, Value>, OpError> {
        let mut named = Map::with_capacity(params.len());
        let mut respelled = Vec::new();
        let mut unknown = Vec::new();
        let mut input = None;
        for (name, value) in params {
            if self.exact.contains_key(&name) {
                named.insert(name, value);
            } else if self.takes_input && name == INPUT {
                input = Some(value);
            } else if let Some(param) = self.param_by_spelling(&name) {
                respelled.push((param, value));
            } else if !name.starts_with('_') {
                unknown.push(name);
            }
        }
        if !unknown.is_empty() {
            return Err(self.unknown_params(&unknown));
        }
        for (param, value) in respelled {
            named.entry(param.name.as_str()).or_insert(value);
        }
        match input {
            None => Ok(named),
            Some(Value::Object(fields)) => self.merge_input(named, fields),
            Some(other) => Err(self.input_not_an_object(&other)),
        }
    }

    /// Merges the fields of `input` into the parameters.
    fn merge_input(
        &self,
        mut named: Map<String, Value>,
        fields: Map<String, Value>,
    ) -> Result<Map<String, Value>, OpError> {
        let mut unknown = Vec::new();
        for (name, value) in fields {
            let exact = self.exact.get(&name).and_then(|&position| self.param(position));
            let Some(param) = exact.or_else(|| self.param_by_spelling(&name)) else {
                if !name.starts_with('_') || asks_dry_run(&name) {
                    unknown.push(name);
                }
                continue;
            };
            if param.identifier {
                return Err(self.identifier_in_input(param));
            }
            match named.get(&param.name) {
                None => {
                    named.insert(param.name.clone(), value);
                }
                Some(flat) if *flat == value => {}
                Some(_) => return Err(self.given_twice(param)),
            }
        }
        if unknown.is_empty() { Ok(named) } else { Err(self.unknown_input_fields(&unknown)) }
    }

    fn require(&self, params: &Map<String, Value>) -> Result<(), OpError> {
        let missing = |param: &&CompiledParam| param.required && !params.contains_key(&param.name);
        if self.params.iter().any(|param| missing(&param)) {
            let missing: Vec<&CompiledParam> = self.params.iter().filter(missing).collect();
            return Err(self.missing_params(&missing));
        }
        Ok(())
    }

    fn check(
        &self,
        params: &Map<String, Value>,
        schemas: &SchemaSet,
        limits: &SizeLimits,
    ) -> Result<(), OpError> {
        let mut size = SizeChecker::new(limits);
        let mut found: Vec<ParamViolation<'_>> = Vec::new();
        for (name, value) in params {
            let Some((position, param)) =
                self.exact.get(name).and_then(|&position| Some((position, self.param(position)?)))
            else {
                continue;
            };
            size.param(name, value, param.text)
                .map_err(|exceeded| self.limit_error(param, params, exceeded))?;
            let violations = schemas.check(param.schema, value);
            found.extend(violations.into_iter().map(|violation| (position, value, violation)));
        }
        if found.is_empty() { Ok(()) } else { Err(self.violation_error(found)) }
    }
}

impl CompiledParam {
    fn new(op: &Operation, param: &Param, schema: SchemaId) -> CompiledParam {
        // A required parameter with only one value needs no caller.
        let constant = param.schema.get("const").filter(|_| param.required);
        let default =
            param.default.clone().filter(|_| fills_default(op, param)).or_else(|| constant.cloned());
        let text = match (&op.binding, param.location) {
            (Binding::Command(_), _) => TextRule::NoNul,
            (_, ParamLocation::Header | ParamLocation::Cookie) => TextRule::NoControl,
            _ => TextRule::NoNul,
        };
        CompiledParam {
            name: param.name.clone(),
            schema,
            required: param.required && default.is_none(),
            sensitive: param.sensitive,
            identifier: param.is_identifier(),
            text,
            expected: errors::expected(param),
            default,
        }
    }
}
