//! Measures the plans in the answers of search: how many questions get one, and whether it has all operations that the
//! question needs.

use crate::Question;
use crate::calls::ask;
use crate::document::Loaded;
use anyhow::{Context, Result};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::tokens;
use serde_json::{Value, json};

/// The counts of questions with several operations, or with one.
#[derive(Default)]
struct Counts {
    questions: usize,
    plans: usize,
    complete: usize,
    exact: usize,
    last: usize,
}

/// Prints the share of questions with a plan, the share of complete plans, and the tokens of the answers.
pub fn report(catalog: &Catalog, operations: &[Loaded], questions: &[Question], misses: bool) -> Result<()> {
    let mut all = [("several operations", Counts::default()), ("one operation", Counts::default())];
    let (mut answers, mut longest, mut planned, mut steps) = (0, 0, 0, 0);
    for question in questions {
        let data = ask(catalog, &json!({"search": question.text}))?;
        let size = tokens::estimate(&data.to_string());
        answers += size;
        longest = longest.max(size);
        let gold: Vec<&str> = question
            .gold
            .iter()
            .filter_map(|at| Some(operations.get(*at)?.operation.name.as_str()))
            .collect();
        let several = question.all && gold.len() > 1;
        let [(_, many), (_, one)] = &mut all;
        let counts = if several { many } else { one };
        counts.questions += 1;
        let plan = &data["plan"];
        if plan.is_null() {
            if misses && several {
                let first = data["operations"].as_array().context("hits")?.iter().take(3);
                let first: Vec<&Value> = first.map(|hit| &hit["name"]).collect();
                println!("no plan: {}\n  needs {gold:?}, hits {first:?}", question.text);
            }
            continue;
        }
        let named: Vec<&str> = plan["operations"]
            .as_array()
            .context("steps")?
            .iter()
            .filter_map(|step| step["operation"].as_str())
            .collect();
        planned += tokens::estimate(&plan.to_string());
        steps += named.len();
        counts.plans += 1;
        let complete = gold.iter().all(|name| named.contains(name));
        counts.complete += usize::from(complete);
        counts.exact += usize::from(complete && named.len() == gold.len());
        counts.last += usize::from(named.last().is_some_and(|last| gold.contains(last)));
        if misses && !(several && complete) {
            println!("{}\n  needs {gold:?}, {plan}", question.text);
        }
    }
    println!(
        "| questions | number | with a plan | all operations | exactly these | useful last step |\n|---|---:|---:|---:|---:|---:|"
    );
    for (kind, counts) in &all {
        let Counts { questions, plans, complete, exact, last } = counts;
        println!("| {kind} | {questions} | {plans} | {complete} | {exact} | {last} |");
    }
    let plans: usize = all.iter().map(|(_, counts)| counts.plans).sum();
    println!(
        "{} tokens per answer, at most {longest}; {} tokens and {:.1} steps per plan",
        answers / questions.len().max(1),
        planned / plans.max(1),
        steps as f64 / plans.max(1) as f64
    );
    Ok(())
}
