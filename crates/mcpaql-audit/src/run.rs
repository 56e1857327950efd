//! Runs the rules. The list of tools is split into batches that can be checked independently, for example on several threads.
//!
//! What always holds: the findings and their order do not depend on the batches.

use crate::convention::{RuleLevel, Standard};
use crate::hints::drop_unsafe_fixes;
use crate::rule::{Finding, Findings, Rule, RuleCheck};
use crate::rules::all_rules;
use crate::text::credential::mask_finding;
use crate::tool::{ParsedServer, ParsedTool, ServerTools, ToolPlace};
use std::borrow::Cow;
use std::ops::Range;

/// Number of tools that all rules check before the next ones, so that they stay in the CPU cache.
const TOOLS_PER_CHUNK: usize = 16;

/// Findings with the index of their rule.
pub(super) type RankedFindings = Vec<(usize, Finding)>;

/// A batch of tools of one server.
#[derive(Debug, Clone)]
pub struct ToolBatch<'a> {
    server: &'a ServerTools,
    index: usize,
    tools: Range<usize>,
    standard: &'a Standard,
}

/// A parsed batch, with the findings of the rules that check one tool at a time.
#[derive(Debug)]
pub struct AuditedBatch<'a> {
    index: usize,
    tools: Vec<ParsedTool<'a>>,
    found: RankedFindings,
}

/// Splits the tools of all servers into about `count` batches of similar size. There may be a few more, because a batch never
/// contains tools of two servers.
#[must_use]
pub fn tool_batches<'a>(
    servers: &'a [ServerTools],
    standard: &'a Standard,
    count: usize,
) -> Vec<ToolBatch<'a>> {
    let all: usize = servers.iter().map(|server| server.tools.len()).sum();
    let most = all.div_ceil(count.max(1)).max(1);
    let of_server = |(index, server): (usize, &'a ServerTools)| {
        let end = server.tools.len();
        let starts = (0..end).step_by(most);
        starts.map(move |from| ToolBatch { server, index, tools: from..end.min(from + most), standard })
    };
    servers.iter().enumerate().flat_map(of_server).collect()
}

impl<'a> ToolBatch<'a> {
    /// Parses the tools and runs the rules that check one tool at a time.
    #[must_use]
    pub fn run_tool_rules(self) -> AuditedBatch<'a> {
        let ToolBatch { server, index, tools: range, standard } = self;
        let rules = enabled_rules(standard);
        let (mut tools, mut found) = (Vec::with_capacity(range.len()), Vec::new());
        let values = server.tools.get(range.clone()).unwrap_or_default();
        for (chunk, from) in values.chunks(TOOLS_PER_CHUNK).zip(range.step_by(TOOLS_PER_CHUNK)) {
            let chunk: Vec<ParsedTool<'a>> = chunk
                .iter()
                .zip(from..)
                .map(|(value, position)| ParsedTool::of(server, value, (index, position)))
                .collect();
            check_tools(&chunk, &rules, standard, &mut found);
            tools.extend(chunk);
        }
        AuditedBatch { index, tools, found }
    }
}

/// Runs all rules and returns the findings, sorted by server, tool and rule. Findings about a server as a whole come before those
/// about its tools.
#[must_use]
pub fn audit(servers: &[ServerTools], standard: &Standard) -> Vec<Finding> {
    let batches = tool_batches(servers, standard, 1).into_iter().map(ToolBatch::run_tool_rules).collect();
    finish_audit(servers, standard, batches).1
}

/// Completes an audit from all batches in their order. Returns the parsed servers and the findings, sorted as by [`audit`].
#[must_use]
pub fn finish_audit<'a>(
    servers: &'a [ServerTools],
    standard: &Standard,
    batches: Vec<AuditedBatch<'a>>,
) -> (Vec<ParsedServer<'a>>, Vec<Finding>) {
    let (parsed_servers, mut found) = merge_batches(servers, batches);
    let rules = enabled_rules(standard);
    found.extend(check_servers(&parsed_servers, &rules, standard));
    for (position, finding) in &mut found {
        // A level that the user or a convention sets overrides the rule's own.
        if let Some((rule, level)) = rules.get(*position).filter(|(rule, _)| standard.sets_level(rule.code)) {
            debug_assert_eq!(rule.code, finding.rule.code);
            finding.level = *level;
        }
    }
    found.sort_by_key(|(position, finding)| (finding.place.server, finding.place.tool, *position));
    let mut findings: Vec<Finding> = found.into_iter().map(|(_, finding)| finding).collect();
    // An entry that is not an object has only one finding.
    let is_entry = |place: &ToolPlace| {
        let parsed = parsed_servers.get(place.server);
        let tool = place.tool.and_then(|tool| parsed?.tools.get(tool));
        tool.is_some_and(|tool| !tool.value.is_object())
    };
    findings.retain(|finding| finding.rule.code == "NAME-002" || !is_entry(&finding.place));
    findings.iter_mut().for_each(mask);
    drop_unsafe_fixes(&parsed_servers, &mut findings);
    (parsed_servers, findings)
}

