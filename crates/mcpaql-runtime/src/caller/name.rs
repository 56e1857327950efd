//! The names of callers: which of several tokens a client over HTTP has.

use std::sync::Arc;

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
