//! Tests which operations are found as producers of an identifier.

use super::{Links, producers};
use crate::library::{AnswerOutline, Outline, ParamOutline};
use crate::operation::Category::{Create, Read};
use crate::operation::{Category, Operation};
use crate::search::tests::operation;

struct LinkedOperations(Vec<(Operation, Outline)>);

impl LinkedOperations {
    fn new(rows: &[(&str, &str, Category)]) -> LinkedOperations {
        let rows =
            rows.iter().map(|(name, path, category)| (operation(name, path, *category), Outline::default()));
        LinkedOperations(rows.collect())
    }

    /// Adds a result to an operation: whether it is a list, its type and its fields.
    fn answers(
        mut self,
        name: &str,
        list: bool,
        type_name: Option<&str>,
        fields: &[&str],
    ) -> LinkedOperations {
        let (_, outline) = self.0.iter_mut().find(|(operation, _)| operation.name == name).unwrap();
        outline.answer = Some(AnswerOutline {
            type_name: type_name.map(str::to_owned),
            list,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        });
        self
    }

    fn needs(mut self, name: &str, param: &str) -> LinkedOperations {
        let (_, outline) = self.0.iter_mut().find(|(operation, _)| operation.name == name).unwrap();
        outline.params.push(ParamOutline {
            name: param.to_owned(),
            required: true,
            in_path: false,
            is_choice: false,
        });
        self
    }

    fn links(&self) -> Links {
        producers(&self.0.iter().map(|(operation, outline)| (operation, outline.clone())).collect::<Vec<_>>())
    }

    /// Returns the producers of a parameter by name.
    fn producers_of(&self, name: &str, param: &str) -> Vec<&str> {
        let position = self.0.iter().position(|(operation, _)| operation.name == name).unwrap();
        let links = self.links();
        let source = links.for_operation(position).find(|source| source.param == param);
        let producers = source.map(|source| source.producers.clone()).unwrap_or_default();
        producers.iter().map(|position| self.0[*position as usize].0.name.as_str()).collect()
    }
}

#[test]
fn the_collection_lists_what_the_path_identifies_one_of() {
    let api = LinkedOperations::new(&[
        ("list_issues", "/repos/{owner}/{repo}/issues", Read),
        ("get_issue", "/repos/{owner}/{repo}/issues/{issue_number}", Read),
        ("list_things", "/things", Read),
    ]);
    assert_eq!(api.producers_of("get_issue", "issue_number"), ["list_issues"]);
}

#[test]
fn a_search_is_best_where_nothing_else_is_known() {
    let api = LinkedOperations::new(&[
        ("list_people", "/people", Read),
        ("search_person", "/search/person", Read),
        ("get_person", "/people/{person_id}", Read),
    ]);
    assert_eq!(api.producers_of("get_person", "person_id"), ["search_person", "list_people"]);
}

#[test]
fn a_bare_id_is_that_of_the_collection() {
    let api =
        LinkedOperations::new(&[("list_people", "/people", Read), ("get_person", "/people/{id}", Read)]);
    assert_eq!(api.producers_of("get_person", "id"), ["list_people"]);
}

#[test]
fn parts_of_a_collection_provide_too_but_not_other_collections_below_it() {
    let api = LinkedOperations::new(&[
        ("list_popular_films", "/films/popular", Read),
        ("list_film_events", "/films/events", Read),
        ("get_film_event", "/films/events/{event_id}", Read),
        ("get_film", "/films/{film_id}", Read),
    ]);
    assert_eq!(api.producers_of("get_film", "film_id"), ["list_popular_films"]);
}

#[test]
fn owner_and_repo_come_together() {
    let api = LinkedOperations::new(&[
        ("list_my_repos", "/user/repos", Read),
        ("get_repo", "/repos/{owner}/{repo}", Read),
        ("list_forks", "/repos/{owner}/{repo}/forks", Read),
    ])
    .answers("list_my_repos", true, Some("MinimalRepository"), &["id", "name", "owner"]);
    assert_eq!(api.producers_of("get_repo", "owner"), ["list_my_repos"]);
    assert_eq!(api.producers_of("get_repo", "repo"), ["list_my_repos"]);
}

#[test]
fn answers_tell_by_their_type_and_by_their_fields() {
    let api = LinkedOperations::new(&[
        ("list_staff", "/shops/staff", Read),
        ("get_order", "/orders/{order_id}", Read),
        ("get_employee", "/employees/{employee_id}", Read),
        ("get_studio", "/studios/{studio_id}", Read),
    ])
    .answers("list_staff", true, Some("EmployeeList"), &["id"])
    .answers("get_order", false, Some("Order"), &["id", "studio_id"]);
    assert_eq!(api.producers_of("get_employee", "employee_id"), ["list_staff"]);
    assert_eq!(api.producers_of("get_studio", "studio_id"), ["get_order"]);
}

#[test]
fn counts_and_defaults_of_things_are_not_things() {
    let api = LinkedOperations::new(&[("get_user", "/user", Read), ("get_gist", "/gists/{gist_id}", Read)])
        .answers("get_user", false, None, &["id", "public_gists", "default_gist"]);
    assert!(api.producers_of("get_gist", "gist_id").is_empty());
}

#[test]
fn what_needs_fewer_further_identifiers_comes_first() {
    let api = LinkedOperations::new(&[
        ("list_team_members", "/orgs/{org}/teams/{team_id}/members", Read),
        ("list_org_members", "/orgs/{org}/members", Read),
        ("remove_member", "/orgs/{org}/memberships/{member_id}", Category::Delete),
    ]);
    assert_eq!(api.producers_of("remove_member", "member_id"), ["list_org_members", "list_team_members"]);
}

