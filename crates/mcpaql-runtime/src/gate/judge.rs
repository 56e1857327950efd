//! The decision about one call.
//!
//! The order: introspection, `--read-only`, pauses, then rules, quotas, danger and trust, then the confirmation. Rules and quotas are read and
//! counted in one step, so that calls that run at the same time cannot exceed a limit together.

use super::request::flat_args;
use super::{AdapterGate, AllowedCall, CallTrail, GateDecision, GateRequest, Pass};
use crate::caller::EntryPoint;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::gate::config::{GateConfig, Quota};
use mcpaql_core::gate::decision::{DecidedBy, Decision, History, QuotaWarning, UnknownHistory, decide};
use mcpaql_core::gate::trust::Verdict;
use mcpaql_core::operation::Category;
use mcpaql_core::response::Warning;

/// The detail of an error of a pause.
pub(super) const PAUSED: &str = "paused";

/// What happens to the counters of a call that may run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// Nothing: it is a question.
    Never,
    /// They increase if no confirmation is needed.
    IfAllowed,
    /// They increase: the call was confirmed.
    Confirmed,
}

impl AdapterGate {
    /// Decides about a call. Waits for a person if one has to approve it.
    pub(crate) async fn decide(&self, request: &GateRequest<'_>) -> GateDecision {
        if request.subject.is_introspection() {
            return GateDecision::Allow(Box::new(allow_introspection(request.entry)));
        }
        #[cfg(test)]
        super::tests::record(request.entry);
        let args = flat_args(request);
        let call = request.gated_call(&self.adapter, &args);
        let outcome = match self.check_stops(&call, request).await {
            Ok(()) => self.judge(&call, request).await,
            Err(error) => Err((error, None)),
        };
        match outcome {
            Ok(allowed) => GateDecision::Allow(Box::new(allowed)),
            Err((error, decision)) => {
                if !request.dry_run {
                    self.log_refusal(&call, request, decision.as_ref(), &error).await;
                }
                GateDecision::Refuse(Box::new(error))
            }
        }
    }

    /// Refuses what `--read-only` or a pause stops.
    async fn check_stops(&self, call: &GatedCall<'_>, request: &GateRequest<'_>) -> Result<(), OpError> {
        let reads = call.category == Category::Read;
        let stops_work = request.subject.is_about_executions();
        if self.gate.is_read_only() && !reads && !stops_work {
            let message = format!(
                "'{}' is not allowed: this server only reads. Tell the user; the operator has started it with --read-only.",
                call.operation
            );
            return Err(denied(Code::PermissionDenied, message, call));
        }
        let pauses = self.gate.pauses().await.map_err(|error| self.undecidable(call).with_cause(error))?;
        // A running execution can be stopped during a pause.
        if !stops_work && pauses.iter().any(|pause| pause.stops(call.adapter, reads)) {
            let message = format!(
                "The operator has paused '{}'. Tell the user; `mcpaql resume` ends the pause.",
                call.adapter
            );
            return Err(denied(Code::PermissionDenied, message, call).with_detail(PAUSED, true));
        }
        Ok(())
    }

    async fn judge(
        &self,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
    ) -> Result<AllowedCall, (OpError, Option<Decision>)> {
        let config = self.gate.config();
        let counting = if request.dry_run { Counting::Never } else { Counting::IfAllowed };
        let mut decision = self.evaluate(&config, call, counting).await;
        let mut continued = Vec::new();
        // Each quota that pauses the call needs the user's word, unless the user gave it within its window.
        while let Some(quota) =
            paused_quota(&config, &decision).filter(|quota| !continued.contains(&quota.name))
        {
            if !request.dry_run
                && let Err(error) = Box::pin(self.continue_quota(call, request, quota, &decision)).await
            {
                return Err((error, Some(decision)));
            }
            if request.dry_run && !Box::pin(self.is_continued(call, quota)).await {
                return Err((refusal(call, &decision), Some(decision)));
            }
            continued.push(quota.name.clone());
            let call = &GatedCall { continued_quotas: &continued, ..*call };
            decision = self.evaluate(&config, call, counting).await;
        }
        let call = &GatedCall { continued_quotas: &continued, ..*call };
        // The operator's own program decides what a handler calls, and the call that it answers was confirmed.
        let is_confirmed_before =
            request.entry == EntryPoint::Handler || request.subject.is_about_executions();
        if decision.verdict == Verdict::Confirm && !is_confirmed_before {
            if request.dry_run {
                return Err((self.unconfirmed(call, request, &decision), Some(decision)));
            }
            if let Err(error) = Box::pin(self.confirm(&config, call, request, &decision)).await {
                return Err((error, Some(decision)));
            }
            decision = self.evaluate(&config, call, Counting::Confirmed).await;
        }
        if decision.verdict == Verdict::Deny {
            return Err((refusal(call, &decision), Some(decision)));
        }
        let warnings = decision.warnings.iter().map(quota_warning).collect();
        if request.dry_run {
            return Ok(AllowedCall { warnings, ..AllowedCall::unrecorded() });
        }
        let trail = match Box::pin(self.start_trail(&config, call, request, &decision)).await {
            Ok(trail) => trail,
            Err(error) => return Err((error, Some(decision))),
        };
        Ok(AllowedCall { pass: Pass(()), warnings, trail })
    }

