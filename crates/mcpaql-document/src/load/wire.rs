//! Names on the wire: what a header or a cookie may be called, and that no two parameters of a request are called the same.

use super::params::UnplacedParam;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{CREDENTIAL_HEADERS, FRAMING_HEADERS, ParamLocation};
use mcpaql_core::reader::{DocumentReader, child};
use std::collections::HashMap;

/// The wire names of one request so far: place and name → the parameter that has it.
#[derive(Default)]
pub(super) struct WireNames(HashMap<(ParamLocation, String), String>);

impl WireNames {
    /// Reports a wire name that cannot be sent, or that another parameter has already.
    pub(super) fn check(&mut self, reader: &mut DocumentReader, draft: &UnplacedParam, place: ParamLocation) {
        let (name, wire) = (&draft.param.name, &draft.param.wire);
        let pointer = if name == wire { draft.pointer.clone() } else { child(&draft.pointer, "as") };
        let key = if place == ParamLocation::Header { wire.to_ascii_lowercase() } else { wire.clone() };
        match place {
            ParamLocation::Header => header(reader, wire, &key, &pointer),
            ParamLocation::Cookie => drop(check_token(reader, wire, "cookie", "session_id", &pointer)),
            ParamLocation::Path | ParamLocation::Query | ParamLocation::Body | ParamLocation::Target => {}
        }
        if let Some(other) = self.0.insert((place, key), name.clone()).filter(|other| other != name) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaDuplicateName,
                    pointer,
                    format!("Parameters '{other}' and '{name}' are both sent as '{wire}'"),
                )
                .expected("a name of its own for every parameter in the same place")
                .found(wire.as_str())
                .suggest("give one of them another `as` or `in`, or remove it"),
            );
        }
    }
}

/// Whether the name is a token of HTTP; reports it where it is not.
pub(super) fn check_token(
    reader: &mut DocumentReader,
    wire: &str,
    what: &str,
    example: &str,
    pointer: &str,
) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let sound = !wire.is_empty() && wire.bytes().all(legal);
    if !sound {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidName,
                pointer,
                format!("'{wire}' is not a legal name of a {what}"),
            )
            .expected(format!("letters, digits and hyphens, such as {example}"))
            .found(wire),
        );
    }
    sound
}

fn header(reader: &mut DocumentReader, wire: &str, lower: &str, pointer: &str) {
    if !check_token(reader, wire, "header", "X-Request-Id", pointer) {
        return;
    }
    let (why, suggestion) = if CREDENTIAL_HEADERS.contains(&lower) {
        ("carries a credential", "remove the parameter and describe the credential under `auth`")
    } else if FRAMING_HEADERS.contains(&lower) {
        ("belongs to the connection", "remove the parameter; the header is set where it is needed")
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
