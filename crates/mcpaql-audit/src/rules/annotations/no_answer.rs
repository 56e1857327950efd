//! HINT-103.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// A tool that says it only reads did not answer.
    ///
    /// ## What it does
    ///
    /// Looks at what a probe saw (`mcpaql audit --probe`): whether the call of a tool with `readOnlyHint: true` came to an answer. A
    /// tool that refuses made-up arguments has answered; a server that ends, hangs or sends something unreadable has not. Without
    /// a probe it is silent. In the examples, `(observed)` stands for what was seen.
    ///
    /// ## Why it matters
    ///
    /// Models make up arguments, too. A server that ends over one takes all its other tools with it, and a call that hangs holds
    /// the conversation until the client's patience ends. MCP has a way to say no: a result with `isError: true`.
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
        let message =
            format!("The tool '{}' says that it only reads, but a call of it got no answer", tool.name);
        let help = "answer every call, with `isError: true` where the arguments are of no use";
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help);
    }
}
