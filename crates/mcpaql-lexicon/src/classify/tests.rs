//! Tests of the classifier: what each kind of operation is, and traps that must not become reads.

use super::*;

fn http<'a>(method: &'a str, path: &'a str, name: &'a str, summary: &'a str) -> Evidence<'a> {
    Evidence { method: Some(method), path: Some(path), name, summary, ..Evidence::default() }
}

#[test]
fn every_method_has_its_usual_effect() {
    for (method, path, name, effect) in [
        ("GET", "/users", "listUsers", Effect::Read),
        ("GET", "/users/{id}", "", Effect::Read),
        ("HEAD", "/users/{id}", "", Effect::Read),
        ("POST", "/users", "", Effect::Create),
        ("POST", "/users", "createUser", Effect::Create),
        ("POST", "/v1/charges/{charge}", "PostChargesCharge", Effect::Update),
        ("PUT", "/users/{id}", "", Effect::Set),
        ("PUT", "/users/{id}", "updateUser", Effect::Set),
        ("PATCH", "/users/{id}", "users/update", Effect::Update),
        ("DELETE", "/users/{id}", "", Effect::Delete),
        ("get", "/users", "", Effect::Read),
        ("PURGE", "/cache", "", Effect::Create),
    ] {
        assert_eq!(classify(&http(method, path, name, "")).effect, effect, "{method} {path} {name}");
    }
}

#[test]
fn nouns_that_look_like_verbs_are_nouns() {
    for (method, path, name, summary, effect) in [
        (
            "PATCH",
            "/volumeclaims/{name}",
            "patchCoreV1VolumeClaim",
            "partially update the claim",
            Effect::Update,
        ),
        ("POST", "/checkout/sessions", "PostCheckoutSessions", "Creates a Session object.", Effect::Create),
        ("POST", "/link_tokens", "PostLinkTokens", "", Effect::Create),
        ("PUT", "/policies/{id}", "alertPolicy", "Update alert policy", Effect::Set),
        ("POST", "/transfer/repayment/list", "transferRepaymentList", "Lists repayments", Effect::Read),
    ] {
        assert_eq!(classify(&http(method, path, name, summary)).effect, effect, "{name}");
    }
}

#[test]
fn a_post_that_does_not_say_that_it_creates_executes() {
    for (path, name, summary) in [
        ("/vehicles/{id}/scrap", "scrap_vehicle", "Scrap a vehicle"),
        ("/me/player/next", "skip-to-next-track", "Skip To Next"),
        ("/reports/mileage", "mileage_report", "Mileage between two dates"),
        ("/details", "", "Get the details of a login"),
        ("/candidates", "candidates", "Identify the candidates"),
    ] {
        let found = classify(&http("POST", path, name, summary));
        assert_eq!((found.effect, found.served_category()), (Effect::Execute, Category::Execute), "{path}");
    }
}

#[test]
fn what_a_later_verb_destroys_is_destructive() {
    for (name, danger) in [
        ("retry_destroy", Danger::Destructive),
        ("invalidateSessions", Danger::Destructive),
        ("undo_delete", Danger::Reversible),
        ("retry_upload", Danger::Reversible),
    ] {
        assert_eq!(classify(&http("POST", "/jobs/{id}/x", name, "")).danger, danger, "{name}");
    }
}

