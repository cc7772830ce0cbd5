//! A model's weights as its checkpoint stores them, tensor by tensor.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::compare;
use super::headers::Headers;
use super::resolve::{FP8_BLOCK, Parts, Resolved};
use super::storage::Storage;
use crate::Refusal;
use crate::spec::{AsStored, Dtype, ExpertTensors, FeedForward, Held, ModelSpec, Tensor, Weight};

/// A model held to a checkpoint.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// The model, with [`ModelSpec::as_stored`] filled in. Layers that differ in nothing but the storage of a tensor are distinct.
    pub spec: ModelSpec,
    /// What is stored in a way no program keeps, and is read dense in the config's dtype: the way, and how many tensors.
    pub dense: BTreeMap<String, u64>,
}

/// Holds a checkpoint to a model, as [`compare`] does, and takes each weight's storage from it: F32, F16, BF16, Q8_0, F8_E4M3 with a scale a
/// block and MXFP4 as they are, all else dense in the config's dtype.
///
/// # Errors
/// Those of [`compare`].
pub fn adopt(headers: &Headers, spec: ModelSpec) -> Result<Adopted, Vec<Refusal>> {
    compare(headers, &spec)?;
    let mut taking = Taking { headers, dtype: spec.dtype, dense: BTreeMap::new() };
    let mut stored = AsStored::default();
    let whole: [Option<&Weight>; 4] = [
        Some(&spec.head.linear.weight),
        spec.head.linear.bias.as_ref(),
        spec.final_norm.weight.as_ref(),
        spec.final_norm.bias.as_ref(),
    ];
    let tensors = whole.into_iter().flatten().map(|weight| &weight.tensor).chain([&spec.embedding]);
    // A tied head is the embedding.
    let mut named = BTreeSet::new();
    for tensor in tensors.filter(|tensor| named.insert(tensor.name.as_str())) {
        taking.take(&mut stored.ends, tensor, 0, 1, false)?;
    }

    // A row of layers whose tensors are stored in several ways becomes as many.
    let mut rows: Vec<(u32, BTreeMap<String, Held>)> = Vec::new();
    let mut layer_of = Vec::with_capacity(spec.layer_of.len());
    for (&row, layer) in spec.layer_of.iter().zip(0u32..) {
        let mut tensors = BTreeMap::new();
        let mut seen: Vec<&str> = Vec::with_capacity(24);
        let mut failed = None;
        if let Some(distinct) = spec.layers.get(row as usize) {
            let across = matches!(&distinct.feed_forward, FeedForward::Experts(experts)
                if experts.stored == ExpertTensors::StackedTransposed);
            distinct.each_weight(&mut |used| {
                let tensor = &used.weight.tensor;
                if !seen.contains(&tensor.name.as_str()) {
                    seen.push(&tensor.name);
                    let across = across && tensor.shape.len() > 2;
                    failed = failed.take().or(taking.take(&mut tensors, tensor, layer, used.copies, across).err());
                }
            });
        }
        if let Some(refusals) = failed {
            return Err(refusals);
        }
        let known = rows.iter().position(|(of, known)| *of == row && *known == tensors);
        layer_of.push(known.unwrap_or(rows.len()) as u32);
        if known.is_none() {
            rows.push((row, tensors));
        }
    }
    let dense = taking.dense;
    if stored.ends.is_empty() && rows.iter().all(|(_, tensors)| tensors.is_empty()) {
        return Ok(Adopted { spec, dense });
    }
    let layers = rows.iter().filter_map(|(row, _)| spec.layers.get(*row as usize).cloned()).collect();
    stored.rows = rows.into_iter().map(|(_, tensors)| tensors).collect();
    Ok(Adopted { spec: ModelSpec { layers, layer_of, as_stored: stored, ..spec }, dense })
}

struct Taking<'h> {
    headers: &'h Headers,
    dtype: Dtype,
    dense: BTreeMap<String, u64>,
}

impl Taking<'_> {
    /// Takes the storage of a tensor, or of as many as its name stands for. `across`: blocks would lie along outputs.
    fn take(
        &mut self,
        tensors: &mut BTreeMap<String, Held>,
        tensor: &Tensor,
        layer: u32,
        copies: u32,
        across: bool,
    ) -> Result<(), Vec<Refusal>> {
        let mut way: Option<Result<Held, String>> = None;
        for copy in 0..copies {
            let resolved = self.headers.resolve(&tensor.name_of(layer, copy)).map_err(|refusal| vec![refusal])?;
            let Some(resolved) = resolved else { continue };
            let this = match self.way(&resolved) {
                Ok(Held::Q8_0) if across => Err("Q8_0 along outputs".to_owned()),
                Ok(Held::Mxfp4) if !across => Err("MXFP4 along outputs".to_owned()),
                way => way,
            };
            way = Some(match way {
                None => this,
                Some(way) if way == this => way,
                Some(_) => Err("another storage for each expert".to_owned()),
            });
        }
        match way {
            Some(Ok(held)) if held != Held::Float(self.dtype) => drop(tensors.insert(tensor.name.clone(), held)),
            Some(Ok(_)) | None => {}
            Some(Err(way)) => *self.dense.entry(way).or_default() += u64::from(copies),
        }
        Ok(())
    }

    /// How a tensor is kept, or what it is stored as that is not kept.
    fn way(&self, resolved: &Resolved) -> Result<Held, String> {
        match resolved.parts {
            Parts::Mxfp4 { .. } => Ok(Held::Mxfp4),
            Parts::Scaled { block: FP8_BLOCK, .. } => Ok(Held::F8E4M3),
            Parts::Scaled { .. } => Err("F8_E4M3 with a scale a row".to_owned()),
            Parts::Plain(id) => match self.headers.get(id).storage {
                Storage::F32 => Ok(Held::Float(Dtype::F32)),
                Storage::F16 => Ok(Held::Float(Dtype::F16)),
                Storage::Bf16 => Ok(Held::Float(Dtype::Bf16)),
                Storage::Q8_0 if resolved.arrangement.keeps_blocks(Storage::Q8_0.block_elements() as usize) => {
                    Ok(Held::Q8_0)
                }
                Storage::Q8_0 => Err("Q8_0 in another order".to_owned()),
                other => Err(other.to_string()),
            },
        }
    }
}
