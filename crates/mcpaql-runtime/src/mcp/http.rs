//! MCP over HTTP: stateless in every revision, and JSON unless something must be streamed.
//!
//! There are no sessions, so any node can answer any request. A request is cancelled when its connection is dropped,
//! because its answer could no longer be delivered.

use super::MAX_REQUEST_BYTES;
use super::conversation::handle_conversation;
use super::handler::McpServer;
use crate::service::Service;
use axum::Router;
use axum::middleware::from_fn_with_state;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The clients that may connect, by their headers.
pub(crate) struct Admission {
    /// Allowed values of `Host`, as name or `name:port`; empty allows all.
    pub(crate) hosts: Vec<String>,
    /// Allowed values of `Origin`, with port. A request without `Origin` is always allowed.
    pub(crate) origins: Vec<String>,
}

/// Builds the protocol's route. Cancelling `stop` ends running requests.
pub(crate) fn route<S: Service>(
    server: McpServer<S>,
    admission: Admission,
    stop: CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .with_cancellation_token(stop)
        .with_allowed_hosts(admission.hosts)
        .with_allowed_origins(admission.origins)
        .enforce_origin_validation();
    let conversation = from_fn_with_state(server.clone(), handle_conversation);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Router::new().route_service("/mcp", service).layer(conversation)
}
