//! A program's statements to stages and edges.
