//! Converts the body of a successful response to data.
//!
//! What always holds: JSON is validated in one pass and passed on as text, without insignificant white space and without
//! building a tree, so deep nesting cannot exhaust the stack.
//!
//! | media type | the caller gets |
//! |---|---|
//! | JSON (`application/json`, `text/json`, `+json`) | the value; if it is invalid, the text and a warning |
//! | lines of JSON (`application/x-ndjson`, `jsonl`) | an array; if a line is invalid, the text and a warning |
//! | XML, where the document expects data | the elements as members of objects |
//! | text (`text/*`, XML, YAML, JavaScript, form data) | a string; UTF-8 and ISO-8859-1 exactly, others with a warning |
//! | an HTML page in place of JSON | an error, such as that the API is down for maintenance |
//! | none | JSON if it is valid, otherwise a string if it is UTF-8, otherwise binary |
//! | anything else | `{"media_type", "bytes"}`, and the content as a block: an image, audio or an embedded resource |
//! | 204, 205, 304 or an empty body | null |

use super::{html, xml};
use crate::secret::Mask;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::exchange::{accepts_text, expects_page};
use mcpaql_core::operation::{Binding, BodyForm, Operation};
use mcpaql_core::response::{Answer, Payload, Warning};
use mcpaql_core::syntax::minified;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The headers that the answer to a `HEAD` shows.
const HEAD_HEADERS: [&str; 7] =
    ["accept-ranges", "allow", "content-length", "content-type", "etag", "last-modified", "x-total-count"];

/// The error for a response beyond the limit.
pub(super) fn too_large(limit: usize, headers: &HeaderMap) -> OpError {
    let (media_type, _) = content_type(headers);
    let advice = match MediaKind::of(&media_type) {
        MediaKind::Binary => "choose a smaller file, or tell the user to raise `max_response_bytes`",
        _ => "request less data, with a page or a filter if the operation has one",
    };
    OpError::too_large(
        format!("The answer is larger than the limit of {limit} bytes; {advice}."),
        LimitType::ResponseSize,
        None,
        limit,
    )
}

/// The answer to a `HEAD`.
pub(super) fn head(status: StatusCode, headers: &HeaderMap, mask: &Mask) -> Answer {
    let shown: Map<_, _> = HEAD_HEADERS
        .into_iter()
        .filter_map(|name| {
            let value = headers.get(name)?.to_str().ok()?;
            Some((name.to_owned(), Value::from(mask.apply(value))))
        })
        .collect();
    Answer::new(json!({ "status": status.as_u16(), "headers": shown }))
}

/// The answer of a successful response to this operation.
pub(super) fn decode(
    operation: &Operation,
    status: StatusCode,
    headers: &HeaderMap,
    body: Vec<u8>,
    mask: &Mask,
) -> Result<Answer, OpError> {
    if body.is_empty() {
        return Ok(Answer::new(Value::Null));
    }
    if let Some(encoding) = unsupported_encoding(headers).filter(|_| std::str::from_utf8(&body).is_err()) {
        return Err(compressed(status, encoding));
    }
    let (media_type, charset) = content_type(headers);
    if html::is_page(&media_type, &body) && !expects_page(operation) {
        return Err(html::unexpected_page(status, &body, mask));
    }
    Ok(match MediaKind::of(&media_type) {
        MediaKind::Json => json_data(with_charset(body, &charset), mask),
        MediaKind::JsonLines => json_lines(with_charset(body, &charset), mask),
        MediaKind::Text if is_xml(&media_type) && expects_data(operation) => xml_data(body, &charset, mask),
        MediaKind::Text => text(body, &charset, mask),
        MediaKind::Unlabelled => unlabelled(operation, body, mask),
        // The base64 of a file cannot be masked without breaking the file.
        MediaKind::Binary if mask.contains_secret(&String::from_utf8_lossy(&body)) => {
            text(body, &charset, mask)
        }
        MediaKind::Binary => binary(operation, &media_type, &body),
    })
}

/// Returns a compression of the body that is not gzip. It was not asked for.
fn unsupported_encoding(headers: &HeaderMap) -> Option<&'static str> {
    let encodings = headers.get(CONTENT_ENCODING)?.to_str().ok()?.to_ascii_lowercase();
    ["br", "deflate", "zstd", "compress"]
        .into_iter()
        .find(|known| encodings.split(',').any(|encoding| encoding.trim() == *known))
}

