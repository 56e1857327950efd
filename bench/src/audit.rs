//! Audits a long list of tools with descriptions as long as those of real servers, for `bench/instructions`.

use anyhow::{Result, ensure};
use mcpaql_audit as audit;
use mcpaql_audit::ServerTools;
use mcpaql_audit::convention::Standard;
use serde_json::{Value, json};

const VERBS: [&str; 8] = ["create", "list", "get", "update", "delete", "search", "merge", "archive"];
const NOUNS: [&str; 7] = ["issue", "branch", "release", "comment", "webhook", "milestone", "runner"];

/// Audits a list of `tools` tools, `times` times.
pub(crate) fn audit(tools: usize, times: usize) -> Result<()> {
    let server =
        ServerTools { name: "forge".into(), tools: (0..tools).map(tool).collect(), ..ServerTools::default() };
    for _ in 0..times {
        let findings = audit::audit(std::slice::from_ref(&server), &Standard::default());
        ensure!(!findings.is_empty(), "the audit found nothing");
    }
    Ok(())
}

fn tool(index: usize) -> Value {
    let word = |words: &[&'static str]| words.get(index % words.len()).copied().unwrap_or_default();
    let (verb, noun) = (word(&VERBS), word(&NOUNS));
    let text = |what: &str| json!({"type": "string", "description": format!("{what}, as another call has answered it; case does not matter")});
    json!({
        "name": format!("{verb}_{noun}_{index}"),
        "title": format!("{verb} {noun} {index}"),
        "description": format!(
            "Lets you {verb} a {noun} of a repository.\n\nUse it after the repository is known; the number of the {noun} is what people see \
             behind the '#'. Answers with the {noun} as it is afterwards, or with a reason why it could not be done — see \
             https://docs.example.com/rest/{noun}s#{verb} for what each field means. Archived repositories refuse every change.\n\n\
             - Rate limits are those of the account, not of the token.\n- `labels` are created where they are not there yet.\n\
             - Call `get_{noun}_{index}` first if you are not sure which one is meant, and tell the user what was changed."
        ),
        "inputSchema": {"type": "object", "required": ["owner", "repository"], "additionalProperties": false, "properties": {
            "owner": text("Account that owns the repository"),
            "repository": text("Name of the repository without its extension"),
            "labels": {"type": "array", "items": {"type": "string"}, "description": "Names of labels, all of which have to be there"},
            "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open", "description": "Only those in this state"},
            "since": {"type": "string", "format": "date-time", "description": "Only what changed after this time, in ISO 8601"},
            "page": {"type": "object", "description": "Which part of the answer", "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30, "description": "How many on a page"},
                "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Where the last page ended"}
            }},
            "author": {"type": "object", "properties": {"login": text("Name of the account"), "kind": {"enum": ["user", "bot"]}}}
        }},
        "annotations": {"readOnlyHint": matches!(verb, "list" | "get" | "search")}
    })
}
