//! An operation: one thing that an adapter can do.
//!
//! ```
//! use mcpaql_core::facts::{Facts, Reach};
//! use mcpaql_core::operation::{Binding, Category, Operation, Param, ParamLocation};
//!
//! let mut get = Operation::new("get_task", Category::Read, Facts::read(Reach::Process), Binding::Code);
//! get.params.push(Param::new("id", ParamLocation::Body, serde_json::json!({"type": "string"})));
//! assert!(get.param("id").is_some() && get.may_repeat());
//! ```
//!
//! What always holds after loading: the name is snake_case and unique in its adapter, there is exactly one category,
//! every placeholder of the binding is a declared parameter, and a parameter's `schema` is the full JSON Schema that
//! the author wrote (type references as `{"$ref": "#/types/Name"}`).

use crate::adapter::Auth;
use crate::exchange::{AnswerRules, FixedValue};
use crate::facts::{Facts, Repeat};
use crate::hints::HintOverrides;
use crate::lifecycle::{ExecutionAction, Lifecycle};
use indexmap::IndexMap;
pub use mcpaql_lexicon::{Category, Danger, danger_of};
use mcpaql_lexicon::{Effect, danger_of_start};
use mcpaql_shape::{DeclaredFields, HiddenFields};
use serde_json::Value;

/// The operation that every adapter has.
pub const INTROSPECT: &str = "introspect";

/// One thing that an adapter can do.
#[derive(Debug, Clone)]
pub struct Operation {
    /// snake_case, unique in the adapter.
    pub name: String,
    /// Older names that still work, with a deprecation warning.
    pub aliases: Vec<String>,
    /// The category of its effect.
    pub category: Category,
    /// The endpoint family that it belongs to.
    pub endpoint: String,
    /// Title for people; derived from the name if the document has none.
    pub title: String,
    /// Description; may be empty.
    pub description: String,
    /// Parameters in the order of the document.
    pub params: Vec<Param>,
    /// The result, if the document describes it.
    pub returns: Option<Returns>,
    /// Example calls that validate against `params`.
    pub examples: Vec<Example>,
    /// Groups for discovery.
    pub tags: Vec<String>,
    /// Danger level: declared, otherwise from the name, otherwise from the category. [`Operation::effective_danger`] decides
    /// whether a call may run.
    pub danger: Danger,
    /// What the document says about the danger, besides the level.
    pub danger_notes: Option<Box<DangerNotes>>,
    /// Facts that do not depend on a policy. All hints are derived from them.
    pub facts: Facts,
    /// Hints that the author sets. The most specific layer.
    pub hints: HintOverrides,
    /// Set if the operation is deprecated; the text names the replacement.
    pub deprecated: Option<String>,
    /// Its name in the source that the document was imported from.
    pub source_id: Option<String>,
    /// How its results are split into pages, if they are.
    pub pagination: Option<Pagination>,
    /// Set if it runs in the background, as an execution.
    pub lifecycle: Option<Lifecycle>,
    /// Fields that its answers never have, in addition to those of the adapter.
    pub hide: HiddenFields,
    /// What the document declares about the fields of its answers.
    pub fields: Option<Box<DeclaredFields>>,
    /// How it calls the target.
    pub binding: Binding,
}

