//! From the name a model has for a tensor to the one llama.cpp gives it, and how its rows, columns or values differ.

use super::super::arrange::{Arrangement, Change, Order};
use super::super::fault::{Place, shown};
use super::super::headers::{Headers, TensorId};
use super::super::resolve::{Parts, Resolved, unread};
use crate::{Code, Refusal};

/// The architectures whose names are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Architecture {
    /// Llama, Mistral, Mixtral: the halves of query and key heads are interleaved.
    Llama,
    Qwen2,
    Qwen3,
    /// Norms hold their whole factor.
    Gemma3,
    /// Norms likewise; value heads in another order.
    Qwen35,
}

const ARCHITECTURES: [(&str, Architecture); 5] = [
    ("llama", Architecture::Llama),
    ("qwen2", Architecture::Qwen2),
    ("qwen3", Architecture::Qwen3),
    ("gemma3", Architecture::Gemma3),
    ("qwen35", Architecture::Qwen35),
];

/// What the names of a GGUF file mean: its architecture, and the sizes its rows are ordered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GgufNames {
    architecture: Architecture,
    heads: u64,
    kv_heads: u64,
    /// Of Gated DeltaNet, where the architecture has it.
    delta: Option<Delta>,
}

/// Heads of Gated DeltaNet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Delta {
    key_heads: u64,
    value_heads: u64,
    key_dim: u64,
    value_dim: u64,
}

/// How a tensor differs from the model's.
#[derive(Clone, Copy)]
enum Rule {
    /// Not.
    Same,
    /// A norm's weight.
    Norm,
    /// Rows are those of query heads.
    Queries,
    /// Rows are those of key heads.
    Keys,
    /// All experts' matrices in one tensor.
    Expert,
    /// Rows are query and key heads as they are, then value heads.
    AfterKeys,
    /// Likewise, without the convolution's axis of length 1.
    Convolution,
    /// Rows are value heads.
    ValueRows,
    /// One row a value head.
    ValueHeads,
    /// One value a value head: `-exp` of the model's.
    Decay,
    /// Columns are value heads.
    ValueColumns,
}

/// Ends of names within a layer, the model's and llama.cpp's, of every architecture. `{e}` is an expert.
const EVERY: [(&str, &str, Rule); 13] = [
    ("input_layernorm.weight", "attn_norm.weight", Rule::Norm),
    ("self_attn.q_proj.weight", "attn_q.weight", Rule::Queries),
    ("self_attn.q_proj.bias", "attn_q.bias", Rule::Queries),
    ("self_attn.k_proj.weight", "attn_k.weight", Rule::Keys),
    ("self_attn.k_proj.bias", "attn_k.bias", Rule::Keys),
    ("self_attn.v_proj.weight", "attn_v.weight", Rule::Same),
    ("self_attn.v_proj.bias", "attn_v.bias", Rule::Same),
    ("self_attn.o_proj.weight", "attn_output.weight", Rule::Same),
    ("self_attn.q_norm.weight", "attn_q_norm.weight", Rule::Norm),
    ("self_attn.k_norm.weight", "attn_k_norm.weight", Rule::Norm),
    ("mlp.gate_proj.weight", "ffn_gate.weight", Rule::Same),
    ("mlp.up_proj.weight", "ffn_up.weight", Rule::Same),
    ("mlp.down_proj.weight", "ffn_down.weight", Rule::Same),
];

const PLAIN: [(&str, &str, Rule); 1] = [("post_attention_layernorm.weight", "ffn_norm.weight", Rule::Norm)];

const LLAMA: [(&str, &str, Rule); 9] = [
    PLAIN[0],
    ("self_attn.o_proj.bias", "attn_output.bias", Rule::Same),
    ("mlp.gate_proj.bias", "ffn_gate.bias", Rule::Same),
    ("mlp.up_proj.bias", "ffn_up.bias", Rule::Same),
    ("mlp.down_proj.bias", "ffn_down.bias", Rule::Same),
    ("block_sparse_moe.gate.weight", "ffn_gate_inp.weight", Rule::Same),
    ("block_sparse_moe.experts.{e}.w1.weight", "ffn_gate_exps.weight", Rule::Expert),
    ("block_sparse_moe.experts.{e}.w3.weight", "ffn_up_exps.weight", Rule::Expert),
    ("block_sparse_moe.experts.{e}.w2.weight", "ffn_down_exps.weight", Rule::Expert),
];

