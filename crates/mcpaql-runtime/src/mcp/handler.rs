//! The handler of MCP requests, for every revision: the tools of the service and its declared features.

use super::call::{ProgressUpdate, with_progress, without_panic};
use super::client::{self, QuestionChannel};
use super::conversation::Conversations;
use super::listing::Listing;
use super::logging::{INVALID_LEVEL, LogLevels};
use super::parked::{CallStep, ParkableCall, ParkedCalls};
use super::subscriptions::{self, Subscriptions};
use super::{features, identity, task};
use crate::caller::{Caller, Progress, Session};
use crate::protocol::{Feature, FeatureChange, Features, RpcError, SET_LEVEL};
use crate::service::Service;
use mcpaql_core::response::{ProtocolReply, ToolReply};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CompleteRequestParams, CompleteResult, ContentBlock, CreateTaskResult, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams,
    GetTaskResult, InitializeRequestParams, InitializeResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde::Deserialize;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// How long a client may cache a list before it asks again.
const LIST_TTL_MS: u64 = 60_000;

/// How long a handshake waits for a service that is still loading. After that the server answers with what it knows,
/// which may be incomplete. Waiting costs little, because the client's next request has to wait for the service
/// anyway. Only services that fetch remote data take longer.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(1);

/// Methods that every revision has.
const METHODS: [&str; 2] = ["tools/call", "tools/list"];
/// Methods of the revisions with a handshake.
const STATEFUL_METHODS: [&str; 2] = ["initialize", "ping"];
/// Methods of the revisions without a handshake.
const STATELESS_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// The server's side of all connections; clones share their state.
pub(crate) struct McpServer<S: Service> {
    shared: Arc<ServerShared<S>>,
}

impl<S: Service> Clone for McpServer<S> {
    fn clone(&self) -> Self {
        McpServer { shared: self.shared.clone() }
    }
}

struct ServerShared<S: Service> {
    service: Arc<S>,
    listing: Mutex<Option<Arc<Listing>>>,
    closing: CancellationToken,
    conversations: Arc<Conversations>,
    session: Option<Session>,
    parked: Arc<ParkedCalls>,
    levels: Arc<LogLevels>,
    subscriptions: Subscriptions<S>,
}

impl<S: Service> McpServer<S> {
    /// Creates a server for one connection or for all. Its subscriptions end when `closing` is cancelled.
    pub(crate) fn new(service: Arc<S>, closing: CancellationToken, session: Option<Session>) -> Self {
        let shared = ServerShared {
            service,
            listing: Mutex::new(None),
            closing,
            conversations: Arc::default(),
            session,
            parked: Arc::default(),
            levels: Arc::default(),
            subscriptions: Subscriptions::default(),
        };
        McpServer { shared: Arc::new(shared) }
    }

    pub(super) fn service(&self) -> &Arc<S> {
        &self.shared.service
    }

    pub(super) fn subscriptions(&self) -> &Subscriptions<S> {
        &self.shared.subscriptions
    }

    /// The features of the service; none if the service panicked.
    pub(super) fn features(&self) -> Features {
        catch_panic(|| self.shared.service.features()).unwrap_or_default()
    }

    pub(super) fn conversations(&self) -> &Arc<Conversations> {
        &self.shared.conversations
    }

    pub(super) fn levels(&self) -> &Arc<LogLevels> {
        &self.shared.levels
    }

    pub(super) fn session(&self) -> Option<Session> {
        self.shared.session.clone()
    }

    pub(super) fn changes(&self) -> Option<watch::Receiver<()>> {
        self.shared.service.changes()
    }

    pub(super) fn feature_changes(&self) -> Option<broadcast::Receiver<FeatureChange>> {
        self.shared.service.feature_changes()
    }

    pub(super) fn closing(&self) -> CancellationToken {
        self.shared.closing.clone()
    }

