//! Another MCP server as a target. A call is a tool call of that server, and its result is unwrapped once.

mod duplicates;
pub(crate) mod links;
pub(super) mod tool_error;
mod tool_result;
mod upstream;

pub use upstream::{Upstream, UpstreamError, UpstreamSetupError, UpstreamState};

use super::{Args, FeatureRequest, Target, TargetCall, TargetKind, preview};
use crate::environment::Environment;
use crate::protocol::{Feature, Features, INTERNAL_ERROR, MISSING_CAPABILITY, RpcError};
use futures_util::future::BoxFuture;
use mcpaql_core::adapter::{self, Auth, McpTarget, ResultForm};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Binding, McpBinding, Operation};
use mcpaql_core::response::{Answer, ProtocolReply};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The tools of one MCP server.
#[derive(Debug)]
pub struct McpProxy {
    upstream: Upstream,
}

impl McpProxy {
    /// Prepares the connection to the server; nothing is started yet.
    ///
    /// # Errors
    /// When the target is invalid.
    pub fn new(
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<McpProxy, UpstreamSetupError> {
        Upstream::new(target, auth, environment).map(McpProxy::from_upstream)
    }

    /// Creates a target for a server whose connection is shared.
    #[must_use]
    pub const fn from_upstream(upstream: Upstream) -> McpProxy {
        McpProxy { upstream }
    }

    async fn call(&self, call: TargetCall<'_>) -> Result<Answer, OpError> {
        let TargetCall { operation, args, caller, results, .. } = call;
        let Binding::Mcp(binding) = &operation.binding else {
            return Err(OpError::new(Code::Internal, "The operation is not usable; tell the user.")
                .with_cause("the operation is not bound to a tool"));
        };
        let arguments = tool_arguments(operation, binding, args);
        let mut params = Args::new();
        params.insert("name".into(), binding.tool.as_str().into());
        params.insert("arguments".into(), arguments.into());
        let questions = self.upstream.questions();
        let input = caller.input().filter(|_| results == ResultForm::Plain && questions.is_allowed());
        params.extend(input.map(|input| input.params.clone()).unwrap_or_default());
        let outcome = self.upstream.request_raw("tools/call", &params, caller, operation.may_repeat()).await;
        let mask = || {
            let mut mask = self.upstream.mask();
            let sensitive = operation.params.iter().filter(|param| param.sensitive);
            mask.add_values(sensitive.filter_map(|param| args.get(&param.name)));
            mask
        };
        match outcome {
            Ok(result) if input.is_some() && upstream::is_input_required(&result) => {
                let mut required = serde_json::from_str(result.get()).unwrap_or_default();
                questions.name_in_requests(&mut required);
                Ok(Answer::new(Value::Null).with_protocol(ProtocolReply::InputRequired(required)))
            }
            Ok(result) if results == ResultForm::Plain => {
                tool_result::original(&result, questions.adapter(), mask)
            }
            Err(UpstreamError::Refused { code, message, data, .. })
                if input.is_some_and(|input| code == MISSING_CAPABILITY || !input.params.is_empty()) =>
            {
                Ok(Answer::new(Value::Null).with_protocol(ProtocolReply::Error { code, message, data }))
            }
            Ok(result) => tool_result::answer(&result, questions.adapter(), mask),
            Err(UpstreamError::Refused { code, message, data, .. }) => {
                Err(tool_error::refused(code, &message, data, &mask()))
            }
            Err(error) => Err(error.to_op_error()),
        }
    }
}

impl Target for McpProxy {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(self.call(call))
    }

    fn preview<'a>(
        &'a self,
        operation: &'a Operation,
        args: &'a Args,
    ) -> BoxFuture<'a, Result<Value, OpError>> {
        let shown = match &operation.binding {
            Binding::Mcp(binding) => {
                let arguments = tool_arguments(operation, binding, &preview::redacted(operation, args));
                json!({"tool": binding.tool, "arguments": arguments})
            }
            _ => preview::arguments(operation, args),
        };
        Box::pin(std::future::ready(Ok(shown)))
    }

    /// The features that the server declared in its last handshake. Whether it logs is known only after it has
    /// started.
    fn features(&self) -> Features {
        let handshake = self.upstream.handshake().unwrap_or_default();
        let declared = |feature: Feature| {
            handshake.get("capabilities")?.get(feature.capability()).filter(|declared| declared.is_object())
        };
        let has = |feature: Feature| declared(feature).is_some();
        let subscribes = declared(Feature::Subscribe).and_then(|resources| resources.get("subscribe"));
        Features {
            resources: has(Feature::Resources),
            prompts: has(Feature::Prompts),
            // Servers without a handshake have no `resources/subscribe`.
            subscriptions: handshake.contains_key("protocolVersion")
                && subscribes == Some(&Value::Bool(true)),
            completions: has(Feature::Completion),
            logging: true,
        }
    }

    fn request<'a>(&'a self, request: FeatureRequest<'a>) -> BoxFuture<'a, Result<Value, RpcError>> {
        Box::pin(async move {
            let FeatureRequest { feature, params, caller, .. } = request;
            let method = feature.method();
            let answer =
                match feature.entries() {
                    None => self.upstream.request(method, params.into(), caller).await,
                    Some(key) => self.upstream.list(method, key, caller).await.map(|entries| {
                        Value::Object(Map::from_iter([(key.to_owned(), Value::Array(entries))]))
                    }),
                };
            answer.map_err(rpc_error)
        })
    }

    fn passes_input(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { self.upstream.questions().is_allowed() && self.upstream.is_stateless().await })
    }

    fn can_be_down(&self) -> bool {
        true
    }

    fn upstreams(&self) -> Vec<&Upstream> {
        vec![&self.upstream]
    }
}

/// Returns the arguments of the server's tool, by the server's own names.
fn tool_arguments(operation: &Operation, binding: &McpBinding, args: &Args) -> Args {
    let wire = |name: &String| operation.param(name).map_or(name, |param| &param.wire).clone();
    let mut arguments: Args = args.iter().map(|(name, value)| (wire(name), value.clone())).collect();
    arguments.extend(binding.fixed.clone());
    arguments
}

fn rpc_error(error: UpstreamError) -> RpcError {
    match error {
        UpstreamError::Refused { code, message, data, .. } => RpcError { code, message, data },
        other => RpcError { code: INTERNAL_ERROR, message: other.to_op_error().message, data: None },
    }
}

/// The kind of other MCP servers.
pub(super) const TARGET_KIND: TargetKind = TargetKind {
    name: "mcp",
    open: |request| match request.target {
        adapter::TargetConfig::Mcp(target) => Some(Box::pin(async move {
            let adapter = &request.catalog.adapter.name;
            let upstream = Upstream::of_adapter(adapter, None, target, request.auth, request.environment);
            let proxy = match upstream {
                Ok(upstream) => McpProxy::from_upstream(upstream),
                Err(error) => {
                    let user_message = error.to_string();
                    return Err(request.error(error, user_message));
                }
            };
            if target.eager {
                let upstream = proxy.upstream.clone();
                // Its state and the first call show whether it has started.
                tokio::spawn(async move { drop(upstream.start().await) });
            }
            Ok(Arc::new(proxy) as Arc<dyn Target>)
        })),
        _ => None,
    },
};
