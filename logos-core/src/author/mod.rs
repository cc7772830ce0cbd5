//! [`crate::spec::ModelSpec`] and a cut to a program, one file a mixer or feed-forward block.
