//! Requests into private networks. The API is `api.example`, which resolves to 127.0.0.2, an address that the operator has
//! allowed: it stands for the internet. Everything else on this machine is private.

use super::fixture::{http, operation};
use super::upstream::{Upstream, answer, json};
use super::{TOKEN, bearer, call, client, env, target};
use futures_util::FutureExt;
use mcpaql_core::adapter::{Auth, HttpTarget, OAuth2};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::host::{NetworkAccess, NetworkRange};
use mcpaql_runtime::fetch::{self, FetchError};
use mcpaql_runtime::outgoing::NameLookup;
use mcpaql_runtime::target::http::HttpClient;
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The stand-in for the internet.
const PUBLIC: &str = "127.0.0.2";

fn port(upstream: &Upstream) -> &str {
    upstream.url.rsplit(':').next().expect("a port")
}

/// A target for `api.example` that may reach the stand-in for the internet.
fn public(upstream: &Upstream) -> HttpTarget {
    let networks = vec![NetworkRange::parse(PUBLIC).expect("an address")];
    HttpTarget {
        allow_http: true,
        access: NetworkAccess { networks, ..NetworkAccess::default() },
        ..target(&format!("http://api.example:{}", port(upstream)))
    }
}

fn names() -> NameLookup {
    Arc::new(|name| {
        let ips: &[&str] = match name.as_str() {
            "api.example" | "cdn.example" => &[PUBLIC],
            "mixed.example" => &["10.0.0.1", PUBLIC],
            "inside.example" | "localhost" | "db" => &["127.0.0.1"],
            "all-inside.example" => &["10.1.2.3", "::1", "fd00::1"],
            "metadata.example" | "metadata.google.internal" => &["169.254.169.254"],
            "mapped.example" => &["::ffff:127.0.0.1"],
            _ => return async { Err(std::io::ErrorKind::NotFound.into()) }.boxed(),
        };
        let ips = ips.iter().map(|ip| ip.parse::<IpAddr>().expect("an address")).collect();
        async move { Ok(ips) }.boxed()
    })
}

fn assert_refused(error: &OpError, host: &str) {
    assert_eq!(error.code, Code::PermissionDenied, "{error:?}");
    assert!(error.message.contains(&format!("'{host}'")), "{}", error.message);
    assert!(error.message.contains("`allow_private` or `networks`"), "{}", error.message);
}

