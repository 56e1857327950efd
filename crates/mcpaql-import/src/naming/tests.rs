//! Tables of operations and their names.

use super::*;
use proptest::prelude::*;

fn input<'a>(method: &'a str, path: &'a str, id: &'a str) -> NameInput<'a> {
    let operation_id = Some(id).filter(|id| !id.is_empty());
    NameInput { operation_id, method, path, tags: &[], summary: "", category: None }
}

fn name(method: &str, path: &str, id: &str) -> String {
    name_operations(&[input(method, path, id)]).remove(0)
}

#[test]
fn ids_become_verb_and_resource() {
    for (method, path, id, expected) in [
        ("GET", "/repos/{owner}/{repo}/contents/{path}", "repos/get-content", "get_repo_content"),
        ("GET", "/repos/{owner}/{repo}/issues", "issues/list-for-repo", "list_issues_for_repo"),
        ("POST", "/repos/{owner}/{repo}/issues", "issues/create", "create_issue"),
        (
            "POST",
            "/repos/{owner}/{repo}/actions/runs/{run_id}/rerun",
            "actions/re-run-workflow",
            "rerun_workflow",
        ),
        ("GET", "/pulls/{number}/files", "pulls/list-files", "list_pull_files"),
        ("GET", "/users.list", "users.list", "list_users"),
        ("POST", "/chat.postMessage", "chat_postMessage", "post_chat_message"),
        ("GET", "/pets", "listPets", "list_pets"),
        ("GET", "/pets", "PetController_findAll", "list_pets"),
        ("GET", "/pets/{id}", "PetController_findOne", "get_pet"),
        ("GET", "/pets/{petId}", "getPetById", "get_pet"),
        ("GET", "/employers/{id}/templates", "GetTemplatesByEmployerId", "list_templates_by_employer"),
        ("GET", "/accounts", "Accounts_List", "list_accounts"),
        ("PUT", "/vms/{vm}", "VirtualMachines_CreateOrUpdate", "create_or_update_virtual_machine"),
        ("GET", "/users/{id}/messages", "microsoft.graph.user.ListMessages", "list_user_messages"),
        ("GET", "/users/{id}", "getUserUsingGET_1", "get_user"),
        ("GET", "/pets", "read_pets_pets_get", "list_pets"),
        ("DELETE", "/addresses/{id}", "ipam_addresses_delete", "delete_ipam_address"),
        ("POST", "/documents:batchUpdate", "docs.documents.batchUpdate", "batch_update_document"),
        ("GET", "/pods/{id}", "fetchOnePod", "get_pod"),
        ("GET", "/users", "getAllUsers", "list_users"),
    ] {
        assert_eq!(name(method, path, id), expected, "{id}");
    }
}

fn described(method: &str, path: &str, id: &str, summary: &str, category: Category) -> String {
    name_operations(&[NameInput { summary, category: Some(category), ..input(method, path, id) }]).remove(0)
}

#[test]
fn unknown_verbs_are_kept() {
    for (method, path, id, summary, expected) in [
        (
            "POST",
            "/me/player/next",
            "skip-users-playback-to-next-track",
            "Skip User's Playback To Next Track",
            "skip_users_playback_to_next_track",
        ),
        ("POST", "/vehicles/{id}/scrap", "scrap_vehicle", "Scrap a vehicle", "scrap_vehicle"),
        ("POST", "/vehicles/{id}/scrap", "vehicleScrap", "Scraps a vehicle.", "scrap_vehicle"),
        ("POST", "/trips/plan", "", "Plan a trip", "plan_trip"),
        ("POST", "/transfers/{id}/fail", "PostTransfersIdFail", "Sets the state to failed", "fail_transfer"),
        ("POST", "/reports/mileage", "mileage_report", "Mileage between two dates", "run_mileage_report"),
    ] {
        assert_eq!(described(method, path, id, summary, Category::Execute), expected, "{id}");
    }
    assert_eq!(described("PUT", "/cars/{id}/park", "", "Park the car", Category::Update), "park_car");
    assert_eq!(described("POST", "/offers", "offers", "Offers of a shop", Category::Create), "create_offer");
}

#[test]
fn an_explicit_verb_wins_over_a_noun() {
    for (method, id, summary, category, expected) in [
        ("PUT", "alertPolicyUpdate", "", Category::Update, "update_alert_policy"),
        ("PUT", "alertPolicy", "Update alert policy", Category::Update, "update_alert_policy"),
        ("DELETE", "check_delete", "Delete a check", Category::Delete, "delete_check"),
        ("PATCH", "patchCoreVolumeClaim", "", Category::Update, "update_core_volume_claim"),
        ("DELETE", "deleteStorageCollectionThing", "", Category::Delete, "delete_storage_collection_thing"),
    ] {
        assert_eq!(described(method, "/things/{id}", id, summary, category), expected, "{id}");
    }
}

