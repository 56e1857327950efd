//! Confirmations: a token that the model sends back after it asked the user, or the approval of a person through a channel that the model
//! cannot use.

use super::judge::denied;
use super::{AdapterGate, GateRequest};
use crate::caller::Ability;
use crate::operator::{
    Approval, ConfirmationKind, ConfirmationScope, ConfirmationStatus, Issued, NewConfirmation, Redemption,
};
use crate::state::random_bytes;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::gate::config::{Approver, GateConfig};
use mcpaql_core::gate::decision::{DecidedBy, Decision};
use mcpaql_core::gate::fingerprint::fingerprint;
use mcpaql_core::gate::redact::redact;
use mcpaql_core::gate::token::{self, GateToken};
use mcpaql_core::operation::{Danger, Operation};
use mcpaql_core::timestamp::timestamp;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How long a token is valid.
pub(super) const TOKEN_LIFE: Duration = Duration::from_secs(300);
/// How long the token of a forbidden operation is valid.
const SHORT_TOKEN_LIFE: Duration = Duration::from_secs(120);
/// How long a person has to decide, and how long an approval waits for its call.
const REQUEST_LIFE: Duration = Duration::from_secs(900);

impl AdapterGate {
    /// Confirms a call, or returns the error that says how to confirm it.
    pub(super) async fn confirm(
        &self,
        config: &GateConfig,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: &Decision,
    ) -> Result<(), OpError> {
        let scope = ConfirmationScope {
            adapter: call.adapter.to_owned(),
            operation: call.operation.to_owned(),
            call_hash: token::call_hash(call.adapter, call.operation, call.args),
            caller: call.caller.to_owned(),
        };
        match (decision.approver, request.confirmation) {
            (Approver::Token, Some(token)) => self.redeem(call, &scope, token).await,
            (Approver::Token, None) => Err(self.issue_token(call, request, decision, scope).await),
            // No token can stand for a person.
            (Approver::Person, _) => self.ask_person(config, call, request, decision, scope).await,
        }
    }

    pub(super) async fn redeem(
        &self,
        call: &GatedCall<'_>,
        scope: &ConfirmationScope,
        token: &str,
    ) -> Result<(), OpError> {
        let redeemed = self.gate.state().redeem_token(&token::hash(token), scope).await;
        let redeemed = redeemed.map_err(|error| self.undecidable(call).with_cause(error))?;
        let again = "Send the call without a token to get a new one.";
        let (code, message) = match redeemed {
            Redemption::Redeemed { .. } => return Ok(()),
            Redemption::Invalid => (Code::TokenInvalid, format!("The confirmation token is unknown. {again}")),
            Redemption::Expired => (Code::TokenExpired, format!("The confirmation token has expired. {again}")),
            Redemption::AlreadyUsed => {
                (Code::TokenAlreadyUsed, format!("The confirmation token was already used. {again}"))
            }
            Redemption::ScopeMismatch => (
                Code::TokenScopeMismatch,
                "The confirmation token belongs to another call. Send exactly the confirmed call, or the call without a token to get a new one."
                    .to_owned(),
            ),
            Redemption::TooManyAttempts { retry_after_seconds } => {
                let message = "Too many unknown confirmation tokens. Wait before you send another one.";
                return Err(denied(Code::RateLimitExceeded, message, call)
                    .with_detail("retry_after_seconds", retry_after_seconds));
            }
        };
        Err(denied(code, message, call))
    }

    async fn issue_token(
        &self,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: &Decision,
        scope: ConfirmationScope,
    ) -> OpError {
        let expires_in = if decision.danger == Danger::Forbidden { SHORT_TOKEN_LIFE } else { TOKEN_LIFE };
        let error = self.unconfirmed(call, request, decision);
        self.offer_token(call, GateToken::confirmation, (scope, decision.danger, expires_in), error).await
    }

    /// Issues a token, and adds it to the error that asks for it.
    pub(super) async fn offer_token(
        &self,
        call: &GatedCall<'_>,
        token: fn([u8; 32]) -> GateToken,
        (scope, danger, expires_in): (ConfirmationScope, Danger, Duration),
        mut error: OpError,
    ) -> OpError {
        let token = match random_bytes() {
            Ok(random) => token(random),
            Err(cause) => return self.undecidable(call).with_cause(cause),
        };
        let new = NewConfirmation {
            kind: ConfirmationKind::Token { hash: token.hash() },
            scope,
            danger,
            expires_in,
            request: Value::Null,
            state_hash: None,
        };
        match self.gate.state().issue(&new).await {
            Ok(Issued::New { expires_at, .. } | Issued::AlreadyOpen { expires_at, .. }) => {
                error.details.shift_insert(0, "confirmation_token".to_owned(), token.expose().into());
                error.details.shift_insert(1, "expires_at".to_owned(), timestamp(expires_at / 1000).into());
                error
            }
            Ok(Issued::TooMany { retry_after_seconds }) => too_many(call, retry_after_seconds),
            Err(cause) => self.undecidable(call).with_cause(cause),
        }
    }

