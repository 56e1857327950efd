//! A library with as many operations as large APIs. It counts how many operations are read.

use crate::support::document;
use indexmap::IndexMap;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::facts::{Declared, Guard, Reach, infer};
use mcpaql_core::library::{Library, LibraryOperation, Outline};
use mcpaql_core::operation::{
    Binding, Category, Danger, HttpBinding, Operation, Param, ParamLocation, Returns, Segment,
};
use mcpaql_document::compile::compile_deferred;
use mcpaql_document::load;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Complete operations; the adapter has only their heads.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) operations: Vec<Operation>,
    pub(crate) types: IndexMap<String, Value>,
    read: AtomicUsize,
}

impl Shelf {
    /// The number of complete operations that were read.
    pub(crate) fn read(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }
}

impl Library for Shelf {
    fn operation(&self, index: usize) -> Option<LibraryOperation> {
        self.read.fetch_add(1, Ordering::SeqCst);
        let operation = self.operations.get(index)?.clone();
        Some(LibraryOperation { operation, types: self.types.clone() })
    }

    fn outline(&self, index: usize) -> Outline {
        Outline::of(&self.operations[index], &self.types)
    }

    fn type_names(&self) -> Vec<String> {
        self.types.keys().cloned().collect()
    }

    fn type_named(&self, name: &str) -> Option<Value> {
        self.types.get(name).cloned()
    }
}

/// An operation over HTTP with this path.
pub(crate) fn operation(name: &str, category: Category, path: &str) -> Operation {
    let pieces = path.split_inclusive(['{', '}']).filter(|piece| *piece != "{");
    let path = pieces.map(|piece| match piece.strip_suffix('}') {
        Some(param) => Segment::Param(param.to_owned()),
        None => Segment::Literal(piece.trim_end_matches('{').to_owned()),
    });
    let binding = Binding::Http(HttpBinding::new("POST", path.collect()));
    let danger = Danger::Reversible;
    let declared = Declared {
        category,
        effect: None,
        idempotent: None,
        danger,
        guard: Guard::None,
        reach: Reach::Open,
        binding: &binding,
    };
    let facts = infer(&declared);
    let mut operation = Operation::new(name, category, facts, binding.clone());
    if let Binding::Http(http) = &binding {
        let placeholders = http.path.iter().filter_map(|segment| match segment {
            Segment::Param(name) => Some(name.as_str()),
            Segment::Literal(_) => None,
        });
        operation.params = placeholders.map(|name| required(name, json!({"type": "string"}))).collect();
    }
    operation
}

pub(crate) fn required(name: &str, schema: Value) -> Param {
    Param { required: true, ..Param::new(name, ParamLocation::Path, schema) }
}

pub(crate) fn optional(name: &str, schema: Value) -> Param {
    Param::new(name, ParamLocation::Query, schema)
}

fn head(operation: &Operation) -> Operation {
    Operation { params: Vec::new(), returns: None, examples: Vec::new(), ..operation.clone() }
}

/// An adapter without operations.
pub(crate) fn bare() -> Adapter {
    let source = document("operations: { read: [] }\n");
    load::load(&source.parse().expect("it is YAML").value).adapter.expect("it has a name and a target")
}

/// Returns the catalog of these operations, and their library.
pub(crate) fn shelved(
    adapter: Adapter,
    operations: Vec<Operation>,
    types: IndexMap<String, Value>,
    settings: &AdapterSettings,
) -> (Catalog, Arc<Shelf>) {
    let heads = operations.iter().map(head).collect();
    let shelf = Arc::new(Shelf { operations, types, read: AtomicUsize::new(0) });
    let compiled = compile_deferred(
        Adapter { operations: heads, ..adapter },
        Arc::clone(&shelf) as Arc<dyn Library>,
        settings,
    );
    assert_eq!(compiled.diagnostics, []);
    (compiled.catalog.expect("it can be served"), shelf)
}

/// Returns this number of operations, with names, parameters and tags that repeat like those of real APIs.
pub(crate) fn operations(count: usize, tag: impl Fn(usize) -> String) -> Vec<Operation> {
    let verbs = ["create", "get", "update", "delete", "run"];
    let nouns = ["issue", "pull_request", "repository", "workflow_run", "team_member", "deployment_status"];
    let one = |index: usize| {
        let noun = nouns[index / 5 % nouns.len()];
        let name = format!("{}_{noun}_{index}", verbs[index % 5]);
        let mut operation =
            operation(&name, Category::ALL[index % 5], &format!("/repos/{{owner}}/{{repo}}/{noun}/{index}"));
        operation.tags = vec![tag(index)];
        operation.description =
            format!("Something number {index} that an API of this size does. At great length.");
        operation.params.push(optional("title", json!({"type": "string"})));
        operation.params.push(optional("state", json!({"enum": ["open", "closed", "all"]})));
        operation.returns =
            Some(Returns { schema: json!({"$ref": "#/types/Thing"}), description: String::new() });
        operation
    };
    (0..count).map(one).collect()
}

/// Types that refer to one another.
pub(crate) fn types(count: usize) -> IndexMap<String, Value> {
    let chained = (0..count).map(|index| {
        let next = format!("#/types/Thing{}", (index + 1) % count);
        (
            format!("Thing{index}"),
            json!({"type": "object", "properties": {"id": {"type": "integer"}, "next": {"$ref": next}}}),
        )
    });
    let thing = json!({"type": "object", "properties": {"next": {"$ref": "#/types/Thing0"}}});
    std::iter::once(("Thing".to_owned(), thing)).chain(chained).collect()
}
