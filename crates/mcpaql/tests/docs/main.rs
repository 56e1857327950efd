//! The documents of the project as specifications: what they show is run, what they list is compared with the program.
//!
//! `TRYCMD=overwrite cargo test -p mcpaql --test docs` writes real output into the pages; `UPDATE_DOCS=1` writes generated tables.

mod commands;
mod dependencies;
mod pages;
mod reference;
mod serve;
mod snippets;
mod upstream;
