//! The parameters of an operation as a validator in another language needs them.

use super::limits::TextRule;
use super::{CompiledParam, CompiledParams};
use crate::schema::SchemaSet;
use crate::suggest::snake_case;
use serde_json::Value;
use std::collections::BTreeMap;

/// How one parameter is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamRule<'p> {
    /// Its declared name.
    pub name: &'p str,
    /// Standard JSON Schema, with references to `#/$defs/NAME`.
    pub schema: Value,
    /// Must be given.
    pub required: bool,
    /// A secret: never repeated.
    pub sensitive: bool,
    /// Names the thing that is changed, so it never stands inside `input`.
    pub identifier: bool,
    /// `no_nul` or `no_control`: characters that its texts may not hold.
    pub text: Option<&'static str>,
    /// What is filled in where the caller gives nothing.
    pub default: Option<&'p Value>,
}

impl CompiledParams {
    /// Each parameter, in order.
    pub fn rules(&self, schemas: &SchemaSet) -> impl Iterator<Item = ParamRule<'_>> {
        self.params.iter().map(|param| param.rule(schemas.to_json_schema(param.schema)))
    }

    /// Whether the fields of an update may stand in `input`.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.takes_input
    }

    /// Other spellings of names: a wire name, or the snake_case of a name that is spelled otherwise, and the parameter that it
    /// stands for; `None` where it stands for several.
    #[must_use]
    pub fn spellings(&self) -> BTreeMap<String, Option<&str>> {
        let name = |at: &usize| self.params.get(*at).map(|param| param.name.as_str());
        let mut out: BTreeMap<String, Option<&str>> = self
            .params
            .iter()
            .map(|param| snake_case(&param.name))
            .filter(|spelled| self.spelled.get(spelled) != self.exact.get(spelled))
            .map(|spelled| (self.spelled.get(&spelled).and_then(name), spelled))
            .map(|(name, spelled)| (spelled, name))
            .collect();
        out.extend(self.wire.iter().map(|(wire, at)| (wire.clone(), name(at))));
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
                TextRule::Any => None,
                TextRule::NoNul => Some("no_nul"),
                TextRule::NoControl => Some("no_control"),
            },
            default: self.default.as_ref(),
        }
    }
}
