//! Search as its users see it.
