//! The tools of an MCP server that wait for an approval, because they are new or have changed since the first list.
//!
//! What always holds: the server is not started; the last list that it answered is compared.

use crate::blocking::blocking;
use crate::cache::CaptureCache;
use crate::documents::McpSource;
use crate::trust::summary::changes;
use crate::{operator, output};
use anyhow::Result;
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use mcpaql_runtime::gateway::{pin_subject, pins_of};
use mcpaql_runtime::operator::OperationPin;

/// The last list of tools of a server, and those of them that wait for an approval.
#[derive(Debug)]
pub(super) struct PinnedServer {
    adapter: String,
    subject: String,
    listed: Vec<OperationPin>,
    pub(super) withheld: Vec<WithheldTool>,
}

/// A tool that waits for an approval.
#[derive(Debug)]
pub(super) struct WithheldTool {
    name: String,
    /// The differences to the approved definition; `None` for a new tool.
    changes: Option<Vec<String>>,
}

impl PinnedServer {
    pub(super) fn of(server: &McpSource) -> Result<PinnedServer> {
        let subject = pin_subject(&server.name, &server.target);
        let capture = server.capture_cache().as_ref().and_then(CaptureCache::read);
        let listed = capture.as_ref().map(pins_of).unwrap_or_default();
        let approved = match operator::has_state() {
            true => blocking(async || Ok(operator::open_state().await?.pin_contents(&subject).await?))?,
            false => Vec::new(),
        };
        let mut withheld = Vec::new();
        if !approved.is_empty() {
            for tool in &listed {
                let old = approved.iter().find(|old| old.operation == tool.operation);
                if old.is_some_and(|old| old.fingerprint == tool.fingerprint) {
                    continue;
                }
                let changes = old.map(|old| changes(&old.content, &tool.content));
                withheld.push(WithheldTool { name: tool.operation.clone(), changes });
            }
        }
        Ok(PinnedServer { adapter: server.name.clone(), subject, listed, withheld })
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.withheld.iter().map(|tool| tool.name.clone()).collect()
    }

    /// Returns the tools that wait, with what has changed.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for tool in &self.withheld {
            let name = output::sanitize_line(&tool.name);
            match &tool.changes {
                None => lines.push(format!("  new tool        {name}")),
                Some(changes) => {
                    lines.push(format!("  changed tool    {name}"));
                    lines.extend(changes.iter().map(|line| format!("    {line}")));
                }
            }
        }
        lines
    }

    /// Approves all tools of the list.
    pub(super) fn approve(&self) -> Result<()> {
        if self.withheld.is_empty() {
            return Ok(());
        }
        let mut record = LogRecord::new(RecordKind::Pin, operator::now());
        record.caller = Some(operator::user());
        record.adapter = Some(self.adapter.clone());
        record.details.insert("tools".to_owned(), self.names().into());
        blocking(async || {
            operator::open_state().await?.pin(&self.subject, &self.listed).await?;
            operator::append(record).await
        })
    }
}
