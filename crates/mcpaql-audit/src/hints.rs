//! Compares the hints that a tool declares with the hints that clients assume and those that a policy expects.
//!
//! A policy derives hints from facts, and only some facts of a foreign tool are known. The policy is therefore applied to every
//! possible effect of the tool, and a hint is expected only if all of them agree.
//!
//! What always holds: no fix makes a tool look safer than it declares.

use crate::convention::Hint;
use crate::inferred_effect::{
    PossibleEffect, certainly_writes, changed_when_probed, described_action, effect, is_restoration,
    possible_effects,
};
use crate::rule::{Finding, Fix};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_core::facts::{Effect, Reach};
use mcpaql_core::operation::Category;
use mcpaql_core::policy::{HintOverrides, Policy};

/// A hint of a tool: declared, effective and expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintComparison {
    /// The hint.
    pub hint: Hint,
    /// The value that the tool sets.
    pub declared: Option<bool>,
    /// The value that clients use: the declared one, or MCP's default.
    pub effective: bool,
    /// The value that the policy expects; `None` if the effect is unknown or the policy leaves the hint out.
    pub expected: Option<bool>,
}

/// Returns the hints of a tool, each as declared, effective and expected.
#[must_use]
pub fn compare_hints(tool: &ParsedTool<'_>, policy: &Policy) -> [HintComparison; 4] {
    let expected = expected(tool, policy);
    Hint::ALL.map(|hint| {
        let declared = tool.declared.get(hint);
        let effective = declared.unwrap_or(hint.default_value());
        HintComparison { hint, declared, effective, expected: expected.get(hint) }
    })
}

/// Returns the hints that the policy expects, as far as the effect of the tool is known.
pub(super) fn expected(tool: &ParsedTool<'_>, policy: &Policy) -> HintOverrides {
    let mut all = possible_effects(tool).into_iter().map(|effect| expected_of(tool, policy, &effect));
    let first = all.next().unwrap_or_default();
    all.fold(first, |agreed, other| HintOverrides {
        read_only: agreed.read_only.filter(|_| agreed.read_only == other.read_only),
        destructive: agreed.destructive.filter(|_| agreed.destructive == other.destructive),
        idempotent: agreed.idempotent.filter(|_| agreed.idempotent == other.idempotent),
        open_world: agreed.open_world.filter(|_| agreed.open_world == other.open_world),
    })
}

/// Returns the hints that the policy expects of one effect. Reads and additions destroy nothing, whether the policy writes that or
/// not, so a tool that declares otherwise is wrong.
fn expected_of(tool: &ParsedTool<'_>, policy: &Policy, effect: &PossibleEffect) -> HintOverrides {
    let written = policy.tool_hints(effect.category, &effect.facts);
    let harmless = matches!(effect.category, Category::Read | Category::Create) || is_restoration(tool);
    if !harmless {
        return written;
    }
    let all = policy.hints(effect.category, &effect.facts);
    let declared = |hint: Hint, value: bool| tool.declared.get(hint).map(|_| value);
    HintOverrides {
        destructive: written.destructive.or_else(|| declared(Hint::Destructive, all.destructive)),
        idempotent: written.idempotent.or_else(|| declared(Hint::Idempotent, all.idempotent)),
        ..written
    }
}

/// Returns the hints that are safe to set without asking. A hint that makes the tool look safer than it declares is dropped. One that
/// looks safer than MCP's default is kept only if it follows from the adapter document or the tool's own read-only hint.
pub(super) fn safe_to_write(tool: &ParsedTool<'_>, hints: HintOverrides) -> HintOverrides {
    without_safer_claims(tool, hints, |hint| is_warranted(tool, hint))
}

/// Drops hints that change a declared hint to a safer value, and hints that look safer than MCP's default and are not `warranted`.
fn without_safer_claims(
    tool: &ParsedTool<'_>,
    hints: HintOverrides,
    warranted: impl Fn(Hint) -> bool,
) -> HintOverrides {
    let kept = |hint: Hint| {
        hints.get(hint).filter(|value| {
            let declared = tool.declared.get(hint);
            // MCP's defaults are the most dangerous values.
            *value == hint.default_value()
                || declared == Some(*value)
                || (declared.is_none() && warranted(hint))
        })
    };
    HintOverrides {
        read_only: kept(Hint::ReadOnly),
        destructive: kept(Hint::Destructive),
        idempotent: kept(Hint::Idempotent),
        open_world: kept(Hint::OpenWorld),
    }
}

