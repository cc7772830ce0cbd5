//! Views over a small hand-written table, and over every way to damage it.

mod damage;
mod reading;
