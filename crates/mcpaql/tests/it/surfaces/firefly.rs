//! The Firefly example: three products on two hosts with one sign-in.

use super::{FakeApi, Row, assert_passes, assert_shows, data, example, refusal, replies, serve};
use crate::fixture::{TestClient, TestFolder};
use crate::openapi::ReceivedRequest;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;

fn hints(title: &str, read_only: bool, destructive: bool) -> Value {
    json!({"title": title, "readOnlyHint": read_only, "destructiveHint": destructive, "idempotentHint": read_only,
        "openWorldHint": true})
}

#[tokio::test]
async fn thirteen_tools_have_titles_and_all_hints() {
    let (client, _place) = serve("firefly-adapter.md", &[]).await;
    let rows: [(&str, &str, bool, bool); 13] = [
        ("firefly_generate_image", "Generate Image", false, false),
        ("firefly_generate_similar", "Generate Similar Images", false, false),
        ("firefly_expand_image", "Expand Image", false, false),
        ("firefly_fill_image", "Fill Image", false, false),
        ("firefly_generate_video", "Generate Video", false, false),
        ("firefly_upload_image", "Upload Image", false, false),
        ("firefly_check_auth", "Check Authentication", true, false),
        ("photoshop_smart_object_replace", "Replace Smart Object", false, false),
        ("photoshop_document_manifest", "Get Document Manifest", true, false),
        ("photoshop_apply_actions", "Apply Actions", false, true),
        ("photoshop_edit_text", "Edit Text", false, false),
        ("lightroom_apply_preset", "Apply Preset", false, false),
        ("lightroom_auto_tone", "Auto Tone", false, false),
    ];
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(|(name, title, read_only, destructive)| (*name, *title, hints(title, *read_only, *destructive)))
        .collect();
    assert_shows(&client, &rows).await;
}

#[tokio::test]
async fn the_document_passes_its_convention() {
    let conventions = example("firefly-conventions.yaml");
    let options = ["--conventions", conventions.as_str(), "--convention", "firefly-services"];
    assert_passes("firefly-adapter.md", &options).await;
}

/// Adobe's two hosts. The first one also issues tokens.
struct Adobe {
    firefly: Arc<FakeApi>,
    image: Arc<FakeApi>,
    client: TestClient,
    _place: TestFolder,
}

impl Adobe {
    async fn start(answer: fn(&ReceivedRequest) -> Response) -> Adobe {
        let (firefly, firefly_url) = FakeApi::start(move |request| match request.target.as_str() {
            "/ims/token/v3" => {
                replies(200, json!({"access_token": "acc3ss", "token_type": "bearer", "expires_in": 3600}))
            }
            _ => answer(request),
        })
        .await;
        let (image, image_url) = FakeApi::start(answer).await;
        let token_url = format!("{firefly_url}/ims/token/v3");
        let variables = [
            ("FIREFLY_URL", firefly_url.as_str()),
            ("ADOBE_IMAGE_URL", image_url.as_str()),
            ("ADOBE_TOKEN_URL", token_url.as_str()),
            ("FIREFLY_CLIENT_ID", "cl1ent"),
            ("FIREFLY_CLIENT_SECRET", "s3cret"),
        ];
        let (client, place) = serve("firefly-adapter.md", &variables).await;
        Adobe { firefly, image, client, _place: place }
    }
}

fn file(name: &str) -> Value {
    json!({"href": format!("https://files.example/{name}?sig=1"), "storage": "external"})
}

fn output() -> Value {
    json!([{"href": "https://files.example/out?sig=2", "storage": "external", "type": "image/jpeg"}])
}

fn picture() -> Value {
    json!({"source": {"uploadId": "8f3c"}})
}

/// Tool, arguments, and the path and body of the request.
fn generations() -> [(&'static str, Value, &'static str, Value); 5] {
    [
        (
            "firefly_generate_image",
            json!({"prompt": "A lighthouse", "negative_prompt": "people", "num_variations": 2, "seeds": [1, 2],
                "size": {"width": 2048, "height": 1024}, "content_class": "photo",
                "style": {"presets": ["fog"], "imageReference": picture(), "strength": 50}}),
            "/v3/images/generate",
            json!({"prompt": "A lighthouse", "negativePrompt": "people", "numVariations": 2, "seeds": [1, 2],
                "size": {"width": 2048, "height": 1024}, "contentClass": "photo",
                "style": {"presets": ["fog"], "imageReference": picture(), "strength": 50}}),
        ),
        (
            "firefly_generate_similar",
            json!({"image": picture(), "num_variations": 3}),
            "/v3/images/generate-similar",
            json!({"image": picture(), "numVariations": 3}),
        ),
        (
            "firefly_expand_image",
            json!({"image": picture(), "size": {"width": 2304, "height": 1792},
                "placement": {"inset": {"left": 10}, "alignment": {"vertical": "top"}}}),
            "/v3/images/expand",
            json!({"image": picture(), "size": {"width": 2304, "height": 1792},
                "placement": {"inset": {"left": 10}, "alignment": {"vertical": "top"}}}),
        ),
        (
            "firefly_fill_image",
            json!({"image": picture(), "mask": {"source": {"url": "https://files.example/mask"}, "invert": true},
                "prompt": "A red door"}),
            "/v3/images/fill",
            json!({"image": picture(), "mask": {"source": {"url": "https://files.example/mask"}, "invert": true},
                "prompt": "A red door"}),
        ),
        (
            "firefly_generate_video",
            json!({"prompt": "Waves", "sizes": [{"width": 1920, "height": 1080}], "bit_rate_factor": 18,
                "video_settings": {"promptStyle": "cinematic"}}),
            "/v3/videos/generate",
            json!({"prompt": "Waves", "sizes": [{"width": 1920, "height": 1080}], "bitRateFactor": 18,
                "videoSettings": {"promptStyle": "cinematic"}}),
        ),
    ]
}

