//! What pages show besides commands: documents that load, JSON that parses, links that lead somewhere.

use crate::pages::{page, pages, root};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use serde_json::Value;
use std::process::Command;

#[test]
fn readme_has_the_two_commands_on_lines_of_their_own() {
    let readme = page("README.md");
    let shell: Vec<_> = readme.blocks().into_iter().filter(|block| block.language == "sh").collect();
    for command in ["cargo run --release -- serve", "cargo test --workspace"] {
        let shown = |text: &str| text.lines().any(|line| line.split(" #").next().unwrap().trim() == command);
        assert!(shell.iter().any(|block| shown(&block.text)), "README does not show `{command}`");
    }
}

/// Rust in a guide stands word for word in an example that the guide is about, which is compiled and run.
#[test]
fn rust_is_shown_as_it_is_run() {
    let examples = ["src/main.rs", "src/bin/notebook.rs"]
        .map(|file| std::fs::read_to_string(root().join("examples/embed").join(file)).unwrap());
    for page in pages() {
        for block in page.blocks().into_iter().filter(|block| block.language == "rust") {
            let shown = examples.iter().any(|example| example.contains(&block.text));
            assert!(shown, "{}:{} is in no example", page.name, block.line);
        }
    }
}

/// Whoever follows the guide in a new project has what the example has, in the same versions.
#[test]
fn the_embed_guide_has_the_dependencies_of_its_example() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let guide = page("docs/guides/embed.md");
    let shown = guide.blocks().into_iter().find(|block| block.language == "toml").unwrap().text;
    let (example, workspace) = (read("examples/embed/Cargo.toml"), read("Cargo.toml"));
    let own = example.split("[dependencies]\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains('='));
        lines.map(|line| line.split(['.', ' ']).next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&shown), names(own));
    // `name = "1"` or `name = { version = "1", … }`
    let version = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap().to_owned();
        line.split('"').nth(1).unwrap().to_owned()
    };
    for name in names(&shown).iter().filter(|name| !name.starts_with("mcpaql-")) {
        assert_eq!(version(&shown, name), version(&workspace, name), "{name}");
    }
    assert_eq!(version(&shown, "mcpaql-runtime"), version(&workspace, "repository"));
}

#[test]
fn readme_has_a_snippet_for_a_client() {
    let snippet = page("README.md").blocks().into_iter().find(|block| block.language == "json").unwrap();
    let value: Value = serde_json::from_str(&snippet.text).unwrap();
    let entry = &value["mcpServers"]["bookshop"];
    assert_eq!((&entry["command"], &entry["args"][0]), (&Value::from("mcpaql"), &Value::from("serve")));
}

/// The README's table of sizes: `[name](document) | operations | discrete | semantic | single`.
#[test]
fn readme_has_the_sizes_that_the_program_measures() {
    let readme = page("README.md");
    let mut text = readme.text.clone();
    let rows: Vec<&str> = readme.text.lines().filter(|line| line.starts_with("| [")).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let link = row.trim_start_matches("| ").split(" | ").next().unwrap();
        let document = link.split(['(', ')']).nth(1).unwrap();
        let [(operations, discrete), (_, semantic), (_, single)] =
            ["discrete", "semantic", "single"].map(|mode| size(document, mode));
        let measured = format!("| {link} | {operations} | {discrete} | **{semantic}** | **{single}** |");
        text = text.replace(row, &measured);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&readme.path, &text).unwrap();
        let drawn = Command::new("python3").arg(root().join(PICTURE).with_extension("py")).status();
        assert!(drawn.unwrap().success());
        return;
    }
    assert_eq!(readme.text, text, "run UPDATE_DOCS=1 cargo test -p mcpaql --test docs");
    let row = text.lines().find(|line| line.starts_with("| [GitHub]")).unwrap();
    let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches('*')).collect();
    let picture = std::fs::read_to_string(root().join(PICTURE)).unwrap();
    for shown in
        [format!("{} tools", cells[1]), format!("{} tokens", cells[2]), format!("{} tokens", cells[3])]
    {
        assert!(picture.contains(&shown), "{shown}: run python3 docs/images/before-after.py");
    }
}

/// Drawn from the README's table by the script beside it.
const PICTURE: &str = "docs/images/before-after.svg";

/// Tools and tokens of a surface, from the last line of the program's table.
fn size(document: &str, mode: &str) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcpaql"))
        .args(["tools", document, "--mode", mode])
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let total: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    (total[0].to_owned(), total[total.len() - 1].to_owned())
}

#[test]
fn json_parses_and_yaml_too() {
    for page in pages() {
        for block in page.blocks() {
            let place = format!("{}:{}", page.name, block.line);
            match block.language.as_str() {
                "json" => {
                    serde_json::from_str::<Value>(&block.text)
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                "yaml" => {
                    let parsed = Source::new("page.yaml", block.text.as_str()).parse();
                    let problems = parsed.map_or_else(|problems| problems, |parsed| parsed.diagnostics);
                    assert!(problems.is_empty(), "{place}: {problems:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn documents_in_pages_have_no_problems() {
    let mut documents = 0;
    for page in pages() {
        for block in page.blocks() {
            let Some(name) = block.file.filter(|name| name.contains("-adapter.") && !name.contains("broken"))
            else {
                continue;
            };
            let checked =
                check(&Source::new(name.as_str(), block.text.as_str()), &AdapterSettings::default());
            assert!(checked.diagnostics.is_empty(), "{} {name}: {:?}", page.name, checked.diagnostics);
            documents += 1;
        }
    }
    assert!(documents >= 4, "only {documents} documents are shown");
}

#[test]
fn links_lead_to_files() {
    for page in pages() {
        let prose = without_blocks(&page.text);
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = page.path.parent().unwrap().join(target);
            assert!(path.exists(), "{}: the link {link} leads nowhere", page.name);
        }
    }
}

#[test]
fn every_page_is_reached_from_the_readme() {
    let mut reached = vec!["README.md".to_owned()];
    let mut next = 0;
    let all = pages();
    while let Some(name) = reached.get(next).cloned() {
        next += 1;
        let Some(page) = all.iter().find(|page| page.name == name) else { continue };
        for link in page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Ok(path) = page.path.parent().unwrap().join(link.split('#').next().unwrap()).canonicalize()
            else {
                continue;
            };
            if let Some(found) = all.iter().find(|page| page.path == path)
                && !reached.contains(&found.name)
            {
                reached.push(found.name.clone());
            }
        }
    }
    for page in all {
        assert!(reached.contains(&page.name), "no link leads to {}", page.name);
    }
}

fn without_blocks(text: &str) -> String {
    let mut inside = false;
    let outside = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !fence && !inside
    });
    outside.collect::<Vec<_>>().join("\n")
}
