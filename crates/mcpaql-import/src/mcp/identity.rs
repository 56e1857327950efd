//! Derives name, title, version and description of an adapter from an MCP server.

use crate::openapi::identity::{ImportedIdentity, is_display_name, is_semver, legal, shortened};
use crate::openapi::markdown::flatten;
use mcpaql_core::adapter::McpLink;
use mcpaql_core::capture::Capture;
use mcpaql_core::naming::title_of;
use mcpaql_lexicon::{WordSet, snake_case};
use serde_json::Value;

/// Words that say nothing about a server.
static GENERIC: WordSet = WordSet::of(
    "api app bin cli com dev dist example http https index io js latest main mcp mcpaql mjs modelcontextprotocol \
     net official org py server servers sse src ts www",
);
/// Programs that start other programs, and their subcommands.
static LAUNCHERS: WordSet = WordSet::of(
    "bun bunx cmd deno dlx docker env exec node npm npx pipx pnpm podman python python3 run serve sh start stdio \
     tool uv uvx x yarn",
);

/// Reads `serverInfo` and `instructions`; members that are missing or invalid get a default.
pub(super) fn read(capture: &Capture, link: &McpLink, name: Option<&str>) -> ImportedIdentity {
    let server = capture.server();
    let server_text = |key: &str| {
        let text = server.and_then(|server| server.get(key)).and_then(Value::as_str).unwrap_or_default();
        flatten(text).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (own, title, version) = (server_text("name"), server_text("title"), server_text("version"));
    let name = match name {
        Some(name) => legal(name),
        None => {
            distinctive_name(&own).or_else(|| name_from_link(link)).unwrap_or_else(|| "server".to_owned())
        }
    };
    let display_name = if is_display_name(&title) { title.clone() } else { title_of(&name) };
    let texts = [capture.initialize.get("instructions"), server.and_then(|server| server.get("description"))];
    let description =
        texts.into_iter().flatten().filter_map(Value::as_str).map(flatten).find(|text| !text.is_empty());
    let semantic = version.trim_start_matches('v');
    ImportedIdentity {
        version: if is_semver(semantic) { semantic.to_owned() } else { "1.0.0".to_owned() },
        declared_version: Some(version.clone()).filter(|version| !version.is_empty()),
        description: description
            .map(|text| shortened(&text))
            .unwrap_or_else(|| format!("The tools of the MCP server {display_name}")),
        display_name,
        name,
    }
}

/// Returns a valid name of the words that are not generic.
fn distinctive_name(text: &str) -> Option<String> {
    let words = snake_case(text);
    let words: Vec<&str> =
        words.split('_').filter(|word| !word.is_empty() && !GENERIC.contains(word)).collect();
    let name = legal(&words.join("-"));
    words.iter().any(|word| word.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(name)
}

pub(super) fn name_from_link(link: &McpLink) -> Option<String> {
    match link {
        McpLink::Url { url, .. } => {
            let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = host.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
            distinctive_name(host)
        }
        McpLink::Command(program) => {
            let mut words = program.command.iter().map(|word| word.as_str());
            words.find_map(|word| {
                let flag = word.starts_with('-') || word.contains('=') || word.starts_with("${");
                let variable = word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
                if flag || variable || word.is_empty() {
                    return None;
                }
                name_from_program(word)
            })
        }
    }
}

/// Returns the name for a program: `files` for `@scope/server-files@1.2` and `/opt/servers/files.py`. `index.js` gets the name
/// of its folder.
fn name_from_program(word: &str) -> Option<String> {
    const GENERIC_STEMS: [&str; 5] = ["cli", "dist", "index", "main", "src"];
    let mut parts = word.rsplit(['/', '\\']).filter(|part| !part.is_empty()).map(stem);
    let part = parts.find(|part| !GENERIC_STEMS.contains(part))?;
    distinctive_name(part).filter(|name| !LAUNCHERS.contains(name))
}

fn stem(part: &str) -> &str {
    let part = part.split(['@', ':']).find(|piece| !piece.is_empty()).unwrap_or(part);
    part.rsplit_once('.').filter(|(_, end)| end.len() <= 3).map_or(part, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use mcpaql_core::adapter::McpCommand;
    use serde_json::json;

    fn command(words: &[&str]) -> McpLink {
        McpLink::Command(McpCommand {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            cwd: None,
            env: Vec::new(),
            set_env: IndexMap::new(),
        })
    }

    #[test]
    fn a_server_is_named_by_its_server_info_or_else_by_its_command_or_url() {
        for (words, expected) in [
            (&["npx", "-y", "@modelcontextprotocol/server-filesystem@latest", "/tmp"][..], "filesystem"),
            (&["uvx", "mcp-server-git", "--repository", "/src"], "git"),
            (&["python", "-m", "mcp_server_time"], "time"),
            (
                &["docker", "run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server:v1"],
                "github",
            ),
            (&["node", "/opt/weather/dist/index.js"], "weather"),
            (&["/usr/local/bin/notes"], "notes"),
            (&["node", "index.js"], "server"),
            (&["/opt/bin/mcpaql", "serve", "notebook"], "notebook"),
        ] {
            assert_eq!(read(&Capture::default(), &command(words), None).name, expected, "{words:?}");
        }
        let url =
            |url: &str| McpLink::Url { url: url.to_owned(), headers: IndexMap::new(), allow_http: false };
        assert_eq!(read(&Capture::default(), &url("https://mcp.context7.com/mcp"), None).name, "context7");
        assert_eq!(read(&Capture::default(), &url("https://a.example"), Some("My Tools")).name, "my-tools");
    }

    #[test]
    fn the_identity_comes_from_the_server() {
        let initialize = json!({
            "serverInfo": {"name": "github-mcp-server", "title": "GitHub", "version": "v0.5.1"},
            "instructions": "Issues and **pull requests**."
        });
        let capture = Capture { initialize: initialize.as_object().unwrap().clone(), ..Capture::default() };
        let identity = read(&capture, &command(&["x"]), None);
        assert_eq!((identity.name.as_str(), identity.display_name.as_str()), ("github", "GitHub"));
        assert_eq!(
            (identity.version.as_str(), identity.declared_version.as_deref()),
            ("0.5.1", Some("v0.5.1"))
        );
        assert_eq!(identity.description, "Issues and pull requests.");
    }
}
