//! Writes an operation as one line that a model can read quickly: `create_issue(owner: string, title: string, labels?:
//! string[], state?: "open"|"closed" = "open") -> Issue`.
//!
//! What always holds:
//!
//! - Required parameters come first; otherwise the order of the document is kept.
//! - The text depends only on the operation.
//! - `= value` is a default that validation fills in. `/* default value */` is a default of the target. The default of
//!   a secret is never shown.
//! - If types follow below the line, every type that the line shortens is one of them. Types that do not fit are named
//!   in the last line.

mod bounds;
mod hoist;
mod render;

pub use hoist::{hoist, hoist_schema, hoist_types, pascal_case};

use crate::operation::{Operation, Param, assumed_default, fills_default};
use crate::schema::shorten;
use crate::tokens;
use bounds::default_comment;
use indexmap::{IndexMap, IndexSet};
use render::{HoistedTypes, TypeFormat};
use serde_json::{Value, json};

/// Keywords whose values are data, not schemas.
const DATA_KEYS: [&str; 5] = ["enum", "const", "default", "example", "examples"];
/// Maximum types named in the last line.
const MAX_NAMED_TYPES: usize = 6;

/// The budget for the types below a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeBudget {
    /// Maximum types, one on each line.
    pub lines: usize,
    /// Maximum estimated tokens of all types.
    pub tokens: usize,
}

impl TypeBudget {
    /// For a single operation.
    pub const ALONE: TypeBudget = TypeBudget { lines: 40, tokens: 1500 };
    /// For an operation in an error.
    pub const ERROR: TypeBudget = TypeBudget { lines: 24, tokens: 500 };
    /// For an operation in a list.
    pub const LISTED: TypeBudget = TypeBudget { lines: 4, tokens: 120 };
}

/// Returns the call and its result type.
#[must_use]
pub fn line(op: &Operation) -> String {
    line_in(op, TypeFormat { hints: true, ..TypeFormat::LINE })
}

/// Returns the call without its result type and bounds.
#[must_use]
pub fn call(op: &Operation) -> String {
    call_in(op, TypeFormat::LINE)
}

/// Returns the call within a number of estimated tokens: all required parameters, optional ones while they fit, then
/// `…(+12)`. If the required ones do not fit, their types are left out.
#[must_use]
pub fn brief(op: &Operation, tokens: usize) -> String {
    brief_with(op, &BriefOptions { tokens, ..BriefOptions::default() })
}

/// What a brief call shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct BriefOptions<'a> {
    /// Maximum estimated tokens.
    pub tokens: usize,
    /// Maximum estimated tokens up to the last parameter that is required or asked for, if this is more.
    pub needed_tokens: usize,
    /// Optional parameters that a caller asks for. They come before the other optional ones.
    pub asked: &'a [&'a str],
    /// Named types. They are written out instead of named while they fit.
    pub types: Option<&'a IndexMap<String, Value>>,
    /// Whether a parameter without a type is a string.
    pub implied_strings: bool,
}

/// Like [`brief`], with options.
#[must_use]
pub fn brief_with(op: &Operation, options: &BriefOptions<'_>) -> String {
    let (required, mut optional) = in_order(op);
    let asked = options.asked;
    let place = |param: &Param| asked.iter().position(|name| *name == param.name).unwrap_or(asked.len());
    optional.sort_by_key(|param| place(param));
    let name = tokens::estimate(&op.name);
    let needed = options.tokens.max(options.needed_tokens);
    let fits = |inside: &str, max: usize| name + tokens::estimate(inside) <= max;
    let plain = |param: &Param| shortened(param_text(op, param, TypeFormat::LINE), options);
    let whole = |param: &Param| {
        let format = TypeFormat { types: options.types, ..TypeFormat::NEEDED };
        shortened(param_text(op, param, format), options)
    };
    let mut texts: Vec<String> = required.iter().map(|param| plain(param)).collect();
    if !fits(&texts.join(", "), needed) {
        texts = required.iter().map(|param| key(&param.name)).collect();
    }
    for (at, param) in required.iter().enumerate() {
        let mut longer = texts.clone();
        if let Some(text) = longer.get_mut(at) {
            *text = whole(param);
        }
        if fits(&longer.join(", "), needed) {
            texts = longer;
        }
    }
    let mut inside = texts.join(", ");
    let mut left = optional.len();
    for param in optional {
        let is_asked = place(param) < asked.len();
        let max = if is_asked { needed } else { options.tokens };
        let texts = if is_asked { [whole(param), plain(param)] } else { [plain(param), String::new()] };
        // A long one may be followed by one that still fits.
        let longer = texts.iter().filter(|text| !text.is_empty()).map(|text| appended(&inside, text));
        if let Some(longer) = longer.into_iter().find(|longer| fits(longer, max.saturating_sub(3))) {
            inside = longer;
            left -= 1;
        }
    }
    if left > 0 {
        inside = appended(&inside, &format!("…(+{left})"));
    }
    format!("{}({inside})", op.name)
}

