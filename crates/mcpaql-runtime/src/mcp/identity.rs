//! The identity of this server, in the handshake and in the results of revisions without one.

use super::handler::is_stateless;
use rmcp::model::{Implementation, MetaObject};
use rmcp::service::{RequestContext, RoleServer};

/// The key of a result's `_meta` that names the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Name, title and version of this server.
pub(super) fn implementation() -> Implementation {
    let mut info = Implementation::new("mcpaql", env!("CARGO_PKG_VERSION"));
    info.title = Some("MCP-AQL".to_owned());
    info
}

/// Names this server in the `_meta` of a result, in revisions without a handshake.
pub(super) fn identify(meta: &mut Option<MetaObject>, context: &RequestContext<RoleServer>) {
    if is_stateless(context)
        && let Ok(info) = serde_json::to_value(implementation())
    {
        meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), info);
    }
}
