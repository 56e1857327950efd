//! Project folders: generated, edited, not generated, or hostile.

use super::folder::{self, FileChange, FolderPlan};
use super::write::{STAGING_FOLDER, apply_steps, changed_steps, recover_interrupted, with_staging, write};
use mcpaql_generate::provenance::{self, hash};
use mcpaql_generate::{FileOwner, ProjectFile};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::{TempDir, tempdir};

fn plan(root: &Path, files: Vec<ProjectFile>) -> Result<FolderPlan, super::error::GenerateError> {
    folder::plan_changes(root, "x", files)
}

fn generated(path: &str, text: &str) -> ProjectFile {
    ProjectFile { path: path.into(), text: text.into(), owner: FileOwner::Generator }
}

fn project(files: &[(&str, &str)]) -> Vec<ProjectFile> {
    let mut files: Vec<ProjectFile> = files.iter().map(|(path, text)| generated(path, text)).collect();
    let hashes: serde_json::Map<_, _> =
        files.iter().map(|file| (file.path.clone(), hash(&file.text).into())).collect();
    files.push(ProjectFile {
        path: "src/handlers.x".into(),
        text: "empty\n".into(),
        owner: FileOwner::Author,
    });
    let handwritten = serde_json::json!({"src/handlers.x": hash("empty\n")});
    let record =
        serde_json::json!({"generation": {"target": "x"}, "files": hashes, "handwritten": handwritten});
    files.push(generated(provenance::FILE, &format!("{record:#}\n")));
    files
}

const FIRST: &[(&str, &str)] = &[("README.md", "one\n"), ("src/main.x", "main\n"), ("src/old/a.x", "a\n")];
const SECOND: &[(&str, &str)] = &[("README.md", "two\n"), ("src/main.x", "main\n"), ("src/new.x", "n\n")];

/// Returns a folder with the first project.
fn made() -> TempDir {
    let folder = tempdir().unwrap();
    let plan = plan(folder.path(), project(FIRST)).unwrap();
    assert!(plan.refusal(folder.path()).is_none());
    write(folder.path(), &plan).unwrap();
    folder
}

fn changes(plan: &FolderPlan) -> BTreeMap<&str, FileChange> {
    plan.steps.iter().map(|step| (step.path.as_str(), step.change)).collect()
}

/// Returns every file in a folder, with its text.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            if path.is_symlink() {
                out.insert(name, "->".into());
            } else if path.is_dir() {
                out.insert(format!("{name}/"), String::new());
                folders.push(path);
            } else {
                out.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    out
}

#[test]
fn a_new_folder_gets_everything_and_nothing_else() {
    let folder = made();
    let found = tree(folder.path());
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "MCPAQL-PROVENANCE.json",
            "README.md",
            "src/",
            "src/handlers.x",
            "src/main.x",
            "src/old/",
            "src/old/a.x"
        ]
    );
}

#[test]
fn generating_again_replaces_removes_and_keeps_files() {
    let folder = made();
    std::fs::write(folder.path().join("src/handlers.x"), "mine\n").unwrap();
    std::fs::write(folder.path().join("src/extra.x"), "mine, too\n").unwrap();
    let plan = plan(folder.path(), project(SECOND)).unwrap();
    let found = changes(&plan);
    for (path, change) in [
        ("README.md", FileChange::Changed),
        ("src/main.x", FileChange::Unchanged),
        ("src/new.x", FileChange::Created),
        ("src/old/a.x", FileChange::Removed),
        ("src/handlers.x", FileChange::Kept),
        (provenance::FILE, FileChange::Changed),
    ] {
        assert_eq!(found[path], change, "{path}");
    }
    assert!(plan.refusal(folder.path()).is_none());
    write(folder.path(), &plan).unwrap();
    let found = tree(folder.path());
    assert_eq!((found["README.md"].as_str(), found["src/handlers.x"].as_str()), ("two\n", "mine\n"));
    assert_eq!(found["src/extra.x"], "mine, too\n");
    assert!(!found.contains_key("src/old/"), "an empty folder is removed");
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let folder = made();
    let before = std::fs::metadata(folder.path().join("README.md")).unwrap().modified().unwrap();
    let plan = plan(folder.path(), project(FIRST)).unwrap();
    assert!(plan.steps.iter().all(|step| step.change == FileChange::Unchanged), "{:?}", changes(&plan));
    write(folder.path(), &plan).unwrap();
    assert_eq!(std::fs::metadata(folder.path().join("README.md")).unwrap().modified().unwrap(), before);
}

