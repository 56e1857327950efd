//! Computed fields: `_computed.NAME`, an expression over the fields of an item.
//!
//! | expression | value |
//! |---|---|
//! | a text | the field with this path |
//! | a number, `true`, `false`, `null`, `{"value": …}` | itself |
//! | `{"concat": […]}` | the texts and numbers, one after the other; null if there are none |
//! | `{"add": […]}`, `subtract`, `multiply`, `divide` | the result; null if a part is not a number, or for a division by zero |
//! | `{"length": …}` | the characters of a text, the items of a list or the fields of an object |
//! | `{"if": FILTER, "then": …, "else": …}` | `then` if the item meets the filter, otherwise `else` or null |
//!
//! What always holds: an expression has a value for every item, and integers stay exact as long as they fit.

use super::compare::{float, integer};
use super::filter::ItemFilter;
use super::path::FieldPath;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The member of an item that has its computed fields.
pub(super) const COMPUTED: &str = "_computed";
/// Maximum computed fields of an operation.
const MAX_COMPUTED_FIELDS: usize = 50;
/// Maximum nesting depth of an expression.
const MAX_DEPTH: usize = 8;
/// Maximum parts of one operator.
const MAX_PARTS: usize = 50;
/// Computed fields do not build on each other, so they have no order and no cycles.
const READS_COMPUTED: &str = "reads another computed field; write its expression here instead";
/// The operators of expressions.
const OPERATORS: [&str; 8] = ["value", "concat", "add", "subtract", "multiply", "divide", "length", "if"];

/// Computed fields by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputedFields(IndexMap<String, ComputedField>);

/// One computed field.
#[derive(Debug, Clone, PartialEq)]
struct ComputedField {
    expression: FieldExpression,
    source: Value,
}

/// What a computed field is computed from.
#[derive(Debug, Clone, PartialEq)]
enum FieldExpression {
    Literal(Value),
    Field(FieldPath),
    Concat(Vec<FieldExpression>),
    Arithmetic(ArithmeticOperator, Vec<FieldExpression>),
    Length(Box<FieldExpression>),
    If { condition: ItemFilter, then: Box<FieldExpression>, otherwise: Box<FieldExpression> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArithmeticOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl ComputedFields {
    /// Adds a field.
    ///
    /// # Errors
    /// When the name or the expression is invalid: what is wrong, as a fragment.
    pub fn add(&mut self, name: &str, source: &Value) -> Result<(), String> {
        if name.is_empty() || name.contains('.') || self.0.len() >= MAX_COMPUTED_FIELDS {
            return Err(format!(
                "has a name without dots, and there are up to {MAX_COMPUTED_FIELDS} of them"
            ));
        }
        let expression = read(source, 0)?;
        self.0.insert(name.to_owned(), ComputedField { expression, source: source.clone() });
        Ok(())
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields and their expressions, as they were written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, field)| (name.as_str(), &field.source))
    }

    /// Adds the computed fields to an item, if it is an object.
    pub(super) fn add_to(&self, item: &mut Value) {
        let values = |item: &Value| -> Map<String, Value> {
            self.0.iter().map(|(name, field)| (name.clone(), field.expression.evaluate(item))).collect()
        };
        let computed = values(item);
        if let Value::Object(members) = item {
            members.insert(COMPUTED.to_owned(), Value::Object(computed));
        }
    }
}

/// Removes the computed fields of an item that are not among the selected ones.
pub(super) fn keep_selected(item: &mut Value, selected: &[&FieldPath]) {
    let Value::Object(members) = item else { return };
    let Some(Value::Object(computed)) = members.get_mut(COMPUTED) else { return };
    let is_selected = |name: &str| {
        selected.iter().any(|path| {
            let rest = path.parts().iter().skip_while(|part| *part != COMPUTED).nth(1);
            rest.is_none_or(|selected| selected == name)
        })
    };
    computed.retain(|name, _| is_selected(name));
    if computed.is_empty() {
        members.shift_remove(COMPUTED);
    }
}

/// Returns whether a path leads to computed fields.
pub(super) fn is_computed(path: &FieldPath) -> bool {
    path.parts().iter().any(|part| part == COMPUTED)
}

