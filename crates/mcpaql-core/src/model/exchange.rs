//! How requests and answers of an HTTP API differ from plain fields and plain data: fixed values, a template of the
//! body, the part of the answer that is the result, and failures that have the status of a success.

use super::operation::{Binding, Operation, Param, Segment};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// A value that is sent with every request and that callers do not see.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedValue {
    /// Its name, location and style.
    pub param: Param,
    /// The value.
    pub value: Value,
}

/// How the answer is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerRules {
    /// The part of the answer that is the result.
    pub result: Option<AnswerPath>,
    /// When an answer is a failure although its status says success.
    pub error: Option<ErrorRule>,
}

impl AnswerRules {
    /// Returns whether the answer is read as it comes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.result.is_none() && self.error.is_none()
    }
}

/// When an answer is a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRule {
    /// The value to look at.
    pub path: AnswerPath,
    /// What the value is in a failure.
    pub test: ErrorTest,
    /// The message of a failure. By default it is searched in the value.
    pub message: Option<AnswerPath>,
}

/// What a value is in a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorTest {
    /// It is present, and not null, false, 0 or empty.
    Present,
    /// It is this value.
    Equals(Value),
    /// It is another value, or missing.
    Not(Value),
}

impl ErrorRule {
    /// Returns whether the answer with this value is a failure.
    #[must_use]
    pub fn is_failure(&self, value: Option<&Value>) -> bool {
        match &self.test {
            ErrorTest::Present => value.is_some_and(|value| match value {
                Value::Null => false,
                Value::Bool(flag) => *flag,
                Value::Number(number) => number.as_f64() != Some(0.0),
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty(),
            }),
            ErrorTest::Equals(expected) => value == Some(expected),
            ErrorTest::Not(expected) => value != Some(expected),
        }
    }
}

/// A path to a value inside JSON: names of members and positions in arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerPath(Vec<String>);

impl AnswerPath {
    /// Reads `data.items` or, for names with dots, the JSON pointer `/data/items`. `None` if a part is empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<AnswerPath> {
        let parts: Vec<String> = match text.strip_prefix('/') {
            Some(pointer) => {
                pointer.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
            }
            None => text.split('.').map(str::to_owned).collect(),
        };
        parts.iter().all(|part| !part.is_empty()).then_some(AnswerPath(parts))
    }

    /// Returns the names of members and the positions in arrays, from the outside.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// Returns the value at this path.
    #[must_use]
    pub fn select<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, part| match value {
            Value::Object(members) => members.get(part),
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Returns the text of the value at this path, unchanged.
    #[must_use]
    pub fn select_raw<'v>(&self, raw: &'v RawValue) -> Option<&'v RawValue> {
        self.0.iter().try_fold(raw, |raw, part| match raw.get().bytes().next()? {
            b'{' => serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()).ok()?.remove(part),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
                items.get(part.parse::<usize>().ok()?).copied()
            }
            _ => None,
        })
    }
}

impl fmt::Display for AnswerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.iter().any(|part| part.contains(['.', '/', '~'])) {
            let escaped = |part: &String| format!("/{}", part.replace('~', "~0").replace('/', "~1"));
            return f.write_str(&self.0.iter().map(escaped).collect::<String>());
        }
        f.write_str(&self.0.join("."))
    }
}

/// Returns whether the document expects a page: the result is declared as text, or the path names a page. Without a
/// declared result the answer of an API is expected to be data.
#[must_use]
pub fn expects_page(operation: &Operation) -> bool {
    let names_page = match &operation.binding {
        Binding::Http(binding) => match binding.path.last() {
            Some(Segment::Literal(text)) => {
                let path = text.split('?').next().unwrap_or_default();
                [".html", ".htm", ".xhtml"].iter().any(|end| path.ends_with(end))
            }
            _ => false,
        },
        _ => false,
    };
    names_page || operation.returns.as_ref().is_some_and(|returns| accepts_text(&returns.schema))
}

/// Returns whether a value of this schema may be a text.
#[must_use]
pub fn accepts_text(schema: &Value) -> bool {
    let variants = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    match schema.get("type") {
        Some(Value::String(one)) => one == "string",
        Some(Value::Array(several)) => several.iter().any(|one| one == "string"),
        _ => variants.flatten().any(accepts_text),
    }
}

