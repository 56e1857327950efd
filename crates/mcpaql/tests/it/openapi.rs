//! OpenAPI descriptions served directly, with an API that records every byte it receives.
//!
//! The expected requests are written by hand from the OpenAPI specification, never copied from what this program sends.

mod mistakes;
mod wire;

use crate::fixture::{Revision, TestClient, TestFolder, Wire, connect_with};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use mcpaql_import::openapi::{NoLoader, OpenApiImportOptions, open};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// A request that the API received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    /// Path and query, as sent.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        assert!(self.headers.get_all(name).iter().count() <= 1, "{name} came twice: {self:?}");
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn request_line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

type RequestLog = Arc<Mutex<Vec<ReceivedRequest>>>;

/// A description, the server that serves it, and its API.
pub(crate) struct ServedApi {
    pub(crate) client: TestClient,
    arrived: RequestLog,
    names: HashMap<String, String>,
    adapter: String,
    _place: TestFolder,
}

/// Answers `/api/repos/x/y/issues/404` and similar paths with that status, and everything else with success.
async fn record_request(State(kept): State<RequestLog>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 24).await.unwrap();
    let target = parts.uri.path_and_query().unwrap().to_string();
    let status = target.rsplit('/').next().and_then(|last| last.parse::<u16>().ok());
    let method = parts.method.to_string();
    kept.lock().unwrap().push(ReceivedRequest { method, target, headers: parts.headers, body });
    let body = json!({"message": "The title is taken", "field": "title"}).to_string();
    let json = [("content-type", "application/json")];
    match status {
        Some(429) => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")], body).into_response(),
        Some(status @ 400..=599) => (StatusCode::from_u16(status).unwrap(), json, body).into_response(),
        _ => (StatusCode::OK, json, r#"{"fine":true}"#).into_response(),
    }
}

impl ServedApi {
    pub(crate) async fn of_fixture(name: &str) -> ServedApi {
        let path = format!("{}/tests/fixtures/openapi/{name}", env!("CARGO_MANIFEST_DIR"));
        ServedApi::of_text(name, &std::fs::read_to_string(path).unwrap()).await
    }

    pub(crate) async fn of_text(file: &str, text: &str) -> ServedApi {
        let kept = RequestLog::default();
        let router = Router::new().fallback(record_request).with_state(Arc::clone(&kept));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        tokio::spawn(async move { axum::serve(listener, router).await });

        // Swagger 2.0 has no server variables.
        let text = text.replace("\"127.0.0.1:9\"", &format!("\"127.0.0.1:{port}\""));
        let import = open(text.clone(), &OpenApiImportOptions::default(), Arc::new(NoLoader)).unwrap();
        let ids = import.adapter.operations.iter();
        let names = ids.filter_map(|one| Some((one.source_id.clone()?, one.name.clone()))).collect();
        let adapter = import.adapter.name;
        let prefix = adapter.to_uppercase();

        let place = TestFolder::new();
        place.file(file, &text);
        let args = ["--openapi", file, "--mode", "single"];
        let client = connect_with(&place, &args, Wire::Stdio, Revision::V2025, |command| {
            for (name, value) in [
                ("PORT", port.as_str()),
                ("TOKEN", "t0ken"),
                ("USERNAME", "ada"),
                ("PASSWORD", "l0velace"),
                ("API_KEY", "0nly-key"),
                ("SHAPE_KEY", "in-header"),
                ("KEY", "in query&"),
                ("SHAPE_SESSION", "in-cookie"),
            ] {
                command.env(format!("{prefix}_{name}"), value);
            }
        })
        .await;
        ServedApi { client, arrived: kept, names, adapter, _place: place }
    }

    /// Returns the name of an operation by its `operationId`.
    pub(crate) fn name(&self, id: &str) -> &str {
        self.names.get(id).unwrap_or_else(|| panic!("{id} was not imported: {:?}", self.names))
    }

    /// Calls an operation through its tool, and returns the envelope and `isError`.
    pub(crate) async fn call(&self, id: &str, params: Value) -> (Value, bool) {
        let name = self.names.get(id).map_or(id, String::as_str);
        let arguments = json!({"operation": name, "params": params});
        self.client.call_confirmed(&format!("{}_mcpaql", self.adapter), arguments).await
    }

    /// Calls an operation, which must succeed, and returns the one request that it sent.
    pub(crate) async fn call_and_record(&self, id: &str, params: Value) -> ReceivedRequest {
        self.arrived.lock().unwrap().clear();
        let (envelope, flagged) = self.call(id, params.clone()).await;
        assert!(envelope["success"] == true && !flagged, "{id} {params}: {envelope}");
        let arrived = self.received_requests();
        assert_eq!(arrived.len(), 1, "{arrived:?}");
        arrived.into_iter().next().unwrap()
    }

    pub(crate) fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.arrived.lock().unwrap().clone()
    }

    pub(crate) async fn introspect(&self, params: Value) -> Value {
        let (envelope, _) = self.call("introspect", params).await;
        assert_eq!(envelope["success"], true, "{envelope}");
        envelope["data"].clone()
    }
}
