//! Correct tools of several shapes: no rule has anything to say about them.

use serde_json::{Map, Value, json};

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Read,
    Create,
    Append,
    Send,
    Update,
    VersionedUpdate,
    Set,
    Delete,
    Trash,
    Restore,
}

/// A correct tool.
pub(super) struct Fixture {
    pub(super) shape: Shape,
    pub(super) tool: Value,
}

impl Shape {
    /// Returns the hints of such a tool.
    fn hints(self) -> Value {
        let (read, destructive, idempotent) = match self {
            Shape::Read => (true, false, true),
            Shape::Create | Shape::Append | Shape::Send => (false, false, false),
            Shape::Update | Shape::Set => (false, true, true),
            Shape::VersionedUpdate => (false, true, false),
            Shape::Delete | Shape::Trash => (false, true, true),
            Shape::Restore => (false, false, true),
        };
        json!({"readOnlyHint": read, "destructiveHint": destructive, "idempotentHint": idempotent, "openWorldHint": true})
    }
}

/// One row for each tool: shape, name, title, description, parameters (`*` marks required ones).
const ROWS: &[(Shape, &str, &str, &str, &[&str])] = &[
    (
        Shape::Read,
        "desk_search_tickets",
        "Search tickets",
        "Finds tickets by words in their subject, newest first.",
        &["*query", "limit"],
    ),
    (
        Shape::Read,
        "desk_get_customer",
        "Get customer",
        "Returns one customer with contact details and open orders.",
        &["*customer_id"],
    ),
    (
        Shape::Read,
        "desk_list_queues",
        "List queues",
        "Lists all queues with the number of waiting people.",
        &[],
    ),
    (
        Shape::Create,
        "desk_create_ticket",
        "Create ticket",
        "Opens a case for a customer and returns its number.",
        &["*subject", "*body"],
    ),
    (
        Shape::Create,
        "desk_upload_attachment",
        "Upload attachment",
        "Stores a document and returns its number.",
        &["*content"],
    ),
    (
        Shape::Append,
        "desk_append_note",
        "Append note",
        "Appends one remark to the end of a case.",
        &["*ticket_id", "*text"],
    ),
    (
        Shape::Send,
        "desk_send_reply",
        "Send reply",
        "Sends an answer to the customer by mail.",
        &["*ticket_id", "*text"],
    ),
    (
        Shape::Update,
        "desk_update_profile",
        "Update profile",
        "Changes the phone number or language of one customer.",
        &["*customer_id", "phone", "language"],
    ),
    (
        Shape::VersionedUpdate,
        "desk_edit_article",
        "Edit article",
        "Changes the text of an article, if nobody else has changed it since.",
        &["*article_id", "*text", "*etag"],
    ),
    (
        Shape::Set,
        "desk_set_priority",
        "Set priority",
        "Sets how urgent a case is.",
        &["*ticket_id", "*priority"],
    ),
    (
        Shape::Set,
        "desk_assign_agent",
        "Assign agent",
        "Assigns a case to one person of the team.",
        &["*ticket_id", "*agent_id"],
    ),
    (
        Shape::Delete,
        "desk_delete_macro",
        "Delete macro",
        "Deletes a text block that nobody uses any more.",
        &["*macro_id"],
    ),
    (
        Shape::Trash,
        "desk_trash_message",
        "Trash message",
        "Moves one message to the trash.",
        &["*message_id"],
    ),
    (
        Shape::Restore,
        "desk_restore_message",
        "Restore message",
        "Restores one message from the trash.",
        &["*message_id"],
    ),
];

/// Returns the correct tools.
pub(super) fn fixtures() -> Vec<Fixture> {
    ROWS.iter()
        .map(|(shape, name, title, about, params)| fixture(*shape, name, title, about, params))
        .collect()
}

fn fixture(shape: Shape, name: &str, title: &str, about: &str, params: &[&str]) -> Fixture {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in params {
        let bare = param.trim_start_matches('*');
        let kind = if bare == "limit" { "integer" } else { "string" };
        let words = bare.replace('_', " ");
        properties.insert(
            bare.to_owned(),
            json!({"type": kind, "description": format!("The {words}, as the desk shows it")}),
        );
        if bare != *param {
            required.push(bare);
        }
    }
    let mut annotations = shape.hints();
    annotations["title"] = title.into();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let tool = json!({"name": name, "title": title, "description": about, "inputSchema": schema, "annotations": annotations});
    Fixture { shape, tool }
}
