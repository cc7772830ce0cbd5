//! The independent checker of RULES.md: constant functions over rows of words.
