//! What can be typed behind `generate`.

use super::{AccessArgs, ImportOptions, one_of};
use clap::{Args as ClapArgs, ValueEnum};
use mcpaql_core::adapter::Mode;
use mcpaql_generate::Language;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    version,
    after_help = "Such as: mcpaql generate -s github-api-adapter.md -t typescript -o github\n\
    Generating again keeps hand-written files, and writes over no generated file that was edited.\n\
    Exit status: 0 success, 1 internal error, 2 invalid schema, 3 wrong flag or configuration,\n\
    4 reading or writing failed or was refused, 5 the language cannot do what the schema needs."
)]
pub(crate) struct GenerateArgs {
    /// Adapter document, OpenAPI description, or the name of an adapter of mcpaql.yaml or of a built-in one.
    #[arg(long, short, value_name = "FILE", help_heading = "Source")]
    pub(crate) schema: Option<String>,
    /// OpenAPI description, as a file or an address.
    #[arg(long, value_name = "SOURCE", help_heading = "Source", conflicts_with = "schema")]
    pub(crate) openapi: Option<String>,
    /// A saved answer of tools/list; how its server is reached is said by COMMAND or --url.
    #[arg(long, value_name = "FILE", help_heading = "Source", conflicts_with_all = ["schema", "openapi"])]
    pub(crate) tools: Option<PathBuf>,
    /// The program of an MCP server and its arguments, which is asked for its tools unless --tools has them.
    #[arg(last = true, value_name = "COMMAND", help_heading = "Source", conflicts_with_all = ["schema", "openapi"])]
    pub(crate) command: Vec<String>,
    /// Address of a server that speaks streamable HTTP, instead of COMMAND.
    #[arg(long, value_name = "URL", help_heading = "Source", conflicts_with_all = ["schema", "openapi", "command"])]
    pub(crate) url: Option<String>,
    #[command(flatten, next_help_heading = "Source")]
    pub(crate) access: AccessArgs,
    #[command(flatten, next_help_heading = "Source")]
    pub(crate) import_options: ImportOptions,
    /// Language of the project: rust, typescript, python.
    #[arg(long, short, value_name = "LANGUAGE", value_parser = parse_language, help_heading = "Project")]
    pub(crate) target: Option<Language>,
    /// Folder of the project; ./generated unless set.
    #[arg(long, short, value_name = "DIR", help_heading = "Project")]
    pub(crate) output: Option<PathBuf>,
    /// Generator configuration, as YAML or JSON; flags win over it.
    #[arg(long, short, value_name = "FILE", help_heading = "Project")]
    pub(crate) config: Option<PathBuf>,
    /// Licence of the project, as an SPDX expression or UNLICENSED; Apache-2.0 unless set.
    #[arg(long, value_name = "SPDX", help_heading = "Project")]
    pub(crate) license: Option<String>,
    /// Who holds the rights, as it stands in LICENSE behind `Copyright (c)`.
    #[arg(long, value_name = "TEXT", help_heading = "Project")]
    pub(crate) copyright: Option<String>,
    /// How operations are spread over tools: semantic, single, all, discrete.
    #[arg(long, value_parser = parse_mode, value_name = "MODE", help_heading = "Project")]
    pub(crate) mode: Option<Mode>,
    /// Endpoint profile: crude, or the document's own.
    #[arg(long, help_heading = "Project")]
    pub(crate) profile: Option<String>,
    /// Prefix of tool names, in place of the adapter's name (such as `gh_`).
    #[arg(long, help_heading = "Project")]
    pub(crate) prefix: Option<String>,
    /// Hint policy: mcpaql, mcpaql-issue, mcpaql-spec, mcp, lightdash, nextcloud.
    #[arg(long, help_heading = "Project")]
    pub(crate) policy: Option<String>,
    /// Where a project in Rust finds mcpaql-runtime: a version, path:DIR or git:URL; this version on crates.io unless set.
    #[arg(long, value_name = "SPEC", help_heading = "Project")]
    pub(crate) runtime: Option<String>,
    /// Leave out operations that projects in the language cannot serve (TypeScript and Python reach HTTP APIs and commands).
    #[arg(long, help_heading = "Project")]
    pub(crate) skip_unsupported: bool,
    /// Leave the time out of the provenance; SOURCE_DATE_EPOCH sets it.
    #[arg(long, help_heading = "Project")]
    pub(crate) reproducible: bool,
    /// Format of the report on standard output.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORMAT", help_heading = "Run")]
    pub(crate) output_format: OutputFormat,
    /// Let warnings fail, too.
    #[arg(long, help_heading = "Run")]
    pub(crate) strict: bool,
    /// Check everything, tell what would be written, and write nothing.
    #[arg(long, help_heading = "Run")]
    pub(crate) dry_run: bool,
    /// Show what would change as a unified diff, and write nothing.
    #[arg(long, help_heading = "Run")]
    pub(crate) diff: bool,
    /// Write over generated files that were edited, and into a folder that holds something else.
    #[arg(long, help_heading = "Run")]
    pub(crate) force: bool,
    /// List every file, and why it is written or left.
    #[arg(long, short, help_heading = "Run", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Say nothing but errors.
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

pub(crate) fn parse_mode(text: &str) -> Result<Mode, String> {
    one_of(Mode::parse(text), Mode::ALL.map(Mode::as_str))
}
