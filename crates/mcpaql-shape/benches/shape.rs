//! Benchmarks of query controls on a long answer, next to parsing and printing it with `serde_json`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "benchmarks"
)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mcpaql_shape::{Payload, QueryControls, ShapeRequest, fit, is_within, shape};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::hint::black_box;

const ITEMS: usize = 20_000;

/// Returns a list of about 10 MB, whose items look like issues of a tracker.
fn list() -> Box<RawValue> {
    let item = |index: usize| {
        let mut item = json!({
            "id": 1_000_000 + index, "number": index, "title": format!("Parser fails on input {index}"), "state": "open",
            "user": {"login": format!("user{}", index % 50), "id": index % 50, "url": "https://api.example.com/users/7"},
            "labels": [{"id": 208_045_946, "name": "bug", "color": "f29513"}], "comments": index % 9,
            "created_at": "2026-04-22T13:33:48Z", "closed_at": null, "url": format!("https://api.example.com/issues/{index}"),
        });
        item["body"] = "The parser stops at the first comment. ".repeat(4).into();
        item
    };
    serde_json::value::to_raw_value(&(0..ITEMS).map(item).collect::<Vec<_>>()).unwrap()
}

fn benches(criterion: &mut Criterion) {
    let list = list();
    let mut group = criterion.benchmark_group("list");
    group.throughput(Throughput::Bytes(list.get().len() as u64)).sample_size(20);
    group.bench_function("parse and print", |bencher| {
        bencher.iter(|| serde_json::from_str::<Value>(black_box(list.get())).unwrap().to_string().len());
    });
    for (name, params) in [
        ("three fields", json!({"fields": ["number", "title", "user.login"]})),
        (
            "filter, sort and page",
            json!({"filter": {"comments": {"gt": 4}}, "sort": {"field": "number", "order": "desc"}, "first": 20}),
        ),
        ("aggregate", json!({"aggregate": {"by_user": {"group_by": "user.login", "count": true}}})),
    ] {
        let controls = QueryControls::read(params.as_object().cloned().unwrap(), &mut Vec::new()).unwrap();
        let shaped = |data: Payload| {
            let shaped = shape(data, &ShapeRequest::new(&controls)).unwrap();
            serde_json::to_string(&shaped.data).unwrap().len()
        };
        group.bench_function(name, |bencher| {
            bencher.iter_batched(|| Payload::from(list.clone()), shaped, BatchSize::PerIteration);
        });
    }
    let none = QueryControls::default();
    group.bench_function("answer budget", |bencher| {
        let reduced = |data: Payload| fit(data.into(), 8000, &ShapeRequest::new(&none));
        bencher.iter_batched(|| Payload::from(list.clone()), reduced, BatchSize::PerIteration);
    });
    group.finish();
    let short = Payload::from(
        RawValue::from_string(list.get()[..7000].rsplit_once("},{").unwrap().0.to_owned() + "}]").unwrap(),
    );
    criterion.bench_function("budget of a short answer", |bencher| {
        bencher.iter(|| is_within(black_box(&short), 8000))
    });
}

criterion_group!(shapes, benches);
criterion_main!(shapes);
