//! A clock that jumps: what has expired stays so.

use super::{Both, MINUTE, issue, person, scope, token};
use mcpaql_runtime::operator::{Approval, Redemption};

async fn redeem(state: &mcpaql_runtime::operator::OperatorState, byte: u8) -> Redemption {
    state.redeem_token(&[byte; 32], &scope("c1")).await.unwrap()
}

#[tokio::test]
async fn an_expired_token_stays_expired_if_the_clock_is_corrected() {
    let both = Both::open().await;
    for state in &both.states {
        issue(state, &token(1)).await;
        both.clock.advance(5 * MINUTE);
        // Only the poll of a running server has seen this time.
        state.revision().await.unwrap();
        both.clock.advance(-30_000);
        assert_eq!(redeem(state, 1).await, Redemption::Expired);
    }
}

#[tokio::test]
async fn no_token_outlives_a_clock_that_was_set_back() {
    let both = Both::open().await;
    for state in &both.states {
        issue(state, &token(1)).await;
        let id = issue(state, &person("c1", None)).await;
        state.decide(&id, true, "me").await.unwrap();
        both.clock.advance(4 * MINUTE);
        state.revision().await.unwrap();
        both.clock.advance(-2 * MINUTE);
        assert_eq!(redeem(state, 1).await, Redemption::Expired);
        assert_eq!(state.take_approved(&scope("c1"), None).await.unwrap(), Approval::Expired);
        // The new time counts from now on.
        issue(state, &token(2)).await;
        assert!(matches!(redeem(state, 2).await, Redemption::Redeemed { .. }));
        assert_eq!(redeem(state, 2).await, Redemption::AlreadyUsed);
    }
}

#[tokio::test]
async fn a_used_token_stays_used_wherever_the_clock_goes() {
    let both = Both::open().await;
    for state in &both.states {
        issue(state, &token(1)).await;
        assert!(matches!(redeem(state, 1).await, Redemption::Redeemed { .. }));
        for jump in [-30_000, 10 * MINUTE, -60 * MINUTE, 49 * MINUTE] {
            both.clock.advance(jump);
            assert_eq!(redeem(state, 1).await, Redemption::AlreadyUsed, "{jump}");
        }
    }
}

#[tokio::test]
async fn a_process_that_starts_after_the_clock_was_set_back_accepts_no_older_token() {
    let both = Both::open().await;
    let [_, state] = &both.states;
    both.clock.advance(4 * MINUTE);
    issue(state, &token(1)).await;
    both.clock.advance(-3 * MINUTE);
    let other = both.other().await;
    assert_eq!(redeem(&other, 1).await, Redemption::Expired);
    both.clock.advance(3 * MINUTE);
    assert_eq!(redeem(&other, 1).await, Redemption::Expired);
}
