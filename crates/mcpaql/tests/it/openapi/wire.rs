//! Requests byte by byte: every style of parameter, every kind of body, every kind of credential.

use super::{ReceivedRequest, ServedApi};
use serde_json::{Value, json};

const TEXT: &str = "sky blue/é";

fn list() -> Value {
    json!(["blue", "black", "brown"])
}

fn thing() -> Value {
    json!({"R": 100, "G": 200, "B": 150})
}

#[tokio::test]
async fn parameters_in_paths_are_spelled_in_their_style() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    for (id, target) in [
        ("pathSimple", "/v1/simple/sky%20blue%2F%C3%A9/blue,black,brown/R,100,G,200,B,150"),
        ("pathSimpleExploded", "/v1/simple-exploded/sky%20blue%2F%C3%A9/blue,black,brown/R=100,G=200,B=150"),
        ("pathLabel", "/v1/label/.sky%20blue%2F%C3%A9/.blue,black,brown/.R,100,G,200,B,150"),
        ("pathLabelExploded", "/v1/label-exploded/.sky%20blue%2F%C3%A9/.blue.black.brown/.R=100.G=200.B=150"),
        (
            "pathMatrix",
            "/v1/matrix/;text=sky%20blue%2F%C3%A9/;list=blue,black,brown/;thing=R,100,G,200,B,150",
        ),
        (
            "pathMatrixExploded",
            "/v1/matrix-exploded/;text=sky%20blue%2F%C3%A9/;list=blue;list=black;list=brown/;R=100;G=200;B=150",
        ),
    ] {
        let sent = api.call_and_record(id, json!({"text": TEXT, "list": list(), "thing": thing()})).await;
        assert_eq!(sent.request_line(), format!("GET {target}"));
        assert_eq!(sent.body.len(), 0);
        assert_eq!(sent.header("content-type"), None, "nothing is sent, so nothing has a type");
    }
}

#[tokio::test]
async fn parameters_in_queries_are_spelled_in_their_style() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    for (id, params, target) in [
        (
            "queryForm",
            json!({"text": TEXT, "count": 0, "flag": false, "list": list(), "thing": thing()}),
            "/v1/form?text=sky%20blue%2F%C3%A9&count=0&flag=false&list=blue&list=black&list=brown&R=100&G=200&B=150",
        ),
        ("queryForm", json!({"text": ""}), "/v1/form?text="),
        ("queryForm", json!({}), "/v1/form"),
        ("queryForm", json!({"text": "a&b=c#d+e"}), "/v1/form?text=a%26b%3Dc%23d%2Be"),
        (
            "queryFormPlain",
            json!({"text": TEXT, "list": list(), "thing": thing()}),
            "/v1/form-plain?text=sky%20blue%2F%C3%A9&list=blue,black,brown&thing=R,100,G,200,B,150",
        ),
        (
            "queryDelimited",
            json!({"spaced": list(), "piped": list()}),
            "/v1/delimited?spaced=blue%20black%20brown&piped=blue%7Cblack%7Cbrown",
        ),
        (
            "queryDelimitedThings",
            json!({"spaced": thing(), "piped": thing()}),
            "/v1/delimited-things?spaced=R%20100%20G%20200%20B%20150&piped=R%7C100%7CG%7C200%7CB%7C150",
        ),
        (
            "queryDeep",
            json!({"thing": thing()}),
            "/v1/deep?thing%5BR%5D=100&thing%5BG%5D=200&thing%5BB%5D=150",
        ),
        (
            "queryReserved",
            json!({"text": "a/b?c=d:e", "list": ["x/y", "z,z"]}),
            "/v1/reserved?text=a/b?c=d:e&list=x/y,z%2Cz",
        ),
        (
            "queryContent",
            json!({"filter": thing()}),
            "/v1/content?filter=%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D",
        ),
    ] {
        assert_eq!(api.call_and_record(id, params).await.request_line(), format!("GET {target}"), "{id}");
    }
}

