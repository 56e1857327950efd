//! How values are spelled outside a JSON body: OpenAPI's `style` and `explode`.
//!
//! What always holds: every character of a value that is not unreserved (RFC 3986) is percent-encoded, so a value never
//! adds a pair, a segment or a fragment; `null` and empty arrays and objects are left out.
//!
//! Where OpenAPI is silent: objects inside an array of a query are sent as JSON text; `deepObject` goes as deep as the
//! value does (`a[b][c]=1`), with `a[]=1` for arrays of scalars and `a[0][b]=1` for arrays of objects. Form bodies spell
//! objects that way too, because that is what form APIs read.

use mcpaql_core::operation::{Style, StyleForm};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes everything but unreserved characters.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

/// A value as text: strings as they are, anything else as JSON. `null` has no text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The `simple` style of paths and headers: `1,2`, and `a,1,b,2` or `a=1,b=2` for objects.
pub(super) fn simple(value: &Value, explode: bool, encode: fn(&str) -> String) -> Option<String> {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(scalar).map(|text| encode(&text)).collect();
            (!items.is_empty()).then(|| items.join(","))
        }
        Value::Object(_) => {
            let between = if explode { "=" } else { "," };
            let fields: Vec<_> = fields(value)
                .map(|(key, text)| format!("{}{between}{}", encode(key), encode(&text)))
                .collect();
            (!fields.is_empty()).then(|| fields.join(","))
        }
        other => scalar(other).map(|text| encode(&text)),
    }
}

/// Appends one parameter to a query string.
pub(super) fn append_query(query: &mut String, name: &str, value: &Value, style: Style) {
    let separator = match style.form {
        StyleForm::DeepObject => return append_deep(query, &encode(name), value),
        StyleForm::Form | StyleForm::Simple | StyleForm::Label | StyleForm::Matrix | StyleForm::Json => ",",
        StyleForm::SpaceDelimited => "%20",
        StyleForm::PipeDelimited => "%7C",
    };
    match value {
        Value::Array(items) if style.explode => {
            items.iter().filter_map(scalar).for_each(|text| append(query, &encode(name), &text));
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(scalar).map(|text| encode(&text)).collect();
            append_joined(query, name, &items, separator);
        }
        Value::Object(_) if style.explode => {
            fields(value).for_each(|(key, text)| append(query, &encode(key), &text));
        }
        Value::Object(_) => {
            let pieces: Vec<_> = fields(value).flat_map(|(key, text)| [encode(key), encode(&text)]).collect();
            append_joined(query, name, &pieces, separator);
        }
        other => {
            if let Some(text) = scalar(other) {
                append(query, &encode(name), &text);
            }
        }
    }
}

/// Appends one field to a form body.
pub(super) fn append_form(form: &mut String, name: &str, value: &Value, style: Style) {
    let nested = match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
        _ => false,
    };
    let style = if nested { Style { form: StyleForm::DeepObject, explode: true, ..style } } else { style };
    append_query(form, name, value, style);
}

