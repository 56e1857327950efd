//! Faults in hints.

use super::fixtures::Shape::{
    self, Append, Create, Delete, Read, Restore, Send, Set, Trash, Update, VersionedUpdate,
};
use super::{Injection, faults, fixtures};
use mcpaql_audit::convention::RuleLevel::{Advice, Error, Warning};
use serde_json::{Value, json};

const WRITES: &[Shape] = &[Create, Append, Send, Update, VersionedUpdate, Set, Delete, Trash, Restore];

/// Sets hints.
fn hint(hints: Value) -> impl Fn(&mut Value) {
    move |tool| {
        let own = tool["annotations"].as_object_mut().unwrap();
        own.extend(hints.as_object().unwrap().clone());
    }
}

/// Removes hints.
fn without(keys: &'static [&'static str]) -> impl Fn(&mut Value) {
    move |tool| tool["annotations"].as_object_mut().unwrap().retain(|key, _| !keys.contains(&key.as_str()))
}

/// Continues the first sentence of the description.
fn clause(text: &'static str) -> impl Fn(&mut Value) {
    move |tool| {
        let about = tool["description"].as_str().unwrap().trim_end_matches('.');
        tool["description"] = format!("{about}{text}.").into();
    }
}

/// Adds a sentence to the description.
fn sentence(text: &'static str) -> impl Fn(&mut Value) {
    move |tool| tool["description"] = format!("{} {text}", tool["description"].as_str().unwrap()).into()
}

/// Adds a parameter.
fn param(name: &'static str, schema: Value) -> impl Fn(&mut Value) {
    move |tool| tool["inputSchema"]["properties"][name] = schema.clone()
}

pub(super) fn inject(all: &mut Vec<Injection>) {
    missing(all);
    read_only(all);
    claims(all);
    spelling(all);
    policy(all);
}

fn missing(all: &mut Vec<Injection>) {
    for key in [&["readOnlyHint"], &["destructiveHint"], &["openWorldHint"]] {
        faults(all, "HINT-001", Error, "openai-apps").tools(&[], key[0], without(key));
    }
    faults(all, "HINT-001", Advice, "").tools(WRITES, "none", without(&["readOnlyHint", "destructiveHint"]));
    faults(all, "HINT-001", Warning, "nextcloud")
        .tools(&[], "open world", without(&["openWorldHint"]))
        .tools(&[Read], "read-only", without(&["readOnlyHint"]))
        .tools(
            &[Create, Append, Update, VersionedUpdate, Set, Delete, Trash, Restore],
            "idempotent",
            without(&["idempotentHint"]),
        )
        .tools(&[Delete, Trash], "destructive", without(&["destructiveHint"]));
    faults(all, "HINT-003", Error, "claude-directory").tools(
        &[],
        "no safety",
        without(&["readOnlyHint", "destructiveHint"]),
    );
    let mut bare: Vec<Value> = fixtures().into_iter().map(|fixture| fixture.tool).collect();
    bare.iter_mut().for_each(|tool| drop(tool.as_object_mut().unwrap().shift_remove("annotations")));
    faults(all, "HINT-004", Warning, "").list("no annotations", bare);
    for hints in [
        json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true}),
        json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}),
    ] {
        let mut same: Vec<Value> = fixtures().into_iter().map(|fixture| fixture.tool).collect();
        same.iter_mut().for_each(hint(hints));
        faults(all, "HINT-017", Warning, "").list("the same hints", same);
    }
}