#[test]
fn posts_on_action_paths_do_not_create() {
    for (path, name, effect) in [
        ("/repos/{o}/{r}/merges", "repos/merge", Effect::Execute),
        ("/repos/{o}/{r}/pulls/{n}/merge", "", Effect::Execute),
        ("/repos/{o}/{r}/dispatches", "repos/create-dispatch-event", Effect::Execute),
        (
            "/repos/{o}/{r}/actions/workflows/{id}/dispatches",
            "actions/create-workflow-dispatch",
            Effect::Execute,
        ),
        ("/v1/{name}:cancel", "jobs.cancel", Effect::Execute),
        ("/runs/{id}/rerun", "actions/re-run-workflow", Effect::Execute),
        ("/servers/{id}/start", "", Effect::Execute),
        ("/droplets/{id}/actions", "", Effect::Execute),
        ("/sim_cards/{id}/actions/retry", "", Effect::Execute),
        ("/reviews/{id}/approve", "", Effect::Execute),
        ("/messages/send", "", Effect::Send),
        ("/users/{id}/delete", "", Effect::Delete),
        ("/users:batchDelete", "users.batchDelete", Effect::Delete),
        ("/projects/{id}/archive", "", Effect::SoftDelete),
        ("/projects/{id}/disable", "", Effect::SoftDelete),
        ("/issues/{id}/lock", "", Effect::Set),
        ("/session/logout", "", Effect::Session),
        ("/vms", "VirtualMachines_CreateOrUpdate", Effect::Set),
    ] {
        assert_eq!(classify(&http("POST", path, name, "")).effect, effect, "{path} {name}");
    }
}

#[test]
fn a_post_reads_where_two_kinds_of_evidence_agree() {
    for (path, name, summary, collection) in [
        ("/users/search", "searchUsers", "", None),
        ("/v1/users:batchGet", "users.batchGet", "Gets several users.", None),
        ("/items/_search", "", "Search items", None),
        ("/contacts/lookup", "", "", Some(true)),
        ("/contacts/count", "countContacts", "", None),
        ("/orders/validate", "validateOrder", "", None),
        ("/v1/accounts/list", "", "Returns all accounts", Some(true)),
        ("/tables/{id}/rows/query", "queryRows", "", None),
        ("/#X-Amz-Target=DynamoDB.ListTables", "ListTables", "Returns an array of table names", None),
    ] {
        let evidence = Evidence { answers_collection: collection, ..http("POST", path, name, summary) };
        let decision = classify(&evidence);
        assert_eq!(decision.category, Category::Read, "{path} {name}: {decision:?}");
        assert!(decision.review.is_none() && decision.confidence > Confidence::Low);
        let kinds: std::collections::HashSet<EvidenceKind> =
            decision.reasons.iter().map(|reason| reason.evidence).collect();
        assert!(kinds.len() >= 3, "the method and two more kinds: {decision:?}");
    }
}

#[test]
fn a_post_that_might_read_but_might_not_is_listed_for_review() {
    for (path, name, summary) in [
        ("/users/search", "", ""),
        ("/users", "searchUsers", ""),
        ("/users", "getUsers", "Get users"),
        ("/#X-Amz-Target=DynamoDB.ListTables", "ListTables", ""),
        ("/query", "PostQuery", "Query the database"),
        ("/v1/tables/query", "queryTable", "Runs a SQL statement"),
    ] {
        let decision = classify(&http("POST", path, name, summary));
        assert_ne!(decision.category, Category::Read, "{path} {name}");
        assert!(decision.review.is_some(), "{path} {name}: {decision:?}");
    }
}

#[test]
fn traps_never_become_reads() {
    for (path, name, summary) in [
        ("/documents/{id}/find_and_replace", "find_and_replace", "Find and replace text"),
        ("/text/search", "search_and_replace", "Search and replace"),
        ("/users/get", "getOrCreateUser", "Get or create a user"),
        ("/notifications/list", "mark_all_notifications_read", "List notifications as read"),
        ("/notifications/{id}/read", "readNotification", "Reads a notification"),
        ("/videos/{id}/view", "viewVideo", "View a video"),
        ("/users/search", "searchUsers", "Search users and save the result"),
        ("/users/search/export", "searchExport", "Export a search"),
        ("/reports/get", "generateReport", "Get a generated report"),
        ("/files/get", "downloadFile", "Get a file"),
        ("/oauth/get", "getAccessToken", "Get an access token"),
        ("/searches", "createSearch", "Create a search"),
        ("/submissions/{id}:return", "submissions.return", "Returns a student submission"),
        ("/queries/check", "startQuery", "Check a query"),
        ("/imports/preview", "importZip", "Preview"),
        ("/hooks/{id}/ping", "pingHook", "Ping a hook"),
        ("/carts/find", "findCart", "Finds a cart. Creates one where there is none."),
    ] {
        let evidence = Evidence {
            answers_collection: Some(true),
            description: summary,
            ..http("POST", path, name, summary)
        };
        let decision = classify(&evidence);
        assert_ne!(decision.category, Category::Read, "{path} {name}: {decision:?}");
    }
}

