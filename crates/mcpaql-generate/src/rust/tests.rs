use crate::{FileOwner, Language, Project, ProjectDocument, ProjectFile, ProjectOptions, files, sources};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use serde_json::{Map, json};

const SHOP: &str = r#"
name: shop
type: adapter
version: "1.2.3"
description: "A \"shop\".\nIt sells."
target: { transport: http, protocol: rest, base_url: https://shop.example }
types:
  Node: { type: object, properties: { next: { $ref: '#/types/Node' }, all: { type: array, items: { $ref: '#/types/Node' } } } }
operations:
  create:
    - name: place_order
      maps_to: POST /orders/{shop_id}
      description: |
        Places an order.

        - a list */
            code?
      params:
        shop_id: { type: integer, required: true }
        type: { type: string, required: true, enum: [book, "+1", "-1"], description: What kind. }
        note: { type: string, nullable: true }
        price: { type: number }
        anything: { oneOf: [{ type: string }, { type: integer }] }
        size: { type: string, default: large }
        tree: { $ref: '#/types/Node' }
        address: { type: object, properties: { street: { type: string, required: true } }, additionalProperties: { type: integer } }
    - name: log_in
      maps_to: POST /login
      params: { password: { type: string, required: true, sensitive: true } }
"#;

fn catalog(text: &str, settings: &AdapterSettings) -> Catalog {
    let checked = check(&Source::new("shop-adapter.yaml", text), settings);
    checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
}

fn project(options: ProjectOptions) -> Vec<ProjectFile> {
    let catalog = catalog(SHOP, &options.settings);
    let document = ProjectDocument { file: "shop-adapter.yaml", text: SHOP };
    sources(&Project { catalog: &catalog, document, origin: None, options }).unwrap()
}

fn file<'f>(files: &'f [ProjectFile], path: &str) -> &'f str {
    &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).text
}

#[test]
fn a_project_has_files_of_the_generator_and_of_the_author() {
    let files = project(ProjectOptions::new(Language::Rust));
    let paths: Vec<(&str, FileOwner)> = files.iter().map(|file| (file.path.as_str(), file.owner)).collect();
    use FileOwner::{Author, Generator};
    assert_eq!(
        paths,
        [
            (".gitignore", Generator),
            ("Cargo.toml", Author),
            ("rustfmt.toml", Generator),
            ("src/handlers.rs", Author),
            ("src/lib.rs", Generator),
            ("src/main.rs", Generator),
            ("src/operations/create.rs", Generator),
            ("src/operations/mod.rs", Generator),
            ("src/source.rs", Generator),
            ("src/types.rs", Generator),
            ("tests/server.rs", Generator),
        ]
    );
    assert!(file(&files, "src/handlers.rs").contains("|params: crate::operations::PlaceOrderParams, call|"));
    let manifest = file(&files, "Cargo.toml");
    for line in ["name = \"shop-adapter\"", "version = \"1.2.3\"", "description = \"A \\\"shop\\\".\""] {
        assert!(manifest.lines().any(|written| written == line), "{line} in {manifest}");
    }
    let words = ["adapter_module", "adapter-package", "ADAPTER_", "MCPAQL_RUNTIME", "ExampleParams"];
    for file in &files {
        for word in words {
            assert!(!file.text.contains(word), "{word} is left in {}", file.path);
        }
    }
}

#[test]
fn parameters_are_fields_that_keep_their_values() {
    let files = project(ProjectOptions::new(Language::Rust));
    let create = file(&files, "src/operations/create.rs");
    let expected = r#"
/// Places an order.
///
/// - a list */
/// code?
///
/// Parameters of `place_order`: `POST /orders/{shop_id}`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PlaceOrderParams {
    pub shop_id: i64,
    /// What kind.
    #[serde(rename = "type")]
    pub type_: PlaceOrderType,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Number>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anything: Option<Value>,
    /// Default: `"large"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<Box<types::Node>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<types::PlaceOrderAddress>,
}

impl Params for PlaceOrderParams {
    const OPERATION: &'static str = "place_order";
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum PlaceOrderType {
    #[serde(rename = "book")]
    Book,
    #[serde(rename = "+1")]
    N1,
    #[serde(rename = "-1")]
    N1_2,
}
"#;
    assert!(create.contains(expected), "{create}");
}

#[test]
fn every_variant_is_a_valid_name() {
    let text = SHOP.replace("enum: [book,", "enum: [self, Self, SELF, book,");
    let catalog = catalog(&text, &AdapterSettings::default());
    let document = ProjectDocument { file: "shop-adapter.yaml", text: &text };
    let options = ProjectOptions::new(Language::Rust);
    let files = sources(&Project { catalog: &catalog, document, origin: None, options }).unwrap();
    let create = file(&files, "src/operations/create.rs");
    for (value, variant) in [("self", "Self_"), ("Self", "Self2"), ("SELF", "Self3")] {
        let written = format!("#[serde(rename = \"{value}\")]\n    {variant},\n");
        assert!(create.contains(&written), "{create}");
    }
}

