//! `--overrides`: a file with corrections to an import.

use super::{import, import_ok, names, shop};

#[tokio::test]
async fn corrections_rename_classify_describe_and_exclude() {
    let place = shop();
    place.file(
        "overrides.yaml",
        "adapter: {name: corner-shop, display_name: Corner Shop, base_url: \"https://books.example.com\"}\n\
         operations:\n  \
           listBooks: {name: browse_books}\n  \
           POST /stock/check: {name: check_stock, effect: compute}\n  \
           reserve_book: {danger: destructive, deprecated: Order it instead}\n  \
           update_book: {description: Reprice or restock a book, params: {bookId: {description: Its number, from: [browse_books]}}}\n  \
           deleteBook: {include: false}\n  \
           createOrder: {include: true}\n",
    );
    let document = import_ok(&place, &["--overrides", "overrides.yaml", "--exclude", "tag:orders"]).await;
    let names = names(&document);
    assert!(names.contains(&"browse_books") && !names.contains(&"list_books"), "{names:?}");
    assert!(!names.contains(&"delete_book"), "left out");
    assert!(names.contains(&"create_order") && !names.contains(&"get_order"), "taken against the selection");
    for line in [
        "name: corner-shop",
        "base_url: https://books.example.com",
        "danger: destructive",
        "deprecated: Order it instead",
        "description: Reprice or restock a book",
        "from: [browse_books]",
    ] {
        assert!(document.contains(line), "{line}: {document}");
    }
    assert_eq!(place.run(&["check", "--strict", "bookshop-adapter.md"]).await.status, Some(0));

    let report = import(&place, &["--overrides", "overrides.yaml", "--report", "json"]).await.json();
    let stock =
        report["operations"].as_array().unwrap().iter().find(|own| own["name"] == "check_stock").unwrap();
    assert!(
        stock["category"] == "READ" && stock["corrected"] == true && stock.get("review").is_none(),
        "{stock}"
    );
    assert_eq!(report["counts"]["to_review"], 0);
}

/// A correction without effect would go unnoticed.
#[tokio::test]
async fn a_correction_of_an_unknown_operation_is_an_error_that_names_the_nearest() {
    let rows = [
        ("operation: {}\n", 2, "operations"),
        ("operations: {getBook: {nam: x}}\n", 2, "did you mean `name`"),
        ("operations: {getBook: {category: WRITE}}\n", 2, "READ"),
        ("operations: {getBok: {name: x}}\n", 1, "did you mean 'getBook'"),
        ("operations: {\"GET /boks\": {name: x}}\n", 1, "did you mean 'GET /books'"),
        ("operations: {getBook: {params: {book: {description: x}}}}\n", 1, "did you mean 'book_id'"),
        ("operations: {getBook: {params: {book_id: {from: [list_boks]}}}}\n", 1, "did you mean 'list_books'"),
        ("operations: {getBook: {name: list_books}}\n", 1, "'list_books' already has it"),
        ("operations: {getBook: {name: Get Book}}\n", 1, "snake_case"),
        (
            "operations: {getBook: {name: a_b}, \"GET /books/{bookId}\": {title: T}}\n",
            1,
            "already has an override",
        ),
    ];
    for (text, status, expected) in rows {
        let place = shop();
        place.file("overrides.yaml", text);
        let ran = import(&place, &["--overrides", "overrides.yaml"]).await;
        assert_eq!(ran.status, Some(status), "{text}: {ran:?}");
        assert!(
            ran.stderr.contains(expected) && ran.stderr.contains("overrides.yaml"),
            "{text}: {}",
            ran.stderr
        );
        assert!(!place.path().join("bookshop-adapter.md").exists(), "{text}");
    }
    let missing = import(&shop(), &["--overrides", "absent.yaml"]).await;
    assert_eq!(missing.status, Some(2), "{missing:?}");
}

#[tokio::test]
async fn serve_accepts_the_same_corrections() {
    let place = shop();
    place.file("overrides.yaml", "operations: {getBok: {name: x}}\n");
    let mut command = place.binary(&["serve", "--openapi", "bookshop.yaml", "--overrides", "overrides.yaml"]);
    // The client stays connected, so the program must exit by itself.
    let mut child =
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take();
    let output = crate::fixture::with_timeout(child.wait_with_output()).await.unwrap();
    drop(input);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("did you mean 'getBook'") && stderr.contains("bookshop.yaml cannot be served"),
        "{stderr}"
    );
}
