//! Builds and checks tool names.
//!
//! ```
//! use mcpaql_core::naming::{ToolNamer, ToolSubject, title_of};
//!
//! let namer = ToolNamer::new("apple-mail", None, None).unwrap();
//! assert_eq!(namer.name(ToolSubject::Endpoint("read")).unwrap(), "apple_mail_mcpaql_read");
//! assert_eq!(title_of("create_pull_request"), "Create Pull Request");
//! ```
//!
//! `{adapter}_mcpaql_{endpoint}` can be parsed from the right, because an adapter's name never contains `mcpaql`. A
//! prefix replaces `{adapter}_`, or comes first if the pattern has no `{adapter}_`.
//!
//! What always holds: a name that clients would cut is shortened in a stable way. Its end is replaced by six digits of
//! a hash of the full name, so the short name does not depend on other adapters.

use mcpaql_lexicon::snake_case;

/// The default pattern of endpoint tools.
pub const ENDPOINT_PATTERN: &str = "{adapter}_mcpaql_{endpoint}";
/// The default pattern of operation tools.
pub const OPERATION_PATTERN: &str = "{adapter}_{operation}";
/// Maximum length of a tool name in MCP and in all known clients.
pub const MAX_TOOL_NAME_LENGTH: usize = 64;
/// Maximum length of a name that fits behind `mcp__<server>__`, for a server called `mcpaql`.
pub const SAFE_TOOL_NAME_LENGTH: usize = 51;
/// Prefixes of this length or longer cause a warning.
pub const DISCOURAGED_PREFIX_LENGTH: usize = 20;

/// What a tool covers. This decides how its name is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSubject<'a> {
    /// An endpoint family.
    Endpoint(&'a str),
    /// The whole adapter.
    Adapter,
    /// One operation.
    Operation(&'a str),
}

/// Builds the names of an adapter's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolNamer {
    adapter: String,
    endpoint_pattern: String,
    operation_pattern: String,
    /// The two patterns without the prefix.
    unprefixed: (String, String),
}

/// Why a pattern, a prefix or a name cannot be used, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameProblem(pub String);

impl ToolNamer {
    /// Creates a namer. Checks the pattern and the prefix.
    ///
    /// # Errors
    /// An invalid pattern or prefix.
    pub fn new(adapter: &str, pattern: Option<&str>, prefix: Option<&str>) -> Result<ToolNamer, NameProblem> {
        if let Some(prefix) = prefix {
            check_prefix(prefix)?;
        }
        let pattern = pattern.unwrap_or(ENDPOINT_PATTERN);
        check_pattern(pattern)?;
        let (endpoint, operation) = if pattern.contains("{operation}") {
            (ENDPOINT_PATTERN, pattern)
        } else {
            (pattern, OPERATION_PATTERN)
        };
        Ok(ToolNamer {
            adapter: snake_case(adapter),
            endpoint_pattern: prefixed(endpoint, prefix),
            operation_pattern: prefixed(operation, prefix),
            unprefixed: (endpoint.to_owned(), operation.to_owned()),
        })
    }

    /// Returns the same namer without its prefix; `None` if it has none.
    pub(crate) fn without_prefix(&self) -> Option<ToolNamer> {
        let (endpoint, operation) = &self.unprefixed;
        (self.endpoint_pattern != *endpoint).then(|| ToolNamer {
            endpoint_pattern: endpoint.clone(),
            operation_pattern: operation.clone(),
            ..self.clone()
        })
    }

    /// Returns the name of a tool.
    ///
    /// # Errors
    /// A name that MCP or its clients would reject.
    pub fn name(&self, subject: ToolSubject<'_>) -> Result<String, NameProblem> {
        let name = match subject {
            ToolSubject::Endpoint(endpoint) => {
                if !self.endpoint_pattern.contains("{endpoint}") {
                    return Err(NameProblem(format!(
                        "the pattern '{}' gives all endpoints the same name; add {{endpoint}} or use mode single",
                        self.endpoint_pattern
                    )));
                }
                self.endpoint_pattern.replace("{endpoint}", endpoint)
            }
            ToolSubject::Adapter => without_endpoint(&self.endpoint_pattern),
            ToolSubject::Operation(operation) => self.operation_pattern.replace("{operation}", operation),
        };
        let name = self.shortened(&name, subject);
        if name.is_empty() {
            return Err(NameProblem(format!(
                "the pattern '{}' gives the tool of mode single an empty name; add {{adapter}} or a fixed word",
                self.endpoint_pattern
            )));
        }
        check_name(&name)?;
        Ok(name)
    }

