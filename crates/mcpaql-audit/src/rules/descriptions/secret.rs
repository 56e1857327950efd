//! DESC-011.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::text::credential;
use crate::tool::ParsedTool;

rule! {
    /// Text appears to contain a credential.
    ///
    /// ## What it does
    ///
    /// Checks every text of a tool for keys of well-known formats, and for passwords in a database address or after `password:` and
    /// `api_key=`. Placeholders are ignored. Neither this rule nor any other shows the credential.
    ///
    /// ## Why it matters
    ///
    /// Tool lists are sent to models, logged, and published in registries. An example or a default with a real key gives it to
    /// everyone. GitHub's secret scanning knows the same formats
    /// (https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/token/default
    /// {"name": "create_issue", "description": "Opens an issue.", "inputSchema": {"type": "object", "properties": {"token": {"type": "string", "default": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}}}
    /// ```
    ///
    /// ```json bad at=/description
    /// {"name": "query_orders", "description": "Runs SQL on postgres://admin:hunter2pass@db.internal/shop.", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "description": "Opens an issue.", "inputSchema": {"type": "object", "properties": {"token": {"type": "string", "description": "Such as ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}}}
    /// ```
    ///
    /// ```json good
    /// {"name": "query_orders", "description": "Runs SQL on postgres://user:password@host/shop.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-011" "secret-in-text" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for text in &tool.tree.texts {
        if credential::has_credential(text.text, text.prefilter) {
            let message = format!("A text of '{}' appears to contain a credential", tool.name);
            findings
                .tool(tool, tool.tree.pointer(text.at), message)
                .help("revoke it, and use a placeholder instead");
            return;
        }
    }
}
