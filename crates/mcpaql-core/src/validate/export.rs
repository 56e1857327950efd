//! Exports the parameter rules of an operation for validators in other languages.

use super::limits::TextRule;
use super::{CompiledParam, CompiledParams};
use crate::schema::SchemaSet;
use crate::suggest::snake_case;
use serde_json::Value;
use std::collections::BTreeMap;

/// The validation rule of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamRule<'p> {
    /// Its declared name.
    pub name: &'p str,
    /// Standard JSON Schema, with references to `#/$defs/NAME`.
    pub schema: Value,
    /// The caller must send it.
    pub required: bool,
    /// Its value is a secret and is never repeated.
    pub sensitive: bool,
    /// Names the resource to change, so it is never inside `input`.
    pub identifier: bool,
    /// `no_control` if its strings may not contain control characters. U+0000 is never allowed.
    pub text: Option<&'static str>,
    /// The value to use if the caller sends none.
    pub default: Option<&'p Value>,
}

impl CompiledParams {
    /// Returns the rule of each parameter, in order.
    pub fn rules(&self, schemas: &SchemaSet) -> impl Iterator<Item = ParamRule<'_>> {
        self.params.iter().map(|param| param.rule(schemas.to_json_schema(param.schema)))
    }

    /// Returns whether the fields of an update may be in `input`.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.takes_input
    }

    /// Returns other spellings of parameter names (wire names and snake_case), each with the parameter it means; `None`
    /// if it is ambiguous.
    #[must_use]
    pub fn spellings(&self) -> BTreeMap<String, Option<&str>> {
        let name = |position: &usize| self.params.get(*position).map(|param| param.name.as_str());
        let mut out: BTreeMap<String, Option<&str>> = self
            .params
            .iter()
            .map(|param| snake_case(&param.name))
            .filter(|spelled| self.spelled.get(spelled) != self.exact.get(spelled))
            .map(|spelled| (self.spelled.get(&spelled).and_then(name), spelled))
            .map(|(name, spelled)| (spelled, name))
            .collect();
        out.extend(self.wire.iter().map(|(wire, position)| (wire.clone(), name(position))));
        out
    }
}

impl CompiledParam {
    fn rule(&self, schema: Value) -> ParamRule<'_> {
        ParamRule {
            name: &self.name,
            schema,
            required: self.required,
            sensitive: self.sensitive,
            identifier: self.identifier,
            text: match self.text {
                TextRule::NoNul => None,
                TextRule::NoControl => Some("no_control"),
            },
            default: self.default.as_ref(),
        }
    }
}
