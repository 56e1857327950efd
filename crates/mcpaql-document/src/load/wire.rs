//! Checks wire names: headers and cookies have valid names, and no two parameters of a request have the same one.

use super::params::UnplacedParam;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::header;
use mcpaql_core::operation::{CREDENTIAL_HEADERS, ParamLocation};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use std::collections::HashMap;

/// The wire names of one request so far: location and wire name → name of the parameter.
#[derive(Default)]
pub(super) struct WireNames(HashMap<(ParamLocation, String), String>);

impl WireNames {
    /// Reports a wire name that cannot be sent, or that another parameter already has.
    pub(super) fn check(
        &mut self,
        reader: &mut DocumentReader,
        draft: &UnplacedParam,
        location: ParamLocation,
    ) {
        let (name, wire) = (&draft.param.name, &draft.param.wire);
        let pointer = if name == wire { draft.pointer.clone() } else { child(&draft.pointer, "as") };
        let key = if location == ParamLocation::Header { wire.to_ascii_lowercase() } else { wire.clone() };
        match location {
            ParamLocation::Header => header_name(reader, wire, &key, &pointer),
            ParamLocation::Cookie => drop(check_token(reader, wire, "cookie", "session_id", &pointer)),
            ParamLocation::Path | ParamLocation::Query | ParamLocation::Body | ParamLocation::Target => {}
        }
        if let Some(other) = self.0.insert((location, key), name.clone()).filter(|other| other != name) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaDuplicateName,
                    pointer,
                    format!("Parameters '{other}' and '{name}' are both sent as '{wire}'"),
                )
                .expected("different names for all parameters in the same location")
                .found(wire.as_str())
                .suggest("give one of them another `as` or `in`, or remove it"),
            );
        }
    }
}

/// Reads `idempotency_header` of a target or an operation: a header whose value is new for each call.
pub(super) fn idempotency_header(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<String> {
    let name = reader.string(object, "idempotency_header")?;
    let pointer = object.pointer_to("idempotency_header");
    if !check_token(reader, &name, "header", "Idempotency-Key", &pointer) {
        return None;
    }
    let key = name.to_ascii_lowercase();
    let is_used = ["accept", "accept-encoding", "content-type", "user-agent"].contains(&key.as_str());
    if header::is_framing(&name) || CREDENTIAL_HEADERS.contains(&key.as_str()) || is_used {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                pointer,
                format!("The header '{name}' has another purpose and cannot contain an idempotency key"),
            )
            .found(name.as_str())
            .suggest("name the header that the API documents, such as `Idempotency-Key`"),
        );
        return None;
    }
    Some(name)
}

/// Whether the name is an HTTP token; reports it if not.
pub(super) fn check_token(
    reader: &mut DocumentReader,
    wire: &str,
    what: &str,
    example: &str,
    pointer: &str,
) -> bool {
    let is_token = header::is_name(wire);
    if !is_token {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidName,
                pointer,
                format!("'{wire}' is not a valid name of a {what}"),
            )
            .expected(format!("letters, digits and hyphens, such as {example}"))
            .found(wire),
        );
    }
    is_token
}

/// Reports a header that cannot be sent.
pub(super) fn check_header_name(reader: &mut DocumentReader, wire: &str, pointer: &str) {
    header_name(reader, wire, &wire.to_ascii_lowercase(), pointer);
}

fn header_name(reader: &mut DocumentReader, wire: &str, lower: &str, pointer: &str) {
    if !check_token(reader, wire, "header", "X-Request-Id", pointer) {
        return;
    }
    let (why, suggestion) = if CREDENTIAL_HEADERS.contains(&lower) {
        ("contains a credential", "remove the parameter and describe the credential under `auth`")
    } else if header::is_framing(lower) {
        ("belongs to the connection", "remove the parameter; the header is set automatically")
    } else {
        return;
    };
    reader.push(
        Diagnostic::error(
            Code::SchemaInvalidValue,
            pointer,
            format!("The header '{wire}' {why} and cannot be a parameter"),
        )
        .found(wire)
        .suggest(suggestion),
    );
}
