//! Reads `config.yaml` from its untyped value.

use super::read_match::{check_keys, problem, read_match};
use super::window;
use super::{
    Approver, ConfirmConfig, CountedBy, DangerOverride, GateConfig, GateMode, GateRule, LogConfig,
    Prerequisite, Quota, QuotaCost, RateLimit,
};
use crate::matching::{CallMatch, NamePattern};
use crate::trust::Verdict;
use mcpaql_lexicon::Danger;
use mcpaql_schema::diagnostic::Diagnostic;
use mcpaql_schema::error::Code;
use mcpaql_schema::reader::{DocumentObject, DocumentReader, child};
use std::collections::HashSet;

const TOP_KEYS: &[&str] = &["mode", "rules", "quotas", "danger", "confirm", "log", "form_clients"];
const RULE_KEYS: &[&str] = &["name", "match", "decision", "confirm", "reason", "at_most", "after"];
const QUOTA_KEYS: &[&str] = &["name", "match", "by", "per", "warn", "pause", "stop", "cost", "costs"];
const CONFIRM_KEYS: &[&str] =
    &["safe", "reversible", "destructive", "dangerous", "forbidden", "wait_seconds"];
const LOG_KEYS: &[&str] = &["checkpoint_file", "checkpoint_command", "keep_days", "rotate_bytes"];

const VERDICT_WORDS: &[&str] = &["deny", "confirm", "allow"];
const APPROVER_WORDS: &[&str] = &["token", "person"];
const COUNTED_WORDS: &[&str] = &["caller", "adapter", "endpoint", "category", "operation"];

/// The longest time that a call waits for a person: clients give up after a few minutes.
const MAX_WAIT_SECONDS: u64 = 300;

pub(super) fn read(reader: &mut DocumentReader, file: &DocumentObject<'_>) -> GateConfig {
    check_keys(reader, file, TOP_KEYS);
    let rules = each(reader, file, "rules", rule);
    let quotas = each(reader, file, "quotas", quota);
    check_names(reader, "/rules", rules.iter().map(|rule| rule.name.as_str()));
    check_names(reader, "/quotas", quotas.iter().map(|quota| quota.name.as_str()));
    let mode = reader.choice(file, "mode", &["enforce", "observe"], |word| {
        [GateMode::Enforce, GateMode::Observe].into_iter().find(|mode| mode.as_str() == word)
    });
    GateConfig {
        mode: mode.unwrap_or_default(),
        rules,
        quotas,
        danger: each(reader, file, "danger", danger_override),
        confirm: reader.member(file, "confirm").map(|object| confirm(reader, &object)).unwrap_or_default(),
        log: reader.member(file, "log").map(|object| log(reader, &object)).unwrap_or_default(),
        form_clients: reader.strings(file, "form_clients").into_iter().map(NamePattern::new).collect(),
    }
}

/// Reads the objects of a list.
fn each<T>(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    read: impl Fn(&mut DocumentReader, &DocumentObject<'_>, usize) -> T,
) -> Vec<T> {
    let items = reader.array(object, key).unwrap_or_default();
    let pointer = object.pointer_to(key);
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(item) = reader.object(item, &child(&pointer, index)) {
            found.push(read(reader, &item, index + 1));
        }
    }
    found
}

/// Counters and records name rules and quotas, so names are unique.
fn check_names<'a>(reader: &mut DocumentReader, pointer: &str, names: impl Iterator<Item = &'a str>) {
    let mut seen = HashSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name) {
            let pointer = child(&child(pointer, index), "name");
            let message = format!("The name '{name}' is used twice");
            reader.push(Diagnostic::error(Code::SchemaDuplicateName, pointer, message).found(name));
        }
    }
}

fn name(reader: &mut DocumentReader, object: &DocumentObject<'_>, default: String) -> String {
    match reader.string(object, "name") {
        Some(name) if name.trim().is_empty() => {
            problem(reader, &object.pointer_to("name"), "The name is empty", "a name");
            default
        }
        Some(name) => name,
        None => default,
    }
}

