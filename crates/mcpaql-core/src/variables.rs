//! The environment variables that a served adapter reads. Only their names, never their values.

use crate::adapter::{Auth, McpLink, McpTarget, TargetConfig};
use crate::catalog::Catalog;
use crate::operation::Binding;
use crate::template::{EnvPiece, EnvTemplate};
use indexmap::IndexMap;
use std::cmp::Reverse;

/// Name → purpose, in the order of first use.
pub type VariablePurposes = IndexMap<String, VariablePurpose>;

/// What an adapter uses a variable for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariablePurpose {
    /// A credential for the API.
    Credential,
    /// A value without a default.
    Value,
    /// A value with a default.
    Optional,
    /// The programs that the server starts get the variable.
    Passed,
}

impl VariablePurpose {
    /// Returns the purpose as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            VariablePurpose::Credential => "secret: a credential for the API",
            VariablePurpose::Value => "a value in an address, a header, a command or its environment",
            VariablePurpose::Optional => {
                "optional: a value in an address, a header, a command or its environment, with a default"
            }
            VariablePurpose::Passed => "passed on to the programs that the server starts",
        }
    }
}

/// What does not work while a variable is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsetEffect {
    /// Calls of the adapter fail.
    CallsFail,
    /// Calls of some operations, or to some targets, fail.
    SomeCallsFail,
    /// Programs are started without it, which may be fine.
    NotPassed,
}

/// The variables that are not set, and what does not work without them.
pub type UnsetVariables = IndexMap<String, UnsetEffect>;

/// Returns the variables of an adapter that should be set but are not. Variables with a default, and credentials that another
/// credential replaces, are left out.
pub fn unset_variables(catalog: &Catalog, is_set: &dyn Fn(&str) -> bool) -> UnsetVariables {
    let adapter = &catalog.adapter;
    let mut out = match adapter.targets.is_empty() {
        true => unset_for_target(&adapter.auth, &adapter.target, is_set),
        false => UnsetVariables::new(),
    };
    let mut add = |auth: &Auth, values: VariablePurposes| {
        for (name, effect) in unset(auth, values, UnsetEffect::SomeCallsFail, is_set) {
            out.entry(name).or_insert(effect);
        }
    };
    for alternative in adapter.targets.values() {
        let mut values = VariablePurposes::new();
        target(&mut values, &alternative.target);
        add(&alternative.auth, values);
    }
    for entry in &catalog.operations {
        let Some(whole) = catalog.full_operation(entry) else { continue };
        if let Binding::Http(binding) = &whole.operation.binding {
            let mut values = VariablePurposes::new();
            binding.base_url.iter().for_each(|url| template(&mut values, url));
            add(binding.auth.as_ref().unwrap_or(&Auth::None), values);
        }
    }
    out
}

/// Returns the variables of one target that should be set but are not, as [`unset_variables`].
///
/// ```
/// use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget, TargetConfig};
/// use mcpaql_core::variables::{UnsetEffect, unset_for_target};
///
/// let command = ["server".to_owned(), "--root=${env:ROOT}".to_owned(), "${env:LEVEL:-info}".to_owned()];
/// let program = McpCommand { command: command.into(), cwd: None, env: vec!["TOKEN".into()], set_env: Default::default() };
/// let target = TargetConfig::Mcp(McpTarget::new(McpLink::Command(program)));
/// let unset = unset_for_target(&Auth::None, &target, &|_| false);
/// assert_eq!(Vec::from_iter(unset), [("ROOT".to_owned(), UnsetEffect::CallsFail), ("TOKEN".to_owned(), UnsetEffect::NotPassed)]);
/// ```
pub fn unset_for_target(auth: &Auth, target: &TargetConfig, is_set: &dyn Fn(&str) -> bool) -> UnsetVariables {
    let mut values = VariablePurposes::new();
    self::target(&mut values, target);
    unset(auth, values, UnsetEffect::CallsFail, is_set)
}

