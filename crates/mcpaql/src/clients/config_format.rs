//! The formats of clients' configurations: reading and editing both in the same way.

use super::{edit, jsonc, toml};
use edit::EditError;
use serde_json::{Map, Value};
use std::path::Path;

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigFormat {
    /// JSON with comments and trailing commas.
    Json,
    Toml,
}

impl ConfigFormat {
    /// Returns the format of a file of an unknown client.
    pub(crate) fn of_path(path: &Path) -> ConfigFormat {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => ConfigFormat::Toml,
            _ => ConfigFormat::Json,
        }
    }

    /// Returns the name for messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            ConfigFormat::Json => "JSON",
            ConfigFormat::Toml => "TOML",
        }
    }

    /// Parses a text, or returns the position and the reason of the error. A blank text has no settings.
    pub(crate) fn parse(self, text: &str) -> Result<Value, String> {
        match self {
            _ if jsonc::is_blank(text) => Ok(Value::Object(Map::new())),
            ConfigFormat::Json => jsonc::parse(text).map(|document| jsonc::to_json(&document.root)),
            ConfigFormat::Toml => toml::parse(text).map(|document| toml::to_json(&document)),
        }
    }

    /// Returns the value at this path of keys, if the text can be parsed.
    pub(crate) fn value_at(self, text: &str, path: &[&str]) -> Option<Value> {
        let root = self.parse(text).ok()?;
        path.iter().try_fold(&root, |value, key| value.get(key)).cloned()
    }

    /// Returns the text with `value` at this path of keys. Everything else stays as it is.
    pub(crate) fn set(self, text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
        match self {
            ConfigFormat::Json => edit::set(text, path, value),
            ConfigFormat::Toml => toml::edit::set(text, path, value),
        }
    }

    /// Returns the text without the member at this path of keys.
    pub(crate) fn remove(self, text: &str, path: &[&str]) -> Result<String, EditError> {
        match self {
            ConfigFormat::Json => edit::remove(text, path),
            ConfigFormat::Toml => toml::edit::remove(text, path),
        }
    }

    /// Returns the text for display: only the values of `keys` at `path` are shown.
    pub(crate) fn mask_values(self, text: &str, path: &[&str], keys: &[&str]) -> String {
        match self {
            ConfigFormat::Json => edit::mask_values(text, path, keys),
            ConfigFormat::Toml => toml::mask_values(text, path, keys),
        }
    }
}
