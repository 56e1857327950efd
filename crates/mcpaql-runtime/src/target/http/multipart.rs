//! `multipart/form-data` (RFC 7578): one part for each value.
//!
//! What always holds: no value can end its part or add a header to it. Names and file names are escaped as in
//! browsers, an invalid media type is refused, and the boundary cannot be guessed.
//!
//! A parameter is a file if its schema declares base64 (`format: byte`). Its value is the base64 text, or
//! `{data, filename?, content_type?}`. Lists become repeated parts, objects become JSON parts, and other values
//! become plain text.

use super::body::{BodyField, RequestBody, TypedBody, file_of};
use super::request::unusable_document;
use super::style;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::StyleForm;
use mcpaql_core::schema::is_file;
use reqwest::header::HeaderValue;
use serde_json::Value;
use std::fmt::{self, Write as _};

/// Returns a boundary that occurs in no content.
pub(super) fn random_boundary() -> String {
    format!("mcpaql-{}", uuid::Uuid::now_v7().simple())
}

/// Writes the fields as parts.
pub(super) fn write<'a>(
    fields: &[BodyField<'a>],
    content_type: Option<&str>,
    boundary: &str,
) -> Result<TypedBody<'a>, OpError> {
    let kind = content_type.filter(|kind| kind.starts_with("multipart/")).unwrap_or("multipart/form-data");
    let content_type = HeaderValue::try_from(format!("{kind}; boundary={boundary}"))
        .map_err(|_| unusable_document().with_cause("the media type of the multipart body"))?;
    let mut parts = Parts { text: String::new(), body: RequestBody::default(), boundary };
    for field in fields {
        parts.field(field)?;
    }
    let Parts { mut text, mut body, .. } = parts;
    text.push_str("--");
    text.push_str(boundary);
    text.push_str("--\r\n");
    body.push(text);
    Ok(TypedBody { body, content_type })
}

struct Parts<'a, 'b> {
    /// The text after the last file.
    text: String,
    body: RequestBody<'a>,
    boundary: &'b str,
}

impl<'a> Parts<'a, '_> {
    fn field(&mut self, field: &BodyField<'a>) -> Result<(), OpError> {
        let file = is_file(field.schema);
        match field.value {
            value if field.style.form == StyleForm::Json && !file => {
                if !value.is_null() {
                    self.part(field.name, None, Some("application/json"));
                    self.line(&value.to_string());
                }
                Ok(())
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.item(field, file, item)),
            value => self.item(field, file, value),
        }
    }

    fn item(&mut self, field: &BodyField<'a>, file: bool, value: &'a Value) -> Result<(), OpError> {
        match value {
            Value::Null => {}
            Value::Object(object) if file => {
                let data = object.get("data").unwrap_or(&Value::Null);
                let text = |key: &str| object.get(key).and_then(Value::as_str);
                let kind = text("content_type").map(|kind| media_type(field.param, kind)).transpose()?;
                self.file(field, data, text("filename"), kind)?;
            }
            value if file => self.file(field, value, None, None)?,
            Value::Object(_) | Value::Array(_) => {
                self.part(field.name, None, Some("application/json"));
                self.line(&value.to_string());
            }
            value => {
                self.part(field.name, None, None);
                self.line(&style::scalar(value).unwrap_or_default());
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        field: &BodyField<'a>,
        data: &'a Value,
        filename: Option<&str>,
        content_type: Option<&str>,
    ) -> Result<(), OpError> {
        let data = file_of(field.param, data)?;
        let filename = filename.map(base_name).filter(|name| !name.is_empty()).unwrap_or(field.name);
        self.part(field.name, Some(filename), Some(content_type.unwrap_or("application/octet-stream")));
        self.body.push(std::mem::take(&mut self.text));
        self.body.push_file(data);
        self.text.push_str("\r\n");
        Ok(())
    }

    /// Writes the head of a part.
    fn part(&mut self, name: &str, filename: Option<&str>, content_type: Option<&str>) {
        let (boundary, name) = (self.boundary, Quoted(name));
        // Writing to a String cannot fail.
        let _ = write!(self.text, "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
        if let Some(filename) = filename {
            let _ = write!(self.text, "; filename=\"{}\"", Quoted(filename));
        }
        if let Some(content_type) = content_type {
            let _ = write!(self.text, "\r\nContent-Type: {content_type}");
        }
        self.text.push_str("\r\n\r\n");
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push_str("\r\n");
    }
}

/// A quoted name. Characters that would end the quotes or the line are escaped as in browsers; others stay.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '"' | '\\' => write!(f, "%{:02X}", u32::from(c)),
            c if c.is_ascii_control() => write!(f, "%{:02X}", u32::from(c)),
            c => f.write_char(c),
        })
    }
}

/// Returns the last part of a path. The sender's folders are private, and a receiver might follow `..`.
fn base_name(filename: &str) -> &str {
    match filename.rsplit(['/', '\\']).next().unwrap_or_default() {
        "." | ".." => "",
        name => name,
    }
}

