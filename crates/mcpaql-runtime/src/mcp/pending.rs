//! A service that is still loading. It answers handshakes immediately and everything else when it is ready. Tools
//! that are known from an earlier run are listed immediately too.

use crate::caller::Caller;
use crate::execution::BackgroundTask;
use crate::health::Health;
use crate::protocol::{Feature, FeatureChange, Features, RpcError};
use crate::service::Service;
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::{broadcast, watch};

/// Instructions while the tools are unknown.
const INSTRUCTIONS: &str = "The tools take {\"operation\": NAME, \"params\": {…}}. Find operations with \
    {\"operation\":\"introspect\",\"params\":{\"search\":\"what you want to do\"}} on the tool that reads. Call an operation directly when its \
    signature is shown.";

/// Maximum number of changes that a slow client has not received yet.
const CHANGE_CAPACITY: usize = 256;

/// A service that is still loading, as the server sees it.
#[derive(Debug)]
pub struct PendingService<S> {
    state: watch::Receiver<LoadState<S>>,
    changes: watch::Receiver<()>,
    feature_changes: broadcast::Sender<FeatureChange>,
}

/// Sets the service when it is loaded.
#[derive(Debug)]
pub struct ServiceLoader<S> {
    state: watch::Sender<LoadState<S>>,
    changes: watch::Sender<()>,
    feature_changes: broadcast::Sender<FeatureChange>,
}

#[derive(Debug)]
enum LoadState<S> {
    Unknown,
    Known(Preview),
    Ready(Arc<S>),
}

/// What a service offers before it is ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The tools.
    pub tools: Arc<[Tool]>,
    /// The features besides tools.
    pub features: Features,
    /// Whether calls can run in the background.
    pub tasks: bool,
    /// Instructions for the client's model.
    pub instructions: String,
}

impl Preview {
    /// Returns what a service offers now.
    pub fn of(service: &impl Service) -> Preview {
        Preview {
            tools: service.tools(),
            features: service.features(),
            tasks: service.has_tasks(),
            instructions: service.instructions(),
        }
    }
}

impl<S> PendingService<S> {
    /// Returns a pending service and its loader. If the loader is dropped before it sets a service, calls wait forever,
    /// so the server must be stopped.
    #[must_use]
    pub fn new() -> (PendingService<S>, ServiceLoader<S>) {
        let (sender, state) = watch::channel(LoadState::Unknown);
        let (changes_sender, changes) = watch::channel(());
        let feature_changes = broadcast::Sender::new(CHANGE_CAPACITY);
        let loader = ServiceLoader {
            state: sender,
            changes: changes_sender,
            feature_changes: feature_changes.clone(),
        };
        (PendingService { state, changes, feature_changes }, loader)
    }

    fn service(&self) -> Option<Arc<S>> {
        match &*self.state.borrow() {
            LoadState::Ready(service) => Some(Arc::clone(service)),
            LoadState::Unknown | LoadState::Known(_) => None,
        }
    }

    fn preview(&self) -> Option<Preview> {
        match &*self.state.borrow() {
            LoadState::Known(preview) => Some(preview.clone()),
            LoadState::Unknown | LoadState::Ready(_) => None,
        }
    }

    async fn wait_until(&self, enough: impl FnMut(&LoadState<S>) -> bool) {
        let mut state = self.state.clone();
        if state.wait_for(enough).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl<S: Service> ServiceLoader<S> {
    /// Makes tools and instructions available.
    pub fn set_preview(&self, preview: Preview) {
        self.state.send_replace(LoadState::Known(preview));
    }

    /// Makes the service available, and lets all waiting requests continue. If the preview had different tools,
    /// clients are notified. Must be called in a Tokio runtime.
    pub fn set_ready(self, service: Arc<S>) {
        let changes = service.changes();
        if let Some(mut changes) = service.feature_changes() {
            let sender = self.feature_changes.clone();
            tokio::spawn(async move {
                loop {
                    // Without listeners, sending fails, which does no harm.
                    match changes.recv().await {
                        Ok(change) => drop(sender.send(change)),
                        Err(broadcast::error::RecvError::Lagged(_)) => {
                            drop(sender.send(FeatureChange::Resources));
                            drop(sender.send(FeatureChange::Prompts));
                        }
                        Err(broadcast::error::RecvError::Closed) => return,
                    }
                }
            });
        }
        let tools = service.tools();
        let before = self.state.send_replace(LoadState::Ready(service));
        if matches!(before, LoadState::Known(preview) if preview.tools != tools) {
            self.changes.send_replace(());
        }
        if let Some(mut changes) = changes {
            tokio::spawn(
                async move { while changes.changed().await.is_ok() && self.changes.send(()).is_ok() {} },
            );
        }
    }
}

impl<S: Service> Service for PendingService<S> {
    fn tools(&self) -> Arc<[Tool]> {
        let tools = self.service().map(|service| service.tools());
        tools.or_else(|| self.preview().map(|preview| preview.tools)).unwrap_or_else(|| Arc::from([]))
    }

    fn instructions(&self) -> String {
        let instructions = self.service().map(|service| service.instructions());
        let instructions = instructions.or_else(|| self.preview().map(|preview| preview.instructions));
        instructions.unwrap_or_else(|| INSTRUCTIONS.to_owned())
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
        self.service()?.call(tool, arguments, caller).await
    }

    fn features(&self) -> Features {
        let features = self.service().map(|service| service.features());
        features.or_else(|| self.preview().map(|preview| preview.features)).unwrap_or_default()
    }

    async fn request(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, RpcError> {
        match self.service() {
            Some(service) => service.request(feature, params, caller).await,
            None => Err(RpcError::method_not_found(feature)),
        }
    }

    async fn passes_input(&self, tool: &str) -> bool {
        match self.service() {
            Some(service) => service.passes_input(tool).await,
            None => false,
        }
    }

    fn has_tasks(&self) -> bool {
        // Not known yet, and a client that is told no never asks again.
        let known = self.service().map(|service| service.has_tasks());
        known.or_else(|| self.preview().map(|preview| preview.tasks)).unwrap_or(true)
    }

    async fn task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        self.service()?.task(id, caller).await
    }

    async fn cancel_task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        self.service()?.cancel_task(id, caller).await
    }

    async fn wait_for_tools(&self) {
        self.wait_until(|state| !matches!(state, LoadState::Unknown)).await;
        if let Some(service) = self.service() {
            service.wait_for_tools().await;
        }
    }

    async fn wait_until_ready(&self) {
        self.wait_until(|state| matches!(state, LoadState::Ready(_))).await;
        if let Some(service) = self.service() {
            service.wait_until_ready().await;
        }
    }

    fn health(&self) -> Health {
        self.service().map(|service| service.health()).unwrap_or_default()
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.changes.clone())
    }

    fn feature_changes(&self) -> Option<broadcast::Receiver<FeatureChange>> {
        Some(self.feature_changes.subscribe())
    }
}
