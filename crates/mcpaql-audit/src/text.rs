//! Analysis of the texts of tools: a prefilter that reads each text once and credentials.

pub(crate) mod credential;
pub(crate) mod prefilter;
