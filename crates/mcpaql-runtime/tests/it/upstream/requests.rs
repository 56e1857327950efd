//! Questions to clients over HTTP in revisions with a handshake: sent in the stream of their call, answered in a
//! separate request.

use super::{ForwardingService, upstream};
use crate::fixture::{Serving, call, crypto, http, in_time, initialize, loopback};
use crate::serve_http::{body, post};
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use mcpaql_runtime::caller::{Ability, Caller};
use mcpaql_runtime::service::Service;
use reqwest::{Response, StatusCode};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Asks the client with the arguments of the call. A dropped call adds a permit.
struct Asker {
    abandoned: Semaphore,
}

struct Unfinished<'a>(&'a Asker);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.abandoned.add_permits(1);
    }
}

impl Service for Asker {
    fn tools(&self) -> Arc<[Tool]> {
        Arc::from([])
    }

    fn instructions(&self) -> String {
        String::new()
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
        let unfinished = Unfinished(self);
        let method = tool.strip_prefix("noisy ").unwrap_or(tool);
        if method != tool {
            caller.notify("notifications/message", json!({"level": "info", "data": "first"})).await;
        }
        let answer = caller.ask(Ability::from_method(method).unwrap(), arguments.into()).await;
        std::mem::forget(unfinished);
        let text = answer.unwrap_or_else(|refused| json!(refused.to_string())).to_string();
        Some(ToolReply::text(text, false))
    }
}

async fn asker() -> (Arc<Asker>, SocketAddr, Serving) {
    let service = Arc::new(Asker { abandoned: Semaphore::new(0) });
    let (addr, serving) = http(&service, loopback()).await;
    (service, addr, serving)
}

/// A client after the handshake.
pub(super) struct Client {
    addr: SocketAddr,
    pub(super) conversation: String,
}

impl Client {
    pub(super) async fn able(addr: SocketAddr, capabilities: Value) -> Client {
        let mut hello = initialize();
        hello["params"]["capabilities"] = capabilities;
        let greeted = post(addr, &hello).send().await.unwrap();
        let conversation = greeted.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        Client { addr, conversation }
    }

    async fn new(addr: SocketAddr) -> Client {
        Client::able(addr, json!({"elicitation": {}, "sampling": {}})).await
    }

    pub(super) async fn send(&self, message: &Value) -> Response {
        in_time(post(self.addr, message).header("mcp-session-id", &self.conversation).send()).await.unwrap()
    }

    /// Calls a tool that asks a question.
    async fn call(&self, id: u32, tool: &str, arguments: Value) -> Events {
        let response = self.send(&call(id, tool, arguments)).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { response, read: Vec::new() }
    }

    async fn answer(&self, question: &Value, result: Value) -> StatusCode {
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.send(&answer).await.status()
    }
}

struct Events {
    response: Response,
    read: Vec<u8>,
}

impl Events {
    /// The next message; `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.read.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.read.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                match data {
                    Some(data) => return Some(serde_json::from_str(data).unwrap()),
                    None => continue,
                }
            }
            self.read.extend_from_slice(&in_time(self.response.chunk()).await.unwrap()?);
        }
    }

    /// The text of the call's answer, the last message of the stream.
    async fn text(mut self) -> Value {
        let message = self.next().await.unwrap();
        assert_eq!(self.next().await, None);
        text(&message)
    }
}

