//! The spatial program: stages, edges, sections.
