//! Writes values outside of JSON bodies: OpenAPI's `style`, `explode` and `allowReserved`.
//!
//! What always holds: a value never adds a pair, a fragment or (unless its style is `segments`) a path segment, and
//! decoding restores the value. All characters except unreserved ones (RFC 3986) are percent-encoded. If the document
//! allows reserved characters, those that are separators in that location are still encoded. `null` and empty arrays
//! and objects are omitted.
//!
//! Rules where OpenAPI has none: objects inside an array of a query are sent as JSON text. `deepObject` is as deep as
//! the value (`a[b][c]=1`), with `a[]=1` for arrays of scalars and `a[0][b]=1` for arrays of objects. Form bodies write
//! objects the same way, because form APIs expect it. In cookies, pairs are separated by `; `.

use mcpaql_core::operation::{ParamStyle, StyleForm};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Keeps reserved characters that have no meaning inside a path segment, a query value or a cookie.
const SEGMENT: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*');
/// For lists, where a comma separates the elements.
const ELEMENT: &AsciiSet = &SEGMENT.remove(b'/').remove(b'?').remove(b'[').remove(b']').remove(b'=');
/// `&` separates pairs, `+` is a space for most servers, and `#` ends the query.
const QUERY: &AsciiSet = &ELEMENT.remove(b',').remove(b';');

type Encode = fn(&str) -> String;

/// Percent-encodes everything but unreserved characters.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

