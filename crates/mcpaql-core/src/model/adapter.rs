//! The document model: one shape for the element form, the generator form and their three spellings.

use crate::hints::HintOverrides;
use crate::operation::{BodyForm, Category, Operation};
use indexmap::IndexMap;
use serde_json::Value;

/// One described API.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// As written: lower case, hyphens or underscores.
    pub name: String,
    /// For people; derived from the name where the document has none.
    pub display_name: String,
    /// Semantic version of the document.
    pub version: String,
    /// What the API is for.
    pub description: String,
    /// How tools are named.
    pub tool_names: ToolNames,
    /// How operations are spread over tools, where the document says.
    pub mode: Option<Mode>,
    /// The custom endpoint families, where the document declares any.
    pub profile: Option<Profile>,
    /// Name of the hint policy, where the document says.
    pub policy: Option<String>,
    /// Hints for every tool of the adapter.
    pub hints: HintOverrides,
    /// Hints per endpoint family.
    pub endpoint_hints: IndexMap<String, HintOverrides>,
    /// Named schemas, referred to as `#/types/Name`.
    pub types: IndexMap<String, Value>,
    /// In the order of the document; `introspect` is not among them.
    pub operations: Vec<Operation>,
    /// Where calls go; what `targets` have in common where there are any.
    pub target: TargetConfig,
    /// Several upstreams of one kind, of which each call chooses one; empty where there is only `target`.
    pub targets: IndexMap<String, AlternativeTarget>,
    /// The one that is taken where a call chooses none.
    pub default_target: Option<String>,
    /// How calls are authenticated.
    pub auth: Auth,
    /// Which failures carry `isError`.
    pub errors: ErrorPolicy,
    /// Free words for discovery.
    pub tags: Vec<String>,
}

impl Adapter {
    /// An adapter that says nothing but what it is called and where its calls go.
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
            tags: Vec::new(),
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
    /// Older tool names → the endpoint (or operation, in discrete mode) they stand for.
    pub aliases: IndexMap<String, String>,
}

/// How operations are spread over tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A tool per endpoint family.
    Semantic,
    /// One tool.
    Single,
    /// Both.
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

    /// The mode of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

/// A custom set of endpoint families.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The name introspection shows; `custom` unless the document names it.
    pub name: String,
    /// In the order of the document.
    pub families: IndexMap<String, EndpointFamily>,
}

impl Profile {
    /// The family an operation belongs to: named there, else by its category.
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
    /// For people.
    pub title: Option<String>,
    /// Operations that belong here by name.
    pub operations: Vec<String>,
    /// Categories whose other operations belong here.
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
    /// Whether calls may leave this machine, which is what `openWorldHint` tells. What an MCP server does behind its tools
    /// cannot be seen, so it counts unless the server itself says otherwise.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(
            self,
            TargetConfig::Http(_) | TargetConfig::Mcp(_) | TargetConfig::Code(CodeTarget { remote: true })
        )
    }
}

/// One of several upstreams of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct AlternativeTarget {
    /// What it is, for the model; may be empty.
    pub description: String,
    /// Where its calls go.
    pub target: TargetConfig,
    /// How its calls are authenticated.
    pub auth: Auth,
}

/// An HTTP API.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpTarget {
    /// Without trailing slash; may hold a path, and `${env:NAME}`.
    pub base_url: String,
    /// Sent with every request; values may hold `${env:NAME}`.
    pub headers: IndexMap<String, String>,
    /// How bodies are written where an operation does not say.
    pub serialization: BodyForm,
    /// Plain `http://` to other machines is allowed only where the document says so.
    pub allow_http: bool,
    /// Default 10 s.
    pub connect_timeout_ms: u64,
    /// Default 60 s, for the whole call with its retries.
    pub timeout_ms: u64,
    /// How often an idempotent operation is tried again; default 2.
    pub retries: u32,
    /// Default 10 MiB.
    pub max_response_bytes: u64,
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
    /// What it is, for descriptions.
    pub description: String,
    /// `notes` for `note`.
    pub plural: String,
    /// Field → JSON Schema.
    pub fields: IndexMap<String, Value>,
    /// Fields a record must have.
    pub required: Vec<String>,
    /// Fields that search reads; every field of free text where it is empty.
    pub search: Vec<String>,
}

/// Local programs.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandTarget {
    /// Working directory of every process; may hold `${env:NAME}`.
    pub cwd: Option<String>,
    /// Names of environment variables that are passed on besides the usual ones.
    pub env: Vec<String>,
    /// Variables set to fixed values.
    pub set_env: IndexMap<String, String>,
    /// Default 30 s.
    pub timeout_ms: u64,
    /// Default 1 MiB for standard output.
    pub max_output_bytes: u64,
}

