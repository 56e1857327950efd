//! A connection that will end. What was started in it hears of the end and has a little time to stop.

use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A connection that will end, for whoever calls in it.
#[derive(Debug, Clone)]
pub struct Session {
    ended: CancellationToken,
    works: Arc<watch::Sender<usize>>,
}

/// The other side: whoever holds the connection.
#[derive(Debug)]
pub struct SessionEnd(Session);

/// Work that does not outlive its session. While it lives, the end of the session waits for it.
#[derive(Debug)]
pub struct SessionWork(Session);

impl Session {
    /// A session, and where its end is told.
    #[must_use]
    pub fn new() -> (Session, SessionEnd) {
        let session = Session { ended: CancellationToken::new(), works: Arc::default() };
        (session.clone(), SessionEnd(session))
    }

    /// Begins work that ends with the session.
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
    /// Ends the session and completes when nothing works in it any more.
    pub async fn end(self) {
        self.0.ended.cancel();
        // The sender lives as long as `self`, so this waits for the works alone.
        let _ = self.0.works.subscribe().wait_for(|works| *works == 0).await;
    }
}

impl Drop for SessionEnd {
    fn drop(&mut self) {
        self.0.ended.cancel();
    }
}
