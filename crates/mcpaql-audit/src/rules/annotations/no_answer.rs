//! HINT-103.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// Read-only tool did not answer.
    ///
    /// ## What it does
    ///
    /// Checks whether a call of a tool with `readOnlyHint: true` was answered. A tool that rejects generated arguments has
    /// answered. A server that exits, hangs or sends something unreadable has not. Needs the result of a probe (`mcpaql audit
    /// --probe`), and reports nothing without one. In the examples, `(observed)` stands for the result of the probe.
    ///
    /// ## Why it matters
    ///
    /// Models also send wrong arguments. A server that exits because of one call disables all its other tools, and a call that
    /// hangs blocks the conversation until the client's timeout. To reject a call, return a result with `isError: true`.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "get_note", "annotations": {"readOnlyHint": true}, "(observed)": {"answers": "failed"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_note", "annotations": {"readOnlyHint": true}, "(observed)": {"answers": "refused"}}
    /// ```
    "HINT-103" "no-answer" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.observed.is_some_and(|observed| observed.answers == AnswerComparison::Failed) {
        let message = format!("The tool '{}' is marked read-only, but a call got no answer", tool.name);
        let help = "answer every call, with `isError: true` if the arguments are unusable";
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help);
    }
}
