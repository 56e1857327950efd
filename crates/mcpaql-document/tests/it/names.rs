//! Tool names, row by row: patterns, prefixes, modes, profiles, layers of settings, and aliases.

use crate::support::{HEAD, call, catalog_of, document, tool_names};
use mcpaql_core::adapter::{Mode, ResultForm};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::error::Code;
use mcpaql_core::naming;
use mcpaql_core::policy::Policy;
use mcpaql_core::shape::HiddenFields;
use mcpaql_document::check;
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_document::source::Source;
use serde_json::json;

/// One operation of each category.
const FIVE: &str = "operations:
  create: [{ name: create_thing, maps_to: POST /things }]
  read: [{ name: get_thing, maps_to: GET /things }]
  update: [{ name: update_thing, maps_to: PATCH /things }]
  delete: [{ name: delete_thing, maps_to: DELETE /things }]
  execute: [{ name: run_thing, maps_to: POST /run }]
";

/// Returns an adapter of this name with one operation of each category and these additional lines.
fn adapter(name: &str, rest: &str) -> Source {
    Source::new("a.yaml", format!("{}{FIVE}{rest}", HEAD.replace("name: demo", &format!("name: {name}"))))
}

fn settings(mode: Mode) -> AdapterSettings {
    AdapterSettings { mode: Some(mode), ..AdapterSettings::default() }
}

fn compiled(name: &str, rest: &str, mode: Mode) -> Catalog {
    catalog_of(&adapter(name, rest), &settings(mode))
}

#[test]
fn the_table_of_names() {
    let rows: &[(&str, &str, Mode, &[&str])] = &[
        (
            "apple-mail",
            "",
            Mode::Semantic,
            &[
                "apple_mail_mcpaql_create",
                "apple_mail_mcpaql_read",
                "apple_mail_mcpaql_update",
                "apple_mail_mcpaql_delete",
                "apple_mail_mcpaql_execute",
            ],
        ),
        ("apple-mail", "", Mode::Single, &["apple_mail_mcpaql"]),
        (
            "github-api",
            "",
            Mode::All,
            &[
                "github_api_mcpaql_create",
                "github_api_mcpaql_read",
                "github_api_mcpaql_update",
                "github_api_mcpaql_delete",
                "github_api_mcpaql_execute",
                "github_api_mcpaql",
            ],
        ),
        (
            "github-api",
            "",
            Mode::Discrete,
            &[
                "github_api_create_thing",
                "github_api_get_thing",
                "github_api_update_thing",
                "github_api_delete_thing",
                "github_api_run_thing",
            ],
        ),
        (
            "github-api",
            "tool_names: { pattern: \"mcpaql_{endpoint}\" }\n",
            Mode::All,
            &["mcpaql_create", "mcpaql_read", "mcpaql_update", "mcpaql_delete", "mcpaql_execute", "mcpaql"],
        ),
        (
            "github-api",
            "tool_names: { pattern: \"mcp_aql_{endpoint}\" }\n",
            Mode::All,
            &[
                "mcp_aql_create",
                "mcp_aql_read",
                "mcp_aql_update",
                "mcp_aql_delete",
                "mcp_aql_execute",
                "mcp_aql",
            ],
        ),
        ("github-api", "tool_names: { prefix: github_ }\n", Mode::Single, &["github_mcpaql"]),
        (
            "github-api",
            "tool_names: { prefix: github_, pattern: \"mcp_aql_{endpoint}\" }\n",
            Mode::Single,
            &["github_mcp_aql"],
        ),
        (
            "lightdash",
            "tool_names: { pattern: \"lightdash_tools__{operation}\" }\n",
            Mode::Discrete,
            &[
                "lightdash_tools__create_thing",
                "lightdash_tools__get_thing",
                "lightdash_tools__update_thing",
                "lightdash_tools__delete_thing",
                "lightdash_tools__run_thing",
            ],
        ),
        (
            "nextcloud",
            "tool_names: { pattern: \"nc_{operation}\" }\n",
            Mode::Discrete,
            &["nc_create_thing", "nc_get_thing", "nc_update_thing", "nc_delete_thing", "nc_run_thing"],
        ),
    ];
    for (name, rest, mode, expected) in rows {
        assert_eq!(tool_names(&compiled(name, rest, *mode)), *expected, "{name} {rest}{mode:?}");
    }
}