#[test]
fn a_get_that_acts_is_not_published_as_a_read() {
    for (path, name, summary, effect) in [
        ("/logout", "", "", Effect::Session),
        ("/users/delete", "", "", Effect::Delete),
        ("/users/deleteAll", "", "", Effect::Delete),
        ("/orders/{id}/cancel", "getOrdersCancel", "", Effect::Execute),
        ("/jobs/{id}/trigger", "", "", Effect::Execute),
        ("/mail/send", "", "", Effect::Send),
        ("/unsubscribe", "", "", Effect::Unlink),
        ("/users/{id}/activate", "", "", Effect::Set),
        ("/#Action=DeleteBucket", "GET_DeleteBucket", "", Effect::Delete),
        ("/?action=DeleteUser", "", "", Effect::Delete),
        ("/chat.delete", "chat_delete", "", Effect::Delete),
        ("/users", "get_or_create_user", "", Effect::Create),
        ("/token", "", "Revokes the token", Effect::Unlink),
        ("/#Action=RunInstances", "GET_RunInstances", "Launches instances", Effect::Execute),
        ("/#Action=AdvertiseCidr", "GET_AdvertiseCidr", "Advertises a range", Effect::Execute),
        ("/#Action=Subscribe", "GET_Subscribe", "", Effect::Execute),
        ("/setText", "setTextUsingGET", "sets the text of a pad", Effect::Set),
        ("/views.open", "views_open", "Open a view for a user.", Effect::Set),
        ("/config/reload", "", "", Effect::Execute),
    ] {
        let decision = classify(&http("GET", path, name, summary));
        assert_eq!(decision.effect, effect, "{path} {name}: {decision:?}");
        assert!(decision.review.is_some());
    }
}

#[test]
fn a_get_that_only_sounds_like_acting_stays_a_read() {
    for (path, name, summary) in [
        ("/gists/{id}/star", "gists/check-is-starred", "Check if a gist is starred"),
        ("/reports/{id}", "generateReport", "Generate a report"),
        ("/users/delta()", "users.delta", "Invoke function delta"),
        ("/releases/latest", "repos/get-latest-release", "Get the latest release"),
        ("/exports/{id}/download", "downloadExport", ""),
        ("/deleted", "listDeleted", ""),
        ("/updates", "", "Get updates"),
        ("/archive/{id}", "archive", ""),
        ("/settings", "settings", ""),
        ("/users/{id}/update", "", "Returns the last update"),
    ] {
        let decision = classify(&http("GET", path, name, summary));
        assert_eq!(decision.category, Category::Read, "{path} {name}: {decision:?}");
        assert!(decision.confidence > Confidence::Low);
    }
}

#[test]
fn connections_are_set_added_and_ended() {
    let decide = |method, path, name| classify(&http(method, path, name, ""));
    let add = decide("PUT", "/repos/{o}/{r}/collaborators/{username}", "repos/add-collaborator");
    assert_eq!((add.effect, add.idempotent), (Effect::Append, Some(true)));
    let star = decide("PUT", "/user/starred/{owner}/{repo}", "activity/star-repo-for-authenticated-user");
    assert_eq!((star.effect, star.idempotent), (Effect::Set, Some(true)));
    let membership = decide("PUT", "/teams/{team}/memberships/{user}", "");
    assert_eq!(membership.effect, Effect::Set);
    assert!(membership.reasons.iter().any(|reason| reason.evidence == EvidenceKind::Path));
    for (path, name) in [
        ("/repos/{o}/{r}/collaborators/{username}", "repos/remove-collaborator"),
        ("/user/starred/{owner}/{repo}", ""),
        ("/subscriptions/{id}", "unsubscribe"),
    ] {
        assert_eq!(decide("DELETE", path, name).effect, Effect::Unlink, "{path}");
    }
    assert_eq!(decide("PUT", "/repos/{o}/{r}/pulls/{n}/merge", "pulls/merge").effect, Effect::Execute);
}

