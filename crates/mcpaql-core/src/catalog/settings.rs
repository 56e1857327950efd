//! Settings of an adapter that can also be set outside its document.

use crate::adapter::{Adapter, ErrorPolicy, Mode, ResultForm};
use crate::policy::Policy;
use mcpaql_shape::HiddenFields;
use serde_json::{Map, Value};

/// The name of the standard profile.
pub const CRUDE_PROFILE: &str = "crude";

/// Settings outside the document. The most specific layer that sets a value wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdapterSettings {
    /// How operations are distributed over tools.
    pub mode: Option<Mode>,
    /// Whether and how the tools are shared by all adapters. Overrides the adapter's own mode, profile, pattern and
    /// prefix.
    pub sharing: Option<Sharing>,
    /// `crude`, or the name of a profile in the document.
    pub profile: Option<String>,
    /// Pattern of tool names.
    pub pattern: Option<String>,
    /// Prefix of tool names.
    pub prefix: Option<String>,
    /// Name of the hint policy.
    pub policy: Option<String>,
    /// Policies in addition to the built-in ones.
    pub policies: Vec<Policy>,
    /// Whether `operation` lists the operations as an enum.
    pub operation_enum: Option<bool>,
    /// Which failures set `isError`.
    pub errors: Option<ErrorPolicy>,
    /// What the tools return; plain results need [`Mode::Discrete`].
    pub results: Option<ResultForm>,
    /// Maximum estimated tokens of the surface.
    pub budget: Option<usize>,
    /// Operations that are served although their texts look like an attack, by name or original id. Only the operator sets this.
    pub allow_flagged: Vec<String>,
    /// Fields that no answer has, in addition to those of the document.
    pub hide: HiddenFields,
    /// Maximum tokens of an answer.
    pub answer_budget: Option<usize>,
    /// `targets` and `default_target`, as a document writes them.
    pub targets: Option<Map<String, Value>>,
}

impl AdapterSettings {
    /// Returns these settings, with `wider` for values that are not set.
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
            results: self.results.or(wider.results),
            budget: self.budget.or(wider.budget),
            allow_flagged: [self.allow_flagged, wider.allow_flagged].concat(),
            hide: self.hide.join(&wider.hide).into_owned(),
            answer_budget: self.answer_budget.or(wider.answer_budget),
            targets: self.targets.or(wider.targets),
        }
    }

    /// Returns these settings, with more operations that are served although their texts look like an attack.
    #[must_use]
    pub fn allowing(mut self, names: &[String]) -> AdapterSettings {
        self.allow_flagged.extend_from_slice(names);
        self
    }

    /// Returns the settings of an adapter behind shared tools. They override its own.
    pub(crate) fn for_shared_tools(sharing: Sharing) -> AdapterSettings {
        AdapterSettings {
            mode: Some(if sharing.is_single() { Mode::Single } else { Mode::Semantic }),
            profile: Some(CRUDE_PROFILE.to_owned()),
            pattern: Some("mcpaql_{endpoint}".to_owned()),
            ..AdapterSettings::default()
        }
    }

    /// Returns the settings in the document.
    pub(crate) fn from_adapter(adapter: &Adapter) -> AdapterSettings {
        AdapterSettings {
            mode: adapter.mode,
            profile: adapter.profile.as_ref().map(|profile| profile.name.clone()),
            pattern: adapter.tool_names.pattern.clone(),
            prefix: adapter.tool_names.prefix.clone(),
            policy: adapter.policy.clone(),
            errors: Some(adapter.errors),
            results: adapter.results,
            answer_budget: adapter.answer_budget,
            ..AdapterSettings::default()
        }
    }
}

/// How all adapters share tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Five tools, one for each category.
    Five,
    /// One tool.
    One,
}

impl Sharing {
    /// The words in configuration and flags.
    pub const WORDS: [&str; 2] = ["unified", "unified-single"];

    /// Returns the word in configuration and flags.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Sharing::Five => "unified",
            Sharing::One => "unified-single",
        }
    }

    /// Parses the word in configuration and flags.
    #[must_use]
    pub fn parse(text: &str) -> Option<Sharing> {
        [Sharing::Five, Sharing::One].into_iter().find(|sharing| sharing.as_str() == text)
    }

    /// Returns whether there is a single tool.
    #[must_use]
    pub const fn is_single(self) -> bool {
        matches!(self, Sharing::One)
    }
}