impl Operation {
    /// Creates an operation without parameters and texts.
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
            danger_notes: None,
            facts,
            hints: HintOverrides::default(),
            deprecated: None,
            source_id: None,
            pagination: None,
            lifecycle: None,
            hide: HiddenFields::default(),
            fields: None,
            binding,
        }
    }

    /// Returns its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    /// Returns the parameter with this name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Returns the danger level that decides whether a call may run. A document can raise what follows from name and category,
    /// but only the operator can lower it.
    #[must_use]
    pub fn effective_danger(&self) -> Danger {
        match &self.danger_notes {
            Some(notes) if notes.is_operators => self.danger,
            _ => {
                let by_name = danger_of(&self.name, self.category);
                // A read with such a name, or a deletion that is listed as something else, is suspicious.
                let by_start = danger_of_start(&self.name).unwrap_or(Danger::Safe);
                let by_effect = if self.deletes() { Danger::Destructive } else { Danger::Safe };
                self.danger.max(by_name).max(by_start).max(by_effect)
            }
        }
    }

    /// Whether it deletes something, whatever category it is listed under.
    fn deletes(&self) -> bool {
        let sends_delete = matches!(&self.binding, Binding::Http(http) if http.method == "DELETE");
        sends_delete || matches!(self.facts.effect, Effect::Delete)
    }

    /// Returns why a call with this danger level needs a confirmation, for the user.
    #[must_use]
    pub fn danger_reasons(&self, level: Danger) -> Vec<String> {
        let reasons = self.danger_notes.iter().flat_map(|notes| notes.reasons.iter().cloned());
        std::iter::once(format!("{} is {}", self.name, level.as_str())).chain(reasons).collect()
    }

    /// Returns whether the document wants a confirmation of every call.
    #[must_use]
    pub fn needs_confirmation(&self) -> bool {
        self.danger_notes.as_ref().is_some_and(|notes| notes.needs_confirmation)
    }

    /// Returns whether callers may send query controls: everything that reads, except introspection, which has its own.
    #[must_use]
    pub fn takes_controls(&self) -> bool {
        self.category == Category::Read && self.binding != Binding::Introspect
    }

    /// Returns whether callers may ask what a call would do, without making it: everything that changes something, except
    /// for the operations on executions.
    #[must_use]
    pub fn takes_dry_run(&self) -> bool {
        self.category != Category::Read && !matches!(self.binding, Binding::Execution(_))
    }

    /// Returns whether a repeated request does no harm, so it may be retried if there was no response: reads, and the
    /// HTTP methods `PUT` and `DELETE` of updates and deletions. Nothing else is ever repeated, except with an
    /// [idempotency header](Operation::idempotency_header).
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        let has_idempotent_method = || match &self.binding {
            Binding::Http(http) => matches!(http.method.as_str(), "PUT" | "DELETE"),
            _ => false,
        };
        self.facts.repeat != Repeat::Accumulates
            && match self.category {
                Category::Read => true,
                Category::Update | Category::Delete => has_idempotent_method(),
                Category::Create | Category::Execute => false,
            }
    }

    /// Returns the header that makes a repeated request of this operation harmless, if it has one. Reads need none.
    #[must_use]
    pub fn idempotency_header(&self) -> Option<&str> {
        match &self.binding {
            Binding::Http(http) if self.category != Category::Read => http.idempotency_header.as_deref(),
            _ => None,
        }
    }
}

/// What a document or the operator says about the danger of an operation, besides its level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DangerNotes {
    /// Why the operation has its level.
    pub reasons: Vec<String>,
    /// The question to the user, in place of the usual one.
    pub confirmation_message: Option<String>,
    /// Every call needs a confirmation.
    pub needs_confirmation: bool,
    /// The operator has set the level, so it may be lower than that of the name and the category.
    pub is_operators: bool,
}

/// One parameter of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Name in snake_case, as callers write it.
    pub name: String,
    /// Name that the target uses (`as:` in the document); the same by default.
    pub wire: String,
    /// Location in an HTTP request.
    pub location: ParamLocation,
    /// The caller must send it.
    pub required: bool,
    /// A secret: never logged or repeated.
    pub sensitive: bool,
    /// Description for the model; may be empty.
    pub description: String,
    /// JSON Schema of the value, without `required`, `description` and the keys of this struct.
    pub schema: Value,
    /// Value to use if the caller sends none.
    pub default: Option<Value>,
    /// Value that the target assumes if it gets none. Shown, but never sent.
    pub api_default: Option<Value>,
    /// How arrays and objects are written outside a JSON body (`style`/`explode` of OpenAPI).
    pub style: ParamStyle,
    /// Operations that return a value for it, best first.
    pub from: Vec<String>,
}

impl Param {
    /// Creates an optional parameter whose wire name is its name, in OpenAPI's default style for its location.
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

    /// Returns whether it names the resource or the upstream, and not a value to send there.
    #[must_use]
    pub const fn is_identifier(&self) -> bool {
        matches!(self.location, ParamLocation::Path | ParamLocation::Target)
    }
}

