//! Titles derived from names, and helpers shared by rules about titles.

use crate::rule::Fix;
use crate::rules::names::verb_position::{VerbPlacement, shared_words};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::verbs::is_verb;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Minimum number of tools to drop a shared prefix; with fewer tools it may be part of what they do.
const MIN_TOOLS: usize = 4;

/// Words written in capitals.
const ACRONYMS: &[&str] = &[
    "ai", "api", "arn", "aws", "ci", "cdn", "cli", "cpu", "crm", "css", "csv", "db", "dns", "ecs", "eks",
    "faq", "fhir", "gif", "gpu", "gcp", "hdfs", "html", "http", "https", "iam", "id", "ide", "imap", "ip",
    "ipv4", "ipv6", "iso", "jpeg", "json", "jwt", "kms", "kpi", "kv", "lan", "ldap", "llm", "mcp", "mcpaql",
    "mime", "mp3", "mp4", "nfs", "nlp", "ocr", "os", "pdf", "php", "pin", "png", "pr", "qa", "qr", "ram",
    "rbac", "rds", "rest", "rpc", "rss", "s3", "saas", "sdk", "seo", "sla", "sms", "smtp", "sns", "soap",
    "sql", "sqs", "ssd", "ssh", "ssl", "sso", "svg", "tcp", "tls", "toml", "tsv", "ttl", "tv", "udp", "ui",
    "uri", "url", "utc", "uuid", "ux", "vat", "vm", "vpc", "vpn", "waf", "xml", "yaml", "zip",
];

/// Words with a spelling of their own.
const BRANDS: &[(&str, &str)] = &[
    ("apis", "APIs"),
    ("azure", "Azure"),
    ("bigquery", "BigQuery"),
    ("cloudwatch", "CloudWatch"),
    ("dynamodb", "DynamoDB"),
    ("elasticache", "ElastiCache"),
    ("excel", "Excel"),
    ("facebook", "Facebook"),
    ("figma", "Figma"),
    ("firebase", "Firebase"),
    ("github", "GitHub"),
    ("gitlab", "GitLab"),
    ("gmail", "Gmail"),
    ("google", "Google"),
    ("graphql", "GraphQL"),
    ("ids", "IDs"),
    ("iphone", "iPhone"),
    ("javascript", "JavaScript"),
    ("jira", "Jira"),
    ("kubernetes", "Kubernetes"),
    ("linkedin", "LinkedIn"),
    ("microsoft", "Microsoft"),
    ("mongodb", "MongoDB"),
    ("mysql", "MySQL"),
    ("nextcloud", "Nextcloud"),
    ("oauth", "OAuth"),
    ("onedrive", "OneDrive"),
    ("onenote", "OneNote"),
    ("openai", "OpenAI"),
    ("openapi", "OpenAPI"),
    ("outlook", "Outlook"),
    ("paypal", "PayPal"),
    ("postgresql", "PostgreSQL"),
    ("powerpoint", "PowerPoint"),
    ("redis", "Redis"),
    ("sharepoint", "SharePoint"),
    ("slack", "Slack"),
    ("sqlite", "SQLite"),
    ("twitter", "Twitter"),
    ("typescript", "TypeScript"),
    ("urls", "URLs"),
    ("webdav", "WebDAV"),
    ("wordpress", "WordPress"),
    ("youtube", "YouTube"),
];

/// The titles that a server's tools have or would get from their names, each with the number of tools.
#[derive(Debug)]
pub(super) struct TitleSuggestions {
    tools: usize,
    shared: usize,
    /// The words of the server's name.
    owner: Vec<String>,
    counts: HashMap<String, usize>,
}

impl TitleSuggestions {
    pub(super) fn new(parsed: &ParsedServer<'_>) -> TitleSuggestions {
        let tools = parsed.tools.len();
        let mut suggestions = TitleSuggestions {
            tools,
            shared: before_verb(parsed, shared_words(parsed)),
            owner: mcpaql_lexicon::words(&parsed.server.name),
            counts: HashMap::with_capacity(tools),
        };
        for tool in &parsed.tools {
            let title = tool.shown_title().filter(|title| is_human(title, tool.name));
            let title = title.map_or_else(|| suggestions.title(tool), str::to_owned);
            *suggestions.counts.entry(title.to_lowercase()).or_insert(0) += 1;
        }
        suggestions
    }

