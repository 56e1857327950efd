//! Views of diagnostics.
