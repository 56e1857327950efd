//! What can be typed.

mod audit;
mod generate;

pub(crate) use audit::AuditArgs;
pub(crate) use generate::{GenerateArgs, OutputFormat, parse_language, parse_mode};

use crate::clients::{ClientApp, ConfigScope};
use crate::output::LogFormat;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Sharing};
use mcpaql_document::render::DiagnosticFormat;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Any API for AI agents through a handful of well-named, honestly annotated MCP tools.
///
/// An adapter document describes an API; `mcpaql` serves it as an MCP server with one tool per effect
/// (create, read, update, delete, execute). Agents discover operations with `introspect`.
#[derive(Debug, Parser)]
#[command(name = "mcpaql", version, max_term_width = 110)]
#[command(after_help = "Start with `mcpaql serve`: it serves a notebook, with nothing to configure.\n\
    Exit status: 0 clean, 1 findings or a failed call, 2 could not run.")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Log format on standard error; RUST_LOG chooses what is logged.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT", display_order = 900)]
    pub(crate) log: LogFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve adapters as one MCP server, over standard input and output or HTTP.
    Serve(Box<ServeArgs>),
    /// Turn the description of an API, or an MCP server, into an adapter document.
    #[command(subcommand)]
    Import(ImportCommand),
    /// Write an adapter as a project of its own, in Rust, TypeScript or Python.
    Generate(Box<GenerateArgs>),
    /// Put this program into the configuration of an MCP client, or take it out.
    Install(InstallArgs),
    /// Find operations by what they do, as an agent does with introspect.
    Search(SearchArgs),
    /// Report every problem of adapter documents, with its place and what to write instead.
    Check(CheckArgs),
    /// Find problems in the tools of any MCP server, and count what they cost.
    Audit(Box<AuditArgs>),
    /// Show the tools as a client will see them, and what they cost in tokens.
    Tools(ToolsArgs),
    /// Call one operation and print its data.
    Call(CallCommandArgs),
    /// Show running servers and the state of their adapters.
    Status(StatusArgs),
    /// Explain an error code or a rule of the audit, or list them all.
    Explain(ExplainArgs),
    /// Print the JSON Schema of adapter documents, for editors.
    Schema,
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// Flags that decide the surface; they win over environment, configuration and document.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct SurfaceArgs {
    /// How operations are spread over tools: semantic, single, all, discrete; unified and unified-single put all adapters behind
    /// the same five tools, or one.
    #[arg(long, value_parser = parse_serve_mode, value_name = "MODE")]
    mode: Option<ServeMode>,
    /// Endpoint profile: crude, or the document's own.
    #[arg(long)]
    profile: Option<String>,
    /// Prefix of tool names, in place of the adapter's name (such as `gh_`).
    #[arg(long)]
    prefix: Option<String>,
    /// Hint policy: mcpaql, mcpaql-issue, mcpaql-spec, mcp, lightdash, nextcloud, or one of the configuration.
    #[arg(long)]
    policy: Option<String>,
}

impl SurfaceArgs {
    pub(crate) fn settings(&self) -> AdapterSettings {
        AdapterSettings {
            mode: self.mode.and_then(ServeMode::mode),
            sharing: self.mode.and_then(ServeMode::sharing),
            profile: self.profile.clone(),
            prefix: self.prefix.clone(),
            policy: self.policy.clone(),
            ..AdapterSettings::default()
        }
    }
}

/// How operations are spread over tools: those of one adapter, or those of all.
#[derive(Debug, Clone, Copy)]
enum ServeMode {
    PerAdapter(Mode),
    Shared(Sharing),
}

impl ServeMode {
    fn mode(self) -> Option<Mode> {
        match self {
            ServeMode::PerAdapter(mode) => Some(mode),
            ServeMode::Shared(_) => None,
        }
    }

    fn sharing(self) -> Option<Sharing> {
        match self {
            ServeMode::PerAdapter(_) => None,
            ServeMode::Shared(sharing) => Some(sharing),
        }
    }
}

fn parse_serve_mode(text: &str) -> Result<ServeMode, String> {
    let alone = Mode::parse(text).map(ServeMode::PerAdapter);
    let spread = alone.or_else(|| Sharing::parse(text).map(ServeMode::Shared));
    one_of(spread, Mode::ALL.map(Mode::as_str).into_iter().chain(Sharing::WORDS))
}

