//! Tokens and approvals: their scope, their end, and that each lets one call through.

use super::process::{Process, redeem_at_once, take_at_once};
use super::{Both, MINUTE, issue, open, person, scope, token};
use mcpaql_runtime::operator::{
    Approval, ConfirmationScope, ConfirmationStatus, Decided, Issued, NewConfirmation, OperatorState,
    Redemption,
};
use std::time::Duration;

#[tokio::test]
async fn a_token_works_once_for_its_call_and_its_caller() {
    let both = Both::open().await;
    for state in &both.states {
        let id = issue(state, &token(1)).await;
        let wrong: [ConfirmationScope; 4] = [
            ConfirmationScope { adapter: "bank".into(), ..scope("c1") },
            ConfirmationScope { operation: "delete_all".into(), ..scope("c1") },
            ConfirmationScope { caller: "bob".into(), ..scope("c1") },
            scope("c2"),
        ];
        for wrong in &wrong {
            let redemption = state.redeem_token(&[1; 32], wrong).await.unwrap();
            assert_eq!(redemption, Redemption::ScopeMismatch, "{wrong:?}");
        }
        assert_eq!(state.redeem_token(&[2; 32], &scope("c1")).await.unwrap(), Redemption::Invalid);
        let redemption = state.redeem_token(&[1; 32], &scope("c1")).await.unwrap();
        assert_eq!(redemption, Redemption::Redeemed { id });
        assert_eq!(state.redeem_token(&[1; 32], &scope("c1")).await.unwrap(), Redemption::AlreadyUsed);
        // Another caller does not hear that it was used.
        assert_eq!(state.redeem_token(&[1; 32], &wrong[2]).await.unwrap(), Redemption::ScopeMismatch);
    }
}

#[tokio::test]
async fn hashes_with_the_same_start_are_different_tokens() {
    let both = Both::open().await;
    let (mut one, mut other) = ([7; 32], [7; 32]);
    (one[31], other[31]) = (1, 2);
    for state in &both.states {
        let kind = mcpaql_runtime::operator::ConfirmationKind::Token { hash: one };
        issue(state, &NewConfirmation { kind, ..token(1) }).await;
        assert_eq!(state.redeem_token(&other, &scope("c1")).await.unwrap(), Redemption::Invalid);
        let redemption = state.redeem_token(&one, &scope("c1")).await.unwrap();
        assert!(matches!(redemption, Redemption::Redeemed { .. }));
    }
}

#[tokio::test]
async fn a_token_expires_to_the_millisecond() {
    let both = Both::open().await;
    for state in &both.states {
        issue(state, &token(1)).await;
        issue(state, &token(2)).await;
        both.clock.advance(5 * MINUTE - 1);
        let redemption = state.redeem_token(&[1; 32], &scope("c1")).await.unwrap();
        assert!(matches!(redemption, Redemption::Redeemed { .. }));
        both.clock.advance(1);
        assert_eq!(state.redeem_token(&[2; 32], &scope("c1")).await.unwrap(), Redemption::Expired);
    }
}

#[tokio::test]
async fn guessing_tokens_is_stopped_for_a_while() {
    let both = Both::open().await;
    for state in &both.states {
        issue(state, &token(200)).await;
        for guess in 0..20 {
            assert_eq!(state.redeem_token(&[guess; 32], &scope("c1")).await.unwrap(), Redemption::Invalid);
        }
        let stopped = state.redeem_token(&[200; 32], &scope("c1")).await.unwrap();
        let Redemption::TooManyAttempts { retry_after_seconds } = stopped else { panic!("{stopped:?}") };
        assert!((60..=61).contains(&retry_after_seconds), "{retry_after_seconds}");
        let bob = ConfirmationScope { caller: "bob".into(), ..scope("c1") };
        assert_eq!(state.redeem_token(&[99; 32], &bob).await.unwrap(), Redemption::Invalid);
        both.clock.advance(1000 * i64::try_from(retry_after_seconds).unwrap());
        let redemption = state.redeem_token(&[200; 32], &scope("c1")).await.unwrap();
        assert!(matches!(redemption, Redemption::Redeemed { .. }), "{redemption:?}");
    }
}

#[tokio::test]
async fn open_confirmations_of_a_caller_are_limited() {
    let both = Both::open().await;
    for state in &both.states {
        for number in 0..32 {
            issue(state, &person(&number.to_string(), None)).await;
        }
        both.clock.advance(MINUTE);
        let refused = state.issue(&person("32", None)).await.unwrap();
        assert_eq!(refused, Issued::TooMany { retry_after_seconds: 240 });
        let bob = ConfirmationScope { caller: "bob".into(), ..scope("32") };
        issue(state, &NewConfirmation { scope: bob, ..person("32", None) }).await;
        issue(state, &token(1)).await;
        both.clock.advance(4 * MINUTE);
        issue(state, &person("32", None)).await;
    }
}

