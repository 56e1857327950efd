//! The body of a request: its pieces, and how they are sent.
//!
//! What always holds: the body contains only values of the caller and the document; its length is known before the
//! first byte is sent; a file is decoded while it is sent and never held completely in memory, apart from the
//! caller's own text.

use super::base64::Base64;
use super::multipart;
use super::request::{unusable_document, values_in};
use super::style::{self, Pairs};
use super::xml;
use crate::target::Args;
use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::exchange::fill_template;
use mcpaql_core::operation::{BodyForm, HttpBinding, Operation, Param, ParamLocation, ParamStyle};
use reqwest::header::{CONTENT_LENGTH, HeaderValue};
use reqwest::{Method, Request, Response};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::pin::pin;
use tokio::sync::mpsc;

const FORM: &str = "application/x-www-form-urlencoded";
const XML: &str = "text/xml; charset=utf-8";

/// Maximum number of chunks that wait to be sent.
const MAX_QUEUED_CHUNKS: usize = 2;

/// A body as a list of pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestBody<'a>(Vec<BodyPiece<'a>>);

#[derive(Debug, Clone)]
enum BodyPiece<'a> {
    Bytes(Bytes),
    Base64(Base64<'a>),
}

impl<T: Into<Bytes>> From<T> for RequestBody<'_> {
    fn from(bytes: T) -> Self {
        RequestBody(vec![BodyPiece::Bytes(bytes.into())])
    }
}

impl<'a> RequestBody<'a> {
    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: impl Into<Bytes>) {
        self.0.push(BodyPiece::Bytes(bytes.into()));
    }

    /// Appends a file.
    pub(super) fn push_file(&mut self, file: Base64<'a>) {
        self.0.push(BodyPiece::Base64(file));
    }

    pub(super) fn length(&self) -> u64 {
        let length = |piece: &BodyPiece<'_>| match piece {
            BodyPiece::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            BodyPiece::Base64(base64) => base64.length(),
        };
        self.0.iter().map(length).fold(0, u64::saturating_add)
    }

    fn chunks(&self) -> impl Iterator<Item = Bytes> {
        self.0.iter().flat_map(|piece| {
            let (bytes, file) = match piece {
                BodyPiece::Bytes(bytes) => (Some(bytes.clone()), None),
                BodyPiece::Base64(base64) => (None, Some(base64.chunks())),
            };
            bytes.into_iter().chain(file.into_iter().flatten())
        })
    }

    /// Sends the request with this body. The body borrows the caller's values while it is sent, so it lives only as
    /// long as this future.
    pub(super) async fn send(
        &self,
        http: &reqwest::Client,
        mut request: Request,
    ) -> reqwest::Result<Response> {
        if let [BodyPiece::Bytes(bytes)] = self.0.as_slice() {
            *request.body_mut() = Some(bytes.clone().into());
            return http.execute(request).await;
        }
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_CHUNKS);
        let chunks = stream::unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async move {
            let chunk = receiver.recv().await?;
            Some((Ok::<_, Infallible>(chunk), receiver))
        });
        *request.body_mut() = Some(reqwest::Body::wrap_stream(chunks));
        // A body of unknown length would be sent with chunked encoding, which many servers reject.
        request.headers_mut().insert(CONTENT_LENGTH, self.length().into());
        let feeding = pin!(async move {
            for chunk in self.chunks() {
                if sender.send(chunk).await.is_err() {
                    break;
                }
            }
        });
        match select(pin!(http.execute(request)), feeding).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(((), sending)) => sending.await,
        }
    }

    /// The whole body, for previews and tests.
    pub(super) fn to_vec(&self) -> Vec<u8> {
        self.chunks().flatten().collect()
    }
}

/// A body, and its media type unless the document or the caller sets another one.
pub(super) struct TypedBody<'a> {
    pub(super) body: RequestBody<'a>,
    pub(super) content_type: HeaderValue,
}

