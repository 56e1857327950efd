//! Tests of values, positions and syntax errors.

use super::*;
use mcpaql_core::error::Code;
use proptest::prelude::*;
use serde_json::json;

fn yaml(text: &str) -> Parsed {
    Source::new("a.yaml", text).parse().unwrap()
}

fn refusal(name: &str, text: &str) -> Diagnostic {
    let mut diagnostics = Source::new(name, text).parse().unwrap_err();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let diagnostic = diagnostics.remove(0);
    assert_eq!(diagnostic.code, Code::SchemaSyntax);
    assert!(diagnostic.span.is_some());
    diagnostic
}

/// Returns the text that a diagnostic about `pointer` underlines.
fn located<'s>(source: &'s Source, pointer: &str, at_key: bool) -> (&'s str, usize, usize) {
    let mut diagnostic = Diagnostic::error(Code::SchemaInvalidValue, pointer, "x");
    diagnostic.at_key = at_key;
    let mut diagnostics = [diagnostic];
    source.locate(&mut diagnostics);
    let span = diagnostics[0].span.unwrap();
    (source.text.get(span.start..span.end).unwrap(), span.line, span.column)
}

mod formats {
    use super::*;

    #[test]
    fn front_matter_is_the_document_and_the_rest_is_the_body() {
        let source = Source::new("a.md", "---\nname: x\n---\n# Title\n---\nmore\n");
        let parsed = source.parse().unwrap();
        assert_eq!(parsed.format, SourceFormat::Markdown);
        assert_eq!(parsed.value, json!({"name": "x"}));
        assert_eq!(source.text.get(parsed.body.unwrap()).unwrap(), "# Title\n---\nmore\n");
    }

    #[test]
    fn front_matter_survives_windows_line_ends_and_a_byte_order_mark() {
        let source = Source::new("a.md", "\u{feff}---\r\nname: x\r\nlist:\r\n  - a\r\n---\r\nBody\r\n");
        let parsed = source.parse().unwrap();
        assert_eq!(parsed.value, json!({"name": "x", "list": ["a"]}));
        assert_eq!(source.text.get(parsed.body.unwrap()).unwrap(), "Body\r\n");
        assert_eq!(located(&source, "/list/0", false), ("a", 4, 5));
    }

    #[test]
    fn front_matter_may_have_an_empty_body() {
        let parsed = Source::new("a.md", "---\nname: x\n---").parse().unwrap();
        assert_eq!((parsed.format, parsed.body), (SourceFormat::Markdown, Some(15..15)));
    }

    #[test]
    fn the_format_of_a_file_without_a_known_extension_is_detected() {
        assert_eq!(Source::new("-", "---\na: 1\n---\nbody").parse().unwrap().format, SourceFormat::Markdown);
        assert_eq!(Source::new("-", "---\na: 1\n").parse().unwrap().format, SourceFormat::Yaml);
        assert_eq!(Source::new("-", "# comment\na: 1\n").parse().unwrap().format, SourceFormat::Yaml);
        assert_eq!(Source::new("-", " \n\t{\"a\": 1}").parse().unwrap().format, SourceFormat::Json);
        assert_eq!(Source::new("-", "\u{feff}[1]").parse().unwrap().value, json!([1]));
    }

    #[test]
    fn a_json_file_is_json_whatever_it_starts_with() {
        assert!(refusal("a.json", "name: x\n").message.contains("not valid JSON"));
        assert_eq!(Source::new("a.json", "\"text\"").parse().unwrap().value, json!("text"));
    }

    #[test]
    fn a_flow_mapping_in_a_yaml_file_is_yaml() {
        let parsed = Source::new("a.yml", "{a: 1, b: [x, y]}").parse().unwrap();
        assert_eq!((parsed.format, parsed.value), (SourceFormat::Yaml, json!({"a": 1, "b": ["x", "y"]})));
    }