/// Returns the variables of credentials and of other values that are not set; `effect` is what does not work without them.
fn unset(
    auth: &Auth,
    values: VariablePurposes,
    effect: UnsetEffect,
    is_set: &dyn Fn(&str) -> bool,
) -> UnsetVariables {
    let missing = missing_credentials(auth, is_set);
    let mut variables = VariablePurposes::new();
    self::auth(&mut variables, auth);
    values.iter().for_each(|(name, purpose)| put(&mut variables, name, *purpose));
    let effect = |(name, purpose): (String, VariablePurpose)| match purpose {
        VariablePurpose::Credential => missing.contains(&name).then_some((name, effect)),
        _ if is_set(&name) => None,
        VariablePurpose::Value => Some((name, effect)),
        VariablePurpose::Passed => Some((name, UnsetEffect::NotPassed)),
        VariablePurpose::Optional => None,
    };
    variables.into_iter().filter_map(effect).collect()
}

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
            let secrets =
                variables.into_iter().filter(|(_, purpose)| *purpose == VariablePurpose::Credential);
            secrets.map(|(name, _)| name).filter(|name| !is_set(name)).collect()
        }
    }
}

/// Returns the names of the variables without a default.
pub fn required(catalog: &Catalog) -> impl Iterator<Item = String> {
    all_variables(catalog)
        .into_iter()
        .filter(|(_, purpose)| *purpose != VariablePurpose::Optional)
        .map(|(name, _)| name)
}

/// Returns every variable that the adapter uses.
pub fn all_variables(catalog: &Catalog) -> VariablePurposes {
    let mut out = VariablePurposes::new();
    walk(&mut out, catalog, &|out, one| auth(out, one));
    out
}

/// Returns the variables that must be set, without those with a default. Of several ways to authenticate, it is the one with the
/// fewest variables that are not set.
pub fn needed(catalog: &Catalog, is_set: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut out = VariablePurposes::new();
    walk(&mut out, catalog, &|out, one| chosen_auth(out, one, is_set));
    without_optional(out)
}

/// Like [`needed`], but for an MCP server whose tools are not known yet.
///
/// ```
/// use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
/// use mcpaql_core::variables::needed_by_server;
///
/// let url = "https://${env:TENANT}.example.com/${env:PATH_PREFIX:-mcp}".into();
/// let server = McpTarget::new(McpLink::Url { url, headers: Default::default(), allow_http: false });
/// assert_eq!(needed_by_server(&server, &Auth::None, &|_| false), ["TENANT"]);
/// ```
pub fn needed_by_server(server: &McpTarget, auth: &Auth, is_set: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut out = VariablePurposes::new();
    chosen_auth(&mut out, auth, is_set);
    mcp_target(&mut out, server);
    without_optional(out)
}

fn without_optional(variables: VariablePurposes) -> Vec<String> {
    variables
        .into_iter()
        .filter(|(_, purpose)| *purpose != VariablePurpose::Optional)
        .map(|(name, _)| name)
        .collect()
}

/// Visits everything that reads variables; `auth` adds those of credentials.
fn walk(out: &mut VariablePurposes, catalog: &Catalog, auth: &dyn Fn(&mut VariablePurposes, &Auth)) {
    let adapter = &catalog.adapter;
    auth(out, &adapter.auth);
    target(out, &adapter.target);
    for alternative in adapter.targets.values() {
        auth(out, &alternative.auth);
        target(out, &alternative.target);
    }
    for entry in &catalog.operations {
        let Some(whole) = catalog.full_operation(entry) else { continue };
        if let Binding::Http(binding) = &whole.operation.binding {
            binding.auth.iter().for_each(|own| auth(out, own));
            binding.base_url.iter().for_each(|url| template(out, url));
        }
    }
}

/// Adds the variables of one way to authenticate: the one with the fewest variables that are not set, then with the most variables.
fn chosen_auth(out: &mut VariablePurposes, auth: &Auth, is_set: &dyn Fn(&str) -> bool) {
    match auth {
        Auth::All(several) => several.iter().for_each(|one| chosen_auth(out, one, is_set)),
        Auth::Any(several) => {
            let variables = |one: &Auth| {
                let mut of_one = VariablePurposes::new();
                chosen_auth(&mut of_one, one, is_set);
                of_one.len()
            };
            let cost = |one: &&Auth| (missing_credentials(one, is_set).len(), Reverse(variables(one)));
            several.iter().min_by_key(cost).into_iter().for_each(|one| chosen_auth(out, one, is_set));
        }
        one => self::auth(out, one),
    }
}