fn media_type<'t>(param: &str, text: &'t str) -> Result<&'t str, OpError> {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let kind = text.split(';').next().unwrap_or_default().trim();
    let is_valid = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && kind.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype));
    if is_valid {
        return Ok(text);
    }
    Err(OpError::new(
        Code::InvalidValue,
        format!("The content_type of parameter '{param}' is not a media type; send one such as 'image/png' or omit it."),
    )
    .with_detail("param_name", param))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::operation::{ParamLocation, ParamStyle};
    use proptest::prelude::*;
    use serde_json::json;

    fn file() -> Value {
        let data = json!({"type": "string", "format": "byte"});
        json!({"anyOf": [data, {"type": "object", "properties": {"data": data}, "required": ["data"]}]})
    }

    fn written(fields: &[(&str, Value, Value)]) -> Result<String, OpError> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, schema, value)| BodyField {
                name,
                param: name,
                schema,
                style: ParamStyle::default_for(ParamLocation::Body),
                value,
            })
            .collect();
        let typed = write(&fields, None, "B")?;
        assert_eq!(typed.content_type, "multipart/form-data; boundary=B");
        Ok(String::from_utf8(typed.body.to_vec()).unwrap())
    }

    #[test]
    fn every_kind_of_value_is_a_part_of_its_own_kind() {
        let list = json!({"type": "array", "items": file()});
        let text = written(&[
            ("title", json!({}), json!("é\r\n--B")),
            ("count", json!({}), json!(3)),
            ("tags", json!({}), json!(["a", null, "b"])),
            ("meta", json!({}), json!({"k": [1]})),
            ("rows", json!({}), json!([{"r": 1}, [2]])),
            ("gone", json!({}), json!(null)),
            ("one", file(), json!("aGk=")),
            ("many", list, json!(["MQ==", {"data": "Mg==", "filename": "b.txt", "content_type": "text/plain; charset=utf-8"}])),
        ])
        .unwrap();
        let part = |head: &str, body: &str| {
            format!("--B\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n")
        };
        let expected = [
            part("name=\"title\"", "é\r\n--B"),
            part("name=\"count\"", "3"),
            part("name=\"tags\"", "a"),
            part("name=\"tags\"", "b"),
            part("name=\"meta\"\r\nContent-Type: application/json", r#"{"k":[1]}"#),
            part("name=\"rows\"\r\nContent-Type: application/json", r#"{"r":1}"#),
            part("name=\"rows\"\r\nContent-Type: application/json", "[2]"),
            part("name=\"one\"; filename=\"one\"\r\nContent-Type: application/octet-stream", "hi"),
            part("name=\"many\"; filename=\"many\"\r\nContent-Type: application/octet-stream", "1"),
            part("name=\"many\"; filename=\"b.txt\"\r\nContent-Type: text/plain; charset=utf-8", "2"),
            "--B--\r\n".to_owned(),
        ];
        assert_eq!(text, expected.concat());
        assert_eq!(written(&[]).unwrap(), "--B--\r\n");
    }

    #[test]
    fn json_where_the_document_wants_json() {
        let schema = json!({"type": "array"});
        let value = json!([1, 2]);
        let style = ParamStyle { form: StyleForm::Json, explode: false, reserved: false };
        let field = BodyField { name: "a", param: "a", schema: &schema, style, value: &value };
        let typed = write(&[field], Some("multipart/mixed"), "B").unwrap();
        assert_eq!(typed.content_type, "multipart/mixed; boundary=B");
        let text = String::from_utf8(typed.body.to_vec()).unwrap();
        assert!(text.contains("Content-Type: application/json\r\n\r\n[1,2]\r\n"), "{text}");
    }

    #[test]
    fn file_names_are_names_and_nothing_else() {
        for (given, sent) in [
            ("a.txt", "a.txt"),
            ("über \"uns\".txt", "über %22uns%22.txt"),
            ("../../etc/passwd", "passwd"),
            ("C:\\temp\\x.png", "x.png"),
            ("..", "f"),
            ("a/", "f"),
            ("", "f"),
            ("x\r\nX-Evil: 1\r\n\r\n", "x%0D%0AX-Evil: 1%0D%0A%0D%0A"),
            ("n\0l", "n%00l"),
            ("x\"; name=\"admin", "x%22; name=%22admin"),
        ] {
            let text = written(&[("f", file(), json!({"data": "", "filename": given}))]).unwrap();
            let line = text.lines().nth(1).unwrap();
            assert_eq!(line, format!("Content-Disposition: form-data; name=\"f\"; filename=\"{sent}\""));
        }
    }

    #[test]
    fn a_media_type_cannot_add_a_header() {
        for kind in
            ["text/plain\r\nX-Evil: 1", "text", "/", "text/", "a b/c", "text/plain\0", "tëxt/plain", ""]
        {
            let error = written(&[("f", file(), json!({"data": "", "content_type": kind}))]).unwrap_err();
            assert_eq!(
                (error.code, &error.details["param_name"]),
                (Code::InvalidValue, &json!("f")),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_file_with_invalid_base64_is_an_error() {
        for value in [json!("not base64!"), json!({"data": "?"}), json!({}), json!(["aGk=", "?"]), json!(5)] {
            let error = written(&[("f", file(), value.clone())]).unwrap_err();
            assert_eq!(
                (error.code, &error.details["param_name"]),
                (Code::InvalidEncoding, &json!("f")),
                "{value}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_line(name in any::<String>(), filename in any::<String>()) {
            let text = written(&[(&name, file(), json!({"data": "", "filename": filename}))]).unwrap();
            let lines: Vec<_> = text.split("\r\n").collect();
            prop_assert_eq!(lines.len(), 7, "{}", text);
            prop_assert_eq!(lines[1].matches('"').count(), 4, "{}", text);
            prop_assert!(!text.replace("\r\n", "").contains(|c: char| c.is_ascii_control()));
        }
    }

    #[test]
    fn boundaries_differ_and_fit_in_a_header() {
        let (one, two) = (random_boundary(), random_boundary());
        assert_ne!(one, two);
        assert!(one.len() <= 70 && one.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    }
}
