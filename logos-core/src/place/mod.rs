//! Cells, sites and scratchpad addresses.
