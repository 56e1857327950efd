//! Derives names of adapters from names of servers.

use mcpaql_core::naming::SAFE_TOOL_NAME_LENGTH;
use mcpaql_core::suggest::snake_case;

/// Length of the longest suffix after the adapter's name in a tool name.
const LONGEST_SUFFIX: usize = "_mcpaql_execute".len();

/// Returns a valid name that is not in `used`. The same arguments always give the same name.
pub(super) fn adapter_name(server: &str, used: &[&str]) -> String {
    // Only the last part of `@scope/name` and `github.com/owner/name` is used.
    let last = server
        .rsplit('/')
        .find(|part| part.chars().any(|letter| letter.is_ascii_alphanumeric()))
        .unwrap_or(server);
    let words = snake_case(last);
    let words: Vec<String> = words
        .split('_')
        .map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|word| !word.is_empty() && word != "mcpaql")
        .collect();
    let mut name = words.join("-");
    if name.len() < 2 || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name = format!("server-{name}").trim_end_matches('-').to_owned();
    }
    let with_suffix = |suffix: &str| {
        let length = (SAFE_TOOL_NAME_LENGTH - LONGEST_SUFFIX).saturating_sub(suffix.len());
        let short: String = name.chars().take(length).collect();
        format!("{}{suffix}", short.trim_end_matches('-'))
    };
    let first = with_suffix("");
    if !used.contains(&first.as_str()) {
        return first;
    }
    (2..=used.len() + 2)
        .map(|number| with_suffix(&format!("-{number}")))
        .find(|name| !used.contains(&name.as_str()))
        .unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::adapter_name;

    #[test]
    fn names_are_valid_short_and_unique() {
        for (server, name) in [
            ("github", "github"),
            ("GitHub MCP", "git-hub-mcp"),
            ("@scope/server_name", "server-name"),
            ("github.com/owner/servers/tree/main/src/git", "git"),
            ("7zip", "server-7zip"),
            ("x", "server-x"),
            ("日本語", "server"),
            ("we ird/é", "we-ird"),
            ("mcpaql", "server"),
            ("", "server"),
            ("a-very-long-name-that-nobody-would-ever-type", "a-very-long-name-that-nobody-would-e"),
        ] {
            assert_eq!(adapter_name(server, &[]), name, "{server}");
        }
        assert_eq!(adapter_name("git_hub", &["git-hub", "git-hub-2"]), "git-hub-3");
    }
}