#[test]
fn the_verb_of_the_summary_replaces_the_verb_of_the_method() {
    for (method, path, summary, category, expected) in [
        (
            "DELETE",
            "/subscriptions/{id}",
            "Cancels a subscription at once.",
            Category::Delete,
            "cancel_subscription",
        ),
        ("POST", "/groups/{id}/members", "Add a member to a group", Category::Create, "add_group_member"),
        ("POST", "/contacts", "Import contacts", Category::Create, "import_contacts"),
        ("POST", "/issues/{id}/comments", "Comment on an issue", Category::Create, "create_issue_comment"),
        ("POST", "/orders", "Order history of a shop", Category::Create, "create_order"),
    ] {
        assert_eq!(described(method, path, "", summary, category), expected, "{summary}");
    }
}

#[test]
fn a_verb_that_repeats_the_method_gives_way_to_the_summary() {
    for (method, path, id, summary, category, expected) in [
        (
            "POST",
            "/accounts/{id}/templates",
            "Templates_PostTemplates",
            "Creates one or more templates.",
            Category::Create,
            "create_template",
        ),
        (
            "PUT",
            "/project/services/chat",
            "",
            "Set chat service",
            Category::Update,
            "set_project_chat_service",
        ),
        (
            "DELETE",
            "/issues/{id}/watch",
            "",
            "Stop watching an issue",
            Category::Delete,
            "delete_issue_watch",
        ),
        ("GET", "/alerts/new", "notifyNewAlert", "Check if alerts exist", Category::Read, "get_alerts_new"),
        (
            "DELETE",
            "/issues/{issue}/labels/{id}",
            "issueRemoveLabel",
            "Remove a label",
            Category::Delete,
            "remove_issue_label",
        ),
        ("GET", "/me/logos", "get_logos_alt1", "Get all logos", Category::Read, "list_my_logos"),
        ("PATCH", "/designs/{id}", "PUT-design", "Update Design", Category::Update, "update_design"),
        ("POST", "/chats/{id}/read", "", "", Category::Execute, "mark_chat_as_read"),
        ("POST", "/domain_blocks", "", "Block a domain", Category::Update, "block_domain"),
        ("GET", "/keys/{key}", "getKeysKey", "Get a single deploy key", Category::Read, "get_deploy_key"),
        ("GET", "/invitations/sent", "", "Returns all invitations", Category::Read, "list_sent_invitations"),
        ("DELETE", "/store/files", "", "Delete an existing file", Category::Delete, "delete_store_file"),
        (
            "POST",
            "/sessions/playing",
            "ReportPlaybackStart",
            "Reports playback has started.",
            Category::Execute,
            "report_playback_start",
        ),
        ("PATCH", "/rooms/{id}/settings", "roomSettingsUpdate", "", Category::Update, "update_room_settings"),
        (
            "GET",
            "/group/{type}/recover",
            "Groups.RecoverGroup",
            "Allows a founder to recover a group",
            Category::Execute,
            "recover_group",
        ),
        ("DELETE", "/export_rules/{id}", "ExportRules_Delete", "", Category::Delete, "delete_export_rule"),
        ("HEAD", "/users/{id}/image", "HeadUserImage", "", Category::Read, "check_user_image"),
    ] {
        assert_eq!(described(method, path, id, summary, category), expected, "{id} {summary}");
    }
}

#[test]
fn ids_with_classes_versions_and_keys_are_shortened() {
    for (method, path, id, expected) in [
        ("GET", "/V1/invoices/{id}", "salesInvoiceRepositoryV1GetGet", "get_sales_invoice"),
        ("GET", "/V1/taxRates", "taxTaxRateRepositoryV1GetListGet", "list_tax_rates"),
        ("DELETE", "/V1/groups/{id}", "customerGroupRepositoryV1DeleteByIdDelete", "delete_customer_group"),
        ("DELETE", "/cards/{idCard}/files/{idFile}", "deleteCardsFilesByIdCardByIdFile", "delete_card_file"),
        ("GET", "/cards/{idCard}/{field}", "getCardsByIdCardByField", "get_card_field"),
        ("GET", "/organizations/{idOrg}/boards", "getOrganizationsBoardsByIdOrg", "list_organization_boards"),
    ] {
        assert_eq!(name(method, path, id), expected, "{id}");
    }
}

