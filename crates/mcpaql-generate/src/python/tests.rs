use super::*;

#[test]
fn a_version_is_accepted_by_package_managers() {
    for (version, release) in [
        ("1.2.3", "1.2.3"),
        ("2.0.0-beta.1+x", "2.0.0"),
        ("1.0", "1.0"),
        ("draft", "0.0.0"),
        ("1.2.3.4", "1.2.3"),
    ] {
        assert_eq!(super::release(version), release);
    }
}

#[test]
fn keys_that_are_not_identifiers_are_recognized() {
    for name in ["from", "a-b", "", "1a", "__x", "ä"] {
        assert!(!is_plain_name(name), "{name}");
    }
    for name in ["a", "_x", "perPage", "type", "X1"] {
        assert!(is_plain_name(name), "{name}");
    }
}

fn catalog(document: &serde_json::Value) -> mcpaql_core::catalog::Catalog {
    let loaded = mcpaql_document::load::load(document);
    let adapter = loaded.adapter.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let settings = mcpaql_core::catalog::AdapterSettings::default();
    mcpaql_document::compile::compile(adapter, &mcpaql_document::load::Origins::default(), &settings)
        .catalog
        .unwrap()
}

fn written(document: &serde_json::Value) -> Result<Vec<ProjectFile>, Unsupported> {
    let catalog = catalog(document);
    let text = document.to_string();
    let project = Project {
        catalog: &catalog,
        document: crate::ProjectDocument { file: "shop.json", text: &text },
        origin: None,
        options: crate::ProjectOptions::new(crate::Language::Python),
    };
    files(&project)
}

fn shop(target: serde_json::Value, operation: serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "type": "adapter", "name": "shop", "version": "1.0.0-beta", "description": "A \"shop\".",
        "target": target, "operations": {"create": [operation]}
    })
}

#[test]
fn an_operation_is_its_parameters_its_request_and_its_handler() {
    let document = shop(
        serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
        serde_json::json!({
            "name": "import", "description": "Places an order.", "maps_to": "POST /orders/{class}", "params": {
                "class": {"type": "string", "required": true, "description": "Which \"one\"."},
                "labels": {"type": "array", "items": {"type": "string"}, "in": "query", "style": "pipeDelimited", "explode": false},
                "gift": {"type": "boolean", "default": false},
                "note": {"type": ["string", "null"], "sensitive": true, "as": "Note"}
            }
        }),
    );
    let files = written(&document).unwrap();
    let text = |path: &str| file(&files, path);
    assert_eq!(
        text("operations/create.py").split_once("dispatch import Call\n").unwrap().1,
        r#"    from ..runtime.requests import Json


ImportParams = TypedDict(
    "ImportParams",
    {
        "class": "str",
        "labels": "NotRequired[list[str]]",
        "gift": "bool",
        "note": "NotRequired[str | None]",
    },
)
"""Parameters of `import`."""


IMPORT_: HttpRequest[Json] = HttpRequest(
    method="POST",
    path="/orders/{class}",
    params={
        "class": Param("path"),
        "labels": Param("query", style="pipeDelimited", explode=False),
        "gift": Param("body"),
        "note": Param("body", wire="Note", sensitive=True),
    },
)


async def import_(params: ImportParams, call: Call) -> Json:
    """Places an order."""
    return await call.http(IMPORT_, params)
"#
    );
    assert!(text("operations/__init__.py").contains("\"import\": \"Handler[create.ImportParams]\","));
    let project = files.iter().find(|file| file.path == "pyproject.toml").unwrap();
    assert!(project.text.contains("description = \"A 'shop'.\""), "{}", project.text);
    let authored: Vec<&str> =
        files.iter().filter(|file| file.owner == FileOwner::Author).map(|file| file.path.as_str()).collect();
    assert_eq!(authored, ["pyproject.toml", "src/shop_adapter/handlers.py"]);
}

