//! `init`: every kind of adapter that it writes passes `check` and can be served; wrong answers and existing files are refused.

use crate::fixture::{BINARY, RawClient, RunOutput, ServerProcess, TestFolder, tools_call};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const TOKEN: &str = "hunter2-init";

/// Starts an API that needs a token, with its description at `/openapi.json`, and returns its URL.
async fn start_api() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let start = async |request: Request| {
        let expected = format!("Bearer {TOKEN}");
        match request.headers().get("authorization") {
            Some(sent) if *sent == expected.as_str() => Json(json!({"hello": "world"})).into_response(),
            _ => StatusCode::UNAUTHORIZED.into_response(),
        }
    };
    let description = description(&url);
    let router = Router::new()
        .route("/", get(start))
        .route("/openapi.json", get(async move || Json(description.clone())));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Returns the description of the API.
fn description(url: &str) -> Value {
    json!({
        "openapi": "3.1.0", "info": {"title": "Shop", "version": "1.0.0"}, "servers": [{"url": url}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": {"/": {"get": {"operationId": "getStart", "responses": {"200": {"description": "ok"}}}}},
    })
}

/// Runs `init`, and checks that the file has no problem, not even a warning. Returns the file's text.
async fn init(place: &TestFolder, flags: &[&str], file: &str) -> String {
    let ran = place.run(&[&["init"], flags].concat()).await;
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.stderr.starts_with(&format!("Wrote {file}\n")), "{}", ran.stderr);
    let next: Vec<&str> = ran.stderr.split_once("Next:\n").unwrap().1.lines().collect();
    assert_eq!(next.len(), 2, "{}", ran.stderr);
    let documents: &[&str] = if file == "mcpaql.yaml" { &[] } else { &[file] };
    let checked = place.run(&[&["check", "--strict"], documents].concat()).await;
    assert_eq!(checked.status, Some(0), "{checked:?}");
    // The printed commands work: the first one ends by itself, the second one is what `call` below runs.
    assert_eq!(next[1], next[0].replace("doctor", "serve"));
    let words: Vec<&str> = next[0].split_whitespace().skip(1).collect();
    let mut doctor = place.binary(&words);
    doctor.env("SHOP_TOKEN", TOKEN).env("XDG_CONFIG_HOME", place.path().join("config"));
    let doctor = RunOutput::of(doctor).await;
    assert_eq!(doctor.status, Some(0), "{doctor:?}");
    std::fs::read_to_string(place.path().join(file)).unwrap()
}

/// Serves what was written, calls one operation and returns its data.
async fn serve_and_call(
    place: &TestFolder,
    args: &[&str],
    tool: &str,
    operation: &str,
    params: Value,
) -> Value {
    let mut command = place.binary(&[&["serve"], args].concat());
    command.env("SHOP_TOKEN", TOKEN);
    let mut raw = RawClient::initialized(command).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    loop {
        // A server that was not ready announces its tools.
        let listed = raw.receive().await.unwrap();
        let Some(tools) = listed["result"]["tools"].as_array() else { continue };
        assert!(tools.iter().any(|one| one["name"] == tool), "{tool}: {listed}");
        break;
    }
    raw.send(&tools_call(2, tool, operation, params)).await;
    loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == 2 {
            let text = message["result"]["content"][0]["text"].as_str();
            let envelope: Value = serde_json::from_str(text.unwrap_or_else(|| panic!("{message}"))).unwrap();
            assert_eq!(envelope["success"], true, "{envelope}");
            return envelope["data"].clone();
        }
    }
}

#[tokio::test]
async fn an_http_api() {
    let (place, url) = (TestFolder::new(), start_api().await);
    let flags = ["--kind", "http", "--source", &url, "--name", "shop", "--token-env", "SHOP_TOKEN"];
    let text = init(&place, &flags, "shop-adapter.yaml").await;
    assert!(text.contains("token_env: SHOP_TOKEN") && text.contains("# create:"), "{text}");
    let data =
        serve_and_call(&place, &["shop-adapter.yaml"], "shop_mcpaql_read", "get_start", json!({})).await;
    assert_eq!(data, json!({"hello": "world"}));
    // The examples in comments are valid, too.
    let uncomment =
        |line: &str| if line.starts_with(' ') { line.replacen("# ", "", 1) } else { line.to_owned() };
    let uncommented: Vec<String> = text.lines().map(uncomment).collect();
    place.file("all.yaml", &uncommented.join("\n"));
    let checked = place.run(&["check", "--strict", "all.yaml"]).await;
    assert!(checked.status == Some(0) && checked.stdout.contains("3 operations"), "{checked:?}");
}

#[tokio::test]
async fn an_openapi_description() {
    let url = start_api().await;
    let address = format!("{url}/openapi.json");
    for source in [address.as_str(), "shop.json"] {
        let place = TestFolder::new();
        place.file("shop.json", &description(&url).to_string());
        init(&place, &["--kind", "openapi", "--source", source, "--token-env", "SHOP_TOKEN"], "mcpaql.yaml")
            .await;
        let data = serve_and_call(&place, &[], "shop_mcpaql_read", "get_start", json!({})).await;
        assert_eq!(data, json!({"hello": "world"}));
    }
    let place = TestFolder::new();
    for source in ["absent.json", "http://127.0.0.1:9/openapi.json"] {
        let ran = place.run(&["init", "--kind", "openapi", "--source", source]).await;
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(
            ran.stderr.contains("error: ") && !place.path().join("mcpaql.yaml").exists(),
            "{}",
            ran.stderr
        );
    }
    place.file("shop.json", "<!doctype html><html></html>");
    let ran = place.run(&["init", "--kind", "openapi", "--source", "shop.json"]).await;
    assert_eq!(ran.status, Some(2), "a description with errors is refused: {ran:?}");
}

