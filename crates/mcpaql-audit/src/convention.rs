//! Conventions: the requirements of a project, a client or a directory for tools.
//!
//! ```
//! use mcpaql_audit::convention::{RuleLevel, Standard};
//! use mcpaql_audit::load;
//!
//! let standard = Standard::from_conventions(vec![load::builtin("claude-directory").unwrap().clone()]);
//! assert_eq!(standard.conventions[0].name, "claude-directory");
//! assert!(RuleLevel::Advice < RuleLevel::Error);
//! ```
//!
//! A convention is data: every requirement is optional, and a convention may extend others. The built-in ones are the files in
//! `builtin/`, in the same format as a team's own. A [`Standard`] is what an audit checks tools against: several conventions and one
//! policy for hints.
//!
//! What always holds: a requirement keeps the name of its convention, so that a finding can name it.

pub(crate) mod action_words;
pub(crate) mod template;

use mcpaql_core::policy::{self, Policy};

use indexmap::IndexMap;
pub use mcpaql_core::policy::Hint;

/// The name that stands for all known clients in a list of conventions.
pub const CLIENTS: &str = "clients";

/// The level of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleLevel {
    /// A possible improvement.
    Advice,
    /// Misleads a client or a model.
    Warning,
    /// Breaks a client or endangers the user.
    Error,
}

impl RuleLevel {
    /// All levels, from mildest to most severe.
    pub const ALL: [RuleLevel; 3] = [RuleLevel::Advice, RuleLevel::Warning, RuleLevel::Error];

    /// Returns the name of the level in reports and files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RuleLevel::Advice => "advice",
            RuleLevel::Warning => "warning",
            RuleLevel::Error => "error",
        }
    }

    /// Returns the level with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<RuleLevel> {
        RuleLevel::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// Who makes the requirements of a convention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConventionKind {
    /// A project, for its own tools.
    #[default]
    Project,
    /// A program that shows tools to a model.
    Client,
    /// A directory, for the tools it lists.
    Directory,
}

impl ConventionKind {
    pub(crate) const ALL: [ConventionKind; 3] =
        [ConventionKind::Project, ConventionKind::Client, ConventionKind::Directory];

    /// Returns the name in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ConventionKind::Project => "project",
            ConventionKind::Client => "client",
            ConventionKind::Directory => "directory",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<ConventionKind> {
        ConventionKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The characters that a name may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Characters {
    /// `[A-Za-z0-9_.-]`, as in MCP.
    Mcp,
    /// `[A-Za-z0-9_-]`, as in model APIs.
    Api,
    /// `^[a-z][a-z0-9_]*$`.
    Snake,
}

impl Characters {
    pub(crate) const ALL: [Characters; 3] = [Characters::Mcp, Characters::Api, Characters::Snake];

    /// Returns the name in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Characters::Mcp => "mcp",
            Characters::Api => "api",
            Characters::Snake => "snake_case",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Characters> {
        Characters::ALL.into_iter().find(|characters| characters.as_str() == text)
    }

    /// Returns whether a name may contain the character.
    #[must_use]
    pub const fn allow(self, c: char) -> bool {
        match self {
            Characters::Mcp => c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
            Characters::Api => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
            Characters::Snake => c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
        }
    }
}

/// A feature of JSON Schema that some client does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaTrap {
    /// `anyOf`, `oneOf` or `allOf` next to the root's `type: object`.
    RootUnion,
    /// `type: [string, null]` of a parameter.
    TypeList,
    /// `type: array` without `items`.
    ArrayWithoutItems,
    /// `items: [a, b]` instead of `prefixItems`.
    Tuple,
    /// A schema that refers to itself.
    Recursion,
    /// Any `$ref`.
    Reference,
    /// `anyOf` or `oneOf` anywhere.
    Union,
    /// `const`.
    Const,
    /// `nullable`, which is an OpenAPI keyword.
    Nullable,
    /// `exclusiveMinimum: true`, as in draft 4.
    BooleanBounds,
    /// A `format` that model APIs do not support.
    Format,
}

impl SchemaTrap {
    /// All traps.
    pub const ALL: [SchemaTrap; 11] = [
        SchemaTrap::RootUnion,
        SchemaTrap::TypeList,
        SchemaTrap::ArrayWithoutItems,
        SchemaTrap::Tuple,
        SchemaTrap::Recursion,
        SchemaTrap::Reference,
        SchemaTrap::Union,
        SchemaTrap::Const,
        SchemaTrap::Nullable,
        SchemaTrap::BooleanBounds,
        SchemaTrap::Format,
    ];

