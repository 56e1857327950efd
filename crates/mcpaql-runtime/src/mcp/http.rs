//! The HTTP side of the protocol: stateless in every revision, JSON unless something has to be streamed.
//!
//! There are no sessions, so that any node answers any request. A request whose connection is dropped is cancelled: its
//! answer could no longer reach anybody.

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

/// Who may speak to the server, as far as headers tell.
pub(crate) struct Admission {
    /// Names or `name:port` in `Host`; empty admits every one.
    pub(crate) hosts: Vec<String>,
    /// Origins with their ports; a request without `Origin` is always admitted.
    pub(crate) origins: Vec<String>,
}

/// The protocol's one route. Cancelling `stop` ends what still runs.
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
