//! Common code for starting programs, for all kinds of targets: environment variables, and the reasons of failures.

use std::io;
use std::path::Path;

/// Variables that every program gets; adapters can name more.
const INHERITED_VARIABLES: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
/// Shorter values are settings, not secrets; masking them would hide ordinary words.
const MIN_SECRET_LENGTH: usize = 6;

/// The variables of a program: the inherited ones, the named ones, and the fixed ones, which take precedence.
pub(super) fn variables(
    named: &[String],
    set: Vec<(String, String)>,
    lookup: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = Vec::new();
    for name in INHERITED_VARIABLES.into_iter().chain(named.iter().map(String::as_str)) {
        let is_new = variables.iter().chain(&set).all(|(known, _)| known != name);
        variables.extend(is_new.then(|| lookup(name)).flatten().map(|value| (name.to_owned(), value)));
    }
    variables.extend(set);
    variables
}

/// Returns whether the value of a variable is a secret.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    !INHERITED_VARIABLES.contains(&name) && value.len() >= MIN_SECRET_LENGTH
}

/// The program without its folder.
pub(super) fn file_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

/// Why a program did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartError {
    /// The working directory does not exist.
    NoDirectory,
    /// The program is not installed.
    NotInstalled,
    /// The user has no permission to run the program.
    NotAllowed,
    /// The arguments are too long.
    ArgumentsTooLong,
    /// Another reason.
    Other,
}

impl StartError {
    pub(super) fn of(error: &io::Error, cwd: Option<&Path>) -> StartError {
        match error.kind() {
            _ if cwd.is_some_and(|cwd| !cwd.is_dir()) => StartError::NoDirectory,
            io::ErrorKind::NotFound => StartError::NotInstalled,
            io::ErrorKind::PermissionDenied => StartError::NotAllowed,
            io::ErrorKind::ArgumentListTooLong => StartError::ArgumentsTooLong,
            _ => StartError::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_without_its_folder() {
        assert_eq!(file_name("/usr/bin/git"), "git");
        assert_eq!(file_name("git"), "git");
    }

    #[test]
    fn fixed_variables_take_precedence_and_each_variable_appears_once() {
        let lookup = |name: &str| (name != "LANG").then(|| format!("the {name}"));
        let named = ["KEY", "HOME", "MINE", "KEY"].map(str::to_owned);
        let found = variables(&named, vec![("MINE".to_owned(), "x".to_owned())], lookup);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PATH", "HOME", "LC_ALL", "TZ", "TMPDIR", "USER", "KEY", "MINE"]);
        assert_eq!(found.last().unwrap().1, "x");
        assert!(is_secret("KEY", "s3cret") && !is_secret("KEY", "short") && !is_secret("HOME", "/home/me"));
    }
}
