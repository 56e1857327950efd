//! Levels of what servers log, and how much of it a client wants to hear.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where requests without a handshake name the level.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The method that sets the level.
pub(crate) const SET_LEVEL: &str = "logging/setLevel";
/// The notification that brings a log message.
pub(crate) const LOG_MESSAGE: &str = "notifications/message";

/// How severe something is that was logged.
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

/// What a client wants to hear of what is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogFilter {
    #[default]
    Nothing,
    /// Whatever there is; it never said what.
    Everything,
    From(LogLevel),
}

impl LogFilter {
    /// Whether it includes what a notification brings.
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
    fn a_wish_includes_what_is_as_severe_or_more() {
        let said = |level: &str| json!({"level": level, "data": 1});
        let wish = LogFilter::From(LogLevel::Warning);
        for (level, is_heard) in [("debug", false), ("notice", false), ("warning", true), ("emergency", true)]
        {
            assert_eq!(wish.includes(&said(level)), is_heard, "{level}");
            assert!(LogFilter::Everything.includes(&said(level)));
            assert!(!LogFilter::Nothing.includes(&said(level)));
        }
        for odd in [said("loud"), json!({"data": 1}), json!({"level": 3})] {
            assert!(!wish.includes(&odd), "{odd}");
            assert!(LogFilter::Everything.includes(&odd));
        }
    }
}