#[tokio::test]
async fn headers_and_cookies_are_spelled_in_their_style() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let sent = api
        .call_and_record("headerSimple", json!({"x_text": "blue", "x_list": list(), "x_thing": thing()}))
        .await;
    assert_eq!(sent.request_line(), "GET /v1/headers");
    assert_eq!(sent.header("x-text"), Some("blue"));
    assert_eq!(sent.header("x-list"), Some("blue,black,brown"));
    assert_eq!(sent.header("x-thing"), Some("R,100,G,200,B,150"));

    let sent =
        api.call_and_record("headerSimpleExploded", json!({"x_list": list(), "x_thing": thing()})).await;
    assert_eq!(sent.header("x-list"), Some("blue,black,brown"));
    assert_eq!(sent.header("x-thing"), Some("R=100,G=200,B=150"));

    let sent =
        api.call_and_record("cookieForm", json!({"session": "abc", "list": list(), "thing": thing()})).await;
    assert_eq!(sent.request_line(), "GET /v1/cookies");
    let cookies = "session=abc; list=blue,black,brown; thing=R,100,G,200,B,150";
    assert_eq!(sent.header("cookie"), Some(cookies));
    assert_eq!(api.call_and_record("cookieForm", json!({})).await.header("cookie"), None);
}

fn typed(sent: &ReceivedRequest) -> &str {
    sent.header("content-type").unwrap()
}

#[tokio::test]
async fn json_bodies_hold_what_was_given_and_nothing_else() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let owner = json!({"name": "Ada", "friends": [{"name": "Charles"}]});
    let params = json!({"id": 7, "dryRun": true, "firstName": "Ada", "tags": ["x"], "owner": owner, "note": null,
        "amount": 0.1});
    let sent = api.call_and_record("bodyFlat", params).await;
    assert_eq!(sent.request_line(), "PUT /v1/bodies/flat/7?dryRun=true");
    assert_eq!(typed(&sent), "application/json");
    let body = json!({"firstName": "Ada", "tags": ["x"], "owner": owner, "note": null, "amount": 0.1});
    assert_eq!(sent.json(), body);
    assert!(sent.text().contains(r#""amount":0.1"#), "{}", sent.text());

    let sent = api.call_and_record("bodyWhole", json!({"body": [owner]})).await;
    assert_eq!((sent.request_line().as_str(), typed(&sent)), ("POST /v1/bodies/whole", "application/json"));
    assert_eq!(sent.json(), json!([owner]));

    let sent = api.call_and_record("bodyMap", json!({"body": {"a": 1, "b": 2}})).await;
    assert_eq!(sent.json(), json!({"a": 1, "b": 2}));

    let sent = api.call_and_record("bodyNamedBody", json!({"body": "Hello", "line": 3})).await;
    assert_eq!(typed(&sent), "application/vnd.shapes+json");
    assert_eq!(sent.json(), json!({"body": "Hello", "line": 3}));
}

#[tokio::test]
async fn a_field_of_the_body_and_a_parameter_of_one_name_are_two() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let data = api.introspect(json!({"query": "operations", "name": api.name("bodyFlat")})).await;
    let params = data["operation"]["parameters"].as_array().unwrap();
    let mut ids = params.iter().filter_map(|param| param["name"].as_str()).filter(|name| name.contains("id"));
    let (Some("id"), Some(other), None) = (ids.next(), ids.next(), ids.next()) else { panic!("{params:?}") };
    let mut given = json!({"id": 7, "first_name": "Ada", "tags": []});
    given[other] = json!("inner");
    let sent = api.call_and_record("bodyFlat", given).await;
    assert_eq!(sent.request_line(), "PUT /v1/bodies/flat/7");
    assert_eq!(sent.json()["id"], "inner");
}

