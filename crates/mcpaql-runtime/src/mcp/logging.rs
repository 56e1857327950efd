//! How much of what servers log their clients want to hear.
//!
//! A client says so once for its connection or its conversation, with `logging/setLevel`, or, in the revisions without a handshake, with
//! each request. Who said nothing hears everything in the first case and nothing in the second, as the protocol has it.

use super::conversation;
use super::handler::{Server, is_stateless};
use crate::protocol::{LOG_LEVEL, Level, LogWish, SET_LEVEL};
use crate::service::Service;
use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Maximum conversations whose level is remembered; the oldest are forgotten first.
const MAX_REMEMBERED: usize = 10_000;

const NAMELESS: &str = "The level cannot be kept for a client that does not say who it is: send the Mcp-Session-Id header that initialize \
     was answered with.";

/// What a client is told that wants a level which is none.
pub(super) const LEVELS: &str = "The params of logging/setLevel need a level: debug, info, notice, warning, error, critical, alert or emergency.";

/// The levels that clients have set.
#[derive(Default)]
pub(super) struct Levels {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Of the one client of a connection.
    connection: Option<Level>,
    /// Of clients over HTTP; their ids are in the order in which they began.
    conversations: BTreeMap<Uuid, Level>,
}

/// Whose level it is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Connection,
    Conversation(Uuid),
    /// Nobody who could be told from others.
    Nowhere,
}

impl Place {
    fn of(request: &Extensions) -> Place {
        if request.get::<Parts>().is_none() {
            return Place::Connection;
        }
        let id = conversation::of(request).and_then(conversation::id);
        id.map_or(Place::Nowhere, Place::Conversation)
    }
}

impl Levels {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False where there is nobody to remember it for.
    fn set(&self, place: Place, level: Level) -> bool {
        let mut inner = self.inner();
        match place {
            Place::Connection => inner.connection = Some(level),
            Place::Conversation(id) => {
                inner.conversations.insert(id, level);
                if inner.conversations.len() > MAX_REMEMBERED {
                    inner.conversations.pop_first();
                }
            }
            Place::Nowhere => return false,
        }
        true
    }

    fn wish(&self, place: Place) -> LogWish {
        let inner = self.inner();
        let level = match place {
            Place::Connection => inner.connection,
            Place::Conversation(id) => inner.conversations.get(&id).copied(),
            Place::Nowhere => None,
        };
        level.map_or(LogWish::Everything, LogWish::From)
    }
}

/// Where a client's wish is found, also when it changes while a call runs.
#[derive(Clone, Default)]
pub(super) enum Hearing {
    #[default]
    Nobody,
    Request(LogWish),
    Set(Arc<Levels>, Place),
}

impl Hearing {
    pub(super) fn wish(&self) -> LogWish {
        match self {
            Hearing::Nobody => LogWish::Nothing,
            Hearing::Request(wish) => *wish,
            Hearing::Set(levels, place) => levels.wish(*place),
        }
    }
}

impl<S: Service> Server<S> {
    /// Where the wish of whoever sent a request is found.
    pub(super) fn hearing(&self, context: &RequestContext<RoleServer>) -> Hearing {
        if !is_stateless(context) {
            return Hearing::Set(Arc::clone(self.levels()), Place::of(&context.extensions));
        }
        let level = context.meta.get(LOG_LEVEL).and_then(|level| Level::deserialize(level).ok());
        Hearing::Request(level.map_or(LogWish::Nothing, LogWish::From))
    }

    /// Whether [`SET_LEVEL`] is a method here.
    pub(super) fn sets_level(&self, context: &RequestContext<RoleServer>) -> bool {
        !is_stateless(context) && self.features().logging
    }

    /// Remembers the level for whoever sent a request.
    pub(super) async fn set_log_level(
        &self,
        level: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.service().ready().await;
        if !self.sets_level(context) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, SET_LEVEL, None));
        }
        let level = Level::deserialize(level).map_err(|_| ErrorData::invalid_params(LEVELS, None))?;
        match self.levels().set(Place::of(&context.extensions), level) {
            true => Ok(()),
            false => Err(ErrorData::invalid_request(NAMELESS, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_level_and_the_oldest_are_forgotten() {
        let levels = Levels::default();
        let ids: Vec<Uuid> = (0..=MAX_REMEMBERED).map(|_| Uuid::now_v7()).collect();
        let wish = |index: usize| levels.wish(Place::Conversation(ids[index]));
        assert!(levels.set(Place::Conversation(ids[0]), Level::Error));
        assert!(levels.set(Place::Conversation(ids[1]), Level::Debug));
        assert!(levels.set(Place::Connection, Level::Alert));
        assert!(!levels.set(Place::Nowhere, Level::Info));
        assert_eq!((wish(0), wish(1)), (LogWish::From(Level::Error), LogWish::From(Level::Debug)));
        assert_eq!(wish(2), LogWish::Everything);
        assert_eq!(levels.wish(Place::Connection), LogWish::From(Level::Alert));
        assert_eq!(levels.wish(Place::Nowhere), LogWish::Everything);
        for id in &ids[2..] {
            levels.set(Place::Conversation(*id), Level::Info);
        }
        assert_eq!((wish(0), wish(1)), (LogWish::Everything, LogWish::From(Level::Debug)));
    }
}
