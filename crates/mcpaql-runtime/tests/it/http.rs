//! The HTTP target with upstreams in this process: well-behaved ones (axum) and hostile ones (bare sockets).

mod addresses;
mod answers;
mod bodies;
mod credentials;
#[path = "../../src/target/http/fixture.rs"]
mod fixture;
mod oauth;
mod private_networks;
mod redirects;
mod requests;
mod retries;
mod secrets;
mod styles;
mod transport;
pub(crate) mod upstream;

use indexmap::IndexMap;
use mcpaql_core::adapter::{Auth, HttpTarget};
use mcpaql_core::error::OpError;
use mcpaql_core::host::NetworkAccess;
use mcpaql_core::operation::{BodyForm, Operation};
use mcpaql_core::response::Answer;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::call_target;
use mcpaql_runtime::target::http::{Backoff, HttpClient};
use serde_json::Value;
use std::time::Duration;

const TOKEN: &str = "tok_5ecret/+value";

/// A target with generous limits.
fn target(base_url: &str) -> HttpTarget {
    HttpTarget {
        serialization: BodyForm::Json,
        base_url: base_url.into(),
        headers: IndexMap::new(),
        allow_http: false,
        connect_timeout_ms: 5_000,
        timeout_ms: 30_000,
        retries: 2,
        max_response_bytes: 1024 * 1024,
        idempotency_header: None,
        access: NetworkAccess::default(),
    }
}

fn bearer() -> Auth {
    Auth::Bearer { token_env: "API_TOKEN".into(), header: "Authorization".into(), prefix: "Bearer ".into() }
}

fn env(name: &str) -> Option<String> {
    (name == "API_TOKEN").then(|| TOKEN.to_owned())
}

/// A client that does not wait between attempts.
fn client(target: &HttpTarget, auth: &Auth) -> HttpClient {
    let at_once = Backoff { base: Duration::ZERO, max: Duration::ZERO };
    HttpClient::new(target, auth, env).expect("a usable target").with_backoff(at_once)
}

async fn call(client: &HttpClient, operation: &Operation, args: Value) -> Result<Answer, OpError> {
    let args = args.as_object().expect("an object of arguments");
    call_target(client, operation, args, &Caller::nobody()).await
}

/// Sends one `GET /thing` without credentials.
async fn get(base_url: &str) -> Result<Answer, OpError> {
    let client = client(&target(base_url), &Auth::None);
    call(&client, &fixture::operation("GET", "/thing", vec![]), serde_json::json!({})).await
}
