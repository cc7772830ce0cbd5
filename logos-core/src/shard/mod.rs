//! Tensor parallelism: which widths a model admits, and how its tensors are cut.