/// Builds the body from the operation's body parameters; `None` if the request has no body.
pub(super) fn build<'a>(
    operation: &'a Operation,
    binding: &HttpBinding,
    method: &Method,
    args: &'a Args,
    boundary: fn() -> String,
) -> Result<Option<TypedBody<'a>>, OpError> {
    let typed = |body: RequestBody<'a>, content_type: &'static str| TypedBody {
        body,
        content_type: HeaderValue::from_static(content_type),
    };
    if let Some(template) = &binding.body_template {
        let value = fill_template(template, args).unwrap_or(Value::Null);
        let (text, content_type) = match binding.body {
            BodyForm::Xml => (xml::write(&value)?, XML),
            BodyForm::Form => (form_text(&value), FORM),
            _ => (value.to_string(), "application/json"),
        };
        return Ok(Some(typed(text.into(), content_type)));
    }
    let Some(input) = BodyInput::find(operation, binding, method, args)? else { return Ok(None) };
    let built = match (binding.body, input) {
        (BodyForm::Json, BodyInput::Whole(_, value)) => typed(value.to_string().into(), "application/json"),
        (BodyForm::Json, BodyInput::Fields(fields)) => {
            let object: Map<_, _> =
                fields.into_iter().map(|field| (field.name.to_owned(), field.value.clone())).collect();
            typed(Value::Object(object).to_string().into(), "application/json")
        }
        (BodyForm::Form, input) => {
            let text = match input.into_fields() {
                Ok(fields) => {
                    let mut form = Pairs::query(String::new());
                    fields.iter().for_each(|field| form.append_field(field.name, field.value, field.style));
                    form.into_text()
                }
                Err(value) => style::scalar(value).unwrap_or_default(),
            };
            typed(text.into(), FORM)
        }
        (BodyForm::Multipart, input) => {
            let fields = input.into_fields().map_err(|_| {
                unusable_document().with_cause("the parameter for the whole multipart body is not an object")
            })?;
            multipart::write(&fields, binding.content_type.as_deref(), &boundary())?
        }
        (BodyForm::Text, BodyInput::Whole(_, value)) => {
            typed(style::scalar(value).unwrap_or_default().into(), "text/plain; charset=utf-8")
        }
        (BodyForm::Binary, BodyInput::Whole(param, value)) => {
            let mut body = RequestBody::default();
            body.push_file(file_of(&param.name, value)?);
            typed(body, "application/octet-stream")
        }
        (BodyForm::Xml, BodyInput::Whole(_, value)) => typed(xml::write(value)?.into(), XML),
        (BodyForm::Text | BodyForm::Binary | BodyForm::Xml, BodyInput::Fields(_)) => {
            return Err(unusable_document().with_cause("a text, binary or XML body needs one body parameter"));
        }
    };
    Ok(Some(built))
}

/// The members of an object as a form.
fn form_text(object: &Value) -> String {
    let mut form = Pairs::query(String::new());
    for (name, value) in object.as_object().into_iter().flatten() {
        form.append_field(name, value, ParamStyle::default_for(ParamLocation::Body));
    }
    form.into_text()
}

/// A field of a body.
pub(super) struct BodyField<'a> {
    /// The name in the request.
    pub(super) name: &'a str,
    /// The name of the parameter.
    pub(super) param: &'a str,
    pub(super) schema: &'a Value,
    pub(super) style: ParamStyle,
    pub(super) value: &'a Value,
}

/// The arguments for the body.
enum BodyInput<'a> {
    /// One parameter is the whole body.
    Whole(&'a Param, &'a Value),
    Fields(Vec<BodyField<'a>>),
}