    #[test]
    fn markdown_without_front_matter_is_reported() {
        for (name, text) in [
            ("a.md", "# Title\n\nProse.\n"),
            ("a.md", "[link](x)\n"),
            ("A.MD", "name: x\n"),
            ("a.md", "\n---\nname: x\n---\n"),
            ("-", "# Title\n\nProse: with a colon: twice.\n"),
            ("-", "# Title\n\nProse.\n"),
            ("-", "# Title\n"),
        ] {
            let diagnostic = refusal(name, text);
            assert!(diagnostic.message.contains("no front matter"), "{text:?}: {}", diagnostic.message);
        }
        let blank_line_first = refusal("a.md", "\n---\nname: x\n---\n").suggestion.unwrap();
        assert!(blank_line_first.contains("first line"), "{blank_line_first}");
    }

    #[test]
    fn front_matter_that_is_never_closed_is_reported() {
        let diagnostic = refusal("a.md", "---\nname: x\n");
        assert_eq!(diagnostic.message, "The front matter is not closed");
        assert_eq!(diagnostic.span.unwrap().line, 1);
    }

    #[test]
    fn an_empty_document_is_reported() {
        for (text, message) in
            [("", "The file is empty"), (" \n\t\n", "The file is empty"), ("\u{feff}\n", "The file is empty")]
        {
            assert_eq!(refusal("a.md", text).message, message);
            assert_eq!(refusal("a.json", text).message, message);
        }
        assert_eq!(refusal("a.yaml", "# only a comment\n").message, "The document is empty");
        assert_eq!(refusal("a.md", "---\n---\nbody").message, "The front matter is empty");
    }
}

mod yaml_values {
    use super::*;

    #[test]
    fn quoted_scalars_stay_strings_and_plain_ones_follow_the_core_schema() {
        let parsed =
            yaml("a: \"true\"\nb: '1.0'\nc: 1.0.0\nd: 1.0\ne: true\nf: [x, y, no, on]\ng:\nh: |\n  1\n");
        let expected = json!({"a": "true", "b": "1.0", "c": "1.0.0", "d": 1.0, "e": true,
            "f": ["x", "y", "no", "on"], "g": null, "h": "1\n"});
        assert_eq!(parsed.value, expected);
        assert_eq!(parsed.diagnostics, []);
    }

