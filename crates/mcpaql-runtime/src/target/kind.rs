//! The table of kinds of targets, and how a document's target is opened.

#[cfg(feature = "http")]
use super::http::TARGET_KIND as HTTP_KIND;
#[cfg(not(feature = "http"))]
use super::missing_feature::HTTP_KIND;
#[cfg(not(feature = "store"))]
use super::missing_feature::STORE_KIND;
#[cfg(feature = "store")]
use super::store::TARGET_KIND as STORE_KIND;
use super::{NamedTargets, Target, code, command, mcp};
use crate::environment::Environment;
use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use mcpaql_core::adapter::{self, Auth};
use mcpaql_core::catalog::Catalog;
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A kind of target.
#[derive(Clone, Copy)]
pub struct TargetKind {
    /// Its name, for people.
    pub name: &'static str,
    /// Opens a target of this kind; `None` for a target of another kind.
    pub open: for<'a> fn(OpenRequest<'a>) -> Option<OpenFuture<'a>>,
}

impl fmt::Debug for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TargetKind").field(&self.name).finish()
    }
}

/// The future of a target that is being opened.
pub type OpenFuture<'a> = BoxFuture<'a, Result<Arc<dyn Target>, OpenError>>;

/// The kinds of targets that a document can name.
pub const TARGET_KINDS: &[TargetKind] =
    &[HTTP_KIND, STORE_KIND, command::TARGET_KIND, mcp::TARGET_KIND, code::TARGET_KIND];

/// Everything needed to open a target.
#[derive(Clone, Copy)]
pub struct OpenRequest<'a> {
    /// The compiled adapter.
    pub catalog: &'a Catalog,
    /// Its target, from the document.
    pub target: &'a adapter::TargetConfig,
    /// How calls are authenticated.
    pub auth: &'a Auth,
    /// The folder for stored data.
    pub data: Option<&'a Path>,
    /// Looks up environment variables.
    pub environment: &'a Environment,
}

impl OpenRequest<'_> {
    /// Returns an error: `source` is for the operator, `user_message` is for everyone.
    pub fn error(
        &self,
        source: impl Into<Box<dyn Error + Send + Sync>>,
        user_message: impl Into<String>,
    ) -> OpenError {
        OpenError::new(&self.catalog.adapter.name, source, user_message)
    }

    /// Returns a function that looks up environment variables.
    pub(super) fn lookup(&self) -> impl Fn(&str) -> Option<String> + Send + Sync + 'static {
        let environment = Arc::clone(self.environment);
        move |name| environment(name)
    }
}

/// Why an adapter cannot be opened.
#[derive(Debug)]
pub struct OpenError {
    adapter: String,
    user_message: String,
    source: Box<dyn Error + Send + Sync>,
}

impl OpenError {
    /// Creates an error for this adapter. `source` is for the operator; `user_message` must not contain paths or the
    /// adapter's name.
    pub fn new(
        adapter: &str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
        user_message: impl Into<String>,
    ) -> OpenError {
        OpenError { adapter: adapter.to_owned(), user_message: user_message.into(), source: source.into() }
    }

    /// The adapter's name.
    #[must_use]
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// The reason for everyone, without paths and without the adapter's name.
    #[must_use]
    pub fn user_message(&self) -> &str {
        &self.user_message
    }

    /// The cause as an error of this type, if it is one.
    #[must_use]
    pub fn reason<E: Error + 'static>(&self) -> Option<&E> {
        self.source.downcast_ref()
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "adapter '{}': {}", self.adapter, self.source)
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// The target stores data, but there is no data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it stores data, but there is no data folder")]
pub struct NoDataFolder;

/// Opens the target of a compiled adapter. The kinds in `extra` take precedence over [`TARGET_KINDS`].
///
/// # Errors
/// When the target cannot be opened.
pub async fn open(
    catalog: &Catalog,
    data: Option<&Path>,
    environment: &Environment,
    extra: &[TargetKind],
) -> Result<Arc<dyn Target>, OpenError> {
    let adapter = &catalog.adapter;
    let request = OpenRequest { catalog, target: &adapter.target, auth: &adapter.auth, data, environment };
    if adapter.targets.is_empty() {
        return open_one(request, extra).await;
    }
    let mut targets = IndexMap::new();
    for (name, alternative) in &adapter.targets {
        let target =
            open_one(OpenRequest { target: &alternative.target, auth: &alternative.auth, ..request }, extra)
                .await?;
        targets.insert(name.clone(), target);
    }
    Ok(Arc::new(NamedTargets::new(targets)))
}

async fn open_one(request: OpenRequest<'_>, extra: &[TargetKind]) -> Result<Arc<dyn Target>, OpenError> {
    let opening = extra.iter().chain(TARGET_KINDS).find_map(|kind| (kind.open)(request));
    match opening {
        Some(opening) => opening.await,
        None => {
            let reason = "this program does not support its kind of target";
            Err(request.error(reason, reason))
        }
    }
}
