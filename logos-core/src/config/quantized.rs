//! Checkpoints that are released quantized. A specification describes the model: its tensors are those before they were
//! quantized, by name and shape. How a checkpoint stores them is told by its own headers.

use super::keys::{Absent, Keys};

/// How a checkpoint is quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// 8-bit floats, `weight_scale_inv` or `weight_scale` beside each weight.
    Fp8,
    /// 4-bit floats in blocks: an expert tensor is `_blocks` and `_scales`.
    Mxfp4,
}

/// `quant_method` of `quantization_config`, one of those that the family is released with; nothing where there is none.
/// `None` after a refusal. The other keys of the object say how the numbers are to be stored, not which they are.
pub(super) fn read(keys: &Keys<'_>, known: &[(&str, Method)]) -> Option<Option<Method>> {
    const KEY: &str = "quantization_config";
    if !keys.has(KEY) {
        return Some(None);
    }
    keys.object(KEY)?.word("quant_method", Absent::Refused, known).map(Some)
}