    #[test]
    fn the_order_of_keys_is_kept() {
        let value = yaml("z: 1\na: 2\nm: 3\n").value;
        assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["z", "a", "m"]);
    }

    #[test]
    fn keys_become_strings() {
        let value = yaml("200: ok\ntrue: yes\n1.0: f\n~: n\n\"q\": s\n").value;
        assert_eq!(value, json!({"200": "ok", "true": "yes", "1.0": "f", "~": "n", "q": "s"}));
    }

    #[test]
    fn aliases_and_merge_keys_work() {
        let value = yaml(
            "base: &b {x: 1, y: 2}\nother: &o {y: 9, z: 3}\none:\n  <<: *b\n  y: 5\ntwo: {<<: [*b, *o]}\nthree: [*b]\n\
             key: &k name\n*k : aliased\n",
        )
        .value;
        assert_eq!(value["one"], json!({"y": 5, "x": 1}));
        assert_eq!(value["two"], json!({"x": 1, "y": 2, "z": 3}));
        assert_eq!(value["three"], json!([{"x": 1, "y": 2}]));
        assert_eq!(value["name"], "aliased");
        assert_eq!(yaml("\"<<\": 1").value, json!({"<<": 1}), "a quoted merge key is a key");
    }

    #[test]
    fn merging_a_value_that_is_no_mapping_is_reported() {
        let parsed = yaml("a:\n  <<: text\n  b: 1\n");
        assert_eq!(parsed.value, json!({"a": {"b": 1}}));
        assert_eq!(parsed.diagnostics[0].code, Code::SchemaInvalidType);
        assert_eq!(parsed.diagnostics[0].pointer, "/a");
        assert_eq!(parsed.diagnostics[0].span.unwrap().line, 2);
    }

    #[test]
    fn tags_of_the_core_schema_decide_and_others_are_reported() {
        let parsed =
            yaml("a: !!str 1\nb: !!int '7'\nc: ! 5\nd: !include other.yaml\ne: !!int x\nf: !!binary QQ==\n");
        let expected = json!({"a": "1", "b": 7, "c": "5", "d": "other.yaml", "e": "x", "f": "QQ=="});
        assert_eq!(parsed.value, expected);
        let found: Vec<_> = parsed.diagnostics.iter().map(|d| (d.code, d.pointer.as_str())).collect();
        assert_eq!(found, [(Code::SchemaUnsupported, "/d"), (Code::SchemaInvalidType, "/e")]);
    }

    #[test]
    fn numbers_that_json_cannot_express_are_reported_and_the_rest_loads() {
        let parsed = yaml("a:\n  - 1\n  - .inf\nb: ok\n");
        assert_eq!(parsed.value, json!({"a": [1, null], "b": "ok"}));
        let diagnostic = &parsed.diagnostics[0];
        assert_eq!((diagnostic.code, diagnostic.pointer.as_str()), (Code::SchemaInvalidValue, "/a/1"));
        assert_eq!(diagnostic.span.map(|span| (span.line, span.column)), Some((3, 5)));
    }

    #[test]
    fn a_second_document_is_refused() {
        let diagnostic = refusal("a.yaml", "a: 1\n---\nb: 2\n");
        assert!(diagnostic.message.contains("second YAML document"), "{}", diagnostic.message);
        assert_eq!(diagnostic.span.unwrap().line, 2);
    }

    #[test]
    fn an_unquoted_template_is_explained() {
        let diagnostic = refusal("a.yaml", "a: {{ x }}\n");
        assert_eq!(diagnostic.message, "A mapping or a list cannot be a key");
        assert!(diagnostic.suggestion.unwrap().contains("quote"));
    }

    #[test]
    fn syntax_errors_point_into_the_file() {
        let diagnostic = refusal("a.md", "---\nname: x\nlist: [1, 2\nother: 3\n---\nbody\n");
        assert!((3..=5).contains(&diagnostic.span.unwrap().line), "{diagnostic:?}");
        let diagnostic = refusal("a.yaml", "a: 1\n\tb: 2\n");
        assert_eq!(diagnostic.span.unwrap().line, 2, "{diagnostic:?}");
        assert_eq!(diagnostic.suggestion.as_deref(), Some("indent with spaces"));
        let diagnostic = refusal("a.yaml", "a: *nowhere\n");
        assert_eq!(diagnostic.span.map(|span| (span.line, span.column)), Some((1, 4)), "{diagnostic:?}");
    }
}

mod bounds {
    use super::*;

    #[test]
    fn deep_nesting_is_a_diagnostic() {
        let block: String = (0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let aliases: String = (0..5_000)
            .fold("- &a0 []\n".to_owned(), |text, depth| text + &format!("- &a{} [*a{depth}]\n", depth + 1));
        for (name, text) in [
            ("a.yaml", block),
            ("a.yaml", aliases),
            ("a.yaml", "- ".repeat(50_000)),
            ("a.yaml", format!("a: {}", "[".repeat(50_000))),
            ("a.yaml", "{".repeat(50_000)),
            ("a.json", "[".repeat(50_000)),
            ("a.json", r#"{"a":"#.repeat(50_000)),
        ] {
            let diagnostic = refusal(name, &text);
            let start: String = text.chars().take(20).collect();
            assert!(
                diagnostic.message.contains("deeper than 128")
                    || diagnostic.message.contains("cannot be a key"),
                "{start}: {}",
                diagnostic.message
            );
        }
    }

    #[test]
    fn a_hundred_levels_are_fine() {
        let text = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(
            Source::new("a.json", &*text).parse().unwrap().value,
            yaml(&format!("--- \n{text}")).value
        );
    }

    #[test]
    fn alias_bombs_are_refused() {
        let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for level in 1..30 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            laughs.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 64].join(", "));
        for text in [laughs, long] {
            assert!(refusal("a.yaml", &text).message.contains("aliases expand"));
        }
    }

