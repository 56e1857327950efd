//! Which calls count as those of the same caller, for limits.

use super::name::CallerName;
use super::session::Session;

/// The caller in limits: its name, otherwise its session. All other callers are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CallerShare {
    /// A client with the token of this name.
    Named(CallerName),
    /// A client on a connection of its own.
    Session(Session),
    /// Nothing tells these callers apart.
    Unknown,
}
