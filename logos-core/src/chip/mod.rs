//! Chips: facts with provenance and citation, and the unit model.
