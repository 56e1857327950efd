//! Grants, pins and pauses.

use super::Both;
use mcpaql_gate::trust::TrustLevel;
use mcpaql_runtime::operator::{OperationPin, TrustGrant};
use serde_json::json;

pub(super) fn grant(subject: &str, fingerprint: &str) -> TrustGrant {
    TrustGrant {
        subject: subject.into(),
        kind: "document".into(),
        fingerprint: fingerprint.into(),
        level: TrustLevel::Validated,
        accepts_edits: false,
        content: json!({"b": 1, "a": [true, null, "ü"]}),
        granted_at: 0,
        granted_by: "me".into(),
    }
}

fn pin(operation: &str, fingerprint: &str) -> OperationPin {
    OperationPin {
        operation: operation.into(),
        fingerprint: fingerprint.into(),
        content: json!({"name": operation}),
    }
}

#[tokio::test]
async fn a_grant_replaces_the_earlier_one_of_its_subject() {
    let both = Both::open().await;
    for state in &both.states {
        assert_eq!(state.grant("file:/a").await.unwrap(), None);
        state.put_grant(grant("file:/b", "f1")).await.unwrap();
        state.put_grant(grant("file:/a", "f1")).await.unwrap();
        both.clock.advance(1000);
        let newer =
            TrustGrant { level: TrustLevel::Certified, accepts_edits: true, ..grant("file:/a", "f2") };
        state.put_grant(newer.clone()).await.unwrap();
        let expected = TrustGrant { granted_at: state.clock().now_ms(), ..newer };
        assert_eq!(state.grant("file:/a").await.unwrap(), Some(expected));
        let subjects: Vec<_> = state.grants().await.unwrap().into_iter().map(|grant| grant.subject).collect();
        assert_eq!(subjects, ["file:/a", "file:/b"]);
        assert!(state.remove_grant("file:/a").await.unwrap());
        assert!(!state.remove_grant("file:/a").await.unwrap());
        assert_eq!(state.grants().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn the_first_list_of_an_adapter_is_pinned_once() {
    let both = Both::open().await;
    for state in &both.states {
        assert_eq!(state.pinned("crm").await.unwrap(), None);
        assert!(state.pin_first("crm", &[pin("get", "f1"), pin("add", "f2")]).await.unwrap());
        assert!(!state.pin_first("crm", &[pin("wipe", "f3")]).await.unwrap());
        state.pin("crm", &[pin("add", "f4")]).await.unwrap();
        let pinned = state.pinned("crm").await.unwrap().unwrap();
        assert_eq!(json!(pinned), json!({"add": "f4", "get": "f1"}));
        assert_eq!(state.pin_contents("crm").await.unwrap(), [pin("add", "f4"), pin("get", "f1")]);
        assert!(state.unpin("crm", Some("add")).await.unwrap());
        assert!(!state.unpin("crm", Some("add")).await.unwrap());
        assert_eq!(json!(state.pinned("crm").await.unwrap()), json!({"get": "f1"}));
        assert!(state.unpin("crm", None).await.unwrap());
        assert_eq!(state.pinned("crm").await.unwrap(), None);
        // A server without operations has been seen, too: what it adds later is not the first list.
        assert!(state.pin_first("empty", &[]).await.unwrap());
        assert_eq!(json!(state.pinned("empty").await.unwrap()), json!({}));
        assert!(!state.pin_first("empty", &[pin("wipe", "f3")]).await.unwrap());
    }
}

#[tokio::test]
async fn pauses_of_one_adapter_and_of_all_are_separate() {
    let both = Both::open().await;
    for state in &both.states {
        state.pause(Some("shop"), true, "alice").await.unwrap();
        state.pause(None, false, "bob").await.unwrap();
        state.pause(Some("shop"), false, "carol").await.unwrap();
        let pauses = state.pauses().await.unwrap();
        let who: Vec<_> = pauses.iter().map(|pause| (pause.adapter.as_deref(), pause.by.as_str())).collect();
        assert_eq!(who, [(None, "bob"), (Some("shop"), "carol")]);
        assert!(pauses.iter().any(|pause| pause.stops("bank", true)));
        assert!(state.resume(None).await.unwrap());
        assert!(!state.resume(None).await.unwrap());
        assert!(!state.pauses().await.unwrap().iter().any(|pause| pause.stops("bank", false)));
        assert!(state.resume(Some("shop")).await.unwrap());
        assert_eq!(state.pauses().await.unwrap(), []);
    }
}

#[tokio::test]
async fn every_change_that_servers_must_notice_has_a_new_revision_in_all_processes() {
    let both = Both::open().await;
    for (index, state) in both.states.iter().enumerate() {
        let other = if index == 0 { state.clone() } else { both.other().await };
        let mut last = other.revision().await.unwrap();
        let mut has_changed = async |what: &str| {
            let now = other.revision().await.unwrap();
            assert!(std::mem::replace(&mut last, now) < now, "{what}");
        };
        state.put_grant(grant("a", "f")).await.unwrap();
        has_changed("grant").await;
        state.remove_grant("a").await.unwrap();
        has_changed("no grant").await;
        state.pin("crm", &[pin("get", "f")]).await.unwrap();
        has_changed("pin").await;
        state.unpin("crm", None).await.unwrap();
        has_changed("no pin").await;
        state.pause(None, false, "me").await.unwrap();
        has_changed("pause").await;
        state.resume(None).await.unwrap();
        has_changed("resume").await;
        let id = super::issue(state, &super::person("c1", None)).await;
        has_changed("request").await;
        state.decide(&id, true, "me").await.unwrap();
        has_changed("decision").await;
    }
}
