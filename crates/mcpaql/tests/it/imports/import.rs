//! The output, the report and the errors of an import.

use super::{BOOKSHOP, bookshop_json, import, import_ok, names, shop};
use crate::fixture::TestFolder;
use serde_json::{Value, json};

#[tokio::test]
async fn an_imported_document_has_no_problems_and_is_the_same_each_time() {
    let place = shop();
    let first = import_ok(&place, &[]).await;
    let checked = place.run(&["check", "--strict", "bookshop-adapter.md"]).await;
    assert_eq!(checked.status, Some(0), "{checked:?}");
    assert!(checked.stdout.contains("14 operations, 5 tools\nNo problems found"), "{}", checked.stdout);
    assert_eq!(names(&first).len(), 14);

    assert_eq!(import_ok(&place, &[]).await, first, "over the document of the import before");
    let printed = place.run(&["import", "openapi", "bookshop.yaml"]).await;
    assert_eq!(printed.stdout, first, "without --output the document is the data");
    assert!(printed.stderr.contains("Imported 14 of 14 operations"), "{}", printed.stderr);
}

#[tokio::test]
async fn json_and_yaml_give_the_same_operations() {
    let place = shop();
    let from_yaml = import_ok(&place, &[]).await;
    place.file("bookshop.json", &bookshop_json());
    let from_json = place.run(&["import", "openapi", "bookshop.json"]).await.stdout;
    let front = |document: &str| document.split("\n---\n").next().unwrap().to_owned();
    assert_eq!(front(&from_json), front(&from_yaml));
}

#[tokio::test]
async fn the_extension_selects_the_format() {
    let place = shop();
    for (file, start) in [
        ("shop.yaml", "# Imported from `bookshop.yaml`"),
        ("shop.YML", "# Imported from `bookshop.yaml`"),
        ("shop.json", "{\n  \"$comment\": \"Imported from `bookshop.yaml`"),
        ("shop.md", "---\nname: bookshop\n"),
        ("shop.txt", "---\nname: bookshop\n"),
        ("shop", "---\nname: bookshop\n"),
    ] {
        for _ in ["new", "over the document of the import before"] {
            let ran = place.run(&["import", "openapi", "bookshop.yaml", "-o", file]).await;
            assert_eq!(ran.status, Some(0), "{file}: {ran:?}");
        }
        let text = std::fs::read_to_string(place.path().join(file)).unwrap();
        assert!(text.starts_with(start), "{file}: {text}");
        let checked = place.run(&["check", "--strict", file]).await;
        assert!(checked.stdout.contains("14 operations, 5 tools\nNo problems found"), "{file}: {checked:?}");
        let tools = place.run(&["tools", file]).await;
        assert!(tools.stdout.contains("bookshop_mcpaql_read"), "{file}: {tools:?}");
    }
    place.file("own.json", "{\"$comment\": \"Imported by hand\"}");
    let refused = place.run(&["import", "openapi", "bookshop.yaml", "-o", "own.json"]).await;
    assert_eq!(refused.status, Some(2), "{refused:?}");
}

/// Returns the lines that only `document` has.
fn only_in<'d>(document: &'d str, other: &str) -> Vec<&'d str> {
    let mut rest = other.lines();
    let mut out = Vec::new();
    for line in document.lines() {
        let mut ahead = rest.clone();
        if ahead.any(|other| other == line) {
            rest = ahead;
        } else {
            out.push(line);
        }
    }
    out
}

#[tokio::test]
async fn a_new_operation_changes_only_its_own_lines() {
    let place = shop();
    let before = import_ok(&place, &[]).await;
    let added = "  /authors/{authorId}/awards:\n    get:\n      operationId: listAwards\n      summary: List awards\n      \
                 parameters:\n        - {name: authorId, in: path, required: true, schema: {type: integer}}\n      \
                 responses: {\"200\": {description: Awards}}\n  /orders:\n";
    place.file("bookshop.yaml", &BOOKSHOP.replacen("  /orders:\n", added, 1));
    let after = import_ok(&place, &[]).await;

    let gone = only_in(&before, &after);
    let counted = |line: &&str| {
        line.starts_with("Imported from") || line.ends_with(" read") || line.ends_with("operations:")
    };
    assert!(gone.len() == 3 && gone.iter().all(counted), "{gone:?}");
    let own = after.split_once("    - name: list_awards\n").unwrap().1.split("\n\n").next().unwrap();
    let (start, _) = after.split_once("    - name: list_awards\n").unwrap();
    let without = after.replacen(&format!("    - name: list_awards\n{own}\n\n"), "", 1);
    assert!(start.ends_with('\n') && own.contains("maps_to: GET /authors/{author_id}/awards"), "{own}");
    assert_eq!(only_in(&without, &before).len(), gone.len(), "nothing else is new");
}