/// What was typed, or else the words that could be.
fn one_of<T>(parsed: Option<T>, words: impl IntoIterator<Item = &'static str>) -> Result<T, String> {
    parsed.ok_or_else(|| format!("expected one of {}", Vec::from_iter(words).join(", ")))
}

/// What decides an import from the command line.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct ImportOptions {
    /// Name of the adapter, in place of one made from what the API or the server calls itself.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Corrections to what is imported: names, categories, danger, descriptions, inclusion.
    #[arg(long, value_name = "FILE")]
    pub(crate) overrides: Option<PathBuf>,
    /// Take only these operations: tag:NAME, path:/repos/**, op:get_*, category:READ, deprecated; repeat for several.
    #[arg(long, value_name = "RULE")]
    pub(crate) include: Vec<String>,
    /// Leave these operations out, spelled like --include.
    #[arg(long, value_name = "RULE")]
    pub(crate) exclude: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// From an OpenAPI description: Swagger 2.0, OpenAPI 3.0, 3.1 or 3.2, as JSON or YAML.
    Openapi(ImportOpenapiArgs),
    /// From an MCP server: its tools become operations, and calls are passed on to it.
    Mcp(Box<ImportMcpArgs>),
    /// From the configuration of an MCP client: its servers, as adapters of one mcpaql.yaml.
    Config(ImportConfigArgs),
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Credentials are not copied: they become ${env:NAME}, and what to set is printed, without values.\n\
    Exit status: 0 imported, 1 no server could be taken over, 2 could not run."
)]
pub(crate) struct ImportConfigArgs {
    /// Configuration file, `-` for standard input, or a client: claude-desktop, claude-code, cursor, vscode, windsurf,
    /// gemini, zed.
    #[arg(value_name = "PATH")]
    pub(crate) source: String,
    /// Where to write; `-` is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "mcpaql.yaml")]
    pub(crate) output: PathBuf,
    /// Overwrite a file that this command did not write, or that was changed since.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Everything else in the client's file stays as it is, and a copy of it is kept beside it.\n\
    Exit status: 0 done or nothing to do, 2 could not run."
)]
pub(crate) struct InstallArgs {
    /// The client to configure.
    #[arg(value_enum, value_name = "CLIENT", required_unless_present = "list")]
    pub(crate) client: Option<ClientApp>,
    /// Configuration to serve; mcpaql.yaml of this folder unless set, and the notebook where there is none.
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    pub(crate) config: Option<PathBuf>,
    /// What the client calls the server.
    #[arg(long, default_value = "mcpaql")]
    pub(crate) name: String,
    /// For all your folders, or for this one.
    #[arg(long, value_enum, default_value_t = ConfigScope::User)]
    pub(crate) scope: ConfigScope,
    /// Configuration file instead of the client's usual one.
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub(crate) path: Option<PathBuf>,
    /// Show what would change and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take the server out again.
    #[arg(long)]
    pub(crate) remove: bool,
    /// Show the known clients, their files, and whether this program is in them.
    #[arg(long, conflicts_with_all = ["client", "config", "path", "dry_run", "remove"])]
    pub(crate) list: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Importing the same description again gives the same bytes, so a new version shows as a small diff.\n\
    Exit status: 0 imported, 1 the description or the overrides are wrong, 2 could not run."
)]
pub(crate) struct ImportOpenapiArgs {
    /// File or address of the description.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) output_args: ImportOutputArgs,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "No tool is called. Secrets stay in the environment: the document only names the variables.\n\
    Such as: mcpaql import mcp -o files.md -- npx -y @modelcontextprotocol/server-filesystem /srv\n\
    Exit status: 0 imported, 1 the overrides are wrong, 2 could not run."
)]
pub(crate) struct ImportMcpArgs {
    /// The server's program and its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    pub(crate) command: Vec<String>,
    /// Address of a server that speaks streamable HTTP; may hold ${env:NAME}.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A saved answer of tools/list, instead of asking the server.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// How the server of --tools is reached: a command line or an address.
    #[arg(long, value_name = "TARGET", requires = "tools", conflicts_with_all = ["url", "command"])]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// File for everything that the server said and the import decided, as JSON without secrets.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output_args: ImportOutputArgs,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
}

