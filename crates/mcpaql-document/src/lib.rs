//! Text → adapter with the place of every problem, and back: documents, configuration and corrections.
//!
//! A document is read untyped (`source`), loaded into the core's model (`load`) and compiled (`check`). Every problem is a diagnostic;
//! `render` shows them. Pure like the core: whoever calls brings the text.

pub mod check;
pub mod compile;
pub mod config;
pub mod load;
pub mod overrides;
pub mod policies;
pub mod render;
pub mod source;
