//! HINT-011.

use crate::convention::Standard;
use crate::inferred_effect::{OutsideReach, outside_reach};
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// A tool says that its world is closed, but it reaches out.
    ///
    /// ## What it does
    ///
    /// Looks for `openWorldHint: false` on tools that search or crawl the web, or send messages to people. For tools that fetch what
    /// a `url` parameter points to it is advice, because the server may allow but a few addresses.
    ///
    /// ## Why it matters
    ///
    /// A web search is [MCP's own example of an open world](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations).
    /// Clients treat what comes back from there as untrusted: it is the way by which a stranger's instructions reach a model, and
    /// by which private data leave.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/openWorldHint
    /// {"name": "web_search", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "web_search", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// `openWorldHint: true`.
    "HINT-011" "closed-world-reach" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    use mcpaql_core::policy::OpenWorld;
    let own = standard.policy_chosen && standard.policy.open_world == OpenWorld::Never;
    if tool.declared.open_world != Some(false) || own {
        return;
    }
    let (what, sure) = match outside_reach(tool) {
        Some(OutsideReach::Named) => ("its name says that it reaches beyond it", true),
        Some(OutsideReach::Address) => ("it fetches what it is pointed to", false),
        None => return,
    };
    let message = format!("The tool '{}' says that its world is closed, but {what}", tool.name);
    let finding = findings.tool(tool, "/annotations/openWorldHint", message);
    finding.help("say `openWorldHint: true`");
    if sure {
        finding.fix(Fix::Hints(HintOverrides { open_world: Some(true), ..HintOverrides::default() }));
    } else {
        finding.downgrade_to_advice();
    }
}
