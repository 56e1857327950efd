//! The baseline: a minimal rmcp server, over the same transports and with the same settings as ours. It echoes, reads the same
//! store, or calls an API with a plain HTTP client.

use crate::load;
use anyhow::Result;
use axum::Router;
use axum::serve::ListenerExt;
use mcpaql_core::operation::Operation;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::call_target;
use mcpaql_runtime::target::store::Store;
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
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A server that only calls its backend.
#[derive(Clone)]
pub(crate) enum Echo {
    /// Answers with the text it was sent.
    Alone,
    Store(Arc<Store>, Arc<Operation>, Map<String, Value>),
    Api(reqwest::Client, String),
}

impl Echo {
    /// Parses the command line: nothing, the folder of a store and the id of a note, or a URL.
    pub(crate) async fn new(behind: &[&str]) -> Result<Echo> {
        Ok(match behind {
            [] => Echo::Alone,
            [url] => {
                let _ = rustls::crypto::ring::default_provider().install_default();
                Echo::Api(reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?, (*url).to_owned())
            }
            [data, id, ..] => {
                let (store, get, _) = load::store(Path::new(data)).await?;
                Echo::Store(store, get, Map::from_iter([("id".to_owned(), Value::from(*id))]))
            }
        })
    }

    async fn answer(&self, arguments: Option<Map<String, Value>>) -> Result<String> {
        match self {
            Echo::Alone => {
                let text = arguments.and_then(|mut arguments| arguments.shift_remove("text"));
                Ok(text.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default())
            }
            Echo::Store(store, operation, args) => {
                let answer = call_target(&**store, operation, args, &Caller::nobody()).await;
                Ok(serde_json::to_string(&answer.map_err(|error| anyhow::anyhow!(error.message))?.data)?)
            }
            Echo::Api(client, url) => Ok(client.get(url).send().await?.text().await?),
        }
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("echo", "0.1.0"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = self.answer(request.arguments).await;
        let text = text.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.is_error = Some(false);
        Ok(result.into())
    }
}

pub(crate) async fn serve_stdio(behind: &[&str]) -> Result<()> {
    Echo::new(behind).await?.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}

pub(crate) async fn serve_http(port: u16, behind: &[&str]) -> Result<()> {
    let echo = Echo::new(behind).await?;
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(echo.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let listener = TcpListener::bind(("127.0.0.1", port)).await?.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
