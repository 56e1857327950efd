//! Several targets of one kind in one adapter.

use mcpaql_core::adapter::{Auth, TargetConfig};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::request::{prepare, prepare_operation};
use mcpaql_core::targets;
use mcpaql_document::check::{CheckOutput, check};
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};

const DOCUMENT: &str = "
name: clusters
type: adapter
version: 1.0.0
description: Clusters.
target: {base_url: 'https://one.example.com', headers: {X-Team: blue}}
auth: {type: bearer, token_env: ONE_TOKEN}
TARGETS
operations:
  read:
    - name: list_pods
      maps_to: GET /pods
      params: {limit: {type: integer}}
      examples: [{params: {limit: 5}}]
    - name: get_route
      maps_to: GET /routes/{target}
      params: {target: {type: string, required: true}}
  update:
    - name: rename_pod
      maps_to: PATCH /pods/{id}
      params: {id: {type: string, required: true}, title: {type: string}}
";

const TWO: &str = "targets:
  production: {description: The real thing}
  staging: {base_url: 'https://two.example.com', headers: {X-Env: stage}, auth: {type: none}}";

fn checked(targets: &str, settings: &AdapterSettings) -> CheckOutput {
    check(&Source::new("clusters.yaml", DOCUMENT.replace("TARGETS", targets)), settings)
}

fn catalog(targets: &str) -> Catalog {
    let checked = checked(targets, &AdapterSettings::default());
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    checked.catalog.expect("a catalog")
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[test]
fn each_target_has_only_the_settings_that_differ() {
    let catalog = catalog(TWO);
    let target = |name: &str| match &catalog.adapter.targets[name].target {
        TargetConfig::Http(http) => (http.base_url.clone(), http.headers.keys().cloned().collect::<Vec<_>>()),
        other => panic!("{other:?}"),
    };
    assert_eq!(target("production"), ("https://one.example.com".into(), vec!["X-Team".to_owned()]));
    assert_eq!(target("staging"), ("https://two.example.com".into(), vec!["X-Team".into(), "X-Env".into()]));
    assert!(matches!(catalog.adapter.targets["production"].auth, Auth::Bearer { .. }));
    assert_eq!(catalog.adapter.targets["staging"].auth, Auth::None);
}

#[test]
fn every_operation_has_a_parameter_for_the_target() {
    let catalog = catalog(TWO);
    let whole = |name: &str| catalog.full_operation(catalog.get(name).expect(name)).expect("whole");
    assert!(
        whole("list_pods")
            .signature
            .starts_with(r#"list_pods(target: "production"|"staging", limit?: integer"#),
        "{}",
        whole("list_pods").signature
    );
    assert_eq!(
        whole("list_pods").operation.examples[0].params,
        object(json!({"limit": 5, "target": "production"}))
    );
    assert!(whole("get_route").signature.contains("upstream_target: "), "{}", whole("get_route").signature);
    assert!(!whole("introspect").signature.contains("target"));
}

#[test]
fn a_call_must_choose_an_existing_target() {
    let catalog = catalog(TWO);
    let fails = |params: Value| prepare_operation(&catalog, "list_pods", object(params)).unwrap_err();
    assert_eq!(fails(json!({})).code.as_str(), "VALIDATION_MISSING_PARAM");
    assert_eq!(fails(json!({"target": "prod"})).code.as_str(), "VALIDATION_INVALID_VALUE");
    let mut call = prepare_operation(&catalog, "list_pods", object(json!({"target": "staging"}))).unwrap();
    assert_eq!(
        targets::take_target(call.full_operation.operation, &mut call.args).as_deref(),
        Some("staging")
    );
    assert!(call.args.is_empty(), "the choice is not sent");
    let arguments =
        json!({"operation": "get_route", "params": {"target": "a", "upstream_target": "staging"}});
    let mut call = prepare(&catalog, "clusters_mcpaql_read", object(arguments)).unwrap();
    assert_eq!(
        targets::take_target(call.full_operation.operation, &mut call.args).as_deref(),
        Some("staging")
    );
    assert_eq!(Value::Object(call.args), json!({"target": "a"}));
    // The target identifies a resource, so it is never part of `input`.
    let arguments = json!({"operation": "rename_pod", "params": {"id": "1", "input": {"target": "staging"}}});
    assert!(prepare(&catalog, "clusters_mcpaql_update", object(arguments)).is_err());
}

#[test]
fn with_a_default_a_call_need_not_choose() {
    let catalog = catalog(&format!("{TWO}\ndefault_target: staging"));
    let mut call = prepare_operation(&catalog, "list_pods", Map::new()).unwrap();
    assert_eq!(
        targets::take_target(call.full_operation.operation, &mut call.args).as_deref(),
        Some("staging")
    );
}

#[test]
fn a_configuration_replaces_the_targets() {
    let given = object(
        json!({"targets": {"a": {}, "b": {"base_url": "https://b.example.com"}}, "default_target": "a"}),
    );
    let settings = AdapterSettings { targets: Some(given), ..AdapterSettings::default() };
    let catalog = checked(TWO, &settings).catalog.expect("a catalog");
    assert_eq!(catalog.adapter.targets.keys().collect::<Vec<_>>(), ["a", "b"]);
    let broken = AdapterSettings {
        targets: Some(object(json!({"targets": {"a": {"bas_url": 1}}}))),
        ..AdapterSettings::default()
    };
    assert!(!checked("", &broken).diagnostics.is_empty());
}

#[test]
fn invalid_targets_are_reported() {
    for targets in [
        "targets: [a]",
        "targets: {Production: {}}",
        "targets: {a: {base_url: 'ftp://x'}}",
        "targets: {a: {base_url: 'http://far.example.com'}}",
        "targets: {a: {headers: {Authorization: Bearer abcdefghijklmnop}}}",
        "targets: {a: {}}\ndefault_target: b",
        "default_target: b",
        "targets: {a: {nonsense: 1}}",
    ] {
        let found = checked(targets, &AdapterSettings::default()).diagnostics;
        assert!(!found.is_empty(), "{targets}");
        assert!(!format!("{found:?}").contains("abcdefghijklmnop"), "{targets}");
    }
}
