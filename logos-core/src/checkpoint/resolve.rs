//! From the name a model binds to what the checkpoint stores for it.

use super::arrange::Arrangement;
use super::fault::Place;
use super::headers::{Headers, TensorId};
use super::storage::Storage;
use crate::spec::SCALED;
use crate::{Code, Refusal};

/// Rows and columns that share a scale where `weight_scale_inv` holds it.
pub(super) const FP8_BLOCK: [u64; 2] = [SCALED as u64, SCALED as u64];

/// What the values of a model's tensor are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    /// As the model has it, outermost first.
    pub(super) shape: Vec<u64>,
    pub(super) parts: Parts,
    pub(super) arrangement: Arrangement,
}

/// The stored tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// One, in one of the storages that need no other.
    Plain(TensorId),
    /// F8_E4M3 with a scale every `block` rows and columns.
    Scaled { values: TensorId, scales: TensorId, block: [u64; 2] },
    /// `[experts, out, input / 32, 16]` and `[experts, out, input / 32]`; the model's tensor is `[experts, input, out]`.
    Mxfp4 { blocks: TensorId, scales: TensorId },
}

impl Parts {
    /// The one that holds the values.
    pub(super) fn first(&self) -> TensorId {
        match *self {
            Parts::Plain(id) | Parts::Scaled { values: id, .. } | Parts::Mxfp4 { blocks: id, .. } => id,
        }
    }

    /// All of them.
    pub(super) fn ids(&self) -> impl Iterator<Item = TensorId> {
        let second = match *self {
            Parts::Plain(_) => None,
            Parts::Scaled { scales, .. } | Parts::Mxfp4 { scales, .. } => Some(scales),
        };
        std::iter::once(self.first()).chain(second)
    }
}

/// The tensor that a safetensors checkpoint stores under a name, with what it needs to be read; none where there is none.
///
/// # Errors
/// [`Code::CheckpointStorage`] where it is there and is not stored as anything that is read.
pub(super) fn resolve(headers: &Headers, name: &str) -> Result<Option<Resolved>, Refusal> {
    let Some(id) = headers.find(name) else { return mxfp4(headers, name) };
    let tensor = headers.get(id);
    let parts = match tensor.storage {
        Storage::F8E4M3 => scaled(headers, id)?,
        Storage::U8 => return Err(unread(headers.place(id), tensor.storage)),
        storage if storage.is_read() => Parts::Plain(id),
        storage => return Err(unread(headers.place(id), storage)),
    };
    Ok(Some(Resolved { shape: tensor.shape.clone(), parts, arrangement: Arrangement::default() }))
}

pub(super) fn unread(place: Place<'_>, storage: Storage) -> Refusal {
    let expected = "F32, F16, BF16, Q8_0, F8_E4M3 with scales, or MXFP4 as `_blocks` and `_scales`";
    place.refuse(Code::CheckpointStorage, "its storage is not read", expected, storage)
}

/// F8_E4M3 with `weight_scale_inv`, a scale a block (DeepSeek-V3), or `weight_scale`, one a row (compressed-tensors). Despite the
/// former's name both are factors.
fn scaled(headers: &Headers, values: TensorId) -> Result<Parts, Refusal> {
    let tensor = headers.get(values);
    let place = headers.place(values);
    let companions = ["_scale_inv", "_scale"].map(|tail| headers.find(&format!("{}{tail}", tensor.name)));
    let (scales, block, expected) = match (companions, &tensor.shape[..]) {
        ([Some(scales), None], &[rows, columns]) => {
            let [high, wide] = FP8_BLOCK;
            (scales, FP8_BLOCK, vec![rows.div_ceil(high), columns.div_ceil(wide)])
        }
        ([None, Some(scales)], &[rows, columns]) => (scales, [1, columns.max(1)], vec![rows, 1]),
        (found, shape) => {
            let expected = "a matrix with either `weight_scale_inv` or `weight_scale` beside it";
            let found = format!("axes {shape:?} and {} of the two", found.iter().flatten().count());
            return Err(place.refuse(
                Code::CheckpointStorage,
                "F8_E4M3 is not to be read without scales",
                expected,
                found,
            ));
        }
    };
    let beside = headers.get(scales);
    if beside.shape != expected {
        let found = format!("{:?}", beside.shape);
        let what = format!("a scale every {block:?} rows and columns has another shape");
        return Err(headers.place(scales).refuse(Code::CheckpointStorage, what, format!("{expected:?}"), found));
    }
    if !matches!(beside.storage, Storage::F32 | Storage::F16 | Storage::Bf16) {
        let what = "scales are not stored as floats";
        return Err(headers.place(scales).refuse(Code::CheckpointStorage, what, "F32, F16 or BF16", beside.storage));
    }
    Ok(Parts::Scaled { values, scales, block })
}

/// `name_blocks` and `name_scales` (gpt-oss).
fn mxfp4(headers: &Headers, name: &str) -> Result<Option<Resolved>, Refusal> {
    let found = ["_blocks", "_scales"].map(|tail| headers.find(&format!("{name}{tail}")));
    let (blocks, scales) = match found {
        [Some(blocks), Some(scales)] => (blocks, scales),
        [None, None] => return Ok(None),
        [Some(alone), None] | [None, Some(alone)] => {
            let expected = format!("`{name}_blocks` and `{name}_scales`");
            let place = headers.place(alone);
            return Err(place.refuse(
                Code::CheckpointStorage,
                "MXFP4 is not to be read without the other half",
                expected,
                "one of them",
            ));
        }
    };
    for id in [blocks, scales] {
        if headers.get(id).storage != Storage::U8 {
            let found = headers.get(id).storage;
            return Err(headers.place(id).refuse(Code::CheckpointStorage, "MXFP4 is not stored as bytes", "U8", found));
        }
    }
    let &[experts, out, groups, 16] = &headers.get(blocks).shape[..] else {
        let found = format!("{:?}", headers.get(blocks).shape);
        let expected = "[experts, out, input / 32, 16]";
        return Err(headers.place(blocks).refuse(
            Code::CheckpointStorage,
            "blocks have another shape",
            expected,
            found,
        ));
    };
    let expected = [experts, out, groups];
    if headers.get(scales).shape != expected {
        let found = format!("{:?}", headers.get(scales).shape);
        let what = "scales do not go with their blocks";
        return Err(headers.place(scales).refuse(Code::CheckpointStorage, what, format!("{expected:?}"), found));
    }
    // Sixteen bytes hold the 32 elements, so this is at most twice what the file has.
    let input = groups.saturating_mul(32);
    let parts = Parts::Mxfp4 { blocks, scales };
    Ok(Some(Resolved { shape: vec![experts, input, out], parts, arrangement: Arrangement::default() }))
}
