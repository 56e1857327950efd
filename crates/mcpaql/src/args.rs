//! The command line: commands, arguments and flags.

mod audit;
mod generate;

pub(crate) use audit::AuditArgs;
pub(crate) use generate::{GenerateArgs, OutputFormat, parse_language, parse_mode};

use crate::clients::{ClientApp, ConfigScope};
use crate::output::{LogFormat, error_with_hint};
use anyhow::Result;
use clap::builder::UnknownArgumentValueParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Sharing};
use mcpaql_core::operation::Category;
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_import::select::Selection;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Serve any API or MCP server to AI agents as a handful of tools.
///
/// Point mcpaql at an OpenAPI file, an MCP server, a command or a short YAML document. Agents see one tool per effect
/// (create, read, update, delete, execute) and look up operations with `introspect`.
#[derive(Debug, Parser)]
#[command(name = "mcpaql", version, max_term_width = 110)]
#[command(
    after_help = "To try it without any configuration, run `mcpaql serve`: it serves a built-in notebook.\n\
    Exit status: 0 success, 1 findings or a rejected call, 2 could not run. `generate` has its own exit statuses."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Format of the log on standard error; RUST_LOG sets the log level.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT", display_order = 900)]
    pub(crate) log: LogFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve adapters as one MCP server, over stdio or HTTP.
    Serve(Box<ServeArgs>),
    /// Create an adapter document from an OpenAPI description or an MCP server.
    #[command(subcommand)]
    Import(ImportCommand),
    /// Generate a standalone project from an adapter, in Rust, TypeScript or Python.
    Generate(Box<GenerateArgs>),
    /// Add mcpaql to the configuration of an MCP client, or remove it.
    Install(InstallArgs),
    /// Search operations in plain words, with the same search that agents use.
    Search(SearchArgs),
    /// Check adapter documents and report every problem, with its position and a fix.
    Check(CheckArgs),
    /// Find problems in the tools of any MCP server, and count their tokens.
    Audit(Box<AuditArgs>),
    /// Show the tools that clients see, and their cost in tokens.
    Tools(ToolsArgs),
    /// List the operations of adapters, with category and danger.
    Operations(OperationsArgs),
    /// Call one operation and print its data.
    Call(CallCommandArgs),
    /// Show running servers and the state of their adapters.
    Status(StatusArgs),
    /// Explain an error code or an audit rule, or list all of them.
    Explain(ExplainArgs),
    /// Print the JSON Schema of adapter documents, for editors.
    Schema,
    /// Print a manual page: `mcpaql man | man -l -`.
    Man {
        /// Command to describe, such as `serve` or `import openapi`; without it, the program.
        #[arg(value_name = "COMMAND")]
        path: Vec<String>,
    },
    /// Print a shell completion script.
    Completions {
        /// Shell to generate the script for.
        shell: clap_complete::Shell,
    },
}

/// Flags that decide the surface. They override the environment, the configuration and the document.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct SurfaceArgs {
    /// How to group operations into tools: semantic (a tool per effect), single (one tool), all (semantic and single), discrete (a tool per
    /// operation); unified (five tools for all adapters), unified-single (one tool for all adapters).
    #[arg(long, value_parser = parse_serve_mode, value_name = "MODE")]
    mode: Option<ServeMode>,
    /// Endpoint profile: crude (create, read, update, delete, execute), or a profile of the document.
    #[arg(long)]
    profile: Option<String>,
    /// Prefix of tool names, such as `gh_`, instead of the adapter's name.
    #[arg(long)]
    prefix: Option<String>,
    /// Hint policy: mcpaql, mcpaql-issue, mcpaql-spec, mcp, lightdash, nextcloud, or a policy of mcpaql.yaml.
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

/// The value of `--mode`: how operations are grouped into tools, per adapter or for all adapters together.
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
    let per_adapter = Mode::parse(text).map(ServeMode::PerAdapter);
    let mode = per_adapter.or_else(|| Sharing::parse(text).map(ServeMode::Shared));
    one_of(mode, Mode::ALL.map(Mode::as_str).into_iter().chain(Sharing::WORDS))
}

