//! The configuration file `mcpaql.yaml`: which adapters a server carries, and what is decided for them there.
//!
//! ```yaml
//! mode: semantic            # for every adapter below, unless it says otherwise; `unified` puts all behind the same tools
//! data: ./data              # where stores live
//! adapters:
//!   - document: github-api-adapter.md
//!     prefix: gh_
//!   - openapi: https://api.example.com/openapi.json
//!     include: [tag:orders]
//!   - name: files
//!     mcp: {command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/files]}
//!   - builtin: notebook
//! policies:                 # a team's own, which `policy` here and in the documents may name
//!   ours: {extends: mcp, open_world: never}
//! conventions:              # the same for audits
//!   ours: {extends: product-action-object, policy: ours, names: {products: [shop]}}
//! audit:
//!   conventions: [clients, ours]
//!   rules: {COST-001: off}
//! ```
//!
//! `conventions` and `audit` are read by the audit.

use crate::load::{adapter_name, default_target, load_targets, mcp_target, read_auth};
use mcpaql_core::adapter::{Auth, ErrorPolicy, McpTarget, Mode, TargetConfig};
use mcpaql_core::catalog::{AdapterSettings, Sharing};
use mcpaql_core::diagnostic::{Diagnostic, capitalize};
use mcpaql_core::error::Code;
use mcpaql_core::naming::{self, NameProblem};
use mcpaql_core::policy::{self, Policy};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use serde_json::{Map, Value};

const SETTING_KEYS: &[&str] =
    &["mode", "profile", "pattern", "prefix", "policy", "operation_enum", "errors", "budget"];
const TOP_KEYS: &[&str] = &["data", "adapters", "policies", "conventions", "audit"];
const ORIGIN_KEYS: &[&str] = &["document", "builtin", "openapi", "mcp"];
const ENTRY_KEYS: &[&str] =
    &["name", "include", "exclude", "overrides", "auth", "limits", "targets", "default_target"];
const LIMIT_KEYS: &[&str] = &["timeout", "max_response_bytes"];

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// For every adapter, with the policies that the file defines.
    pub settings: AdapterSettings,
    /// Folder of the stores, relative to the file.
    pub data: Option<String>,
    /// In order.
    pub adapters: Vec<AdapterEntry>,
}

/// One adapter of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterEntry {
    /// Where the adapter comes from.
    pub origin: AdapterOrigin,
    /// Its name, in place of the one that it brings.
    pub name: Option<String>,
    /// Rules of the operations that are taken; all of them where there is none.
    pub include: Vec<String>,
    /// Rules of the operations that are left out.
    pub exclude: Vec<String>,
    /// File of corrections, relative to the configuration file.
    pub overrides: Option<String>,
    /// How its calls are authenticated, in place of what it says itself.
    pub auth: Option<Auth>,
    /// What its calls may not exceed, in place of what it says itself.
    pub limits: CallLimits,
    /// For this adapter; over the file's own.
    pub settings: AdapterSettings,
    /// Where the document is named, for reports.
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
            settings: AdapterSettings::default(),
            pointer,
        }
    }
}

/// What the calls of an adapter may not exceed, as far as its entry says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// For one call.
    pub timeout_ms: Option<u64>,
    /// Largest answer.
    pub max_response_bytes: Option<u64>,
}

impl CallLimits {
    /// Applies them to an adapter.
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

    /// Applies them to an MCP server.
    pub fn apply_to_server(&self, target: &mut McpTarget) {
        target.timeout_ms = self.timeout_ms.unwrap_or(target.timeout_ms);
        target.max_response_bytes = self.max_response_bytes.unwrap_or(target.max_response_bytes);
    }
}

