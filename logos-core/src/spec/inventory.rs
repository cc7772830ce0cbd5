//! What a checkpoint of the model stores: every tensor once, by name, and how many parameters they are.

use std::collections::BTreeMap;

use crate::{At, Code, Refusal};

use super::{ModelSpec, Tensor, Weight};

/// Most parameters of a model: bytes and bits of this many are exact in 64 bits with room for every sum that is made of them.
const MAX_PARAMETERS: u64 = 1 << 56;

/// A model's stored tensors, counted.
#[derive(Clone, Debug)]
pub struct Inventory<'a> {
    spec: &'a ModelSpec,
    /// Embedding, final norm, and the head where it is a tensor of its own.
    whole: Vec<Stock<'a>>,
    /// Of each distinct layer.
    layers: Vec<Vec<Stock<'a>>>,
    /// Exact number of parameters, a tied head once, buffers that are no parameters left out.
    pub params: u64,
    /// Exact number of stored tensors.
    pub tensors: u64,
}

/// A tensor of a specification and how many its name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stock<'a> {
    /// The tensor.
    pub tensor: &'a Tensor,
    /// How many its name stands for: the experts where they are stored apart, else 1.
    pub copies: u32,
    /// Whether it was trained.
    pub parameter: bool,
}

/// A stored tensor with its full name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// The name, layer and expert filled in.
    pub name: String,
    /// Stored shape, outermost first.
    pub shape: &'a [u32],
    /// The layer it is of.
    pub layer: Option<u32>,
}

/// Takes stock of a model.
///
/// # Errors
/// [`Code::SizeOverflow`] at the model, if it has more than 2^56 parameters.
pub fn inventory(spec: &ModelSpec) -> Result<Inventory<'_>, Refusal> {
    let mut whole = vec![Stock { tensor: &spec.embedding, copies: 1, parameter: true }];
    let head = (!spec.head.tied).then_some(&spec.head.linear.weight);
    let parts: [&Option<Weight>; 3] = [&spec.final_norm.weight, &spec.final_norm.bias, &spec.head.linear.bias];
    whole.extend(head.into_iter().chain(parts.into_iter().flatten()).map(|weight| Stock {
        tensor: &weight.tensor,
        copies: 1,
        parameter: true,
    }));
    let layers: Vec<Vec<Stock<'_>>> = spec
        .layers
        .iter()
        .map(|layer| {
            // Parts of a fused tensor follow one another, so looking at the rows so far is cheap.
            let mut rows: Vec<Stock<'_>> = Vec::with_capacity(24);
            layer.each_weight(&mut |used| {
                let tensor = &used.weight.tensor;
                if !rows.iter().rev().any(|row| row.tensor.name == tensor.name) {
                    rows.push(Stock { tensor, copies: used.copies, parameter: used.parameter });
                }
            });
            rows
        })
        .collect();

    let mut uses: BTreeMap<u32, u64> = BTreeMap::new();
    for &row in &spec.layer_of {
        *uses.entry(row).or_default() += 1;
    }
    let mut params: u128 = 0;
    let mut tensors: u128 = 0;
    let used = uses.iter().filter_map(|(&row, &times)| layers.get(row as usize).map(|rows| (rows, times)));
    for (rows, times) in used.chain([(&whole, 1)]) {
        for row in rows {
            let copies = u128::from(row.copies) * u128::from(times);
            tensors = tensors.saturating_add(copies);
            if row.parameter {
                params = params.saturating_add(elements(&row.tensor.shape).saturating_mul(copies));
            }
        }
    }
    match (u64::try_from(params), u64::try_from(tensors)) {
        (Ok(params), Ok(tensors)) if params <= MAX_PARAMETERS => Ok(Inventory { spec, whole, layers, params, tensors }),
        _ => {
            let message = format!("the model has {params} parameters, expected at most {MAX_PARAMETERS}");
            let refusal = Refusal::new(Code::SizeOverflow, At::Model, message);
            let largest = whole.iter().chain(layers.iter().flatten()).max_by_key(|row| elements(&row.tensor.shape));
            Err(match largest {
                Some(row) => refusal.fact("largest tensor", format_args!("{} {:?}", row.tensor.name, row.tensor.shape)),
                None => refusal,
            })
        }
    }
}

/// Elements of a shape.
fn elements(shape: &[u32]) -> u128 {
    shape.iter().fold(1, |product: u128, &axis| product.saturating_mul(axis.into()))
}

