//! A document loads as the adapter that it was written from.

use super::strategies::adapters;
use super::{in_order, provenance, read, seen, write};
use crate::emit::{document, is_imported};
use mcpaql_document::source::{Source, SourceFormat};
use proptest::prelude::*;
use serde_json::Value;

fn example(name: &str, text: &str) -> mcpaql_core::adapter::Adapter {
    let parsed = Source::new(name, text).parse().expect("an example is a document");
    mcpaql_document::load::load(&parsed.value).adapter.expect("an example loads")
}

#[test]
fn every_example_survives() {
    for (name, text) in [
        ("github-api-adapter.md", include_str!("../../../../../examples/github-api-adapter.md")),
        ("apple-mail-adapter.md", include_str!("../../../../../examples/apple-mail-adapter.md")),
        ("git-adapter.md", include_str!("../../../../../examples/git-adapter.md")),
        ("notebook-adapter.md", include_str!("../../../../../examples/notebook-adapter.md")),
        ("lightdash-adapter.md", include_str!("../../../../../examples/lightdash-adapter.md")),
        ("firefly-adapter.md", include_str!("../../../../../examples/firefly-adapter.md")),
        ("nextcloud-adapter.md", include_str!("../../../../../examples/nextcloud-adapter.md")),
    ] {
        let adapter = example(name, text);
        let written = write(&adapter);
        let again = read(&written);
        assert_eq!(difference(name, &seen(again.clone()), &seen(in_order(&adapter))), None);
        assert_eq!(write(&again), written, "{name}");
    }
}

/// Returns the first difference between two values, because the complete values are too long to read.
fn difference(path: &str, left: &Value, right: &Value) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) if left.keys().all(|key| right.contains_key(key)) => left
            .iter()
            .find_map(|(key, value)| difference(&format!("{path}/{key}"), value, &right[key]))
            .or_else(|| (left.len() != right.len()).then(|| format!("{path}: {left:?} / {right:?}"))),
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let mut pairs = left.iter().zip(right).enumerate();
            pairs.find_map(|(index, (left, right))| difference(&format!("{path}/{index}"), left, right))
        }
        _ => (left != right).then(|| format!("{path}\n{left:#}\n{right:#}")),
    }
}

/// Returns the value of a document, without its comment.
fn value(name: &str, text: &str) -> Value {
    let parsed = Source::new(name, text).parse().unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    let mut value = parsed.value;
    if let Some(members) = value.as_object_mut() {
        members.shift_remove("$comment");
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_document_loads_as_the_adapter_it_was_written_from(adapter in adapters()) {
        let written = write(&adapter);
        let again = read(&written);
        prop_assert_eq!(difference("", &seen(again.clone()), &seen(in_order(&adapter))), None, "{}", written);
        prop_assert_eq!(write(&again), written);
    }

    #[test]
    fn all_formats_have_the_same_content_and_are_recognized(adapter in adapters()) {
        let markdown = value("adapter.md", &write(&adapter));
        for (name, format) in [("adapter.yaml", SourceFormat::Yaml), ("adapter.json", SourceFormat::Json)] {
            let text = document(&adapter, &provenance(), format);
            prop_assert_eq!(difference("", &value(name, &text), &markdown), None, "{}", text);
            prop_assert!(is_imported(&text));
        }
    }
}
