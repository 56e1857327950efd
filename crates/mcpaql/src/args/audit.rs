//! What can be typed behind `audit`.

use super::{AccessArgs, ServeMode, SurfaceArgs, one_of, parse_serve_mode};
use clap::Args as ClapArgs;
use mcpaql_audit::convention::RuleLevel;
use mcpaql_audit::render::RenderFormat;
use mcpaql_core::catalog::AdapterSettings;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Tools are called only with --probe. Without a source, the adapters of mcpaql.yaml of this folder are audited.\n\
    Such as: mcpaql audit -- npx -y @modelcontextprotocol/server-filesystem /srv\n\
    Exit status: 0 clean or only findings below --fail-on, 1 findings, 2 could not run."
)]
pub(crate) struct AuditArgs {
    /// Adapter documents, OpenAPI descriptions, or the name of an adapter of mcpaql.yaml or of a built-in one.
    #[arg(value_name = "DOCUMENT", help_heading = "Sources")]
    pub(crate) documents: Vec<String>,
    /// The program of an MCP server and its arguments; it is started, asked for its tools and ended.
    #[arg(last = true, value_name = "COMMAND", help_heading = "Sources")]
    pub(crate) command: Vec<String>,
    /// Address of a server that speaks streamable HTTP; repeat for several.
    #[arg(long, value_name = "URL", help_heading = "Sources")]
    pub(crate) url: Vec<String>,
    /// A saved answer of tools/list, `-` for standard input; repeat for several.
    #[arg(long, value_name = "FILE", help_heading = "Sources")]
    pub(crate) tools: Vec<PathBuf>,
    /// Name that the client gives the server, for a single server: most clients put it before the names of tools.
    #[arg(long, value_name = "NAME", help_heading = "Sources")]
    pub(crate) name: Option<String>,
    /// All servers of a client's configuration: its file, or the client's name.
    #[arg(long, value_name = "PATH", help_heading = "Sources")]
    pub(crate) config: Option<String>,
    #[command(flatten, next_help_heading = "Sources")]
    pub(crate) access: AccessArgs,
    /// How operations are spread over tools, instead of as they would be served.
    #[arg(long, value_parser = parse_serve_mode, value_name = "MODE", help_heading = "Sources")]
    mode: Option<ServeMode>,
    /// Maximum number of seconds that a server may take to answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, help_heading = "Sources",
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Call the tools that say they only read, twice each with made-up arguments, and see whether they do; nothing else is called.
    #[arg(long, help_heading = "Sources")]
    pub(crate) probe: bool,
    /// Command of the shell whose output is the state that --probe compares before and after.
    #[arg(long, value_name = "COMMAND", requires = "probe", help_heading = "Sources")]
    pub(crate) snapshot: Option<String>,
    /// Conventions to check besides MCP itself, separated by commas; `clients` is every known client.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Standard")]
    pub(crate) convention: Vec<String>,
    /// A team's own conventions.
    #[arg(long, value_name = "FILE", help_heading = "Standard")]
    pub(crate) conventions: Option<PathBuf>,
    /// Which hints are expected of which tools.
    #[arg(long, value_name = "NAME", help_heading = "Standard")]
    pub(crate) policy: Option<String>,
    /// Show what moving from one policy to another would change, instead of findings.
    #[arg(long, value_names = ["FROM", "TO"], num_args = 2, help_heading = "Standard",
        conflicts_with_all = ["fix", "dry_run", "baseline", "write_baseline", "probe", "policy", "rule", "fail_on", "verbose", "hints"])]
    pub(crate) diff_policy: Vec<String>,
    /// Another level for a rule, as CODE=off, advice, warning or error; repeat for several.
    #[arg(long, value_name = "CODE=LEVEL", help_heading = "Standard")]
    pub(crate) rule: Vec<String>,
    /// The mildest level that fails: error, warning, advice.
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, default_value = "warning", help_heading = "Standard")]
    pub(crate) fail_on: RuleLevel,
    /// Show the rules, conventions and policies, and audit nothing.
    #[arg(long, help_heading = "Standard")]
    pub(crate) list: bool,
    /// Format of the report: full, json, sarif, markdown, github, junit.
    #[arg(long, value_parser = parse_format, default_value = "full", value_name = "FORMAT", help_heading = "Report")]
    pub(crate) format: RenderFormat,
    /// Where to write the report, or with --fix the corrected document or the corrections of a server.
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Show every finding, instead of the first of each rule.
    #[arg(long, help_heading = "Report")]
    pub(crate) verbose: bool,
    /// Show every hint that differs, as declared, as effective and as expected.
    #[arg(long, help_heading = "Report")]
    pub(crate) hints: bool,
    /// Fail only for findings that are not in this file.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all findings to this file, for --baseline.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Correct what is safe to correct: an adapter document itself (or as -o), a server by overrides for its import (-o).
    #[arg(long, help_heading = "Report", conflicts_with = "write_baseline")]
    pub(crate) fix: bool,
    /// Show what --fix would write, and write nothing.
    #[arg(long, help_heading = "Report", requires = "fix")]
    pub(crate) dry_run: bool,
}

impl AuditArgs {
    /// What decides how documents are spread over tools.
    pub(crate) fn settings(&self) -> AdapterSettings {
        SurfaceArgs { mode: self.mode, ..SurfaceArgs::default() }.settings()
    }
}

fn parse_level(text: &str) -> Result<RuleLevel, String> {
    one_of(RuleLevel::parse(text), RuleLevel::ALL.map(RuleLevel::as_str))
}

fn parse_format(text: &str) -> Result<RenderFormat, String> {
    one_of(RenderFormat::parse(text), RenderFormat::ALL.map(RenderFormat::as_str))
}
