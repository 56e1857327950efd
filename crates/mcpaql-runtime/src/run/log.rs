//! The log of a program without a subscriber of its own: text on standard error, chosen with `RUST_LOG`.

use crate::mcp::LOG_DIRECTIVES;
use std::io::IsTerminal as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const DEFAULT_DIRECTIVES: &str = "warn,mcpaql_runtime=info";

/// Starts the log, unless the program has already set a subscriber.
pub(super) fn start() {
    if tracing::dispatcher::has_been_set() {
        return;
    }
    let output = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let chosen = targets(std::env::var("RUST_LOG").ok().as_deref());
    // Fails if another thread has set one in the meantime; that one is used.
    let _ = tracing_subscriber::registry().with(output.with_filter(chosen)).try_init();
}

fn targets(wanted: Option<&str>) -> Targets {
    let wanted = wanted.filter(|text| !text.trim().is_empty()).unwrap_or(DEFAULT_DIRECTIVES);
    let with_limits = match wanted.contains("rmcp") {
        true => wanted.to_owned(),
        false => format!("{wanted},{LOG_DIRECTIVES}"),
    };
    let limited_default = || format!("{DEFAULT_DIRECTIVES},{LOG_DIRECTIVES}").parse();
    with_limits.parse().or_else(|_| limited_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn payloads_stay_out_of_the_log_unless_they_are_asked_for() {
        for wanted in [None, Some(""), Some("debug"), Some("not=a=directive")] {
            let targets = targets(wanted);
            assert!(targets.would_enable("mcpaql_runtime::run", &Level::INFO), "{wanted:?}");
            assert!(!targets.would_enable("rmcp::service", &Level::WARN), "{wanted:?}");
        }
        assert!(targets(Some("rmcp=debug")).would_enable("rmcp::service", &Level::DEBUG));
        assert!(!targets(Some("error")).would_enable("mcpaql_runtime::run", &Level::INFO));
    }
}
