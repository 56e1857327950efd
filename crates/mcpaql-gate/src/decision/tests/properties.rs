//! Every combination of danger, trust, rules and history.

use super::*;
use crate::config::{ConfirmConfig, DangerOverride, GateMode, GateRule, Prerequisite, Quota, RateLimit};
use crate::matching::{NamePattern, ParamCondition, ParamTest};
use crate::trust::matrix;
use proptest::prelude::*;
use std::sync::LazyLock;

/// The parameters of all calls: a number, and a text that no number can be compared with.
static ARGS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| Map::from_iter([("n".to_owned(), json!(5)), ("text".to_owned(), json!("5"))]));

/// A match with a known result.
fn with_result(result: MatchResult) -> CallMatch {
    let test = |path: &str, condition| ParamTest { path: path.to_owned(), conditions: vec![condition] };
    let params = match result {
        MatchResult::Yes => vec![test("n", ParamCondition::Gt(json!(1)))],
        MatchResult::Unknown => vec![test("text", ParamCondition::Gt(json!(1)))],
        MatchResult::No => vec![test("n", ParamCondition::Gt(json!(9)))],
    };
    CallMatch { adapter: vec![NamePattern::new("sh*")], params, ..CallMatch::default() }
}

fn rule(name: usize, decision: Option<Verdict>, confirm: Option<Approver>, result: MatchResult) -> GateRule {
    GateRule {
        name: name.to_string(),
        matches: with_result(result),
        decision,
        confirm: confirm.filter(|_| decision == Some(Verdict::Confirm)),
        reason: None,
        at_most: None,
        after: None,
    }
}

const RESULTS: [MatchResult; 3] = [MatchResult::No, MatchResult::Unknown, MatchResult::Yes];
const VERDICTS: [Verdict; 3] = [Verdict::Allow, Verdict::Confirm, Verdict::Deny];

