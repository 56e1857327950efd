//! Benchmarks of search: building the index and the links of 2000 operations, and searching them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "benchmarks")]

use criterion::{Criterion, criterion_group, criterion_main};
use mcpaql_core::facts::{Effect, Facts, Guard, Reach, Repeat};
use mcpaql_core::library::{AnswerOutline, Outline, ParamOutline};
use mcpaql_core::links::producers;
use mcpaql_core::operation::{Binding, Category, HttpBinding, Operation, Segment};
use mcpaql_core::search::{Doc, SearchIndex};
use std::hint::black_box;

const NOUNS: [&str; 40] = [
    "account", "address", "alert", "article", "asset", "branch", "budget", "campaign", "channel", "comment",
    "contract", "customer", "device", "discount", "domain", "event", "folder", "image", "invoice", "issue",
    "key", "label", "license", "member", "message", "order", "payment", "person", "product", "project",
    "report", "review", "role", "secret", "session", "shipment", "task", "team", "template", "webhook",
];
const FAMILIES: [(&str, Category); 5] = [
    ("create", Category::Create),
    ("list", Category::Read),
    ("update", Category::Update),
    ("delete", Category::Delete),
    ("run", Category::Execute),
];

struct Row {
    operation: Operation,
    outline: Outline,
    path: String,
    description: String,
}

/// Returns 2000 operations: 40 × 10 nouns, five verbs each.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, owner) in NOUNS.iter().enumerate() {
        for other in 1..=10 {
            let Some(noun) = NOUNS.get((at + other * 3) % NOUNS.len()) else { continue };
            for (verb, category) in FAMILIES {
                rows.push(row(verb, category, owner, noun));
            }
        }
    }
    rows
}

fn row(verb: &str, category: Category, owner: &str, noun: &str) -> Row {
    let single = matches!(category, Category::Update | Category::Delete);
    let mut path = vec![
        Segment::Literal(format!("/{owner}s/")),
        Segment::Param(format!("{owner}_id")),
        Segment::Literal(format!("/{noun}s")),
    ];
    let mut text = format!("/{owner}s/{{{owner}_id}}/{noun}s");
    if single {
        path.extend([Segment::Literal("/".into()), Segment::Param(format!("{noun}_id"))]);
        text.push_str(&format!("/{{{noun}_id}}"));
    }
    let facts = Facts {
        effect: Effect::of(category),
        repeat: Repeat::Unknown,
        overwrites: false,
        reversible: true,
        guard: Guard::None,
        reach: Reach::Open,
    };
    let binding = Binding::Http(HttpBinding::new("GET", path));
    let names = ["state", "page", "per_page", "sort", "direction", "since"];
    let param = |name: &str| ParamOutline {
        name: name.to_owned(),
        required: false,
        in_path: false,
        is_choice: false,
    };
    let fields = ["id", "name", "created_at", "updated_at", "url", "state", "owner", "description"];
    Row {
        operation: Operation::new(format!("{verb}_{owner}_{noun}s"), category, facts, binding),
        outline: Outline {
            params: names.into_iter().map(param).collect(),
            answer: Some(AnswerOutline {
                type_name: Some(noun.to_owned()),
                list: category == Category::Read,
                fields: fields.map(str::to_owned).to_vec(),
            }),
        },
        path: text,
        description: format!(
            "Lets whoever may {verb} the {noun}s of this {owner} do so. Only those in the given state are touched, oldest first, \
             and the answer says when each {noun} was last changed and by whom."
        ),
    }
}

fn index(rows: &[Row]) -> SearchIndex {
    SearchIndex::build(rows.iter().map(|row| Doc {
        path: &row.path,
        description: &row.description,
        params: &["state", "page", "per_page", "sort", "direction", "since"],
        fields: &["id", "name", "created_at", "updated_at", "url", "state", "owner", "description"],
        ..Doc::new(&row.operation.name, row.operation.category)
    }))
}

fn search(criterion: &mut Criterion) {
    let rows = rows();
    assert_eq!(rows.len(), 2000);
    let mut group = criterion.benchmark_group("2000 operations");
    group.sample_size(20);
    group.bench_function("index", |b| b.iter(|| index(black_box(&rows))));
    let outlined: Vec<_> = rows.iter().map(|row| (&row.operation, row.outline.clone())).collect();
    group.bench_function("links", |b| b.iter(|| producers(black_box(&outlined))));
    let (index, links) = (index(&rows), producers(&outlined));
    let questions = [
        ("two words", "list invoices"),
        ("a sentence", "Please get rid of the discount that I gave to my best customer last week"),
        ("a slip", "shipmnet of an order"),
        ("what nearly all hold", "the state and description of those in the given page, oldest first"),
    ];
    for (name, question) in questions {
        group.bench_function(format!("search, {name}"), |b| b.iter(|| index.search(black_box(question), 5)));
    }
    let (_, question) = questions[1];
    group.bench_function("search with chain, a sentence", |b| {
        b.iter(|| index.search_with_chain(&links, black_box(question), 5, |_| true));
    });
    group.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
