//! The model of a document. It is the same for the element form and the generator form.
//!
//! ```
//! use mcpaql_core::adapter::{Adapter, CodeTarget, Mode, TargetConfig};
//!
//! let adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! assert!(adapter.operations.is_empty() && !adapter.target.is_remote());
//! assert_eq!(Mode::parse("semantic"), Some(Mode::Semantic));
//! ```

use crate::hints::HintOverrides;
use crate::host::NetworkAccess;
use crate::operation::{BodyForm, Category, Operation};
use indexmap::IndexMap;
use mcpaql_gate::trust::TrustLevel;
use mcpaql_shape::{DeclaredFields, HiddenFields};
use serde_json::Value;

/// An API and how it is served.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// Name as written: lower case, with hyphens or underscores.
    pub name: String,
    /// Name for people; derived from `name` if the document has none.
    pub display_name: String,
    /// Semantic version of the document.
    pub version: String,
    /// What the API is for.
    pub description: String,
    /// How tools are named.
    pub tool_names: ToolNames,
    /// How operations are distributed over tools, if the document sets it.
    pub mode: Option<Mode>,
    /// Custom endpoint families, if the document declares any.
    pub profile: Option<Profile>,
    /// Name of the hint policy, if the document sets it.
    pub policy: Option<String>,
    /// Hints for every tool of the adapter.
    pub hints: HintOverrides,
    /// Hints per endpoint family.
    pub endpoint_hints: IndexMap<String, HintOverrides>,
    /// Named schemas, referred to as `#/types/Name`.
    pub types: IndexMap<String, Value>,
    /// Operations in the order of the document, without `introspect`.
    pub operations: Vec<Operation>,
    /// Where calls go. With several `targets`, the settings that they share.
    pub target: TargetConfig,
    /// Several upstreams of the same kind; each call chooses one. Empty if there is only `target`.
    pub targets: IndexMap<String, AlternativeTarget>,
    /// The target of calls that choose none.
    pub default_target: Option<String>,
    /// How calls are authenticated.
    pub auth: Auth,
    /// Which failures set `isError`.
    pub errors: ErrorPolicy,
    /// What the tools return.
    pub results: Option<ResultForm>,
    /// Words for discovery.
    pub tags: Vec<String>,
    /// Fields that no answer has.
    pub hide: HiddenFields,
    /// Maximum tokens of an answer, if the document sets it.
    pub answer_budget: Option<usize>,
    /// The most that the document wants to be trusted. The operator's level counts if it is lower.
    pub trust: Option<TrustLevel>,
}

impl Adapter {
    /// Creates an adapter with a name and a target and nothing else.
    #[must_use]
    pub fn new(name: impl Into<String>, target: TargetConfig) -> Adapter {
        Adapter {
            name: name.into(),
            display_name: String::new(),
            version: String::new(),
            description: String::new(),
            tool_names: ToolNames::default(),
            mode: None,
            profile: None,
            policy: None,
            hints: HintOverrides::default(),
            endpoint_hints: IndexMap::new(),
            types: IndexMap::new(),
            operations: Vec::new(),
            target,
            targets: IndexMap::new(),
            default_target: None,
            auth: Auth::None,
            errors: ErrorPolicy::default(),
            results: None,
            tags: Vec::new(),
            hide: HiddenFields::default(),
            answer_budget: None,
            trust: None,
        }
    }
}

/// How tools are named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    /// `{adapter}_mcpaql_{endpoint}` unless set.
    pub pattern: Option<String>,
    /// Replaces the `{adapter}_` part.
    pub prefix: Option<String>,
    /// Older tool names → their endpoint (or operation, in discrete mode).
    pub aliases: IndexMap<String, String>,
}

/// How operations are distributed over tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A tool per endpoint family.
    Semantic,
    /// One tool.
    Single,
    /// The tools of `Semantic` and the tool of `Single`.
    All,
    /// A tool per operation.
    Discrete,
}

impl Mode {
    /// All four.
    pub const ALL: [Mode; 4] = [Mode::Semantic, Mode::Single, Mode::All, Mode::Discrete];

    /// The word in documents, flags and introspection.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::Semantic => "semantic",
            Mode::Single => "single",
            Mode::All => "all",
            Mode::Discrete => "discrete",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

/// A custom set of endpoint families.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The name that introspection shows; `custom` if the document has none.
    pub name: String,
    /// Families in the order of the document.
    pub families: IndexMap<String, EndpointFamily>,
}

impl Profile {
    /// Returns the family of an operation: the one that names it, otherwise by its category.
    #[must_use]
    pub fn family_of(&self, operation: &str, category: Category) -> Option<&str> {
        let named =
            self.families.iter().find(|(_, family)| family.operations.iter().any(|name| name == operation));
        let found =
            named.or_else(|| self.families.iter().find(|(_, family)| family.categories.contains(&category)));
        found.map(|(name, _)| name.as_str())
    }
}

