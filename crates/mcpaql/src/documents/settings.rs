//! Everything that decides settings outside an adapter's document, and which of it wins.

use mcpaql_core::catalog::Settings;
use mcpaql_runtime::environment::{self, Environment, EnvironmentError};

/// What was said for all adapters. Flags win over the environment, that over an adapter's entry in the configuration, that over the
/// rest of the file. The document comes last: the compiler fills in what is not decided here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    flags: Settings,
    environment: Settings,
    file: Settings,
}

impl Layers {
    pub(crate) fn new(flags: Settings) -> Layers {
        Layers { flags, ..Layers::default() }
    }

    /// The same with what the environment says.
    ///
    /// # Errors
    /// A variable with a value it cannot have.
    pub(crate) fn with_environment(self, environment: &Environment) -> Result<Layers, EnvironmentError> {
        Ok(Layers { environment: environment::settings(environment)?, ..self })
    }

    /// The same with what the configuration file says for all its adapters.
    pub(crate) fn with_file(&self, file: Settings) -> Layers {
        Layers { file, ..self.clone() }
    }

    /// The settings of an adapter without an entry.
    pub(crate) fn resolve(&self) -> Settings {
        self.resolve_entry(&Settings::default())
    }

    /// The settings of an adapter with that entry. Shared tools have one name, so no entry decides it.
    pub(crate) fn resolve_entry(&self, entry: &Settings) -> Settings {
        let Layers { flags, environment, file } = self.clone();
        let mut entry = entry.clone();
        if flags.sharing.or(environment.sharing).or(file.sharing).is_some() {
            (entry.prefix, entry.pattern) = (None, None);
        }
        flags.over(environment).over(entry).over(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::catalog::Sharing;
    use std::sync::Arc;

    fn prefix(text: &str) -> Settings {
        Settings { prefix: Some(text.into()), ..Settings::default() }
    }

    #[test]
    fn flags_win_over_environment_entry_and_file() {
        let environment: Environment =
            Arc::new(|name| (name == environment::TOOL_PREFIX).then(|| "environment_".to_owned()));
        let layers = Layers::default().with_file(prefix("file_"));
        assert_eq!(layers.resolve().prefix.as_deref(), Some("file_"));
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("entry_"));
        let layers = layers.with_environment(&environment).unwrap();
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("environment_"));
        let layers = Layers { flags: prefix("flag_"), ..layers };
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("flag_"));
    }

    #[test]
    fn no_entry_names_shared_tools() {
        let shared = Settings { sharing: Sharing::parse("unified"), ..prefix("all_") };
        let layers = Layers::default().with_file(shared);
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("all_"));
    }
}
