//! The store as callers see it, with a real file.

use indexmap::IndexMap;
use mcpaql_core::adapter::{Resource, StoreTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Operation;
use mcpaql_document::load::store_operations;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::call_target;
use mcpaql_runtime::target::Args;
use mcpaql_runtime::target::store::{Store, StoreError};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// A notebook with one kind of record.
struct Notebook {
    store: Store,
    operations: Vec<Operation>,
}

fn target() -> StoreTarget {
    let Value::Object(fields) = json!({
        "title": {"type": "string"},
        "body": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "done": {"type": "boolean"},
        "points": {"type": "number"},
        "status": {"type": "string", "enum": ["open", "closed"]},
        "meta": {"type": "object"},
    }) else {
        unreachable!()
    };
    let note = Resource {
        description: "A note.".into(),
        plural: "notes".into(),
        fields: fields.into_iter().collect(),
        required: vec!["title".into()],
        search: vec!["title".into(), "body".into(), "tags".into()],
        hide: Default::default(),
        declared: None,
    };
    StoreTarget { resources: [("note".to_owned(), note)].into_iter().collect() }
}

fn operations(target: &StoreTarget) -> Vec<Operation> {
    target.resources.iter().flat_map(|(name, resource)| store_operations(name, resource)).collect()
}

impl Notebook {
    async fn in_memory() -> Notebook {
        Notebook::over(
            Store::in_memory("notebook", &target(), &IndexMap::new()).await.expect("a store in memory"),
        )
    }

    async fn open(path: &Path) -> Notebook {
        Notebook::over(
            Store::open(path, "notebook", &target(), &IndexMap::new()).await.expect("a store in a file"),
        )
    }

    fn over(store: Store) -> Notebook {
        Notebook { store, operations: operations(&target()) }
    }

    async fn call(&self, name: &str, args: Value) -> Result<Value, OpError> {
        let operation = self.operations.iter().find(|operation| operation.name == name).expect(name);
        let args: Args = args.as_object().cloned().unwrap_or_default();
        call_target(&self.store, operation, &args, &Caller::nobody())
            .await
            .map(|answer| answer.data.into_value())
    }

    async fn ok(&self, name: &str, args: Value) -> Value {
        self.call(name, args).await.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    async fn err(&self, name: &str, args: Value) -> OpError {
        self.call(name, args).await.expect_err(name)
    }

    async fn note(&self, title: &str) -> String {
        text(&self.ok("create_note", json!({"title": title})).await["id"])
    }

    async fn titles(&self, name: &str, args: Value) -> Vec<String> {
        titles(&self.ok(name, args).await)
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn titles(page: &Value) -> Vec<String> {
    page["items"].as_array().expect("items").iter().map(|item| text(&item["title"])).collect()
}

#[tokio::test]
async fn a_created_record_is_read_back_unchanged() {
    let notebook = Notebook::in_memory().await;
    let created =
        notebook.ok("create_note", json!({"title": "Ärger", "meta": {"a": [1, null]}, "body": null})).await;
    let keys: Vec<&String> = created.as_object().expect("a record").keys().collect();
    assert_eq!(keys, ["id", "title", "meta", "created_at", "updated_at", "_etag"], "null means absent");
    assert_eq!(created["_etag"], json!("1"));
    assert_eq!(text(&created["created_at"]).len(), "2026-01-31T12:00:00Z".len());
    assert_eq!(notebook.ok("get_note", json!({"id": created["id"]})).await, created);
}

#[tokio::test]
async fn unknown_records_are_not_found() {
    let notebook = Notebook::in_memory().await;
    for (name, args) in [
        ("get_note", json!({"id": "nope"})),
        ("update_note", json!({"id": "nope", "title": "x"})),
        ("delete_note", json!({"id": "nope"})),
    ] {
        let error = notebook.err(name, args).await;
        assert_eq!(error.code, Code::NotFoundResource, "{name}");
        assert_eq!(error.details["resource_type"], json!("note"));
        assert_eq!(error.details["resource_id"], json!("nope"));
        assert!(error.message.contains("list_notes") && error.message.contains("search_notes"), "{error}");
    }
}

#[tokio::test]
async fn a_record_needs_its_required_fields() {
    let notebook = Notebook::in_memory().await;
    assert_eq!(notebook.err("create_note", json!({"body": "x"})).await.code, Code::MissingParam);
    assert_eq!(notebook.err("create_note", json!({"title": null})).await.code, Code::MissingParam);
    assert_eq!(notebook.err("create_note", json!({"title": 1})).await.code, Code::InvalidType);
    assert_eq!(
        notebook.err("create_note", json!({"title": "x", "status": "odd"})).await.code,
        Code::InvalidValue
    );
}

#[tokio::test]
async fn pages_are_newest_first_and_stable_while_records_change() {
    let notebook = Notebook::in_memory().await;
    let mut ids = Vec::new();
    for number in 1..=5 {
        ids.push(notebook.note(&number.to_string()).await);
    }
    let first = notebook.ok("list_notes", json!({"first": 2})).await;
    assert_eq!(titles(&first), ["5", "4"]);
    assert_eq!(first["pageInfo"]["hasNextPage"], json!(true));
    let cursor = first["pageInfo"]["endCursor"].clone();
    notebook.ok("delete_note", json!({"id": ids[3]})).await;
    notebook.ok("update_note", json!({"id": ids[0], "body": "changed"})).await;
    notebook.note("6").await;
    let second = notebook.ok("list_notes", json!({"first": 2, "after": cursor})).await;
    assert_eq!(titles(&second), ["3", "2"], "the record of the cursor may be deleted");
    let last = notebook.ok("list_notes", json!({"first": 2, "after": second["pageInfo"]["endCursor"]})).await;
    assert_eq!(titles(&last), ["1"]);
    assert_eq!(last["pageInfo"]["hasNextPage"], json!(false));
    assert_eq!(last["pageInfo"]["hasPreviousPage"], json!(true));
    assert_eq!(last["pageInfo"]["startCursor"], last["pageInfo"]["endCursor"], "one record");
    let none = notebook.ok("list_notes", json!({"after": last["pageInfo"]["endCursor"]})).await;
    assert_eq!(none["pageInfo"], json!({"hasNextPage": false, "hasPreviousPage": true}));
    let all = notebook.ok("list_notes", json!({"first": 100_000})).await;
    assert_eq!(titles(&all).len(), 5, "a page size over the maximum is reduced");
}

#[tokio::test]
async fn a_page_has_25_records_by_default_and_100_at_most() {
    let notebook = Notebook::in_memory().await;
    for number in 0..27 {
        notebook.note(&number.to_string()).await;
    }
    assert_eq!(notebook.titles("list_notes", json!({})).await.len(), 25);
    assert_eq!(notebook.titles("list_notes", json!({"first": 100})).await.len(), 27);
    // A larger page is reduced to the maximum.
    assert_eq!(notebook.titles("list_notes", json!({"first": 101})).await.len(), 27);
    for first in [json!(0), json!(-1), json!("5"), json!(1.5)] {
        assert_eq!(
            notebook.err("list_notes", json!({"first": first})).await.code,
            Code::InvalidValue,
            "{first}"
        );
    }
}

#[tokio::test]
async fn an_invalid_cursor_is_refused() {
    let notebook = Notebook::in_memory().await;
    for (name, args) in [
        ("list_notes", json!({"after": "junk"})),
        ("list_notes", json!({"after": 7})),
        ("search_notes", json!({"query": "x", "after": "c9.1"})),
    ] {
        assert_eq!(notebook.err(name, args).await.code, Code::InvalidValue);
    }
}

#[tokio::test]
async fn a_list_compares_scalars_exactly() {
    let notebook = Notebook::in_memory().await;
    for record in [
        json!({"title": "a", "done": true, "points": 1, "status": "open"}),
        json!({"title": "b", "done": false, "points": 1.5}),
        json!({"title": "c", "status": "open"}),
        json!({"title": "' OR 1=1 --", "body": "\u{0}\u{1e}\u{1f}\u{7f}"}),
    ] {
        notebook.ok("create_note", record).await;
    }
    for (filter, expected) in [
        (json!({"done": true}), vec!["a"]),
        (json!({"done": false}), vec!["b"]),
        (json!({"points": 1}), vec!["a"]),
        (json!({"points": 1.5}), vec!["b"]),
        (json!({"status": "open"}), vec!["c", "a"]),
        (json!({"status": "open", "done": true}), vec!["a"]),
        (json!({"done": null, "status": null}), vec!["' OR 1=1 --"]),
        (json!({"title": "A"}), vec![]),
        (json!({"title": "' OR 1=1 --"}), vec!["' OR 1=1 --"]),
    ] {
        assert_eq!(notebook.titles("list_notes", filter.clone()).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn search_needs_every_word_in_any_case_and_treats_symbols_literally() {
    let notebook = Notebook::in_memory().await;
    for record in [
        json!({"title": "Straße nach Köln", "body": "100% sicher"}),
        json!({"title": "Other", "body": "straSSE", "tags": ["KÖLN"]}),
        json!({"title": "snake_case \"quoted\" AND (NEAR) *", "body": "a\\b"}),
    ] {
        notebook.ok("create_note", record).await;
    }
    for (query, expected) in [
        ("strasse köln", vec!["Straße nach Köln", "Other"]),
        ("KÖLN", vec!["Straße nach Köln", "Other"]),
        ("köln missing", vec![]),
        ("100%", vec!["Straße nach Köln"]),
        ("1%r", vec![]),
        ("snake_case", vec!["snake_case \"quoted\" AND (NEAR) *"]),
        ("snake-case", vec![]),
        ("\"quoted\" (NEAR) *", vec!["snake_case \"quoted\" AND (NEAR) *"]),
        ("a\\b", vec!["snake_case \"quoted\" AND (NEAR) *"]),
        ("'; DROP TABLE records; --", vec![]),
    ] {
        assert_eq!(notebook.titles("search_notes", json!({"query": query})).await, expected, "{query}");
    }
}

#[tokio::test]
async fn search_ranks_the_first_field_then_the_newest_over_all_pages() {
    let notebook = Notebook::in_memory().await;
    for (title, body) in
        [("plum one", ""), ("x", "plum"), ("plum two", "plum"), ("y", "a plum"), ("none", "")]
    {
        notebook.ok("create_note", json!({"title": title, "body": body})).await;
    }
    let mut seen = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = notebook.ok("search_notes", json!({"query": "Plum", "first": 1, "after": after})).await;
        seen.extend(titles(&page));
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
    }
    assert_eq!(seen, ["plum two", "plum one", "y", "x"]);
}

#[tokio::test]
async fn a_query_without_words_or_with_too_many_is_refused() {
    let notebook = Notebook::in_memory().await;
    let many = (0..33).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    for query in ["", " \t\n", many.as_str()] {
        assert_eq!(notebook.err("search_notes", json!({"query": query})).await.code, Code::InvalidValue);
    }
}

#[tokio::test]
async fn an_update_merges_and_search_follows_it() {
    let notebook = Notebook::in_memory().await;
    let record = json!({"title": "a", "body": "old", "tags": ["x", "y"], "meta": {"p": 1, "q": {"r": 2}}});
    let created = notebook.ok("create_note", record).await;
    let args = json!({
        "id": created["id"], "title": "b",
        "input": {"title": "overridden", "body": null, "tags": ["z"], "meta": {"q": {"s": 3}}},
    });
    let updated = notebook.ok("update_note", args).await;
    assert_eq!(updated["title"], json!("b"), "a direct field overrides input");
    assert_eq!(updated.get("body"), None);
    assert_eq!(updated["tags"], json!(["z"]));
    assert_eq!(updated["meta"], json!({"p": 1, "q": {"r": 2, "s": 3}}));
    assert_eq!(updated["_etag"], json!("2"));
    assert_eq!(notebook.ok("get_note", json!({"id": created["id"]})).await, updated);
    assert_eq!(notebook.titles("search_notes", json!({"query": "old"})).await.len(), 0);
    assert_eq!(notebook.titles("search_notes", json!({"query": "z"})).await, ["b"]);
}

#[tokio::test]
async fn an_update_that_changes_nothing_keeps_the_version() {
    let notebook = Notebook::in_memory().await;
    let created = notebook.ok("create_note", json!({"title": "a"})).await;
    let again =
        notebook.ok("update_note", json!({"id": created["id"], "input": {"title": "a", "body": null}})).await;
    assert_eq!(again, created);
}

#[tokio::test]
async fn invalid_updates_are_errors() {
    let notebook = Notebook::in_memory().await;
    let id = notebook.note("a").await;
    for (input, code) in [
        (json!({"title": null}), Code::MissingParam),
        (json!({"title": 5}), Code::InvalidType),
        (json!({"status": "odd"}), Code::InvalidValue),
        (json!({"colour": "red"}), Code::UnknownField),
        (json!({"id": "other"}), Code::UnknownField),
        (json!({"created_at": "now"}), Code::UnknownField),
        (json!({"_etag": "1"}), Code::UnknownField),
        (json!({}), Code::MissingParam),
        (json!("text"), Code::InvalidType),
    ] {
        let error = notebook.err("update_note", json!({"id": id, "input": input})).await;
        assert_eq!(error.code, code, "{input}");
        if code == Code::UnknownField {
            assert_eq!(error.details["valid_fields"][0], json!("title"));
        }
    }
    let kept = notebook.ok("get_note", json!({"id": id})).await;
    assert_eq!((&kept["title"], &kept["_etag"]), (&json!("a"), &json!("1")));
}

#[tokio::test]
async fn a_record_that_would_grow_too_large_is_not_changed() {
    let notebook = Notebook::in_memory().await;
    let half = "x".repeat(600_000);
    let id = text(&notebook.ok("create_note", json!({"title": "a", "body": half})).await["id"]);
    let error = notebook.err("update_note", json!({"id": id, "input": {"title": half}})).await;
    assert_eq!(error.code, Code::PayloadTooLarge);
    assert_eq!(error.details["limit_type"], "request_size");
    let kept = notebook.ok("get_note", json!({"id": id})).await;
    assert_eq!((&kept["title"], &kept["_etag"]), (&json!("a"), &json!("1")));
}

#[tokio::test]
async fn a_stale_etag_stops_updates_and_deletes() {
    let notebook = Notebook::in_memory().await;
    let id = notebook.note("a").await;
    notebook.ok("update_note", json!({"id": id, "title": "b", "if_match": "1"})).await;
    for (name, args) in [
        ("update_note", json!({"id": id, "title": "c", "if_match": "1"})),
        ("update_note", json!({"id": id, "title": "c", "_etag": "1"})),
        ("update_note", json!({"id": id, "title": "c", "if_match": "junk"})),
        ("delete_note", json!({"id": id, "if_match": "1"})),
    ] {
        let error = notebook.err(name, args).await;
        assert_eq!(error.code, Code::ConflictVersion);
        assert_eq!(error.details["current_etag"], json!("2"));
    }
    let gone = notebook.ok("delete_note", json!({"id": id, "if_match": "2"})).await;
    assert_eq!(gone, json!({"id": id, "deleted": true}));
    assert_eq!(notebook.err("get_note", json!({"id": id})).await.code, Code::NotFoundResource);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_updates_through_two_stores_are_never_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let books = [Arc::new(Notebook::open(&path).await), Arc::new(Notebook::open(&path).await)];
    let id = books[0].note("shared").await;
    let mut tasks = Vec::new();
    for number in 0..40 {
        let (book, id) = (Arc::clone(&books[number % 2]), id.clone());
        let key = format!("k{number}");
        tasks.push(tokio::spawn(async move {
            book.ok("update_note", json!({"id": id, "input": {"meta": {key: number}}})).await;
        }));
    }
    for task in tasks {
        task.await.expect("an update");
    }
    let record = books[1].ok("get_note", json!({"id": id})).await;
    assert_eq!(record["meta"].as_object().map(Map::len), Some(40));
    assert_eq!(record["_etag"], json!("41"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_may_be_opened_by_many_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let mut tasks = Vec::new();
    for number in 0..8 {
        let path = path.clone();
        tasks.push(tokio::spawn(async move { Notebook::open(&path).await.note(&number.to_string()).await }));
    }
    for task in tasks {
        task.await.expect("a note");
    }
    assert_eq!(Notebook::open(&path).await.titles("list_notes", json!({})).await.len(), 8);
}

#[tokio::test]
async fn adapters_share_a_file_and_see_their_own_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/er/notes.db");
    let mine = Notebook::open(&path).await;
    let other = Notebook::over(
        Store::open(&path, "other", &target(), &IndexMap::new()).await.expect("the same file"),
    );
    let id = mine.note("mine").await;
    assert_eq!(other.err("get_note", json!({"id": id})).await.code, Code::NotFoundResource);
    assert_eq!(other.titles("list_notes", json!({})).await.len(), 0);
    drop(mine);
    assert_eq!(Notebook::open(&path).await.titles("list_notes", json!({})).await, ["mine"]);
}

#[tokio::test]
async fn new_search_fields_find_old_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let old = Notebook::open(&path).await;
    old.ok("create_note", json!({"title": "a", "status": "closed"})).await;
    assert_eq!(old.titles("search_notes", json!({"query": "closed"})).await.len(), 0);
    let mut target = target();
    target.resources["note"].search.push("status".into());
    let new = Notebook::over(
        Store::open(&path, "notebook", &target, &IndexMap::new()).await.expect("the same file"),
    );
    assert_eq!(new.titles("search_notes", json!({"query": "closed"})).await, ["a"]);
}

#[cfg(unix)]
#[tokio::test]
async fn only_this_user_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let notebook = Notebook::open(&path).await;
    notebook.note("secret").await;
    for file in std::fs::read_dir(folder.path()).expect("its files") {
        let file = file.expect("a file");
        let mode = file.metadata().expect("its rights").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?}", file.file_name());
    }
}

#[tokio::test]
async fn a_foreign_file_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let refuse =
        async || Store::open(&path, "notebook", &target(), &IndexMap::new()).await.expect_err("refused");

    let junk = b"This is not a database, but the only copy of something.".repeat(100);
    std::fs::write(&path, &junk).expect("a file");
    assert!(matches!(refuse().await, StoreError::Damaged { .. }));
    assert_eq!(std::fs::read(&path).expect("the file"), junk);

    std::fs::remove_file(&path).expect("removed");
    sql(&path, "CREATE TABLE theirs (x); PRAGMA user_version = 1;").await;
    let before = std::fs::read(&path).expect("the file");
    assert!(matches!(refuse().await, StoreError::Foreign { .. }));
    assert_eq!(std::fs::read(&path).expect("the file"), before);

    std::fs::remove_file(&path).expect("removed");
    drop(Notebook::open(&path).await);
    sql(&path, "PRAGMA user_version = 99;").await;
    let error = refuse().await;
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("update this program"));

    let error =
        Store::open(folder.path(), "notebook", &target(), &IndexMap::new()).await.expect_err("a folder");
    assert!(matches!(error, StoreError::Create { .. }), "{error}");
}

#[tokio::test]
async fn a_field_that_would_hide_a_key_of_the_record_is_refused() {
    for field in ["id", "_etag", "a\"b", ""] {
        let mut target = target();
        target.resources["note"].fields.insert(field.to_owned(), json!({"type": "string"}));
        let error = Store::in_memory("notebook", &target, &IndexMap::new()).await.expect_err("refused");
        assert!(matches!(error, StoreError::Field { .. }), "{error}");
    }
}

async fn sql(path: &Path, statements: &'static str) -> Vec<String> {
    use sqlx::{ConnectOptions, Row};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.expect("a connection");
    let rows = sqlx::raw_sql(statements).fetch_all(&mut connection).await.expect("the statements");
    sqlx::Connection::close(connection).await.expect("closed");
    rows.iter().filter_map(|row| row.try_get::<String, _>(0).ok()).collect()
}

const WRITER: &str = "MCPAQL_TEST_WRITER_FILE";

/// Not a test: `acknowledged_writes_survive_sigkill` runs and kills it.
#[tokio::test]
async fn writer_until_killed() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let notebook = Notebook::open(Path::new(&path)).await;
    let mut last: Option<String> = None;
    loop {
        let id = notebook.note("written").await;
        if let Some(last) = last.replace(id.clone()) {
            notebook.ok("update_note", json!({"id": last, "body": "changed"})).await;
            say(&format!("changed {last}"));
        }
        say(&format!("written {id}"));
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").and_then(|()| out.flush()).expect("the parent listens");
}

#[tokio::test]
async fn acknowledged_writes_survive_sigkill() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let mut written = Vec::new();
    let mut changed = Vec::new();
    for round in 1..=4 {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "store::writer_until_killed", "--nocapture", "--test-threads=1"])
            .env(WRITER, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the writer");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut heard = 0;
        while let Some(Ok(line)) = lines.next() {
            match line.split_once(' ') {
                Some(("written", id)) => written.push(id.to_owned()),
                Some(("changed", id)) => changed.push(id.to_owned()),
                _ => continue,
            }
            heard += 1;
            if heard == round * 10 {
                child.kill().expect("killed");
            }
        }
        assert!(heard >= round * 10, "the writer died early");
        child.wait().expect("reaped");
    }
    assert_eq!(sql(&path, "PRAGMA integrity_check").await, ["ok"]);
    let notebook = Notebook::open(&path).await;
    for id in &written {
        notebook.ok("get_note", json!({"id": id})).await;
    }
    for id in &changed {
        assert_eq!(notebook.ok("get_note", json!({"id": id})).await["body"], json!("changed"));
    }
}
