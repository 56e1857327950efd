//! HINT-001.

use crate::convention::{ConventionKind, RuleLevel, Standard};
use crate::hints::{expected, missing_hints};
use crate::inferred_effect::possible_effects;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::operation::Category;
use mcpaql_core::policy::{Hint, HintOverrides, HintSet};

rule! {
    /// A tool leaves hints unsaid, and clients assume the worst.
    ///
    /// ## What it does
    ///
    /// Lists the hints that a tool does not write out, and what clients take it for instead. `idempotentHint` may be missing where
    /// `readOnlyHint` is true, and so may what a chosen policy leaves unsaid. It is advice unless a convention demands the hint, and an error where a directory does.
    ///
    /// ## Why it matters
    ///
    /// [MCP's defaults](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) are those of the most
    /// dangerous tool: not read-only, destructive, not idempotent, open world. A search without hints asks for approval like a
    /// deletion, in Claude Code's plan mode and
    /// [Cursor's Ask mode](https://github.com/sourcebot-dev/sourcebot/pull/1013) it cannot be used freely, and people who are asked
    /// about everything approve everything. `readOnlyHint: true` alone is not enough: ChatGPT
    /// [shows such a tool as destructive](https://github.com/apollographql/apollo-mcp-server/pull/510), and OpenAI's portal
    /// [rejects tools without `destructiveHint`](https://github.com/HelpCode-ai/anythingmcp/pull/579), whether they read or not.
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
    /// ## Good
    ///
    /// ```json good with=openai-apps
    /// {"name": "get_issue", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes out what surely holds and makes the tool look no safer than to say nothing does; what follows from `readOnlyHint: true`
    /// only where the tool says that itself.
    "HINT-001" "unsaid-hints" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let wanted = policy_hints(tool, standard);
    let matters = |hint: &Hint| {
        let means_something = *hint != Hint::Idempotent || tool.declared.read_only != Some(true);
        wanted.contains(*hint) && means_something
    };
    let demands = standard.requirements(|convention| {
        let explicit = &convention.annotations.explicit;
        let broken = explicit.iter().any(|hint| tool.declared.get(*hint).is_none());
        broken.then_some((convention.kind, explicit))
    });
    let demands: Vec<_> = demands.collect();
    let demanded = |hint: &Hint| demands.iter().any(|(_, (_, explicit))| explicit.contains(hint));
    let unsaid = |hint: &Hint| tool.declared.get(*hint).is_none() && (matters(hint) || demanded(hint));
    let unsaid: Vec<Hint> = Hint::ALL.into_iter().filter(unsaid).collect();
    let pointer = match (unsaid.as_slice(), tool.value.get("annotations")) {
        ([], _) => return,
        ([hint], Some(_)) => format!("/annotations/{}", hint.key()),
        _ => "/annotations".to_owned(),
    };
    let message =
        format!("The tool '{}' does not say {}", tool.name, assumed_behavior(tool, standard, &unsaid));
    let finding = findings.tool(tool, pointer, message);
    let safe = missing_hints(tool, &standard.policy);
    let safe = |hint: Hint| safe.get(hint).filter(|_| unsaid.contains(&hint));
    let fix = HintOverrides {
        read_only: safe(Hint::ReadOnly),
        destructive: safe(Hint::Destructive),
        idempotent: safe(Hint::Idempotent),
        open_world: safe(Hint::OpenWorld),
    };
    if fix == HintOverrides::default() && tool.by_name.category != Category::Read {
        finding.help("write out what it does: `readOnlyHint: false`, and in `destructiveHint` whether anything is lost");
    } else if fix == HintOverrides::default() {
        finding.help(
            "write out what it does; where it only reads, `readOnlyHint: true` and `destructiveHint: false`",
        );
    } else {
        finding.help("write out what it does").fix(Fix::Hints(fix));
    }
    if demands.is_empty() {
        finding.downgrade_to_advice();
    } else if demands.iter().all(|(_, (kind, _))| *kind != ConventionKind::Directory) {
        finding.level = finding.level.min(RuleLevel::Warning);
    }
    for (who, _) in demands {
        finding.required_by(who);
    }
}

/// What clients take the tool for, and what it should be taken for under a chosen policy.
fn assumed_behavior(tool: &ParsedTool<'_>, standard: &Standard, unsaid: &[Hint]) -> String {
    let expected =
        if standard.policy_chosen { expected(tool, &standard.policy) } else { HintOverrides::default() };
    let assumed = unsaid.iter().map(|hint| {
        let (key, assumed) = (hint.key(), hint.default_value());
        match expected.get(*hint).filter(|expected| *expected != assumed) {
            Some(expected) => format!("{key} (clients assume {assumed}, expected {expected})"),
            None => format!("{key} (clients assume {assumed})"),
        }
    });
    assumed.collect::<Vec<String>>().join(", ")
}

/// The hints that the policy has such a tool write out, where one was chosen.
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