/// Returns whether a hint may look safer than MCP's default, because the expected value comes from a reliable source.
fn is_warranted(tool: &ParsedTool<'_>, hint: Hint) -> bool {
    match hint {
        _ if changed_when_probed(tool) => false,
        Hint::ReadOnly => tool.known.is_some(),
        Hint::Destructive | Hint::Idempotent => tool.known.is_some() || is_marked_read_only(tool),
        // A policy may mark every tool closed-world, but only the author knows that calls stay inside.
        Hint::OpenWorld => tool.known.is_some_and(|known| known.facts.reach == Reach::Process),
    }
}

/// Rules whose fix only corrects the spelling of the author's hints.
const SPELLING_RULES: [&str; 2] = ["HINT-013", "HINT-014"];

/// Removes hints that make a tool look safer than it declares from all fixes. The fixes of every rule go through here.
pub(super) fn drop_unsafe_fixes(parsed_servers: &[ParsedServer<'_>], findings: &mut [Finding]) {
    for finding in findings {
        let place = &finding.place;
        let tool = place.tool.and_then(|tool| parsed_servers.get(place.server)?.tools.get(tool));
        let Some(tool) = tool else { continue };
        finding.fix = finding.fix.take().and_then(|fix| match fix {
            Fix::Hints(hints) => {
                let spelled = SPELLING_RULES.contains(&finding.rule.code) && !changed_when_probed(tool);
                let hints = if spelled {
                    without_safer_claims(tool, hints, |_| true)
                } else {
                    safe_to_write(tool, hints)
                };
                (hints != HintOverrides::default()).then_some(Fix::Hints(hints))
            }
            Fix::Effect(Effect::Read | Effect::Compute) if !is_marked_read_only(tool) => None,
            other => Some(other),
        });
    }
}

/// Returns values for the missing hints of a tool that are safe to set.
pub(super) fn missing_hints(tool: &ParsedTool<'_>, policy: &Policy) -> HintOverrides {
    let expected = expected(tool, policy);
    let hints = if is_marked_read_only(tool) {
        HintOverrides { destructive: Some(false), idempotent: Some(true), ..expected }
    } else if expected.read_only == Some(false) || certainly_writes(tool) {
        HintOverrides { read_only: Some(false), ..expected }
    } else {
        expected
    };
    let missing = |hint: Hint, value: Option<bool>| value.filter(|_| tool.declared.get(hint).is_none());
    safe_to_write(
        tool,
        HintOverrides {
            read_only: missing(Hint::ReadOnly, hints.read_only),
            destructive: missing(Hint::Destructive, hints.destructive),
            idempotent: missing(Hint::Idempotent, hints.idempotent),
            open_world: missing(Hint::OpenWorld, hints.open_world),
        },
    )
}

/// Returns whether the tool is marked read-only and nothing contradicts it.
fn is_marked_read_only(tool: &ParsedTool<'_>) -> bool {
    tool.declared.read_only == Some(true)
        && !changed_when_probed(tool)
        && tool.declared.destructive != Some(true)
        && described_action(tool).is_none()
        && effect(tool).is_some_and(|effect| matches!(effect, Effect::Read | Effect::Compute))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convention::Standard;
    use crate::load::builtins;
    use crate::probe::{AnswerComparison, ProbeResult};
    use crate::{KnownFacts, ServerTools, audit};
    use mcpaql_core::facts::{Facts, Guard, Repeat};
    use serde_json::{Value, json};

    /// A tool of a cloud server.
    fn tool(name: &str, description: &str, required: &[&str], annotations: &Value) -> Value {
        let properties: serde_json::Map<String, Value> =
            required.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let schema = json!({"type": "object", "properties": properties, "required": required});
        json!({"name": name, "description": description, "inputSchema": schema, "annotations": annotations})
    }

    fn with<T>(tools: Vec<Value>, look: impl Fn(&ParsedTool<'_>) -> T) -> Vec<T> {
        let server = ServerTools { name: "cloud".to_owned(), tools, ..ServerTools::default() };
        ParsedServer::of(&server, 0).tools.iter().map(look).collect()
    }

    /// Returns four hints as letters: `t`rue, `f`alse, or `-` for none.
    fn letters(hints: HintOverrides) -> String {
        let letter = |hint| match hints.get(hint) {
            Some(true) => 't',
            Some(false) => 'f',
            None => '-',
        };
        Hint::ALL.map(letter).into_iter().collect()
    }

    fn expects(policy: &str, tool: Value) -> String {
        let policy = Policy::named(policy).unwrap();
        with(vec![tool], |tool| letters(expected(tool, policy))).pop().unwrap()
    }

    #[test]
    fn expected_hints_follow_from_names_and_parameters() {
        let none = &Value::Null;
        for (name, description, required, expected) in [
            ("nc_notes_search_notes", "Search notes by title or content.", &["query"][..], "t--t"),
            ("nc_notes_create_note", "Create a note.", &["title", "content"], "--ft"),
            ("nc_notes_append_content", "Append text to a note.", &["note_id", "content"], "--ft"),
            ("nc_notes_update_note", "Update a note.", &["note_id", "etag"], "--ft"),
            ("nc_notes_delete_note", "Delete a note.", &["note_id"], "-ttt"),
            ("nc_webdav_write_file", "Write a file.", &["path", "content"], "--tt"),
            // Only the server knows whether a second call fails.
            ("nc_webdav_create_directory", "Create a directory.", &["path"], "---t"),
            // Without a version, a second update with the same values changes nothing.
            ("nc_contacts_update_contact", "Update a contact.", &["contact_id", "phone"], "--tt"),
            ("nc_contacts_update_contact", "Update a contact.", &["contact_id", "expected_version"], "--ft"),
            ("nc_tables_update_row", "Append values to a row.", &["row_id", "data"], "---t"),
            ("nc_cookbook_set_config", "Set the configuration.", &["folder"], "--tt"),
            ("deck_toggle_card", "Toggle a card.", &["card_id"], "--ft"),
            // A trash: into it, out of it, and emptied.
            ("collectives_trash_page", "Move a page to the trash.", &["page_id"], "-ttt"),
            ("collectives_move_page_to_trash", "Move a page to the trash.", &["page_id"], "-ttt"),
            ("nc_mail_delete_message", "Moves a message to the trash.", &["message_id"], "-ttt"),
            ("collectives_restore_page", "Restore a page from the trash.", &["page_id"], "--tt"),
            ("collectives_empty_trash", "Empty the trash of a collective.", &["collective_id"], "-ttt"),
            ("collectives_list_trash", "List the pages in the trash.", &["collective_id"], "t--t"),
            ("nc_backup_restore_snapshot", "Restore a snapshot.", &["snapshot_id"], "---t"),
            ("deck_archive_card", "Archive a card.", &["card_id"], "--tt"),
            ("deck_add_member", "Add somebody to a board.", &["board_id", "user"], "---t"),
            // The effect is unknown.
            ("nc_manifest", "The manifest.", &[], "---t"),
            // A name alone does not prove that it reads, but with a description of the result it does.
            ("nc_notes_get_note", "", &["note_id"], "---t"),
            ("nc_notes_get_note", "A note.", &["note_id"], "t--t"),
        ] {
            assert_eq!(expects("nextcloud", tool(name, description, required, none)), expected, "{name}");
        }
    }

    #[test]
    fn meanings_of_idempotent_differ_only_where_the_facts_do() {
        let update = || tool("update_note", "Update a note.", &["id", "etag"], &Value::Null);
        assert_eq!(expects("mcp", update()), "ftt-");
        assert_eq!(expects("mcpaql", update()), "ftf-");
        for version in ["If-Match", "ifMatch", "_rev", "Version"] {
            let update = tool("update_note", "Update a note.", &["id", version], &Value::Null);
            assert_eq!(expects("mcpaql", update), "ftf-", "{version}");
        }
        let mut maybe = tool("replace_note", "Replace a note.", &["id", "sha"], &Value::Null);
        maybe["inputSchema"]["required"] = json!(["id"]);
        assert_eq!(expects("mcpaql", maybe), "ft--");
        let delete = || tool("delete_note", "Delete a note.", &["id"], &Value::Null);
        for (policy, expected) in
            [("mcp", "ftt-"), ("mcpaql", "ftt-"), ("mcpaql-spec", "ft--"), ("mcpaql-issue", "ftt-")]
        {
            assert_eq!(expects(policy, delete()), expected, "{policy}");
        }
    }

    #[test]
    fn analytics_tools_are_closed_and_read_or_not() {
        let none = &Value::Null;
        for (name, description, expected) in [
            ("lightdash_tools__list_projects", "List all projects.", "t--f"),
            ("lightdash_tools__get_space", "Get a space.", "t--f"),
            ("lightdash_tools__delete_member", "Delete a member.", "f--f"),
            ("lightdash_tools__refresh", "Things happen.", "---f"),
        ] {
            assert_eq!(expects("lightdash", tool(name, description, &[], none)), expected, "{name}");
        }
    }

    #[test]
    fn hints_of_a_tool_settle_what_its_name_leaves_open() {
        let reads = json!({"readOnlyHint": true});
        assert_eq!(expects("mcpaql", tool("nc_manifest", "", &[], &reads)), "tft-");
        let writes = json!({"readOnlyHint": false});
        assert_eq!(expects("mcpaql", tool("post_message", "", &[], &writes)), "fff-");
        assert_eq!(expects("mcpaql", tool("nc_manifest", "", &[], &writes)), "f---");
        // A hint does not override the name.
        assert_eq!(expects("mcpaql", tool("delete_note", "Delete a note.", &[], &reads)), "ftt-");
    }

    #[test]
    fn a_tool_that_fetches_from_anywhere_is_open() {
        let fetch = tool("fetch_page", "Fetch a page.", &["url"], &Value::Null);
        assert_eq!(expects("mcpaql", fetch), "tftt");
        let parse = tool("parse_url", "Parse an address.", &["url"], &Value::Null);
        assert!(expects("mcpaql", parse).ends_with('-'));
    }

    #[test]
    fn a_switch_between_reads_and_writes_counts_as_its_most_dangerous_value() {
        let schema = json!({"type": "object", "properties": {"action": {"enum": ["list", "delete"]}}});
        let tool = json!({"name": "get_labels", "description": "Gets labels.", "inputSchema": schema});
        assert_eq!(expects("mcpaql", tool), "ftf-");
        // With several writes, only hints that hold for all of them are expected.
        let schema = json!({"type": "object", "properties": {"method": {"enum": ["create", "delete"]}}});
        let tool = json!({"name": "label_write", "description": "Writes a label.", "inputSchema": schema});
        assert_eq!(expects("mcpaql", tool), "f---");
    }

    #[test]
    fn endpoints_of_adapters_follow_from_their_names() {
        let schema = json!({"type": "object", "properties": {"operation": {"type": "string"}, "params": {"type": "object"}}});
        for (name, expected) in [
            ("github_mcpaql_read", "tft-"),
            ("github_mcpaql_create", "ff--"),
            ("github_mcpaql_update", "ft--"),
            ("github_mcpaql_delete", "ft--"),
            ("github_mcpaql_execute", "ftf-"),
            ("github_mcpaql", "ftf-"),
        ] {
            let tool = json!({"name": name, "inputSchema": schema});
            assert_eq!(expects("mcpaql", tool), expected, "{name}");
        }
    }

    #[test]
    fn facts_from_a_document_are_exact() {
        let facts = Facts {
            effect: Effect::Update,
            repeat: Repeat::NoEffect,
            overwrites: true,
            reversible: true,
            guard: Guard::None,
            reach: Reach::Process,
        };
        let known = crate::KnownFacts { category: Category::Update, facts };
        let tools = vec![json!({"name": "get_nothing"})];
        let known = [("get_nothing".to_owned(), known)].into();
        let server = ServerTools { tools, known, ..ServerTools::default() };
        let parsed = ParsedServer::of(&server, 0);
        let policy = Policy::named("mcpaql").unwrap();
        assert_eq!(letters(expected(&parsed.tools[0], policy)), "fttf");
    }

    #[test]
    fn no_fix_makes_a_tool_look_safer_than_it_declares() {
        let policy = Policy::named("mcpaql").unwrap();
        let names =
            ["get_note", "list_notes", "search", "delete_note", "run_query", "nc_manifest", "send_mail"];
        let tools = names.map(|name| tool(name, &format!("{name}s things."), &[], &Value::Null));
        for hints in with(tools.into(), |tool| missing_hints(tool, policy)) {
            assert_ne!(hints.read_only, Some(true), "{hints:?}");
            assert_ne!(hints.destructive, Some(false), "{hints:?}");
            assert_ne!(hints.idempotent, Some(true), "{hints:?}");
        }
        let declared = json!({"readOnlyHint": true});
        let get = tool("get_note", "Get a note.", &[], &declared);
        assert_eq!(with(vec![get], |tool| letters(missing_hints(tool, policy))), ["-ft-"]);
        let delete = tool("delete_note", "Delete a note.", &[], &declared);
        assert_eq!(with(vec![delete], |tool| letters(missing_hints(tool, policy))), ["-t--"]);
    }

    /// Every combination of hints that a tool can declare.
    fn all_annotations() -> Vec<Value> {
        let mut all = vec![serde_json::Map::new()];
        for hint in Hint::ALL {
            let with = |value: bool| {
                all.iter().map(move |map| {
                    let mut map = map.clone();
                    map.insert(hint.key().to_owned(), value.into());
                    map
                })
            };
            let more: Vec<_> = with(true).chain(with(false)).collect();
            all.extend(more);
        }
        all.into_iter().map(Value::Object).collect()
    }

    #[test]
    fn whatever_a_tool_declares_no_rule_proposes_what_looks_safer() {
        let facts = Facts::read(Reach::Backend);
        let names = ["get_note", "create_note", "delete_note", "lightdash_tools__list_spaces", "nc_manifest"];
        let annotations = all_annotations();
        assert_eq!(annotations.len(), 81);
        let each = names.iter().flat_map(|name| annotations.iter().map(move |hints| (name, hints)));
        let tools: Vec<Value> =
            each.map(|(name, hints)| tool(name, "Of the notes.", &["id"], hints)).collect();
        let documented = names.map(|name| (name.to_owned(), KnownFacts { category: Category::Read, facts }));
        let mut proposed = 0;
        for known in [Default::default(), documented.into()] {
            let server = ServerTools {
                name: "cloud".to_owned(),
                tools: tools.clone(),
                known,
                ..ServerTools::default()
            };
            for convention in builtins() {
                let mut standard = Standard::from_conventions(vec![convention.clone()]);
                standard.policy_chosen = true;
                for finding in audit(std::slice::from_ref(&server), &standard) {
                    let Some(Fix::Hints(hints)) = finding.fix else { continue };
                    let tool = &tools[finding.place.tool.unwrap()];
                    for hint in Hint::ALL {
                        let Some(value) = hints.get(hint) else { continue };
                        let declared = tool["annotations"][hint.key()].as_bool();
                        let safer = value != hint.default_value();
                        let context =
                            format!("{} by {}: {hint:?} of {tool}", finding.rule.code, convention.name);
                        assert!(!safer || declared != Some(!value), "flips {context}");
                        assert!(!safer || hint != Hint::OpenWorld, "not known: {context}");
                        assert!(
                            !safer || hint != Hint::ReadOnly || !server.known.is_empty(),
                            "guesses {context}"
                        );
                        proposed += 1;
                    }
                }
            }
        }
        assert!(proposed > 1000, "{proposed}");
    }

    #[test]
    fn no_fix_makes_a_tool_look_safer_after_a_probe_saw_a_change() {
        let observed = ProbeResult { changed: Some(true), answers: AnswerComparison::Same };
        let caught = |annotations: Value| {
            let tools = vec![tool("get_note", "Gets a note.", &[], &annotations)];
            let observed = [("get_note".to_owned(), observed)].into();
            let server = ServerTools { name: "cloud".to_owned(), tools, observed, ..ServerTools::default() };
            let mut fixes = HintOverrides::default();
            for convention in builtins() {
                let mut standard = Standard::from_conventions(vec![convention.clone()]);
                standard.policy_chosen = true;
                for finding in audit(std::slice::from_ref(&server), &standard) {
                    if let Some(Fix::Hints(hints)) = finding.fix {
                        fixes = fixes.with_fallback(hints);
                    }
                }
            }
            letters(fixes)
        };
        let found = caught(json!({"readOnlyHint": true}));
        assert!(found.starts_with('f') && !found.starts_with("ff"), "{found}");
        assert_eq!(found.chars().nth(2).filter(|idempotent| *idempotent == 't'), None, "{found}");
        let found = caught(json!({"readOnlyHint": true, "destructiveHint": "false"}));
        assert!(!found.starts_with("ff"), "{found}");
    }

    #[test]
    fn of_two_contradicting_hints_the_dangerous_one_stays() {
        let both = json!({"readOnlyHint": true, "destructiveHint": true});
        let tools = vec![tool("get_note", "Get a note.", &[], &both)];
        let server = ServerTools { name: "cloud".to_owned(), tools, ..ServerTools::default() };
        let found = audit(&[server], &Standard::from_conventions(Vec::new()));
        let fix = found.iter().find(|finding| finding.rule.code == "HINT-002").unwrap().fix.clone();
        let hints = HintOverrides { read_only: Some(false), ..HintOverrides::default() };
        assert_eq!(fix, Some(Fix::Hints(hints)));
    }
}
