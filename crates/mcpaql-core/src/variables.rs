//! The environment variables that a served adapter reads. Only their names, never their values.

use crate::adapter::{Auth, McpLink, TargetConfig};
use crate::catalog::Catalog;
use crate::operation::Binding;
use crate::template::{EnvPiece, EnvTemplate};
use indexmap::IndexMap;

/// Name → purpose, in the order of first use.
pub type VariablePurposes = IndexMap<String, &'static str>;

const SECRET: &str = "secret: a credential for the API";
const VALUE: &str = "a value in an address, a header, a command or its environment";
const OPTIONAL: &str =
    "optional: a value in an address, a header, a command or its environment, with a default";
const PASSED: &str = "passed on to the programs that the server starts";

/// Returns the variables of credentials that are not set, so that calls will fail. Of several ways to authenticate, one is enough.
///
/// ```
/// use mcpaql_core::adapter::Auth;
/// use mcpaql_core::variables::missing_credentials;
///
/// let auth = Auth::Basic { username_env: "API_USER".into(), password_env: "API_PASSWORD".into() };
/// assert_eq!(missing_credentials(&auth, &|name| name == "API_USER"), ["API_PASSWORD"]);
/// ```
pub fn missing_credentials(auth: &Auth, is_set: &dyn Fn(&str) -> bool) -> Vec<String> {
    match auth {
        Auth::All(several) => several.iter().flat_map(|one| missing_credentials(one, is_set)).collect(),
        Auth::Any(several) => {
            let missing = several.iter().map(|one| missing_credentials(one, is_set));
            missing.min_by_key(Vec::len).unwrap_or_default()
        }
        one => {
            let mut variables = VariablePurposes::new();
            self::auth(&mut variables, one);
            let secrets = variables.into_iter().filter(|(_, purpose)| *purpose == SECRET);
            secrets.map(|(name, _)| name).filter(|name| !is_set(name)).collect()
        }
    }
}

/// Returns the names of the variables without a default.
pub fn required(catalog: &Catalog) -> impl Iterator<Item = String> {
    all_variables(catalog).into_iter().filter(|(_, purpose)| *purpose != OPTIONAL).map(|(name, _)| name)
}

/// Returns every variable that the adapter uses.
pub fn all_variables(catalog: &Catalog) -> VariablePurposes {
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
    // One use without a default makes the variable required.
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

/// Adds the names in `${env:NAME}` and `${env:NAME:-fallback}`.
fn template(out: &mut VariablePurposes, text: &str) {
    for piece in EnvTemplate::parse(text).iter().flat_map(EnvTemplate::pieces) {
        match piece {
            EnvPiece::Variable { name, fallback: Some(_) } => put(out, name, OPTIONAL),
            EnvPiece::Variable { name, fallback: None } => put(out, name, VALUE),
            EnvPiece::Text(_) => {}
        }
    }
}
