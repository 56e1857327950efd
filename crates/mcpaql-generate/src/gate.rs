//! Whether an operation of a project in TypeScript or Python runs at once, needs a confirmation or is not allowed: decided here,
//! and written to `catalog.json` as the answer to a call.
//!
//! What always holds: the decision is that of `mcpaql serve` at the same trust level without rules of the operator.

use mcpaql_core::operation::{Binding, Danger, Operation};
use mcpaql_gate::trust::{TrustLevel, Verdict, matrix};
use serde_json::{Value, json};

/// How long a confirmation is valid.
const TOKEN_SECONDS: u64 = 300;
/// How long a confirmation is valid for an operation that only the highest trust level allows.
const FORBIDDEN_TOKEN_SECONDS: u64 = 120;

/// Returns the decision about the calls of an operation.
pub(crate) fn verdict(operation: &Operation, trust: TrustLevel) -> Verdict {
    match operation.binding {
        Binding::Introspect => Verdict::Allow,
        _ => match matrix(operation.effective_danger(), trust) {
            Verdict::Allow if operation.needs_confirmation() => Verdict::Confirm,
            verdict => verdict,
        },
    }
}

/// Returns what the runtime answers to a call; `None` if the operation runs at once. `has_own_parameter` means that the
/// operation has a parameter `confirmation_token`.
pub(crate) fn answer(operation: &Operation, trust: TrustLevel, has_own_parameter: bool) -> Option<Value> {
    let (name, danger) = (operation.name.as_str(), operation.effective_danger());
    let level = danger.as_str();
    match verdict(operation, trust) {
        Verdict::Allow => None,
        Verdict::Confirm => {
            let token = if has_own_parameter { "_confirmation" } else { "confirmation_token" };
            let message = format!(
                "'{name}' needs a confirmation: it is {level}. Ask the user, then send the same call again with {token} in params."
            );
            let seconds = if danger == Danger::Forbidden { FORBIDDEN_TOKEN_SECONDS } else { TOKEN_SECONDS };
            let declared =
                operation.danger_notes.as_ref().and_then(|notes| notes.confirmation_message.as_deref());
            Some(json!({
                "code": "CONFIRMATION_REQUIRED",
                "message": message,
                "details": {
                    "danger_level": level,
                    "reasons": operation.danger_reasons(danger),
                    "confirmation_message": declared.unwrap_or(&message),
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::facts::{Facts, Reach};
    use mcpaql_core::operation::{Category, DangerNotes};

    /// An operation that changes something, with this danger.
    fn operation(name: &str, danger: Danger) -> Operation {
        let facts = Facts::read(Reach::Process);
        Operation { danger, ..Operation::new(name, Category::Update, facts, Binding::Code) }
    }

    #[test]
    fn an_operation_that_runs_at_once_needs_no_answer() {
        assert_eq!(answer(&operation("set_it", Danger::Reversible), TrustLevel::Validated, false), None);
        let introspect =
            Operation::new("introspect", Category::Read, Facts::read(Reach::Process), Binding::Introspect);
        assert_eq!(answer(&introspect, TrustLevel::Untested, false), None);
    }

    #[test]
    fn a_confirmation_says_what_it_is_about_and_how_it_is_given() {
        let set = operation("set_it", Danger::Destructive);
        let message = "'set_it' needs a confirmation: it is destructive. Ask the user, then send the same call again with \
                       confirmation_token in params.";
        assert_eq!(
            answer(&set, TrustLevel::Validated, false),
            Some(json!({
                "code": "CONFIRMATION_REQUIRED",
                "message": message,
                "details": {
                    "danger_level": "destructive",
                    "reasons": ["set_it is destructive"],
                    "confirmation_message": message,
                },
                "seconds": 300,
            }))
        );
        let own = answer(&set, TrustLevel::Validated, true).unwrap();
        assert!(own["message"].as_str().unwrap().ends_with("again with _confirmation in params."), "{own}");
        let forbidden =
            answer(&operation("set_it", Danger::Forbidden), TrustLevel::Certified, false).unwrap();
        assert_eq!(forbidden["seconds"], 120);
    }

    #[test]
    fn a_denial_names_the_danger_or_the_missing_trust() {
        let code = |danger: Danger, trust: TrustLevel| {
            let answer = answer(&operation("set_it", danger), trust, false).unwrap();
            assert_eq!(answer.get("seconds"), None, "{answer}");
            answer["code"].as_str().unwrap().to_owned()
        };
        for (danger, trust) in [
            (Danger::Dangerous, TrustLevel::Validated),
            (Danger::Forbidden, TrustLevel::Validated),
            (Danger::Forbidden, TrustLevel::CommunityReviewed),
        ] {
            assert_eq!(code(danger, trust), "PERMISSION_DANGER_LEVEL_DENIED");
        }
        for (danger, trust) in [
            (Danger::Safe, TrustLevel::Untested),
            (Danger::Forbidden, TrustLevel::Untested),
            (Danger::Reversible, TrustLevel::Generated),
        ] {
            assert_eq!(code(danger, trust), "PERMISSION_TRUST_LEVEL_INSUFFICIENT");
        }
        let denied = answer(&operation("set_it", Danger::Dangerous), TrustLevel::Validated, false).unwrap();
        assert_eq!(
            denied["message"],
            "'set_it' is not allowed: it is dangerous, and the operator trusts this adapter as validated. Tell the user; the operator can allow it."
        );
        assert_eq!(denied["details"], json!({"danger_level": "dangerous", "trust_level": "validated"}));
    }

    #[test]
    fn a_document_cannot_lower_the_danger_of_a_name() {
        let purge = operation("purge_all", Danger::Safe);
        assert_eq!(verdict(&purge, TrustLevel::Validated), Verdict::Deny);
        assert_eq!(verdict(&operation("set_it", Danger::Dangerous), TrustLevel::Validated), Verdict::Deny);
    }

    #[test]
    fn a_document_asks_for_a_confirmation_in_its_own_words() {
        let notes = DangerNotes {
            reasons: vec!["it sends mail".to_owned()],
            confirmation_message: Some("Send it?".to_owned()),
            needs_confirmation: true,
            is_operators: false,
        };
        let send =
            Operation { danger_notes: Some(Box::new(notes)), ..operation("set_it", Danger::Reversible) };
        let told = answer(&send, TrustLevel::Certified, false).unwrap();
        assert_eq!(
            told["details"],
            json!({
                "danger_level": "reversible",
                "reasons": ["set_it is reversible", "it sends mail"],
                "confirmation_message": "Send it?",
            })
        );
        assert_eq!(verdict(&send, TrustLevel::Generated), Verdict::Deny);
    }

    #[test]
    fn no_message_looks_like_an_internal_error() {
        for name in ["set_at", "format", "put_it"] {
            for danger in Danger::ALL {
                for trust in TrustLevel::ALL {
                    let told = answer(&operation(name, danger), trust, false).unwrap_or_default();
                    let message = told["message"].as_str().unwrap_or_default().to_lowercase();
                    let after = message.split("at").skip(1);
                    assert!(
                        after.into_iter().all(|rest| !rest.starts_with(char::is_whitespace)),
                        "{message}"
                    );
                }
            }
        }
    }
}
