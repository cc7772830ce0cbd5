//! Layer kinds: equal programs up to renaming, their names, identities and bindings.