fn compressed(status: StatusCode, encoding: &str) -> OpError {
    let number = status.as_u16();
    OpError::new(
        Code::Internal,
        format!("The API compressed its answer as '{encoding}', which was not requested and cannot be read. Tell the user."),
    )
    .with_detail("upstream", json!({"status": number, "content_encoding": encoding}))
    .for_operator(
        format!("The API compressed its answer as '{encoding}'; only gzip can be read"),
        "turn this compression off for requests with `Accept-Encoding: gzip`",
    )
}

/// Returns text as UTF-8, if its character set is known and it is not UTF-8 already.
fn with_charset(body: Vec<u8>, charset: &str) -> Vec<u8> {
    if is_latin1(charset) && std::str::from_utf8(&body).is_err() {
        return latin1(&body).into_bytes();
    }
    body
}

fn is_latin1(charset: &str) -> bool {
    matches!(charset, "iso-8859-1" | "latin1" | "latin-1")
}

fn latin1(body: &[u8]) -> String {
    body.iter().map(|&byte| char::from(byte)).collect()
}

/// The media type and the character set of a body, in lower case.
fn content_type(headers: &HeaderMap) -> (String, String) {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (media_type, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    (media_type.trim().to_ascii_lowercase(), charset(parameters))
}

enum MediaKind {
    Json,
    JsonLines,
    Text,
    Unlabelled,
    Binary,
}

impl MediaKind {
    fn of(media_type: &str) -> MediaKind {
        match media_type {
            "" => MediaKind::Unlabelled,
            "application/json" | "text/json" => MediaKind::Json,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/json-lines"
            | "application/x-jsonlines" => MediaKind::JsonLines,
            "application/xml"
            | "application/javascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/toml"
            | "application/graphql"
            | "application/x-www-form-urlencoded"
            | "application/sql"
            | "application/x-sh"
            | "application/xhtml+xml" => MediaKind::Text,
            other if other.ends_with("+json") => MediaKind::Json,
            other if other.starts_with("text/") || other.ends_with("+xml") || other.ends_with("+yaml") => {
                MediaKind::Text
            }
            _ => MediaKind::Binary,
        }
    }
}

fn charset(parameters: &str) -> String {
    let value = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    });
    value.unwrap_or("utf-8").trim().trim_matches('"').to_ascii_lowercase()
}

fn warned(data: Value, code: &'static str, message: &str) -> Answer {
    Answer::new(data).with_warnings(vec![Warning::new(code, message)])
}

fn json_data(body: Vec<u8>, mask: &Mask) -> Answer {
    match raw_json(body, mask) {
        Ok(payload) => Answer::new(payload),
        Err(body) => not_json(&body, mask),
    }
}

fn not_json(body: &[u8], mask: &Mask) -> Answer {
    let text = mask.apply(&String::from_utf8_lossy(body)).into_owned();
    warned(
        text.into(),
        "UPSTREAM_NOT_JSON",
        "The content type is JSON, but the answer is not valid JSON; `data` contains its text.",
    )
}

/// Returns the body as one valid JSON value, or the body itself if it is invalid.
fn raw_json(body: Vec<u8>, mask: &Mask) -> Result<Payload, Vec<u8>> {
    let text = String::from_utf8(body).map_err(std::string::FromUtf8Error::into_bytes)?;
    let has_secret = mask.contains_secret(&text);
    let candidate = minified(text.trim_start_matches('\u{feff}'));
    if has_secret {
        return masked_json(&candidate, mask).ok_or_else(|| text.into_bytes());
    }
    RawValue::from_string(candidate).map(Payload::Raw).map_err(|_| text.into_bytes())
}

fn masked_json(text: &str, mask: &Mask) -> Option<Payload> {
    serde_json::from_str::<&RawValue>(text).ok()?;
    if let Ok(raw) = RawValue::from_string(mask.apply(text).into_owned()) {
        return Some(Payload::Raw(raw));
    }
    // The secret is a bare number, so its replacement needs quotes.
    let mut value = serde_json::from_str::<Value>(text).ok()?;
    mask.apply_value(&mut value);
    Some(Payload::Value(value))
}

fn json_lines(body: Vec<u8>, mask: &Mask) -> Answer {
    let Ok(text) = std::str::from_utf8(&body) else { return not_json(&body, mask) };
    let mut array = String::with_capacity(text.len() + 2);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if serde_json::from_str::<&RawValue>(line).is_err() {
            return not_json(&body, mask);
        }
        array.push(if array.is_empty() { '[' } else { ',' });
        array.push_str(line);
    }
    array.push_str(if array.is_empty() { "[]" } else { "]" });
    json_data(array.into_bytes(), mask)
}

