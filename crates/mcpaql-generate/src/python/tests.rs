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

#[test]
fn every_template_is_in_the_table() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/python"));
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let place = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if !place.contains("cache") {
                    folders.push(path);
                }
                continue;
            }
            // Written for each adapter, or for the templates alone.
            let other = ["handlers.py", "types.py", "lexicon.json", ".gitkeep"]
                .iter()
                .any(|name| place.ends_with(name))
                && !place.contains("introspect")
                || place.contains("/operations/")
                || (place.starts_with("tests/") && place != "tests/test_adapter.py");
            assert!(
                other || TEMPLATES.iter().any(|(known, _)| *known == place),
                "{place} is not in the table"
            );
        }
    }
}
