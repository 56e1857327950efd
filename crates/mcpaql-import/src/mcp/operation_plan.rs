//! Plans the operations of tools: mostly one per tool, several if the author splits a tool by a switch parameter.
//!
//! What always holds: names are valid and distinct. Every override matches a tool. No value of a switch is lost: values that
//! the author does not list stay together in one operation with the tool's name.

use super::arguments::{self, SwitchParam};
use super::names;
use super::tool::ListedTool;
use crate::naming::short_hash;
use crate::openapi::corrections::check_renames;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::Category;
use mcpaql_core::suggest::{nearest, snake_case};
use mcpaql_document::overrides::{
    OperationOverride, Overrides, Split, duplicate_override, invalid_split, unmatched,
};
use mcpaql_lexicon::verbs::Weight;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Parameters that often select what a tool does.
const SWITCHES: [&str; 5] = ["method", "action", "operation", "command", "op"];

/// Returns whether a parameter with this name may choose the operation.
pub(super) fn is_switch(name: &str) -> bool {
    SWITCHES.contains(&snake_case(name).as_str())
}

/// Words in a tool's name that only show that it has a switch.
const MULTIPLEXERS: [&str; 9] =
    ["actions", "crud", "manage", "manager", "method", "operations", "read", "tool", "write"];

/// An operation before it is built.
#[derive(Debug, Clone)]
pub(super) struct PlannedOperation {
    /// The position of its tool.
    pub(super) tool: usize,
    /// The name, unless the override has another one.
    pub(super) name: String,
    /// The key of its override, for diagnostics.
    pub(super) key: String,
    pub(super) correction: Option<Arc<OperationOverride>>,
    pub(super) kind: ToolPart,
}

/// The part of a tool that an operation covers.
#[derive(Debug, Clone)]
pub(super) enum ToolPart {
    /// The whole tool.
    Whole,
    /// One value of its switch.
    Value {
        /// The wire name of the switch.
        by: String,
        value: Value,
        /// The parameters that the operation uses; `None` means all.
        params: Option<Vec<String>>,
    },
    /// The values of its switch that the author does not list; empty if the switch accepts any text.
    Rest { by: String, values: Vec<Value> },
}

/// Plans all operations of a server.
///
/// # Errors
///
/// Returns problems for overrides that match nothing, splits that are not possible, and names that are invalid or taken.
pub(super) fn plans(
    tools: &[ListedTool<'_>],
    overrides: &Overrides,
) -> Result<Vec<PlannedOperation>, Vec<Diagnostic>> {
    let own: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    let names = names::names(&own);
    let mut problems = Vec::new();
    let found = corrections(overrides, &own, &names, &mut problems);
    let mut plans: Vec<PlannedOperation> = Vec::with_capacity(tools.len());
    for (position, (tool, name)) in tools.iter().zip(&names).enumerate() {
        let (key, correction) =
            found.get(&position).map_or((tool.name, None), |(key, own)| (*key, Some(*own)));
        let whole = PlannedOperation {
            tool: position,
            name: name.clone(),
            key: key.to_owned(),
            correction: correction.cloned().map(Arc::new),
            kind: ToolPart::Whole,
        };
        match correction.and_then(|correction| correction.split.as_ref()) {
            None => plans.push(whole),
            Some(split) => plans.extend(parts(tool, &whole, split, &mut problems)),
        }
    }
    resolve_name_clashes(&mut plans, tools);
    let corrections: Vec<Option<Arc<OperationOverride>>> =
        plans.iter().map(|plan| plan.correction.clone()).collect();
    let names: Vec<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    problems.extend(check_renames(&corrections, &names));
    if problems.is_empty() { Ok(plans) } else { Err(problems) }
}

/// Returns the override of each tool, matched by the name of the tool or of its operation.
fn corrections<'o>(
    overrides: &'o Overrides,
    tools: &[&str],
    names: &[String],
    problems: &mut Vec<Diagnostic>,
) -> HashMap<usize, (&'o str, &'o OperationOverride)> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    positions.extend(tools.iter().enumerate().map(|(position, tool)| (*tool, position)));
    // A name in the adapter wins over the same name of a tool.
    positions.extend(names.iter().enumerate().map(|(position, name)| (name.as_str(), position)));
    let mut found = HashMap::new();
    for (key, correction) in &overrides.operations {
        match positions.get(key.trim()) {
            Some(position) => {
                if found.insert(*position, (key.as_str(), correction)).is_some() {
                    problems.push(duplicate_override(key));
                }
            }
            None => {
                let mut candidates: Vec<&str> = positions.keys().copied().collect();
                candidates.sort_unstable();
                problems.push(unmatched(key, candidates.into_iter()));
            }
        }
    }
    found
}

