//! The Nextcloud example: titles, hints by effect, and updates that are guarded by an etag.

use super::{FakeApi, Row, assert_passes, assert_shows, data, refusal, replies, serve};
use crate::fixture::{TestClient, TestFolder};
use crate::openapi::ReceivedRequest;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const NOTE: &str = "/index.php/apps/notes/api/v1/notes/76";
const ICAL: &str = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:tea\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
const VCARD: &str = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Zoë\r\nEND:VCARD\r\n";
const LISTED: &str = r#"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:"/>"#;

fn reads() -> Value {
    json!({"readOnlyHint": true, "openWorldHint": true})
}

fn adds_or_changes() -> Value {
    json!({"idempotentHint": false, "openWorldHint": true})
}

fn deletes() -> Value {
    json!({"destructiveHint": true, "idempotentHint": true, "openWorldHint": true})
}

#[tokio::test]
async fn every_tool_has_a_title_and_the_hints_of_its_effect() {
    let (client, _place) = serve("nextcloud-adapter.md", &[]).await;
    let sets = json!({"idempotentHint": true, "openWorldHint": true});
    let session = json!({"readOnlyHint": false, "idempotentHint": false, "openWorldHint": true});
    let rows: [Row<'_>; 32] = [
        ("nc_notes_search_notes", "Search Notes", reads()),
        ("nc_notes_get_note", "Get Note", reads()),
        ("nc_webdav_list_directory", "List Files and Directories", reads()),
        ("nc_webdav_read_file", "Read File", reads()),
        ("nc_calendar_list_calendars", "List Calendars", reads()),
        ("nc_calendar_list_events", "List Calendar Events", reads()),
        ("nc_calendar_get_event", "Get Calendar Event", reads()),
        ("nc_contacts_list_contacts", "List Contacts", reads()),
        ("nc_contacts_get_contact", "Get Contact", reads()),
        ("deck_list_boards", "List Kanban Boards", reads()),
        ("deck_list_stacks", "List Kanban Stacks", reads()),
        ("nc_tables_list_tables", "List Tables", reads()),
        ("nc_tables_list_columns", "List Table Columns", reads()),
        ("nc_semantic_search", "Semantic Search", reads()),
        ("nc_semantic_get_result", "Get Semantic Search Result", reads()),
        ("check_logged_in", "Check Server Login Status", reads()),
        ("nc_notes_create_note", "Create Note", adds_or_changes()),
        ("nc_notes_append_content", "Append to Note", adds_or_changes()),
        ("nc_calendar_create_event", "Create Calendar Event", adds_or_changes()),
        ("nc_contacts_create_contact", "Create Contact", adds_or_changes()),
        ("deck_create_card", "Create Kanban Card", adds_or_changes()),
        ("nc_tables_create_row", "Create Table Row", adds_or_changes()),
        ("nc_notes_update_note", "Update Note", adds_or_changes()),
        ("nc_calendar_update_event", "Update Calendar Event", adds_or_changes()),
        ("nc_contacts_update_contact", "Update Contact", adds_or_changes()),
        ("deck_update_card", "Update Kanban Card", adds_or_changes()),
        ("nc_webdav_write_file", "Write File", sets),
        ("nc_notes_delete_note", "Delete Note", deletes()),
        ("nc_webdav_delete_resource", "Delete File or Directory", deletes()),
        ("nc_calendar_delete_event", "Delete Calendar Event", deletes()),
        ("nc_contacts_delete_contact", "Delete Contact", deletes()),
        ("provision_nextcloud_access", "Grant Server Access to Nextcloud", session),
    ];
    assert_shows(&client, &rows).await;
}

#[tokio::test]
async fn the_document_passes_its_convention() {
    assert_passes("nextcloud-adapter.md", &["--convention", "nextcloud"]).await;
}

/// A fake cloud with one note, whose etag changes with each update.
#[derive(Default)]
struct Cloud {
    version: u32,
    note: Option<Value>,
}