    #[test]
    fn an_alias_inside_its_own_anchor_is_refused() {
        assert!(refusal("a.yaml", "a: &a [*a]\n").message.contains("alias"));
    }
}

mod duplicates {
    use super::*;

    fn check(source: &Source) {
        let parsed = source.parse().unwrap();
        assert_eq!(parsed.value, json!({"a": {"x": 1, "y": [3]}, "b": 4}));
        let found: Vec<_> = parsed
            .diagnostics
            .iter()
            .map(|d| (d.code, d.at_key, d.pointer.as_str(), d.span.map(|span| (span.line, span.column))))
            .collect();
        assert_eq!(
            found,
            [
                (Code::SchemaDuplicateName, true, "/a/x", Some((4, 3))),
                (Code::SchemaDuplicateName, true, "/a", Some((6, 1))),
            ]
        );
    }

    #[test]
    fn in_yaml_the_first_wins_and_the_second_is_reported() {
        check(&Source::new("a.yaml", "a:\n  x: 1\n  y: [3]\n  x: {q: 1, q: 2}\nb: 4\na: 5\n"));
    }

    #[test]
    fn in_json_the_first_wins_and_the_second_is_reported() {
        check(&Source::new(
            "a.json",
            "{\"a\": {\n\"x\": 1,\n  \"y\": [3],\n  \"\\u0078\": {\"q\": 1, \"q\": 2}\n},\"b\": 4,\n\"a\": 5}\n",
        ));
    }

    #[test]
    fn quoted_and_plain_spellings_are_the_same_key() {
        assert_eq!(yaml("a: 1\n'a': 2\n").diagnostics.len(), 1);
    }

    #[test]
    fn a_key_that_overrides_a_merged_one_is_no_duplicate() {
        assert_eq!(yaml("a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n").diagnostics, []);
    }

    #[test]
    fn locating_leaves_the_second_occurrence_alone() {
        let source = Source::new("a.yaml", "a: 1\na: 2\n");
        let mut diagnostics = source.parse().unwrap().diagnostics;
        diagnostics.push(Diagnostic::error(Code::SchemaInvalidType, "/a", "x"));
        source.locate(&mut diagnostics);
        let lines: Vec<_> = diagnostics.iter().map(|d| d.span.unwrap().line).collect();
        assert_eq!(lines, [2, 1]);
    }
}

mod json_values {
    use super::*;

    #[test]
    fn json_reads_as_serde_json_reads_it() {
        let text = r#"{"z": 18446744073709551615, "a": -1, "f": 1.5e3, "big": 18446744073709551616,
            "s": "\u00e4\ud83d\ude00\n", "l": [null, true, {}]}"#;
        let parsed = Source::new("a.json", text).parse().unwrap();
        assert_eq!(parsed.value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!((parsed.format, parsed.body, parsed.diagnostics), (SourceFormat::Json, None, vec![]));
    }

    #[test]
    fn syntax_errors_have_a_span_and_no_position_in_the_message() {
        let diagnostic = refusal("a.json", "{\n  \"a\": 1\n  \"b\": 2\n}");
        assert_eq!(diagnostic.message, "This is not valid JSON: expected `,` or `}`");
        assert_eq!(diagnostic.span.map(|span| (span.line, span.column)), Some((3, 3)));
        for text in ["{", "[1,]", "{\"a\": 1} x", "[1e999]", "\u{feff}{\"ä\": é}"] {
            assert!(!refusal("a.json", text).message.contains(" at "), "{text}");
        }
    }
}

mod spans {
    use super::*;

    const FRONT_MATTER: &str = "---\nname: äö\noperations:\n  read:\n    - name: get\n      params:\n        id:\n          \
                                type: strng\n  \"we/ird~\": {}\nempty:\ntext: |\n  one\n  two\n\n---\n# Body\n";

