//! URLs of APIs.

use crate::{http, import, messages, operation, target, with_paths};
use mcpaql_import::openapi::{NoLoader, OpenApiImportOptions, open};
use serde_json::{Value, json};
use std::sync::Arc;

fn base_url(servers: Value, url: Option<&str>) -> (String, bool) {
    let mut document = with_paths(json!({"/a": {"get": {}}}));
    document["servers"] = servers;
    let options = OpenApiImportOptions { url: url.map(str::to_owned), ..OpenApiImportOptions::default() };
    let import = open(document.to_string(), &options, Arc::new(NoLoader)).unwrap();
    (target(&import).base_url.clone(), target(&import).allow_http)
}

#[test]
fn urls_become_absolute_and_clean() {
    let here = Some("https://docs.example/specs/v2/openapi.json?x=1");
    for (servers, url, expected) in [
        (json!([{"url": "https://a.example/v1/"}]), None, "https://a.example/v1"),
        (json!([{"url": "http://a.example"}, {"url": "https://b.example"}]), None, "https://b.example"),
        (json!([{"url": "/api"}]), here, "https://docs.example/api"),
        (json!([{"url": "../v3/"}]), here, "https://docs.example/specs/v3"),
        (json!([{"url": "."}]), here, "https://docs.example/specs/v2"),
        (json!([{"url": "//cdn.example/x"}]), here, "https://cdn.example/x"),
        (json!([]), here, "https://docs.example"),
        (json!([{"url": "a.example/v1"}]), None, "https://a.example/v1"),
        (json!([{"url": "https://user:secret@a.example/v1?key=1#x"}]), None, "https://a.example/v1"),
        (json!([{"url": "ftp://a.example"}, {"url": "https://b example"}]), None, "${env:PETS_BASE_URL}"),
        (json!([{"url": "/api"}]), None, "${env:PETS_BASE_URL}"),
        (json!([{"url": "https://a.example/v1/../v2/./x/%2E%2e/"}]), None, "https://a.example/v2"),
        (json!([{"url": "https://a.example/../.."}]), None, "https://a.example"),
        (json!([{"url": "/../api/."}]), here, "https://docs.example/api"),
        (json!([{"url": "../../../../api"}]), here, "https://docs.example/api"),
        (
            json!([{"url": "https://a.example\\b"}, {"url": "https://a.example/\u{7}"}]),
            None,
            "${env:PETS_BASE_URL}",
        ),
    ] {
        assert_eq!(base_url(servers.clone(), url).0, expected, "{servers}");
    }
}

#[test]
fn variables_of_a_server_are_variables_of_the_environment() {
    let variables = json!({
        "scheme": {"default": "http", "enum": ["http", "https"]},
        "region": {"default": "eu"}, "tenantId": {"enum": ["t1"]}, "odd": {"default": "a}b"},
        "stolen": {"default": "${env:SECRET}"}, "port": {"default": 8443}
    });
    for (url, expected) in [
        ("{scheme}://{region}.a.example", "https://${env:PETS_REGION:-eu}.a.example"),
        (
            "https://a.example:{port}/{tenantId}/{none}",
            "https://a.example:${env:PETS_PORT:-8443}/${env:PETS_TENANT_ID:-t1}/${env:PETS_NONE}",
        ),
        ("https://a.example/{odd}", "https://a.example/${env:PETS_ODD}"),
        ("https://a.example/{stolen}", "https://a.example/${env:PETS_STOLEN}"),
        ("https://a.example/${env:SECRET}", "${env:PETS_BASE_URL}"),
    ] {
        assert_eq!(base_url(json!([{"url": url, "variables": variables}]), None).0, expected, "{url}");
    }
}

#[test]
fn plain_http_is_allowed_with_a_warning_unless_it_is_this_machine() {
    assert_eq!(base_url(json!([{"url": "http://a.example"}]), None), ("http://a.example".to_owned(), true));
    assert_eq!(
        base_url(json!([{"url": "http://localhost:8080/"}]), None),
        ("http://localhost:8080".to_owned(), false)
    );
    let mut document = with_paths(json!({"/a": {"get": {}}}));
    document["servers"] = json!([{"url": "http://a.example"}]);
    assert!(messages(&import(&document)).contains(&"The API has only an http:// URL"));
}

#[test]
fn plain_http_of_an_operation_or_a_token_endpoint_is_allowed_with_a_warning() {
    let warning = "An operation or a token endpoint has only an http:// URL";
    let mut of_operation = with_paths(json!({"/a": {"get": {"servers": [{"url": "http://b.example"}]}}}));
    of_operation["servers"] = json!([{"url": "https://a.example"}]);
    let flow =
        |url: &str| json!({"o": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": url}}}});
    let mut of_token = with_paths(json!({"/a": {"get": {}}}));
    of_token["security"] = json!([{"o": []}]);
    of_token["components"] = json!({"securitySchemes": flow("http://id.example/t")});
    for document in [&of_operation, &of_token] {
        let import = import(document);
        assert!(target(&import).allow_http && messages(&import).contains(&warning), "{document}");
    }
    of_token["components"] = json!({"securitySchemes": flow("http://localhost:80/t")});
    let local = import(&of_token);
    assert!(!target(&local).allow_http && !messages(&local).contains(&warning));
}

#[test]
fn a_path_or_an_operation_may_have_another_server() {
    let import = import(&with_paths(json!({"/a": {
        "servers": [{"url": "https://uploads.example"}],
        "get": {"operationId": "path"},
        "put": {"operationId": "own", "servers": [{"url": "https://own.example/x"}]},
        "post": {"operationId": "same", "servers": [{"url": "https://pets.example/v1/"}]}
    }})));
    assert_eq!(http(operation(&import, "path")).base_url.as_deref(), Some("https://uploads.example"));
    assert_eq!(http(operation(&import, "own")).base_url.as_deref(), Some("https://own.example/x"));
    assert_eq!(http(operation(&import, "same")).base_url, None);
}

#[test]
fn swagger_hosts_become_urls() {
    for (members, expected) in [
        (json!({"host": "a.example", "basePath": "v1/"}), "https://a.example/v1"),
        (json!({"host": "a.example", "schemes": ["http"]}), "http://a.example"),
        (json!({"host": "a.example", "schemes": ["ws", "HTTPS"]}), "https://a.example"),
        (json!({"host": "localhost:80"}), "http://localhost:80"),
        (json!({"host": "http://a.example/"}), "http://a.example"),
        (json!({"host": 5, "basePath": []}), "${env:OLD_BASE_URL}"),
    ] {
        let mut document = json!({"swagger": "2.0", "info": {"title": "Old"}, "paths": {"/a": {"get": {}}}});
        document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        assert_eq!(target(&import(&document)).base_url, expected, "{members}");
    }
}
