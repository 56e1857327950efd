//! The arguments of `mcpaql generate`.

use super::{AccessArgs, ImportOptions, one_of};
use clap::builder::UnknownArgumentValueParser;
use clap::{Args as ClapArgs, ValueEnum};
use mcpaql_core::adapter::Mode;
use mcpaql_gate::trust::TrustLevel;
use mcpaql_generate::Language;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    version,
    after_help = "Example: mcpaql generate -s github-api-adapter.md -t typescript -o github\n\
    Generating again keeps hand-written files, and does not overwrite generated files that were edited.\n\
    Exit status: 0 success, 1 internal error, 2 invalid schema, 3 invalid flag or configuration,\n\
    4 file error or output folder rejected, 5 operations not supported in the target language."
)]
pub(crate) struct GenerateArgs {
    /// Adapter document, OpenAPI description, or name of an adapter: one of mcpaql.yaml, or the built-in notebook.
    #[arg(long, short, value_name = "FILE", help_heading = "Source")]
    pub(crate) schema: Option<String>,
    /// Does not exist; the error suggests `--schema`.
    #[arg(hide = true, value_name = "DOCUMENT", value_parser = UnknownArgumentValueParser::suggest_arg("--schema"))]
    _document: Option<String>,
    /// OpenAPI description, as a file or URL.
    #[arg(long, value_name = "SOURCE", help_heading = "Source", conflicts_with = "schema")]
    pub(crate) openapi: Option<String>,
    /// Saved result of tools/list; also pass COMMAND or --url of the server.
    #[arg(long, value_name = "FILE", help_heading = "Source", conflicts_with_all = ["schema", "openapi"])]
    pub(crate) tools: Option<PathBuf>,
    /// Command that starts an MCP server, with its arguments; without --tools, mcpaql starts it and requests its tools.
    #[arg(last = true, value_name = "COMMAND", help_heading = "Source", conflicts_with_all = ["schema", "openapi"])]
    pub(crate) command: Vec<String>,
    /// URL of a server that speaks streamable HTTP, instead of COMMAND.
    #[arg(long, value_name = "URL", help_heading = "Source", conflicts_with_all = ["schema", "openapi", "command"])]
    pub(crate) url: Option<String>,
    #[command(flatten, next_help_heading = "Source")]
    pub(crate) access: AccessArgs,
    #[command(flatten, next_help_heading = "Source")]
    pub(crate) import_options: ImportOptions,
    /// Language of the project: rust, typescript, python.
    #[arg(long, short, value_name = "LANGUAGE", value_parser = parse_language, help_heading = "Project")]
    pub(crate) target: Option<Language>,
    /// Folder of the project [default: ./generated].
    #[arg(long, short, value_name = "DIR", help_heading = "Project")]
    pub(crate) output: Option<PathBuf>,
    /// Generator configuration, as YAML or JSON; flags override it.
    #[arg(long, short, value_name = "FILE", help_heading = "Project")]
    pub(crate) config: Option<PathBuf>,
    /// Licence of the project, as an SPDX expression or UNLICENSED [default: Apache-2.0].
    #[arg(long, value_name = "SPDX", help_heading = "Project")]
    pub(crate) license: Option<String>,
    /// Copyright holder, written to LICENSE after `Copyright (c)`.
    #[arg(long, value_name = "TEXT", help_heading = "Project")]
    pub(crate) copyright: Option<String>,
    /// How to group operations into tools: semantic (a tool per effect), single (one tool), all (semantic and single), discrete (a tool per
    /// operation).
    #[arg(long, value_parser = parse_mode, value_name = "MODE", help_heading = "Project")]
    pub(crate) mode: Option<Mode>,
    /// Endpoint profile: crude (create, read, update, delete, execute), or a profile of the document.
    #[arg(long, help_heading = "Project")]
    pub(crate) profile: Option<String>,
    /// Prefix of tool names, such as `gh_`, instead of the adapter's name.
    #[arg(long, help_heading = "Project")]
    pub(crate) prefix: Option<String>,
    /// Hint policy: mcpaql, mcpaql-issue, mcpaql-spec, mcp, lightdash, nextcloud.
    #[arg(long, help_heading = "Project")]
    pub(crate) policy: Option<String>,
    /// How far the project trusts the adapter: untested, generated, validated, community_reviewed, certified. Decides which operations run at
    /// once, after a confirmation, or never [default: that of the existing project, else validated].
    #[arg(long, value_name = "LEVEL", value_parser = parse_trust, help_heading = "Project")]
    pub(crate) trust: Option<TrustLevel>,
    /// Source of mcpaql-runtime for a Rust project: a version, path:DIR or git:URL [default: this version on crates.io].
    #[arg(long, value_name = "SPEC", help_heading = "Project")]
    pub(crate) runtime: Option<String>,
    /// Skip operations that cannot be generated in the target language (TypeScript and Python support HTTP APIs and commands).
    #[arg(long, help_heading = "Project")]
    pub(crate) skip_unsupported: bool,
    /// Omit the timestamp in MCPAQL-PROVENANCE.json, or take it from SOURCE_DATE_EPOCH if that is set.
    #[arg(long, help_heading = "Project")]
    pub(crate) reproducible: bool,
    /// Report format on standard output.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORMAT", help_heading = "Run")]
    pub(crate) output_format: OutputFormat,
    /// Treat warnings as errors.
    #[arg(long, help_heading = "Run")]
    pub(crate) strict: bool,
    /// Check everything and list the files, without writing them.
    #[arg(long, help_heading = "Run")]
    pub(crate) dry_run: bool,
    /// Show the changes as a unified diff, without writing them.
    #[arg(long, help_heading = "Run")]
    pub(crate) diff: bool,
    /// Overwrite edited files, and write into a non-empty folder that mcpaql did not generate.
    #[arg(long, help_heading = "Run")]
    pub(crate) force: bool,
    /// List every file, with the reason why it is written or kept.
    #[arg(long, short, help_heading = "Run", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print only errors.
    #[arg(long, short, help_heading = "Run")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Human,
    Json,
}

pub(crate) fn parse_language(text: &str) -> Result<Language, String> {
    one_of(Language::parse(text), Language::ALL.map(Language::as_str))
}

pub(crate) fn parse_trust(text: &str) -> Result<TrustLevel, String> {
    one_of(TrustLevel::parse(text), TrustLevel::ALL.map(TrustLevel::as_str))
}

pub(crate) fn parse_mode(text: &str) -> Result<Mode, String> {
    one_of(Mode::parse(text), Mode::ALL.map(Mode::as_str))
}
