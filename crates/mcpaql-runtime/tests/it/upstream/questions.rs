//! What a server asks, and who answers.

use super::{call, said, upstream};
use serde_json::json;

#[tokio::test]
async fn a_server_is_answered_even_where_nobody_can_be_asked() {
    let upstream = upstream("");
    let heard = |result| said(&result);
    let asked = call(&upstream, "elicitation/create", json!({"message": "?"})).await.unwrap();
    assert_eq!(heard(asked)["result"], json!({"action": "cancel"}));
    let asked = call(&upstream, "sampling/createMessage", json!({})).await.unwrap();
    assert!(heard(asked)["error"]["code"].is_i64());
    let asked = call(&upstream, "roots/list", json!({})).await.unwrap();
    assert_eq!(heard(asked)["error"]["code"], -32601);
    let asked = call(&upstream, "ping", json!({})).await.unwrap();
    assert_eq!(heard(asked)["result"], json!({}));
}