    /// The current tools; `None` if the service panicked.
    fn listing(&self) -> Option<Arc<Listing>> {
        let source = catch_panic(|| self.shared.service.tools())?;
        let mut known = self.shared.listing.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match &*known {
            Some(listing) if listing.is_from(&source) => listing.clone(),
            _ => known.insert(Arc::new(Listing::new(source))).clone(),
        })
    }

    /// Returns the caller of a request, and the receiver of its progress. In revisions without a handshake, the
    /// caller cannot be asked over the connection.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> (Caller, watch::Receiver<Progress>) {
        let channel =
            if is_stateless(context) { QuestionChannel::Never } else { QuestionChannel::Connection };
        client::caller(context, channel, self.session(), self.log_filter_source(context))
    }

    /// Waits for the service, up to [`HANDSHAKE_TIMEOUT`].
    async fn wait_for_handshake(&self) {
        let _ = tokio::time::timeout(HANDSHAKE_TIMEOUT, self.shared.service.wait_for_tools()).await;
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        progress: Option<ProgressToken>,
    ) -> ToolCallOutcome {
        self.shared.service.wait_until_ready().await;
        let service = &self.shared.service;
        if let Some(state) = &request.request_state {
            let parked = &self.shared.parked;
            if let Some(call) = parked.resume(state, &request.name, request.input_responses.as_ref()) {
                return self.run_parkable(call, context, progress).await;
            }
        }
        let passes_input = is_stateless(context) && service.passes_input(&request.name).await;
        if request.request_state.is_some() && !passes_input {
            return ToolCallOutcome::Forgotten;
        }
        let input = passes_input.then(|| client::input(context, &request));
        let arguments = request.arguments.unwrap_or_default();
        if ParkableCall::can_ask(context) {
            let (session, log_filter_source) = (self.session(), self.log_filter_source(context));
            let call = ParkableCall::begin(
                service,
                (&request.name, arguments),
                context,
                (session, input),
                log_filter_source,
            );
            return self.run_parkable(call, context, progress).await;
        }
        let (mut caller, reports) = self.caller(context);
        if let Some(input) = input {
            caller = caller.with_input(input);
        }
        let call = without_panic(async { service.call(&request.name, arguments, &caller).await });
        let reply = run_with_progress(call, reports, context, progress.as_ref()).await;
        self.reply_outcome(reply, &caller, context).await
    }

    /// Runs a call to its end, or to a question that the client must answer.
    async fn run_parkable(
        &self,
        mut call: ParkableCall,
        context: &RequestContext<RoleServer>,
        progress: Option<ProgressToken>,
    ) -> ToolCallOutcome {
        loop {
            let reports = call.progress.clone();
            match run_with_progress(call.step(), reports, context, progress.as_ref()).await {
                CallStep::Done(reply) => return self.reply_outcome(reply, &call.caller, context).await,
                CallStep::Asks(question) => match self.shared.parked.park(call, question) {
                    Ok(asked) => return ToolCallOutcome::Asks(asked),
                    Err(back) => call = *back,
                },
            }
        }
    }

    /// Returns the reply. For work that continues in the background, clients that support tasks get a task.
    async fn reply_outcome(
        &self,
        reply: Option<ToolReply>,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> ToolCallOutcome {
        let Some(mut reply) = reply else { return ToolCallOutcome::Unknown };
        match reply.protocol.take().map(|protocol| *protocol) {
            None => {}
            Some(ProtocolReply::Error { code, message, data }) => {
                return ToolCallOutcome::Refused(RpcError { code, message, data }.into());
            }
            Some(ProtocolReply::InputRequired(required)) => {
                return match serde_json::from_value(Value::Object(required)) {
                    Ok(required) => ToolCallOutcome::Asks(required),
                    Err(_) => {
                        let message = "The upstream server asked an invalid question.";
                        ToolCallOutcome::Refused(ErrorData::internal_error(message, None))
                    }
                };
            }
        }
        let supports_tasks =
            || context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        if let Some(id) = caller.execution().filter(|_| supports_tasks())
            && let Some(task) = self.shared.service.task(id, caller).await
        {
            return ToolCallOutcome::Answered(CallToolResponse::Task(CreateTaskResult::new(task::summary(
                &task,
            ))));
        }
        let mut result = result(reply);
        identity::identify(&mut result.meta, context);
        ToolCallOutcome::Answered(result.into())
    }
}

