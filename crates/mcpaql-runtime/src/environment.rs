//! Access to environment variables, and the names of the variables that this program reads.
//!
//! ```
//! use mcpaql_runtime::environment::{self, ENDPOINT_MODE, Environment};
//! use mcpaql_runtime::native::Mode;
//! use std::sync::Arc;
//!
//! // A test passes variables of its own instead of `environment::process()`.
//! let variables: Environment = Arc::new(|name| (name == ENDPOINT_MODE).then(|| "single".to_owned()));
//! assert_eq!(environment::settings(&variables).unwrap().mode, Some(Mode::Single));
//! ```

use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::AdapterSettings;
use std::path::PathBuf;
use std::sync::Arc;

/// Looks up a variable. Tests pass their own; the binary passes `std::env::var`.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Prefix of tool names.
pub const TOOL_PREFIX: &str = "MCP_AQL_TOOL_PREFIX";
/// `semantic`, `single`, `all` or `discrete`.
pub const ENDPOINT_MODE: &str = "MCP_AQL_ENDPOINT_MODE";
/// `crude` or the name of a document's own profile.
pub const ENDPOINT_PROFILE: &str = "MCP_AQL_ENDPOINT_PROFILE";

/// The environment of this process. A variable whose value is a reference to itself is not set: some clients pass `${NAME}` on
/// unchanged if the variable is not set in their own environment.
#[must_use]
pub fn process() -> Environment {
    Arc::new(|name| std::env::var(name).ok().filter(|value| !is_own_reference(name, value)))
}

/// Whether a variable of this process is set and not empty.
#[must_use]
pub fn is_set(name: &str) -> bool {
    process()(name).is_some_and(|value| !value.is_empty())
}

fn is_own_reference(name: &str, value: &str) -> bool {
    let inside = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let inside = inside.or_else(|| value.strip_prefix('$'));
    inside.is_some_and(|inside| inside.strip_prefix("env:").unwrap_or(inside) == name)
}

/// The default folder for stores and executions.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    user_folder("XDG_DATA_HOME", ".local/share", "Library/Application Support")
}

/// The default folder for the operator's state and log.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state", "Library/Application Support")
}

/// Returns the folder `mcpaql` inside the folder in this environment variable. If the variable is not set, uses the
/// platform's default: `unix` or `mac` in the home folder, or `LOCALAPPDATA`.
#[must_use]
pub fn user_folder(variable: &str, unix: &str, mac: &str) -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A relative path would be in whatever folder the program was started in.
    let base = from(variable).filter(|path| path.is_absolute()).or_else(|| {
        let home = from("HOME");
        if cfg!(target_os = "macos") {
            home.map(|home| home.join(mac))
        } else if cfg!(windows) {
            from("LOCALAPPDATA")
        } else {
            home.map(|home| home.join(unix))
        }
    });
    base.map(|base| base.join("mcpaql"))
}

/// A variable with an invalid value.
#[derive(Debug, thiserror::Error)]
#[error("{name} is '{value}', but must be one of {allowed}")]
pub struct EnvironmentError {
    name: &'static str,
    value: String,
    allowed: String,
}

/// Reads the settings of the surface from the environment.
///
/// # Errors
/// When a variable has an invalid value.
pub fn settings(environment: &Environment) -> Result<AdapterSettings, EnvironmentError> {
    let read = |name: &str| environment(name).filter(|value| !value.is_empty());
    let mode = match read(ENDPOINT_MODE) {
        None => None,
        Some(word) => Some(Mode::parse(&word).ok_or_else(|| EnvironmentError {
            name: ENDPOINT_MODE,
            value: word,
            allowed: Mode::ALL.map(Mode::as_str).join(", "),
        })?),
    };
    Ok(AdapterSettings {
        mode,
        prefix: read(TOOL_PREFIX),
        profile: read(ENDPOINT_PROFILE),
        ..AdapterSettings::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &'static [(&'static str, &'static str)]) -> Environment {
        Arc::new(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn settings_come_from_three_variables() {
        let environment =
            with(&[(TOOL_PREFIX, "gh_"), (ENDPOINT_MODE, "single"), (ENDPOINT_PROFILE, "crude")]);
        let settings = settings(&environment).unwrap();
        assert_eq!(settings.prefix.as_deref(), Some("gh_"));
        assert_eq!(settings.mode, Some(Mode::Single));
        assert_eq!(settings.profile.as_deref(), Some("crude"));
    }

    #[test]
    fn a_reference_that_a_client_did_not_resolve_is_no_value() {
        for value in ["${TOKEN}", "${env:TOKEN}", "$TOKEN"] {
            assert!(is_own_reference("TOKEN", value), "{value}");
        }
        for value in ["", "TOKEN", "${OTHER}", "x${TOKEN}", "${TOKEN:-x}", "$TOKENS"] {
            assert!(!is_own_reference("TOKEN", value), "{value}");
        }
    }

    #[test]
    fn a_mode_that_does_not_exist_names_those_that_do() {
        let error = settings(&with(&[(ENDPOINT_MODE, "crude")])).unwrap_err().to_string();
        assert!(error.contains("semantic, single, all, discrete"), "{error}");
    }
}
