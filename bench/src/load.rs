//! The load generator. It measures every subject in turn, round after round, so that noise affects all of them equally. Ratios
//! are computed within a round, and their median is printed.

use crate::client::{Http, InProcess, Peer, Pipes};
use crate::{in_process, passing, upstream};
use anyhow::{Context, Result, ensure};
use mcpaql_core::adapter::TargetConfig;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::call_target;
use mcpaql_runtime::target::store::Store;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;
use tokio::process::{Child, Command};

pub(crate) const AT_A_TIME: usize = 16;

/// How much to measure, and which program.
pub(crate) struct Effort {
    pub(crate) server: PathBuf,
    pub(crate) rounds: usize,
    /// Measure only calls that are passed on to MCP servers.
    pub(crate) passing_only: bool,
    calls: usize,
    burst: usize,
    print: bool,
}

impl Effort {
    pub(crate) fn full(server: PathBuf) -> Effort {
        Effort { server, rounds: 15, passing_only: false, calls: 1000, burst: 3200, print: true }
    }

    /// Returns the smallest effort that shows that everything answers.
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

/// Returns a command that runs this program in another role.
pub(crate) fn own(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.arg(role).kill_on_drop(true).stdin(Stdio::null());
    command
}

pub(crate) struct Subject {
    pub(crate) name: &'static str,
    against: Option<Against>,
    peer: Peer,
    length: usize,
    pub(crate) rounds: Vec<Round>,
}

/// Indexes of the subjects that a subject is compared with.
#[derive(Clone, Copy)]
pub(crate) struct Against {
    /// The bare server on the same transport.
    echo: usize,
    /// The backend of the subject, called directly.
    own: usize,
    /// The bare server with the same backend.
    bare: Option<usize>,
}

pub(crate) struct Round {
    pub(crate) median: f64,
    pub(crate) p90: f64,
    pub(crate) per_second: f64,
}

/// The servers that were started for a run.
pub(crate) struct Bench {
    server: PathBuf,
    pub(crate) folder: tempfile::TempDir,
    children: Vec<Child>,
    subjects: Vec<Subject>,
}

impl Bench {
    fn new(effort: &Effort) -> Result<Bench> {
        let server = effort.server.canonicalize().with_context(|| {
            format!("{} not found; build it with `cargo build --release`", effort.server.display())
        })?;
        let folder = tempfile::tempdir()?;
        Ok(Bench { server, folder, children: Vec::new(), subjects: Vec::new() })
    }

    pub(crate) fn add(&mut self, name: &'static str, against: Option<Against>, peer: Peer) -> usize {
        self.subjects.push(Subject { name, against, peer, length: 0, rounds: Vec::new() });
        self.subjects.len() - 1
    }

    fn start(&mut self, command: &mut Command) -> Result<()> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        self.children.push(quiet.spawn()?);
        Ok(())
    }

    /// Returns the command for `mcpaql serve` with its own data folder.
    pub(crate) fn serve(&self, documents: &[&Path], data: &str) -> Command {
        let mut command = Command::new(&self.server);
        command.arg("serve").args(documents).arg("--data").arg(self.folder.path().join(data));
        command.env("RUST_LOG", "warn").env("XDG_STATE_HOME", self.folder.path().join("state"));
        command.current_dir(self.folder.path());
        command
    }

    /// Measures every subject and returns their number.
    async fn run(&mut self, effort: &Effort) -> Result<usize> {
        for subject in &mut self.subjects {
            subject.length = subject.peer.call().await.context(subject.name)?;
            let answer = subject.peer.last();
            ensure!(
                ["success", "number", "Groceries"].iter().any(|word| answer.contains(word)),
                "{}: {answer}",
                subject.name
            );
        }
        for _ in 0..effort.rounds {
            for subject in &mut self.subjects {
                let round = measure(subject, effort).await.context(subject.name)?;
                subject.rounds.push(round);
            }
        }
        Ok(self.subjects.len())
    }
}

