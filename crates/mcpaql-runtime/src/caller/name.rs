//! The names of callers: which of several tokens a client over HTTP has.

use std::sync::{Arc, OnceLock};

/// Maximum length of a name.
const MAX_NAME_BYTES: usize = 64;

/// The name of a caller, as the operator has configured it.
///
/// ```
/// use mcpaql_runtime::caller::{Caller, CallerName};
///
/// let name = CallerName::new("build-server").unwrap();
/// assert_eq!(Caller::nobody().named(name).name(), Some("build-server"));
/// assert_eq!(CallerName::new("two words"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallerName(Arc<str>);

impl CallerName {
    /// Returns the name, or `None` if it is empty, longer than 64 bytes, or has other characters than letters, digits,
    /// `_`, `.` and `-`.
    #[must_use]
    pub fn new(name: &str) -> Option<CallerName> {
        let is_valid = (1..=MAX_NAME_BYTES).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        is_valid.then(|| CallerName(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The identity of clients over HTTP whose token has no name, or that send none.
pub(super) const UNNAMED: &str = "http-client";
/// Returns the name of the operating-system user that runs this process.
pub(super) fn system_user() -> &'static CallerName {
    static USER: OnceLock<CallerName> = OnceLock::new();
    USER.get_or_init(|| {
        let name = find_system_user().as_deref().and_then(CallerName::new);
        name.unwrap_or_else(|| CallerName("user".into()))
    })
}

/// The environment is not asked: whoever starts a server can set `USER`.
#[cfg(unix)]
fn find_system_user() -> Option<String> {
    let id = rustix::process::getuid().as_raw();
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    });
    Some(named.unwrap_or_else(|| format!("uid-{id}")))
}

#[cfg(not(unix))]
fn find_system_user() -> Option<String> {
    std::env::var("USERNAME").ok()
}
