//! The git adapter with the real program and its own repository.

use super::{call, example, served};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Param;
use mcpaql_runtime::dispatch::ServedAdapter;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A new repository with a remote, and the adapter for it.
struct Repository {
    top: PathBuf,
    served: ServedAdapter,
    called: RefCell<BTreeSet<String>>,
    _folder: tempfile::TempDir,
}

/// Runs git without any user's configuration.
fn git(home: &Path, folder: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("git runs").success(), "git {args:?}");
}

impl Repository {
    /// Returns `None` if git is missing; the test is then skipped.
    async fn new(test: &str) -> Option<Repository> {
        if Command::new("git").arg("--version").stdout(Stdio::null()).status().is_err() {
            println!("{test} is skipped: git is not installed");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (home, top, remote) =
            (folder.path().join("home"), folder.path().join("work"), folder.path().join("remote.git"));
        for path in [&home, &top, &remote] {
            std::fs::create_dir(path).expect("a folder");
        }
        let identity = "[user]\n\tname = Ada Tester\n\temail = ada@example.com\n";
        std::fs::write(home.join(".gitconfig"), identity).expect("a configuration");
        git(&home, &remote, &["init", "--quiet", "--bare"]);
        git(&home, &top, &["init", "--quiet", "--initial-branch=main"]);
        git(&home, &top, &["remote", "add", "origin", remote.to_str().expect("a path")]);
        let path = std::env::var("PATH").unwrap_or_default();
        let variables = [
            ("PATH", path.as_str()),
            ("HOME", home.to_str().expect("a path")),
            ("GIT_ADAPTER_DIR", top.to_str().expect("a path")),
            // Would lead git elsewhere if it were passed on.
            ("GIT_DIR", "/nowhere"),
        ];
        let served = served(&example("git"), &variables).await;
        Some(Repository { top, served, called: RefCell::default(), _folder: folder })
    }

    async fn call(&self, operation: &str, params: Value) -> Result<Value, OpError> {
        self.called.borrow_mut().insert(operation.to_owned());
        call(&self.served, operation, params).await
    }

    async fn ok(&self, operation: &str, params: Value) -> Value {
        let shown = params.to_string();
        self.call(operation, params).await.unwrap_or_else(|error| panic!("{operation} {shown}: {error:?}"))
    }

    async fn text(&self, operation: &str, params: Value) -> String {
        self.ok(operation, params).await.as_str().expect("a text").to_owned()
    }

    async fn lines(&self, operation: &str, params: Value) -> Vec<String> {
        serde_json::from_value(self.ok(operation, params).await).expect("lines")
    }

    /// One column of lines with tabs.
    async fn column(&self, operation: &str, index: usize) -> Vec<String> {
        let lines = self.lines(operation, json!({})).await;
        lines.iter().map(|line| line.split('\t').nth(index).expect("a column").to_owned()).collect()
    }

    async fn fails(&self, operation: &str, params: Value, code: Code) -> String {
        let error = self.call(operation, params).await.expect_err(operation);
        assert_eq!(error.code, code, "{operation}: {error:?}");
        error.message
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.top.join(name), text).expect("a written file");
    }

    async fn commit(&self, name: &str, text: &str, message: &str) {
        self.write(name, text);
        self.ok("stage_files", json!({"paths": [name]})).await;
        self.ok("create_commit", json!({"message": message})).await;
    }

    fn assert_every_operation_was_called(&self) {
        let all = self.served.catalog().operations.iter().map(|entry| entry.operation.name.clone());
        let all: BTreeSet<String> = all.filter(|name| name != "introspect").collect();
        assert_eq!(*self.called.borrow(), all);
    }
}

#[tokio::test]
async fn a_day_with_a_repository() {
    let Some(repository) = Repository::new("a_day_with_a_repository").await else { return };
    changes_become_commits(&repository).await;
    history_and_files_can_be_read(&repository).await;
    branches_come_together(&repository).await;
    changes_can_be_stashed(&repository).await;
    remotes_are_fetched_and_pushed(&repository).await;
    repository.assert_every_operation_was_called();
}

async fn changes_become_commits(git: &Repository) {
    git.write("naïve file.txt", "one\ntwo TODO\n");
    assert_eq!(
        git.lines("get_status", json!({})).await,
        ["## No commits yet on main", "?? \"naïve file.txt\""]
    );
    git.fails("list_commits", json!({}), Code::NotFoundResource).await;
    git.ok("stage_files", json!({"paths": ["naïve file.txt"]})).await;
    assert!(git.text("diff_changes", json!({"staged": true})).await.contains("+two TODO"));
    assert!(git.text("create_commit", json!({"message": "Add a file"})).await.contains("Add a file"));
    let refused = git.fails("create_commit", json!({"message": "Again"}), Code::InvalidValue).await;
    assert!(refused.contains("nothing to commit"), "{refused}");

    git.commit("a.txt", "a\n", "Add a\n\nWith a body: \"quoted\"; $(touch pwned)").await;
    git.write("a.txt", "changed\n");
    git.ok("stage_files", json!({"paths": ["a.txt"]})).await;
    assert_eq!(git.lines("get_status", json!({})).await, ["## main", "M  a.txt"]);
    git.ok("unstage_files", json!({"paths": ["a.txt"]})).await;
    assert_eq!(git.lines("get_status", json!({})).await, ["## main", " M a.txt"]);
    assert!(git.text("diff_changes", json!({"summary": true})).await.contains("a.txt | 2 +-"));
    git.ok("restore_files", json!({"paths": ["a.txt"]})).await;
    assert_eq!(git.lines("get_status", json!({})).await, ["## main"]);
}

