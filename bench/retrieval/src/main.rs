//! Measures how well search finds the operations that answer a question: `mcpaql-retrieval OPERATIONS QUESTIONS.json [--misses]`.
//! With `--calls`, measures whether a hit is enough to make the call; `--answers` prints every answer as JSON.
//! With `--plans`, measures the plans of questions that need several operations.
//! `--single` serves the operations with one tool.
//! Operations come from an OpenAPI description, a list of MCP tools, or a folder of such lists.
//!
//! A question lists the operations that answer it: `solution` has methods and paths, all of which are needed; `any` has operation
//! ids, one of which is enough. Plain BM25 over name and description is measured in the same run.

mod bm25;
mod calls;
mod document;
mod plans;

use anyhow::{Context, Result, bail};
use bm25::Bm25;
use document::Loaded;
use mcpaql_core::adapter::Mode;
use mcpaql_core::links::{Links, producers};
use mcpaql_core::search::{SearchIndex, SearchIndexBuilder};
use serde_json::Value;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (files, options): (Vec<&str>, Vec<&str>) =
        words.iter().map(String::as_str).partition(|word| !word.starts_with("--"));
    let [description, questions] = files.as_slice() else {
        bail!(
            "usage: mcpaql-retrieval OPERATIONS QUESTIONS.json [--misses] [--calls] [--answers] [--plans] [--single]"
        );
    };
    let has = |option: &str| options.contains(&option);
    let operations = document::read(Path::new(description))?;
    let text = std::fs::read_to_string(questions).with_context(|| format!("cannot read {questions}"))?;
    let questions = read_questions(&text, &operations)?;
    let mode = has("--single").then_some(Mode::Single);
    if has("--plans") {
        let catalog = calls::catalog(std::fs::read_to_string(description)?, mode)?;
        return plans::report(&catalog, &operations, &questions, has("--misses"));
    }
    if has("--calls") || has("--answers") {
        let catalog = calls::catalog(std::fs::read_to_string(description)?, mode)?;
        calls::report(&catalog, &operations, &questions, has("--misses"), has("--answers"))?;
        return if has("--answers") { calls::descriptions(&catalog) } else { Ok(()) };
    }
    let engine = Engine::build(&operations);
    engine.report(&questions, has("--misses"));
    Ok(())
}

/// Returns the result of a function, and the shortest of several runs in milliseconds, because the machine may be busy.
fn best<T>(mut make: impl FnMut() -> T) -> (T, f64) {
    const ROUNDS: usize = 15;
    let mut rounds = 0;
    let mut least = f64::INFINITY;
    loop {
        let start = Instant::now();
        let made = make();
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
        rounds += 1;
        if rounds == ROUNDS {
            return (made, least);
        }
    }
}

/// A question and the operations that answer it.
struct Question {
    text: String,
    gold: Vec<usize>,
    /// Whether all operations are needed.
    all: bool,
    /// The parameters that the call needs.
    params: Vec<String>,
}

fn read_questions(text: &str, operations: &[Loaded]) -> Result<Vec<Question>> {
    // A tool with several actions becomes several operations with one id.
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, loaded) in operations.iter().enumerate() {
        places.entry(loaded.id().to_owned()).or_default().push(place);
        places.insert(format!("{} {}", loaded.method, nameless(&loaded.path)), vec![place]);
    }
    let all: Vec<Value> = serde_json::from_str(text)?;
    all.iter()
        .map(|entry| {
            let text = entry.get("query").and_then(Value::as_str).context("a question has no query")?;
            let needed = entry.get("solution").and_then(Value::as_array);
            let names = needed
                .or_else(|| entry.get("any").and_then(Value::as_array))
                .context("a question has neither `solution` nor `any`")?;
            let mut gold = Vec::new();
            for name in names.iter().filter_map(Value::as_str) {
                let name = nameless(&name.split_whitespace().collect::<Vec<_>>().join(" "));
                let found = places.get(&name).with_context(|| format!("unknown operation {name}"))?;
                for place in found.iter().filter(|place| !gold.contains(*place)).copied().collect::<Vec<_>>()
                {
                    gold.push(place);
                }
            }
            let params = entry.get("params").and_then(Value::as_array).into_iter().flatten();
            let params = params.filter_map(Value::as_str).map(str::to_owned).collect();
            Ok(Question { text: text.to_owned(), gold, all: needed.is_some(), params })
        })
        .collect()
}

/// Removes the names of placeholders from a path, because questions do not always spell them right.
fn nameless(path: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for ch in path.chars() {
        match ch {
            '{' => inside = true,
            '}' => {
                inside = false;
                out.push_str("{}");
            }
            ch if !inside => out.push(ch),
            _ => {}
        }
    }
    out
}