fn text(message: &Value) -> Value {
    serde_json::from_str(message["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_question_is_in_the_stream_of_its_call_and_the_answer_is_a_separate_request() {
    let (_, addr, _serving) = asker().await;
    let client = Client::new(addr).await;
    for method in ["elicitation/create", "sampling/createMessage"] {
        let params = json!({"message": "Sure?\n\nReally?", "x-odd": {"deep": null}});
        let mut events = client.call(1, method, params.clone()).await;
        let question = events.next().await.unwrap();
        assert_eq!((&question["method"], &question["params"]), (&json!(method), &params));
        let answer = json!({"action": "accept", "content": {"a": [1]}});
        assert_eq!(client.answer(&question, answer.clone()).await, StatusCode::ACCEPTED);
        assert_eq!(events.text().await, answer);
        assert_eq!(client.answer(&question, answer).await, StatusCode::BAD_REQUEST, "it works once");
    }
    let mut events = client.call(2, "elicitation/create", json!({})).await;
    let question = events.next().await.unwrap();
    let error = json!({"code": -1, "message": "The user has left"});
    let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": error});
    assert_eq!(client.send(&refusal).await.status(), StatusCode::ACCEPTED);
    assert_eq!(events.text().await, json!("The user has left"));
}

#[tokio::test]
async fn a_question_comes_after_earlier_notifications() {
    let (_, addr, _serving) = asker().await;
    let client = Client::new(addr).await;
    let mut events = client.call(1, "noisy elicitation/create", json!({})).await;
    assert_eq!(events.next().await.unwrap()["method"], "notifications/message");
    let question = events.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(client.answer(&question, json!({"action": "decline"})).await, StatusCode::ACCEPTED);
    assert_eq!(events.text().await, json!({"action": "decline"}));
}

#[tokio::test]
async fn each_client_answers_its_own_questions() {
    let (_, addr, _serving) = asker().await;
    let (mine, theirs) = (Client::new(addr).await, Client::new(addr).await);
    let mut my_events = mine.call(1, "elicitation/create", json!({"message": "mine"})).await;
    let mut their_events = theirs.call(1, "elicitation/create", json!({"message": "theirs"})).await;
    let (my_question, their_question) = (my_events.next().await.unwrap(), their_events.next().await.unwrap());
    assert_eq!(my_question["params"]["message"], "mine");
    assert_eq!(their_question["params"]["message"], "theirs");
    let answer = |who: &str| json!({"action": "accept", "content": {"who": who}});
    assert_eq!(theirs.answer(&my_question, answer("theirs")).await, StatusCode::BAD_REQUEST);
    assert_eq!(theirs.answer(&their_question, answer("theirs")).await, StatusCode::ACCEPTED);
    assert_eq!(mine.answer(&my_question, answer("mine")).await, StatusCode::ACCEPTED);
    assert_eq!(my_events.text().await, answer("mine"));
    assert_eq!(their_events.text().await, answer("theirs"));
}

#[tokio::test]
async fn a_client_gets_only_questions_that_it_declared() {
    let (_, addr, _serving) = asker().await;
    let unable = Client::able(addr, json!({"roots": {}})).await;
    let only_asks_users = Client::able(addr, json!({"elicitation": {"form": {}}})).await;
    let only_asks_models = Client::able(addr, json!({"sampling": {}})).await;
    let nameless = post(addr, &call(1, "elicitation/create", json!({}))).send().await.unwrap();
    for (response, method) in [
        (unable.send(&call(1, "elicitation/create", json!({}))).await, "elicitation/create"),
        (only_asks_users.send(&call(1, "sampling/createMessage", json!({}))).await, "sampling/createMessage"),
        (only_asks_models.send(&call(1, "elicitation/create", json!({}))).await, "elicitation/create"),
        (nameless, "elicitation/create"),
    ] {
        assert_eq!(response.headers()["content-type"], "application/json");
        let answer = body(response).await;
        assert_eq!(text(&answer), json!(format!("the client does not support {method}")), "{answer}");
    }
    let mut events = only_asks_users.call(1, "elicitation/create", json!({})).await;
    assert_eq!(events.next().await.unwrap()["method"], "elicitation/create");
}

#[tokio::test]
async fn a_forged_answer_is_refused_and_harms_nothing() {
    let (_, addr, _serving) = asker().await;
    let client = Client::new(addr).await;
    let mut events = client.call(1, "elicitation/create", json!({})).await;
    let question = events.next().await.unwrap();
    let accept = json!({"action": "accept"});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": accept});
    for forged in [
        json!({"jsonrpc": "2.0", "id": "0", "result": accept}),
        json!({"jsonrpc": "2.0", "id": 1, "result": accept}),
        json!({"jsonrpc": "2.0", "id": null, "result": accept}),
        json!({"jsonrpc": "2.0", "id": question["id"], "result": 5}),
        json!({"jsonrpc": "2.0", "id": question["id"], "error": "no"}),
    ] {
        let response = client.send(&forged).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{forged}");
        let refusal = body(response).await;
        assert_eq!((&refusal["error"]["code"], refusal.get("result")), (&json!(-32600), None), "{refusal}");
    }
    let nameless = post(addr, &answer).send().await.unwrap();
    assert_eq!(nameless.status(), StatusCode::BAD_REQUEST);
    let elsewhere = |name: &'static str, value: &'static str| {
        post(addr, &answer).header("mcp-session-id", &client.conversation).header(name, value).send()
    };
    assert_eq!(
        elsewhere("origin", "https://evil.example.com").await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
    assert_eq!(elsewhere("mcp-protocol-version", "1999").await.unwrap().status(), StatusCode::BAD_REQUEST);
    assert_eq!(
        elsewhere("mcp-protocol-version", "2026-07-28").await.unwrap().status(),
        StatusCode::BAD_REQUEST
    );
    assert_eq!(client.send(&answer).await.status(), StatusCode::ACCEPTED);
    assert_eq!(events.text().await, accept);
}

#[tokio::test]
async fn a_client_that_disconnects_or_cancels_leaves_no_question_open() {
    let (service, addr, _serving) = asker().await;
    let client = Client::new(addr).await;
    let mut events = client.call(1, "elicitation/create", json!({})).await;
    let question = events.next().await.unwrap();
    drop(events);
    in_time(service.abandoned.acquire()).await.unwrap().forget();
    assert_eq!(client.answer(&question, json!({"action": "accept"})).await, StatusCode::BAD_REQUEST);

    let mut events = client.call(7, "elicitation/create", json!({})).await;
    let question = events.next().await.unwrap();
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(client.send(&cancelled).await.status(), StatusCode::ACCEPTED);
    in_time(service.abandoned.acquire()).await.unwrap().forget();
    assert!(events.next().await.unwrap()["error"].is_object());
    assert_eq!(events.next().await, None);
    assert_eq!(client.answer(&question, json!({"action": "accept"})).await, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_question_does_not_delay_the_end_of_the_server() {
    let (service, addr, serving) = {
        let service = Arc::new(Asker { abandoned: Semaphore::new(0) });
        let mut options = loopback();
        options.limits.grace = std::time::Duration::ZERO;
        let (addr, serving) = http(&service, options).await;
        (service, addr, serving)
    };
    let client = Client::new(addr).await;
    let mut events = client.call(1, "elicitation/create", json!({})).await;
    events.next().await.unwrap();
    serving.shutdown.cancel();
    assert_eq!(events.next().await, None);
    in_time(service.abandoned.acquire()).await.unwrap().forget();
    serving.stopped().await.unwrap();
}

/// A typical client.
struct TypicalClient;

impl ClientHandler for TypicalClient {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("person", "0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("{request:?}")
        };
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"heard": message})))
    }
}

