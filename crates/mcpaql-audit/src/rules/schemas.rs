//! Rules about input schemas.

mod bad_enum;
mod circular_reference;
mod dangling_reference;
mod deep_nesting;
mod invalid_default;
mod invalid_pattern;
mod large_enum;
mod malformed_keyword;
mod network_reference;
mod no_object;
mod parameter_name;
mod trap;
mod undeclared_required;
mod undescribed_parameters;
mod unknown_type;
mod unsupported_feature;

use crate::rule::Rule;
use mcpaql_core::reader::has_type;
use serde_json::{Map, Value};

pub(super) static RULES: &[&Rule] = &[
    &no_object::RULE,
    &undescribed_parameters::RULE,
    &dangling_reference::RULE,
    &network_reference::RULE,
    &undeclared_required::RULE,
    &unsupported_feature::RULE,
    &unknown_type::RULE,
    &bad_enum::RULE,
    &large_enum::RULE,
    &invalid_default::RULE,
    &parameter_name::RULE,
    &deep_nesting::RULE,
    &invalid_pattern::RULE,
    &circular_reference::RULE,
    &malformed_keyword::RULE,
];

/// Returns whether the `type` of a schema allows a value; an unknown type allows every value.
fn fits_type(map: &Map<String, Value>, value: &Value) -> bool {
    let fits = |name: &str| has_type(value, name);
    match map.get("type") {
        Some(Value::String(name)) => fits(name),
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str().is_none_or(fits)),
        _ => true,
    }
}
