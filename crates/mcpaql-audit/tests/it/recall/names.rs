//! Faults in names.

use super::{Injection, faults, fixtures, server};
use mcpaql_audit::convention::RuleLevel::{Advice, Error, Warning};
use serde_json::{Value, json};

/// Changes the name of a tool.
fn rename(change: impl Fn(&str) -> String) -> impl Fn(&mut Value) {
    move |tool| tool["name"] = change(tool["name"].as_str().unwrap()).into()
}

/// Changes verb and object of a name.
fn reword(change: impl Fn(&str, &str) -> String) -> impl Fn(&mut Value) {
    rename(move |name| {
        let mut words = name.splitn(3, '_').skip(1);
        change(words.next().unwrap(), words.next().unwrap())
    })
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let first = letters.next().unwrap().to_ascii_uppercase();
        format!("{name}{first}{}", letters.as_str())
    })
}

/// `generates`, `applies`, `searches`.
fn third_person(verb: &str) -> String {
    if verb.ends_with("ch") || verb.ends_with("sh") { format!("{verb}es") } else { format!("{verb}s") }
}

/// `generating`, `setting`, `adding`.
fn gerund(verb: &str) -> String {
    match verb {
        "get" | "set" => format!("{verb}ting"),
        _ => format!("{}ing", verb.strip_suffix('e').unwrap_or(verb)),
    }
}

fn tools() -> Vec<Value> {
    fixtures().into_iter().map(|fixture| fixture.tool).collect()
}

/// Returns the correct tools and another one like the tool at `position`.
fn with_twin(position: usize, name: &str) -> Vec<Value> {
    let mut tools = tools();
    let mut twin = tools[position].clone();
    twin["name"] = name.into();
    tools.push(twin);
    tools
}

pub(super) fn inject(all: &mut Vec<Injection>) {
    characters(all);
    words(all);
    patterns(all);
    collisions(all);
}

fn characters(all: &mut Vec<Injection>) {
    faults(all, "NAME-001", Error, "")
        .tools(&[], "space", rename(|name| name.replacen('_', " ", 1)))
        .tools(&[], "slash", rename(|name| name.replacen('_', "/", 1)))
        .tools(&[], "accent", rename(|name| name.replace("desk", "dësk")))
        .tools(&[], "mark", rename(|name| format!("{name}!")));
    faults(all, "NAME-002", Error, "")
        .tools(&[], "none", |tool| drop(tool.as_object_mut().unwrap().shift_remove("name")))
        .tools(&[], "number", |tool| tool["name"] = 7.into())
        .tools(&[], "empty", |tool| tool["name"] = "".into())
        .tools(&[], "text", |tool| *tool = "desk_get_customer".into());
    faults(all, "NAME-003", Error, "").tools(
        &[],
        "long",
        rename(|name| format!("{name}{}", "_again".repeat(22))),
    );
    faults(all, "NAME-004", Error, "").tools(&[], "all dots", rename(|name| name.replace('_', "."))).tools(
        &[],
        "one dot",
        rename(|name| name.replacen('_', ".", 1)),
    );
    faults(all, "NAME-005", Error, "").tools(&[], "66 characters", rename(|name| format!("{name:x<66}")));
    faults(all, "NAME-006", Warning, "nextcloud")
        .tools(&[], "camel", rename(camel))
        .tools(&[], "kebab", rename(|name| name.replace('_', "-")))
        .tools(&[], "capitals", rename(str::to_uppercase));
    faults(all, "NAME-018", Error, "")
        .tools(&[], "Cyrillic e", rename(|name| name.replacen('e', "е", 1)))
        .tools(&[], "Cyrillic a", rename(|name| name.replacen('a', "а", 1)));
    faults(all, "NAME-019", Error, "")
        .tools(&[], "zero width", rename(|name| name.replacen('_', "_\u{200b}", 1)))
        .tools(&[], "direction", rename(|name| format!("{name}\u{202e}")));
    faults(all, "NAME-020", Advice, "").tools(&[], "camel", rename(camel)).tools(
        &[],
        "kebab",
        rename(|name| name.replace('_', "-")),
    );
}