#[test]
fn an_edited_file_is_named_and_refused_before_anything_is_touched() {
    let folder = made();
    std::fs::write(folder.path().join("README.md"), "edited\n").unwrap();
    std::fs::write(folder.path().join("src/main.x"), "edited\n").unwrap();
    let before = tree(folder.path());
    let edited = plan(folder.path(), project(SECOND)).unwrap();
    let refusal = edited.refusal(folder.path()).unwrap();
    let named: Vec<&str> = refusal.details.iter().map(|detail| detail.path.as_str()).collect();
    assert_eq!(named, ["README.md", "src/main.x"]);
    assert_eq!((refusal.kind.exit_code(), refusal.details[0].code.as_str()), (4, "FILE_EDITED"));
    assert_eq!(tree(folder.path()), before);
    // With force.
    let readme = edited.steps.iter().find(|step| step.path == "README.md").unwrap();
    assert_eq!(edited.reason(readme), "it was edited; overwritten because of --force");
    let notes: Vec<String> = edited.notes(true).map(|note| note.path).collect();
    assert_eq!(notes, ["README.md", "src/main.x"]);
    write(folder.path(), &edited).unwrap();
    assert_eq!(tree(folder.path())["src/main.x"], "main\n");
}

#[test]
fn an_edit_to_the_content_that_would_be_generated_is_not_an_edit() {
    let folder = made();
    std::fs::write(folder.path().join("README.md"), "two\n").unwrap();
    let plan = plan(folder.path(), project(SECOND)).unwrap();
    assert!(plan.refusal(folder.path()).is_none());
    assert_eq!(changes(&plan)["README.md"], FileChange::Unchanged);
}

#[test]
fn other_line_ends_are_not_an_edit() {
    let folder = made();
    std::fs::write(folder.path().join("README.md"), "one\r\n").unwrap();
    let plan = plan(folder.path(), project(SECOND)).unwrap();
    assert!(plan.refusal(folder.path()).is_none());
    assert_eq!(changes(&plan)["README.md"], FileChange::Changed);
}

#[test]
fn an_edited_file_that_is_no_longer_generated_is_left() {
    let folder = made();
    std::fs::write(folder.path().join("src/old/a.x"), "edited\n").unwrap();
    let plan = plan(folder.path(), project(SECOND)).unwrap();
    assert!(plan.refusal(folder.path()).is_none());
    assert_eq!(changes(&plan)["src/old/a.x"], FileChange::Left);
    write(folder.path(), &plan).unwrap();
    assert_eq!(tree(folder.path())["src/old/a.x"], "edited\n");
}

#[test]
fn a_deleted_file_comes_back() {
    let folder = made();
    std::fs::remove_file(folder.path().join("README.md")).unwrap();
    let plan = plan(folder.path(), project(FIRST)).unwrap();
    assert_eq!(changes(&plan)["README.md"], FileChange::Created);
}

/// Returns the second project, whose template of the author's file has changed.
fn renewed() -> Vec<ProjectFile> {
    let mut files = project(SECOND);
    for file in &mut files {
        match file.path.as_str() {
            "src/handlers.x" => file.text = "begin here\n".into(),
            provenance::FILE => file.text = file.text.replace(&hash("empty\n"), &hash("begin here\n")),
            _ => {}
        }
    }
    files
}

