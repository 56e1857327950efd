//! Decisions by example: codes, messages, limits, quotas.

use super::*;
use mcpaql_schema::error::looks_internal;

fn decided(file: &Value, danger: Danger, trust: TrustLevel, args: &Value, history: &dyn History) -> Decision {
    decide(&call(danger, args.as_object().unwrap()), trust, &config(file), history)
}

fn code(decision: &Decision) -> Option<Code> {
    decision.denial.as_ref().map(|denial| denial.code)
}

#[test]
fn without_rules_every_cell_of_the_table_decides() {
    let args = json!({});
    for danger in Danger::ALL {
        for trust in TrustLevel::ALL {
            let decision = decided(&json!({}), danger, trust, &args, &UnknownHistory);
            assert_eq!(decision.verdict, crate::trust::matrix(danger, trust), "{danger:?} {trust:?}");
            assert_eq!(decision.decided_by, DecidedBy::Matrix);
            let expected = match (decision.verdict, trust) {
                (Verdict::Deny, TrustLevel::Untested | TrustLevel::Generated) => Some(Code::PermissionTrust),
                (Verdict::Deny, _) => Some(Code::PermissionDanger),
                _ => None,
            };
            assert_eq!(code(&decision), expected, "{danger:?} {trust:?}");
        }
    }
}

#[test]
fn an_allowed_call_has_no_reasons_and_needs_no_state() {
    let args = Map::new();
    let file =
        config(&json!({"rules": [{"match": {"adapter": "other"}, "at_most": {"calls": 1, "per": "day"}}]}));
    let call = call(Danger::Safe, &args);
    assert!(file.needs(&call).is_empty());
    let decision = decide(&call, TrustLevel::Generated, &file, &UnknownHistory);
    assert_eq!(decision.verdict, Verdict::Allow);
    assert_eq!((decision.denial, decision.reasons.len(), decision.rules.len()), (None, 0, 0));
}

#[test]
fn who_confirms_depends_on_danger_and_the_strictest_rule() {
    let args = json!({});
    let approver = |file: &Value, danger, trust| {
        let decision = decided(file, danger, trust, &args, &UnknownHistory);
        assert_eq!(decision.verdict, Verdict::Confirm);
        decision.approver
    };
    use Approver::{Person, Token};
    assert_eq!(approver(&json!({}), Danger::Destructive, TrustLevel::Validated), Token);
    assert_eq!(approver(&json!({}), Danger::Dangerous, TrustLevel::CommunityReviewed), Person);
    assert_eq!(approver(&json!({}), Danger::Forbidden, TrustLevel::Certified), Person);
    let person = json!({"confirm": {"destructive": "person"}});
    assert_eq!(approver(&person, Danger::Destructive, TrustLevel::Validated), Person);
    let token = json!({"rules": [{"decision": "confirm", "confirm": "token"}]});
    assert_eq!(approver(&token, Danger::Forbidden, TrustLevel::Certified), Token, "the operator says so");
    let both = json!({"rules": [{"decision": "confirm", "confirm": "token"}, {"decision": "confirm", "confirm": "person"}]});
    assert_eq!(approver(&both, Danger::Safe, TrustLevel::Certified), Person);
    let default = json!({"rules": [{"decision": "confirm", "confirm": "token"}, {"decision": "confirm"}]});
    assert_eq!(approver(&default, Danger::Dangerous, TrustLevel::Certified), Person);
}

#[test]
fn a_document_asks_for_a_confirmation_unless_a_rule_allows() {
    let args = Map::new();
    let asking = GatedCall { needs_confirmation: true, ..call(Danger::Safe, &args) };
    let decision = decide(&asking, TrustLevel::Validated, &GateConfig::default(), &UnknownHistory);
    assert_eq!((decision.verdict, decision.decided_by), (Verdict::Confirm, DecidedBy::Document));
    assert_eq!(decision.reasons, ["The adapter asks for a confirmation of each call."]);
    let allow = config(&json!({"rules": [{"decision": "allow"}]}));
    let decision = decide(&asking, TrustLevel::Validated, &allow, &UnknownHistory);
    assert_eq!((decision.verdict, decision.decided_by), (Verdict::Allow, DecidedBy::Rule("rule 1".into())));
    let forbidden = GatedCall { danger: Danger::Forbidden, ..asking };
    let decision = decide(&forbidden, TrustLevel::Validated, &GateConfig::default(), &UnknownHistory);
    assert_eq!(decision.verdict, Verdict::Deny, "a document never loosens");
}

