//! `mcpaql tools`: shows the tools that clients see, and their cost in tokens.

use crate::documents::{AdapterRequest, collision_error};
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use mcpaql_core::catalog::{Catalog, Tool};
use mcpaql_core::unified::Unified;
use mcpaql_runtime::gateway::check_names;
use serde_json::{Value, json};

pub(crate) fn run(args: &args::ToolsArgs) -> Result<CommandOutcome> {
    let flags = args.surface.settings();
    let request =
        AdapterRequest { documents: &args.documents, by_name: true, flags, ..AdapterRequest::default() };
    let planned = request.resolve()?.catalogs()?;
    let (catalogs, outcome) = (&planned.catalogs, planned.outcome());
    check_names(catalogs.iter().map(|(source, catalog)| (catalog, source.as_str())))
        .map_err(|collision| collision_error(&collision))?;
    let (unified, separate): (Vec<&Catalog>, Vec<&Catalog>) =
        catalogs.iter().map(|(_, catalog)| catalog).partition(|catalog| catalog.sharing.is_some());
    let sharing = unified.first().and_then(|catalog| catalog.sharing);
    let unified = sharing.map(|sharing| Unified::new(&unified, sharing, None));
    let shared = unified.iter().flat_map(Unified::tools);
    let tools: Vec<&Tool> = shared.chain(separate.iter().flat_map(|catalog| &catalog.tools)).collect();
    if args.json {
        let list: Vec<Value> = tools.iter().map(|tool| tool.to_json()).collect();
        output::print_data(&serde_json::to_string_pretty(&json!({ "tools": list }))?);
        return Ok(outcome);
    }
    output::print_data(&table(&tools));
    if args.descriptions {
        for tool in tools {
            output::print_data(&format!("\n{} ({})\n\n{}", tool.name, tool.title, indent(&tool.description)));
        }
    }
    Ok(outcome)
}

fn table(tools: &[&Tool]) -> String {
    let mut rows = vec![
        ["TOOL", "TITLE", "READ-ONLY", "DESTRUCTIVE", "IDEMPOTENT", "OPEN WORLD", "BYTES", "TOKENS"]
            .map(str::to_owned),
    ];
    let hint = |value: Option<bool>| value.map_or("–", |value| if value { "yes" } else { "no" }).to_owned();
    let (mut bytes, mut tokens) = (0, 0);
    for tool in tools {
        let text = tool.to_json().to_string();
        let cost = count_tokens(&text);
        bytes += text.len();
        tokens += cost;
        rows.push([
            tool.name.clone(),
            tool.title.clone(),
            hint(tool.hints.read_only),
            hint(tool.hints.destructive),
            hint(tool.hints.idempotent),
            hint(tool.hints.open_world),
            text.len().to_string(),
            cost.to_string(),
        ]);
    }
    let plural = if tools.len() == 1 { "" } else { "s" };
    let mut total = [const { String::new() }; 8];
    for (cell, text) in total.iter_mut().zip([format!("{} tool{plural}", tools.len())]) {
        *cell = text;
    }
    for (cell, text) in total.iter_mut().rev().zip([tokens.to_string(), bytes.to_string()]) {
        *cell = text;
    }
    rows.push(total);
    output::format_table(&rows, 6)
}

/// Counts tokens with the o200k vocabulary, as an approximation for current models.
fn count_tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::count_tokens;
    use mcpaql_core::adapter::Mode;
    use mcpaql_core::catalog::{AdapterSettings, Tool};
    use mcpaql_core::{surface, tokens};
    use mcpaql_document::check;
    use mcpaql_runtime::builtin;

    fn notebook(mode: Mode) -> Vec<Tool> {
        let source = builtin::document(builtin::DEFAULT_ADAPTER).unwrap();
        check::check(&source, &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() })
            .catalog
            .unwrap()
            .tools
    }

    #[test]
    fn the_token_estimate_is_high_by_at_most_30_percent() {
        for mode in Mode::ALL {
            for tool in notebook(mode) {
                let text = tool.to_json().to_string();
                let (estimate, real) = (tokens::estimate(&text), count_tokens(&text));
                assert!(
                    estimate >= real && estimate <= real * 13 / 10,
                    "{}: {estimate} for {real}",
                    tool.name
                );
            }
        }
    }

    #[test]
    fn a_hint_that_is_not_set_is_shown_as_a_dash() {
        let source = builtin::document(builtin::DEFAULT_ADAPTER).unwrap();
        let settings = AdapterSettings { policy: Some("lightdash".into()), ..AdapterSettings::default() };
        let tools = check::check(&source, &settings).catalog.unwrap().tools;
        let table = super::table(&tools.iter().collect::<Vec<_>>());
        let row = table.lines().find(|line| line.starts_with("notebook_mcpaql_read")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().skip(4).take(4).collect();
        assert_eq!(cells, ["yes", "–", "–", "no"], "{row}");
    }

    #[test]
    fn surfaces_keep_their_budget_in_real_tokens() {
        let cost =
            |mode| notebook(mode).iter().map(|tool| count_tokens(&tool.to_json().to_string())).sum::<usize>();
        assert!(cost(Mode::Semantic) <= surface::SEMANTIC_BUDGET);
        assert!(cost(Mode::Single) <= surface::SINGLE_BUDGET);
    }
}
