//! Log levels of clients: which log messages of upstreams a client receives.
//!
//! A client sets its level with `logging/setLevel`, for its connection or conversation. In revisions without a
//! handshake it sends the level with each request. As the protocol requires, a client that sets no level receives all
//! messages in the first case, and none in the second.

use super::conversation;
use super::handler::{McpServer, is_stateless};
use crate::protocol::{LOG_LEVEL, LogFilter, LogLevel, SET_LEVEL};
use crate::service::Service;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Maximum number of conversations whose level is remembered; the oldest are forgotten first.
const MAX_REMEMBERED_LEVELS: usize = 10_000;

const UNIDENTIFIED_CLIENT: &str = "The level cannot be stored for a client without a session: send the Mcp-Session-Id header of the initialize \
     response.";

/// The message for a client that sets an invalid level.
pub(super) const INVALID_LEVEL: &str = "The params of logging/setLevel need a level: debug, info, notice, warning, error, critical, alert or emergency.";

/// The levels that clients have set.
#[derive(Default)]
pub(super) struct LogLevels {
    inner: Mutex<LevelTable>,
}

#[derive(Default)]
struct LevelTable {
    /// The level of the one client of a connection.
    connection: Option<LogLevel>,
    /// The levels of clients over HTTP. Session ids sort by their time of creation.
    conversations: BTreeMap<Uuid, LogLevel>,
}

/// Who has set a level.
#[derive(Clone, Copy)]
pub(super) enum LevelOwner {
    Connection,
    Conversation(Uuid),
    /// A client over HTTP without a valid session id.
    Unidentified,
}

impl LevelOwner {
    fn of(request: &Extensions) -> LevelOwner {
        if !conversation::is_http(request) {
            return LevelOwner::Connection;
        }
        let id = conversation::session_id_of(request).and_then(conversation::parse_session_id);
        id.map_or(LevelOwner::Unidentified, LevelOwner::Conversation)
    }
}

impl LogLevels {
    fn inner(&self) -> MutexGuard<'_, LevelTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns false if the client cannot be identified.
    fn set(&self, owner: LevelOwner, level: LogLevel) -> bool {
        let mut inner = self.inner();
        match owner {
            LevelOwner::Connection => inner.connection = Some(level),
            LevelOwner::Conversation(id) => {
                inner.conversations.insert(id, level);
                if inner.conversations.len() > MAX_REMEMBERED_LEVELS {
                    inner.conversations.pop_first();
                }
            }
            LevelOwner::Unidentified => return false,
        }
        true
    }

    fn filter_for(&self, owner: LevelOwner) -> LogFilter {
        let inner = self.inner();
        let level = match owner {
            LevelOwner::Connection => inner.connection,
            LevelOwner::Conversation(id) => inner.conversations.get(&id).copied(),
            LevelOwner::Unidentified => None,
        };
        level.map_or(LogFilter::Everything, LogFilter::From)
    }
}

/// Where the current filter of a client is found. The filter may change while a call runs.
#[derive(Clone, Default)]
pub(super) enum LogFilterSource {
    #[default]
    None,
    Request(LogFilter),
    Set(Arc<LogLevels>, LevelOwner),
}

impl LogFilterSource {
    pub(super) fn filter(&self) -> LogFilter {
        match self {
            LogFilterSource::None => LogFilter::Nothing,
            LogFilterSource::Request(filter) => *filter,
            LogFilterSource::Set(levels, owner) => levels.filter_for(*owner),
        }
    }
}

impl<S: Service> McpServer<S> {
    /// Returns the source of the log filter of the client that sent a request.
    pub(super) fn log_filter_source(&self, context: &RequestContext<RoleServer>) -> LogFilterSource {
        if !is_stateless(context) {
            return LogFilterSource::Set(Arc::clone(self.levels()), LevelOwner::of(&context.extensions));
        }
        let level = context.meta.get(LOG_LEVEL).and_then(|level| LogLevel::deserialize(level).ok());
        LogFilterSource::Request(level.map_or(LogFilter::Nothing, LogFilter::From))
    }

    /// Returns whether [`SET_LEVEL`] is available for this request.
    pub(super) fn supports_set_level(&self, context: &RequestContext<RoleServer>) -> bool {
        !is_stateless(context) && self.features().logging
    }

    /// Stores the level of the client that sent a request.
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
        let filter = |index: usize| levels.filter_for(LevelOwner::Conversation(ids[index]));
        assert!(levels.set(LevelOwner::Conversation(ids[0]), LogLevel::Error));
        assert!(levels.set(LevelOwner::Conversation(ids[1]), LogLevel::Debug));
        assert!(levels.set(LevelOwner::Connection, LogLevel::Alert));
        assert!(!levels.set(LevelOwner::Unidentified, LogLevel::Info));
        assert_eq!(
            (filter(0), filter(1)),
            (LogFilter::From(LogLevel::Error), LogFilter::From(LogLevel::Debug))
        );
        assert_eq!(filter(2), LogFilter::Everything);
        assert_eq!(levels.filter_for(LevelOwner::Connection), LogFilter::From(LogLevel::Alert));
        assert_eq!(levels.filter_for(LevelOwner::Unidentified), LogFilter::Everything);
        for id in &ids[2..] {
            levels.set(LevelOwner::Conversation(*id), LogLevel::Info);
        }
        assert_eq!((filter(0), filter(1)), (LogFilter::Everything, LogFilter::From(LogLevel::Debug)));
    }
}
