//! Run time of LOGOS: the word table of a lowered model, its typed views, and the independent checker.
#![no_std]
#[cfg(any(test, feature = "load"))]
extern crate std;

pub mod check;
mod deployment;
#[cfg(feature = "load")]
pub mod load;
mod sha256;
pub mod table;
#[cfg(test)]
mod testing;
pub mod view;

pub use deployment::{Deployment, FitFacts, Form};
