//! The decision without limits: trust, rules, the table of danger and trust, the document.

use super::{DecidedBy, Decision, Denial, text};
use crate::call::GatedCall;
use crate::config::{Approver, GateConfig, GateRule};
use crate::matching::MatchResult;
use crate::trust::{TrustLevel, Verdict, matrix};
use mcpaql_lexicon::Danger;
use mcpaql_schema::error::Code;

/// A rule that matches, or may match.
pub(super) type MatchedRule<'a> = (&'a GateRule, MatchResult);

pub(super) fn decide(
    call: &GatedCall<'_>,
    danger: Danger,
    trust: TrustLevel,
    config: &GateConfig,
    rules: &[MatchedRule<'_>],
) -> Decision {
    if trust == TrustLevel::Untested {
        return by_matrix(call, danger, trust, config);
    }
    let base = match strictest(rules, MatchResult::Yes) {
        Some((rule, verdict)) => by_rules(rule, verdict, danger, config, rules),
        None => by_matrix(call, danger, trust, config),
    };
    // A rule that may match counts if it is stricter.
    match strictest(rules, MatchResult::Unknown) {
        Some((rule, verdict)) if verdict > base.verdict => by_rules(rule, verdict, danger, config, rules),
        Some((_, verdict @ Verdict::Confirm)) if verdict == base.verdict => {
            let approver = approver(rules, danger, config).max(base.approver);
            Decision { approver, ..base }
        }
        _ => base,
    }
}

/// Returns the first rule with the strictest decision. Rules that only may match never allow.
fn strictest<'a>(rules: &[MatchedRule<'a>], wanted: MatchResult) -> Option<(&'a GateRule, Verdict)> {
    let decided = rules.iter().filter(|(_, matched)| *matched == wanted);
    let decided = decided.filter_map(|(rule, _)| Some((*rule, rule.decision?)));
    let decided = decided.filter(|(_, verdict)| wanted == MatchResult::Yes || *verdict != Verdict::Allow);
    decided.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Returns the strictest approver of all rules that ask for a confirmation.
fn approver(rules: &[MatchedRule<'_>], danger: Danger, config: &GateConfig) -> Approver {
    let default = config.confirm.approver(danger);
    let asking = rules.iter().filter(|(rule, _)| rule.decision == Some(Verdict::Confirm));
    asking.map(|(rule, _)| rule.confirm.unwrap_or(default)).max().unwrap_or(default)
}

fn by_rules(
    rule: &GateRule,
    verdict: Verdict,
    danger: Danger,
    config: &GateConfig,
    rules: &[MatchedRule<'_>],
) -> Decision {
    let mut decision = Decision {
        verdict,
        approver: approver(rules, danger, config),
        denial: None,
        reasons: Vec::new(),
        decided_by: DecidedBy::Rule(rule.name.clone()),
        danger,
        rules: Vec::new(),
        warnings: Vec::new(),
        observed: None,
    };
    match verdict {
        Verdict::Allow => {}
        Verdict::Confirm => {
            decision.reasons.extend(text::risk(danger));
            let asking = rules.iter().filter(|(rule, _)| rule.decision == Some(Verdict::Confirm));
            decision.reasons.extend(asking.map(|(rule, _)| text::rule_confirms(rule)));
        }
        Verdict::Deny => deny(&mut decision, Code::PermissionDenied, text::rule_denies(rule)),
    }
    decision
}

fn by_matrix(call: &GatedCall<'_>, danger: Danger, trust: TrustLevel, config: &GateConfig) -> Decision {
    let mut decision = Decision {
        verdict: matrix(danger, trust),
        approver: config.confirm.approver(danger),
        denial: None,
        reasons: Vec::new(),
        decided_by: DecidedBy::Matrix,
        danger,
        rules: Vec::new(),
        warnings: Vec::new(),
        observed: None,
    };
    match (decision.verdict, trust) {
        (Verdict::Allow, _) if call.needs_confirmation => {
            decision.verdict = Verdict::Confirm;
            decision.decided_by = DecidedBy::Document;
            decision.reasons.extend(text::risk(danger));
            decision.reasons.push(text::DOCUMENT_CONFIRMS.to_owned());
        }
        (Verdict::Allow, _) => {}
        (Verdict::Confirm, _) => {
            decision.reasons.extend(text::risk(danger));
            if call.needs_confirmation {
                decision.reasons.push(text::DOCUMENT_CONFIRMS.to_owned());
            }
        }
        (Verdict::Deny, TrustLevel::Untested) => {
            deny(&mut decision, Code::PermissionTrust, text::untested(call));
        }
        (Verdict::Deny, TrustLevel::Generated) => {
            deny(&mut decision, Code::PermissionTrust, text::generated(call, danger));
        }
        (Verdict::Deny, _) => {
            deny(&mut decision, Code::PermissionDanger, text::too_dangerous(call, danger, trust));
        }
    }
    decision
}

fn deny(decision: &mut Decision, code: Code, message: String) {
    decision.reasons = vec![message.clone()];
    decision.denial = Some(Denial { code, message, retry_after_seconds: None });
}