/// The program that serves the adapter: operations are functions of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeTarget {
    /// Whether its functions reach beyond this machine, which only their author knows.
    pub remote: bool,
}

/// Another MCP server, whose tools are the operations.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTarget {
    /// How it is reached.
    pub link: McpLink,
    /// Headers of a caller's request that are passed on to a server over HTTP; callers with other values have sessions of
    /// their own.
    pub caller_headers: Vec<String>,
    /// Whether it is started with the adapter and not with the first call.
    pub eager: bool,
    /// Default 30 s, until it has answered the handshake.
    pub start_timeout_ms: u64,
    /// Default 60 s, for one call; news of its progress begins it anew.
    pub timeout_ms: u64,
    /// Default 10 MiB.
    pub max_response_bytes: u64,
}

impl McpTarget {
    /// A server with the usual limits.
    #[must_use]
    pub const fn new(link: McpLink) -> McpTarget {
        McpTarget {
            link,
            caller_headers: Vec::new(),
            eager: false,
            start_timeout_ms: 30_000,
            timeout_ms: 60_000,
            max_response_bytes: 10 << 20,
        }
    }
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum McpLink {
    /// A program that speaks over its standard streams.
    Command(McpCommand),
    /// Streamable HTTP; the adapter's `auth` applies.
    Url {
        /// Of the endpoint; may hold `${env:NAME}`.
        url: String,
        /// Sent with every request; values may hold `${env:NAME}`.
        headers: IndexMap<String, String>,
        /// Plain `http://` to other machines is allowed only where the document says so.
        allow_http: bool,
    },
}

/// A program that is an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpCommand {
    /// The program and its arguments, never a shell line; may hold `${env:NAME}`.
    pub command: Vec<String>,
    /// Working directory; may hold `${env:NAME}`.
    pub cwd: Option<String>,
    /// Names of environment variables that are passed on besides the usual ones.
    pub env: Vec<String>,
    /// Variables set to fixed values, which may hold `${env:NAME}`.
    pub set_env: IndexMap<String, String>,
}

/// How calls are authenticated. Only names of environment variables are here, never values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Auth {
    /// Not at all.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer {
        /// Variable that holds the token.
        token_env: String,
        /// Header, `Authorization` unless set.
        header: String,
        /// What stands before the token, `Bearer ` unless set.
        prefix: String,
    },
    /// A key in a header, in the query or in a cookie.
    ApiKey {
        /// Variable that holds the key.
        key_env: String,
        /// Where it goes.
        location: KeyLocation,
        /// What stands before the key, nothing unless set.
        prefix: String,
    },
    /// HTTP basic authentication.
    Basic {
        /// Variable that holds the user name.
        username_env: String,
        /// Variable that holds the password.
        password_env: String,
    },
    /// OAuth 2.0: a token is fetched, kept and renewed.
    OAuth2(OAuth2),
    /// All of them together.
    All(Vec<Auth>),
    /// The first whose variables are set.
    Any(Vec<Auth>),
}

/// OAuth 2.0 without a person: by client credentials or by a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth2 {
    /// Where tokens come from.
    pub token_url: String,
    /// Variable that holds the client's id.
    pub client_id_env: String,
    /// Variable that holds the client's secret, where it has one.
    pub client_secret_env: Option<String>,
    /// Variable that holds a refresh token; client credentials where there is none.
    pub refresh_token_env: Option<String>,
    /// What to ask for.
    pub scopes: Vec<String>,
}

/// Where an API key goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyLocation {
    /// A header of that name.
    Header(String),
    /// A query parameter of that name.
    Query(String),
    /// A cookie of that name.
    Cookie(String),
}

impl KeyLocation {
    /// The word in documents, and what the key is called there.
    #[must_use]
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            KeyLocation::Header(name) => ("header", name),
            KeyLocation::Query(name) => ("query", name),
            KeyLocation::Cookie(name) => ("cookie", name),
        }
    }
}

/// Which failures carry `isError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorPolicy {
    /// Only what an agent cannot repair, as MCP-AQL says.
    #[default]
    Unrecoverable,
    /// Every failure, as plain MCP hosts expect.
    All,
}

impl ErrorPolicy {
    /// The words in documents and configuration.
    pub const WORDS: &[&str] = &["unrecoverable", "all"];

    /// The policy of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<ErrorPolicy> {
        match text {
            "unrecoverable" => Some(ErrorPolicy::Unrecoverable),
            "all" => Some(ErrorPolicy::All),
            _ => None,
        }
    }
}
