//! `mcpaql explain`: explains an error code or an audit rule.

use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use mcpaql_audit as audit;
use mcpaql_audit::{Rule, all_rules};
use mcpaql_core::error::{Code, Remedy};
use mcpaql_core::suggest;

pub(crate) fn run(args: &args::ExplainArgs) -> Result<CommandOutcome> {
    let Some(word) = &args.code else {
        output::print_data(&all());
        return Ok(CommandOutcome::Clean);
    };
    let wanted = word.trim().to_ascii_uppercase();
    if let Some(code) = Code::parse(&wanted) {
        output::print_data(&explain_code(code));
        return Ok(CommandOutcome::Clean);
    }
    let named = || all_rules().find(|rule| rule.name.eq_ignore_ascii_case(&wanted));
    if let Some(rule) = audit::find_rule(&wanted).or_else(named) {
        output::print_data(&explain_rule(rule, output::use_color()));
        return Ok(CommandOutcome::Clean);
    }
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let hint = match suggest::nearest(&wanted, codes.chain(all_rules().map(|rule| rule.code))) {
        Some(near) => format!("did you mean {near}?"),
        None => "`mcpaql explain` lists all codes".into(),
    };
    Err(error_with_hint(format!("unknown code '{word}'"), hint))
}

/// Lists all codes, then all rules.
fn all() -> String {
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
    let codes = Code::ALL.iter().map(|code| format!("{:width$}  {}", code.as_str(), code.meaning()));
    let rules = all_rules().map(|rule| format!("{:width$}  {}", rule.code, rule.summary()));
    codes.chain(rules).collect::<Vec<_>>().join("\n")
}

fn explain_code(code: Code) -> String {
    let who = match code.remedy() {
        Remedy::Agent => "the agent that made the call (isError: false)",
        Remedy::User => "the user or the operator; the agent can only tell them (isError: false)",
        Remedy::Operator => "the operator of the server or the target (isError: true)",
        Remedy::Author => "the author of the document",
    };
    format!("{code}\n\n{}\n\nWhat to do: {}\nWho can fix it: {who}", code.meaning(), code.advice())
}

/// Replaces links in Markdown, `[text](URL)`, by `text (URL)`.
fn plain_links(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        let parts = link.split_once("](http").and_then(|(label, url)| Some((label, url.split_once(')')?)));
        let Some((label, (url, after))) = parts else { break };
        text.push_str(&format!("{before}{label} (http{url})"));
        rest = after;
    }
    text + rest
}

/// Formats the documentation of a rule for a terminal: headings without `##`, examples indented.
fn explain_rule(rule: &Rule, color: bool) -> String {
    let bold = |text: &str| if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() };
    let head = format!("{} {} ({})", rule.code, rule.name, rule.level.as_str());
    let mut lines = vec![bold(&head), String::new()];
    let mut in_example = false;
    for line in rule.markdown().lines() {
        if line.starts_with("```") {
            in_example = !in_example;
        } else if in_example {
            lines.push(format!("    {line}"));
        } else if let Some(heading) = line.strip_prefix("## ") {
            lines.push(bold(heading));
        } else {
            lines.push(plain_links(&line.replace("**", "")));
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::plain_links;

    #[test]
    fn links_are_plain_text_on_a_terminal() {
        for (line, text) in [
            (
                "See [this page](https://a.example/b). And more",
                "See this page (https://a.example/b). And more",
            ),
            ("[a](http://a) and [b](http://b)", "a (http://a) and b (http://b)"),
            ("`[a, b]` is a list (https://c)", "`[a, b]` is a list (https://c)"),
        ] {
            assert_eq!(plain_links(line), text);
        }
    }
}