const GEMMA3: [(&str, &str, Rule); 3] = [
    ("post_attention_layernorm.weight", "post_attention_norm.weight", Rule::Norm),
    ("pre_feedforward_layernorm.weight", "ffn_norm.weight", Rule::Norm),
    ("post_feedforward_layernorm.weight", "post_ffw_norm.weight", Rule::Norm),
];

const QWEN35: [(&str, &str, Rule); 10] = [
    ("post_attention_layernorm.weight", "post_attention_norm.weight", Rule::Norm),
    ("linear_attn.in_proj_qkv.weight", "attn_qkv.weight", Rule::AfterKeys),
    ("linear_attn.in_proj_z.weight", "attn_gate.weight", Rule::ValueRows),
    ("linear_attn.in_proj_b.weight", "ssm_beta.weight", Rule::ValueHeads),
    ("linear_attn.in_proj_a.weight", "ssm_alpha.weight", Rule::ValueHeads),
    ("linear_attn.conv1d.weight", "ssm_conv1d.weight", Rule::Convolution),
    ("linear_attn.A_log", "ssm_a", Rule::Decay),
    ("linear_attn.dt_bias", "ssm_dt.bias", Rule::ValueHeads),
    // One factor a column of a head, whole as it is.
    ("linear_attn.norm.weight", "ssm_norm.weight", Rule::Same),
    ("linear_attn.out_proj.weight", "ssm_out.weight", Rule::ValueColumns),
];

/// A tensor in the file's terms.
struct Target {
    name: String,
    rule: Rule,
    expert: u64,
}