    /// Fills in the adapter's name and shortens the result to what clients show. An operation's tool is shortened at
    /// its end. An endpoint's tool keeps its end, by which agents distinguish tools; there the adapter's name is
    /// shortened, equally in all tools. A written prefix is kept.
    fn shortened(&self, name: &str, subject: ToolSubject<'_>) -> String {
        let full = name.replace("{adapter}", &self.adapter);
        let endpoint = match subject {
            ToolSubject::Operation(_) if full.len() > SAFE_TOOL_NAME_LENGTH => {
                return shorten(&full, SAFE_TOOL_NAME_LENGTH);
            }
            ToolSubject::Operation(_) => return full,
            ToolSubject::Endpoint(endpoint) if endpoint.len() > LONGEST_ENDPOINT.len() => endpoint,
            ToolSubject::Endpoint(_) | ToolSubject::Adapter => LONGEST_ENDPOINT,
        };
        let around = self.endpoint_pattern.replace("{endpoint}", endpoint).replace("{adapter}", "").len();
        let max = SAFE_TOOL_NAME_LENGTH.saturating_sub(around);
        let is_cut = self.adapter.len() > max && name.contains("{adapter}");
        if !is_cut || max < MIN_ADAPTER_CHARS + HASH_DIGITS + 1 {
            return full;
        }
        name.replace("{adapter}", &shorten(&self.adapter, max))
    }
}

/// The longest endpoint name of the standard profile.
const LONGEST_ENDPOINT: &str = "execute";
/// Number of hash digits in a shortened name.
const HASH_DIGITS: usize = 6;
/// Minimum characters of an adapter's name to keep.
const MIN_ADAPTER_CHARS: usize = 4;

/// Shortens a text to `max` characters: its start, and some digits of a hash of the whole text.
fn shorten(text: &str, max: usize) -> String {
    let head: String = text.chars().take(max.saturating_sub(HASH_DIGITS + 1)).collect();
    // FNV-1a gives the same result in every version and on every machine.
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{:06x}", head.trim_end_matches(['_', '-']), hash & 0x00ff_ffff)
}

/// Applies a prefix to a pattern: it replaces `{adapter}_`, or comes first if there is none.
fn prefixed(pattern: &str, prefix: Option<&str>) -> String {
    match prefix {
        None => pattern.to_owned(),
        Some(prefix) if pattern.contains("{adapter}_") => pattern.replace("{adapter}_", prefix),
        Some(prefix) => format!("{prefix}{pattern}"),
    }
}

fn without_endpoint(pattern: &str) -> String {
    ["_{endpoint}", "-{endpoint}", "{endpoint}_", "{endpoint}-", "{endpoint}"]
        .iter()
        .find(|part| pattern.contains(**part))
        .map_or_else(|| pattern.to_owned(), |part| pattern.replacen(part, "", 1))
}

fn check_pattern(pattern: &str) -> Result<(), NameProblem> {
    let rest = pattern.replace("{adapter}", "").replace("{endpoint}", "").replace("{operation}", "");
    if let Some(bad) = rest.chars().find(|c| !is_name_char(*c)) {
        return Err(NameProblem(format!(
            "the pattern '{pattern}' contains '{bad}'; use letters, digits, '_' and '-' around {{adapter}}, {{endpoint}} or {{operation}}"
        )));
    }
    Ok(())
}

/// Operation names that the protocol reserves.
pub const RESERVED: &[&str] = &[
    "introspect",
    "execute_agent",
    "record_execution_step",
    "complete_execution",
    "abort_execution",
    "confirm_operation",
    "verify_challenge",
];

/// Returns whether an operation may have this name: snake_case, and not reserved.
#[must_use]
pub fn is_operation_name(name: &str) -> bool {
    is_snake_case(name) && !RESERVED.contains(&name)
}