const PROFILE: &str = "profile: explorer
endpoints:
  discover: { purpose: Look around, operations: [introspect] }
  query: { purpose: Ask, categories: [READ] }
  manage: { purpose: Change, categories: [CREATE, UPDATE, DELETE] }
  operate: { purpose: Run, categories: [EXECUTE] }
";

#[test]
fn a_custom_profile_names_its_own_families() {
    let catalog = compiled("github-api", PROFILE, Mode::Semantic);
    assert_eq!(catalog.profile, "explorer");
    assert_eq!(
        tool_names(&catalog),
        [
            "github_api_mcpaql_discover",
            "github_api_mcpaql_query",
            "github_api_mcpaql_manage",
            "github_api_mcpaql_operate"
        ]
    );
    let crude = AdapterSettings { profile: Some("crude".into()), ..AdapterSettings::default() };
    let catalog = catalog_of(&adapter("github-api", PROFILE), &crude);
    assert_eq!(tool_names(&catalog)[1], "github_api_mcpaql_read", "the profile can be set back from outside");
}

#[test]
fn a_profile_that_the_document_does_not_have_is_refused() {
    let wanted = AdapterSettings { profile: Some("explorer".into()), ..AdapterSettings::default() };
    let checked = check::check(&adapter("github-api", ""), &wanted);
    assert!(checked.catalog.is_none());
    assert_eq!(
        checked.diagnostics[0].message,
        "The adapter 'github-api' has no endpoint profile 'explorer' (it has crude)"
    );
}

#[test]
fn the_most_specific_layer_with_a_value_wins() {
    let source = adapter("github-api", "mode: single\ntool_names: { prefix: doc_ }\npolicy: mcp\n");
    let file = AdapterSettings { prefix: Some("file_".into()), ..AdapterSettings::default() };
    let environment = AdapterSettings {
        prefix: Some("env_".into()),
        mode: Some(Mode::Semantic),
        ..AdapterSettings::default()
    };
    let flags = AdapterSettings { prefix: Some("flag_".into()), ..AdapterSettings::default() };
    let read = |settings: &AdapterSettings| tool_names(&catalog_of(&source, settings)).join(" ");
    assert_eq!(read(&AdapterSettings::default()), "doc_mcpaql");
    assert_eq!(read(&file), "file_mcpaql");
    let outer = environment.with_fallback(file);
    assert!(read(&outer).contains("env_mcpaql_read"), "the environment is over the file: {}", read(&outer));
    let outer = flags.with_fallback(outer);
    assert!(read(&outer).contains("flag_mcpaql_read"), "flags are over everything, the mode stays");
}

#[test]
fn every_setting_is_layered() {
    let full = |word: &str, mode| AdapterSettings {
        mode: Some(mode),
        profile: Some(word.into()),
        pattern: Some(word.into()),
        prefix: Some(word.into()),
        policy: Some(word.into()),
        policies: vec![Policy { name: word.into(), ..Policy::default() }],
        operation_enum: Some(word == "a"),
        errors: None,
        results: Some(ResultForm::Plain).filter(|_| word == "a"),
        budget: Some(word.len()),
        allow_flagged: Vec::new(),
        hide: HiddenFields::default(),
        answer_budget: Some(word.len()),
        targets: None,
        sharing: None,
    };
    let (narrow, wide) = (full("a", Mode::Single), full("wide", Mode::All));
    assert_eq!(narrow.clone().with_fallback(wide.clone()), narrow);
    assert_eq!(AdapterSettings::default().with_fallback(wide.clone()), wide);
}

/// Returns the only error of a document that cannot be served with these settings.
fn refused(source: &Source, settings: &AdapterSettings) -> (Code, String) {
    let checked = check::check(source, settings);
    assert!(checked.catalog.is_none());
    let errors: Vec<_> =
        checked.diagnostics.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    (errors[0].code, errors[0].message.clone())
}

