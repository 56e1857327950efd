//! What every program is started with, whichever kind of target it belongs to: its variables, and words for why it does not start.

use std::io;
use std::path::Path;

/// Variables that every program gets; adapters name more.
const INHERITED_VARIABLES: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
/// A shorter value is a setting, not a secret, and would mask ordinary words.
const MIN_SECRET_LENGTH: usize = 6;

/// The variables of a program: the usual ones, the named ones, and those that are set, which win.
pub(super) fn variables(
    named: &[String],
    set: Vec<(String, String)>,
    look: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = Vec::new();
    for name in INHERITED_VARIABLES.into_iter().chain(named.iter().map(String::as_str)) {
        let is_new = variables.iter().chain(&set).all(|(known, _)| known != name);
        variables.extend(is_new.then(|| look(name)).flatten().map(|value| (name.to_owned(), value)));
    }
    variables.extend(set);
    variables
}

/// Whether a variable's value must not be shown.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    !INHERITED_VARIABLES.contains(&name) && value.len() >= MIN_SECRET_LENGTH
}

/// Whether a program can be given a variable of that name.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// The program without its folder.
pub(super) fn file_name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

/// Why a program did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartError {
    /// Its working directory is not there.
    NoDirectory,
    /// It is not installed.
    NotInstalled,
    /// This user may not run it.
    NotAllowed,
    /// Its arguments are too long together.
    ArgumentsTooLong,
    /// Something else.
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
    fn what_is_set_wins_and_each_variable_comes_once() {
        let look = |name: &str| (name != "LANG").then(|| format!("the {name}"));
        let named = ["KEY", "HOME", "MINE", "KEY"].map(str::to_owned);
        let found = variables(&named, vec![("MINE".to_owned(), "x".to_owned())], look);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PATH", "HOME", "LC_ALL", "TZ", "TMPDIR", "USER", "KEY", "MINE"]);
        assert_eq!(found.last().unwrap().1, "x");
        assert!(is_secret("KEY", "s3cret") && !is_secret("KEY", "short") && !is_secret("HOME", "/home/me"));
        assert!(is_variable("A") && !is_variable("") && !is_variable("A=B") && !is_variable("A\0"));
    }
}
