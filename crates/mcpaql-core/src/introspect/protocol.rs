//! `_protocol`: the adapter's identity, capabilities and limits.

use crate::catalog::Catalog;
use serde_json::{Value, json};

/// The version of the specification that this program implements.
pub const PROTOCOL_VERSION: &str = "1.0.0-draft";

/// Returns `_protocol`.
pub(super) fn protocol(catalog: &Catalog) -> Value {
    let limits = &catalog.limits;
    json!({
        "version": PROTOCOL_VERSION,
        "conformance": "level-2",
        "mode": catalog.mode.as_str(),
        "profile": catalog.profile,
        "adapter": catalog.adapter.name,
        "display_name": catalog.adapter.display_name,
        "capabilities": {
            "batch": false,
            "field_selection": false,
            "aggregations": false,
            "computed_fields": false,
            "pagination": false,
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
        "concurrency": {"parallel_calls": true},
    })
}
