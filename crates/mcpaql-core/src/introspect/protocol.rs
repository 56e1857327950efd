//! `_protocol`: the adapter's identity, capabilities and limits; the page of a list.

use super::page::Page;
use crate::adapter::TargetConfig;
use crate::catalog::Catalog;
use serde_json::{Value, json};

/// The version of the specification that this program implements.
pub const PROTOCOL_VERSION: &str = "1.0.0-draft";

/// The level that the specification's own test runner confirms (`.ci/spec`).
pub const CONFORMANCE: &str = "level-1";

/// Returns `_protocol` of an answer that only says which page it is. A list has no other place for that.
pub(crate) fn page_protocol(page: &Page) -> Value {
    json!({"version": PROTOCOL_VERSION, "pageInfo": page.info()})
}

/// Returns `_protocol`.
pub(super) fn protocol(catalog: &Catalog) -> Value {
    let limits = &catalog.limits;
    json!({
        "version": PROTOCOL_VERSION,
        "conformance": CONFORMANCE,
        "mode": catalog.mode.as_str(),
        "profile": catalog.profile,
        "adapter": catalog.adapter.name,
        "display_name": catalog.adapter.display_name,
        "capabilities": {
            "batch": false,
            "field_selection": false,
            "aggregations": false,
            "computed_fields": false,
            "pagination": true,
            "relationship_queries": false,
            "warnings": true,
            "confirmation": false,
            "dangerous_operations": true,
        },
        "limits": {
            "max_request_size": limits.request_bytes,
            "max_response_size": limits.response_bytes,
            "max_string_length": limits.string_bytes,
            "max_array_elements": limits.array_items,
            "max_nesting_depth": limits.depth,
        },
        "concurrency": "fully-concurrent",
        "supports_etag": matches!(catalog.adapter.target, TargetConfig::Store(_)),
    })
}
