//! The practice API that readers of the tutorial start themselves.

use crate::pages::page;
use crate::upstream::Upstream;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The commands of the tutorial are tested with the API of the other pages, so both must give the same answer.
#[test]
fn the_practice_api_answers_as_the_tutorial_shows() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let script =
        page("docs/tutorial.md").blocks().into_iter().find(|block| block.file.as_deref() == Some("shop.py"));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let script = script.unwrap().text.replace("8765", &free);
    let mut shop = Command::new("python3").args(["-c", &script]).stderr(Stdio::null()).spawn().unwrap();
    let request =
        "GET /v1/books/7 HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer t0ken\r\nConnection: close\r\n\r\n";
    let ask = |address: &str| -> Option<Value> {
        let mut connection = TcpStream::connect(address).ok()?;
        connection.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    };
    let shown = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        ask(&format!("127.0.0.1:{free}"))
    });
    shop.kill().unwrap();
    shop.wait().unwrap();
    let expected = ask(Upstream::start().url.trim_start_matches("http://"));
    assert!(expected.is_some());
    assert_eq!(shown, expected);
}