/// Leaves out the type of a string, if it is implied.
fn shortened(param: String, options: &BriefOptions<'_>) -> String {
    match param.strip_suffix(": string").filter(|_| options.implied_strings) {
        Some(name) => name.to_owned(),
        None => param,
    }
}

fn appended(list: &str, next: &str) -> String {
    if list.is_empty() { next.to_owned() } else { format!("{list}, {next}") }
}

/// Returns the required parameters and the others.
fn in_order(op: &Operation) -> (Vec<&Param>, Vec<&Param>) {
    op.params.iter().partition(|param| param.required && !fills_default(op, param))
}

fn line_in(op: &Operation, form: TypeFormat<'_>) -> String {
    let mut out = call_in(op, form);
    if let Some(returns) = &op.returns {
        if let Some(hoisted) = form.hoisted {
            hoisted.owned_by("Result");
        }
        // A caller does not have to meet the bounds of a result.
        let returned = TypeFormat { hints: false, ..form }.text(&returns.schema);
        if returned != "any" {
            out.push_str(" -> ");
            out.push_str(&returned);
        }
    }
    out
}

fn call_in(op: &Operation, form: TypeFormat<'_>) -> String {
    let (required, optional) = in_order(op);
    let params: Vec<String> =
        required.into_iter().chain(optional).map(|param| param_text(op, param, form)).collect();
    format!("{}({})", op.name, params.join(", "))
}

fn param_text(op: &Operation, param: &Param, form: TypeFormat<'_>) -> String {
    if let Some(hoisted) = form.hoisted {
        hoisted.owned_by(&param.name);
    }
    let filled = fills_default(op, param);
    let mark = if param.required && !filled { "" } else { "?" };
    let mut out = format!("{}{mark}: {}", key(&param.name), form.text(&param.schema));
    if param.sensitive {
        return out;
    }
    if let Some(default) = param.default.as_ref().filter(|_| filled) {
        out.push_str(" = ");
        out.push_str(&shorten(&default.to_string(), 128));
    } else if form.hints {
        out.push_str(&assumed_default(op, param).and_then(default_comment).unwrap_or_default());
    }
    out
}

/// Returns the type of a schema: `string`, `Label[]`, `"open"|"closed"`, `{ name: string, color?: string }`.
#[must_use]
pub fn type_of(schema: &Value) -> String {
    TypeFormat::TYPE.text(schema)
}

/// Returns the type of a schema with all its bounds: `string(3.. chars) | boolean`.
#[must_use]
pub fn type_with_bounds(schema: &Value) -> String {
    TypeFormat::FULL.text(schema)
}

/// Returns a named type on a line: `type Label = { name: string, color?: string }`.
#[must_use]
pub fn type_line(name: &str, schema: &Value) -> String {
    format!("type {name} = {}", TypeFormat::FULL.text(schema))
}

/// Returns the line and the named types that it uses, directly or through other types, each on its own line.
#[must_use]
pub fn line_with_types(op: &Operation, types: &IndexMap<String, Value>) -> String {
    line_with_types_within(op, types, TypeBudget::ALONE)
}

/// Like [`line_with_types`], within a budget. Types of parameters come before those of the result, and direct ones
/// before indirect ones.
#[must_use]
pub fn line_with_types_within(op: &Operation, types: &IndexMap<String, Value>, budget: TypeBudget) -> String {
    TypeBlock::of(op, types, budget).finish(&op.name)
}

/// Like [`line_with_types_within`]; `None` if not everything fits.
#[must_use]
pub fn line_with_all_types(
    op: &Operation,
    types: &IndexMap<String, Value>,
    budget: TypeBudget,
) -> Option<String> {
    let block = TypeBlock::of(op, types, budget);
    (block.rest.is_empty() && !block.cut).then_some(block.out)
}

