//! A team's configuration: policies, conventions and audit settings.

use mcpaql_audit::convention::{RuleLevel, Standard};
use mcpaql_audit::settings as audit;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::policy::OpenWorld;
use mcpaql_document::check;
use mcpaql_document::config::{self, Config};
use mcpaql_document::source::Source;

fn load(text: &str) -> (Config, audit::AuditSettings, Vec<Diagnostic>) {
    let source = Source::new("mcpaql.yaml", text);
    let value = source.parse().expect("YAML").value;
    let (config, mut diagnostics) = config::load(&value);
    let (audit, found) = audit::read(&value, &config.settings.policies);
    diagnostics.extend(found);
    source.locate(&mut diagnostics);
    (config, audit, diagnostics)
}

const OURS: &str = "policy: ours
adapters: [{ document: a.md }, { document: b.md, policy: mcp }]
policies:
  base: { open_world: never }
  ours: { extends: [mcp, base], writes: [readOnlyHint, openWorldHint], title_in_annotations: false }
conventions:
  ours: { extends: product-action-object, policy: ours, names: { products: [shop] }, rules: { name-001: error } }
audit: { policy: base, conventions: [clients, ours, mcpaql], rules: { NAME-001: off } }
";

#[test]
fn a_team_has_policies_and_conventions_of_its_own() {
    let (config, audit, problems) = load(OURS);
    assert_eq!(problems, []);
    let names: Vec<&str> = config.settings.policies.iter().map(|policy| policy.name.as_str()).collect();
    assert_eq!(names, ["base", "ours"]);
    assert_eq!(config.settings.policy.as_deref(), Some("ours"));
    assert_eq!(config.adapters[1].settings.policy.as_deref(), Some("mcp"));
    assert_eq!(audit.defined[0].names.products, ["shop"]);
    assert_eq!(audit.defined[0].rules["NAME-001"], Some(RuleLevel::Error), "codes are case-insensitive");
    assert_eq!(audit.policy.as_deref(), Some("base"));
    assert_eq!(audit.conventions, ["clients", "ours", "mcpaql"]);
    assert_eq!(audit.rules["NAME-001"], None);

    let standard = Standard::with_policies(audit.defined, &config.settings.policies);
    assert!(standard.policy_chosen);
    assert_eq!((standard.policy.name.as_str(), standard.policy.open_world), ("ours", OpenWorld::Never));
}

#[test]
fn a_team_s_policy_changes_what_documents_serve() {
    let (config, ..) = load(OURS);
    let document = "name: demo\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\npolicy: ours
target: { base_url: \"https://api.example.com\" }\noperations: { read: [{ name: get_a, maps_to: GET /a }] }\n";
    let served = |settings: &AdapterSettings| {
        let settings = AdapterSettings { mode: Some(Mode::Discrete), ..settings.clone() };
        let checked = check::check(&Source::new("a.yaml", document), &settings);
        checked.catalog.map(|mut catalog| catalog.tools.remove(0).to_json()["annotations"].to_string())
    };
    let ours = r#"{"readOnlyHint":true,"openWorldHint":false}"#;
    assert_eq!(served(&config.settings).as_deref(), Some(ours));
    let defined = AdapterSettings { policy: None, ..config.settings };
    assert_eq!(served(&defined).as_deref(), Some(ours), "the document names it");
    assert_eq!(served(&AdapterSettings::default()), None, "unknown without the configuration");
}

#[test]
fn problems_are_reported_with_their_location() {
    let (config, audit, problems) = load(
        "policy: nextclowd
adapters: [{ document: a.md, policy: oars }]
policies:
  ours: { open_world: sometimes }
conventions:
  ours: { policy: theirs, titles: { requird: true }, rules: { WHATEVER: off } }
  mcp: {}
audit: { policy: 3, conventions: [clients, cursr], rules: { NAME-001: fatal }, level: error }
",
    );
    let found: Vec<(&str, &str)> = problems
        .iter()
        .map(|problem| (problem.pointer.as_str(), problem.suggestion.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [
            ("/policies/ours/open_world", ""),
            ("/policy", "did you mean `nextcloud`?"),
            ("/adapters/0/policy", "did you mean `ours`?"),
            ("/conventions/ours/titles/requird", "did you mean `required`?"),
            ("/conventions/ours/rules/WHATEVER", "`mcpaql explain` lists all rules"),
            ("/conventions/mcp", "choose another name, and add `extends: mcp` to extend it"),
            ("/conventions/ours/policy", ""),
            ("/audit/level", ""),
            ("/audit/policy", "quote it: `policy: \"3\"`"),
            ("/audit/conventions/1", "did you mean `cursor`?"),
            ("/audit/rules/NAME-001", ""),
        ]
    );
    assert!(problems.iter().all(|problem| problem.span.is_some()));
    assert_eq!(config.settings.policy, None);
    assert_eq!(audit.conventions, ["clients"]);
}
