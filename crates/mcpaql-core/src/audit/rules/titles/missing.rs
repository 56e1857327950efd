//! TITLE-001.

use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::Standard;

rule! {
    /// A tool has no title.
    ///
    /// ## What it does
    ///
    /// Looks for tools with neither `title` nor `annotations.title`.
    ///
    /// ## Why it matters
    ///
    /// Clients show the title to people who are to approve a call; without one they show the name, which is made for models.
    /// Directories of connectors demand it.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}}
    /// ```
    "TITLE-001" "missing-title" Warning Tool(check)
}

fn check(tool: &Tool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if tool.shown_title().is_some_and(|title| !title.trim().is_empty()) {
        return;
    }
    let finding = findings.tool(tool, "/title", format!("The tool '{}' has no title", tool.name));
    let demands = standard.demands(|convention| convention.titles.required.then_some(()));
    let who: Vec<&str> = demands.map(|(who, ())| who).collect();
    if who.is_empty() {
        finding.advice();
    }
    for who in who {
        finding.by(who);
    }
}
