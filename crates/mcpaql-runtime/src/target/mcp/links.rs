//! Resources in the results of a server are addressed by adapter, so that a client never asks another server for them.
//!
//! A block that links to a resource, or contains one, has the resource's URI in the gateway: `mcpaql://{adapter}/{uri}`.

use mcpaql_core::suggest::snake_case;
use serde_json::Value;

const SCHEME: &str = "mcpaql://";

/// Returns the URI in the gateway of a server's own URI.
pub(crate) fn gateway_uri(adapter: &str, uri: &str) -> String {
    format!("{SCHEME}{}/{uri}", snake_case(adapter))
}

/// Returns the adapter's prefix and the server's own URI.
pub(crate) fn parse_gateway_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(SCHEME)?.split_once('/')
}

/// Addresses the resource of a content block by adapter.
pub(crate) fn address_block(adapter: &str, block: &mut Value) {
    let resource = match block.get("type").and_then(Value::as_str) {
        Some("resource_link") => Some(block),
        Some("resource") => block.get_mut("resource"),
        _ => None,
    };
    if let Some(Value::String(uri)) = resource.and_then(|resource| resource.get_mut("uri")) {
        *uri = gateway_uri(adapter, uri);
    }
}

/// Addresses the resources in the messages of a prompt or of a request for sampling by adapter.
pub(crate) fn address_messages(adapter: &str, holder: &mut Value) {
    for message in holder.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        match message.get_mut("content") {
            Some(Value::Array(blocks)) => blocks.iter_mut().for_each(|block| address_block(adapter, block)),
            Some(block) => address_block(adapter, block),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_gateway_uri_identifies_its_server() {
        for uri in ["file:///a b?x=1#y", "x", "", "demo://resource/{id}", "mcpaql://other/z", "a/b%2Fc"] {
            assert_eq!(parse_gateway_uri(&gateway_uri("Far", uri)), Some(("far", uri)));
        }
        assert_eq!(parse_gateway_uri("file:///a"), None);
        assert_eq!(parse_gateway_uri("mcpaql://far"), None);
    }

    #[test]
    fn links_and_contents_are_addressed_and_other_blocks_stay() {
        let mut prompt = json!({"messages": [
            {"role": "user", "content": {"type": "resource_link", "uri": "file:///a", "name": "a"}},
            {"role": "user", "content": [{"type": "resource", "resource": {"uri": "mcpaql://near/x", "text": "file:///b"}},
                {"type": "text", "text": "file:///c"}]},
            {"role": "user"},
        ]});
        address_messages("far away", &mut prompt);
        let content = |index: usize| &prompt["messages"][index]["content"];
        assert_eq!(content(0)["uri"], "mcpaql://far_away/file:///a");
        assert_eq!(content(1)[0]["resource"]["uri"], "mcpaql://far_away/mcpaql://near/x");
        assert_eq!(
            (&content(1)[0]["resource"]["text"], &content(1)[1]["text"]),
            (&json!("file:///b"), &json!("file:///c"))
        );
    }
}