#[test]
fn danger_follows_the_words() {
    for (method, path, name, danger) in [
        ("GET", "/users", "listUsers", Danger::Safe),
        ("GET", "/force", "getForce", Danger::Safe),
        ("POST", "/users", "createUser", Danger::Reversible),
        ("DELETE", "/users/{id}", "deleteUser", Danger::Destructive),
        ("DELETE", "/users/{id}", "users#destroy", Danger::Destructive),
        ("POST", "/cache/purge", "purgeCache", Danger::Dangerous),
        ("POST", "/runs/{id}/force-cancel", "forceCancelRun", Danger::Dangerous),
        ("POST", "/users/bulk-delete", "", Danger::Dangerous),
        ("DELETE", "/users", "deleteAllUsers", Danger::Forbidden),
        ("POST", "/tables/{id}/truncate", "truncateTable", Danger::Forbidden),
    ] {
        assert_eq!(classify(&http(method, path, name, "")).danger, danger, "{method} {path} {name}");
    }
}

#[test]
fn a_declaration_ends_the_discussion() {
    let evidence = Evidence { declared: Some(Effect::Read), ..http("POST", "/users", "createUser", "") };
    let decision = classify(&evidence);
    assert_eq!((decision.category, decision.confidence), (Category::Read, Confidence::High));
}

#[test]
fn the_answer_is_asked_for_only_where_it_matters() {
    assert!(needs_answer_shape(&http("POST", "/users/search", "", "")));
    assert!(!needs_answer_shape(&http("POST", "/users", "createUser", "")));
    assert!(!needs_answer_shape(&http("GET", "/users", "listUsers", "")));
}

fn tool<'a>(name: &'a str, description: &'a str, read_only: Option<bool>) -> Classification {
    let annotations = ToolAnnotations { read_only, ..ToolAnnotations::default() };
    classify(&Evidence { name, description, annotations, ..Evidence::default() })
}

#[test]
fn a_name_alone_proposes_but_does_not_publish_a_read() {
    let alone = tool("list_users", "", None);
    assert_eq!((alone.category, alone.served_category()), (Category::Read, Category::Execute));
    let described = tool("list_users", "Lists all users.", None);
    assert_eq!(described.served_category(), Category::Read);
    let contradicted = tool("get_report", "Gets a report. Creates it where there is none.", None);
    assert_eq!(contradicted.served_category(), Category::Execute);
    let doubtful = tool("lighthouse_audit", "Audits a page. Full reports are saved to disk.", None);
    assert_eq!(doubtful.served_category(), Category::Execute);
}

#[test]
fn a_name_that_its_author_chose_reads_unless_something_speaks_against_it() {
    let authored = |name: &str, description: &str| {
        classify(&Evidence { name, description, named_by_author: true, ..Evidence::default() })
            .served_category()
    };
    for (name, description) in [
        ("get_balance", "Balance of the account, in cents."),
        ("get_balance", "Returns the balance."),
        ("list_accounts", "All accounts."),
        ("get_c", ""),
        ("search_users", ""),
    ] {
        assert_eq!(authored(name, description), Category::Read, "{name}: {description}");
    }
    for (name, description) in [
        ("get_or_create_user", ""),
        ("list_and_delete", ""),
        ("fetch_and_delete", ""),
        ("get_rid_of_file", ""),
        ("check_out", ""),
        ("get_report", "Creates a report where there is none."),
        ("export_page", ""),
        ("status", ""),
        ("frobnicate", ""),
    ] {
        assert_ne!(authored(name, description), Category::Read, "{name}: {description}");
    }
    assert_eq!(authored("list_and_delete", ""), Category::Delete);
    assert_eq!(authored("create_user", ""), Category::Create);
}

#[test]
fn of_a_name_and_an_announcement_the_riskier_counts() {
    let sender = tool("send_email", "Sends an email.", Some(true));
    assert_eq!(sender.category, Category::Execute);
    assert!(sender.review.is_some());
    let writer = tool("get_page", "Gets a page and saves it.", Some(false));
    assert_ne!(writer.category, Category::Read);
    assert_eq!(tool("list_users", "", Some(true)).served_category(), Category::Read);
    assert_eq!(tool("document_manifest", "", Some(true)).served_category(), Category::Read);
    assert_ne!(tool("document_manifest", "", None).category, Category::Read);
}