    /// Returns the name in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            SchemaTrap::RootUnion => "root_union",
            SchemaTrap::TypeList => "type_list",
            SchemaTrap::ArrayWithoutItems => "array_without_items",
            SchemaTrap::Tuple => "tuple",
            SchemaTrap::Recursion => "recursion",
            SchemaTrap::Reference => "reference",
            SchemaTrap::Union => "union",
            SchemaTrap::Const => "const",
            SchemaTrap::Nullable => "nullable",
            SchemaTrap::BooleanBounds => "boolean_bounds",
            SchemaTrap::Format => "format",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<SchemaTrap> {
        SchemaTrap::ALL.into_iter().find(|trap| trap.as_str() == text)
    }
}

/// A set of requirements for tools. A missing field means no requirement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Convention {
    /// The name in flags and files.
    pub name: String,
    /// A description in one sentence.
    pub about: String,
    /// URL of the page that documents the requirements.
    pub source: Option<String>,
    /// Who makes the requirements.
    pub kind: ConventionKind,
    /// The policy for hints that goes with it.
    pub policy: Option<String>,
    /// Requirements for names.
    pub names: NameRequirements,
    /// Requirements for titles.
    pub titles: TitleRequirements,
    /// Requirements for annotations.
    pub annotations: AnnotationRequirements,
    /// Requirements for descriptions.
    pub descriptions: DescriptionRequirements,
    /// Requirements for input schemas.
    pub schemas: SchemaRequirements,
    /// Maximum number of tools of one server.
    pub max_tools: Option<usize>,
    /// Levels of rules by code; `None` turns a rule off.
    pub rules: IndexMap<String, Option<RuleLevel>>,
}

/// Requirements for names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NameRequirements {
    /// The pattern of names, such as `lightdash_tools__{verb}_{object}`: literal text around the placeholders `{product}`, `{verb}`,
    /// `{object}`, `{endpoint}`, `{adapter}` and `{words}`, each of which matches one word or more.
    ///
    /// - `{product}` matches one of `products`, or any word if none are listed.
    /// - `{verb}` matches a verb in its base form: one of `verbs`, or any known verb if none are listed. `{object}` matches the other
    ///   words, of which there is at least one. The verb comes first, or after an object of two words or more:
    ///   `photoshop_smart_object_replace` follows `{product}_{verb}_{object}`. Words that contain one of `objects` need no listed
    ///   verb. If products are not listed, words before the verb may belong to the product.
    /// - A pattern with `{endpoint}` applies only to tools of MCP-AQL adapters. A `_{endpoint}` at the end may be missing if one tool
    ///   serves all endpoints.
    /// - `{prefix}` matches words that end in an underscore, or nothing.
    pub pattern: Option<String>,
    /// The allowed characters.
    pub characters: Option<Characters>,
    /// Maximum length of a name; with `shown_as`, of the name as shown.
    pub max_length: Option<usize>,
    /// How the client shows a name: `mcp__{server}__{tool}`. `{server:13}` stands for the first 13 characters.
    pub shown_as: Option<String>,
    /// Whether longer names are truncated instead of rejected.
    pub cuts: bool,
    /// Minimum and maximum number of words.
    pub words: Option<(usize, usize)>,
    /// The prefix of every name.
    pub prefix: Option<String>,
    /// Products; every name starts with one of them.
    pub products: Vec<String>,
    /// Verbs in addition to the known ones. For `{verb}` in `pattern`, only these count.
    pub verbs: Vec<String>,
    /// Words that match `{object}`.
    pub objects: Vec<String>,
    /// A word with a fixed spelling: `mcpaql`, not one of `not_words`.
    pub word: Option<String>,
    /// Misspellings of `word`.
    pub not_words: Vec<String>,
}

