//! The documents of the guide to unusual APIs, with services that behave like the real ones.

use super::{call, served};
use crate::fixture::crypto;
use crate::http::upstream::{Seen, Upstream, answer};
use axum::response::Response;
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use mcpaql_runtime::dispatch::ServedAdapter;
use serde_json::{Value, json};

/// Returns a document of the guide, with another address.
async fn guide(name: &str, address: &str, upstream: &Upstream) -> ServedAdapter {
    crypto();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/unusual-apis.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, after) = page.split_once(&format!("file={name}\n")).unwrap();
    let (text, _) = after.split_once("\n```").unwrap();
    served(&Source::new(name, text.replace(address, &upstream.url)), &[]).await
}

fn reply(body: &Value) -> Response {
    answer(200, &[("content-type", "application/json")], body.to_string())
}

/// A JSON-RPC service: every answer has the status 200.
fn wallet(seen: &Seen) -> Response {
    let request: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!((&request["jsonrpc"], &request["id"]), (&json!("2.0"), &json!(1)));
    let params = &request["params"];
    let outcome = match request["method"].as_str().unwrap() {
        "wallet.getBalance" if params["account"] == "ada" => {
            json!({"result": {"balance": 12.5, "options": params["options"]}})
        }
        "wallet.pay" => json!({"result": {"paid": params[1], "to": params[0]}}),
        _ => json!({"error": {"code": -32602, "message": "Unknown account"}}),
    };
    let mut body = json!({"jsonrpc": "2.0", "id": 1});
    body.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
    reply(&body)
}

#[tokio::test]
async fn a_json_rpc_service_has_flat_parameters_plain_results_and_real_failures() {
    let upstream = Upstream::start(|_, seen| wallet(seen)).await;
    let wallet = guide("wallet-adapter.yaml", "https://wallet.example.com", &upstream).await;
    assert_eq!(call(&wallet, "get_balance", json!({"account": "ada"})).await.unwrap(), 12.5);
    let sent: Value = serde_json::from_str(&upstream.only().body).unwrap();
    assert_eq!(sent["params"], json!({"account": "ada", "options": {}}));
    call(&wallet, "get_balance", json!({"account": "ada", "at_block": 7})).await.unwrap();
    let sent: Value = serde_json::from_str(&upstream.seen()[1].body).unwrap();
    assert_eq!(sent["params"]["options"], json!({"block": 7}));
    let paid = call(&wallet, "create_payment", json!({"account": "bob", "amount": 0.1})).await.unwrap();
    assert_eq!(paid, json!({"paid": 0.1, "to": "bob"}));
    let error = call(&wallet, "get_balance", json!({"account": "eve"})).await.unwrap_err();
    assert_eq!(error.code, Code::InvalidValue);
    assert!(error.message.contains("Unknown account"), "{}", error.message);
}

const ENVELOPE: &str =
    r#"<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>"#;

/// A SOAP service. Some of them send faults with status 200.
fn quotes(seen: &Seen) -> Response {
    assert_eq!(seen.header("soapaction"), Some("http://example.com/GetLastTradePrice"));
    assert_eq!(seen.header("content-type"), Some("text/xml; charset=utf-8"));
    let body = if seen.body.contains("<symbol>A&amp;B</symbol>") {
        r#"<m:GetLastTradePriceResponse xmlns:m="http://example.com/stockquote"><Price>34.5</Price></m:GetLastTradePriceResponse>"#
    } else {
        "<s:Fault><faultcode>s:Client</faultcode><faultstring>Symbol not found</faultstring></s:Fault>"
    };
    let text = format!("{ENVELOPE}{body}</s:Body></s:Envelope>");
    answer(200, &[("content-type", "text/xml; charset=utf-8")], text)
}

#[tokio::test]
async fn a_soap_service_is_called_with_a_template_and_a_header() {
    let upstream = Upstream::start(|_, seen| quotes(seen)).await;
    let quotes = guide("quotes-adapter.yaml", "https://quotes.example.com", &upstream).await;
    assert_eq!(call(&quotes, "get_price", json!({"symbol": "A&B"})).await.unwrap(), "34.5");
    let error = call(&quotes, "get_price", json!({"symbol": "</symbol><x>"})).await.unwrap_err();
    assert_eq!(error.code, Code::NotFoundResource);
    assert!(error.message.contains("Symbol not found"), "{}", error.message);
    assert!(upstream.seen()[1].body.contains("<symbol>&lt;/symbol&gt;&lt;x&gt;</symbol>"));
}
