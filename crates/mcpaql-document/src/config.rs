//! Reads the configuration file `mcpaql.yaml`: the adapters of a server and their settings.
//!
//! ```
//! use mcpaql_document::{config, source::Source};
//!
//! let source = Source::new("mcpaql.yaml", "adapters: [{document: shop.yaml, prefix: shop_}]");
//! let (config, problems) = config::load(&source.parse().unwrap().value);
//! assert!(problems.is_empty());
//! assert_eq!(config.adapters[0].settings.prefix.as_deref(), Some("shop_"));
//! ```
//!
//! ```yaml
//! mode: semantic            # default for all adapters; `unified` puts all adapters behind the same tools
//! data: ./data              # folder of the stores
//! adapters:
//!   - document: github-api-adapter.md
//!     prefix: gh_
//!   - openapi: https://api.example.com/openapi.json
//!     include: [tag:orders]
//!   - name: files
//!     mcp: {command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/files]}
//!   - builtin: notebook
//! policies:                 # hint policies of a team; `policy` here and in documents can name them
//!   ours: {extends: mcp, open_world: never}
//! conventions:              # conventions of a team, for audits
//!   ours: {extends: product-action-object, policy: ours, names: {products: [shop]}}
//! audit:
//!   conventions: [clients, ours]
//!   rules: {COST-001: off}
//! ```
//!
//! `conventions` and `audit` are read by `mcpaql-audit`; this module only accepts the keys.

use crate::load::{
    DOCUMENT_SCHEMA, adapter_name, default_target, load_targets, mcp_target, read_answer_budget, read_auth,
    read_hidden,
};
use mcpaql_core::adapter::{Auth, ErrorPolicy, McpTarget, Mode, ResultForm, TargetConfig};
use mcpaql_core::catalog::{AdapterSettings, Sharing};
use mcpaql_core::diagnostic::{Diagnostic, capitalize};
use mcpaql_core::error::Code;
use mcpaql_core::host::{self, NetworkAccess, NetworkRange};
use mcpaql_core::naming::{self, NameProblem};
use mcpaql_core::policy::{self, Policy};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::suggest;
use serde_json::{Map, Value, json};

const SETTING_KEYS: &[&str] = &[
    "mode",
    "profile",
    "pattern",
    "prefix",
    "policy",
    "operation_enum",
    "errors",
    "results",
    "budget",
    "hide",
    "answer_budget",
];
const TOP_KEYS: &[&str] = &["data", "list_timeout", "adapters", "policies", "conventions", "audit"];
const ORIGIN_KEYS: &[&str] = &["document", "builtin", "openapi", "mcp"];
const ENTRY_KEYS: &[&str] = &[
    "name",
    "include",
    "exclude",
    "overrides",
    "auth",
    "limits",
    "targets",
    "default_target",
    "allow_flagged",
    "allow_private",
    "networks",
    "pin",
];
const LIMIT_KEYS: &[&str] = &["timeout", "max_response_bytes"];

/// The schema of everything that only `mcpaql.yaml` has.
const CONFIG_SCHEMA: &str = include_str!("config/config.schema.json");
/// The definitions that `mcpaql.yaml` shares with documents.
const SHARED_DEFINITIONS: &[&str] = &["Auth", "AuthConfig", "Alternative", "Strings"];

/// Returns the JSON Schema of `mcpaql.yaml`, for editors. What the file shares with documents is taken from [`DOCUMENT_SCHEMA`].
///
/// # Errors
/// When one of the two schemas is not JSON, which tests rule out.
pub fn config_schema() -> serde_json::Result<Value> {
    let mut schema: Value = serde_json::from_str(CONFIG_SCHEMA)?;
    let mut document: Value = serde_json::from_str(DOCUMENT_SCHEMA)?;
    let own = schema.get_mut("$defs").and_then(Value::as_object_mut);
    let shared = document.get_mut("$defs").and_then(Value::as_object_mut);
    if let (Some(own), Some(shared)) = (own, shared) {
        for name in SHARED_DEFINITIONS {
            own.extend(shared.remove_entry(*name));
        }
        if let Some(Value::Object(auth)) = own.get("Auth") {
            own.insert("EntryAuth".to_owned(), entry_auth_schema(auth.clone()));
        }
        // The key `mcp` already says the transport.
        if let Some(Value::Object(mut server)) = shared.remove("McpTarget") {
            server.remove("required");
            own.insert("McpServer".to_owned(), Value::Object(server));
        }
    }
    Ok(schema)
}