impl Cloud {
    fn etag(&self) -> String {
        format!("\"v{}\"", self.version)
    }

    fn answer(&mut self, request: &ReceivedRequest) -> Response {
        match (request.method.as_str(), request.target.as_str()) {
            ("PROPFIND", _) => {
                let head = [("content-type", "application/xml; charset=utf-8")];
                (StatusCode::MULTI_STATUS, head, LISTED).into_response()
            }
            ("GET", target) if target.ends_with(".vcf") => {
                ([("content-type", "text/vcard")], VCARD).into_response()
            }
            ("PUT", NOTE) if request.header("if-match") != Some(self.etag().as_str()) => {
                replies(412, json!({"id": 76, "etag": format!("v{}", self.version)}))
            }
            ("PUT", NOTE) => {
                self.version += 1;
                self.note = Some(request.json());
                replies(200, json!({"id": 76, "etag": format!("v{}", self.version)}))
            }
            ("PUT", target) if target.contains("/dav/") => match request.header("if-none-match") {
                Some("*") if target.ends_with("/taken.ics") => {
                    (StatusCode::PRECONDITION_FAILED, "<d:error/>").into_response()
                }
                _ => StatusCode::CREATED.into_response(),
            },
            ("DELETE", target) if target.ends_with("/77") => replies(404, json!([])),
            ("DELETE", _) => StatusCode::NO_CONTENT.into_response(),
            _ => replies(200, json!({"fine": true})),
        }
    }
}

struct Account {
    api: Arc<FakeApi>,
    cloud: Arc<Mutex<Cloud>>,
    client: TestClient,
    _place: TestFolder,
}

impl Account {
    async fn open() -> Account {
        let cloud = Arc::new(Mutex::new(Cloud::default()));
        let answering = Arc::clone(&cloud);
        let (api, url) = FakeApi::start(move |request| answering.lock().unwrap().answer(request)).await;
        let variables = [
            ("NEXTCLOUD_URL", url.as_str()),
            ("NEXTCLOUD_USER", "ada"),
            ("NEXTCLOUD_APP_PASSWORD", "l0velace"),
        ];
        let (client, place) = serve("nextcloud-adapter.md", &variables).await;
        Account { api, cloud, client, _place: place }
    }

    /// Makes a call that must succeed, and returns its request.
    async fn sent(&self, tool: &str, arguments: Value) -> ReceivedRequest {
        data(&self.client, tool, arguments).await;
        let sent = self.api.only_request();
        // base64 of `ada:l0velace`
        assert_eq!(sent.header("authorization"), Some("Basic YWRhOmwwdmVsYWNl"), "{tool}");
        assert_eq!(
            (sent.header("ocs-apirequest"), sent.header("accept")),
            (Some("true"), Some("application/json"))
        );
        sent
    }
}

#[tokio::test]
async fn reads_are_requests_without_a_body() {
    let account = Account::open().await;
    let event = json!({"calendar": "personal", "event": "tea"});
    let contact = json!({"addressbook": "contacts", "contact": "zoë/1"});
    for (tool, arguments, line) in [
        (
            "nc_notes_search_notes",
            json!({"query": "heat & light", "limit": 5}),
            "GET /ocs/v2.php/search/providers/notes/search?term=heat%20%26%20light&limit=5",
        ),
        ("nc_notes_get_note", json!({"note_id": 76}), "GET /index.php/apps/notes/api/v1/notes/76"),
        (
            "nc_webdav_read_file",
            json!({"path": "Documents/House plan.md"}),
            "GET /remote.php/dav/files/ada/Documents/House%20plan.md",
        ),
        ("nc_calendar_get_event", event, "GET /remote.php/dav/calendars/ada/personal/tea.ics"),
        (
            "nc_contacts_get_contact",
            contact,
            "GET /remote.php/dav/addressbooks/users/ada/contacts/zo%C3%AB%2F1.vcf",
        ),
        ("deck_list_boards", json!({}), "GET /index.php/apps/deck/api/v1.0/boards"),
        ("deck_list_stacks", json!({"board_id": 2}), "GET /index.php/apps/deck/api/v1.0/boards/2/stacks"),
        ("nc_tables_list_tables", json!({}), "GET /ocs/v2.php/apps/tables/api/2/tables"),
        (
            "nc_tables_list_columns",
            json!({"table_id": 4}),
            "GET /ocs/v2.php/apps/tables/api/2/columns/table/4",
        ),
        ("nc_semantic_get_result", json!({"task_id": 9}), "GET /ocs/v2.php/taskprocessing/task/9"),
        ("check_logged_in", json!({}), "GET /ocs/v2.php/cloud/user"),
    ] {
        let sent = account.sent(tool, arguments).await;
        assert_eq!((sent.request_line().as_str(), sent.body.len()), (line, 0));
    }
}

