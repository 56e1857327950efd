//! What the operator trusts: grants for files and servers, and pins of operations.

use mcpaql_gate::trust::TrustLevel;
use serde_json::Value;

/// The operator's trust in one thing, such as a document, a folder or a server. It covers exactly one content.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustGrant {
    /// What is trusted, such as `file:/home/me/shop.yaml`. A subject has at most one grant.
    pub subject: String,
    /// The kind of the subject, such as `document`.
    pub kind: String,
    /// The fingerprint of the content.
    pub fingerprint: String,
    /// How far it is trusted.
    pub level: TrustLevel,
    /// Whether later edits of the subject are trusted, too.
    pub accepts_edits: bool,
    /// The content that the fingerprint covers, to show later what has changed.
    pub content: Value,
    /// When it was granted, in milliseconds since 1970. [`put_grant`](super::OperatorState::put_grant) sets it.
    pub granted_at: i64,
    /// Who granted it.
    pub granted_by: String,
}

/// The definition of an operation that the operator has approved.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationPin {
    /// The operation's name.
    pub operation: String,
    /// The fingerprint of the definition.
    pub fingerprint: String,
    /// The definition, to show later what has changed.
    pub content: Value,
}

/// An emergency stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The adapter that is paused; `None` for all.
    pub adapter: Option<String>,
    /// Reads still run.
    pub except_reads: bool,
    /// Who paused it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

impl Pause {
    /// Whether the pause stops a call to this adapter.
    #[must_use]
    pub fn stops(&self, adapter: &str, is_read: bool) -> bool {
        self.adapter.as_deref().is_none_or(|paused| paused == adapter) && !(self.except_reads && is_read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_stops_its_adapter_or_all_and_may_spare_reads() {
        let pause = |adapter: Option<&str>, except_reads| Pause {
            adapter: adapter.map(str::to_owned),
            except_reads,
            by: "me".into(),
            at: 0,
        };
        assert!(pause(None, false).stops("shop", true) && pause(None, true).stops("shop", false));
        assert!(!pause(None, true).stops("shop", true) && !pause(Some("bank"), false).stops("shop", false));
        assert!(pause(Some("shop"), false).stops("shop", true));
    }
}
