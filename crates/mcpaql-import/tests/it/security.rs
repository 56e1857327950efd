//! Security schemes.

use crate::{http, import, messages, operation, with_paths};
use mcpaql_core::adapter::{Auth, KeyLocation, OAuth2};
use serde_json::{Value, json};

fn document(schemes: Value, security: Value) -> Value {
    let mut document = with_paths(json!({"/a": {"get": {"operationId": "a"}}}));
    document["components"] = json!({"securitySchemes": schemes});
    document["security"] = security;
    document
}

fn bearer() -> Auth {
    Auth::Bearer { token_env: "PETS_TOKEN".into(), header: "Authorization".into(), prefix: "Bearer ".into() }
}

fn basic() -> Auth {
    Auth::Basic { username_env: "PETS_USERNAME".into(), password_env: "PETS_PASSWORD".into() }
}

fn key(location: KeyLocation, env: &str, prefix: &str) -> Auth {
    Auth::ApiKey { key_env: env.into(), location, prefix: prefix.into() }
}

#[test]
fn every_scheme_has_its_counterpart() {
    for (scheme, expected) in [
        (json!({"type": "http", "scheme": "Bearer"}), bearer()),
        (json!({"type": "http", "scheme": "basic"}), basic()),
        (json!({"type": "basic"}), basic()),
        (json!({"type": "openIdConnect", "openIdConnectUrl": "https://id.example"}), bearer()),
        (
            json!({"type": "apiKey", "in": "header", "name": "X-Key"}),
            key(KeyLocation::Header("X-Key".into()), "PETS_API_KEY", ""),
        ),
        (
            json!({"type": "apiKey", "in": "query", "name": "key"}),
            key(KeyLocation::Query("key".into()), "PETS_API_KEY", ""),
        ),
        (
            json!({"type": "apiKey", "in": "cookie", "name": "sid"}),
            key(KeyLocation::Cookie("sid".into()), "PETS_API_KEY", ""),
        ),
        (
            json!({"type": "http", "scheme": "Token"}),
            key(KeyLocation::Header("Authorization".into()), "PETS_API_KEY", "Token "),
        ),
        (
            json!({"type": "apiKey", "in": "header", "name": "Authorization", "description": "Send `Bearer …`"}),
            bearer(),
        ),
        (json!({"type": "http", "scheme": "digest"}), Auth::None),
        (json!({"type": "http", "scheme": "a\nb"}), Auth::None),
        (json!({"type": "apiKey", "in": "header", "name": "Host"}), Auth::None),
        (json!({"type": "apiKey", "in": "header", "name": "X Key"}), Auth::None),
        (json!({"type": "apiKey", "in": "cookie", "name": "a b"}), Auth::None),
        (json!({"type": "apiKey", "in": "query", "name": ""}), Auth::None),
    ] {
        let import = import(&document(json!({"one": scheme}), json!([{"one": []}])));
        assert_eq!(import.adapter.auth, expected, "{scheme}");
    }
}

fn oauth(refresh: bool, scopes: &[&str]) -> Auth {
    Auth::OAuth2(OAuth2 {
        token_url: "https://id.example/token".into(),
        client_id_env: "PETS_CLIENT_ID".into(),
        client_secret_env: Some("PETS_CLIENT_SECRET".into()),
        refresh_token_env: refresh.then(|| "PETS_REFRESH_TOKEN".into()),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
    })
}

#[test]
fn oauth_works_with_client_credentials_or_a_token_of_a_user() {
    let token = json!({"tokenUrl": "https://id.example/token", "scopes": {}});
    for (scheme, expected) in [
        (json!({"type": "oauth2", "flows": {"clientCredentials": token}}), oauth(false, &["read"])),
        (
            json!({"type": "oauth2", "flow": "application", "tokenUrl": "https://id.example/token"}),
            oauth(false, &["read"]),
        ),
        (
            json!({"type": "oauth2", "flows": {"authorizationCode": token}}),
            Auth::Any(vec![bearer(), oauth(true, &[])]),
        ),
        (
            json!({"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://id.example"}}}),
            bearer(),
        ),
        (json!({"type": "oauth2"}), bearer()),
    ] {
        let import = import(&document(json!({"o": scheme}), json!([{"o": ["read"]}])));
        assert_eq!(import.adapter.auth, expected, "{scheme}");
    }
}

