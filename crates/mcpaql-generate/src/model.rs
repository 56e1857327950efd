//! What operations take, as types that every language has: the JSON Schema of parameters, made small.
//!
//! What always holds: every catalog has a model, and reading it ends (depth, variants and literals are bounded, references lead
//! somewhere or mean anything); each identifier is legal in its language and unique where it stands; every [`Type::Named`] is the
//! name of a definition of the model; no chain of aliases leads back to itself, so that only objects are recursive; a type is
//! never narrower than its schema, save that a schema with properties is an object even where it does not say so.

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

/// All operations of an adapter that have a target, and the types that they take.
#[derive(Debug)]
pub(crate) struct Model<'c> {
    /// In the order of the catalog; without those that the protocol answers itself.
    pub(crate) operations: Vec<Signature<'c>>,
    /// In the order in which they are met.
    pub(crate) types: Vec<Definition>,
    /// The names of types that are taken, for those that a language needs besides.
    pub(crate) scope: IdentifierScope,
}

/// One operation and what it takes.
#[derive(Debug)]
pub(crate) struct Signature<'c> {
    /// With parameters and binding.
    pub(crate) operation: &'c Operation,
    /// The name of its function, in the language's style.
    pub(crate) function: String,
    /// The name of the type of its parameters: `CreateIssueParams`.
    pub(crate) params: String,
    /// Its parameters, in the order of the document.
    pub(crate) fields: Vec<ModelField>,
    /// What it answers, where the document says so and the language's style wants it; at most one, without a name.
    pub(crate) result: Vec<ModelField>,
}

/// A parameter, or a property of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelField {
    /// As callers and answers write it: the key in JSON.
    pub(crate) name: String,
    /// As the language writes it; unique among its siblings.
    pub(crate) ident: String,
    /// Must be given.
    pub(crate) required: bool,
    /// May be null, besides `kind`; [`Type::Any`] may be so anyway.
    pub(crate) nullable: bool,
    /// A secret: never shown.
    pub(crate) sensitive: bool,
    /// What is known of it; may be empty, may be anything.
    pub(crate) docs: String,
    /// What it holds where it is not null.
    pub(crate) kind: Type,
    /// What is filled in where the caller gives nothing.
    pub(crate) default: Option<Value>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    /// Anything.
    Any,
    /// Null alone.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A whole number that may be larger than a double holds.
    WideInteger,
    /// Any number.
    Number,
    /// A text.
    String,
    /// One of these: at least one, all different; booleans, whole numbers and texts only.
    Literals(Vec<Value>),
    /// Any number of these.
    List(Box<Type>),
    /// An object with keys that the caller chooses.
    Map(Box<Type>),
    /// A definition of the model, by its identifier.
    Named(String),
    /// One of these: at least two, all different, none of them a union or anything; null comes last.
    Union(Vec<Type>),
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Unique in the model, in PascalCase.
    pub(crate) ident: String,
    /// What is known of it; may be empty, may be anything.
    pub(crate) docs: String,
    /// What it is.
    pub(crate) shape: DefinitionKind,
}

/// What a named type is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DefinitionKind {
    /// An object with declared fields.
    Object {
        /// In the order of the schema; may be empty.
        fields: Vec<ModelField>,
        /// What other keys hold; none are allowed where there is nothing.
        rest: Option<Type>,
    },
    /// Another name for that type.
    Alias(Type),
}

impl Type {
    /// The type without null, and whether null was part of it.
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

    /// Every definition that the type names.
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
    /// The model of an adapter, in the style of a language.
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
            // The names of parameters come before those of types, so that they never depend on what is inside.
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
