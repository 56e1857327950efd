//! DESC-013.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Description contains text that a convention forbids.
    ///
    /// ## What it does
    ///
    /// Checks for text that a convention lists under `descriptions.forbidden`.
    ///
    /// ## Why it matters
    ///
    /// IBM's ContextForge gateway treated `;`, `&&`, `||`, `$(`, `> ` and `< ` in a description as command injection and
    /// dropped the tool (https://github.com/IBM/mcp-context-forge/issues/3811; the list has become shorter since).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description with=mcpaql
    /// {"name": "shop_mcpaql_read", "description": "Reads from the shop; find operations with introspect.", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=mcpaql
    /// {"name": "shop_mcpaql_read", "description": "Reads from the shop. Find operations with introspect.", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json good
    /// {"name": "shop_mcpaql_read", "description": "Reads from the shop; find operations with introspect.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-013" "forbidden-text" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(text) = tool.description else { return };
    let mut who = Vec::new();
    let mut what: Vec<&str> = Vec::new();
    for convention in &standard.conventions {
        let found: Vec<&str> = convention
            .descriptions
            .forbidden
            .iter()
            .map(String::as_str)
            .filter(|bad| !bad.is_empty() && text.contains(bad))
            .collect();
        if !found.is_empty() {
            who.push(convention.name.as_str());
            what.extend(found.into_iter().filter(|bad| !what.contains(bad)).collect::<Vec<_>>());
        }
    }
    if who.is_empty() {
        return;
    }
    let listed: Vec<String> = what.iter().map(|text| format!("'{text}'")).collect();
    let message = format!("The description of '{}' contains {}", tool.name, listed.join(", "));
    let finding = findings.tool(tool, "/description", message);
    finding.help("use words instead");
    for who in who {
        finding.required_by(who);
    }
}
