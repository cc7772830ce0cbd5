//! What a deployment needs of a chip's memory, and whether it fits.