#[tokio::test]
async fn an_mcp_server() {
    let place = TestFolder::new();
    let command = format!("'{BINARY}' serve notebook --mode discrete");
    let flags = ["--kind", "mcp", "--source", &command, "--name", "notes"];
    init(&place, &flags, "mcpaql.yaml").await;
    let params = json!({"title": "t"});
    let created =
        serve_and_call(&place, &[], "notes_mcpaql_create", "notebook_create_note", params.clone()).await;
    assert_eq!(created["title"], "t", "{created}");

    let mut server =
        ServerProcess::start(place.binary(&["serve", "notebook", "--mode", "discrete", "--http", "0"]));
    let url = format!("http://{}/mcp", server.address().await);
    let other = TestFolder::new();
    let flags = ["--kind", "mcp", "--source", &url, "--name", "notes", "--token-env", "SHOP_TOKEN"];
    let text = init(&other, &flags, "mcpaql.yaml").await;
    assert!(text.contains("token_env: SHOP_TOKEN"), "{text}");
    let created = serve_and_call(&other, &[], "notes_mcpaql_create", "notebook_create_note", params).await;
    assert_eq!(created["title"], "t", "{created}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program() {
    let place = TestFolder::new();
    let text = init(
        &place,
        &["--kind", "command", "--source", "printf '%s-%s' {text} {text}"],
        "printf-adapter.yaml",
    )
    .await;
    assert!(text.contains("text: { type: string, required: true }"), "{text}");
    let file = ["printf-adapter.yaml"];
    let data =
        serve_and_call(&place, &file, "printf_mcpaql_execute", "run_printf", json!({"text": "a b"})).await;
    assert_eq!(data, "a b-a b");
}

#[tokio::test]
async fn the_store() {
    let place = TestFolder::new();
    init(&place, &["--kind", "store", "--source", "Recipes"], "recipes-adapter.yaml").await;
    let file = ["recipes-adapter.yaml"];
    let data =
        serve_and_call(&place, &file, "recipes_mcpaql_create", "create_recipe", json!({"title": "Soup"}))
            .await;
    assert_eq!(data["title"], "Soup");
    let place = TestFolder::new();
    init(&place, &["--yes"], "tasks-adapter.yaml").await;
    let ran = place.run(&["init", "--yes", "-"]).await;
    assert!(ran.status == Some(0) && ran.stdout.contains("\nname: tasks\n"), "{ran:?}");
}

#[tokio::test]
async fn no_file_is_overwritten_without_force() {
    let place = TestFolder::new();
    place.file("tasks-adapter.yaml", "mine");
    place.file("mcpaql.yaml", "mine");
    for args in [&["--kind", "store"][..], &["--kind", "mcp", "--source", "server"]] {
        let ran = place.run(&[&["init"], args].concat()).await;
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("already exists") && ran.stderr.contains("--force"), "{}", ran.stderr);
    }
    for file in ["tasks-adapter.yaml", "mcpaql.yaml"] {
        assert_eq!(std::fs::read_to_string(place.path().join(file)).unwrap(), "mine");
    }
    let ran = place.run(&["init", "--kind", "store", "--force"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let ran = place.run(&["init", "other.yaml", "--kind", "mcp", "--source", "server"]).await;
    assert!(ran.stderr.contains("mcpaql serve --config other.yaml"), "{}", ran.stderr);
}

#[tokio::test]
async fn wrong_answers_are_refused_before_anything_is_written() {
    let place = TestFolder::new();
    for (args, part) in [
        (&[][..], "--kind is missing"),
        (&["--kind", "http"], "--source is missing"),
        (&["--kind", "http", "--yes"], "--source is missing"),
        (&["--kind", "http", "--source", "api.example.com"], "must start with https://"),
        (&["--kind", "http", "--source", "https://me:hunter2@api.example.com"], "contains a credential"),
        (
            &["--kind", "http", "--source", "https://api.example.com", "--token-env", "hunter2 x"],
            "not its value",
        ),
        (
            &["--kind", "http", "--source", "https://a.example.com", "--name", "No Name"],
            "--name is not valid",
        ),
        (&["--kind", "http", "--source", "https:// a"], "--source is not valid"),
        (&["--kind", "mcp", "--source", "server --api-key hunter2"], "contains a credential"),
        (&["--kind", "mcp", "--source", "server 'x"], "unclosed quote"),
        (&["--kind", "mcp", "--source", " "], "--source is empty"),
        (&["--kind", "mcp", "--source", "server", "--name", "No Name"], "--name is not valid"),
        (&["--kind", "command", "--source", "{program} x"], "--source is not valid"),
        (&["--kind", "command", "--source", "ls", "--token-env", "X"], "has no effect"),
        (&["--kind", "store", "--source", "???"], "letter"),
        (&["mcpaql.yaml", "--kind", "store"], "is for configurations"),
        (&["tasks.md", "--kind", "store"], "ends in .yaml"),
        (&["--kind", "shop"], "invalid value"),
    ] {
        let ran = place.run(&[&["init"], args].concat()).await;
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}