#[test]
fn client_credentials_without_a_token_url_are_reported() {
    let usable = json!({"tokenUrl": "https://id.example/token"});
    let scheme = |flows: Value| json!({"type": "oauth2", "flows": flows});
    for (scheme, expected) in [
        (scheme(json!({"clientCredentials": {}})), bearer()),
        (json!({"type": "oauth2", "flow": "application"}), bearer()),
        (scheme(json!({"clientCredentials": {"tokenUrl": "https://id.example/token?a=1"}})), bearer()),
        (scheme(json!({"clientCredentials": {"tokenUrl": "https://id.example\\token"}})), bearer()),
        (
            scheme(json!({"clientCredentials": {}, "authorizationCode": usable})),
            Auth::Any(vec![bearer(), oauth(true, &[])]),
        ),
    ] {
        let import = import(&document(json!({"o": scheme}), json!([{"o": ["read"]}])));
        assert_eq!(import.adapter.auth, expected, "{scheme}");
        let message = "The client credentials flow of the security scheme 'o' has no usable token URL";
        assert_eq!(messages(&import), [message], "{scheme}");
    }
    // A flow without a URL is not a flow of a user: nobody needs to bring a token.
    let both = json!({"type": "oauth2", "flow": "application", "flows": {"clientCredentials": usable}});
    let import = import(&document(json!({"o": both}), json!([{"o": ["read"]}])));
    assert_eq!((import.adapter.auth.clone(), messages(&import)), (oauth(false, &["read"]), vec![]));
}

#[test]
fn requirements_are_combined() {
    let schemes = json!({
        "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
        "app": {"type": "apiKey", "in": "header", "name": "X-App-Key"},
        "user": {"type": "http", "scheme": "basic"}
    });
    let api = key(KeyLocation::Header("X-Api-Key".into()), "PETS_API_KEY", "");
    let app = key(KeyLocation::Header("X-App-Key".into()), "PETS_APP_KEY", "");
    for (security, expected) in [
        (json!([{"key": [], "app": []}]), Auth::All(vec![api.clone(), app.clone()])),
        (json!([{"key": []}, {"user": []}]), Auth::Any(vec![api.clone(), basic()])),
        (json!([{"key": []}, {}]), Auth::Any(vec![api.clone(), Auth::None])),
        (json!([{}, {"key": []}, {"key": []}]), Auth::Any(vec![api.clone(), Auth::None])),
        (json!([{"nobody": []}, {"user": []}]), basic()),
        (json!([]), Auth::None),
    ] {
        let import = import(&document(schemes.clone(), security.clone()));
        assert_eq!(import.adapter.auth, expected, "{security}");
    }
}

#[test]
fn an_operation_may_have_other_requirements() {
    let mut document = document(
        json!({"t": {"type": "http", "scheme": "bearer"}, "b": {"type": "http", "scheme": "basic"}}),
        json!([{"t": []}]),
    );
    document["paths"] = json!({"/a": {
        "get": {"operationId": "open", "security": []},
        "put": {"operationId": "other", "security": [{"b": []}]},
        "post": {"operationId": "same", "security": [{"t": ["scope"]}]},
        "delete": {"operationId": "silent"}
    }});
    let import = import(&document);
    assert_eq!(http(operation(&import, "open")).auth, Some(Auth::None));
    assert_eq!(http(operation(&import, "other")).auth, Some(basic()));
    assert_eq!(http(operation(&import, "same")).auth, None);
    assert_eq!(http(operation(&import, "silent")).auth, None);
}

#[test]
fn common_requirements_of_operations_become_those_of_the_adapter() {
    let mut document = document(json!({"t": {"type": "http", "scheme": "bearer"}}), Value::Null);
    document["paths"] = json!({
        "/a": {"get": {"operationId": "a", "security": [{"t": []}]}},
        "/b": {"get": {"operationId": "b", "security": [{"t": ["x"]}]}},
        "/c": {"get": {"operationId": "c"}}
    });
    let import = import(&document);
    assert_eq!(import.adapter.auth, bearer());
    assert_eq!(http(operation(&import, "a")).auth, None);
    assert_eq!(http(operation(&import, "b")).auth, None);
    assert_eq!(http(operation(&import, "c")).auth, Some(Auth::None));
}

#[test]
fn a_document_without_requirements_still_sends_a_credential() {
    let described = import(&document(json!({"b": {"type": "http", "scheme": "basic"}}), Value::Null));
    assert_eq!(described.adapter.auth, Auth::Any(vec![basic(), Auth::None]));
    let silent = import(&with_paths(json!({"/a": {"get": {}}})));
    assert_eq!(silent.adapter.auth, Auth::Any(vec![bearer(), Auth::None]));
    assert!(messages(&silent).contains(&"The description defines no security schemes"));
}

#[test]
fn api_keys_are_not_parameters() {
    use mcpaql_core::library::Library;
    let mut document =
        document(json!({"k": {"type": "apiKey", "in": "query", "name": "api_key"}}), json!([{"k": []}]));
    document["paths"]["/a"]["get"]["parameters"] = json!([
        {"name": "api_key", "in": "query", "schema": {"type": "string"}},
        {"name": "q", "in": "query", "schema": {"type": "string"}}
    ]);
    let whole = import(&document).library.operation(0).unwrap().operation;
    let names: Vec<&str> = whole.params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["q"]);
}