#[test]
fn a_read_that_is_only_a_guess_is_not_safe() {
    let guess = tool("list_users", "", None);
    assert_eq!((guess.danger, guess.idempotent), (Danger::Reversible, None));
    let known = tool("list_users", "Lists all users.", None);
    assert_eq!((known.danger, known.idempotent), (Danger::Safe, Some(true)));
}

#[test]
fn an_announcement_counts_unless_the_name_surely_acts() {
    for (name, description, published, review) in [
        // Nouns that could be verbs.
        ("alert-policy-list", "List alert policies", Category::Read, false),
        ("browser_network_requests", "Returns all network requests", Category::Read, false),
        ("droplet-action", "Get a droplet action by ID", Category::Read, false),
        ("open_nodes", "Open specific nodes by their names", Category::Read, false),
        ("export_page", "Exports a page", Category::Read, false),
        // Verbs that make something, which may be only returned.
        ("generate_chart", "Generates a chart", Category::Read, true),
        // Verbs that certainly change something.
        ("delete_user", "Deletes a user", Category::Delete, true),
        ("mark_all_notifications_read", "Marks all as read", Category::Update, true),
        ("devserver.start", "Purpose Starts the server", Category::Execute, true),
        ("send_sms", "Sends a message", Category::Execute, true),
    ] {
        let decision = tool(name, description, Some(true));
        assert_eq!(
            (decision.served_category(), decision.review.is_some()),
            (published, review),
            "{name}: {decision:?}"
        );
    }
}

#[test]
fn a_tool_that_nobody_announced_reads_only_where_nothing_speaks_against_it() {
    for (name, description) in [
        ("get_rid_of_file", "Gets rid of a file"),
        ("get_rid_of_file", "Gets a file"),
        ("get_file", "Gets rid of a file"),
        ("count_down_delete", "count"),
        ("view_count_increment", "View count"),
        ("check_out", "Check out"),
        ("check_out", "Check it"),
        ("check_in", "Check in"),
        ("check_in", "Check it"),
        ("check_book", "Checks out a book"),
        ("query_db", "Queries the database with any SQL"),
        ("query_things", "Query things with a raw query"),
        ("query_db", "Query it"),
        ("query", "Query the database"),
        ("read_in_data", "Read in data"),
        ("read_data", "Reads in data"),
        ("list_item_for_sale", "List an item for sale"),
        ("list_item", "Lists an item for sale"),
        ("list_item_on_market", "List an item"),
        ("view_as_user", "View as another user"),
        ("view_drop_table", "View"),
        ("read_receipt_send", "Read"),
        ("get_user_deleteuser", "Get a user"),
        ("check_server_start", "Check the server"),
        ("log_event", "Log an event"),
        ("index_repository", "Index a repository"),
        ("load_extension", "Load an extension"),
    ] {
        let decision = tool(name, description, None);
        assert_ne!(decision.served_category(), Category::Read, "{name}: {decision:?}");
        assert_ne!(decision.danger, Danger::Safe, "{name}: {decision:?}");
        assert!(decision.review.is_some() || decision.confidence == Confidence::Low, "{name}: {decision:?}");
    }
    assert_eq!(tool("count_down_delete", "count", None).category, Category::Delete);
    for (name, description) in [
        ("list_items_on_page", "List items"),
        ("get_item", "Get an item"),
        ("search_code", "Search code in repositories"),
        ("check_inventory", "Checks the inventory"),
        ("read_messages", "Read messages"),
        ("count_users", "Count users"),
    ] {
        let decision = tool(name, description, None);
        assert_eq!(decision.served_category(), Category::Read, "{name}: {decision:?}");
    }
}

