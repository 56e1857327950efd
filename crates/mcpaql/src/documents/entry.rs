//! Overrides of an adapter's entry in the configuration. They replace what its document says.

use mcpaql_core::adapter::{Adapter, Auth};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::host::NetworkAccess;
use mcpaql_core::library::{Library, LibraryOperation, Outline};
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{Binding, Operation, Segment};
use mcpaql_document::config::{AdapterEntry, CallLimits};
use mcpaql_import::select::{Selection, SelectionRuleError};
use serde_json::Value;
use std::sync::Arc;

/// The overrides of one entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryOverrides {
    pub(crate) name: Option<String>,
    pub(crate) auth: Option<Auth>,
    pub(crate) limits: CallLimits,
    /// Which private networks it may reach, and which hosts get its credentials.
    pub(crate) access: NetworkAccess,
    /// Which operations to serve, unless an import has already selected them.
    pub(crate) selection: Selection,
    /// Whether new and changed tools of an MCP server are served at once.
    pub(crate) is_unpinned: bool,
}

impl EntryOverrides {
    pub(crate) fn from_entry(entry: &AdapterEntry) -> Result<EntryOverrides, SelectionRuleError> {
        Ok(EntryOverrides {
            name: entry.name.clone(),
            auth: entry.auth.clone(),
            limits: entry.limits,
            access: entry.access.clone(),
            selection: Selection::parse(&entry.include, &entry.exclude)?,
            is_unpinned: !entry.pin,
        })
    }

    /// Whether nothing is overridden.
    pub(crate) fn is_empty(&self) -> bool {
        let EntryOverrides { name, auth, limits, access, selection, is_unpinned: _ } = self;
        let is_unlimited = *limits == CallLimits::default() && *selection == Selection::default();
        name.is_none() && auth.is_none() && *access == NetworkAccess::default() && is_unlimited
    }

    /// Applies the overrides to the adapter of a document, and returns the problems of the selection rules.
    pub(crate) fn apply_to_document(&self, adapter: &mut Adapter) -> Vec<Diagnostic> {
        if let Some(name) = &self.name
            && *name != adapter.name
        {
            adapter.name.clone_from(name);
            adapter.display_name = title_of(name);
        }
        let problems = self.selection.narrow(&mut adapter.operations, path);
        adapter.operations.iter_mut().for_each(|operation| self.replace_auth(operation));
        self.apply(adapter);
        problems
    }

    /// Applies the overrides to an imported adapter. The import has already selected and named its operations.
    pub(crate) fn apply_to_import(&self, adapter: &mut Adapter) {
        adapter.operations.iter_mut().for_each(|operation| self.replace_auth(operation));
        self.apply(adapter);
    }

    /// Applies the overrides to an adapter whose operations are in a library.
    pub(crate) fn apply(&self, adapter: &mut Adapter) {
        if let Some(auth) = &self.auth {
            adapter.auth = auth.clone();
        }
        let alternatives = adapter.targets.values_mut().map(|one| &mut one.target);
        for target in std::iter::once(&mut adapter.target).chain(alternatives) {
            self.limits.apply(target);
            if let Some(access) = target.access_mut() {
                access.extend(&self.access);
            }
        }
    }

    /// Applies the overrides that concern the catalog.
    pub(crate) fn apply_to_catalog(&self, catalog: &mut Catalog) {
        if let Some(bytes) = self.limits.max_response_bytes {
            catalog.limits.response_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
    }

    /// Wraps the library of an import, so that its operations use the credentials of the entry.
    pub(crate) fn wrap_library(&self, library: Arc<dyn Library>) -> Arc<dyn Library> {
        match self.auth {
            Some(_) => Arc::new(AuthOverrideLibrary { library, entry: self.clone() }),
            None => library,
        }
    }

    /// Replaces the credentials of an operation with those of the entry, unless the operation needs none.
    fn replace_auth(&self, operation: &mut Operation) {
        if let (Some(_), Binding::Http(binding)) = (&self.auth, &mut operation.binding)
            && binding.auth.as_ref().is_some_and(|auth| *auth != Auth::None)
        {
            binding.auth = None;
        }
    }
}

/// Returns the path of an operation in the syntax of selection rules.
fn path(operation: &Operation) -> String {
    let Binding::Http(binding) = &operation.binding else { return String::new() };
    let segments = binding.path.iter().map(|segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Param(name) => format!("{{{name}}}"),
    });
    segments.collect()
}

#[derive(Debug)]
struct AuthOverrideLibrary {
    library: Arc<dyn Library>,
    entry: EntryOverrides,
}

impl Library for AuthOverrideLibrary {
    fn operation(&self, index: usize) -> Option<LibraryOperation> {
        let mut full = self.library.operation(index)?;
        self.entry.replace_auth(&mut full.operation);
        Some(full)
    }

    fn outline(&self, index: usize) -> Outline {
        self.library.outline(index)
    }

    fn type_names(&self) -> Vec<String> {
        self.library.type_names()
    }

    fn type_named(&self, name: &str) -> Option<Value> {
        self.library.type_named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::catalog::AdapterSettings;
    use mcpaql_document::check;
    use mcpaql_document::source::Source;

    const DOCUMENT: &str = "name: things
type: adapter
version: \"1.0.0\"
description: Things
target: { base_url: \"https://api.example.com\" }
auth: { type: bearer, token_env: THEIRS }
operations:
  read:
    - { name: get_plain, maps_to: GET /plain }
    - { name: get_other, maps_to: GET /other, auth: { type: bearer, token_env: OTHERS } }
    - { name: get_open, maps_to: GET /open, auth: { type: none } }
";

    #[test]
    fn credentials_of_an_entry_replace_all_others() {
        let mine = Auth::Bearer {
            token_env: "MINE".into(),
            header: "Authorization".into(),
            prefix: "Bearer ".into(),
        };
        let entry = EntryOverrides { auth: Some(mine.clone()), ..EntryOverrides::default() };
        let source = Source::new("things.yaml", DOCUMENT);
        let checked = check::check_with(&source, &AdapterSettings::default(), |adapter| {
            assert_eq!(entry.apply_to_document(adapter), []);
        });
        let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        assert_eq!(catalog.adapter.auth, mine);
        let own = |name: &str| match &catalog.get(name).unwrap().operation.binding {
            Binding::Http(binding) => binding.auth.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!((own("get_plain"), own("get_other")), (None, None));
        assert_eq!(own("get_open"), Some(Auth::None), "an operation without credentials gets none");
    }

    #[test]
    fn limits_of_an_entry_reach_the_target() {
        let limits = CallLimits { timeout_ms: Some(5000), max_response_bytes: Some(77) };
        let entry = EntryOverrides { limits, ..EntryOverrides::default() };
        let source = Source::new("things.yaml", DOCUMENT);
        let checked = check::check_with(&source, &AdapterSettings::default(), |adapter| {
            assert_eq!(entry.apply_to_document(adapter), []);
        });
        let mut catalog = checked.catalog.unwrap();
        entry.apply_to_catalog(&mut catalog);
        let mcpaql_core::adapter::TargetConfig::Http(target) = &catalog.adapter.target else { panic!() };
        assert_eq!((target.timeout_ms, target.max_response_bytes), (5000, 77));
        assert_eq!(catalog.limits.response_bytes, 77);
    }
}