    fn source() -> Source {
        Source::new("a.md", FRONT_MATTER)
    }

    #[test]
    fn values_and_keys_are_found_by_pointer() {
        let source = source();
        assert_eq!(located(&source, "/name", false), ("äö", 2, 7));
        assert_eq!(located(&source, "/name", true), ("name", 2, 1));
        assert_eq!(located(&source, "/operations/read/0/params/id/type", false), ("strng", 8, 17));
        assert_eq!(located(&source, "/operations/read/0/params/id/type", true), ("type", 8, 11));
        assert_eq!(located(&source, "/operations/we~1ird~0", false), ("{}", 9, 14));
        assert_eq!(located(&source, "/text", false), ("one\n  two", 12, 3));
    }

    #[test]
    fn a_collection_ends_with_its_last_value() {
        let source = Source::new("a.yaml", "a:\n  b: 1\n  c:\n    - 2\n\n# comment\nd: 3\n");
        assert_eq!(located(&source, "/a", false).0, "b: 1\n  c:\n    - 2");
        assert_eq!(located(&source, "/a/c", false).0, "- 2");
    }

    #[test]
    fn a_missing_value_is_shown_at_its_nearest_parent() {
        let source = source();
        assert_eq!(located(&source, "/operations/read/0/params/id/in", false), ("id", 7, 9));
        assert_eq!(located(&source, "/operations/read/0/maps_to", false), ("name", 5, 7));
        assert_eq!(located(&source, "/operations/read/7/x", false), ("read", 4, 3));
        assert_eq!(located(&source, "/target/base_url", false), ("name", 2, 1));
        assert_eq!(located(&source, "/name/deeper", false), ("name", 2, 1));
        assert_eq!(located(&source, "/empty", false), ("empty", 10, 1), "an empty value is shown at its key");
    }

    #[test]
    fn json_has_the_same_spans() {
        let source =
            Source::new("a.json", "{\r\n  \"a\\u0062\": [1, {\"é\": \"x\\\"}\"}],\r\n  \"n\": -1.5\r\n}");
        assert_eq!(located(&source, "/ab/1/é", false), ("\"x\\\"}\"", 2, 24));
        assert_eq!(located(&source, "/ab/1/é", true), ("\"é\"", 2, 19));
        assert_eq!(located(&source, "/n", false), ("-1.5", 3, 8));
        assert_eq!(located(&source, "/missing", false), ("{", 1, 1));
        assert_eq!(located(&source, "/ab/1/missing", false), ("{\"é\": \"x\\\"}\"}", 2, 18));
        assert_eq!(located(&source, "/ab/9", false), ("\"a\\u0062\"", 2, 3));
    }

    #[test]
    fn many_pointers_have_the_same_spans_as_each_alone() {
        let json = r#"{"tools": [{"a": "}\\\"]", "b": [1, {"c": []}]}, {"a": {}, "a": 2}, "x", 3],
                       "ä~/": {"d": {"e": null}}, "left": [[["\\\\"]], {"z": "{"}], "last": true}"#;
        let yaml = "tools:\n  - a: 1\n  - b: [2, {c: 3}]\nlast: true\n";
        let pointers = [
            "",
            "/tools",
            "/tools/0",
            "/tools/0/a",
            "/tools/0/b/1/c",
            "/tools/0/b/7",
            "/tools/0/missing/x",
            "/tools/1/a",
            "/tools/2/x",
            "/tools/9",
            "/ä~0~1/d/e",
            "/left/1/z",
            "/last",
            "/nowhere/at/all",
        ];
        for (name, text) in [("a.json", json), ("a.yaml", yaml), ("b.yaml", json), ("c.json", "{broken")] {
            let source = Source::new(name, text);
            let alone = |pointer: &&str| {
                let mut diagnostics = [Diagnostic::error(Code::SchemaInvalidValue, *pointer, "x")];
                source.locate(&mut diagnostics);
                diagnostics[0].span.unwrap()
            };
            let expected: Vec<Span> = pointers.iter().map(alone).collect();
            assert_eq!(source.spans(pointers.into_iter()), expected, "{name}");
            let single: Vec<Span> =
                pointers.iter().flat_map(|pointer| source.spans([*pointer].into_iter())).collect();
            assert_eq!(single, expected, "{name}");
        }
    }

    #[test]
    fn a_merged_value_is_shown_where_it_is_written() {
        let source = Source::new("a.yaml", "base: &b\n  x: 1\nuse:\n  <<: *b\nalias: *b\n");
        assert_eq!(located(&source, "/use/x", false), ("1", 2, 6));
        assert_eq!(located(&source, "/alias/x", true), ("x", 2, 3));
        assert_eq!(located(&source, "/alias", true), ("alias", 5, 1));
    }

    #[test]
    fn a_text_that_cannot_be_read_is_shown_at_its_start() {
        assert_eq!(located(&Source::new("a.yaml", "a: [\n"), "/a", false), ("", 1, 1));
    }
}