/// Tool, arguments (which are also the body), and path.
fn edits() -> [(&'static str, Value, &'static str); 6] {
    let replacement = json!({"layers": [{"name": "Hero", "input": file("hero.png")}]});
    let text = json!({"layers": [{"id": 7, "text": {"content": "Summer sale"}}]});
    let actions = json!({"actions": [{"href": "https://files.example/look.atn", "storage": "external",
        "actionName": "Posterize"}]});
    [
        (
            "photoshop_document_manifest",
            json!({"inputs": [file("a.psd")], "options": {"thumbnails": {"type": "image/jpeg"}}}),
            "/pie/psdService/documentManifest",
        ),
        (
            "photoshop_smart_object_replace",
            json!({"inputs": [file("a.psd")], "options": replacement, "outputs": output()}),
            "/pie/psdService/smartObject",
        ),
        (
            "photoshop_edit_text",
            json!({"inputs": [file("a.psd")], "options": text, "outputs": output()}),
            "/pie/psdService/text",
        ),
        (
            "photoshop_apply_actions",
            json!({"inputs": [file("a.jpg")], "options": actions, "outputs": output()}),
            "/pie/psdService/photoshopActions",
        ),
        (
            "lightroom_apply_preset",
            json!({"inputs": {"source": file("a.jpg"), "presets": [file("cool.xmp")]}, "outputs": output()}),
            "/lrService/presets",
        ),
        ("lightroom_auto_tone", json!({"inputs": file("a.jpg"), "outputs": output()}), "/lrService/autoTone"),
    ]
}

fn assert_signed(sent: &ReceivedRequest) {
    assert_eq!(sent.header("authorization"), Some("Bearer acc3ss"));
    assert_eq!(sent.header("x-api-key"), Some("cl1ent"));
}

#[tokio::test]
async fn every_tool_is_one_signed_request_to_its_product_s_host() {
    let adobe = Adobe::start(|_| replies(202, json!({"jobId": "j1"}))).await;

    data(&adobe.client, "firefly_check_auth", json!({})).await;
    let asked = adobe.firefly.only_request();
    assert_eq!(asked.request_line(), "POST /ims/token/v3");
    let form = asked.text();
    assert!(
        form.contains("grant_type=client_credentials") && form.contains("firefly_api%2Cff_apis"),
        "{form}"
    );
    let sent = adobe.image.only_request();
    assert_eq!((sent.request_line().as_str(), sent.body.len()), ("GET /pie/psdService/hello", 0));
    assert_signed(&sent);

    for (tool, arguments, path, body) in generations() {
        assert_eq!(data(&adobe.client, tool, arguments).await, json!({"jobId": "j1"}));
        let sent = adobe.firefly.only_request();
        assert_eq!(sent.request_line(), format!("POST {path}"), "the token is still good");
        assert_eq!(sent.json(), body, "{tool}");
        let model = (tool == "firefly_generate_video").then_some("video1_standard");
        assert_eq!(sent.header("x-model-version"), model, "{tool}");
        assert_signed(&sent);
    }
    for (tool, arguments, path) in edits() {
        data(&adobe.client, tool, arguments.clone()).await;
        let sent = adobe.image.only_request();
        assert_eq!(sent.request_line(), format!("POST {path}"));
        assert_eq!(sent.json(), arguments, "{tool}");
        assert_signed(&sent);
    }
    assert!(adobe.firefly.received_requests().is_empty());
}

#[tokio::test]
async fn a_picture_is_uploaded_as_bytes() {
    let adobe = Adobe::start(|_| replies(200, json!({"images": [{"id": "8f3c"}]}))).await;
    let arguments = json!({"image": "iVBORwD/", "media_type": "image/png"});
    let found = data(&adobe.client, "firefly_upload_image", arguments).await;
    assert_eq!(found, json!({"images": [{"id": "8f3c"}]}));
    let sent = adobe.firefly.received_requests().pop().unwrap();
    assert_eq!(sent.request_line(), "POST /v2/storage/image");
    assert_eq!((&*sent.body, sent.header("content-type")), (&b"\x89PNG\x00\xff"[..], Some("image/png")));
}

#[tokio::test]
async fn errors_are_reported_without_secrets() {
    let adobe = Adobe::start(|request| {
        let authorization = request.header("authorization").unwrap_or_default().to_owned();
        replies(403, json!({"error_code": "403003", "message": format!("not entitled: {authorization}")}))
    })
    .await;
    let (code, error) =
        refusal(&adobe.client, "firefly_generate_image", json!({"prompt": "A lighthouse"})).await;
    assert_eq!(code, "PERMISSION_DENIED");
    assert!(!error.to_string().contains("acc3ss"), "{error}");
    adobe.firefly.received_requests();

    let (code, _) = refusal(&adobe.client, "firefly_generate_image", json!({"num_variations": 2})).await;
    assert_eq!(code, "VALIDATION_MISSING_PARAM");
    let both = json!({"image": {"source": {"uploadId": "8f3c", "url": "https://files.example/a"}}});
    let (code, _) = refusal(&adobe.client, "firefly_generate_similar", both).await;
    assert!(code.starts_with("VALIDATION_"), "{code}");
    assert!(adobe.firefly.received_requests().is_empty(), "nothing of that is sent");
}
