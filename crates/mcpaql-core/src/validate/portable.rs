//! The parameters of an operation as data that another runtime validates by.

use super::measure::TextRule;
use super::{CompiledParam, CompiledParams};
use crate::operation::Operation;
use crate::schema::{Arena, Schemas};
use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl CompiledParams {
    /// Each parameter as validation sees it.
    pub(crate) fn data<'s>(
        &self,
        operation: &Operation,
        schemas: &'s Schemas,
        arena: &mut Arena<'s>,
    ) -> Vec<Map<String, Value>> {
        let mut param = |param: &CompiledParam| {
            let from = operation.param(&param.name).map(|param| param.from.as_slice()).unwrap_or_default();
            param.data(arena.place(schemas, param.schema), from)
        };
        self.params.iter().map(&mut param).collect()
    }

    /// Adds the signature for errors, the other spellings of names, and whether fields may stand in `input`.
    pub(crate) fn describe(&self, out: &mut Map<String, Value>) {
        out.insert("signature".into(), self.signature.as_str().into());
        let wire: BTreeMap<&str, usize> = self.wire.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        if !wire.is_empty() {
            out.insert("wire".into(), json!(wire));
        }
        let spelled = self.spellings();
        if !spelled.is_empty() {
            out.insert("spelled".into(), json!(spelled));
        }
        if self.takes_input {
            out.insert("takes_input".into(), true.into());
        }
    }

    /// What a spelling stands for, where that is not the parameter of the same name: another one, or, for several, none.
    fn spellings(&self) -> BTreeMap<String, Option<usize>> {
        self.params
            .iter()
            .map(|param| snake_case(&param.name))
            .map(|spelled| (self.spelled.get(&spelled).copied(), spelled))
            .filter(|(at, spelled)| *at != self.exact.get(spelled).copied())
            .map(|(at, spelled)| (spelled, at))
            .collect()
    }
}

impl CompiledParam {
    fn data(&self, check: usize, from: &[String]) -> Map<String, Value> {
        let mut out = Map::new();
        out.insert("name".into(), self.name.as_str().into());
        out.insert("check".into(), check.into());
        out.insert("expected".into(), self.expected.as_str().into());
        let flags =
            [("required", self.required), ("sensitive", self.sensitive), ("identifier", self.identifier)];
        for (key, _) in flags.into_iter().filter(|(_, set)| *set) {
            out.insert(key.into(), true.into());
        }
        let text = match self.text {
            TextRule::Any => None,
            TextRule::NoNul => Some("no_nul"),
            TextRule::NoControl => Some("no_control"),
        };
        if let Some(text) = text {
            out.insert("text".into(), text.into());
        }
        if let Some(default) = &self.default {
            out.insert("default".into(), default.clone());
        }
        if !from.is_empty() {
            out.insert("from".into(), from.into());
        }
        out
    }
}