#[test]
fn a_rule_may_loosen_the_table_but_never_for_an_untested_adapter() {
    let file = json!({"rules": [{"name": "free", "match": {"operation": "refund_*"}, "decision": "allow"}]});
    for trust in TrustLevel::ALL {
        let decision = decided(&file, Danger::Forbidden, trust, &json!({}), &UnknownHistory);
        if trust == TrustLevel::Untested {
            assert_eq!(code(&decision), Some(Code::PermissionTrust));
            assert_eq!(decision.rules.len(), 1, "the rule is shown");
        } else {
            assert_eq!(decision.verdict, Verdict::Allow, "{trust:?}");
        }
    }
}

#[test]
fn a_denial_by_a_rule_says_why() {
    let file = json!({"rules": [
        {"name": "all", "decision": "allow"},
        {"name": "big", "match": {"params": {"amount": {"gt": 100}}}, "decision": "deny", "reason": "Refunds over 100 need a ticket"}
    ]});
    let deny = |args: Value| decided(&file, Danger::Safe, TrustLevel::Certified, &args, &UnknownHistory);
    let decision = deny(json!({"amount": 101}));
    assert_eq!(code(&decision), Some(Code::PermissionDenied));
    assert_eq!(decision.decided_by.to_string(), "rule big");
    assert_eq!(
        decision.reasons,
        ["The operator's rule 'big' denies this call. Refunds over 100 need a ticket."]
    );
    assert_eq!(deny(json!({"amount": 100})).verdict, Verdict::Allow);
    assert_eq!(deny(json!({"amount": "101"})).verdict, Verdict::Deny, "a text cannot be compared");
    assert_eq!(deny(json!({"amount": [1, 101]})).verdict, Verdict::Deny, "one of them is too much");
    assert_eq!(deny(json!({})).verdict, Verdict::Allow);
}

#[test]
fn a_match_that_cannot_be_decided_only_makes_the_decision_stricter() {
    let verdict = |decision: &str, danger, trust| {
        let file = json!({"rules": [{"match": {"params": {"amount": {"lt": 100}}}, "decision": decision}]});
        decided(&file, danger, trust, &json!({"amount": "50"}), &UnknownHistory).verdict
    };
    use TrustLevel::{CommunityReviewed, Validated};
    assert_eq!(verdict("deny", Danger::Safe, Validated), Verdict::Deny);
    assert_eq!(verdict("confirm", Danger::Safe, Validated), Verdict::Confirm);
    assert_eq!(verdict("confirm", Danger::Forbidden, Validated), Verdict::Deny, "not looser");
    assert_eq!(verdict("allow", Danger::Dangerous, CommunityReviewed), Verdict::Confirm, "not looser");
    let token = json!({"rules": [{"match": {"params": {"amount": {"lt": 100}}}, "decision": "confirm", "confirm": "token"}]});
    let decision =
        decided(&token, Danger::Dangerous, CommunityReviewed, &json!({"amount": "50"}), &UnknownHistory);
    assert_eq!((decision.verdict, decision.approver), (Verdict::Confirm, Approver::Person), "not looser");
}

#[test]
fn at_most_refuses_with_the_time_to_wait() {
    let file =
        json!({"rules": [{"name": "slow", "decision": "allow", "at_most": {"calls": 10, "per": "minute"}}]});
    let with = |used| {
        decided(&file, Danger::Safe, TrustLevel::Validated, &json!({}), &FixedHistory::new(used, None))
    };
    assert_eq!(with(Some(9)).verdict, Verdict::Allow);
    assert_eq!(with(Some(9)).rules[0].note.as_deref(), Some("9 of 10 calls used"));
    let decision = with(Some(10));
    let denial = decision.denial.unwrap();
    assert_eq!((denial.code, denial.retry_after_seconds), (Code::RateLimitExceeded, Some(30)));
    assert_eq!(
        denial.message,
        "The operator's rule 'slow' allows 10 calls per minute. Try again in 30 seconds."
    );
    assert_eq!(code(&with(None)), Some(Code::PermissionDenied), "unknown state");
}