#[tokio::test]
async fn directories_calendars_and_address_books_are_listed_by_webdav() {
    let account = Account::open().await;
    for (tool, arguments, target, depth) in [
        ("nc_webdav_list_directory", json!({"path": "/"}), "/files/ada/", "1"),
        ("nc_webdav_list_directory", json!({"path": "/Holiday photos/"}), "/files/ada/Holiday%20photos", "1"),
        ("nc_webdav_list_directory", json!({"path": "a/b", "depth": "0"}), "/files/ada/a/b", "0"),
        ("nc_calendar_list_calendars", json!({}), "/calendars/ada/", "1"),
        ("nc_calendar_list_events", json!({"calendar": "personal"}), "/calendars/ada/personal", "1"),
        (
            "nc_contacts_list_contacts",
            json!({"addressbook": "contacts"}),
            "/addressbooks/users/ada/contacts",
            "1",
        ),
    ] {
        let sent = account.sent(tool, arguments).await;
        assert_eq!(sent.request_line(), format!("PROPFIND /remote.php/dav{target}"));
        assert_eq!((sent.header("depth"), sent.body.len()), (Some(depth), 0));
    }
    let listed = data(&account.client, "nc_calendar_list_calendars", json!({})).await;
    assert_eq!(listed, LISTED);
    let contact = json!({"addressbook": "contacts", "contact": "zoe"});
    assert_eq!(data(&account.client, "nc_contacts_get_contact", contact).await, VCARD);
}

#[tokio::test]
async fn creating_sends_json_or_a_text_that_overwrites_nothing() {
    let account = Account::open().await;
    let search =
        json!({"prompt": "how do we heat", "scopeType": "none", "scopeList": [], "scopeListMeta": ""});
    for (tool, arguments, line, body) in [
        (
            "nc_notes_create_note",
            json!({"title": "Heating", "content": "# How", "category": "House"}),
            "POST /index.php/apps/notes/api/v1/notes",
            json!({"title": "Heating", "content": "# How", "category": "House"}),
        ),
        (
            "deck_create_card",
            json!({"board_id": 2, "stack_id": 5, "title": "Sweep", "duedate": "2026-01-31T12:00:00Z"}),
            "POST /index.php/apps/deck/api/v1.0/boards/2/stacks/5/cards",
            json!({"title": "Sweep", "type": "plain", "order": 999, "duedate": "2026-01-31T12:00:00Z"}),
        ),
        (
            "nc_tables_create_row",
            json!({"table_id": 4, "data": {"17": "Screws", "18": 250}}),
            "POST /ocs/v2.php/apps/tables/api/2/tables/4/rows",
            json!({"data": {"17": "Screws", "18": 250}}),
        ),
        (
            "nc_semantic_search",
            json!({"input": search}),
            "POST /ocs/v2.php/taskprocessing/schedule",
            json!({"input": search, "type": "context_chat:context_chat_search", "appId": "mcpaql"}),
        ),
    ] {
        let sent = account.sent(tool, arguments).await;
        assert_eq!((sent.request_line().as_str(), sent.json()), (line, body));
        assert_eq!(sent.header("content-type"), Some("application/json"));
    }

    let event = json!({"calendar": "personal", "event": "tea", "ical": ICAL});
    let sent = account.sent("nc_calendar_create_event", event).await;
    assert_eq!(sent.request_line(), "PUT /remote.php/dav/calendars/ada/personal/tea.ics");
    assert_eq!((sent.text(), sent.header("if-none-match"), sent.header("if-match")), (ICAL, Some("*"), None));
    assert_eq!(sent.header("content-type"), Some("text/calendar; charset=utf-8"));

    let contact = json!({"addressbook": "contacts", "contact": "zoe", "vcard": VCARD});
    let sent = account.sent("nc_contacts_create_contact", contact).await;
    assert_eq!(sent.request_line(), "PUT /remote.php/dav/addressbooks/users/ada/contacts/zoe.vcf");
    assert_eq!((sent.text(), sent.header("if-none-match")), (VCARD, Some("*")));
    assert_eq!(sent.header("content-type"), Some("text/vcard; charset=utf-8"));

    let taken = json!({"calendar": "personal", "event": "taken", "ical": ICAL});
    let (code, _) = refusal(&account.client, "nc_calendar_create_event", taken).await;
    assert_eq!(code, "CONFLICT_VERSION_MISMATCH");
}

