//! HINT-102.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// Two equal calls of a read-only tool gave different answers.
    ///
    /// ## What it does
    ///
    /// Uses the result of a probe (`mcpaql audit --probe`): the answers of two calls with the same arguments, one after the other.
    /// Without a probe it reports nothing. In the examples, `(observed)` stands for the result of the probe.
    ///
    /// ## Why it matters
    ///
    /// Clients may cache answers of read-only tools. A clock or a random number may differ each time. A list whose order changes, or
    /// an answer that counts calls, misleads anyone who compares two answers.
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
        let help = "return results in a stable order, without values that change with each call";
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help);
    }
}
