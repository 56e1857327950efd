//! Tests of the page through a real connection.

use super::*;
use crate::operator::{ConfirmationKind, ConfirmationScope, ConfirmationStatus, Issued, NewConfirmation};
use mcpaql_core::operation::Danger;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

struct Served {
    address: SocketAddr,
    code: String,
    state: OperatorState,
    _end: tokio_util::sync::DropGuard,
}

fn store_in(state: &OperatorState) -> StoreDecision {
    let state = state.clone();
    Arc::new(move |found, is_approved| {
        let state = state.clone();
        Box::pin(async move {
            state.decide(&found.id, is_approved, "ann").await.map_err(|error| error.to_string())
        })
    })
}

async fn served() -> Served {
    let state = OperatorState::in_memory();
    let page = ApprovalPage::new(state.clone(), store_in(&state));
    let (started, start) = oneshot::channel();
    let shutdown = CancellationToken::new();
    let end = shutdown.clone().drop_guard();
    tokio::spawn(page.serve(([127, 0, 0, 1], 0).into(), shutdown, move |address, code| {
        started.send((address, code.to_owned())).unwrap();
    }));
    let (address, code) = start.await.unwrap();
    Served { address, code, state, _end: end }
}

/// The status and the whole text of an answer.
struct Reply(u16, String);

impl Served {
    async fn send(&self, head: &str, extra: &str, body: &str) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let length = body.len();
        let host =
            if extra.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let request = format!(
            "{head} HTTP/1.1\r\n{host}{extra}Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        Reply(text.split(' ').nth(1).unwrap().parse().unwrap(), text)
    }

    async fn cookie(&self) -> String {
        let reply = self.send("POST /login", "", &format!("code={}&next=", self.code.to_uppercase())).await;
        assert_eq!(reply.0, 303, "{}", reply.1);
        let (_, rest) = reply.1.split_once("set-cookie: ").unwrap();
        assert!(rest.contains("HttpOnly; SameSite=Strict"), "{rest}");
        format!("Cookie: {}\r\n", rest.split(';').next().unwrap())
    }

    async fn ask(&self) -> String {
        let scope = ConfirmationScope {
            adapter: "shop".into(),
            operation: "wipe_books".into(),
            call_hash: "h".into(),
            caller: "bob".into(),
        };
        let new = NewConfirmation {
            kind: ConfirmationKind::Person,
            scope,
            danger: Danger::Forbidden,
            expires_in: Duration::from_secs(60),
            request: json!({"params": {"note": "<script>alert(1)</script>\u{202e}"}, "reasons": ["it's <b>gone</b>"]}),
            state_hash: None,
        };
        match self.state.issue(&new).await.unwrap() {
            Issued::New { id, .. } => id,
            other => panic!("{other:?}"),
        }
    }

    async fn status(&self, id: &str) -> ConfirmationStatus {
        self.state.confirmation(id).await.unwrap().unwrap().status
    }
}

fn secret_of(page: &str) -> &str {
    let (_, rest) = page.split_once("name=secret value=\"").unwrap();
    rest.split('"').next().unwrap()
}

#[tokio::test]
async fn a_person_with_the_code_sees_the_call_and_approves_it() {
    let served = served().await;
    let id = served.ask().await;
    let cookie = served.cookie().await;
    let list = served.send("GET /", &cookie, "").await;
    assert!(list.1.contains(&format!("/approvals/{id}")) && list.1.contains("forbidden"), "{}", list.1);
    let page = served.send(&format!("GET /approvals/{id}"), &cookie, "").await;
    assert!(page.1.contains("&lt;script&gt;") && page.1.contains("[U+202E]"), "{}", page.1);
    assert!(!page.1.contains("<script") && !page.1.contains("<b>"), "{}", page.1);
    assert!(page.1.contains("content-security-policy: default-src 'none'"), "{}", page.1);
    let form = format!("secret={}&decision=approve", secret_of(&page.1));
    let done = served.send(&format!("POST /approvals/{id}"), &cookie, &form).await;
    assert!(done.1.contains("Approved."), "{}", done.1);
    assert_eq!(served.status(&id).await, ConfirmationStatus::Approved);
    let again = served.send(&format!("POST /approvals/{id}"), &cookie, &form).await;
    assert!(again.1.contains("Nothing to decide: the request is approved."), "{}", again.1);
}

#[tokio::test]
async fn without_the_code_nothing_is_shown_or_decided() {
    let served = served().await;
    let id = served.ask().await;
    for head in ["GET /", &format!("GET /approvals/{id}")] {
        let reply = served.send(head, "", "").await;
        assert!(!reply.1.contains("wipe_books") && reply.1.contains("name=code"), "{}", reply.1);
    }
    let forged = served
        .send(&format!("POST /approvals/{id}"), "Cookie: mcpaql_session=guess\r\n", "decision=approve")
        .await;
    assert_eq!(forged.0, 403);
    // A page that has the cookie, but not the form.
    let cookie = served.cookie().await;
    let forged =
        served.send(&format!("POST /approvals/{id}"), &cookie, "secret=guess&decision=approve").await;
    assert_eq!(forged.0, 403);
    assert_eq!(served.status(&id).await, ConfirmationStatus::Open);
}

#[tokio::test]
async fn other_web_pages_cannot_use_it() {
    let served = served().await;
    let cookie = served.cookie().await;
    for header in ["Host: evil.example\r\n", "Host: 127.0.0.1\r\nHost: localhost\r\n"] {
        assert_eq!(served.send("GET /", &format!("{cookie}{header}"), "").await.0, 403, "{header}");
    }
    let foreign = format!("{cookie}Origin: http://evil.example\r\n");
    assert_eq!(served.send("POST /login", &foreign, "code=x").await.0, 403);
}

#[tokio::test]
async fn codes_cannot_be_guessed() {
    let served = served().await;
    for _ in 0..MAX_WRONG_CODES {
        assert_eq!(served.send("POST /login", "", "code=aaaaaaaa").await.0, 403);
    }
    let reply = served.send("POST /login", "", &format!("code={}", served.code)).await;
    assert_eq!(reply.0, 429, "{}", reply.1);
}

#[tokio::test]
async fn the_page_is_only_for_this_machine() {
    let page = ApprovalPage::new(OperatorState::in_memory(), store_in(&OperatorState::in_memory()));
    let refused = page.serve(([0, 0, 0, 0], 0).into(), CancellationToken::new(), |_, _| ()).await;
    assert!(refused.unwrap_err().to_string().contains("127.0.0.1"));
}