/// Requirements for titles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TitleRequirements {
    /// Each tool must have one.
    pub required: bool,
    /// The title must also be in `annotations.title`.
    pub in_annotations: bool,
    /// The pattern of titles, such as `{name} — {endpoint}`.
    pub pattern: Option<String>,
    /// Maximum length of a title.
    pub max_length: Option<usize>,
}

/// Requirements for annotations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnnotationRequirements {
    /// Hints that every tool must set.
    pub explicit: Vec<Hint>,
    /// Every tool must set `readOnlyHint` or `destructiveHint`.
    pub safety: bool,
    /// No tool may both read and write.
    pub one_effect: bool,
}

/// Requirements for descriptions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DescriptionRequirements {
    /// Each tool must have one.
    pub required: bool,
    /// Maximum length, in characters.
    pub max_length: Option<usize>,
    /// Texts that must not occur.
    pub forbidden: Vec<String>,
}

/// Requirements for input schemas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaRequirements {
    /// Each parameter must have a description.
    pub described: bool,
    /// Features that the client does not support.
    pub refuses: Vec<SchemaTrap>,
    /// Maximum number of values of an enum.
    pub max_enum: Option<usize>,
    /// Characters that parameter names may contain.
    pub parameter_characters: Option<Characters>,
    /// Maximum length of a parameter name.
    pub parameter_length: Option<usize>,
}

/// What an audit checks tools against.
#[derive(Debug, Clone)]
pub struct Standard {
    /// The selected conventions, in order.
    pub conventions: Vec<Convention>,
    /// The policy, which derives hints from facts.
    pub policy: Policy,
    /// Whether the policy was selected, directly or by a convention. The default policy is not enforced.
    pub policy_chosen: bool,
    /// Levels of rules that override those of conventions; `None` turns a rule off.
    pub rules: IndexMap<String, Option<RuleLevel>>,
}

impl Standard {
    /// Creates a standard with the policy of the last convention that names one.
    #[must_use]
    pub fn from_conventions(conventions: Vec<Convention>) -> Standard {
        Standard::with_policies(conventions, &[])
    }

    /// Creates a standard with the policy of the last convention that names one: one of `own`, or a built-in policy.
    #[must_use]
    pub fn with_policies(conventions: Vec<Convention>, own: &[Policy]) -> Standard {
        let named = conventions.iter().rev().find_map(|convention| convention.policy.as_deref());
        let policy = named.and_then(|name| policy::find(name, own));
        Standard {
            policy_chosen: policy.is_some(),
            policy: policy.unwrap_or_else(|| policy::default()).clone(),
            conventions,
            rules: IndexMap::new(),
        }
    }

    /// Returns a requirement of each convention that has it, with the name of the convention.
    pub fn requirements<'s, T>(
        &'s self,
        pick: impl Fn(&'s Convention) -> Option<T> + 's,
    ) -> impl Iterator<Item = (&'s str, T)> + 's {
        let found = move |convention: &'s Convention| Some((convention.name.as_str(), pick(convention)?));
        self.conventions.iter().filter_map(found)
    }

    /// Returns the level of a rule, or `None` if it is off. The overrides of the standard come first, then the last convention that
    /// sets a level, then the default.
    #[must_use]
    pub fn level(&self, code: &str, default: RuleLevel) -> Option<RuleLevel> {
        self.declared_level(code).unwrap_or(Some(default))
    }

    /// Returns whether the standard sets the level of a rule, so that the rule itself cannot lower it.
    #[must_use]
    pub fn sets_level(&self, code: &str) -> bool {
        self.declared_level(code).is_some()
    }

    fn declared_level(&self, code: &str) -> Option<Option<RuleLevel>> {
        let by_convention =
            || self.conventions.iter().rev().find_map(|convention| convention.rules.get(code));
        self.rules.get(code).or_else(by_convention).copied()
    }
}
