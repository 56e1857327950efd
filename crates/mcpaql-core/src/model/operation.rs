//! An operation: one thing an adapter can do, as the document means it.
//!
//! What always holds after loading: the name is snake_case and unique in its adapter, the category is exactly one, every
//! placeholder of the binding is a declared parameter, and a parameter's `schema` is the full JSON Schema that the
//! author wrote (type references as `{"$ref": "#/types/Name"}`).

use crate::adapter::Auth;
use crate::facts::{Facts, Repeat};
use crate::hints::HintOverrides;
use crate::lifecycle::{ExecutionAction, Lifecycle};
use indexmap::IndexMap;
pub use mcpaql_lexicon::{Category, Danger};
use serde_json::Value;

/// The one operation every adapter has.
pub const INTROSPECT: &str = "introspect";

/// One thing an adapter can do.
#[derive(Debug, Clone)]
pub struct Operation {
    /// snake_case, unique in the adapter.
    pub name: String,
    /// Older names that still work and are answered with a deprecation warning.
    pub aliases: Vec<String>,
    /// What it does to the world.
    pub category: Category,
    /// The endpoint family it is reached through.
    pub endpoint: String,
    /// For people; derived from the name where the document has none.
    pub title: String,
    /// What it does; may be empty.
    pub description: String,
    /// In the order of the document.
    pub params: Vec<Param>,
    /// What comes back, where the document says.
    pub returns: Option<Returns>,
    /// Example calls that validate against `params`.
    pub examples: Vec<Example>,
    /// Free groups for discovery.
    pub tags: Vec<String>,
    /// Declared, else by name, else by category.
    pub danger: Danger,
    /// Policy-free facts, from which every hint is derived.
    pub facts: Facts,
    /// The author's own words about the hints; the most specific layer.
    pub hints: HintOverrides,
    /// Set where the author discourages the operation; the text says what to use instead.
    pub deprecated: Option<String>,
    /// The name it has where the document was imported from.
    pub source_id: Option<String>,
    /// How its answers are divided into pages, where they are.
    pub pagination: Option<Pagination>,
    /// Set where it runs in the background, as an execution of its own.
    pub lifecycle: Option<Lifecycle>,
    /// How it reaches the target.
    pub binding: Binding,
}

impl Operation {
    /// An operation that says nothing but what it is and does.
    #[must_use]
    pub fn new(name: impl Into<String>, category: Category, facts: Facts, binding: Binding) -> Operation {
        Operation {
            name: name.into(),
            aliases: Vec::new(),
            category,
            endpoint: category.endpoint().to_owned(),
            title: String::new(),
            description: String::new(),
            params: Vec::new(),
            returns: None,
            examples: Vec::new(),
            tags: Vec::new(),
            danger: Danger::Reversible,
            facts,
            hints: HintOverrides::default(),
            deprecated: None,
            source_id: None,
            pagination: None,
            lifecycle: None,
            binding,
        }
    }

    /// The parameter of that name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Whether repeating a call does no harm, by the facts: what may be tried again when no answer came.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        match self.facts.repeat {
            Repeat::NoEffect => true,
            Repeat::FailsWithoutEffect => matches!(self.category, Category::Delete | Category::Read),
            Repeat::Unknown => self.category == Category::Read,
            Repeat::Accumulates => false,
        }
    }
}

/// One parameter of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// snake_case, as callers write it.
    pub name: String,
    /// The name the target knows (`as:` in the document), else the same.
    pub wire: String,
    /// Where an HTTP request carries it.
    pub location: ParamLocation,
    /// Must be given.
    pub required: bool,
    /// Never logged, never echoed.
    pub sensitive: bool,
    /// For the model; may be empty.
    pub description: String,
    /// JSON Schema of the value, without `required`, `description` and the keys of this struct.
    pub schema: Value,
    /// Filled in when the caller gives nothing.
    pub default: Option<Value>,
    /// What the target assumes when it is given nothing: shown, never sent.
    pub api_default: Option<Value>,
    /// How arrays and objects are spelled outside a JSON body (`style`/`explode` of OpenAPI).
    pub style: ParamStyle,
    /// Operations that return a value for it, best first: the chain an agent has to walk.
    pub from: Vec<String>,
}

impl Param {
    /// An optional parameter whose wire name is its name, spelled as OpenAPI does by default in that place.
    #[must_use]
    pub fn new(name: impl Into<String>, location: ParamLocation, schema: Value) -> Param {
        let name = name.into();
        Param {
            wire: name.clone(),
            name,
            location,
            required: false,
            sensitive: false,
            description: String::new(),
            schema,
            default: None,
            api_default: None,
            style: ParamStyle::default_for(location),
            from: Vec::new(),
        }
    }
}

/// How an operation's answers are divided into pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pagination {
    /// How the next page is asked for.
    pub kind: PageKind,
    /// The parameter that says which page: its number, its cursor or its offset.
    pub at: Option<String>,
    /// The parameter that says how many items a page has.
    pub size: Option<String>,
    /// Where the answer holds the next cursor or address, as dotted names.
    pub next: Option<String>,
    /// Where the answer holds the items, as dotted names; empty where the answer is the list.
    pub items: Option<String>,
}

