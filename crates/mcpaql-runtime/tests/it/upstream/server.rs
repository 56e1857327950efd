//! A real MCP server in its own process, with faults that tests can switch on. It is this test binary, started with
//! one test that serves instead of testing, so it is always up to date. The output of the test harness is the first
//! garbage that a client must skip.

use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the faults of the server; without it the server does not run.
pub(super) const FAULTS: &str = "UPSTREAM_FIXTURE";

/// The arguments that make this program a server.
pub(super) const ARGUMENTS: [&str; 4] =
    ["upstream::server::serves_other_tests", "--exact", "--ignored", "--nocapture"];

#[test]
#[ignore = "serves other tests, which start it"]
fn serves_other_tests() {
    if let Ok(faults) = std::env::var(FAULTS) {
        let server = Server { faults, ..Server::default() };
        std::process::exit(server.serve());
    }
}

#[derive(Default)]
struct Server {
    faults: String,
    /// Requests that are never answered unless they are cancelled.
    held: Mutex<Vec<Value>>,
    cancelled: Mutex<Vec<Value>>,
    /// Calls that wait for the answer to a question, by the question's id.
    asking: Mutex<Vec<(String, Value)>>,
    gathered: Mutex<Vec<(Value, Value)>>,
    changed: AtomicUsize,
    /// What the client declared in the handshake.
    capabilities: Mutex<Value>,
    /// The levels that were set, in order.
    levels: Mutex<Vec<Value>>,
}

fn say(message: &Value) {
    write(format!("{message}\n").as_bytes());
}

fn write(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).expect("stdout is open");
}

fn complain(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").expect("stderr is open");
}