#[test]
fn a_secret_is_not_shown() {
    let files = project(ProjectOptions::new(Language::Rust));
    let create = file(&files, "src/operations/create.rs");
    assert!(
        create.contains("#[derive(Clone, Deserialize, Serialize)]\npub struct LogInParams {"),
        "{create}"
    );
    assert!(create.contains("impl fmt::Debug for LogInParams {"), "{create}");
}

#[test]
fn named_types_keep_other_keys_and_recursive_types_are_boxed() {
    let files = project(ProjectOptions::new(Language::Rust));
    let types = file(&files, "src/types.rs");
    for part in [
        "    pub next: Option<Box<Node>>,\n",
        "    pub all: Option<Vec<Node>>,\n",
        "    #[serde(flatten)]\n    pub rest: Map<String, Value>,\n",
        "    pub street: String,\n",
        "    #[serde(flatten)]\n    pub rest: BTreeMap<String, i64>,\n",
    ] {
        assert!(types.contains(part), "{part} in {types}");
    }
}

#[test]
fn settings_are_built_in() {
    let settings = AdapterSettings {
        mode: Some(Mode::Single),
        prefix: Some("my_".into()),
        ..AdapterSettings::default()
    };
    let files = project(ProjectOptions { settings, ..ProjectOptions::new(Language::Rust) });
    let source = file(&files, "src/source.rs");
    assert!(source.contains("use mcpaql_runtime::document::{AdapterSettings, Mode};"), "{source}");
    assert!(
        source.contains("        mode: Some(Mode::Single),\n        prefix: Some(\"my_\".to_owned()),\n"),
        "{source}"
    );
}

#[test]
fn the_same_project_gives_the_same_files() {
    let write = || {
        let catalog = catalog(SHOP, &AdapterSettings::default());
        let document = ProjectDocument { file: "shop-adapter.yaml", text: SHOP };
        files(
            &Project {
                catalog: &catalog,
                document,
                origin: None,
                options: ProjectOptions::new(Language::Rust),
            },
            None,
        )
        .unwrap()
    };
    assert_eq!(write(), write());
}

/// Names that are keywords, that differ only in characters that identifiers cannot have, or that are long.
#[test]
fn unusual_names_become_valid_identifiers() {
    let long = "a_very_long_name_of_a_parameter_that_goes_on_and_on_until_no_line_has_room_for_it_any_more";
    let mut properties = Map::new();
    for name in ["self", "Self", "fn", "a-b", "a_b", "aB", "1", "", "é", "rest", long, "a\"b\\c\n"] {
        properties.insert(
            name.to_owned(),
            json!({"type": "string", "description": "*/ ``` \u{202e}\u{0}\r\n\t[x]: <y>"}),
        );
    }
    let document = json!({
        "name": "odd", "type": "adapter", "version": "1.0.0", "description": "Odd.",
        "target": {"transport": "http", "protocol": "rest", "base_url": "https://odd.example"},
        "operations": {"execute": [{"name": "move", "maps_to": "POST /move", "params": {
            "thing": {"type": "object", "properties": properties.clone()}}}]}
    });
    let text = document.to_string();
    let source = check(&Source::new("odd.json", text.as_str()), &AdapterSettings::default());
    let catalog = source.catalog.unwrap();
    let document = ProjectDocument { file: "odd.json", text: &text };
    let files = sources(&Project {
        catalog: &catalog,
        document,
        origin: None,
        options: ProjectOptions::new(Language::Rust),
    })
    .unwrap();
    let types = file(&files, "src/types.rs");
    for ident in [
        "self_",
        "self_2",
        "fn_",
        "a_b",
        "a_b2",
        "a_b3",
        "n1",
        "unnamed",
        "unnamed2",
        "rest",
        "other_keys",
        "a_b_c",
    ] {
        assert!(types.contains(&format!("    pub {ident}: ")), "{ident} in {types}");
    }
    assert!(types.contains(&format!("    pub {long}:\n        Option<String>,\n")), "{types}");
    for line in types.lines() {
        assert!(!line.contains(['\u{202e}', '\u{0}', '\r', '\t']), "{line:?}");
    }
    let renamed = types.lines().filter(|line| line.contains("rename = ")).count();
    assert_eq!(renamed, properties.len() - 2, "two of them are valid identifiers");
}