impl<'a> Inventory<'a> {
    /// The stored tensors of a distinct layer, each once; without one those of embedding, final norm and head.
    pub fn of(&self, row: Option<u32>) -> &[Stock<'a>] {
        match row {
            None => &self.whole,
            Some(row) => self.layers.get(row as usize).map_or(&[], Vec::as_slice),
        }
    }

    /// Every stored tensor: the embedding, the final norm and head, then each layer's. Names are made as they are asked for.
    pub fn iter(&self) -> impl Iterator<Item = Stored<'a>> + '_ {
        let whole = self.whole.iter().map(|row| Stored {
            name: row.tensor.name.clone(),
            shape: &row.tensor.shape,
            layer: None,
        });
        let layers = self.spec.layer_of.iter().zip(0u32..).flat_map(|(&row, layer)| {
            let rows = self.layers.get(row as usize).map_or(&[][..], Vec::as_slice);
            rows.iter().flat_map(move |row| {
                (0..row.copies).map(move |expert| Stored {
                    name: row.tensor.name_of(layer, expert),
                    shape: &row.tensor.shape,
                    layer: Some(layer),
                })
            })
        });
        whole.chain(layers)
    }
}

impl Tensor {
    /// The name with its layer and expert filled in.
    pub fn name_of(&self, layer: u32, expert: u32) -> String {
        let name = self.name.replace("{l}", &layer.to_string());
        if name.contains("{e}") { name.replace("{e}", &expert.to_string()) } else { name }
    }

    /// How many elements it has; `None` beyond 64 bits.
    pub fn elements(&self) -> Option<u64> {
        u64::try_from(elements(&self.shape)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Activation, ExpertTensors, Experts, FeedForward, Linear, Mlp, Router, RouterScore, Weight};
    use super::*;

    fn linear(name: &str, out: u32, input: u32) -> Linear {
        Linear {
            out,
            input,
            weight: Weight::whole(format!("model.layers.{{l}}.mlp.{name}"), &[out, input]),
            bias: None,
        }
    }

    /// Qwen3-30B-A3B: Qwen3's attention with 128 experts of width 768 in each layer.
    fn experts() -> ModelSpec {
        let config = br#"{"model_type": "qwen3", "hidden_size": 2048, "vocab_size": 151936, "num_hidden_layers": 48,
            "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144,
            "torch_dtype": "bfloat16"}"#;
        let mut spec = crate::config::read(config).unwrap();
        spec.layers[0].feed_forward = FeedForward::Experts(Experts {
            count: 128,
            router: Router {
                linear: linear("gate.weight", 128, 2048),
                score: RouterScore::Softmax,
                correction: None,
                groups: (1, 1),
                group_sum_of_two: false,
                top_k: 8,
                normalised: true,
                scale: 1.0,
                on_input: false,
            },
            expert: Mlp {
                width: 768,
                gate: Some(linear("experts.{e}.gate_proj.weight", 768, 2048)),
                up: linear("experts.{e}.up_proj.weight", 768, 2048),
                down: linear("experts.{e}.down_proj.weight", 2048, 768),
                activation: Activation::Silu,
            },
            stored: ExpertTensors::Apart,
            shared: None,
            shared_gate: None,
        });
        spec
    }

    #[test]
    fn experts_stored_apart_are_counted_one_by_one() {
        let spec = experts();
        let stock = inventory(&spec).unwrap();
        // The reference's own counts of the published model.
        assert_eq!((stock.params, stock.tensors), (30_532_122_624, 18_867));
        assert_eq!(stock.iter().count(), 18_867);
        let last = stock.iter().last().unwrap();
        assert_eq!(last.name, "model.layers.47.mlp.experts.127.down_proj.weight");
        assert_eq!((last.shape, last.layer), ([2048, 768].as_slice(), Some(47)));
    }

    #[test]
    fn a_correction_is_stored_but_no_parameter() {
        let mut spec = experts();
        let FeedForward::Experts(block) = &mut spec.layers[0].feed_forward else { panic!("experts") };
        block.router.correction = Some(Weight::whole("model.layers.{l}.mlp.gate.bias", &[128]));
        let stock = inventory(&spec).unwrap();
        assert_eq!((stock.params, stock.tensors), (30_532_122_624, 18_867 + 48));
    }
}
