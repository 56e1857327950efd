//! `mcpaql rules replay`: decides recorded calls again with the current rules, and shows the differences.

use crate::commands::log::parse;
use crate::output::{counted, error_with_hint};
use crate::{CommandOutcome, args, file, operator, output, since};
use anyhow::{Context, Result};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::gate::call::GatedCall;
use mcpaql_core::gate::config::GateConfig;
use mcpaql_core::gate::decision::{CounterKey, DecidedBy, History, SuccessKey, Usage, decide};
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use mcpaql_core::gate::trust::{TrustLevel, Verdict};
use mcpaql_core::operation::{Category, Danger};
use mcpaql_document::source::Source;
use mcpaql_runtime::record::LogReader;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::Path;

pub(crate) fn run(args: &args::RulesReplayArgs) -> Result<CommandOutcome> {
    let config = match &args.rules {
        Some(path) => read_rules(path)?,
        None => operator::gate_config()?,
    };
    let since = args.since.as_deref().map(since::parse).transpose()?;
    let folder = operator::state_folder().context("there is no folder for the log: HOME is not set")?;
    let mut replay = RuleReplay { config, calls: 0, differences: Vec::new(), seen: HashSet::new() };
    LogReader::open(&folder).read_new(|line| {
        let record = parse(line).filter(|record| since.as_ref().is_none_or(|since| record.time >= *since));
        record.iter().for_each(|record| replay.add(record));
    })?;
    let RuleReplay { calls, differences, .. } = replay;
    if args.json {
        let list: Vec<Value> = differences.iter().map(ReplayDifference::to_json).collect();
        output::print_data(&serde_json::to_string_pretty(&json!({"calls": calls, "differences": list}))?);
    } else {
        if !differences.is_empty() {
            let head = ["TIME", "CALLER", "OPERATION", "WAS", "NOW", "BY"].map(str::to_owned);
            let rows: Vec<[String; 6]> =
                std::iter::once(head).chain(differences.iter().map(ReplayDifference::row)).collect();
            output::print_data(&output::format_table(&rows, 6));
        }
        let decided = counted(differences.len(), "call");
        output::status_line(&format!("{decided} of {calls} recorded would be decided differently"));
    }
    Ok(if differences.is_empty() { CommandOutcome::Clean } else { CommandOutcome::Findings })
}

fn read_rules(path: &Path) -> Result<GateConfig> {
    let source = Source::new(path.display().to_string(), file::read_flag("--rules", path)?);
    let (config, mut diagnostics) = match source.parse() {
        Ok(parsed) => GateConfig::load(&parsed.value),
        Err(diagnostics) => (GateConfig::deny_all(), diagnostics),
    };
    source.locate(&mut diagnostics);
    output::print_diagnostics(&source, &diagnostics);
    if diagnostics.iter().any(|one| one.severity == Severity::Error) {
        return Err(error_with_hint(
            format!("{} has errors", source.name),
            "correct it and run the command again",
        ));
    }
    Ok(config)
}

/// The calls that were decided again.
struct RuleReplay {
    config: GateConfig,
    calls: usize,
    differences: Vec<ReplayDifference>,
    /// A call that was asked about has several records.
    seen: HashSet<String>,
}

/// A call that would be decided differently.
struct ReplayDifference {
    time: String,
    caller: String,
    adapter: String,
    operation: String,
    was: String,
    now: Verdict,
    by: DecidedBy,
    params: Option<Value>,
}

impl RuleReplay {
    fn add(&mut self, record: &LogRecord) {
        if !matches!(record.kind, RecordKind::Call | RecordKind::Decision) {
            return;
        }
        if !is_decided_by_rules(record) {
            return;
        }
        if let Some(id) = &record.call_id
            && !self.seen.insert(id.clone())
        {
            return;
        }
        // A pause, --read-only or an unreadable state decided before the rules.
        if matches!(record.decided_by.as_deref(), Some("pause" | "read-only" | "state")) {
            return;
        }
        let (Some(adapter), Some(operation), Some(was)) =
            (&record.adapter, &record.operation, &record.decision)
        else {
            return;
        };
        let danger = record.declared_danger.as_deref().or(record.danger.as_deref()).and_then(Danger::parse);
        let trust = record.trust.as_deref().and_then(TrustLevel::parse);
        let category = record
            .category
            .as_deref()
            .and_then(|word| Category::ALL.into_iter().find(|one| one.as_str() == word));
        let (Some(danger), Some(trust), Some(category)) = (danger, trust, category) else { return };
        let empty = Map::new();
        let caller = record.caller.as_deref().unwrap_or_default();
        let call = GatedCall {
            adapter,
            endpoint: record.endpoint.as_deref().unwrap_or_else(|| category.endpoint()),
            category,
            operation,
            tags: &record.tags,
            danger,
            needs_confirmation: record.needs_confirmation,
            caller,
            args: record.params.as_ref().and_then(Value::as_object).unwrap_or(&empty),
            continued_quotas: &[],
        };
        self.calls += 1;
        let decision = decide(&call, trust, &self.config, &UnlimitedHistory);
        if decision.verdict.as_str() != was {
            self.differences.push(ReplayDifference {
                time: record.time.clone(),
                caller: caller.to_owned(),
                adapter: adapter.clone(),
                operation: operation.clone(),
                was: was.clone(),
                now: decision.verdict,
                by: decision.decided_by,
                params: record.params.clone(),
            });
        }
    }
}

/// Whether the table, the document or a rule decided. Pauses, `--read-only` and counts are not replayed.
fn is_decided_by_rules(record: &LogRecord) -> bool {
    let by = record.decided_by.as_deref().unwrap_or_default();
    let is_counted = record.outcome.as_deref().is_some_and(|outcome| outcome.starts_with("RATE_LIMIT"));
    !is_counted && (["matrix", "document"].contains(&by) || by.starts_with("rule "))
}

/// A history in which no limit is reached, because counts are not replayed.
struct UnlimitedHistory;

impl History for UnlimitedHistory {
    fn used(&self, _key: &CounterKey) -> Option<Usage> {
        Some(Usage::default())
    }

    fn succeeded(&self, _key: &SuccessKey) -> Option<bool> {
        Some(true)
    }
}

impl ReplayDifference {
    fn row(&self) -> [String; 6] {
        [
            self.time.clone(),
            self.caller.clone(),
            format!("{} {}", self.adapter, self.operation),
            self.was.clone(),
            self.now.as_str().to_owned(),
            self.by.to_string(),
        ]
        .map(|cell| output::sanitize_line(&cell))
    }

    fn to_json(&self) -> Value {
        json!({
            "time": self.time,
            "caller": self.caller,
            "adapter": self.adapter,
            "operation": self.operation,
            "params": self.params,
            "was": self.was,
            "now": self.now.as_str(),
            "decided_by": self.by.to_string(),
        })
    }
}
