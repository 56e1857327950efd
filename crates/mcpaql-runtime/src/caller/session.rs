//! Sessions: connections that end. Work that was started in a session is notified of its end and gets a little time
//! to stop.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A connection that can end, as its calls see it.
#[derive(Debug, Clone)]
pub struct Session {
    ended: CancellationToken,
    works: Arc<watch::Sender<usize>>,
}

/// Ends a session; held by the owner of the connection.
#[derive(Debug)]
pub struct SessionEnd(Session);

/// Work that stops with its session. [`SessionEnd::end`] waits until it is dropped.
#[derive(Debug)]
pub struct SessionWork(Session);

impl Session {
    /// Returns a session and the handle that ends it.
    #[must_use]
    pub fn new() -> (Session, SessionEnd) {
        let session = Session { ended: CancellationToken::new(), works: Arc::default() };
        (session.clone(), SessionEnd(session))
    }

    /// Registers work that stops with the session.
    #[must_use]
    pub fn start_work(&self) -> SessionWork {
        self.works.send_modify(|works| *works += 1);
        SessionWork(self.clone())
    }
}

impl PartialEq for Session {
    fn eq(&self, other: &Session) -> bool {
        Arc::ptr_eq(&self.works, &other.works)
    }
}

impl Eq for Session {}

impl Hash for Session {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.works).hash(state);
    }
}

impl SessionWork {
    /// Completes when the session has ended.
    pub async fn ended(&self) {
        self.0.ended.cancelled().await;
    }
}

impl Drop for SessionWork {
    fn drop(&mut self) {
        self.0.works.send_modify(|works| *works = works.saturating_sub(1));
    }
}

impl SessionEnd {
    /// Ends the session and waits until no work runs in it.
    pub async fn end(self) {
        self.0.ended.cancel();
        // The sender lives as long as `self`, so only the count ends this wait.
        let _ = self.0.works.subscribe().wait_for(|works| *works == 0).await;
    }
}

impl Drop for SessionEnd {
    fn drop(&mut self) {
        self.0.ended.cancel();
    }
}
