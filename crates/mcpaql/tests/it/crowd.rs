//! Many clients of one gateway with one MCP server: each client gets its own answers, even if the server is killed.

mod server;

use crate::fixture::{ServerProcess, TestFolder, install_crypto_provider, request, with_timeout};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

const CLIENTS: usize = 64;
const ROUNDS: usize = 5;

/// The gateway, over HTTP.
struct Gateway {
    server: ServerProcess,
    address: String,
    _place: TestFolder,
}

impl Gateway {
    async fn start() -> Gateway {
        install_crypto_provider();
        let place = TestFolder::new();
        let program = std::env::current_exe().unwrap();
        let command: Vec<&str> =
            std::iter::once(program.to_str().unwrap()).chain(server::ARGUMENTS).collect();
        let server = json!({"name": "behind", "mode": "single",
            "mcp": {"command": command, "set_env": {server::SERVES: "yes"}}});
        place.file("mcpaql.yaml", &json!({"adapters": [server]}).to_string());
        place.trust();
        let mut server = ServerProcess::start(place.binary(&["serve", "--http", "127.0.0.1:0"]));
        let address = server.address().await;
        Gateway { server, address, _place: place }
    }

    /// Connects a client and lists the tools. Clients alternate between both revisions.
    async fn client(&self, number: usize) -> Client {
        let lifecycle = match number % 2 {
            0 => ClientLifecycleMode::Initialize,
            _ => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        };
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", self.address));
        let peer = with_timeout(().serve_with_lifecycle(transport, lifecycle)).await.unwrap();
        // The gateway has no tools until the server has listed them.
        while with_timeout(peer.list_all_tools()).await.unwrap().is_empty() {}
        Client { number, peer }
    }

    async fn crowd(&self) -> Vec<Client> {
        let mut clients = Vec::new();
        for number in 0..CLIENTS {
            clients.push(self.client(number).await);
        }
        clients
    }

    /// Stops the gateway as a service manager does. It must exit by itself and without an error.
    async fn stop(self) {
        self.server.signal(Signal::TERM);
        let (status, stderr) = self.server.wait_for_exit().await;
        assert_eq!(status.code(), Some(0), "{stderr}");
    }
}

struct Client {
    number: usize,
    peer: RunningService<RoleClient, ()>,
}

impl Client {
    async fn call(&self, operation: &str, params: Value) -> Value {
        let call = request("behind_mcpaql", json!({"operation": operation, "params": params}));
        let result = serde_json::to_value(with_timeout(self.peer.call_tool(call)).await.unwrap()).unwrap();
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    /// Calls `echo`, and returns whether it succeeded. A wrong answer or an unclear error fails the test.
    async fn echo(&self, round: usize) -> bool {
        let text = format!("call {round} of client {}", self.number);
        let answer = self.call("get_echo", json!({"text": text})).await;
        if answer["success"] == false {
            assert_killed(&answer);
            return false;
        }
        assert_eq!(answer, json!({"success": true, "data": text}));
        true
    }

    /// Returns the number of pending calls of the server, and its process id.
    async fn held(&self) -> (u64, Pid) {
        let answer = self.call("get_held", json!({})).await;
        let pid = i32::try_from(answer["data"]["pid"].as_i64().unwrap()).unwrap();
        (answer["data"]["calls"].as_u64().unwrap(), Pid::from_raw(pid).unwrap())
    }
}

fn assert_killed(answer: &Value) {
    assert_eq!(answer["error"]["code"], "TRANSPORT_CONNECTION_FAILED", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    let clear = [
        "The MCP server 'crowded' was ended by signal 9; try again",
        // Calls of the same kind wait a moment after the end.
        "The MCP server 'behind' ended during the last calls of this kind; it is retried later",
        "The target did not answer the last calls, so this call was not sent. Try again in",
    ];
    assert!(clear.iter().any(|start| message.starts_with(start)), "{message}");
}

async fn all_done(tasks: JoinSet<Client>) -> Vec<Client> {
    let mut clients = with_timeout(tasks.join_all()).await;
    clients.sort_by_key(|client| client.number);
    clients
}

/// All clients call at the same time, and all are answered.
async fn everybody_calls(clients: Vec<Client>) -> Vec<Client> {
    let mut tasks = JoinSet::new();
    for client in clients {
        tasks.spawn(async move {
            for round in 0..ROUNDS {
                assert!(client.echo(round).await, "round {round} of {}", client.number);
            }
            client
        });
    }
    all_done(tasks).await
}

/// Half of the clients wait for answers that never come. The others keep calling until the server was killed and answers again.
fn in_mid_run(clients: Vec<Client>, killed: &watch::Receiver<bool>) -> JoinSet<Client> {
    let mut tasks = JoinSet::new();
    for client in clients {
        let killed = killed.clone();
        tasks.spawn(async move {
            if client.number < CLIENTS / 2 {
                assert_killed(&client.call("get_nothing", json!({})).await);
                return client;
            }
            let mut round = 0;
            loop {
                let was_killed = *killed.borrow();
                if client.echo(round).await && was_killed {
                    return client;
                }
                round += 1;
            }
        });
    }
    tasks
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_is_answered_while_the_server_is_killed_and_comes_back() {
    let gateway = Gateway::start().await;
    let clients = everybody_calls(gateway.crowd().await).await;
    let observer = gateway.client(CLIENTS).await;
    let (_, victim) = observer.held().await;

    let (kill, killed) = watch::channel(false);
    let tasks = in_mid_run(clients, &killed);
    with_timeout(Box::pin(async { while observer.held().await.0 < CLIENTS as u64 / 2 {} })).await;
    kill_process(victim, Signal::KILL).unwrap();
    kill.send_replace(true);
    let clients = everybody_calls(all_done(tasks).await).await;
    assert_eq!(clients.len(), CLIENTS);

    let (held, successor) = observer.held().await;
    assert_eq!(held, 0, "no call was made twice");
    assert_ne!(successor, victim);
    assert!(test_kill_process(victim).is_err());
    drop((clients, observer));
    gateway.stop().await;
    with_timeout(async {
        while test_kill_process(successor).is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_costs_its_own_call_and_little_memory() {
    let gateway = Gateway::start().await;
    let mut tasks = JoinSet::new();
    for number in 0..2 {
        let client = gateway.client(number).await;
        tasks.spawn(async move {
            let answer = client.call("get_much", json!({"bytes": 50_000_000})).await;
            assert_eq!(answer["error"]["code"], "VALIDATION_PAYLOAD_TOO_LARGE", "{answer}");
            client
        });
    }
    let clients = all_done(tasks).await;
    assert!(clients[0].echo(1).await);

    let status = format!("/proc/{}/status", gateway.server.child.id().unwrap());
    let status = std::fs::read_to_string(status).unwrap();
    let (_, peak) = status.split_once("VmHWM:").unwrap();
    let kilobytes: u64 = peak.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kilobytes < 150_000, "{kilobytes} kB");
}