fn read_only(all: &mut Vec<Injection>) {
    faults(all, "HINT-002", Error, "").tools(
        &[],
        "both",
        hint(json!({"readOnlyHint": true, "destructiveHint": true})),
    );
    let mut lies = faults(all, "HINT-005", Warning, "");
    lies.tools(WRITES, "write", hint(json!({"readOnlyHint": true, "destructiveHint": false})));
    for text in [
        " and marks them as seen",
        ", then archives the old ones",
        " and deletes what is older than a month",
        " and sends a copy to the supervisor",
        " and saves the result to a file",
        ", and resets the counter",
    ] {
        lies.tools(&[Read], "clause", clause(text));
    }
    for text in [
        "All matches are marked as seen.",
        "The waiting counter is reset to zero.",
        "Entries older than a month are deleted.",
        "Each call sends a notification to the owner.",
        "It also removes expired entries.",
        "The previous access code is revoked.",
        "Each call costs 2 credits.",
        "A record of the call is written to the journal.",
    ] {
        lies.tools(&[Read], "sentence", sentence(text));
    }
    let switch = |about: &str| json!({"type": "boolean", "description": about});
    let text = |about: &str| json!({"type": "string", "description": about});
    lies.tools(&[Read], "switch", param("delete_after", switch("Delete the entries after reading")))
        .tools(&[Read], "switch", param("mark_seen", switch("Mark the entries as seen")))
        .tools(&[Read], "switch", param("auto_archive", switch("Archive the entries")))
        .tools(&[Read], "switch", param("cleanup", switch("If true, removes stale entries")))
        .tools(&[Read], "switch", param("notify", switch("Whether to send a mail to the owner")))
        .tools(&[Read], "place", param("output_path", text("Where to save the result")))
        .tools(&[Read], "place", param("save_to", text("File that receives the result")))
        .tools(&[Read], "place", param("webhook_url", text("Address that gets the result")))
        .tools(&[Read], "program", param("sql", text("Statement to execute")))
        .tools(
            &[Read],
            "action",
            param(
                "action",
                json!({"type": "string", "enum": ["list", "delete"], "description": "What to do"}),
            ),
        )
        .tools(
            &[Read],
            "method",
            param(
                "http_method",
                json!({"type": "string", "enum": ["GET", "DELETE"], "description": "The HTTP method"}),
            ),
        );
    faults(all, "HINT-006", Warning, "").tools(
        &[Read],
        "destructive",
        hint(json!({"readOnlyHint": false, "destructiveHint": true})),
    );
    faults(all, "HINT-008", Advice, "").tools(
        &[Read],
        "not idempotent",
        hint(json!({"idempotentHint": false})),
    );
    faults(all, "HINT-009", Advice, "").tools(&[Read], "not read-only", hint(json!({"readOnlyHint": false})));
}

fn claims(all: &mut Vec<Injection>) {
    let named = |name: &'static str, about: &'static str, hints: Value| {
        move |tool: &mut Value| {
            tool["name"] = name.into();
            tool["description"] = about.into();
            hint(hints.clone())(tool);
        }
    };
    let again = || json!({"idempotentHint": true});
    faults(all, "HINT-007", Warning, "")
        .tools(&[Create, Append, Send], "idempotent", hint(again()))
        .tools(&[Set], "toggle", named("desk_toggle_alarm", "Toggles the alarm of a case.", again()))
        .tools(
            &[Set],
            "increment",
            named("desk_increment_counter", "Increments the counter of a case.", again()),
        )
        .tools(&[Create], "post", named("desk_post_remark", "Posts a remark for all to see.", again()))
        .tools(&[Create], "comment", named("desk_comment_case", "Comments on one case.", again()))
        .tools(&[Create], "invite", named("desk_invite_guest", "Invites a guest to the desk.", again()));
    let kept = || json!({"destructiveHint": false});
    faults(all, "HINT-010", Warning, "")
        .tools(&[Delete], "kept", hint(kept()))
        .tools(&[Delete], "purge", named("desk_purge_macros", "Purges all text blocks.", kept()))
        .tools(&[Delete], "clear", named("desk_clear_history", "Clears the history of a case.", kept()))
        .tools(
            &[Delete],
            "words",
            named("desk_macro_cleaner", "Deletes text blocks that nobody uses.", kept()),
        )
        .tools(&[Update], "final", |tool| {
            sentence("This cannot be undone.")(tool);
            hint(kept())(tool);
        })
        .tools(
            &[Set],
            "overwrite",
            named("desk_overwrite_settings", "Overwrites the settings of the desk.", kept()),
        )
        .tools(&[Update], "action", |tool| {
            param(
                "action",
                json!({"type": "string", "enum": ["rename", "delete"], "description": "What to do"}),
            )(tool);
            hint(kept())(tool);
        });
    let closed = || json!({"openWorldHint": false});
    faults(all, "HINT-011", Warning, "")
        .tools(&[Read], "web", named("desk_web_search", "Searches the web for a phrase.", closed()))
        .tools(&[Read], "crawl", named("desk_crawl_site", "Crawls a site and returns its pages.", closed()))
        .tools(&[Send], "mail", named("desk_send_email", "Sends a mail to a customer.", closed()));
    let mut twins: Vec<Value> = fixtures().into_iter().map(|fixture| fixture.tool).collect();
    let mut other = twins[1].clone();
    named("desk_list_customers", "Lists all customers by name.", closed())(&mut other);
    twins.push(other);
    faults(all, "HINT-012", Advice, "").list("two worlds", twins);
    let mut mixed = faults(all, "HINT-015", Warning, "claude-directory");
    for values in [["list", "delete"], ["get", "update"], ["search", "create"], ["read", "send"]] {
        mixed.tools(
            &[Create, Update],
            "mixed",
            param("action", json!({"type": "string", "enum": values, "description": "What to do"})),
        );
    }
}