#[test]
fn a_producer_never_needs_what_it_provides_nor_writes() {
    let api = LinkedOperations::new(&[
        ("list_similar_films", "/films/{film_id}/films", Read),
        ("create_film", "/films", Create),
        ("get_film", "/films/{film_id}", Read),
    ]);
    assert!(api.producers_of("get_film", "film_id").is_empty());
    assert!(api.producers_of("list_similar_films", "film_id").is_empty());
}

#[test]
fn identifiers_outside_the_path_count_and_other_parameters_do_not() {
    let api = LinkedOperations::new(&[("list_films", "/films", Read), ("lend", "/loans", Create)])
        .needs("lend", "film_id")
        .needs("lend", "film_cursor");
    assert_eq!(api.producers_of("lend", "film_id"), ["list_films"]);
    assert!(api.producers_of("lend", "film_cursor").is_empty());
}

#[test]
fn an_identifier_that_most_need_is_marked() {
    let paths: Vec<String> = (0..40).map(|at| format!("/repos/{{repo}}/part_{at}")).collect();
    let mut rows: Vec<(&str, &str, Category)> =
        paths.iter().map(|path| ("get_part", path.as_str(), Read)).collect();
    rows.extend([
        ("list_repos", "/repos", Read),
        ("list_teams", "/teams", Read),
        ("get_team", "/teams/{team}", Read),
    ]);
    let links = LinkedOperations::new(&rows).links();
    assert!(links.for_operation(0).all(|source| source.param == "repo" && source.everywhere));
    assert!(links.for_operation(42).all(|source| source.param == "team" && !source.everywhere));
    assert_eq!((links.for_operation(0).count(), links.for_operation(42).count()), (1, 1));
}

#[test]
fn unknown_positions_need_nothing() {
    assert_eq!(Links::default().for_operation(7).count(), 0);
}

#[test]
fn unusual_paths_are_accepted() {
    let api = LinkedOperations::new(&[
        ("", "", Read),
        ("a", "/{}/{}", Read),
        ("b", "//{id}{other}//", Read),
        ("c", "/files/{name}.{ext}", Read),
        ("d", "/{a}...{b}", Read),
    ]);
    let links = api.links();
    assert!((0..5).all(|position| links.for_operation(position).all(|source| !source.producers.is_empty())));
}

#[test]
fn a_search_of_everything_finds_what_its_result_has_a_field_for() {
    let api = LinkedOperations::new(&[
        ("search", "/search", Read),
        ("list_featured_albums", "/browse/featured", Read),
        ("list_artist_albums", "/artists/{artist_id}/albums", Read),
        ("get_album", "/albums/{album_id}", Read),
    ])
    .answers("search", false, None, &["artists", "albums", "tracks"])
    .answers("list_featured_albums", true, Some("Album"), &["id", "name"])
    .answers("list_artist_albums", true, Some("Album"), &["id", "name"]);
    assert_eq!(api.producers_of("get_album", "album_id").first(), Some(&"search"));
    assert_eq!(api.producers_of("list_artist_albums", "artist_id"), ["search"]);
}

#[test]
fn a_search_of_one_kind_is_no_search_of_what_its_items_contain() {
    let api = LinkedOperations::new(&[
        ("search_code", "/search/code", Read),
        ("search_repos", "/search/repos", Read),
        ("get_repo", "/repos/{repo}", Read),
    ])
    .answers("search_code", true, Some("CodeHit"), &["path", "repository"])
    .answers("search_repos", true, Some("Repo"), &["id", "name"]);
    assert_eq!(api.producers_of("get_repo", "repo"), ["search_repos", "search_code"]);
}

#[test]
fn the_caller_is_a_user() {
    for (name, path) in [("get_me", "/me"), ("get_authenticated_user", "/user"), ("whoami", "/v1/whoami")] {
        let api = LinkedOperations::new(&[
            (name, path, Read),
            ("list_my_playlists", "/me/playlists", Read),
            ("list_playlists", "/users/{user_id}/playlists", Read),
        ])
        .answers(name, false, None, &["id", "name"])
        .answers("list_my_playlists", true, None, &["id", "name"]);
        assert_eq!(api.producers_of("list_playlists", "user_id"), [name]);
    }
}

#[test]
fn an_optional_identifier_has_producers_but_is_not_needed() {
    let mut api = LinkedOperations::new(&[
        ("list_projects", "/projects", Read),
        ("list_tasks", "/tasks", Read),
        ("get_task", "/tasks/{task_id}", Read),
    ])
    .needs("list_tasks", "project_id");
    api.0[1].1.params[0].required = false;
    assert_eq!(api.producers_of("list_tasks", "project_id"), ["list_projects"]);
    assert_eq!(api.producers_of("get_task", "task_id"), ["list_tasks"]);
    api.0[1].1.params[0].name = "id".to_owned();
    assert!(api.producers_of("list_tasks", "id").is_empty(), "an optional `id` may be anything");
}

#[test]
fn a_parameter_with_known_values_has_no_producers() {
    let mut api = LinkedOperations::new(&[
        ("list_formats", "/formats", Read),
        ("get_archive", "/archives/{format_id}", Read),
    ]);
    assert_eq!(api.producers_of("get_archive", "format_id"), ["list_formats"]);
    api.0[1].1.params.push(ParamOutline {
        name: "format_id".to_owned(),
        required: true,
        in_path: true,
        is_choice: true,
    });
    assert!(api.producers_of("get_archive", "format_id").is_empty());
}
