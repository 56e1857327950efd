//! Reads `target`: the API, store, program or MCP server that calls are sent to.

use super::http::SERIALIZATIONS;
use super::{ELEMENT_KEYS, address, dialect, fields as answer_fields, params, texts, wire};
use indexmap::IndexMap;
use mcpaql_core::adapter::{
    CodeTarget, CommandTarget, HttpTarget, McpLink, McpTarget, Resource, StoreTarget, TargetConfig,
};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::host::NetworkAccess;
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::BodyForm;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_core::suggest;
use mcpaql_lexicon::plural;
use serde_json::{Map, Value};

pub(super) const HTTP_KEYS: &[&str] = &[
    "transport",
    "protocol",
    "serialization",
    "base_url",
    "headers",
    "allow_http",
    "connect_timeout",
    "timeout",
    "retries",
    "max_response_bytes",
    "idempotency_header",
    "name",
    "version",
];
pub(super) const STORE_KEYS: &[&str] = &["transport", "protocol", "serialization", "resources"];
pub(super) const RESOURCE_KEYS: &[&str] = &[
    "description",
    "plural",
    "fields",
    "properties",
    "required",
    "search",
    "hide",
    "default_fields",
    "presets",
    "computed",
];
pub(super) const COMMAND_KEYS: &[&str] =
    &["transport", "protocol", "serialization", "cwd", "env", "set_env", "timeout", "max_output_bytes"];

pub(super) const MCP_KEYS: &[&str] = &[
    "transport",
    "command",
    "cwd",
    "env",
    "set_env",
    "url",
    "headers",
    "caller_headers",
    "allow_http",
    "start",
    "start_timeout",
    "timeout",
    "max_response_bytes",
];

pub(super) const CODE_KEYS: &[&str] = &["transport", "protocol", "serialization", "remote"];

pub(super) const TRANSPORTS: &[&str] = &["http", "native", "mcp"];
pub(super) const PROTOCOLS: &[&str] = &["rest", "store", "command", "code"];
pub(super) const STARTS: &[&str] = &["lazy", "eager"];

/// Reads `target`, or `target_api` of the generator form.
pub(super) fn read(
    reader: &mut DocumentReader,
    parent: &DocumentObject<'_>,
    key: &str,
    types: &[String],
) -> Option<TargetConfig> {
    if parent.get(key).is_none() {
        reader.missing(parent, key, "the target of calls: base_url, transport, protocol, serialization");
        return None;
    }
    let target = reader.member(parent, key)?;
    let transport = reader.choice(&target, "transport", TRANSPORTS, parse_word(TRANSPORTS));
    if transport == Some("mcp") {
        return super::mcp::target(reader, &target).map(TargetConfig::Mcp);
    }
    let protocol = reader.choice(&target, "protocol", PROTOCOLS, parse_word(PROTOCOLS));
    if has_unknown_kind(parent.get(key)) {
        // Already reported; anything else would follow from it.
        return None;
    }
    match (transport.unwrap_or("http"), protocol.unwrap_or("rest")) {
        ("native", "store") => store(reader, &target, types),
        ("native", "command") => Some(command(reader, &target)),
        ("native", "code") => {
            reader.check_nested_keys(&target, CODE_KEYS, ELEMENT_KEYS);
            let remote = reader.boolean(&target, "remote").unwrap_or(false);
            Some(TargetConfig::Code(CodeTarget { remote }))
        }
        ("http", "rest") => http(reader, &target),
        (transport, protocol) => {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    target.pointer_to("protocol"),
                    format!("Transport '{transport}' does not support protocol '{protocol}'"),
                )
                .expected(
                    "http + rest, native + store, native + command, native + code, or mcp without a protocol",
                )
                .found(format!("{transport} + {protocol}")),
            );
            None
        }
    }
}

