//! Every style, as it arrives.

use super::fixture::{operation, param};
use super::upstream::{Upstream, json};
use super::{call, client, target};
use mcpaql_core::adapter::Auth;
use mcpaql_core::operation::StyleForm::{
    DeepObject, Form, Json, Label, Matrix, PipeDelimited, Simple, SpaceDelimited,
};
use mcpaql_core::operation::{Param, ParamLocation, ParamStyle, StyleForm};
use serde_json::{Value, json};

/// String, array and object of OpenAPI's "Style Examples".
fn columns() -> [Value; 3] {
    [json!("blue"), json!(["blue", "black", "brown"]), json!({"R": 100, "G": 200, "B": 150})]
}

fn styled(location: ParamLocation, form: StyleForm, explode: bool, reserved: bool) -> Param {
    Param { style: ParamStyle { form, explode, reserved }, ..param("color", location) }
}

#[tokio::test]
async fn openapi_s_table_arrives_in_paths() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    for (form, explode, row) in [
        (Matrix, false, [";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]),
        (Matrix, true, [";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"]),
        (Label, false, [".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
        (Label, true, [".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
        (Simple, false, ["blue", "blue,black,brown", "R,100,G,200,B,150"]),
        (Simple, true, ["blue", "blue,black,brown", "R=100,G=200,B=150"]),
        (
            Json,
            false,
            [
                "%22blue%22",
                "%5B%22blue%22%2C%22black%22%2C%22brown%22%5D",
                "%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D",
            ],
        ),
    ] {
        for (value, expected) in columns().iter().zip(row) {
            let operation =
                operation("GET", "/in/{color}/out", vec![styled(ParamLocation::Path, form, explode, false)]);
            call(&client, &operation, json!({"color": value})).await.unwrap();
            assert_eq!(
                upstream.seen().pop().unwrap().uri,
                format!("/in/{expected}/out"),
                "{form:?} {explode}"
            );
        }
    }
}

#[tokio::test]
async fn openapi_s_table_arrives_in_queries() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let [string, array, object] = columns();
    for (form, explode, value, expected) in [
        (Form, false, &string, "color=blue"),
        (Form, false, &json!(""), "color="),
        (Form, false, &array, "color=blue,black,brown"),
        (Form, false, &object, "color=R,100,G,200,B,150"),
        (Form, true, &string, "color=blue"),
        (Form, true, &array, "color=blue&color=black&color=brown"),
        (Form, true, &object, "R=100&G=200&B=150"),
        (SpaceDelimited, false, &array, "color=blue%20black%20brown"),
        (SpaceDelimited, false, &object, "color=R%20100%20G%20200%20B%20150"),
        (PipeDelimited, false, &array, "color=blue%7Cblack%7Cbrown"),
        (PipeDelimited, false, &object, "color=R%7C100%7CG%7C200%7CB%7C150"),
        (DeepObject, true, &object, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (Json, false, &object, "color=%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D"),
        (Json, false, &json!(true), "color=true"),
    ] {
        let operation = operation("GET", "/", vec![styled(ParamLocation::Query, form, explode, false)]);
        call(&client, &operation, json!({"color": value})).await.unwrap();
        assert_eq!(upstream.seen().pop().unwrap().uri, format!("/?{expected}"), "{form:?} {explode} {value}");
    }
}

#[tokio::test]
async fn reserved_characters_arrive_unchanged_and_add_no_pair() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let operation = operation("GET", "/", vec![styled(ParamLocation::Query, Form, true, true)]);
    call(&client, &operation, json!({"color": ":/?#[]@!$&()*+,;= x\r\n%2F"})).await.unwrap();
    let uri = upstream.only().uri;
    assert_eq!(uri, "/?color=:/?%23[]@!$%26()*%2B,;=%20x%0D%0A%252F");
}

#[tokio::test]
async fn headers_and_cookies_arrive_in_one_line_each() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let mut target = target(&upstream.url);
    target.headers.insert("Cookie".into(), "site=1".into());
    let key = mcpaql_core::adapter::KeyLocation::Cookie("sid".into());
    let auth = Auth::ApiKey { key_env: "API_TOKEN".into(), location: key, prefix: String::new() };
    let client = client(&target, &auth);
    let mut header = styled(ParamLocation::Header, Simple, true, false);
    header.name = "X-Color".into();
    header.wire = "X-Color".into();
    let operation = operation(
        "GET",
        "/",
        vec![header, styled(ParamLocation::Cookie, Form, false, false), param("lang", ParamLocation::Cookie)],
    );
    let [_, array, object] = columns();
    call(&client, &operation, json!({"X-Color": object, "color": array, "lang": "d; sid=mine"}))
        .await
        .unwrap();
    let seen = upstream.only();
    assert_eq!(seen.header("x-color"), Some("R=100,G=200,B=150"));
    let cookies: Vec<_> = seen.headers.get_all("cookie").iter().collect();
    assert_eq!(cookies, ["site=1; color=blue,black,brown; lang=d%3B%20sid%3Dmine; sid=tok_5ecret/+value"]);
    for name in ["sid", "site"] {
        let clash = super::fixture::operation("GET", "/", vec![param(name, ParamLocation::Cookie)]);
        let error = call(&client, &clash, json!({name: "mine"})).await.unwrap_err();
        assert_eq!(error.code, mcpaql_core::error::Code::InvalidValue, "{name}");
    }
}
