//! Limits: `after`, `at_most` and quotas; which state they need, and what they refuse.

use super::base::MatchedRule;
use super::{
    CounterKey, DecidedBy, Denial, History, Needs, QuotaWarning, RuleTrace, SuccessKey, Usage, text,
};
use crate::call::GatedCall;
use crate::config::{CountedBy, GateConfig, GateRule, Prerequisite, Quota, RateLimit};
use crate::fingerprint::canonical;
use crate::matching::MatchResult;
use mcpaql_lexicon::Danger;
use mcpaql_schema::error::Code;
use serde_json::{Map, Value, json};

/// A refusal. The one of the highest rank is reported, and of equal ones the one that lasts longest.
pub(super) struct LimitRefusal {
    rank: LimitRank,
    pub(super) decided_by: DecidedBy,
    pub(super) denial: Denial,
}

/// What refuses, from the one that time helps most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LimitRank {
    Rate,
    Pause,
    Exhausted,
    MissingSuccess,
    Undecidable,
}

/// The result of all limits.
#[derive(Default)]
pub(super) struct LimitResult {
    pub(super) refusal: Option<LimitRefusal>,
    pub(super) warnings: Vec<QuotaWarning>,
    pub(super) traces: Vec<RuleTrace>,
}

impl LimitResult {
    fn refuse(&mut self, refusal: LimitRefusal) {
        let order = |refusal: &LimitRefusal| (refusal.rank, refusal.denial.retry_after_seconds);
        if self.refusal.as_ref().is_none_or(|known| order(&refusal) > order(known)) {
            self.refusal = Some(refusal);
        }
    }
}

/// Returns the rules that match, or may match.
pub(super) fn matching_rules<'a>(
    config: &'a GateConfig,
    call: &GatedCall<'_>,
    danger: Danger,
) -> Vec<MatchedRule<'a>> {
    let tested = config.rules.iter().map(|rule| (rule, rule.matches.test(call, danger)));
    tested.filter(|(_, matched)| *matched != MatchResult::No).collect()
}

fn matching_quotas<'a>(
    config: &'a GateConfig,
    call: &GatedCall<'_>,
    danger: Danger,
) -> impl Iterator<Item = (&'a Quota, MatchResult)> {
    let tested = config.quotas.iter().map(move |quota| (quota, quota.matches.test(call, danger)));
    tested.filter(|(_, matched)| *matched != MatchResult::No)
}

pub(super) fn needs(config: &GateConfig, call: &GatedCall<'_>, danger: Danger) -> Needs {
    let mut needs = Needs::default();
    for (rule, _) in matching_rules(config, call, danger) {
        needs.successes.extend(rule.after.as_ref().map(|after| success_key(after, call)));
        needs.counters.extend(rule.at_most.as_ref().map(|limit| rate_counter(rule, limit, call)));
    }
    let quotas = matching_quotas(config, call, danger);
    needs.counters.extend(quotas.map(|(quota, _)| quota_counter(quota, call, danger)));
    needs
}

