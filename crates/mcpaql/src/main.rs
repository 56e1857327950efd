//! `mcpaql`: serves any API or MCP server to AI agents through a few tools.

mod args;
mod blocking;
mod cache;
mod clients;
mod commands;
mod diff;
mod documents;
mod file;
mod openapi_files;
mod operator;
mod output;
mod reload;
mod servers;
mod since;
mod status;
mod trust;

use anyhow::Result;
use clap::Parser;
use output::LogDetail;
use std::process::ExitCode;

fn main() -> ExitCode {
    mcpaql_runtime::process::end_programs_with_this_process();
    let args = match args::Cli::try_parse() {
        Ok(args) => args,
        Err(error) => return commands::generate::report_usage_error(&error).unwrap_or_else(|| error.exit()),
    };
    let level = match &args.command {
        args::Command::Serve(command) if command.http.is_some() => LogDetail::Calls,
        args::Command::Serve(_) => LogDetail::Events,
        // All other commands report everything themselves.
        _ => LogDetail::Errors,
    };
    output::start_log(args.log, level);
    match run(args) {
        Ok(outcome) => match output::write_error() {
            Some(error) => {
                output::status_line(&format!("error: cannot write to standard output: {error}"));
                match outcome {
                    CommandOutcome::Generator(_) => {
                        CommandOutcome::Generator(commands::generate::GenerateErrorKind::Io).into()
                    }
                    _ => CommandOutcome::CouldNotRun.into(),
                }
            }
            None => outcome.into(),
        },
        Err(error) => {
            output::print_error(&error);
            CommandOutcome::CouldNotRun.into()
        }
    }
}

/// The result of a command, as its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandOutcome {
    /// 0: success, no findings.
    Clean,
    /// 1: the command ran and found something, or the call failed in a way that the caller can fix.
    Findings,
    /// 2: the command could not run.
    CouldNotRun,
    /// 1 to 5: why `generate` failed, numbered as in the specification of the generator.
    Generator(commands::generate::GenerateErrorKind),
}

impl From<CommandOutcome> for ExitCode {
    fn from(outcome: CommandOutcome) -> Self {
        match outcome {
            CommandOutcome::Clean => ExitCode::SUCCESS,
            CommandOutcome::Findings => ExitCode::from(1),
            CommandOutcome::CouldNotRun => ExitCode::from(2),
            CommandOutcome::Generator(kind) => ExitCode::from(kind.exit_code()),
        }
    }
}

fn run(args: args::Cli) -> Result<CommandOutcome> {
    match args.command {
        args::Command::Serve(command) => {
            let threads = if command.http.is_some() { Threads::Many } else { Threads::One };
            block_on(threads, commands::serve::run(*command))
        }
        args::Command::Import(args::ImportCommand::Openapi(command)) => {
            commands::import::openapi::run(&command)
        }
        args::Command::Import(args::ImportCommand::Mcp(command)) => {
            block_on(Threads::One, commands::import::mcp::run(*command))
        }
        args::Command::Import(args::ImportCommand::Config(command)) => commands::import_config::run(&command),
        args::Command::Generate(command) => Ok(commands::generate::run(&command)),
        args::Command::Init(command) => commands::init::run(&command),
        args::Command::Install(command) => commands::install::run(&command),
        args::Command::Doctor(command) => block_on(Threads::One, commands::doctor::run(command)),
        args::Command::Search(command) => commands::search::run(&command),
        args::Command::Audit(command) => block_on(Threads::One, commands::audit::run(*command)),
        args::Command::Check(command) => commands::check::run(&command),
        args::Command::Tools(command) => commands::tools::run(&command),
        args::Command::Operations(command) => commands::operations::run(&command),
        args::Command::Call(command) => block_on(Threads::One, commands::call::run(command)),
        args::Command::Trust(command) => commands::trust::run(&command),
        args::Command::Approve(command) => block_on(Threads::One, commands::approve::run(command)),
        args::Command::Pause(command) => block_on(Threads::One, commands::pause::pause(command)),
        args::Command::Resume(command) => block_on(Threads::One, commands::pause::resume(command)),
        args::Command::Rules(args::RulesCommand::Explain(command)) => {
            block_on(Threads::One, commands::rules::explain::run(command))
        }
        args::Command::Rules(args::RulesCommand::Replay(command)) => commands::rules::replay::run(&command),
        args::Command::Log(command) => commands::log::run(&command),
        args::Command::State(args::StateCommand::Backup(command)) => {
            block_on(Threads::One, commands::state::backup(command))
        }
        args::Command::State(args::StateCommand::Restore(command)) => {
            block_on(Threads::One, commands::state::restore(command))
        }
        args::Command::Status(command) => block_on(Threads::One, commands::status::run(command)),
        args::Command::Explain(command) => commands::explain::run(&command),
        args::Command::Schema { subject } => commands::schema::run(subject),
        args::Command::Man { path } => commands::man::run(&path),
        args::Command::Completions { shell } => commands::completions::run(shell),
    }
}

/// How many threads run calls.
enum Threads {
    /// One thread, for the calls of one client: waking another thread costs more than most of these calls.
    One,
    /// One thread per core.
    Many,
}

/// A build without optimizations needs much more stack than the default of 2 MiB leaves.
const WORKER_STACK_BYTES: usize = 4 << 20;

fn block_on(
    threads: Threads,
    future: impl Future<Output = Result<CommandOutcome>>,
) -> Result<CommandOutcome> {
    let mut builder = match threads {
        Threads::One => tokio::runtime::Builder::new_current_thread(),
        Threads::Many => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().thread_stack_size(WORKER_STACK_BYTES).build()?;
    let outcome = runtime.block_on(future);
    // A blocking read of standard input from a terminal would keep the process alive.
    runtime.shutdown_background();
    outcome
}
