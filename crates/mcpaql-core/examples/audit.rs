//! Audits every saved `tools/list` of a folder: how often each rule fires, or what one rule says.
//!
//! ```text
//! cargo run --release -p mcpaql-core --example audit -- FOLDER [--with CONVENTION,…] [--rule CODE]
//! ```

#![allow(clippy::print_stdout, reason = "a report for people")]

use mcpaql_core::audit::{Server, audit, rule};
use mcpaql_core::capture::Capture;
use mcpaql_core::convention::{Standard, builtin};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let position = arguments.iter().position(|argument| argument == name)?;
        arguments.get(position + 1).map(String::as_str)
    };
    let folder = arguments.first().ok_or("the folder is missing")?;
    let mut standard = Standard::default();
    if let Some(names) = option("--with") {
        let named =
            names.split(',').map(|name| builtin(name).cloned().ok_or(format!("no convention {name}")));
        standard = Standard::of(named.collect::<Result<_, _>>()?);
    }
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    let (mut counts, mut tools, mut servers) = (BTreeMap::new(), 0, 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let Some(capture) = Capture::from_json(serde_json::from_slice(&std::fs::read(path)?)?) else {
            continue;
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let server = Server { name, name_is_guessed: true, tools: capture.tools, ..Server::default() };
        let begun = Instant::now();
        let findings = audit(std::slice::from_ref(&server), &standard);
        if option("--rule").is_none() {
            println!(
                "{:45} {:4} tools {:5} findings {:8.1?}",
                server.name,
                server.tools.len(),
                findings.len(),
                begun.elapsed()
            );
        }
        (tools, servers) = (tools + server.tools.len(), servers + 1);
        for finding in findings {
            *counts.entry(finding.rule.code).or_insert(0) += 1;
            if option("--rule") == Some(finding.rule.code) {
                println!(
                    "{} {} {}: {}",
                    server.name,
                    finding.level.as_str(),
                    finding.place.pointer,
                    finding.message
                );
            }
        }
    }
    println!("{servers} servers, {tools} tools");
    for (code, count) in counts {
        println!("{code:11} {count:5}  {}", rule(code).map(|rule| rule.summary()).unwrap_or_default());
    }
    Ok(())
}