async fn history_and_files_can_be_read(git: &Repository) {
    assert_eq!(git.column("list_commits", 3).await, ["Add a", "Add a file"]);
    assert_eq!(git.column("list_commits", 2).await, ["Ada Tester", "Ada Tester"]);
    for (filter, count) in [
        (json!({"limit": 1}), 1),
        (json!({"skip": 1}), 1),
        (json!({"author": "ada@"}), 2),
        (json!({"message": "ADD A FILE"}), 1),
        (json!({"changed_text": "TODO"}), 1),
        (json!({"paths": ["a.txt"]}), 1),
        (json!({"since": "1 hour ago", "until": "1 hour"}), 0),
    ] {
        let lines = git.lines("list_commits", filter.clone()).await;
        assert_eq!(lines.len(), count, "{filter}");
    }
    let commit = git.text("show_commit", json!({"patch": true})).await;
    assert!(commit.contains("With a body") && commit.contains("a.txt | 1 +") && commit.contains("+a"));
    assert!(!git.text("show_commit", json!({})).await.contains("diff --git"));
    git.fails("show_commit", json!({"revision": "nope"}), Code::NotFoundResource).await;
    assert_eq!(git.lines("list_files", json!({})).await, ["a.txt", "naïve file.txt"]);
    assert_eq!(git.text("read_file", json!({"path": "naïve file.txt"})).await, "one\ntwo TODO");
    git.fails("read_file", json!({"path": "a.txt", "revision": "HEAD~1"}), Code::NotFoundResource).await;
    let blame = git.lines("blame_file", json!({"path": "naïve file.txt", "first_line": 2})).await;
    assert!(
        blame.len() == 1 && blame[0].contains("Ada Tester") && blame[0].ends_with("two TODO"),
        "{blame:?}"
    );
    let search = |params: Value| git.lines("search_content", params);
    assert_eq!(search(json!({"pattern": "t.o T"})).await, ["naïve file.txt:2:two TODO"]);
    assert_eq!(search(json!({"pattern": "t.o T", "literal": true})).await, [""; 0], "no match is no error");
    assert_eq!(
        search(json!({"pattern": "todo", "ignore_case": true, "whole_word": true, "names_only": true})).await,
        ["naïve file.txt"]
    );
    assert_eq!(search(json!({"pattern": "^a$", "revision": "HEAD"})).await, ["HEAD:a.txt:1:a"]);
    assert_eq!(
        search(json!({"pattern": "--output=pwned"})).await,
        [""; 0],
        "a pattern may look like an option"
    );
    git.fails("search_content", json!({"pattern": "("}), Code::InvalidValue).await;
}

async fn branches_come_together(git: &Repository) {
    git.ok("create_branch", json!({"name": "fix/x"})).await;
    git.fails("create_branch", json!({"name": "fix/x"}), Code::InvalidValue).await;
    git.ok("switch_branch", json!({"branch": "fix/x"})).await;
    git.fails("switch_branch", json!({"branch": "nope"}), Code::NotFoundResource).await;
    git.write("a.txt", "a\nb\n");
    git.ok("create_commit", json!({"message": "Add b", "all_tracked": true})).await;
    let compared = git.text("compare_revisions", json!({"from": "main", "since_fork": true})).await;
    assert!(compared.contains("+b"), "{compared}");
    git.ok("switch_branch", json!({"branch": "main"})).await;
    git.commit("a.txt", "a\nc\n", "Add c").await;

    let refused = git.fails("merge_branch", json!({"revision": "fix/x"}), Code::ConflictVersion).await;
    assert!(refused.contains("Automatic merge failed"), "{refused}");
    git.ok("abort_merge", json!({})).await;
    git.fails("abort_merge", json!({}), Code::InvalidValue).await;
    git.ok("create_branch", json!({"name": "next"})).await;
    git.ok("merge_branch", json!({"revision": "next", "fast_forward_only": true})).await;

    git.ok("rename_branch", json!({"branch": "fix/x", "new_name": "fix/y"})).await;
    let mut names = git.column("list_branches", 1).await;
    names.sort();
    assert_eq!(names, ["fix/y", "main", "next"]);
    git.fails("delete_branch", json!({"branch": "fix/y"}), Code::InvalidValue).await;
    git.ok("delete_branch", json!({"branch": "fix/y", "force": true})).await;

    git.ok("create_tag", json!({"name": "v1", "message": "The first"})).await;
    git.ok("create_tag", json!({"name": "v0", "revision": "HEAD~1"})).await;
    assert_eq!(git.lines("list_tags", json!({"contains": "HEAD"})).await.len(), 1);
    git.ok("delete_tag", json!({"name": "v0"})).await;
    git.fails("delete_tag", json!({"name": "v0"}), Code::NotFoundResource).await;
    assert_eq!(git.column("list_tags", 0).await, ["v1"]);
}

