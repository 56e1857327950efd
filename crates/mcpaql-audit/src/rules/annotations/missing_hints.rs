//! HINT-001.

use crate::convention::{Convention, ConventionKind, RuleLevel, Standard};
use crate::hints::{expected, missing_hints};
use crate::inferred_effect::possible_effects;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::operation::Category;
use mcpaql_core::policy::{Hint, HintOverrides, HintSet};

rule! {
    /// Tool does not set all hints, so clients assume the worst.
    ///
    /// ## What it does
    ///
    /// Lists the hints that a tool does not set, with the default values that clients use instead. Not reported: `idempotentHint`
    /// on read-only tools, and hints that the selected policy omits. The finding is an error if a directory requires the hint, a
    /// warning if another convention requires it or has a policy that sets it for such a tool, and advice otherwise.
    ///
    /// ## Why it matters
    ///
    /// [MCP's defaults](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) are those of the most
    /// dangerous tool: not read-only, destructive, not idempotent, open world. A search without hints needs the same approval as
    /// a deletion. It cannot be used freely in Claude Code's plan mode and [Cursor's Ask
    /// mode](https://github.com/sourcebot-dev/sourcebot/pull/1013). Users who must approve every call stop reading the requests.
    /// `readOnlyHint: true` alone is not enough: ChatGPT [shows such a tool as
    /// destructive](https://github.com/apollographql/apollo-mcp-server/pull/510), and OpenAI's portal [rejects every tool without
    /// `destructiveHint`](https://github.com/HelpCode-ai/anythingmcp/pull/579), even read-only ones.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations
    /// {"name": "delete_issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/annotations/destructiveHint with=openai-apps
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "openWorldHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/idempotentHint with=nextcloud
    /// {"name": "nc_notes_create_note", "description": "Create a note.", "inputSchema": {"type": "object"},
    ///  "annotations": {"openWorldHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=openai-apps
    /// {"name": "get_issue", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets the hints that are certain. Values that look safer than MCP's default are set only if they follow from the tool's own
    /// `readOnlyHint: true` or from its adapter document.
    "HINT-001" "missing-hints" Error..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let wanted = policy_hints(tool, standard);
    let matters = |hint: &Hint| {
        let means_something = *hint != Hint::Idempotent || tool.declared.read_only != Some(true);
        wanted.contains(*hint) && means_something
    };
    let by_policy = hints_required_by_policy(tool, standard);
    let is_missing = |hint: &Hint| tool.declared.get(*hint).is_none();
    let requirements = standard.requirements(|convention| {
        let mut explicit = convention.annotations.explicit.clone();
        if convention.policy.as_deref() == Some(standard.policy.name.as_str()) {
            explicit.extend(Hint::ALL.into_iter().filter(|hint| by_policy.contains(*hint)));
        }
        explicit.iter().any(is_missing).then_some((convention.kind, explicit))
    });
    let requirements: Vec<_> = requirements.collect();
    let required = |hint: &Hint| requirements.iter().any(|(_, (_, explicit))| explicit.contains(hint));
    let missing = |hint: &Hint| is_missing(hint) && (matters(hint) || required(hint));
    let missing: Vec<Hint> = Hint::ALL.into_iter().filter(missing).collect();
    let pointer = match (missing.as_slice(), tool.value.get("annotations")) {
        ([], _) => return,
        ([hint], Some(_)) => format!("/annotations/{}", hint.key()),
        _ => "/annotations".to_owned(),
    };
    let message =
        format!("The tool '{}' does not set {}", tool.name, with_defaults(tool, standard, &missing));
    let finding = findings.tool(tool, pointer, message);
    let safe = missing_hints(tool, &standard.policy);
    let safe = |hint: Hint| safe.get(hint).filter(|_| missing.contains(&hint));
    let fix = HintOverrides {
        read_only: safe(Hint::ReadOnly),
        destructive: safe(Hint::Destructive),
        idempotent: safe(Hint::Idempotent),
        open_world: safe(Hint::OpenWorld),
    };
    if fix == HintOverrides::default() && tool.by_name.category != Category::Read {
        finding.help(
            "set `readOnlyHint: false`; set `destructiveHint: true` if the tool deletes or overwrites data, `false` otherwise",
        );
    } else if fix == HintOverrides::default() {
        finding.help(
            "set the hints; if the tool only reads, set `readOnlyHint: true` and `destructiveHint: false`",
        );
    } else {
        finding.help("set the hints").fix(Fix::Hints(fix));
    }
    if requirements.is_empty() {
        finding.downgrade_to_advice();
    } else if requirements.iter().all(|(_, (kind, _))| *kind != ConventionKind::Directory) {
        finding.level = finding.level.min(RuleLevel::Warning);
    }
    for (who, _) in requirements {
        finding.required_by(who);
    }
}

/// Lists the missing hints with their defaults, and with the values that a selected policy expects.
fn with_defaults(tool: &ParsedTool<'_>, standard: &Standard, missing: &[Hint]) -> String {
    let expected =
        if standard.policy_chosen { expected(tool, &standard.policy) } else { HintOverrides::default() };
    let listed = missing.iter().map(|hint| {
        let (key, default) = (hint.key(), hint.default_value());
        match expected.get(*hint).filter(|expected| *expected != default) {
            Some(expected) => format!("{key} (default {default}, expected {expected})"),
            None => format!("{key} (default {default})"),
        }
    });
    listed.collect::<Vec<String>>().join(", ")
}

/// Returns the hints that a convention requires of such a tool through its policy. If the tool runs something, its effect is not
/// clear enough to require more than `explicit` does.
pub(super) fn hints_required_by_policy(tool: &ParsedTool<'_>, standard: &Standard) -> HintSet {
    let has_policy = |convention: &Convention| convention.policy.as_ref() == Some(&standard.policy.name);
    let runs = || possible_effects(tool).iter().any(|effect| effect.category == Category::Execute);
    if !standard.policy_chosen || !standard.conventions.iter().any(has_policy) || runs() {
        return HintSet::default();
    }
    let meaningless = |hint: &Hint| *hint == Hint::Idempotent && tool.declared.read_only == Some(true);
    let wanted = policy_hints(tool, standard);
    Hint::ALL.into_iter().filter(|hint| wanted.contains(*hint) && !meaningless(hint)).collect()
}

/// Returns the hints that the selected policy sets for such a tool; all hints if no policy is selected.
fn policy_hints(tool: &ParsedTool<'_>, standard: &Standard) -> HintSet {
    if !standard.policy_chosen {
        return HintSet::ALL;
    }
    let effects = possible_effects(tool);
    let writes = |hint: &Hint| {
        effects.iter().all(|effect| standard.policy.written_hints(effect.category).contains(*hint))
    };
    Hint::ALL.into_iter().filter(writes).collect()
}