#[tokio::test]
async fn form_bodies_are_encoded_field_by_field() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let sent = api
        .call_and_record("bodyForm", json!({"grant_type": "a b&c", "amount": 5, "list": ["x", "y=z"]}))
        .await;
    assert_eq!((sent.method.as_str(), typed(&sent)), ("POST", "application/x-www-form-urlencoded"));
    let text = sent.text().replace('+', "%20");
    assert_eq!(text, "grantType=a%20b%26c&amount=5&list=x&list=y%3Dz");

    let params =
        json!({"joined": ["a", "b"], "deep": thing(), "piped": ["c", "d"], "document": {"R": 1, "G": 2}});
    let sent = api.call_and_record("bodyFormEncoded", params).await;
    let expected = "joined=a,b&deep%5BR%5D=100&deep%5BG%5D=200&deep%5BB%5D=150&piped=c%7Cd\
        &document=%7B%22R%22%3A1%2C%22G%22%3A2%7D";
    assert_eq!(sent.text(), expected);
}

/// Returns the headers and the content of each part.
fn parts(sent: &ReceivedRequest) -> Vec<(String, Vec<u8>)> {
    let kind = typed(sent);
    let boundary = format!("--{}", kind.strip_prefix("multipart/form-data; boundary=").unwrap());
    let latin: String = sent.body.iter().map(|byte| char::from(*byte)).collect();
    let pieces: Vec<&str> = latin.split(boundary.as_str()).collect();
    assert_eq!((pieces.first(), pieces.last()), (Some(&""), Some(&"--\r\n")), "{latin:?}");
    let inner = &pieces[1..pieces.len() - 1];
    let part = |piece: &&str| {
        let (head, content) = piece.split_once("\r\n\r\n").unwrap();
        let content = content.strip_suffix("\r\n").unwrap();
        (head.trim().to_owned(), content.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect())
    };
    inner.iter().map(part).collect()
}

