//! HINT-007.

use crate::convention::Standard;
use crate::inferred_effect::certainly_accumulates;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Tool is marked idempotent but adds something with every call.
    ///
    /// ## What it does
    ///
    /// Checks for `idempotentHint: true` on tools that append, send, toggle, increment, or create something. The name says so, or
    /// name and description start with the same verb.
    ///
    /// Not reported: tools that create something under a name that the caller chooses (`create_directory` with a `path`),
    /// because a second call cannot create it again; tools that add a member, because adding it twice changes nothing; and
    /// adapter tools that serve many operations.
    ///
    /// ## Why it matters
    ///
    /// `idempotentHint: true` means that a repeated call with the same arguments has no further effect. A client that relies on it
    /// repeats a call that timed out, and the mail is sent twice.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/idempotentHint
    /// {"name": "send_email", "description": "Sends an email.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/idempotentHint
    /// {"name": "toggle_light", "description": "Toggles a light.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "send_email", "description": "Sends an email.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false}}
    /// ```
    ///
    /// ```json good
    /// {"name": "create_directory", "description": "Creates a directory.",
    ///  "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}, "annotations": {"idempotentHint": true}}
    /// ```
    ///
    /// ```json good
    /// {"name": "fs_mcpaql_create", "description": "Creates what is not there yet. Call introspect for its operations.",
    ///  "inputSchema": {"type": "object", "properties": {"operation": {"type": "string"}, "params": {"type": "object"}}},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets `idempotentHint: false`.
    "HINT-007" "idempotent-addition" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let reads = tool.declared.read_only == Some(true);
    if tool.declared.idempotent != Some(true) || reads || !certainly_accumulates(tool) {
        return;
    }
    let message =
        format!("The tool '{}' is marked idempotent, but each call adds or changes something", tool.name);
    let finding = findings.tool(tool, "/annotations/idempotentHint", message);
    finding.help("set `idempotentHint: false`, or explain in the description why a second call adds nothing");
    finding.fix(Fix::Hints(HintOverrides { idempotent: Some(false), ..HintOverrides::default() }));
}
