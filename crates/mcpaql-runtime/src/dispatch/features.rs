//! Prompts and resources on the same path as calls: gate, limits, target, record. There are no parameters to prepare, and the answer
//! is the protocol's own.

use crate::caller::{Caller, EntryPoint};
use crate::gate::{self, GateDecision, GateSubject};
use crate::limits::RunningCalls;
use crate::protocol::{Feature, Features, INTERNAL_ERROR, RpcError};
use crate::record::Stats;
use crate::target::{FeatureRequest, Target};
use mcpaql_core::error::Code;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What one adapter has besides operations.
#[derive(Debug, Clone)]
pub(crate) struct FeatureSource {
    pub(super) adapter: String,
    pub(super) target: Arc<dyn Target>,
    pub(super) running: Arc<RunningCalls>,
    pub(super) stats: Arc<Stats>,
}

impl FeatureSource {
    /// For an adapter that serves no calls yet, whose requests have turns of their own.
    pub(crate) fn new(adapter: &str, target: Arc<dyn Target>, stats: Arc<Stats>) -> FeatureSource {
        FeatureSource { adapter: adapter.to_owned(), target, running: Arc::default(), stats }
    }

    /// What there is.
    pub(crate) fn features(&self) -> Features {
        self.target.features()
    }

    /// One request, as the protocol has it.
    pub(crate) async fn request(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, RpcError> {
        let entry = EntryPoint::from(feature);
        let recording = self.stats.begin(entry);
        let subject = GateSubject::Feature(feature);
        let request = gate::GateRequest { caller, adapter: &self.adapter, entry, subject, args: &params };
        let outcome = match gate::decide(&request) {
            GateDecision::Allow(pass) => {
                let _turn = self.running.acquire().await;
                self.target.request(FeatureRequest::new(pass, feature, params, caller)).await
            }
            GateDecision::Refuse(error) => {
                Err(RpcError { code: INTERNAL_ERROR, message: error.message, data: None })
            }
        };
        recording.end(outcome.as_ref().err().map(|_| Code::Internal));
        outcome
    }
}