    /// The error of a call that needs a confirmation.
    pub(super) fn unconfirmed(
        &self,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: &Decision,
    ) -> OpError {
        let operation = request.subject.operation();
        let danger = decision.danger.as_str();
        // The reason of a rule says more than the danger.
        let (colon, why) = match (&decision.decided_by, decision.reasons.first()) {
            (DecidedBy::Rule(_), Some(reason)) => (".", reason.clone()),
            _ => (":", format!("it is {danger}.")),
        };
        let message = match decision.approver {
            Approver::Token => format!(
                "'{}' needs a confirmation{colon} {why} Ask the user, then send the same call again with confirmation_token in params.",
                call.operation
            ),
            Approver::Person => format!(
                "'{}' needs the approval of a person{colon} {why} Tell the user to approve it, then send the same call again.",
                call.operation
            ),
        };
        let declared = operation
            .and_then(|operation| operation.danger_notes.as_ref())
            .and_then(|notes| notes.confirmation_message.clone());
        OpError::new(Code::ConfirmationRequired, message.clone())
            .with_detail("danger_level", danger)
            .with_detail("reasons", reasons(operation, decision))
            .with_detail("confirmation_message", declared.unwrap_or(message))
    }

    async fn ask_person(
        &self,
        config: &GateConfig,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: &Decision,
        scope: ConfirmationScope,
    ) -> Result<(), OpError> {
        let current = match request.current {
            Some(reader) => reader.read().await,
            None => None,
        };
        let state_hash = current.as_ref().map(fingerprint);
        let lost = |error| self.undecidable(call).with_cause(error);
        let state = self.gate.state();
        let (id, expires_at) = match state.take_approved(&scope, state_hash.as_deref()).await.map_err(lost)? {
            Approval::Taken { .. } => return Ok(()),
            Approval::Denied { .. } => return Err(denied_by_person(call)),
            Approval::Open { id, expires_at } => (id, expires_at),
            Approval::NotApproved | Approval::Expired | Approval::StateChanged => {
                let new = NewConfirmation {
                    kind: ConfirmationKind::Person,
                    scope: scope.clone(),
                    danger: decision.danger,
                    expires_in: REQUEST_LIFE,
                    request: self.shown_request(call, request, decision, current.as_ref()),
                    state_hash: state_hash.clone(),
                };
                match state.issue(&new).await.map_err(lost)? {
                    Issued::New { id, expires_at } | Issued::AlreadyOpen { id, expires_at } => {
                        (id, expires_at)
                    }
                    Issued::TooMany { retry_after_seconds } => {
                        return Err(too_many(call, retry_after_seconds));
                    }
                }
            }
        };
        let wait = Duration::from_secs(config.confirm.wait_seconds);
        let page = self.gate.approval_page().map(|page| format!("{page}/approvals/{id}"));
        let status = tokio::select! {
            status = state.wait_for_decision(&id, wait) => status.map_err(lost)?,
            // The answer is stored, which ends the wait.
            () = self.ask_in_client(config, request, &id, page.as_deref()) => None,
        };
        match status {
            Some(ConfirmationStatus::Approved) => {
                match state.take_approved(&scope, state_hash.as_deref()).await.map_err(lost)? {
                    Approval::Taken { .. } => return Ok(()),
                    Approval::Denied { .. } => return Err(denied_by_person(call)),
                    _ => {}
                }
            }
            Some(ConfirmationStatus::Denied) => return Err(denied_by_person(call)),
            _ => {}
        }
        let mut error = self.unconfirmed(call, request, decision);
        let approve = match &page {
            Some(page) => format!("open {page}, or run `mcpaql approve {id}` in a terminal"),
            None => format!("run `mcpaql approve {id}` in a terminal"),
        };
        error.details.shift_insert(0, "approval_id".to_owned(), id.into());
        error.details.shift_insert(1, "expires_at".to_owned(), timestamp(expires_at / 1000).into());
        Err(error.with_detail("how_to_approve", approve))
    }

    /// Asks through the client, and never returns: shows the page to the user, or asks the user of a client whose questions the operator trusts. The
    /// answer is stored like that of any other person.
    async fn ask_in_client(
        &self,
        config: &GateConfig,
        request: &GateRequest<'_>,
        id: &str,
        page: Option<&str>,
    ) {
        let caller = request.caller;
        let is_trusted = caller.is_able(Ability::Elicitation)
            && caller
                .client_name()
                .is_some_and(|client| config.form_clients.iter().any(|listed| listed.matches(client)));
        if is_trusted {
            self.ask_with_form(request, id).await;
        } else if let Some(page) = page.filter(|_| caller.is_able(Ability::UrlElicitation)) {
            let message = format!("'{}' needs your approval.", request.subject.name());
            let question = json!({"mode": "url", "message": message, "url": page, "elicitationId": id});
            // The answer only says whether the page was opened.
            let _ = caller.ask(Ability::UrlElicitation, question).await;
        }
        std::future::pending().await
    }

