//! HINT-102.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// Two equal calls of a tool that only reads gave different answers.
    ///
    /// ## What it does
    ///
    /// Looks at what a probe saw (`mcpaql audit --probe`): the answers of two calls with the same arguments, one after the other.
    /// Without a probe it is silent. In the examples, `(observed)` stands for what was seen.
    ///
    /// ## Why it matters
    ///
    /// Clients may keep answers of tools that only read. A clock or a random number may differ each time; a list whose order
    /// changes, or an answer that counts calls, misleads whoever compares two of them.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "list_notes", "annotations": {"readOnlyHint": true}, "(observed)": {"answers": "different"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_notes", "annotations": {"readOnlyHint": true}, "(observed)": {"answers": "same"}}
    /// ```
    "HINT-102" "answers-differ" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.observed.is_some_and(|observed| observed.answers == AnswerComparison::Different) {
        let message = format!("Two equal calls of '{}' gave different answers", tool.name);
        let help = "answer in a stable order, without what changes by being asked";
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help);
    }
}
