//! Bulkheads: how many calls an adapter and each of its callers run, how long a call may take, when a failing target is left alone,
//! and when the process has too little memory for more work.
//!
//! | module | limits |
//! |---|---|
//! | `running` | the calls of one adapter and of each caller, and how many of them wait |
//! | `breaker` | calls of a target that fails again and again |
//! | `duration` | the total time of a call, which progress does not extend |
//! | `memory` | the memory of the process |
//!
//! What always holds: every adapter has its own limits, so an adapter that hangs or fails does not delay the calls of another. A caller
//! never takes all turns of an adapter. Whoever is refused gets an error that says why and when to try again.

mod breaker;
mod duration;
mod load;
mod memory;
mod running;

pub(crate) use breaker::{BreakerPass, Breakers};
pub(crate) use duration::within;
pub(crate) use load::{AdapterLoad, LoadLevel};
pub use memory::{MemoryLimit, set_memory_limit};
pub(crate) use running::{CallTurn, RunningCalls};
