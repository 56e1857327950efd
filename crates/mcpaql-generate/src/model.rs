//! The parameters and results of operations as types that every language has, read from their JSON Schemas.
//!
//! What always holds:
//!
//! - Every catalog has a model, and reading it ends: depth, variants and literals are limited, and an unresolved reference is
//!   any value.
//! - Each identifier is valid in its language and unique in its scope.
//! - Every [`Type::Named`] is the name of a definition of the model.
//! - Aliases are never recursive; only objects are.
//! - A type is never narrower than its schema, with one exception: a schema with properties is an object even without
//!   `type: object`.

mod code_writer;
mod docs;
mod names;
mod nullable;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use code_writer::CodeWriter;
pub(crate) use docs::{CommentStyle, doc_lines};
pub(crate) use names::{IdentifierCase, IdentifierScope, LanguageStyle, identifier, type_name};

use mcpaql_core::catalog::Catalog;
use mcpaql_core::operation::{Binding, Operation};
use serde_json::Value;

/// The operations of an adapter that have a target, and their types.
#[derive(Debug)]
pub(crate) struct Model<'c> {
    /// In the order of the catalog, without the operations of the protocol itself.
    pub(crate) operations: Vec<Signature<'c>>,
    /// In the order of first use.
    pub(crate) types: Vec<Definition>,
    /// The used names of types, so that a language can add further types.
    pub(crate) scope: IdentifierScope,
}

/// An operation with its parameters and result.
#[derive(Debug)]
pub(crate) struct Signature<'c> {
    /// The operation with parameters and binding.
    pub(crate) operation: &'c Operation,
    /// The name of its function, in the style of the language.
    pub(crate) function: String,
    /// The name of the type of its parameters: `CreateIssueParams`.
    pub(crate) params: String,
    /// Its parameters, in the order of the document.
    pub(crate) fields: Vec<ModelField>,
    /// Its result, if the document declares one and the language uses it; at most one, without a name.
    pub(crate) result: Vec<ModelField>,
}

/// A parameter, or a property of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelField {
    /// The key in JSON.
    pub(crate) name: String,
    /// The identifier in the language; unique among its siblings.
    pub(crate) ident: String,
    /// Whether it is required.
    pub(crate) required: bool,
    /// Whether null is allowed besides `kind`; [`Type::Any`] always allows it.
    pub(crate) nullable: bool,
    /// Whether it is a secret, which is never shown.
    pub(crate) sensitive: bool,
    /// The description from the document, unescaped; may be empty.
    pub(crate) docs: String,
    /// The type of values other than null.
    pub(crate) kind: Type,
    /// The value that is used if the caller gives none.
    pub(crate) default: Option<Value>,
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    /// Any value.
    Any,
    /// Only null.
    Null,
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer,
    /// An integer that a double may not hold exactly.
    WideInteger,
    /// Any number.
    Number,
    /// A string.
    String,
    /// One of these values: at least one, all different; only booleans, integers and strings.
    Literals(Vec<Value>),
    /// A list of this type.
    List(Box<Type>),
    /// An object with arbitrary keys.
    Map(Box<Type>),
    /// A definition of the model, by its identifier.
    Named(String),
    /// One of these types: at least two, all different, without unions and `Any`; null comes last.
    Union(Vec<Type>),
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Unique in the model, in PascalCase.
    pub(crate) ident: String,
    /// The description from the document, unescaped; may be empty.
    pub(crate) docs: String,
    /// The kind of the type.
    pub(crate) shape: DefinitionKind,
}

/// The kind of a named type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DefinitionKind {
    /// An object with declared fields.
    Object {
        /// In the order of the schema; may be empty.
        fields: Vec<ModelField>,
        /// The type of other keys; `None` if no other keys are allowed.
        rest: Option<Type>,
    },
    /// Another name for a type.
    Alias(Type),
}

impl Type {
    /// Returns the type without null, and whether null was part of it.
    pub(crate) fn split_null(self) -> (Type, bool) {
        match self {
            Type::Union(mut variants) if variants.last() == Some(&Type::Null) => {
                variants.pop();
                let one = if variants.len() == 1 { variants.pop() } else { None };
                (one.unwrap_or(Type::Union(variants)), true)
            }
            other => (other, false),
        }
    }

    /// Collects the names of all definitions that the type uses.
    pub(crate) fn names<'t>(&'t self, found: &mut Vec<&'t str>) {
        match self {
            Type::Named(name) => found.push(name),
            Type::List(inner) | Type::Map(inner) => inner.names(found),
            Type::Union(variants) => variants.iter().for_each(|variant| variant.names(found)),
            _ => {}
        }
    }
}

impl<'c> Model<'c> {
    /// Builds the model of an adapter in the style of a language.
    pub(crate) fn of(catalog: &'c Catalog, style: &LanguageStyle) -> Model<'c> {
        let mut reader = read::SchemaReader::new(style);
        let mut functions = IdentifierScope::new(style.reserved);
        let mut operations = Vec::new();
        for entry in &catalog.operations {
            let Some(whole) = catalog.full_operation(entry) else { continue };
            if matches!(whole.operation.binding, Binding::Introspect | Binding::Execution(_)) {
                continue;
            }
            let function = functions.take(&identifier(&whole.operation.name, style.functions));
            // Names of parameter types are reserved first, so that they do not depend on the types inside.
            let params = reader.reserve(&format!("{}Params", type_name(&whole.operation.name)));
            operations.push((whole, function, params));
        }
        let mut operations: Vec<Signature<'c>> = operations
            .into_iter()
            .map(|(whole, function, params)| Signature {
                fields: reader.params(whole.operation, whole.types),
                result: reader.result(whole.operation, whole.types).into_iter().collect(),
                operation: whole.operation,
                function,
                params,
            })
            .collect();
        let (types, scope) =
            reader.finish(operations.iter_mut().flat_map(|one| [&mut one.fields, &mut one.result]).collect());
        Model { operations, types, scope }
    }
}
