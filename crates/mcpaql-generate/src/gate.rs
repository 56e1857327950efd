//! Whether an operation of a project in TypeScript or Python runs at once, needs a confirmation or is not allowed: decided here,
//! and written to `catalog.json` as the answer to a call.
//!
//! What always holds: the decision is that of `mcpaql serve` at the same trust level without rules of the operator.

use mcpaql_core::facts::danger_of;
use mcpaql_core::operation::{Binding, Danger, Operation};
use mcpaql_gate::trust::{TrustLevel, Verdict, matrix};
use serde_json::{Value, json};

/// How long a confirmation is valid.
const TOKEN_SECONDS: u64 = 300;
/// How long a confirmation is valid for an operation that only the highest trust level allows.
const FORBIDDEN_TOKEN_SECONDS: u64 = 120;

/// Returns the danger that decides about the calls of an operation. A document can only raise it.
fn danger(operation: &Operation) -> Danger {
    operation.danger.max(danger_of(&operation.name, operation.category))
}

/// Returns why a call needs a confirmation.
fn reasons(operation: &Operation) -> Vec<String> {
    vec![format!("{} is {}", operation.name, danger(operation).as_str())]
}

/// Returns the decision about the calls of an operation.
pub(crate) fn verdict(operation: &Operation, trust: TrustLevel) -> Verdict {
    match operation.binding {
        Binding::Introspect => Verdict::Allow,
        _ => matrix(danger(operation), trust),
    }
}

/// Returns what the runtime answers to a call; `None` if the operation runs at once. `has_own_parameter` means that the
/// operation has a parameter `confirmation_token`.
pub(crate) fn answer(operation: &Operation, trust: TrustLevel, has_own_parameter: bool) -> Option<Value> {
    let (name, danger) = (operation.name.as_str(), danger(operation));
    let level = danger.as_str();
    match verdict(operation, trust) {
        Verdict::Allow => None,
        Verdict::Confirm => {
            let token = if has_own_parameter { "_confirmation" } else { "confirmation_token" };
            let message = format!(
                "'{name}' needs a confirmation: it is {level}. Ask the user, then send the same call again with {token} in params."
            );
            let seconds = if danger == Danger::Forbidden { FORBIDDEN_TOKEN_SECONDS } else { TOKEN_SECONDS };
            Some(json!({
                "code": "CONFIRMATION_REQUIRED",
                "message": message,
                "details": {
                    "danger_level": level,
                    "reasons": reasons(operation),
                    "confirmation_message": message,
                },
                "seconds": seconds,
            }))
        }
        Verdict::Deny => {
            let trusted = trust.as_str();
            let code = match trust {
                TrustLevel::Untested | TrustLevel::Generated => "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
                _ => "PERMISSION_DANGER_LEVEL_DENIED",
            };
            Some(json!({
                "code": code,
                "message": format!(
                    "'{name}' is not allowed: it is {level}, and the operator trusts this adapter as {trusted}. Tell the user; the \
                     operator can allow it."
                ),
                "details": {"danger_level": level, "trust_level": trusted},
            }))
        }
    }
}
