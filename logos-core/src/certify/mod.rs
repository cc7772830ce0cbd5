//! The schedule of a net, and what binds it.
//!
//! Input: a lowered net and the chip. Output: a [`Section`](crate::spatial::Section) whose every inequality of RULES.md sections 4 to 7 holds with the least
//! capacities. Nothing here checks: `logos_bundle::check` does, and shares no code with it.

mod bound;
mod capacity;
mod compose;
mod laps;
mod latency;
mod levels;
mod memory;
mod periods;
mod schedule;

#[cfg(test)]
mod tests;

pub use compose::{ComposeError, Composition, Duty, compose};
pub(crate) use latency::{forward, release, result};
pub(crate) use memory::least_interval;