/// Returns whether a name matches `^[a-z][a-z0-9_]*$`.
#[must_use]
pub fn is_snake_case(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Checks a prefix: lower case letters, digits and underscores, ending in an underscore.
///
/// # Errors
/// An invalid prefix, with a suggestion.
pub fn check_prefix(prefix: &str) -> Result<(), NameProblem> {
    let legal = prefix.ends_with('_')
        && prefix.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if legal {
        return Ok(());
    }
    let better: String = snake_case(prefix).chars().filter(|c| is_name_char(*c)).collect();
    Err(NameProblem(format!(
        "the prefix '{prefix}' must be lower case letters, digits and underscores and end with '_', such as '{}_'",
        if better.is_empty() { "github" } else { better.trim_end_matches('_') }
    )))
}

/// Checks whether MCP and its clients accept a tool name.
///
/// # Errors
/// An invalid name, with what to shorten or replace.
pub fn check_name(name: &str) -> Result<(), NameProblem> {
    if name.is_empty() || name.len() > MAX_TOOL_NAME_LENGTH {
        return Err(NameProblem(format!(
            "the tool name '{name}' has {} characters, more than the {MAX_TOOL_NAME_LENGTH} that clients accept; set a shorter tool_names.prefix",
            name.len()
        )));
    }
    if let Some(bad) = name.chars().find(|c| !is_name_char(*c)) {
        return Err(NameProblem(format!("the tool name '{name}' contains '{bad}', which clients reject")));
    }
    Ok(())
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Returns a title: `create_pull_request` → `Create Pull Request`.
#[must_use]
pub fn title_of(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    for word in name.split(['_', '-']).filter(|word| !word.is_empty()) {
        if !title.is_empty() {
            title.push(' ');
        }
        let mut letters = word.chars();
        title.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        title.push_str(letters.as_str());
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(adapter: &str, pattern: Option<&str>, prefix: Option<&str>, subject: ToolSubject<'_>) -> String {
        ToolNamer::new(adapter, pattern, prefix).unwrap().name(subject).unwrap()
    }

    #[test]
    fn the_table_of_names() {
        use ToolSubject::{Adapter, Endpoint, Operation};
        let rows = [
            ("apple-mail", None, None, Endpoint("read"), "apple_mail_mcpaql_read"),
            ("apple-mail", None, None, Endpoint("create"), "apple_mail_mcpaql_create"),
            ("github-api", None, None, Endpoint("read"), "github_api_mcpaql_read"),
            ("github-api", None, None, Endpoint("execute"), "github_api_mcpaql_execute"),
            ("apple-mail", None, None, Adapter, "apple_mail_mcpaql"),
            ("apple-mail", None, None, Operation("get_message"), "apple_mail_get_message"),
            ("github-api", None, Some("github_"), Endpoint("read"), "github_mcpaql_read"),
            ("github-api", None, Some("github_"), Adapter, "github_mcpaql"),
            ("github-api", Some("mcpaql_{endpoint}"), None, Endpoint("read"), "mcpaql_read"),
            ("github-api", Some("mcpaql_{endpoint}"), None, Adapter, "mcpaql"),
            ("github-api", Some("mcp_aql_{endpoint}"), None, Endpoint("query"), "mcp_aql_query"),
            ("github-api", Some("mcp_aql_{endpoint}"), None, Adapter, "mcp_aql"),
            (
                "github-api",
                Some("mcp_aql_{endpoint}"),
                Some("github_"),
                Endpoint("read"),
                "github_mcp_aql_read",
            ),
            (
                "lightdash",
                Some("lightdash_tools__{operation}"),
                None,
                Operation("list_projects"),
                "lightdash_tools__list_projects",
            ),
            (
                "firefly",
                Some("{operation}"),
                None,
                Operation("firefly_generate_image"),
                "firefly_generate_image",
            ),
            (
                "nextcloud",
                Some("nc_{operation}"),
                None,
                Operation("notes_create_note"),
                "nc_notes_create_note",
            ),
            ("github-api", None, Some("gh_"), Operation("get_repo"), "gh_get_repo"),
        ];
        for (adapter, pattern, prefix, subject, expected) in rows {
            assert_eq!(name(adapter, pattern, prefix, subject), expected);
        }
    }

    #[test]
    fn prefixes_follow_the_rule() {
        for good in ["github_", "_", "db2_"] {
            assert!(check_prefix(good).is_ok(), "{good}");
        }
        for bad in ["github", "GitHub_", "git-hub_", "", "gh _"] {
            assert!(check_prefix(bad).is_err(), "{bad}");
        }
        let NameProblem(text) = check_prefix("GitHub").unwrap_err();
        assert!(text.contains("'git_hub_'"), "{text}");
    }

    #[test]
    fn long_names_are_shortened_and_stay_apart() {
        use ToolSubject::{Adapter, Endpoint, Operation};
        let long = "corporate-knowledge-management-and-retrieval-system";
        let subjects = [Endpoint("read"), Endpoint("execute"), Adapter];
        let tools = subjects.map(|subject| name(long, None, None, subject));
        assert_eq!(
            tools,
            [
                "corporate_knowledge_managemen_c21abe_mcpaql_read",
                "corporate_knowledge_managemen_c21abe_mcpaql_execute",
                "corporate_knowledge_managemen_c21abe_mcpaql",
            ]
        );
        assert!(tools.iter().all(|tool| tool.len() <= SAFE_TOOL_NAME_LENGTH));
        assert_ne!(name(&format!("{long}-two"), None, None, Adapter), tools[2]);

        let operations = [
            "list_selected_repositories_for_organization_variable",
            "list_selected_repositories_for_organization_secrets",
        ];
        let [first, second] =
            operations.map(|operation| name("github-api", None, None, Operation(operation)));
        assert_eq!(first, "github_api_list_selected_repositories_for_or_a5df98");
        assert_ne!(first, second);
        for tool in [first, second] {
            assert!(tool.len() <= SAFE_TOOL_NAME_LENGTH && check_name(&tool).is_ok(), "{tool}");
        }
        // Short names do not change.
        assert_eq!(name("github-api", None, None, Operation("get_repo")), "github_api_get_repo");
    }

    #[test]
    fn names_that_clients_refuse_are_errors() {
        let names = ToolNamer::new("x", Some(&format!("{}_{{endpoint}}", "a".repeat(60))), None).unwrap();
        assert!(names.name(ToolSubject::Endpoint("read")).is_err());
        assert!(ToolNamer::new("x", Some("{adapter}.{endpoint}"), None).is_err());
        assert!(
            ToolNamer::new("x", Some("tools"), None).unwrap().name(ToolSubject::Endpoint("read")).is_err()
        );
    }
}