#[test]
fn an_authors_file_is_updated_until_the_author_edits_it() {
    let folder = made();
    let untouched = plan(folder.path(), renewed()).unwrap();
    assert_eq!(changes(&untouched)["src/handlers.x"], FileChange::Changed);
    assert!(untouched.refusal(folder.path()).is_none() && untouched.outdated.is_empty());
    std::fs::write(folder.path().join("src/handlers.x"), "mine\n").unwrap();
    let edited = plan(folder.path(), renewed()).unwrap();
    assert_eq!(changes(&edited)["src/handlers.x"], FileChange::Kept);
    assert_eq!(edited.outdated, ["src/handlers.x"]);
    write(folder.path(), &edited).unwrap();
    assert_eq!(tree(folder.path())["src/handlers.x"], "mine\n");
    assert!(plan(folder.path(), renewed()).unwrap().outdated.is_empty(), "it is reported once");
}

#[test]
fn a_project_in_another_language_is_not_replaced() {
    let folder = made();
    let plan = folder::plan_changes(folder.path(), "y", project(FIRST)).unwrap();
    let refusal = plan.refusal(folder.path()).unwrap();
    assert_eq!((refusal.kind.exit_code(), refusal.details[0].code.as_str()), (4, "OUTPUT_OTHER_LANGUAGE"));
}

#[test]
fn a_folder_that_was_not_generated_is_refused() {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    assert!(
        plan(folder.path(), project(FIRST)).unwrap().refusal(folder.path()).is_none(),
        "a new repository"
    );
    for (name, text) in [("notes.txt", "x"), (provenance::FILE, "{}"), (provenance::FILE, "no JSON")] {
        let folder = tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let refusal = plan(folder.path(), project(FIRST)).unwrap().refusal(folder.path()).unwrap();
        assert_eq!((refusal.kind.exit_code(), refusal.details[0].code.as_str()), (4, "OUTPUT_NOT_EMPTY"));
    }
}

#[test]
fn an_authors_file_is_kept_even_with_force() {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/handlers.x"), "mine\n").unwrap();
    let plan = plan(folder.path(), project(FIRST)).unwrap();
    assert!(plan.is_foreign);
    write(folder.path(), &plan).unwrap();
    assert_eq!(tree(folder.path())["src/handlers.x"], "mine\n");
}

#[test]
fn no_path_leaves_the_folder() {
    let folder = tempdir().unwrap();
    for path in ["../x", "/etc/x", "a/../../x", "", "a//b", "./a", "a/.", "c:x", "a\\b", "a\0b"] {
        let failure = plan(folder.path(), vec![generated(path, "x")]).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 1, "{path:?}");
    }
    let twice = vec![generated("a", "x"), generated("a", "y")];
    assert!(plan(folder.path(), twice).is_err());
}

#[test]
fn a_forged_provenance_removes_nothing_outside_the_folder() {
    let outer = tempdir().unwrap();
    let victim = outer.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let root = outer.path().join("project");
    std::fs::create_dir(&root).unwrap();
    let files =
        serde_json::json!({"../victim": hash("precious"), victim.to_str().unwrap(): hash("precious")});
    let record = serde_json::json!({"generation": {}, "files": files});
    std::fs::write(root.join(provenance::FILE), record.to_string()).unwrap();
    let plan = plan(&root, project(FIRST)).unwrap();
    assert_eq!(plan.count(FileChange::Removed), 0);
    write(&root, &plan).unwrap();
    assert!(victim.exists());
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    for link in ["src", "README.md", "src/main.x", provenance::FILE] {
        let outside = tempdir().unwrap();
        std::fs::write(outside.path().join("main.x"), "theirs").unwrap();
        let folder = tempdir().unwrap();
        let path = folder.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(outside.path(), &path).unwrap();
        let failure = plan(folder.path(), project(FIRST)).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 4);
        assert!(failure.message.contains("symbolic link"), "{}", failure.message);
        assert_eq!(tree(outside.path()).len(), 1);
    }
    // The folder itself may be a link: the user named it.
    let real = tempdir().unwrap();
    let beside = tempdir().unwrap();
    let link = beside.path().join("link");
    symlink(real.path(), &link).unwrap();
    write(&link, &plan(&link, project(FIRST)).unwrap()).unwrap();
    assert!(real.path().join("src/main.x").exists());
    // A broken link is refused.
    let dangling = beside.path().join("dangling");
    symlink(beside.path().join("nowhere"), &dangling).unwrap();
    for root in [dangling.clone(), dangling.join("below"), dangling.join("far/below")] {
        let failure = plan(&root, project(FIRST)).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 4);
        assert!(failure.message.contains("dangling is a broken symbolic link"), "{}", failure.message);
    }
    assert!(!beside.path().join("nowhere").exists());
    // A broken link in the folder is refused, too: the user may want to fix it.
    for link in ["src", "README.md", "src/handlers.x", provenance::FILE] {
        let folder = tempdir().unwrap();
        let path = folder.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink("nowhere", &path).unwrap();
        let failure = plan(folder.path(), project(FIRST)).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 4);
        assert!(failure.message.contains("broken symbolic link"), "{}", failure.message);
        assert!(path.is_symlink());
    }
}