/// How an operation's results are split into pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pagination {
    /// How to request the next page.
    pub kind: PageKind,
    /// The parameter that selects a page: its number, cursor or offset.
    pub at: Option<String>,
    /// The parameter for the number of items on a page.
    pub size: Option<String>,
    /// Path of the next cursor or URL in the result, as dotted names.
    pub next: Option<String>,
    /// Path of the items in the result, as dotted names; empty if the result is the list.
    pub items: Option<String>,
}

/// How to request the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// By a `Link` header.
    Link,
    /// By page number.
    Page,
    /// By a cursor from the result.
    Cursor,
    /// By the number of items to skip.
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

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<PageKind> {
        PageKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Location of a parameter in an HTTP request.
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
    /// Not sent: it chooses the upstream.
    Target,
}

impl ParamLocation {
    /// Returns the word in documents. A parameter that chooses the upstream is written like a field of the body.
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

/// Headers that carry credentials. Callers must not set them.
pub const CREDENTIAL_HEADERS: &[&str] = &["authorization", "cookie", "proxy-authorization"];

/// OpenAPI's style of arrays and objects outside the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamStyle {
    /// How elements are separated.
    pub form: StyleForm,
    /// One `name=value` for each element.
    pub explode: bool,
    /// Send reserved characters (`/`, `?`, `,` …) without encoding (`allowReserved` of OpenAPI).
    pub reserved: bool,
}

/// The name of a style.
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
    /// Path: `1/2`, several segments; `/` alone means no segments.
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

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<StyleForm> {
        StyleForm::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

impl ParamStyle {
    /// Returns OpenAPI's default for a location.
    #[must_use]
    pub const fn default_for(location: ParamLocation) -> ParamStyle {
        let (form, explode) = match location {
            ParamLocation::Query | ParamLocation::Body | ParamLocation::Cookie | ParamLocation::Target => {
                (StyleForm::Form, true)
            }
            ParamLocation::Path | ParamLocation::Header => (StyleForm::Simple, false),
        };
        ParamStyle { form, explode, reserved: false }
    }
}

/// The result of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Returns {
    /// JSON Schema of the result.
    pub schema: Value,
    /// Description for the model; may be empty.
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

/// How an operation calls its target.
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    /// Answered from the catalog.
    Introspect,
    /// Answered by the server from its list of executions.
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
    /// The name of the tool.
    pub tool: String,
    /// Arguments with fixed values that callers do not see, such as the action of a tool with several operations.
    pub fixed: serde_json::Map<String, Value>,
    /// The server's own schema of the arguments, if the operation is the whole tool and plain results are served. It has
    /// keywords that parameters do not have.
    pub input_schema: Option<Value>,
}

/// One HTTP request.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpBinding {
    /// `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD`, `OPTIONS`.
    pub method: String,
    /// The path. Literals are sent as written, placeholders are encoded.
    pub path: Vec<Segment>,
    /// How body parameters are sent.
    pub body: BodyForm,
    /// A parameter that is the whole body instead of a field.
    pub body_param: Option<String>,
    /// The body's media type, if it is not the default of its form.
    pub content_type: Option<String>,
    /// The base URL, if it is not the target's.
    pub base_url: Option<String>,
    /// The authentication, if it is not the adapter's.
    pub auth: Option<Auth>,
    /// The body, with parameters as `"{name}"`.
    pub body_template: Option<Box<Value>>,
    /// Values that are always sent.
    pub fixed: Vec<FixedValue>,
    /// How the answer is read.
    pub answer: Box<AnswerRules>,
    /// The header for a value that is new for each call: its own, or else that of the target.
    pub idempotency_header: Option<String>,
}

impl HttpBinding {
    /// Creates a request with a JSON body, if it has one.
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
            body_template: None,
            fixed: Vec::new(),
            answer: Box::default(),
            idempotency_header: None,
        }
    }
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Text, as written.
    Literal(String),
    /// The value of the parameter with this name.
    Param(String),
}

/// The format of a body.
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
    /// `text/xml`; the members of an object are elements.
    Xml,
}

impl BodyForm {
    /// All six.
    pub const ALL: [BodyForm; 6] = [
        BodyForm::Json,
        BodyForm::Form,
        BodyForm::Multipart,
        BodyForm::Text,
        BodyForm::Binary,
        BodyForm::Xml,
    ];