/// A valid text with bytes cut, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let texts = prop::sample::select(vec![
        "---\nname: x\nops: &a\n  - {n: [1, 'two', \"thr\\u0065e\"]}\n  - <<: *a\nt: |\n  text\n\n  more\n---\n# Body\n",
        "a: &x {b: 1}\nc:\n  <<: *x\n  ? d\n  : e\n*x : 1\n'q': >-\n  folded\n  text\n? [k]\n: !!int 5\n",
        "{\"a\": [1, 2.5e3, {\"b\": null, \"b\": \"\\ud83d\\ude00\"}], \"c\": \"d\", \"é\": true}",
    ]);
    let glyphs = prop::sample::select(vec![
        "\"", "'", "{", "}", "[", "]", ":", "-", "\n", "\r", "\t", " ", "#", "&", "*", "!", "|", ">", "%",
        "\\", "é", "---\n", "\u{feff}", "\u{85}", "\u{2028}", "\0", "a", "1", ",", "?", "<<",
    ]);
    (texts, prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, glyphs), 1..8)).prop_map(
        |(text, edits)| {
            let mut chars: Vec<char> = text.chars().collect();
            for (index, removed, inserted) in edits {
                let start = index.index(chars.len() + 1);
                let end = (start + removed).min(chars.len());
                chars.splice(start..end, inserted.chars());
            }
            chars.into_iter().collect()
        },
    )
}

fn survives(name: &str, text: &str) {
    let source = Source::new(name, text);
    let mut diagnostics = match source.parse() {
        Ok(parsed) => parsed.diagnostics,
        Err(diagnostics) => diagnostics,
    };
    for pointer in ["", "/a", "/a/0/b", "/ops/1/n/2", "/missing/x", "no pointer"] {
        diagnostics.push(Diagnostic::error(Code::SchemaInvalidType, pointer, "x"));
        diagnostics.push(Diagnostic::error(Code::SchemaInvalidType, pointer, "x").at_key());
    }
    source.locate(&mut diagnostics);
    for diagnostic in diagnostics {
        let span = diagnostic.span.unwrap();
        assert!(text.get(span.start..span.end).is_some(), "{diagnostic:?}");
        assert!(span.line >= 1 && span.column >= 1);
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>(), name in prop::sample::select(vec!["a.md", "a.yaml", "a.json", "-"])) {
        survives(name, &text);
    }

    #[test]
    fn no_damaged_text_panics(text in mutated(), name in prop::sample::select(vec!["a.md", "a.yaml", "a.json", "-"])) {
        survives(name, &text);
    }

    #[test]
    fn json_means_the_same_when_read_as_yaml(text in "[a-z0-9 .:#,~-]{0,12}", number in any::<i64>(), flag in any::<bool>()) {
        let value = json!({"text": text, "list": [number, flag, null], "nested": {"float": 0.5, "again": text}});
        let spelled = format!("--- \n{value}");
        prop_assert_eq!(yaml(&spelled).value, value);
    }
}
