//! HINT-016.

use crate::convention::Standard;
use crate::hints::{HintComparison, compare_hints, safe_to_write};
use crate::inferred_effect::is_known_by_name_alone;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::{Hint, HintOverrides};

rule! {
    /// A tool's hints are not those of the chosen policy.
    ///
    /// ## What it does
    ///
    /// Where a policy is chosen, by its name or by a convention, works out what each tool does and compares what the policy would
    /// have it say with what it says, or with MCP's default where it says nothing. What cannot be known from the outside, or what
    /// the policy leaves unsaid, is not compared, and a missing hint that a convention demands is HINT-001's. Each hint stands there
    /// as declared, as effective and as expected. Where only a name speaks against what a tool writes out, it is advice, and nothing
    /// where that name, which could be a noun, says no more than that something runs. What must be told where its results go may
    /// leave alone what it works on.
    ///
    /// ## Why it matters
    ///
    /// "Destructive" and "idempotent" mean different things to different projects: an update guarded by an etag has no second
    /// effect, and yet a second call fails. One meaning throughout a project is what makes its hints worth something.
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
    /// What the policy says, unless it makes the tool look safer than it says itself.
    "HINT-016" "policy-mismatch" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if !standard.policy_chosen {
        return;
    }
    let facing = compare_hints(tool, &standard.policy);
    let differs = facing.iter().filter(|facing| {
        let differs = facing.expected.is_some_and(|expected| expected != facing.effective);
        differs && (facing.declared.is_some() || !may_be_omitted(tool, standard, facing.hint))
    });
    let differs: Vec<_> = differs.collect();
    let pointer = match differs.as_slice() {
        [] => return,
        [one] => format!("/annotations/{}", one.hint.key()),
        _ => "/annotations".to_owned(),
    };
    let said: Vec<String> = differs
        .iter()
        .map(|facing| {
            let declared = facing.declared.map_or("nothing", |value| if value { "true" } else { "false" });
            let expected = facing.expected.unwrap_or_default();
            let (hint, effective) = (facing.hint.key(), facing.effective);
            format!("{hint} (declared {declared}, effective {effective}, expected {expected})")
        })
        .collect();
    let message = format!(
        "The tool '{}' differs from the policy '{}': {}",
        tool.name,
        standard.policy.name,
        said.join(", ")
    );
    let wanted =
        |hint: Hint| differs.iter().find(|facing| facing.hint == hint).and_then(|facing| facing.expected);
    let fix = HintOverrides {
        read_only: wanted(Hint::ReadOnly),
        destructive: wanted(Hint::Destructive),
        idempotent: wanted(Hint::Idempotent),
        open_world: wanted(Hint::OpenWorld),
    };
    let fix = safe_to_write(tool, fix);
    let finding = findings.tool(tool, pointer, message);
    finding.help("say what the policy says, or choose another");
    // Its author knows what it does, and a name only proposes.
    let guessed = |facing: &&HintComparison| facing.declared.is_some() && facing.hint != Hint::OpenWorld;
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

/// Whether to leave a hint out is not to differ: MCP gives it no meaning there, or the rule about hints that are demanded has said
/// it already.
fn may_be_omitted(tool: &ParsedTool<'_>, standard: &Standard, hint: Hint) -> bool {
    let meaningless = hint == Hint::Idempotent && tool.declared.read_only == Some(true);
    let demanded =
        || standard.conventions.iter().any(|convention| convention.annotations.explicit.contains(&hint));
    meaningless || demanded()
}