#[tokio::test]
async fn the_report_lists_every_decision() {
    let place = shop();
    let ran = place.run(&["import", "openapi", "bookshop.yaml", "--report", "json"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let report = ran.json();
    let counts = &report["counts"];
    assert_eq!(
        (&counts["operations"], &counts["imported"], &counts["skipped"], &counts["excluded"]),
        (&json!(14), &json!(14), &json!(0), &json!(0))
    );
    assert_eq!(counts["ignored"]["callbacks"], 1);
    let total: u64 = counts["by_category"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(total, 14);

    let operations = report["operations"].as_array().unwrap();
    let of = |path: &str, method: &str| {
        operations.iter().find(|own| own["path"] == path && own["method"] == method).unwrap()
    };
    let search = of("/books/search", "POST");
    assert_eq!((&search["category"], &search["source_id"]), (&json!("READ"), &json!("searchBooks")));
    let kinds: Vec<&str> = search["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|reason| reason["evidence"].as_str())
        .collect();
    assert!(kinds.len() > 2, "a POST is a read for several reasons: {kinds:?}");
    assert_eq!(of("/orders/{orderId}/cancel", "POST")["category"], "EXECUTE");

    let stock = of("/stock/check", "POST");
    assert_ne!(stock["category"], "READ", "one kind of evidence is not enough");
    assert!(stock["review"].is_string() && stock["confidence"] == "low", "{stock}");
    assert_eq!(counts["to_review"], 1);

    let text = place.run(&["import", "openapi", "bookshop.yaml", "--report", "text"]).await.stdout;
    assert!(text.contains("POST /stock/check") && text.contains("1 should be reviewed"), "{text}");
    let both = import(&place, &["--report", "json"]).await;
    assert!(both.json()["counts"].is_object(), "with --output the report is the data");
}

#[tokio::test]
async fn operations_are_selected_by_rules_of_every_kind() {
    let rows: [(&[&str], usize, &str); 8] = [
        (&["--include", "tag:authors"], 2, "list_authors"),
        (&["--include", "path:/books/**"], 6, "get_book"),
        (&["--include", "/orders*"], 1, "create_order"),
        (&["--include", "op:get_*"], 3, "get_author"),
        (&["--include", "createOrder"], 1, "create_order"),
        (&["--include", "category:DELETE", "--include", "deprecated"], 2, "reserve_book"),
        (&["--exclude", "deprecated"], 13, "list_books"),
        (&["--include", "tag:books", "--exclude", "category:READ"], 5, "create_book"),
    ];
    for (flags, count, example) in rows {
        let place = shop();
        let document = import_ok(&place, flags).await;
        let names = names(&document);
        assert_eq!((names.len(), names.contains(&example)), (count, true), "{flags:?}: {names:?}");
    }
}

#[tokio::test]
async fn a_rule_without_matches_is_a_warning_and_an_invalid_rule_is_refused() {
    let place = shop();
    let ran = import(&place, &["--include", "tag:books", "--exclude", "tag:bokos"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("The rule 'tag:bokos' in `exclude` matches no operation"), "{}", ran.stderr);
    for rule in ["category:WRITE", "tag:", "", "zzz:x"] {
        let ran = import(&place, &["--include", rule]).await;
        assert_eq!(ran.status, Some(2), "{rule}: {ran:?}");
    }
    let none = import(&place, &["--include", "tag:bokos"]).await;
    assert_ne!(none.status, Some(0), "{none:?}");
    assert!(
        none.stderr.contains("`include` and `exclude` select none of the 14 operations"),
        "{}",
        none.stderr
    );
}

#[tokio::test]
async fn files_of_others_are_not_overwritten() {
    let place = shop();
    for foreign in [&b"# My own notes\n"[..], b"---\nname: mine\n---\n", b"\xff\xfe not text", b""] {
        let path = place.path().join("bookshop-adapter.md");
        std::fs::write(&path, foreign).unwrap();
        let refused = import(&place, &[]).await;
        assert_eq!(refused.status, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
        assert_eq!(std::fs::read(&path).unwrap(), foreign);
        assert_eq!(import(&place, &["--force"]).await.status, Some(0));
        assert_ne!(std::fs::read(&path).unwrap(), foreign);
    }
    let nowhere = place.run(&["import", "openapi", "bookshop.yaml", "-o", "no/such/folder.md"]).await;
    assert_eq!(nowhere.status, Some(2), "{nowhere:?}");
    let left: Vec<String> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_description_is_found_in_the_same_way_before_and_after_its_import() {
    let place = shop();
    import_ok(&place, &[]).await;
    for question in
        ["get rid of a book", "who wrote it", "call off an order", "authors", "new price", "find novels"]
    {
        let [described, document] = ["bookshop.yaml", "bookshop-adapter.md"];
        let described = place.run(&["search", described, question, "--json"]).await;
        let document = place.run(&["search", document, question, "--json"]).await;
        assert_eq!(described.stdout, document.stdout, "{question}");
        assert!(described.status == document.status && !described.stdout.is_empty(), "{described:?}");
    }
    let hit = place.run(&["search", "bookshop.yaml", "get", "rid", "of", "a", "book", "--first", "1"]).await;
    assert_eq!(hit.status, Some(0));
    assert_eq!(
        hit.stdout,
        "delete_book(book_id: integer)\n    Take a book out of the shop\n    book_id comes from search_books, list_books\n"
    );
    let none = place.run(&["search", "bookshop.yaml", "zyzzyva"]).await;
    assert_eq!((none.status, none.stdout.as_str()), (Some(1), ""), "{none:?}");
    assert_eq!(place.run(&["search", "absent.yaml", "books"]).await.status, Some(2));
}

#[tokio::test]
async fn every_command_accepts_a_description_as_document() {
    let place: TestFolder = shop();
    let checked = place.run(&["check", "bookshop.yaml"]).await;
    assert!(checked.stdout.contains("14 operations, 5 tools"), "{checked:?}");
    import_ok(&place, &[]).await;
    let [described, document] =
        ["bookshop.yaml", "bookshop-adapter.md"].map(|name| ["tools", name, "--json"]);
    assert_eq!(place.run(&described).await.stdout, place.run(&document).await.stdout);
    let called = place.run(&["call", "bookshop.yaml", "introspect", "name=get_book"]).await;
    assert_eq!(called.json()["operation"]["name"], "get_book");
}

/// Nearly all operations need the shop, so naming its source in each result is useless, both in a description and in its document.
#[tokio::test]
async fn a_parameter_of_every_operation_is_not_explained_in_every_result() {
    let place = TestFolder::new();
    let mut paths = json!({"/shops": {"get": {"operationId": "listShops", "responses": {"200": {"description": "d",
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object",
            "title": "Shop", "properties": {"id": {"type": "integer"}}}}}}}}}}});
    for thing in ["Book", "Shelf", "Lamp", "Door", "Clerk", "Window", "Box", "Poster", "Chair", "Desk"] {
        let plural = format!("{thing}s");
        let shop = json!({"name": "shopId", "in": "path", "required": true, "schema": {"type": "integer"}});
        let one = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}});
        let done = json!({"200": {"description": "d"}});
        paths[format!("/shops/{{shopId}}/{plural}")] = json!({"parameters": [shop],
            "get": {"operationId": format!("list{plural}"), "responses": done},
            "post": {"operationId": format!("create{thing}"), "responses": done}});
        paths[format!("/shops/{{shopId}}/{plural}/{{id}}")] = json!({"parameters": [shop, one],
            "get": {"operationId": format!("get{thing}"), "responses": done},
            "delete": {"operationId": format!("delete{thing}"), "responses": done}});
    }
    let description = json!({"openapi": "3.1.0", "info": {"title": "Bookshop", "version": "1"},
        "servers": [{"url": "https://api.example.com"}], "paths": paths});
    place.file("bookshop.yaml", &description.to_string());
    let document = import_ok(&place, &[]).await;
    assert!(document.contains("from: [list_shops]"), "the document itself says it");
    for source in ["bookshop.yaml", "bookshop-adapter.md"] {
        let found = place.run(&["search", source, "delete", "a", "lamp"]).await;
        assert!(found.stdout.starts_with("delete_lamp("), "{found:?}");
        assert!(!found.stdout.contains("list_shops"), "{source}: {}", found.stdout);
    }
}
