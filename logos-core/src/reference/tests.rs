//! Arithmetic of operations, and what is refused.
