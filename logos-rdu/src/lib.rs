//! What users of LOGOS name.
