//! Reads `endpoints` of the element form: a custom set of endpoint families.

use super::Operations;
use super::params::is_snake_case;
use super::{identity, operation};
use indexmap::IndexMap;
use mcpaql_core::adapter::{EndpointFamily, Profile};
use mcpaql_core::catalog::CRUDE_PROFILE;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::lifecycle::ExecutionAction;
use mcpaql_core::operation::{Category, INTROSPECT, Operation};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::suggest;

pub(super) const FAMILY_KEYS: &[&str] = &["purpose", "title", "operations", "categories", "annotations"];

/// Reads the families. Every operation must belong to exactly one family; operations without a family are removed.
pub(super) fn read(
    reader: &mut DocumentReader,
    document: &DocumentObject<'_>,
    operations: &mut Operations,
) -> Option<Profile> {
    let name = reader.string(document, "profile");
    let Some(endpoints) = reader.member(document, "endpoints") else {
        if let Some(name) = name.filter(|name| name != CRUDE_PROFILE) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaUnresolvedRef,
                    document.pointer_to("profile"),
                    format!("Profile '{name}' has no endpoints"),
                )
                .expected("`crude`, or the name of the families under `endpoints`")
                .found(name)
                .suggest("declare the families under `endpoints`"),
            );
        }
        return None;
    };
    let name = name.unwrap_or_else(|| "custom".into());
    if name == CRUDE_PROFILE {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidName,
                document.pointer_to("profile"),
                "The profile 'crude' has fixed endpoints, so `endpoints` would never be used",
            )
            .expected("another name")
            .found(name.as_str())
            .suggest("name the profile after its families, or remove `endpoints`"),
        );
        return None;
    }
    let mut families = IndexMap::new();
    for (family, value) in endpoints.map {
        let pointer = endpoints.pointer_to(family);
        if !is_snake_case(family) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidName,
                    &pointer,
                    format!("Endpoint name '{family}' must be snake_case"),
                )
                .at_key()
                .found(family.as_str()),
            );
            continue;
        }
        let Some(object) = reader.object(value, &pointer) else { continue };
        reader.check_keys(&object, FAMILY_KEYS);
        families.insert(family.clone(), read_family(reader, &object, operations));
    }
    assign(reader, &endpoints, &families, &mut operations.list);
    Some(Profile { name, families })
}

fn read_family(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    operations: &Operations,
) -> EndpointFamily {
    let Operations { seen, executes, .. } = operations;
    let is_execution = |name: &str| *executes && ExecutionAction::is_name(name);
    let names = reader.strings(object, "operations");
    for (index, name) in names.iter().enumerate() {
        if seen.contains_key(name) || name == INTROSPECT || is_execution(name) {
            continue;
        }
        let mut diagnostic = Diagnostic::error(
            Code::SchemaUnresolvedRef,
            child(&object.pointer_to("operations"), index),
            format!("'{name}' is not an operation of this adapter"),
        )
        .found(name.as_str());
        let mut declared: Vec<&str> = seen.keys().map(String::as_str).collect();
        declared.sort_unstable();
        if let Some(word) = suggest::nearest(name, declared) {
            diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
        }
        reader.push(diagnostic);
    }
    let mut categories = Vec::new();
    for word in reader.strings(object, "categories") {
        match Category::parse(&word) {
            Some(category) => categories.push(category),
            None => reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    object.pointer_to("categories"),
                    format!("'{word}' is not a category"),
                )
                .expected_one_of(&Category::ALL.map(Category::as_str))
                .found(word),
            ),
        }
    }
    EndpointFamily {
        purpose: reader.required_string(object, "purpose").unwrap_or_default(),
        title: identity::shown_name(reader, object, "title", "title"),
        operations: names,
        categories,
        hints: operation::hints(reader, object, "annotations", &[]),
    }
}

/// Reports operations that belong to no family or to several, and removes those that belong to none.
fn assign(
    reader: &mut DocumentReader,
    endpoints: &DocumentObject<'_>,
    families: &IndexMap<String, EndpointFamily>,
    operations: &mut Vec<Operation>,
) {
    operations.retain(|operation| {
        let claimed = |claims: &dyn Fn(&EndpointFamily) -> bool| -> Vec<&str> {
            let found = families.iter().filter(|(_, family)| claims(family));
            found.map(|(name, _)| name.as_str()).collect()
        };
        let mut owners = claimed(&|family| family.operations.contains(&operation.name));
        if owners.is_empty() {
            owners = claimed(&|family| family.categories.contains(&operation.category));
        }
        match owners.as_slice() {
            [] => reader.push(
                Diagnostic::error(
                    Code::SchemaUnresolvedRef,
                    &endpoints.pointer,
                    format!("Operation '{}' belongs to no endpoint", operation.name),
                )
                .at_key()
                .expected("every operation in one endpoint")
                .found(operation.name.as_str())
                .suggest(format!(
                    "list it under `operations` of an endpoint, or its category {} under `categories`",
                    operation.category
                )),
            ),
            [_] => {}
            [first, ..] => reader.push(
                Diagnostic::error(
                    Code::SchemaDuplicateName,
                    &endpoints.pointer,
                    format!(
                        "Operation '{}' belongs to several endpoints: {}",
                        operation.name,
                        owners.join(", ")
                    ),
                )
                .at_key()
                .expected("every operation in one endpoint")
                .found(owners.join(", "))
                .suggest(format!("list it under `operations` of one endpoint, such as `{first}`")),
            ),
        }
        !owners.is_empty()
    });
}
