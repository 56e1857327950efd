//! What may be decided about an adapter outside its document.

use crate::adapter::{Adapter, ErrorPolicy, Mode};
use crate::policy::Policy;
use serde_json::{Map, Value};

/// The name of the standard profile.
pub const CRUDE_PROFILE: &str = "crude";

/// What may be decided outside the document; the most specific layer that says something wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdapterSettings {
    /// How operations are spread over tools.
    pub mode: Option<Mode>,
    /// Whether the tools are those that all adapters share, whatever mode, profile, pattern and prefix it would have alone.
    pub sharing: Option<Sharing>,
    /// `crude`, or the name of the document's own profile.
    pub profile: Option<String>,
    /// Pattern of tool names.
    pub pattern: Option<String>,
    /// Prefix of tool names.
    pub prefix: Option<String>,
    /// Name of the hint policy.
    pub policy: Option<String>,
    /// Policies that may be named besides those of this version.
    pub policies: Vec<Policy>,
    /// Whether `operation` lists its values as an enum.
    pub operation_enum: Option<bool>,
    /// Which failures carry `isError`.
    pub errors: Option<ErrorPolicy>,
    /// Estimated tokens the surface may cost.
    pub budget: Option<usize>,
    /// `targets` and `default_target`, as a document writes them.
    pub targets: Option<Map<String, Value>>,
}

impl AdapterSettings {
    /// This layer over a less specific one.
    #[must_use]
    pub fn with_fallback(self, wider: AdapterSettings) -> AdapterSettings {
        AdapterSettings {
            mode: self.mode.or(wider.mode),
            sharing: self.sharing.or(wider.sharing),
            profile: self.profile.or(wider.profile),
            pattern: self.pattern.or(wider.pattern),
            prefix: self.prefix.or(wider.prefix),
            policy: self.policy.or(wider.policy),
            policies: if self.policies.is_empty() { wider.policies } else { self.policies },
            operation_enum: self.operation_enum.or(wider.operation_enum),
            errors: self.errors.or(wider.errors),
            budget: self.budget.or(wider.budget),
            targets: self.targets.or(wider.targets),
        }
    }

    /// How an adapter is compiled to stand behind the shared tools; this goes over everything that it says itself.
    pub(crate) fn for_shared_tools(sharing: Sharing) -> AdapterSettings {
        AdapterSettings {
            mode: Some(if sharing.is_single() { Mode::Single } else { Mode::Semantic }),
            profile: Some(CRUDE_PROFILE.to_owned()),
            pattern: Some("mcpaql_{endpoint}".to_owned()),
            ..AdapterSettings::default()
        }
    }

    /// What the document itself says.
    pub(crate) fn from_adapter(adapter: &Adapter) -> AdapterSettings {
        AdapterSettings {
            mode: adapter.mode,
            profile: adapter.profile.as_ref().map(|profile| profile.name.clone()),
            pattern: adapter.tool_names.pattern.clone(),
            prefix: adapter.tool_names.prefix.clone(),
            policy: adapter.policy.clone(),
            errors: Some(adapter.errors),
            ..AdapterSettings::default()
        }
    }
}

/// How all adapters share their tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// A tool per effect.
    Five,
    /// One tool.
    One,
}

impl Sharing {
    /// The words in configuration and flags.
    pub const WORDS: [&str; 2] = ["unified", "unified-single"];

    /// The sharing of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Sharing> {
        match text {
            "unified" => Some(Sharing::Five),
            "unified-single" => Some(Sharing::One),
            _ => None,
        }
    }

    /// Whether one tool is for everything.
    #[must_use]
    pub const fn is_single(self) -> bool {
        matches!(self, Sharing::One)
    }
}
