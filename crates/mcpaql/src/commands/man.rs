//! `mcpaql man`: prints the manual page of the program or of one command.

use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use clap::CommandFactory;
use clap_mangen::Man;

pub(crate) fn run(path: &[String]) -> Result<CommandOutcome> {
    let mut command = args::Cli::command();
    command.build();
    let mut page = &command;
    for name in path {
        page = page.find_subcommand(name).ok_or_else(|| {
            let names: Vec<&str> = page.get_subcommands().map(clap::Command::get_name).collect();
            error_with_hint(
                format!("there is no command '{name}'"),
                format!("commands: {}", names.join(", ")),
            )
        })?;
    }
    let mut text = Vec::new();
    Man::new(page.clone())
        .title(std::iter::once("mcpaql").chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("-"))
        .render(&mut text)?;
    output::print_data(&String::from_utf8_lossy(&text));
    Ok(CommandOutcome::Clean)
}
