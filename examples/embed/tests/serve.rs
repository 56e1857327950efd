//! The examples, served to a client that speaks over their standard input and output.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(program: &mut Command) -> Client {
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client { child, input, output, id: 0 };
        let about = json!({"name": "test", "version": "1"});
        client.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Ends the input of the program, and waits for its end.
    fn end(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.id {
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, operation: &str, params: Value) -> Value {
        let arguments = json!({"operation": operation, "params": params});
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Deletes a task, and confirms it as a user would.
fn delete_task(client: &mut Client) -> Value {
    let asked = client.call("todo_mcpaql_delete", "delete_task", json!({"text": "write"}));
    assert_eq!(asked["error"]["code"], "CONFIRMATION_REQUIRED");
    let token = &asked["error"]["details"]["confirmation_token"];
    client.call("todo_mcpaql_delete", "delete_task", json!({"text": "write", "confirmation_token": token}))
}

#[test]
fn tasks_are_created_listed_and_deleted() {
    let mut client = Client::start(&mut Command::new(env!("CARGO_BIN_EXE_embed")));
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["todo_mcpaql_create", "todo_mcpaql_read", "todo_mcpaql_delete"]);
    let task = json!({"text": "write", "done": false});
    let created = client.call("todo_mcpaql_create", "create_task", json!({"text": "write"}));
    assert_eq!(created["data"], task);
    assert_eq!(client.call("todo_mcpaql_read", "list_tasks", json!({}))["data"], json!([task]));
    assert_eq!(delete_task(&mut client)["data"], task);
    let gone = delete_task(&mut client);
    assert_eq!(gone["error"]["code"], "NOT_FOUND_RESOURCE");
    let empty = client.call("todo_mcpaql_create", "create_task", json!({"text": ""}));
    assert_eq!(empty["error"]["code"], "VALIDATION_INVALID_VALUE");
    let shown = json!({"query": "types", "name": "Task"});
    let shown = client.call("todo_mcpaql_read", "introspect", shown);
    assert!(shown["data"].to_string().contains("done"), "the type of the result is shown: {shown}");
}

#[test]
fn the_program_ends_when_its_input_ends() {
    let client = Client::start(&mut Command::new(env!("CARGO_BIN_EXE_embed")));
    assert!(client.end().success());
}

#[cfg(unix)]
#[test]
fn the_program_ends_when_it_is_told_to() {
    for signal in ["TERM", "INT"] {
        let mut client = Client::start(&mut Command::new(env!("CARGO_BIN_EXE_embed")));
        let pid = client.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        assert!(client.child.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn the_log_is_on_standard_error() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_embed"));
    let mut client = Client::start(program.env_remove("RUST_LOG").stderr(Stdio::piped()));
    client.ask("tools/list", json!({}));
    let mut log = client.child.stderr.take().unwrap();
    assert!(client.end().success());
    let mut text = String::new();
    std::io::Read::read_to_string(&mut log, &mut text).unwrap();
    assert!(text.contains("serving") && text.contains("todo"), "{text}");
}

#[test]
fn a_function_stands_in_for_one_operation_of_a_document() {
    let data = tempfile::tempdir().unwrap();
    let mut client =
        Client::start(Command::new(env!("CARGO_BIN_EXE_notebook")).env("XDG_DATA_HOME", data.path()));
    let note = json!({"title": "  How the \n heating works ", "tags": ["home"]});
    let added = client.call("notebook_mcpaql_create", "create_note", note);
    assert_eq!(added["data"]["title"], "How the heating works");
    assert_eq!(added["data"]["tags"], json!(["home"]));
    let task = client.call("notebook_mcpaql_create", "create_task", json!({"title": " as it is "}));
    assert_eq!(task["data"]["title"], " as it is ");
    let empty = client.call("notebook_mcpaql_create", "create_note", json!({"title": "   "}));
    assert_eq!(empty["error"]["code"], "VALIDATION_INVALID_VALUE", "what a function sends is checked again");
}
