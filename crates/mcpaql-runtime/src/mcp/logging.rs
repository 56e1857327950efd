//! How much of what servers log their clients want to hear.
//!
//! A client says so once for its connection or its conversation, with `logging/setLevel`, or, in the revisions without a handshake, with
//! each request. Who said nothing hears everything in the first case and nothing in the second, as the protocol has it.

use super::conversation;
use super::handler::{McpServer, is_stateless};
use crate::protocol::{LOG_LEVEL, LogFilter, LogLevel, SET_LEVEL};
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
const MAX_REMEMBERED_LEVELS: usize = 10_000;

const UNIDENTIFIED_CLIENT: &str = "The level cannot be kept for a client that does not say who it is: send the Mcp-Session-Id header that initialize \
     was answered with.";

/// What a client is told that wants a level which is none.
pub(super) const INVALID_LEVEL: &str = "The params of logging/setLevel need a level: debug, info, notice, warning, error, critical, alert or emergency.";

/// The levels that clients have set.
#[derive(Default)]
pub(super) struct LogLevels {
    inner: Mutex<LevelTable>,
}

#[derive(Default)]
struct LevelTable {
    /// Of the one client of a connection.
    connection: Option<LogLevel>,
    /// Of clients over HTTP; their ids are in the order in which they began.
    conversations: BTreeMap<Uuid, LogLevel>,
}

/// Whose level it is.
#[derive(Clone, Copy)]
pub(super) enum LevelOwner {
    Connection,
    Conversation(Uuid),
    /// Nobody who could be told from others.
    Nowhere,
}

impl LevelOwner {
    fn of(request: &Extensions) -> LevelOwner {
        if request.get::<Parts>().is_none() {
            return LevelOwner::Connection;
        }
        let id = conversation::session_id_of(request).and_then(conversation::parse_session_id);
        id.map_or(LevelOwner::Nowhere, LevelOwner::Conversation)
    }
}

impl LogLevels {
    fn inner(&self) -> MutexGuard<'_, LevelTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False where there is nobody to remember it for.
    fn set(&self, place: LevelOwner, level: LogLevel) -> bool {
        let mut inner = self.inner();
        match place {
            LevelOwner::Connection => inner.connection = Some(level),
            LevelOwner::Conversation(id) => {
                inner.conversations.insert(id, level);
                if inner.conversations.len() > MAX_REMEMBERED_LEVELS {
                    inner.conversations.pop_first();
                }
            }
            LevelOwner::Nowhere => return false,
        }
        true
    }

    fn filter_for(&self, place: LevelOwner) -> LogFilter {
        let inner = self.inner();
        let level = match place {
            LevelOwner::Connection => inner.connection,
            LevelOwner::Conversation(id) => inner.conversations.get(&id).copied(),
            LevelOwner::Nowhere => None,
        };
        level.map_or(LogFilter::Everything, LogFilter::From)
    }
}

/// Where a client's wish is found, also when it changes while a call runs.
#[derive(Clone, Default)]
pub(super) enum LogFilterSource {
    #[default]
    Nobody,
    Request(LogFilter),
    Set(Arc<LogLevels>, LevelOwner),
}

impl LogFilterSource {
    pub(super) fn filter(&self) -> LogFilter {
        match self {
            LogFilterSource::Nobody => LogFilter::Nothing,
            LogFilterSource::Request(wish) => *wish,
            LogFilterSource::Set(levels, place) => levels.filter_for(*place),
        }
    }
}

impl<S: Service> McpServer<S> {
    /// Where the wish of whoever sent a request is found.
    pub(super) fn log_filter_source(&self, context: &RequestContext<RoleServer>) -> LogFilterSource {
        if !is_stateless(context) {
            return LogFilterSource::Set(Arc::clone(self.levels()), LevelOwner::of(&context.extensions));
        }
        let level = context.meta.get(LOG_LEVEL).and_then(|level| LogLevel::deserialize(level).ok());
        LogFilterSource::Request(level.map_or(LogFilter::Nothing, LogFilter::From))
    }

    /// Whether [`SET_LEVEL`] is a method here.
    pub(super) fn supports_set_level(&self, context: &RequestContext<RoleServer>) -> bool {
        !is_stateless(context) && self.features().logging
    }

    /// Remembers the level for whoever sent a request.
    pub(super) async fn set_log_level(
        &self,
        level: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.service().wait_until_ready().await;
        if !self.supports_set_level(context) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, SET_LEVEL, None));
        }
        let level =
            LogLevel::deserialize(level).map_err(|_| ErrorData::invalid_params(INVALID_LEVEL, None))?;
        match self.levels().set(LevelOwner::of(&context.extensions), level) {
            true => Ok(()),
            false => Err(ErrorData::invalid_request(UNIDENTIFIED_CLIENT, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_level_and_the_oldest_are_forgotten() {
        let levels = LogLevels::default();
        let ids: Vec<Uuid> = (0..=MAX_REMEMBERED_LEVELS).map(|_| Uuid::now_v7()).collect();
        let wish = |index: usize| levels.filter_for(LevelOwner::Conversation(ids[index]));
        assert!(levels.set(LevelOwner::Conversation(ids[0]), LogLevel::Error));
        assert!(levels.set(LevelOwner::Conversation(ids[1]), LogLevel::Debug));
        assert!(levels.set(LevelOwner::Connection, LogLevel::Alert));
        assert!(!levels.set(LevelOwner::Nowhere, LogLevel::Info));
        assert_eq!((wish(0), wish(1)), (LogFilter::From(LogLevel::Error), LogFilter::From(LogLevel::Debug)));
        assert_eq!(wish(2), LogFilter::Everything);
        assert_eq!(levels.filter_for(LevelOwner::Connection), LogFilter::From(LogLevel::Alert));
        assert_eq!(levels.filter_for(LevelOwner::Nowhere), LogFilter::Everything);
        for id in &ids[2..] {
            levels.set(LevelOwner::Conversation(*id), LogLevel::Info);
        }
        assert_eq!((wish(0), wish(1)), (LogFilter::Everything, LogFilter::From(LogLevel::Debug)));
    }
}
