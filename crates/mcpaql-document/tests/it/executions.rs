//! Operations that run in the background: the keys of documents, and the operations that the adapter gets.

use crate::support::{
    Expected, assert_one, call, catalog, catalog_of, details, document, full_details, problems, refused,
};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::error::Code;
use mcpaql_core::lifecycle::{ExecutionAction, Lifecycle};
use mcpaql_core::operation::Binding;
use serde_json::{Value, json};

const BUILDS: &str = "operations:
  execute:
    - name: start_build
      maps_to: POST /builds
      description: Build a branch.
      lifecycle: { survives: true, keep: 60, timeout: 90 }
      params: { branch: { type: string, required: true } }
    - name: start_test
      maps_to: POST /tests
      lifecycle: true
    - name: ping
      maps_to: POST /ping
      lifecycle: false
";

fn lifecycle(catalog: &Catalog, name: &str) -> Option<Lifecycle> {
    catalog.get(name).expect("an operation").operation.lifecycle
}

#[test]
fn a_lifecycle_is_true_or_has_settings() {
    let catalog = catalog(BUILDS);
    let declared = Lifecycle { survives: true, keep_seconds: 60, timeout_ms: Some(90_000) };
    assert_eq!(lifecycle(&catalog, "start_build"), Some(declared));
    assert_eq!(lifecycle(&catalog, "start_test"), Some(Lifecycle::default()));
    assert_eq!(lifecycle(&catalog, "ping"), None);
}

#[test]
fn an_adapter_with_background_operations_gets_three_more() {
    let builds = catalog(BUILDS);
    let names: Vec<&str> = builds.operations.iter().map(|entry| entry.operation.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "start_build",
            "start_test",
            "ping",
            "get_execution",
            "list_executions",
            "cancel_execution",
            "introspect"
        ]
    );
    let bound = |name: &str| builds.get(name).expect("an operation").operation.binding.clone();
    assert_eq!(bound("cancel_execution"), Binding::Execution(ExecutionAction::Cancel));
    let hints = |name: &str| builds.get(name).expect("an operation").hints;
    assert!(hints("get_execution").read_only && hints("list_executions").read_only);
    assert!(!hints("cancel_execution").read_only);

    let without = catalog(&BUILDS.replace("lifecycle: true", "").replace("lifecycle: {", "x-none: {"));
    assert!(!without.has_executions());
    assert!(without.get("get_execution").is_none());
}

#[test]
fn calls_about_executions_are_validated_like_any_call() {
    let catalog = catalog(BUILDS);
    let asked = json!({"operation": "get_execution", "params": {"execution_id": "exec_1", "wait": 30}});
    assert_eq!(
        call(&catalog, "demo_mcpaql_read", asked).expect("a valid call").args,
        *json!({"execution_id": "exec_1", "wait": 30}).as_object().expect("an object")
    );
    let long = json!({"operation": "get_execution", "params": {"execution_id": "exec_1", "wait": 31}});
    assert_eq!(refused(&catalog, "demo_mcpaql_read", long).code, Code::InvalidValue);
    let status = json!({"operation": "list_executions", "params": {"status": "done"}});
    assert_eq!(refused(&catalog, "demo_mcpaql_read", status).code, Code::InvalidValue);
    let mismatch = json!({"operation": "cancel_execution", "params": {"execution_id": "exec_1"}});
    assert_eq!(
        refused(&catalog, "demo_mcpaql_read", mismatch).details["expected_tool"],
        "demo_mcpaql_execute"
    );
}

