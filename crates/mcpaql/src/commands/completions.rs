//! `mcpaql completions`: a script for a shell.

use crate::{Outcome, args, output};
use anyhow::Result;
use clap::CommandFactory;

pub(crate) fn run(shell: clap_complete::Shell) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::Args::command(), "mcpaql", &mut script);
    output::data(&String::from_utf8_lossy(&script));
    Ok(Outcome::Clean)
}
