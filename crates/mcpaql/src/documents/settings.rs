//! Settings from flags, environment and configuration, and their precedence.

use mcpaql_core::catalog::AdapterSettings;
use mcpaql_runtime::environment::{self, Environment, EnvironmentError};

/// Settings for all adapters, in layers. The precedence is: flags, environment, the adapter's entry in the configuration, the rest of
/// the file. The document comes last: the compiler uses it for settings that no layer decides.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingsLayers {
    flags: AdapterSettings,
    environment: AdapterSettings,
    file: AdapterSettings,
}

impl SettingsLayers {
    pub(crate) fn new(flags: AdapterSettings) -> SettingsLayers {
        SettingsLayers { flags, ..SettingsLayers::default() }
    }

    /// Adds the settings of the environment.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub(crate) fn with_environment(
        self,
        environment: &Environment,
    ) -> Result<SettingsLayers, EnvironmentError> {
        Ok(SettingsLayers { environment: environment::settings(environment)?, ..self })
    }

    /// Adds the settings that the configuration file has for all adapters.
    pub(crate) fn with_file(&self, file: AdapterSettings) -> SettingsLayers {
        SettingsLayers { file, ..self.clone() }
    }

    /// Returns the settings of an adapter without an entry.
    pub(crate) fn resolve(&self) -> AdapterSettings {
        self.resolve_entry(&AdapterSettings::default())
    }

    /// Returns the settings of an adapter with this entry. An entry cannot name tools that all adapters share.
    pub(crate) fn resolve_entry(&self, entry: &AdapterSettings) -> AdapterSettings {
        let SettingsLayers { flags, environment, file } = self.clone();
        let mut entry = entry.clone();
        if flags.sharing.or(environment.sharing).or(file.sharing).is_some() {
            (entry.prefix, entry.pattern) = (None, None);
        }
        flags.with_fallback(environment).with_fallback(entry).with_fallback(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::catalog::Sharing;
    use std::sync::Arc;

    fn prefix(text: &str) -> AdapterSettings {
        AdapterSettings { prefix: Some(text.into()), ..AdapterSettings::default() }
    }

    #[test]
    fn flags_override_environment_entry_and_file() {
        let environment: Environment =
            Arc::new(|name| (name == environment::TOOL_PREFIX).then(|| "environment_".to_owned()));
        let layers = SettingsLayers::default().with_file(prefix("file_"));
        assert_eq!(layers.resolve().prefix.as_deref(), Some("file_"));
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("entry_"));
        let layers = layers.with_environment(&environment).unwrap();
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("environment_"));
        let layers = SettingsLayers { flags: prefix("flag_"), ..layers };
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("flag_"));
    }

    #[test]
    fn no_entry_names_shared_tools() {
        let shared = AdapterSettings { sharing: Sharing::parse("unified"), ..prefix("all_") };
        let layers = SettingsLayers::default().with_file(shared);
        assert_eq!(layers.resolve_entry(&prefix("entry_")).prefix.as_deref(), Some("all_"));
    }
}
