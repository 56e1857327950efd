//! Writes the text of a document that is not data: the purpose of the API, the source of the document, the environment variables
//! that it needs, and how to serve it. In Markdown it follows the front matter; in YAML the source and the variables are comments.

use super::Provenance;
use mcpaql_core::adapter::{Adapter, Auth, McpLink, TargetConfig};
use mcpaql_core::operation::{Binding, Category};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Writes the text. It has no time and no path of this machine, so that it is the same on every machine.
pub(super) fn write(out: &mut String, adapter: &Adapter, provenance: &Provenance) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n# {}", one_line(&adapter.display_name));
    if let Some(about) = first_paragraph(&adapter.description) {
        let _ = writeln!(out, "\n{about}");
    }
    let _ = writeln!(out, "\n## Where it comes from\n\n{}", origin(provenance));
    counts(out, adapter);
    let variables = variables(adapter);
    if !variables.is_empty() {
        out.push_str("\n## What it needs\n\nSet these environment variables; the document contains only their names:\n\n");
        for (name, what) in &variables {
            let _ = writeln!(out, "- `{name}`: {what}");
        }
    }
    out.push_str("\n## Serve it\n\n```sh\n");
    for (name, _) in variables.iter().filter(|(_, what)| !what.starts_with(OPTIONAL)) {
        let _ = writeln!(out, "export {name}=…");
    }
    let _ = writeln!(out, "mcpaql serve {}-adapter.md\n```", adapter.name);
}

/// The start of the sentence that marks imported documents.
const IMPORTED: &str = "Imported from ";

/// Writes the source and the environment variables as comments of YAML.
pub(super) fn write_comments(out: &mut String, adapter: &Adapter, provenance: &Provenance) {
    let _ = writeln!(out, "# {}", origin(provenance));
    let variables = variables(adapter);
    if !variables.is_empty() {
        out.push_str("#\n# It needs these environment variables:\n");
        for (name, what) in &variables {
            let _ = writeln!(out, "# - {}: {}", one_line(name), one_line(what));
        }
    }
}

/// Whether a text was written by an import.
pub(super) fn is_imported(text: &str) -> bool {
    let heading = "\n## Where it comes from\n\n";
    let is_origin = |text: &str| text.starts_with(IMPORTED);
    text.strip_prefix("# ").is_some_and(is_origin)
        || text.split_once(heading).is_some_and(|(_, origin)| is_origin(origin))
        || json_comment(text).is_some_and(|comment| is_origin(&comment))
}

/// Returns the comment of a JSON document.
fn json_comment(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let mut document: serde_json::Value = serde_json::from_str(text).ok()?;
    match document.get_mut(super::json::COMMENT)?.take() {
        serde_json::Value::String(comment) => Some(comment),
        _ => None,
    }
}

/// Returns the sentence about the source.
pub(super) fn origin(provenance: &Provenance) -> String {
    let code = |text: &str| format!("`{}`", one_line(text).replace('`', "'"));
    let mut text = format!("{IMPORTED}{}", code(&source_name(&provenance.source)));
    if let Some(version) = provenance.version.as_deref().filter(|version| !version.trim().is_empty()) {
        let _ = write!(text, ", version {}", code(version));
    }
    if let Some(fingerprint) = &provenance.fingerprint {
        let _ = write!(text, " ({})", code(fingerprint));
    }
    text.push('.');
    text
}

/// Returns a URL without credentials and query, or a file name without its folder.
fn source_name(source: &str) -> String {
    let Some((scheme, rest)) = source.split_once("://") else {
        return source.rsplit(['/', '\\']).next().unwrap_or(source).to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = authority.rsplit('@').next().unwrap_or_default();
    match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    }
}

fn counts(out: &mut String, adapter: &Adapter) {
    let total = adapter.operations.len();
    let _ = writeln!(
        out,
        "\n## Operations\n\n{total} {}:\n",
        if total == 1 { "operation" } else { "operations" }
    );
    for category in Category::ALL {
        let count = adapter.operations.iter().filter(|operation| operation.category == category).count();
        if count > 0 {
            let _ = writeln!(out, "- {count} {}", category.endpoint());
        }
    }
}

/// Marks a variable that need not be set.
const OPTIONAL: &str = "optional";
/// Marks credentials that are used only if the first ones are not set.
const ALTERNATIVE_SIGN_IN: &str = "another way to sign in";

