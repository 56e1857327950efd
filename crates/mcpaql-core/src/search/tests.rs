//! Tests search as users see it, with the catalog of a small library that lends films and books.

use super::{Doc, SearchIndex};
use crate::library::{AnswerOutline, Outline, ParamOutline};
use crate::links::{Links, producers};
use crate::operation::Category::{self, Create, Delete, Execute, Read, Update};
use crate::operation::{Binding, HttpBinding, Operation, Segment};
use proptest::prelude::*;

/// Name, path, summary, category, result fields.
type OperationRow = (&'static str, &'static str, &'static str, Category, &'static [&'static str]);

const LIBRARY: &[OperationRow] = &[
    ("list_films", "/films", "List films", Read, &["id", "title", "year"]),
    ("get_film", "/films/{film_id}", "Get a film", Read, &["id", "title", "runtime", "languages", "studio"]),
    ("delete_film", "/films/{film_id}", "Delete a film", Delete, &[]),
    ("create_film", "/films", "Add a film to the catalogue", Create, &["id"]),
    ("list_film_credits", "/films/{film_id}/credits", "Cast and crew of a film", Read, &["name", "job"]),
    ("list_film_images", "/films/{film_id}/images", "Images of a film", Read, &["file_path", "width"]),
    ("list_popular_films", "/films/popular", "Films that are popular now", Read, &["id", "title"]),
    ("search_films", "/search/films", "Search films by title", Read, &["id", "title"]),
    ("search_people", "/search/people", "Search people by name", Read, &["id", "name"]),
    (
        "get_person",
        "/people/{person_id}",
        "Get a person",
        Read,
        &["id", "name", "birthday", "place_of_birth"],
    ),
    ("list_person_films", "/people/{person_id}/films", "Films of a person", Read, &["id", "title"]),
    ("list_pullrequests", "/pullrequests", "Changes that wait for review", Read, &["id"]),
    ("update_member", "/members/{member_id}", "Change a member's address", Update, &[]),
    ("run_inventory", "/inventory/runs", "Start taking stock", Execute, &["id"]),
    ("cancel_inventory", "/inventory/runs/{run_id}/cancel", "Stop taking stock", Execute, &[]),
    ("list_loans", "/members/{member_id}/loans", "What a member has borrowed", Read, &["id", "film_id"]),
    ("renew_loan", "/loans/{loan_id}/renew", "Keep a film or book for longer", Execute, &[]),
];

fn index() -> SearchIndex {
    SearchIndex::build(LIBRARY.iter().map(|(name, path, summary, category, fields)| Doc {
        path,
        summary,
        fields,
        ..Doc::new(name, *category)
    }))
}

fn names(question: &str, limit: usize) -> Vec<&'static str> {
    index().search(question, limit).iter().map(|hit| LIBRARY[hit.position].0).collect()
}

fn first(question: &str) -> &'static str {
    names(question, 1).first().copied().unwrap_or("nothing")
}

fn links() -> Links {
    let operations: Vec<Operation> =
        LIBRARY.iter().map(|(name, path, _, category, _)| operation(name, path, *category)).collect();
    let outlined: Vec<(&Operation, Outline)> = operations
        .iter()
        .zip(LIBRARY)
        .map(|(operation, (_, path, _, _, fields))| {
            let fields = fields.iter().map(|field| (*field).to_owned()).collect();
            let answer = AnswerOutline { type_name: None, list: !path.ends_with('}'), fields };
            (operation, Outline { params: Vec::<ParamOutline>::new(), answer: Some(answer) })
        })
        .collect();
    producers(&outlined)
}

pub(crate) fn operation(name: &str, path: &str, category: Category) -> Operation {
    let mut segments = Vec::new();
    for (index, part) in path.split('{').enumerate() {
        match part.split_once('}').filter(|_| index > 0) {
            Some((name, rest)) => {
                segments.push(Segment::Param(name.to_owned()));
                segments.push(Segment::Literal(rest.to_owned()));
            }
            None => segments.push(Segment::Literal(part.to_owned())),
        }
    }
    let binding = Binding::Http(HttpBinding::new("GET", segments));
    let facts = crate::facts::infer(&crate::facts::Declared {
        category,
        effect: None,
        idempotent: None,
        danger: crate::operation::Danger::Safe,
        guard: crate::facts::Guard::None,
        reach: crate::facts::Reach::Open,
        binding: &binding,
    });
    Operation::new(name, category, facts, binding)
}

