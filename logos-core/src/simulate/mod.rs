//! Runs what the compiler made, on the host.
//!
//! A second opinion, for tests and for the build tool: it takes the compiler's output and the rules of
//! `logos-bundle/RULES.md`, and shares with placing, certifying and checking neither code nor closed forms. Does not know
//! operations' arithmetic here: [`net`] moves tokens, not values.

pub mod net;
