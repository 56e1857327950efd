use super::*;

#[test]
fn a_version_is_what_packagers_accept() {
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
fn keys_that_are_no_names_are_known() {
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
    let settings = mcpaql_core::catalog::Settings::default();
    mcpaql_document::compile::compile(adapter, &mcpaql_document::load::Origins::default(), &settings)
        .catalog
        .unwrap()
}

fn written(document: &serde_json::Value) -> Result<Vec<File>, Unsupported> {
    let catalog = catalog(document);
    let text = document.to_string();
    let project = Project {
        catalog: &catalog,
        document: crate::Document { file: "shop.json", text: &text },
        origin: None,
        options: crate::Options::new(crate::Language::Python),
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
        text("operations/create.py").split_once("response import Answer\n").unwrap().1,
        r#"

@dataclass(frozen=True, slots=True, kw_only=True)
class ImportParams(Params):
    """Parameters of `import`."""

    class_: str = field(metadata={"name": "class"})
    """Which 'one'."""
    labels: list[str] | Unset = UNSET
    gift: bool = False
    """Default: `false`."""
    note: str | Unset | None = field(default=UNSET, repr=False)


IMPORT_ = HttpRequest(
    method="POST",
    path="/orders/{class}",
    params=(
        Param("class", "path"),
        Param("labels", "query", style=Style("pipeDelimited", explode=False)),
        Param("gift", "body"),
        Param("note", "body", wire="Note", sensitive=True),
    ),
)


async def import_(params: ImportParams, call: Call) -> Answer:
    """Places an order."""
    return await call.http(IMPORT_, params)
"#
    );
    assert!(text("operations/__init__.py").contains("\"import\": \"Handler[create.ImportParams]\","));
    let project = files.iter().find(|file| file.path == "pyproject.toml").unwrap();
    assert!(project.text.contains("description = \"A 'shop'.\""), "{}", project.text);
    let authored: Vec<&str> =
        files.iter().filter(|file| file.owner == Owner::Author).map(|file| file.path.as_str()).collect();
    assert_eq!(authored, ["src/shop_adapter/handlers.py"]);
}

#[test]
fn a_tool_of_another_server_is_a_literal_and_a_handler() {
    let mut document = shop(
        serde_json::json!({"transport": "mcp", "command": ["server"]}),
        serde_json::json!({"name": "add_label", "tool": "edit-labels", "fixed": {"action": "add", "deep": [{"dry": null}]}, "params": {
            "label_name": {"type": "string", "required": true, "as": "label-name"},
            "token": {"type": "string", "sensitive": true}
        }}),
    );
    let touch = serde_json::json!({"name": "touch", "description": "Touches."});
    document["operations"]["create"].as_array_mut().unwrap().push(touch);
    let files = written(&document).unwrap();
    let text = file(&files, "operations/create.py");
    for said in [
        "from ..runtime.bindings import ToolCall\n",
        r#"
ADD_LABEL = ToolCall(
    tool="edit-labels",
    names={"label_name": "label-name"},
    fixed={"action": "add", "deep": [{"dry": None}]},
    sensitive=("token",),
)
"#,
        "    return await call.tool(ADD_LABEL, params)\n",
        "\nTOUCH = ToolCall(tool=\"touch\")\n",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn what_asks_after_work_in_the_background_has_no_handler() {
    let mut document = shop(
        serde_json::json!({"transport": "native", "protocol": "command"}),
        serde_json::json!({"name": "look", "command": ["ls"]}),
    );
    document["operations"]["execute"] =
        serde_json::json!([{"name": "build", "command": ["make"], "lifecycle": true}]);
    let files = written(&document).unwrap();
    let index = file(&files, "operations/__init__.py");
    assert!(index.contains("\"build\": Operation(execute.BuildParams, execute.build),"), "{index}");
    assert!(!index.contains("_execution"), "{index}");
}

fn file<'f>(files: &'f [File], path: &str) -> &'f str {
    &files.iter().find(|file| file.path == format!("src/shop_adapter/{path}")).unwrap().text
}

#[test]
fn no_constant_takes_a_name_that_its_module_imports() {
    let mut document = shop(
        serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
        serde_json::json!({"name": "unset", "maps_to": "POST /unset", "params": {"note": {"type": "string"}}}),
    );
    let checking = serde_json::json!({"name": "type_checking", "maps_to": "POST /type"});
    document["operations"]["create"].as_array_mut().unwrap().push(checking);
    let files = written(&document).unwrap();
    let text = file(&files, "operations/create.py");
    for line in [
        "    note: str | Unset = UNSET\n",
        "\nUNSET_ = HttpRequest(",
        "\n    return await call.http(UNSET_, params)\n",
        "\nTYPE_CHECKING_ = HttpRequest(",
    ] {
        assert!(text.contains(line), "{line}");
    }
}

#[test]
fn what_a_text_says_is_not_imported() {
    let said =
        "Takes Style( and Code( of types. as = field( or str | Unset = UNSET: TypeAlias = Literal[Json].";
    let mut document = shop(
        serde_json::json!({"protocol": "rest", "base_url": "https://shop.example"}),
        serde_json::json!({"name": "add", "maps_to": "POST /add", "description": said, "params": {
            "note": {"type": "string", "required": true, "description": said, "enum": ["Param(", "types."]},
            "node": {"type": "Node", "required": true},
        }}),
    );
    document["types"] = serde_json::json!({"Node": {"type": "object", "description": said, "properties": {
        "name": {"type": "string", "description": said}
    }}});
    let files = written(&document).unwrap();
    let head = |path: &str| {
        let text = file(&files, path);
        let lines = text
            .lines()
            .take_while(|line| !line.starts_with(['@', 'c']))
            .filter(|line| line.contains("import "));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        head("operations/create.py"),
        [
            "from __future__ import annotations",
            "from dataclasses import dataclass",
            "from typing import TYPE_CHECKING, Literal",
            "from ..runtime.bindings import HttpRequest, Param",
            "from ..runtime.params import Params",
            "from .. import types",
            "from ..runtime.pipeline import Call",
            "from ..runtime.response import Answer",
        ]
    );
    assert_eq!(
        head("types.py"),
        ["from __future__ import annotations", "from typing import NotRequired, TypedDict"]
    );
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
        assert!(index.contains("OPERATIONS: Final[Mapping[str, Operation[Any]]] = {}\n"), "{index}");
        assert!(!index.contains("from . import"), "{index}");
    }
}

#[test]
fn one_empty_line_stands_between_imports_and_a_type_that_is_no_class() {
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
