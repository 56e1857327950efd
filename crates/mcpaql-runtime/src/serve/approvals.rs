//! A page on this machine on which a person approves or denies calls.
//!
//! The page belongs to a process of its own, which shares the operator's state with the servers. A server never offers it to agents: it only passes on the
//! address, which is no secret.
//!
//! What always holds: nothing is shown or decided without the code that the operator's terminal shows. The page answers only requests for its own
//! address, so no other web page can use it. Text of calls is never markup.

use crate::operator::{Confirmation, Decided, OperatorState};
use crate::state::random_bytes;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use mcpaql_core::gate::token;
use mcpaql_core::timestamp::timestamp;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Characters of the code, without those that look like others.
const CODE_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const CODE_LENGTH: usize = 8;
/// Wrong codes within [`CODE_WINDOW`] after which no code is accepted until the window is over.
const MAX_WRONG_CODES: usize = 5;
const CODE_WINDOW: Duration = Duration::from_secs(60);
/// Maximum bytes of a form.
const MAX_FORM_BYTES: usize = 4096;
const SESSION_COOKIE: &str = "mcpaql_session";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}\
h1{font-size:1.3rem}table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #ddd}\
pre{background:#f5f5f5;padding:.6rem;overflow:auto;white-space:pre-wrap;word-break:break-word}\
button{font:inherit;padding:.4rem 1rem;margin-right:.6rem}.approve{background:#0a6b2d;color:#fff;border:0}.deny{background:#a3161f;color:#fff;border:0}\
.danger{font-weight:600;color:#a3161f}input{font:inherit;padding:.3rem}";

/// Stores and records what a person decided about a request: `true` for approved. The error is for the log.
pub type StoreDecision =
    Arc<dyn Fn(Confirmation, bool) -> BoxFuture<'static, Result<Decided, String>> + Send + Sync>;

/// The page, before it is served.
pub struct ApprovalPage {
    state: OperatorState,
    store: StoreDecision,
}

struct PageState {
    operator: OperatorState,
    store: StoreDecision,
    address: SocketAddr,
    code_hash: [u8; 32],
    /// The hash of the session's cookie, and the secret of its forms.
    session: [u8; 32],
    session_secret: String,
    form_secret: String,
    wrong_codes: Mutex<Vec<Instant>>,
}

impl ApprovalPage {
    /// Creates a page for the requests in this state.
    #[must_use]
    pub fn new(state: OperatorState, store: StoreDecision) -> ApprovalPage {
        ApprovalPage { state, store }
    }

    /// Serves the page until `shutdown` is cancelled. `on_start` gets the address and the code for the person.
    ///
    /// # Errors
    /// When the address is in use or is not one of this machine, or the system has no random numbers.
    pub async fn serve(
        self,
        address: SocketAddr,
        shutdown: CancellationToken,
        on_start: impl FnOnce(SocketAddr, &str),
    ) -> std::io::Result<()> {
        if !address.ip().is_loopback() {
            return Err(std::io::Error::other("the page is only served on this machine; use 127.0.0.1"));
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let code = fresh_code()?;
        let (session_secret, form_secret) = (fresh_secret()?, fresh_secret()?);
        let ApprovalPage { state, store } = self;
        let page = Arc::new(PageState {
            operator: state,
            store,
            address,
            code_hash: token::hash(&code),
            session: token::hash(&session_secret),
            session_secret,
            form_secret,
            wrong_codes: Mutex::default(),
        });
        let router = Router::new()
            .route("/", get(list))
            .route("/login", post(log_in))
            .route("/style.css", get(style))
            .route("/approvals/{id}", get(show).post(decide))
            .layer(middleware::from_fn_with_state(Arc::clone(&page), guard))
            .with_state(page);
        let shown: String =
            format!("{}-{}", code.get(..4).unwrap_or_default(), code.get(4..).unwrap_or_default());
        on_start(address, &shown);
        axum::serve(listener, router).with_graceful_shutdown(async move { shutdown.cancelled().await }).await
    }
}

fn fresh_code() -> std::io::Result<String> {
    let random: [u8; CODE_LENGTH] = random_bytes()?;
    let letters = random.iter().map(|byte| CODE_LETTERS.get(usize::from(byte & 31)).copied().unwrap_or(b'a'));
    Ok(letters.map(char::from).collect())
}

fn fresh_secret() -> std::io::Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(random_bytes::<32>()?))
}

impl PageState {
    /// Whether a request is for this page, and not for a name that somebody pointed at this machine.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
            return false;
        };
        self.own_names().iter().any(|own| own == host)
    }

    fn own_names(&self) -> [String; 2] {
        [self.address.to_string(), format!("localhost:{}", self.address.port())]
    }

    fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else { return true };
        let own = self.own_names().map(|name| format!("http://{name}"));
        origin.to_str().is_ok_and(|origin| own.iter().any(|own| own == origin))
    }

    fn is_logged_in(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
        let mut values =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|one| one.trim().split_once('='));
        values.any(|(name, value)| {
            name == SESSION_COOKIE && token::is_equal(&token::hash(value), &self.session)
        })
    }

    /// Whether another wrong code is accepted now.
    fn may_try(&self) -> bool {
        let mut wrong = self.wrong_codes.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.retain(|at| at.elapsed() < CODE_WINDOW);
        wrong.len() < MAX_WRONG_CODES
    }
}

