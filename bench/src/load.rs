//! The load generator: every subject in turn, round after round, so that noise hits all alike; ratios are taken within a
//! round and their median is shown.

use crate::client::{Http, InProcess, Peer, Pipes};
use crate::{in_process, upstream};
use anyhow::{Context, Result, ensure};
use mcpaql_core::adapter::Target;
use mcpaql_runtime::target::store::Store;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;
use tokio::process::{Child, Command};

const AT_A_TIME: usize = 16;

/// How much to measure, and of which program.
pub(crate) struct Effort {
    pub(crate) server: PathBuf,
    pub(crate) rounds: usize,
    calls: usize,
    burst: usize,
    print: bool,
}

impl Effort {
    pub(crate) fn full(server: PathBuf) -> Effort {
        Effort { server, rounds: 15, calls: 1000, burst: 3200, print: true }
    }

    /// Enough to see that everything answers.
    pub(crate) fn smoke(self) -> Effort {
        Effort { rounds: 1, calls: 5, burst: 32, print: false, ..self }
    }
}

pub(crate) fn note() -> Value {
    json!({"title": "Groceries", "body": "Bread, butter, and whatever is ripe.", "tags": ["home", "weekly"]})
}

pub(crate) fn issue() -> Value {
    json!({"owner": "octo", "repo": "demo", "number": 7, "state": "open"})
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// This program in another role.
pub(crate) fn own(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.arg(role).kill_on_drop(true).stdin(Stdio::null());
    command
}

struct Subject {
    name: &'static str,
    /// Position of the bare server on the same transport, and of what answers behind the subject.
    against: Option<(usize, usize)>,
    peer: Peer,
    length: usize,
    rounds: Vec<Round>,
}

struct Round {
    median: f64,
    p90: f64,
    per_second: f64,
}

/// The servers that were started for a run.
struct Bench {
    server: PathBuf,
    folder: tempfile::TempDir,
    children: Vec<Child>,
    subjects: Vec<Subject>,
}

impl Bench {
    fn add(&mut self, name: &'static str, against: Option<(usize, usize)>, peer: Peer) -> usize {
        self.subjects.push(Subject { name, against, peer, length: 0, rounds: Vec::new() });
        self.subjects.len() - 1
    }

    fn start(&mut self, command: &mut Command) -> Result<()> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        self.children.push(quiet.spawn()?);
        Ok(())
    }

    /// `mcpaql serve` on a data folder of its own.
    fn serve(&self, documents: &[&Path], data: &str) -> Command {
        let mut command = Command::new(&self.server);
        command.arg("serve").args(documents).arg("--data").arg(self.folder.path().join(data));
        command.env("RUST_LOG", "warn").current_dir(self.folder.path());
        command
    }
}

pub(crate) async fn run(effort: Effort) -> Result<()> {
    let server = effort.server.canonicalize().with_context(|| {
        format!("{} is not there; build it with `cargo build --release`", effort.server.display())
    })?;
    let folder = tempfile::tempdir()?;
    let mut bench = Bench { server, folder, children: Vec::new(), subjects: Vec::new() };
    prepare(&mut bench).await?;
    for subject in &mut bench.subjects {
        subject.length = subject.peer.call().await.context(subject.name)?;
        let answer = subject.peer.last();
        ensure!(answer.contains("success") || answer.contains("number"), "{}: {answer}", subject.name);
    }
    for _ in 0..effort.rounds {
        for subject in &mut bench.subjects {
            let round = measure(subject, &effort).await.context(subject.name)?;
            subject.rounds.push(round);
        }
    }
    if effort.print {
        print(&bench.subjects)
    } else {
        println!("{} subjects answer", bench.subjects.len())
    }
    Ok(())
}

async fn measure(subject: &mut Subject, effort: &Effort) -> Result<Round> {
    // Writes wait for the disk; fewer of them say as much.
    let share = if subject.name.ends_with("create") { 10 } else { 1 };
    let calls = (effort.calls / share).max(5);
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let start = Instant::now();
        let length = subject.peer.call().await?;
        times.push(start.elapsed());
        ensure!(length == subject.length, "an answer has {length} bytes instead of {}", subject.length);
    }
    let burst = (effort.burst / share).next_multiple_of(AT_A_TIME);
    let start = Instant::now();
    subject.peer.burst(burst, AT_A_TIME, subject.length).await?;
    let per_second = burst as f64 / start.elapsed().as_secs_f64();
    times.sort_unstable();
    let micros = |share: usize| times.get(calls * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6);
    Ok(Round { median: micros(50), p90: micros(90), per_second })
}