#[test]
fn only_reads_are_called_get_or_list() {
    for (method, path, id, summary, category, expected) in [
        (
            "POST",
            "/licence",
            "getLicenceToken",
            "Get a new token",
            Category::Execute,
            "request_licence_token",
        ),
        ("GET", "/licence", "", "", Category::Execute, "request_licence"),
        ("DELETE", "/things/{id}", "getThing", "", Category::Delete, "delete_thing"),
        ("POST", "/books/lookup", "listBooks", "", Category::Read, "list_books"),
    ] {
        assert_eq!(described(method, path, id, summary, category), expected, "{id}");
    }
}

#[test]
fn nouns_keep_words_that_frameworks_use_too() {
    for (method, path, id, expected) in [
        ("GET", "/garages/{id}/controller", "get_garage_controller", "get_garage_controller"),
        ("PATCH", "/garages/{id}/controller", "update_controller", "update_controller"),
        ("GET", "/webhooks/endpoints", "list_webhook_endpoints", "list_webhook_endpoints"),
        ("GET", "/api-keys", "listApiKeys", "list_api_keys"),
        ("GET", "/pets", "PetsController_findAll", "list_pets"),
        ("GET", "/pets", "pets_controller_index", "list_pets"),
        ("GET", "/addons/{key}/properties", "AddonResource.getAddonProperties_get", "get_addon_properties"),
    ] {
        assert_eq!(name(method, path, id), expected, "{id}");
    }
}

#[test]
fn calls_with_dots_are_read_as_phrases() {
    for (method, id, category, expected) in [
        ("POST", "admin.users.session.invalidate", Category::Delete, "invalidate_admin_user_session"),
        ("GET", "admin.inviteRequests.denied.list", Category::Read, "list_denied_invite_requests"),
        ("GET", "bots.info", Category::Read, "get_bot_info"),
        ("GET", "auth.test", Category::Read, "test_auth"),
        ("POST", "usergroups.addTeams", Category::Create, "add_usergroup_teams"),
    ] {
        let path = format!("/{id}");
        assert_eq!(described(method, &path, &id.replace('.', "_"), "", category), expected, "{id}");
    }
}

#[test]
fn lists_have_plural_nouns_and_adjectives_come_first() {
    for (path, id, expected) in [
        ("/ip-addresses", "ListIpAddress", "list_ip_addresses"),
        ("/horizontalpodautoscalers", "listHorizontalPodAutoscaler", "list_horizontal_pod_autoscalers"),
        ("/PhoneNumbers/Local", "ListPhoneNumberLocal", "list_local_phone_numbers"),
        ("/episodes", "get-multiple-episodes", "list_episodes"),
        ("/albums/{id}/tracks", "get-an-albums-tracks", "list_album_tracks"),
    ] {
        assert_eq!(name("GET", path, id), expected, "{id}");
    }
}

#[test]
fn versions_and_tags_are_better_than_hashes() {
    let versions = [
        input("GET", "/v1/scalers/{id}", "readScalingV1Scaler"),
        input("GET", "/v2/scalers/{id}", "readScalingV2Scaler"),
    ];
    assert_eq!(name_operations(&versions), ["get_scaling_v1_scaler", "get_scaling_v2_scaler"]);
    let tagged = [
        NameInput { tags: &["cats"], ..input("GET", "/a/{id}", "get_item") },
        NameInput { tags: &["dogs"], ..input("GET", "/a/{ID}", "get_item") },
    ];
    assert_eq!(name_operations(&tagged), ["get_item_in_cats", "get_a_item"]);
}

#[test]
fn paths_give_names_if_ids_do_not() {
    for (method, path, id, expected) in [
        ("GET", "/movie/{movie_id}/keywords", "GET_movie-movie_id-keywords", "list_movie_keywords"),
        ("POST", "/v1/charges", "post-/v1/charges", "create_charge"),
        ("POST", "/v1/charges/{charge}", "PostChargesCharge", "update_charge"),
        ("GET", "/nearest/{id}", "58d8bcb8a9e6240e200cff28", "get_nearest"),
        ("GET", "/users/{id}/posts", "getUsersIdPosts", "list_user_posts"),
        ("GET", "/pets", "", "list_pets"),
        ("GET", "/pets/{id}", "", "get_pet"),
        ("POST", "/pets", "", "create_pet"),
        ("PUT", "/pets/{id}", "", "update_pet"),
        ("PATCH", "/pets/{id}", "", "update_pet"),
        ("DELETE", "/pets/{id}", "", "delete_pet"),
        ("DELETE", "/pets", "", "delete_pets"),
        ("POST", "/pulls/{id}/merge", "", "merge_pull"),
        ("POST", "/v1/{name}:cancel", "", "cancel"),
        ("POST", "/v1/users:batchGet", "", "batch_get_users"),
        ("GET", "/search/movie", "", "search_movies"),
        ("GET", "/movies/search", "", "search_movies"),
        ("GET", "/movie/popular", "", "list_popular_movies"),
        ("GET", "/settings", "", "get_settings"),
        ("GET", "/status", "", "get_status"),
        ("GET", "/api/v2/news", "", "get_news"),
        ("GET", "/#Action=DescribeHosts", "GET_DescribeHosts", "describe_hosts"),
    ] {
        assert_eq!(name(method, path, id), expected, "{method} {path}");
    }
}

