//! Writes `target`, `auth` and the settings of an adapter. Default values are not written.

use super::operation::MembersBuilder;
use super::schema;
use super::yaml::{YamlMembers, YamlValue};
use indexmap::IndexMap;
use mcpaql_core::adapter::{
    Adapter, Auth, CodeTarget, CommandTarget, ErrorPolicy, HttpTarget, McpLink, McpTarget, Mode, ResultForm,
    StoreTarget, TargetConfig,
};
use mcpaql_core::operation::{BodyForm, Category};
use mcpaql_core::policy::HintOverrides;
use serde_json::Number;
use std::borrow::Cow;

/// Returns the value of `target`.
pub(super) fn target(target: &TargetConfig) -> YamlValue<'_> {
    YamlValue::Tall(match target {
        TargetConfig::Http(http) => http_target(http),
        TargetConfig::Store(store) => store_target(store),
        TargetConfig::Command(command) => command_target(command),
        TargetConfig::Mcp(mcp) => mcp_target(mcp),
        TargetConfig::Code(code) => code_target(*code),
    })
}

/// Returns `targets` and `default_target`.
pub(super) fn targets(adapter: &Adapter) -> YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    let alternatives = adapter.targets.iter().map(|(name, alternative)| {
        let mut out = MembersBuilder::default();
        out.put_if(!alternative.description.is_empty(), "description", || {
            alternative.description.as_str().into()
        });
        let written = match &alternative.target {
            TargetConfig::Http(http) => http_target(http),
            TargetConfig::Command(command) => command_target(command),
            TargetConfig::Mcp(mcp) => mcp_target(mcp),
            TargetConfig::Store(_) | TargetConfig::Code(_) => Vec::new(),
        };
        let own = ["base_url", "url", "headers", "allow_http", "command", "cwd", "env", "set_env"];
        out.0.extend(written.into_iter().filter(|(key, _)| own.contains(&key.as_ref())));
        if alternative.auth != adapter.auth {
            out.put("auth", auth(&alternative.auth));
        }
        (Cow::from(name), YamlValue::Tall(out.0))
    });
    out.put("targets", YamlValue::Tall(alternatives.collect()));
    out.put_some("default_target", adapter.default_target.as_deref());
    out.0
}

fn code_target(code: CodeTarget) -> YamlMembers<'static> {
    let mut out = MembersBuilder::default();
    out.put("transport", "native");
    out.put("protocol", "code");
    out.put_if(code.remote, "remote", || true.into());
    out.0
}

fn http_target(http: &HttpTarget) -> YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    out.put("base_url", http.base_url.as_str());
    out.put_if(!http.headers.is_empty(), "headers", || texts(&http.headers));
    out.put_if(http.serialization != BodyForm::Json, "serialization", || http.serialization.as_str().into());
    out.put_if(http.allow_http, "allow_http", || true.into());
    out.put_if(http.connect_timeout_ms != 10_000, "connect_timeout", || seconds(http.connect_timeout_ms));
    out.put_if(http.timeout_ms != 60_000, "timeout", || seconds(http.timeout_ms));
    out.put_if(http.retries != 2, "retries", || YamlValue::Number(http.retries.into()));
    out.put_if(http.max_response_bytes != 10 << 20, "max_response_bytes", || {
        YamlValue::Number(http.max_response_bytes.into())
    });
    out.put_some("idempotency_header", http.idempotency_header.as_deref());
    out.0
}

fn store_target(store: &StoreTarget) -> YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    out.put("transport", "native");
    out.put("protocol", "store");
    let resources = store.resources.iter().map(|(name, resource)| {
        let mut out = MembersBuilder::default();
        out.put("description", resource.description.as_str());
        out.put("plural", resource.plural.as_str());
        let fields = resource.fields.iter().map(|(name, field)| (Cow::from(name), schema::node(field)));
        out.put("fields", YamlValue::Tall(fields.collect()));
        out.put_texts("required", &resource.required);
        out.put_texts("search", &resource.search);
        super::operation::hidden(&mut out, &resource.hide);
        super::operation::declared(&mut out, resource.declared.as_deref());
        (Cow::from(name), YamlValue::Tall(out.0))
    });
    out.put("resources", YamlValue::Tall(resources.collect()));
    out.0
}

