//! A list of tools in shares, each of which can be read and looked at by itself, be it on a thread of its own.
//!
//! What always holds: however a list is shared out, the same is found in the same order.

use crate::convention::{RuleLevel, Standard};
use crate::hints::drop_unsafe_fixes;
use crate::rule::{Finding, Findings, Rule, RuleCheck};
use crate::rules::all_rules;
use crate::text::credential::mask_finding;
use crate::tool::{ParsedServer, ParsedTool, ServerTools, ToolPlace};
use std::borrow::Cow;
use std::ops::Range;

/// Tools that every rule looks at before the next ones, so that they are still near when the next rule does.
const TOOLS_PER_CHUNK: usize = 16;

/// Findings with the position of their rule.
pub(super) type RankedFindings = Vec<(usize, Finding)>;

/// Some tools of a server.
#[derive(Debug, Clone)]
pub struct ToolBatch<'a> {
    server: &'a ServerTools,
    index: usize,
    tools: Range<usize>,
    standard: &'a Standard,
}

/// A share, read, with what rules found that look at one tool at a time.
#[derive(Debug)]
pub struct AuditedBatch<'a> {
    index: usize,
    tools: Vec<ParsedTool<'a>>,
    found: RankedFindings,
}

/// The tools of all servers in so many shares of about the same size, or in a few more: no share is of two servers.
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
    /// Reads its tools and looks at each of them.
    #[must_use]
    pub fn run_tool_rules(self) -> AuditedBatch<'a> {
        let ToolBatch { server, index, tools: range, standard } = self;
        let rules = enabled_rules(standard);
        let (mut tools, mut found) = (Vec::with_capacity(range.len()), Vec::new());
        let values = server.tools.get(range.clone()).unwrap_or_default();
        for (few, from) in values.chunks(TOOLS_PER_CHUNK).zip(range.step_by(TOOLS_PER_CHUNK)) {
            let few: Vec<ParsedTool<'a>> = few
                .iter()
                .zip(from..)
                .map(|(value, position)| ParsedTool::of(server, value, (index, position)))
                .collect();
            check_tools(&few, &rules, standard, &mut found);
            tools.extend(few);
        }
        AuditedBatch { index, tools, found }
    }
}

/// What the rules find: by server, then by tool in the order of the list, then by rule; what is about a server as a whole comes
/// before its tools.
#[must_use]
pub fn audit(servers: &[ServerTools], standard: &Standard) -> Vec<Finding> {
    let seen = tool_batches(servers, standard, 1).into_iter().map(ToolBatch::run_tool_rules).collect();
    finish_audit(servers, standard, seen).1
}

/// The same of servers whose shares were all seen, in their order; with the servers as rules saw them.
#[must_use]
pub fn finish_audit<'a>(
    servers: &'a [ServerTools],
    standard: &Standard,
    seen: Vec<AuditedBatch<'a>>,
) -> (Vec<ParsedServer<'a>>, Vec<Finding>) {
    let (surfaces, mut found) = merge_batches(servers, seen);
    let rules = enabled_rules(standard);
    found.extend(check_servers(&surfaces, &rules, standard));
    for (position, finding) in &mut found {
        // Whatever a rule made of a single case, somebody may have said how bad it is.
        if let Some((rule, level)) = rules.get(*position).filter(|(rule, _)| standard.sets_level(rule.code)) {
            debug_assert_eq!(rule.code, finding.rule.code);
            finding.level = *level;
        }
    }
    found.sort_by_key(|(position, finding)| (finding.place.server, finding.place.tool, *position));
    let mut findings: Vec<Finding> = found.into_iter().map(|(_, finding)| finding).collect();
    // What is no tool at all is said once.
    let is_entry = |place: &ToolPlace| {
        let surface = surfaces.get(place.server);
        let tool = place.tool.and_then(|tool| surface?.tools.get(tool));
        tool.is_some_and(|tool| !tool.value.is_object())
    };
    findings.retain(|finding| finding.rule.code == "NAME-002" || !is_entry(&finding.place));
    findings.iter_mut().for_each(mask);
    drop_unsafe_fixes(&surfaces, &mut findings);
    (surfaces, findings)
}

/// Takes credentials out of what a finding quotes.
fn mask(finding: &mut Finding) {
    let Finding { message, help, .. } = finding;
    for text in help.iter_mut().chain([message]) {
        if let Cow::Owned(masked) = mask_finding(text) {
            *text = masked;
        }
    }
}

/// What rules find that look at more than one tool.
fn check_servers(
    surfaces: &[ParsedServer<'_>],
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
                surfaces.iter().for_each(|surface| check(surface, standard, &mut out))
            }
            RuleCheck::Servers(check) => check(surfaces, standard, &mut out),
        }
        ranked.extend(found.into_iter().map(|finding| (position, finding)));
    }
    ranked
}
/// The servers whose shares were seen, and what was found in these.
pub(super) fn merge_batches<'a>(
    servers: &'a [ServerTools],
    seen: Vec<AuditedBatch<'a>>,
) -> (Vec<ParsedServer<'a>>, RankedFindings) {
    let mut surfaces: Vec<ParsedServer<'a>> =
        servers.iter().enumerate().map(|(index, server)| ParsedServer::new(server, index)).collect();
    let mut found = Vec::new();
    for share in seen {
        if let Some(surface) = surfaces.get_mut(share.index) {
            surface.tools.extend(share.tools);
        }
        found.extend(share.found);
    }
    (surfaces, found)
}

/// The rules that a standard does not switch off, each with its level.
pub(super) fn enabled_rules(standard: &Standard) -> Vec<(&'static Rule, RuleLevel)> {
    all_rules().filter_map(|rule| Some((rule, standard.level(rule.code, rule.level)?))).collect()
}

/// What rules find that look at one tool at a time.
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
    fn however_a_list_is_shared_out_the_same_is_found() {
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
            let seen =
                tool_batches(&servers, &standard, count).into_iter().map(ToolBatch::run_tool_rules).collect();
            let (surfaces, findings) = finish_audit(&servers, &standard, seen);
            let tools: Vec<usize> = surfaces.iter().map(|surface| surface.tools.len()).collect();
            (tools, format!("{findings:?}"))
        };
        let whole = found(1);
        assert_eq!(whole.0, [75, 0, 7]);
        for count in [0, 2, 3, 5, 100] {
            assert_eq!(found(count), whole, "{count}");
        }
    }
}