fn answer(id: &Value, result: Value) {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

/// An answer that a tree of values could not represent.
fn raw(id: &Value, result: &str) {
    write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").as_bytes());
}

fn refuse(id: &Value, code: i64, message: &str) {
    say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
}

fn text(id: &Value, text: impl Into<String>) {
    answer(id, json!({"content": [{"type": "text", "text": text.into()}]}));
}

fn notify(method: &str, params: Value) {
    say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

impl Server {
    fn has(&self, fault: &str) -> bool {
        self.faults.split(',').any(|one| one == fault)
    }

    fn serve(&self) -> i32 {
        if self.has("dies_at_start") {
            let token = std::env::var("TOKEN").unwrap_or_default();
            complain(&format!("the database refuses {token}"));
            return 3;
        }
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let message: Value = serde_json::from_str(&line).expect("a message");
            if let Some(status) = self.handle(&message) {
                return status;
            }
        }
        0
    }

    /// Handles a message. Returns the exit status if the server should end.
    fn handle(&self, message: &Value) -> Option<i32> {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") if self.has("silent") => {}
            Some("initialize") if self.has("stateless") => refuse(id, -32601, "Method not found"),
            Some("initialize") => {
                assert_eq!(params["protocolVersion"], "2025-11-25");
                self.capabilities.lock().unwrap().clone_from(&params["capabilities"]);
                let mut capabilities =
                    json!({"tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true}});
                if self.has("logs") {
                    capabilities["logging"] = json!({});
                }
                answer(
                    id,
                    json!({"protocolVersion": "2025-06-18", "x-odd": [1], "capabilities": capabilities,
                    "serverInfo": {"name": "fixture", "version": "1.2.3"}}),
                );
            }
            Some("server/discover") => answer(
                id,
                json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "modern", "version": "9"},
                "heard": params["_meta"]}),
            ),
            Some("logging/setLevel") => {
                self.levels.lock().unwrap().push(params["level"].clone());
                match self.has("stubborn") {
                    true => refuse(id, -32603, "The level stays"),
                    false => answer(id, json!({})),
                }
            }
            Some("notifications/initialized") if self.has("exits") => return Some(0),
            Some("notifications/cancelled") => self.forget(&params["requestId"]),
            Some("tools/list") if self.has("deep") => {
                let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
                raw(id, &format!(r#"{{"tools":[{{"name":"deep","inputSchema":{deep}}}]}}"#));
            }
            Some("tools/list") if self.has("half") => {
                raw(id, r#"{"tools":[{"name":"half","description":"\ud800"}]}"#);
            }
            Some("tools/list") if self.has("no_list") => raw(id, r#"{"tools":"nope"}"#),
            Some("tools/list") if self.has("no_object") => raw(id, "[]"),
            Some("tools/list") => self.list(id, params["cursor"].as_str()),
            Some("tools/call") => return self.call(id, params),
            Some("prompts/list") => answer(
                id,
                json!({"prompts": [
                {"name": "greet", "arguments": [{"name": "who", "required": true}], "x-odd": true}]}),
            ),
            Some("prompts/get") => answer(
                id,
                json!({"description": "d", "messages": [{"role": "user",
                "content": {"type": "text", "text": format!("{}: {}", params["name"], params["arguments"])}}, {"role": "user",
                "content": {"type": "resource_link", "uri": "file:///linked", "name": "linked"}}]}),
            ),
            Some("resources/list") => answer(
                id,
                json!({"resources": [
                {"uri": "file:///notes/a b?x=1#y", "name": "a", "mimeType": "text/plain"}]}),
            ),
            Some("resources/templates/list") => answer(
                id,
                json!({"resourceTemplates": [
                {"uriTemplate": "file:///notes/{name}", "name": "note"}]}),
            ),
            Some(method @ ("resources/subscribe" | "resources/unsubscribe")) => {
                if params["uri"] == "file:///refused" {
                    refuse(id, -32602, "No such resource");
                    return None;
                }
                answer(id, json!({}));
                notify("notifications/resources/updated", json!({"uri": "file:///other"}));
                notify("notifications/resources/updated", json!({"uri": params["uri"]}));
                if method == "resources/unsubscribe" {
                    notify("notifications/prompts/list_changed", json!({}));
                }
            }
            Some("resources/read") => answer(
                id,
                json!({"contents": [
                {"uri": params["uri"], "text": "read", "mimeType": "text/plain"}]}),
            ),
            None => self.handle_answer(message),
            Some(method) if id.is_null() => assert!(method.starts_with("notifications/"), "{method}"),
            Some(method) => refuse(id, -32601, method),
        }
        None
    }

    fn list(&self, id: &Value, cursor: Option<&str>) {
        if self.has("endless") {
            return answer(id, json!({"tools": [{"name": "again"}], "nextCursor": "same"}));
        }
        let extra = self.changed.load(Ordering::SeqCst);
        match cursor {
            None => answer(
                id,
                json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}, "x-odd": 1}, 7],
                "nextCursor": "2"}),
            ),
            Some("2") => {
                let mut tools = vec![json!({"name": "hold"})];
                tools.extend((0..extra).map(|n| json!({"name": format!("new{n}")})));
                answer(id, json!({"tools": tools, "nextCursor": ""}));
            }
            Some(other) => refuse(id, -32602, other),
        }
    }

    fn forget(&self, id: &Value) {
        self.cancelled.lock().unwrap().push(id.clone());
        // A late answer, which no call may take.
        if self.held.lock().unwrap().iter().any(|held| held == id) {
            text(id, "late");
        }
        notify("notifications/tools/list_changed", json!({}));
    }

    fn call(&self, id: &Value, params: &Value) -> Option<i32> {
        let arguments = &params["arguments"];
        match params["name"].as_str().expect("a name") {
            "echo" => text(id, arguments.to_string()),
            "meta" => text(id, params["_meta"].to_string()),
            "environment" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                text(
                    id,
                    json!({"names": names, "argv": std::env::args().skip(1).collect::<Vec<_>>(),
                    "token": std::env::var("TOKEN").ok(), "pid": std::process::id()})
                    .to_string(),
                );
            }
            "hold" => {
                self.held.lock().unwrap().push(id.clone());
                notify("notifications/tools/list_changed", json!({}));
            }
            "levels" => text(id, Value::from(self.levels.lock().unwrap().clone()).to_string()),
            "log" => {
                for level in ["debug", "info", "warning", "error"] {
                    notify("notifications/message", json!({"level": level, "logger": "l", "data": level}));
                }
                text(id, "[]");
            }
            "confide" => {
                let token = std::env::var("TOKEN").expect("a token");
                let data = json!({"token": token, "inside": [format!("Bearer {token}")]});
                notify("notifications/message", json!({"level": "warning", "logger": token, "data": data}));
                let token_of_call = &params["_meta"]["progressToken"];
                let news = json!({"progressToken": token_of_call, "progress": 1, "message": format!("with {token}")});
                notify("notifications/progress", news);
                self.held.lock().unwrap().push(id.clone());
            }
            "cancelled" => text(
                id,
                json!({"ids": *self.cancelled.lock().unwrap(), "held": *self.held.lock().unwrap()})
                    .to_string(),
            ),
            "die" => {
                complain("out of cheese");
                return Some(7);
            }
            "busy" => {
                let token = params["_meta"]["progressToken"].clone();
                std::thread::spawn(move || {
                    for done in 1.. {
                        notify("notifications/progress", json!({"progressToken": token, "progress": done}));
                        std::thread::sleep(std::time::Duration::from_millis(20));
                    }
                });
            }
            "gather" => self.gather(id, arguments),
            "change" => {
                self.changed.fetch_add(1, Ordering::SeqCst);
                notify("notifications/tools/list_changed", json!({}));
                text(id, "changed");
            }
            "flood" => {
                let megabytes = "x".repeat(20 << 20);
                write(
                    format!("{megabytes}\nnot json\n{{\"level\":\"info\"}}\n\n\u{1b}[1m[1,2\n{{\"id\":\n")
                        .as_bytes(),
                );
                write(b"\xff\xfe\n");
                text(id, "still here");
            }
            "big" => text(id, "y".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap())),
            "broken" => write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{]}}\n").as_bytes()),
            "progress" => {
                for done in 1..=3 {
                    notify(
                        "notifications/progress",
                        json!({"progressToken": params["_meta"]["progressToken"],
                        "progress": done, "total": 4, "message": format!("step {done}")}),
                    );
                }
                notify("notifications/message", json!({"level": "warning", "data": {"x": 1}}));
                text(id, "done");
            }
            method @ ("elicitation/create" | "sampling/createMessage" | "roots/list" | "ping") => {
                let question = format!("q{}", id);
                self.asking.lock().unwrap().push((question.clone(), id.clone()));
                say(&json!({"jsonrpc": "2.0", "id": question, "method": method, "params": arguments}));
            }
            "asks" if params["requestState"] == "s" => text(id, params["inputResponses"].to_string()),
            "asks" => answer(
                id,
                json!({"resultType": "input_required", "requestState": "s", "inputRequests": {
                "a": {"method": "elicitation/create", "params": arguments},
                "b": {"method": "roots/list"}}}),
            ),
            "capabilities" => text(id, self.capabilities.lock().unwrap().to_string()),
            "result" => answer(id, arguments["result"].clone()),
            "error" => {
                refuse(id, arguments["code"].as_i64().unwrap(), arguments["message"].as_str().unwrap())
            }
            other => refuse(id, -32602, &format!("Unknown tool: {other}")),
        }
        None
    }

    /// Answers when enough calls have arrived, the last one first.
    fn gather(&self, id: &Value, arguments: &Value) {
        let mut gathered = self.gathered.lock().unwrap();
        gathered.push((id.clone(), arguments.clone()));
        if gathered.len() as u64 == arguments["count"].as_u64().unwrap() {
            for (id, arguments) in gathered.drain(..).rev() {
                text(&id, arguments.to_string());
            }
        }
    }

    fn handle_answer(&self, message: &Value) {
        let mut asking = self.asking.lock().unwrap();
        let place = asking.iter().position(|(question, _)| *question == message["id"]);
        let (_, id) = asking.remove(place.expect("an answer to a question"));
        text(&id, json!({"result": message["result"], "error": message["error"]}).to_string());
    }
}
