//! Reads the identity of an adapter: name, version, description.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::naming::title_of;
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use mcpaql_core::suggest;
use serde_json::Value;

/// The identity of an adapter.
#[derive(Debug, Clone)]
pub(super) struct AdapterIdentity {
    pub(super) name: String,
    pub(super) display_name: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) tags: Vec<String>,
}

impl AdapterIdentity {
    /// Replaces a missing identity, so that the rest of the document can be checked.
    pub(super) fn placeholder() -> AdapterIdentity {
        AdapterIdentity {
            name: "adapter".into(),
            display_name: "Adapter".into(),
            version: "0.0.0".into(),
            description: String::new(),
            tags: Vec::new(),
        }
    }
}

/// Reads name, version and description; `None` if the name is missing or invalid.
pub(super) fn read(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<AdapterIdentity> {
    let name = reader.required_string(object, "name");
    let version = version(reader, object);
    let description = reader.required_string(object, "description");
    let display_name = shown_name(reader, object, "display_name", "display name");
    let tags = reader.strings(object, "tags");
    let name = adapter_name(reader, object, &name?)?;
    Some(AdapterIdentity {
        display_name: display_name.unwrap_or_else(|| title_of(&name)),
        name,
        version: version.unwrap_or_else(|| "0.0.0".into()),
        description: description.unwrap_or_default(),
        tags,
    })
}

/// Reads a display name or a title, and reports an empty one; `what` names it in messages.
pub(crate) fn shown_name(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    what: &str,
) -> Option<String> {
    let name = reader.string(object, key)?;
    if !name.trim().is_empty() {
        return Some(name);
    }
    reader.push(
        Diagnostic::error(Code::SchemaInvalidValue, object.pointer_to(key), format!("The {what} is empty"))
            .expected(format!("the {what} that people see"))
            .suggest("write one, or remove the key to derive it from the name"),
    );
    None
}

/// Reads a semantic version. YAML parses an unquoted `1.0` as a number.
fn version(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<String> {
    let version = match object.get("version") {
        None => {
            reader.missing(object, "version", "MAJOR.MINOR.PATCH");
            return None;
        }
        Some(Value::String(version)) if semver::Version::parse(version).is_ok() => {
            return Some(version.clone());
        }
        Some(Value::String(version)) => version.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => {
            reader.wrong_type(&object.pointer_to("version"), "string", other);
            return None;
        }
    };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = version.trim_start_matches('v');
    let better = match plain.split('.').collect::<Vec<_>>().as_slice() {
        [major] if number(major) => format!("{major}.0.0"),
        [major, minor] if number(major) && number(minor) => format!("{major}.{minor}.0"),
        _ if semver::Version::parse(plain).is_ok() => plain.to_owned(),
        _ => "1.0.0".to_owned(),
    };
    let quoted = object.get("version").is_some_and(Value::is_string);
    let (code, message) = if quoted {
        (Code::SchemaInvalidValue, format!("Version '{version}' is not a semantic version"))
    } else {
        (Code::SchemaInvalidType, format!("Version {version} is a number, not a semantic version"))
    };
    reader.push(
        Diagnostic::error(code, object.pointer_to("version"), message)
            .expected("MAJOR.MINOR.PATCH")
            .found(version)
            .suggest(format!("write `version: \"{better}\"`")),
    );
    None
}

fn is_valid_name(name: &str) -> bool {
    name.len() >= 2
        && name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with(['-', '_'])
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

/// Returns the name if it is valid; reports it if not.
pub(crate) fn adapter_name(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    name: &str,
) -> Option<String> {
    let has_separator = suggest::snake_case(name).split('_').any(|word| word == "mcpaql");
    if is_valid_name(name) && !has_separator {
        return Some(name.to_owned());
    }
    let message = if has_separator {
        format!("Adapter name '{name}' contains `mcpaql`, which separates adapter and endpoint in tool names")
    } else {
        format!("Adapter name '{name}' is not valid")
    };
    let better = suggest::snake_case(name);
    let better: Vec<&str> = better.split('_').filter(|word| *word != "mcpaql").collect();
    let better = better.join("-");
    let mut diagnostic = Diagnostic::error(Code::SchemaInvalidName, object.pointer_to("name"), message)
        .expected("2 to 64 lower case letters, digits and hyphens, starting with a letter, without `mcpaql`")
        .found(name);
    if better != name && is_valid_name(&better) {
        diagnostic = diagnostic.suggest(format!("write `name: {better}`"));
    }
    reader.push(diagnostic);
    None
}
