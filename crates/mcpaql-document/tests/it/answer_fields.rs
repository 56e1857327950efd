//! `hide`, `default_fields`, `presets`, `computed` and `answer_budget`.

use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check::{CheckOutput, check};
use mcpaql_document::config;
use mcpaql_document::source::Source;

fn checked(operation: &str, document: &str) -> CheckOutput {
    let text = format!(
        "name: shop\ntype: adapter\nversion: \"1.0.0\"\ndescription: A shop\ntarget: {{ base_url: \"https://shop.example\" }}\n{document}\n\
         types: {{ User: {{ type: object, properties: {{ login: {{ type: string }}, email: {{ type: string }} }} }} }}\n\
         operations:\n  read:\n    - {{ name: list_items, maps_to: GET /items, {operation} }}\n"
    );
    check(&Source::new("shop.yaml", text), &AdapterSettings::default())
}

fn problems(operation: &str, document: &str) -> Vec<String> {
    checked(operation, document).diagnostics.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn declared_fields_are_read() {
    let output = checked(
        "hide: [user.email], default_fields: card, presets: {card: [id, _computed.total]}, computed: {total: {add: [a, b]}}",
        "hide: [ssn]\nanswer_budget: 500",
    );
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    let catalog = output.catalog.unwrap();
    let operation = &catalog.get("list_items").unwrap().operation;
    let hidden = catalog.hidden_fields(operation);
    assert_eq!(hidden.paths().iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["ssn", "user.email"]);
    let declared = operation.fields.as_ref().unwrap();
    assert_eq!(declared.default_fields.as_ref().unwrap().declared.len(), 2);
    assert_eq!((declared.presets.len(), catalog.answer_budget), (1, 500));
    assert_eq!(
        catalog.tools[0].to_json()["_meta"],
        serde_json::json!({"anthropic/maxResultSizeChars": 2000})
    );
    let plain = checked("", "").catalog.unwrap();
    assert!(plain.tools[0].to_json().get("_meta").is_none());
}

#[test]
fn mistakes_are_reported_where_they_are() {
    for (operation, document, part) in [
        ("hide: [a..b]", "", "is not the path of a field"),
        ("hide: 5", "", "hide"),
        ("default_fields: crad, presets: {card: [id]}", "", "is not the name of a preset"),
        ("presets: {full: [id]}", "", "cannot be the name of a preset"),
        ("presets: {a: ['']}", "", "is not the path of a field"),
        ("computed: {total: {ad: [a]}}", "", "did you mean 'add'?"),
        ("computed: {total: {if: {a: {gt: null}}}}", "", "has an invalid 'if'"),
        ("computed: {a: _computed.b, b: _computed.a}", "", "reads another computed field"),
        ("", "hide: ['.']", "is not the path of a field"),
        ("", "answer_budget: 5", "so few tokens"),
    ] {
        let found = problems(operation, document);
        assert!(found.iter().any(|message| message.contains(part)), "{operation} {document}: {found:?}");
    }
}

#[test]
fn a_hidden_field_that_no_answer_has_is_a_warning() {
    let returns = "returns: {type: array, items: {type: object, properties: {id: {type: integer}, user: {$ref: '#/types/User'}}}}";
    for (hide, count) in [("[user.email]", 0), ("[emial]", 1), ("[user.phone, id]", 1), ("[login]", 0)] {
        let found = problems(&format!("{returns}, hide: {hide}"), "");
        assert_eq!(found.len(), count, "{hide}: {found:?}");
    }
    let open = "returns: {type: object}, hide: [anything]";
    assert_eq!(problems(open, ""), [""; 0]);
}

#[test]
fn the_configuration_hides_fields_of_all_adapters_and_of_one() {
    let text = "hide: [ssn]\nanswer_budget: 4000\nadapters:\n  - { document: a.yaml, hide: [email], answer_budget: 900 }\n  - b.yaml\n";
    let (config, problems) = config::load(&Source::new("mcpaql.yaml", text).parse().unwrap().value);
    assert!(problems.is_empty(), "{problems:?}");
    let both = config.adapters[0].settings.clone().with_fallback(config.settings.clone());
    assert_eq!((both.hide.paths().len(), both.answer_budget), (2, Some(900)));
    let (_, problems) =
        config::load(&Source::new("mcpaql.yaml", "hide: ['a..']\nadapters: [a.yaml]").parse().unwrap().value);
    assert_eq!(problems.len(), 1);
}
