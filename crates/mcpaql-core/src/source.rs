//! Text → value, with pointer → span on demand.
