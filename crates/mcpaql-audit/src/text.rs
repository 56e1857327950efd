//! Analysis of the texts of tools: a prefilter that reads each text once, credentials, and patterns of poisoned tools.

pub(crate) mod credential;
pub(crate) mod patterns;
pub(crate) mod prefilter;