pub(crate) async fn run(effort: Effort) -> Result<()> {
    let mut count = 0;
    if !effort.passing_only {
        let mut bench = Bench::new(&effort)?;
        prepare(&mut bench).await?;
        count += bench.run(&effort).await?;
        if effort.print {
            print(&bench.subjects);
            println!();
        }
    }
    let mut bench = Bench::new(&effort)?;
    passing::prepare(&mut bench).await?;
    count += bench.run(&effort).await?;
    if effort.print {
        passing::print(&bench.subjects)
    } else {
        println!("{count} subjects answer")
    }
    Ok(())
}

async fn measure(subject: &mut Subject, effort: &Effort) -> Result<Round> {
    // Writes wait for the disk, so make fewer of them.
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

    let data = bench.folder.path().join("own");
    let (store, get, create) = store(&data).await?;
    let args = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let made = call_target(&*store, &create, &args(&note()), &Caller::nobody()).await;
    let made = made.map_err(|error| anyhow::anyhow!("{}", error.message))?.data.into_value();
    let id = made.get("id").and_then(Value::as_str).context("the note has no id")?;
    let own_get = InProcess { store: store.clone(), operation: get, args: args(&json!({"id": id})) };
    let own_create = InProcess { store, operation: create, args: args(&note()) };
    let own_get = bench.add("store, in process: get", None, Peer::InProcess(own_get));
    let own_create = bench.add("store, in process: create", None, Peer::InProcess(own_create));
    let direct = Http::get(api, AT_A_TIME, upstream::PATH).await?;
    let own_http = bench.add("upstream, directly", None, Peer::Http(direct));

    let data = data.display().to_string();
    let url = format!("http://127.0.0.1:{api}{}", upstream::PATH);
    let behind: [(&'static str, &'static str, &[&str]); 3] = [
        ("stdio echo", "http echo", &[]),
        ("stdio bare server, store get", "http bare server, store get", &[&data, id]),
        ("stdio bare server, HTTP get", "http bare server, HTTP get", &[&url]),
    ];
    let text = json!({"text": ECHOED});
    let create = json!({"operation": "create_note", "params": note()});
    let issue = json!({"operation": "get_issue", "params": issue()});

    let mut bare = Vec::new();
    for (name, _, behind) in behind {
        let pipes = Pipes::start(own("echo-stdio").args(behind), "echo", &text).await?;
        bare.push(bench.add(name, None, Peer::Pipes(Box::new(pipes))));
    }
    let against = |own: usize, kind: Option<usize>, bare: &[usize]| {
        Some(Against { echo: bare[0], own, bare: kind.map(|kind| bare[kind]) })
    };
    let mut pipes = Pipes::start(&mut bench.serve(&[], "kept"), "notebook_mcpaql_create", &create).await?;
    let get = get_call(&mut pipes).await?;
    let reading = Pipes::start(&mut bench.serve(&[], "kept"), "notebook_mcpaql_read", &get).await?;
    bench.add("stdio store get", against(own_get, Some(1), &bare), Peer::Pipes(Box::new(reading)));
    bench.add("stdio store create", against(own_create, None, &bare), Peer::Pipes(Box::new(pipes)));
    let calling = Pipes::start(&mut bench.serve(&[&document], "none"), "tracker_mcpaql_read", &issue).await?;
    bench.add("stdio HTTP get", against(own_http, Some(2), &bare), Peer::Pipes(Box::new(calling)));

    bare.clear();
    for (_, name, behind) in behind {
        let port = free_port()?;
        bench.start(own("echo-http").arg(port.to_string()).args(behind))?;
        let peer = Http::mcp(port, AT_A_TIME, "echo", &text).await?;
        bare.push(bench.add(name, None, Peer::Http(peer)));
    }
    let (storing, tracking) = (free_port()?, free_port()?);
    let mut serving = bench.serve(&[], "kept");
    bench.start(serving.arg("--http").arg(format!("127.0.0.1:{storing}")))?;
    let mut serving = bench.serve(&[&document], "none");
    bench.start(serving.arg("--http").arg(format!("127.0.0.1:{tracking}")))?;
    let peer = Http::mcp(storing, AT_A_TIME, "notebook_mcpaql_read", &get).await?;
    bench.add("http store get", against(own_get, Some(1), &bare), Peer::Http(peer));
    let peer = Http::mcp(storing, AT_A_TIME, "notebook_mcpaql_create", &create).await?;
    bench.add("http store create", against(own_create, None, &bare), Peer::Http(peer));
    let peer = Http::mcp(tracking, AT_A_TIME, "tracker_mcpaql_read", &issue).await?;
    bench.add("http HTTP get", against(own_http, Some(2), &bare), Peer::Http(peer));
    Ok(())
}

