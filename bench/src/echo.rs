//! The yardstick: the least an rmcp server can do for a call, over the same transports and settings as ours.

use anyhow::Result;
use axum::Router;
use axum::serve::ListenerExt;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("echo", "0.1.0"))
    }

    /// Answers with the text it was sent.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|arguments| arguments.get("text")?.as_str());
        let mut result = CallToolResult::success(vec![ContentBlock::text(text.unwrap_or_default())]);
        result.is_error = Some(false);
        Ok(result.into())
    }
}

pub(crate) async fn serve_stdio() -> Result<()> {
    Echo.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}

pub(crate) async fn serve_http(port: u16) -> Result<()> {
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(|| Ok(Echo), Arc::new(NeverSessionManager::default()), config);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
