//! Benchmarks of the core: reading and compiling documents of three sizes, and the pure parts of a call.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "benchmarks")]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::response::{Answer, envelope};
use mcpaql_core::{introspect, request};
use mcpaql_document::check::check;
use mcpaql_document::compile;
use mcpaql_document::load;
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::hint::black_box;

const SIZES: [usize; 3] = [20, 200, 2000];

/// Returns a document with this number of operations, a fifth of them in each category.
fn document(operations: usize) -> Source {
    let mut text = String::from(
        "name: shop\ntype: adapter\nversion: \"1.0.0\"\ndescription: A shop\n\
         target: { base_url: \"https://shop.example.com/v1\" }\noperations:\n",
    );
    let families =
        [("create", "POST"), ("read", "GET"), ("update", "PATCH"), ("delete", "DELETE"), ("execute", "POST")];
    for (category, method) in families {
        let _ = writeln!(text, "  {category}:");
        for index in 0..operations / families.len() {
            let _ = write!(
                text,
                "    - name: {category}_thing_{index}\n      maps_to: {method} /shops/{{shop}}/things_{index}/{{id}}\n      \
                 description: Does the thing number {index} to what {category} is for. And says so.\n      params:\n        \
                 shop: {{ type: string, required: true, in: path, description: Which shop }}\n        \
                 id: {{ type: integer, minimum: 1, required: true, in: path, description: Which thing }}\n        \
                 state: {{ type: string, enum: [open, closed, all], in: query, description: Only those in this state }}\n        \
                 per_page: {{ type: integer, minimum: 1, maximum: 100, default: 30, in: query, description: How many }}\n"
            );
        }
    }
    Source::new("shop.yaml", text)
}

fn compiled(operations: usize) -> Catalog {
    check(&document(operations), &AdapterSettings::default()).catalog.expect("the document is right")
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn documents(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("document");
    group.sample_size(10);
    for size in SIZES {
        let source = document(size);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::new("parse", size), |b| b.iter(|| source.parse().unwrap()));
        let parsed = source.parse().unwrap().value;
        group.bench_function(BenchmarkId::new("load", size), |b| b.iter(|| load::load(&parsed)));
        group.bench_function(BenchmarkId::new("compile with surface", size), |b| {
            b.iter_batched(
                || load::load(&parsed),
                |loaded| {
                    compile::compile(loaded.adapter.unwrap(), &loaded.origins, &AdapterSettings::default())
                },
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("everything", size), |b| {
            b.iter(|| check(&source, &AdapterSettings::default()));
        });
        let catalog = compiled(size);
        group.bench_function(BenchmarkId::new("tools to JSON", size), |b| {
            b.iter(|| catalog.tools.iter().map(|tool| tool.to_json()).collect::<Vec<_>>());
        });
    }
    group.finish();
}

fn calls(criterion: &mut Criterion) {
    let catalog = compiled(200);
    let mut group = criterion.benchmark_group("call");
    let prepare = |params: Value| {
        let catalog = &catalog;
        let arguments = object(json!({"operation": "read_thing_7", "params": params}));
        move |b: &mut criterion::Bencher<'_>| {
            b.iter_batched(
                || arguments.clone(),
                |arguments| request::prepare(catalog, "shop_mcpaql_read", arguments).is_ok(),
                BatchSize::SmallInput,
            );
        }
    };
    group.bench_function("prepare", prepare(json!({"shop": "octo", "id": 7, "state": "open"})));
    group.bench_function("prepare, other spelling", prepare(json!({"shop": "octo", "id": 7, "perPage": 5})));
    group.bench_function("prepare, wrong type", prepare(json!({"shop": "octo", "id": "seven"})));
    let list = object(json!({"query": "operations"}));
    group.bench_function("introspect, list of 200", |b| {
        b.iter(|| introspect::answer(&catalog, black_box(&list)));
    });
    let detail = object(json!({"query": "operations", "name": "read_thing_7"}));
    group.bench_function("introspect, detail", |b| {
        b.iter(|| introspect::answer(&catalog, black_box(&detail)));
    });
    let issue =
        json!({"number": 7, "title": "An issue", "labels": ["bug", "later"], "body": "What \"happened\""});
    let raw = serde_json::value::to_raw_value(&issue).unwrap();
    for (name, answer) in [("envelope, value", Answer::new(issue)), ("envelope, text", Answer::new(raw))] {
        let outcome = Ok(answer);
        group.bench_function(name, |b| b.iter(|| envelope(black_box(&outcome), ErrorPolicy::Unrecoverable)));
    }
    group.finish();
}

criterion_group!(benches, documents, calls);
criterion_main!(benches);