#[test]
fn an_announced_read_whose_name_may_act_is_reviewed() {
    for (name, category) in [
        ("view_drop_table", Category::Delete),
        ("read_receipt_send", Category::Execute),
        ("view_count_increment", Category::Update),
        ("count_down_delete", Category::Delete),
        ("list_delete_item", Category::Delete),
        ("get_rid_of_file", Category::Delete),
        ("talk_mark_as_read", Category::Update),
    ] {
        let decision = tool(name, "", Some(true));
        assert_eq!(decision.served_category(), category, "{name}: {decision:?}");
        assert!(decision.review.is_some(), "{name}");
    }
    for name in [
        "get_send_status",
        "list_start_times",
        "search_create_events",
        "read_update_history",
        "list_delete_requests",
        "get_last_update",
        "list_data_sets",
    ] {
        let decision = tool(name, "", Some(true));
        assert_eq!(
            (decision.served_category(), decision.review.as_deref()),
            (Category::Read, None),
            "{name}"
        );
    }
}

#[test]
fn of_hints_that_contradict_each_other_the_worse_counts() {
    let classify_hints = |name, read_only, destructive| {
        let annotations = ToolAnnotations { read_only, destructive: Some(destructive), idempotent: None };
        classify(&Evidence { name, description: "Gets it.", annotations, ..Evidence::default() })
    };
    for (name, read_only, destructive, published, danger) in [
        ("get_user", Some(true), true, Category::Execute, Danger::Destructive),
        ("delete_user", Some(true), true, Category::Delete, Danger::Destructive),
        ("get_user", None, true, Category::Execute, Danger::Destructive),
        ("delete_user", Some(false), false, Category::Delete, Danger::Destructive),
    ] {
        let decision = classify_hints(name, read_only, destructive);
        assert_eq!((decision.served_category(), decision.danger), (published, danger), "{name}");
        assert!(decision.review.is_some(), "{name}");
    }
    let update = classify_hints("update_user", Some(false), true);
    assert_eq!((update.danger, update.review), (Danger::Destructive, None));
    assert_eq!(classify_hints("get_user", Some(true), false).review, None);
}

#[test]
fn a_tool_that_gets_may_speak_of_files_but_not_of_deeds() {
    for (name, description, published) in [
        ("get_file_contents", "Get the contents of a file", Category::Read),
        ("get_job_status", "Get the status of a job", Category::Read),
        ("get_page", "Gets a page and saves it to a file", Category::Execute),
        ("get_access_token", "Gets an access token", Category::Execute),
        ("queue_get_message", "Get a message from a queue", Category::Execute),
    ] {
        assert_eq!(tool(name, description, None).served_category(), published, "{name}");
    }
}

#[test]
fn names_of_tools_are_read_in_either_order() {
    for (name, effect) in [
        ("issue_read", Effect::Read),
        ("alert-policy-get", Effect::Read),
        ("mark_all_notifications_read", Effect::Set),
        ("find_and_replace", Effect::Set),
        ("get_or_create_user", Effect::Create),
        ("performance_start_trace", Effect::Execute),
        ("delete_repo", Effect::Delete),
        ("create_or_update_file", Effect::Set),
        ("take_snapshot", Effect::Create),
    ] {
        assert_eq!(tool(name, "", None).effect, effect, "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn nothing_in_a_document_makes_it_panic(method in "[A-Za-z]{0,6}", path in "\\PC{0,40}", name in "\\PC{0,30}", summary in "\\PC{0,60}") {
        let decision = classify(&Evidence { description: &summary, ..http(&method, &path, &name, &summary) });
        proptest::prop_assert_eq!(decision.category, decision.effect.category());
        let _ = tool(&name, &summary, None);
    }
}

#[test]
fn what_also_writes_is_no_read() {
    for (name, summary, description) in [
        ("CheckInLicense", "Checks in the license", "Check in a license."),
        ("ListSecrets", "Lists secrets", "Lists secrets. Also can be used to update the key."),
    ] {
        let path = format!("/licenses/{}", name.to_lowercase());
        let evidence =
            Evidence { description, answers_collection: Some(true), ..http("POST", &path, name, summary) };
        assert_ne!(classify(&evidence).category, Category::Read, "{name}");
    }
}
