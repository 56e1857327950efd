//! What the gate knows about a call.
//!
//! ```
//! use mcpaql_gate::call::GatedCall;
//! use mcpaql_lexicon::{Category, Danger};
//! use serde_json::Map;
//!
//! let call = GatedCall {
//!     adapter: "shop",
//!     endpoint: "delete",
//!     category: Category::Delete,
//!     operation: "delete_order",
//!     tags: &["orders".to_owned()],
//!     danger: Danger::Destructive,
//!     needs_confirmation: false,
//!     caller: "alice",
//!     args: &Map::new(),
//!     continued_quotas: &[],
//! };
//! assert_eq!(call.operation, "delete_order");
//! ```

use mcpaql_lexicon::{Category, Danger};
use serde_json::{Map, Value};

/// A call, as the gate judges it. The parameters are valid and contain no confirmation token.
#[derive(Debug, Clone, Copy)]
pub struct GatedCall<'a> {
    /// The name of the adapter.
    pub adapter: &'a str,
    /// The name of the endpoint, such as `delete`.
    pub endpoint: &'a str,
    /// The category of the operation.
    pub category: Category,
    /// The name of the operation.
    pub operation: &'a str,
    /// The tags of the operation.
    pub tags: &'a [String],
    /// The danger of the operation, before the operator's overrides.
    pub danger: Danger,
    /// Whether the document asks for a confirmation of each call.
    pub needs_confirmation: bool,
    /// Who calls: the name of a token, or the operating-system user.
    pub caller: &'a str,
    /// The parameters.
    pub args: &'a Map<String, Value>,
    /// The names of quotas whose pause a redeemed continue token of this call lifts.
    pub continued_quotas: &'a [String],
}
