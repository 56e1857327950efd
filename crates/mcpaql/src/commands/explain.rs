//! `mcpaql explain`: what a code means and what to do about it.

use crate::output::Hinted;
use crate::{Outcome, args, output};
use anyhow::Result;
use mcpaql_core::error::{Code, Remedy};
use mcpaql_core::suggest;

pub(crate) fn run(args: &args::Explain) -> Result<Outcome> {
    let Some(word) = &args.code else {
        let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
        let lines: Vec<String> =
            Code::ALL.iter().map(|code| format!("{:width$}  {}", code.as_str(), code.meaning())).collect();
        output::data(&lines.join("\n"));
        return Ok(Outcome::Clean);
    };
    let wanted = word.to_ascii_uppercase();
    let Some(code) = Code::parse(&wanted) else {
        let hint = match suggest::nearest(&wanted, Code::ALL.iter().map(|code| code.as_str())) {
            Some(near) => format!("did you mean {near}?"),
            None => "`mcpaql explain` lists all codes".into(),
        };
        return Err(Hinted { message: format!("there is no code '{word}'"), hint }.into());
    };
    let who = match code.remedy() {
        Remedy::Agent => "the agent that made the call (isError: false)",
        Remedy::Operator => "whoever runs the server or the target (isError: true)",
        Remedy::Author => "the author of the document",
    };
    output::data(&format!("{code}\n\n{}\n\nWhat to do: {}\nWho can: {who}", code.meaning(), code.advice()));
    Ok(Outcome::Clean)
}