/// Where an adapter comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum AdapterOrigin {
    /// A document: a file, relative to the configuration file.
    Document(String),
    /// One that ships with the program.
    Builtin(String),
    /// A description of an API: a file, relative to the configuration file, or an address.
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
    let unified = object.get("mode").and_then(Value::as_str).and_then(Sharing::parse);
    let words = [&Mode::ALL.map(Mode::as_str)[..], &Sharing::WORDS].concat();
    let mode = match unified {
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
    let settings = AdapterSettings { mode, sharing: unified, ..settings(reader, object, &policies) };
    let data = reader.string(object, "data");
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
    Config { settings, data, adapters }
}

/// A policy by its name, of this version or of the file.
pub fn read_policy_name(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    own: &[Policy],
) -> Option<String> {
    let name = reader.string(object, "policy")?;
    check_policy_exists(reader, &object.pointer_to("policy"), &name, own).then_some(name)
}

/// Whether there is a policy of that name; reports where there is none.
pub fn check_policy_exists(reader: &mut DocumentReader, pointer: &str, name: &str, own: &[Policy]) -> bool {
    let diagnostic = policy::unknown_policy(name, own);
    let is_known = diagnostic.is_none();
    reader
        .diagnostics
        .extend(diagnostic.map(|diagnostic| Diagnostic { pointer: pointer.to_owned(), ..diagnostic }));
    is_known
}

fn entry(
    reader: &mut DocumentReader,
    item: &Value,
    pointer: String,
    policies: &[Policy],
) -> Option<AdapterEntry> {
    if let Value::String(path) = item {
        // The shortest way to name a document.
        return Some(AdapterEntry::new(AdapterOrigin::Document(path.clone()), pointer));
    }
    let object = reader.object(item, &pointer)?;
    let keys: Vec<&str> = [SETTING_KEYS, ORIGIN_KEYS, ENTRY_KEYS].concat();
    reader.check_keys(&object, &keys);
    let given: Vec<&str> = ORIGIN_KEYS.iter().copied().filter(|key| object.get(key).is_some()).collect();
    let key = match given.as_slice() {
        [key] => *key,
        [] => {
            reader.missing(
                &object,
                "document",
                "the path of an adapter document, or `builtin`, `openapi` or `mcp`",
            );
            return None;
        }
        several => {
            let message = format!("An adapter comes from one place, not from {}", several.join(" and "));
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
        // What kind the others are is known here already; what is wrong with them need not wait for the server.
        let base = TargetConfig::Mcp((**server).clone());
        let targets = load_targets(reader, &object, &base, &Auth::None);
        default_target(reader, &object, &targets);
    }
    Some(AdapterEntry {
        name: reader.string(&object, "name").and_then(|name| adapter_name(reader, &object, &name)),
        include: reader.strings(&object, "include"),
        exclude: reader.strings(&object, "exclude"),
        overrides: reader.string(&object, "overrides"),
        auth: object.get("auth").map(|_| read_auth(reader, &object, false)),
        limits: reader.member(&object, "limits").map(|object| limits(reader, &object)).unwrap_or_default(),
        settings: AdapterSettings {
            mode: reader.choice(&object, "mode", &Mode::ALL.map(Mode::as_str), Mode::parse),
            ..settings(reader, &object, policies)
        },
        ..AdapterEntry::new(origin, object.pointer_to(key))
    })
}

fn limits(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> CallLimits {
    reader.check_keys(object, LIMIT_KEYS);
    CallLimits {
        timeout_ms: reader.seconds(object, "timeout"),
        max_response_bytes: reader.positive(object, "max_response_bytes"),
    }
}

/// All but the mode, which has more words for all adapters than for one.
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
        targets: targets(object),
        budget: reader.unsigned(object, "budget").and_then(|budget| usize::try_from(budget).ok()),
    }
}

/// The upstreams of an adapter; what is wrong with them shows when it is known what kind they are.
fn targets(object: &DocumentObject<'_>) -> Option<Map<String, Value>> {
    object.get("targets")?;
    let given = ["targets", "default_target"].iter();
    Some(given.filter_map(|key| Some(((*key).to_owned(), object.get(key)?.clone()))).collect())
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