fn command_target(command: &CommandTarget) -> YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    out.put("transport", "native");
    out.put("protocol", "command");
    out.put_some("cwd", command.cwd.as_deref());
    out.put_texts("env", &command.env);
    out.put_if(!command.set_env.is_empty(), "set_env", || texts(&command.set_env));
    out.put_if(command.timeout_ms != 30_000, "timeout", || seconds(command.timeout_ms));
    out.put_if(command.max_output_bytes != 1 << 20, "max_output_bytes", || {
        YamlValue::Number(command.max_output_bytes.into())
    });
    out.0
}

fn mcp_target(mcp: &McpTarget) -> YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    out.put("transport", "mcp");
    out.0.extend(mcp_members(mcp));
    out.0
}

/// Returns the settings of an MCP server, for documents and configurations.
pub(super) fn mcp_members(mcp: &McpTarget) -> YamlMembers<'_> {
    let mut out = MembersBuilder::default();
    match &mcp.link {
        McpLink::Command(program) => {
            out.put_texts("command", &program.command);
            out.put_some("cwd", program.cwd.as_deref());
            out.put_texts("env", &program.env);
            out.put_if(!program.set_env.is_empty(), "set_env", || texts(&program.set_env));
        }
        McpLink::Url { url, headers, allow_http } => {
            out.put("url", url.as_str());
            out.put_if(!headers.is_empty(), "headers", || texts(headers));
            out.put_texts("caller_headers", &mcp.caller_headers);
            out.put_if(*allow_http, "allow_http", || true.into());
        }
    }
    out.put_if(mcp.eager, "start", || "eager".into());
    out.put_if(mcp.start_timeout_ms != 30_000, "start_timeout", || seconds(mcp.start_timeout_ms));
    out.put_if(mcp.timeout_ms != 60_000, "timeout", || seconds(mcp.timeout_ms));
    out.put_if(mcp.max_response_bytes != 10 << 20, "max_response_bytes", || {
        YamlValue::Number(mcp.max_response_bytes.into())
    });
    out.0
}

fn texts(map: &IndexMap<String, String>) -> YamlValue<'_> {
    YamlValue::Tall(
        map.iter().map(|(name, text)| (Cow::from(name), YamlValue::from(text.as_str()))).collect(),
    )
}

/// Converts milliseconds to seconds, such that the loader reads back the same milliseconds.
pub(super) fn seconds(milliseconds: u64) -> YamlValue<'static> {
    if milliseconds.is_multiple_of(1000) {
        return YamlValue::Number((milliseconds / 1000).into());
    }
    let exact = milliseconds as f64 / 1000.0;
    // The loader rounds up, so a product that is slightly too large would gain a millisecond.
    let read = (exact * 1000.0).ceil() as u64;
    let seconds = if read > milliseconds { exact.next_down() } else { exact };
    Number::from_f64(seconds).map_or(YamlValue::Null, YamlValue::Number)
}