#[test]
fn introspection_and_descriptions_show_what_runs_in_the_background() {
    let catalog = catalog(BUILDS);
    assert_eq!(
        full_details(&catalog, "start_build")["background"],
        json!({
            "survives_session": true,
            "timeout_seconds": 90,
            "keep_seconds": 60,
            "operations": ["get_execution", "list_executions", "cancel_execution"],
        })
    );
    assert_eq!(details(&catalog, "ping").get("lifecycle"), None::<&Value>);
    let tool = crate::support::tool(&catalog, "demo_mcpaql_execute");
    assert!(tool.description.contains("In the background: start_build, start_test."), "{}", tool.description);
    // A made-up identifier is not a good first example.
    assert!(!crate::support::tool(&catalog, "demo_mcpaql_read").description.contains("exec_"));

    let settings = AdapterSettings { mode: Some(Mode::Discrete), ..AdapterSettings::default() };
    let discrete = catalog_of(&document(BUILDS), &settings);
    let tool = crate::support::tool(&discrete, "demo_start_build");
    assert!(tool.description.starts_with("Build a branch. Runs in the background:"), "{}", tool.description);
    assert!(crate::support::tool(&discrete, "demo_get_execution").hints.effective().read_only);
}

#[test]
fn in_a_custom_profile_they_are_in_the_family_that_lists_them_or_in_that_of_related_operations() {
    let families = "endpoints:
  look: { purpose: See what there is., categories: [READ] }
  operate: { purpose: Run things., categories: [EXECUTE] }
";
    let placed = |families: &str| {
        let catalog = catalog(&format!("profile: ops\n{families}{BUILDS}"));
        ["get_execution", "list_executions", "cancel_execution"]
            .map(|name| catalog.get(name).expect("an operation").operation.endpoint.clone())
    };
    assert_eq!(placed(families), ["look", "look", "operate"]);
    let only = "endpoints:\n  operate: { purpose: Run things., categories: [EXECUTE] }\n";
    assert_eq!(placed(only), ["operate", "operate", "operate"]);
    let named = "endpoints:
  look: { purpose: See what there is., operations: [list_executions, introspect] }
  operate: { purpose: Run things., categories: [EXECUTE], operations: [get_execution] }
";
    assert_eq!(placed(named), ["operate", "look", "operate"]);
}

#[test]
fn only_operations_under_execute_run_in_the_background() {
    let found = problems(
        "operations:\n  read:\n    - name: get_thing\n      maps_to: GET /thing\n      lifecycle: true\n",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "10:7",
            message: "An operation under read cannot run in the background",
            expected: Some("lifecycle only under execute"),
            found: None,
            suggestion: Some("move the operation to `execute`, or remove `lifecycle`"),
        },
    );
}

#[test]
fn an_invalid_lifecycle_is_reported() {
    let rows = [
        ("lifecycle: yes please", "Field 'operations.execute[0].lifecycle' expected boolean or object"),
        ("lifecycle: { keep: 0 }", "Field 'operations.execute[0].lifecycle.keep' is not a usable duration"),
        ("lifecycle: { timeout: -1 }", "Field 'operations.execute[0].lifecycle.timeout' is not a usable"),
        ("lifecycle: { survive: true }", "Unknown key 'survive'"),
        ("lifecycle: { survives: \"true\" }", "Field 'operations.execute[0].lifecycle.survives' expected"),
    ];
    for (line, message) in rows {
        let found = problems(&format!(
            "operations:\n  execute:\n    - name: run\n      maps_to: POST /run\n      {line}\n"
        ));
        assert_eq!(found.len(), 1, "{line}: {found:#?}");
        assert!(found[0].message.starts_with(message), "{line}: {found:#?}");
    }
}

#[test]
fn the_names_of_the_three_are_reserved_only_in_adapters_that_have_them() {
    let own = "operations:
  read:
    - name: get_execution
      maps_to: GET /executions
";
    assert!(catalog(own).get("get_execution").is_some());
    let clash = format!("{own}{}", "  execute:\n    - { name: run, maps_to: POST /run, lifecycle: true }\n");
    assert_one(
        &problems(&clash),
        &Expected {
            code: Code::SchemaInvalidName,
            place: "8:13",
            message: "'get_execution' is reserved for executions, because this adapter has operations with `lifecycle`",
            expected: Some("a name that is not reserved"),
            found: Some("get_execution"),
            suggestion: Some(
                "choose another name, or remove `lifecycle` from the operations of this document",
            ),
        },
    );
}
