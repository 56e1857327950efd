//! ARCHITECTURE.md gives a reason for every direct dependency, and for nothing else.

use crate::pages::{page, root};
use std::collections::BTreeSet;

#[test]
fn every_dependency_has_a_reason() {
    let mut used = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let manifest = std::fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let mut in_dependencies = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                in_dependencies = line.trim_end_matches(']').ends_with("dependencies");
            } else if let Some((name, _)) = line.split_once(['.', ' ', '=']).filter(|_| in_dependencies) {
                used.insert(name.to_owned());
            }
        }
    }
    used.retain(|name| !name.starts_with('#') && !name.is_empty() && !name.starts_with("mcpaql"));
    let rows = page("ARCHITECTURE.md").table("## Dependencies");
    let listed: BTreeSet<String> = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert!(rows.iter().all(|row| row.len() == 3 && row[2].len() > 15), "a reason is missing");
    assert_eq!(listed, used, "left: ARCHITECTURE.md, right: the manifests");
}

/// The tables of the architecture list the modules of every crate.
#[test]
fn every_module_is_described() {
    let page = page("ARCHITECTURE.md");
    let mut rooms = 0;
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let (name, source) = (entry.as_ref().unwrap().file_name(), entry.unwrap().path().join("src"));
        let name = name.to_str().unwrap();
        let listed: BTreeSet<String> = page
            .table(&format!("### `{name}`"))
            .iter()
            .flat_map(|row| row[0].split(", "))
            .map(|cell| cell.trim_matches('`').to_owned())
            .collect();
        let present: BTreeSet<String> = std::fs::read_dir(source)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_str().unwrap().trim_end_matches(".rs").to_owned())
            .filter(|room| !matches!(room.as_str(), "lib" | "tests" | "hostile"))
            .collect();
        assert_eq!(listed, present, "left: ARCHITECTURE.md, right: crates/{name}/src");
        rooms += listed.len();
    }
    assert!(rooms > 20);
}
