//! Assigns the names of all tools of a catalog, and makes sure that they are unique.

use super::AdapterCompiler;
use crate::adapter::Mode;
use crate::catalog::{AdapterSettings, Catalog, ToolRoute, ToolScope};
use crate::diagnostic::{Diagnostic, Severity, capitalize};
use crate::error::Code;
use crate::naming::{self, NameProblem, ToolNamer, ToolSubject};
use crate::operation::{Category, INTROSPECT};
use std::collections::hash_map::Entry as Slot;

/// Assigns the tool names. Returns false if the adapter cannot be served with them.
pub(super) fn assign_tool_names(
    compiler: &mut AdapterCompiler,
    catalog: &mut Catalog,
    names: &ToolNamer,
) -> bool {
    let mut servable = true;
    let mut scopes: Vec<(String, ToolScope)> = Vec::new();
    for (subject, scope) in subjects(catalog) {
        match compiler.name(names, subject) {
            Some(name) => scopes.push((name, scope)),
            // An operation without a tool does not affect the others.
            None => servable &= matches!(scope, ToolScope::Operation(_)),
        }
    }
    for (name, scope) in &scopes {
        for index in catalog.operations_in_scope(scope) {
            if let Some(entry) = catalog.operations.get_mut(index)
                && entry.tool.is_empty()
            {
                entry.tool.clone_from(name);
            }
        }
    }
    for (name, scope) in &scopes {
        let route = ToolRoute { scope: scope.clone(), renamed_to: None };
        if catalog.routes.insert(name.clone(), route).is_some() {
            compiler.problem(
                Code::SchemaDuplicateName,
                "/tool_names",
                format!("Two tools are named '{name}'"),
            );
            servable = false;
        }
    }
    aliases(compiler, catalog, &scopes);
    operation_aliases(catalog, names, &scopes);
    withheld_tools(catalog, names);
    servable
}

/// Adds aliases of operations as aliases of their tools, unless the name is taken.
fn operation_aliases(catalog: &mut Catalog, names: &ToolNamer, scopes: &[(String, ToolScope)]) {
    for (current, scope) in scopes {
        let ToolScope::Operation(index) = scope else { continue };
        let Some(entry) = catalog.operations.get(*index) else { continue };
        for alias in &entry.operation.aliases {
            if let Ok(alias) = names.name(ToolSubject::Operation(alias)) {
                let route = ToolRoute { scope: scope.clone(), renamed_to: Some(current.clone()) };
                catalog.routes.entry(alias).or_insert(route);
            }
        }
    }
}

/// Remembers the tools that withheld operations would have, so that a call of one is answered with the reason.
fn withheld_tools(catalog: &mut Catalog, names: &ToolNamer) {
    if catalog.mode != Mode::Discrete {
        return;
    }
    for flagged in catalog.flagged.iter().filter(|flagged| flagged.is_withheld) {
        if let Ok(tool) = names.name(ToolSubject::Operation(&flagged.name)) {
            catalog.withheld_tools.insert(tool, flagged.name.clone());
        }
    }
}

/// Returns everything that gets a tool in the catalog's mode, in the order of the surface.
fn subjects(catalog: &Catalog) -> Vec<(ToolSubject<'_>, ToolScope)> {
    let mut subjects = Vec::new();
    if matches!(catalog.mode, Mode::Semantic | Mode::All) {
        let endpoints = catalog.endpoints.keys();
        subjects
            .extend(endpoints.map(|name| (ToolSubject::Endpoint(name), ToolScope::Endpoint(name.clone()))));
    }
    if matches!(catalog.mode, Mode::Single | Mode::All) {
        subjects.push((ToolSubject::Adapter, ToolScope::Adapter));
    }
    if catalog.mode == Mode::Discrete {
        let operations = catalog.operations.iter().enumerate();
        subjects.extend(operations.filter(|(_, entry)| entry.operation.name != INTROSPECT).map(
            |(index, entry)| (ToolSubject::Operation(&entry.operation.name), ToolScope::Operation(index)),
        ));
    }
    subjects
}

impl AdapterCompiler {
    /// Reports an alias that has no effect. With settings from outside the document, tools can have other names than its author
    /// knows, so that it is only a warning.
    fn alias_problem(&mut self, diagnostic: Diagnostic) {
        let is_alone = self.external_settings == AdapterSettings::default();
        let severity = if is_alone { Severity::Error } else { Severity::Warning };
        self.diagnostics.push(Diagnostic { severity, ..diagnostic });
    }

    fn name(&mut self, names: &ToolNamer, subject: ToolSubject<'_>) -> Option<String> {
        match names.name(subject) {
            Ok(name) => {
                if name.len() > naming::SAFE_TOOL_NAME_LENGTH {
                    self.diagnostics.push(Diagnostic::warning(
                        Code::SchemaInvalidName,
                        "/tool_names",
                        format!(
                            "The tool name '{name}' has {} characters; clients may cut or drop it after they add the server's name",
                            name.len()
                        ),
                    ));
                }
                Some(name)
            }
            Err(NameProblem(text)) => {
                self.problem(Code::SchemaInvalidName, "/tool_names", capitalize(&text));
                None
            }
        }
    }
}

/// Adds the declared aliases of tools. An alias can refer to an endpoint, an operation, the adapter or a tool's current
/// name.
fn aliases(compiler: &mut AdapterCompiler, catalog: &mut Catalog, scopes: &[(String, ToolScope)]) {
    for (alias, refers_to) in catalog.adapter.tool_names.aliases.clone() {
        let pointer = format!("/tool_names/aliases/{}", alias.replace('~', "~0").replace('/', "~1"));
        let is_target = |scope: &ToolScope| match scope {
            ToolScope::Endpoint(endpoint) => *endpoint == refers_to,
            ToolScope::Adapter => catalog.adapter.name == refers_to,
            ToolScope::Operation(index) => {
                catalog.operations.get(*index).is_some_and(|entry| entry.operation.name == refers_to)
            }
        };
        let tool = scopes
            .iter()
            .find(|(_, scope)| is_target(scope))
            .or_else(|| scopes.iter().find(|(name, _)| *name == refers_to));
        let Some((name, scope)) = tool else {
            // It exists, but has no tool of its own in this mode.
            let is_endpoint = match &catalog.adapter.profile {
                Some(profile) => profile.families.contains_key(&refers_to),
                None => Category::ALL.iter().any(|category| category.endpoint() == refers_to),
            };
            let known = is_endpoint
                || catalog.by_name.contains_key(&refers_to)
                || compiler.left_out.contains(&refers_to)
                || catalog.adapter.name == refers_to;
            if !known {
                let message = format!(
                    "The alias '{alias}' refers to '{refers_to}', which is not an endpoint, an operation or a tool"
                );
                compiler.alias_problem(
                    Diagnostic::error(Code::SchemaUnresolvedRef, &pointer, message)
                        .expected("an endpoint, an operation, the adapter or a tool")
                        .found(refers_to),
                );
            }
            continue;
        };
        if let Err(NameProblem(text)) = naming::check_name(&alias) {
            compiler.problem(Code::SchemaInvalidName, &pointer, capitalize(&text));
            continue;
        }
        match catalog.routes.entry(alias) {
            Slot::Vacant(slot) => {
                slot.insert(ToolRoute { scope: scope.clone(), renamed_to: Some(name.clone()) });
            }
            Slot::Occupied(slot) => {
                let message = format!("The alias '{}' is already the name of a tool", slot.key());
                compiler.alias_problem(Diagnostic::error(Code::SchemaDuplicateName, &pointer, message));
            }
        }
    }
}
