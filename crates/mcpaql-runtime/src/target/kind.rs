//! The table of kinds, and how a document's target is opened with it.

use super::{NamedTargets, Target, code, command, http, mcp, store};
use crate::environment::Environment;
use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use mcpaql_core::adapter::{self, Auth};
use mcpaql_core::catalog::Catalog;
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// One kind of target.
#[derive(Clone, Copy)]
pub struct TargetKind {
    /// What people call it.
    pub name: &'static str,
    /// Opens a target of this kind; `None` for a target of another kind.
    pub open: for<'a> fn(OpenRequest<'a>) -> Option<OpenFuture<'a>>,
}

impl fmt::Debug for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TargetKind").field(&self.name).finish()
    }
}

/// A target while it is being opened.
pub type OpenFuture<'a> = BoxFuture<'a, Result<Arc<dyn Target>, OpenError>>;

/// Every kind of target that a document can name.
pub const TARGET_KINDS: &[TargetKind] =
    &[http::TARGET_KIND, store::TARGET_KIND, command::TARGET_KIND, mcp::TARGET_KIND, code::TARGET_KIND];

/// What a target is opened with.
#[derive(Clone, Copy)]
pub struct OpenRequest<'a> {
    /// The adapter.
    pub catalog: &'a Catalog,
    /// Its target, as the document says.
    pub target: &'a adapter::TargetConfig,
    /// How calls are authenticated.
    pub auth: &'a Auth,
    /// The folder for what is kept.
    pub data: Option<&'a Path>,
    /// Where variables are looked up.
    pub environment: &'a Environment,
}

impl OpenRequest<'_> {
    /// Why the target cannot be opened: for the operator, and in words that anybody may read.
    pub fn error(
        &self,
        source: impl Into<Box<dyn Error + Send + Sync>>,
        user_message: impl Into<String>,
    ) -> OpenError {
        OpenError::new(&self.catalog.adapter.name, source, user_message)
    }

    /// Looks up variables.
    pub(super) fn lookup(&self) -> impl Fn(&str) -> Option<String> + Send + Sync + 'static {
        let environment = Arc::clone(self.environment);
        move |name| environment(name)
    }
}

/// Why an adapter cannot be served.
#[derive(Debug)]
pub struct OpenError {
    adapter: String,
    user_message: String,
    source: Box<dyn Error + Send + Sync>,
}

impl OpenError {
    /// That adapter cannot be opened; `source` is for the operator, `user_message` shows no path and no adapter's name.
    pub fn new(
        adapter: &str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
        user_message: impl Into<String>,
    ) -> OpenError {
        OpenError { adapter: adapter.to_owned(), user_message: user_message.into(), source: source.into() }
    }

    /// The adapter.
    #[must_use]
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Why, in words that anybody may read: without a path, and without the adapter's name.
    #[must_use]
    pub fn user_message(&self) -> &str {
        &self.user_message
    }

    /// Why, as an error of that type where it is one.
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

/// It keeps data, and there is no folder for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it keeps data, and there is no data folder")]
pub struct NoDataFolder;

/// Opens the target of a compiled adapter: of the first of `extra` that takes it, else of [`TARGET_KINDS`].
///
/// # Errors
/// Why the target cannot be opened.
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
    let mut several = IndexMap::new();
    for (name, one) in &adapter.targets {
        let target = open_one(OpenRequest { target: &one.target, auth: &one.auth, ..request }, extra).await?;
        several.insert(name.clone(), target);
    }
    Ok(Arc::new(NamedTargets::new(several)))
}

async fn open_one(request: OpenRequest<'_>, extra: &[TargetKind]) -> Result<Arc<dyn Target>, OpenError> {
    let opening = extra.iter().chain(TARGET_KINDS).find_map(|kind| (kind.open)(request));
    match opening {
        Some(opening) => opening.await,
        None => {
            let reason = "its kind of target cannot be served by this program";
            Err(request.error(reason, reason))
        }
    }
}
