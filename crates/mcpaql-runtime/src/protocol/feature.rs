//! The features of an MCP server besides tools: resources and prompts, as raw JSON, and logs.

use super::METHOD_NOT_FOUND;
use serde::Deserialize;
use serde_json::Value;

/// The features of a server besides tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features {
    /// `resources/*`.
    pub resources: bool,
    /// `prompts/*`.
    pub prompts: bool,
    /// `resources/subscribe`.
    pub subscriptions: bool,
    /// `completion/complete`.
    pub completions: bool,
    /// `notifications/message`, and `logging/setLevel` in revisions with a handshake.
    pub logging: bool,
}

/// A request for resources, prompts or completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `resources/read`.
    Resource,
    /// `resources/subscribe`.
    Subscribe,
    /// `resources/unsubscribe`.
    Unsubscribe,
    /// `prompts/list`.
    Prompts,
    /// `prompts/get`.
    Prompt,
    /// `completion/complete`.
    Completion,
}

impl Feature {
    /// All requests.
    pub const ALL: [Feature; 8] = [
        Feature::Resources,
        Feature::Templates,
        Feature::Resource,
        Feature::Subscribe,
        Feature::Unsubscribe,
        Feature::Prompts,
        Feature::Prompt,
        Feature::Completion,
    ];

    /// The method of the request.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Feature::Resources => "resources/list",
            Feature::Templates => "resources/templates/list",
            Feature::Resource => "resources/read",
            Feature::Subscribe => "resources/subscribe",
            Feature::Unsubscribe => "resources/unsubscribe",
            Feature::Prompts => "prompts/list",
            Feature::Prompt => "prompts/get",
            Feature::Completion => "completion/complete",
        }
    }

    /// The key of a list's entries in its result; `None` for requests that return no list.
    #[must_use]
    pub const fn entries(self) -> Option<&'static str> {
        match self {
            Feature::Resources => Some("resources"),
            Feature::Templates => Some("resourceTemplates"),
            Feature::Prompts => Some("prompts"),
            Feature::Resource
            | Feature::Subscribe
            | Feature::Unsubscribe
            | Feature::Prompt
            | Feature::Completion => None,
        }
    }

    /// The capability that a server must declare.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Feature::Resources
            | Feature::Templates
            | Feature::Resource
            | Feature::Subscribe
            | Feature::Unsubscribe => "resources",
            Feature::Prompts | Feature::Prompt => "prompts",
            Feature::Completion => "completions",
        }
    }

    /// Returns whether a server with these features answers the request.
    #[must_use]
    pub const fn is_in(self, features: Features) -> bool {
        match self {
            Feature::Resources | Feature::Templates | Feature::Resource => features.resources,
            Feature::Subscribe | Feature::Unsubscribe => features.subscriptions,
            Feature::Prompts | Feature::Prompt => features.prompts,
            Feature::Completion => features.completions,
        }
    }
}

/// A change that a server announces, besides changes of its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureChange {
    /// The list of resources.
    Resources,
    /// The list of prompts.
    Prompts,
    /// The resource with this URI. Only its subscribers are notified.
    Resource(String),
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// The JSON-RPC error code.
    #[serde(default)]
    pub code: i64,
    /// The message for the client.
    #[serde(default)]
    pub message: String,
    /// Additional data.
    #[serde(default)]
    pub data: Option<Value>,
}

impl RpcError {
    /// Returns the error for a feature that the server does not have.
    #[must_use]
    pub fn method_not_found(feature: Feature) -> RpcError {
        RpcError { code: METHOD_NOT_FOUND, message: feature.method().to_owned(), data: None }
    }
}
