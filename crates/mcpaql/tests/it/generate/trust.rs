//! The trust level of a project: where it comes from, and that it is kept.

use super::{PROVENANCE, generate, http, read};
use crate::fixture::{RunOutput, TestFolder};
use serde_json::Value;

fn test_folder() -> TestFolder {
    let place = TestFolder::new();
    let delete = "  delete:\n    - name: remove_thing\n      maps_to: DELETE /things/{id}\n      params: { id: { type: string, required: true } }\n";
    place.file("things.md", &http().replacen("operations:\n", &format!("operations:\n{delete}"), 1));
    place
}

/// Generates a TypeScript project, and returns the answer of its server to a call of `remove_thing`.
async fn generated(place: &TestFolder, args: &[&str]) -> (RunOutput, String) {
    let ran = generate(place, &[&["-t", "typescript", "-o", "out"], args].concat()).await;
    assert_eq!(ran.status, Some(0), "{args:?}: {ran:?}");
    let data: Value = serde_json::from_str(&read(place, "out/src/catalog.json")).unwrap();
    let mut operations = data["operations"].as_array().unwrap().iter();
    let remove = operations.find(|row| row["name"] == "remove_thing").unwrap();
    (ran, remove["gate"]["code"].as_str().unwrap_or_default().to_owned())
}

const CONFIRM: &str = "CONFIRMATION_REQUIRED";
const NO_TRUST: &str = "PERMISSION_TRUST_LEVEL_INSUFFICIENT";

#[tokio::test]
async fn a_project_keeps_its_trust_level_until_a_flag_changes_it() {
    let place = test_folder();
    let source = ["-s", "things.md"];
    assert_eq!(generated(&place, &source).await.1, CONFIRM);
    assert_eq!(generated(&place, &[&source[..], &["--trust", "generated"]].concat()).await.1, NO_TRUST);
    let readme = read(&place, "out/README.md");
    assert!(readme.contains("-o . --trust generated\n"), "{readme}");

    let (ran, code) = generated(&place, &source).await;
    assert_eq!(code, NO_TRUST);
    assert!(ran.stderr.contains("note: the project keeps its trust level generated; change it with --trust"));
    let (ran, code) = generated(&place, &[&source[..], &["--trust", "validated"]].concat()).await;
    assert_eq!((code.as_str(), ran.stderr.contains("trust level")), (CONFIRM, false));
    let (ran, code) = generated(&place, &source).await;
    assert_eq!((code.as_str(), ran.stderr.contains("trust level")), (CONFIRM, false));
}

#[tokio::test]
async fn the_configuration_has_a_trust_level_that_a_flag_overrides() {
    let place = test_folder();
    place.file("g.yaml", "schema: things.md\ntrust: certified\n");
    assert_eq!(generated(&place, &["-c", "g.yaml"]).await.1, "");
    assert_eq!(generated(&place, &["-c", "g.yaml", "--trust", "untested"]).await.1, NO_TRUST);
    // The configuration is a choice, so the level of the project is not kept.
    assert_eq!(generated(&place, &["-c", "g.yaml"]).await.1, "");
}

#[tokio::test]
async fn an_unknown_trust_level_is_refused() {
    let place = test_folder();
    place.file("g.yaml", "schema: things.md\ntarget: rust\ntrust: certain\n");
    let flag = generate(&place, &["-s", "things.md", "-t", "python", "--trust", "full"]).await;
    let file = generate(&place, &["-c", "g.yaml"]).await;
    for ran in [flag, file] {
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("untested, generated, validated, community_reviewed"), "{ran:?}");
    }

    generated(&place, &["-s", "things.md", "--trust", "certified"]).await;
    let edited = read(&place, &format!("out/{PROVENANCE}")).replace("\"certified\"", "\"certain\"");
    place.file(&format!("out/{PROVENANCE}"), &edited);
    let ran = generate(&place, &["-s", "things.md", "-t", "typescript", "-o", "out"]).await;
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(
        ran.stderr.contains("has an unknown trust level") && ran.stderr.contains("pass --trust"),
        "{ran:?}"
    );
    assert_eq!(generated(&place, &["-s", "things.md", "--trust", "validated"]).await.1, CONFIRM);
}
