//! A call to an MCP server: made directly, through a bare rmcp proxy, and through `mcpaql serve`.

use crate::client::{Peer, Pipes};
use crate::load::{AT_A_TIME, Bench, Round, Subject, middle, own};
use crate::relay::TOOLS;
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Every call in these three ways.
const WAYS: usize = 3;
const NAMES: [[&str; WAYS]; 3] = [
    ["small answer, directly", "small answer, bare proxy", "small answer, mcpaql"],
    ["10 KB, directly", "10 KB, bare proxy", "10 KB, mcpaql"],
    ["10 KB of text, directly", "10 KB of text, bare proxy", "10 KB of text, mcpaql"],
];

pub(crate) async fn prepare(bench: &mut Bench) -> Result<()> {
    let program = std::env::current_exe()?.display().to_string();
    let servers = json!({"adapters": [{"name": "issues", "mcp": {"command": [program, "mcp-server"]}}]});
    std::fs::write(bench.folder.path().join("mcpaql.yaml"), servers.to_string())?;
    let configuration = ["--config", "mcpaql.yaml"].map(Path::new);
    for (tool, [directly, bare, ours]) in TOOLS.into_iter().zip(NAMES) {
        let nothing = json!({});
        let pipes = Pipes::start(&mut own("mcp-server"), tool, &nothing).await?;
        bench.add(directly, None, Peer::Pipes(Box::new(pipes)));
        let pipes = Pipes::start(own("mcp-proxy").args([&program, "mcp-server"]), tool, &nothing).await?;
        bench.add(bare, None, Peer::Pipes(Box::new(pipes)));
        let call = json!({"operation": tool, "params": nothing});
        let mut pipes = Pipes::start(&mut bench.serve(&configuration, tool), "issues_mcpaql_read", &call).await?;
        reached(&mut pipes).await.context(ours)?;
        bench.add(ours, None, Peer::Pipes(Box::new(pipes)));
    }
    Ok(())
}

/// Waits until the upstream server has started and listed its tools, so that later calls do not wait for it.
async fn reached(pipes: &mut Pipes) -> Result<()> {
    for _ in 0..1000 {
        if pipes.call().await?.contains("An issue") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bail!("the upstream server does not answer")
}

pub(crate) fn print(subjects: &[Subject]) {
    println!(
        "| call | median µs | p90 µs | calls/s, {AT_A_TIME} at a time | ÷ bare proxy | added ÷ added by bare proxy | calls/s ÷ bare proxy |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for ways in subjects.chunks_exact(WAYS) {
        let [directly, bare, ours] = ways else { continue };
        for subject in [directly, bare] {
            println!("{} | | | |", figures(subject));
        }
        // Ratios are computed per round, because noise in a round affects all sides.
        let ratio = |of: fn(&Round, &Round, &Round) -> f64| {
            let rounds = directly.rounds.iter().zip(&bare.rounds).zip(&ours.rounds);
            middle(rounds.map(|((directly, bare), ours)| of(directly, bare, ours)).collect())
        };
        let whole = ratio(|_, bare, ours| ours.median / bare.median);
        let added = ratio(|own, bare, ours| (ours.median - own.median) / (bare.median - own.median));
        let rate = ratio(|_, bare, ours| ours.per_second / bare.per_second);
        println!("{} | {whole:.2} | {added:.2} | {rate:.2} |", figures(ours));
    }
}

fn figures(subject: &Subject) -> String {
    let of = |value: fn(&Round) -> f64| middle(subject.rounds.iter().map(value).collect());
    let (median, p90, rate) = (of(|r| r.median), of(|r| r.p90), of(|r| r.per_second));
    format!("| {} | {median:.1} | {p90:.1} | {rate:.0}", subject.name)
}