/// The expected verdict, from the text of the protocol.
fn expected(
    danger: Danger,
    trust: TrustLevel,
    asks: bool,
    rules: &[(Option<Verdict>, MatchResult)],
) -> Verdict {
    if trust == TrustLevel::Untested {
        return Verdict::Deny;
    }
    let has = |wanted: Verdict, result: MatchResult| rules.contains(&(Some(wanted), result));
    let table = matrix(danger, trust);
    let base = if has(Verdict::Deny, MatchResult::Yes) {
        Verdict::Deny
    } else if has(Verdict::Confirm, MatchResult::Yes) {
        Verdict::Confirm
    } else if has(Verdict::Allow, MatchResult::Yes) {
        Verdict::Allow
    } else if asks {
        table.max(Verdict::Confirm)
    } else {
        table
    };
    if has(Verdict::Deny, MatchResult::Unknown) {
        Verdict::Deny
    } else if has(Verdict::Confirm, MatchResult::Unknown) {
        base.max(Verdict::Confirm)
    } else {
        base
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limited {
    No,
    Rate(MatchResult),
    After(MatchResult),
    Quota(MatchResult),
}

fn add_limit(config: &mut GateConfig, limited: Limited) -> MatchResult {
    match limited {
        Limited::No => MatchResult::No,
        Limited::Rate(result) => {
            let at_most = Some(RateLimit { calls: 10, window_seconds: 60, by: vec![] });
            config.rules.push(GateRule { at_most, ..rule(90, None, None, result) });
            result
        }
        Limited::After(result) => {
            let after = Some(Prerequisite { adapter: None, operation: "get".into(), within_seconds: 60 });
            config.rules.push(GateRule { after, ..rule(91, None, None, result) });
            result
        }
        Limited::Quota(result) => {
            config.quotas.push(quota(92, result, None, Some(10), Some(12)));
            result
        }
    }
}

fn quota(
    name: usize,
    result: MatchResult,
    warn: Option<u64>,
    pause: Option<u64>,
    stop: Option<u64>,
) -> Quota {
    Quota {
        name: name.to_string(),
        matches: with_result(result),
        by: vec![],
        window_seconds: 60,
        warn,
        pause,
        stop,
        cost: 1,
        costs: vec![],
    }
}

#[test]
fn two_rules_and_a_limit_decide_as_the_protocol_says_in_every_combination() {
    let rules: Vec<(Option<Verdict>, MatchResult)> =
        VERDICTS.into_iter().flat_map(|verdict| RESULTS.map(|result| (Some(verdict), result))).collect();
    let limits = RESULTS
        .into_iter()
        .flat_map(|result| [Limited::Rate(result), Limited::After(result), Limited::Quota(result)]);
    let limits: Vec<Limited> = [Limited::No].into_iter().chain(limits).collect();
    // Unknown, below the limit, beyond it.
    let histories = [
        (FixedHistory::default(), true),
        (FixedHistory::new(Some(1), Some(true)), false),
        (FixedHistory::new(Some(50), Some(false)), true),
    ];
    let mut count = 0;
    for first in &rules {
        for second in &rules {
            for limited in &limits {
                let mut config = GateConfig {
                    rules: vec![rule(1, first.0, None, first.1), rule(2, second.0, None, second.1)],
                    ..GateConfig::default()
                };
                let is_limited = add_limit(&mut config, *limited) != MatchResult::No;
                for danger in Danger::ALL {
                    for trust in TrustLevel::ALL {
                        for asks in [false, true] {
                            let call = GatedCall { needs_confirmation: asks, ..call(danger, &ARGS) };
                            let free = expected(danger, trust, asks, &[*first, *second]);
                            for (history, refuses) in &histories {
                                let decision = decide(&call, trust, &config, history);
                                let wanted = if is_limited && *refuses { Verdict::Deny } else { free };
                                assert_eq!(
                                    decision.verdict, wanted,
                                    "{danger:?} {trust:?} {asks} {first:?} {second:?} {limited:?}"
                                );
                                count += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(count, 9 * 9 * 10 * 50 * 3);
}

fn match_results() -> impl Strategy<Value = MatchResult> {
    prop::sample::select(RESULTS.to_vec())
}

fn gate_rules() -> impl Strategy<Value = Vec<GateRule>> {
    let parts = (
        prop::option::of(prop::sample::select(VERDICTS.to_vec())),
        prop::option::of(prop::sample::select(vec![Approver::Token, Approver::Person])),
        match_results(),
        prop::option::weighted(0.2, 1..20_u64),
        prop::option::weighted(0.2, 1..20_u64),
    );
    prop::collection::vec(parts, 0..5).prop_map(|rules| {
        let rules = rules.into_iter().enumerate();
        rules
            .map(|(index, (decision, confirm, result, calls, within))| GateRule {
                at_most: calls.map(|calls| RateLimit { calls, window_seconds: 60, by: vec![] }),
                after: within.map(|within_seconds| Prerequisite {
                    adapter: None,
                    operation: "get".into(),
                    within_seconds,
                }),
                ..rule(index, decision, confirm, result)
            })
            .collect()
    })
}

fn gate_configs() -> impl Strategy<Value = GateConfig> {
    let limits = (prop::option::of(0..20_u64), prop::option::of(0..20_u64), prop::option::of(0..20_u64));
    let quotas = prop::collection::vec((match_results(), limits), 0..3);
    let danger = prop::collection::vec((match_results(), prop::sample::select(Danger::ALL.to_vec())), 0..3);
    (gate_rules(), quotas, danger, any::<bool>()).prop_map(|(rules, quotas, danger, observe)| GateConfig {
        mode: if observe { GateMode::Observe } else { GateMode::Enforce },
        rules,
        quotas: quotas
            .into_iter()
            .enumerate()
            .map(|(index, (result, (warn, pause, stop)))| quota(index, result, warn, pause, stop))
            .collect(),
        danger: danger
            .into_iter()
            .map(|(result, level)| DangerOverride { matches: with_result(result), level })
            .collect(),
        confirm: ConfirmConfig::default(),
        ..GateConfig::default()
    })
}

#[derive(Debug, Clone, Copy)]
struct Situation {
    danger: Danger,
    trust: TrustLevel,
    asks: bool,
    used: Option<u64>,
    succeeded: Option<bool>,
}

fn situations() -> impl Strategy<Value = Situation> {
    let danger = prop::sample::select(Danger::ALL.to_vec());
    let trust = prop::sample::select(TrustLevel::ALL.to_vec());
    let used = prop::option::weighted(0.8, 0..25_u64);
    (danger, trust, any::<bool>(), used, prop::option::weighted(0.8, any::<bool>()))
        .prop_map(|(danger, trust, asks, used, succeeded)| Situation { danger, trust, asks, used, succeeded })
}

fn decided(config: &GateConfig, situation: Situation) -> (Decision, Needs) {
    let call = GatedCall { needs_confirmation: situation.asks, ..call(situation.danger, &ARGS) };
    let history = FixedHistory::new(situation.used, situation.succeeded);
    let decision = decide(&call, situation.trust, config, &history);
    (decision, history.asked.into_inner())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_decision_is_whole_and_always_the_same(config in gate_configs(), situation in situations()) {
        let (decision, asked) = decided(&config, situation);
        prop_assert_eq!(&decision, &decided(&config, situation).0);
        let call = GatedCall { needs_confirmation: situation.asks, ..call(situation.danger, &ARGS) };
        let needs = config.needs(&call);
        prop_assert!(asked.counters.iter().all(|key| needs.counters.contains(key)), "only what it needs");
        prop_assert!(asked.successes.iter().all(|key| needs.successes.contains(key)), "only what it needs");
        let parts = [Some(&decision), decision.observed.as_deref()];
        for part in parts.into_iter().flatten() {
            prop_assert_eq!(part.denial.is_some(), part.verdict == Verdict::Deny);
            prop_assert_eq!(part.reasons.is_empty(), part.verdict == Verdict::Allow || part.reasons.is_empty());
            prop_assert!(part.verdict != Verdict::Deny || !part.reasons.is_empty());
            prop_assert!(part.verdict != Verdict::Deny || part.warnings.is_empty());
        }
        prop_assert_eq!(decision.observed.is_some(), config.mode == GateMode::Observe);
    }

    #[test]
    fn an_untested_adapter_is_always_refused(config in gate_configs(), situation in situations()) {
        let (decision, _) = decided(&config, Situation { trust: TrustLevel::Untested, ..situation });
        prop_assert_eq!(decision.verdict, Verdict::Deny);
        prop_assert_eq!(decision.denial.unwrap().code, Code::PermissionTrust);
    }

    #[test]
    fn deny_wins_over_confirm_and_confirm_over_allow_in_any_order(
        config in gate_configs(), situation in situations(), turn in 0..5_usize,
    ) {
        let config = GateConfig { mode: GateMode::Enforce, ..config };
        let (decision, _) = decided(&config, situation);
        let sure = config.rules.iter().filter(|rule| rule.matches == with_result(MatchResult::Yes));
        let strictest = sure.filter_map(|rule| rule.decision).max();
        prop_assert!(strictest.is_none_or(|verdict| decision.verdict >= verdict));
        let mut turned = config.clone();
        let turn = turn % turned.rules.len().max(1);
        turned.rules.rotate_left(turn);
        let (other, _) = decided(&turned, situation);
        prop_assert_eq!((other.verdict, other.approver), (decision.verdict, decision.approver));
        prop_assert_eq!(other.denial.map(|denial| denial.code), decision.denial.map(|denial| denial.code));
    }

    #[test]
    fn nothing_is_milder_than_the_table_without_the_operator(config in gate_configs(), situation in situations()) {
        let (decision, _) = decided(&config, situation);
        let is_sure = |matches: &CallMatch| *matches == with_result(MatchResult::Yes);
        let by_rule = config.mode == GateMode::Enforce
            && config.rules.iter().any(|rule| is_sure(&rule.matches) && rule.decision.is_some());
        let by_override = config.danger.iter().any(|entry| is_sure(&entry.matches) && entry.level < situation.danger);
        if !by_rule && !by_override {
            prop_assert!(decision.verdict >= matrix(situation.danger, situation.trust));
            if situation.asks {
                prop_assert!(decision.verdict >= Verdict::Confirm);
            }
        }
    }

    #[test]
    fn state_that_is_needed_and_unknown_refuses(config in gate_configs(), situation in situations()) {
        let config = GateConfig { mode: GateMode::Enforce, ..config };
        let (decision, asked) = decided(&config, Situation { used: None, succeeded: None, ..situation });
        prop_assert!(asked.is_empty() || decision.verdict == Verdict::Deny);
    }

    #[test]
    fn a_rule_that_only_may_match_never_loosens(config in gate_configs(), situation in situations()) {
        let config = GateConfig { mode: GateMode::Enforce, ..config };
        let unknown = with_result(MatchResult::Unknown);
        let mut without = config.clone();
        without.rules.retain(|rule| rule.matches != unknown);
        without.quotas.retain(|quota| quota.matches != unknown);
        without.danger.retain(|entry| entry.matches != unknown);
        let (with, without) = (decided(&config, situation).0, decided(&without, situation).0);
        prop_assert!(with.verdict >= without.verdict);
        if with.verdict == without.verdict && with.danger == without.danger {
            prop_assert!(with.approver >= without.approver);
        }
    }

    #[test]
    fn more_use_never_loosens(config in gate_configs(), situation in situations(), more in 1..20_u64) {
        prop_assume!(situation.used.is_some());
        let (before, _) = decided(&config, situation);
        let used = situation.used.map(|used| used + more);
        let (after, _) = decided(&config, Situation { used, ..situation });
        prop_assert!(after.verdict >= before.verdict);
    }
}
