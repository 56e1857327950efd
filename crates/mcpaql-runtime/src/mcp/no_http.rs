//! Without the feature `http`, every request arrives over a byte stream, which cancels calls and carries questions by itself.

use super::client::ClientMailbox;
use crate::caller::CallerName;
use rmcp::model::{Extensions, RequestId};
use std::convert::Infallible;
use std::sync::Arc;
use uuid::Uuid;

/// The conversations of clients over HTTP, of which there are none.
#[derive(Default)]
pub(super) struct NoConversations;

pub(super) use NoConversations as Conversations;

/// A call that only its connection can cancel.
pub(super) struct ConnectionCall;

impl NoConversations {
    pub(super) fn register(self: &Arc<Self>, _request: &Extensions, _id: &RequestId) -> ConnectionCall {
        ConnectionCall
    }
}

impl ConnectionCall {
    pub(super) async fn cancelled(&self) {
        std::future::pending().await
    }
}

pub(super) fn is_http(_request: &Extensions) -> bool {
    false
}

pub(super) fn name_of(_request: &Extensions) -> Option<CallerName> {
    None
}

pub(super) fn headers_of(_request: &Extensions) -> Option<Arc<Infallible>> {
    None
}

pub(super) fn mailbox_of(_request: &Extensions) -> Option<&ClientMailbox> {
    None
}

pub(super) fn session_id_of(_request: &Extensions) -> Option<&str> {
    None
}

pub(super) fn parse_session_id(_name: &str) -> Option<Uuid> {
    None
}
