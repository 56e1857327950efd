//! Checks wire names: headers and cookies have valid names, and no two parameters of a request have the same one.

use super::params::UnplacedParam;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::header;
use mcpaql_core::operation::{CREDENTIAL_HEADERS, ParamLocation};
use mcpaql_core::reader::{DocumentReader, child};
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
