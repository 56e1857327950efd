//! HINT-103.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// Read-only tool did not answer.
    ///
    /// ## What it does
    ///
    /// Uses the result of a probe (`mcpaql audit --probe`): whether a call of a tool with `readOnlyHint: true` was answered. A tool
    /// that rejects generated arguments has answered; a server that exits, hangs or sends something unreadable has not. Without a
    /// probe it reports nothing. In the examples, `(observed)` stands for the result of the probe.
    ///
    /// ## Why it matters
    ///
    /// Models make up arguments, too. A server that exits because of one disables all its other tools, and a call that hangs blocks
    /// the conversation until the client's timeout. A tool can reject a call with a result that has `isError: true`.
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
