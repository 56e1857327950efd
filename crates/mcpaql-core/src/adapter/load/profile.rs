//! `endpoints` of the element form: a custom set of endpoint families.

use super::operation;
use super::params::is_snake_case;
use crate::adapter::{Family, Profile};
use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::operation::{Category, INTROSPECT, Operation};
use crate::reader::{Object, Reader};
use crate::suggest;
use indexmap::IndexMap;

pub(super) const FAMILY_KEYS: &[&str] = &["purpose", "title", "operations", "categories", "annotations"];

/// Reads the families; every operation must belong to exactly one.
pub(super) fn read(reader: &mut Reader, document: &Object<'_>, operations: &[Operation]) -> Option<Profile> {
    let endpoints = reader.member(document, "endpoints")?;
    let name = reader.string(document, "profile").unwrap_or_else(|| "custom".into());
    let mut families = IndexMap::new();
    for (family, value) in endpoints.map {
        let pointer = endpoints.at(family);
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
        reader.known(&object, FAMILY_KEYS);
        families.insert(family.clone(), read_family(reader, &object, operations));
    }
    assign(reader, &endpoints, &families, operations);
    Some(Profile { name, families })
}

fn read_family(reader: &mut Reader, object: &Object<'_>, operations: &[Operation]) -> Family {
    let names = reader.strings(object, "operations");
    for name in &names {
        if operations.iter().any(|operation| operation.name == *name) || name == INTROSPECT {
            continue;
        }
        let mut diagnostic = Diagnostic::error(
            Code::SchemaUnresolvedRef,
            object.at("operations"),
            format!("'{name}' is not an operation of this adapter"),
        )
        .found(name.as_str());
        if let Some(word) = suggest::nearest(name, operations.iter().map(|operation| operation.name.as_str()))
        {
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
                    object.at("categories"),
                    format!("'{word}' is not a category"),
                )
                .expected(Category::ALL.map(Category::as_str).join(", "))
                .found(word),
            ),
        }
    }
    Family {
        purpose: reader.required_string(object, "purpose").unwrap_or_default(),
        title: reader.string(object, "title"),
        operations: names,
        categories,
        hints: operation::hints(reader, object, "annotations", &[]),
    }
}

/// Reports operations that no family takes, or that two families name.
fn assign(
    reader: &mut Reader,
    endpoints: &Object<'_>,
    families: &IndexMap<String, Family>,
    operations: &[Operation],
) {
    for operation in operations {
        let named: Vec<&str> = families
            .iter()
            .filter(|(_, family)| family.operations.contains(&operation.name))
            .map(|(name, _)| name.as_str())
            .collect();
        let by_category = families.values().any(|family| family.categories.contains(&operation.category));
        if named.len() > 1 {
            reader.push(Diagnostic::error(
                Code::SchemaDuplicateName,
                &endpoints.pointer,
                format!("Operation '{}' is named by two endpoints: {}", operation.name, named.join(", ")),
            ));
        } else if named.is_empty() && !by_category {
            reader.push(
                Diagnostic::error(
                    Code::SchemaUnresolvedRef,
                    &endpoints.pointer,
                    format!("Operation '{}' belongs to no endpoint", operation.name),
                )
                .suggest(format!(
                    "name it under an endpoint's `operations`, or its category {} under `categories`",
                    operation.category
                )),
            );
        }
    }
}
