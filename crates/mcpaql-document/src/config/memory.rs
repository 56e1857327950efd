//! Reads a size of memory: bytes, or a number with a unit.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use serde_json::Value;

/// The units, largest first, so that `B` is tried last.
const UNITS: [(&str, u64); 4] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)];
/// The program alone needs more than this.
const MIN_BYTES: u64 = 32 << 20;

/// Reads a size of memory.
pub(super) fn read(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<u64> {
    let value = object.get(key)?;
    let bytes = match value {
        Value::String(text) => parse(text),
        other => other.as_u64(),
    };
    if let Some(bytes) = bytes.filter(|bytes| *bytes >= MIN_BYTES) {
        return Some(bytes);
    }
    let found = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let message = format!("'{found}' is no usable size of memory");
    reader.push(
        Diagnostic::error(Code::SchemaInvalidValue, object.pointer_to(key), message)
            .expected("32MB or more, such as 512MB or 2GB, or a number of bytes")
            .found(found),
    );
    None
}

fn parse(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))?;
    number.trim().parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("512MB", Some(512 << 20)),
            ("2 gb", Some(2 << 30)),
            ("64KB", Some(65536)),
            ("7b", Some(7)),
            ("2", None),
            ("MB", None),
            ("-1GB", None),
            ("99999999999GB", None),
        ] {
            assert_eq!(parse(text), bytes, "{text}");
        }
    }
}