#[test]
fn the_nouns_of_the_name_decide() {
    assert_eq!(first("credits of a film"), "list_film_credits");
    assert_eq!(first("list_film_images"), "list_film_images");
    assert_eq!(first("a person"), "get_person");
}

#[test]
fn the_verb_decides_between_operations_on_the_same_thing() {
    for question in ["delete a film", "get rid of a film", "remove film 7", "please throw the film away"] {
        assert_eq!(first(question), "delete_film", "{question}");
    }
    for question in ["add a film", "put a new film into the catalogue", "I want to create a film"] {
        assert_eq!(first(question), "create_film", "{question}");
    }
    for question in ["kick off an inventory", "trigger taking stock"] {
        assert_eq!(first(question), "run_inventory", "{question}");
    }
    assert_eq!(first("abort the inventory run"), "cancel_inventory");
    for question in ["which films are there", "how many films do you have", "show me all films"] {
        assert_eq!(first(question), "list_films", "{question}");
    }
}

#[test]
fn one_thing_or_several() {
    assert_eq!(first("show film 42"), "get_film");
    assert_eq!(first("show films"), "list_films");
}

#[test]
fn other_words_for_the_same_are_understood() {
    assert_eq!(first("who starred in the movie"), "list_film_credits");
    assert_eq!(first("a picture of the movie"), "list_film_images");
    assert_eq!(first("when was she born"), "get_person");
}

#[test]
fn forms_spellings_and_slips_of_a_word_are_the_word() {
    for question in ["credit", "CREDITS", "film-credits", "filmCredits", "film_credits", "creditz"] {
        assert_eq!(first(question), "list_film_credits", "{question}");
    }
    for question in ["pull requests", "pullRequests", "pull-request", "pullrequest"] {
        assert_eq!(first(question), "list_pullrequests", "{question}");
    }
    assert_eq!(first("birhtday"), "get_person");
}

