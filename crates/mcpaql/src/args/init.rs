//! Arguments of `init`.

use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

/// What `init` writes an adapter for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitKind {
    /// An HTTP API without a description.
    Http,
    /// An OpenAPI description.
    Openapi,
    /// An MCP server.
    Mcp,
    /// A program on this machine.
    Command,
    /// Records in a store, without an API.
    Store,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Flags answer the questions in advance. Without a terminal, pass --kind and --source.\n\
    Examples:\n  \
    mcpaql init --kind http --source https://api.example.com/v1 --token-env EXAMPLE_TOKEN\n  \
    mcpaql init --kind openapi --source https://api.example.com/openapi.json\n  \
    mcpaql init --kind mcp --source 'npx -y @modelcontextprotocol/server-filesystem /srv'\n  \
    mcpaql init --kind command --source 'git log --grep={text}'\n  \
    mcpaql init --kind store --source task\n\
    Exit status: 0 written, 2 could not run."
)]
pub(crate) struct InitArgs {
    /// File to write; `-` for standard output [default: mcpaql.yaml for openapi and mcp, otherwise NAME-adapter.yaml].
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Kind of source.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<InitKind>,
    /// Source, by kind: http: URL of the API; openapi: file or URL of the description; mcp: URL or command line of the server;
    /// command: command line of the program, with parameters as {name}; store: name of one record, such as task.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<String>,
    /// Name of the adapter [default: derived from the source].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Environment variable with the credential: the bearer token for a URL, or the variable to pass to the command of an MCP server.
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) token_env: Option<String>,
    /// Ask no questions, and use defaults for missing answers.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Overwrite an existing file.
    #[arg(long)]
    pub(crate) force: bool,
}