#[tokio::test]
async fn the_same_update_twice_fails_because_of_the_etag() {
    let account = Account::open().await;
    let change = json!({"note_id": 76, "etag": "\"v0\"", "category": "Work"});
    let sent = account.sent("nc_notes_update_note", change.clone()).await;
    assert_eq!(sent.request_line(), format!("PUT {NOTE}"));
    assert_eq!((sent.header("if-match"), sent.json()), (Some("\"v0\""), json!({"category": "Work"})));

    let (code, error) = refusal(&account.client, "nc_notes_update_note", change).await;
    assert_eq!(code, "CONFLICT_VERSION_MISMATCH");
    assert_eq!(
        error["details"]["upstream"]["body"]["etag"], "v1",
        "the caller can go on from there: {error}"
    );
    assert_eq!(account.api.received_requests().len(), 1, "a guarded update is not repeated");

    let append = json!({"note_id": 76, "etag": "\"v1\"", "content": "milk\nbread"});
    let sent = account.sent("nc_notes_append_content", append.clone()).await;
    assert_eq!((sent.header("if-match"), sent.json()), (Some("\"v1\""), json!({"content": "milk\nbread"})));
    assert_eq!(account.cloud.lock().unwrap().note, Some(json!({"content": "milk\nbread"})));
    let (code, _) = refusal(&account.client, "nc_notes_append_content", append).await;
    assert_eq!(code, "CONFLICT_VERSION_MISMATCH");
}

#[tokio::test]
async fn an_update_without_a_usable_etag_is_not_sent() {
    let account = Account::open().await;
    let event = json!({"calendar": "personal", "event": "tea", "ical": ICAL});
    let contact = json!({"addressbook": "contacts", "contact": "zoe", "vcard": VCARD});
    for (tool, arguments) in [
        ("nc_notes_update_note", json!({"note_id": 76, "title": "Warmth"})),
        ("nc_notes_append_content", json!({"note_id": 76, "content": "milk"})),
        ("nc_calendar_update_event", event),
        ("nc_contacts_update_contact", contact),
    ] {
        let (code, error) = refusal(&account.client, tool, arguments.clone()).await;
        assert_eq!(
            (code.as_str(), &error["details"]["param_name"]),
            ("VALIDATION_MISSING_PARAM", &json!("etag"))
        );
        let mut bare = arguments;
        bare["etag"] = json!("v0");
        let (code, _) = refusal(&account.client, tool, bare).await;
        assert_eq!(code, "VALIDATION_INVALID_VALUE", "Nextcloud would refuse it whatever the note's state");
    }
    assert!(account.api.received_requests().is_empty());
}