    /// The word in documents.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            BodyForm::Json => "json",
            BodyForm::Form => "form",
            BodyForm::Multipart => "multipart",
            BodyForm::Text => "text",
            BodyForm::Binary => "binary",
            BodyForm::Xml => "xml",
        }
    }

    /// Parses the word.
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
    /// The action.
    pub action: StoreAction,
}

/// The actions of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreAction {
    /// Creates a record.
    Create,
    /// Returns one record by id.
    Get,
    /// Lists records in order, in pages, with equality filters.
    List,
    /// Searches the text of records.
    Search,
    /// Merges fields into one record, deeply.
    Update,
    /// Deletes one record.
    Delete,
}

impl StoreAction {
    /// Returns the verb at the start of its operations.
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
    /// What is written to standard input.
    pub stdin: Stdin,
    /// How standard output is read.
    pub output: Output,
    /// Overrides the target's timeout.
    pub timeout_ms: Option<u64>,
    /// Exit codes other than 0 that mean success or a specific error.
    pub exit: IndexMap<i32, ExitMeaning>,
}

/// One entry of an argv template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// Parts of one argument. It is dropped if an optional parameter in it is missing.
    Template(Vec<Segment>),
    /// Arguments that belong together. All are dropped if any parameter in them is missing.
    Group(Vec<Vec<Segment>>),
    /// Arguments that are present if the boolean parameter is true.
    When(String, Vec<Vec<Segment>>),
}

/// What is written to a command's standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing; it is closed.
    Closed,
    /// All parameters as one JSON object.
    Params,
    /// One parameter: a string as is, anything else as JSON.
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

    /// Parses the word.
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

/// Returns whether validation fills in the parameter's default if the caller sends no value.
#[must_use]
pub fn fills_default(op: &Operation, param: &Param) -> bool {
    let patch = op.category == Category::Update
        && param.location == ParamLocation::Body
        && matches!(op.binding, Binding::Http(_) | Binding::Store(_));
    param.default.is_some() && !patch
}

/// Returns the value that the target uses if the caller sends none. Returns `None` for secrets, and for the fields of
/// an update, because a missing field stays unchanged.
#[must_use]
pub fn assumed_default<'p>(op: &Operation, param: &'p Param) -> Option<&'p Value> {
    let patched = op.category == Category::Update && param.location == ParamLocation::Body;
    let default = param.api_default.as_ref().or_else(|| param.schema.get("default"));
    default.filter(|_| !patched && !param.sensitive)
}

/// Returns the pointer for diagnostics about an operation of the model.
#[must_use]
pub fn operation_pointer(name: &str) -> String {
    format!("/operations/{name}")
}

/// Returns the pointer for diagnostics about a parameter of the model.
#[must_use]
pub fn param_pointer(operation: &str, name: &str) -> String {
    format!("/operations/{operation}/params/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Reach;

    #[test]
    fn neither_a_category_nor_a_declared_level_lowers_the_danger() {
        let read = || Facts::read(Reach::Process);
        let mut wipe = Operation::new("wipe_thing", Category::Read, read(), Binding::Code);
        wipe.danger = Danger::Safe;
        assert_eq!(wipe.effective_danger(), Danger::Forbidden);
        let deletes = Facts { effect: Effect::Delete, ..read() };
        let mut add = Operation::new("add_thing", Category::Create, deletes, Binding::Code);
        add.danger = Danger::Safe;
        assert_eq!(add.effective_danger(), Danger::Destructive);
        let mut set = Operation::new("set_thing", Category::Update, read(), Binding::Code);
        set.binding = Binding::Http(HttpBinding::new("DELETE", Vec::new()));
        assert_eq!(set.effective_danger(), Danger::Destructive);
        // A word at the end of the name of a read says nothing.
        let list = Operation {
            danger: Danger::Safe,
            ..Operation::new("list_production", Category::Read, read(), Binding::Code)
        };
        assert_eq!(list.effective_danger(), Danger::Safe);
        let operators = DangerNotes { is_operators: true, ..DangerNotes::default() };
        wipe.danger_notes = Some(Box::new(operators));
        assert_eq!(wipe.effective_danger(), Danger::Safe);
    }
}