fn read(source: &Value, depth: usize) -> Result<FieldExpression, String> {
    if depth > MAX_DEPTH {
        return Err("is nested too deeply".to_owned());
    }
    let members = match source {
        Value::String(path) => {
            let path = FieldPath::parse(path).ok_or("has a text that is not the path of a field")?;
            return if is_computed(&path) {
                Err(READS_COMPUTED.to_owned())
            } else {
                Ok(FieldExpression::Field(path))
            };
        }
        Value::Object(members) => members,
        Value::Array(_) => return Err("is a list; write an operator, such as {concat: […]}".to_owned()),
        scalar => return Ok(FieldExpression::Literal(scalar.clone())),
    };
    if let Some(condition) = members.get("if") {
        if let Some(unknown) = members.keys().find(|key| !matches!(key.as_str(), "if" | "then" | "else")) {
            return Err(format!("has the unknown key '{unknown}' beside 'if'; use 'then' and 'else'"));
        }
        let branch = |name: &str| match members.get(name) {
            Some(branch) => read(branch, depth + 1).map(Box::new),
            None => Ok(Box::new(FieldExpression::Literal(Value::Null))),
        };
        let condition =
            ItemFilter::read(condition).map_err(|error| format!("has an invalid 'if': {}", error.message))?;
        if condition.paths().any(is_computed) {
            return Err(READS_COMPUTED.to_owned());
        }
        return Ok(FieldExpression::If { condition, then: branch("then")?, otherwise: branch("else")? });
    }
    let mut operators = members.iter();
    let (Some((operator, operand)), None) = (operators.next(), operators.next()) else {
        return Err(format!("needs one operator: {}", OPERATORS.join(", ")));
    };
    let parts = || -> Result<Vec<FieldExpression>, String> {
        let parts = operand.as_array().filter(|parts| !parts.is_empty() && parts.len() <= MAX_PARTS);
        let parts =
            parts.ok_or_else(|| format!("has '{operator}' without a list of 1 to {MAX_PARTS} parts"))?;
        parts.iter().map(|part| read(part, depth + 1)).collect()
    };
    Ok(match operator.as_str() {
        "value" => FieldExpression::Literal(operand.clone()),
        "concat" => FieldExpression::Concat(parts()?),
        "add" => FieldExpression::Arithmetic(ArithmeticOperator::Add, parts()?),
        "subtract" => FieldExpression::Arithmetic(ArithmeticOperator::Subtract, parts()?),
        "multiply" => FieldExpression::Arithmetic(ArithmeticOperator::Multiply, parts()?),
        "divide" => FieldExpression::Arithmetic(ArithmeticOperator::Divide, parts()?),
        "length" => FieldExpression::Length(Box::new(read(operand, depth + 1)?)),
        unknown => {
            let near = mcpaql_schema::suggest::nearest(unknown, OPERATORS);
            let hint = near.map_or_else(|| OPERATORS.join(", "), |near| format!("did you mean '{near}'?"));
            return Err(format!("has the unknown operator '{unknown}'; {hint}"));
        }
    })
}