/// Whether `transport` or `protocol` of a target is not a known word.
pub(super) fn has_unknown_kind(target: Option<&Value>) -> bool {
    let is_unknown = |key, known: &[&str]| {
        target
            .and_then(|target| target.get(key))
            .is_some_and(|word| word.as_str().is_none_or(|word| !known.contains(&word)))
    };
    is_unknown("transport", TRANSPORTS) || is_unknown("protocol", PROTOCOLS)
}

pub(super) fn parse_word<'w>(words: &'w [&'static str]) -> impl Fn(&str) -> Option<&'static str> + 'w {
    move |text| words.iter().copied().find(|word| *word == text)
}

fn http(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Option<TargetConfig> {
    reader.check_nested_keys(target, HTTP_KEYS, ELEMENT_KEYS);
    // Text and binary bodies exist only per operation, not per target.
    let of_targets = |word: &str| BodyForm::parse(word).filter(|_| SERIALIZATIONS.contains(&word));
    let serialization =
        reader.choice(target, "serialization", SERIALIZATIONS, of_targets).unwrap_or(BodyForm::Json);
    let base_url = reader.required_string(target, "base_url");
    let allow_http = reader.boolean(target, "allow_http").unwrap_or(false);
    let base_url = base_url.and_then(|text| address::base_url(reader, target, &text, allow_http));
    let headers = texts::headers(reader, target);
    Some(TargetConfig::Http(HttpTarget {
        allow_http,
        serialization,
        ..http_target(reader, target, base_url?, headers)
    }))
}

fn http_target(
    reader: &mut DocumentReader,
    target: &DocumentObject<'_>,
    base_url: String,
    headers: IndexMap<String, String>,
) -> HttpTarget {
    HttpTarget {
        base_url,
        headers,
        allow_http: false,
        serialization: BodyForm::Json,
        connect_timeout_ms: reader.seconds(target, "connect_timeout").unwrap_or(10_000),
        timeout_ms: reader.seconds(target, "timeout").unwrap_or(60_000),
        retries: reader
            .unsigned(target, "retries")
            .map_or(2, |count| u32::try_from(count.min(10)).unwrap_or(10)),
        max_response_bytes: reader.positive(target, "max_response_bytes").unwrap_or(10 << 20),
        idempotency_header: wire::idempotency_header(reader, target),
        access: NetworkAccess::default(),
    }
}

/// Returns an empty target of the kind that the document probably means, so that its operations can be checked.
pub(super) fn placeholder_target(document: &DocumentObject<'_>) -> TargetConfig {
    let target = document
        .get("target")
        .or_else(|| document.get("adapter").and_then(|adapter| adapter.get("target_api")));
    let nothing = Map::new();
    let empty = DocumentObject { map: &nothing, pointer: String::new() };
    let word = |key| target.and_then(|target| target.get(key)).and_then(Value::as_str);
    if word("transport") == Some("mcp") {
        let (url, headers) = (String::new(), IndexMap::new());
        return TargetConfig::Mcp(McpTarget::new(McpLink::Url { url, headers, allow_http: false }));
    }
    let protocol = word("protocol").and_then(|word| suggest::nearest(word, PROTOCOLS.iter().copied()));
    match protocol {
        Some("command") => command(&mut DocumentReader::default(), &empty),
        Some("store") => TargetConfig::Store(StoreTarget { resources: IndexMap::new() }),
        _ => TargetConfig::Http(http_target(
            &mut DocumentReader::default(),
            &empty,
            String::new(),
            IndexMap::new(),
        )),
    }
}

fn store(reader: &mut DocumentReader, target: &DocumentObject<'_>, types: &[String]) -> Option<TargetConfig> {
    reader.check_nested_keys(target, STORE_KEYS, ELEMENT_KEYS);
    let Some(map) = reader.member(target, "resources") else {
        reader.missing(target, "resources", "resource types, each with its fields");
        return None;
    };
    let mut resources = IndexMap::new();
    for (name, value) in map.map {
        let pointer = map.pointer_to(name);
        if !params::is_snake_case(name) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidName,
                    &pointer,
                    format!("Resource name '{name}' must be snake_case"),
                )
                .at_key()
                .found(name.as_str()),
            );
            continue;
        }
        if let Some(object) = reader.object(value, &pointer) {
            resources.insert(name.clone(), resource(reader, name, &object, types));
        }
    }
    Some(TargetConfig::Store(StoreTarget { resources }))
}

