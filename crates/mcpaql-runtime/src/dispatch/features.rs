//! Prompts and resources take the same path as calls: gate, limits, target, record. They have no parameters to
//! prepare, and their answers are those of the protocol.

use crate::caller::{Caller, EntryPoint};
use crate::gate::{AdapterGate, AllowedCall, GateDecision, GateRequest, GateSubject};
use crate::limits::{self, RunningCalls};
use crate::protocol::{Feature, Features, INTERNAL_ERROR, RpcError};
use crate::record::Stats;
use crate::target::{FeatureRequest, Target};
use mcpaql_core::catalog::DEFAULT_MAX_DURATION_MS;
use mcpaql_core::error::{Code, OpError};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The prompts and resources of one adapter.
#[derive(Debug, Clone)]
pub(crate) struct FeatureSource {
    pub(super) gate: AdapterGate,
    pub(super) target: Arc<dyn Target>,
    pub(super) running: Arc<RunningCalls>,
    pub(super) stats: Arc<Stats>,
    pub(super) max_duration_ms: u64,
}

impl FeatureSource {
    /// Returns the source of an adapter that serves no calls yet. Its requests have their own limit of running calls.
    pub(crate) fn new(gate: AdapterGate, target: Arc<dyn Target>, stats: Arc<Stats>) -> FeatureSource {
        FeatureSource {
            gate,
            target,
            running: Arc::default(),
            stats,
            max_duration_ms: DEFAULT_MAX_DURATION_MS,
        }
    }

    pub(crate) fn features(&self) -> Features {
        self.target.features()
    }

    /// Sends one request to the target, and returns the protocol's answer.
    pub(crate) async fn request(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, RpcError> {
        let entry = EntryPoint::from(feature);
        let recording = self.stats.begin(entry);
        let subject = GateSubject::Feature(feature);
        let request = GateRequest { args: &params, ..GateRequest::new(entry, subject, caller) };
        let outcome = match self.gate.decide(&request).await {
            GateDecision::Allow(allowed) => {
                let AllowedCall { pass, trail, .. } = *allowed;
                let answering = Box::pin(async {
                    let _turn = self.running.acquire(caller).await?;
                    Ok(self.target.request(FeatureRequest::new(pass, feature, params, caller)).await)
                });
                let outcome = limits::within(self.max_duration_ms, answering).await;
                let outcome = outcome.unwrap_or_else(|error| Err(refused(error)));
                trail.end(outcome.as_ref().err().map(|_| Code::Internal), 0);
                outcome
            }
            GateDecision::Refuse(error) => {
                let data = Some(json!({"code": error.code.as_str()}));
                Err(RpcError { code: INTERNAL_ERROR, message: error.message, data })
            }
        };
        recording.end(outcome.as_ref().err().map(|_| Code::Internal));
        outcome
    }
}

/// The error of a request that got no turn, or took too long.
fn refused(error: OpError) -> RpcError {
    let mut details = error.details;
    details.insert("code".to_owned(), error.code.as_str().into());
    RpcError { code: INTERNAL_ERROR, message: error.message, data: Some(details.into()) }
}