#[test]
fn of_several_limits_the_longest_wait_is_reported() {
    struct Two;
    impl History for Two {
        fn used(&self, key: &CounterKey) -> Option<Usage> {
            Some(Usage { used: 100, resets_in_seconds: key.window_seconds })
        }
        fn succeeded(&self, _: &SuccessKey) -> Option<bool> {
            None
        }
    }
    let file = json!({"rules": [
        {"at_most": {"calls": 1, "per": "second"}},
        {"at_most": {"calls": 1, "per": "hour"}},
        {"at_most": {"calls": 1, "per": "minute"}}
    ]});
    let decision = decided(&file, Danger::Safe, TrustLevel::Validated, &json!({}), &Two);
    assert_eq!(decision.decided_by, DecidedBy::Rule("rule 2".into()));
    assert_eq!(decision.denial.unwrap().retry_after_seconds, Some(3_600));
}

#[test]
fn after_needs_the_success_of_another_operation() {
    let file =
        json!({"rules": [{"name": "look first", "after": {"operation": "get_invoice", "within": "10m"}}]});
    let with = |succeeded| {
        decided(&file, Danger::Safe, TrustLevel::Validated, &json!({}), &FixedHistory::new(None, succeeded))
    };
    assert_eq!(with(Some(true)).verdict, Verdict::Allow);
    assert_eq!(code(&with(Some(false))), Some(Code::PermissionDenied));
    assert_eq!(
        with(Some(false)).denial.unwrap().message,
        "Call 'get_invoice' first: the operator's rule 'look first' needs its success within the last 10 minutes."
    );
    assert_eq!(code(&with(None)), Some(Code::PermissionDenied), "unknown state");
    let args = Map::new();
    let needs = config(&file).needs(&call(Danger::Safe, &args));
    let key = SuccessKey {
        adapter: "shop".into(),
        operation: "get_invoice".into(),
        caller: "alice".into(),
        within_seconds: 600,
    };
    assert_eq!(needs, Needs { counters: vec![], successes: vec![key] });
}

#[test]
fn a_quota_warns_then_pauses_then_stops() {
    let file =
        config(&json!({"quotas": [{"name": "daily", "per": "day", "warn": 80, "pause": 100, "stop": 120}]}));
    let args = Map::new();
    let continued = ["daily".to_owned()];
    let with = |used, continued_quotas| {
        let call = GatedCall { continued_quotas, ..call(Danger::Safe, &args) };
        decide(&call, TrustLevel::Validated, &file, &FixedHistory::new(Some(used), None))
    };
    let warnings = |used, continued: &[String]| {
        let decision = with(used, continued);
        assert_eq!(decision.verdict, Verdict::Allow, "{used}");
        decision.warnings.iter().map(|warning| (warning.used, warning.limit)).collect::<Vec<_>>()
    };
    assert_eq!(warnings(79, &[]), []);
    assert_eq!(warnings(80, &[]), [(81, Some(100))]);
    assert_eq!(warnings(99, &[]), [(100, Some(100))]);
    assert_eq!(code(&with(100, &[])), Some(Code::QuotaPause));
    assert_eq!(warnings(100, &continued), [(101, Some(120))]);
    assert_eq!(code(&with(100, &["other".to_owned()])), Some(Code::QuotaPause), "another quota");
    assert_eq!(warnings(119, &continued), [(120, Some(120))]);
    assert_eq!(code(&with(120, &continued)), Some(Code::QuotaExhausted));
    assert_eq!(code(&with(u64::MAX, &continued)), Some(Code::QuotaExhausted));
    let decision = with(120, &[]);
    assert_eq!(
        (code(&decision), decision.decided_by.to_string()),
        (Some(Code::QuotaExhausted), "quota daily".into())
    );
    let message = &with(100, &[]).denial.unwrap().message;
    assert_eq!(message, "Quota 'daily' pauses calls: 100 of 100 are used. Ask the user whether to continue.");
}