/// How the next page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// A `Link` header leads there.
    Link,
    /// By number.
    Page,
    /// By a cursor from the answer.
    Cursor,
    /// By counting items.
    Offset,
}

impl PageKind {
    /// All four.
    pub const ALL: [PageKind; 4] = [PageKind::Link, PageKind::Page, PageKind::Cursor, PageKind::Offset];

    /// The word in documents and introspection.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            PageKind::Link => "link",
            PageKind::Page => "page",
            PageKind::Cursor => "cursor",
            PageKind::Offset => "offset",
        }
    }

    /// The kind of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<PageKind> {
        PageKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Where an HTTP request carries a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamLocation {
    /// A placeholder of the path.
    Path,
    /// The query string.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A field of the body.
    Body,
    /// Nowhere: it chooses the upstream.
    Target,
}

impl ParamLocation {
    /// The word in documents; what chooses the upstream is written like a field of the body.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ParamLocation::Path => "path",
            ParamLocation::Query => "query",
            ParamLocation::Header => "header",
            ParamLocation::Cookie => "cookie",
            ParamLocation::Body | ParamLocation::Target => "body",
        }
    }
}

/// Headers that no document and no parameter sets: they frame the message or name its receiver.
pub const FRAMING_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that carry a credential, which a caller must not choose.
pub const CREDENTIAL_HEADERS: &[&str] = &["authorization", "cookie", "proxy-authorization"];

/// OpenAPI's spelling of arrays and objects outside the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamStyle {
    /// Which separator.
    pub form: StyleForm,
    /// One `name=value` per element.
    pub explode: bool,
    /// Reserved characters (`/`, `?`, `,` …) are sent as they are (`allowReserved` of OpenAPI).
    pub reserved: bool,
}

/// The spelling's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StyleForm {
    /// Query: `a=1&a=2`, or `a=1,2` unexploded.
    Form,
    /// Path and header: `1,2`.
    Simple,
    /// `a=1%202`.
    SpaceDelimited,
    /// `a=1|2`.
    PipeDelimited,
    /// `a[key]=value`.
    DeepObject,
    /// Path: `.1.2`.
    Label,
    /// Path: `;a=1;a=2`.
    Matrix,
    /// The value as JSON text (`content: application/json` of OpenAPI).
    Json,
    /// Path: `1/2`, several segments; `/` alone is none.
    Segments,
}

impl StyleForm {
    /// All nine.
    pub const ALL: [StyleForm; 9] = [
        StyleForm::Form,
        StyleForm::Simple,
        StyleForm::SpaceDelimited,
        StyleForm::PipeDelimited,
        StyleForm::DeepObject,
        StyleForm::Label,
        StyleForm::Matrix,
        StyleForm::Json,
        StyleForm::Segments,
    ];

    /// The word in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            StyleForm::Form => "form",
            StyleForm::Simple => "simple",
            StyleForm::SpaceDelimited => "spaceDelimited",
            StyleForm::PipeDelimited => "pipeDelimited",
            StyleForm::DeepObject => "deepObject",
            StyleForm::Label => "label",
            StyleForm::Matrix => "matrix",
            StyleForm::Json => "json",
            StyleForm::Segments => "segments",
        }
    }

    /// The spelling of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<StyleForm> {
        StyleForm::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

impl ParamStyle {
    /// OpenAPI's default for that place.
    #[must_use]
    pub const fn default_for(place: ParamLocation) -> ParamStyle {
        let (form, explode) = match place {
            ParamLocation::Query | ParamLocation::Body | ParamLocation::Cookie | ParamLocation::Target => {
                (StyleForm::Form, true)
            }
            ParamLocation::Path | ParamLocation::Header => (StyleForm::Simple, false),
        };
        ParamStyle { form, explode, reserved: false }
    }
}

/// What an operation answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Returns {
    /// JSON Schema of the answer.
    pub schema: Value,
    /// For the model; may be empty.
    pub description: String,
}

/// An example call.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// What it shows; may be empty.
    pub description: String,
    /// The parameters.
    pub params: serde_json::Map<String, Value>,
}

/// How an operation reaches its target.
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    /// Answered by the protocol itself.
    Introspect,
    /// Answered by the server from what it knows of its executions.
    Execution(ExecutionAction),
    /// One HTTP request.
    Http(HttpBinding),
    /// One action on the embedded store.
    Store(StoreBinding),
    /// One process.
    Command(CommandBinding),
    /// One tool of another MCP server.
    Mcp(McpBinding),
    /// One function of the program that serves the adapter.
    Code,
}

/// One tool of another MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpBinding {
    /// The tool's own name.
    pub tool: String,
    /// Arguments that are always sent and never asked for: the switch of a tool that is several operations.
    pub fixed: serde_json::Map<String, Value>,
}

