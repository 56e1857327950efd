//! Arguments of `doctor`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Checks the configuration, every adapter with its credentials and programs, MCP servers, the data folder and MCP clients.\n\
    MCP servers are started and asked for their tools; no tool is called, and no value of a variable is printed.\n\
    If you pass adapters, only those are checked.\n\
    Exit status: 0 no problem, 1 a problem, 2 could not run."
)]
pub(crate) struct DoctorArgs {
    /// Adapters to check instead of the whole setup: documents, OpenAPI descriptions (files or URLs), built-in adapters, or one
    /// adapter of mcpaql.yaml by name.
    #[arg(value_name = "ADAPTER")]
    pub(crate) documents: Vec<String>,
    /// Configuration file [default: mcpaql.yaml].
    #[arg(long, value_name = "FILE", conflicts_with = "documents")]
    pub(crate) config: Option<PathBuf>,
    /// Maximum time for each MCP server to start and list its tools, in seconds; all servers are asked at the same time.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: u64,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