impl GgufNames {
    /// From a file's metadata: whole numbers and strings by their keys.
    #[cfg(feature = "checkpoint")]
    pub(super) fn new<'a>(
        place: Place<'_>,
        metadata: impl Fn(&str) -> Option<super::header::Value<'a>>,
    ) -> Result<GgufNames, Refusal> {
        use super::header::Value;
        let name = match metadata("general.architecture") {
            Some(Value::Text(name)) => name,
            Some(Value::Number(_)) | None => "none",
        };
        let prefix = name;
        GgufNames::from_parts(place, name, |key| match metadata(&format!("{prefix}.{key}")) {
            Some(Value::Number(number)) => Some(number),
            Some(Value::Text(_)) | None => None,
        })
    }

    /// From an architecture and its whole numbers, by their keys without the architecture.
    pub(crate) fn from_parts(
        place: Place<'_>,
        name: &str,
        number: impl Fn(&str) -> Option<u64>,
    ) -> Result<GgufNames, Refusal> {
        let Some(&(_, architecture)) = ARCHITECTURES.iter().find(|(known, _)| *known == name) else {
            let known = ARCHITECTURES.map(|(name, _)| name).join(", ");
            return Err(place.refuse(
                Code::CheckpointNames,
                "the names of its architecture are not known",
                known,
                shown(name),
            ));
        };
        let size = |key: &str| {
            // No model is near the limit, and below it no product of two of them leaves 64 bits.
            number(key).filter(|size| (1..1 << 31).contains(size)).ok_or_else(|| {
                let what = format!("metadata key `{name}.{key}` is no size");
                let found = number(key).map_or("none".to_owned(), |size| size.to_string());
                place.refuse(Code::CheckpointHeader, what, "a whole number of at least 1", found)
            })
        };
        let delta = match architecture {
            Architecture::Llama | Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Gemma3 => None,
            Architecture::Qwen35 => {
                let [key_heads, value_heads] = [size("ssm.group_count")?, size("ssm.time_step_rank")?];
                let inner = size("ssm.inner_size")?;
                if !value_heads.is_multiple_of(key_heads) || !inner.is_multiple_of(value_heads) {
                    let expected = "key heads that divide value heads, and those the inner size";
                    let found = format!("{key_heads} key heads, {value_heads} value heads, inner size {inner}");
                    return Err(place.refuse(Code::CheckpointHeader, "its sizes do not divide", expected, found));
                }
                Some(Delta { key_heads, value_heads, key_dim: size("ssm.state_size")?, value_dim: inner / value_heads })
            }
        };
        let heads = size("attention.head_count")?;
        // Left out, there are as many as query heads.
        let kv_heads =
            if number("attention.head_count_kv").is_some() { size("attention.head_count_kv")? } else { heads };
        Ok(GgufNames { architecture, heads, kv_heads, delta })
    }

    /// The architecture's name.
    pub(crate) fn architecture(&self) -> &'static str {
        ARCHITECTURES.iter().find(|(_, known)| *known == self.architecture).map_or("", |(name, _)| name)
    }

    /// What [`GgufNames::from_parts`] needs to make these again.
    pub(crate) fn parts(&self) -> Vec<(&'static str, u64)> {
        let mut parts = vec![("attention.head_count", self.heads), ("attention.head_count_kv", self.kv_heads)];
        if let Some(Delta { key_heads, value_heads, key_dim, value_dim }) = self.delta {
            parts.extend([
                ("ssm.group_count", key_heads),
                ("ssm.time_step_rank", value_heads),
                ("ssm.state_size", key_dim),
                ("ssm.inner_size", value_heads * value_dim),
            ]);
        }
        parts
    }

    /// The stored tensor that a model's name is of.
    pub(crate) fn named(&self, headers: &Headers, name: &str) -> Option<TensorId> {
        headers.find(&self.target(name)?.name)
    }

    /// The tensor that a model calls so, with what is needed to read it; none where there is none.
    ///
    /// # Errors
    /// [`Code::CheckpointStorage`] where its storage is not read, [`Code::CheckpointShape`] where its rows do not divide over the heads.
    pub(crate) fn resolve(&self, headers: &Headers, name: &str) -> Result<Option<Resolved>, Refusal> {
        let Some(target) = self.target(name) else { return Ok(None) };
        let Some(id) = headers.find(&target.name) else { return Ok(None) };
        let stored = headers.get(id);
        if !stored.storage.is_read() {
            return Err(unread(headers.place(id), stored.storage));
        }
        let mut shape = stored.shape.clone();
        let mut arrangement = Arrangement::default();
        let rows = shape.first().copied().unwrap_or(1);
        let columns = shape.get(1).copied().unwrap_or(1);
        let place = headers.place(id);
        match target.rule {
            Rule::Same => {}
            Rule::Norm => arrangement.change = self.norm(),
            Rule::Queries => arrangement.rows = self.rotary(place, rows, self.heads)?,
            Rule::Keys => arrangement.rows = self.rotary(place, rows, self.kv_heads)?,
            Rule::Expert => {
                let &[experts, out, input] = &shape[..] else {
                    return Err(misshapen(place, "[experts, out, input]", &shape));
                };
                if target.expert >= experts {
                    return Ok(None);
                }
                // Below the number of rows of a tensor that is in the file, or of none that is ever read.
                arrangement.first_row = usize::try_from(target.expert * out).unwrap_or(0);
                shape = vec![out, input];
            }
            Rule::AfterKeys | Rule::Convolution => {
                let delta = self.delta.map_or(0, |delta| 2 * delta.key_heads * delta.key_dim);
                arrangement.rows = self.tiled(place, rows, delta, |delta| delta.value_dim)?;
                if let (Rule::Convolution, &[channels, taps]) = (target.rule, &shape[..]) {
                    shape = vec![channels, 1, taps];
                }
            }
            Rule::ValueRows => arrangement.rows = self.tiled(place, rows, 0, |delta| delta.value_dim)?,
            Rule::ValueHeads => arrangement.rows = self.tiled(place, rows, 0, |_| 1)?,
            Rule::Decay => {
                arrangement.rows = self.tiled(place, rows, 0, |_| 1)?;
                arrangement.change = Change::NegativeExp;
            }
            Rule::ValueColumns => arrangement.columns = self.tiled(place, columns, 0, |delta| delta.value_dim)?,
        }
        Ok(Some(Resolved { shape, parts: Parts::Plain(id), arrangement }))
    }

    fn target(&self, name: &str) -> Option<Target> {
        let same = |name: &str, rule| Some(Target { name: name.to_owned(), rule, expert: 0 });
        if matches!(name, "lm_head.weight" | "language_model.lm_head.weight") {
            return same("output.weight", Rule::Same);
        }
        let prefixes = ["model.language_model.", "language_model.model.", "model."];
        let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        match rest {
            "embed_tokens.weight" => return same("token_embd.weight", Rule::Same),
            "norm.weight" => return same("output_norm.weight", Rule::Norm),
            _ => {}
        }
        let (layer, end) = rest.strip_prefix("layers.")?.split_once('.')?;
        let layer: u32 = layer.parse().ok()?;
        let own: &[(&str, &str, Rule)] = match self.architecture {
            Architecture::Llama => &LLAMA,
            Architecture::Qwen2 | Architecture::Qwen3 => &PLAIN,
            Architecture::Gemma3 => &GEMMA3,
            Architecture::Qwen35 => &QWEN35,
        };
        own.iter().chain(&EVERY).find_map(|&(known, stored, rule)| {
            let expert = expert(known, end)?;
            Some(Target { name: format!("blk.{layer}.{stored}"), rule, expert })
        })
    }

    fn norm(&self) -> Change {
        match self.architecture {
            Architecture::Llama | Architecture::Qwen2 | Architecture::Qwen3 => Change::None,
            Architecture::Gemma3 | Architecture::Qwen35 => Change::PlusOne,
        }
    }

    /// The order of rows of heads that rotate.
    fn rotary(&self, place: Place<'_>, rows: u64, heads: u64) -> Result<Order, Refusal> {
        match self.architecture {
            Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Gemma3 | Architecture::Qwen35 => {
                Ok(Order::AsStored)
            }
            Architecture::Llama if rows.is_multiple_of(2 * heads) && rows > 0 => {
                Ok(Order::Interleaved { half: size(rows / heads / 2) })
            }
            Architecture::Llama => Err(misshapen(place, &format!("rows of {heads} heads of two halves"), &[rows])),
        }
    }

    /// The order of value heads of so many rows each, from `start` on.
    fn tiled(&self, place: Place<'_>, rows: u64, start: u64, run: impl Fn(Delta) -> u64) -> Result<Order, Refusal> {
        let Some(delta) = self.delta else { return Ok(Order::AsStored) };
        let (run, groups, repeat) = (run(delta), delta.key_heads, delta.value_heads / delta.key_heads);
        if start.checked_add(delta.value_heads * run) != Some(rows) {
            let expected = format!("{start} and {run} for each of {} value heads", delta.value_heads);
            return Err(misshapen(place, &expected, &[rows]));
        }
        Ok(Order::Tiled { start: size(start), run: size(run), groups: size(groups), repeat: size(repeat) })
    }
}

/// A size below that of a tensor in memory.
fn size(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn misshapen(place: Place<'_>, expected: &str, found: &[u64]) -> Refusal {
    place.refuse(Code::CheckpointShape, "it has other sizes than its metadata says", expected, format!("{found:?}"))
}

/// The expert of a name that is a pattern's; 0 where the pattern has none, none where it is another's.
fn expert(pattern: &str, name: &str) -> Option<u64> {
    let Some((before, after)) = pattern.split_once("{e}") else { return (pattern == name).then_some(0) };
    let digits = name.strip_prefix(before)?.strip_suffix(after)?;
    // As names are written: `+1` and `01` are none.
    let expert: u32 = digits.parse().ok()?;
    (expert.to_string() == digits).then_some(u64::from(expert))
}
