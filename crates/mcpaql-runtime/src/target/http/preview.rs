//! The request of a dry run: what [`request`](super::request) builds, without credentials.
//!
//! What always holds: no variable of the environment is shown. An address with variables is shown as in the document, and a
//! header or query parameter of the server as `[redacted]`.

use super::HttpClient;
use super::request::{self, RequestDefaults};
use crate::secret::REDACTED;
use crate::target::{Args, preview};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Binding, HttpBinding, Operation};
use mcpaql_core::template::EnvTemplate;
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, PROXY_AUTHORIZATION};
use serde_json::{Map, Value, json};

/// Maximum bytes of a body that is shown.
const MAX_BODY_BYTES: u64 = 64 * 1024;

impl HttpClient {
    /// Builds the request of a call and describes it.
    pub(super) fn preview_request(&self, operation: &Operation, args: &Args) -> Result<Value, OpError> {
        let Binding::Http(binding) = &operation.binding else {
            return Err(OpError::new(
                Code::Internal,
                "This operation has no HTTP request; tell the operator.",
            ));
        };
        let base = self.base_of(binding)?;
        let (_, reserved) = self.authentication(binding.auth.as_ref())?;
        let args = preview::redacted(operation, args);
        let defaults = RequestDefaults {
            base: &base,
            headers: &self.headers,
            reserved: &reserved,
            boundary: || "boundary".to_owned(),
        };
        let with_fixed = super::with_fixed_values(operation, binding, &args);
        let (operation, args) =
            with_fixed.as_ref().map_or((operation, &args), |(operation, args)| (operation, args));
        let outgoing = request::build(&defaults, operation, binding, args)?;
        let mut url = outgoing.url.clone();
        for name in &reserved.query {
            url.query_pairs_mut().append_pair(name, REDACTED);
        }
        let mut headers = header_values(&outgoing.headers);
        for name in &reserved.headers {
            headers.insert(name.to_string(), REDACTED.into());
        }
        if let Some(name) = operation.idempotency_header() {
            headers.entry(name.to_ascii_lowercase()).or_insert("a new value for each call".into());
        }
        if !reserved.cookies.is_empty() {
            headers.insert(COOKIE.to_string(), REDACTED.into());
        }
        let mut out = Map::new();
        out.insert("method".into(), outgoing.method.as_str().into());
        out.insert("url".into(), self.shown_address(binding, base.as_str(), url.as_str()).into());
        out.insert("headers".into(), headers.into());
        if let Some(body) = &outgoing.body {
            let length = body.length();
            let text = (length <= MAX_BODY_BYTES).then(|| String::from_utf8(body.to_vec()).ok()).flatten();
            let body = match text {
                Some(text) => serde_json::from_str(&text).unwrap_or_else(|_| text.into()),
                None => json!({"bytes": length}),
            };
            out.insert("body".into(), body);
        }
        Ok(Value::Object(out))
    }

    /// Returns the address of the request; its base as written in the document if it has variables, which may be secret.
    fn shown_address(&self, binding: &HttpBinding, base: &str, address: &str) -> String {
        let written = self.written_address(binding);
        let has_variables =
            |text: &&str| EnvTemplate::parse(text).is_some_and(|template| template.has_variables());
        let rest = address.strip_prefix(base.trim_end_matches('/'));
        match (written.filter(has_variables), rest) {
            (None, _) => address.to_owned(),
            (Some(written), Some(rest)) => format!("{}{rest}", written.trim_end_matches('/')),
            (Some(written), None) => written.to_owned(),
        }
    }
}

/// The headers of the request. Those that carry credentials are redacted even if the document contains them.
fn header_values(headers: &HeaderMap) -> Map<String, Value> {
    let is_credential = |name: &str| [AUTHORIZATION, PROXY_AUTHORIZATION].iter().any(|header| header == name);
    let shown = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    headers
        .iter()
        .map(|(name, value)| {
            let text =
                if is_credential(name.as_str()) { REDACTED.to_owned() } else { shown(value.as_bytes()) };
            (name.to_string(), text.into())
        })
        .collect()
}
