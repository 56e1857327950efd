//! The variables of the environment that a served adapter reads, by their names only.

use indexmap::IndexMap;
use mcpaql_core::adapter::{Auth, McpLink, TargetConfig};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::operation::Binding;
use mcpaql_core::template::{EnvPiece, EnvTemplate};

/// Name → what it is for, in the order in which they are met.
pub(crate) type VariablePurposes = IndexMap<String, &'static str>;

const SECRET: &str = "secret: a credential of the API";
const VALUE: &str = "a value in an address, a header, a command or its environment";
const OPTIONAL: &str =
    "optional: a value in an address, a header, a command or its environment, which has a default";
const PASSED: &str = "passed on to the programs that are started";

/// Those that the server does not do without.
pub(crate) fn required(catalog: &Catalog) -> impl Iterator<Item = String> {
    all_variables(catalog).into_iter().filter(|(_, purpose)| *purpose != OPTIONAL).map(|(name, _)| name)
}

/// Every variable that the adapter names.
pub(crate) fn all_variables(catalog: &Catalog) -> VariablePurposes {
    let mut out = VariablePurposes::new();
    let adapter = &catalog.adapter;
    auth(&mut out, &adapter.auth);
    target(&mut out, &adapter.target);
    for alternative in adapter.targets.values() {
        auth(&mut out, &alternative.auth);
        target(&mut out, &alternative.target);
    }
    for entry in &catalog.operations {
        let Some(whole) = catalog.full_operation(entry) else { continue };
        if let Binding::Http(binding) = &whole.operation.binding {
            binding.auth.iter().for_each(|own| auth(&mut out, own));
            binding.base_url.iter().for_each(|url| template(&mut out, url));
        }
    }
    out
}

fn put(out: &mut VariablePurposes, name: &str, purpose: &'static str) {
    let known = out.entry(name.to_owned()).or_insert(purpose);
    // Where one place has no default, the variable is needed.
    if *known == OPTIONAL {
        *known = purpose;
    }
}

fn auth(out: &mut VariablePurposes, auth: &Auth) {
    match auth {
        Auth::None => {}
        Auth::Bearer { token_env, .. } => put(out, token_env, SECRET),
        Auth::ApiKey { key_env, .. } => put(out, key_env, SECRET),
        Auth::Basic { username_env, password_env } => {
            put(out, username_env, SECRET);
            put(out, password_env, SECRET);
        }
        Auth::OAuth2(oauth) => {
            put(out, &oauth.client_id_env, SECRET);
            oauth
                .client_secret_env
                .iter()
                .chain(&oauth.refresh_token_env)
                .for_each(|name| put(out, name, SECRET));
            template(out, &oauth.token_url);
        }
        Auth::All(several) | Auth::Any(several) => several.iter().for_each(|one| self::auth(out, one)),
    }
}

fn target(out: &mut VariablePurposes, target: &TargetConfig) {
    match target {
        TargetConfig::Http(http) => {
            template(out, &http.base_url);
            http.headers.values().for_each(|value| template(out, value));
        }
        TargetConfig::Command(command) => {
            command.cwd.iter().chain(command.set_env.values()).for_each(|text| template(out, text));
            command.env.iter().for_each(|name| put(out, name, PASSED));
        }
        TargetConfig::Mcp(server) => match &server.link {
            McpLink::Command(program) => {
                let texts = program.command.iter().chain(&program.cwd).chain(program.set_env.values());
                texts.for_each(|text| template(out, text));
                program.env.iter().for_each(|name| put(out, name, PASSED));
            }
            McpLink::Url { url, headers, .. } => {
                template(out, url);
                headers.values().for_each(|value| template(out, value));
            }
        },
        TargetConfig::Store(_) | TargetConfig::Code(_) => {}
    }
}

/// The names in `${env:NAME}` and `${env:NAME:-fallback}`.
fn template(out: &mut VariablePurposes, text: &str) {
    for piece in EnvTemplate::parse(text).iter().flat_map(EnvTemplate::pieces) {
        match piece {
            EnvPiece::Variable { name, fallback: Some(_) } => put(out, name, OPTIONAL),
            EnvPiece::Variable { name, fallback: None } => put(out, name, VALUE),
            EnvPiece::Text(_) => {}
        }
    }
}
