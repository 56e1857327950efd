//! OpenAPI (2.0, 3.0, 3.1, 3.2) → adapter.

pub mod refs;
