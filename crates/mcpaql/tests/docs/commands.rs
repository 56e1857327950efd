//! Every command that a page shows is run, in a folder that holds the files the page shows, and its output compared.

use crate::pages::{Page, pages, root};
use crate::upstream::Upstream;
use std::path::Path;

/// Blocks of shell commands that are not run, each with the reason and the test that stands in for it.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo run --release -- serve", "waits for a client; serve.rs starts the program the same way"),
    ("cargo test --workspace", "is what runs this test"),
    ("cargo run -p embed", "waits for a client; the tests of the example start the program the same way"),
    ("cargo install --path crates/mcpaql", "builds the program once more and changes the user's machine"),
    ("mcpaql schema", "writes a file for an editor; the start page runs it without writing"),
    ("mcpaql serve", "waits for a client; serve.rs starts the program the same way"),
    ("mcpaql import mcp", "needs a server of somebody else; the tests of the binary import running ones"),
    (
        "mcpaql generate",
        "needs a server of somebody else; the tests of the binary generate from running ones",
    ),
    ("mcpaql audit", "needs a server of somebody else; the tests of the binary audit running ones"),
    ("mcpaql completions", "writes into the user's own folders; the command line page runs it"),
    (
        "mcpaql install",
        "writes into the user's own folders; the integration tests run it in a home of their own",
    ),
    ("claude mcp add", "belongs to another program"),
    ("cargo build", "builds the program that this test runs"),
    ("cargo fmt", "belongs to the toolchain"),
    ("cargo clippy", "belongs to the toolchain"),
    ("cargo doc", "belongs to the toolchain"),
    ("TRYCMD=overwrite cargo test", "rewrites the pages"),
    ("UPDATE_DOCS=1 cargo test", "rewrites the pages"),
    (
        "python3 shop.py",
        "waits for requests; the API of this test answers in its place, and tutorial.rs compares the two",
    ),
    ("curl", "needs a server that keeps running; serve.rs asks the same of one"),
    ("export", "sets a variable of the user's own shell"),
];

/// The addresses of the API that the test answers for: in most pages, and in the tutorial, which has a practice API.
const EXAMPLE_APIS: [&str; 2] = ["https://api.example.com", "http://127.0.0.1:8765"];

#[test]
fn commands_do_what_the_pages_show() {
    let upstream = Upstream::start();
    let mut run = 0;
    for page in pages() {
        if !page.blocks().iter().any(|block| block.language == "console") {
            continue;
        }
        if cfg!(not(unix)) && page.name.ends_with("wrap-a-program.md") {
            continue; // its programs are those of a Unix system
        }
        run_page(&page, &upstream);
        run += 1;
    }
    assert!(run >= 5, "only {run} pages show commands");
}

fn run_page(page: &Page, upstream: &Upstream) {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("page.in");
    std::fs::create_dir(&files).unwrap();
    for block in page.blocks() {
        let Some(name) = block.file else { continue };
        // The operator's rules are in a folder of their own.
        let of_operator = (name == "config.yaml").then(|| folder.path().join("config/mcpaql/config.yaml"));
        let path = of_operator.unwrap_or_else(|| files.join(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, upstream.in_place_of(&EXAMPLE_APIS, &block.text)).unwrap();
    }
    copy_examples(&files.join("examples"), upstream);
    let copy = folder.path().join("page.md");
    std::fs::write(&copy, &page.text).unwrap();
    eprintln!("{}", page.name);
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("mcpaql", Path::new(env!("CARGO_BIN_EXE_mcpaql")))
        .env("XDG_DATA_HOME", folder.path().join("data").to_str().unwrap())
        .env("XDG_STATE_HOME", folder.path().join("state").to_str().unwrap())
        .env("XDG_CONFIG_HOME", folder.path().join("config").to_str().unwrap())
        .env("COLUMNS", "100")
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1")
        .env("RUST_LOG", "")
        .env("MCP_AQL_TOOL_PREFIX", "")
        .env("MCP_AQL_ENDPOINT_MODE", "")
        .env("MCP_AQL_ENDPOINT_PROFILE", "")
        .case(&copy);
    cases.run();
    let after = std::fs::read_to_string(&copy).unwrap();
    if after != page.text {
        std::fs::write(&page.path, after).unwrap();
    }
}

/// The examples, under the names they have in the project.
fn copy_examples(folder: &Path, upstream: &Upstream) {
    std::fs::create_dir_all(folder).unwrap();
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if ["-adapter.", "-conventions.", "-openapi.", "-tools."].iter().any(|kind| name.contains(kind)) {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(folder.join(name), upstream.in_place_of(&EXAMPLE_APIS, &text)).unwrap();
        }
    }
}

#[test]
fn no_block_of_commands_escapes() {
    for page in pages() {
        for block in page.blocks() {
            let place = format!("{}:{}", page.name, block.line);
            match block.language.as_str() {
                "console" => {
                    for command in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                        let mut words = command.split(' ').skip_while(|word| word.contains('='));
                        assert_eq!(words.next(), Some("mcpaql"), "{place}: {command}");
                    }
                    // The comparison reads every backslash as a path's; a page must not show that.
                    assert!(!block.text.contains("/\""), "{place}: elide what holds a backslash");
                }
                "sh" | "bash" | "shell" | "powershell" => {
                    for command in block.text.lines() {
                        let command = command.split(" #").next().unwrap().trim();
                        let known = |(listed, _): &&(&str, &str)| command.starts_with(listed);
                        let continues = command.is_empty() || command.starts_with('-');
                        assert!(
                            continues || NOT_RUN.iter().any(|entry| known(&entry)),
                            "{place}: `{command}` is neither run nor listed with a reason"
                        );
                    }
                }
                "json" | "yaml" | "toml" | "text" | "markdown" | "rust" | "mermaid" => {}
                // Handlers of generated projects, which `.ci/generated` type-checks, and the practice API of the tutorial.
                "ts" | "python" => {}
                other => panic!("{place}: a block in '{other}' is not checked by anything"),
            }
        }
    }
}

#[test]
fn every_reason_is_needed() {
    let shell: String = pages()
        .iter()
        .flat_map(Page::blocks)
        .filter(|block| block.language == "sh")
        .map(|block| block.text)
        .collect();
    for (command, reason) in NOT_RUN {
        assert!(!reason.is_empty());
        assert!(shell.lines().any(|line| line.starts_with(command)), "no page shows `{command}` any more");
    }
}
