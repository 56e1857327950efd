//! Targets that need a feature of this library which the program was built without.

#[cfg(not(all(feature = "http", feature = "store")))]
use super::TargetKind;
#[cfg(not(all(feature = "http", feature = "store")))]
use mcpaql_core::adapter::TargetConfig;

/// A document needs a feature of this library which the program was built without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{part} needs the feature '{feature}' of mcpaql-runtime, and this program was built without it")]
pub struct MissingFeature {
    /// The part of the document.
    pub part: &'static str,
    /// The name of the feature.
    pub feature: &'static str,
}

/// Rejects HTTP targets.
#[cfg(not(feature = "http"))]
pub(super) const HTTP_KIND: TargetKind = TargetKind {
    name: "http",
    open: |request| match request.target {
        TargetConfig::Http(_) => {
            let missing = MissingFeature { part: "an HTTP target", feature: "http" };
            Some(Box::pin(std::future::ready(Err(request.error(missing, missing.to_string())))))
        }
        _ => None,
    },
};

/// Rejects stores.
#[cfg(not(feature = "store"))]
pub(super) const STORE_KIND: TargetKind = TargetKind {
    name: "store",
    open: |request| match request.target {
        TargetConfig::Store(_) => {
            let missing = MissingFeature { part: "a store", feature: "store" };
            Some(Box::pin(std::future::ready(Err(request.error(missing, missing.to_string())))))
        }
        _ => None,
    },
};
