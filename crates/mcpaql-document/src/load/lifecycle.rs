//! Reads `lifecycle`: operations that run in the background.

use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::diagnostic::{Diagnostic, field_path};
use mcpaql_core::error::Code;
use mcpaql_core::lifecycle::{Lifecycle, MAX_KEEP_SECONDS};
use mcpaql_core::operation::Category;
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use serde_json::Value;

/// Keys of `lifecycle`.
pub(super) const LIFECYCLE_KEYS: &[&str] = &["survives", "keep", "timeout"];

/// Reads `lifecycle`: `true`, or an object.
pub(super) fn read(
    reader: &mut DocumentReader,
    operation: &DocumentObject<'_>,
    category: Category,
    target: &TargetConfig,
) -> Option<Lifecycle> {
    let value = operation.get("lifecycle")?;
    let lifecycle = match value {
        Value::Bool(enabled) => enabled.then(Lifecycle::default),
        Value::Object(_) => {
            let object = reader.member(operation, "lifecycle")?;
            reader.check_keys(&object, LIFECYCLE_KEYS);
            Some(Lifecycle {
                survives: reader.boolean(&object, "survives").unwrap_or(false),
                timeout_ms: reader.seconds(&object, "timeout"),
                keep_seconds: keep(reader, &object).unwrap_or(Lifecycle::default().keep_seconds),
            })
        }
        other => {
            reader.wrong_type(&operation.pointer_to("lifecycle"), "boolean or object", other);
            None
        }
    };
    if lifecycle.is_some() && category != Category::Execute {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                operation.pointer_to("lifecycle"),
                format!("An operation under {} cannot run in the background", category.endpoint()),
            )
            .at_key()
            .expected("lifecycle only under execute")
            .suggest("move the operation to `execute`, or remove `lifecycle`"),
        );
    }
    if lifecycle.is_some() && matches!(target, TargetConfig::Mcp(server) if !server.caller_headers.is_empty())
    {
        // Every caller could read the result.
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                operation.pointer_to("lifecycle"),
                "An operation that uses the caller's credentials cannot run in the background",
            )
            .at_key()
            .suggest("remove `lifecycle`, or `caller_headers` of the target"),
        );
        return None;
    }
    lifecycle
}

fn keep(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<u64> {
    let seconds = reader.unsigned(object, "keep")?;
    if (1..=MAX_KEEP_SECONDS).contains(&seconds) {
        return Some(seconds);
    }
    let pointer = object.pointer_to("keep");
    reader.push(
        Diagnostic::error(
            Code::SchemaInvalidValue,
            &pointer,
            format!("Field '{}' is not a usable duration", field_path(&pointer)),
        )
        .expected("whole seconds, from 1 second to a year")
        .found(seconds.to_string()),
    );
    None
}