struct Engine<'a> {
    operations: &'a [Loaded],
    index: SearchIndex,
    links: Links,
    plain: Bm25,
}

/// The first ten hits of a question, each with the producers it names.
type Shown = Vec<(usize, Vec<usize>)>;

impl<'a> Engine<'a> {
    fn build(operations: &'a [Loaded]) -> Engine<'a> {
        let names: Vec<_> = operations.iter().map(Loaded::names).collect();
        let (index, indexing) = best(|| {
            let mut builder = SearchIndexBuilder::default();
            for (loaded, names) in operations.iter().zip(&names) {
                builder.add(&loaded.doc(names));
            }
            builder.finish()
        });
        let pairs: Vec<_> =
            operations.iter().map(|loaded| (&loaded.operation, loaded.outline.clone())).collect();
        let (links, linking) = best(|| producers(&pairs));
        println!(
            "{} operations: index built in {indexing:.1} ms, links in {linking:.1} ms",
            operations.len()
        );
        let texts: Vec<String> = operations
            .iter()
            .map(|loaded| format!("{} {}", loaded.operation.title, loaded.operation.description))
            .collect();
        let plain = Bm25::build(
            operations
                .iter()
                .map(|loaded| loaded.operation.name.as_str())
                .zip(texts.iter().map(String::as_str)),
        );
        Engine { operations, index, links, plain }
    }

    fn chain(&self, question: &str, limit: usize) -> Shown {
        let found = self.index.search_with_chain(&self.links, question, limit, |_| true);
        found
            .into_iter()
            .map(|found| {
                let named = found.sources.into_iter().flat_map(|source| source.producers).collect();
                (found.hit.position, named)
            })
            .collect()
    }

    fn report(&self, questions: &[Question], misses: bool) {
        let bare = |shown: Shown| shown.into_iter().map(|(hit, _)| (hit, Vec::new())).collect::<Shown>();
        let plain = |question: &str, limit: usize| {
            self.plain.search(question, limit).into_iter().map(|hit| (hit, Vec::new())).collect::<Shown>()
        };
        println!("{} questions\n\n| | @1 | @5 | @10 | MRR |\n|---|---:|---:|---:|---:|", questions.len());
        row("plain BM25", questions, plain);
        row("search, hits only", questions, |question, limit| bare(self.chain(question, limit)));
        row("search, with named producers", questions, |question, limit| self.chain(question, limit));
        let (_, all) = best(|| {
            for question in questions {
                black_box(self.chain(black_box(&question.text), 10));
            }
        });
        println!("\n{:.1} µs per question", all * 1e3 / questions.len().max(1) as f64);
        if misses {
            self.misses(questions);
        }
    }

    fn misses(&self, questions: &[Question]) {
        let name = |place: &usize| self.operations.get(*place).map_or("", |loaded| loaded.id());
        for question in questions {
            let shown = self.chain(&question.text, if question.all { 10 } else { 5 });
            let first = shown.first().is_some_and(|(hit, _)| question.gold.contains(hit));
            if question.recall(&shown) >= 1.0 && (first || question.all) {
                continue;
            }
            println!("\n{}\n  needs {:?}", question.text, question.gold.iter().map(name).collect::<Vec<_>>());
            for (hit, named) in &shown {
                println!("  {} <- {:?}", name(hit), named.iter().map(name).collect::<Vec<_>>());
            }
        }
    }
}

impl Question {
    /// Returns the share of the needed operations that was found.
    fn recall(&self, shown: &Shown) -> f64 {
        let is_shown = |gold: &&usize| shown.iter().any(|(hit, named)| hit == *gold || named.contains(gold));
        let found = self.gold.iter().filter(is_shown).count();
        if self.all { found as f64 / self.gold.len() as f64 } else { f64::from(u8::from(found > 0)) }
    }
}

fn row(name: &str, questions: &[Question], search: impl Fn(&str, usize) -> Shown) {
    let mean = |value: &dyn Fn(&Question) -> f64| {
        questions.iter().map(value).sum::<f64>() / questions.len().max(1) as f64
    };
    let recall = |limit: usize| mean(&|question| question.recall(&search(&question.text, limit)));
    let reciprocal = mean(&|question| {
        let shown = search(&question.text, 10);
        let place = shown.iter().position(|(hit, named)| {
            question.gold.contains(hit) || named.iter().any(|named| question.gold.contains(named))
        });
        place.map_or(0.0, |place| 1.0 / (place + 1) as f64)
    });
    println!("| {name} | {:.3} | {:.3} | {:.3} | {reciprocal:.3} |", recall(1), recall(5), recall(10));
}
