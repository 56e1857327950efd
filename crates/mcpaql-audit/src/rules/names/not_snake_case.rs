//! NAME-006.

use super::spelling::{Spellings, by_all, clipped, is_snake, named};
use crate::convention::{Characters, Standard};
use crate::rule::{Findings, rule};
use crate::tool::Surface;

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

fn check(surface: &Surface<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let others: Vec<_> = named(surface).filter(|tool| !is_snake(tool.name)).collect();
    if others.is_empty() {
        return;
    }
    let demands = standard.demands(|convention| {
        convention.names.characters.filter(|characters| *characters == Characters::Snake)
    });
    let who: Vec<&str> = demands.map(|(who, _)| who).collect();
    if !who.is_empty() {
        let spellings = Spellings::of(surface);
        for tool in others {
            let message = format!("The name '{}' is not in snake_case", clipped(tool.name));
            let finding = findings.tool(tool, "/name", message);
            finding.help("write lower-case words joined by '_'");
            finding.fix = spellings.fix(tool.name);
            by_all(finding, &who);
        }
        return;
    }
    let count = named(surface).count();
    if others.len() * 2 > count {
        let first = others.first().map(|tool| clipped(tool.name)).unwrap_or_default();
        let message = format!("{} of {count} names are not in snake_case, such as '{first}'", others.len());
        let finding = findings.server(surface, message).advice();
        for tool in others {
            finding.with(tool.place("/name"));
        }
    }
}
