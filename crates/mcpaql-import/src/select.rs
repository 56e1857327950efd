//! Which operations to take.
