//! Random queries, answered by this crate and by a second, naive implementation.

use super::*;
use serde_json::json;

/// How many random queries are compared.
const QUERIES: usize = 10_000;

/// Random numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn scalar(&mut self) -> Value {
        match self.below(6) {
            0 => json!(self.below(4)),
            1 => json!(f64::from(u32::try_from(self.below(8)).unwrap()) / 2.0),
            2 => json!(-1),
            3 => json!(self.below(2) == 0),
            4 => json!(*self.pick(&["a", "Ab", "b", "ba", ""])),
            _ => Value::Null,
        }
    }

    fn item(&mut self, number: usize) -> Value {
        let mut item = json!({"number": number});
        for name in ["p", "q", "r"] {
            match self.below(5) {
                0 => {}
                1 => item[name] = (0..self.below(3)).map(|_| self.scalar()).collect(),
                _ => item[name] = self.scalar(),
            }
        }
        item
    }

    fn condition(&mut self) -> Value {
        let ordered = |numbers: &mut Numbers| loop {
            let value = numbers.scalar();
            if !value.is_null() {
                break value;
            }
        };
        match self.below(8) {
            0 => self.scalar(),
            1 => (0..self.below(3)).map(|_| self.scalar()).collect(),
            2 => json!({*self.pick(&["gt", "gte", "lt", "lte"]): ordered(self)}),
            3 => json!({"contains": self.scalar()}),
            4 => json!({"starts_with": *self.pick(&["a", "B", ""])}),
            5 => json!({"exists": self.below(2) == 0}),
            6 => json!({"not": self.scalar()}),
            _ => json!({"in": [self.scalar(), self.scalar()]}),
        }
    }
}

/// The order of values of one type, by floats. The numbers of this test are small.
fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().unwrap().partial_cmp(&b.as_f64().unwrap()),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    a == b || order(a, b).is_some_and(std::cmp::Ordering::is_eq)
}

fn meets(value: Option<&Value>, condition: &Value) -> bool {
    let Some(value) = value else { return condition == &json!({"exists": false}) };
    // A list meets what one of its elements meets.
    let any = |test: &dyn Fn(&Value) -> bool| match value {
        Value::Array(items) => test(value) || items.iter().any(test),
        one => test(one),
    };
    match condition {
        Value::Array(expected) => any(&|value| expected.iter().any(|expected| is_same(value, expected))),
        Value::Object(operators) => operators.iter().all(|(operator, operand)| {
            let lower = |value: &Value| value.as_str().map(str::to_lowercase);
            match operator.as_str() {
                "gt" => any(&|value| order(value, operand).is_some_and(|order| order.is_gt())),
                "gte" => any(&|value| order(value, operand).is_some_and(|order| order.is_ge())),
                "lt" => any(&|value| order(value, operand).is_some_and(|order| order.is_lt())),
                "lte" => any(&|value| order(value, operand).is_some_and(|order| order.is_le())),
                "starts_with" => {
                    any(&|value| lower(value).is_some_and(|text| text.starts_with(&lower(operand).unwrap())))
                }
                "contains" => match lower(operand) {
                    Some(part) => any(&|value| lower(value).is_some_and(|text| text.contains(&part))),
                    None => {
                        value.as_array().is_some_and(|items| items.iter().any(|item| is_same(item, operand)))
                    }
                },
                "in" => meets(Some(value), operand),
                "not" => !meets(Some(value), operand),
                "exists" => operand == &json!(true),
                other => panic!("{other}"),
            }
        }),
        scalar => any(&|value| is_same(value, scalar)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn sorted(mut items: Vec<Value>, field: &str, descending: bool) -> Vec<Value> {
    // A stable sort by insertion.
    let before = |a: &Value, b: &Value| match (a.get(field), b.get(field)) {
        (Some(a), _) if a.is_null() => false,
        (None, _) => false,
        (Some(_), None) => true,
        (Some(_), Some(b)) if b.is_null() => true,
        (Some(a), Some(b)) => {
            let by_text = || a.to_string().cmp(&b.to_string());
            let same = if a.is_array() && b.is_array() {
                by_text()
            } else {
                order(a, b).unwrap_or(rank(a).cmp(&rank(b)))
            };
            if descending { same.is_gt() } else { same.is_lt() }
        }
    };
    for end in 1..items.len() {
        for position in (1..=end).rev() {
            if !before(&items[position], &items[position - 1]) {
                break;
            }
            items.swap(position, position - 1);
        }
    }
    items
}

#[test]
fn random_queries_are_answered_like_by_a_second_implementation() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut kept = 0;
    for query in 0..QUERIES {
        let items: Vec<Value> = (0..numbers.below(9)).map(|number| numbers.item(number)).collect();
        let names = ["p", "q", "r"];
        let filter: Map<String, Value> = (0..numbers.below(3))
            .map(|_| ((*numbers.pick(&names)).to_owned(), numbers.condition()))
            .collect();
        let (field, descending) = (*numbers.pick(&names), numbers.below(2) == 0);
        let (limit, offset) = (numbers.below(6), numbers.below(4));
        let is_match =
            |item: &&Value| filter.iter().all(|(name, condition)| meets(item.get(name), condition));
        let matching: Vec<Value> = items.iter().filter(is_match).cloned().collect();
        kept += matching.len();
        let numbered = |items: &[Value]| items.iter().map(|item| item["number"].clone()).collect::<Vec<_>>();
        let expected = sorted(matching.clone(), field, descending);
        let expected: Vec<Value> = expected.into_iter().skip(offset).take(limit).collect();
        let params = json!({"filter": filter, "sort": {"field": field, "order": if descending { "desc" } else { "asc" }},
            "limit": limit, "offset": offset});
        let shaped = |params: Value| {
            let controls =
                QueryControls::read(params.as_object().cloned().unwrap(), &mut Vec::new()).unwrap();
            shape(json!(items).into(), &ShapeRequest::new(&controls)).unwrap().data.into_value()
        };
        let page = shaped(params.clone());
        let found = page["items"].as_array().cloned().unwrap_or_default();
        assert_eq!(numbered(&found), numbered(&expected), "query {query}: {params} of {items:?}");
        let counted = shaped(json!({"filter": filter, "aggregate": {"n": {"count": true}}}));
        assert_eq!(counted["aggregations"]["n"], matching.len(), "query {query}: {params}");
    }
    assert!(kept > QUERIES, "the filters leave enough items to compare: {kept}");
}