async fn prepare(bench: &mut Bench) -> Result<()> {
    let api = free_port()?;
    bench.start(own("upstream").arg(api.to_string()))?;
    let document = bench.folder.path().join("tracker.json");
    std::fs::write(&document, upstream::document(api))?;

    let (store, get, create, id) = store(&bench.folder.path().join("own")).await?;
    let args = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let own_get = InProcess { store: store.clone(), operation: get, args: args(&json!({"id": id})) };
    let own_create = InProcess { store, operation: create, args: args(&note()) };
    let own_get = bench.add("store, in process: get", None, Peer::InProcess(own_get));
    let own_create = bench.add("store, in process: create", None, Peer::InProcess(own_create));
    let direct = Http::get(api, AT_A_TIME, upstream::PATH).await?;
    let own_http = bench.add("upstream, directly", None, Peer::Http(direct));

    let text = r#"{"success":true,"data":{"id":"n1234567890ab","title":"Groceries","body":"Bread, butter, and whatever is ripe.","tags":["home","weekly"],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","_etag":"1"}}"#;
    let text = json!({"text": text});
    let create = json!({"operation": "create_note", "params": note()});
    let issue = json!({"operation": "get_issue", "params": issue()});
    let stdio = Pipes::start(&mut own("echo-stdio"), "echo", &text).await?;
    let echo = bench.add("stdio echo", None, Peer::Pipes(Box::new(stdio)));
    let mut pipes = Pipes::start(&mut bench.serve(&[], "stdio"), "notebook_mcpaql_create", &create).await?;
    let get = get_call(&mut pipes).await?;
    let reading = Pipes::start(&mut bench.serve(&[], "stdio"), "notebook_mcpaql_read", &get).await?;
    bench.add("stdio store get", Some((echo, own_get)), Peer::Pipes(Box::new(reading)));
    bench.add("stdio store create", Some((echo, own_create)), Peer::Pipes(Box::new(pipes)));
    let calling = Pipes::start(&mut bench.serve(&[&document], "none"), "tracker_mcpaql_read", &issue).await?;
    bench.add("stdio HTTP get", Some((echo, own_http)), Peer::Pipes(Box::new(calling)));

    let (echoing, storing, tracking) = (free_port()?, free_port()?, free_port()?);
    bench.start(own("echo-http").arg(echoing.to_string()))?;
    let mut serving = bench.serve(&[], "stdio");
    bench.start(serving.arg("--http").arg(format!("127.0.0.1:{storing}")))?;
    let mut serving = bench.serve(&[&document], "none");
    bench.start(serving.arg("--http").arg(format!("127.0.0.1:{tracking}")))?;
    let peer = Http::mcp(echoing, AT_A_TIME, "echo", &text).await?;
    let echo = bench.add("http echo", None, Peer::Http(peer));
    let peer = Http::mcp(storing, AT_A_TIME, "notebook_mcpaql_read", &get).await?;
    bench.add("http store get", Some((echo, own_get)), Peer::Http(peer));
    let peer = Http::mcp(storing, AT_A_TIME, "notebook_mcpaql_create", &create).await?;
    bench.add("http store create", Some((echo, own_create)), Peer::Http(peer));
    let peer = Http::mcp(tracking, AT_A_TIME, "tracker_mcpaql_read", &issue).await?;
    bench.add("http HTTP get", Some((echo, own_http)), Peer::Http(peer));
    Ok(())
}

type Operation = Arc<mcpaql_core::operation::Operation>;

/// The notebook's store without anything around it, with a note in it.
async fn store(data: &Path) -> Result<(Arc<Store>, Operation, Operation, String)> {
    let catalog = in_process::notebook()?;
    let Target::Store(target) = &catalog.adapter.target else { anyhow::bail!("the notebook has no store") };
    let store = Store::open(&data.join("own.sqlite"), "notebook", target).await?;
    let operation = |name: &str| {
        let entry = catalog.get(name).with_context(|| format!("the notebook has no {name}"))?;
        anyhow::Ok(Arc::new(entry.operation.clone()))
    };
    let (get, create) = (operation("get_note")?, operation("create_note")?);
    let answer = store.call(&create, note().as_object().context("a note is an object")?).await;
    let answer = answer.map_err(|error| anyhow::anyhow!("{}", error.message))?.data.into_value();
    let id = answer.get("id").and_then(Value::as_str).context("the note has no id")?;
    Ok((Arc::new(store), get, create, id.to_owned()))
}

/// Makes a note through the server, and the call that gets it.
async fn get_call(pipes: &mut Pipes) -> Result<Value> {
    let answer: Value = serde_json::from_str(pipes.call().await?)?;
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).context("no text")?;
    let answer: Value = serde_json::from_str(text)?;
    let id = answer.pointer("/data/id").context("the note has no id")?;
    Ok(json!({"operation": "get_note", "params": {"id": id}}))
}

fn print(subjects: &[Subject]) {
    println!(
        "| call | median µs | p90 µs | calls/s, {AT_A_TIME} at a time | ÷ echo | (− own time) ÷ echo | calls/s ÷ echo |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for subject in subjects {
        let of = |value: fn(&Round) -> f64| middle(subject.rounds.iter().map(value).collect());
        let (median, p90, rate) = (of(|r| r.median), of(|r| r.p90), of(|r| r.per_second));
        print!("| {} | {median:.1} | {p90:.1} | {rate:.0} |", subject.name);
        let Some((echo, own)) = subject.against else {
            println!(" | | |");
            continue;
        };
        let (Some(echo), Some(own)) = (subjects.get(echo), subjects.get(own)) else { continue };
        let ratio = |value: fn(&Round, &Round, &Round) -> f64| {
            let rounds = subject.rounds.iter().zip(&echo.rounds).zip(&own.rounds);
            middle(rounds.map(|((ours, echo), own)| value(ours, echo, own)).collect())
        };
        println!(
            " {:.2} | {:.2} | {:.2} |",
            ratio(|ours, echo, _| ours.median / echo.median),
            ratio(|ours, echo, own| (ours.median - own.median) / echo.median),
            ratio(|ours, echo, _| ours.per_second / echo.per_second),
        );
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