#[tokio::test]
async fn redirects_into_private_networks_are_refused_in_every_form() {
    let victim = Upstream::fixed(200, &[("content-type", "text/plain")], "internal").await;
    let to = port(&victim).to_owned();
    let forms: Vec<(String, String)> = [
        ("127.0.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0.0.0.0", "0.0.0.0"),
        ("0", "0.0.0.0"),
        ("127.0.0.3", "127.0.0.3"),
        ("10.0.0.1", "10.0.0.1"),
        ("172.16.0.1", "172.16.0.1"),
        ("192.168.0.1", "192.168.0.1"),
        ("100.64.0.1", "100.64.0.1"),
        ("169.254.169.254", "169.254.169.254"),
        ("2852039166", "169.254.169.254"),
        ("100.100.100.200", "100.100.100.200"),
        ("[::1]", "[::1]"),
        ("[::]", "[::]"),
        ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
        ("[::127.0.0.1]", "[::7f00:1]"),
        ("[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"),
        ("[2002:7f00:1::]", "[2002:7f00:1::]"),
        ("[fd00:ec2::254]", "[fd00:ec2::254]"),
        ("[fe80::1]", "[fe80::1]"),
        ("localhost", "localhost"),
        ("db", "db"),
        ("inside.example", "inside.example"),
        ("INSIDE.example", "inside.example"),
        ("all-inside.example", "all-inside.example"),
        ("metadata.example", "metadata.example"),
        ("metadata.google.internal", "metadata.google.internal"),
        ("mapped.example", "mapped.example"),
        ("%69nside.example", "inside.example"),
    ]
    .into_iter()
    .map(|(form, host)| (format!("http://{form}:{to}/secret"), host.to_owned()))
    .collect();
    let locations = forms.clone();
    let upstream = Upstream::start_at(PUBLIC, move |_, seen| {
        let n = seen.uri.trim_start_matches('/').parse::<usize>();
        match n.ok().and_then(|n| locations.get(n)) {
            Some((location, _)) => answer(302, &[("location", location)], ""),
            None => json(r#"{"fine":true}"#),
        }
    })
    .await;
    let client = client(&public(&upstream), &bearer()).with_lookup(names());
    for (n, (form, host)) in forms.iter().enumerate() {
        let error = call(&client, &operation("GET", &format!("/{n}"), vec![]), json!({})).await.unwrap_err();
        assert_refused(&error, host);
        assert!(!format!("{error:?}").contains(TOKEN), "{form}");
    }
    assert!(victim.seen().is_empty(), "nothing reached the private network");
    let fine = call(&client, &operation("GET", "/fine", vec![]), json!({})).await.unwrap();
    assert_eq!(fine.data.into_value(), json!({"fine": true}));
}

#[tokio::test]
async fn a_redirect_to_another_public_host_is_followed_without_credentials() {
    let other = Upstream::start_at(PUBLIC, |_, _| json(r#"{"cdn":true}"#)).await;
    for name in ["cdn.example", "mixed.example"] {
        let location = format!("http://{name}:{}/file", port(&other));
        let upstream =
            Upstream::start_at(PUBLIC, move |_, _| answer(302, &[("location", &location)], "")).await;
        let client = client(&public(&upstream), &bearer()).with_lookup(names());
        let answer = call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap();
        assert_eq!(answer.data.into_value(), json!({"cdn": true}));
    }
    assert!(other.seen().iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_refused() {
    let victim = Upstream::fixed(200, &[], "internal").await;
    let upstream = Upstream::start_at(PUBLIC, |_, _| answer(200, &[("connection", "close")], "")).await;
    let lookups = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lookups);
    let rebinding: NameLookup = Arc::new(move |_| {
        let ip = if counter.fetch_add(1, Ordering::SeqCst) == 0 { PUBLIC } else { "127.0.0.1" };
        async move { Ok(vec![ip.parse().expect("an address")]) }.boxed()
    });
    let target = HttpTarget { retries: 0, ..public(&upstream) };
    let client = client(&target, &bearer()).with_lookup(rebinding);
    let get = operation("GET", "/", vec![]);
    call(&client, &get, json!({})).await.unwrap();
    let error = call(&client, &get, json!({})).await.unwrap_err();
    assert_refused(&error, "api.example");
    assert_eq!(
        (lookups.load(Ordering::SeqCst), upstream.seen().len()),
        (2, 1),
        "each name is looked up once"
    );
    assert!(victim.seen().is_empty());
}

#[tokio::test]
async fn a_document_that_names_a_public_host_does_not_lead_inside() {
    let victim = Upstream::fixed(200, &[], "internal").await;
    let inside =
        HttpTarget { allow_http: true, ..target(&format!("http://inside.example:{}", port(&victim))) };
    let get = operation("GET", "/", vec![]);
    let refused = client(&inside, &bearer()).with_lookup(names());
    assert_refused(&call(&refused, &get, json!({})).await.unwrap_err(), "inside.example");
    assert!(victim.seen().is_empty());
    for access in [
        NetworkAccess { allow_private: true, ..NetworkAccess::default() },
        NetworkAccess {
            networks: vec![NetworkRange::parse("127.0.0.0/8").unwrap()],
            ..NetworkAccess::default()
        },
        NetworkAccess { hosts: vec!["inside.example".into()], ..NetworkAccess::default() },
    ] {
        let allowed = HttpTarget { access, ..inside.clone() };
        let allowed = client(&allowed, &bearer()).with_lookup(names());
        call(&allowed, &get, json!({})).await.unwrap();
    }
    assert_eq!(victim.seen().len(), 3);
}

#[tokio::test]
async fn a_fetched_description_decides_neither_hosts_nor_credentials() {
    let victim = Upstream::fixed(200, &[], "internal").await;
    let upstream = Upstream::start_at(PUBLIC, |_, _| json("{}")).await;
    let mut fetched = public(&upstream);
    fetched.access.is_fetched = true;
    fetched.access.hosts = vec!["docs.example".into()];

    // An entry of `servers` on this machine.
    let mut local = operation("GET", "/", vec![]);
    http(&mut local).base_url = Some(victim.url.clone());
    let plain = client(&fetched, &Auth::None).with_lookup(names());
    assert_refused(&call(&plain, &local, json!({})).await.unwrap_err(), "127.0.0.1");

    // Another host than the one that the operator typed gets no credentials.
    let get = operation("GET", "/", vec![]);
    let key = Auth::ApiKey {
        key_env: "API_TOKEN".into(),
        location: mcpaql_core::adapter::KeyLocation::Query("key".into()),
        prefix: String::new(),
    };
    let cookie = Auth::ApiKey {
        key_env: "API_TOKEN".into(),
        location: mcpaql_core::adapter::KeyLocation::Cookie("key".into()),
        prefix: String::new(),
    };
    let basic = Auth::Basic { username_env: "API_TOKEN".into(), password_env: "API_TOKEN".into() };
    let token_url = format!("http://api.example:{}/token", port(&upstream));
    let oauth = Auth::OAuth2(OAuth2 {
        token_url,
        client_id_env: "API_TOKEN".into(),
        client_secret_env: Some("API_TOKEN".into()),
        refresh_token_env: None,
        scopes: Vec::new(),
    });
    for auth in [bearer(), key, cookie, basic, oauth] {
        let refused = client(&fetched, &auth).with_lookup(names());
        let error = call(&refused, &get, json!({})).await.unwrap_err();
        assert_eq!(error.code, Code::PermissionDenied, "{auth:?}");
        assert!(
            error.message.contains("'api.example'") && error.message.contains("hosts: [api.example]"),
            "{error}"
        );
    }
    assert!(upstream.seen().is_empty() && victim.seen().is_empty());

    // Without credentials, and with an approved host, the same call works.
    call(&plain, &get, json!({})).await.unwrap();
    fetched.access.credential_hosts = vec!["api.example".into()];
    let approved = client(&fetched, &bearer()).with_lookup(names());
    call(&approved, &get, json!({})).await.unwrap();
    assert!(
        upstream.seen()[0].header("authorization").is_none()
            && upstream.seen()[1].header("authorization").is_some()
    );
}

#[tokio::test]
async fn a_token_endpoint_inside_gets_no_secret() {
    let victim = Upstream::fixed(200, &[], "{}").await;
    let upstream = Upstream::start_at(PUBLIC, |_, _| json("{}")).await;
    let auth = Auth::OAuth2(OAuth2 {
        token_url: format!("http://inside.example:{}/token", port(&victim)),
        client_id_env: "API_TOKEN".into(),
        client_secret_env: Some("API_TOKEN".into()),
        refresh_token_env: None,
        scopes: Vec::new(),
    });
    let client = HttpClient::new(&public(&upstream), &auth, env).unwrap().with_lookup(names());
    let error = call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap_err();
    assert_refused(&error, "inside.example");
    assert!(victim.seen().is_empty() && upstream.seen().is_empty());
}

#[tokio::test]
async fn fetched_descriptions_are_not_redirected_inside() {
    for to in [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:10.0.0.1]/",
        "http://[fd00::1]/",
        "http://127.0.0.2/",
        "//192.168.0.1/x",
    ] {
        let upstream = Upstream::start(move |_, _| answer(302, &[("location", to)], "")).await;
        let error = fetch::text(&upstream.url, &NetworkAccess::default()).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { .. }), "{to}: {error}");
        assert!(
            error.to_string().contains("is not a public address") && error.hint().contains("allow_private")
        );
        assert_eq!(upstream.seen().len(), 1);
        let linked = fetch::linked_text(&upstream.url, &NetworkAccess::default()).await.unwrap_err();
        assert!(matches!(linked, FetchError::Refused { .. }), "a reference grants nothing: {linked}");
    }
    let upstream = Upstream::start(|n, _| match n {
        0 => answer(302, &[("location", "/openapi.json")], ""),
        _ => answer(200, &[], "openapi: 3.1.0"),
    })
    .await;
    let (url, text) = fetch::text(&upstream.url, &NetworkAccess::default()).await.unwrap();
    assert_eq!((url.path(), text.as_str()), ("/openapi.json", "openapi: 3.1.0"));
    let endless = Upstream::start(|_, _| answer(302, &[("location", "/again")], "")).await;
    let error = fetch::text(&endless.url, &NetworkAccess::default()).await.unwrap_err();
    assert!(error.to_string().contains("too many redirects"), "{error}");
    assert_eq!(endless.seen().len(), 6);
}