/// Names that the store uses for keys of records and for parameters; a resource cannot declare them as fields.
const RECORD_FIELDS: &[&str] =
    &["id", "created_at", "updated_at", "_etag", "input", "if_match", "first", "after", "query"];

fn resource(
    reader: &mut DocumentReader,
    name: &str,
    object: &DocumentObject<'_>,
    types: &[String],
) -> Resource {
    reader.check_keys(object, RESOURCE_KEYS);
    let key = if object.get("fields").is_some() { "fields" } else { "properties" };
    let mut fields = IndexMap::new();
    let mut required = reader.strings(object, "required");
    match reader.member(object, key) {
        Some(map) => {
            for (field, value) in map.map {
                let pointer = map.pointer_to(field);
                if !params::is_snake_case(field) || RECORD_FIELDS.contains(&field.as_str()) {
                    reader.push(
                        Diagnostic::error(
                            Code::SchemaInvalidName,
                            &pointer,
                            format!(
                                "Field name '{field}' must be snake_case and not a name that the store uses"
                            ),
                        )
                        .at_key()
                        .found(field.as_str()),
                    );
                    continue;
                }
                if matches!(value.get("required"), Some(Value::Bool(true))) {
                    required.push(field.clone());
                }
                fields.insert(field.clone(), dialect::schema(reader, value, &pointer, types));
            }
        }
        None => reader.missing(object, "fields", "the fields of a record"),
    }
    for (index, field) in required.iter().enumerate() {
        if !fields.contains_key(field) {
            let pointer = child(&object.pointer_to("required"), index);
            reader.push(Diagnostic::error(
                Code::SchemaUnresolvedRef,
                pointer,
                format!("Required field '{field}' is not declared"),
            ));
        }
    }
    required.retain(|field| fields.contains_key(field));
    let search = search_fields(reader, object, &fields);
    Resource {
        description: reader
            .string(object, "description")
            .unwrap_or_else(|| format!("A {}", title_of(name).to_lowercase())),
        plural: reader.string(object, "plural").unwrap_or_else(|| plural_of(name)),
        fields,
        required,
        search,
        hide: answer_fields::hidden(reader, object),
        declared: answer_fields::declared(reader, object),
    }
}

fn search_fields(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    fields: &IndexMap<String, Value>,
) -> Vec<String> {
    let declared = reader.strings(object, "search");
    for field in declared.iter().filter(|field| !fields.contains_key(*field)) {
        reader.push(
            Diagnostic::error(
                Code::SchemaUnresolvedRef,
                object.pointer_to("search"),
                format!("Search field '{field}' is not declared"),
            )
            .found(field.as_str()),
        );
    }
    declared.into_iter().filter(|field| fields.contains_key(field)).collect()
}

/// Returns the name with its last word in the plural.
fn plural_of(name: &str) -> String {
    match name.rsplit_once('_') {
        Some((before, last)) => format!("{before}_{}", plural(last)),
        None => plural(name),
    }
}

fn command(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> TargetConfig {
    reader.check_nested_keys(target, COMMAND_KEYS, ELEMENT_KEYS);
    let set_env = texts::variables(reader, target, "list the variable under `env` instead");
    TargetConfig::Command(CommandTarget {
        cwd: texts::working_directory(reader, target),
        env: texts::variable_names(reader, target),
        set_env,
        timeout_ms: reader.seconds(target, "timeout").unwrap_or(30_000),
        max_output_bytes: reader.positive(target, "max_output_bytes").unwrap_or(1 << 20),
    })
}
