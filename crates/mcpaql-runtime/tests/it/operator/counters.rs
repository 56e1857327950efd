//! Limits: windows, successes, and counters that processes share.

use super::process::{Process, charge_up_to, hourly};
use super::{Both, MINUTE, open};
use mcpaql_gate::decision::{CounterKey, Needs, SuccessKey, Usage};
use mcpaql_runtime::operator::OperatorState;
use sqlx::ConnectOptions;

fn minutely(scope: &str, cost: u64) -> CounterKey {
    CounterKey { limit: "rule r".into(), scope: scope.into(), window_seconds: 60, cost }
}

/// Reads a counter, and counts a call if asked to.
async fn used(state: &OperatorState, key: &CounterKey, is_charged: bool) -> Option<Usage> {
    let needs = Needs { counters: vec![key.clone()], successes: Vec::new() };
    state.with_history(&needs, |history| (history.used(key), is_charged)).await
}

#[tokio::test]
async fn calls_count_for_their_window_and_scope_by_their_cost() {
    let both = Both::open().await;
    for state in &both.states {
        let (alice, bob) = (minutely("[\"alice\"]", 3), minutely("[\"bob\"]", 1));
        assert_eq!(used(state, &alice, false).await, Some(Usage::default()));
        used(state, &alice, true).await;
        both.clock.advance(30_000);
        used(state, &alice, true).await;
        assert_eq!(used(state, &alice, false).await.unwrap().used, 6);
        assert_eq!(used(state, &bob, false).await.unwrap().used, 0);
        // The cost is not part of the counter's name.
        let cheap = CounterKey { cost: 1, ..alice.clone() };
        let usage = used(state, &cheap, false).await.unwrap();
        assert_eq!(usage.used, 6);
        both.clock.advance(1000 * i64::try_from(usage.resets_in_seconds).unwrap());
        assert_eq!(used(state, &alice, false).await.unwrap().used, 3);
        both.clock.advance(MINUTE);
        assert_eq!(used(state, &alice, false).await.unwrap().used, 0);
    }
}

#[tokio::test]
async fn counters_survive_a_restart_and_are_shared() {
    let both = Both::open().await;
    let [_, state] = &both.states;
    let key = minutely("[]", 1);
    used(state, &key, true).await;
    let other = both.other().await;
    used(&other, &key, true).await;
    assert_eq!(used(state, &key, false).await.unwrap().used, 2);
    let Both { states, clock, folder } = both;
    drop((states, other));
    let again = OperatorState::open_with_clock(Some(folder.path()), clock.clock()).await.unwrap();
    assert_eq!(used(&again, &key, false).await.unwrap().used, 2);
}

#[tokio::test]
async fn an_operation_succeeded_for_its_caller_within_the_time() {
    let both = Both::open().await;
    let key = |caller: &str| SuccessKey {
        adapter: "shop".into(),
        operation: "get_invoice".into(),
        caller: caller.into(),
        within_seconds: 600,
    };
    for state in &both.states {
        let succeeded = async |caller: &str| {
            let needs = Needs { counters: Vec::new(), successes: vec![key(caller)] };
            state.with_history(&needs, |history| (history.succeeded(&key(caller)), true)).await
        };
        assert_eq!(succeeded("alice").await, Some(false));
        state.record_success("shop", "get_invoice", "alice").await.unwrap();
        assert_eq!(succeeded("alice").await, Some(true));
        assert_eq!(succeeded("bob").await, Some(false));
        both.clock.advance(10 * MINUTE - 1);
        assert_eq!(succeeded("alice").await, Some(true));
        both.clock.advance(1);
        assert_eq!(succeeded("alice").await, Some(false));
        // If the clock was set back, nobody knows when it was.
        both.clock.advance(-20 * MINUTE);
        assert_eq!(succeeded("alice").await, Some(false));
    }
}

#[tokio::test]
async fn a_decision_without_limits_reads_nothing() {
    let state = OperatorState::open(None).await.unwrap();
    let (mut calls, needs) = (0, Needs::default());
    let decided = state.with_history(&needs, |history| {
        calls += 1;
        (history.used(&minutely("[]", 1)), true)
    });
    assert_eq!(decided.await, None);
    assert_eq!(calls, 1);
}

#[tokio::test]
async fn a_state_that_cannot_be_read_is_an_unknown_history() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    let path = folder.path().join(mcpaql_runtime::operator::OPERATOR_FILE);
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut file = options.connect().await.unwrap();
    sqlx::query("DROP TABLE windows").execute(&mut file).await.unwrap();
    assert_eq!(used(&state, &minutely("[]", 1), true).await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_with_two_handles_each_never_exceed_a_limit() {
    const LIMIT: u64 = 300;
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open(folder.path()).await, open(folder.path()).await);
    let mut others = [0, 1].map(|_| Process::start(folder.path(), "charge", 300));
    others.iter_mut().for_each(Process::go);
    let (one_ran, two_ran) = tokio::join!(charge_up_to(&one, LIMIT), charge_up_to(&two, LIMIT));
    let elsewhere: u64 = others.map(|other| other.end().unwrap().as_u64().unwrap()).iter().sum();
    assert_eq!(one_ran + two_ran + elsewhere, LIMIT, "{one_ran} {two_ran} {elsewhere}");
    assert_eq!(used(&one, &hourly().counters[0], false).await.unwrap().used, LIMIT);
}
