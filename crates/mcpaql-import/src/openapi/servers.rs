//! Finds the URL of an API: from `servers`, or from `host`, `basePath` and `schemes` of Swagger 2.0.
//!
//! What always holds: a URL is absolute and has no user, query, fragment or trailing slash. A variable of the document becomes
//! an environment variable that the operator can set.

use super::details::Version;
use super::document::OpenApiDocument;
use super::scan;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::host::{address_problem, is_dot_segment, is_loopback};
use serde_json::Value;

/// The context that URLs are resolved in.
#[derive(Debug, Clone)]
pub(crate) struct UrlContext<'a> {
    /// The URL that the document was fetched from.
    pub(crate) url: Option<&'a str>,
    /// The prefix of environment variables.
    pub(crate) prefix: &'a str,
}

/// Returns the URL of the API. Warns if it is missing or not encrypted.
pub(crate) fn base_url(
    document: &OpenApiDocument,
    version: Version,
    site: &UrlContext<'_>,
    notes: &mut Vec<Diagnostic>,
) -> String {
    let (pointer, found) = match version {
        Version::V2 => ("/host", swagger(document, site)),
        _ => ("/servers", document.top("servers").and_then(|servers| server_url(servers, site))),
    };
    // Without `servers`, the API is on the host of the document.
    let found = found.or_else(|| site.url.and_then(origin));
    let Some(url) = found else {
        let variable = format!("{}_BASE_URL", site.prefix);
        notes.push(
            Diagnostic::warning(Code::SchemaMissingField, pointer, "The description has no URL of the API")
                .suggest(format!("set {variable} to the URL of the API")),
        );
        return format!("${{env:{variable}}}");
    };
    if url.starts_with("http://") && !is_loopback(&url) {
        notes.push(
            Diagnostic::warning(Code::SchemaInvalidValue, pointer, "The API has only an http:// URL")
                .found(url.as_str())
                .suggest("credentials are sent unencrypted; use an https:// URL if there is one"),
        );
    }
    url
}

/// Returns the URL of `servers`; https is preferred.
pub(crate) fn server_url(servers: &str, site: &UrlContext<'_>) -> Option<String> {
    let usable: Vec<String> = scan::items(servers)
        .into_iter()
        .filter_map(|server| OpenApiDocument::value(server).ok())
        .filter_map(|server| address(&server, site))
        .collect();
    let secure = usable.iter().find(|url| url.starts_with("https://"));
    secure.or(usable.first()).cloned()
}

fn address(server: &Value, site: &UrlContext<'_>) -> Option<String> {
    let template = server.get("url")?.as_str().filter(|url| is_plain(url))?.trim();
    let variables = server.get("variables");
    let scheme_end = template.find("://").unwrap_or(0);
    let mut url = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}')?;
        url.push_str(literal);
        let in_scheme = template.len() - rest.len() + literal.len() < scheme_end;
        url.push_str(&variable(name, variables.and_then(|all| all.get(name)), in_scheme, site));
        rest = after;
    }
    url.push_str(rest);
    absolute(&url, site)
}

fn variable(name: &str, declared: Option<&Value>, in_scheme: bool, site: &UrlContext<'_>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let choices: Vec<String> = declared
        .and_then(|declared| declared.get("enum"))
        .and_then(Value::as_array)
        .map(|all| all.iter().filter_map(text).collect())
        .unwrap_or_default();
    if in_scheme {
        let plain =
            choices.iter().any(|choice| choice == "http") && !choices.iter().any(|choice| choice == "https");
        return if plain { "http" } else { "https" }.to_owned();
    }
    let default = declared.and_then(|declared| declared.get("default")).and_then(text);
    let default = default.filter(|text| !text.is_empty()).or_else(|| choices.first().cloned());
    let variable = format!("{}_{}", site.prefix, screaming_snake(name));
    match default.filter(|default| is_plain(default) && !default.contains(['{', '}', '$'])) {
        Some(default) => format!("${{env:{variable}:-{default}}}"),
        None => format!("${{env:{variable}}}"),
    }
}

/// Whether a text contains no `${…}`. A description must not be able to read the operator's variables.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.contains("${")
}