/// Returns the schema of `auth` in an entry: that of documents, with `hosts`.
fn entry_auth_schema(mut auth: Map<String, Value>) -> Value {
    if let Some(Value::Object(properties)) = auth.get_mut("properties") {
        let description = "Hosts that get the credentials, besides the host that the description was fetched from. \
                           Only an adapter with `openapi: URL` needs it. With `hosts` alone, the adapter keeps its own authentication.";
        let hosts = json!({"description": description, "type": "array", "items": {"type": "string"}, "examples": [["api.example.com"]]});
        properties.insert("hosts".to_owned(), hosts);
    }
    if let Some(Value::Array(forms)) = auth.get_mut("anyOf") {
        forms.push(json!({"required": ["hosts"]}));
    }
    Value::Object(auth)
}

/// The content of `mcpaql.yaml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// Settings of all adapters, with the policies that the file defines.
    pub settings: AdapterSettings,
    /// Folder of the stores, relative to the file.
    pub data: Option<String>,
    /// How long the first list of tools waits for MCP servers.
    pub list_timeout_ms: Option<u64>,
    /// The adapters, in the order of the file.
    pub adapters: Vec<AdapterEntry>,
}

/// One entry under `adapters`.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterEntry {
    /// The origin of the adapter.
    pub origin: AdapterOrigin,
    /// Replaces the adapter's own name.
    pub name: Option<String>,
    /// Rules that select operations; empty selects all.
    pub include: Vec<String>,
    /// Rules that leave operations out.
    pub exclude: Vec<String>,
    /// Path of an overrides file, relative to the configuration file.
    pub overrides: Option<String>,
    /// Replaces the adapter's own authentication.
    pub auth: Option<Auth>,
    /// Replace the adapter's own limits.
    pub limits: CallLimits,
    /// Which private networks it may reach, and which hosts get its credentials.
    pub access: NetworkAccess,
    /// Whether tools of an MCP server that are new or have changed wait for the operator's approval.
    pub pin: bool,
    /// Settings of this adapter; they replace those of the file.
    pub settings: AdapterSettings,
    /// Pointer to the origin in the file, for diagnostics.
    pub pointer: String,
}

impl AdapterEntry {
    fn new(origin: AdapterOrigin, pointer: String) -> AdapterEntry {
        AdapterEntry {
            origin,
            name: None,
            include: Vec::new(),
            exclude: Vec::new(),
            overrides: None,
            auth: None,
            limits: CallLimits::default(),
            access: NetworkAccess::default(),
            pin: true,
            settings: AdapterSettings::default(),
            pointer,
        }
    }
}

/// The limits of an adapter's calls; `None` keeps the adapter's own limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// Maximum duration of a call.
    pub timeout_ms: Option<u64>,
    /// Maximum size of an answer.
    pub max_response_bytes: Option<u64>,
}

impl CallLimits {
    /// Applies the limits to a target.
    pub fn apply(&self, target: &mut TargetConfig) {
        let (timeout, bytes) = match target {
            TargetConfig::Http(target) => (&mut target.timeout_ms, &mut target.max_response_bytes),
            TargetConfig::Command(target) => (&mut target.timeout_ms, &mut target.max_output_bytes),
            TargetConfig::Mcp(target) => return self.apply_to_server(target),
            TargetConfig::Store(_) | TargetConfig::Code(_) => return,
        };
        *timeout = self.timeout_ms.unwrap_or(*timeout);
        *bytes = self.max_response_bytes.unwrap_or(*bytes);
    }

    /// Applies the limits to an MCP server.
    pub fn apply_to_server(&self, target: &mut McpTarget) {
        target.timeout_ms = self.timeout_ms.unwrap_or(target.timeout_ms);
        target.max_response_bytes = self.max_response_bytes.unwrap_or(target.max_response_bytes);
    }
}

/// The origin of an adapter.
#[derive(Debug, Clone, PartialEq)]
pub enum AdapterOrigin {
    /// A document: a path, relative to the configuration file.
    Document(String),
    /// An adapter that is built into the program.
    Builtin(String),
    /// An OpenAPI description: a path, relative to the configuration file, or a URL.
    Openapi(String),
    /// A running MCP server.
    Mcp(Box<McpTarget>),
}

/// Reads the configuration from its untyped value.
#[must_use]
pub fn load(value: &Value) -> (Config, Vec<Diagnostic>) {
    let mut reader = DocumentReader::default();
    let config = reader.object(value, "").map(|object| read(&mut reader, &object)).unwrap_or_default();
    (config, reader.diagnostics)
}