/// The names of the placeholders in a template: texts of the form `{name}`.
#[must_use]
pub fn placeholders(template: &Value) -> Vec<&str> {
    match template {
        Value::String(text) => placeholder(text).into_iter().collect(),
        Value::Array(items) => items.iter().flat_map(placeholders).collect(),
        Value::Object(members) => members.values().flat_map(placeholders).collect(),
        _ => Vec::new(),
    }
}

/// Fills a template. A text `{name}` becomes the argument with its type; members without an argument are left out. An
/// element without an argument is null, so that later elements keep their positions; at the end of a list it is left
/// out. `None` if the whole template is a placeholder without an argument.
#[must_use]
pub fn fill_template(template: &Value, args: &Map<String, Value>) -> Option<Value> {
    Some(match template {
        Value::String(text) => match placeholder(text) {
            Some(name) => args.get(name)?.clone(),
            None => template.clone(),
        },
        Value::Array(items) => {
            let mut filled: Vec<_> = items.iter().map(|item| fill_template(item, args)).collect();
            let end = filled.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            filled.truncate(end);
            filled.into_iter().map(Option::unwrap_or_default).collect()
        }
        Value::Object(members) => {
            let filled =
                |(name, member): (&String, &Value)| Some((name.clone(), fill_template(member, args)?));
            Value::Object(members.iter().filter_map(filled).collect())
        }
        other => other.clone(),
    })
}

/// The name in `{name}`. Other texts with braces, such as a query language, are literal.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    crate::naming::is_snake_case(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_selects_members_and_elements_as_values_and_as_text() {
        let text = r#"{"data":{"items":[{"id":1.10},{"a.b":"x"}]},"é":null}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        for (path, expected) in [
            ("data.items.0.id", Some("1.10")),
            ("/data/items/1/a.b", Some("\"x\"")),
            ("é", Some("null")),
            ("data.items.9", None),
            ("data.items.x", None),
            ("data.missing", None),
            ("é.x", None),
        ] {
            let path = AnswerPath::parse(path).unwrap();
            assert_eq!(path.select_raw(&raw).map(RawValue::get), expected, "{path}");
            assert_eq!(path.select(&value).is_some(), expected.is_some(), "{path}");
            assert_eq!(AnswerPath::parse(&path.to_string()), Some(path));
        }
        for wrong in ["", ".", "a..b", "/", "/a//b"] {
            assert_eq!(AnswerPath::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_template_keeps_types_and_leaves_out_what_is_missing() {
        let template = json!({
            "jsonrpc": "2.0", "method": "get", "params": {"id": "{id}", "deep": [{"tag": "{tag}"}, "{tag}", "{id}"]},
            "query": "{ user { name } }",
        });
        let args = json!({"id": 7, "unused": 1}).as_object().unwrap().clone();
        let filled = fill_template(&template, &args).unwrap();
        assert_eq!(filled["params"], json!({"id": 7, "deep": [{}, null, 7]}));
        assert_eq!(filled["query"], "{ user { name } }");
        assert_eq!(placeholders(&template), ["id", "tag", "tag", "id"]);
        assert_eq!(fill_template(&json!("{tag}"), &args), None);
        // Positions have a meaning, for example in JSON-RPC.
        for (list, expected) in [
            (json!(["{tag}", "{id}"]), json!([null, 7])),
            (json!(["{id}", "{tag}", "{tag}"]), json!([7])),
            (json!(["{tag}", "{tag}"]), json!([])),
            (json!([null, "{tag}"]), json!([null])),
        ] {
            assert_eq!(fill_template(&list, &args), Some(expected), "{list}");
        }
    }

    #[test]
    fn a_failure_is_recognised_by_its_value() {
        let rule = |test| ErrorRule { path: AnswerPath::parse("error").unwrap(), test, message: None };
        for (value, is_failure) in [
            (json!(null), false),
            (json!(false), false),
            (json!(0), false),
            (json!(""), false),
            (json!([]), false),
            (json!({}), false),
            (json!("x"), true),
            (json!(-1), true),
            (json!([1]), true),
            (json!({"code": 1}), true),
        ] {
            assert_eq!(rule(ErrorTest::Present).is_failure(Some(&value)), is_failure, "{value}");
        }
        assert!(!rule(ErrorTest::Present).is_failure(None));
        assert!(rule(ErrorTest::Equals(json!(false))).is_failure(Some(&json!(false))));
        assert!(!rule(ErrorTest::Equals(json!(false))).is_failure(None));
        assert!(rule(ErrorTest::Not(json!("ok"))).is_failure(None));
        assert!(!rule(ErrorTest::Not(json!("ok"))).is_failure(Some(&json!("ok"))));
    }
}
