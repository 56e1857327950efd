//! Where an API lives: `servers`, or `host`, `basePath` and `schemes` of Swagger 2.0.
//!
//! What always holds: an address that comes out is absolute, has no user, query, fragment or trailing slash, and a variable of
//! the document is an environment variable that the operator may set.

use super::details::Version;
use super::document::OpenApiDocument;
use super::scan;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::host::is_loopback;
use serde_json::Value;

/// What addresses are worked out from.
#[derive(Debug, Clone)]
pub(crate) struct UrlContext<'a> {
    /// Where the document came from, if from the network.
    pub(crate) url: Option<&'a str>,
    /// What names of environment variables begin with.
    pub(crate) prefix: &'a str,
}

/// The address of the API, and what had to be guessed.
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
    // Without servers the API is where the document is.
    let found = found.or_else(|| site.url.and_then(origin));
    let Some(url) = found else {
        let variable = format!("{}_BASE_URL", site.prefix);
        notes.push(
            Diagnostic::warning(
                Code::SchemaMissingField,
                pointer,
                "The document does not say where the API is",
            )
            .suggest(format!("set {variable} to the API's address")),
        );
        return format!("${{env:{variable}}}");
    };
    if url.starts_with("http://") && !is_loopback(&url) {
        notes.push(
            Diagnostic::warning(
                Code::SchemaInvalidValue,
                pointer,
                "The API is only offered over plain http://",
            )
            .found(url.as_str())
            .suggest("credentials travel unprotected; use an https:// address if there is one"),
        );
    }
    url
}

/// The address in the `servers` of a path or an operation.
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

fn variable(name: &str, said: Option<&Value>, in_scheme: bool, site: &UrlContext<'_>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let choices: Vec<String> = said
        .and_then(|said| said.get("enum"))
        .and_then(Value::as_array)
        .map(|all| all.iter().filter_map(text).collect())
        .unwrap_or_default();
    if in_scheme {
        let plain =
            choices.iter().any(|choice| choice == "http") && !choices.iter().any(|choice| choice == "https");
        return if plain { "http" } else { "https" }.to_owned();
    }
    let default = said.and_then(|said| said.get("default")).and_then(text);
    let default = default.filter(|text| !text.is_empty()).or_else(|| choices.first().cloned());
    let variable = format!("{}_{}", site.prefix, screaming_snake(name));
    match default.filter(|default| is_plain(default) && !default.contains(['{', '}', '$'])) {
        Some(default) => format!("${{env:{variable}:-{default}}}"),
        None => format!("${{env:{variable}}}"),
    }
}

/// Whether a text stays what it is in an adapter: what a description says must not read the operator's variables.
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

/// Resolved against the document's own address, and cleaned.
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
    Some(match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    })
}

/// What an address means where the document stands at `base`; `None` where that would have to be known.
pub(crate) fn join(base: Option<&str>, url: &str) -> Option<String> {
    let url = url.trim();
    if url.contains("://") {
        return Some(url.to_owned());
    }
    if let Some(rest) = url.strip_prefix("//") {
        let scheme = base.and_then(|base| base.split_once("://")).map_or("https", |(scheme, _)| scheme);
        return Some(format!("{scheme}://{rest}"));
    }
    let first = url.split(['/', ':']).next().unwrap_or_default();
    if !url.starts_with(['/', '.', '$']) && first.contains('.') || first == "localhost" {
        // A host whose scheme was forgotten.
        let scheme = if is_loopback(url) { "http" } else { "https" };
        return Some(format!("{scheme}://{url}"));
    }
    let origin = base.and_then(origin)?;
    if url.starts_with('/') {
        return Some(format!("{origin}{url}"));
    }
    let path = base?.get(origin.len()..)?.split(['?', '#']).next()?;
    let mut steps: Vec<&str> = path.split('/').skip(1).collect();
    steps.pop();
    for step in url.split('/') {
        match step {
            "." | "" => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    Some(format!("{origin}/{}", steps.join("/")))
}

fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if scheme != "http" && scheme != "https" {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
    Some(format!("{scheme}://{}", authority.rsplit('@').next().unwrap_or(authority)))
}

/// `SCREAMING_SNAKE`, as environment variables are written.
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
