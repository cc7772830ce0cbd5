//! The schedule and what binds it.
