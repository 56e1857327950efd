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
    let names = all_rules().map(|rule| rule.name);
    let near = suggest::nearest(&wanted, codes.chain(all_rules().map(|rule| rule.code)))
        .or_else(|| suggest::nearest(&word.trim().to_ascii_lowercase(), names));
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None => "`mcpaql explain` lists all codes and rules".into(),
    };
    Err(error_with_hint(format!("unknown code or rule '{word}'"), hint))
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
        Remedy::Agent => "the agent that made the call",
        Remedy::User => "the user or the operator; the agent can only tell them",
        Remedy::Operator => "the operator of the server or the target",
        Remedy::Author => "the author of the document",
    };
    let result = match code.remedy() {
        Remedy::Agent | Remedy::User => "\nResult of the call: `isError: false`",
        Remedy::Operator => "\nResult of the call: `isError: true`",
        // Calls never return these codes.
        Remedy::Author => "",
    };
    format!("{code}\n\n{}\n\nWhat to do: {}\nWho can fix it: {who}{result}", code.meaning(), code.advice())
}

/// Formats the documentation of a rule for a terminal: headings without `##`, examples indented, links as numbers with a list of
/// their URLs at the end.
fn explain_rule(rule: &Rule, color: bool) -> String {
    let bold = |text: &str| if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() };
    let mut lines =
        vec![bold(&format!("{} {} ({})", rule.code, rule.name, rule.level_label())), String::new()];
    let mut urls = Vec::new();
    let mut paragraph = String::new();
    let mut in_example = false;
    let markdown = rule.markdown();
    for line in markdown.lines().chain([""]) {
        let is_text = !in_example && !line.is_empty() && !line.starts_with("```") && !line.starts_with("## ");
        if is_text && !line.starts_with("- ") {
            paragraph.push_str(if paragraph.is_empty() { "" } else { " " });
            paragraph.push_str(line.trim());
            continue;
        }
        if !paragraph.is_empty() {
            lines.extend(wrap(&number_links(&std::mem::take(&mut paragraph), &mut urls)));
        }
        if is_text {
            line.clone_into(&mut paragraph);
        } else if line.starts_with("```") {
            in_example = !in_example;
        } else if in_example {
            lines.push(format!("    {line}"));
        } else {
            lines.push(line.strip_prefix("## ").map_or_else(String::new, bold));
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if !urls.is_empty() {
        lines.extend([String::new(), bold("Links"), String::new()]);
        lines.extend(urls.iter().enumerate().map(|(index, url)| format!("[{}] {url}", index + 1)));
    }
    lines.join("\n")
}

/// Replaces links in Markdown, `[text](URL)`, by `text [1]`, and URLs in parentheses by `[1]`.
fn number_links(text: &str, urls: &mut Vec<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("(http") {
        let Some((url, after)) = link.split_once(')') else { break };
        // What follows the URL in the parentheses is part of the text.
        let (url, note) = url.split_once("; ").map_or((url, None), |(url, note)| (url, Some(note)));
        urls.push(format!("http{url}"));
        let label = before.strip_suffix(']').and_then(|before| before.rsplit_once('['));
        match label {
            Some((before, label)) => out.push_str(&format!("{before}{label} ")),
            None => out.push_str(before),
        }
        out.push_str(&format!("[{}]", urls.len()));
        if let Some(note) = note {
            out.push_str(&format!(" ({note})"));
        }
        rest = after;
    }
    out + rest
}

/// Maximum width of a line of text.
const MAX_COLUMNS: usize = 100;

/// Wraps a paragraph; the lines of a list item are indented.
fn wrap(text: &str) -> Vec<String> {
    let indent = if text.starts_with("- ") { "  " } else { "" };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < MAX_COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{explain_rule, number_links};
    use mcpaql_audit::all_rules;

    #[test]
    fn links_are_numbers_on_a_terminal() {
        for (text, numbered, count) in [
            ("See [this page](https://a.example/b). And more", "See this page [1]. And more", 1),
            ("[a](http://a) and [b](http://b)", "a [1] and b [2]", 2),
            ("`[a, b]` is a list (https://c)", "`[a, b]` is a list [1]", 1),
            ("dropped it (https://c; fixed since).", "dropped it [1] (fixed since).", 1),
        ] {
            let mut urls = Vec::new();
            assert_eq!(number_links(text, &mut urls), numbered);
            assert_eq!(urls.len(), count, "{text}");
        }
    }

    #[test]
    fn no_rule_shows_markdown_links() {
        for rule in all_rules() {
            let text = explain_rule(rule, false);
            let page = text.split("\nLinks\n").next().unwrap();
            let shown: String = page.lines().filter(|line| !line.starts_with("    ")).collect();
            assert!(!shown.contains("](") && !shown.contains("(http"), "{text}");
        }
    }
}
