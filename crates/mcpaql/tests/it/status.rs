//! The state of running servers: over HTTP, and from their status files.

use crate::fixture::{
    RawClient, RunOutput, ServerProcess, TestFolder, install_crypto_provider, tools_call, with_timeout,
};
use serde_json::{Value, json};

const SOUND: &str = "name: sound\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\nmode: single\n\
    target: { transport: native, protocol: command }\n\
    operations: { read: [{ name: get_thing, command: [echo, thing] }, { name: get_other, command: [echo, other] }] }\n";

fn two(place: &TestFolder) {
    place.file("mcpaql.yaml", "adapters: [sound.yaml, lame.yaml]\n");
    place.trust();
    place.file("sound.yaml", SOUND);
    let lame = SOUND.replace("sound", "lame").replace("command }", "command, cwd: \"${env:WHERE_TO}\" }");
    place.file("lame.yaml", &lame);
}

/// Waits for a status of a server. The file is written at most once per second.
async fn until(place: &TestFolder, is_there: impl Fn(&Value) -> bool) -> Value {
    with_timeout(async {
        loop {
            let ran = place.run(&["status", "--json"]).await;
            let servers = ran.json();
            if is_there(&servers) {
                return servers;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_stdio_server_is_found_until_it_exits() {
    let place = TestFolder::new();
    two(&place);
    let ran = place.run(&["status"]).await;
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");

    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    raw.send(&tools_call(1, "sound_mcpaql", "get_thing", json!({}))).await;
    assert_eq!(raw.envelope().await["success"], true);
    raw.send(&tools_call(2, "lame_mcpaql", "get_thing", json!({}))).await;
    assert_eq!(raw.envelope().await["success"], false);
    let servers = until(&place, |servers| servers[0]["adapters"][1]["errors"] == 1).await;
    let [sound, lame] = [0, 1].map(|index| &servers[0]["adapters"][index]);
    assert_eq!(servers[0]["status"], "degraded");
    assert_eq!(
        (&sound["state"], &sound["calls"], &sound["operations"]),
        (&json!("ready"), &json!(1), &json!(2))
    );
    assert!(sound["latency_ms"]["p95"].as_f64().unwrap() > 0.0, "{sound}");
    assert!(sound["surface_tokens"].as_u64().unwrap() > 0, "{sound}");
    assert_eq!((&lame["state"], &lame["last_error"]), (&json!("failing"), &json!("INTERNAL_ERROR")));
    assert!(lame["reason"].as_str().unwrap().contains("WHERE_TO"), "{lame}");
    assert!(!servers.to_string().contains(place.path().to_str().unwrap()), "no path is shown: {servers}");

    let ran = place.run(&["status"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("ADAPTER") && ran.stdout.contains("lame: "), "{}", ran.stdout);

    raw.end_input();
    assert_eq!(raw.receive().await, None);
    raw.server.wait_for_exit().await;
    assert_eq!(place.run(&["status"]).await.status, Some(2));
}

#[cfg(unix)]
#[tokio::test]
async fn the_status_file_of_a_killed_server_is_removed() {
    let place = TestFolder::new();
    let raw = RawClient::initialized(place.binary(&["serve"])).await;
    until(&place, |servers| servers[0]["status"] == "ok").await;
    assert_eq!(place.run(&["status"]).await.status, Some(0));
    raw.server.signal(rustix::process::Signal::KILL);
    raw.server.wait_for_exit().await;
    let ran = place.run(&["status", "--json"]).await;
    assert_eq!((ran.status, ran.json()), (Some(2), json!([])), "{ran:?}");
}

#[tokio::test]
async fn over_http_details_need_the_token() {
    install_crypto_provider();
    let place = TestFolder::new();
    two(&place);
    let mut command = place.binary(&["serve", "--http", "127.0.0.1:0", "--token-env", "TOKEN"]);
    command.env("TOKEN", "hunter2-of-the-server");
    let mut server = ServerProcess::start(command);
    let url = format!("http://{}", server.address().await);
    let status = async |args: &[&str]| {
        let mut command = place.binary(&[&["status", "--url", &url, "--json"], args].concat());
        command.env("TOKEN", "hunter2-of-the-server").env("WRONG", "hunter3");
        RunOutput::of(command).await
    };
    for args in [&[][..], &["--token-env", "WRONG"]] {
        let ran = status(args).await;
        let shown = ran.json();
        let keys: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!((ran.status, keys), (Some(1), vec!["status", "version"]), "{shown}");
    }
    let ran = status(&["--token-env", "TOKEN"]).await;
    assert_eq!(ran.json()["adapters"][0]["name"], "sound", "{ran:?}");
    assert_eq!(status(&["--token-env", "UNSET"]).await.status, Some(2));
    drop(server);
    assert_eq!(place.run(&["status", "--url", "http://127.0.0.1:1"]).await.status, Some(2));
}
