//! Conventions: what a project, a client or a directory demands of the tools it shows.
//!
//! A convention is data: every demand is optional, and a convention may extend others. Those of this version are the files in
//! `builtin/`, written the way a team writes its own. A [`Standard`] is what one audit holds tools against: conventions, of
//! which each demand keeps the name of who makes it, and one policy for hints.

pub(crate) mod template;

use mcpaql_core::policy::{self, Policy};

use indexmap::IndexMap;
pub use mcpaql_core::policy::Hint;

/// What stands for every known client where conventions are named.
pub const CLIENTS: &str = "clients";

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleLevel {
    /// Could be better; never fails an audit by itself.
    Advice,
    /// Misleads a client or a model.
    Warning,
    /// Breaks in a client, or endangers the user.
    Error,
}

impl RuleLevel {
    /// All of them, the mildest first.
    pub const ALL: [RuleLevel; 3] = [RuleLevel::Advice, RuleLevel::Warning, RuleLevel::Error];

    /// The word in reports and files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RuleLevel::Advice => "advice",
            RuleLevel::Warning => "warning",
            RuleLevel::Error => "error",
        }
    }

    /// The level of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<RuleLevel> {
        RuleLevel::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// Whose demands they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConventionKind {
    /// A project's, for its own tools.
    #[default]
    Project,
    /// A program's that shows tools to a model.
    Client,
    /// A directory's, for what it lists.
    Directory,
}

impl ConventionKind {
    pub(crate) const ALL: [ConventionKind; 3] =
        [ConventionKind::Project, ConventionKind::Client, ConventionKind::Directory];

    /// The word in files.
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

/// Which characters a name may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Characters {
    /// `[A-Za-z0-9_.-]`, as MCP says.
    Mcp,
    /// `[A-Za-z0-9_-]`, as model APIs say.
    Api,
    /// `^[a-z][a-z0-9_]*$`.
    Snake,
}

impl Characters {
    pub(crate) const ALL: [Characters; 3] = [Characters::Mcp, Characters::Api, Characters::Snake];

    /// The word in files.
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

    /// Whether a name may hold it.
    #[must_use]
    pub const fn allow(self, c: char) -> bool {
        match self {
            Characters::Mcp => c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
            Characters::Api => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
            Characters::Snake => c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
        }
    }
}

/// A trait of JSON Schema that some client cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaTrap {
    /// `anyOf`, `oneOf` or `allOf` beside the root's `type: object`.
    RootUnion,
    /// `type: [string, null]` of a parameter.
    TypeList,
    /// `type: array` that does not say of what.
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
    /// `nullable`, which is OpenAPI's.
    Nullable,
    /// `exclusiveMinimum: true`, as in draft 4.
    BooleanBounds,
    /// A `format` other than those of model APIs.
    Format,
}

impl SchemaTrap {
    /// All of them.
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

    /// The word in files.
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

/// What somebody demands of tools. What is not there is not demanded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Convention {
    /// What flags and files call it.
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// Where the demands are written down.
    pub source: Option<String>,
    /// Whose they are.
    pub kind: ConventionKind,
    /// The policy for hints that goes with it.
    pub policy: Option<String>,
    /// Of names.
    pub names: NameRequirements,
    /// Of titles.
    pub titles: TitleRequirements,
    /// Of annotations.
    pub annotations: AnnotationRequirements,
    /// Of descriptions.
    pub descriptions: DescriptionRequirements,
    /// Of input schemas.
    pub schemas: SchemaRequirements,
    /// Most tools of one server.
    pub max_tools: Option<usize>,
    /// By the code of a rule: another level, or `None` where the rule is off.
    pub rules: IndexMap<String, Option<RuleLevel>>,
}