fn matches(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> CallMatch {
    reader.member(object, "match").map(|object| read_match(reader, &object)).unwrap_or_default()
}

fn rule(reader: &mut DocumentReader, object: &DocumentObject<'_>, number: usize) -> GateRule {
    check_keys(reader, object, RULE_KEYS);
    let rule = GateRule {
        name: name(reader, object, format!("rule {number}")),
        matches: matches(reader, object),
        decision: reader.choice(object, "decision", VERDICT_WORDS, verdict),
        confirm: reader.choice(object, "confirm", APPROVER_WORDS, approver),
        reason: reader.string(object, "reason"),
        at_most: reader.member(object, "at_most").and_then(|object| rate_limit(reader, &object)),
        after: reader.member(object, "after").and_then(|object| prerequisite(reader, &object)),
    };
    let has_effect = ["decision", "at_most", "after"].iter().any(|key| object.get(key).is_some());
    if !has_effect {
        reader.missing(object, "decision", "deny, confirm or allow; or `at_most` or `after`");
    }
    if rule.confirm.is_some() && rule.decision.is_some_and(|decision| decision != Verdict::Confirm)
        || rule.confirm.is_some() && object.get("decision").is_none()
    {
        let message = "'confirm' says who confirms, so it needs `decision: confirm`";
        problem(reader, &object.pointer_to("confirm"), message, "`decision: confirm`, or no `confirm`");
    }
    rule
}

fn rate_limit(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<RateLimit> {
    check_keys(reader, object, &["calls", "per", "by"]);
    if object.get("calls").is_none() {
        reader.missing(object, "calls", "a whole number, 1 or more");
    }
    let calls = reader.positive(object, "calls");
    let window_seconds = required_window(reader, object, "per");
    let by = counted_by(reader, object);
    Some(RateLimit { calls: calls?, window_seconds: window_seconds?, by })
}

fn prerequisite(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<Prerequisite> {
    check_keys(reader, object, &["adapter", "operation", "within"]);
    let adapter = exact_name(reader, object, "adapter");
    if object.get("operation").is_none() {
        reader.missing(object, "operation", "the name of an operation");
    }
    let operation = exact_name(reader, object, "operation");
    let within_seconds = required_window(reader, object, "within");
    Some(Prerequisite { adapter, operation: operation?, within_seconds: within_seconds? })
}

/// Reads a name without `*`: it says which call has to succeed.
fn exact_name(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<String> {
    let name = reader.string(object, key)?;
    if name.is_empty() || name.contains('*') {
        let message = format!("'{key}' must be one name, without `*`");
        problem(reader, &object.pointer_to(key), &message, "the whole name");
        return None;
    }
    Some(name)
}

fn required_window(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<u64> {
    if object.get(key).is_none() {
        reader.missing(object, key, window::EXPECTED);
        return None;
    }
    let text = reader.string(object, key)?;
    let seconds = window::parse(&text);
    if seconds.is_none() {
        let message = format!("'{text}' is no length of time");
        problem(reader, &object.pointer_to(key), &message, window::EXPECTED);
    }
    seconds
}

fn counted_by(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Vec<CountedBy> {
    let mut by = reader.choices(object, "by", COUNTED_WORDS, |word| {
        let mut all = CountedBy::ALL.into_iter();
        all.find(|counted| counted.as_str() == word)
    });
    // The order and repetitions do not name another counter.
    by.sort_unstable();
    by.dedup();
    by
}

fn quota(reader: &mut DocumentReader, object: &DocumentObject<'_>, number: usize) -> Quota {
    check_keys(reader, object, QUOTA_KEYS);
    let [warn, pause, stop] = ["warn", "pause", "stop"].map(|key| reader.unsigned(object, key));
    if ["warn", "pause", "stop"].iter().all(|key| object.get(key).is_none()) {
        reader.missing(object, "stop", "a limit: `warn`, `pause`, `stop`, or several of them");
    }
    for (low, high, low_key, high_key) in
        [(warn, pause, "warn", "pause"), (pause, stop, "pause", "stop"), (warn, stop, "warn", "stop")]
    {
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            let message = format!("'{low_key}' is higher than '{high_key}', so it has no effect");
            problem(reader, &object.pointer_to(low_key), &message, &format!("at most `{high_key}`"));
        }
    }
    Quota {
        name: name(reader, object, format!("quota {number}")),
        matches: matches(reader, object),
        by: counted_by(reader, object),
        window_seconds: required_window(reader, object, "per").unwrap_or(1),
        warn,
        pause,
        stop,
        cost: reader.unsigned(object, "cost").unwrap_or(1),
        costs: each(reader, object, "costs", cost),
    }
}

fn cost(reader: &mut DocumentReader, object: &DocumentObject<'_>, _number: usize) -> QuotaCost {
    check_keys(reader, object, &["match", "cost"]);
    for (key, expected) in [("match", "the calls with this cost"), ("cost", "a whole number, 0 or more")] {
        if object.get(key).is_none() {
            reader.missing(object, key, expected);
        }
    }
    QuotaCost { matches: matches(reader, object), cost: reader.unsigned(object, "cost").unwrap_or(1) }
}

fn danger_override(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    _number: usize,
) -> DangerOverride {
    check_keys(reader, object, &["match", "level"]);
    for (key, expected) in [("match", "the operations with this level"), ("level", "a level of danger")] {
        if object.get(key).is_none() {
            reader.missing(object, key, expected);
        }
    }
    let level = reader.choice(object, "level", &Danger::ALL.map(Danger::as_str), Danger::parse);
    DangerOverride { matches: matches(reader, object), level: level.unwrap_or(Danger::Forbidden) }
}

fn confirm(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> ConfirmConfig {
    check_keys(reader, object, CONFIRM_KEYS);
    let default = ConfirmConfig::default();
    let mut by = |danger: Danger| {
        let chosen = reader.choice(object, danger.as_str(), APPROVER_WORDS, approver);
        chosen.unwrap_or_else(|| default.approver(danger))
    };
    let confirm = ConfirmConfig {
        safe: by(Danger::Safe),
        reversible: by(Danger::Reversible),
        destructive: by(Danger::Destructive),
        dangerous: by(Danger::Dangerous),
        forbidden: by(Danger::Forbidden),
        wait_seconds: default.wait_seconds,
    };
    let wait_seconds = reader.unsigned(object, "wait_seconds").unwrap_or(default.wait_seconds);
    if wait_seconds > MAX_WAIT_SECONDS {
        let message = format!("A call cannot wait longer than {MAX_WAIT_SECONDS} seconds");
        problem(reader, &object.pointer_to("wait_seconds"), &message, "seconds, from 0 to 300");
    }
    ConfirmConfig { wait_seconds, ..confirm }
}

fn log(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> LogConfig {
    check_keys(reader, object, LOG_KEYS);
    LogConfig {
        checkpoint_file: reader.string(object, "checkpoint_file"),
        checkpoint_command: reader.strings(object, "checkpoint_command"),
        keep_days: reader.positive(object, "keep_days"),
        rotate_bytes: reader.positive(object, "rotate_bytes"),
    }
}

fn verdict(word: &str) -> Option<Verdict> {
    [Verdict::Deny, Verdict::Confirm, Verdict::Allow].into_iter().find(|verdict| verdict.as_str() == word)
}

fn approver(word: &str) -> Option<Approver> {
    [Approver::Token, Approver::Person].into_iter().find(|approver| approver.as_str() == word)
}
