//! Benchmarks of an audit: all rules on a thousand tools like those of real servers, short and long ones.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "benchmarks"
)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcpaql_audit::convention::Standard;
use mcpaql_audit::load::builtins;
use mcpaql_audit::{ServerTools, audit};
use serde_json::{Value, json};
use std::hint::black_box;

const NOUNS: [&str; 10] =
    ["issue", "branch", "release", "comment", "webhook", "label", "milestone", "project", "runner", "secret"];
const VERBS: [&str; 8] = ["create", "list", "get", "update", "delete", "search", "merge", "archive"];

/// Returns a tool of about two kilobytes. Half of the tools have hints, and a few have mistakes.
fn tool(index: usize) -> Value {
    let (verb, noun) = (VERBS[index % VERBS.len()], NOUNS[index / VERBS.len() % NOUNS.len()]);
    let mut tool = json!({
        "name": format!("{verb}_{noun}_{index}"),
        "title": format!("{verb} {noun} {index}"),
        "description": format!(
            "Lets you {verb} a {noun} of a repository.\n\nUse it after the repository is known; the number of the {noun} is what \
             people see behind the '#'. Answers with the {noun} as it is afterwards, or with a reason why it could not be \
             done. See https://docs.example.com/rest/{noun}s#{verb} for what each field means, and keep in mind that \
             archived repositories refuse every change. Rate limits are those of the account, not of the token."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "owner": {"type": "string", "description": "Account that owns the repository, without regard to case"},
                "repository": {"type": "string", "description": "Name of the repository without the .git extension"},
                "number": {"type": "integer", "minimum": 1, "description": format!("Which {noun}")},
                "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open", "description": "Only those in this state"},
                "labels": {"type": "array", "items": {"type": "string"}, "description": "Names of labels, all of which have to be there"},
                "since": {"type": "string", "format": "date-time", "description": "Only what changed after this time, in ISO 8601"},
                "author": {"$ref": "#/$defs/Account"},
                "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30, "description": "How many per page"},
                "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "description": "Where the last page ended"}
            },
            "required": ["owner", "repository"],
            "additionalProperties": false,
            "$defs": {"Account": {"type": "object", "properties": {"login": {"type": "string", "pattern": "^[a-z0-9-]{1,39}$"}}}}
        }
    });
    if index.is_multiple_of(2) {
        let reads = matches!(verb, "list" | "get" | "search");
        tool["annotations"] =
            json!({"readOnlyHint": reads, "destructiveHint": verb == "delete", "openWorldHint": true});
    }
    if index.is_multiple_of(40) {
        tool["inputSchema"]["properties"]["labels"] = json!({"type": "array"});
        tool["description"] = Value::from(format!("{verb} {noun}"));
    }
    tool
}

/// Returns a tool of more than three kilobytes, as in large servers: with lists, nested objects and an output schema.
fn wordy_tool(index: usize) -> Value {
    let mut tool = tool(index);
    let (verb, noun) = (VERBS[index % VERBS.len()], NOUNS[index / VERBS.len() % NOUNS.len()]);
    let text = tool["description"].as_str().unwrap_or_default().to_owned();
    tool["description"] = Value::from(format!(
        "{text}\n\n**When to use it**\n- To {verb} a {noun} that the user has named, e.g. \"the {noun} from yesterday\".\n- Not for more than one at a time \
         — call it once for each.\n\nReturns the fields `id`, `state` and `url`; dates are in ISO 8601 (UTC)."
    ));
    tool["inputSchema"]["properties"]["filter"] = json!({
        "type": "object",
        "description": "What has to hold of everything in the answer; what is left out does not matter",
        "properties": {
            "created": {"type": "object", "description": "When it was made", "properties": {
                "from": {"type": "string", "format": "date", "description": "The first day, which counts"},
                "to": {"type": "string", "format": "date", "description": "The last day, which does not count any more"}
            }},
            "people": {"type": "array", "description": "Who had a part in it", "items": {"type": "object", "properties": {
                "login": {"type": "string", "description": "Name of the account"},
                "role": {"type": "string", "enum": ["author", "assignee", "reviewer"], "description": "Which part"}
            }}},
            "fields": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}
        }
    });
    if index.is_multiple_of(5) {
        let field = |what: &str| json!({"type": "string", "description": format!("{what} of the {noun}")});
        tool["outputSchema"] = json!({"type": "object", "properties": {
            "id": field("Number"), "state": field("State"), "url": field("Address"),
            "author": {"type": "object", "properties": {"login": field("Author")}}
        }});
    }
    tool
}

fn audits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(20);
    let tools: Vec<Value> = (0..1000).map(tool).collect();
    let server = [ServerTools { name: "forge".into(), tools, ..ServerTools::default() }];
    let clients = Standard::default();
    let everybody = Standard::from_conventions(builtins().to_vec());
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000 tools, clients", |b| b.iter(|| audit(black_box(&server), &clients).len()));
    group.bench_function("1000 tools, every convention", |b| {
        b.iter(|| audit(black_box(&server), &everybody).len())
    });
    let tools: Vec<Value> = (0..1000).map(wordy_tool).collect();
    let wordy = [ServerTools { name: "forge".into(), tools, ..ServerTools::default() }];
    group
        .bench_function("1000 wordy tools, clients", |b| b.iter(|| audit(black_box(&wordy), &clients).len()));
    group.finish();
}

criterion_group!(benches, audits);
criterion_main!(benches);