impl FieldExpression {
    fn evaluate(&self, item: &Value) -> Value {
        match self {
            FieldExpression::Literal(value) => value.clone(),
            FieldExpression::Field(path) => match path.values(item).as_slice() {
                [] => Value::Null,
                [only] => (*only).clone(),
                several => several.iter().copied().cloned().collect(),
            },
            FieldExpression::Concat(parts) => {
                let texts: Vec<String> =
                    parts.iter().filter_map(|part| text_of(part.evaluate(item))).collect();
                if texts.is_empty() { Value::Null } else { texts.concat().into() }
            }
            FieldExpression::Arithmetic(operator, parts) => {
                let values: Vec<Value> = parts.iter().map(|part| part.evaluate(item)).collect();
                let mut rest = values.into_iter();
                let first = rest.next().filter(Value::is_number);
                let result =
                    first.and_then(|first| rest.try_fold(first, |left, right| operator.apply(&left, &right)));
                result.unwrap_or_default()
            }
            FieldExpression::Length(part) => match part.evaluate(item) {
                Value::String(text) => text.chars().count().into(),
                Value::Array(items) => items.len().into(),
                Value::Object(members) => members.len().into(),
                _ => Value::Null,
            },
            FieldExpression::If { condition, then, otherwise } => {
                if condition.matches(item) {
                    then.evaluate(item)
                } else {
                    otherwise.evaluate(item)
                }
            }
        }
    }
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

impl ArithmeticOperator {
    /// Returns the result; `None` if there is none.
    fn apply(self, left: &Value, right: &Value) -> Option<Value> {
        let (Value::Number(left), Value::Number(right)) = (left, right) else { return None };
        if let (Some(left), Some(right)) = (integer(left), integer(right)) {
            let exact = match self {
                ArithmeticOperator::Add => left.checked_add(right),
                ArithmeticOperator::Subtract => left.checked_sub(right),
                ArithmeticOperator::Multiply => left.checked_mul(right),
                ArithmeticOperator::Divide => {
                    left.checked_rem(right).filter(|rest| *rest == 0).and(left.checked_div(right))
                }
            };
            let whole = exact.and_then(|whole| match (i64::try_from(whole), u64::try_from(whole)) {
                (Ok(whole), _) => Some(Value::from(whole)),
                (_, Ok(whole)) => Some(Value::from(whole)),
                _ => None,
            });
            if whole.is_some() {
                return whole;
            }
        }
        let (left, right) = (float(left), float(right));
        let result = match self {
            ArithmeticOperator::Add => left + right,
            ArithmeticOperator::Subtract => left - right,
            ArithmeticOperator::Multiply => left * right,
            ArithmeticOperator::Divide => left / right,
        };
        serde_json::Number::from_f64(result).map(Value::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn computed(expression: Value, item: &Value) -> Value {
        let mut fields = ComputedFields::default();
        fields.add("x", &expression).unwrap();
        let mut item = item.clone();
        fields.add_to(&mut item);
        item[COMPUTED]["x"].clone()
    }

    #[test]
    fn every_expression_has_a_value() {
        let item = json!({"first": "Ada", "last": "Byron", "n": 7, "zero": 0, "half": 0.5, "big": i64::MAX,
            "huge": 1e308, "tags": ["a", "b"], "rows": [{"v": 1}, {"v": 2}], "user": {"id": 3}, "none": null, "state": "open"});
        for (expression, expected) in [
            (json!("first"), json!("Ada")),
            (json!("user.id"), json!(3)),
            (json!("rows.v"), json!([1, 2])),
            (json!("missing"), json!(null)),
            (json!(5), json!(5)),
            (json!({"value": "x"}), json!("x")),
            (json!({"concat": ["first", {"value": " "}, "last", {"value": " "}, "n"]}), json!("Ada Byron 7")),
            (json!({"concat": ["missing", "none", "tags"]}), json!(null)),
            (json!({"add": ["n", 1, "half"]}), json!(8.5)),
            (json!({"add": ["big", 1]}), json!(9_223_372_036_854_775_808_u64)),
            (json!({"subtract": ["zero", "n"]}), json!(-7)),
            (json!({"multiply": ["n", "n"]}), json!(49)),
            (json!({"multiply": ["huge", 100]}), json!(null)),
            (json!({"divide": ["n", 2]}), json!(3.5)),
            (json!({"divide": ["n", 7]}), json!(1)),
            (json!({"divide": ["n", "zero"]}), json!(null)),
            (json!({"divide": [{"subtract": [0, "big"]}, -1]}), json!(i64::MAX)),
            (json!({"add": ["n", "first"]}), json!(null)),
            (json!({"add": ["first"]}), json!(null)),
            (json!({"length": "first"}), json!(3)),
            (json!({"length": "tags"}), json!(2)),
            (json!({"length": "user"}), json!(1)),
            (json!({"length": "n"}), json!(null)),
            (
                json!({"if": {"state": "open", "n": {"gt": 5}}, "then": {"value": "hot"}, "else": 0}),
                json!("hot"),
            ),
            (json!({"if": {"state": "closed"}, "then": 1}), json!(null)),
        ] {
            assert_eq!(computed(expression.clone(), &item), expected, "{expression}");
        }
    }

    #[test]
    fn bad_expressions_are_refused_with_a_reason() {
        let deep = (0..20).fold(json!("a"), |inner, _| json!({"length": inner}));
        for (expression, part) in [
            (json!([]), "is a list"),
            (json!({}), "needs one operator"),
            (json!({"add": [1], "divide": [2]}), "needs one operator"),
            (json!({"add": 5}), "without a list"),
            (json!({"concta": ["a"]}), "did you mean 'concat'?"),
            (json!({"if": 5, "then": 1}), "invalid 'if'"),
            (json!({"if": {}, "than": 1}), "unknown key 'than'"),
            (json!("a..b"), "not the path"),
            (json!("_computed.y"), "another computed field"),
            (json!({"add": ["_computed.x", 1]}), "another computed field"),
            (json!({"if": {"_computed.y": 1}, "then": 1}), "another computed field"),
            (deep, "too deeply"),
        ] {
            let error = ComputedFields::default().add("x", &expression).unwrap_err();
            assert!(error.contains(part), "{expression}: {error}");
        }
        assert!(ComputedFields::default().add("a.b", &json!(1)).is_err());
    }
}