/// Returns the operations that a tool is split into.
fn parts(
    tool: &ListedTool<'_>,
    whole: &PlannedOperation,
    split: &Split,
    problems: &mut Vec<Diagnostic>,
) -> Vec<PlannedOperation> {
    let switches = arguments::switches(tool.input);
    let Some(switch) = switches.iter().find(|switch| switch.matches_word(&split.by)) else {
        let message = format!(
            "'{}' cannot be split by '{}': it is not a parameter with listed values or text",
            whole.key, split.by
        );
        let near = nearest(&split.by, switches.iter().map(|switch| switch.wire.as_str()));
        let problem = invalid_split(&whole.key, &["by"], message).found(split.by.clone());
        problems.push(match near {
            Some(near) => problem.suggest(format!("did you mean '{near}'?")),
            None => problem,
        });
        return Vec::new();
    };
    let mut plans = Vec::new();
    for (word, part) in &split.values {
        let known = switch.values.iter().find(|value| value_text(value) == *word);
        let value = match known {
            Some(value) => value.clone(),
            None if switch.values.is_empty() => Value::from(word.as_str()),
            None => {
                let message = format!("'{word}' is not a value of '{}'", switch.wire);
                let words: Vec<String> = switch.values.iter().map(value_text).collect();
                problems.push(invalid_split(&whole.key, &["values", word], message).expected_one_of(&words));
                continue;
            }
        };
        let mut plan = derive_part(tool, whole, switch, value, part.params.clone());
        plan.correction = Some(Arc::new(part.overrides.clone()));
        plans.push(plan);
    }
    let named = |value: &Value| split.values.contains_key(&value_text(value));
    if split.values.is_empty() {
        plans.extend(switch.values.iter().map(|value| derive_part(tool, whole, switch, value.clone(), None)));
    }
    let rest: Vec<Value> = switch.values.iter().filter(|value| !named(value)).cloned().collect();
    if switch.values.is_empty() || (!rest.is_empty() && !split.values.is_empty()) {
        let kind = ToolPart::Rest { by: switch.wire.clone(), values: rest };
        plans.push(PlannedOperation { kind, ..whole.clone() });
    }
    plans
}

fn derive_part(
    tool: &ListedTool<'_>,
    whole: &PlannedOperation,
    switch: &SwitchParam,
    value: Value,
    params: Option<Vec<String>>,
) -> PlannedOperation {
    let correction = whole.correction.as_ref().map(|correction| {
        let include = correction.include;
        Arc::new(OperationOverride { include, ..OperationOverride::default() })
    });
    PlannedOperation {
        name: names::legal(&part_name(tool.name, &value_text(&value))),
        kind: ToolPart::Value { by: switch.wire.clone(), value, params },
        correction: correction.filter(|correction| correction.include.is_some()),
        ..whole.clone()
    }
}

/// Returns the name of a part: `create` of `issue_write` is `create_issue`, `get_comments` of `issue_read` is
/// `issue_get_comments`.
pub(super) fn part_name(tool: &str, value: &str) -> String {
    let (tool, value) = (snake_case(tool), snake_case(value));
    let words: Vec<&str> = tool.split('_').collect();
    let nouns: Vec<&str> = match words.as_slice() {
        [rest @ .., last] if !rest.is_empty() && MULTIPLEXERS.contains(last) => rest.to_vec(),
        [first, rest @ ..] if !rest.is_empty() && MULTIPLEXERS.contains(first) => rest.to_vec(),
        words => words.to_vec(),
    };
    let stem = nouns.join("_");
    if value.contains('_') { format!("{stem}_{value}") } else { format!("{value}_{stem}") }
}

/// Returns a value as written in an overrides file.
pub(super) fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds a hash to names of parts that are not unique.
fn resolve_name_clashes(plans: &mut [PlannedOperation], tools: &[ListedTool<'_>]) {
    let mut wanted: HashMap<String, usize> = HashMap::new();
    for plan in plans.iter() {
        *wanted.entry(plan.name.clone()).or_default() += 1;
    }
    let mut taken: HashSet<String> = wanted.keys().cloned().collect();
    for plan in plans {
        let ToolPart::Value { value, .. } = &plan.kind else { continue };
        if wanted.get(&plan.name).is_none_or(|count| *count == 1) {
            continue;
        }
        let tool = tools.get(plan.tool).map_or("", |tool| tool.name);
        let hash = short_hash(&format!("{tool} {}", value_text(value)));
        let name = names::legal(&format!("{}_{hash}", plan.name));
        if taken.insert(name.clone()) {
            plan.name = name;
        }
    }
}

/// Returns the parameter that selects what a tool does, and the known effects of its values. `only` limits the values.
///
/// If the server marks the tool as read-only, only values that certainly act are taken as evidence against it.
pub(super) fn switch_effects(
    tool: &ListedTool<'_>,
    only: Option<&[Value]>,
) -> Option<(String, IndexMap<String, Effect>)> {
    let announced = tool.annotations.read_only == Some(true);
    let effect = |value: &str| {
        let reading = mcpaql_lexicon::names::name_verbs(&mcpaql_lexicon::names::parts(value));
        let (effect, _) = reading.effect()?;
        let sure = reading.lead.is_some_and(|found| found.verb.weight == Weight::Strong);
        (sure || !announced || effect.category() == Category::Read).then_some(effect)
    };
    let switches = arguments::switches(tool.input).into_iter();
    let deciding = switches.filter(|switch| is_switch(&switch.wire));
    deciding
        .map(|switch| {
            let values = switch.values.iter().filter(|value| only.is_none_or(|only| only.contains(value)));
            let effects =
                values.filter_map(Value::as_str).filter_map(|value| Some((value.to_owned(), effect(value)?)));
            (switch.wire, effects.collect::<IndexMap<String, Effect>>())
        })
        .find(|(_, effects)| effects.values().any(|effect| effect.category() != Category::Read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_named_by_its_value_and_its_tool() {
        for (tool, value, expected) in [
            ("issue_write", "create", "create_issue"),
            ("issue_read", "get_comments", "issue_get_comments"),
            ("manageAlerts", "delete", "delete_alerts"),
            ("browser_tabs", "close", "close_browser_tabs"),
        ] {
            assert_eq!(part_name(tool, value), expected);
        }
    }
}
