//! The command line: commands, arguments and flags.

mod audit;
mod doctor;
mod gate;
mod generate;
mod init;
mod install;
mod serve;

pub(crate) use audit::AuditArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use gate::{
    ApproveAction, ApproveArgs, LogArgs, PauseArgs, ResumeArgs, RulesCommand, RulesExplainArgs,
    RulesReplayArgs, StateCommand, StateFileArgs, TrustArgs,
};
pub(crate) use generate::{GenerateArgs, OutputFormat, parse_language, parse_mode, parse_trust};
pub(crate) use init::{InitArgs, InitKind};
pub(crate) use install::InstallArgs;
pub(crate) use serve::{ServeArgs, TokenVariable};

use crate::file::absolute_path;
use crate::output::{LogFormat, error_with_hint};
use anyhow::Result;
use clap::builder::UnknownArgumentValueParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Sharing};
use mcpaql_core::operation::Category;
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_import::select::Selection;
use std::path::PathBuf;

/// Serve any API or MCP server to AI agents through a few tools.
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
    /// Write a first adapter; asks at most three questions.
    Init(InitArgs),
    /// Create an adapter document from an OpenAPI description or an MCP server.
    #[command(subcommand)]
    Import(ImportCommand),
    /// Generate a standalone project from an adapter, in Rust, TypeScript or Python.
    Generate(Box<GenerateArgs>),
    /// Add mcpaql to the configuration of an MCP client, or remove it.
    Install(Box<InstallArgs>),
    /// Check a setup and show how to fix each problem.
    Doctor(DoctorArgs),
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
    /// Trust a file or an adapter, or list what is trusted.
    Trust(TrustArgs),
    /// List the calls that wait for a person, and approve or deny them.
    Approve(ApproveArgs),
    /// Stop all calls, or those of one adapter, in every running server.
    Pause(PauseArgs),
    /// End a pause.
    Resume(ResumeArgs),
    /// Show what the rules of the operator decide, and why.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Show or verify the log of decisions and calls.
    Log(LogArgs),
    /// Back up or restore the state of the operator: grants, approvals, counters and pauses.
    #[command(subcommand)]
    State(StateCommand),
    /// Show running servers and the state of their adapters.
    Status(StatusArgs),
    /// Explain an error code or an audit rule, or list all of them.
    Explain(ExplainArgs),
    /// Print the JSON Schema of adapter documents or of mcpaql.yaml, for editors.
    Schema {
        /// Format to describe: adapter documents, or mcpaql.yaml.
        #[arg(value_enum, default_value_t = SchemaSubject::Document, value_name = "FORMAT")]
        subject: SchemaSubject,
    },
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

/// A format that `schema` describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaSubject {
    Document,
    Config,
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

    /// Returns the flags that set these settings again.
    fn words(&self) -> Vec<String> {
        let SurfaceArgs { mode, profile, prefix, policy } = self;
        let mode = mode.map(|mode| mode.as_str().to_owned());
        let flags = [("--mode", &mode), ("--profile", profile), ("--prefix", prefix), ("--policy", policy)];
        flags.into_iter().flat_map(|(flag, value)| flag_words(flag, value.as_ref())).collect()
    }
}

/// Returns a flag for each value.
fn flag_words<'v>(flag: &str, values: impl IntoIterator<Item = &'v String>) -> Vec<String> {
    // A value that starts with `-` must be in the same word.
    let words = |value: &String| match value.starts_with('-') {
        true => vec![format!("{flag}={value}")],
        false => vec![flag.to_owned(), value.clone()],
    };
    values.into_iter().flat_map(words).collect()
}

/// The value of `--mode`: how operations are grouped into tools, per adapter or for all adapters together.
#[derive(Debug, Clone, Copy)]
enum ServeMode {
    PerAdapter(Mode),
    Shared(Sharing),
}

impl ServeMode {
    fn as_str(self) -> &'static str {
        match self {
            ServeMode::PerAdapter(mode) => mode.as_str(),
            ServeMode::Shared(sharing) => sharing.as_str(),
        }
    }

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
    /// and prompts and resources of MCP servers: `prompt:NAME`, `resource:URI`; can be repeated.
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

    /// Returns the flags that set these options again, with absolute paths.
    fn words(&self) -> Result<Vec<String>> {
        let ImportOptions { name, overrides, include, exclude } = self;
        let overrides = overrides.as_deref().map(absolute_path).transpose()?;
        let flags = [
            flag_words("--name", name),
            flag_words("--overrides", &overrides),
            flag_words("--include", include),
            flag_words("--exclude", exclude),
        ];
        Ok(flags.concat())
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
    /// gemini, codex, zed.
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
    /// Does not exist; the error suggests `--`.
    #[arg(hide = true, value_name = "COMMAND", value_parser = UnknownArgumentValueParser::suggest("write the command after `--`, or pass a URL with --url"))]
    _words: Vec<String>,
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
    An operation that needs a confirmation asks on a terminal, and needs `--yes` elsewhere.\n\
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
    /// Fields to print: names or paths, or `minimal`, `standard` or `full`.
    #[arg(long, value_name = "NAME,…")]
    pub(crate) fields: Option<String>,
    /// Print only matching items: NAME=VALUE, or with `!=`, `>`, `>=`, `<` or `<=`; repeat for more conditions.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) filter: Vec<String>,
    /// Sort the items: NAME, or NAME:desc; repeat for more fields.
    #[arg(long, value_name = "NAME")]
    pub(crate) sort: Vec<String>,
    /// Show what the call would send, and send nothing; only for operations that change something.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Confirm the call without a question, where an operation asks for one.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Get all pages of the list from the API, up to 20.
    #[arg(long)]
    pub(crate) all_pages: bool,
    /// Output format of the data.
    #[arg(long, value_enum, default_value_t, conflicts_with = "envelope")]
    pub(crate) format: DataFormat,
    /// Print the whole response (`success`, and `data` or `error`) instead of the data.
    #[arg(long)]
    pub(crate) envelope: bool,
    /// Folder for stored records and executions [default: the data folder of the user, such as ~/.local/share/mcpaql].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

/// How `mcpaql call` prints the data of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum DataFormat {
    /// Indented JSON.
    #[default]
    Json,
    /// One line of JSON for each item.
    Ndjson,
    /// A table with a row for each item.
    Table,
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
}