fn encode_value(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

fn encode_element(text: &str) -> String {
    utf8_percent_encode(text, ELEMENT).to_string()
}

fn encode_query(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

/// A value as text: strings unchanged, anything else as JSON. `null` has no text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A value as JSON text; `None` for `null`.
fn json(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

/// The text for a placeholder of a path.
pub(super) fn path(name: &str, value: &Value, style: ParamStyle) -> Option<String> {
    let encode = if style.reserved { encode_value } else { encode };
    match style.form {
        StyleForm::Json => json(value).map(|text| encode(&text)),
        StyleForm::Label => {
            let separator = if style.explode { "." } else { "," };
            Some(format!(".{}", joined(value, style.explode, separator, encode)?))
        }
        StyleForm::Matrix => matrix(name, value, style.explode, encode),
        StyleForm::Segments => segments(value, encode),
        _ => joined(value, style.explode, ",", encode),
    }
}

/// `a/b`: a text is a path, and an array has one segment per element.
fn segments(value: &Value, encode: Encode) -> Option<String> {
    match value {
        Value::String(text) => Some(text.split('/').map(encode).collect::<Vec<_>>().join("/")),
        other => joined(other, false, "/", encode),
    }
}

/// The value of a header, without percent-encoding.
pub(super) fn header(value: &Value, style: ParamStyle) -> Option<String> {
    match style.form {
        StyleForm::Json => json(value),
        _ => joined(value, style.explode, ",", str::to_owned),
    }
}

/// `1,2`, and `a,1,b,2` or `a=1,b=2` for objects, with this separator.
fn joined(value: &Value, explode: bool, separator: &str, encode: Encode) -> Option<String> {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(scalar).map(|text| encode(&text)).collect();
            (!items.is_empty()).then(|| items.join(separator))
        }
        Value::Object(_) => {
            let within = if explode { "=" } else { separator };
            let fields: Vec<_> = fields(value)
                .map(|(key, text)| format!("{}{within}{}", encode(key), encode(&text)))
                .collect();
            (!fields.is_empty()).then(|| fields.join(separator))
        }
        other => scalar(other).map(|text| encode(&text)),
    }
}

/// `;name=value`, or `;name` for an empty text.
fn matrix(name: &str, value: &Value, explode: bool, encode: Encode) -> Option<String> {
    let pair = |name: &str, text: &str| match text {
        "" => format!(";{}", encode(name)),
        text => format!(";{}={text}", encode(name)),
    };
    match value {
        Value::Array(items) if explode => {
            let pairs: Vec<_> =
                items.iter().filter_map(scalar).map(|text| pair(name, &encode(&text))).collect();
            (!pairs.is_empty()).then(|| pairs.concat())
        }
        Value::Object(_) if explode => {
            let pairs: Vec<_> = fields(value).map(|(key, text)| pair(key, &encode(&text))).collect();
            (!pairs.is_empty()).then(|| pairs.concat())
        }
        other => joined(other, false, ",", encode).map(|text| pair(name, &text)),
    }
}

/// `name=value` pairs: a query, a form body or a cookie header.
#[derive(Debug)]
pub(super) struct Pairs {
    text: String,
    separator: &'static str,
}

impl Pairs {
    /// A query or a form that starts with this text.
    pub(super) fn query(text: String) -> Pairs {
        Pairs { text, separator: "&" }
    }

    pub(super) fn cookies() -> Pairs {
        Pairs { text: String::new(), separator: "; " }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Appends `name=value`, both already encoded.
    pub(super) fn push(&mut self, name: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
        self.text.push_str(name);
        self.text.push('=');
        self.text.push_str(value);
    }

    /// Appends one parameter.
    pub(super) fn append(&mut self, name: &str, value: &Value, style: ParamStyle) {
        let separator = match style.form {
            StyleForm::DeepObject => return self.append_deep(&encode(name), value),
            StyleForm::SpaceDelimited => "%20",
            StyleForm::PipeDelimited => "%7C",
            StyleForm::Form
            | StyleForm::Simple
            | StyleForm::Label
            | StyleForm::Matrix
            | StyleForm::Json
            | StyleForm::Segments => ",",
        };
        let joins = !style.explode && matches!(value, Value::Array(_) | Value::Object(_));
        let spell: Encode = match style.reserved {
            false => encode,
            true if joins || self.separator != "&" => encode_element,
            true => encode_query,
        };
        let own = encode(name);
        match value {
            value if style.form == StyleForm::Json => {
                if let Some(text) = json(value) {
                    self.push(&own, &spell(&text));
                }
            }
            Value::Array(items) if style.explode => {
                items.iter().filter_map(scalar).for_each(|text| self.push(&own, &spell(&text)));
            }
            Value::Object(_) if style.explode => {
                fields(value).for_each(|(key, text)| self.push(&encode(key), &spell(&text)));
            }
            Value::Array(_) | Value::Object(_) => {
                if let Some(text) = joined(value, false, separator, spell) {
                    self.push(&own, &text);
                }
            }
            other => {
                if let Some(text) = scalar(other) {
                    self.push(&own, &spell(&text));
                }
            }
        }
    }

    /// Appends one field of a form body.
    pub(super) fn append_field(&mut self, name: &str, value: &Value, style: ParamStyle) {
        let nested = match value {
            _ if style.form == StyleForm::Json => false,
            Value::Object(_) => true,
            Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
            _ => false,
        };
        let style =
            if nested { ParamStyle { form: StyleForm::DeepObject, explode: true, ..style } } else { style };
        self.append(name, value, style);
    }

    /// `name` is already encoded. The depth of a value is bounded by the size limit of requests.
    fn append_deep(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, field) in object {
                    self.append_deep(&format!("{name}%5B{}%5D", encode(key)), field);
                }
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                for (index, item) in items.iter().enumerate() {
                    self.append_deep(&format!("{name}%5B{index}%5D"), item);
                }
            }
            Value::Array(items) => {
                let name = format!("{name}%5B%5D");
                items.iter().filter_map(scalar).for_each(|text| self.push(&name, &encode(&text)));
            }
            other => {
                if let Some(text) = scalar(other) {
                    self.push(name, &encode(&text));
                }
            }
        }
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, String)> {
    value.as_object().into_iter().flatten().filter_map(|(key, field)| Some((key, scalar(field)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn style(form: StyleForm, explode: bool) -> ParamStyle {
        ParamStyle { form, explode, reserved: false }
    }

    fn query(value: &Value, style: ParamStyle) -> String {
        let mut query = Pairs::query(String::new());
        query.append("color", value, style);
        query.into_text()
    }

    /// The columns of OpenAPI's "Style Examples": empty, string, array, object.
    fn columns() -> [Value; 4] {
        [json!(""), json!("blue"), json!(["blue", "black", "brown"]), json!({"R": 100, "G": 200, "B": 150})]
    }

    #[test]
    fn openapi_s_table_of_styles_in_paths() {
        use StyleForm::{Label, Matrix, Simple};
        let rows: [(StyleForm, bool, [&str; 4]); 6] = [
            (Matrix, false, [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]),
            (
                Matrix,
                true,
                [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
            ),
            (Label, false, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
            (Label, true, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
            (Simple, false, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
            (Simple, true, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
        ];
        for (form, explode, row) in rows {
            for (value, expected) in columns().iter().zip(row) {
                let found = path("color", value, style(form, explode)).unwrap();
                assert_eq!(found, expected, "{form:?} explode {explode} {value}");
            }
        }
    }

    #[test]
    fn openapi_s_table_of_styles_in_queries() {
        use StyleForm::{DeepObject, Form, PipeDelimited, SpaceDelimited};
        const NONE: Option<&str> = None;
        let rows: [(StyleForm, bool, [Option<&str>; 4]); 5] = [
            (
                Form,
                false,
                [
                    Some("color="),
                    Some("color=blue"),
                    Some("color=blue,black,brown"),
                    Some("color=R,100,G,200,B,150"),
                ],
            ),
            (
                Form,
                true,
                [
                    Some("color="),
                    Some("color=blue"),
                    Some("color=blue&color=black&color=brown"),
                    Some("R=100&G=200&B=150"),
                ],
            ),
            (
                SpaceDelimited,
                false,
                [NONE, NONE, Some("color=blue%20black%20brown"), Some("color=R%20100%20G%20200%20B%20150")],
            ),
            (
                PipeDelimited,
                false,
                [NONE, NONE, Some("color=blue%7Cblack%7Cbrown"), Some("color=R%7C100%7CG%7C200%7CB%7C150")],
            ),
            (
                DeepObject,
                true,
                [NONE, NONE, NONE, Some("color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150")],
            ),
        ];
        for (form, explode, row) in rows {
            for (value, expected) in columns().iter().zip(row) {
                if let Some(expected) = expected {
                    assert_eq!(query(value, style(form, explode)), expected, "{form:?} {explode} {value}");
                }
            }
        }
    }

    #[test]
    fn cases_that_openapi_s_table_does_not_cover() {
        use StyleForm::{DeepObject, Form, Json, SpaceDelimited};
        let list = json!(["blue", "black"]);
        for (value, form, explode, expected) in [
            (&list, SpaceDelimited, true, "color=blue&color=black"),
            (&json!(true), Form, true, "color=true"),
            (&json!(-1.5), Form, true, "color=-1.5"),
            (&json!([{"a": 1}]), Form, true, "color=%7B%22a%22%3A1%7D"),
            (&json!([{"a": 1}]), DeepObject, true, "color%5B0%5D%5Ba%5D=1"),
            (
                &json!({"a": {"b": [1, 2]}}),
                DeepObject,
                true,
                "color%5Ba%5D%5Bb%5D%5B%5D=1&color%5Ba%5D%5Bb%5D%5B%5D=2",
            ),
            (&json!({"a": [1, "x"]}), Json, true, "color=%7B%22a%22%3A%5B1%2C%22x%22%5D%7D"),
            (&json!("x"), Json, false, "color=%22x%22"),
            (&json!([]), Json, false, "color=%5B%5D"),
        ] {
            assert_eq!(query(value, style(form, explode)), expected, "{value} {form:?} explode {explode}");
        }
    }

    #[test]
    fn nothing_is_sent_for_null_and_empty_values() {
        use StyleForm::{DeepObject, Form, Json, Label, Matrix, PipeDelimited, Simple};
        for value in [json!(null), json!([]), json!({}), json!([null]), json!({"a": null})] {
            for explode in [true, false] {
                for form in [Form, PipeDelimited, DeepObject] {
                    assert_eq!(query(&value, style(form, explode)), "", "{value} {form:?}");
                }
                for form in [Simple, Label, Matrix] {
                    assert_eq!(path("color", &value, style(form, explode)), None, "{value} {form:?}");
                }
            }
        }
        assert_eq!(query(&json!(null), style(Json, false)), "");
        assert_eq!(path("color", &json!(null), style(Json, false)), None);
    }

    #[test]
    fn a_value_cannot_add_a_pair_or_an_element() {
        use StyleForm::{DeepObject, Form, Label, Matrix, Simple};
        assert_eq!(query(&json!("a&b=c#d e+f"), style(Form, true)), "color=a%26b%3Dc%23d%20e%2Bf");
        assert_eq!(query(&json!(["a,b", "c"]), style(Form, false)), "color=a%2Cb,c");
        assert_eq!(query(&json!({"a]&x": "1"}), style(DeepObject, true)), "color%5Ba%5D%26x%5D=1");
        let hostile = json!("a/b;c=d,e?f#g\r\n\0");
        let encoded = "a%2Fb%3Bc%3Dd%2Ce%3Ff%23g%0D%0A%00";
        for (form, before) in [(Simple, ""), (Label, "."), (Matrix, ";color=")] {
            assert_eq!(path("color", &hostile, style(form, false)).unwrap(), format!("{before}{encoded}"));
        }
    }

    #[test]
    fn reserved_characters_are_kept_where_they_are_not_separators() {
        const RESERVED: &str = ":/?#[]@!$&'()*+,;= %\"\r\n";
        let allowed = |form, explode| ParamStyle { form, explode, reserved: true };
        let one = query(&json!(RESERVED), allowed(StyleForm::Form, true));
        assert_eq!(one, "color=:/?%23[]@!$%26'()*%2B,;=%20%25%22%0D%0A");
        let list = query(&json!(["a,b/c", "d"]), allowed(StyleForm::Form, false));
        assert_eq!(list, "color=a%2Cb/c,d");
        let exploded = query(&json!({"k&": "a,b/c"}), allowed(StyleForm::Form, true));
        assert_eq!(exploded, "k%26=a,b/c");
        let segment = path("color", &json!(RESERVED), allowed(StyleForm::Simple, false)).unwrap();
        assert_eq!(segment, ":%2F%3F%23%5B%5D@!$%26'()*%2B%2C%3B%3D%20%25%22%0D%0A");
        let mut cookies = Pairs::cookies();
        cookies.append("c", &json!(RESERVED), allowed(StyleForm::Form, true));
        assert_eq!(cookies.into_text(), "c=:/?%23[]@!$%26'()*%2B%2C%3B=%20%25%22%0D%0A");
    }

    #[test]
    fn cookies_are_pairs_that_no_value_can_end() {
        let mut cookies = Pairs::cookies();
        for (name, value, explode) in [
            ("a", json!("x; b=1"), true),
            ("list", json!(["p", "q,r"]), false),
            ("each", json!([1, 2]), true),
            ("object", json!({"R": 1, "G": null}), true),
        ] {
            cookies.append(name, &value, style(StyleForm::Form, explode));
        }
        assert_eq!(cookies.into_text(), "a=x%3B%20b%3D1; list=p,q%2Cr; each=1; each=2; R=1");
    }

    #[test]
    fn headers_are_simple_or_json_and_not_encoded() {
        let header = |value, form, explode| super::header(&value, style(form, explode));
        assert_eq!(header(json!(["a b", 2]), StyleForm::Simple, false).unwrap(), "a b,2");
        assert_eq!(header(json!({"R": 1, "G": 2}), StyleForm::Simple, true).unwrap(), "R=1,G=2");
        assert_eq!(header(json!({"a": "\n"}), StyleForm::Json, false).unwrap(), r#"{"a":"\n"}"#);
        assert_eq!(header(json!([]), StyleForm::Simple, false), None);
    }

    #[test]
    fn form_bodies_write_objects_with_brackets_and_lists_by_style() {
        let mut form = Pairs::query(String::new());
        for (name, value) in [("a", json!({"b": 1})), ("c", json!(["x", "y"])), ("d", json!([{"e": 2}]))] {
            form.append_field(name, &value, style(StyleForm::Form, true));
        }
        form.append_field("f", &json!({"g": 3}), style(StyleForm::Json, false));
        assert_eq!(form.into_text(), "a%5Bb%5D=1&c=x&c=y&d%5B0%5D%5Be%5D=2&f=%7B%22g%22%3A3%7D");
    }
}