/// Returns the environment variables by name, each with its purpose.
fn variables(adapter: &Adapter) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    credentials(&mut found, &adapter.auth, "");
    if let TargetConfig::Http(http) = &adapter.target {
        placeholders(&mut found, &http.base_url, "part of the address");
        for (header, text) in &http.headers {
            placeholders(&mut found, text, &format!("header `{header}`"));
        }
    }
    if let TargetConfig::Command(command) = &adapter.target {
        placeholders(&mut found, command.cwd.as_deref().unwrap_or_default(), "part of the working directory");
        for name in &command.env {
            found.entry(name.clone()).or_insert_with(|| format!("{OPTIONAL}; passed on to the programs"));
        }
    }
    if let TargetConfig::Mcp(mcp) = &adapter.target {
        upstream(&mut found, &mcp.link);
    }
    for operation in &adapter.operations {
        if let Binding::Http(http) = &operation.binding {
            placeholders(&mut found, http.base_url.as_deref().unwrap_or_default(), "part of an address");
            if let Some(auth) = &http.auth {
                credentials(&mut found, auth, "of some operations");
            }
        }
    }
    found
}

fn upstream(found: &mut BTreeMap<String, String>, link: &McpLink) {
    match link {
        McpLink::Command(program) => {
            for text in program.command.iter().chain(&program.cwd) {
                placeholders(found, text, "part of the command");
            }
            for (name, text) in &program.set_env {
                placeholders(found, text, &format!("the server's variable `{name}`"));
            }
            for name in &program.env {
                found.entry(name.clone()).or_insert_with(|| format!("{OPTIONAL}; passed on to the server"));
            }
        }
        McpLink::Url { url, headers, .. } => {
            placeholders(found, url, "part of the address");
            for (header, text) in headers {
                placeholders(found, text, &format!("header `{header}`"));
            }
        }
    }
}

fn credentials(found: &mut BTreeMap<String, String>, auth: &Auth, whose: &str) {
    let mut need = |name: &str, what: &str| {
        let what = match whose {
            "" => what.to_owned(),
            ALTERNATIVE_SIGN_IN => format!("{OPTIONAL}; {what}, {ALTERNATIVE_SIGN_IN}"),
            whose => format!("{what} {whose}"),
        };
        if !name.is_empty() {
            found.entry(name.to_owned()).or_insert(what);
        }
    };
    match auth {
        Auth::None => {}
        Auth::Bearer { token_env, .. } => need(token_env, "token"),
        Auth::ApiKey { key_env, .. } => need(key_env, "API key"),
        Auth::Basic { username_env, password_env } => {
            need(username_env, "user name");
            need(password_env, "password");
        }
        Auth::OAuth2(oauth) => {
            need(&oauth.client_id_env, "id of the OAuth client");
            need(oauth.client_secret_env.as_deref().unwrap_or_default(), "secret of the OAuth client");
            need(oauth.refresh_token_env.as_deref().unwrap_or_default(), "OAuth refresh token");
        }
        Auth::All(schemes) => schemes.iter().for_each(|scheme| credentials(found, scheme, whose)),
        Auth::Any(schemes) => {
            for (index, scheme) in schemes.iter().enumerate() {
                credentials(found, scheme, if index == 0 { whose } else { ALTERNATIVE_SIGN_IN });
            }
        }
    }
}

/// Adds the variables of `${env:NAME}` and `${env:NAME:-fallback}`.
fn placeholders(found: &mut BTreeMap<String, String>, text: &str, what: &str) {
    for part in text.split("${env:").skip(1) {
        let Some((inside, _)) = part.split_once('}') else { continue };
        let (name, fallback) =
            inside.split_once(":-").map_or((inside, None), |(name, rest)| (name, Some(rest)));
        let what = match fallback {
            Some(fallback) => format!("{OPTIONAL}; {what}, `{}` unless set", fallback.replace('`', "'")),
            None => what.to_owned(),
        };
        found.entry(name.to_owned()).or_insert(what);
    }
}

/// Returns the first paragraph that is not a heading, on one line.
fn first_paragraph(text: &str) -> Option<String> {
    let text = super::prose(text);
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let found = paragraphs.find(|paragraph| !paragraph.is_empty() && !paragraph.starts_with('#'))?;
    Some(mcpaql_document::load::without_credentials("", &one_line(found)).into_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