fn spelling(all: &mut Vec<Injection>) {
    faults(all, "HINT-013", Error, "")
        .tools(&[], "text", hint(json!({"readOnlyHint": "true"})))
        .tools(&[], "number", hint(json!({"destructiveHint": 1})))
        .tools(&[], "null", hint(json!({"idempotentHint": null})))
        .tools(&[], "list", |tool| tool["annotations"] = json!(["readOnlyHint"]));
    faults(all, "HINT-014", Warning, "")
        .tools(&[], "short", hint(json!({"readOnly": true})))
        .tools(&[], "snake", hint(json!({"destructive_hint": true})))
        .tools(&[], "case", hint(json!({"idempotenthint": true})));
}

fn policy(all: &mut Vec<Injection>) {
    let idempotent = |value: bool| hint(json!({"idempotentHint": value}));
    let destructive = |value: bool| hint(json!({"destructiveHint": value}));
    let named = |name: &'static str, about: &'static str, hints: Value| {
        move |tool: &mut Value| {
            tool["name"] = name.into();
            tool["description"] = about.into();
            hint(hints.clone())(tool);
        }
    };
    faults(all, "HINT-016", Warning, "nextcloud")
        .tools(&[Create, Append, VersionedUpdate], "idempotent", idempotent(true))
        .tools(&[Read, Update, Set, Delete, Trash, Restore], "not idempotent", idempotent(false))
        .tools(&[Delete, Trash], "not destructive", destructive(false))
        .tools(&[Create, Append, Restore], "destructive", destructive(true))
        .tools(&[], "closed", hint(json!({"openWorldHint": false})))
        .tools(
            &[Trash],
            "bin",
            named(
                "desk_move_message_to_trash",
                "Moves a message to the bin.",
                json!({"idempotentHint": false}),
            ),
        )
        .tools(
            &[Trash],
            "empty",
            named("desk_empty_trash", "Empties the trash of the desk.", json!({"destructiveHint": false})),
        )
        .tools(
            &[Trash],
            "soft",
            named(
                "desk_remove_message",
                "Moves a message to the recycle bin.",
                json!({"idempotentHint": false}),
            ),
        )
        .tools(
            &[Restore],
            "back",
            named(
                "desk_untrash_message",
                "Takes a message out of the trash.",
                json!({"idempotentHint": false}),
            ),
        )
        .tools(
            &[Set],
            "weak",
            named("desk_pin_message", "Pins a message in its queue.", json!({"idempotentHint": false})),
        )
        .tools(
            &[Set],
            "mark",
            named("desk_mark_solved", "Marks a case as solved.", json!({"idempotentHint": false})),
        )
        .tools(
            &[Update],
            "change",
            named(
                "desk_change_address",
                "Changes the address of a customer.",
                json!({"idempotentHint": false}),
            ),
        );
    faults(all, "HINT-016", Warning, "mcpaql").tools(
        &[Update, VersionedUpdate, Set, Delete],
        "not destructive",
        destructive(false),
    );
}
