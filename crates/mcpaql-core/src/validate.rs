//! The parameters of a call against what the operation declares, compiled once per operation.
//!
//! The order is fixed: unknown names → required → limits (they protect what follows) → types → constraints → defaults.
//! What always holds: what comes back holds declared names only, every required one among them, and nothing that the
//! schema refuses; a right call costs no allocation beyond its defaults; and an error repeats no secret: neither a
//! sensitive parameter's value nor any part of it, its keys included.
//!
//! - `perPage` and `per-page` are accepted for `per_page`, and so is a parameter's wire name where only one has it;
//!   next to the exact name they are ignored. Names that begin with `_` belong to the protocol and are dropped.
//! - An UPDATE over HTTP may carry its fields in `input`; identifiers (path parameters) stay outside of it.
//! - A default is not filled into the body of an update: the caller would change what it never mentioned.
//! - U+0000 is refused wherever a value leaves as text of its own (path, query, header, command line), and any control
//!   character but the tab in a header. Inside a body JSON escapes both.

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

/// Longer keys are not another spelling of a name.
const MAX_KEY_LENGTH: usize = 96;
/// The object that carries the fields of an update.
const INPUT: &str = "input";

/// The parameters of one operation, ready to validate calls.
#[derive(Debug, Clone)]
pub struct CompiledParams {
    operation: String,
    signature: String,
    params: Vec<CompiledParam>,
    /// Declared name → position.
    exact: HashMap<String, usize>,
    /// Wire name → position, where it stands for one parameter and is not itself a declared name.
    wire: HashMap<String, usize>,
    /// snake_case of a declared name → position, where it stands for one parameter.
    spelled: HashMap<String, usize>,
    takes_input: bool,
}

#[derive(Debug, Clone)]
struct CompiledParam {
    name: String,
    schema: SchemaId,
    required: bool,
    sensitive: bool,
    /// Names the thing that is changed, so it never stands inside `input`.
    identifier: bool,
    text: TextRule,
    /// `string (repository owner)`.
    expected: String,
    default: Option<Value>,
}

/// A parameter's position, its value, and what is wrong with it.
type ParamViolation<'v> = (usize, &'v Value, Violation);

impl CompiledParams {
    /// Compiles the parameters of an operation; `pointer` is where they stand, and problems of a schema are reported
    /// below `{pointer}/{name}`.
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
            },
            problems,
        )
    }

    /// The same with another signature for errors.
    #[must_use]
    pub(crate) fn with_signature(self, signature: String) -> Self {
        CompiledParams { signature, ..self }
    }

    /// The operation's signature, as it stands in errors.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// The parameters under their declared names, with defaults; or what to repair.
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

    fn param(&self, index: usize) -> Option<&CompiledParam> {
        self.params.get(index)
    }

    /// The parameter that another spelling of its name stands for.
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

    /// The flat parameters together with the fields of `input`.
    fn merge_input(
        &self,
        mut named: Map<String, Value>,
        fields: Map<String, Value>,
    ) -> Result<Map<String, Value>, OpError> {
        let mut unknown = Vec::new();
        for (name, value) in fields {
            let exact = self.exact.get(&name).and_then(|&position| self.param(position));
            let Some(param) = exact.or_else(|| self.param_by_spelling(&name)) else {
                if !name.starts_with('_') {
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
        let mut measure = SizeChecker::new(limits);
        let mut found: Vec<ParamViolation<'_>> = Vec::new();
        for (name, value) in params {
            let Some((position, param)) =
                self.exact.get(name).and_then(|&position| Some((position, self.param(position)?)))
            else {
                continue;
            };
            measure
                .param(name, value, param.text)
                .map_err(|excess| self.limit_error(param, params, excess))?;
            let violations = schemas.check(param.schema, value);
            found.extend(violations.into_iter().map(|violation| (position, value, violation)));
        }
        if found.is_empty() { Ok(()) } else { Err(self.violation_error(found)) }
    }
}

impl CompiledParam {
    fn new(op: &Operation, param: &Param, schema: SchemaId) -> CompiledParam {
        let default = param.default.clone().filter(|_| fills_default(op, param));
        let text = match (&op.binding, param.location) {
            (Binding::Command(_), _) | (_, ParamLocation::Path | ParamLocation::Query) => TextRule::NoNul,
            (_, ParamLocation::Header | ParamLocation::Cookie) => TextRule::NoControl,
            (_, ParamLocation::Body | ParamLocation::Target) => TextRule::Any,
        };
        CompiledParam {
            name: param.name.clone(),
            schema,
            required: param.required && default.is_none(),
            sensitive: param.sensitive,
            identifier: matches!(param.location, ParamLocation::Path | ParamLocation::Target),
            text,
            expected: errors::expected(param),
            default,
        }
    }
}