async fn changes_can_be_stashed(git: &Repository) {
    git.write("a.txt", "half\n");
    git.write("new.txt", "new\n");
    git.ok("stash_changes", json!({"message": "half a thing", "include_untracked": true})).await;
    assert_eq!(git.lines("get_status", json!({})).await, ["## main"]);
    assert_eq!(git.column("list_stashes", 2).await, ["On main: half a thing"]);
    git.ok("apply_stash", json!({})).await;
    assert_eq!(git.lines("get_status", json!({})).await, ["## main", " M a.txt", "?? new.txt"]);
    git.ok("stash_changes", json!({"paths": ["a.txt"]})).await;
    git.ok("delete_stash", json!({"index": 0})).await;
    git.fails("delete_stash", json!({"index": 0}), Code::NotFoundResource).await;
}

async fn remotes_are_fetched_and_pushed(git: &Repository) {
    assert_eq!(git.lines("list_remotes", json!({})).await, ["origin"]);
    git.ok("push_branch", json!({"branch": "main"})).await;
    git.ok("fetch_remote", json!({"prune": true})).await;
    let branches = git.lines("list_branches", json!({"remote": true, "contains": "main"})).await;
    assert!(branches.iter().any(|line| line.contains("\torigin/main\t")), "{branches:?}");
    git.fails("fetch_remote", json!({"remote": "upstream"}), Code::NotFoundResource).await;
}

/// Values that would have an effect if they were read as options, remotes or commands.
const HOSTILE: [&str; 7] = [
    "--output=pwned",
    "--upload-pack=touch pwned",
    "--exec=touch pwned",
    "-Otouch pwned",
    "ext::touch pwned",
    "$(touch pwned)",
    "; touch pwned",
];

/// A harmless value of the parameter's type.
fn harmless(param: &Param) -> Value {
    match param.schema["type"].as_str() {
        Some("array") => json!(["a.txt"]),
        Some("integer") => json!(1),
        Some("boolean") => json!(false),
        _ => json!("main"),
    }
}

#[tokio::test]
async fn no_value_becomes_an_option_or_a_command() {
    let Some(repository) = Repository::new("no_value_becomes_an_option_or_a_command").await else { return };
    repository.commit("a.txt", "a\n", "Add a").await;
    let mut tried = 0;
    for entry in &repository.served.catalog().operations {
        let operation = &entry.operation;
        for param in operation.params.iter().filter(|_| operation.name != "introspect") {
            for value in HOSTILE {
                let hostile = match param.schema["type"].as_str() {
                    Some("array") => json!([value]),
                    Some("string") => json!(value),
                    _ => continue,
                };
                let required = operation.params.iter().filter(|other| other.required);
                let mut params: Map<String, Value> =
                    required.map(|other| (other.name.clone(), harmless(other))).collect();
                params.insert(param.name.clone(), hostile);
                // Refusing the value is fine, and so is using it as plain text or as a path that does not exist.
                let _ = repository.call(&operation.name, Value::Object(params)).await;
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "only {tried} calls");
    let mut left: Vec<_> = std::fs::read_dir(&repository.top)
        .expect("the working tree")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, [".git", "a.txt"]);
}

#[tokio::test]
async fn values_like_options_are_refused_before_git_runs() {
    let Some(repository) = Repository::new("values_like_options_are_refused_before_git_runs").await else {
        return;
    };
    repository.commit("a.txt", "a\n", "Add a").await;
    for (operation, params) in [
        ("list_commits", json!({"revision": "--output=pwned"})),
        ("show_commit", json!({"revision": "-p"})),
        ("compare_revisions", json!({"from": "main", "to": "--no-index"})),
        ("read_file", json!({"path": "a.txt", "revision": "--output=pwned"})),
        ("list_files", json!({"revision": "--full-tree"})),
        ("blame_file", json!({"path": "a.txt", "revision": "--contents=a.txt"})),
        ("search_content", json!({"pattern": "a", "revision": "--open-files-in-pager=touch pwned"})),
        ("create_branch", json!({"name": "--upload-pack=x"})),
        ("create_branch", json!({"name": "x", "start_point": "--force"})),
        ("create_tag", json!({"name": "-d"})),
        ("switch_branch", json!({"branch": "--detach"})),
        ("delete_branch", json!({"branch": "--all"})),
        ("merge_branch", json!({"revision": "--abort"})),
        ("fetch_remote", json!({"remote": "--upload-pack=touch pwned"})),
        ("fetch_remote", json!({"remote": "ext::sh -c touch% pwned"})),
        ("push_branch", json!({"branch": "main:other"})),
        ("push_branch", json!({"branch": "+main"})),
    ] {
        repository.fails(operation, params, Code::InvalidValue).await;
    }
}