#[tokio::test]
async fn updates_replace_the_version_of_the_etag() {
    let account = Account::open().await;
    let event = json!({"calendar": "personal", "event": "tea", "etag": "\"e1\"", "ical": ICAL});
    let sent = account.sent("nc_calendar_update_event", event).await;
    assert_eq!(sent.request_line(), "PUT /remote.php/dav/calendars/ada/personal/tea.ics");
    assert_eq!(
        (sent.text(), sent.header("if-match"), sent.header("if-none-match")),
        (ICAL, Some("\"e1\""), None)
    );

    let contact = json!({"addressbook": "contacts", "contact": "zoe", "etag": "W/\"c1\"", "vcard": VCARD});
    let sent = account.sent("nc_contacts_update_contact", contact).await;
    assert_eq!(sent.request_line(), "PUT /remote.php/dav/addressbooks/users/ada/contacts/zoe.vcf");
    assert_eq!((sent.text(), sent.header("if-match")), (VCARD, Some("W/\"c1\"")));

    let card = json!({"board_id": 2, "stack_id": 5, "card_id": 81, "title": "Sweep", "type": "plain", "owner": "ada"});
    let sent = account.sent("deck_update_card", card).await;
    assert_eq!(sent.request_line(), "PUT /index.php/apps/deck/api/v1.0/boards/2/stacks/5/cards/81");
    assert_eq!(sent.json(), json!({"title": "Sweep", "type": "plain", "owner": "ada"}));

    let file = json!({"path": "Notes/a b.txt", "content": "Hello\n"});
    for _ in 0..2 {
        let sent = account.sent("nc_webdav_write_file", file.clone()).await;
        assert_eq!(sent.request_line(), "PUT /remote.php/dav/files/ada/Notes/a%20b.txt");
        assert_eq!((sent.text(), sent.header("if-match")), ("Hello\n", None));
    }
}

#[tokio::test]
async fn deleting_names_one_thing_and_never_the_whole_folder() {
    let account = Account::open().await;
    for (tool, arguments, target) in [
        ("nc_notes_delete_note", json!({"note_id": 76}), "/index.php/apps/notes/api/v1/notes/76"),
        ("nc_webdav_delete_resource", json!({"path": "old/a.txt"}), "/remote.php/dav/files/ada/old/a.txt"),
        (
            "nc_calendar_delete_event",
            json!({"calendar": "personal", "event": "tea"}),
            "/remote.php/dav/calendars/ada/personal/tea.ics",
        ),
        (
            "nc_contacts_delete_contact",
            json!({"addressbook": "contacts", "contact": "zoe"}),
            "/remote.php/dav/addressbooks/users/ada/contacts/zoe.vcf",
        ),
    ] {
        assert_eq!(account.sent(tool, arguments).await.request_line(), format!("DELETE {target}"));
    }
    let (code, _) = refusal(&account.client, "nc_notes_delete_note", json!({"note_id": 77})).await;
    assert_eq!(code, "NOT_FOUND_RESOURCE", "a deleted record is not found");
    account.api.received_requests();
    for path in ["/", "", "../bob", "a/../../bob", "a//b"] {
        let (code, _) = refusal(&account.client, "nc_webdav_delete_resource", json!({"path": path})).await;
        assert_eq!(code, "VALIDATION_INVALID_VALUE", "{path}");
    }
    assert!(account.api.received_requests().is_empty());
}

#[tokio::test]
async fn a_login_starts_without_credentials() {
    let account = Account::open().await;
    data(&account.client, "provision_nextcloud_access", json!({})).await;
    let sent = account.api.only_request();
    assert_eq!(
        (sent.request_line().as_str(), sent.header("authorization")),
        ("POST /index.php/login/v2", None)
    );
}