/// Refuses requests of other pages, and adds the headers that every answer has.
async fn guard(State(page): State<Arc<PageState>>, request: axum::extract::Request, next: Next) -> Response {
    let headers = request.headers();
    let mut response = if page.is_own_host(headers) && page.is_own_origin(headers) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "This page answers only requests for its own address.\n").into_response()
    };
    let headers = response.headers_mut();
    let policy =
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}

async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css")], STYLE).into_response()
}

async fn list(State(page): State<Arc<PageState>>, headers: HeaderMap) -> Response {
    if !page.is_logged_in(&headers) {
        return login_form(StatusCode::OK, "");
    }
    let pending = match page.operator.pending(None).await {
        Ok(pending) => pending,
        Err(_) => return failed(),
    };
    let mut body = String::from("<h1>Calls that wait for you</h1>");
    if pending.is_empty() {
        body.push_str("<p>No call waits for approval.</p>");
    } else {
        body.push_str("<table><tr><th>operation</th><th>danger</th><th>caller</th><th>until</th></tr>");
        for one in &pending {
            let _ = write!(
                body,
                "<tr><td><a href=\"/approvals/{}\">{} {}</a></td><td class=danger>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&one.id),
                escape(&one.scope.adapter),
                escape(&one.scope.operation),
                one.danger.as_str(),
                escape(&one.scope.caller),
                timestamp(one.expires_at / 1000),
            );
        }
        body.push_str("</table>");
    }
    html(StatusCode::OK, &body, true)
}

async fn show(State(page): State<Arc<PageState>>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if !page.is_logged_in(&headers) {
        return login_form(StatusCode::OK, &id);
    }
    match page.operator.confirmation(&id).await {
        Ok(Some(found)) => html(StatusCode::OK, &detail(&found, &page.form_secret), false),
        Ok(None) => html(
            StatusCode::NOT_FOUND,
            "<p>No request has this id.</p><p><a href=\"/\">All requests</a></p>",
            false,
        ),
        Err(_) => failed(),
    }
}

async fn decide(
    State(page): State<Arc<PageState>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let form = parse_form(&body);
    let secret = form.get("secret").map(String::as_str).unwrap_or_default();
    let is_own_form = token::is_equal(&token::hash(secret), &token::hash(&page.form_secret));
    if !page.is_logged_in(&headers) || !is_own_form {
        return html(StatusCode::FORBIDDEN, "<p>Open the request again, and decide there.</p>", false);
    }
    let is_approved = match form.get("decision").map(String::as_str) {
        Some("approve") => true,
        Some("deny") => false,
        _ => return html(StatusCode::BAD_REQUEST, "<p>Choose approve or deny.</p>", false),
    };
    let found = match page.operator.confirmation(&id).await {
        Ok(Some(found)) => found,
        Ok(None) => return html(StatusCode::NOT_FOUND, "<p>No request has this id.</p>", false),
        Err(_) => return failed(),
    };
    let text = match (page.store)(found, is_approved).await {
        Ok(Decided::Stored) if is_approved => {
            "Approved. The next call with these parameters runs, once.".to_owned()
        }
        Ok(Decided::Stored) => "Denied.".to_owned(),
        Ok(Decided::AlreadyEnded(status)) => {
            format!("Nothing to decide: the request is {}.", status.as_str())
        }
        Ok(Decided::Unknown) => "No request has this id.".to_owned(),
        Err(error) => {
            tracing::error!(error, "the decision was not stored");
            return failed();
        }
    };
    html(StatusCode::OK, &format!("<p>{}</p><p><a href=\"/\">All requests</a></p>", escape(&text)), false)
}

