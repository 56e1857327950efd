//! Sources of descriptions: files, URLs, and the documents they refer to.

use super::{API, BOOKSHOP, names, shop};
use crate::fixture::TestFolder;
use axum::Router;
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::routing::get;

const LARGEST: u64 = 64 << 20;

#[tokio::test]
async fn a_file_that_is_not_a_description_is_refused_with_a_reason() {
    let place = TestFolder::new();
    let rows: [(&str, &[u8], i32, &str); 8] = [
        ("empty.yaml", b"", 1, "empty"),
        ("words.yaml", b"hello", 1, "not an OpenAPI description"),
        ("list.json", b"[]", 1, "not an object"),
        ("cut.json", b"{\"openapi\": \"3.1.0\", ", 1, "not valid JSON"),
        ("cut.yaml", b"openapi: [\n", 1, "not valid YAML"),
        ("other.yaml", b"name: notes\ntype: adapter\n", 1, "not an OpenAPI description"),
        ("latin.yaml", b"openapi: caf\xe9\n", 2, "UTF-8"),
        ("utf16.json", b"\xff\xfe{\0", 2, "UTF-8"),
    ];
    for (name, bytes, status, expected) in rows {
        std::fs::write(place.path().join(name), bytes).unwrap();
        let ran = place.run(&["import", "openapi", name]).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(status), ""), "{name}: {ran:?}");
        assert!(ran.stderr.contains(expected) && ran.stderr.contains(name), "{name}: {}", ran.stderr);
    }
    for (source, expected) in [
        ("absent.yaml", "'absent.yaml' not found"),
        (".", "'.' is a folder"),
        ("ftp://example.com/x", "https://"),
    ] {
        let ran = place.run(&["import", "openapi", source]).await;
        assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{source}: {ran:?}");
    }
    let huge = std::fs::File::create(place.path().join("huge.json")).unwrap();
    huge.set_len(LARGEST + 1).unwrap();
    let ran = place.run(&["import", "openapi", "huge.json"]).await;
    assert!(ran.status == Some(2) && ran.stderr.contains("larger than the maximum"), "{ran:?}");
}

#[tokio::test]
async fn a_syntax_error_has_a_position() {
    let place = TestFolder::new();
    let colon = "{\n  \"openapi\": \"3.0.0\",\n  \"info\": {\"title\" \"x\"}\n}\n";
    for (name, text, at) in [
        ("colon.json", colon.to_owned(), "colon.json:3:20"),
        ("marked.json", format!("\u{feff}{colon}"), "marked.json:3:20"),
        ("bracket.yaml", "openapi: 3.0.0\ninfo: [\n".to_owned(), "bracket.yaml:2:7"),
    ] {
        std::fs::write(place.path().join(name), text).unwrap();
        let ran = place.run(&["import", "openapi", name]).await;
        assert!(ran.stderr.contains(at), "{name}: {}", ran.stderr);
        let ran = place.run(&["check", name]).await;
        assert!(ran.stdout.contains(at) || ran.stderr.contains(at), "{name}: {ran:?}");
    }
}

/// Returns the description with one more operation, whose response is a reference.
fn with_reference(reference: &str) -> String {
    let added = format!(
        "  /shelves:\n    get:\n      operationId: listShelves\n      responses:\n        \"200\":\n          description: Shelves\n          \
         content: {{application/json: {{schema: {{$ref: \"{reference}\"}}}}}}\n  /orders:\n"
    );
    BOOKSHOP.replacen("  /orders:\n", &added, 1)
}

