//! Compares `mcpaql` with a bare rmcp server. It prints ratios within one run, because times of different runs are not comparable.
//!
//! - `mcpaql-bench [--smoke] [--passing] [--rounds N] [--server PATH]` measures.
//! - `echo-stdio …`, `echo-http PORT …`, `upstream PORT`, `mcp-server` and `mcp-proxy COMMAND…` are the processes that it starts.
//! - `in-process KIND CALLS`, `compile FILE TIMES` and `audit TOOLS TIMES` are for `bench/instructions`.

mod audit;
mod client;
mod echo;
mod in_process;
mod load;
mod passing;
mod relay;
mod upstream;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["echo-stdio", behind @ ..] => servers()?.block_on(echo::serve_stdio(behind)),
        ["echo-http", port, behind @ ..] => servers()?.block_on(echo::serve_http(port.parse()?, behind)),
        ["mcp-server"] => relay::serve_tools(),
        ["mcp-proxy", command @ ..] => servers()?.block_on(relay::proxy(command)),
        ["upstream", port] => servers()?.block_on(upstream::serve(port.parse()?)),
        ["in-process", kind, calls] => servers()?.block_on(in_process::run(kind, calls.parse()?)),
        ["compile", file, times] => in_process::compile(file, times.parse()?),
        ["audit", tools, times] => audit::audit(tools.parse()?, times.parse()?),
        options => {
            let effort = effort(options)?;
            // One thread, so that the client uses at most one core.
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(load::run(effort))
        }
    }
}

fn servers() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

fn effort(options: &[&str]) -> Result<load::Effort> {
    let mut effort = load::Effort::full(PathBuf::from("target/release/mcpaql"));
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || options.next().with_context(|| format!("{option} needs a value"));
        match *option {
            "--smoke" => effort = effort.smoke(),
            "--passing" => effort.passing_only = true,
            "--rounds" => effort.rounds = value()?.parse()?,
            "--server" => effort.server = PathBuf::from(value()?),
            other => bail!("unknown argument '{other}'; use --smoke, --passing, --rounds N or --server PATH"),
        }
    }
    Ok(effort)
}