async fn log_in(State(page): State<Arc<PageState>>, body: Bytes) -> Response {
    let form = parse_form(&body);
    let next = form.get("next").map(String::as_str).unwrap_or_default();
    if !page.may_try() {
        let text = "<p>Too many wrong codes. Try again in a minute.</p>";
        return html(StatusCode::TOO_MANY_REQUESTS, text, false);
    }
    let code: String = form
        .get("code")
        .into_iter()
        .flat_map(|code| code.chars())
        .filter(char::is_ascii_alphanumeric)
        .collect();
    if !token::is_equal(&token::hash(&code.to_ascii_lowercase()), &page.code_hash) {
        page.wrong_codes.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        return login_form(StatusCode::FORBIDDEN, next);
    }
    let is_id = !next.is_empty() && next.chars().all(|c| c.is_ascii_alphanumeric());
    let target = if is_id { format!("/approvals/{next}") } else { "/".to_owned() };
    let cookie = format!("{SESSION_COOKIE}={}; HttpOnly; SameSite=Strict; Path=/", page.session_secret);
    (StatusCode::SEE_OTHER, [(LOCATION, target), (SET_COOKIE, cookie)]).into_response()
}

fn parse_form(body: &[u8]) -> HashMap<String, String> {
    let body = body.get(..body.len().min(MAX_FORM_BYTES)).unwrap_or_default();
    url::form_urlencoded::parse(body).into_owned().collect()
}

fn login_form(status: StatusCode, next: &str) -> Response {
    let wrong = if status == StatusCode::OK { "" } else { "<p class=danger>That code is wrong.</p>" };
    let body = format!(
        "<h1>mcpaql: approve calls</h1>{wrong}<form method=post action=\"/login\"><p>The terminal with <code>mcpaql approve --page</code> shows a code.</p>\
         <p><input name=code autocomplete=off autofocus> <input type=hidden name=next value=\"{}\"><button>Continue</button></p></form>",
        escape(next)
    );
    html(status, &body, false)
}

/// Returns a request as a table, with the buttons to decide.
fn detail(found: &Confirmation, form_secret: &str) -> String {
    let mut body =
        format!("<h1>{} {}</h1><table>", escape(&found.scope.adapter), escape(&found.scope.operation));
    let mut row = |name: &str, value: &str| {
        let _ = write!(body, "<tr><th>{name}</th><td>{value}</td></tr>");
    };
    let text = |key: &str| found.request.get(key).and_then(Value::as_str).map(escape).unwrap_or_default();
    row("danger", &format!("<span class=danger>{}</span>", found.danger.as_str()));
    row("caller", &escape(&found.scope.caller));
    for key in ["client", "title", "category", "reaches"] {
        if !text(key).is_empty() {
            row(key, &text(key));
        }
    }
    if let Some(reasons) = found.request.get("reasons").and_then(Value::as_array) {
        let reasons: Vec<String> = reasons.iter().filter_map(Value::as_str).map(escape).collect();
        row("reasons", &reasons.join("<br>"));
    }
    for (key, name) in [("params", "parameters"), ("changes", "changes"), ("current", "now")] {
        if let Some(value) = found.request.get(key) {
            let shown = serde_json::to_string_pretty(value).unwrap_or_default();
            row(name, &format!("<pre>{}</pre>", escape(&shown)));
        }
    }
    row("until", &timestamp(found.expires_at / 1000));
    row("status", found.status.as_str());
    body.push_str("</table>");
    if found.status == crate::operator::ConfirmationStatus::Open {
        let _ = write!(
            body,
            "<form method=post action=\"/approvals/{}\"><input type=hidden name=secret value=\"{}\"><p>\
             <button class=approve name=decision value=approve>Approve</button>\
             <button class=deny name=decision value=deny>Deny</button></p></form>",
            escape(&found.id),
            escape(form_secret)
        );
    }
    body.push_str("<p><a href=\"/\">All requests</a></p>");
    body
}

fn failed() -> Response {
    html(
        StatusCode::INTERNAL_SERVER_ERROR,
        "<p>The state cannot be read or written. Look into the terminal.</p>",
        false,
    )
}

fn html(status: StatusCode, body: &str, refreshes: bool) -> Response {
    let refresh = if refreshes { "<meta http-equiv=refresh content=5>" } else { "" };
    let page = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\">{refresh}\
         <title>mcpaql: approve calls</title><link rel=stylesheet href=\"/style.css\"></head><body>{body}</body></html>"
    );
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

/// Returns text as markup that shows exactly this text. Characters that change the direction of text are shown as their code.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || mcpaql_lexicon::unicode::is_invisible(c) => {
                let _ = write!(out, "[U+{:04X}]", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
