//! `mcpaql audit`: what is wrong with the tools that a server shows, whoever made it, and what they cost.
//!
//! What always holds: no tool is called, but for what a probe may call; a server that cannot be asked hides no other; what servers say reaches no terminal
//! unescaped.

mod compare;
mod fix;
mod list;
mod sources;
mod standard;

use crate::output::Hinted;
use crate::{Outcome, args, clients, descriptions, output};
use anyhow::Result;
use mcpaql_core::audit::render::{Format, Options};
use mcpaql_core::audit::{Audited, Baseline, Report, audit, audit_surfaces, surfaces};
use std::path::Path;

pub(crate) async fn run(args: args::Audit) -> Result<Outcome> {
    let standard = standard::chosen(&args)?;
    if args.list {
        output::data(&list::list(&standard.known, &standard.policies));
        return Ok(Outcome::Clean);
    }
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let mut sources = sources::gather(&args).await?;
    if let [from, to] = args.diff_policy.as_slice() {
        let policies = [from, to].map(|name| standard::find_policy(name, &standard.policies));
        let [from, to] = policies;
        output::data(&compare::compared(&sources.servers, &from?, &to?, args.format)?);
        return Ok(Outcome::Clean);
    }
    if matches!(args.format, Format::Full | Format::Json | Format::Markdown) {
        sources.compare_with_adapters();
    }
    if args.fix {
        let findings = audit(&sources.servers, &standard.standard);
        fix::fix(&args, &mut sources, &findings)?;
    }
    let surfaces = surfaces(&sources.servers);
    let findings = audit_surfaces(&surfaces, &standard.standard);
    let audited = Audited {
        servers: &sources.servers,
        origins: &sources.origins,
        as_adapters: &sources.as_adapters,
        failed: &sources.failed,
        standard: &standard.standard,
        fail_on: args.fail_on,
    };
    if let Some(path) = &args.write_baseline {
        let baseline = Baseline::of(&findings, &sources.servers);
        clients::file::write(path, &baseline.to_text())?;
        output::talk(&format!("Wrote {} findings to {}", baseline.len(), path.display()));
    }
    let report = Report::of_surfaces(audited, surfaces, &findings, baseline.as_ref());
    show(&args, &report)?;
    // Whoever writes down what is wrong knows it.
    let is_known = args.write_baseline.is_some() && sources.failed.is_empty();
    Ok(if report.fails() && !is_known { Outcome::Findings } else { Outcome::Clean })
}

fn show(args: &args::Audit, report: &Report<'_>) -> Result<()> {
    let output = args.output.as_deref().filter(|_| !args.fix);
    let to_terminal = output.is_none() && args.format == Format::Full;
    let options = Options { color: to_terminal && output::color(), verbose: args.verbose, hints: args.hints };
    let text = args.format.render(report, options);
    match output {
        Some(path) => {
            clients::file::write(path, &text)?;
            output::talk(&format!("Wrote {}", path.display()));
        }
        None if text.is_empty() => {}
        None => output::data(&text),
    }
    Ok(())
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let text = descriptions::read_text(path)?;
    Baseline::parse(&text).ok_or_else(|| {
        Hinted {
            message: format!("{} is no baseline of this version", path.display()),
            hint: "write one with --write-baseline".into(),
        }
        .into()
    })
}
