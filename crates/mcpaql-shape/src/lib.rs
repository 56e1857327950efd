//! Query controls: selects the part of an answer that a call asks for. Works the same for every target.
//!
//! ```
//! use mcpaql_shape::{QueryControls, ShapeRequest, shape};
//! use serde_json::json;
//!
//! let params = json!({"filter": {"state": "open"}, "fields": ["id", "user.login"]});
//! let controls = QueryControls::read(params.as_object().cloned().unwrap(), &mut Vec::new()).unwrap();
//! let data = json!({"total": 2, "items": [
//!     {"id": 1, "state": "open", "user": {"login": "ada", "id": 7}},
//!     {"id": 2, "state": "closed", "user": {"login": "bob", "id": 8}},
//! ]});
//! let shaped = shape(data.into(), &ShapeRequest::new(&controls)).unwrap();
//! assert_eq!(shaped.data.into_value(), json!({"total": 2, "items": [{"id": 1, "user": {"login": "ada"}}]}));
//! ```
//!
//! The order is fixed: find the items, then `filter` → `sort` → `aggregate` → page → `fields`. Then [`fit`] reduces an
//! answer that is over its budget.
//!
//! What always holds: nothing is added to the items, except for the computed fields that a call selects. A field that exists nowhere, a filter that leaves nothing and a control
//! without effect are warnings. No JSON causes a panic.

mod answer;
mod query;
mod tokens;

pub use answer::{Payload, Warning, quoted_name};
pub use query::{
    AddedPage, Aggregations, CONTROLS, ComputedFields, CursorSigner, DEFAULT_ANSWER_BUDGET,
    DEFAULT_PAGE_ITEMS, DeclaredFields, FUNCTIONS, FieldPath, FieldPreset, FieldSelection, HiddenFields,
    ItemFilter, JoinedPages, MAX_PAGE_ITEMS, OPERATORS, PageRequest, PartRequest, QueryControls,
    ShapeRequest, ShapedData, SortKey, control_of, fit, is_within, list_in, raw_list_in, raw_members, shape,
};
pub use tokens::{answer_tokens, fits};
