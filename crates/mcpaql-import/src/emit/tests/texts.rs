//! Every text and every value reads back unchanged, in YAML 1.1 and 1.2.

use super::super::scalar;
use super::super::yaml::{YamlValue, members};
use super::strategies::{texts, values};
use mcpaql_document::source::Source;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;

fn write(value: &Value) -> String {
    let mut out = String::from("---\n");
    members(
        &mut out,
        &[(Cow::Borrowed("value"), YamlValue::from(value)), (Cow::Borrowed("end"), YamlValue::Null)],
        0,
    );
    out.push_str("---\n\nText.\n");
    out
}

fn read(text: &str) -> Value {
    let parsed =
        Source::new("value.md", text).parse().unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    assert_eq!(parsed.value["end"], Value::Null, "{text}");
    parsed.value["value"].clone()
}

#[test]
fn a_text_is_quoted_only_if_a_parser_would_read_something_else() {
    for plain in [
        "word",
        "two words",
        "https://api.example.com/v1",
        "it's",
        "a \"b\"",
        "50%",
        "2fa",
        "1st",
        "v1.2",
        "GET /a/{id}",
        "Label[]",
        "a, b",
        "yesterday",
        "nullable",
        "x=1",
        "C#",
        "über",
        "naïve 🎉",
        "a:b",
        ".net",
        "_",
    ] {
        assert_eq!(scalar::inline(plain, false), plain);
    }
    for other in [
        "",
        " a",
        "a ",
        "yes",
        "No",
        "ON",
        "off",
        "y",
        "N",
        "true",
        "False",
        "null",
        "NULL",
        "~",
        "=",
        "<<",
        "012",
        "0o17",
        "0x1F",
        "0b11",
        "1e3",
        "1_000",
        "12:30",
        "12:30:45.5",
        "1.0.0",
        "1.",
        ".5",
        "+1",
        "-1",
        ".inf",
        "-.INF",
        ".NaN",
        "2026-01-31",
        "2026-1-3 10:00:00",
        "2026-01-31T00:00:00Z",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "#a",
        "- a",
        "-",
        "?",
        ": a",
        "a: b",
        "a:",
        "a #b",
        "{a}",
        "[a]",
        "|",
        ">",
        "'a'",
        "\"a\"",
        "---",
        "...",
        "a\tb",
        "a\u{2028}b",
        "a\u{85}b",
        "\u{feff}a",
        "a\u{202e}b",
        "\u{7f}",
    ] {
        assert_ne!(scalar::inline(other, false), other, "{other:?}");
        assert_eq!(read(&write(&json!(other))), json!(other));
    }
}

#[test]
fn inside_brackets_more_texts_need_quotes() {
    for text in ["a, b", "Label[]", "{a}", "a:b", "a: b"] {
        assert_ne!(scalar::inline(text, true), text, "{text:?}");
        assert_eq!(read(&write(&json!([text]))), json!([text]));
    }
}

#[test]
fn keys_are_words_or_quoted() {
    for word in ["name", "$ref", "x-extra", "camelCase", "a.b", "type"] {
        assert_eq!(scalar::key(word), word);
    }
    for other in ["", "on", "y", "12", "1a", "-a", "a b", "a:b", "é", "<<", "~", "null", "*", "a\nb", "+1"] {
        assert_ne!(scalar::key(other), other, "{other:?}");
        assert_eq!(
            read(&write(&json!({other: {other: [1, {other: "x\ny"}]}}))),
            json!({other: {other: [1, {other: "x\ny"}]}})
        );
    }
    let long = "k".repeat(3000);
    assert_eq!(read(&write(&json!({&long: {&long: 1}}))), json!({&long: {&long: 1}}));
    assert_eq!(read(&write(&json!([{&long: [1, {"a": "b"}]}]))), json!([{&long: [1, {"a": "b"}]}]));
}

#[test]
fn numbers_are_numbers_in_yaml_1_1() {
    assert_eq!(write(&json!(1e300)).lines().nth(1), Some("value: 1.0e+300"));
    assert_eq!(write(&json!(1.5e-9)).lines().nth(1), Some("value: 1.5e-9"));
    for number in
        [json!(0), json!(-0.0), json!(u64::MAX), json!(i64::MIN), json!(1e21), json!(f64::MIN_POSITIVE)]
    {
        assert_eq!(read(&write(&number)), number);
    }
}

#[test]
fn long_texts_are_folded_after_sentences() {
    let text = "Lists the issues of a repository, newest first. Pull requests are issues too and are marked as such; \
                filter them by the key. An answer holds at most one hundred of them and the address of the next ones.";
    assert_eq!(
        write(&json!(text)),
        "---\nvalue: >-\n  Lists the issues of a repository, newest first.\n  \
         Pull requests are issues too and are marked as such; filter them by the key.\n  \
         An answer holds at most one hundred of them and the address of the next ones.\nend: null\n---\n\nText.\n"
    );
    assert_eq!(read(&write(&json!(text))), json!(text));
}

proptest! {
    #[test]
    fn every_text_reads_back(text in texts()) {
        prop_assert_eq!(read(&write(&json!(text))), json!(text));
        prop_assert_eq!(read(&write(&json!([text]))), json!([text]));
        prop_assert_eq!(read(&write(&json!({"a": [{"b": text, "c": [[text]]}]}))), json!({"a": [{"b": text, "c": [[text]]}]}));
    }

    #[test]
    fn every_value_reads_back(value in values()) {
        prop_assert_eq!(read(&write(&value)), value);
    }

    #[test]
    fn a_text_is_one_line_or_a_block_of_lines_that_fit(words in prop::collection::vec("[a-z]{1,12}", 30..80)) {
        let text = words.join(" ");
        let written = write(&json!(text));
        prop_assert!(written.lines().all(|line| line.len() <= 110), "{}", written);
        prop_assert_eq!(read(&written), json!(text));
    }
}