#[tokio::test]
async fn a_person_approves_a_call_once() {
    let both = Both::open().await;
    for state in &both.states {
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::NotApproved);
        let id = issue(state, &person("c1", None)).await;
        // A call that is repeated does not ask again.
        let again = state.issue(&person("c1", None)).await.unwrap();
        assert!(matches!(&again, Issued::AlreadyOpen { id: open, .. } if *open == id), "{again:?}");
        let open = state.take_approved(&scope("c1"), None).await.unwrap();
        assert!(matches!(&open, Approval::Open { id: open, .. } if *open == id), "{open:?}");
        let pending = state.pending(None).await.unwrap();
        assert_eq!((pending.len(), &pending[0].id, &pending[0].scope), (1, &id, &scope("c1")));
        assert_eq!(state.pending(Some("alice")).await.unwrap(), pending);
        assert_eq!(state.pending(Some("bob")).await.unwrap(), []);
        assert_eq!(state.decide("unknown", true, "me").await.unwrap(), Decided::Unknown);
        assert_eq!(state.decide(&id, true, "me").await.unwrap(), Decided::Stored);
        let late = state.decide(&id, false, "you").await.unwrap();
        assert_eq!(late, Decided::AlreadyEnded(ConfirmationStatus::Approved));
        assert_eq!(state.pending(None).await.unwrap(), []);
        assert_eq!(state.take_approved(&scope("c2"), None).await.unwrap(), Approval::NotApproved);
        let taken = state.take_approved(&scope("c1"), None).await.unwrap();
        assert_eq!(taken, Approval::Taken { id: id.clone(), by: "me".into() });
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::NotApproved);
        let used = state.confirmation(&id).await.unwrap().unwrap();
        assert_eq!((used.status, used.decided_by.as_deref()), (ConfirmationStatus::Used, Some("me")));
    }
}

#[tokio::test]
async fn a_denial_stands_as_long_as_an_approval() {
    let both = Both::open().await;
    for state in &both.states {
        let id = issue(state, &person("c1", None)).await;
        both.clock.advance(4 * MINUTE);
        state.decide(&id, false, "me").await.unwrap();
        both.clock.advance(4 * MINUTE);
        let denied = state.take_approved(&scope("c1"), None).await.unwrap();
        assert_eq!(denied, Approval::Denied { id, by: "me".into() });
        both.clock.advance(MINUTE);
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::NotApproved);
    }
}

#[tokio::test]
async fn an_approval_starts_its_time_again_and_then_expires() {
    let both = Both::open().await;
    for state in &both.states {
        let id = issue(state, &person("c1", None)).await;
        both.clock.advance(4 * MINUTE);
        assert_eq!(state.decide(&id, true, "me").await.unwrap(), Decided::Stored);
        both.clock.advance(5 * MINUTE);
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::Expired);
        let id = issue(state, &person("c1", None)).await;
        both.clock.advance(5 * MINUTE);
        assert_eq!(state.pending(None).await.unwrap(), []);
        let late = state.decide(&id, true, "me").await.unwrap();
        assert_eq!(late, Decided::AlreadyEnded(ConfirmationStatus::Expired));
    }
}

#[tokio::test]
async fn an_approval_is_void_if_the_state_that_the_person_saw_has_changed() {
    let both = Both::open().await;
    for state in &both.states {
        let first = issue(state, &person("c1", Some("s1"))).await;
        state.decide(&first, true, "me").await.unwrap();
        let taken = state.take_approved(&scope("c1"), Some("s2")).await.unwrap();
        assert_eq!(taken, Approval::StateChanged);
        // Also if the old state comes back.
        let taken = state.take_approved(&scope("c1"), Some("s1")).await.unwrap();
        assert_eq!(taken, Approval::NotApproved);
        let second = issue(state, &person("c1", Some("s1"))).await;
        let third = issue(state, &person("c1", Some("s2"))).await;
        let void = state.decide(&second, true, "me").await.unwrap();
        assert_eq!(void, Decided::AlreadyEnded(ConfirmationStatus::Void));
        state.decide(&third, true, "me").await.unwrap();
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::StateChanged);
    }
}

#[tokio::test]
async fn nobody_approves_a_token_and_an_approval_is_no_token() {
    let both = Both::open().await;
    for state in &both.states {
        let id = issue(state, &token(1)).await;
        assert_eq!(state.decide(&id, true, "me").await.unwrap(), Decided::Unknown);
        assert_eq!(state.pending(None).await.unwrap(), []);
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::NotApproved);
    }
}

#[tokio::test]
async fn a_waiting_call_hears_of_a_decision_in_another_process() {
    let both = Both::open().await;
    for (index, state) in both.states.iter().enumerate() {
        let other = if index == 0 { state.clone() } else { both.other().await };
        let id = issue(state, &person("c1", None)).await;
        let none = state.wait_for_decision(&id, Duration::ZERO).await.unwrap();
        assert_eq!(none, Some(ConfirmationStatus::Open));
        let (status, decided) = tokio::join!(
            state.wait_for_decision(&id, Duration::from_secs(600)),
            other.decide(&id, true, "me")
        );
        assert_eq!(
            (status.unwrap(), decided.unwrap()),
            (Some(ConfirmationStatus::Approved), Decided::Stored)
        );
        assert_eq!(state.wait_for_decision("unknown", Duration::from_secs(600)).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_callers_in_two_processes_one_redeems_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    issue(&state, &token(1)).await;
    let mut other = Process::start(folder.path(), "redeem", 32);
    other.go();
    let here = redeem_at_once(&state, 32).await;
    let there = other.end().unwrap().as_u64().unwrap();
    assert_eq!(here as u64 + there, 1, "{here} here, {there} there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_callers_in_two_processes_one_takes_an_approval() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    let id = issue(&state, &person("c1", None)).await;
    state.decide(&id, true, "me").await.unwrap();
    let mut other = Process::start(folder.path(), "take", 32);
    other.go();
    let here = take_at_once(&state, 32).await;
    let there = other.end().unwrap().as_u64().unwrap();
    assert_eq!(here as u64 + there, 1, "{here} here, {there} there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_callers_one_redeems_a_token_of_a_state_in_memory() {
    let state = OperatorState::open(None).await.unwrap();
    issue(&state, &token(1)).await;
    assert_eq!(redeem_at_once(&state, 64).await, 1);
}