#[tokio::test]
async fn an_upstream_server_asks_the_user_of_a_real_client() {
    crypto();
    let (addr, _serving) = http(&Arc::new(ForwardingService(upstream(""))), loopback()).await;
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{addr}/mcp"));
    let client =
        TypicalClient.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap();
    let question = json!({"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}});
    let mut request = CallToolRequestParams::new("elicitation/create");
    request.arguments = question.as_object().cloned();
    let answer = in_time(client.call_tool(request)).await.unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    let said: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said["result"], json!({"action": "accept", "content": {"heard": "Sure?"}}), "{said}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn no_client_is_asked_if_the_question_may_belong_to_another_client() {
    let upstream = upstream("");
    let mut changed = upstream.tools_changed();
    let (addr, _serving) = http(&Arc::new(ForwardingService(upstream)), loopback()).await;
    let (able, unable) = (Client::new(addr).await, Client::able(addr, json!({})).await);
    let held = post(addr, &call(1, "hold", json!({}))).header("mcp-session-id", &unable.conversation);
    let held = tokio::spawn(held.send());
    in_time(changed.changed()).await.unwrap();
    let answer = body(able.send(&call(1, "elicitation/create", json!({"message": "?"}))).await).await;
    assert_eq!(text(&answer)["result"], json!({"action": "cancel"}), "{answer}");
    held.abort();

    in_time(changed.changed()).await.unwrap();
    let held = post(addr, &call(1, "hold", json!({}))).header("mcp-session-id", &able.conversation);
    let _held = tokio::spawn(held.send());
    in_time(changed.changed()).await.unwrap();
    let mut events = able.call(2, "elicitation/create", json!({"message": "?"})).await;
    let question = events.next().await.unwrap();
    assert_eq!(able.answer(&question, json!({"action": "accept"})).await, StatusCode::ACCEPTED);
    assert_eq!(events.text().await["result"], json!({"action": "accept"}));
}