/// Masks credentials in the texts of a finding.
fn mask(finding: &mut Finding) {
    let Finding { message, help, .. } = finding;
    for text in help.iter_mut().chain([message]) {
        if let Cow::Owned(masked) = mask_finding(text) {
            *text = masked;
        }
    }
}

/// Runs the rules that check more than one tool.
fn check_servers(
    parsed_servers: &[ParsedServer<'_>],
    rules: &[(&'static Rule, RuleLevel)],
    standard: &Standard,
) -> RankedFindings {
    let mut ranked = Vec::new();
    for (position, (rule, level)) in rules.iter().enumerate() {
        let mut found = Vec::new();
        let mut out = Findings::new(rule, *level, &mut found);
        match rule.check {
            RuleCheck::Tool(_) => {}
            RuleCheck::Server(check) => {
                parsed_servers.iter().for_each(|parsed| check(parsed, standard, &mut out))
            }
            RuleCheck::Servers(check) => check(parsed_servers, standard, &mut out),
        }
        ranked.extend(found.into_iter().map(|finding| (position, finding)));
    }
    ranked
}
/// Merges batches into servers and findings.
pub(super) fn merge_batches<'a>(
    servers: &'a [ServerTools],
    batches: Vec<AuditedBatch<'a>>,
) -> (Vec<ParsedServer<'a>>, RankedFindings) {
    let mut parsed_servers: Vec<ParsedServer<'a>> =
        servers.iter().enumerate().map(|(index, server)| ParsedServer::new(server, index)).collect();
    let mut found = Vec::new();
    for batch in batches {
        if let Some(parsed) = parsed_servers.get_mut(batch.index) {
            parsed.tools.extend(batch.tools);
        }
        found.extend(batch.found);
    }
    (parsed_servers, found)
}

/// Returns the rules that are not off, each with its level.
pub(super) fn enabled_rules(standard: &Standard) -> Vec<(&'static Rule, RuleLevel)> {
    all_rules().filter_map(|rule| Some((rule, standard.level(rule.code, rule.level)?))).collect()
}

/// Runs the rules that check one tool at a time.
fn check_tools(
    tools: &[ParsedTool<'_>],
    rules: &[(&'static Rule, RuleLevel)],
    standard: &Standard,
    ranked: &mut RankedFindings,
) {
    let mut found = Vec::new();
    for (position, (rule, level)) in rules.iter().enumerate() {
        let RuleCheck::Tool(check) = rule.check else { continue };
        let mut out = Findings::new(rule, *level, &mut found);
        tools.iter().for_each(|tool| check(tool, standard, &mut out));
        ranked.extend(found.drain(..).map(|finding| (position, finding)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_findings_do_not_depend_on_the_batches() {
        let tool = |n: usize| match n % 3 {
            0 => json!({"name": format!("get_note_{n}"), "annotations": {"readOnlyHint": false}}),
            1 => json!({"name": format!("deleteNote{n}"), "description": "TODO"}),
            _ => json!([n]),
        };
        let server = |name: &str, tools: std::ops::Range<usize>| ServerTools {
            name: name.to_owned(),
            tools: tools.map(tool).collect::<Vec<Value>>(),
            ..ServerTools::default()
        };
        let servers = [server("many", 0..75), server("none", 0..0), server("few", 60..67)];
        let standard = Standard::default();
        let found = |count| {
            let batches =
                tool_batches(&servers, &standard, count).into_iter().map(ToolBatch::run_tool_rules).collect();
            let (parsed_servers, findings) = finish_audit(&servers, &standard, batches);
            let tools: Vec<usize> = parsed_servers.iter().map(|parsed| parsed.tools.len()).collect();
            (tools, format!("{findings:?}"))
        };
        let whole = found(1);
        assert_eq!(whole.0, [75, 0, 7]);
        for count in [0, 2, 3, 5, 100] {
            assert_eq!(found(count), whole, "{count}");
        }
    }
}
