//! Operations for tests, here and in the integration tests.

use mcpaql_core::facts::{Declared, Guard, Reach, infer};
use mcpaql_core::operation::{
    Binding, Category, Danger, HttpBinding, Operation, Param, ParamLocation, Segment,
};
use serde_json::Value;

/// A parameter with the default style of its location; required in a path.
pub(crate) fn param(name: &str, location: ParamLocation) -> Param {
    Param {
        required: location == ParamLocation::Path,
        ..Param::new(name, location, Value::Object(Default::default()))
    }
}

/// An operation whose category and facts follow from its method.
pub(crate) fn operation(method: &str, template: &str, params: Vec<Param>) -> Operation {
    let category = match method {
        "GET" | "HEAD" => Category::Read,
        "PUT" | "PATCH" => Category::Update,
        "DELETE" => Category::Delete,
        _ => Category::Create,
    };
    let binding = Binding::Http(HttpBinding::new(method, segments(template)));
    let facts = infer(&Declared {
        category,
        effect: None,
        idempotent: None,
        danger: Danger::Reversible,
        guard: Guard::None,
        reach: Reach::Open,
        binding: &binding,
    });
    Operation { title: "Sample".into(), params, ..Operation::new("sample", category, facts, binding) }
}

/// The HTTP part of an operation.
pub(crate) fn http(operation: &mut Operation) -> &mut HttpBinding {
    match &mut operation.binding {
        Binding::Http(binding) => binding,
        _ => panic!("not an HTTP operation"),
    }
}

fn segments(template: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, remaining) = after.split_once('}').expect("a closed placeholder");
        segments.push(Segment::Literal(before.into()));
        segments.push(Segment::Param(name.into()));
        rest = remaining;
    }
    segments.push(Segment::Literal(rest.into()));
    segments.retain(|segment| *segment != Segment::Literal(String::new()));
    segments
}
