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

#[cfg(not(any(feature = "http", feature = "store")))]
#[cfg(test)]
mod tests {
    use crate::document::{Document, Environment};
    use std::sync::Arc;

    async fn refusal(target: &str) -> String {
        let text = format!(
            "name: shop\ntype: adapter\nversion: 1.0.0\ndescription: A shop.\ntarget: {target}\n\
             operations: {{ read: [{{ name: list_items, maps_to: GET /items }}] }}\n"
        );
        let environment: Environment = Arc::new(|_| None);
        Document::new("shop.yaml", text).open(None, &environment).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_document_that_needs_a_missing_feature_is_rejected_with_its_name() {
        let error = refusal("{ base_url: \"https://shop.example\" }").await;
        assert_eq!(
            error,
            "adapter 'shop': an HTTP target needs the feature 'http' of mcpaql-runtime, and this program was built without it"
        );
        let error = refusal("{ transport: mcp, url: \"https://shop.example/mcp\" }").await;
        assert!(error.contains("an MCP server behind a URL needs the feature 'http'"), "{error}");
        let text = include_str!("../../../../examples/notebook-adapter.md");
        let environment: Environment = Arc::new(|_| None);
        let opened = Document::new("notebook.md", text).open(None, &environment).await;
        assert!(opened.unwrap_err().to_string().contains("a store needs the feature 'store'"));
    }
}
