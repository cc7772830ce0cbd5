//! Typed views of a table, for people and programs.
