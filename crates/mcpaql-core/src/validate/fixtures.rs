//! Operations for tests.

use crate::facts::{Declared, Guard, Reach, infer};
use crate::operation::{Binding, BodyForm, Category, Danger, HttpBinding, Operation, Param, Place, Style};
use crate::policy::HintOverrides;
use serde_json::Value;

/// An operation over HTTP without parameters.
pub(crate) fn operation(name: &str, category: Category) -> Operation {
    let binding = Binding::Http(HttpBinding {
        method: "POST".into(),
        path: Vec::new(),
        body: BodyForm::Json,
        body_param: None,
    });
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
    Operation {
        name: name.into(),
        aliases: Vec::new(),
        category,
        endpoint: category.endpoint().into(),
        title: String::new(),
        description: String::new(),
        params: Vec::new(),
        returns: None,
        examples: Vec::new(),
        tags: Vec::new(),
        danger,
        facts: infer(&declared),
        hints: HintOverrides::default(),
        deprecated: None,
        binding,
    }
}

/// A parameter whose wire name is its name.
pub(crate) fn param(name: &str, place: Place, required: bool, schema: Value) -> Param {
    Param {
        name: name.into(),
        wire: name.into(),
        place,
        required,
        sensitive: false,
        description: String::new(),
        schema,
        default: None,
        style: Style::default_for(place),
    }
}
