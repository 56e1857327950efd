//! HINT-005.

use crate::audit::deed::{surely_acts, told_to_act};
use crate::audit::finding::{Findings, Fix};
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::classify::verbs;
use crate::convention::{Level, Standard};
use crate::facts::Effect;
use crate::operation::Category;
use crate::policy::HintOverrides;

rule! {
    /// A tool says that it only reads, but it acts.
    ///
    /// ## What it does
    ///
    /// Looks for tools with `readOnlyHint: true` whose name, description or switch says that they change something: `delete_issue`,
    /// `send_mail`, `mark_all_notifications_read`, or an `action` that can be `delete`. It is an error where the name says so in a
    /// word that has no other meaning, a warning where it starts or stops something, and advice where only the description says so.
    ///
    /// ## Why it matters
    ///
    /// Clients run read-only tools without asking: Claude Code's plan mode
    /// [goes by exactly this hint](https://github.com/derive-to/derive/pull/582). A write that passes for a read is the one mistake
    /// in annotations that does harm.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "mark_all_notifications_read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "browser_storage", "description": "Saves cookies to a file.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "mark_all_notifications_read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}}
    /// ```
    ///
    /// ```json good
    /// {"name": "list_deleted_issues", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// `readOnlyHint: false`, which at worst asks for an approval too many.
    "HINT-005" "read-only-write" Error Tool(check)
}

fn check(tool: &Tool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // Both hints at once are another rule's.
    if tool.declared.read_only != Some(true) || tool.declared.destructive == Some(true) {
        return;
    }
    let Some((what, level)) = belies(tool) else { return };
    let message = format!("The tool '{}' says that it only reads, but {what}", tool.name);
    let finding = findings.tool(tool, "/annotations/readOnlyHint", message);
    finding.help("clients run it unasked; say `readOnlyHint: false`");
    finding.fix(Fix::Hints(HintOverrides { read_only: Some(false), ..HintOverrides::default() }));
    finding.level = finding.level.min(level);
}

/// The word of the name that says it: one that is surely a verb, before one that may be.
fn acting_word<'t>(tool: &'t Tool<'_>) -> Option<&'t str> {
    let verb = |word: &&String| verbs::verb(word).or_else(|| verbs::inflected(word));
    let sure = tool.words.iter().find(|word| verb(word).is_some_and(|verb| verb.acts()));
    let of_effect = |verb: &verbs::Verb| verb.effect.category() != Category::Read;
    let likely = || tool.words.iter().find(|word| verb(word).is_some_and(of_effect));
    sure.or_else(likely).map(String::as_str)
}

/// What speaks against the claim, and how loud.
fn belies(tool: &Tool<'_>) -> Option<(String, Level)> {
    if tool.known.is_some_and(|known| known.category != Category::Read) {
        return Some(("its document says otherwise".to_owned(), Level::Error));
    }
    let told = told_to_act(tool);
    if tool.judged.category != Category::Read {
        let runs = matches!(tool.by_name.effect, Effect::Execute | Effect::Session | Effect::Multiplexed);
        let level = match (surely_acts(tool) && !runs, told) {
            (true, _) => Level::Error,
            (false, Some(_)) => Level::Warning,
            // What "triggers" or "starts" may be a demonstration.
            (false, None) => Level::Advice,
        };
        let deed = if runs { "runs or switches something" } else { "changes something" };
        let what = acting_word(tool).map(|word| format!("'{word}' in its name {deed}"));
        return Some((what.unwrap_or_else(|| "its name says otherwise".to_owned()), level));
    }
    if let Some(switch) = &tool.switch {
        return Some((format!("its '{}' can be '{}'", switch.parameter, switch.acts), Level::Warning));
    }
    let verb = told.filter(|verb| verb.acts() && verb.word != "generate")?;
    Some((format!("its description begins with '{}'", verb.word), Level::Advice))
}
