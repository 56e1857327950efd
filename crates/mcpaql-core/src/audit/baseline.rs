//! Findings that somebody knows already, kept in a file: an audit fails only by what is not among them.
//!
//! A finding is the same as long as the same rule finds it in the same place of the same tool; what it says about it may change.

use super::credential::masked;
use super::finding::{Finding, Place};
use super::view::Server;
use serde_json::{Value, json};
use std::collections::HashMap;

const VERSION: u64 = 1;

/// What makes a finding the same at the next audit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    /// Code of the rule.
    pub rule: String,
    /// What the client calls the server.
    pub server: String,
    /// Name of the tool; empty for a server as a whole.
    pub tool: String,
    /// Pointer into the tool.
    pub pointer: String,
    /// What else is part of it: `server/tool`.
    pub related: Vec<String>,
}

impl Fingerprint {
    /// That of a finding.
    #[must_use]
    pub fn of(finding: &Finding, servers: &[Server]) -> Fingerprint {
        let server = |place: &Place| servers.get(place.server);
        let name = |place: &Place| server(place).map_or("", |server| &server.name).to_owned();
        let tool = |place: &Place| {
            let tool = place.tool.and_then(|tool| server(place)?.tools.get(tool)?.get("name")?.as_str());
            // The file is kept and shared.
            masked(tool.unwrap_or_default()).into_owned()
        };
        let place = &finding.place;
        let mut related: Vec<String> =
            finding.related.iter().map(|place| format!("{}/{}", name(place), tool(place))).collect();
        related.sort();
        Fingerprint {
            rule: finding.rule.code.to_owned(),
            server: name(place),
            tool: tool(place),
            pointer: masked(&place.pointer).into_owned(),
            related,
        }
    }

    /// As a short text that is the same on every machine and in every version.
    #[must_use]
    pub fn digest(&self) -> String {
        let fields = [&self.rule, &self.server, &self.tool, &self.pointer].into_iter().chain(&self.related);
        // FNV-1a; a zero keeps fields apart.
        let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        for byte in fields.flat_map(|field| field.bytes().chain([0])) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        format!("{hash:032x}")
    }

    fn to_json(&self) -> Value {
        let mut value = json!({"rule": self.rule, "server": self.server});
        let optional = [("tool", &self.tool), ("pointer", &self.pointer)];
        if let Some(map) = value.as_object_mut() {
            let said = optional.into_iter().filter(|(_, text)| !text.is_empty());
            map.extend(said.map(|(key, text)| (key.to_owned(), Value::from(text.as_str()))));
            if !self.related.is_empty() {
                map.insert("related".to_owned(), json!(self.related));
            }
        }
        value
    }

    fn from_json(value: &Value) -> Option<Fingerprint> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let related = value.get("related").and_then(Value::as_array).into_iter().flatten();
        Some(Fingerprint {
            rule: text("rule")?,
            server: text("server")?,
            tool: text("tool").unwrap_or_default(),
            pointer: text("pointer").unwrap_or_default(),
            related: related.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}

/// The findings of an audit, to hold the next one against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline(Vec<Fingerprint>);

impl Baseline {
    /// All findings, in an order that makes small diffs.
    #[must_use]
    pub fn of(findings: &[Finding], servers: &[Server]) -> Baseline {
        let mut prints: Vec<Fingerprint> =
            findings.iter().map(|finding| Fingerprint::of(finding, servers)).collect();
        prints.sort();
        Baseline(prints)
    }

    /// How many findings it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As it is saved: one finding per line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self.0.iter().map(|print| format!("  {}", print.to_json())).collect();
        match lines.as_slice() {
            [] => format!("{{\"mcpaql_audit_baseline\": {VERSION}, \"findings\": []}}\n"),
            lines => format!(
                "{{\"mcpaql_audit_baseline\": {VERSION}, \"findings\": [\n{}\n]}}\n",
                lines.join(",\n")
            ),
        }
    }

    /// Reads what was saved; `None` where it is none, or one of a later version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Baseline> {
        let value: Value = serde_json::from_str(text).ok()?;
        if value.get("mcpaql_audit_baseline")?.as_u64()? != VERSION {
            return None;
        }
        let findings = value.get("findings")?.as_array()?;
        findings.iter().map(Fingerprint::from_json).collect::<Option<Vec<_>>>().map(Baseline)
    }

    /// How often each finding is in it.
    pub(super) fn counted(&self) -> HashMap<Fingerprint, usize> {
        let mut counted = HashMap::new();
        for print in &self.0 {
            *counted.entry(print.clone()).or_insert(0) += 1;
        }
        counted
    }
}
