//! The files that all projects of a language share, by path: the build script lists them from `templates/`, in order.

include!(concat!(env!("OUT_DIR"), "/templates.rs"));