#[test]
fn an_addition_takes_no_name_that_was_in_use() {
    let before = [input("GET", "/alerts/{id}", "getAlert"), input("GET", "/orgs/{org}/teams", "list_teams")];
    let after = [before[1], input("GET", "/repos/{repo}/alerts/{id}", "getAlert"), before[0]];
    assert_eq!(name_operations(&before), ["get_alert", "list_teams"]);
    assert_eq!(name_operations(&after), ["list_teams", "get_repo_alert", "get_alert_by_id"]);
}

#[test]
fn with_both_patch_and_put_update_is_the_patch() {
    let both = [input("PUT", "/pets/{id}", ""), input("PATCH", "/pets/{id}", "")];
    assert_eq!(name_operations(&both), ["replace_pet", "update_pet"]);
    let named = [input("PUT", "/pets/{id}", "updatePet"), input("PATCH", "/pets/{id}", "updatePet")];
    assert_eq!(name_operations(&named), ["replace_pet", "update_pet"]);
}

#[test]
fn paths_that_differ_only_in_placeholders_are_named_by_them() {
    let names = name_operations(&[input("GET", "/a/{id}", ""), input("GET", "/a/{name}", "")]);
    assert_eq!(names, ["get_a_by_id", "get_a_by_name"]);
}

#[test]
fn reserved_names_are_never_given() {
    assert_eq!(name("GET", "/executions", "list_executions"), "list_api_executions");
    for id in RESERVED {
        assert!(!RESERVED.contains(&name("POST", "/agents/{id}/thing", id).as_str()), "{id}");
    }
}

#[test]
fn long_names_are_shortened_the_same_way_each_time() {
    let id = "list-the-very-long-names-of-the-selected-organizations-enabled-for-the-github-actions-enterprise-in-the-world";
    let first = name("GET", "/x", id);
    assert!(first.len() <= MAX_TOOL_NAME_LENGTH, "{first}");
    assert_eq!(first, name("GET", "/x", id));
    let both = name_operations(&[input("GET", "/x", id), input("GET", "/y", id)]);
    assert!(both[0] != both[1] && both.iter().all(|name| name.len() <= MAX_TOOL_NAME_LENGTH), "{both:?}");
}

proptest! {
    #[test]
    fn names_are_valid_unique_and_independent_of_the_order(
        seeds in prop::collection::vec((0_usize..4, "(/(\\{[a-z]{1,3}\\}|[a-zA-Z]{1,6}|[a-z]{1,4}s)){0,4}", "([a-zA-Z_/.-]{0,14}|\\PC{0,6})"), 1..12),
        turn in 0_usize..12,
    ) {
        let methods = ["GET", "POST", "PUT", "DELETE"];
        let inputs: Vec<NameInput<'_>> = seeds.iter().map(|(method, path, id)| input(methods[*method], path, id)).collect();
        let names = name_operations(&inputs);
        for name in &names {
            prop_assert!(name.len() <= MAX_TOOL_NAME_LENGTH && !RESERVED.contains(&name.as_str()));
            prop_assert!(name.starts_with(|ch: char| ch.is_ascii_lowercase()), "{}", name);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
        }
        let unique: HashSet<&String> = names.iter().collect();
        prop_assert_eq!(unique.len(), names.len());
        let mut turned = inputs.clone();
        turned.rotate_left(turn % inputs.len());
        let mut again = name_operations(&turned);
        again.rotate_right(turn % inputs.len());
        let sorted = |names: &[String]| { let mut names = names.to_vec(); names.sort(); names };
        prop_assert_eq!(sorted(&again), sorted(&names));
        let keys: HashSet<(usize, &String, &String)> = seeds.iter().map(|(method, path, id)| (*method, path, id)).collect();
        if keys.len() == seeds.len() {
            prop_assert_eq!(again, names);
        }
    }
}
