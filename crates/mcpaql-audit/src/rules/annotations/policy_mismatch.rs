//! HINT-016.

use crate::convention::Standard;
use crate::hints::{HintComparison, compare_hints, safe_to_write};
use crate::inferred_effect::is_known_by_name_alone;
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
    /// Not compared:
    ///
    /// - hints that the policy omits;
    /// - tools whose effect is unknown, for example because the name has no clear verb;
    /// - `destructiveHint` of an update with a required output parameter, such as `output_path`: the tool may write a new file and
    ///   leave its input unchanged.
    ///
    /// HINT-001 reports missing hints that a convention requires. The finding is advice if the tool sets all the hints that
    /// differ, and its effect is known only from its name and description.
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
    /// ## Good
    ///
    /// ```json good with=nextcloud
    /// {"name": "nc_notes_update_note", "title": "Update note", "description": "Update a note.",
    ///  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}, "etag": {"type": "string"}}, "required": ["id", "etag"]},
    ///  "annotations": {"idempotentHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ```json good
    /// {"name": "nc_notes_update_note", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets the hints of the policy, except values that make the tool look safer than its own hints.
    "HINT-016" "policy-mismatch" Warning..Advice Tool(check)
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
    // A declared hint outweighs a guess from the name: the author knows what the tool does.
    let guessed =
        |comparison: &&HintComparison| comparison.declared.is_some() && comparison.hint != Hint::OpenWorld;
    if is_known_by_name_alone(tool) && differs.iter().all(guessed) {
        finding.downgrade_to_advice();
    }
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
    meaningless || required()
}