/// A text as long as the answers that it is compared with.
const ECHOED: &str = r#"{"success":true,"data":{"id":"n1234567890ab","title":"Groceries","body":"Bread, butter, and whatever is ripe.","tags":["home","weekly"],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","_etag":"1"}}"#;

type Operation = Arc<mcpaql_core::operation::Operation>;

/// Returns the notebook's store, and its operations to get and to create a note.
pub(crate) async fn store(data: &Path) -> Result<(Arc<Store>, Operation, Operation)> {
    let catalog = in_process::notebook()?;
    let TargetConfig::Store(target) = &catalog.adapter.target else {
        anyhow::bail!("the notebook has no store")
    };
    let store = Store::open(&data.join("own.sqlite"), "notebook", target, &catalog.adapter.types).await?;
    let operation = |name: &str| {
        let entry = catalog.get(name).with_context(|| format!("the notebook has no {name}"))?;
        anyhow::Ok(Arc::new(entry.operation.clone()))
    };
    Ok((Arc::new(store), operation("get_note")?, operation("create_note")?))
}

/// Creates a note through the server and returns the call that gets it.
async fn get_call(pipes: &mut Pipes) -> Result<Value> {
    let answer: Value = serde_json::from_str(pipes.call().await?)?;
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).context("no text")?;
    let answer: Value = serde_json::from_str(text)?;
    let id = answer.pointer("/data/id").context("the note has no id")?;
    Ok(json!({"operation": "get_note", "params": {"id": id}}))
}

fn print(subjects: &[Subject]) {
    println!(
        "| call | median µs | p90 µs | calls/s, {AT_A_TIME} at a time | ÷ echo | (− own time) ÷ echo | ÷ bare server | calls/s ÷ bare server |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for subject in subjects {
        let of = |value: fn(&Round) -> f64| middle(subject.rounds.iter().map(value).collect());
        let (median, p90, rate) = (of(|r| r.median), of(|r| r.p90), of(|r| r.per_second));
        print!("| {} | {median:.1} | {p90:.1} | {rate:.0} |", subject.name);
        let Some(Against { echo, own, bare }) = subject.against else {
            println!(" | | | |");
            continue;
        };
        // Ratios are computed per round, because noise in a round affects both sides.
        let ratio = |other: &dyn Fn(usize, &Round) -> Option<f64>| {
            let rounds = subject.rounds.iter().enumerate();
            middle(rounds.filter_map(|(index, round)| other(index, round)).collect())
        };
        let at = |position: usize, index: usize| subjects.get(position)?.rounds.get(index);
        let plain = ratio(&|i, round| Some(round.median / at(echo, i)?.median));
        let on_top = ratio(&|i, round| Some((round.median - at(own, i)?.median) / at(echo, i)?.median));
        print!(" {plain:.2} | {on_top:.2} |");
        match bare {
            Some(bare) => {
                let slower = ratio(&|i, round| Some(round.median / at(bare, i)?.median));
                let throughput = ratio(&|i, round| Some(round.per_second / at(bare, i)?.per_second));
                println!(" {slower:.2} | {throughput:.2} |");
            }
            None => println!(" | |"),
        }
    }
}

pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
