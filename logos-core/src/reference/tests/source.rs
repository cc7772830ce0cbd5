//! A checkpoint of random values for the sample specifications.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::{TensorData, WeightSource};
use crate::author::Source;
use crate::kinds::KindProgram;

/// Every tensor that programs name, with values that follow from its name.
pub(super) struct Random(pub(super) BTreeMap<String, (Vec<usize>, Vec<f32>)>);

impl WeightSource for Random {
    fn read(&self, tensor: &str) -> Option<TensorData<'_>> {
        let (shape, values) = self.0.get(tensor)?;
        Some(TensorData { shape: shape.clone(), values: Cow::Borrowed(values) })
    }
}

impl Random {
    pub(super) fn of(programs: &[KindProgram]) -> Random {
        let depth = programs.iter().map(|kind| kind.layers.len() as u32).sum();
        let mut tensors = BTreeMap::new();
        for kind in programs {
            let layers = if kind.layers.is_empty() { &[depth][..] } else { &kind.layers };
            for (&layer, binding) in layers.iter().flat_map(|l| kind.bindings(*l).iter().map(move |b| (l, b))) {
                let Source::Weight { weight, bank, .. } = &binding.source else { continue };
                let apart = bank.filter(|bank| !bank.stacked).map_or(1, |bank| bank.experts);
                for expert in 0..apart {
                    let name = weight.tensor.name_of(layer, expert);
                    let shape: Vec<usize> = weight.tensor.shape.iter().map(|&d| d as usize).collect();
                    let values = values(&name, &shape);
                    tensors.insert(name, (shape, values));
                }
            }
        }
        Random(tensors)
    }
}

/// Vectors near 1, matrices that keep the size of what they multiply.
fn values(name: &str, shape: &[usize]) -> Vec<f32> {
    let mut seed =
        name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    let mut uniform = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let inner: usize = shape[1..].iter().product();
    let (middle, spread) = if shape.len() == 1 { (0.5, 1.0) } else { (0.0, 3.5 / (inner as f32).sqrt()) };
    (0..shape.iter().product()).map(|_| middle + spread * uniform()).collect()
}