fn text(body: Vec<u8>, charset: &str, mask: &Mask) -> Answer {
    let exact = if is_latin1(charset) { Ok(latin1(&body)) } else { String::from_utf8(body) };
    match exact {
        Ok(text) => Answer::new(Value::from(mask.apply(text.trim_start_matches('\u{feff}')))),
        Err(invalid) => {
            let lossy = String::from_utf8_lossy(invalid.as_bytes());
            warned(
                Value::from(mask.apply(&lossy)),
                "TEXT_LOSSY",
                "The answer is not UTF-8; invalid characters are shown as U+FFFD.",
            )
        }
    }
}

fn is_xml(media_type: &str) -> bool {
    matches!(media_type, "application/xml" | "text/xml") || media_type.ends_with("+xml")
}

/// Returns whether the document expects data and not a text: it sends XML, selects a part of the answer, or declares a
/// result that is not text.
fn expects_data(operation: &Operation) -> bool {
    let Binding::Http(binding) = &operation.binding else { return false };
    let is_declared = operation
        .returns
        .as_ref()
        .is_some_and(|returns| returns.schema.get("type").is_some() && !accepts_text(&returns.schema));
    binding.body == BodyForm::Xml || !binding.answer.is_empty() || is_declared
}

fn xml_data(body: Vec<u8>, charset: &str, mask: &Mask) -> Answer {
    let mut answer = text(body, charset, mask);
    let Payload::Value(Value::String(document)) = &answer.data else { return answer };
    match xml::read(document) {
        Some(value) => answer.data = Payload::Value(value),
        None => {
            let message = "The content type is XML, but the answer is not valid XML or has more than 128 levels; `data` contains its text.";
            answer.warnings.push(Warning::new("UPSTREAM_NOT_XML", message));
        }
    }
    answer
}

fn unlabelled(operation: &Operation, body: Vec<u8>, mask: &Mask) -> Answer {
    match raw_json(body, mask) {
        Ok(payload) => Answer::new(payload),
        Err(body) if std::str::from_utf8(&body).is_ok() => text(body, "utf-8", mask),
        Err(body) => binary(operation, "application/octet-stream", &body),
    }
}

/// Returns a file as a content block, because base64 inside the envelope would be read as text.
fn binary(operation: &Operation, media_type: &str, body: &[u8]) -> Answer {
    let encoded = STANDARD.encode(body);
    let block = match media_type.split('/').next() {
        Some(kind @ ("image" | "audio")) => json!({"type": kind, "data": encoded, "mimeType": media_type}),
        _ => {
            // The protocol requires an address, but the file is only in this answer.
            let uri = format!("mcpaql:///{}", operation.name);
            json!({"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": encoded}})
        }
    };
    let data = json!({"media_type": media_type, "bytes": body.len()});
    Answer::new(data).with_blocks(vec![block])
}

#[cfg(test)]
mod tests {
    use super::super::fixture::operation;
    use super::*;
    use reqwest::header::HeaderValue;