#[test]
fn a_command_is_a_literal_and_its_result_has_a_type() {
    let mut document = shop(
        serde_json::json!({"transport": "native", "protocol": "command"}),
        serde_json::json!({
            "name": "look", "command": ["ls", {"when": "all", "args": ["-a"]}, ["-w", "{width}"], "{path}"],
            "output": "json", "exit": {"2": "NOT_FOUND_RESOURCE"}, "returns": "Entry[]",
            "params": {"path": {"type": "string", "sensitive": true}, "all": {"type": "boolean"}, "width": {"type": "integer"}}
        }),
    );
    document["types"] = serde_json::json!({"Entry": {"type": "object", "properties": {
        "name": {"type": "string", "required": true}
    }}});
    let files = written(&document).unwrap();
    let text = file(&files, "operations/create.py");
    for said in [
        "LOOK: CommandLine[list[types.Entry]] = CommandLine(\n",
        "    argv=(\"ls\", When(\"all\", (\"-a\",)), (\"-w\", \"{width}\"), \"{path}\"),\n",
        "    params={\"path\": Param(sensitive=True)},\n",
        "    exit={2: \"NOT_FOUND_RESOURCE\"},\n",
        "async def look(params: LookParams, call: Call) -> list[types.Entry]:\n",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn an_operation_that_needs_rust_is_rejected_by_name() {
    let mut document = shop(
        serde_json::json!({"transport": "native", "protocol": "command"}),
        serde_json::json!({"name": "look", "command": ["ls"]}),
    );
    document["operations"]["execute"] =
        serde_json::json!([{"name": "build", "command": ["make"], "lifecycle": true}]);
    let refused = written(&document).unwrap_err();
    assert!(refused.message.contains("build"), "{refused}");
}

fn file<'f>(files: &'f [ProjectFile], path: &str) -> &'f str {
    &files.iter().find(|file| file.path == format!("src/shop_adapter/{path}")).unwrap().text
}

#[test]
fn no_constant_takes_a_name_that_its_module_imports() {
    let document = shop(
        serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
        serde_json::json!({"name": "type_checking", "maps_to": "POST /type"}),
    );
    let files = written(&document).unwrap();
    let text = file(&files, "operations/create.py");
    assert!(text.contains("\nTYPE_CHECKING_: HttpRequest[Json] = HttpRequest("), "{text}");
}

#[test]
fn names_in_descriptions_are_not_imported() {
    let said = "Takes When( and Param( of types. as Literal[Json] or NotRequired[str]: TypeAlias.";
    let mut document = shop(
        serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
        serde_json::json!({"name": "add", "maps_to": "POST /add", "description": said, "returns": "Node", "params": {
            "note": {"type": "string", "required": true, "description": said},
        }}),
    );
    document["types"] = serde_json::json!({"Node": {"type": "object", "description": said, "properties": {
        "name": {"type": "string", "required": true, "description": said}
    }}});
    let files = written(&document).unwrap();
    let head = |path: &str| {
        let text = file(&files, path);
        let lines = text
            .lines()
            .take_while(|line| !line.starts_with("class"))
            .filter(|line| line.contains("import "));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        head("operations/create.py"),
        [
            "from __future__ import annotations",
            "from typing import TYPE_CHECKING, TypedDict",
            "from ..runtime.requests import HttpRequest, Param",
            "from .. import types",
            "from ..runtime.dispatch import Call",
        ]
    );
    assert_eq!(head("types.py"), ["from __future__ import annotations", "from typing import TypedDict"]);
}

#[test]
fn an_adapter_without_operations_has_an_empty_table() {
    for operations in [serde_json::json!({}), serde_json::json!({"read": []})] {
        let mut document = shop(
            serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
            serde_json::json!(null),
        );
        document["operations"] = operations;
        let files = written(&document).unwrap();
        let index = file(&files, "operations/__init__.py");
        assert!(index.contains("DEFAULTS: Final[Handlers] = {}\n"), "{index}");
        assert!(!index.contains("from . import"), "{index}");
    }
}

#[test]
fn one_empty_line_separates_imports_from_a_type_alias() {
    for (property, start) in
        [("class", "\n\nNode = TypedDict(\n"), ("next", "\n\n\nclass Node(TypedDict):\n")]
    {
        let mut document = shop(
            serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
            serde_json::json!({"name": "add", "maps_to": "POST /add", "params": {"node": {"type": "Node"}}}),
        );
        document["types"] =
            serde_json::json!({"Node": {"type": "object", "properties": {property: {"type": "string"}}}});
        let files = written(&document).unwrap();
        let types = file(&files, "types.py");
        assert!(types.contains(&format!("import NotRequired, TypedDict{start}")), "{types}");
    }
}
