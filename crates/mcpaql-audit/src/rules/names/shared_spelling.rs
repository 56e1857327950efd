//! NAME-017.

use super::spelling::{clipped_name, letters_and_digits, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

rule! {
    /// Names of two servers differ only in case or separators.
    ///
    /// ## What it does
    ///
    /// Checks for names of two servers that are equal if case, `_`, `-` and `.` are ignored.
    ///
    /// ## Why it matters
    ///
    /// `read-file` of one server and `read_file` of another are two tools for a client. A model easily confuses them and calls
    /// the wrong one.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/servers/drive/0/name
    /// {"servers": {"files": [{"name": "read_file"}], "drive": [{"name": "read-file"}]}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"servers": {"files": [{"name": "read_file"}], "drive": [{"name": "drive-read-file"}]}}
    /// ```
    "NAME-017" "shared-spelling" Advice Servers(check)
}

fn check(servers: &[ParsedServer<'_>], _: &Standard, findings: &mut Findings<'_>) {
    if servers.len() < 2 {
        return;
    }
    let mut first: HashMap<String, (&ParsedServer<'_>, &ParsedTool<'_>)> = HashMap::new();
    for server in servers {
        for tool in named_tools(server) {
            match first.entry(letters_and_digits(tool.name)) {
                Entry::Vacant(slot) => {
                    slot.insert((server, tool));
                }
                Entry::Occupied(slot)
                    if slot.get().0.index != server.index && slot.get().1.name != tool.name =>
                {
                    let (other, twin) = slot.get();
                    let message = format!(
                        "The name '{}' differs from '{}' of the server '{}' only in case or separators",
                        clipped_name(tool.name),
                        clipped_name(twin.name),
                        clipped_name(&other.server.name)
                    );
                    findings.tool(tool, "/name", message).related(twin.place("/name"));
                }
                Entry::Occupied(_) => {}
            }
        }
    }
}