#[test]
fn a_prefix_is_lower_case_and_ends_with_an_underscore() {
    for prefix in ["github", "GitHub_", "git-hub_", ""] {
        let settings = AdapterSettings { prefix: Some(prefix.into()), ..AdapterSettings::default() };
        let (code, message) = refused(&adapter("demo", ""), &settings);
        assert_eq!(code, Code::SchemaInvalidName, "{prefix}");
        assert!(message.starts_with(&format!("The prefix '{prefix}' must be lower case")), "{message}");
    }
}

#[test]
fn a_prefix_of_twenty_characters_is_a_warning() {
    let with = |prefix: &str| {
        let settings = AdapterSettings { prefix: Some(prefix.into()), ..AdapterSettings::default() };
        check::check(&adapter("demo", ""), &settings)
    };
    assert_eq!(with("nineteen_character_").diagnostics, []);
    let checked = with("twenty_characters_x_");
    assert_eq!(checked.errors(), 0);
    assert_eq!(checked.diagnostics.len(), 1);
    assert!(checked.catalog.is_some());
}

#[test]
fn names_that_clients_would_cut_are_shortened_unless_a_setting_defines_them() {
    let long = "a".repeat(50);
    let checked = check::check(&adapter(&long, ""), &AdapterSettings::default());
    assert_eq!(checked.diagnostics, []);
    let catalog = checked.catalog.unwrap();
    let names = tool_names(&catalog);
    assert!(names.iter().all(|name| name.len() <= naming::SAFE_TOOL_NAME_LENGTH), "{names:?}");
    assert!(names[0].ends_with("_mcpaql_create"), "{names:?}");
    let short = AdapterSettings { prefix: Some("a_".into()), ..AdapterSettings::default() };
    assert_eq!(tool_names(&catalog_of(&adapter(&long, ""), &short))[0], "a_mcpaql_create");

    let pattern = AdapterSettings {
        pattern: Some(format!("{}_{{endpoint}}", "a".repeat(60))),
        ..AdapterSettings::default()
    };
    let (code, message) = refused(&adapter("demo", ""), &pattern);
    assert_eq!(code, Code::SchemaInvalidName);
    assert!(message.contains("more than the 64 that clients accept"), "{message}");
}

#[test]
fn an_operation_with_a_long_name_has_a_tool_with_a_short_one() {
    let long = "x".repeat(64);
    let rest = format!(
        "mode: discrete\noperations: {{ read: [{{ name: {long}, maps_to: GET /a }}, {{ name: get_b, maps_to: GET /b }}] }}\n"
    );
    let checked = check::check(&document(&rest), &AdapterSettings::default());
    assert_eq!(checked.diagnostics, []);
    let catalog = checked.catalog.unwrap();
    let names = tool_names(&catalog);
    assert_eq!((names[0].len(), names[1]), (naming::SAFE_TOOL_NAME_LENGTH, "demo_get_b"), "{names:?}");
    assert_eq!(catalog.get(&long).unwrap().tool, names[0]);
}

#[test]
fn a_pattern_that_gives_all_endpoints_one_name_is_refused() {
    let settings = AdapterSettings { pattern: Some("tools".into()), ..AdapterSettings::default() };
    let (code, message) = refused(&adapter("demo", ""), &settings);
    assert_eq!(code, Code::SchemaInvalidName);
    assert_eq!(
        message,
        "The pattern 'tools' gives all endpoints the same name; add {endpoint} or use mode single"
    );
}

#[test]
fn a_pattern_with_anything_but_its_placeholders_is_refused() {
    for pattern in ["{adapter}.{endpoint}", "{tool}_{endpoint}", "{adapter} {endpoint}"] {
        let settings = AdapterSettings { pattern: Some(pattern.into()), ..AdapterSettings::default() };
        assert_eq!(refused(&adapter("demo", ""), &settings).0, Code::SchemaInvalidName, "{pattern}");
    }
}

