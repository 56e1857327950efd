//! `mcpaql`: any API for AI agents through a handful of well-named, honestly annotated MCP tools.

mod args;
mod blocking;
mod cache;
mod clients;
mod commands;
mod descriptions;
mod diff;
mod documents;
mod file;
mod output;
mod reload;
mod servers;
mod status;

use anyhow::Result;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return commands::generate::misused(&error).unwrap_or_else(|| error.exit()),
    };
    let quiet = matches!(
        args.command,
        args::Command::Import(_) | args::Command::Audit(_) | args::Command::Generate(_)
    );
    output::start_log(args.log, quiet);
    match run(args) {
        Ok(outcome) => match output::lost() {
            Some(error) => {
                output::status_line(&format!("error: the output could not be written: {error}"));
                match outcome {
                    Outcome::Generator(_) => Outcome::Generator(commands::generate::Kind::Io).into(),
                    _ => Outcome::CouldNotRun.into(),
                }
            }
            None => outcome.into(),
        },
        Err(error) => {
            output::failure(&error);
            Outcome::CouldNotRun.into()
        }
    }
}

/// What a command came to, as its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// 0: nothing to say against it.
    Clean,
    /// 1: it ran and found something, or the call failed in a way the caller can fix.
    Findings,
    /// 2: it could not run.
    CouldNotRun,
    /// 1 to 5: what kept the generator from generating, as its specification numbers it.
    Generator(commands::generate::Kind),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Clean => ExitCode::SUCCESS,
            Outcome::Findings => ExitCode::from(1),
            Outcome::CouldNotRun => ExitCode::from(2),
            Outcome::Generator(kind) => ExitCode::from(kind.exit_code()),
        }
    }
}

fn run(args: args::Args) -> Result<Outcome> {
    match args.command {
        args::Command::Serve(command) => {
            let threads = if command.http.is_some() { Threads::Many } else { Threads::One };
            in_runtime(threads, commands::serve::run(*command))
        }
        args::Command::Import(args::Import::Openapi(command)) => commands::import::openapi::run(&command),
        args::Command::Import(args::Import::Mcp(command)) => {
            in_runtime(Threads::One, commands::import::mcp::run(*command))
        }
        args::Command::Import(args::Import::Config(command)) => commands::import_config::run(&command),
        args::Command::Generate(command) => Ok(commands::generate::run(&command)),
        args::Command::Install(command) => commands::install::run(&command),
        args::Command::Search(command) => commands::search::run(&command),
        args::Command::Audit(command) => in_runtime(Threads::One, commands::audit::run(*command)),
        args::Command::Check(command) => commands::check::run(&command),
        args::Command::Tools(command) => commands::tools::run(&command),
        args::Command::Call(command) => in_runtime(Threads::One, commands::call::run(command)),
        args::Command::Status(command) => in_runtime(Threads::One, commands::status::run(command)),
        args::Command::Explain(command) => commands::explain::run(&command),
        args::Command::Schema => commands::schema::run(),
        args::Command::Completions { shell } => commands::completions::run(shell),
    }
}

/// On how many threads calls are run.
enum Threads {
    /// One client's calls: waking another thread costs more than most of them.
    One,
    /// As many as there are cores.
    Many,
}

fn in_runtime(threads: Threads, future: impl Future<Output = Result<Outcome>>) -> Result<Outcome> {
    let mut builder = match threads {
        Threads::One => tokio::runtime::Builder::new_current_thread(),
        Threads::Many => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build()?;
    let outcome = runtime.block_on(future);
    // A terminal's blocking read of standard input would keep the process alive.
    runtime.shutdown_background();
    outcome
}
