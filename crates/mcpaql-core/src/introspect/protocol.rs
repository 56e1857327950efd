//! `_protocol`: the adapter's identity, capabilities and limits; the page of a list.

use super::page::Page;
use crate::adapter::{Mode, TargetConfig};
use crate::catalog::Catalog;
use serde_json::{Value, json};

/// The version of the specification that this program implements.
pub const PROTOCOL_VERSION: &str = "1.0.0-draft";

/// The level that the specification's own test runner confirms (`.ci/spec`).
pub const CONFORMANCE: &str = "level-2";

/// The query controls in one sentence, instead of parameters of each operation.
const QUERY_CONTROLS: &str = "READ operations also take in params: fields (minimal, standard, full or a list of paths), filter {field: value, list or {gt, gte, lt, lte, contains, starts_with, in, not, exists}}, sort {field, order}, aggregate {label: {count, group_by, sum, avg, min, max}}, pages (first and after, last and before, limit and offset, page and page_size), all_pages. Where an operation has its own parameter of that name, write _fields, _filter";

/// Dry runs in one sentence.
const DRY_RUN: &str =
    "Operations that change something take dry_run: true, which shows the request and sends nothing";

/// Batches in one sentence.
const BATCH: &str = "Send up to 50 calls as {operations: [{operation, params}]}. They run in order, and a failure stops none. A later one can use an earlier result: {\"$result\": \"0.data.id\"}";
const NO_BATCH: &str = "Not in this mode: each tool is one operation";

/// Returns `_protocol` of an answer that only says which page it is. A list has no other place for that.
pub(crate) fn page_protocol(page: &Page) -> Value {
    json!({"version": PROTOCOL_VERSION, "pageInfo": page.info()})
}

/// Returns `_protocol`.
pub(super) fn protocol(catalog: &Catalog) -> Value {
    let limits = &catalog.limits;
    let takes_batches = catalog.mode != Mode::Discrete;
    let has_computed_fields = catalog
        .operations
        .iter()
        .any(|entry| entry.operation.fields.as_ref().is_some_and(|declared| !declared.computed.is_empty()));
    json!({
        "version": PROTOCOL_VERSION,
        "conformance": CONFORMANCE,
        "mode": catalog.mode.as_str(),
        "profile": catalog.profile,
        "adapter": catalog.adapter.name,
        "display_name": catalog.adapter.display_name,
        "capabilities": {
            "batch": takes_batches,
            "field_selection": true,
            "aggregations": true,
            "computed_fields": has_computed_fields,
            "pagination": true,
            "relationship_queries": false,
            "warnings": true,
            "confirmation": true,
            "dangerous_operations": true,
        },
        "limits": {
            "max_request_size": limits.request_bytes,
            "max_response_size": limits.response_bytes,
            "max_string_length": limits.string_bytes,
            "max_array_elements": limits.array_items,
            "max_nesting_depth": limits.depth,
        },
        "query_controls": QUERY_CONTROLS,
        "dry_run": DRY_RUN,
        "batch": if takes_batches { BATCH } else { NO_BATCH },
        "concurrency": "fully-concurrent",
        "supports_etag": matches!(catalog.adapter.target, TargetConfig::Store(_)),
    })
}
