//! Acknowledged writes survive a killed server.

use crate::fixture::{RawClient, TestFolder, tools_call};
use serde_json::json;
use std::collections::HashSet;

const ROUNDS: usize = 4;
/// Number of acknowledged writes before the server is killed, while more are pending.
const ACKNOWLEDGED: usize = 40;
const SENT: usize = 120;

#[tokio::test]
async fn a_killed_server_has_lost_nothing_it_acknowledged() {
    let place = TestFolder::new();
    let mut acknowledged = HashSet::new();
    let mut sent = 0_u32;
    for _ in 0..ROUNDS {
        let mut raw = RawClient::initialized(place.binary(&["serve", "--data", "data"])).await;
        for _ in 0..SENT {
            sent += 1;
            let params = json!({"title": format!("note {sent}"), "body": "x".repeat(500)});
            raw.send(&tools_call(sent, "notebook_mcpaql_create", "create_note", params)).await;
        }
        for _ in 0..ACKNOWLEDGED {
            let created = raw.envelope().await;
            assert_eq!(created["success"], true, "{created}");
            acknowledged.insert(created["data"]["id"].as_str().unwrap().to_owned());
        }
        raw.server.child.kill().await.unwrap();
    }
    assert_eq!(acknowledged.len(), ROUNDS * ACKNOWLEDGED);

    let mut raw = RawClient::initialized(place.binary(&["serve", "--data", "data"])).await;
    let mut kept = HashSet::new();
    let mut after = None;
    loop {
        let params = match &after {
            None => json!({"first": 20}),
            Some(cursor) => json!({"first": 20, "after": cursor}),
        };
        raw.send(&tools_call(1, "notebook_mcpaql_read", "list_notes", params)).await;
        let page = raw.envelope().await;
        let items = page["data"]["items"].as_array().unwrap_or_else(|| panic!("{page}"));
        kept.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        if page["data"]["pageInfo"]["hasNextPage"] != true {
            break;
        }
        after = page["data"]["pageInfo"]["endCursor"].as_str().map(str::to_owned);
    }
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "{} of {} lost", lost.len(), acknowledged.len());
}