    /// Evaluates rules and quotas, and counts the call.
    async fn evaluate(&self, config: &GateConfig, call: &GatedCall<'_>, counting: Counting) -> Decision {
        let trust = self.trust();
        let needs = config.needs(call);
        if needs.is_empty() {
            return decide(call, trust, config, &UnknownHistory);
        }
        let evaluate = |history: &dyn History| {
            let decision = decide(call, trust, config, history);
            let counts = match counting {
                Counting::Never => false,
                Counting::IfAllowed => decision.verdict == Verdict::Allow,
                Counting::Confirmed => decision.verdict != Verdict::Deny,
            };
            (decision, counts)
        };
        Box::pin(self.gate.state().with_history(&needs, evaluate)).await
    }

    /// The error of a call that cannot be decided about.
    pub(super) fn undecidable(&self, call: &GatedCall<'_>) -> OpError {
        let message = format!(
            "'{}' cannot be decided about, because the server cannot read or write the state of the operator. Tell the user.",
            call.operation
        );
        denied(Code::PermissionDenied, message, call)
    }
}

/// Returns the quota that pauses a call until its user decides.
fn paused_quota<'c>(config: &'c GateConfig, decision: &Decision) -> Option<&'c Quota> {
    let is_paused = decision.denial.as_ref().is_some_and(|denial| denial.code == Code::QuotaPause);
    let DecidedBy::Quota(name) = &decision.decided_by else { return None };
    config.quotas.iter().find(|quota| is_paused && quota.name == *name)
}

impl AllowedCall {
    /// A call that the log does not mention.
    fn unrecorded() -> AllowedCall {
        AllowedCall { pass: Pass(()), warnings: Vec::new(), trail: CallTrail::default() }
    }
}

/// Allows a call that only tells what adapters can do. That is never refused.
#[cfg_attr(not(test), expect(unused_variables, reason = "tests count the decisions"))]
pub(crate) fn allow_introspection(entry: EntryPoint) -> AllowedCall {
    #[cfg(test)]
    super::tests::record(entry);
    AllowedCall::unrecorded()
}

/// Returns an error about a call.
pub(super) fn denied(code: Code, message: impl Into<String>, call: &GatedCall<'_>) -> OpError {
    OpError::new(code, message).with_detail("operation", call.operation)
}

/// Returns the error of a call that was denied.
pub(super) fn refusal(call: &GatedCall<'_>, decision: &Decision) -> OpError {
    let Some(denial) = &decision.denial else {
        let message =
            format!("'{}' is not allowed. Tell the user; the operator can allow it.", call.operation);
        return denied(Code::PermissionDenied, message, call);
    };
    let mut error = denied(denial.code, denial.message.clone(), call)
        .with_detail("danger_level", decision.danger.as_str())
        .with_detail("decided_by", decision.decided_by.to_string());
    if decision.reasons.iter().any(|reason| *reason != denial.message) {
        error = error.with_detail("reasons", decision.reasons.clone());
    }
    if let Some(seconds) = denial.retry_after_seconds {
        error = error.with_detail("retry_after_seconds", seconds);
    }
    error
}

fn quota_warning(warning: &QuotaWarning) -> Warning {
    Warning::new(Code::QuotaWarning.as_str(), warning.message.clone())
        .with_detail("quota", warning.quota.as_str())
        .with_detail("used", warning.used)
        .with_detail("limit", warning.limit)
        .with_detail("resets_in_seconds", warning.resets_in_seconds)
}