/// The outcome of a tool call.
enum ToolCallOutcome {
    Answered(CallToolResponse),
    /// There is no such tool.
    Unknown,
    /// The client must answer a question first.
    Asks(InputRequiredResult),
    /// The parked call that the client resumes no longer exists.
    Forgotten,
    /// The server behind the tool refused the request.
    Refused(ErrorData),
}

/// Returns the progress token inside the arguments, where the specification of MCP-AQL has it.
fn token_in_arguments(request: &CallToolRequestParams) -> Option<ProgressToken> {
    let token = request.arguments.as_ref()?.get("_meta")?.get("progressToken")?;
    ProgressToken::deserialize(token).ok()
}

/// Runs `work` and sends progress if the client asked for it.
async fn run_with_progress<T>(
    work: impl Future<Output = T>,
    reports: watch::Receiver<Progress>,
    context: &RequestContext<RoleServer>,
    token: Option<&ProgressToken>,
) -> T {
    let Some(token) = token else { return work.await };
    with_progress(work, reports, |ProgressUpdate { done, total, message }| {
        let mut params = ProgressNotificationParam::new(token.clone(), done);
        (params.total, params.message) = (total, message);
        async move {
            // If progress cannot be sent, the call still continues.
            let _ = context.peer.notify_progress(params).await;
        }
    })
    .await
}

fn result(reply: ToolReply) -> CallToolResult {
    let ToolReply { text, blocks, is_error, structured, meta, is_passed_on, omits_is_error, .. } = reply;
    // A result that is passed on has its texts among the blocks.
    let has_text = !text.is_empty() || (blocks.is_empty() && !is_passed_on);
    let text = has_text.then(|| ContentBlock::text(text));
    let mut result = CallToolResult::success(text.into_iter().chain(blocks.into_iter().map(block)).collect());
    result.is_error = (!omits_is_error).then_some(is_error);
    result.structured_content = structured;
    result.meta = meta.map(Into::into);
    result
}

fn task_not_found() -> ErrorData {
    ErrorData::invalid_params("There is no such task; it may have expired.", None)
}

/// Returns whether the request uses a revision without a handshake.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE)
}

/// Converts a content block to the library's type. An unknown block becomes its JSON as text.
fn block(value: Value) -> ContentBlock {
    ContentBlock::deserialize(&value).unwrap_or_else(|_| ContentBlock::text(value.to_string()))
}

