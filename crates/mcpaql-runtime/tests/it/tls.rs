//! HTTP with TLS: certificates, their reload, and errors that say what is wrong with them.

use crate::fixture::{Fixture, crypto, http, in_time, initialize, loopback};
use mcpaql_runtime::serve::{HttpLimits, ServeError, TlsFiles, serve_http};
use reqwest::{Certificate, Client, StatusCode};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

/// A certificate of these tests; its key is of no use anywhere else.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates").join(name)
}

fn client(name: &str) -> Client {
    crypto();
    let certificate =
        Certificate::from_pem(&std::fs::read(file(&format!("{name}.cert.pem"))).unwrap()).unwrap();
    Client::builder().tls_certs_only([certificate]).build().unwrap()
}

async fn status(client: &Client, addr: SocketAddr) -> Result<StatusCode, reqwest::Error> {
    let request = client
        .post(format!("https://localhost:{}/mcp", addr.port()))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(initialize().to_string());
    Ok(in_time(request.send()).await?.status())
}

#[tokio::test]
async fn a_changed_certificate_is_used_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles { cert: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    let install = |name: &str| {
        std::fs::copy(file(&format!("{name}.cert.pem")), &files.cert).unwrap();
        std::fs::copy(file(&format!("{name}.key.pem")), &files.key).unwrap();
    };
    install("first");
    let (addr, serving) = http(&Fixture::new(), loopback().with_tls(files.clone())).await;
    assert_eq!(status(&client("first"), addr).await.unwrap(), StatusCode::OK);
    assert!(status(&client("second"), addr).await.is_err());
    assert!(reqwest::get(format!("http://{addr}/healthz")).await.is_err(), "plain text is not served");

    // A broken certificate changes nothing.
    std::fs::write(&files.cert, "nonsense").unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(status(&client("first"), addr).await.unwrap(), StatusCode::OK);
    install("second");
    in_time(async {
        while status(&client("second"), addr).await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    serving.shutdown.cancel();
    serving.stopped().await.unwrap();
}

#[tokio::test]
async fn a_client_that_never_finishes_its_handshake_is_disconnected() {
    let files = TlsFiles { cert: file("first.cert.pem"), key: file("first.key.pem") };
    let mut limits = HttpLimits::default();
    limits.head_timeout = Duration::from_secs(1);
    let (addr, _serving) = http(&Fixture::new(), loopback().with_tls(files).with_connections(limits)).await;
    let mut silent = tokio::net::TcpStream::connect(addr).await.unwrap();
    let mut received = Vec::new();
    let _ = in_time(silent.read_to_end(&mut received)).await;
    assert_eq!(status(&client("first"), addr).await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn an_unusable_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    for (cert, key, expected) in [
        (folder.path().join("absent.pem"), file("first.key.pem"), "cannot read"),
        (empty.clone(), file("first.key.pem"), "no certificate"),
        (file("first.cert.pem"), empty, "no private key"),
        (file("first.cert.pem"), file("first.cert.pem"), "no private key"),
        (file("first.cert.pem"), file("second.key.pem"), "does not belong to the certificate"),
    ] {
        let options = loopback().with_tls(TlsFiles { cert, key });
        let served =
            serve_http(Fixture::new(), options, CancellationToken::new(), |_| panic!("it was bound")).await;
        let error = served.unwrap_err();
        assert!(matches!(error, ServeError::Tls(_)) && error.to_string().contains(expected), "{error}");
    }
}
