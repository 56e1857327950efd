//! `mcpaql completions`: prints a shell completion script.

use crate::{CommandOutcome, args, output};
use anyhow::Result;
use clap::CommandFactory;

pub(crate) fn run(shell: clap_complete::Shell) -> Result<CommandOutcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::Cli::command(), "mcpaql", &mut script);
    output::print_data(&String::from_utf8_lossy(&script));
    Ok(CommandOutcome::Clean)
}