fn put(out: &mut VariablePurposes, name: &str, purpose: VariablePurpose) {
    let known = out.entry(name.to_owned()).or_insert(purpose);
    // One use without a default makes the variable required.
    if *known == VariablePurpose::Optional {
        *known = purpose;
    }
}

fn auth(out: &mut VariablePurposes, auth: &Auth) {
    match auth {
        Auth::None => {}
        Auth::Bearer { token_env, .. } => put(out, token_env, VariablePurpose::Credential),
        Auth::ApiKey { key_env, .. } => put(out, key_env, VariablePurpose::Credential),
        Auth::Basic { username_env, password_env } => {
            put(out, username_env, VariablePurpose::Credential);
            put(out, password_env, VariablePurpose::Credential);
        }
        Auth::OAuth2(oauth) => {
            put(out, &oauth.client_id_env, VariablePurpose::Credential);
            oauth
                .client_secret_env
                .iter()
                .chain(&oauth.refresh_token_env)
                .for_each(|name| put(out, name, VariablePurpose::Credential));
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
            command.env.iter().for_each(|name| put(out, name, VariablePurpose::Passed));
        }
        TargetConfig::Mcp(server) => mcp_target(out, server),
        TargetConfig::Store(_) | TargetConfig::Code(_) => {}
    }
}

fn mcp_target(out: &mut VariablePurposes, server: &McpTarget) {
    match &server.link {
        McpLink::Command(program) => {
            let texts = program.command.iter().chain(&program.cwd).chain(program.set_env.values());
            texts.for_each(|text| template(out, text));
            program.env.iter().for_each(|name| put(out, name, VariablePurpose::Passed));
        }
        McpLink::Url { url, headers, .. } => {
            template(out, url);
            headers.values().for_each(|value| template(out, value));
        }
    }
}

/// Adds the names in `${env:NAME}` and `${env:NAME:-fallback}`.
fn template(out: &mut VariablePurposes, text: &str) {
    for piece in EnvTemplate::parse(text).iter().flat_map(EnvTemplate::pieces) {
        match piece {
            EnvPiece::Variable { name, fallback: Some(_) } => put(out, name, VariablePurpose::Optional),
            EnvPiece::Variable { name, fallback: None } => put(out, name, VariablePurpose::Value),
            EnvPiece::Text(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(name: &str) -> Auth {
        Auth::Bearer { token_env: name.into(), header: "Authorization".into(), prefix: "Bearer ".into() }
    }

    fn chosen(auth: &Auth, set: &[&str]) -> Vec<String> {
        let mut out = VariablePurposes::new();
        chosen_auth(&mut out, auth, &|name| set.contains(&name));
        out.into_keys().collect()
    }

    #[test]
    fn of_several_ways_to_authenticate_the_one_that_is_set_is_chosen() {
        let basic = Auth::Basic { username_env: "USER_NAME".into(), password_env: "PASSWORD".into() };
        let any = Auth::Any(vec![basic, bearer("TOKEN"), bearer("OTHER")]);
        assert_eq!(chosen(&any, &[]), ["TOKEN"]);
        assert_eq!(chosen(&any, &["OTHER"]), ["OTHER"]);
        assert_eq!(chosen(&any, &["USER_NAME", "PASSWORD"]), ["USER_NAME", "PASSWORD"]);
        assert_eq!(chosen(&Auth::All(vec![any, bearer("X")]), &[]), ["TOKEN", "X"]);
    }

    #[test]
    fn an_optional_credential_is_used_only_if_it_is_set() {
        let optional = Auth::Any(vec![Auth::None, bearer("TOKEN")]);
        assert_eq!(chosen(&optional, &[]), [""; 0]);
        assert_eq!(chosen(&optional, &["TOKEN"]), ["TOKEN"]);
    }
}