fn read(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Config {
    let keys: Vec<&str> = SETTING_KEYS.iter().chain(TOP_KEYS).copied().collect();
    reader.check_keys(object, &keys);
    let sharing = object.get("mode").and_then(Value::as_str).and_then(Sharing::parse);
    let words = [&Mode::ALL.map(Mode::as_str)[..], &Sharing::WORDS].concat();
    let mode = match sharing {
        Some(_) => None,
        None => reader.choice(object, "mode", &words, Mode::parse),
    };
    let policies = match object.get("policies") {
        Some(value) => {
            let (policies, diagnostics) = policy::read_all(value, &object.pointer_to("policies"));
            reader.diagnostics.extend(diagnostics);
            policies
        }
        None => Vec::new(),
    };
    let settings = AdapterSettings { mode, sharing, ..settings(reader, object, &policies) };
    let data = reader.string(object, "data");
    let list_timeout_ms = reader.seconds(object, "list_timeout");
    if object.get("adapters").is_none() {
        reader.missing(
            object,
            "adapters",
            "a list of adapters, each with `document`, `builtin`, `openapi` or `mcp`",
        );
    }
    let mut adapters = Vec::new();
    for (index, item) in reader.array(object, "adapters").unwrap_or_default().iter().enumerate() {
        adapters.extend(entry(reader, item, child(&object.pointer_to("adapters"), index), &policies));
    }
    let settings = AdapterSettings { policies, ..settings };
    Config { settings, data, list_timeout_ms, adapters }
}

/// Reads the name of a policy: a built-in policy, or one of `own`, which the file defines.
pub fn read_policy_name(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    own: &[Policy],
) -> Option<String> {
    let name = reader.string(object, "policy")?;
    check_policy_exists(reader, &object.pointer_to("policy"), &name, own).then_some(name)
}

/// Whether a policy of this name exists; reports an unknown name.
pub fn check_policy_exists(reader: &mut DocumentReader, pointer: &str, name: &str, own: &[Policy]) -> bool {
    let diagnostic = policy::unknown_policy(name, own);
    let is_known = diagnostic.is_none();
    reader
        .diagnostics
        .extend(diagnostic.map(|diagnostic| Diagnostic { pointer: pointer.to_owned(), ..diagnostic }));
    is_known
}

/// Whether an unknown key of an entry is a misspelled key of an origin.
fn names_misspelled_origin(entry: &Value, keys: &[&str]) -> bool {
    let unknown = entry.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let mut unknown = unknown.filter(|key| !keys.contains(key));
    unknown.any(|key| {
        suggest::nearest(key, keys.iter().copied()).is_some_and(|near| ORIGIN_KEYS.contains(&near))
    })
}

fn entry(
    reader: &mut DocumentReader,
    item: &Value,
    pointer: String,
    policies: &[Policy],
) -> Option<AdapterEntry> {
    if let Value::String(path) = item {
        // A string is short for `document: …`.
        return Some(AdapterEntry::new(AdapterOrigin::Document(path.clone()), pointer));
    }
    let object = reader.object(item, &pointer)?;
    let keys: Vec<&str> = [SETTING_KEYS, ORIGIN_KEYS, ENTRY_KEYS].concat();
    reader.check_keys(&object, &keys);
    let origins: Vec<&str> = ORIGIN_KEYS.iter().copied().filter(|key| object.get(key).is_some()).collect();
    let key = match origins.as_slice() {
        [key] => *key,
        // The unknown key is already reported, with the right one.
        [] if names_misspelled_origin(item, &keys) => return None,
        [] => {
            reader.missing(
                &object,
                "document",
                "the path of an adapter document, or `builtin`, `openapi` or `mcp`",
            );
            return None;
        }
        several => {
            let message = format!("An adapter has one origin, not several: {}", several.join(", "));
            reader.push(Diagnostic::error(Code::SchemaInvalidValue, &pointer, message));
            return None;
        }
    };
    let origin = match key {
        "mcp" => {
            let server = reader.member(&object, key)?;
            AdapterOrigin::Mcp(Box::new(mcp_target(reader, &server)?))
        }
        "builtin" => AdapterOrigin::Builtin(reader.string(&object, key)?),
        "openapi" => AdapterOrigin::Openapi(reader.string(&object, key)?),
        _ => AdapterOrigin::Document(reader.string(&object, key)?),
    };
    if let AdapterOrigin::Mcp(server) = &origin {
        // All targets of an entry with `mcp` are MCP servers, so they can be checked before the server is started.
        let base = TargetConfig::Mcp((**server).clone());
        let targets = load_targets(reader, &object, &base, &Auth::None);
        default_target(reader, &object, &targets);
    }
    let (auth, credential_hosts) = entry_auth(reader, &object);
    Some(AdapterEntry {
        name: reader.string(&object, "name").and_then(|name| adapter_name(reader, &object, &name)),
        include: reader.strings(&object, "include"),
        exclude: reader.strings(&object, "exclude"),
        overrides: reader.string(&object, "overrides"),
        auth,
        access: NetworkAccess { credential_hosts, ..access(reader, &object) },
        pin: reader.boolean(&object, "pin").unwrap_or(true),
        limits: reader.member(&object, "limits").map(|object| limits(reader, &object)).unwrap_or_default(),
        settings: AdapterSettings {
            mode: reader.choice(&object, "mode", &Mode::ALL.map(Mode::as_str), Mode::parse),
            allow_flagged: reader.strings(&object, "allow_flagged"),
            ..settings(reader, &object, policies)
        },
        ..AdapterEntry::new(origin, object.pointer_to(key))
    })
}

/// Reads `auth`, and the hosts in it that get the credentials. With `hosts` alone, the adapter keeps its own
/// authentication.
fn entry_auth(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> (Option<Auth>, Vec<String>) {
    let Some(Value::Object(written)) = object.get("auth") else {
        return (object.get("auth").map(|_| read_auth(reader, object, false)), Vec::new());
    };
    let auth = DocumentObject { map: written, pointer: object.pointer_to("auth") };
    let hosts = reader.strings(&auth, "hosts");
    let pointer = auth.pointer_to("hosts");
    for (index, text) in hosts.iter().enumerate() {
        let is_host =
            host::host(text).eq_ignore_ascii_case(text.trim_matches(['[', ']'])) && !text.is_empty();
        if !is_host || text.contains(char::is_whitespace) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    child(&pointer, index),
                    format!("'{text}' is not a host"),
                )
                .expected("a host without scheme, port and path, such as api.example.com")
                .found(text.as_str()),
            );
        }
    }
    let mut rest = written.clone();
    if rest.shift_remove("hosts").is_some() && rest.is_empty() {
        return (None, hosts);
    }
    let entry = Map::from_iter([("auth".to_owned(), Value::Object(rest))]);
    let auth = read_auth(reader, &DocumentObject { map: &entry, pointer: object.pointer.clone() }, false);
    (Some(auth), hosts)
}

