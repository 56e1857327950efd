//! Arguments of the commands for the operator: trust, approvals, pauses, rules, the log and the state.

use clap::{Args as ClapArgs, Subcommand};
use mcpaql_core::gate::trust::TrustLevel;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "A grant covers everything that can run, connect, read or send: commands, programs in the folder, hosts, variables, \
    authentication, files, and each operation's request, category and danger. Any later change of these loses the grant; names and \
    descriptions may be edited. Nothing is started or fetched by this command.\n\n\
    Examples:\n  \
    mcpaql trust ./mcpaql.yaml                    trust the configuration of this folder, as it is now\n  \
    mcpaql trust --show ./mcpaql.yaml             show what it can do, or what has changed since it was trusted\n  \
    mcpaql trust shop.yaml --level certified      let its destructive operations run without a confirmation\n  \
    mcpaql trust --remove ./mcpaql.yaml           take it back\n\n\
    Exit status: 0 trusted, 1 not trusted (--show) or nothing to remove, 2 could not run."
)]
pub(crate) struct TrustArgs {
    /// File or URL, or name of an adapter: one of mcpaql.yaml, or a built-in one. Without it, lists what is trusted.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) subject: Option<String>,
    /// How far: untested (only introspection), generated (only safe reads), validated (destructive operations ask), community_reviewed
    /// (dangerous operations ask), certified (only forbidden operations ask) [default: validated, or the level that it has].
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, conflicts_with_all = ["show", "remove"])]
    pub(crate) level: Option<TrustLevel>,
    /// Show what it can do, and what has changed since it was trusted. Grants nothing.
    #[arg(long, requires = "subject")]
    pub(crate) show: bool,
    /// Take the trust back.
    #[arg(long, conflicts_with = "show", requires = "subject")]
    pub(crate) remove: bool,
    /// Trust this file and all later edits of it: whoever can write there can then run programs as you.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["subject", "show", "remove"])]
    pub(crate) edits: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_level(text: &str) -> Result<TrustLevel, String> {
    super::one_of(TrustLevel::parse(text), TrustLevel::ALL.map(TrustLevel::as_str))
}

