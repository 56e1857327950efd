//! NAME-006.

use super::spelling::{Spellings, clipped_name, is_snake, named_tools, required_by_all};
use crate::convention::{Characters, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// Names are not in snake_case.
    ///
    /// ## What it does
    ///
    /// Checks for names that are not lower-case words joined by `_`. If a convention requires snake_case, each such name is a
    /// warning. Otherwise, if most names of a server have another style, the server gets one finding, at level advice.
    ///
    /// ## Why it matters
    ///
    /// More than four in five of the servers that we examined use snake_case for all of their names, and models have seen it
    /// more often than any other style. Such a name is an identifier in every language: clients need not change it, and
    /// permission rules that name a tool look the same everywhere. Claude's connector directory asks for snake or kebab case
    /// ([checklist](https://github.com/anthropics/claude-plugins-official/blob/main/plugins/mcp-server-dev/skills/build-mcp-app/references/directory-checklist.md)).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/0/name with=mcpaql-spec
    /// {"tools": [{"name": "createIssue", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ```json bad at=/tools
    /// {"tools": [{"name": "CreateIssue", "inputSchema": {"type": "object"}}, {"name": "CloseIssue", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=mcpaql-spec
    /// {"tools": [{"name": "create_issue", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes the name in snake_case, if a convention requires it and no other tool has that name.
    "NAME-006" "not-snake-case" Warning..Advice Server(check)
}

fn check(server: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let others: Vec<_> = named_tools(server).filter(|tool| !is_snake(tool.name)).collect();
    if others.is_empty() {
        return;
    }
    let demands = standard.requirements(|convention| {
        convention.names.characters.filter(|characters| *characters == Characters::Snake)
    });
    let who: Vec<&str> = demands.map(|(who, _)| who).collect();
    if !who.is_empty() {
        let spellings = Spellings::of(server);
        for tool in others {
            let message = format!("The name '{}' is not in snake_case", clipped_name(tool.name));
            let finding = findings.tool(tool, "/name", message);
            finding.help("use lower-case words joined by '_'");
            finding.fix = spellings.fix(tool.name);
            required_by_all(finding, &who);
        }
        return;
    }
    let count = named_tools(server).count();
    if others.len() * 2 > count {
        let first = others.first().map(|tool| clipped_name(tool.name)).unwrap_or_default();
        let message = format!("{} of {count} names are not in snake_case, such as '{first}'", others.len());
        let finding = findings.server(server, message).downgrade_to_advice();
        for tool in others {
            finding.related(tool.place("/name"));
        }
    }
}
