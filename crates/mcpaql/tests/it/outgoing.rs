//! Where `mcpaql` sends requests and credentials: descriptions from the network, redirects, and the keys of `mcpaql.yaml`.

use crate::fixture::TestFolder;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

type Log = Arc<Mutex<Vec<String>>>;

/// A server on an address of this machine that records paths and credentials.
struct Server {
    url: String,
    log: Log,
}

impl Server {
    /// `description` gets the URL of the API, which is another server.
    async fn start(ip: &str, api: Option<&str>) -> Server {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Log::default();
        let state = (Arc::clone(&log), api.unwrap_or(&url).to_owned());
        let router = Router::new().fallback(answer).with_state(state);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Server { url, log }
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

async fn answer(State((log, api)): State<(Log, String)>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let token = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
    log.lock().unwrap().push(format!("{path} {}", token.unwrap_or_default()).trim_end().to_owned());
    match path.as_str() {
        "/openapi.json" => axum::Json(json!({
            "openapi": "3.1.0",
            "info": {"title": "Bookshop", "version": "1"},
            "servers": [{"url": api}],
            "security": [{"token": []}],
            "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
            "paths": {"/books": {"get": {"operationId": "list_books", "responses": {"200": {"description": "Books"}}}}},
        }))
        .into_response(),
        "/moved.json" => ([("location", format!("{api}/openapi.json"))], "").into_response().moved(),
        _ => axum::Json(json!({"fine": true})).into_response(),
    }
}

trait Moved {
    fn moved(self) -> Response;
}

impl Moved for Response {
    fn moved(mut self) -> Response {
        *self.status_mut() = axum::http::StatusCode::FOUND;
        self
    }
}

async fn call(place: &TestFolder, args: &[&str]) -> (i32, String) {
    let mut command = place.binary(&[&["call"], args].concat());
    command.env("BOOKSHOP_TOKEN", "t0ken-of-the-shop");
    let output = crate::fixture::RunOutput::of(command).await;
    (output.status.unwrap_or(-1), format!("{}{}", output.stdout, output.stderr))
}

#[tokio::test]
async fn a_fetched_description_does_not_decide_where_requests_and_credentials_go() {
    let place = TestFolder::new();
    let api = Server::start("127.0.0.2", None).await;
    let docs = Server::start("127.0.0.1", Some(&api.url)).await;
    let url = format!("{}/openapi.json", docs.url);

    let (status, shown) = call(&place, &[&url, "list_books"]).await;
    assert_ne!(status, 0, "{shown}");
    assert!(shown.contains("PERMISSION_DENIED") && shown.contains("127.0.0.2"), "{shown}");
    assert!(api.seen().is_empty() && !shown.contains("t0ken"), "{shown}");

    // Without credentials, the host itself is still private.
    place.file("mcpaql.yaml", &format!("adapters: [{{openapi: '{url}', auth: {{type: none}}}}]\n"));
    place.trust();
    let (_, shown) = call(&place, &["bookshop", "list_books"]).await;
    assert!(
        shown.contains("'127.0.0.2' is not a public address") && shown.contains("allow_private"),
        "{shown}"
    );

    // A network is not yet a host for credentials, and a host for credentials is not yet a network.
    for keys in ["networks: [127.0.0.2]", "auth: {hosts: [127.0.0.2]}"] {
        place.file("mcpaql.yaml", &format!("adapters: [{{openapi: '{url}', {keys}}}]\n"));
        place.trust();
        let (status, shown) = call(&place, &["bookshop", "list_books"]).await;
        assert_ne!(status, 0, "{keys}: {shown}");
        assert!(api.seen().is_empty(), "{keys}");
    }
    let both = "networks: [127.0.0.2], auth: {hosts: [127.0.0.2]}";
    place.file("mcpaql.yaml", &format!("adapters: [{{openapi: '{url}', {both}}}]\n"));
    place.trust();
    let (status, shown) = call(&place, &["bookshop", "list_books"]).await;
    assert_eq!(status, 0, "{shown}");
    assert_eq!(api.seen(), ["/books Bearer t0ken-of-the-shop"]);
    assert!(
        docs.seen().iter().all(|seen| seen == "/openapi.json"),
        "the description is fetched without credentials"
    );
}

#[tokio::test]
async fn an_api_on_the_host_of_its_description_needs_no_settings() {
    let place = TestFolder::new();
    let server = Server::start("127.0.0.1", None).await;
    let (status, shown) = call(&place, &[&format!("{}/openapi.json", server.url), "list_books"]).await;
    assert_eq!(status, 0, "{shown}");
    assert_eq!(server.seen(), ["/openapi.json", "/books Bearer t0ken-of-the-shop"]);
}

#[tokio::test]
async fn a_description_is_not_fetched_from_a_private_host_that_a_redirect_names() {
    let place = TestFolder::new();
    let inside = Server::start("127.0.0.2", None).await;
    let docs = Server::start("127.0.0.1", Some(&inside.url)).await;
    let url = format!("{}/moved.json", docs.url);
    let (status, shown) = call(&place, &[&url, "list_books"]).await;
    assert_ne!(status, 0, "{shown}");
    assert!(
        shown.contains("'127.0.0.2' is not a public address") && shown.contains("allow_private"),
        "{shown}"
    );
    assert!(inside.seen().is_empty());
    place.file(
        "mcpaql.yaml",
        &format!("adapters: [{{openapi: '{url}', allow_private: true, auth: {{hosts: [127.0.0.2]}}}}]\n"),
    );
    place.trust();
    let (status, shown) = call(&place, &["bookshop", "list_books"]).await;
    assert_eq!(status, 0, "{shown}");
    assert_eq!(inside.seen(), ["/openapi.json", "/books Bearer t0ken-of-the-shop"]);
}

#[tokio::test]
async fn wrong_keys_are_reported_with_their_place() {
    let place = TestFolder::new();
    place.file(
        "mcpaql.yaml",
        "adapters:\n  - openapi: https://docs.example.com/x.json\n    networks: [intranet]\n    auth: { hosts: ['https://api.example.com/v1'] }\n",
    );
    place.trust();
    let output = place.run(&["check"]).await;
    let shown = format!("{}{}", output.stdout, output.stderr);
    assert!(shown.contains("'intranet' is not a network") && shown.contains("is not a host"), "{shown}");
    place.file("a.yaml", "name: a\ntype: adapter\nversion: \"1.0.0\"\ndescription: A\nallow_private: true\ntarget: { base_url: \"https://x.example\", networks: [10.0.0.0/8] }\noperations: { read: [{ name: get_it, maps_to: GET / }] }\n");
    let output = place.run(&["check", "a.yaml"]).await;
    let shown = format!("{}{}", output.stdout, output.stderr);
    assert!(
        output.status != Some(0) && shown.contains("allow_private") && shown.contains("networks"),
        "{shown}"
    );
}