#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Operations that are dangerous or that a rule wants approved wait for a person. The agent gets the id of its request and \
    tells you; it cannot approve anything itself. Approve or deny it here, and the agent's next call with the same parameters runs once.\n\n\
    Examples:\n  \
    mcpaql approve                 list the calls that wait\n  \
    mcpaql approve show ID         show a call with its parameters and what it would change\n  \
    mcpaql approve ID              approve it\n  \
    mcpaql approve deny ID         deny it\n  \
    mcpaql approve --follow        wait for calls and answer each with y or n\n\n\
    Exit status: 0 success, 1 the call was already decided or is over, 2 could not run."
)]
pub(crate) struct ApproveArgs {
    #[command(subcommand)]
    pub(crate) action: Option<ApproveAction>,
    /// Id of the call to approve.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Wait for calls, and ask about each on this terminal.
    #[arg(long, conflicts_with = "id")]
    pub(crate) follow: bool,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApproveAction {
    /// Show a call: its parameters, its danger, and what it would change.
    Show {
        /// Id of the call.
        id: String,
    },
    /// Approve a call.
    Approve {
        /// Id of the call.
        id: String,
    },
    /// Deny a call.
    Deny {
        /// Id of the call.
        id: String,
    },
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Takes effect within a second in every running server, and stays until `mcpaql resume`, also after a restart. Running \
    calls finish. Introspection still works.\n\n\
    Examples:\n  \
    mcpaql pause                        stop all calls of all adapters\n  \
    mcpaql pause shop --except-reads    let shop only read\n  \
    mcpaql resume                       end the pause of all adapters\n\n\
    Exit status: 0 paused, 2 could not run."
)]
pub(crate) struct PauseArgs {
    /// Name of the adapter to pause; without it, all adapters.
    #[arg(value_name = "ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Let reads go on.
    #[arg(long)]
    pub(crate) except_reads: bool,
    /// Print all pauses as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "An adapter that is paused by itself stays paused when the pause of all adapters ends.\n\
    Exit status: 0 resumed, 1 there was no such pause, 2 could not run."
)]
pub(crate) struct ResumeArgs {
    /// Name of the adapter to resume; without it, ends the pause of all adapters.
    #[arg(value_name = "ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// Print all remaining pauses as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Each record has a hash that covers the record before it, and signed checkpoints confirm the last one. --verify finds every \
    change, deletion and reordering. To notice that somebody rewrote the whole log, let `log.checkpoint_file` in config.yaml write the \
    checkpoints to another place, and pass that file with --checkpoints.\n\n\
    Examples:\n  \
    mcpaql log --since 2h                 what happened in the last two hours\n  \
    mcpaql log --follow                   print records as they are written\n  \
    mcpaql log --verify                   check that the log is whole\n\n\
    Exit status: 0 success, 1 the log was changed (--verify), 2 could not run."
)]
pub(crate) struct LogArgs {
    /// Print new records until Ctrl-C.
    #[arg(long, conflicts_with = "verify")]
    pub(crate) follow: bool,
    /// Check that no record is missing or changed.
    #[arg(long)]
    pub(crate) verify: bool,
    /// File with copies of the checkpoints, for --verify.
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub(crate) checkpoints: Option<PathBuf>,
    /// Public key that signed the checkpoints, for --verify on another machine [default: the key of this machine's log].
    #[arg(long, value_name = "HEX", requires = "verify")]
    pub(crate) key: Vec<String>,
    /// Only records since this time: a duration such as 30m, 2h or 7d, or a date and time such as 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", conflicts_with = "verify")]
    pub(crate) since: Option<String>,
    /// Only records of this adapter.
    #[arg(long, value_name = "NAME", conflicts_with = "verify")]
    pub(crate) adapter: Option<String>,
    /// Print each record as one line of JSON, exactly as it is in the log.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Show what the gate would decide about a call, with every rule that is involved.
    Explain(RulesExplainArgs),
    /// Decide recorded calls again with the current rules, and show the differences.
    Replay(RulesReplayArgs),
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Nothing runs, and no quota is used.\n\n\
    Example: mcpaql rules explain shop refund_order amount=250\n\n\
    Exit status: 0 the call would run, 1 it would ask for a confirmation or be refused, 2 could not run."
)]
pub(crate) struct RulesExplainArgs {
    /// Adapter document, OpenAPI description, or name of an adapter: one of mcpaql.yaml, or the built-in notebook.
    #[arg(value_name = "ADAPTER")]
    pub(crate) document: String,
    /// Operation.
    #[arg(value_name = "OPERATION")]
    pub(crate) operation: String,
    /// Parameters of the call.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,
    /// Parameters as one JSON object; `-` reads it from standard input.
    #[arg(long, value_name = "JSON")]
    pub(crate) params: Option<String>,
    /// Decide for another caller [default: the user of this shell].
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,
    /// Print the decision as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Shows the effect of an edit of config.yaml before it matters. Counts of rates and quotas are not replayed. Values that the \
    log shortens or hides are not known to the rules.\n\n\
    Exit status: 0 no differences, 1 some calls would be decided differently, 2 could not run."
)]
pub(crate) struct RulesReplayArgs {
    /// Only records since this time: a duration such as 30m, 2h or 7d, or a date and time such as 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Rules to try, instead of those of config.yaml.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Print the differences as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Write a copy of grants, approvals, counters and pauses to a file.
    Backup(StateFileArgs),
    /// Replace grants, approvals, counters and pauses with those of a backup.
    Restore(StateFileArgs),
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Works while servers are running. No token and no approval of a backup is valid again after `restore`.\n\
    Exit status: 0 success, 2 could not run."
)]
pub(crate) struct StateFileArgs {
    /// The backup. An existing file is not overwritten by `backup`.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
