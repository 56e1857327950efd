//! Log levels of MCP, and the filter of a client.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key of the level in requests of revisions without a handshake.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The method that sets the level.
pub(crate) const SET_LEVEL: &str = "logging/setLevel";
/// The notification with a log message.
pub(crate) const LOG_MESSAGE: &str = "notifications/message";

/// The severity of a log message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// The log messages that a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogFilter {
    #[default]
    Nothing,
    /// All messages, because the client set no level.
    Everything,
    From(LogLevel),
}

impl LogFilter {
    /// Returns whether the filter includes a log message.
    pub(crate) fn includes(self, params: &Value) -> bool {
        match self {
            LogFilter::Nothing => false,
            LogFilter::Everything => true,
            LogFilter::From(least) => params
                .get("level")
                .and_then(|level| LogLevel::deserialize(level).ok())
                .is_some_and(|level| level >= least),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_filter_includes_messages_of_its_level_and_above() {
        let message = |level: &str| json!({"level": level, "data": 1});
        let filter = LogFilter::From(LogLevel::Warning);
        for (level, is_included) in
            [("debug", false), ("notice", false), ("warning", true), ("emergency", true)]
        {
            assert_eq!(filter.includes(&message(level)), is_included, "{level}");
            assert!(LogFilter::Everything.includes(&message(level)));
            assert!(!LogFilter::Nothing.includes(&message(level)));
        }
        for invalid in [message("loud"), json!({"data": 1}), json!({"level": 3})] {
            assert!(!filter.includes(&invalid), "{invalid}");
            assert!(LogFilter::Everything.includes(&invalid));
        }
    }
}
