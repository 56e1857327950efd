//! Without the feature `http`, no MCP server is reached through a URL: the types of such connections have no values.

use super::calls::Calls;
use super::error::{CallFailure, UpstreamError, UpstreamSetupError};
use super::session::UpstreamSession;
use super::supervisor::Supervisor;
use crate::caller::Caller;
use crate::environment::Environment;
use crate::secret::Mask;
use crate::target::MissingFeature;
use indexmap::IndexMap;
use mcpaql_core::adapter::Auth;
use mcpaql_core::host::NetworkAccess;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The connection to a URL, which does not exist.
#[derive(Debug)]
pub(super) struct NoEndpoint(Infallible);

impl NoEndpoint {
    pub(super) fn new(
        _url: &str,
        _headers: &IndexMap<String, String>,
        _outgoing: (bool, &NetworkAccess),
        _auth: &Auth,
        _environment: &Environment,
        _limit: usize,
    ) -> Result<NoEndpoint, UpstreamSetupError> {
        Err(MissingFeature { part: "an MCP server behind a URL", feature: "http" }.into())
    }

    pub(super) fn for_new_session(&self) -> NoEndpoint {
        match self.0 {}
    }

    pub(super) fn name(&self) -> &str {
        match self.0 {}
    }

    pub(super) fn mask(&self) -> Mask {
        match self.0 {}
    }

    pub(super) fn set_version(&self, _version: &str) {
        match self.0 {}
    }

    pub(super) fn mark_initialized(&self) {
        match self.0 {}
    }

    pub(super) async fn exchange(
        &self,
        _line: String,
        _id: u64,
        _method: &str,
        _name: Option<&str>,
        _calls: &Calls,
    ) -> Result<(), CallFailure> {
        match self.0 {}
    }

    pub(super) async fn run(
        self: Arc<Self>,
        _calls: Arc<Calls>,
        _outgoing: mpsc::Receiver<String>,
        _closing: CancellationToken,
    ) {
        match self.0 {}
    }
}

/// The conversations of callers with credentials of their own, which do not exist.
pub(super) struct NoCallers(Infallible);

/// A conversation of such a caller.
pub(super) struct NoLease {
    pub(super) supervisor: Arc<Supervisor>,
}

impl NoCallers {
    pub(super) fn new(
        _names: Vec<String>,
        endpoint: Arc<NoEndpoint>,
        _name: &str,
        _limits: (usize, Duration),
        _supervisor: &Supervisor,
    ) -> Arc<NoCallers> {
        match endpoint.0 {}
    }

    pub(super) fn lease(self: &Arc<Self>, _caller: &Caller) -> Result<NoLease, UpstreamError> {
        match self.0 {}
    }

    pub(super) fn take_sessions(&self) -> Vec<Arc<UpstreamSession>> {
        match self.0 {}
    }
}

/// Headers of callers need an HTTP server, which does not exist either.
pub(super) fn header_names(declared: &[String]) -> Result<Vec<String>, UpstreamSetupError> {
    Ok(declared.to_vec())
}
