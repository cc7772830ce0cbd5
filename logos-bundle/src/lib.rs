//! Run time of LOGOS: the word table of a lowered model, its typed views, and the independent checker.
#![no_std]

pub mod check;
pub mod table;
pub mod view;
