//! `mcpaql`: any API for AI agents through a handful of well-named, honestly annotated MCP tools.

mod args;
mod commands;
mod documents;
mod output;

use anyhow::Result;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    output::start_log(args.log);
    match run(args) {
        Ok(outcome) => outcome.into(),
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
    /// 1: it ran and found something, or the call failed in a way the caller can mend.
    Findings,
    /// 2: it could not run.
    CouldNotRun,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Clean => ExitCode::SUCCESS,
            Outcome::Findings => ExitCode::from(1),
            Outcome::CouldNotRun => ExitCode::from(2),
        }
    }
}

fn run(args: args::Args) -> Result<Outcome> {
    match args.command {
        args::Command::Serve(command) => in_runtime(commands::serve::run(command)),
        args::Command::Check(command) => commands::check::run(&command),
        args::Command::Tools(command) => commands::tools::run(&command),
        args::Command::Call(command) => in_runtime(commands::call::run(command)),
        args::Command::Explain(command) => commands::explain::run(&command),
        args::Command::Schema => commands::schema::run(),
        args::Command::Completions { shell } => commands::completions::run(shell),
    }
}

fn in_runtime(future: impl Future<Output = Result<Outcome>>) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(future);
    // A terminal's blocking read of standard input would hold the process for ever.
    runtime.shutdown_background();
    outcome
}