#[test]
fn counters_name_what_they_count_and_the_highest_cost_counts() {
    let file = config(&json!({
        "rules": [{"name": "r", "at_most": {"calls": 1, "per": "hour"}}],
        "quotas": [{
            "name": "q", "per": "day", "stop": 9, "by": ["operation", "caller", "category", "adapter", "endpoint"],
            "costs": [
                {"match": {"operation": "refund_*"}, "cost": 3},
                {"match": {"params": {"amount": {"gt": 10}}}, "cost": 7},
                {"match": {"operation": "other"}, "cost": 99}
            ]
        }]
    }));
    let counters = |args: &Value| file.needs(&call(Danger::Safe, args.as_object().unwrap())).counters;
    let [rule, quota] = counters(&json!({})).try_into().unwrap();
    assert_eq!((rule.limit.as_str(), rule.scope.as_str(), rule.cost), ("rule r", "{}", 1));
    assert_eq!((rule.window_seconds, quota.window_seconds), (3_600, 86_400));
    assert_eq!(
        quota.scope,
        r#"{"adapter":"shop","caller":"alice","category":"EXECUTE","endpoint":["shop","execute"],"operation":["shop","refund_order"]}"#
    );
    assert_eq!(quota.cost, 3);
    assert_eq!(counters(&json!({"amount": 11}))[1].cost, 7);
    assert_eq!(counters(&json!({"amount": "11"}))[1].cost, 7, "it may match");
}

#[test]
fn a_denied_call_is_not_told_to_wait() {
    let file = json!({"rules": [{"at_most": {"calls": 1, "per": "day"}}]});
    let history = FixedHistory::new(Some(5), None);
    let decision = decided(&file, Danger::Forbidden, TrustLevel::Validated, &json!({}), &history);
    assert_eq!(code(&decision), Some(Code::PermissionDanger));
    assert_eq!(decision.rules[0].note.as_deref(), Some("5 of 1 calls used"));
}

#[test]
fn only_the_operator_changes_danger_and_the_highest_level_counts() {
    let file = |entries: Value| config(&json!({"danger": entries}));
    let args = json!({"amount": "50"});
    let destructive = call(Danger::Destructive, args.as_object().unwrap());
    let level = |entries: Value| file(entries).danger_of(&destructive);
    assert_eq!(level(json!([])), Danger::Destructive);
    let lower = json!({"match": {"operation": "refund_*"}, "level": "reversible"});
    let higher = json!({"match": {"adapter": "shop"}, "level": "dangerous"});
    assert_eq!(level(json!([lower])), Danger::Reversible);
    assert_eq!(level(json!([lower, higher])), Danger::Dangerous);
    assert_eq!(level(json!([higher, lower])), Danger::Dangerous);
    let maybe = |level: &str| json!({"match": {"params": {"amount": {"lt": 100}}}, "level": level});
    assert_eq!(level(json!([maybe("safe")])), Danger::Destructive, "it may match, and would lower");
    assert_eq!(level(json!([maybe("forbidden")])), Danger::Forbidden, "it may match, and would raise");
    let decision = decide(&destructive, TrustLevel::Validated, &file(json!([lower])), &UnknownHistory);
    assert_eq!((decision.verdict, decision.danger), (Verdict::Allow, Danger::Reversible));
    // Rules see the danger after overrides.
    let rules = config(
        &json!({"danger": [higher], "rules": [{"match": {"danger": "dangerous"}, "decision": "deny"}]}),
    );
    assert_eq!(decide(&destructive, TrustLevel::Certified, &rules, &UnknownHistory).verdict, Verdict::Deny);
}