pub(super) fn check(
    config: &GateConfig,
    call: &GatedCall<'_>,
    danger: Danger,
    rules: &[MatchedRule<'_>],
    history: &dyn History,
) -> LimitResult {
    let mut result = LimitResult::default();
    for (rule, matched) in rules {
        let mut notes = Vec::new();
        if let Some(after) = &rule.after {
            notes.push(check_success(rule, after, call, history, &mut result));
        }
        if let Some(limit) = &rule.at_most {
            notes.push(check_rate(rule, limit, call, history, &mut result));
        }
        result.traces.push(RuleTrace {
            name: rule_key(rule),
            matched: *matched,
            decision: rule.decision,
            note: (!notes.is_empty()).then(|| notes.join(", ")),
        });
    }
    for (quota, matched) in matching_quotas(config, call, danger) {
        let note = check_quota(quota, call, danger, history, &mut result);
        result.traces.push(RuleTrace { name: quota_key(quota), matched, decision: None, note: Some(note) });
    }
    result
}

fn check_success(
    rule: &GateRule,
    after: &Prerequisite,
    call: &GatedCall<'_>,
    history: &dyn History,
    result: &mut LimitResult,
) -> String {
    let key = success_key(after, call);
    let decided_by = DecidedBy::Rule(rule.name.clone());
    match history.succeeded(&key) {
        Some(true) => format!("'{}' succeeded", key.operation),
        Some(false) => {
            let denial = denial(Code::PermissionDenied, text::missing_success(rule, after), None);
            result.refuse(LimitRefusal { rank: LimitRank::MissingSuccess, decided_by, denial });
            format!("'{}' has not succeeded", key.operation)
        }
        None => result.undecidable(&rule_key(rule), decided_by),
    }
}

fn check_rate(
    rule: &GateRule,
    limit: &RateLimit,
    call: &GatedCall<'_>,
    history: &dyn History,
    result: &mut LimitResult,
) -> String {
    let decided_by = DecidedBy::Rule(rule.name.clone());
    let Some(usage) = history.used(&rate_counter(rule, limit, call)) else {
        return result.undecidable(&rule_key(rule), decided_by);
    };
    if usage.used >= limit.calls {
        let wait = usage.resets_in_seconds.max(1);
        let denial = denial(Code::RateLimitExceeded, text::too_many(rule, limit, wait), Some(wait));
        result.refuse(LimitRefusal { rank: LimitRank::Rate, decided_by, denial });
    }
    format!("{} of {} calls used", usage.used, limit.calls)
}

fn check_quota(
    quota: &Quota,
    call: &GatedCall<'_>,
    danger: Danger,
    history: &dyn History,
    result: &mut LimitResult,
) -> String {
    let key = quota_counter(quota, call, danger);
    let decided_by = DecidedBy::Quota(quota.name.clone());
    let Some(Usage { used, resets_in_seconds }) = history.used(&key) else {
        return result.undecidable(&quota_key(quota), decided_by);
    };
    let after = used.saturating_add(key.cost);
    let is_beyond = |limit: &u64| after > *limit;
    let pause = quota.pause.filter(|_| !call.continued_quotas.contains(&quota.name));
    let wait = resets_in_seconds.max(1);
    if let Some(stop) = quota.stop.filter(is_beyond) {
        let denial = denial(Code::QuotaExhausted, text::exhausted(quota, used, stop, wait), Some(wait));
        result.refuse(LimitRefusal { rank: LimitRank::Exhausted, decided_by, denial });
    } else if let Some(pause) = pause.filter(is_beyond) {
        let denial = denial(Code::QuotaPause, text::paused(quota, used, pause), Some(wait));
        result.refuse(LimitRefusal { rank: LimitRank::Pause, decided_by, denial });
    } else if quota.warn.as_ref().is_some_and(is_beyond) {
        let limit = pause.or(quota.stop);
        result.warnings.push(QuotaWarning {
            quota: quota.name.clone(),
            used: after,
            limit,
            resets_in_seconds,
            message: text::nearly_used(quota, after, limit),
        });
    }
    format!("{used} used, this call uses {}", key.cost)
}

impl LimitResult {
    /// Refuses a call whose state cannot be read.
    fn undecidable(&mut self, limit: &str, decided_by: DecidedBy) -> String {
        let denial = denial(Code::PermissionDenied, text::undecidable(limit), None);
        self.refuse(LimitRefusal { rank: LimitRank::Undecidable, decided_by, denial });
        "the state cannot be read".to_owned()
    }
}

fn denial(code: Code, message: String, retry_after_seconds: Option<u64>) -> Denial {
    Denial { code, message, retry_after_seconds }
}

pub(super) fn rule_key(rule: &GateRule) -> String {
    format!("rule {}", rule.name)
}

pub(super) fn quota_key(quota: &Quota) -> String {
    format!("quota {}", quota.name)
}

fn success_key(after: &Prerequisite, call: &GatedCall<'_>) -> SuccessKey {
    SuccessKey {
        adapter: after.adapter.clone().unwrap_or_else(|| call.adapter.to_owned()),
        operation: after.operation.clone(),
        caller: call.caller.to_owned(),
        within_seconds: after.within_seconds,
    }
}

fn rate_counter(rule: &GateRule, limit: &RateLimit, call: &GatedCall<'_>) -> CounterKey {
    CounterKey {
        limit: rule_key(rule),
        scope: scope(&limit.by, call),
        window_seconds: limit.window_seconds,
        cost: 1,
    }
}

fn quota_counter(quota: &Quota, call: &GatedCall<'_>, danger: Danger) -> CounterKey {
    CounterKey {
        limit: quota_key(quota),
        scope: scope(&quota.by, call),
        window_seconds: quota.window_seconds,
        cost: cost(quota, call, danger),
    }
}

/// Returns the highest cost of all entries that match. An entry that may match only raises it.
fn cost(quota: &Quota, call: &GatedCall<'_>, danger: Danger) -> u64 {
    let highest = |wanted: MatchResult| {
        let fitting = quota.costs.iter().filter(|entry| entry.matches.test(call, danger) == wanted);
        fitting.map(|entry| entry.cost).max()
    };
    let sure = highest(MatchResult::Yes).unwrap_or(quota.cost);
    highest(MatchResult::Unknown).map_or(sure, |possible| sure.max(possible))
}

/// Writes what a counter counts separately.
fn scope(by: &[CountedBy], call: &GatedCall<'_>) -> String {
    let value = |by: &CountedBy| match by {
        CountedBy::Caller => json!(call.caller),
        CountedBy::Adapter => json!(call.adapter),
        CountedBy::Endpoint => json!([call.adapter, call.endpoint]),
        CountedBy::Category => json!(call.category.as_str()),
        CountedBy::Operation => json!([call.adapter, call.operation]),
    };
    let members: Map<String, Value> = by.iter().map(|by| (by.as_str().to_owned(), value(by))).collect();
    canonical(&Value::Object(members))
}
