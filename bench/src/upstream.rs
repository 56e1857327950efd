//! The API behind the HTTP adapter: one route that answers at once.

use anyhow::Result;
use axum::Router;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

/// The path of the route, for a client that calls it directly.
pub(crate) const PATH: &str = "/repos/octo/demo/issues/7?state=open";

pub(crate) fn router() -> Router {
    Router::new().route("/repos/{owner}/{repo}/issues/{number}", get(issue))
}

async fn issue(Path((owner, repo, number)): Path<(String, String, u64)>) -> impl IntoResponse {
    let body = format!(
        r#"{{"number":{number},"title":"An issue","state":"open","repository":"{owner}/{repo}","labels":["bug","later"],"comments":3,"body":"What happened, what was expected, and how to see it."}}"#
    );
    ([(CONTENT_TYPE, "application/json")], body)
}

pub(crate) async fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router()).await?;
    Ok(())
}

/// An adapter document for this API.
pub(crate) fn document(port: u16) -> String {
    serde_json::json!({
        "name": "tracker",
        "type": "adapter",
        "version": "1.0.0",
        "description": "Issues of a loopback API.",
        "target": {"base_url": format!("http://127.0.0.1:{port}")},
        "operations": {"read": [{
            "name": "get_issue",
            "maps_to": "GET /repos/{owner}/{repo}/issues/{number}",
            "description": "One issue",
            "params": {
                "owner": {"type": "string", "required": true, "in": "path", "description": "Who owns it"},
                "repo": {"type": "string", "required": true, "in": "path", "description": "Which repository"},
                "number": {"type": "integer", "minimum": 1, "required": true, "in": "path", "description": "Its number"},
                "state": {"type": "string", "enum": ["open", "closed"], "in": "query", "description": "Its state"},
            },
        }]},
    })
    .to_string()
}
