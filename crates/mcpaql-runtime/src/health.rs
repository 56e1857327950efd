//! The state of a service: all of it, or only that it is there.

use serde_json::{Value, json};

/// The state of a service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    /// In a word.
    pub status: HealthStatus,
    /// Each adapter, for those who may know.
    pub adapters: Vec<Value>,
}

/// The state of a service, in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HealthStatus {
    /// All is well.
    #[default]
    Ok,
    /// Something does not work.
    Degraded,
    /// Nothing is served.
    Down,
}

impl HealthStatus {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            HealthStatus::Ok => "ok",
            HealthStatus::Degraded => "degraded",
            HealthStatus::Down => "down",
        }
    }
}

impl Health {
    /// What is published, in full or only that the server is there.
    #[must_use]
    pub fn to_json(&self, full: bool) -> Value {
        let (status, version) = (self.status.as_str(), env!("CARGO_PKG_VERSION"));
        if full {
            json!({"status": status, "version": version, "adapters": self.adapters})
        } else {
            json!({"status": status, "version": version})
        }
    }
}