/// Returns the value of `auth`.
pub(super) fn auth(auth: &Auth) -> YamlValue<'_> {
    let mut out = MembersBuilder::default();
    match auth {
        Auth::None => out.put("type", "none"),
        Auth::Bearer { token_env, header, prefix } => {
            out.put("type", "bearer");
            out.put("token_env", token_env.as_str());
            out.put_if(header != "Authorization", "header", || header.as_str().into());
            out.put_if(prefix != "Bearer ", "prefix", || prefix.as_str().into());
        }
        Auth::ApiKey { key_env, location, prefix } => {
            out.put("type", "api_key");
            out.put("key_env", key_env.as_str());
            let (key, name) = location.parts();
            out.put_if((key, name) != ("header", "X-API-Key"), key, || name.into());
            out.put_if(!prefix.is_empty(), "prefix", || prefix.as_str().into());
        }
        Auth::Basic { username_env, password_env } => {
            out.put("type", "basic");
            out.put("username_env", username_env.as_str());
            out.put("password_env", password_env.as_str());
        }
        Auth::OAuth2(oauth) => {
            out.put("type", "oauth2");
            out.put("token_url", oauth.token_url.as_str());
            out.put("client_id_env", oauth.client_id_env.as_str());
            out.put_some("client_secret_env", oauth.client_secret_env.as_deref());
            out.put_some("refresh_token_env", oauth.refresh_token_env.as_deref());
            out.put_texts("scopes", &oauth.scopes);
        }
        Auth::All(schemes) | Auth::Any(schemes) => {
            out.put("type", if matches!(auth, Auth::All(_)) { "all" } else { "any" });
            out.put("schemes", YamlValue::List(schemes.iter().map(self::auth).collect()));
        }
    }
    YamlValue::Map(out.0)
}

/// Returns the value of `annotations`, unless it is empty.
pub(super) fn hints(hints: &HintOverrides) -> Option<YamlValue<'static>> {
    let written = hint_members(hints);
    (!written.is_empty()).then_some(YamlValue::Map(written))
}

fn hint_members(hints: &HintOverrides) -> YamlMembers<'static> {
    [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ]
    .into_iter()
    .filter_map(|(key, hint)| Some((Cow::Borrowed(key), YamlValue::Bool(hint?))))
    .collect()
}

/// Writes the settings of tools, hints and errors that are not the default.
pub(super) fn presentation<'a>(out: &mut MembersBuilder<'a>, adapter: &'a Adapter) {
    out.put_some("mode", adapter.mode.map(Mode::as_str));
    out.put_some("policy", adapter.policy.as_deref());
    out.put_if(adapter.errors == ErrorPolicy::All, "errors", || {
        YamlValue::Map(vec![(Cow::Borrowed("is_error"), YamlValue::from("all"))])
    });
    out.put_some("results", adapter.results.map(ResultForm::as_str));
    super::operation::hidden(out, &adapter.hide);
    if let Some(tokens) = adapter.answer_budget {
        out.put("answer_budget", YamlValue::Number(tokens.into()));
    }
    let mut names = MembersBuilder::default();
    names.put_some("pattern", adapter.tool_names.pattern.as_deref());
    names.put_some("prefix", adapter.tool_names.prefix.as_deref());
    names.put_if(!adapter.tool_names.aliases.is_empty(), "aliases", || texts(&adapter.tool_names.aliases));
    out.put_if(!names.0.is_empty(), "tool_names", || YamlValue::Map(names.0));
    let mut annotations = hint_members(&adapter.hints);
    if !adapter.endpoint_hints.is_empty() {
        let endpoints = adapter.endpoint_hints.iter();
        let endpoints =
            endpoints.map(|(endpoint, hints)| (Cow::from(endpoint), YamlValue::Map(hint_members(hints))));
        annotations.push((Cow::Borrowed("endpoints"), YamlValue::Tall(endpoints.collect())));
    }
    out.put_if(!annotations.is_empty(), "annotations", || YamlValue::Map(annotations));
    if let Some(profile) = &adapter.profile {
        out.put_if(profile.name != "custom", "profile", || profile.name.as_str().into());
        let families = profile.families.iter().map(|(name, family)| {
            let mut out = MembersBuilder::default();
            out.put("purpose", family.purpose.as_str());
            out.put_some("title", family.title.as_deref());
            let words = family.categories.iter().copied().map(Category::as_str);
            out.put_if(!family.categories.is_empty(), "categories", || {
                YamlValue::List(words.map(YamlValue::from).collect())
            });
            out.put_texts("operations", &family.operations);
            out.0.extend(hints(&family.hints).map(|hints| (Cow::Borrowed("annotations"), hints)));
            (Cow::from(name), YamlValue::Tall(out.0))
        });
        out.put("endpoints", YamlValue::Tall(families.collect()));
    }
}