#[tokio::test]
async fn references_to_files_in_the_folder_are_followed() {
    let place = TestFolder::new();
    let folder = place.path().join("schemas");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(
        folder.join("shelf.yaml"),
        "Shelf: {type: object, properties: {room: {$ref: 'room.json'}}}\n",
    )
    .unwrap();
    std::fs::write(folder.join("room.json"), r#"{"type": "string", "enum": ["cellar", "attic"]}"#).unwrap();
    place.file("bookshop.yaml", &with_reference("schemas/shelf.yaml#/Shelf"));
    let ran = place.run(&["import", "openapi", "bookshop.yaml"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("cellar") && ran.stdout.contains("attic"), "both files were read");
    let served =
        place.run(&["call", "bookshop.yaml", "introspect", "name=list_shelves", "detail=full"]).await;
    assert!(served.stdout.contains("cellar"), "{served:?}");
}

/// A reference that is not followed is reported; the rest of the description is imported.
#[tokio::test]
async fn references_to_other_places_are_reported_and_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.json");
    std::fs::write(&secret, r#"{"type": "string", "enum": ["do-not-read"]}"#).unwrap();
    let (upstream, address) = described(|_| Router::new()).await;
    let network = format!("{address}/shelf.json");
    for reference in
        [secret.to_str().unwrap(), &network, "file:///etc/shelf.json", "schemas/absent.yaml", "notes.txt"]
    {
        let place = TestFolder::new();
        place.file("notes.txt", "do-not-read");
        place.file("bookshop.yaml", &with_reference(reference));
        let ran =
            place.run(&["import", "openapi", "bookshop.yaml", "--report", "json", "-o", "out.md"]).await;
        assert_eq!(ran.status, Some(0), "{reference}: {ran:?}");
        let document = std::fs::read_to_string(place.path().join("out.md")).unwrap();
        assert!(names(&document).contains(&"list_shelves"), "{reference}");
        assert!(!document.contains("do-not-read"), "{reference}");
        let report = ran.json();
        let lost = report["operations"]
            .as_array()
            .unwrap()
            .iter()
            .any(|own| own["path"] == "/shelves" && own["notes"].to_string().contains("\"lost\":true"));
        let is_reported = lost || !report["diagnostics"].as_array().unwrap().is_empty();
        assert!(is_reported, "{reference}: {report:#}");
    }
    upstream.abort();
}

/// Serves the router that `router` returns for its own URL.
async fn described(router: impl FnOnce(&str) -> Router) -> (tokio::task::JoinHandle<()>, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = router(&address);
    let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (serving, address)
}

#[tokio::test]
async fn a_description_is_fetched_with_what_it_refers_to() {
    let text = with_reference("parts/shelf.json").replace(API, "/v1");
    let (upstream, address) = described(|_| {
        Router::new()
            .route("/spec/openapi.yaml", get(move || async move { text }))
            .route("/spec/parts/shelf.json", get(|| async { r#"{"type": "string", "enum": ["cellar"]}"# }))
            .route("/moved", get(|| async { Redirect::temporary("/spec/openapi.yaml") }))
            .route("/gone", get(|| async { (StatusCode::GONE, "openapi: 3.1.0") }))
            .route("/bytes", get(|| async { vec![0xff_u8, 0xfe] }))
    })
    .await;
    let place = TestFolder::new();
    for path in ["/spec/openapi.yaml?key=s3cret#top", "/moved"] {
        let ran = place.run(&["import", "openapi", &format!("{address}{path}")]).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("cellar"), "the other document was fetched");
        assert!(ran.stdout.contains(&format!("base_url: {address}/v1\n")), "relative to where it was found");
        assert!(!ran.stdout.contains("s3cret") && !ran.stderr.contains("s3cret"), "{ran:?}");
    }
    for (path, expected) in [("/gone?key=s3cret", "410"), ("/nothing", "404"), ("/bytes", "UTF-8")] {
        let ran = place.run(&["import", "openapi", &format!("{address}{path}")]).await;
        assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{path}: {ran:?}");
        assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    }
    upstream.abort();
    let _ = upstream.await;
    let unreachable = place.run(&["import", "openapi", &format!("{address}/spec/openapi.yaml")]).await;
    assert!(unreachable.status == Some(2) && unreachable.stderr.contains("cannot fetch"), "{unreachable:?}");
}

#[tokio::test]
async fn a_document_names_its_source_without_the_folder() {
    let place = shop();
    let absolute = place.path().join("bookshop.yaml");
    let ran = place.run(&["import", "openapi", absolute.to_str().unwrap()]).await;
    assert!(
        ran.stdout.contains("Imported from `bookshop.yaml`, version `2.4.0` (`sha256:"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains(place.path().to_str().unwrap()), "{}", ran.stdout);
}
