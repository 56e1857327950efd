//! The state of a service, in full or as a summary.
//!
//! ```
//! use mcpaql_runtime::health::{Health, HealthStatus};
//!
//! let health = Health { status: HealthStatus::Degraded, adapters: Vec::new() };
//! assert_eq!(health.to_json(false)["status"], "degraded");
//! ```

use serde_json::{Value, json};

/// The state of a service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    /// The state of the whole service.
    pub status: HealthStatus,
    /// The state of each adapter, for authorized clients.
    pub adapters: Vec<Value>,
}

/// The state of a whole service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HealthStatus {
    /// Every adapter works.
    #[default]
    Ok,
    /// At least one adapter does not work, or has no turn for further calls.
    Degraded,
    /// No adapter is served.
    Down,
}

impl HealthStatus {
    /// The name of the status in reports.
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
    /// Returns the report as JSON: in full, or without the adapters.
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
