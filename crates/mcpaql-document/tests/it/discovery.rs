//! Discovery in an API with thousands of operations, which are read only when they are shown.

use crate::library::{bare, operation, operations, optional, required, shelved, types};
use crate::support::{introspect, object, refused, tool};
use indexmap::IndexMap;
use mcpaql_core::adapter::{Adapter, Mode};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::error::Code;
use mcpaql_core::introspect;
use mcpaql_core::operation::{Category, Operation, Param, Returns};
use mcpaql_core::request;
use serde_json::{Value, json};

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn surface(catalog: &Catalog) -> usize {
    catalog.tools.iter().map(|tool| tokens(&tool.to_json().to_string())).sum()
}

fn large(count: usize) -> (Catalog, std::sync::Arc<crate::library::Shelf>) {
    shelved(
        bare(),
        operations(count, |index| format!("group {}", index / 100)),
        types(300),
        &AdapterSettings::default(),
    )
}

fn names(data: &Value) -> Vec<String> {
    let name = |row: &Value| row.as_str().or_else(|| row["name"].as_str()).expect("a name").to_owned();
    data["operations"].as_array().expect("a list").iter().map(name).collect()
}

#[test]
fn lists_filters_and_the_surface_read_hardly_any_operation() {
    let (catalog, shelf) = large(2000);
    let after_start = shelf.read();
    assert!(after_start <= 10, "the surface read {after_start}");
    for params in [
        json!({}),
        json!({"first": 200}),
        json!({"category": "READ"}),
        json!({"tag": "group 3", "detail": "names"}),
        json!({"endpoint": "delete", "detail": "summary", "first": 100}),
        json!({"query": "types"}),
    ] {
        introspect(&catalog, params);
    }
    assert_eq!(shelf.read(), after_start);
    introspect(&catalog, json!({"detail": "signature", "first": 7, "category": "UPDATE"}));
    assert!(shelf.read() <= after_start + 7, "a page of signatures reads its operations");
}

#[test]
fn a_long_list_is_a_first_page_with_groups_and_a_cursor() {
    let (catalog, _) = large(2000);
    let (data, warnings) = introspect(&catalog, json!({}));
    assert_eq!(warnings, [] as [&str; 0]);
    assert!(data["_protocol"].is_object());
    assert_eq!(names(&data).len(), 20);
    assert_eq!(
        data["operations"][0],
        json!({"name": "create_issue_0", "semantic_category": "CREATE", "endpoint": "create",
            "description": "Something number 0 that an API of this size does"})
    );
    assert_eq!(data["_protocol"]["pageInfo"]["hasNextPage"], true);
    assert_eq!(data["_protocol"]["pageInfo"]["totalCount"], 2001, "introspect counts too");
    assert_eq!(data["_protocol"]["groups"]["by"], "tag");
    assert_eq!(data["_protocol"]["groups"]["counts"].as_object().unwrap().len(), 15);
    assert_eq!(data["_protocol"]["groups"]["counts"]["group 0"], 100);
    assert_eq!(data["_protocol"]["groups"]["more"], 6);
    assert!(data["_protocol"]["hint"].as_str().unwrap().contains("search"));
}

