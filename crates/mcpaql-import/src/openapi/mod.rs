//! OpenAPI (2.0, 3.0, 3.1, 3.2) → adapter.

mod answer;
mod body;
pub mod details;
mod examples;
mod names;
mod pages;
mod params;
pub mod refs;
mod schema;
mod text;
pub mod type_names;