/// One endpoint family of a custom profile.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointFamily {
    /// What it is for, in one sentence.
    pub purpose: String,
    /// Title for people.
    pub title: Option<String>,
    /// Names of operations that belong to it.
    pub operations: Vec<String>,
    /// Categories of other operations that belong to it.
    pub categories: Vec<Category>,
    /// Hints of the family's tool.
    pub hints: HintOverrides,
}

/// Where calls go.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetConfig {
    /// An HTTP API.
    Http(HttpTarget),
    /// The embedded store.
    Store(StoreTarget),
    /// Local programs.
    Command(CommandTarget),
    /// Another MCP server.
    Mcp(McpTarget),
    /// The program that serves the adapter.
    Code(CodeTarget),
}

impl TargetConfig {
    /// Returns whether calls may leave this machine, which `openWorldHint` states. This includes MCP servers, because
    /// the effect of their tools is unknown.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(
            self,
            TargetConfig::Http(_) | TargetConfig::Mcp(_) | TargetConfig::Code(CodeTarget { remote: true })
        )
    }

    /// Which hosts its requests may reach, for a target with requests over HTTP.
    pub const fn access_mut(&mut self) -> Option<&mut NetworkAccess> {
        match self {
            TargetConfig::Http(target) => Some(&mut target.access),
            TargetConfig::Mcp(target) => Some(&mut target.access),
            TargetConfig::Store(_) | TargetConfig::Command(_) | TargetConfig::Code(_) => None,
        }
    }
}

/// One of several upstreams of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct AlternativeTarget {
    /// Description for the model; may be empty.
    pub description: String,
    /// Where its calls go.
    pub target: TargetConfig,
    /// How its calls are authenticated.
    pub auth: Auth,
}

/// An HTTP API.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpTarget {
    /// Base URL without trailing slash; may have a path and contain `${env:NAME}`.
    pub base_url: String,
    /// Headers of every request; values may contain `${env:NAME}`.
    pub headers: IndexMap<String, String>,
    /// Format of bodies, unless an operation sets another one.
    pub serialization: BodyForm,
    /// Allow plain `http://` to other machines.
    pub allow_http: bool,
    /// Timeout of connecting. Default 10 s.
    pub connect_timeout_ms: u64,
    /// Timeout of a whole call, including its retries. Default 60 s.
    pub timeout_ms: u64,
    /// Maximum retries of an operation that is safe to repeat. Default 2.
    pub retries: u32,
    /// Maximum bytes of a response. Default 10 MiB.
    pub max_response_bytes: u64,
    /// A header of writes whose value is new for each call, so that the API runs a repeated request only once.
    pub idempotency_header: Option<String>,
    /// Which hosts requests may reach. The operator decides that, not the document.
    pub access: NetworkAccess,
}

/// The embedded store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreTarget {
    /// Declared resource types.
    pub resources: IndexMap<String, Resource>,
}

/// A resource type of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// A description of the resource type.
    pub description: String,
    /// Plural name, such as `notes` for `note`.
    pub plural: String,
    /// Field → JSON Schema.
    pub fields: IndexMap<String, Value>,
    /// Fields a record must have.
    pub required: Vec<String>,
    /// Fields that search covers; all fields of free text if empty.
    pub search: Vec<String>,
    /// Fields that no answer has.
    pub hide: HiddenFields,
    /// What the document declares about the fields of its records.
    pub declared: Option<Box<DeclaredFields>>,
}

/// Local programs.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandTarget {
    /// Working directory of every process; may contain `${env:NAME}`.
    pub cwd: Option<String>,
    /// Names of environment variables that are passed on in addition to the default ones.
    pub env: Vec<String>,
    /// Variables with fixed values.
    pub set_env: IndexMap<String, String>,
    /// Timeout of a process. Default 30 s.
    pub timeout_ms: u64,
    /// Maximum bytes of standard output. Default 1 MiB.
    pub max_output_bytes: u64,
}

/// The program that serves the adapter. Its operations are functions in that program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeTarget {
    /// Whether its functions reach beyond this machine. Only their author knows.
    pub remote: bool,
}

/// Another MCP server, whose tools are the operations.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTarget {
    /// How to connect to it.
    pub link: McpLink,
    /// Headers of a caller's request that are passed on to a server over HTTP. Callers with different values get
    /// separate sessions.
    pub caller_headers: Vec<String>,
    /// Start it with the adapter instead of on the first call.
    pub eager: bool,
    /// Timeout of the start, including the handshake. Default 30 s.
    pub start_timeout_ms: u64,
    /// Timeout of a call. Progress notifications restart it. Default 60 s.
    pub timeout_ms: u64,
    /// Maximum bytes of a response. Default 10 MiB.
    pub max_response_bytes: u64,
    /// Which hosts requests may reach. The operator decides that, not the document.
    pub access: NetworkAccess,
}

