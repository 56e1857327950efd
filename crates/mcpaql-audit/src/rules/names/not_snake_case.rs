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
    /// Looks for names that are not lower-case words joined by `_`. Where a convention demands it, each is a warning; otherwise
    /// one piece of advice is given to a server most of whose names are spelled in another way.
    ///
    /// ## Why it matters
    ///
    /// More than four in five of the servers that we have looked at spell all of their names so, models have seen more of it than of any
    /// other spelling, and such a name is an identifier in every language: clients need not change it, and rules about permissions
    /// that name a tool are written the same everywhere. The directory of Claude's connectors
    /// [asks for](https://github.com/anthropics/claude-plugins-official/blob/main/plugins/mcp-server-dev/skills/build-mcp-app/references/directory-checklist.md)
    /// snake or kebab case.
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
    /// The name in snake case, where no other tool has it and a convention demands it.
    "NAME-006" "not-snake-case" Warning Server(check)
}

fn check(surface: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let others: Vec<_> = named_tools(surface).filter(|tool| !is_snake(tool.name)).collect();
    if others.is_empty() {
        return;
    }
    let demands = standard.requirements(|convention| {
        convention.names.characters.filter(|characters| *characters == Characters::Snake)
    });
    let who: Vec<&str> = demands.map(|(who, _)| who).collect();
    if !who.is_empty() {
        let spellings = Spellings::of(surface);
        for tool in others {
            let message = format!("The name '{}' is not in snake_case", clipped_name(tool.name));
            let finding = findings.tool(tool, "/name", message);
            finding.help("write lower-case words joined by '_'");
            finding.fix = spellings.fix(tool.name);
            required_by_all(finding, &who);
        }
        return;
    }
    let count = named_tools(surface).count();
    if others.len() * 2 > count {
        let first = others.first().map(|tool| clipped_name(tool.name)).unwrap_or_default();
        let message = format!("{} of {count} names are not in snake_case, such as '{first}'", others.len());
        let finding = findings.server(surface, message).downgrade_to_advice();
        for tool in others {
            finding.related(tool.place("/name"));
        }
    }
}
