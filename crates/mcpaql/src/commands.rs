//! One file per command.

pub(crate) mod approve;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod import_config;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod operations;
pub(crate) mod pause;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod tools;
pub(crate) mod trust;

use crate::output::error_with_hint;
use anyhow::Result;
use mcpaql_runtime::secret::Secret;

/// Reads a token from an environment variable; `meaning` says what it is for.
fn read_token(variable: &str, meaning: &str) -> Result<Secret> {
    let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
    token.map(Secret::new).ok_or_else(|| {
        let message = format!("the environment variable {variable} is not set");
        error_with_hint(message, format!("set it to {meaning}: export {variable}=…"))
    })
}
