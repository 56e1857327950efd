//! What a server has besides tools: resources and prompts, as raw JSON, and logs.

use super::METHOD_NOT_FOUND;
use serde::Deserialize;
use serde_json::Value;

/// What a server has besides tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features {
    /// `resources/*`.
    pub resources: bool,
    /// `prompts/*`.
    pub prompts: bool,
    /// `notifications/message`, and `logging/setLevel` in the revisions that have it.
    pub logging: bool,
}

/// One request for something besides tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `resources/read`.
    Resource,
    /// `prompts/list`.
    Prompts,
    /// `prompts/get`.
    Prompt,
}

impl Feature {
    /// Every one.
    pub const ALL: [Feature; 5] =
        [Feature::Resources, Feature::Templates, Feature::Resource, Feature::Prompts, Feature::Prompt];

    /// The method of the request.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Feature::Resources => "resources/list",
            Feature::Templates => "resources/templates/list",
            Feature::Resource => "resources/read",
            Feature::Prompts => "prompts/list",
            Feature::Prompt => "prompts/get",
        }
    }

    /// The member of a list's result that holds its entries; `None` for a request that returns no list.
    #[must_use]
    pub const fn entries(self) -> Option<&'static str> {
        match self {
            Feature::Resources => Some("resources"),
            Feature::Templates => Some("resourceTemplates"),
            Feature::Prompts => Some("prompts"),
            Feature::Resource | Feature::Prompt => None,
        }
    }

    /// The capability that a server declares for it.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Feature::Resources | Feature::Templates | Feature::Resource => "resources",
            Feature::Prompts | Feature::Prompt => "prompts",
        }
    }

    /// Whether a server with these features answers it.
    #[must_use]
    pub const fn is_in(self, features: Features) -> bool {
        match self {
            Feature::Resources | Feature::Templates | Feature::Resource => features.resources,
            Feature::Prompts | Feature::Prompt => features.prompts,
        }
    }
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// JSON-RPC's code.
    #[serde(default)]
    pub code: i64,
    /// For the client.
    #[serde(default)]
    pub message: String,
    /// More about it.
    #[serde(default)]
    pub data: Option<Value>,
}

impl RpcError {
    /// The method of that feature does not exist here.
    #[must_use]
    pub fn method_not_found(feature: Feature) -> RpcError {
        RpcError { code: METHOD_NOT_FOUND, message: feature.method().to_owned(), data: None }
    }
}
