//! Introspection: answers questions about operations and types from the catalog.
//!
//! ```
//! # use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! # use mcpaql_core::facts::{Facts, Reach};
//! # use mcpaql_core::operation::{Binding, Category, Operation};
//! # let mut adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! # let facts = Facts::read(Reach::Process);
//! # adapter.operations.push(Operation::new("list_tasks", Category::Read, facts, Binding::Code));
//! # let catalog = mcpaql_core::compile::compile(adapter, &Default::default()).catalog.unwrap();
//! use mcpaql_core::introspect;
//!
//! let question = serde_json::json!({"query": "operations"});
//! let answer = introspect::answer(&catalog, question.as_object().unwrap()).unwrap();
//! assert_eq!(answer.data.into_value()["operations"][0]["name"], "list_tasks");
//! ```
//!
//! Both query forms use the same compiled operations as validation. A list reads only the heads of operations, a search
//! only their outlines. The full operation is read when its signature or details are shown. Long lists are split into
//! pages.

pub(crate) mod args;
mod details;
mod fields;
pub(crate) mod hits;
pub(crate) mod list;
mod mentioned;
pub(crate) mod page;
mod params;
mod plan;
mod protocol;
mod types;

pub(crate) use params::params;
pub(crate) use protocol::page_protocol;
pub use protocol::{CONFORMANCE, PROTOCOL_VERSION};
pub use types::PROTOCOL_TYPES;

use crate::catalog::Catalog;
use crate::error::{Code, OpError};
use crate::operation::Operation;
use crate::request;
use crate::response::{Answer, Warning};
use crate::schema::shorten;
use crate::suggest;
use args::{DetailLevel, IntrospectArgs};
use mcpaql_lexicon::first_sentence;
use serde_json::{Map, Value};

/// Maximum characters of a description in lists.
const MAX_SUMMARY_CHARS: usize = 160;

/// Answers `introspect`. The arguments are already validated.
///
/// # Errors
/// Fails if parameters contradict each other, or if the cursor belongs to another list. An unknown name is not an
/// error: as the protocol requires, the answer is a success with null and a warning.
pub fn answer(catalog: &Catalog, args: &Map<String, Value>) -> Result<Answer, OpError> {
    let options = IntrospectArgs::read(args)?;
    if options.types
        && let Some(param) = options.narrowed_by().next()
    {
        return Err(invalid(
            param,
            format!("Parameter '{param}' filters operations, not types. Remove it, or remove 'query'."),
        ));
    }
    match (&options.names, options.types) {
        (None, false) => list::operations(catalog, &options),
        (None, true) => types::list(catalog, &options),
        (Some(names), false) => {
            Ok(answer_by_name(&options, names, "operation", |name| operation(catalog, name, options.detail)))
        }
        (Some(names), true) => Ok(answer_by_name(&options, names, "type", |name| {
            types::describe_type(catalog, name, options.detail).ok_or_else(|| {
                let own: Vec<String> = catalog.type_names().collect();
                let all = PROTOCOL_TYPES.iter().copied().chain(own.iter().map(String::as_str));
                not_found_warning("type", name, &suggest::nearest_many(name, all, 3))
            })
        })),
    }
}

pub(crate) fn invalid(param: &str, message: String) -> OpError {
    OpError::new(Code::InvalidValue, message).with_detail("param_name", param)
}

/// Describes an operation. Without a detail level, only with what the specification allows.
pub(crate) fn operation(
    catalog: &Catalog,
    name: &str,
    detail: Option<DetailLevel>,
) -> Result<Value, Warning> {
    let shown = catalog.get(name).and_then(|entry| match detail {
        None => details::operation(catalog, entry),
        Some(DetailLevel::Names) => Some(entry.operation.name.as_str().into()),
        Some(DetailLevel::Summary) => Some(list::summary_of(entry)),
        Some(DetailLevel::Signature) => details::signature_with_types(catalog, entry),
        Some(DetailLevel::Full) => details::full(catalog, entry),
    });
    shown.ok_or_else(|| {
        let near = catalog.suggest_operations(name, std::iter::empty());
        not_found_warning(
            "operation",
            name,
            &near.iter().map(|entry| entry.operation.name.as_str()).collect::<Vec<_>>(),
        )
    })
}

/// Builds the answer for names: one result under `key`, or several under its plural.
pub(crate) fn answer_by_name(
    options: &IntrospectArgs<'_>,
    names: &[&str],
    key: &str,
    mut find: impl FnMut(&str) -> Result<Value, Warning>,
) -> Answer {
    let mut warnings: Vec<Warning> = options.ignored_params_warning().into_iter().collect();
    let mut found = Vec::new();
    for name in names {
        match find(name) {
            Ok(value) => found.push(value),
            Err(warning) => {
                warnings.push(warning);
                if !options.names_are_list {
                    found.push(Value::Null);
                }
            }
        }
    }
    let mut data = Map::new();
    if options.names_are_list {
        data.insert(format!("{key}s"), Value::Array(found));
    } else {
        data.insert(key.to_owned(), found.pop().unwrap_or(Value::Null));
    }
    Answer::new(Value::Object(data)).with_warnings(warnings)
}

pub(crate) fn not_found_warning(kind: &str, name: &str, near: &[&str]) -> Warning {
    let hint = if near.is_empty() {
        format!("List all with query '{kind}s'.")
    } else {
        format!("Nearest: {}.", near.join(", "))
    };
    Warning::new("NOT_FOUND", format!("Unknown {kind}{}. {hint}", request::quoted_name(name)))
}

/// Returns the first sentence of the description, for lists.
pub(crate) fn summary(operation: &Operation) -> String {
    let text = operation.description.trim();
    let text = if text.is_empty() { operation.title.as_str() } else { text };
    shorten(first_sentence(text), MAX_SUMMARY_CHARS).into_owned()
}