#[tokio::test]
async fn multipart_bodies_carry_files_as_bytes() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let params = json!({
        "title": "Holiday",
        "count": 2,
        "picture": {"data": "iVBORwD/", "filename": "beach.png", "content_type": "image/png"},
        "pages": ["AAE=", {"data": "Ag==", "filename": "two.bin"}],
        "owner": {"name": "Ada"},
    });
    let sent = api.call_and_record("bodyMultipart", params).await;
    assert_eq!(sent.request_line(), "POST /v1/bodies/multipart");
    let field = |name: &str| format!("Content-Disposition: form-data; name=\"{name}\"");
    let file = |name: &str, file: &str, kind: &str| {
        format!("{}; filename=\"{file}\"\r\nContent-Type: {kind}", field(name))
    };
    let found = parts(&sent);
    let expected = [
        (field("title"), b"Holiday".to_vec()),
        (field("count"), b"2".to_vec()),
        (file("picture", "beach.png", "image/png"), b"\x89PNG\x00\xff".to_vec()),
        (file("pages", "pages", "application/octet-stream"), b"\x00\x01".to_vec()),
        (file("pages", "two.bin", "application/octet-stream"), b"\x02".to_vec()),
        (format!("{}\r\nContent-Type: application/json", field("owner")), br#"{"name":"Ada"}"#.to_vec()),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn text_xml_and_binary_bodies_are_sent_as_they_are() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let sent = api.call_and_record("bodyText", json!({"body": "a=b & \"c\"\n\u{e9}"})).await;
    assert_eq!(sent.text(), "a=b & \"c\"\n\u{e9}");
    assert!(typed(&sent).starts_with("text/plain"), "{sent:?}");

    let sent = api.call_and_record("bodyXml", json!({"body": "<thing><name>x</name></thing>"})).await;
    assert_eq!((sent.text(), typed(&sent)), ("<thing><name>x</name></thing>", "application/xml"));

    let sent = api.call_and_record("bodyBinary", json!({"body": "iVBORwD/"})).await;
    assert_eq!(sent.request_line(), "PUT /v1/bodies/binary");
    assert_eq!((&*sent.body, typed(&sent)), (&b"\x89PNG\x00\xff"[..], "image/png"));
}

#[tokio::test]
async fn credentials_go_where_the_description_wants_them() {
    let api = ServedApi::of_fixture("shapes.yaml").await;
    let none = api.call_and_record("keyNone", json!({})).await;
    for name in ["authorization", "cookie", "x-shape-key"] {
        assert_eq!(none.header(name), None);
    }
    assert_eq!(none.target, "/v1/keys/none");
    assert_eq!(
        api.call_and_record("keyBearer", json!({})).await.header("authorization"),
        Some("Bearer t0ken")
    );
    // base64 of `ada:l0velace`
    let basic = api.call_and_record("keyBasic", json!({})).await;
    assert_eq!(basic.header("authorization"), Some("Basic YWRhOmwwdmVsYWNl"));
    let header = api.call_and_record("keyHeader", json!({})).await;
    assert_eq!((header.header("x-shape-key"), header.header("authorization")), (Some("in-header"), None));
    assert_eq!(api.call_and_record("keyQuery", json!({})).await.target, "/v1/keys/query?key=in%20query%26");
    assert_eq!(
        api.call_and_record("keyCookie", json!({})).await.header("cookie"),
        Some("shape_session=in-cookie")
    );
    let both = api.call_and_record("keyBoth", json!({})).await;
    assert_eq!(both.header("x-shape-key"), Some("in-header"));
    assert_eq!(both.target, "/v1/keys/both?key=in%20query%26");
}

#[tokio::test]
async fn swagger_s_collections_forms_and_files_arrive() {
    let api = ServedApi::of_fixture("ledger.json").await;
    let lists = json!({"csv": ["a", "b"], "ssv": ["a", "b"], "pipes": ["a", "b"], "multi": [1, 2],
        "since": "2026-01-31", "x_trace": "abc"});
    let sent = api.call_and_record("entries.list", lists).await;
    let expected = "GET /ledger/v2/entries?csv=a,b&ssv=a%20b&pipes=a%7Cb&multi=1&multi=2&since=2026-01-31";
    assert_eq!(sent.request_line(), expected);
    assert_eq!((sent.header("x-trace"), sent.header("x-ledger-key")), (Some("abc"), Some("0nly-key")));

    let sent = api.call_and_record("entries.create", json!({"amount": 2.5, "split": [{"amount": 1}]})).await;
    assert_eq!((sent.request_line().as_str(), typed(&sent)), ("POST /ledger/v2/entries", "application/json"));
    assert_eq!(sent.json(), json!({"amount": 2.5, "split": [{"amount": 1}]}));

    let note = json!({"entry_id": 5, "text": "a&b", "readers": ["x", "y"]});
    let sent = api.call_and_record("entries.note", note).await;
    assert_eq!(sent.request_line(), "POST /ledger/v2/entries/5/note");
    assert_eq!(sent.text(), "text=a%26b&readers=x&readers=y");

    let sent = api
        .call_and_record("entries.receipt", json!({"entry_id": 5, "scan": "AAE=", "caption": "Tea"}))
        .await;
    let parts = parts(&sent);
    let contents: Vec<&[u8]> = parts.iter().map(|(_, content)| content.as_slice()).collect();
    assert_eq!(contents, [&b"\x00\x01"[..], b"Tea"]);
    let head = parts[0].0.as_str();
    assert!(head.starts_with("Content-Disposition: form-data; name=\"scan\"; filename=\""), "{head}");
}

#[tokio::test]
async fn an_operation_may_live_elsewhere() {
    let api = ServedApi::of_fixture("tracker.json").await;
    let params = json!({"owner": "o", "repo": "r", "name": "a b.zip", "body": "AAE="});
    let sent = api.call_and_record("repos/upload-asset", params).await;
    assert_eq!(sent.request_line(), "POST /uploads/repos/o/r/releases/assets?name=a%20b.zip");
    assert_eq!((&*sent.body, typed(&sent)), (&b"\x00\x01"[..], "application/octet-stream"));
}