impl<'a> BodyInput<'a> {
    fn find(
        operation: &'a Operation,
        binding: &HttpBinding,
        method: &Method,
        args: &'a Args,
    ) -> Result<Option<BodyInput<'a>>, OpError> {
        let declared: Vec<_> =
            operation.params.iter().filter(|param| param.location == ParamLocation::Body).collect();
        let whole = match (&binding.body_param, binding.body, declared.as_slice()) {
            (Some(name), _, _) => {
                let missing = || unusable_document().with_cause("the body's parameter is not declared");
                Some(operation.param(name).ok_or_else(missing)?)
            }
            (None, _, []) => return Ok(None),
            (None, BodyForm::Text | BodyForm::Binary, &[only]) => Some(only),
            (None, ..) => None,
        };
        if let Some(param) = whole {
            return Ok(args.get(&param.name).map(|value| BodyInput::Whole(param, value)));
        }
        let fields: Vec<_> = values_in(operation, args, ParamLocation::Body)
            .map(|(param, value)| BodyField {
                name: &param.wire,
                param: &param.name,
                schema: &param.schema,
                style: param.style,
                value,
            })
            .collect();
        // A method that expects a body gets an empty one; other methods get none.
        let expected = [Method::POST, Method::PUT, Method::PATCH].contains(method);
        Ok((expected || !fields.is_empty()).then_some(BodyInput::Fields(fields)))
    }

    /// Returns the fields. If one parameter is the whole body, these are the fields of its object, or an error with
    /// the value if it is not an object.
    fn into_fields(self) -> Result<Vec<BodyField<'a>>, &'a Value> {
        match self {
            BodyInput::Fields(fields) => Ok(fields),
            BodyInput::Whole(param, Value::Object(object)) => Ok(object
                .iter()
                .map(|(name, value)| BodyField {
                    name,
                    param: &param.name,
                    schema: param
                        .schema
                        .get("properties")
                        .and_then(|all| all.get(name))
                        .unwrap_or(&Value::Null),
                    style: ParamStyle::default_for(ParamLocation::Body),
                    value,
                })
                .collect()),
            BodyInput::Whole(_, value) => Err(value),
        }
    }
}