    async fn ask_with_form(&self, request: &GateRequest<'_>, id: &str) {
        let Ok(Some(open)) = self.gate.state().confirmation(id).await else { return };
        let question = json!({
            "message": question_text(&open.request),
            "requestedSchema": {
                "type": "object",
                "properties": {"approve": {"type": "boolean", "title": "Approve this call"}},
                "required": ["approve"],
            },
        });
        let Ok(answer) = request.caller.ask(Ability::Elicitation, question).await else { return };
        let is_approved = match answer.get("action").and_then(Value::as_str) {
            Some("accept") => answer.pointer("/content/approve") == Some(&Value::Bool(true)),
            Some("decline") => false,
            // The user closed the question; another channel may still be used.
            _ => return,
        };
        let by =
            format!("{} in {}", request.caller.identity(), request.caller.client_name().unwrap_or_default());
        if let Err(error) = self.gate.state().decide(id, is_approved, &by).await {
            tracing::warn!(%error, "the answer to a question was not stored");
        }
    }

    /// Returns the call as a person sees it.
    fn shown_request(
        &self,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: &Decision,
        current: Option<&Value>,
    ) -> Value {
        let operation = request.subject.operation();
        let sensitive = request.sensitive_params();
        let mut shown = Map::new();
        let texts = [
            ("adapter", call.adapter),
            ("reaches", &self.reaches),
            ("operation", call.operation),
            ("title", operation.map_or("", |operation| operation.title.as_str())),
            ("category", call.category.as_str()),
            ("danger", decision.danger.as_str()),
            ("caller", call.caller),
            ("client", request.caller.client_name().unwrap_or_default()),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        shown.extend(texts.map(|(key, text)| (key.to_owned(), text.into())));
        shown.insert("reasons".to_owned(), reasons(operation, decision).into());
        shown.insert("params".to_owned(), redact(call.args, &sensitive));
        if let Some(current) = current {
            let visible = match current {
                Value::Object(record) => redact(record, &sensitive),
                other => other.clone(),
            };
            shown.insert("current".to_owned(), shortened(&visible));
            let changes = changes(current, call.args, &sensitive);
            if !changes.is_empty() {
                shown.insert("changes".to_owned(), changes.into());
            }
        }
        shown.into()
    }
}

/// Returns why a call needs a confirmation: its danger, the words of the document, and the rule of the operator.
fn reasons(operation: Option<&Operation>, decision: &Decision) -> Vec<String> {
    let mut reasons =
        operation.map(|operation| operation.danger_reasons(decision.danger)).unwrap_or_default();
    if matches!(decision.decided_by, DecidedBy::Rule(_) | DecidedBy::Quota(_)) {
        reasons.extend(decision.reasons.iter().cloned());
    }
    reasons
}

fn denied_by_person(call: &GatedCall<'_>) -> OpError {
    let message = format!("A person has denied '{}' with these parameters. Tell the user.", call.operation);
    denied(Code::PermissionDenied, message, call)
}

fn too_many(call: &GatedCall<'_>, retry_after_seconds: u64) -> OpError {
    let message = "Too many confirmations are open. Use or drop them before you ask for another one.";
    denied(Code::RateLimitExceeded, message, call).with_detail("retry_after_seconds", retry_after_seconds)
}

/// Maximum bytes of the current state in a request.
const MAX_CURRENT_BYTES: usize = 16_384;

/// Returns a value that a person can read.
fn shortened(current: &Value) -> Value {
    let text = current.to_string();
    if text.len() <= MAX_CURRENT_BYTES {
        return current.clone();
    }
    let start: String = text.chars().take(MAX_CURRENT_BYTES / 4).collect();
    format!("{start}… ({} bytes in total)", text.len()).into()
}

/// Returns the fields that a call gives other values than they have now.
fn changes(current: &Value, args: &Map<String, Value>, sensitive: &[&str]) -> Map<String, Value> {
    let input = args.get("input").and_then(Value::as_object).into_iter().flatten();
    let mut changes = Map::new();
    for (name, after) in args.iter().chain(input).filter(|(name, _)| !sensitive.contains(&name.as_str())) {
        if let Some(before) = current.get(name).filter(|before| *before != after) {
            changes.insert(name.clone(), json!({"from": shortened(before), "to": shortened(after)}));
        }
    }
    changes
}

/// Returns a stored request as a question.
fn question_text(request: &Value) -> String {
    let text = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
    let params = request.get("params").map(Value::to_string).unwrap_or_default();
    format!(
        "{} ({}) wants to run {} ({}) with {params}. Approve?",
        text("caller"),
        text("adapter"),
        text("operation"),
        text("danger")
    )
}