/// One HTTP request.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpBinding {
    /// `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD`, `OPTIONS`.
    pub method: String,
    /// The path in order; literals are sent as written, placeholders are encoded.
    pub path: Vec<Segment>,
    /// How body parameters are sent.
    pub body: BodyForm,
    /// A parameter that *is* the body instead of a field of it.
    pub body_param: Option<String>,
    /// The body's media type where it is not the usual one of its form.
    pub content_type: Option<String>,
    /// The API's address where it is not the target's.
    pub base_url: Option<String>,
    /// How the call is authenticated where it is not the adapter's way.
    pub auth: Option<Auth>,
}

impl HttpBinding {
    /// A request with a JSON body, if it has one.
    #[must_use]
    pub fn new(method: impl Into<String>, path: Vec<Segment>) -> HttpBinding {
        HttpBinding {
            method: method.into(),
            path,
            body: BodyForm::Json,
            body_param: None,
            content_type: None,
            base_url: None,
            auth: None,
        }
    }
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// As written.
    Literal(String),
    /// The value of the parameter of that name.
    Param(String),
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// `application/json`.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`; files come as base64.
    Multipart,
    /// `text/plain`; the body parameter is the text.
    Text,
    /// `application/octet-stream`; the body parameter is base64.
    Binary,
}

impl BodyForm {
    /// All five.
    pub const ALL: [BodyForm; 5] =
        [BodyForm::Json, BodyForm::Form, BodyForm::Multipart, BodyForm::Text, BodyForm::Binary];

    /// The word in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            BodyForm::Json => "json",
            BodyForm::Form => "form",
            BodyForm::Multipart => "multipart",
            BodyForm::Text => "text",
            BodyForm::Binary => "binary",
        }
    }

    /// The form of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<BodyForm> {
        BodyForm::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

/// One action on one resource of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreBinding {
    /// The resource type.
    pub resource: String,
    /// What to do with it.
    pub action: StoreAction,
}

/// What the store can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreAction {
    /// A new record.
    Create,
    /// One record by id.
    Get,
    /// Records in order, a page at a time, with equality filters.
    List,
    /// Records whose text matches.
    Search,
    /// Deep merge into one record.
    Update,
    /// Removes one record.
    Delete,
}

impl StoreAction {
    /// The verb that its operations begin with.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            StoreAction::Create => "create",
            StoreAction::Get => "get",
            StoreAction::List => "list",
            StoreAction::Search => "search",
            StoreAction::Update => "update",
            StoreAction::Delete => "delete",
        }
    }
}

/// One process: an argv template, never a shell line.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandBinding {
    /// The program and its arguments.
    pub argv: Vec<Arg>,
    /// What goes to standard input.
    pub stdin: Stdin,
    /// How standard output is read.
    pub output: Output,
    /// Overrides the target's timeout.
    pub timeout_ms: Option<u64>,
    /// Exit codes that mean success besides 0, or an error of their own.
    pub exit: IndexMap<i32, ExitMeaning>,
}

/// One entry of an argv template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// Pieces that make up one argument; a missing optional parameter drops the argument.
    Template(Vec<Segment>),
    /// Arguments that stand or fall together: dropped when any parameter in them is missing.
    Group(Vec<Vec<Segment>>),
    /// Arguments that are there when the boolean parameter is true.
    When(String, Vec<Vec<Segment>>),
}

/// What goes to a command's standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing; closed.
    Closed,
    /// All parameters as one JSON object.
    Params,
    /// One parameter: a string as it is, anything else as JSON.
    Param(String),
}

/// How a command's standard output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// One JSON value.
    Json,
    /// An array with one JSON value per line.
    JsonLines,
    /// An array of lines.
    Lines,
    /// One string.
    Text,
}

impl Output {
    /// All four.
    pub const ALL: [Output; 4] = [Output::Json, Output::JsonLines, Output::Lines, Output::Text];

    /// The word in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Output::Json => "json",
            Output::JsonLines => "jsonlines",
            Output::Lines => "lines",
            Output::Text => "text",
        }
    }

    /// The reading of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Output> {
        Output::ALL.into_iter().find(|output| output.as_str() == text)
    }
}

/// What a nonzero exit status means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitMeaning {
    /// Not an error.
    Success,
    /// A failure with this code.
    Error(crate::error::Code),
}

/// Whether validation fills in the parameter's default when the caller gives nothing.
#[must_use]
pub fn fills_default(op: &Operation, param: &Param) -> bool {
    let patch = op.category == Category::Update
        && param.location == ParamLocation::Body
        && matches!(op.binding, Binding::Http(_) | Binding::Store(_));
    param.default.is_some() && !patch
}

/// What the target assumes when the caller gives nothing. Leaving a field out of an update leaves it as it is.
#[must_use]
pub fn assumed_default<'p>(op: &Operation, param: &'p Param) -> Option<&'p Value> {
    let patched = op.category == Category::Update && param.location == ParamLocation::Body;
    let default = param.api_default.as_ref().or_else(|| param.schema.get("default"));
    default.filter(|_| !patched && !param.sensitive)
}

/// Where a diagnostic about an operation of the model points to.
#[must_use]
pub fn operation_pointer(name: &str) -> String {
    format!("/operations/{name}")
}

/// Where a diagnostic about a parameter of the model points to.
#[must_use]
pub fn param_pointer(operation: &str, name: &str) -> String {
    format!("/operations/{operation}/params/{name}")
}
