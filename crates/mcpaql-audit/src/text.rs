//! What the texts of tools hold: a prefilter that reads each text once, credentials, and the patterns of poisoned tools.

pub(crate) mod credential;
pub(crate) mod patterns;
pub(crate) mod prefilter;
