//! What every project of a language shares, by its path: the files below `templates/` that the build finds, in order.

include!(concat!(env!("OUT_DIR"), "/templates.rs"));