    /// Returns a title derived from the tool's name as a fix, if no other tool has or would get it.
    pub(super) fn fix(&self, tool: &ParsedTool<'_>) -> Option<Fix> {
        let title = self.title(tool);
        let unique = self.counts.get(&title.to_lowercase()).is_some_and(|count| *count == 1);
        (unique && !title.is_empty() && title.chars().count() <= 80).then_some(Fix::Title(title))
    }

    /// Returns the title of a name: `Create issue` for `create_issue` and `issue_create`. Leaves out the server's name and words
    /// that all names start with.
    fn title(&self, tool: &ParsedTool<'_>) -> String {
        if let Some((adapter, endpoint)) = tool.name.rsplit_once("_mcpaql_") {
            return format!("{} — {}", capitalised(adapter), capitalised(endpoint));
        }
        let shared = if self.tools >= MIN_TOOLS { self.shared } else { 0 };
        // Clients show the server's name next to the title.
        let owned = if tool.words.starts_with(&self.owner) { self.owner.len() } else { 0 };
        let mut left_out = [shared.max(owned), shared].into_iter();
        let left_out = left_out.find(|count| tool.words.len() > count + 1).unwrap_or(0);
        let mut words: Vec<&str> = tool.words.iter().skip(left_out).map(String::as_str).collect();
        let at_end =
            VerbPlacement::of(&tool.words, self.shared.max(left_out)).is_some_and(|place| !place.before);
        if at_end {
            words.rotate_right(1);
        }
        match words.as_slice() {
            // A single word that is not a verb, such as `sadd`, makes no title.
            [word] if !is_verb(word) => String::new(),
            words => sentence(words),
        }
    }
}

/// Returns how many of the words that all names start with come before the verb. If most names continue with another verb, the
/// first one is a noun: `log_get_lines`.
fn before_verb(parsed: &ParsedServer<'_>, shared: usize) -> usize {
    let is_verb_at =
        |tool: &ParsedTool<'_>, index: usize| tool.words.get(index).is_some_and(|word| is_verb(word));
    let verbs = |index: usize| parsed.tools.iter().filter(|tool| is_verb_at(tool, index)).count();
    let is_done = |index: &usize| verbs(*index) > 0 && 2 * verbs(index + 1) < parsed.tools.len();
    (0..shared).find(is_done).unwrap_or(shared)
}

fn sentence(words: &[&str]) -> String {
    let mut title = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            title.push(' ');
        }
        match (written(word), index) {
            (Some(written), _) => title.push_str(written),
            (None, 0) => title.push_str(&upper_first(word)),
            (None, _) => title.push_str(word),
        }
    }
    title
}

fn capitalised(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let words = words.map(|word| written(word).map_or_else(|| upper_first(word), str::to_owned));
    let words: Vec<String> = words.collect();
    words.join(" ")
}

/// Acronyms and brands by their lower-case form.
static SPECIAL_SPELLINGS: LazyLock<HashMap<&str, String>> = LazyLock::new(|| {
    let brands = BRANDS.iter().map(|(plain, brand)| (*plain, (*brand).to_owned()));
    brands.chain(ACRONYMS.iter().map(|word| (*word, word.to_ascii_uppercase()))).collect()
});

fn written(word: &str) -> Option<&'static str> {
    SPECIAL_SPELLINGS.get(word).map(String::as_str)
}

fn upper_first(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect()
}

/// Returns whether a title is written for people: words separated by spaces, or one word.
pub(super) fn is_human(title: &str, name: &str) -> bool {
    let title = title.trim();
    if title.is_empty() {
        return false;
    }
    if title.contains(char::is_whitespace) {
        // A title may mention a name ("Run list_issues again"), but not consist only of names.
        return title.split_whitespace().any(|word| !is_identifier(word));
    }
    let repeats_name = title == name && title.starts_with(|c: char| c.is_ascii_lowercase());
    !repeats_name && !is_identifier(title)
}

