//! The records of a call in the operator's log.
//!
//! What always holds: a decision about an operation that is destructive or worse is on disk before the operation runs. Every other call has one
//! record, written together with others after the call has ended. A call that is dropped early is recorded, too.

use super::judge::{PAUSED, denied};
use super::{AdapterGate, GateRequest};
use crate::operator::OperatorState;
use crate::record::OperatorLog;
use crate::state;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::gate::config::GateConfig;
use mcpaql_core::gate::decision::Decision;
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use mcpaql_core::gate::redact::redact;
use mcpaql_core::gate::token::call_hash;
use mcpaql_core::gate::trust::Verdict;
use mcpaql_core::operation::Danger;
use mcpaql_core::timestamp::timestamp;
use std::time::{Duration, Instant};

/// The record of a call that runs. It is written when the call ends, or when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct CallTrail {
    open: Option<Box<OpenTrail>>,
}

#[derive(Debug)]
struct OpenTrail {
    log: Option<OperatorLog>,
    record: LogRecord,
    started_at: Instant,
    /// Where the success is noted, if a rule asks for it.
    successes: Option<OperatorState>,
}

impl CallTrail {
    /// Ends the record of a call with its error, or with the size of its answer.
    pub(crate) fn end(mut self, error: Option<Code>, bytes: usize) {
        if let Some(open) = self.open.take() {
            open.end(error.map_or("ok", Code::as_str), bytes);
        }
    }

    /// Notes that the call succeeded, before its answer is sent: a rule may let another operation run only after this one.
    pub(crate) async fn succeeded(&self) {
        let Some(open) = &self.open else { return };
        let Some(state) = &open.successes else { return };
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let record = &open.record;
        let (adapter, operation, caller) =
            (text(&record.adapter), text(&record.operation), text(&record.caller));
        if let Err(error) = state.record_success(&adapter, &operation, &caller).await {
            tracing::warn!(%error, adapter, operation, "success not stored; rules with `after` do not see it");
        }
    }

    /// Whether anybody wants to know the size of the answer.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

impl Drop for CallTrail {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.end("cancelled", 0);
        }
    }
}

impl OpenTrail {
    fn end(self, outcome: &str, bytes: usize) {
        let OpenTrail { log, mut record, started_at, .. } = self;
        record.outcome = Some(outcome.to_owned());
        record.duration_ms = Some(millis(started_at.elapsed()));
        record.tokens = Some(u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX));
        if let Some(log) = log {
            log.append_batched(record);
        }
    }
}

/// Bytes of JSON per token, on average.
const BYTES_PER_TOKEN: usize = 4;

/// Whether a rule lets another operation run only after this one.
fn is_prerequisite(config: &GateConfig, call: &GatedCall<'_>) -> bool {
    let mut prerequisites = config.rules.iter().filter_map(|rule| rule.after.as_ref());
    prerequisites.any(|after| {
        after.operation == call.operation
            && after.adapter.as_deref().is_none_or(|adapter| adapter == call.adapter)
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl AdapterGate {
    /// Starts the record of a call that may run. The decision about a destructive call is stored first.
    pub(super) async fn start_trail(
        &self,
        config: &GateConfig,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: &Decision,
    ) -> Result<CallTrail, OpError> {
        let log = self.gate.log();
        let successes = is_prerequisite(config, call).then(|| self.gate.state().clone());
        if log.is_none() && successes.is_none() {
            return Ok(CallTrail::default());
        }
        let mut record = self.record(RecordKind::Call, call, request, Some(decision));
        if let Some(log) = log.filter(|_| decision.danger >= Danger::Destructive) {
            let id = state::fresh_id("call");
            record.call_id = Some(id);
            let before = LogRecord { kind: RecordKind::Decision, ..record.clone() };
            if let Err(error) = log.append_durable(before).await {
                let message = format!(
                    "'{}' was not run, because the log of the operator cannot be written. Tell the user.",
                    call.operation
                );
                return Err(denied(Code::Internal, message, call).with_cause(error));
            }
            // The decision has the parameters.
            (record.params, record.params_hash) = (None, None);
        }
        let started_at = Instant::now();
        Ok(CallTrail { open: Some(Box::new(OpenTrail { log: log.cloned(), record, started_at, successes })) })
    }

    /// Records a call that may not run.
    pub(super) async fn log_refusal(
        &self,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: Option<&Decision>,
        error: &OpError,
    ) {
        let Some(log) = self.gate.log() else { return };
        let mut record = self.record(RecordKind::Decision, call, request, decision);
        let verdict = if error.code == Code::ConfirmationRequired { Verdict::Confirm } else { Verdict::Deny };
        record.decision = Some(verdict.as_str().to_owned());
        record.outcome = Some(error.code.as_str().to_owned());
        if decision.is_none() {
            record.decided_by = Some(self.stop_of(error).to_owned());
        }
        log.append_batched(record);
    }

    /// Returns what stopped a call before rules were asked.
    fn stop_of(&self, error: &OpError) -> &'static str {
        if error.details.contains_key(PAUSED) {
            "pause"
        } else if self.gate.is_read_only() {
            "read-only"
        } else {
            "state"
        }
    }

    fn record(
        &self,
        kind: RecordKind,
        call: &GatedCall<'_>,
        request: &GateRequest<'_>,
        decision: Option<&Decision>,
    ) -> LogRecord {
        let mut record = LogRecord::new(kind, timestamp(state::now()));
        record.caller = Some(call.caller.to_owned());
        record.client = request.caller.client_name().map(str::to_owned);
        record.adapter = Some(call.adapter.to_owned());
        record.endpoint = Some(call.endpoint.to_owned());
        record.category = Some(call.category.as_str().to_owned());
        record.operation = Some(call.operation.to_owned());
        record.tags = call.tags.to_vec();
        let danger = decision.map_or(call.danger, |decision| decision.danger);
        record.danger = Some(danger.as_str().to_owned());
        record.declared_danger = (danger != call.danger).then(|| call.danger.as_str().to_owned());
        record.needs_confirmation = call.needs_confirmation;
        record.trust = Some(self.trust().as_str().to_owned());
        if let Some(decision) = decision {
            record.decision = Some(decision.verdict.as_str().to_owned());
            record.decided_by = Some(decision.decided_by.to_string());
            record.observed = decision.observed.as_ref().map(|observed| observed.verdict.as_str().to_owned());
        }
        record.params_hash = Some(call_hash(call.adapter, call.operation, call.args));
        record.params = Some(redact(call.args, &request.sensitive_params()));
        record
    }
}
