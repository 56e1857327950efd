//! What a tool says of itself, what clients make of it, and what a policy would have it say: side by side.
//!
//! A policy needs facts, and of a foreign tool only some are known. Whatever the tool may be is asked about, and only what holds
//! for all of it is expected.

use crate::convention::Hint;
use crate::inferred_effect::{
    certainly_writes, changed_when_probed, described_action, effect, possible_effects,
};
use crate::rule::{Finding, Fix};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_core::facts::{Effect, Reach};
use mcpaql_core::policy::{HintOverrides, Policy};

/// One hint of one tool, three times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintComparison {
    /// Which.
    pub hint: Hint,
    /// What the tool writes out.
    pub declared: Option<bool>,
    /// What a client takes it for, MCP's defaults included.
    pub effective: bool,
    /// What the policy would have it say; `None` where nobody can know, or the policy leaves it unsaid.
    pub expected: Option<bool>,
}

/// The hints of a tool, each as declared, as effective and as expected.
#[must_use]
pub fn compare_hints(tool: &ParsedTool<'_>, policy: &Policy) -> [HintComparison; 4] {
    let expected = expected(tool, policy);
    Hint::ALL.map(|hint| {
        let declared = tool.declared.get(hint);
        let effective = declared.unwrap_or(hint.default_value());
        HintComparison { hint, declared, effective, expected: expected.get(hint) }
    })
}

/// What the policy would have a tool say, as far as that is known.
pub(super) fn expected(tool: &ParsedTool<'_>, policy: &Policy) -> HintOverrides {
    let mut all =
        possible_effects(tool).into_iter().map(|effect| policy.tool_hints(effect.category, &effect.facts));
    let first = all.next().unwrap_or_default();
    all.fold(first, |agreed, other| HintOverrides {
        read_only: agreed.read_only.filter(|_| agreed.read_only == other.read_only),
        destructive: agreed.destructive.filter(|_| agreed.destructive == other.destructive),
        idempotent: agreed.idempotent.filter(|_| agreed.idempotent == other.idempotent),
        open_world: agreed.open_world.filter(|_| agreed.open_world == other.open_world),
    })
}

/// What can be written without asking anybody: nothing that makes a tool look safer than it says itself, nor than to say nothing
/// does, unless its document says so or it follows from the tool's own claim to read.
pub(super) fn safe_to_write(tool: &ParsedTool<'_>, hints: HintOverrides) -> HintOverrides {
    without_safer_claims(tool, hints, |hint| is_warranted(tool, hint))
}

