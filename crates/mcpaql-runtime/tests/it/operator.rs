//! The operator's state and log: in memory and in files, with one process and with several.

mod clock;
mod confirmations;
mod counters;
mod files;
mod log;
mod log_files;
mod process;
mod trust;

use mcpaql_lexicon::Danger;
use mcpaql_runtime::operator::{
    Clock, ConfirmationKind, ConfirmationScope, Issued, NewConfirmation, OperatorState,
};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The time at which tests start, in milliseconds.
const START: i64 = 1_800_000_000_000;
const MINUTE: i64 = 60_000;

/// A clock that a test sets.
#[derive(Clone)]
struct TestClock(Arc<AtomicI64>);

impl TestClock {
    fn new() -> TestClock {
        TestClock(Arc::new(AtomicI64::new(START)))
    }

    fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    fn clock(&self) -> Clock {
        let time = Arc::clone(&self.0);
        Clock::new(move || time.load(Ordering::SeqCst))
    }
}

/// One state in memory and one in a file, which must behave the same.
struct Both {
    states: [OperatorState; 2],
    clock: TestClock,
    folder: TempDir,
}

impl Both {
    async fn open() -> Both {
        let (clock, folder) = (TestClock::new(), tempfile::tempdir().unwrap());
        let memory = OperatorState::open_with_clock(None, clock.clock()).await.unwrap();
        let file = OperatorState::open_with_clock(Some(folder.path()), clock.clock()).await.unwrap();
        assert!(!memory.is_durable() && file.is_durable());
        Both { states: [memory, file], clock, folder }
    }

    /// The state in the file, as another process sees it.
    async fn other(&self) -> OperatorState {
        OperatorState::open_with_clock(Some(self.folder.path()), self.clock.clock()).await.unwrap()
    }
}

async fn open(folder: &Path) -> OperatorState {
    OperatorState::open(Some(folder)).await.unwrap()
}

fn scope(call_hash: &str) -> ConfirmationScope {
    ConfirmationScope {
        adapter: "shop".into(),
        operation: "delete_order".into(),
        call_hash: call_hash.into(),
        caller: "alice".into(),
    }
}

fn new(kind: ConfirmationKind, call_hash: &str) -> NewConfirmation {
    NewConfirmation {
        kind,
        scope: scope(call_hash),
        danger: Danger::Destructive,
        expires_in: Duration::from_secs(300),
        request: json!({"id": 7}),
        state_hash: None,
    }
}

/// A token whose hash is this byte, repeated.
fn token(byte: u8) -> NewConfirmation {
    new(ConfirmationKind::Token { hash: [byte; 32] }, "c1")
}

fn person(call_hash: &str, state_hash: Option<&str>) -> NewConfirmation {
    let state_hash = state_hash.map(str::to_owned);
    NewConfirmation { state_hash, ..new(ConfirmationKind::Person, call_hash) }
}

async fn issue(state: &OperatorState, new: &NewConfirmation) -> String {
    match state.issue(new).await.unwrap() {
        Issued::New { id, .. } => id,
        other => panic!("{other:?}"),
    }
}