#[test]
fn a_file_in_place_of_a_folder_is_reported() {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join("README.md")).unwrap();
    assert!(plan(folder.path(), project(FIRST)).unwrap_err().message.contains("is not a file"));
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("src"), "a file").unwrap();
    assert!(plan(folder.path(), project(FIRST)).unwrap_err().message.contains("must be"));
    let file = folder.path().join("src");
    assert!(plan(&file, project(FIRST)).unwrap_err().message.contains("not a folder"));
}

#[test]
fn a_failed_write_is_rolled_back() {
    let folder = made();
    let plan = plan(folder.path(), project(SECOND)).unwrap();
    // Another program creates something after the plan was made.
    std::fs::create_dir(folder.path().join("src/new.x")).unwrap();
    std::fs::write(folder.path().join("src/new.x/in-the-way"), "x").unwrap();
    let before = tree(folder.path());
    let root = folder.path();
    with_staging(root, |staging| {
        apply_steps(root, staging, &changed_steps(&plan)).unwrap_err();
        Ok(())
    })
    .unwrap();
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn files_that_changed_since_the_plan_are_not_overwritten() {
    type Meanwhile = fn(&Path);
    let meanwhiles: [Meanwhile; 3] = [
        |root| std::fs::write(root.join("README.md"), "by somebody else\n").unwrap(),
        |root| std::fs::write(root.join("src/new.x"), "by somebody else\n").unwrap(),
        |root| std::fs::remove_file(root.join("src/old/a.x")).unwrap(),
    ];
    for meanwhile in meanwhiles {
        let folder = made();
        let plan = plan(folder.path(), project(SECOND)).unwrap();
        meanwhile(folder.path());
        let before = tree(folder.path());
        let failure = write(folder.path(), &plan).unwrap_err();
        assert_eq!(failure.kind.exit_code(), 4);
        assert!(failure.message.contains("in the meantime"), "{}", failure.message);
        assert_eq!(tree(folder.path()), before);
    }
}

#[test]
fn only_one_run_at_a_time_writes() {
    let folder = made();
    let root = folder.path();
    let plan = plan(root, project(SECOND)).unwrap();
    with_staging(root, |_| {
        let before = tree(root);
        for failure in [write(root, &plan).unwrap_err(), recover_interrupted(root, false).unwrap_err()] {
            assert_eq!(failure.kind.exit_code(), 4);
            assert!(failure.message.contains("another run"), "{}", failure.message);
        }
        assert_eq!(tree(root), before);
        Ok(())
    })
    .unwrap();
    write(root, &plan).unwrap();
}

/// Simulates a run that was killed after `done` files were in place.
fn killed(root: &Path, plan: &FolderPlan, done: usize) {
    let mut left = BTreeMap::new();
    let steps = changed_steps(plan);
    with_staging(root, |staging| {
        let (first, _) = steps.split_at(done);
        apply_steps(root, staging, &steps).unwrap();
        // Undo the other steps by hand.
        for (index, step) in steps.iter().enumerate().skip(first.len()) {
            let path = root.join(&step.path);
            if let Some(text) = &step.new {
                std::fs::remove_file(&path).unwrap();
                std::fs::write(staging.join(format!("new-{index}")), text).unwrap();
            }
            if step.old.is_some() {
                std::fs::rename(staging.join(format!("old-{index}")), &path).unwrap();
            }
        }
        for entry in std::fs::read_dir(staging).unwrap() {
            let path = entry.unwrap().path();
            left.insert(path.file_name().unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
        Ok(())
    })
    .unwrap();
    std::fs::create_dir(root.join(STAGING_FOLDER)).unwrap();
    for (name, bytes) in left {
        std::fs::write(root.join(STAGING_FOLDER).join(name), bytes).unwrap();
    }
}

#[test]
fn a_killed_run_is_rolled_back_by_the_next() {
    let steps = changed_steps(&plan(made().path(), project(SECOND)).unwrap()).len();
    for done in 0..=steps {
        let folder = made();
        let root = folder.path();
        let before = tree(root);
        let second = plan(root, project(SECOND)).unwrap();
        killed(root, &second, done);
        let half = tree(root);
        let failure = recover_interrupted(root, true).unwrap_err();
        assert!(failure.message.contains("interrupted"), "{}", failure.message);
        assert_eq!(tree(root), half, "a trial changes nothing");
        recover_interrupted(root, false).unwrap();
        assert_eq!(tree(root), before, "after {done}");
    }
    // The first run into an empty folder leaves nothing.
    let folder = tempdir().unwrap();
    let first = plan(folder.path(), project(FIRST)).unwrap();
    killed(folder.path(), &first, 3);
    recover_interrupted(folder.path(), false).unwrap();
    assert_eq!(tree(folder.path()), BTreeMap::new());
}

#[test]
fn a_killed_run_leaves_no_empty_folder() {
    // All files are in place, and one of the empty folders is already removed.
    let folder = made();
    let root = folder.path();
    let before = tree(root);
    let second = plan(root, project(SECOND)).unwrap();
    killed(root, &second, changed_steps(&second).len());
    std::fs::remove_dir(root.join("src/old")).unwrap();
    recover_interrupted(root, false).unwrap();
    assert_eq!(tree(root), before);

    // Only the outer of two nested folders was created.
    std::fs::create_dir_all(root.join(STAGING_FOLDER)).unwrap();
    std::fs::create_dir_all(root.join("src/outer")).unwrap();
    let rows = serde_json::json!([{"path": "src/outer/inner/a.x", "hash": hash("a")}]);
    std::fs::write(root.join(STAGING_FOLDER).join("journal.json"), rows.to_string()).unwrap();
    recover_interrupted(root, false).unwrap();
    assert!(!root.join("src/outer").exists() && root.join("src").exists());
}

#[test]
fn files_that_were_edited_after_a_killed_run_stay() {
    let folder = made();
    let root = folder.path();
    let second = plan(root, project(SECOND)).unwrap();
    killed(root, &second, changed_steps(&second).len());
    for path in ["README.md", "src/new.x"] {
        std::fs::write(root.join(path), "mine\n").unwrap();
    }
    recover_interrupted(root, false).unwrap();
    let found = tree(root);
    assert_eq!((found["README.md"].as_str(), found["src/new.x"].as_str()), ("mine\n", "mine\n"));
    assert_eq!(found["src/old/a.x"], "a\n");
}

#[test]
fn a_forged_journal_touches_nothing_outside_the_folder() {
    let outer = tempdir().unwrap();
    let victim = outer.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let staging = outer.path().join("project").join(STAGING_FOLDER);
    std::fs::create_dir_all(&staging).unwrap();
    let rows = serde_json::json!([
        {"path": "../victim", "hash": hash("precious")},
        {"path": victim.to_str().unwrap(), "hash": hash("precious")},
    ]);
    std::fs::write(staging.join("journal.json"), rows.to_string()).unwrap();
    std::fs::write(staging.join("old-0"), "theirs").unwrap();
    recover_interrupted(&outer.path().join("project"), false).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn a_folder_of_a_failed_run_is_removed() {
    let outer = tempdir().unwrap();
    let root = outer.path().join("a/b");
    let mut plan = plan(&root, project(FIRST)).unwrap();
    // No file system accepts a name this long.
    let long = "x".repeat(5000);
    plan.steps
        .iter_mut()
        .filter(|step| step.path == "README.md")
        .for_each(|step| step.path.clone_from(&long));
    assert!(write(&root, &plan).is_err());
    assert_eq!(tree(outer.path()), BTreeMap::new());
}