#[test]
fn what_is_mine_is_not_what_does_something_itself() {
    let doc = |name, path| Doc { path, ..Doc::new(name, Read) };
    let docs = [doc("list_self_hosted_shops", "/self-hosted-shops"), doc("list_my_shops", "/me/shops")];
    let hits = SearchIndex::build(docs).search("my shops", 1);
    assert_eq!(hits.iter().map(|hit| hit.position).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_question_for_two_things_finds_both() {
    let found = names("the birthday of the director of a film", 4);
    assert!(found.contains(&"get_person") && found.contains(&"list_film_credits"), "{found:?}");
}

#[test]
fn a_title_is_not_what_the_operation_is_about() {
    assert_eq!(first("get a film credits"), "list_film_credits");
    assert_eq!(first("get a film \"Credits\""), "get_film");
    assert_eq!(first("add a film called \"Popular People\""), "create_film");
}

/// Returns the best operation for a question. Each operation has a name, a path and a category.
fn best(question: &str, operations: &[(&'static str, &'static str, Category)]) -> &'static str {
    let docs = operations.iter().map(|(name, path, category)| Doc { path, ..Doc::new(name, *category) });
    let hits = SearchIndex::build(docs).search(question, 1);
    hits.first().map_or("nothing", |hit| operations[hit.position].0)
}

#[test]
fn a_word_before_an_article_tells_to_do_something() {
    let notes = [("list_notes", "/orders/{id}/notes", Read), ("create_note", "/orders/{id}/notes", Create)];
    assert_eq!(best("note the order", &notes), "create_note");
    assert_eq!(best("notes of the order", &notes), "list_notes");
}

#[test]
fn a_rare_verb_says_no_more_than_what_it_is_about() {
    let names = [("rename_shelf", "/shelves/{id}/rename", Execute), ("update_card", "/cards/{id}", Update)];
    assert_eq!(best("rename a card", &names), "update_card");
    assert_eq!(best("rename a shelf", &names), "rename_shelf");
}

#[test]
fn to_stop_doing_something_is_to_undo_it() {
    let follows = [
        ("follow_author", "/authors/{id}/follow", Update),
        ("unfollow_author", "/authors/{id}/follow", Delete),
        ("stop_printer", "/printers/{id}/stop", Execute),
    ];
    assert_eq!(best("stop following an author", &follows), "unfollow_author");
    assert_eq!(best("start following an author", &follows), "follow_author");
    assert_eq!(best("stop the printer", &follows), "stop_printer");
}

#[test]
fn what_may_be_done_in_several_ways_is_found_in_each() {
    let alarms = [("enable_alarm", "/alarm", Update), ("disable_alarm", "/alarm", Delete)];
    assert_eq!(best("turn off the alarm", &alarms), "disable_alarm");
    assert_eq!(best("turn the alarm on", &alarms), "enable_alarm");
}

#[test]
fn yes_or_no_is_asked_of_an_operation_that_checks() {
    let members =
        [("list_members", "/clubs/{id}/members", Read), ("check_member", "/clubs/{id}/members/{name}", Read)];
    assert_eq!(best("is ann a member of the club", &members), "check_member");
    assert_eq!(best("who are the members of the club", &members), "list_members");
    assert_eq!(best("can you show the members", &members), "list_members");
}

#[test]
fn who_does_something_is_asked_of_those_who_do_it() {
    let watching = [
        ("list_watched_films", "/watched/films", Read),
        ("list_film_watchers", "/films/{id}/watchers", Read),
    ];
    assert_eq!(best("who watches this film", &watching), "list_film_watchers");
    assert_eq!(best("people who watch the film", &watching), "list_film_watchers");
}

#[test]
fn what_belongs_to_one_thing_is_not_what_belongs_to_all() {
    let comments = [
        ("list_all_comments", "/films/comments", Read),
        ("list_comments", "/films/{id}/comments", Read),
        ("delete_tags", "/films/{id}/tags", Delete),
        ("delete_tag", "/films/{id}/tags/{tag}", Delete),
    ];
    assert_eq!(best("comments on a film", &comments), "list_comments");
    assert_eq!(best("remove the tag from a film", &comments), "delete_tag");
    assert_eq!(best("remove all tags from a film", &comments), "delete_tags");
}

#[test]
fn a_noun_that_only_introduces_another_hardly_counts() {
    let loans = [("get_loan_details", "/reports/details", Read), ("get_member", "/members/{id}", Read)];
    assert_eq!(best("the details of a member", &loans), "get_member");
    assert_eq!(best("get information about a member", &loans), "get_member");
}

#[test]
fn what_an_update_takes_is_what_it_changes() {
    let doc = |name, path, params| Doc { path, params, ..Doc::new(name, Update) };
    let docs = [
        doc("update_cover", "/films/cover/{cover_id}", &["cover_id"][..]),
        doc("update_film", "/films/{film_id}", &["film_id", "closing_date"][..]),
    ];
    let hits = SearchIndex::build(docs).search("change the closing date of a film", 1);
    assert_eq!(hits.iter().map(|hit| hit.position).collect::<Vec<_>>(), [1]);
}

#[test]
fn deprecated_operations_stand_behind() {
    let doc = |name| Doc { path: "/parcels", summary: "List parcels", ..Doc::new(name, Read) };
    let old = Doc { deprecated: true, ..doc("list_parcels") };
    let hits = SearchIndex::build([old, doc("list_parcels")]).search("parcels", 2);
    assert_eq!(hits.iter().map(|hit| hit.position).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn only_what_is_let_through_is_found() {
    let hits = index().search_among("film", 20, |position| LIBRARY[position].3 == Delete);
    assert_eq!(hits.iter().map(|hit| LIBRARY[hit.position].0).collect::<Vec<_>>(), ["delete_film"]);
}

#[test]
fn hits_are_distinct_and_scores_fall() {
    let hits = index().search("films of people and their images", usize::MAX);
    let mut positions: Vec<usize> = hits.iter().map(|hit| hit.position).collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), hits.len());
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "{hits:?}");
}

