//! DESC-011.

use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::Standard;
use regex::Regex;
use std::sync::LazyLock;

rule! {
    /// A text holds what looks like a credential.
    ///
    /// ## What it does
    ///
    /// Looks in every text of a tool for keys of well-known formats. What it finds is not shown.
    ///
    /// ## Why it matters
    ///
    /// Tool lists are sent to models, logged, and published in registries; an example or a default with a real key gives it to everybody.
    /// GitHub's secret scanning knows the same formats
    /// (https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/token/default
    /// {"name": "create_issue", "description": "Opens an issue.", "inputSchema": {"type": "object", "properties": {"token": {"type": "string", "default": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "description": "Opens an issue.", "inputSchema": {"type": "object", "properties": {"token": {"type": "string", "description": "Such as ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}}}
    /// ```
    "DESC-011" "secret-in-text" Error Tool(check)
}

static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}|glpat-[A-Za-z0-9_-]{20}|sk-ant-[A-Za-z0-9_-]{40,}|",
        r"sk-proj-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{48}|[sr]k_live_[A-Za-z0-9]{20,}|xox[abeprs]-[0-9]{6,}-[A-Za-z0-9-]{10,}|",
        r"AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{34}|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|",
        r"eyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\\nr]+[A-Za-z0-9+/]{40,}",
    ))
    .ok()
});
/// No known key is shorter.
const SHORTEST: usize = 20;

fn check(tool: &Tool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let Some(shapes) = SHAPES.as_ref() else { return };
    for text in &tool.tree.texts {
        let keys = || shapes.find_iter(text.text).filter(|found| !is_placeholder(found.as_str()));
        if text.text.len() >= SHORTEST && keys().next().is_some() {
            let message = format!("A text of '{}' holds what looks like a credential", tool.name);
            findings
                .tool(tool, tool.tree.pointer(text.at), message)
                .help("revoke it, and write an example that is none");
            return;
        }
    }
}

/// Examples repeat a character, say that they are one, or count.
fn is_placeholder(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let mut run = (0, 0);
    for byte in key.bytes() {
        run = if byte == run.0 { (byte, run.1 + 1) } else { (byte, 1) };
        if run.1 >= 6 {
            return true;
        }
    }
    ["example", "your", "xxxx", "placeholder", "dummy", "redacted"].iter().any(|word| lower.contains(word))
}
