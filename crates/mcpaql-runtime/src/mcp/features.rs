//! The features of a service besides tools: prompts and resources, which it answers as raw JSON, and logs.
//!
//! The protocol library needs its own types to send them. An entry of a list that does not fit is omitted and logged,
//! so that the other entries are still listed.

use super::client;
use super::handler::{McpServer, is_stateless};
use crate::caller::ClientInput;
use crate::protocol::{Feature, Features, RpcError};
use crate::service::Service;
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, InputRequiredResult, JsonObject, PromptsCapability, ResourcesCapability, ServerCapabilities,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

impl From<RpcError> for ErrorData {
    fn from(error: RpcError) -> ErrorData {
        let code = i32::try_from(error.code).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
        ErrorData::new(code, error.message, error.data)
    }
}

/// Declares the features as capabilities. `announces_changes`: clients are told when a list changes.
pub(super) fn declare(capabilities: &mut ServerCapabilities, features: Features, announces_changes: bool) {
    capabilities.resources = features.resources.then(|| {
        let mut resources = ResourcesCapability::default();
        resources.subscribe = features.subscriptions.then_some(true);
        resources.list_changed = announces_changes.then_some(true);
        resources
    });
    capabilities.prompts = features.prompts.then(|| {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = announces_changes.then_some(true);
        prompts
    });
    capabilities.completions = features.completions.then(JsonObject::default);
    capabilities.logging = features.logging.then(JsonObject::default);
}

/// Returns whether this is a method of one of the features. Revisions without a handshake subscribe in another way.
pub(super) fn is_feature(method: &str, features: Features, is_stateless: bool) -> bool {
    let is_removed =
        |feature: Feature| is_stateless && matches!(feature, Feature::Subscribe | Feature::Unsubscribe);
    Feature::ALL
        .into_iter()
        .any(|feature| feature.method() == method && feature.is_in(features) && !is_removed(feature))
}

impl<S: Service> McpServer<S> {
    /// Asks the service. The request is dropped if the client cancels.
    pub(super) async fn requested(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        self.service().wait_until_ready().await;
        if !feature.is_in(self.features()) {
            return Err(RpcError::method_not_found(feature).into());
        }
        let (mut caller, _) = self.caller(context);
        if is_stateless(context) {
            let capabilities = client::capabilities(context);
            caller = caller.with_input(ClientInput { params: Map::new(), capabilities });
        }
        tokio::select! {
            answer = self.service().request(feature, params, &caller) => answer.map_err(ErrorData::from),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("The request was cancelled.", None)),
        }
    }

    /// Returns the entries of a list.
    pub(super) async fn feature_list<T: DeserializeOwned>(
        &self,
        feature: Feature,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<T>, ErrorData> {
        let mut answer = self.requested(feature, Map::new(), context).await?;
        let entries = feature.entries().and_then(|key| answer.get_mut(key)).map(Value::take);
        let Some(Value::Array(entries)) = entries else { return Ok(Vec::new()) };
        let read = |entry: Value| match serde_json::from_value::<T>(entry) {
            Ok(entry) => Some(entry),
            Err(error) => {
                tracing::debug!(method = feature.method(), %error, "invalid entry of a list omitted");
                None
            }
        };
        Ok(entries.into_iter().filter_map(read).collect())
    }

    /// Returns one prompt or resource.
    pub(super) async fn feature_one<T: DeserializeOwned>(
        &self,
        feature: Feature,
        params: impl serde::Serialize,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        parsed(feature, self.feature_answer(feature, params, context).await?)
    }

    /// Returns the answer of the service, which may be a question.
    pub(super) async fn feature_answer(
        &self,
        feature: Feature,
        params: impl serde::Serialize,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let params = match serde_json::to_value(params) {
            Ok(Value::Object(params)) => params,
            _ => Map::new(),
        };
        self.requested(feature, params, context).await
    }
}

/// Returns the questions of a server that needs input before it answers.
pub(super) fn input_required(answer: &Value) -> Option<InputRequiredResult> {
    InputRequiredResult::deserialize(answer).ok()
}

/// Converts an answer to the library's type.
pub(super) fn parsed<T: DeserializeOwned>(feature: Feature, mut answer: Value) -> Result<T, ErrorData> {
    // The newest revision requires this field; the library removes it for others.
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("resultType".into(), "complete".into());
    }
    serde_json::from_value(answer).map_err(|error| {
        tracing::debug!(method = feature.method(), %error, "invalid answer of an upstream");
        ErrorData::internal_error("The upstream server sent an invalid answer.", None)
    })
}