/// Returns the file in a parameter's value.
pub(super) fn file_of<'a>(param: &str, value: &'a Value) -> Result<Base64<'a>, OpError> {
    value.as_str().and_then(Base64::check).ok_or_else(|| {
        OpError::new(
            Code::InvalidEncoding,
            format!(
                "Parameter '{param}' is a file and must be base64 text; send its bytes encoded as base64."
            ),
        )
        .with_detail("param_name", param)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{http, operation, param};
    use super::*;
    use mcpaql_core::operation::{Binding, StyleForm};
    use serde_json::json;

    fn built(operation: &Operation, args: &Value) -> Result<Option<(String, String)>, OpError> {
        let Binding::Http(binding) = &operation.binding else { panic!("not an HTTP operation") };
        let method = Method::from_bytes(binding.method.as_bytes()).unwrap();
        let typed = build(operation, binding, &method, args.as_object().unwrap(), || "B".into())?;
        Ok(typed.map(|typed| {
            let bytes = typed.body.to_vec();
            assert_eq!(typed.body.length(), bytes.len() as u64);
            (String::from_utf8(bytes).unwrap(), typed.content_type.to_str().unwrap().to_owned())
        }))
    }

    fn body_of(operation: &Operation, args: Value) -> Option<String> {
        built(operation, &args).unwrap().map(|(body, _)| body)
    }

    #[test]
    fn a_json_body_holds_what_was_given_and_nothing_else() {
        let mut title = param("title", ParamLocation::Body);
        title.wire = "Title".into();
        let params =
            || vec![title.clone(), param("body", ParamLocation::Body), param("page", ParamLocation::Query)];
        let post = operation("POST", "/", params());
        assert_eq!(body_of(&post, json!({"title": "x", "page": 1})).unwrap(), r#"{"Title":"x"}"#);
        assert_eq!(
            body_of(&post, json!({"body": "text", "title": null})).unwrap(),
            r#"{"Title":null,"body":"text"}"#
        );
        assert_eq!(body_of(&post, json!({})).unwrap(), "{}");
        assert_eq!(body_of(&operation("DELETE", "/", params()), json!({})), None);
        assert_eq!(body_of(&operation("GET", "/", params()), json!({})), None);
        assert_eq!(body_of(&operation("POST", "/", vec![]), json!({})), None);
    }

    #[test]
    fn one_parameter_can_be_the_whole_body() {
        let mut put = operation("PUT", "/", vec![param("items", ParamLocation::Body)]);
        http(&mut put).body_param = Some("items".into());
        assert_eq!(body_of(&put, json!({"items": [1, {"a": null}]})).unwrap(), r#"[1,{"a":null}]"#);
        assert_eq!(body_of(&put, json!({"items": null})).unwrap(), "null");
        assert_eq!(body_of(&put, json!({})), None);
        http(&mut put).body = BodyForm::Form;
        assert_eq!(body_of(&put, json!({"items": {"a": 1, "b": ["x", "y"]}})).unwrap(), "a=1&b=x&b=y");
        assert_eq!(body_of(&put, json!({"items": "a=1"})).unwrap(), "a=1");
        http(&mut put).body = BodyForm::Multipart;
        assert_eq!(built(&put, &json!({"items": "a=1"})).unwrap_err().code, Code::Internal);
    }

    #[test]
    fn a_form_body_is_encoded_and_may_hold_json() {
        let mut options = param("options", ParamLocation::Body);
        options.style.form = StyleForm::Json;
        let mut post = operation(
            "POST",
            "/",
            vec![param("a", ParamLocation::Body), param("b", ParamLocation::Body), options],
        );
        http(&mut post).body = BodyForm::Form;
        let (body, content_type) =
            built(&post, &json!({"a": "x&y=z", "b": null, "options": {"k": [1]}})).unwrap().unwrap();
        assert_eq!(body, "a=x%26y%3Dz&options=%7B%22k%22%3A%5B1%5D%7D");
        assert_eq!(content_type, "application/x-www-form-urlencoded");
    }

    #[test]
    fn a_text_is_sent_as_it_is() {
        let mut post = operation(
            "POST",
            "/",
            vec![param("note", ParamLocation::Body), param("q", ParamLocation::Query)],
        );
        http(&mut post).body = BodyForm::Text;
        let sent = |value: Value| body_of(&post, json!({"note": value, "q": 1}));
        assert_eq!(sent(json!("a\r\n\0é\"")).unwrap(), "a\r\n\0é\"");
        assert_eq!(sent(json!("")).unwrap(), "");
        assert_eq!(sent(json!({"a": 1})).unwrap(), r#"{"a":1}"#);
        assert_eq!(body_of(&post, json!({})), None);
        assert_eq!(built(&post, &json!({"note": "x"})).unwrap().unwrap().1, "text/plain; charset=utf-8");
    }

    #[test]
    fn binary_is_decoded_and_invalid_base64_is_an_error() {
        let mut put = operation("PUT", "/", vec![param("data", ParamLocation::Body)]);
        http(&mut put).body = BodyForm::Binary;
        let (body, content_type) = built(&put, &json!({"data": "aGVsbG8="})).unwrap().unwrap();
        assert_eq!((body.as_str(), content_type.as_str()), ("hello", "application/octet-stream"));
        assert_eq!(body_of(&put, json!({"data": ""})).unwrap(), "");
        for bad in [json!("hello!"), json!("aGk=x"), json!(7), json!({"data": "aGk="}), json!(null)] {
            let error = built(&put, &json!({"data": bad})).unwrap_err();
            assert_eq!((error.code, &error.details["param_name"]), (Code::InvalidEncoding, &json!("data")));
        }
    }

    #[test]
    fn a_text_body_of_several_parameters_is_an_error_of_the_document() {
        let mut post =
            operation("POST", "/", vec![param("a", ParamLocation::Body), param("b", ParamLocation::Body)]);
        http(&mut post).body = BodyForm::Text;
        assert_eq!(built(&post, &json!({"a": "x"})).unwrap_err().code, Code::Internal);
    }
}
