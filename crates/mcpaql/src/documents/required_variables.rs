//! The environment variables that the adapters of a plan need.

use super::source::{AdapterSource, PlannedAdapter};
use super::{AdapterPlan, members};
use crate::output;
use anyhow::Result;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::variables;
use mcpaql_document::source::Source;

/// Variables that every client passes on.
const COMMON_VARIABLES: &[&str] =
    &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "USER", "USERPROFILE"];

/// Whether problems of a plan are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reporting {
    Problems,
    Nothing,
}

impl Reporting {
    fn print(self, source: &Source, diagnostics: &[Diagnostic]) {
        if self == Reporting::Problems {
            output::print_diagnostics(source, diagnostics);
        }
    }
}

impl AdapterPlan {
    /// Returns the variables that the adapters need, and reports the errors of the adapters. Starts no MCP server.
    ///
    /// # Errors
    /// When a named document cannot be read, or no adapter can be served.
    pub(crate) fn required_variables(
        self,
        is_set: &dyn Fn(&str) -> bool,
        reporting: Reporting,
    ) -> Result<Vec<String>> {
        // Values in a client's own configuration need not be set elsewhere.
        let own = self.environment.clone();
        let is_inside = |name: &str| own.as_ref().is_some_and(|own| own.value(name).is_some());
        self.config.iter().for_each(|(source, diagnostics)| reporting.print(source, diagnostics));
        let mut errors = Vec::new();
        for (_, error) in self.unreadable {
            if self.config.is_none() {
                return Err(error);
            }
            errors.push(error);
        }
        let (mut found, mut is_served) = (Vec::new(), false);
        for adapter in self.adapters {
            match variables_of(adapter, is_set, reporting) {
                Ok(names) => {
                    is_served = true;
                    found.extend(names);
                }
                Err(error) => errors.push(error),
            }
        }
        if !is_served {
            let error = errors.into_iter().next();
            return Err(error.unwrap_or_else(|| members::no_adapter_error(self.config.as_ref())));
        }
        let mut names: Vec<String> = Vec::new();
        for name in found {
            if !names.contains(&name) && !COMMON_VARIABLES.contains(&name.as_str()) && !is_inside(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }
}

fn variables_of(
    adapter: PlannedAdapter,
    is_set: &dyn Fn(&str) -> bool,
    reporting: Reporting,
) -> Result<Vec<String>> {
    if let AdapterSource::Mcp(server) = &adapter.source {
        return Ok(variables::needed_by_server(&server.target, &server.auth, is_set));
    }
    let name = adapter.label();
    let (source, mut checked) = adapter.check();
    checked.diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    reporting.print(&source, &checked.diagnostics);
    match checked.catalog {
        Some(catalog) => Ok(variables::needed(&catalog, is_set)),
        None => Err(super::source::cannot_serve_error(&name, &source.name, &checked.diagnostics)),
    }
}