fn words(all: &mut Vec<Injection>) {
    faults(all, "NAME-007", Warning, "product-action-object")
        .tools(&[], "one word", rename(|_| "desk".to_owned()))
        .tools(&[], "many words", rename(|name| format!("{name}_of_this_desk")));
    faults(all, "NAME-008", Warning, "lightdash").tools(&[], "no prefix", rename(|name| format!("x{name}")));
    faults(all, "NAME-010", Advice, "")
        .tools(&[], "summary", rename(|_| "desk_customer_summary".to_owned()))
        .tools(&[], "roster", rename(|_| "desk_agent_roster".to_owned()))
        .tools(&[], "statistics", rename(|_| "ticket_statistics".to_owned()));
    faults(all, "NAME-011", Advice, "").tools(&[], "verb last", |tool| {
        let name = tool["name"].as_str().unwrap().to_owned();
        // These are as often nouns.
        if !["search", "list", "upload", "set", "trash"].iter().any(|verb| name.contains(verb)) {
            reword(|verb, object| format!("desk_{object}_{verb}"))(tool);
        }
    });
}

fn patterns(all: &mut Vec<Injection>) {
    faults(all, "NAME-009", Warning, "product-action-object")
        .tools(&[], "no object", reword(|verb, _| format!("desk_{verb}")))
        .tools(&[], "verb last", reword(|verb, object| format!("desk_{object}_{verb}")))
        .tools(&[], "no product", reword(|verb, object| format!("{verb}_{object}")))
        .tools(&[], "no verb", reword(|_, object| format!("desk_{object}_overview")));
    faults(all, "NAME-021", Warning, "product-action-object")
        .tools(&[], "third person", reword(|verb, object| format!("desk_{}_{object}", third_person(verb))))
        .tools(&[], "gerund", reword(|verb, object| format!("desk_{}_{object}", gerund(verb))))
        .tools(
            &[],
            "past",
            reword(|verb, object| match verb {
                "get" | "set" | "send" => format!("desk_{verb}_{object}"),
                _ => format!("desk_{}ed_{object}", verb.strip_suffix('e').unwrap_or(verb)),
            }),
        );
    faults(all, "NAME-022", Warning, "product-action-object")
        .tools(&[], "short", rename(|name| name.replace("desk_", "dsk_")))
        .tools(&[], "plural", rename(|name| name.replace("desk_", "desks_")))
        .tools(&[], "other", rename(|name| name.replace("desk_", "helpdesk_")));
    let adapter = |name: &str, title: &str| {
        json!({
            "name": name, "title": title, "annotations": {"title": title},
            "description": "Reads from the desk. Find operations with introspect.",
            "inputSchema": {"type": "object", "properties": {"operation": {"type": "string"}, "params": {"type": "object"}}}
        })
    };
    let mut brand = faults(all, "NAME-012", Warning, "mcpaql");
    for name in ["desk_aql_read", "mcp_aql_read", "desk_mcp_aql_delete", "desk_aql_execute"] {
        brand.list(name, vec![adapter(name, "Desk — Read")]);
    }
    let mut titles = faults(all, "TITLE-007", Warning, "mcpaql-issue");
    for title in ["Read", "Desk - Read", "Desk: Read", "Read from the desk"] {
        titles.list(title, vec![adapter("desk_mcpaql_read", title)]);
    }
}

fn collisions(all: &mut Vec<Injection>) {
    for (position, tool) in tools().iter().enumerate() {
        let name = tool["name"].as_str().unwrap();
        faults(all, "NAME-013", Error, "").list("twice", with_twin(position, name));
        faults(all, "NAME-014", Warning, "")
            .list("camel", with_twin(position, &camel(name)))
            .list("kebab", with_twin(position, &name.replace('_', "-")));
        let mut other = tool.clone();
        other["name"] = name.replace('_', "-").into();
        faults(all, "NAME-016", Warning, "")
            .servers("shared", vec![server("desk", tools()), server("shop", vec![tool.clone()])]);
        faults(all, "NAME-017", Advice, "")
            .servers("shared", vec![server("desk", tools()), server("shop", vec![other])]);
    }
    let mut meanings = faults(all, "NAME-015", Advice, "");
    for (position, name) in [
        (1, "desk_fetch_customer"),
        (1, "desk_retrieve_customer"),
        (1, "desk_customer_get"),
        (7, "desk_modify_profile"),
        (11, "desk_destroy_macro"),
        (11, "desk_remove_macro"),
        (11, "desk_macro_delete"),
    ] {
        meanings.list(name, with_twin(position, name));
    }
}
