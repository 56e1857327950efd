//! The other modes and profiles of an adapter, as what they say otherwise: a server that was generated for one of them can show each.
//!
//! What always holds: every mode under every profile that the document has is there, with what differs from the project's own catalog,
//! or with a sentence that says why it cannot be shown.

use crate::Project;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{CRUDE, Settings};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::portable;
use mcpaql_document::compile;
use mcpaql_document::load;
use mcpaql_document::load::Loaded;
use mcpaql_document::source::Source;
use serde_json::{Map, Value};

/// A tool for each of more operations than these is nothing that a client should list, and most of a project.
const MOST_DISCRETE: usize = 200;

/// `{profile: {mode: what differs from base | why there is none}}`, `crude` first; `base` is the project's own catalog as data.
pub(crate) fn of(project: &Project<'_>, base: &Value) -> Value {
    let own = project.catalog.adapter.profile.iter().map(|profile| profile.name.as_str());
    let document = Source::new(project.document.file, project.document.text);
    let loaded = document.parse().ok().map(|parsed| load::load(&parsed.value));
    let mut profiles = Map::new();
    for profile in std::iter::once(CRUDE).chain(own) {
        let modes = Mode::ALL
            .map(|mode| (mode.as_str().to_owned(), surface(project, base, loaded.as_ref(), mode, profile)));
        profiles.insert(profile.to_owned(), Map::from_iter(modes).into());
    }
    profiles.into()
}

fn surface(project: &Project<'_>, base: &Value, loaded: Option<&Loaded>, mode: Mode, profile: &str) -> Value {
    let operations = project.catalog.operations.len().saturating_sub(1);
    if project.catalog.mode == mode && project.catalog.profile == profile {
        return Map::new().into();
    }
    if mode == Mode::Discrete && project.catalog.mode != mode && operations > MOST_DISCRETE {
        return format!(
            "This project was generated without a tool for each of its {operations} operations; generate it with --mode discrete"
        )
        .into();
    }
    let unreadable = || Value::from("The document cannot be read; generate the project again");
    let Some((adapter, origins)) =
        loaded.and_then(|loaded| Some((loaded.adapter.as_ref()?, &loaded.origins)))
    else {
        return unreadable();
    };
    let settings =
        Settings { mode: Some(mode), profile: Some(profile.to_owned()), ..project.options.settings.clone() };
    let compiled = compile::compile(adapter.clone(), origins, &settings);
    match compiled.catalog {
        Some(other) if other.profile == project.catalog.profile => portable::mode_difference(base, &other),
        Some(other) => portable::difference(base, &portable::catalog(&other)),
        None => {
            let error = compiled.diagnostics.into_iter().find(|found| found.severity == Severity::Error);
            error.map_or_else(unreadable, |error| error.message.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Language, Options};
    use mcpaql_document::check::check;

    const DESK: &str = "
name: desk
type: adapter
version: 1.0.0
description: Tickets of a desk.
target: {transport: http, protocol: rest, base_url: \"https://desk.example\"}
operations:
  read:
    - {name: get_ticket, maps_to: \"GET /tickets/{id}\", params: {id: {type: string, required: true}}}
  delete:
    - {name: delete_ticket, maps_to: \"DELETE /tickets/{id}\", params: {id: {type: string, required: true}}}
";

    const EXPLORER: &str = "profile: explorer
endpoints:
  look: {purpose: Look around, categories: [READ]}
  change: {purpose: Change, categories: [CREATE, UPDATE, DELETE, EXECUTE]}
";

    fn surfaces(text: &str, settings: Settings) -> Value {
        let checked = check(&Source::new("desk.yaml", text), &settings);
        let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        let options = Options { settings, ..Options::new(Language::TypeScript) };
        let document = Document { file: "desk.yaml", text };
        of(&Project { catalog: &catalog, document, origin: None, options }, &portable::catalog(&catalog))
    }

    fn tools(surface: &Value) -> Vec<&str> {
        surface["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn every_mode_is_there_and_the_projects_own_says_nothing_else() {
        let found = surfaces(DESK, Settings::default());
        assert_eq!(found.as_object().unwrap().keys().collect::<Vec<_>>(), ["crude"]);
        let modes = found["crude"].as_object().unwrap();
        assert_eq!(modes.keys().collect::<Vec<_>>(), ["semantic", "single", "all", "discrete"]);
        assert_eq!(modes["semantic"], serde_json::json!({}));
        assert_eq!(tools(&modes["single"]), ["desk_mcpaql"]);
        assert_eq!(tools(&modes["discrete"]), ["desk_get_ticket", "desk_delete_ticket"]);
        assert_eq!(modes["single"]["operations"]["0"], serde_json::json!({"tool": "desk_mcpaql"}));
    }

    #[test]
    fn a_profile_of_the_documents_own_can_be_left_and_taken_up_again() {
        let text = format!("{DESK}{EXPLORER}");
        let found = surfaces(&text, Settings::default());
        assert_eq!(found.as_object().unwrap().keys().collect::<Vec<_>>(), ["crude", "explorer"]);
        assert_eq!(found["explorer"]["semantic"], serde_json::json!({}));
        assert_eq!(tools(&found["crude"]["semantic"]), ["desk_mcpaql_read", "desk_mcpaql_delete"]);
        let crude = Settings { profile: Some("crude".into()), ..Settings::default() };
        let found = surfaces(&text, crude);
        assert_eq!(found["crude"]["semantic"], serde_json::json!({}));
        assert_eq!(tools(&found["explorer"]["semantic"]), ["desk_mcpaql_look", "desk_mcpaql_change"]);
    }

    #[test]
    fn what_was_decided_for_the_project_holds_in_every_mode() {
        let settings =
            Settings { mode: Some(Mode::Single), prefix: Some("my_".into()), ..Settings::default() };
        let found = surfaces(DESK, settings);
        assert_eq!(found["crude"]["single"], serde_json::json!({}));
        assert_eq!(tools(&found["crude"]["semantic"]), ["my_mcpaql_read", "my_mcpaql_delete"]);
    }

    #[test]
    fn a_mode_that_cannot_be_shown_says_why() {
        let text = format!("{DESK}mode: single\ntool_names: {{pattern: \"{{adapter}}_everything\"}}\n");
        let found = surfaces(&text, Settings::default());
        let why = found["crude"]["semantic"].as_str().unwrap();
        assert!(why.contains("names every endpoint alike"), "{why}");
    }

    #[test]
    fn hundreds_of_operations_get_no_tools_of_their_own_unless_that_was_asked_for() {
        let mut text = DESK.to_owned();
        for number in 0..MOST_DISCRETE {
            text.push_str(&format!("    - {{name: delete_{number}, maps_to: DELETE /things/{number}}}\n"));
        }
        let found = surfaces(&text, Settings::default());
        let why = found["crude"]["discrete"].as_str().unwrap();
        assert!(why.contains("202 operations") && why.ends_with("generate it with --mode discrete"), "{why}");
        assert!(found["crude"]["all"].is_object());
        let found = surfaces(&text, Settings { mode: Some(Mode::Discrete), ..Settings::default() });
        assert_eq!(found["crude"]["discrete"], serde_json::json!({}));
    }
}
