//! Another process that uses the same state. It is this test binary, started with one test that works for others.

use super::{open, scope};
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::decision::{CounterKey, Needs};
use mcpaql_gate::log::{LogRecord, RecordKind};
use mcpaql_runtime::operator::{Clock, Redemption};
use mcpaql_runtime::record::OperatorLog;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The work of the other process, as JSON.
const WORK: &str = "OPERATOR_FIXTURE";

/// Another process.
pub(super) struct Process {
    pub(super) child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts a process, which opens the state and waits for [`go`](Process::go).
    pub(super) fn start(folder: &Path, work: &str, count: usize) -> Process {
        let work = json!({"folder": folder, "work": work, "count": count});
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "operator::process::serves_other_tests", "--ignored", "--nocapture"])
            .env(WORK, work.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut process = Process { child, input, lines: BufReader::new(output).lines() };
        assert_eq!(process.next(), Some(json!("ready")));
        process
    }

    pub(super) fn go(&mut self) {
        writeln!(self.input, "go").unwrap();
    }

    /// The next line of JSON; the test harness prints other lines.
    pub(super) fn next(&mut self) -> Option<Value> {
        loop {
            if let Ok(value) = serde_json::from_str(&self.lines.next()?.unwrap()) {
                return Some(value);
            }
        }
    }

    /// The last line, after the process has ended.
    pub(super) fn end(mut self) -> Option<Value> {
        let mut last = None;
        while let Some(value) = self.next() {
            last = Some(value);
        }
        assert!(self.child.wait().unwrap().success());
        last
    }
}

fn say(value: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{value}").and_then(|()| out.flush()).unwrap();
}

fn wait_for_go() {
    say(&json!("ready"));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).unwrap();
    assert_eq!(line, "go\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "works for other tests, which start it"]
async fn serves_other_tests() {
    let Ok(work) = std::env::var(WORK) else { return };
    let work: Value = serde_json::from_str(&work).unwrap();
    let folder = Path::new(work["folder"].as_str().unwrap());
    let count = usize::try_from(work["count"].as_u64().unwrap()).unwrap();
    match work["work"].as_str().unwrap() {
        "redeem" => redeem(folder, count).await,
        "take" => take(folder, count).await,
        "charge" => charge(folder, count).await,
        "grant until killed" => grant_until_killed(folder).await,
        "log" => log(folder, count).await,
        "log until killed" => log_until_killed(folder).await,
        other => panic!("{other}"),
    }
}

/// Redeems one token many times at once, and says how often it worked.
async fn redeem(folder: &Path, count: usize) {
    let state = open(folder).await;
    wait_for_go();
    say(&json!(redeem_at_once(&state, count).await));
}

/// Returns the number of winners. All others must hear that the token was used.
pub(super) async fn redeem_at_once(state: &mcpaql_runtime::operator::OperatorState, count: usize) -> usize {
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let state = state.clone();
            tokio::spawn(async move { state.redeem_token(&[1; 32], &scope("c1")).await.unwrap() })
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        match task.await.unwrap() {
            Redemption::Redeemed { .. } => winners += 1,
            other => assert_eq!(other, Redemption::AlreadyUsed),
        }
    }
    winners
}

async fn take(folder: &Path, count: usize) {
    let state = open(folder).await;
    wait_for_go();
    say(&json!(take_at_once(&state, count).await));
}

/// Returns how often an approval was taken.
pub(super) async fn take_at_once(state: &mcpaql_runtime::operator::OperatorState, count: usize) -> usize {
    use mcpaql_runtime::operator::Approval;
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let state = state.clone();
            tokio::spawn(async move { state.take_approved(&scope("c1"), None).await.unwrap() })
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        match task.await.unwrap() {
            Approval::Taken { .. } => winners += 1,
            other => assert_eq!(other, Approval::NotApproved),
        }
    }
    winners
}

/// A limit of one hour, so that a slow test does not leave its window.
pub(super) fn hourly() -> Needs {
    let (limit, scope) = ("rule often".to_owned(), "[\"alice\"]".to_owned());
    Needs {
        counters: vec![CounterKey { limit, scope, window_seconds: 3600, cost: 1 }],
        successes: Vec::new(),
    }
}

/// Calls until the limit is reached, and returns how many calls ran.
pub(super) async fn charge_up_to(state: &mcpaql_runtime::operator::OperatorState, limit: u64) -> u64 {
    let needs = hourly();
    let mut ran = 0;
    loop {
        let may_run = state
            .with_history(&needs, |history| {
                let may_run = history.used(&needs.counters[0]).expect("readable").used < limit;
                (may_run, may_run)
            })
            .await;
        if !may_run {
            return ran;
        }
        ran += 1;
    }
}

async fn charge(folder: &Path, limit: usize) {
    let state = open(folder).await;
    wait_for_go();
    say(&json!(charge_up_to(&state, limit as u64).await));
}

async fn grant_until_killed(folder: &Path) {
    let state = open(folder).await;
    wait_for_go();
    for number in 0.. {
        let subject = format!("{} {number}", std::process::id());
        state.put_grant(super::trust::grant(&subject, "f")).await.unwrap();
        say(&json!(subject));
    }
}

pub(super) fn record(operation: &str) -> LogRecord {
    let mut record = LogRecord::new(RecordKind::Call, "2027-01-15T08:00:00Z");
    record.operation = Some(operation.to_owned());
    record
}

async fn log(folder: &Path, count: usize) {
    let log = OperatorLog::open(folder, &LogConfig::default(), Clock::system());
    wait_for_go();
    for number in 0..count {
        let operation = format!("{} {number}", std::process::id());
        if number % 3 == 0 {
            log.append_durable(record(&operation)).await.unwrap();
        } else {
            log.append_batched(record(&operation));
        }
    }
}

async fn log_until_killed(folder: &Path) {
    let log = OperatorLog::open(folder, &LogConfig::default(), Clock::system());
    wait_for_go();
    for number in 0.. {
        let operation = format!("{} {number}", std::process::id());
        log.append_batched(record("not acknowledged"));
        log.append_durable(record(&operation)).await.unwrap();
        say(&json!(operation));
    }
}
