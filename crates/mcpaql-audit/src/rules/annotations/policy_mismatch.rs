//! HINT-016.

use super::missing_hints::hints_required_by_policy;
use crate::convention::Standard;
use crate::hints::{compare_hints, safe_to_write};
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::{Hint, HintOverrides};

rule! {
    /// Hints differ from the selected policy.
    ///
    /// ## What it does
    ///
    /// Runs only if a policy is selected, with `--policy` or by a convention. Infers the effect of each tool and compares its
    /// hints with those of the policy. A hint that is not set counts as MCP's default.
    ///
    /// The second call decides `idempotentHint`. An update that requires a version (`etag`, `if_match`, `expected_version`) fails the
    /// second time. An update without a version, and a tool that sets a value, change nothing more. Moving something to the trash,
    /// restoring it and emptying the trash lead to the same state again. Appending and creating add something each time.
    ///
    /// Not compared:
    ///
    /// - hints that the policy omits, except that no tool that reads, adds or restores may be marked destructive;
    /// - tools whose effect is unknown, for example because the name has no clear verb;
    /// - `idempotentHint` of an update with an optional version, because a second call may fail or not;
    /// - `destructiveHint` of an update with a required output parameter, such as `output_path`: the tool may write a new file and
    ///   leave its input unchanged.
    ///
    /// HINT-001 reports missing hints that a convention requires.
    ///
    /// ## Why it matters
    ///
    /// "Destructive" and "idempotent" mean different things in different projects. For example, a second update with the same
    /// etag changes nothing, but returns an error: some projects call that idempotent, others do not. Hints are useful only if a
    /// project gives them one meaning.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/idempotentHint with=nextcloud
    /// {"name": "nc_notes_update_note", "title": "Update note", "description": "Update a note.",
    ///  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}, "etag": {"type": "string"}}, "required": ["id", "etag"]},
    ///  "annotations": {"idempotentHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/idempotentHint with=nextcloud
    /// {"name": "nc_tables_update_row", "title": "Update row", "description": "Update a row of a table.",
    ///  "inputSchema": {"type": "object", "properties": {"row_id": {"type": "integer"}, "data": {"type": "object"}}, "required": ["row_id", "data"]},
    ///  "annotations": {"idempotentHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/idempotentHint with=nextcloud
    /// {"name": "nc_cookbook_set_config", "title": "Set configuration", "description": "Set the configuration of the app.",
    ///  "inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}},
    ///  "annotations": {"idempotentHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations with=nextcloud
    /// {"name": "nc_notes_trash_note", "title": "Move note to trash", "description": "Move a note to the trash.",
    ///  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    ///  "annotations": {"destructiveHint": false, "idempotentHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/destructiveHint with=nextcloud
    /// {"name": "nc_notes_restore_note", "title": "Restore note", "description": "Restore a note from the trash.",
    ///  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    ///  "annotations": {"destructiveHint": true, "idempotentHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=nextcloud
    /// {"name": "nc_notes_update_note", "title": "Update note", "description": "Update a note.",
    ///  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}, "etag": {"type": "string"}}, "required": ["id", "etag"]},
    ///  "annotations": {"idempotentHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ```json good with=nextcloud
    /// {"name": "nc_tables_update_row", "title": "Update row", "description": "Update a row of a table.",
    ///  "inputSchema": {"type": "object", "properties": {"row_id": {"type": "integer"}, "data": {"type": "object"}}, "required": ["row_id", "data"]},
    ///  "annotations": {"idempotentHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ```json good with=nextcloud
    /// {"name": "nc_cookbook_set_config", "title": "Set configuration", "description": "Set the configuration of the app.",
    ///  "inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}},
    ///  "annotations": {"idempotentHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ```json good with=nextcloud
    /// {"name": "nc_notes_trash_note", "title": "Move note to trash", "description": "Move a note to the trash.",
    ///  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    ///  "annotations": {"destructiveHint": true, "idempotentHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ```json good
    /// {"name": "nc_notes_update_note", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets the hints of the policy, except values that make the tool look safer than its own hints.
    "HINT-016" "policy-mismatch" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if !standard.policy_chosen {
        return;
    }
    let all = compare_hints(tool, &standard.policy);
    let differs = all.iter().filter(|comparison| {
        let differs = comparison.expected.is_some_and(|expected| expected != comparison.effective);
        differs && (comparison.declared.is_some() || !may_be_omitted(tool, standard, comparison.hint))
    });
    let differs: Vec<_> = differs.collect();
    let pointer = match differs.as_slice() {
        [] => return,
        [one] => format!("/annotations/{}", one.hint.key()),
        _ => "/annotations".to_owned(),
    };
    let comparisons: Vec<String> = differs
        .iter()
        .map(|comparison| {
            let (hint, effective) = (comparison.hint.key(), comparison.effective);
            let origin = if comparison.declared.is_some() { "set to" } else { "not set, default" };
            format!("{hint} ({origin} {effective}, expected {})", comparison.expected.unwrap_or_default())
        })
        .collect();
    let message = format!(
        "The hints of '{}' differ from the policy '{}': {}",
        tool.name,
        standard.policy.name,
        comparisons.join(", ")
    );
    let wanted = |hint: Hint| {
        differs.iter().find(|comparison| comparison.hint == hint).and_then(|comparison| comparison.expected)
    };
    let fix = HintOverrides {
        read_only: wanted(Hint::ReadOnly),
        destructive: wanted(Hint::Destructive),
        idempotent: wanted(Hint::Idempotent),
        open_world: wanted(Hint::OpenWorld),
    };
    let fix = safe_to_write(tool, fix);
    let finding = findings.tool(tool, pointer, message);
    finding.help("use the hints of the policy, or select another policy");
    if fix != HintOverrides::default() {
        finding.fix(Fix::Hints(fix));
    }
    let who = standard.requirements(|convention| {
        let names = convention.policy.as_deref() == Some(standard.policy.name.as_str());
        names.then_some(())
    });
    for (who, ()) in who {
        finding.required_by(who);
    }
}

/// Returns whether a missing hint is no mismatch: MCP gives it no meaning here, or HINT-001 reports it already.
fn may_be_omitted(tool: &ParsedTool<'_>, standard: &Standard, hint: Hint) -> bool {
    let meaningless = hint == Hint::Idempotent && tool.declared.read_only == Some(true);
    let required =
        || standard.conventions.iter().any(|convention| convention.annotations.explicit.contains(&hint));
    meaningless || required() || hints_required_by_policy(tool, standard).contains(hint)
}
