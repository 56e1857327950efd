//! HINT-102.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// Two identical calls of a read-only tool returned different results.
    ///
    /// ## What it does
    ///
    /// Uses the result of a probe (`mcpaql audit --probe`): the answers of two calls with the same arguments, one after the other.
    /// Without a probe it reports nothing. In the examples, `(observed)` stands for the result of the probe.
    ///
    /// ## Why it matters
    ///
    /// Clients may cache the results of read-only tools. A clock or a random number may differ each time. But a changing order or
    /// a call counter makes two results look different although the data is the same.
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
        let message = format!("Two identical calls of '{}' returned different results", tool.name);
        let help = "return results in a stable order, without values that change with each call";
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help);
    }
}
