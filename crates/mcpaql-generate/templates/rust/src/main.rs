//! Serves the adapter over standard input and output. `RUST_LOG` sets the log level on standard error.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    mcpaql_runtime::run::end_programs_with_this_process();
    let chosen = EnvFilter::try_from_default_env();
    let filter = chosen.unwrap_or_else(|_| EnvFilter::new("warn,mcpaql_runtime=info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match adapter_module::document().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
