//! The arguments of `mcpaql audit`.

use super::{AccessArgs, ServeMode, SurfaceArgs, one_of, parse_serve_mode};
use clap::Args as ClapArgs;
use mcpaql_audit::convention::RuleLevel;
use mcpaql_audit::render::RenderFormat;
use mcpaql_core::catalog::AdapterSettings;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Tools are called only with --probe. Without a source, audits the adapters of mcpaql.yaml in this folder.\n\
    Example: mcpaql audit -- npx -y @modelcontextprotocol/server-filesystem /srv\n\
    Exit status: 0 clean or only findings below --fail-on, 1 findings, 2 could not run."
)]
pub(crate) struct AuditArgs {
    /// Adapter documents, OpenAPI descriptions, built-in adapters, or one adapter of mcpaql.yaml by name.
    #[arg(value_name = "DOCUMENT", help_heading = "Sources")]
    pub(crate) documents: Vec<String>,
    /// Command that starts an MCP server, with its arguments; mcpaql requests its tools and stops it.
    #[arg(last = true, value_name = "COMMAND", help_heading = "Sources")]
    pub(crate) command: Vec<String>,
    /// URL of a server that speaks streamable HTTP; can be repeated.
    #[arg(long, value_name = "URL", help_heading = "Sources")]
    pub(crate) url: Vec<String>,
    /// Saved result of tools/list, `-` for standard input; can be repeated.
    #[arg(long, value_name = "FILE", help_heading = "Sources")]
    pub(crate) tools: Vec<PathBuf>,
    /// Server name in the client's configuration (one server only); most clients prefix tool names with it.
    #[arg(long, value_name = "NAME", help_heading = "Sources")]
    pub(crate) name: Option<String>,
    /// Audit all servers of a client's configuration: a file, or a client such as claude-code.
    #[arg(long, value_name = "PATH", help_heading = "Sources")]
    pub(crate) config: Option<String>,
    #[command(flatten, next_help_heading = "Sources")]
    pub(crate) access: AccessArgs,
    /// Group operations into tools with this mode, instead of the adapter's own mode; see `mcpaql serve --help`.
    #[arg(long, value_parser = parse_serve_mode, value_name = "MODE", help_heading = "Sources")]
    mode: Option<ServeMode>,
    /// Maximum time for each answer of a server, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, help_heading = "Sources",
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Call every read-only tool twice with generated arguments, to find tools that write; other tools are not called.
    #[arg(long, help_heading = "Sources")]
    pub(crate) probe: bool,
    /// Shell command that prints the server's data; --probe runs it before and after the calls and compares the output.
    #[arg(long, value_name = "COMMAND", requires = "probe", help_heading = "Sources")]
    pub(crate) snapshot: Option<String>,
    /// Conventions to check in addition to MCP itself, separated by commas; `clients` means all known clients.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) convention: Vec<String>,
    /// File with your own conventions.
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub(crate) conventions: Option<PathBuf>,
    /// Hint policy that the tools are expected to follow.
    #[arg(long, value_name = "NAME", help_heading = "Rules")]
    pub(crate) policy: Option<String>,
    /// Show only the hints that differ between two policies.
    #[arg(long, value_names = ["FROM", "TO"], num_args = 2, help_heading = "Rules",
        conflicts_with_all = ["fix", "dry_run", "baseline", "write_baseline", "probe", "policy", "rule", "fail_on", "verbose", "hints"])]
    pub(crate) diff_policy: Vec<String>,
    /// Set the level of a rule to off, advice, warning or error; can be repeated.
    #[arg(long, value_name = "CODE=LEVEL", help_heading = "Rules")]
    pub(crate) rule: Vec<String>,
    /// Lowest level that fails the audit: error, warning, advice.
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, default_value = "warning", help_heading = "Rules")]
    pub(crate) fail_on: RuleLevel,
    /// List the rules, conventions and policies, and audit nothing.
    #[arg(long, help_heading = "Rules")]
    pub(crate) list: bool,
    /// Report format: full, json, sarif, markdown, github, junit.
    #[arg(long, value_parser = parse_format, default_value = "full", value_name = "FORMAT", help_heading = "Report")]
    pub(crate) format: RenderFormat,
    /// Write the report to this file; with --fix, write the corrected document or the overrides file.
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Show every finding instead of the first three of each rule.
    #[arg(long, help_heading = "Report")]
    pub(crate) verbose: bool,
    /// Show every hint that differs, with its declared, effective and expected value.
    #[arg(long, help_heading = "Report")]
    pub(crate) hints: bool,
    /// Fail only on findings that are not in this file.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all findings to this file, for --baseline.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Apply safe corrections to an adapter document (-o writes a copy); for a server, write an overrides file (-o).
    #[arg(long, help_heading = "Report", conflicts_with = "write_baseline")]
    pub(crate) fix: bool,
    /// Show what --fix would write, without writing it.
    #[arg(long, help_heading = "Report", requires = "fix")]
    pub(crate) dry_run: bool,
}

impl AuditArgs {
    /// Returns the settings that adapters are compiled with.
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