    fn decoded(kind: &str, body: impl Into<Vec<u8>>) -> Answer {
        let mut mask = Mask::default();
        mask.add("s3cret-token");
        mask.add("31337007");
        let mut headers = HeaderMap::new();
        if !kind.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_str(kind).unwrap());
        }
        decode(&operation("GET", "/thing", vec![]), StatusCode::OK, &headers, body.into(), &mask).unwrap()
    }

    fn data(kind: &str, body: impl Into<Vec<u8>>) -> Value {
        decoded(kind, body).data.into_value()
    }

    #[test]
    fn json_is_passed_on_as_text_without_white_space() {
        for kind in ["application/json", "application/vnd.github+json; charset=utf-8", "text/json", ""] {
            let answer = decoded(
                kind,
                "\u{feff} {\n \"a b\" : [1.0, 1e400,\t\"x \\\" y\\\\\" , 12345678901234567890123]}\n",
            );
            let Payload::Raw(raw) = answer.data else { panic!("{kind}: parsed") };
            assert_eq!(raw.get(), r#"{"a b":[1.0,1e400,"x \" y\\",12345678901234567890123]}"#);
        }
    }

    #[test]
    fn a_million_brackets_do_not_exhaust_the_stack() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let Payload::Raw(raw) = decoded("application/json", deep.clone()).data else { panic!("parsed") };
        assert_eq!(raw.get(), deep);
        let open = decoded("application/json", "[".repeat(1_000_000));
        assert_eq!(open.warnings[0].code, "UPSTREAM_NOT_JSON");
        let echoing = "[".repeat(100_000) + "\"s3cret-token\"" + &"]".repeat(100_000);
        let Payload::Raw(raw) = decoded("application/json", echoing).data else { panic!("parsed") };
        assert!(!raw.get().contains("s3cret"));
    }

    #[test]
    fn invalid_json_is_returned_as_text_with_a_warning() {
        for body in ["<note>", "{\"a\":1}x", "{", "\"\u{1}\""] {
            let answer = decoded("application/json", body);
            assert_eq!(answer.warnings[0].code, "UPSTREAM_NOT_JSON");
            assert_eq!(answer.data.into_value(), body);
        }
        assert_eq!(data("application/json", b"\xff".to_vec()), "\u{fffd}");
    }

    #[test]
    fn json_has_its_declared_character_set() {
        let body = b"{\"a\":\"gr\xfcn\"}".to_vec();
        assert_eq!(data("application/json; charset=ISO-8859-1", body.clone()), json!({"a": "grün"}));
        assert_eq!(decoded("application/json", body).warnings[0].code, "UPSTREAM_NOT_JSON");
        assert_eq!(data("application/json; charset=iso-8859-1", "{\"a\":\"grün\"}"), json!({"a": "grün"}));
    }

    #[test]
    fn an_unreadable_compression_is_an_error() {
        let outcome = |encoding: &'static str, body: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
            decode(
                &operation("GET", "/thing", vec![]),
                StatusCode::OK,
                &headers,
                body.to_vec(),
                &Mask::default(),
            )
        };
        for encoding in ["br", "Deflate", "gzip, zstd"] {
            let error = outcome(encoding, b"\x8b\x02\x80\xff").unwrap_err();
            assert_eq!(error.code, Code::Internal);
            assert!(error.message.contains("compressed its answer"), "{}", error.message);
            assert!(outcome(encoding, b"[1]").is_ok(), "the header is wrong, the answer is not");
        }
        assert!(outcome("utf-8", b"\xff").is_ok());
    }

    #[test]
    fn removing_white_space_never_makes_invalid_json_valid() {
        for body in ["1 2", "tr ue", "[1 2]", "- 1", "\"a\" \"b\"", "\"a", "[1]\u{c}", "\"\\", "[1] x"] {
            let answer = decoded("application/json", body);
            assert_eq!(answer.data.into_value(), body);
            assert_eq!(answer.warnings[0].code, "UPSTREAM_NOT_JSON", "{body}");
        }
    }

    #[test]
    fn lines_of_json_become_an_array() {
        assert_eq!(data("application/x-ndjson", "{\"a\":1}\r\n\n[2]\n"), json!([{"a": 1}, [2]]));
        assert_eq!(decoded("application/jsonl", "1\nx").warnings[0].code, "UPSTREAM_NOT_JSON");
    }

    #[test]
    fn text_keeps_its_characters_or_has_a_warning() {
        assert_eq!(data("text/plain", "grün"), "grün");
        assert_eq!(data("text/csv; charset=\"UTF-8\"", "a,b"), "a,b");
        assert_eq!(data("text/plain; charset=ISO-8859-1", b"gr\xfcn".to_vec()), "grün");
        let lossy = decoded("text/plain; charset=shift_jis", b"\x93\xfa".to_vec());
        assert_eq!(lossy.warnings[0].code, "TEXT_LOSSY");
        assert_eq!(data("application/xml", "<a/>"), "<a/>");
        assert_eq!(data("", "plain words"), "plain words");
    }

    #[test]
    fn a_file_is_a_content_block_with_its_media_type() {
        let answer = decoded("image/png", b"\x89PNG".to_vec());
        assert_eq!(answer.blocks, [json!({"type": "image", "data": "iVBORw==", "mimeType": "image/png"})]);
        assert_eq!(answer.data.into_value(), json!({"media_type": "image/png", "bytes": 4}));
        assert_eq!(decoded("Audio/MPEG; x=1", "ID3").blocks[0]["type"], "audio");
        for (kind, media_type) in [("application/pdf", "application/pdf"), ("", "application/octet-stream")] {
            let answer = decoded(kind, b"\x89PDF".to_vec());
            let resource = json!({"uri": "mcpaql:///sample", "mimeType": media_type, "blob": "iVBERg=="});
            assert_eq!(answer.blocks, [json!({"type": "resource", "resource": resource})]);
            assert_eq!(answer.data.into_value(), json!({"media_type": media_type, "bytes": 4}));
        }
        assert_eq!(data("application/json", ""), Value::Null);
    }

    #[test]
    fn an_echoed_secret_is_masked_even_as_a_bare_number() {
        assert_eq!(
            data("application/json", r#"{"t":"Bearer s3cret-token"}"#),
            json!({"t": "Bearer [redacted]"})
        );
        assert_eq!(data("application/json", r#"{"n":31337007}"#), json!({"n": "[redacted]"}));
        assert_eq!(data("text/plain", "s3cret-token"), "[redacted]");
    }
}