#[test]
fn operations_with_equal_names_keep_their_order() {
    let same = Doc { summary: "A twin", ..Doc::new("twin", Read) };
    for _ in 0..3 {
        let hits = SearchIndex::build(vec![same; 50]).search("twin", 50);
        assert_eq!(hits.iter().map(|hit| hit.position).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    }
}

#[test]
fn nothing_is_found_where_nothing_fits_or_nothing_is_asked() {
    for question in ["", "   ", "the of and", "?!", "zzzzqqqq", "12345", "\u{0}\u{202e}", "\"", "“”", "'"]
    {
        assert!(names(question, 5).is_empty(), "{question:?} finds {:?}", names(question, 5));
    }
    assert!(names("films", 0).is_empty());
    assert!(SearchIndex::build([]).search("films", 5).is_empty());
}

#[test]
fn endless_questions_are_read_up_to_a_point() {
    for question in
        ["film ".repeat(100_000), "x".repeat(1_000_000), "é".repeat(100_000), "a-".repeat(500_000)]
    {
        assert!(names(&question, 5).len() <= 5);
    }
    assert_eq!(first(&format!("credits {}", "and so on ".repeat(10_000))), "list_film_credits");
}

#[test]
fn hits_name_where_their_identifiers_come_from() {
    let found = index().search_with_chain(&links(), "who acted in the most popular film", 5, |_| true);
    let credits = found.iter().find(|found| LIBRARY[found.hit.position].0 == "list_film_credits").unwrap();
    let [source] = credits.sources.as_slice() else { panic!("{:?}", credits.sources) };
    assert_eq!(source.params, ["film_id"]);
    let named: Vec<&str> = source.producers.iter().map(|position| LIBRARY[*position].0).collect();
    assert_eq!(named[0], "list_popular_films", "{named:?}");
}

#[test]
fn an_identifier_is_explained_once() {
    let found = index().search_with_chain(&links(), "credits and images of a film", 5, |_| true);
    let explained =
        found.iter().flat_map(|found| &found.sources).filter(|source| source.params == ["film_id"]);
    assert_eq!(explained.count(), 1, "{found:?}");
}

proptest! {
    #[test]
    fn any_text_is_a_question(question in "\\PC{0,200}", limit in 0_usize..30) {
        let index = index();
        let hits = index.search(&question, limit);
        prop_assert!(hits.len() <= limit);
        prop_assert!(hits.iter().all(|hit| hit.position < LIBRARY.len() && hit.score.is_finite()));
        prop_assert_eq!(index.search(&question, limit), hits);
    }

    #[test]
    fn any_text_describes_an_operation(name in "\\PC{0,40}", path in "[/{}a-zé.:-]{0,40}", summary in "\\PC{0,80}") {
        let doc = Doc { path: &path, summary: &summary, description: &summary, ..Doc::new(&name, Read) };
        let index = SearchIndex::build([doc]);
        prop_assert_eq!(index.len(), 1);
        prop_assert!(index.search(&summary, 3).len() <= 1);
    }
}

#[test]
fn an_exact_name_comes_first() {
    for (name, ..) in LIBRARY {
        assert_eq!(first(name), *name);
        assert_eq!(first(&name.replace('_', " ")), *name);
        assert_eq!(first(&format!("how do I call {name}, please?")), *name);
    }
}

#[test]
fn next_is_a_word_with_a_meaning() {
    let index = SearchIndex::build([
        Doc { summary: "Skip to the next track", ..Doc::new("skip_to_next", Execute) },
        Doc { summary: "Skip to the previous track", ..Doc::new("skip_to_previous", Execute) },
    ]);
    assert_eq!(index.search("skip to the next one", 1)[0].position, 0);
    assert_eq!(index.search("skip to the previous one", 1)[0].position, 1);
}

#[cfg(feature = "vectors")]
#[test]
fn an_operation_is_found_by_its_meaning_without_a_common_word() {
    let tools = [
        ("air_quality", "Pollution index of a city"),
        ("translate", "Convert a text to another language"),
        ("forecast", "Temperature and rain for the coming days"),
        ("exchange_rate", "Convert an amount to another currency"),
    ];
    let index = SearchIndex::build(tools.map(|(name, summary)| Doc { summary, ..Doc::new(name, Read) }));
    let first = |question: &str| index.search(question, 1).first().map(|hit| tools[hit.position].0);
    assert_eq!(first("how hot will it be tomorrow"), Some("forecast"));
    assert_eq!(first("how many euros are fifty dollars"), Some("exchange_rate"));
    assert_eq!(first("say this in Spanish"), Some("translate"));
}
