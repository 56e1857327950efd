//! HINT-102.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{AnswerComparison, ParsedTool};

rule! {
    /// Two identical calls of a read-only tool returned different results.
    ///
    /// ## What it does
    ///
    /// Compares the answers of two calls with the same arguments, one after the other. Needs the result of a probe (`mcpaql
    /// audit --probe`), and reports nothing without one. In the examples, `(observed)` stands for the result of the probe.
    ///
    /// ## Why it matters
    ///
    /// Clients may cache the results of read-only tools. Some results differ each time for a good reason, such as the current
    /// time. But with a changing order or a call counter, two results look different although the data is the same.
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