/// Calls the service; `None` if it panics. The panic hook logs the panic itself.
fn catch_panic<T>(ask: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

pub(super) async fn next_change(changes: &mut Option<watch::Receiver<()>>) {
    if let Some(receiver) = changes
        && receiver.changed().await.is_ok()
    {
        return;
    }
    // A service that is gone, or that never changes, sends no more changes.
    std::future::pending().await
}

impl<S: Service> ServerHandler for McpServer<S> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let mut capabilities = match catch_panic(|| self.shared.service.has_tasks()) {
            Some(true) => capabilities.enable_tasks().build(),
            _ => capabilities.build(),
        };
        features::declare(&mut capabilities, self.features(), self.feature_changes().is_some());
        let config = ServerConfig::new(capabilities).with_server_info(identity::implementation());
        match catch_panic(|| self.shared.service.instructions()).unwrap_or_default() {
            text if text.is_empty() => config,
            text => config.with_instructions(text),
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.wait_for_handshake().await;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.wait_for_handshake().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.shared.service.wait_for_tools().await;
        let Some(listing) = self.listing() else {
            return Err(ErrorData::internal_error("The server failed while it listed its tools.", None));
        };
        let mut list = ListToolsResult::with_all_items(listing.tools().to_vec());
        identity::identify(&mut list.meta, &context);
        // Earlier revisions do not have these fields.
        if !is_stateless(&context) {
            return Ok(list);
        }
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.listing()?.tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let progress = context.meta.get_progress_token().or_else(|| token_in_arguments(&request));
        let running = self.conversations().register(&context.extensions, &context.id);
        // When another branch completes first, the service's future is dropped, which stops the work of the target.
        let cancelled = || Err(ErrorData::internal_error("The call was cancelled.", None));
        let outcome = tokio::select! {
            biased;
            () = context.ct.cancelled() => return cancelled(),
            () = running.cancelled() => return cancelled(),
            outcome = self.run(request, &context, progress) => outcome,
        };
        match outcome {
            ToolCallOutcome::Answered(response) => Ok(response),
            ToolCallOutcome::Asks(asked) => Ok(CallToolResponse::InputRequired(asked)),
            ToolCallOutcome::Refused(error) => Err(error),
            ToolCallOutcome::Forgotten => {
                let message =
                    "The call of this requestState has ended; call the tool again without requestState.";
                Err(ErrorData::invalid_params(message, None))
            }
            ToolCallOutcome::Unknown => {
                let message = format!("Unknown tool '{name}'. List the tools with tools/list.");
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let (caller, _) = self.caller(&context);
        let task = self.shared.service.task(&request.task_id, &caller).await.ok_or_else(task_not_found)?;
        Ok(GetTaskResult::new(task::detailed(task, result)))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (caller, _) = self.caller(&context);
        self.shared.service.cancel_task(&request.task_id, &caller).await.map(drop).ok_or_else(task_not_found)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Known methods with invalid parameters arrive here too.
        let method = request.method;
        if method == SET_LEVEL && self.supports_set_level(&context) {
            return Err(ErrorData::invalid_params(INVALID_LEVEL, None));
        }
        let of_revision = if is_stateless(&context) { STATELESS_METHODS } else { STATEFUL_METHODS };
        let is_known = METHODS.iter().chain(&of_revision).any(|known| *known == method);
        if is_known || features::is_feature(&method, self.features(), is_stateless(&context)) {
            let message = format!("The params of {method} do not match the protocol.");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }

    #[expect(deprecated, reason = "the revisions with a handshake have it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.set_log_level(serde_json::to_value(request.level).unwrap_or_default(), &context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (mut changes, mut feature_changes) = (self.changes(), self.feature_changes());
        let (server, peer) = (self.clone(), context.peer);
        let client = subscriptions::client_key(&context.extensions).unwrap_or_default();
        tokio::spawn(async move {
            let closing = server.closing();
            loop {
                let sent = tokio::select! {
                    () = closing.cancelled() => return,
                    () = next_change(&mut changes) => peer.notify_tool_list_changed().await,
                    missed = server.subscriptions().next_changes(&mut feature_changes, &client) => {
                        subscriptions::notify_peer(&peer, missed).await
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
        });
    }

    async fn subscribe(
        &self,
        request: rmcp::model::SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribe_client(request.uri, &context).await
    }

    async fn unsubscribe(
        &self,
        request: rmcp::model::UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unsubscribe_client(&request.uri, &context)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The library reduces it to the declared capabilities.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.send_changes(context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let mut completed: CompleteResult = self.feature_one(Feature::Completion, request, &context).await?;
        identity::identify(&mut completed.meta, &context);
        Ok(completed)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let entries = self.feature_list(Feature::Prompts, &context).await?;
        let mut list = ListPromptsResult::with_all_items(entries);
        identity::identify(&mut list.meta, &context);
        if !is_stateless(&context) {
            return Ok(list);
        }
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let answer = self.feature_answer(Feature::Prompt, request, &context).await?;
        if let Some(required) = features::input_required(&answer) {
            return Ok(required.into());
        }
        let mut prompt: GetPromptResult = features::parsed(Feature::Prompt, answer)?;
        identity::identify(&mut prompt.meta, &context);
        Ok(prompt.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let entries = self.feature_list(Feature::Resources, &context).await?;
        let mut list = ListResourcesResult::with_all_items(entries);
        identity::identify(&mut list.meta, &context);
        if !is_stateless(&context) {
            return Ok(list);
        }
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let entries = self.feature_list(Feature::Templates, &context).await?;
        let mut list = ListResourceTemplatesResult::with_all_items(entries);
        identity::identify(&mut list.meta, &context);
        if !is_stateless(&context) {
            return Ok(list);
        }
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let answer = self.feature_answer(Feature::Resource, request, &context).await?;
        if let Some(required) = features::input_required(&answer) {
            return Ok(required.into());
        }
        let mut read: ReadResourceResult = features::parsed(Feature::Resource, answer)?;
        identity::identify(&mut read.meta, &context);
        if !is_stateless(&context) {
            return Ok(read.into());
        }
        Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }
}