#[test]
fn an_alias_that_is_the_name_of_a_tool_is_reported() {
    let source = adapter("demo", "tool_names: { aliases: { demo_mcpaql_create: read } }\n");
    let checked = check::check(&source, &AdapterSettings::default());
    let found: Vec<_> =
        checked.diagnostics.iter().map(|diagnostic| (diagnostic.code, diagnostic.message.as_str())).collect();
    assert_eq!(
        found,
        [(Code::SchemaDuplicateName, "The alias 'demo_mcpaql_create' is already the name of a tool")]
    );
    assert!(checked.catalog.is_none());
}

#[test]
fn an_alias_that_only_a_setting_makes_unusable_is_a_warning() {
    let source = adapter("demo", "tool_names: { aliases: { my_mcpaql_create: demo_mcpaql_read } }\n");
    assert_eq!(check::check(&source, &AdapterSettings::default()).diagnostics, []);
    let renamed = AdapterSettings { prefix: Some("my_".into()), ..AdapterSettings::default() };
    let checked = check::check(&source, &renamed);
    assert_eq!((checked.diagnostics.len(), checked.errors()), (1, 0), "{:#?}", checked.diagnostics);
    assert!(checked.catalog.is_some());
}

#[test]
fn an_alias_of_an_unknown_endpoint_is_reported() {
    let source = adapter("demo", "tool_names: { aliases: { old_read: reading } }\n");
    let checked = check::check(&source, &AdapterSettings::default());
    assert_eq!(checked.diagnostics.len(), 1, "{:#?}", checked.diagnostics);
    assert_eq!(checked.diagnostics[0].code, Code::SchemaUnresolvedRef);
    assert_eq!(checked.diagnostics[0].pointer, "/tool_names/aliases/old_read");
}

#[test]
fn an_old_tool_name_works_unlisted_with_a_warning() {
    let aliases = "tool_names: { aliases: { mail_read: read, mail_old: demo_mcpaql_read, mail: demo } }\n";
    let catalog = compiled("demo", aliases, Mode::All);
    assert!(tool_names(&catalog).iter().all(|name| !name.starts_with("mail")));
    for (alias, present) in
        [("mail_read", "demo_mcpaql_read"), ("mail_old", "demo_mcpaql_read"), ("mail", "demo_mcpaql")]
    {
        let call = call(&catalog, alias, json!({"operation": "get_thing"})).unwrap();
        assert_eq!(call.entry.operation.name, "get_thing");
        let shown: Vec<_> = call.warnings.iter().map(|w| (w.code, w.message.as_str())).collect();
        assert_eq!(
            shown,
            [(
                "DEPRECATION_WARNING",
                format!("The tool '{alias}' is deprecated: it is now called '{present}'.").as_str()
            )]
        );
    }
}

#[test]
fn an_old_tool_name_of_an_operation_works_in_discrete_mode() {
    let catalog = compiled("demo", "tool_names: { aliases: { fetch_it: get_thing } }\n", Mode::Discrete);
    let call = call(&catalog, "fetch_it", json!({})).unwrap();
    assert_eq!(call.entry.operation.name, "get_thing");
    assert_eq!(
        call.warnings[0].message,
        "The tool 'fetch_it' is deprecated: it is now called 'demo_get_thing'."
    );
}

#[test]
fn an_old_operation_name_works_unlisted_with_a_warning() {
    let catalog = crate::support::catalog(
        "operations: { read: [{ name: get_thing, aliases: [fetch_thing], maps_to: GET /a }] }\n",
    );
    assert!(!catalog.tools[0].description.contains("fetch_thing"));
    let call = call(&catalog, "demo_mcpaql_read", json!({"operation": "fetch_thing"})).unwrap();
    assert_eq!(call.entry.operation.name, "get_thing");
    assert_eq!(call.warnings[0].code, "DEPRECATION_WARNING");
    assert_eq!(
        call.warnings[0].message,
        "The operation 'fetch_thing' is deprecated: it is now called 'get_thing'."
    );
    assert_eq!(
        json!(call.warnings[0].details),
        json!({"type": "operation", "deprecated_item": "fetch_thing", "replacement": "get_thing"})
    );
}

