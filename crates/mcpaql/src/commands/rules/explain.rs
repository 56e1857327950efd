//! `mcpaql rules explain`: the decision about a call, with every rule that is involved. Nothing runs, and no quota is used.

use crate::commands::call::parse_params;
use crate::documents::AdapterRequest;
use crate::{CommandOutcome, args, operator, output};
use anyhow::{Context, Result};
use mcpaql_core::error::Code;
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::gate::decision::{Decision, History, RuleTrace, UnknownHistory, decide};
use mcpaql_core::gate::matching::MatchResult;
use mcpaql_core::gate::trust::{TrustLevel, Verdict};
use mcpaql_core::request;
use mcpaql_core::suggest;
use serde_json::{Value, json};

pub(crate) async fn run(args: args::RulesExplainArgs) -> Result<CommandOutcome> {
    let config = operator::gate_config()?;
    let plan = AdapterRequest::single(&args.document).resolve()?;
    let levels = plan.trust_levels()?;
    let (_, catalog) = plan.catalogs()?.catalogs.pop().context("the document contains no adapter")?;
    let Some(entry) = catalog.get(&args.operation) else {
        let names: Vec<&str> = catalog.operations.iter().map(|entry| entry.operation.name.as_str()).collect();
        let near = suggest::nearest(&args.operation, names);
        let hint = near.map_or_else(
            || format!("`mcpaql operations {}` lists them", args.document),
            |near| format!("did you mean '{near}'?"),
        );
        return Err(output::error_with_hint(format!("there is no operation '{}'", args.operation), hint));
    };
    let params = parse_params(args.params.as_deref(), &args.pairs, &args.operation, &catalog)?;
    // The gate decides after validation. A call with wrong parameters is explained with the parameters as they are.
    let checked = request::prepare_operation(&catalog, &args.operation, params.clone());
    let invalid = checked.as_ref().err().map(|error| error.message.clone());
    let call_args = checked.map_or(params, |call| call.args);
    let operation = &entry.operation;
    let granted = levels.iter().find(|(name, _)| *name == catalog.adapter.name).map(|(_, level)| *level);
    let granted = granted.unwrap_or(TrustLevel::Validated);
    let trust = catalog.adapter.trust.map_or(granted, |wanted| granted.min(wanted));
    let caller = args.caller.clone().unwrap_or_else(operator::user);
    let call = GatedCall {
        adapter: &catalog.adapter.name,
        endpoint: &operation.endpoint,
        category: operation.category,
        operation: &operation.name,
        tags: &operation.tags,
        danger: operation.effective_danger(),
        needs_confirmation: operation.needs_confirmation(),
        caller: &caller,
        args: &call_args,
        continued_quotas: &[],
    };
    let needs = config.needs(&call);
    let decision = if needs.is_empty() {
        decide(&call, trust, &config, &UnknownHistory)
    } else {
        let state = operator::open_state().await?;
        let evaluate = |history: &dyn History| (decide(&call, trust, &config, history), false);
        state.with_history(&needs, evaluate).await
    };
    let traces = config.explain(&call);
    let explained = ExplainedCall { call: &call, trust, decision: &decision, traces: &traces, invalid };
    if args.json {
        output::print_data(&serde_json::to_string_pretty(&explained.to_json())?);
    } else {
        output::print_data(&output::sanitize(&explained.text()));
    }
    Ok(if decision.verdict == Verdict::Allow { CommandOutcome::Clean } else { CommandOutcome::Findings })
}

/// A call with its decision.
struct ExplainedCall<'a> {
    call: &'a GatedCall<'a>,
    trust: TrustLevel,
    decision: &'a Decision,
    /// Every rule, also those that do not match.
    traces: &'a [RuleTrace],
    /// Why the call would be refused before the gate.
    invalid: Option<String>,
}

impl ExplainedCall<'_> {
    fn traces(&self) -> impl Iterator<Item = &RuleTrace> {
        // The decision knows counts, which the list of all rules does not.
        let decided = &self.decision.rules;
        let others = self.traces.iter().filter(|one| decided.iter().all(|other| other.name != one.name));
        decided.iter().chain(others)
    }

    fn text(&self) -> String {
        let ExplainedCall { call, trust, decision, .. } = self;
        let mut lines = vec![format!(
            "{} {}: {} (decided by the {})",
            call.adapter,
            call.operation,
            verdict(decision),
            decision.decided_by
        )];
        let mut row =
            |name: &str, value: &str| lines.push(format!("  {name:<10}{}", output::sanitize_line(value)));
        let danger = match decision.danger == call.danger {
            true => decision.danger.as_str().to_owned(),
            false => format!("{} (the document says {})", decision.danger.as_str(), call.danger.as_str()),
        };
        row("danger", &danger);
        row("trust", trust.as_str());
        row("category", call.category.as_str());
        row("caller", call.caller);
        for reason in &decision.reasons {
            row("because", reason);
        }
        if let Some(denial) = &decision.denial {
            row("code", denial.code.as_str());
            if let Some(seconds) = denial.retry_after_seconds {
                row("retry in", &format!("{seconds} s"));
            }
        }
        for warning in &decision.warnings {
            row("warning", &warning.message);
        }
        if let Some(observed) = &decision.observed {
            row(
                "observed",
                &format!("without `mode: observe`: {} (by the {})", verdict(observed), observed.decided_by),
            );
        }
        if let Some(invalid) = &self.invalid {
            row("note", &format!("the call is refused before, because its parameters are wrong: {invalid}"));
        }
        let traces: Vec<&RuleTrace> = self.traces().collect();
        if !traces.is_empty() {
            lines.push("Rules:".to_owned());
        }
        for one in traces {
            let decides =
                one.decision.map(|verdict| format!(", says {}", verdict.as_str())).unwrap_or_default();
            let note = one.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            let line = format!("  {} {}{decides}{note}", one.name, matched(one.matched));
            lines.push(output::sanitize_line(&line));
        }
        lines.join("\n")
    }

    fn to_json(&self) -> Value {
        let ExplainedCall { call, trust, decision, invalid, .. } = self;
        let trace = |one: &RuleTrace| {
            json!({
                "name": one.name,
                "matches": matched(one.matched),
                "decision": one.decision.map(Verdict::as_str),
                "note": one.note,
            })
        };
        json!({
            "adapter": call.adapter,
            "operation": call.operation,
            "caller": call.caller,
            "trust": trust.as_str(),
            "danger": decision.danger.as_str(),
            "decision": decision.verdict.as_str(),
            "approver": (decision.verdict == Verdict::Confirm).then(|| decision.approver.as_str()),
            "decided_by": decision.decided_by.to_string(),
            "reasons": decision.reasons,
            "code": decision.denial.as_ref().map(|denial| Code::as_str(denial.code)),
            "retry_after_seconds": decision.denial.as_ref().and_then(|denial| denial.retry_after_seconds),
            "observed": decision.observed.as_ref().map(|observed| observed.verdict.as_str()),
            "invalid": invalid,
            "rules": self.traces().map(trace).collect::<Vec<_>>(),
        })
    }
}

fn verdict(decision: &Decision) -> String {
    match decision.verdict {
        Verdict::Allow => "allow".to_owned(),
        Verdict::Confirm => format!("confirm, by a {}", decision.approver.as_str()),
        Verdict::Deny => "deny".to_owned(),
    }
}

fn matched(result: MatchResult) -> &'static str {
    match result {
        MatchResult::Yes => "matches",
        MatchResult::No => "does not match",
        MatchResult::Unknown => "may match",
    }
}
