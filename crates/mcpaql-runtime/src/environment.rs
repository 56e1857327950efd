//! The process environment behind a function, and the names this program reads there.

use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::Settings;
use std::sync::Arc;

/// Looks up a variable. Tests pass their own; the binary passes `std::env::var`.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Prefix of tool names.
pub const TOOL_PREFIX: &str = "MCP_AQL_TOOL_PREFIX";
/// `semantic`, `single`, `all` or `discrete`.
pub const ENDPOINT_MODE: &str = "MCP_AQL_ENDPOINT_MODE";
/// `crude` or the name of a document's own profile.
pub const ENDPOINT_PROFILE: &str = "MCP_AQL_ENDPOINT_PROFILE";

/// The environment of this process.
#[must_use]
pub fn process() -> Environment {
    Arc::new(|name| std::env::var(name).ok())
}

/// A variable whose value is not one of those it may have.
#[derive(Debug, thiserror::Error)]
#[error("{name} is '{value}', but must be one of {allowed}")]
pub struct EnvironmentError {
    name: &'static str,
    value: String,
    allowed: String,
}

/// What the environment says about the surface.
///
/// # Errors
/// A variable with a value it cannot have.
pub fn settings(environment: &Environment) -> Result<Settings, EnvironmentError> {
    let read = |name: &str| environment(name).filter(|value| !value.is_empty());
    let mode = match read(ENDPOINT_MODE) {
        None => None,
        Some(word) => Some(Mode::parse(&word).ok_or_else(|| EnvironmentError {
            name: ENDPOINT_MODE,
            value: word,
            allowed: Mode::ALL.map(Mode::as_str).join(", "),
        })?),
    };
    Ok(Settings { mode, prefix: read(TOOL_PREFIX), profile: read(ENDPOINT_PROFILE), ..Settings::default() })
}

/// Replaces every `${env:NAME}` in a text.
///
/// # Errors
/// The name of the first variable that is not set.
pub fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${env:") {
        let Some((name, after)) = behind.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&environment(name).ok_or_else(|| name.to_owned())?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
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
    fn a_mode_that_does_not_exist_names_those_that_do() {
        let error = settings(&with(&[(ENDPOINT_MODE, "crude")])).unwrap_err().to_string();
        assert!(error.contains("semantic, single, all, discrete"), "{error}");
    }

    #[test]
    fn expansion_names_what_is_missing() {
        let environment = with(&[("A", "1")]);
        assert_eq!(expand("x${env:A}y$", &environment).unwrap(), "x1y$");
        assert_eq!(expand("${env:B}", &environment).unwrap_err(), "B");
        assert_eq!(expand("${env:A", &environment).unwrap(), "${env:A");
    }
}
