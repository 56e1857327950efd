//! HINT-011.

use crate::convention::Standard;
use crate::inferred_effect::{OutsideReach, outside_reach};
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Tool is marked closed-world but reaches the outside world.
    ///
    /// ## What it does
    ///
    /// Checks for `openWorldHint: false` on tools that search or crawl the web, or send messages to people. For tools that fetch the
    /// address in a `url` parameter, the finding is advice, because the server may allow only a few addresses.
    ///
    /// ## Why it matters
    ///
    /// A web search is [MCP's own example of an open
    /// world](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations). Clients treat results from the
    /// open world as untrusted: they can contain prompt injections, and private data can leak through the same tool.
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
    /// Sets `openWorldHint: true`, unless the finding is advice.
    "HINT-011" "closed-world-reach" Warning..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    use mcpaql_core::policy::OpenWorld;
    let own = standard.policy_chosen && standard.policy.open_world == OpenWorld::Never;
    if tool.declared.open_world != Some(false) || own {
        return;
    }
    let (what, sure) = match outside_reach(tool) {
        Some(OutsideReach::Named) => ("its name says that it reaches the outside world", true),
        Some(OutsideReach::Address) => ("it fetches any address that it is given", false),
        None => return,
    };
    let message = format!("The tool '{}' is marked closed-world, but {what}", tool.name);
    let finding = findings.tool(tool, "/annotations/openWorldHint", message);
    finding.help("set `openWorldHint: true`");
    if sure {
        finding.fix(Fix::Hints(HintOverrides { open_world: Some(true), ..HintOverrides::default() }));
    } else {
        finding.downgrade_to_advice();
    }
}