/// `create_issue`, `createIssue`, `create-issue`.
fn is_identifier(word: &str) -> bool {
    let bytes = word.as_bytes();
    if !bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
        return false;
    }
    let hump = bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let joined = bytes
        .windows(3)
        .any(|three| matches!(three, [a, b'_', b] if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric()));
    let kebab = bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        && bytes.contains(&b'-');
    joined || kebab || (hump && !BRANDS.iter().any(|(_, brand)| *brand == word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ServerTools;
    use serde_json::json;

    fn fixes(names: &[&str]) -> Vec<Option<String>> {
        fixes_of("", names)
    }

    fn fixes_of(server: &str, names: &[&str]) -> Vec<Option<String>> {
        let tools = names.iter().map(|name| json!({"name": name})).collect();
        let server = ServerTools { name: server.to_owned(), tools, ..ServerTools::default() };
        let parsed = ParsedServer::of(&server, 0);
        let suggestions = TitleSuggestions::new(&parsed);
        let title = |fix: Fix| match fix {
            Fix::Title(title) => Some(title),
            _ => None,
        };
        parsed.tools.iter().map(|tool| suggestions.fix(tool).and_then(title)).collect()
    }

    #[test]
    fn a_name_becomes_a_sentence() {
        assert_eq!(fixes(&["create_issue"]), [Some("Create issue".into())]);
        assert_eq!(fixes(&["getApiUrl"]), [Some("Get API URL".into())]);
        assert_eq!(fixes(&["apple_mail_mcpaql_read"]), [Some("Apple Mail — Read".into())]);
    }

    #[test]
    fn what_all_names_begin_with_is_left_out() {
        let names = ["nc_create_note", "nc_get_note_ids", "nc_delete_note", "nc_help"];
        let titles: Vec<String> = fixes(&names).into_iter().flatten().collect();
        // One word alone says too little.
        assert_eq!(titles, ["Create note", "Get note IDs", "Delete note", "Nc help"]);
    }

    #[test]
    fn what_all_of_them_do_is_no_prefix() {
        let names = ["acme-get-runs", "acme-get-run-details", "acme-get-spec", "acme-get-affected-tests"];
        let titles: Vec<String> = fixes(&names).into_iter().flatten().collect();
        assert_eq!(titles, ["Get runs", "Get run details", "Get spec", "Get affected tests"]);
        let names = ["log_get_lines", "log_count_visits", "log_add_line", "log_delete_line"];
        let titles: Vec<String> = fixes(&names).into_iter().flatten().collect();
        assert_eq!(titles, ["Get lines", "Count visits", "Add line", "Delete line"]);
    }

    #[test]
    fn the_name_of_the_server_is_left_out() {
        let names = ["shop_create_order", "shop_order_delete", "list_parcels", "shop_help"];
        let titles: Vec<String> = fixes_of("shop", &names).into_iter().flatten().collect();
        assert_eq!(titles, ["Create order", "Delete order", "List parcels", "Shop help"]);
        assert_eq!(fixes_of("apple-mail", &["apple_mail_get_note"]), [Some("Get note".into())]);
    }

    #[test]
    fn what_is_done_comes_first() {
        assert_eq!(fixes(&["db-cluster-delete"]), [Some("Delete DB cluster".into())]);
        assert_eq!(fixes(&["fetch"]), [Some("Fetch".into())]);
        assert_eq!(fixes(&["sadd"]), [None], "not a word");
    }

    #[test]
    fn two_tools_do_not_get_the_same_title() {
        assert_eq!(fixes(&["get_note", "getNote", "list_notes"]), [None, None, Some("List notes".into())]);
    }

    #[test]
    fn titles_are_told_from_names() {
        for title in [
            "Create issue",
            "Fetch",
            "GitHub",
            "Check-in",
            "Git Add",
            "Read File (Deprecated)",
            "日本語",
            "eSignature envelopes",
        ] {
            assert!(is_human(title, "create_issue"), "{title}");
        }
        for title in ["create_issue", "createIssue", "create-issue", "Create_Issue", "", " "] {
            assert!(!is_human(title, "create_issue"), "{title}");
        }
        assert!(!is_human("fetch", "fetch"), "the name again");
    }
}