/// Maximum number of results that a search returns.
const MAX_RESULTS: u32 = 200;

fn parse_first(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_RESULTS).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {MAX_RESULTS}"))
}

/// Returns the parsed value, or an error that lists the allowed words.
fn one_of<T>(parsed: Option<T>, words: impl IntoIterator<Item = &'static str>) -> Result<T, String> {
    parsed.ok_or_else(|| format!("expected one of {}", Vec::from_iter(words).join(", ")))
}

/// Options of an import.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct ImportOptions {
    /// Name of the adapter [default: derived from the API or the server].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// File that overrides imported names, categories, danger levels and descriptions, and includes or excludes operations.
    #[arg(long, value_name = "FILE")]
    pub(crate) overrides: Option<PathBuf>,
    /// Import only operations that match a rule: `tag:NAME`, `path:/repos/**`, `op:get_*`, `category:READ` or `deprecated`;
    /// can be repeated.
    #[arg(long, value_name = "RULE")]
    pub(crate) include: Vec<String>,
    /// Skip operations that match a rule; same syntax as --include; can be repeated.
    #[arg(long, value_name = "RULE")]
    pub(crate) exclude: Vec<String>,
}

impl ImportOptions {
    /// Returns the name of the first option that is set.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("name", self.name.is_some()),
            ("overrides", self.overrides.is_some()),
            ("include", !self.include.is_empty()),
            ("exclude", !self.exclude.is_empty()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// Returns the operations that the rules select.
    pub(crate) fn selection(&self) -> Result<Selection> {
        Selection::parse(&self.include, &self.exclude)
            .map_err(|error| error_with_hint(error.message, error.hint))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import an OpenAPI description: Swagger 2.0, OpenAPI 3.0, 3.1 or 3.2, as JSON or YAML.
    Openapi(ImportOpenapiArgs),
    /// Import an MCP server: its tools become operations, and calls are forwarded to it.
    Mcp(Box<ImportMcpArgs>),
    /// Import the servers of an MCP client's configuration, as adapters of one mcpaql.yaml.
    Config(ImportConfigArgs),
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Credentials are not copied: they become ${env:NAME}, and the variables to set are printed without values.\n\
    Exit status: 0 imported, 1 no server could be imported, 2 could not run."
)]
pub(crate) struct ImportConfigArgs {
    /// Configuration file, `-` for standard input, or a client: claude-desktop, claude-code, cursor, vscode, windsurf,
    /// gemini, zed.
    #[arg(value_name = "PATH")]
    pub(crate) source: String,
    /// File to write; `-` for standard output.
    #[arg(long, short, value_name = "FILE", default_value = "mcpaql.yaml")]
    pub(crate) output: PathBuf,
    /// Overwrite a file that was edited, or that this command did not write.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "The rest of the client's file does not change, and a backup is kept beside it.\n\
    Exit status: 0 done or nothing to do, 2 could not run.")]
pub(crate) struct InstallArgs {
    /// Client to configure.
    #[arg(value_enum, value_name = "CLIENT", required_unless_present = "list")]
    pub(crate) client: Option<ClientApp>,
    /// Configuration to serve [default: mcpaql.yaml in this folder; without one, the built-in notebook].
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    pub(crate) config: Option<PathBuf>,
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
    #[arg(long, conflicts_with_all = ["client", "config", "path", "dry_run", "remove"])]
    pub(crate) list: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The output is deterministic: after an API update, the diff shows only what changed.\n\
    Exit status: 0 imported, 1 the description or the overrides have errors, 2 could not run."
)]
pub(crate) struct ImportOpenapiArgs {
    /// File or URL of the description.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) output_args: ImportOutputArgs,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "No tool is called. Secrets stay in the environment: the document contains only the names of variables.\n\
    Example: mcpaql import mcp -o files.md -- npx -y @modelcontextprotocol/server-filesystem /srv\n\
    Exit status: 0 imported, 1 the overrides have errors, 2 could not run."
)]
pub(crate) struct ImportMcpArgs {
    /// Command that starts the server, with its arguments.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    pub(crate) command: Vec<String>,
    /// URL of a server that speaks streamable HTTP; may contain ${env:NAME}.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Saved result of tools/list; without it, mcpaql requests the tools from the server.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Command line or URL that calls go to; only with --tools.
    #[arg(long, value_name = "TARGET", requires = "tools", conflicts_with_all = ["url", "command"])]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Write the server's responses and the import report to this file, as JSON without secrets.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output_args: ImportOutputArgs,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
}