/// How MCP servers are reached that are asked for their tools.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct AccessArgs {
    /// Header of requests to --url and the variable that holds its value, as NAME=VARIABLE; repeat for several.
    #[arg(long, value_name = "NAME=VARIABLE")]
    pub(crate) header: Vec<String>,
    /// Variable that holds the bearer token for --url.
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_env: Option<String>,
    /// Variable that is passed on to the program; repeat for several.
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) env: Vec<String>,
    /// Allow plain http:// to another machine.
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// What an import writes, and where.
#[derive(Debug, ClapArgs)]
pub(crate) struct ImportOutputArgs {
    /// Where to write the adapter document; standard output unless set.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print every decision of the import: text or json. Without --output nothing else is printed.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) report: Option<ReportFormat>,
    /// Overwrite a file that is not an imported adapter document.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit status: 0 found something, 1 found nothing, 2 could not run.")]
pub(crate) struct SearchArgs {
    /// Adapter document, OpenAPI description, or the name of an adapter of mcpaql.yaml or of a built-in one.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,
    /// What the operation should do, in plain words.
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
    /// How many to show.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) first: u32,
    /// What an agent is answered, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Without documents, mcpaql.yaml of this folder is served; without that, a notebook.")]
pub(crate) struct ServeArgs {
    /// Adapter documents (Markdown with front matter, YAML or JSON), OpenAPI descriptions, or the name of a built-in adapter.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// OpenAPI description to serve without a document in between, as a file or an address; repeat for several.
    #[arg(long, value_name = "SOURCE", conflicts_with = "config")]
    pub(crate) openapi: Vec<String>,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
    /// Configuration file instead of mcpaql.yaml.
    #[arg(long, value_name = "FILE", conflicts_with = "documents")]
    pub(crate) config: Option<PathBuf>,
    /// Serve streamable HTTP on this address instead of standard input and output (such as 127.0.0.1:8080).
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// Folder of the embedded stores; your data directory unless set.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Do not cache the tools for the next start.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Do not watch the files for changes; SIGHUP still reloads them.
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// Environment variable that holds the bearer token HTTP clients must send.
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// Host name that HTTP clients may use besides loopback ones; repeat for several.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Origin that browsers may call from besides loopback ones; repeat for several.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Listen on a non-loopback address without authentication: everyone who reaches it can call every operation.
    #[arg(long, requires = "http")]
    pub(crate) allow_remote_without_authentication: bool,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Without documents, mcpaql.yaml of this folder and its adapters are checked.\n\
    Exit status: 0 clean or warnings only, 1 errors, 2 a file could not be read.")]
pub(crate) struct CheckArgs {
    /// Adapter documents.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// Format of the report: full, concise, json, sarif, github.
    #[arg(long, value_parser = parse_style, default_value = "full", value_name = "FORMAT")]
    pub(crate) format: DiagnosticFormat,
    /// Count warnings as findings.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

fn parse_style(text: &str) -> Result<DiagnosticFormat, String> {
    one_of(DiagnosticFormat::parse(text), DiagnosticFormat::ALL.iter().map(|style| style.as_str()))
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Without documents, mcpaql.yaml of this folder is shown; without that, the notebook.")]
pub(crate) struct ToolsArgs {
    /// Adapter documents, or the name of an adapter of mcpaql.yaml or of a built-in one.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// The exact result of tools/list.
    #[arg(long)]
    pub(crate) json: bool,
    /// The descriptions too.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) descriptions: bool,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Values are read as the parameter's type: `limit=5`, `labels=bug,ui`, `labels='[\"a,b\"]'`.\n\
    Exit status: 0 success, 1 the call failed and the caller can fix it, 2 the target failed or could not be reached."
)]
pub(crate) struct CallCommandArgs {
    /// Adapter document, or the name of an adapter of mcpaql.yaml or of a built-in one (notebook).
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,
    /// Operation; `introspect` lists them.
    #[arg(default_value = "introspect")]
    pub(crate) operation: String,
    /// Parameters.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,
    /// Parameters as one JSON object; `-` reads it from standard input.
    #[arg(long, value_name = "JSON")]
    pub(crate) params: Option<String>,
    /// The whole envelope instead of its data.
    #[arg(long)]
    pub(crate) envelope: bool,
    /// Folder of the embedded stores; your data directory unless set.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Without --url, all your servers on this machine are shown.\n\
    Exit status: 0 all is well, 1 something fails, 2 no server answered.")]
pub(crate) struct StatusArgs {
    /// Ask the server on this address (such as http://127.0.0.1:8080).
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Environment variable that holds the server's bearer token.
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) token_env: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Such as VALIDATION_MISSING_PARAM or NAME-001.
    pub(crate) code: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