#[test]
fn observing_decides_by_the_table_and_says_what_rules_would_have_done() {
    let file = json!({
        "mode": "observe",
        "rules": [{"name": "no", "decision": "deny"}],
        "quotas": [{"name": "q", "per": "day", "stop": 1}],
        "danger": [{"match": {"operation": "refund_order"}, "level": "destructive"}]
    });
    let decision = decided(&file, Danger::Safe, TrustLevel::Validated, &json!({}), &UnknownHistory);
    assert_eq!((decision.verdict, &decision.decided_by), (Verdict::Confirm, &DecidedBy::Matrix));
    assert_eq!(decision.rules.len(), 2);
    let observed = decision.observed.unwrap();
    assert_eq!((observed.verdict, observed.decided_by.to_string()), (Verdict::Deny, "rule no".into()));
    let loose = json!({"mode": "observe", "rules": [{"decision": "allow"}]});
    let decision = decided(&loose, Danger::Forbidden, TrustLevel::Validated, &json!({}), &UnknownHistory);
    assert_eq!(decision.verdict, Verdict::Deny, "observing never loosens");
}

#[test]
fn a_broken_file_denies_everything() {
    let (broken, problems) = GateConfig::load(&json!({"rules": [{"decison": "allow"}]}));
    assert!(!problems.is_empty());
    let args = Map::new();
    for trust in TrustLevel::ALL {
        let decision = decide(&call(Danger::Safe, &args), trust, &broken, &UnknownHistory);
        assert_eq!(decision.verdict, Verdict::Deny, "{trust:?}");
    }
}

#[test]
fn an_explanation_lists_everything_with_the_part_that_does_not_match() {
    let file = config(&json!({
        "danger": [{"match": {"operation": "x"}, "level": "safe"}],
        "rules": [
            {"name": "a", "match": {"adapter": "shop", "params": {"amount": {"gt": 100}}}, "decision": "deny"},
            {"name": "b", "match": {"caller": "bob"}, "decision": "allow"}
        ],
        "quotas": [{"name": "q", "per": "day", "stop": 1}]
    }));
    let args = json!({"amount": 50});
    let traces = file.explain(&call(Danger::Safe, args.as_object().unwrap()));
    let shown: Vec<_> =
        traces.iter().map(|trace| (trace.name.as_str(), trace.matched, trace.note.as_deref())).collect();
    assert_eq!(
        shown,
        [
            ("danger override 1, safe", MatchResult::No, Some("'operation' does not match")),
            ("rule a", MatchResult::No, Some("'params.amount' does not match")),
            ("rule b", MatchResult::No, Some("'caller' does not match")),
            ("quota q", MatchResult::Yes, None),
        ]
    );
}

#[test]
fn messages_never_trip_a_leak_check_whatever_the_names_are() {
    let name = "flat rate at once";
    let file = config(&json!({
        "rules": [
            {"name": name, "match": {"caller": "deny"}, "decision": "deny", "reason": "look at this"},
            {"name": "flat two", "match": {"caller": "confirm"}, "decision": "confirm", "reason": "Not at night"},
            {"name": "flat three", "match": {"caller": "confirm"}, "decision": "confirm"},
            {"name": "flat four", "match": {"caller": "rate"}, "at_most": {"calls": 1, "per": "second"}},
            {"name": "flat five", "match": {"caller": "after"}, "after": {"adapter": "that one", "operation": "at it", "within": "day"}}
        ],
        "quotas": [
            {"name": name, "match": {"caller": "stop"}, "per": "day", "stop": 0},
            {"name": "flat pause", "match": {"caller": "pause"}, "per": "day", "pause": 0},
            {"name": "flat warn", "match": {"caller": "warn"}, "per": "day", "warn": 0}
        ]
    }));
    let args = Map::new();
    let mut seen = 0;
    for (adapter, operation) in [("that shop", "repeat it"), ("chat", "format"), ("shop", "x")] {
        for caller in ["deny", "confirm", "rate", "after", "stop", "pause", "warn", "nobody"] {
            for danger in Danger::ALL {
                for trust in TrustLevel::ALL {
                    for history in [FixedHistory::new(Some(9), Some(false)), FixedHistory::default()] {
                        let call = GatedCall {
                            adapter,
                            operation,
                            caller,
                            needs_confirmation: true,
                            ..call(danger, &args)
                        };
                        let decision = decide(&call, trust, &file, &history);
                        let texts = decision
                            .reasons
                            .iter()
                            .chain(decision.denial.iter().map(|denial| &denial.message));
                        for text in texts.chain(decision.warnings.iter().map(|warning| &warning.message)) {
                            assert!(!looks_internal(text), "{text}");
                            seen += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
}