/// Demands of names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NameRequirements {
    /// Such as `lightdash_tools__{verb}_{object}`: literal text around `{product}`, `{verb}`, `{object}`, `{endpoint}`, `{adapter}`
    /// and `{words}`, each of one word or more. A `{product}` is one of `products`, or anything where none are listed. Where `verbs`
    /// or `objects` are listed, `{verb}` and `{object}` together stand for words among which is one of either, in whatever order:
    /// `photoshop_smart_object_replace` and `photoshop_document_manifest` follow `{product}_{verb}_{object}`. Where none are, a verb
    /// that everybody knows comes first, or behind whatever is the product. A pattern with `{endpoint}` is demanded of MCP-AQL's own
    /// tools only, and a `_{endpoint}` that ends it may be missing where one tool stands for all. A `{prefix}` ends in an underscore,
    /// or is not there.
    pub pattern: Option<String>,
    /// Which characters.
    pub characters: Option<Characters>,
    /// Longest name; of what `shown_as` makes of it where that is given.
    pub max_length: Option<usize>,
    /// What a client makes of a name: `mcp__{server}__{tool}`; `{server:13}` is the first thirteen characters.
    pub shown_as: Option<String>,
    /// Longer names are cut instead of refused.
    pub cuts: bool,
    /// Fewest and most words.
    pub words: Option<(usize, usize)>,
    /// What every name begins with.
    pub prefix: Option<String>,
    /// First words; every name begins with one of them.
    pub products: Vec<String>,
    /// Verbs that count besides those everybody knows; where `pattern` has `{verb}`, the only ones.
    pub verbs: Vec<String>,
    /// Words that stand for `{object}`.
    pub objects: Vec<String>,
    /// A word that names must spell so: `mcpaql`, and not one of `not_words`.
    pub word: Option<String>,
    /// Misspellings of `word`.
    pub not_words: Vec<String>,
}

/// Demands of titles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TitleRequirements {
    /// Each tool has one.
    pub required: bool,
    /// It stands in `annotations.title`, too.
    pub in_annotations: bool,
    /// Such as `{name} — {endpoint}`.
    pub pattern: Option<String>,
    /// Longest title.
    pub max_length: Option<usize>,
}

/// Demands of annotations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnnotationRequirements {
    /// Hints that every tool writes out.
    pub explicit: Vec<Hint>,
    /// At least one of `readOnlyHint` and `destructiveHint` is there and says something.
    pub safety: bool,
    /// No tool both reads and writes.
    pub one_effect: bool,
}

/// Demands of descriptions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DescriptionRequirements {
    /// Each tool has one.
    pub required: bool,
    /// Longest, in characters.
    pub max_length: Option<usize>,
    /// Text that may not occur.
    pub forbidden: Vec<String>,
}

/// Demands of input schemas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaRequirements {
    /// Each parameter is described.
    pub described: bool,
    /// What the client cannot take.
    pub refuses: Vec<SchemaTrap>,
    /// Most values of an enum.
    pub max_enum: Option<usize>,
    /// Which characters names of parameters may hold.
    pub parameter_characters: Option<Characters>,
    /// Longest name of a parameter.
    pub parameter_length: Option<usize>,
}

/// What an audit holds tools against.
#[derive(Debug, Clone)]
pub struct Standard {
    /// In the order they were chosen.
    pub conventions: Vec<Convention>,
    /// From facts to hints.
    pub policy: Policy,
    /// Whether somebody chose the policy, be it by a convention: otherwise nobody is held to it.
    pub policy_chosen: bool,
    /// Levels that stand above what conventions say.
    pub rules: IndexMap<String, Option<RuleLevel>>,
}

impl Standard {
    /// These conventions, with the policy of the last one that names any.
    #[must_use]
    pub fn from_conventions(conventions: Vec<Convention>) -> Standard {
        Standard::with_policies(conventions, &[])
    }

    /// These conventions, with the policy of the last one that names any: one of a team's own or of this version.
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

    /// What conventions demand, each with the name of who does.
    pub fn requirements<'s, T>(
        &'s self,
        pick: impl Fn(&'s Convention) -> Option<T> + 's,
    ) -> impl Iterator<Item = (&'s str, T)> + 's {
        let found = move |convention: &'s Convention| Some((convention.name.as_str(), pick(convention)?));
        self.conventions.iter().filter_map(found)
    }

    /// The level of a rule; `None` where it is off. What stands above the conventions decides, then the last convention that
    /// says something.
    #[must_use]
    pub fn level(&self, code: &str, default: RuleLevel) -> Option<RuleLevel> {
        self.declared_level(code).unwrap_or(Some(default))
    }

    /// Whether somebody says how bad what a rule finds is, so that the rule itself cannot make less of it.
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