fn swagger(document: &OpenApiDocument, site: &UrlContext<'_>) -> Option<String> {
    let text = |name| document.top(name).and_then(scan::string).filter(|text| is_plain(text));
    let host = text("host").filter(|host| !host.trim().is_empty());
    let written = host.as_deref().map(|host| {
        let (scheme, host) =
            host.split_once("://").map_or((None, host), |(scheme, host)| (Some(scheme), host));
        (scheme, host.trim().trim_end_matches('/'))
    });
    let base = text("basePath").unwrap_or_default();
    let base = base.trim();
    let path = if base.is_empty() || base.starts_with('/') { base.to_owned() } else { format!("/{base}") };
    let Some((scheme, host)) = written else {
        return site.url.and_then(origin).and_then(|origin| absolute(&format!("{origin}{path}"), site));
    };
    let schemes: Vec<String> = document
        .top("schemes")
        .map(|all| {
            scan::items(all).into_iter().filter_map(scan::string).map(|one| one.to_lowercase()).collect()
        })
        .unwrap_or_default();
    let offered = |scheme: &str| schemes.iter().any(|one| one == scheme);
    let scheme = match scheme {
        Some(scheme @ ("http" | "https")) => scheme,
        _ if offered("https") => "https",
        _ if offered("http") => "http",
        _ if is_loopback(host) => "http",
        _ => "https",
    };
    absolute(&format!("{scheme}://{host}{path}"), site)
}

/// Resolves a URL against the URL of the document, and removes user, query, fragment and trailing slash.
fn absolute(url: &str, site: &UrlContext<'_>) -> Option<String> {
    let joined = join(site.url, url)?;
    let (scheme, rest) = joined.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "https" && scheme != "http" {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let (authority, path) =
        rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() || rest.contains(char::is_whitespace) || rest.contains(['<', '>']) {
        return None;
    }
    if address_problem(rest).is_some() {
        return None;
    }
    Some(match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    })
}

/// Resolves a URL against `base`, the URL of the document; `None` if it is relative and `base` is unknown.
pub(crate) fn join(base: Option<&str>, url: &str) -> Option<String> {
    joined(base, url.trim()).map(|url| without_dot_segments(&url))
}

fn joined(base: Option<&str>, url: &str) -> Option<String> {
    if url.contains("://") {
        return Some(url.to_owned());
    }
    if let Some(rest) = url.strip_prefix("//") {
        let scheme = base.and_then(|base| base.split_once("://")).map_or("https", |(scheme, _)| scheme);
        return Some(format!("{scheme}://{rest}"));
    }
    let first = url.split(['/', ':']).next().unwrap_or_default();
    if !url.starts_with(['/', '.', '$']) && first.contains('.') || first == "localhost" {
        // A host without a scheme.
        let scheme = if is_loopback(url) { "http" } else { "https" };
        return Some(format!("{scheme}://{url}"));
    }
    let origin = base.and_then(origin)?;
    if url.starts_with('/') {
        return Some(format!("{origin}{url}"));
    }
    let path = base?.get(origin.len()..)?.split(['?', '#']).next()?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(format!("{origin}{folder}/{url}"))
}

/// Resolves `.` and `..` in the path of an absolute URL.
fn without_dot_segments(url: &str) -> String {
    let (address, rest) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let mut segments: Vec<&str> = Vec::new();
    for segment in address.split('/') {
        let is_parent = is_dot_segment(segment) && !matches!(segment, "." | "%2e" | "%2E");
        if !is_dot_segment(segment) {
            segments.push(segment);
        } else if is_parent && segments.len() > 3 {
            // The first three are `https:`, nothing and the host.
            segments.pop();
        }
    }
    format!("{}{rest}", segments.join("/"))
}

fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if scheme != "http" && scheme != "https" {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
    Some(format!("{scheme}://{}", authority.rsplit('@').next().unwrap_or(authority)))
}

/// Converts a name to `SCREAMING_SNAKE`, the style of environment variables.
pub(crate) fn screaming_snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut lower = false;
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            if letter.is_ascii_uppercase() && lower {
                out.push('_');
            }
            lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
            out.push(letter.to_ascii_uppercase());
        } else {
            lower = false;
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
        }
    }
    let out = out.trim_end_matches('_');
    if out.starts_with(|first: char| first.is_ascii_digit()) { format!("API_{out}") } else { out.to_owned() }
}