#[test]
fn pages_follow_one_another_without_gap_or_overlap() {
    let (catalog, _) = large(230);
    let all = names(&introspect(&catalog, json!({"detail": "names", "first": 200})).0);
    let mut walked = Vec::new();
    let mut after = Value::Null;
    loop {
        let mut params = json!({"first": 90});
        if !after.is_null() {
            params["after"] = after.clone();
        }
        let (data, _) = introspect(&catalog, params);
        assert_eq!(
            data["_protocol"].get("adapter").is_some(),
            after.is_null(),
            "only the plain list describes the adapter"
        );
        assert_eq!(data["_protocol"]["pageInfo"]["hasPreviousPage"], !after.is_null());
        assert!(data["_protocol"]["pageInfo"]["startCursor"].is_string());
        walked.extend(names(&data));
        if data["_protocol"]["pageInfo"]["hasNextPage"] == false {
            break;
        }
        after = data["_protocol"]["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(walked.len(), 231);
    assert_eq!(walked[..200], all);
}

#[test]
fn a_cursor_of_another_list_is_refused() {
    let (catalog, _) = large(230);
    let (data, _) = introspect(&catalog, json!({"first": 10, "category": "READ"}));
    let cursor = data["_protocol"]["pageInfo"]["endCursor"].as_str().unwrap();
    for (params, fits) in [
        (json!({"after": cursor, "category": "READ", "detail": "names"}), true),
        (json!({"after": cursor, "category": "UPDATE"}), false),
        (json!({"after": cursor}), false),
        (json!({"after": "page 2"}), false),
        (json!({"after": "ffffff-00000000"}), false),
    ] {
        let answer = introspect::answer(&catalog, &object(params.clone()));
        match answer {
            Ok(_) => assert!(fits, "{params}"),
            Err(error) => {
                assert!(!fits, "{params}: {error}");
                assert_eq!(error.code, Code::InvalidValue);
                assert!(
                    error.message.starts_with("Parameter 'after' is not a cursor of this list."),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn filters_combine() {
    let (catalog, _) = large(500);
    let (data, _) = introspect(
        &catalog,
        json!({"tag": "GROUP 2", "category": "DELETE", "endpoint": "delete", "detail": "names"}),
    );
    let found = names(&data);
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|name| name.starts_with("delete_")));
    assert_eq!(data.get("_protocol"), None);
    let (data, warnings) = introspect(&catalog, json!({"category": "READ", "endpoint": "delete"}));
    assert_eq!(data, json!({"operations": []}));
    assert_eq!(warnings, ["No operation matches all of these parameters. Remove one of them."]);
    let (_, warnings) = introspect(&catalog, json!({"tag": "grup 2"}));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("No operation has the tag. Nearest: group 2"), "{warnings:?}");
}

#[test]
fn wrong_parameters_are_refused_with_what_to_do() {
    let (catalog, _) = large(60);
    let refused = |params: Value| {
        request::prepare_operation(&catalog, "introspect", object(params)).map(|call| call.args).unwrap_err()
    };
    assert_eq!(refused(json!({"category": "LIST"})).code, Code::InvalidValue);
    assert_eq!(refused(json!({"endpoint": "nowhere"})).code, Code::InvalidValue);
    assert_eq!(refused(json!({"detail": "everything"})).code, Code::InvalidValue);
    assert_eq!(refused(json!({"first": 0})).code, Code::InvalidValue);
    assert_eq!(refused(json!({"limit": 3})).code, Code::UnknownParam);
    for param in ["search", "category", "endpoint", "tag"] {
        let value = if param == "category" { "READ" } else { "read" };
        let error =
            introspect::answer(&catalog, &object(json!({"query": "types", param: value}))).unwrap_err();
        assert_eq!(
            error.message,
            format!("Parameter '{param}' filters operations, not types. Remove it, or remove 'query'.")
        );
    }
    let (_, warnings) = introspect(&catalog, json!({"name": "get_issue_1", "tag": "x", "first": 3}));
    assert_eq!(warnings, ["Ignored because 'name' is set: tag, first or after."]);
}

#[test]
fn a_list_has_the_requested_detail() {
    let (catalog, _) = large(500);
    let of =
        |detail: &str| introspect(&catalog, json!({"detail": detail, "first": 2})).0["operations"].clone();
    assert_eq!(of("names"), json!(["create_issue_0", "get_issue_1"]));
    assert_eq!(
        of("signature")[0],
        json!({"name": "create_issue_0", "signature":
            "create_issue_0(owner: string, repo: string, title?: string, state?: \"open\"|\"closed\"|\"all\")"})
    );
    assert_eq!(of("summary")[1]["endpoint"], "read");
    assert_eq!(
        of("full")[1],
        introspect(&catalog, json!({"name": "get_issue_1", "detail": "full"})).0["operation"]
    );
    let one =
        introspect(&catalog, json!({"name": "get_issue_1", "detail": "signature"})).0["operation"].clone();
    assert!(!one["signature"].as_str().unwrap().contains("->"), "the answer is left out: {one}");
    assert_eq!(one["endpoint"], "read");
}

#[test]
fn types_come_in_pages_too() {
    let (catalog, _) = large(60);
    let answer = introspect::answer(&catalog, &object(json!({"query": "types"}))).unwrap();
    let [warning] = answer.warnings.as_slice() else { panic!("{:?}", answer.warnings) };
    assert_eq!(warning.code, "VALIDATION_TRUNCATED_WARNING");
    assert_eq!(warning.details["original_count"], 308);
    let cursor = warning.details["pageInfo"]["endCursor"].clone();
    let data = answer.data.into_value();
    assert_eq!(data["types"].as_array().unwrap().len(), 20);
    assert_eq!(data.as_object().unwrap().len(), 1, "the list has a closed shape");
    let (data, _) =
        introspect(&catalog, json!({"query": "types", "after": cursor, "first": 2, "detail": "signature"}));
    assert_eq!(data["_protocol"]["pageInfo"]["totalCount"], 308);
    assert_eq!(data["types"][0]["signature"], "type Thing12 = { id?: integer, next?: Thing13 }");
}

#[test]
fn a_deep_answer_keeps_the_nearest_types_and_says_how_to_get_the_rest() {
    let (catalog, _) = large(60);
    let (data, _) = introspect(&catalog, json!({"name": "get_issue_1", "detail": "full"}));
    let signature = data["operation"]["signature"].as_str().unwrap();
    let lines: Vec<&str> = signature.lines().collect();
    assert_eq!(lines.len(), 42, "{signature}");
    assert_eq!(lines[1], "type Thing = { next?: Thing0 }");
    assert_eq!(lines[41], r#"// more: introspect {"query":"types","name":"Thing39"}"#);
    assert!(tokens(signature) <= 1700);
    let more: Value = serde_json::from_str(lines[41].trim_start_matches("// more: introspect ")).unwrap();
    assert_eq!(introspect(&catalog, more).0["type"]["name"], "Thing39");
}

/// Titles and tags from real imports.
const ODD: [&str; 4] = [
    "Operations about \u{1f680} deployments; rollouts && rollbacks, and everything else that belongs to them (beta)",
    "用于管理存储库和组织的所有操作以及相关的工作流程和权限设置用于管理存储库和组织的所有操作",
    "a|b || $(rm) < > & more",
    "\u{1f9d1}\u{200d}\u{1f91d}\u{200d}\u{1f9d1}\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f3f4}\u{1f3f3}\u{fe0f}\u{200d}\u{1f308} people people people people people",
];

#[test]
fn the_surface_of_eleven_thousand_operations_keeps_its_budget_in_real_tokens() {
    for (tags, title) in ODD.into_iter().enumerate() {
        let adapter = Adapter { display_name: title.repeat(3), ..bare() };
        let tag = |index: usize| match tags % 2 {
            0 => format!("{} {}", ODD[index % 4], index / 700),
            _ => format!("{index:05} {}", ODD[index % 4]),
        };
        let operations = operations(11_000, tag);
        for (mode, budget) in [(Mode::Semantic, 1350), (Mode::Single, 450)] {
            let settings = AdapterSettings { mode: Some(mode), ..AdapterSettings::default() };
            let (catalog, shelf) = shelved(adapter.clone(), operations.clone(), types(3), &settings);
            let cost = surface(&catalog);
            assert!(cost <= budget, "{cost} tokens in mode {mode:?}: {:#?}", catalog.tools);
            assert!(shelf.read() <= 10, "{} were read", shelf.read());
            for tool in &catalog.tools {
                for word in [";", "&&", "||", "$(", "> ", "< "] {
                    assert!(!tool.description.contains(word), "{word}: {}", tool.description);
                    assert!(!tool.title.contains(word), "{word}: {}", tool.title);
                }
            }
        }
    }
}

#[test]
fn the_surface_shows_how_to_search_with_many_operations_and_with_few() {
    let call = r#"{"operation":"introspect","params":{"search":"what you want to do"}}"#;
    let (catalog, _) = large(500);
    assert!(tool(&catalog, "demo_mcpaql_read").description.ends_with(call));
    let delete = &tool(&catalog, "demo_mcpaql_delete").description;
    let short = r#"{"operation":"introspect","params":{"search":"words"}}"#;
    let expected = format!("Search operations in demo_mcpaql_read:\n{short}");
    assert!(delete.ends_with(&expected), "{delete}");
    let single = AdapterSettings { mode: Some(Mode::Single), ..AdapterSettings::default() };
    let (catalog, _) = shelved(bare(), operations(500, |_| "things".to_owned()), types(3), &single);
    assert!(catalog.tools[0].description.ends_with(call));
    let (catalog, _) = shelved(bare(), operations(5, |_| "things".to_owned()), types(3), &single);
    assert!(catalog.tools[0].description.ends_with(call));
}

fn people() -> (Catalog, std::sync::Arc<crate::library::Shelf>) {
    let of = |schema: Value| Some(Returns { schema, description: String::new() });
    let list = json!({"type": "array", "items": {"$ref": "#/types/Person"}});
    let described = |mut operation: Operation, text: &str| {
        operation.description = text.to_owned();
        operation
    };
    let mut search =
        described(operation("search_people", Category::Read, "/people/search"), "Find people by name");
    search.params.push(required("query", json!({"type": "string"})));
    search.returns = of(list.clone());
    let mut popular = described(operation("list_popular_people", Category::Read, "/people/popular"), "");
    popular.returns = of(list);
    let mut one = described(operation("get_person", Category::Read, "/people/{person_id}"), "Get a person");
    one.returns = of(json!({"$ref": "#/types/Person"}));
    let credits = described(
        operation("list_person_credits", Category::Read, "/people/{person_id}/credits"),
        "The movies that somebody played in. With dates.",
    );
    let mut remove = operation("delete_rating", Category::Delete, "/movies/{movie_id}/rating/{person_id}");
    for param in remove.params.iter_mut().filter(|param| param.name == "person_id") {
        param.from = vec!["get_person".to_owned()];
    }
    let mut busy = operation("create_movie", Category::Create, "/movies");
    busy.params.push(Param { required: true, ..optional("title", json!({"type": "string"})) });
    busy.params
        .extend((0..30).map(|n| optional(&format!("very_special_option_{n}"), json!({"type": "string"}))));
    let person =
        json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}});
    shelved(
        bare(),
        vec![search, popular, one, credits, remove, busy],
        IndexMap::from([("Person".to_owned(), person)]),
        &AdapterSettings::default(),
    )
}

#[test]
fn a_search_answers_with_calls_and_where_their_identifiers_come_from() {
    let (catalog, _) = people();
    let (data, warnings) = introspect(&catalog, json!({"search": "movies a person played in"}));
    assert_eq!(warnings, [] as [&str; 0]);
    assert_eq!(
        data["operations"][0],
        json!({
            "name": "list_person_credits",
            "endpoint": "read",
            "signature": "list_person_credits(person_id: string)",
            "summary": "The movies that somebody played in",
            "from": {"person_id": ["search_people", "list_popular_people"]},
        })
    );
    assert_eq!(object(data).keys().collect::<Vec<_>>(), ["operations", "plan"], "and how to combine them");
}

#[test]
fn a_search_says_nothing_twice() {
    let (catalog, _) = people();
    let (data, _) = introspect(&catalog, json!({"search": "person"}));
    let rows = data["operations"].as_array().unwrap();
    let get = rows.iter().find(|row| row["name"] == "get_person").unwrap();
    assert_eq!(get.get("summary"), None, "it would only repeat the name");
    let said = rows.iter().filter(|row| row["from"].get("person_id").is_some()).count();
    assert!(said <= 2, "once as inferred, once as declared: {data}");
}

#[test]
fn a_search_may_be_filtered_paged_and_asked_for_more_or_less() {
    let (catalog, _) = people();
    let of = |params: Value| introspect(&catalog, params).0;
    assert_eq!(names(&of(json!({"search": "rating of a person", "category": "DELETE"}))), ["delete_rating"]);
    let all = names(&of(json!({"search": "people", "detail": "names"})));
    assert!(all.len() > 1 && all.iter().all(|name| name != "introspect"), "{all:?}");
    let first = of(json!({"search": "people", "first": 1}));
    let second =
        of(json!({"search": "people", "first": 1, "after": first["_protocol"]["pageInfo"]["endCursor"]}));
    assert_eq!([names(&first), names(&second)].concat(), all[..2]);
    assert_eq!(
        of(json!({"search": "people", "detail": "full", "first": 1}))["operations"][0]["danger"],
        "reversible"
    );
    let (data, warnings) = introspect(&catalog, json!({"search": "xylophone qwertz"}));
    assert_eq!(data, json!({"operations": []}));
    assert!(warnings[0].starts_with("No operation found. Search with other words"), "{warnings:?}");
}

#[test]
fn a_long_call_is_cut_to_what_it_needs() {
    let (catalog, _) = people();
    let (data, _) = introspect(&catalog, json!({"search": "add a movie", "category": "CREATE"}));
    let signature = data["operations"][0]["signature"].as_str().unwrap();
    assert!(
        signature.starts_with("create_movie(title: string, very_special_option_0?: string"),
        "{signature}"
    );
    assert!(signature.ends_with(")"), "{signature}");
    assert!(signature.contains(", …(+"), "{signature}");
}

#[test]
fn a_hit_shows_the_options_that_the_question_speaks_of_first() {
    let (catalog, _) = people();
    let question = "add a movie with very special option 17";
    let (data, _) = introspect(&catalog, json!({"search": question, "category": "CREATE"}));
    let signature = data["operations"][0]["signature"].as_str().unwrap();
    assert!(signature.starts_with("create_movie(title: string, "), "{signature}");
    assert!(signature.contains("very_special_option_17?: string"), "{signature}");
    assert!(signature.contains(", …(+"), "{signature}");
}

#[test]
fn what_a_call_needs_costs_at_most_150_tokens() {
    let (catalog, _) = people();
    for name in ["create_movie", "delete_rating", "list_person_credits", "search_people"] {
        let text = introspect(&catalog, json!({"name": name, "detail": "signature"})).0.to_string();
        assert!(tokens(&text) <= 150, "{} for {text}", tokens(&text));
    }
}

#[test]
fn a_search_costs_at_most_250_tokens() {
    let (catalog, shelf) = large(2000);
    let before = shelf.read();
    for question in ["open issue", "delete team member", "who deployed", "run the workflow of a pull request"]
    {
        let text = introspect(&catalog, json!({"search": question})).0.to_string();
        assert!(tokens(&text) <= 250, "{} for {text}", tokens(&text));
    }
    assert!(shelf.read() <= before + 20, "a search reads what it shows");
}

#[test]
fn details_say_where_identifiers_come_from_the_author_first() {
    let (catalog, _) = people();
    let (data, _) = introspect(&catalog, json!({"name": "list_person_credits", "detail": "full"}));
    assert_eq!(data["operation"]["parameters"][0]["from"], json!(["search_people", "list_popular_people"]));
    let (data, _) = introspect(&catalog, json!({"name": "delete_rating", "detail": "signature"}));
    assert_eq!(data["operation"]["from"]["person_id"], json!(["get_person"]));
}

#[test]
fn an_unknown_operation_is_answered_with_suggestions_and_their_signatures() {
    let (catalog, _) = people();
    let read = |name: &str, params: Value| {
        refused(&catalog, "demo_mcpaql_read", json!({"operation": name, "params": params}))
    };
    let slip = read("get_persn", json!({}));
    assert_eq!(slip.code, Code::NotFoundOperation);
    assert_eq!(slip.message, "Unknown operation 'get_persn'. Did you mean 'get_person'?");
    assert_eq!(slip.details["signatures"][0], "get_person(person_id: string)");
    let other_words = read("find_person_movies", json!({"person_id": 3}));
    let offered: Vec<&str> =
        other_words.details["suggestions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(offered.contains(&"list_person_credits"), "{offered:?}");
    assert_eq!(other_words.details["signatures"].as_array().unwrap().len(), offered.len());
    let nothing = read("zzz", json!({}));
    assert_eq!(nothing.details["suggestions"], json!([]));
    assert_eq!(nothing.details.get("signatures"), None);
    let (_, warnings) = introspect(&catalog, json!({"name": "find_person_movies"}));
    assert!(warnings[0].contains("list_person_credits"), "{warnings:?}");
}
