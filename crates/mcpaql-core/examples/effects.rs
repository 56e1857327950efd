//! Compares the classifier with judged tools: `cargo run -p mcpaql-core --example effects -- [--list] FILE…`.
//!
//! Each file holds a JSON array of tools as in `tools/list`, each with the key `read`: whether the tool only reads.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for the terminal")]

use mcpaql_core::evidence;
use mcpaql_lexicon::Category;
use mcpaql_lexicon::classify::{Classification, Evidence, ToolAnnotations, classify};
use serde_json::Value;

#[derive(Default)]
struct Counts {
    agreed: usize,
    unsafe_reads: usize,
    missed_reads: usize,
}

fn main() {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let lists = flags.iter().any(|flag| flag == "--list");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        let tools: Vec<Value> = serde_json::from_str(&text).expect("a JSON array");
        for with_annotations in [false, true] {
            let mut counts = Counts::default();
            for tool in &tools {
                let judged = tool.get("read").and_then(Value::as_bool).expect("a judgement");
                let decision = decide(tool, with_annotations);
                let read = decision.served_category() == Category::Read;
                match (judged, read) {
                    (true, true) | (false, false) => counts.agreed += 1,
                    (false, true) => counts.unsafe_reads += 1,
                    (true, false) => counts.missed_reads += 1,
                }
                if lists && judged != read {
                    print(tool, with_annotations, judged, &decision);
                }
            }
            let share = 100.0 * counts.agreed as f64 / tools.len().max(1) as f64;
            let hints = if with_annotations { "with" } else { "without" };
            println!(
                "{file}: {hints} annotations: {} tools, {share:.1} % agreed, {} writes as READ, {} reads not as READ",
                tools.len(),
                counts.unsafe_reads,
                counts.missed_reads
            );
        }
    }
}

fn decide(tool: &Value, with_annotations: bool) -> Classification {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let hint = |key: &str| tool.pointer(&format!("/annotations/{key}")).and_then(Value::as_bool);
    let annotations = ToolAnnotations {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
    };
    let params = evidence::of_schema(tool.get("inputSchema"));
    let answer = evidence::of_schema(tool.get("outputSchema"));
    classify(&Evidence {
        answer: &answer,
        name: text("name"),
        description: text("description"),
        params: &params,
        annotations: if with_annotations { annotations } else { ToolAnnotations::default() },
        ..Evidence::default()
    })
}

fn print(tool: &Value, with_annotations: bool, judged: bool, decision: &Classification) {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let kind = if judged { "MISSED" } else { "UNSAFE" };
    let hints = if with_annotations { "with" } else { "without" };
    let params: Vec<&str> =
        evidence::of_schema(tool.get("inputSchema")).iter().map(|param| param.name).collect();
    let description: String = text("description").chars().take(300).collect();
    println!(
        "{kind} {hints}: {} | {} | {}",
        text("name"),
        description.replace('\n', " ⏎ "),
        params.join(",")
    );
    println!(
        "    {:?} {:?} {:?}",
        decision.effect,
        decision.reasons.iter().map(|reason| &reason.text).collect::<Vec<_>>(),
        decision.review
    );
}
