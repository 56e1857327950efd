//! Arguments of `mcpaql install`.

use super::{Cli, Command, ServeArgs};
use crate::clients::{ClientApp, ConfigScope};
use clap::error::ErrorKind;
use clap::{Args as ClapArgs, CommandFactory, Parser};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "The rest of the client's file does not change, and a backup is kept beside it.\n\
    Examples:\n  \
    mcpaql install cursor api-adapter.yaml\n  \
    mcpaql install codex https://example.com/openapi.json --env API_TOKEN\n  \
    mcpaql install vscode --scope project -- --mode unified\n\
    Exit status: 0 done or nothing to do, 2 could not run.")]
pub(crate) struct InstallArgs {
    /// Client to configure.
    #[arg(value_enum, value_name = "CLIENT", required_unless_present = "list")]
    pub(crate) client: Option<ClientApp>,
    /// What to serve, as for `serve`: adapter documents, OpenAPI descriptions (files or URLs), URLs of MCP servers that end in `/mcp`, or
    /// names of built-in adapters [default: mcpaql.yaml in this folder; without one, the built-in notebook].
    #[arg(value_name = "DOCUMENT", conflicts_with = "remove")]
    pub(crate) documents: Vec<String>,
    /// OpenAPI description to serve, as a file or URL; can be repeated.
    #[arg(long, value_name = "SOURCE", conflicts_with = "remove")]
    pub(crate) openapi: Vec<String>,
    /// URL of an MCP server to serve; can be repeated.
    #[arg(long, value_name = "URL", conflicts_with = "remove")]
    pub(crate) mcp: Vec<String>,
    /// Configuration to serve.
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    pub(crate) config: Option<PathBuf>,
    /// Other flags of `serve`.
    #[arg(last = true, value_name = "SERVE FLAGS", conflicts_with = "remove")]
    pub(crate) serve_flags: Vec<String>,
    /// Write the value of a variable into the entry: its current value, or the given one; can be repeated. Without it, the entry refers
    /// to the variables that the adapters need, if the client can do that.
    #[arg(long, value_name = "NAME[=VALUE]", conflicts_with = "remove")]
    pub(crate) env: Vec<String>,
    /// Name of the server in the client's configuration.
    #[arg(long, default_value = "mcpaql")]
    pub(crate) name: String,
    /// Install for all projects of the user (user), or only for the current folder (project).
    #[arg(long, value_enum, default_value_t = ConfigScope::User)]
    pub(crate) scope: ConfigScope,
    /// Configuration file to edit, instead of the client's default.
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub(crate) path: Option<PathBuf>,
    /// Show the changes without writing them.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove the server from the client's configuration.
    #[arg(long)]
    pub(crate) remove: bool,
    /// List the known clients, their configuration files, and whether mcpaql is installed in them.
    #[arg(long, conflicts_with_all = ["client", "config", "env", "openapi", "mcp", "path", "dry_run", "remove"])]
    pub(crate) list: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl InstallArgs {
    /// Returns the arguments of the server to install.
    ///
    /// # Errors
    /// When `serve` would refuse them.
    pub(crate) fn serve_args(&self) -> Result<ServeArgs, clap::Error> {
        let mut words = vec!["mcpaql".into(), "serve".into()];
        words.extend(self.documents.iter().map(OsString::from));
        let flags = [("--openapi", &self.openapi), ("--mcp", &self.mcp)];
        for (flag, values) in flags {
            words.extend(values.iter().flat_map(|value| [OsString::from(flag), value.into()]));
        }
        words.extend(self.config.iter().flat_map(|config| [OsString::from("--config"), config.into()]));
        words.extend(self.serve_flags.iter().map(OsString::from));
        let parsed = Cli::try_parse_from(words)?;
        match parsed.command {
            Command::Serve(args) if args.http.is_some() => {
                let message = "--http cannot be installed: the client starts the server and talks to it over standard input and output\n";
                Err(Cli::command().error(ErrorKind::ArgumentConflict, message))
            }
            Command::Serve(args) => Ok(*args),
            _ => {
                Err(Cli::command().error(ErrorKind::InvalidSubcommand, "expected the arguments of `serve`\n"))
            }
        }
    }
}