impl McpTarget {
    /// Creates a target with default limits.
    #[must_use]
    pub fn new(link: McpLink) -> McpTarget {
        McpTarget {
            link,
            caller_headers: Vec::new(),
            eager: false,
            start_timeout_ms: 30_000,
            timeout_ms: 60_000,
            max_response_bytes: 10 << 20,
            access: NetworkAccess::default(),
        }
    }
}

impl McpTarget {
    /// Allows the host of its URL, because the operator typed it.
    pub fn grant_own_host(&mut self) {
        if let McpLink::Url { url, .. } = &self.link {
            self.access.grant_address(url);
        }
    }
}

/// How to connect to an MCP server.
#[derive(Debug, Clone, PartialEq)]
pub enum McpLink {
    /// A program, over its standard input and output.
    Command(McpCommand),
    /// Streamable HTTP. The adapter's `auth` applies.
    Url {
        /// URL of the endpoint; may contain `${env:NAME}`.
        url: String,
        /// Headers of every request; values may contain `${env:NAME}`.
        headers: IndexMap<String, String>,
        /// Allow plain `http://` to other machines.
        allow_http: bool,
    },
}

/// A program that is an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpCommand {
    /// The program and its arguments, never a shell line; may contain `${env:NAME}`.
    pub command: Vec<String>,
    /// Working directory; may contain `${env:NAME}`.
    pub cwd: Option<String>,
    /// Names of environment variables that are passed on in addition to the default ones.
    pub env: Vec<String>,
    /// Variables with fixed values, which may contain `${env:NAME}`.
    pub set_env: IndexMap<String, String>,
}

/// How calls are authenticated. It contains only names of environment variables, never values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Auth {
    /// No authentication.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer {
        /// Variable that holds the token.
        token_env: String,
        /// Header; default `Authorization`.
        header: String,
        /// Text before the token; default `Bearer `.
        prefix: String,
    },
    /// A key in a header, in the query or in a cookie.
    ApiKey {
        /// Variable that holds the key.
        key_env: String,
        /// Where to send it.
        location: KeyLocation,
        /// Text before the key; default empty.
        prefix: String,
    },
    /// HTTP basic authentication.
    Basic {
        /// Variable that holds the user name.
        username_env: String,
        /// Variable that holds the password.
        password_env: String,
    },
    /// OAuth 2.0. Tokens are fetched, kept and renewed.
    OAuth2(OAuth2),
    /// All of these together.
    All(Vec<Auth>),
    /// The first one whose variables are set.
    Any(Vec<Auth>),
}

/// OAuth 2.0 without user interaction: client credentials or a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth2 {
    /// URL of the token endpoint.
    pub token_url: String,
    /// Variable that holds the client's id.
    pub client_id_env: String,
    /// Variable that holds the client's secret, if it has one.
    pub client_secret_env: Option<String>,
    /// Variable that holds a refresh token. Without it, client credentials are used.
    pub refresh_token_env: Option<String>,
    /// Scopes to request.
    pub scopes: Vec<String>,
}

/// Where to send an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyLocation {
    /// A header with this name.
    Header(String),
    /// A query parameter with this name.
    Query(String),
    /// A cookie with this name.
    Cookie(String),
}

impl KeyLocation {
    /// Returns the word in documents and the name of the header, query parameter or cookie.
    #[must_use]
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            KeyLocation::Header(name) => ("header", name),
            KeyLocation::Query(name) => ("query", name),
            KeyLocation::Cookie(name) => ("cookie", name),
        }
    }
}

/// What a tool returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultForm {
    /// The envelope of MCP-AQL.
    #[default]
    Envelope,
    /// What a plain MCP server returns: the data as text and as structured content, or the result of the MCP server
    /// that answers.
    Plain,
}

impl ResultForm {
    /// The words in documents and configuration.
    pub const WORDS: &[&str] = &["envelope", "plain"];

    /// The word in documents and configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ResultForm::Envelope => "envelope",
            ResultForm::Plain => "plain",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<ResultForm> {
        [ResultForm::Envelope, ResultForm::Plain].into_iter().find(|form| form.as_str() == text)
    }
}

/// Which failures set `isError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorPolicy {
    /// Only those that an agent cannot fix, as in MCP-AQL.
    #[default]
    Unrecoverable,
    /// Every failure, as plain MCP hosts expect.
    All,
}

impl ErrorPolicy {
    /// The words in documents and configuration.
    pub const WORDS: &[&str] = &["unrecoverable", "all"];

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<ErrorPolicy> {
        match text {
            "unrecoverable" => Some(ErrorPolicy::Unrecoverable),
            "all" => Some(ErrorPolicy::All),
            _ => None,
        }
    }
}