/// A line and the lines of its types, within a budget.
struct TypeBlock {
    out: String,
    budget: TypeBudget,
    /// Types that did not fit.
    rest: Vec<String>,
    /// A part of the line itself did not fit.
    cut: bool,
}

impl TypeBlock {
    fn of(op: &Operation, types: &IndexMap<String, Value>, budget: TypeBudget) -> TypeBlock {
        let hoisted = HoistedTypes::new(types);
        let line = line_in(op, TypeFormat { hints: true, hoisted: Some(&hoisted), ..TypeFormat::LINE });
        let mut block = TypeBlock { out: line, budget, rest: Vec::new(), cut: false };
        for (name, schema) in hoisted.into_types() {
            if !block.push_if_fits(&type_line(&name, &schema)) {
                block.cut = true;
                block.push_if_fits(&format!("type {name} = {}", TypeFormat::FLAT.text(&schema)));
            }
        }
        let mut names = IndexSet::new();
        let mut next = 0;
        let schemas = op.params.iter().map(|param| &param.schema);
        schemas.for_each(|schema| references(schema, &mut names, 0));
        block.add_referenced_types(types, &mut names, &mut next, TypeFormat::FULL);
        op.returns.iter().for_each(|returns| references(&returns.schema, &mut names, 0));
        block.add_referenced_types(
            types,
            &mut names,
            &mut next,
            TypeFormat { hints: false, ..TypeFormat::FULL },
        );
        block
    }

    fn push_if_fits(&mut self, line: &str) -> bool {
        let cost = tokens::estimate(line);
        if self.budget.lines == 0 || cost > self.budget.tokens {
            return false;
        }
        self.budget = TypeBudget { lines: self.budget.lines - 1, tokens: self.budget.tokens - cost };
        self.out.push('\n');
        self.out.push_str(line);
        true
    }

    /// Adds the types from `next` on and the types that they use. If a type does not fit, the types that only it uses
    /// are not added.
    fn add_referenced_types(
        &mut self,
        types: &IndexMap<String, Value>,
        names: &mut IndexSet<String>,
        next: &mut usize,
        form: TypeFormat<'_>,
    ) {
        while let Some(name) = names.get_index(*next).cloned() {
            *next += 1;
            let Some(schema) = types.get(&name) else { continue };
            let fits = self.budget.lines > 0 && {
                let text = form.text(schema);
                // Types of results are not always resolved to their ends. A type that shows nothing here may show more
                // on its own.
                let is_known = form.hints || !matches!(text.as_str(), "object" | "any");
                is_known && self.push_if_fits(&format!("type {name} = {text}"))
            };
            if fits {
                references(schema, names, 0);
            } else {
                self.rest.push(name);
            }
        }
    }

    fn finish(mut self, operation: &str) -> String {
        let more = match self.rest.as_slice() {
            [] if !self.cut => return self.out,
            [] => json!({"name": operation}),
            [only] => json!({"query": "types", "name": only}),
            rest => json!({"query": "types", "name": rest.iter().take(MAX_NAMED_TYPES).collect::<Vec<_>>()}),
        };
        self.out.push_str(&format!("\n// more: introspect {more}"));
        self.out
    }
}

/// Collects the names of the types that a schema refers to, or the schemas in a list or map.
fn references(value: &Value, names: &mut IndexSet<String>, depth: usize) {
    if depth > 64 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, names, depth + 1)),
        Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                names.insert(type_name(target));
            }
            for (key, value) in map {
                match (key.as_str(), value) {
                    // Names of properties are not keywords.
                    ("properties" | "patternProperties", Value::Object(fields)) => {
                        fields.values().for_each(|field| references(field, names, depth + 1));
                    }
                    (key, _) if DATA_KEYS.contains(&key) => {}
                    _ => references(value, names, depth + 1),
                }
            }
        }
        _ => {}
    }
}

fn type_name(target: &str) -> String {
    match target.rsplit('/').next().map(str::trim) {
        None | Some("") => "any".to_owned(),
        Some(name) => name.replace("~1", "/").replace("~0", "~").replace(char::is_control, ""),
    }
}

/// Returns a name, quoted unless it is a plain word.
fn key(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

#[cfg(test)]
mod tests;