/// Reads `allow_private` and `networks`.
fn access(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> NetworkAccess {
    let mut networks = Vec::new();
    let pointer = object.pointer_to("networks");
    for (index, text) in reader.strings(object, "networks").into_iter().enumerate() {
        match NetworkRange::parse(&text) {
            Ok(range) => networks.push(range),
            Err(problem) => reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    child(&pointer, index),
                    format!("'{text}' is {problem}"),
                )
                .expected("an address, a `/` and the number of leading bits")
                .found(text.as_str()),
            ),
        }
    }
    NetworkAccess {
        allow_private: reader.boolean(object, "allow_private").unwrap_or(false),
        networks,
        ..NetworkAccess::default()
    }
}

fn limits(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> CallLimits {
    reader.check_keys(object, LIMIT_KEYS);
    CallLimits {
        timeout_ms: reader.seconds(object, "timeout"),
        max_response_bytes: reader.positive(object, "max_response_bytes"),
    }
}

/// Reads all settings except `mode`, which accepts more words for the file than for one adapter.
fn settings(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    policies: &[Policy],
) -> AdapterSettings {
    AdapterSettings {
        mode: None,
        sharing: None,
        profile: reader.string(object, "profile"),
        pattern: reader.string(object, "pattern"),
        prefix: prefix(reader, object),
        policy: read_policy_name(reader, object, policies),
        policies: Vec::new(),
        operation_enum: reader.boolean(object, "operation_enum"),
        errors: reader.choice(object, "errors", ErrorPolicy::WORDS, ErrorPolicy::parse),
        results: reader.choice(object, "results", ResultForm::WORDS, ResultForm::parse),
        allow_flagged: Vec::new(),
        hide: read_hidden(reader, object),
        answer_budget: read_answer_budget(reader, object),
        targets: targets(object),
        budget: reader.unsigned(object, "budget").and_then(|budget| usize::try_from(budget).ok()),
    }
}

/// Returns the targets of an adapter, unchecked: the kind of the targets is known only after the adapter is loaded.
fn targets(object: &DocumentObject<'_>) -> Option<Map<String, Value>> {
    object.get("targets")?;
    let keys = ["targets", "default_target"].iter();
    Some(keys.filter_map(|key| Some(((*key).to_owned(), object.get(key)?.clone()))).collect())
}

fn prefix(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<String> {
    let prefix = reader.string(object, "prefix")?;
    if let Err(NameProblem(problem)) = naming::check_prefix(&prefix) {
        reader.push(
            Diagnostic::error(Code::SchemaInvalidName, object.pointer_to("prefix"), capitalize(&problem))
                .found(prefix),
        );
        return None;
    }
    Some(prefix)
}