#[test]
fn an_old_operation_name_is_an_old_tool_name_in_discrete_mode() {
    let operations = "operations: { read: [{ name: get_thing, aliases: [fetch_thing], maps_to: GET /a }] }\n";
    let pattern = AdapterSettings { prefix: Some("my_".into()), ..settings(Mode::Discrete) };
    for (settings, alias, present) in [
        (settings(Mode::Discrete), "demo_fetch_thing", "demo_get_thing"),
        (pattern, "my_fetch_thing", "my_get_thing"),
    ] {
        let catalog = catalog_of(&document(operations), &settings);
        assert_eq!(tool_names(&catalog), [present]);
        for arguments in [json!({}), json!({"operation": "fetch_thing"})] {
            let call = call(&catalog, alias, arguments).unwrap();
            assert_eq!(call.entry.operation.name, "get_thing");
            let shown: Vec<_> = call.warnings.iter().map(|w| (w.code, w.message.clone())).collect();
            assert_eq!(
                shown,
                [(
                    "DEPRECATION_WARNING",
                    format!("The tool '{alias}' is deprecated: it is now called '{present}'.")
                )]
            );
        }
    }
}

#[test]
fn a_discrete_tool_says_that_its_operation_is_deprecated() {
    let operations = "operations:
  read:
    - { name: get_a, deprecated: Use get_b instead., description: Gets a, maps_to: GET /a }
    - { name: get_b, deprecated: true, description: Gets b, maps_to: GET /b }
    - { name: get_c, description: Gets c, maps_to: GET /c }
";
    let catalog = catalog_of(&document(operations), &settings(Mode::Discrete));
    let descriptions: Vec<_> = catalog.tools.iter().map(|tool| tool.description.as_str()).collect();
    assert_eq!(descriptions, ["Deprecated. Use get_b instead. Gets a", "Deprecated. Gets b", "Gets c"]);
}

#[test]
fn names_and_routes_are_the_same_every_time() {
    let aliases = "tool_names: { aliases: { x_thing: get_thing, y_thing: x_thing } }\n";
    let source = adapter("demo", aliases);
    let routes = || {
        let checked = check::check(&source, &settings(Mode::Discrete));
        let catalog = checked.catalog.unwrap();
        let mut names: Vec<String> = catalog.tool_names().map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    let first = routes();
    for _ in 0..20 {
        assert_eq!(routes(), first);
    }
}

#[test]
fn a_setting_from_outside_is_not_blamed_on_the_document() {
    let settings = [
        ("prefix", AdapterSettings { prefix: Some("Bad".into()), ..AdapterSettings::default() }),
        ("policy", AdapterSettings { policy: Some("Bad".into()), ..AdapterSettings::default() }),
        ("profile", AdapterSettings { profile: Some("Bad".into()), ..AdapterSettings::default() }),
        ("pattern", AdapterSettings { pattern: Some("Bad!".into()), ..AdapterSettings::default() }),
    ];
    let source = adapter("demo", "");
    for (name, settings) in settings {
        let diagnostics = check::check(&source, &settings).diagnostics;
        assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
        assert_eq!(diagnostics[0].pointer, "", "{name}");
        let shown = DiagnosticFormat::Full.render(&[(&source, &diagnostics)], false);
        assert!(shown.contains("'Bad") && shown.contains(&format!("`{name}` in mcpaql.yaml")), "{shown}");
        assert!(!shown.contains("name: demo"), "no line of the document is shown:\n{shown}");
    }
}

#[test]
fn a_name_that_no_prefix_makes_valid() {
    let settings = AdapterSettings {
        pattern: Some("{endpoint}".into()),
        mode: Some(Mode::Single),
        ..AdapterSettings::default()
    };
    let (_, message) = refused(&adapter("demo", ""), &settings);
    assert!(message.contains("gives the tool of mode single an empty name"), "{message}");
}