/// `name` is encoded already. The depth of a value is bounded by the limit on requests.
fn append_deep(query: &mut String, name: &str, value: &Value) {
    match value {
        Value::Object(object) => {
            for (key, field) in object {
                append_deep(query, &format!("{name}%5B{}%5D", encode(key)), field);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, item) in items.iter().enumerate() {
                append_deep(query, &format!("{name}%5B{index}%5D"), item);
            }
        }
        Value::Array(items) => {
            items.iter().filter_map(scalar).for_each(|text| append(query, &format!("{name}%5B%5D"), &text));
        }
        other => {
            if let Some(text) = scalar(other) {
                append(query, name, &text);
            }
        }
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, String)> {
    value.as_object().into_iter().flatten().filter_map(|(key, field)| Some((key, scalar(field)?)))
}

fn append_joined(query: &mut String, name: &str, encoded: &[String], separator: &str) {
    if !encoded.is_empty() {
        append_encoded(query, &encode(name), &encoded.join(separator));
    }
}

fn append(query: &mut String, encoded_name: &str, text: &str) {
    append_encoded(query, encoded_name, &encode(text));
}

/// Appends `name=value`, both encoded already.
pub(super) fn append_encoded(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(name);
    query.push('=');
    query.push_str(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn query(value: &Value, form: StyleForm, explode: bool) -> String {
        let mut query = String::new();
        append_query(&mut query, "c", value, Style { form, explode, reserved: false });
        query
    }

    #[test]
    fn openapi_s_table_of_styles() {
        use StyleForm::{DeepObject, Form, PipeDelimited, SpaceDelimited};
        let list = json!(["blue", "black"]);
        let object = json!({"R": 100, "G": 200});
        for (value, form, explode, expected) in [
            (&json!("blue"), Form, true, "c=blue"),
            (&json!(""), Form, true, "c="),
            (&list, Form, true, "c=blue&c=black"),
            (&list, Form, false, "c=blue,black"),
            (&object, Form, true, "R=100&G=200"),
            (&object, Form, false, "c=R,100,G,200"),
            (&list, SpaceDelimited, false, "c=blue%20black"),
            (&list, SpaceDelimited, true, "c=blue&c=black"),
            (&object, SpaceDelimited, false, "c=R%20100%20G%20200"),
            (&list, PipeDelimited, false, "c=blue%7Cblack"),
            (&object, PipeDelimited, false, "c=R%7C100%7CG%7C200"),
            (&object, DeepObject, true, "c%5BR%5D=100&c%5BG%5D=200"),
            (
                &json!({"a": {"b": [1, 2]}}),
                DeepObject,
                true,
                "c%5Ba%5D%5Bb%5D%5B%5D=1&c%5Ba%5D%5Bb%5D%5B%5D=2",
            ),
            (&json!([{"a": 1}]), DeepObject, true, "c%5B0%5D%5Ba%5D=1"),
            (&json!(true), Form, true, "c=true"),
            (&json!(-1.5), Form, true, "c=-1.5"),
            (&json!([{"a": 1}]), Form, true, "c=%7B%22a%22%3A1%7D"),
        ] {
            assert_eq!(query(value, form, explode), expected, "{value} {form:?} explode {explode}");
        }
    }

    #[test]
    fn nothing_is_sent_for_null_and_for_what_is_empty() {
        for value in [json!(null), json!([]), json!({}), json!([null]), json!({"a": null})] {
            for form in [StyleForm::Form, StyleForm::PipeDelimited, StyleForm::DeepObject] {
                for explode in [true, false] {
                    assert_eq!(query(&value, form, explode), "", "{value} {form:?}");
                }
            }
        }
    }

    #[test]
    fn a_value_cannot_add_a_pair_or_an_element() {
        assert_eq!(query(&json!("a&b=c#d e+f"), StyleForm::Form, true), "c=a%26b%3Dc%23d%20e%2Bf");
        assert_eq!(query(&json!(["a,b", "c"]), StyleForm::Form, false), "c=a%2Cb,c");
        assert_eq!(query(&json!({"a]&x": "1"}), StyleForm::DeepObject, true), "c%5Ba%5D%26x%5D=1");
    }

    #[test]
    fn simple_style_for_paths_and_headers() {
        for (value, explode, expected) in [
            (json!([3, "a,b"]), false, Some("3,a%2Cb")),
            (json!({"R": 1, "G": 2}), false, Some("R,1,G,2")),
            (json!({"R": 1, "G": 2}), true, Some("R=1,G=2")),
            (json!("x/y"), false, Some("x%2Fy")),
            (json!([]), false, None),
            (json!(null), false, None),
        ] {
            assert_eq!(simple(&value, explode, encode).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn form_bodies_spell_objects_with_brackets_and_lists_by_style() {
        let mut form = String::new();
        let style = Style { form: StyleForm::Form, explode: true, reserved: false };
        for (name, value) in [("a", json!({"b": 1})), ("c", json!(["x", "y"])), ("d", json!([{"e": 2}]))] {
            append_form(&mut form, name, &value, style);
        }
        assert_eq!(form, "a%5Bb%5D=1&c=x&c=y&d%5B0%5D%5Be%5D=2");
    }
}
