//! The API of the pages: a few tickets and a book, answered from memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// A server that lives as long as the test process.
pub(crate) struct Upstream {
    pub(crate) url: String,
}

impl Upstream {
    pub(crate) fn start() -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                std::thread::spawn(move || answer(connection));
            }
        });
        Upstream { url }
    }

    /// Returns the text with the address of this API in place of those.
    pub(crate) fn in_place_of(&self, addresses: &[&str], text: &str) -> String {
        addresses.iter().fold(text.to_owned(), |text, address| text.replace(address, &self.url))
    }
}

fn answer(connection: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let request = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let (mut length, mut authorized) = (0, false);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        authorized |= header.starts_with("authorization: bearer ");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (status, json) = match request.as_str() {
        _ if !authorized => ("401 Unauthorized", r#"{"message":"Send a token"}"#.to_owned()),
        "GET /v1/tickets?state=open" => (
            "200 OK",
            r#"[{"id":7,"title":"Printer is on fire","state":"open"},{"id":9,"title":"Out of paper","state":"open"}]"#.to_owned(),
        ),
        "GET /v1/tickets/7" => ("200 OK", r#"{"id":7,"title":"Printer is on fire","state":"open"}"#.to_owned()),
        "GET /v1/books/7" => (
            "200 OK",
            r#"{"id":7,"title":"Moby Dick","author_id":1,"genre":"novel","price":12.5,"stock":3}"#.to_owned(),
        ),
        "POST /v1/tickets" => {
            let sent = String::from_utf8_lossy(&body).into_owned();
            ("201 Created", sent.replacen('{', r#"{"id":10,"#, 1).replacen('}', r#","state":"open"}"#, 1))
        }
        _ => ("404 Not Found", r#"{"message":"No such ticket"}"#.to_owned()),
    };
    let mut connection = connection;
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{json}",
        json.len()
    )
    .ok()
}