/// How to reach the MCP servers that are asked for their tools.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct AccessArgs {
    /// Header for requests to --url, with its value in an environment variable; can be repeated.
    #[arg(long, value_name = "NAME=VARIABLE")]
    pub(crate) header: Vec<String>,
    /// Environment variable with the bearer token for --url.
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_env: Option<String>,
    /// Environment variable to pass to the command; can be repeated.
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) env: Vec<String>,
    /// Allow plain http:// to another machine.
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// The output of an import.
#[derive(Debug, ClapArgs)]
pub(crate) struct ImportOutputArgs {
    /// Write the adapter document to this file: YAML for .yaml, JSON for .json, otherwise Markdown [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print a report of how each operation was imported; without --output, instead of the document.
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
    /// Adapter document, OpenAPI description, or name of an adapter: one of mcpaql.yaml, or the built-in notebook.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,
    /// What the operation should do, in plain words.
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
    /// Maximum number of results.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = parse_first)]
    pub(crate) first: u32,
    /// Print the JSON that an agent receives.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without documents, serves mcpaql.yaml in this folder; without that file, the built-in notebook.\n\
    Exit status: 0 stopped, 1 the documents have errors, 2 could not run."
)]
pub(crate) struct ServeArgs {
    /// Adapter documents (Markdown with front matter, YAML or JSON), OpenAPI descriptions, or names of built-in adapters.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// OpenAPI description to serve directly, as a file or URL; can be repeated.
    #[arg(long, value_name = "SOURCE", conflicts_with = "config")]
    pub(crate) openapi: Vec<String>,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
    /// Configuration file [default: mcpaql.yaml].
    #[arg(long, value_name = "FILE", conflicts_with = "documents")]
    pub(crate) config: Option<PathBuf>,
    /// Serve over streamable HTTP instead of stdio, on a loopback port (8080) or an address with a port (0.0.0.0:8080).
    #[arg(long, value_name = "ADDRESS", value_parser = parse_http_address)]
    pub(crate) http: Option<SocketAddr>,
    /// Does not exist; the error suggests `--http`.
    #[arg(long = "port", hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--http"))]
    _port: Option<String>,
    /// Folder for the data of built-in stores [default: the data directory of the user, such as ~/.local/share/mcpaql].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Do not read or write the tool cache.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Do not watch files for changes; SIGHUP still reloads them.
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// Environment variable with the bearer token that HTTP clients must send.
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// Host name that HTTP clients may use in addition to loopback names; can be repeated.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Origin that browsers may call from in addition to loopback origins; can be repeated.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Listen on a non-loopback address without authentication: everyone who can reach it can call every operation.
    #[arg(long, requires = "http")]
    pub(crate) allow_remote_without_authentication: bool,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

/// Parses the value of `--http`: an address with a port, or only a port, which means loopback. Names other than `localhost` are
/// not looked up.
fn parse_http_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost").unwrap_or(text);
    let port = port.strip_prefix(':').or_else(|| (port == text).then_some(port));
    let on_loopback = port.and_then(|port| port.parse().ok()).map(|port| (Ipv4Addr::LOCALHOST, port).into());
    on_loopback.or_else(|| text.parse().ok()).ok_or_else(|| {
        "expected a port or an IP address with a port, such as 8080 or 127.0.0.1:8080".to_owned()
    })
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without documents, checks mcpaql.yaml in this folder and its adapters; without that file, the built-in notebook.\n\
    Exit status: 0 clean or warnings only, 1 errors, 2 a file could not be read."
)]
pub(crate) struct CheckArgs {
    /// Adapter documents, OpenAPI descriptions, or names of built-in adapters.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// Report format: full, concise, json, sarif, github.
    #[arg(long, value_parser = parse_diagnostic_format, default_value = "full", value_name = "FORMAT")]
    pub(crate) format: DiagnosticFormat,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

fn parse_diagnostic_format(text: &str) -> Result<DiagnosticFormat, String> {
    one_of(DiagnosticFormat::parse(text), DiagnosticFormat::ALL.iter().map(|format| format.as_str()))
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without documents, shows mcpaql.yaml in this folder; without that file, the built-in notebook."
)]
pub(crate) struct ToolsArgs {
    /// Adapter documents, OpenAPI descriptions, built-in adapters, or one adapter of mcpaql.yaml by name.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// Print the exact result of tools/list.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the descriptions of the tools, too.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) descriptions: bool,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without documents, lists mcpaql.yaml in this folder; without that file, the built-in notebook.\n\
    Exit status: 0 success, 1 an adapter could not be read and is missing, 2 could not run."
)]
pub(crate) struct OperationsArgs {
    /// Adapter documents, OpenAPI descriptions, built-in adapters, or one adapter of mcpaql.yaml by name.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// List only one category: create, read, update, delete or execute.
    #[arg(long, value_parser = parse_category, value_name = "CATEGORY")]
    pub(crate) category: Option<Category>,
    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_category(text: &str) -> Result<Category, String> {
    one_of(Category::parse(text), Category::ALL.map(Category::endpoint))
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Values are parsed as the parameter's type: `limit=5`, `labels=bug,ui`, `labels='[\"a,b\"]'`.\n\
    `photo=@photo.png` sends a file: its text or, for a parameter that takes a file, its bytes. `@@` starts a value with `@`.\n\
    Exit status: 0 success, 1 the call was rejected, 2 the target failed or could not be reached."
)]
pub(crate) struct CallCommandArgs {
    /// Adapter document, OpenAPI description, or name of an adapter: one of mcpaql.yaml, or the built-in notebook.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,
    /// Operation to call; `introspect` lists all operations.
    #[arg(default_value = "introspect")]
    pub(crate) operation: String,
    /// Parameters of the operation.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,
    /// Parameters as one JSON object; `-` reads it from standard input.
    #[arg(long, value_name = "JSON")]
    pub(crate) params: Option<String>,
    /// Print the whole response (`success`, and `data` or `error`) instead of the data.
    #[arg(long)]
    pub(crate) envelope: bool,
    /// Folder for the data of built-in stores [default: the data directory of the user, such as ~/.local/share/mcpaql].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Without --url, shows all your servers on this machine.\n\
    Exit status: 0 everything works, 1 a server or an adapter has a problem, 2 no server answered.")]
pub(crate) struct StatusArgs {
    /// URL of the server, such as http://127.0.0.1:8080.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Environment variable with the server's bearer token.
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) token_env: Option<String>,
    /// Print the status as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Error code or rule, such as VALIDATION_MISSING_PARAM or NAME-001.
    pub(crate) code: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn a_bare_port_means_loopback() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:8080", "0.0.0.0:8080"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(super::parse_http_address(text), Ok(address.parse().unwrap()), "{text}");
        }
        for wrong in [
            "",
            ":",
            "localhost",
            "localhost8080",
            "127.0.0.1",
            "example.com:8080",
            "99999",
            "http://localhost:8080",
        ] {
            let error = super::parse_http_address(wrong).unwrap_err();
            assert!(error.contains("such as 8080 or 127.0.0.1:8080"), "{wrong}: {error}");
        }
    }
}