/// The hints without those that flip what the tool says to what looks safer, and without those that look safer than silence and
/// are not `warranted`.
fn without_safer_claims(
    tool: &ParsedTool<'_>,
    hints: HintOverrides,
    warranted: impl Fn(Hint) -> bool,
) -> HintOverrides {
    let kept = |hint: Hint| {
        hints.get(hint).filter(|value| {
            let declared = tool.declared.get(hint);
            // What MCP assumes of silent tools is the worst.
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

/// Whether somebody who knows says what is expected, so that it may look safer than silence.
fn is_warranted(tool: &ParsedTool<'_>, hint: Hint) -> bool {
    match hint {
        _ if changed_when_probed(tool) => false,
        Hint::ReadOnly => tool.known.is_some(),
        Hint::Destructive | Hint::Idempotent => tool.known.is_some() || says_it_reads(tool),
        // A policy may call every tool closed; that a call stays inside only its author knows.
        Hint::OpenWorld => tool.known.is_some_and(|known| known.facts.reach == Reach::Process),
    }
}

/// Rules that only spell right what the tool's author said.
const SPELLING_RULES: [&str; 2] = ["HINT-013", "HINT-014"];

/// Takes from all corrections what would make a tool look safer than it says itself: whatever a rule proposes goes through here.
pub(super) fn drop_unsafe_fixes(surfaces: &[ParsedServer<'_>], findings: &mut [Finding]) {
    for finding in findings {
        let place = &finding.place;
        let tool = place.tool.and_then(|tool| surfaces.get(place.server)?.tools.get(tool));
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
            Fix::Effect(Effect::Read | Effect::Compute) if !says_it_reads(tool) => None,
            other => Some(other),
        });
    }
}

/// The hints that can be written for a tool that leaves them unsaid.
pub(super) fn missing_hints(tool: &ParsedTool<'_>, policy: &Policy) -> HintOverrides {
    let expected = expected(tool, policy);
    let hints = if says_it_reads(tool) {
        HintOverrides { destructive: Some(false), idempotent: Some(true), ..expected }
    } else if expected.read_only == Some(false) || certainly_writes(tool) {
        HintOverrides { read_only: Some(false), ..expected }
    } else {
        expected
    };
    let unsaid = |hint: Hint, value: Option<bool>| value.filter(|_| tool.declared.get(hint).is_none());
    safe_to_write(
        tool,
        HintOverrides {
            read_only: unsaid(Hint::ReadOnly, hints.read_only),
            destructive: unsaid(Hint::Destructive, hints.destructive),
            idempotent: unsaid(Hint::Idempotent, hints.idempotent),
            open_world: unsaid(Hint::OpenWorld, hints.open_world),
        },
    )
}

/// Whether it says itself that it reads, and nothing contradicts.
fn says_it_reads(tool: &ParsedTool<'_>) -> bool {
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
    use mcpaql_core::operation::Category;
    use serde_json::{Value, json};

    /// A tool of a file share that calls itself a cloud.
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

    /// What one tool is expected to say, as four letters: `t`rue, `f`alse, or `-`.
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
    fn tools_of_a_cloud_are_expected_to_say_what_their_names_and_parameters_carry() {
        let none = &Value::Null;
        for (name, description, required, expected) in [
            ("nc_notes_search_notes", "Search notes by title or content.", &["query"][..], "t--t"),
            ("nc_notes_create_note", "Create a note.", &["title", "content"], "--ft"),
            ("nc_notes_append_content", "Append text to a note.", &["note_id", "content"], "--ft"),
            ("nc_notes_update_note", "Update a note.", &["note_id", "etag"], "--ft"),
            ("nc_notes_delete_note", "Delete a note.", &["note_id"], "-ttt"),
            ("nc_webdav_write_file", "Write a file.", &["path", "content"], "--tt"),
            // Whether a second one fails is the server's secret.
            ("nc_webdav_create_directory", "Create a directory.", &["path"], "---t"),
            ("nc_contacts_update_contact", "Update a contact.", &["contact_id"], "---t"),
            ("deck_add_member", "Add somebody to a board.", &["board_id", "user"], "---t"),
            // Nothing says what it does.
            ("nc_manifest", "The manifest.", &[], "---t"),
            // A name alone is no reason to say that it reads.
            ("nc_notes_get_note", "A note.", &["note_id"], "---t"),
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
        // They do not settle what the name denies.
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
    fn a_switch_between_reads_and_writes_is_as_bad_as_its_worst() {
        let schema = json!({"type": "object", "properties": {"action": {"enum": ["list", "delete"]}}});
        let tool = json!({"name": "get_labels", "description": "Gets labels.", "inputSchema": schema});
        assert_eq!(expects("mcpaql", tool), "ftf-");
        // Of several writes only that is expected which holds for all of them.
        let schema = json!({"type": "object", "properties": {"method": {"enum": ["create", "delete"]}}});
        let tool = json!({"name": "label_write", "description": "Writes a label.", "inputSchema": schema});
        assert_eq!(expects("mcpaql", tool), "f---");
    }

    #[test]
    fn endpoints_of_adapters_are_what_they_are_called() {
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
    fn what_a_document_says_is_exact() {
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
        let surface = ParsedServer::of(&server, 0);
        let policy = Policy::named("mcpaql").unwrap();
        assert_eq!(letters(expected(&surface.tools[0], policy)), "fttf");
    }

    #[test]
    fn no_correction_makes_a_tool_look_safer_than_it_says_itself() {
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
        let facts = Facts {
            effect: Effect::Read,
            repeat: Repeat::NoEffect,
            overwrites: false,
            reversible: true,
            guard: Guard::None,
            reach: Reach::Backend,
        };
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
                        assert!(!safer || hint != Hint::OpenWorld, "nobody knows {context}");
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
    fn what_a_probe_caught_is_not_reassured() {
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
    fn of_a_contradiction_the_dangerous_half_stays() {
        let both = json!({"readOnlyHint": true, "destructiveHint": true});
        let tools = vec![tool("get_note", "Get a note.", &[], &both)];
        let server = ServerTools { name: "cloud".to_owned(), tools, ..ServerTools::default() };
        let found = audit(&[server], &Standard::from_conventions(Vec::new()));
        let fix = found.iter().find(|finding| finding.rule.code == "HINT-002").unwrap().fix.clone();
        let hints = HintOverrides { read_only: Some(false), ..HintOverrides::default() };
        assert_eq!(fix, Some(Fix::Hints(hints)));
    }
}
