//! How much of what servers log their clients want to hear.
//!
//! A client says so once for its connection or its conversation, with `logging/setLevel`, or, in the revisions without a handshake, with
//! each request. Who said nothing hears everything in the first case and nothing in the second, as the protocol has it.

use super::handler::{Server, is_stateless};
use super::{Service, conversation};
use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Of so many conversations the level is remembered; the oldest are forgotten first.
const REMEMBERED: usize = 10_000;

const NAMELESS: &str = "The level cannot be kept for a client that does not say who it is: send the Mcp-Session-Id header that initialize \
     was answered with.";

/// Where requests without a handshake say the level.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The method that sets the level.
pub(crate) const SET_LEVEL: &str = "logging/setLevel";
/// The notification that brings what was logged.
pub(crate) const MESSAGE: &str = "notifications/message";

/// What a client is told that wants a level which is none.
pub(super) const LEVELS: &str = "The params of logging/setLevel need a level: debug, info, notice, warning, error, critical, alert or emergency.";

/// How severe something is that was logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// What a client wants to hear of what is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wish {
    #[default]
    Nothing,
    /// Whatever there is; it never said what.
    Everything,
    From(Level),
}

impl Wish {
    /// Whether it includes what a notification brings.
    pub(super) fn includes(self, params: &Value) -> bool {
        match self {
            Wish::Nothing => false,
            Wish::Everything => true,
            Wish::From(least) => params
                .get("level")
                .and_then(|level| Level::deserialize(level).ok())
                .is_some_and(|level| level >= least),
        }
    }
}

/// The levels that clients have set.
#[derive(Default)]
pub(super) struct Levels {
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
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
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False where there is nobody to remember it for.
    fn set(&self, place: Place, level: Level) -> bool {
        let mut book = self.book();
        match place {
            Place::Connection => book.connection = Some(level),
            Place::Conversation(id) => {
                book.conversations.insert(id, level);
                if book.conversations.len() > REMEMBERED {
                    book.conversations.pop_first();
                }
            }
            Place::Nowhere => return false,
        }
        true
    }

    fn wish(&self, place: Place) -> Wish {
        let book = self.book();
        let level = match place {
            Place::Connection => book.connection,
            Place::Conversation(id) => book.conversations.get(&id).copied(),
            Place::Nowhere => None,
        };
        level.map_or(Wish::Everything, Wish::From)
    }
}

/// Where a client's wish is found, also when it changes while a call runs.
#[derive(Clone, Default)]
pub(super) enum Hearing {
    #[default]
    Nobody,
    Request(Wish),
    Set(Arc<Levels>, Place),
}

impl Hearing {
    pub(super) fn wish(&self) -> Wish {
        match self {
            Hearing::Nobody => Wish::Nothing,
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
        Hearing::Request(level.map_or(Wish::Nothing, Wish::From))
    }

    /// Whether [`SET_LEVEL`] is a method here.
    pub(super) fn sets_level(&self, context: &RequestContext<RoleServer>) -> bool {
        !is_stateless(context) && self.offers().logging
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
    use serde_json::json;

    #[test]
    fn a_wish_includes_what_is_as_severe_or_more() {
        let said = |level: &str| json!({"level": level, "data": 1});
        let wish = Wish::From(Level::Warning);
        for (level, is_heard) in [("debug", false), ("notice", false), ("warning", true), ("emergency", true)]
        {
            assert_eq!(wish.includes(&said(level)), is_heard, "{level}");
            assert!(Wish::Everything.includes(&said(level)));
            assert!(!Wish::Nothing.includes(&said(level)));
        }
        for odd in [said("loud"), json!({"data": 1}), json!({"level": 3})] {
            assert!(!wish.includes(&odd), "{odd}");
            assert!(Wish::Everything.includes(&odd));
        }
    }

    #[test]
    fn each_client_has_its_own_level_and_the_oldest_are_forgotten() {
        let levels = Levels::default();
        let ids: Vec<Uuid> = (0..=REMEMBERED).map(|_| Uuid::now_v7()).collect();
        let wish = |index: usize| levels.wish(Place::Conversation(ids[index]));
        assert!(levels.set(Place::Conversation(ids[0]), Level::Error));
        assert!(levels.set(Place::Conversation(ids[1]), Level::Debug));
        assert!(levels.set(Place::Connection, Level::Alert));
        assert!(!levels.set(Place::Nowhere, Level::Info));
        assert_eq!((wish(0), wish(1)), (Wish::From(Level::Error), Wish::From(Level::Debug)));
        assert_eq!(wish(2), Wish::Everything);
        assert_eq!(levels.wish(Place::Connection), Wish::From(Level::Alert));
        assert_eq!(levels.wish(Place::Nowhere), Wish::Everything);
        for id in &ids[2..] {
            levels.set(Place::Conversation(*id), Level::Info);
        }
        assert_eq!((wish(0), wish(1)), (Wish::Everything, Wish::From(Level::Debug)));
    }
}
