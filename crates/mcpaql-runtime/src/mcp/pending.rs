//! A service that is still loading: it can be greeted at once and answers everything else when it is there.

use super::{Service, Tool};
use mcpaql_core::response::Reply;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::watch;

/// What a client is told before anybody knows what will be served.
const INSTRUCTIONS: &str = "The tools take {\"operation\": NAME, \"params\": {…}}. Discover operations and their parameters with \
    {\"operation\":\"introspect\",\"params\":{\"query\":\"operations\"}} on the tool that reads.";

/// A service to be, for the server.
#[derive(Debug)]
pub struct Pending<S> {
    service: watch::Receiver<Option<Arc<S>>>,
}

/// The other end: whoever loads the service hands it over here.
#[derive(Debug)]
pub struct Loading<S> {
    service: watch::Sender<Option<Arc<S>>>,
}

impl<S> Pending<S> {
    /// A service to be, and where to hand it over. If the other end is dropped without a service, requests wait for ever,
    /// so whoever loads must end the server then.
    #[must_use]
    pub fn new() -> (Pending<S>, Loading<S>) {
        let (sender, service) = watch::channel(None);
        (Pending { service }, Loading { service: sender })
    }

    fn get(&self) -> Option<Arc<S>> {
        self.service.borrow().clone()
    }
}

impl<S> Loading<S> {
    /// Everything that waits goes on.
    pub fn ready(self, service: Arc<S>) {
        self.service.send_replace(Some(service));
    }
}

impl<S: Service> Service for Pending<S> {
    fn tools(&self) -> Arc<[Tool]> {
        self.get().map_or_else(|| Arc::from([]), |service| service.tools())
    }

    fn instructions(&self) -> String {
        self.get().map_or_else(|| INSTRUCTIONS.to_owned(), |service| service.instructions())
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Option<Reply> {
        self.get()?.call(tool, arguments).await
    }

    async fn ready(&self) {
        let mut service = self.service.clone();
        if service.wait_for(Option::is_some).await.is_err() {
            std::future::pending::<()>().await;
        }
        if let Some(service) = self.get() {
            service.ready().await;
        }
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        self.get().and_then(|service| service.changes())
    }
}
