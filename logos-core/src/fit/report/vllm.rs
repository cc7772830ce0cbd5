//! `logos.rdu.vllm_plan`: how vLLM would be started for a model, and what a backend of it would have to support.
//!
//! Memory is what vLLM's allocator would reserve ([`crate::fit::paged`]), never what the model needs; the plan is held to it
//! before it is given.

mod offload;
mod operations;
mod serve;
mod trace;

pub use offload::Offload;
pub use operations::{OperandShape, OperationRow, Unusual};
pub use serve::{Argument, Serve};

use super::chip::{self, ChipBlock};
use super::frame::Document;
use super::subject::Subject;
use crate::fit::TooLarge;
use crate::fit::inventory::{self, Inventory, States};
use crate::fit::paged::VERSION;
use crate::kinds::KindProgram;
use crate::language::ast::Storage;
use crate::{Refusal, shard};

/// The members of a plan.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VllmPlan {
    /// The version of vLLM it is written for.
    pub vllm_version: &'static str,
    /// The model.
    pub model: PlanModel,
    /// How the server is started.
    pub serve: Serve,
    /// The chip.
    pub chip: ChipBlock,
    /// The operations of a step, with their shapes over all chips.
    pub ops_the_backend_must_support: Vec<OperationRow>,
    /// State of a layer and sequence, over all chips.
    pub state_bytes_per_layer: StateOfLayer,
    /// Verdicts of the fit.
    pub from_fit: FromFit,
    /// What vLLM's allocator would reserve on a chip.
    pub reserved: ReservedBlock,
    /// What to ask of a backend before it is given this model.
    pub intake_question: String,
    /// What the question is about.
    pub unusual: Vec<Unusual>,
    /// What to do where the answer is no.
    pub fallbacks: Vec<Fallback>,
}

/// The model of a plan.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanModel {
    /// Its name.
    pub id: String,
    /// `model_type` of the text model's config.
    pub hf_model_type: String,
    /// `model_type` of the config whose `text_config` it is.
    pub inherits: Option<String>,
    /// What is loaded: the folder or repository of this name.
    pub checkpoint: String,
    /// The same weights in a GGUF file.
    pub gguf_alternative: GgufAlternative,
}

/// Weights in a GGUF file.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GgufAlternative {
    /// The storage of matrices.
    pub storage: &'static str,
    /// Bytes of the file's tensors.
    pub bytes: u64,
}

/// State of a layer and sequence.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateOfLayer {
    /// A position of a layer's cache, of the layers where it is most.
    pub attention_kv_per_token: u64,
    /// Memory of a recurrence, likewise.
    pub gdn_memory: u64,
    /// Last inputs of its convolutions, likewise.
    pub conv_rings: u64,
    /// The same of each kind of layer.
    pub by_kind: Vec<StateOfKind>,
}

/// State of a layer of a kind, of one sequence.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateOfKind {
    /// The kind.
    pub kind: String,
    /// Layers of it.
    pub layers: u64,
    /// A position of its cache.
    pub attention_kv_per_token: u64,
    /// Its memory.
    pub gdn_memory: u64,
    /// Its rings.
    pub conv_rings: u64,
}

/// Verdicts of the fit: what the model needs.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FromFit {
    /// Weights with every element in bf16.
    pub weights_bf16_bytes: u64,
    /// Weights of a chip.
    pub weights_per_chip_bytes: u64,
    /// Whether weights and states fit, experts in DDR among them.
    pub fits: bool,
    /// Whether HBM alone holds them.
    pub hbm_fit: bool,
    /// Caches of a chip at the context asked for, all sequences.
    pub kv_cache_at_ctx: u64,
    /// Largest context that fits.
    pub max_ctx_in_hbm: u32,
    /// Context up to which a chip's own memory would hold the caches beside what recurs; 0 where it holds none.
    pub sram_until_ctx: u32,
}

/// What vLLM's allocator would reserve on a chip; no sum of it with what is needed means anything.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReservedBlock {
    /// Bytes that the server takes of a chip's memory.
    pub usable_bytes: u64,
    /// Of these left for caches and states.
    pub available_bytes: u64,
    /// Bytes of a block of the pool.
    pub pool_block_bytes: u64,
    /// Tokens of a block of each group of layers.
    pub block_tokens: Vec<u32>,
    /// Layers that a group pays for.
    pub group_layers: u32,
    /// Blocks of a sequence of `max_model_len`.
    pub blocks_per_sequence: u64,
    /// Bytes of one, with the block that is held back.
    pub sequence_bytes: u64,
    /// Sequences of `max_model_len` that are served at once.
    pub max_sequences: u64,
    /// Whether at least one is.
    pub fits: bool,
}

/// What to do where something is not to be had.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fallback {
    /// Where what.
    pub without: String,
    /// What then.
    pub then: String,
}

/// The plan of a model.
///
/// # Errors
/// [`crate::Code::FitMemory`] where not one sequence can be served, or vLLM grants the model no memory at all;
/// [`crate::Code::SizeOverflow`] where a figure leaves 64 bits.
pub fn vllm_plan(subject: &Subject<'_>) -> Result<Document<VllmPlan>, Refusal> {
    let stock = inventory::inventory(&subject.spec, subject.programs())?;
    let (serve, reserved) = serve::plan(subject, &stock)?;
    let mut unusual = operations::unusual(subject.programs());
    unusual.extend(serve.offload.map(|offload| operations::offloaded(subject.programs(), offload.gib)));
    let body = VllmPlan {
        vllm_version: VERSION,
        model: model(subject, &stock),
        chip: chip::block(&subject.chip),
        ops_the_backend_must_support: operations::rows(subject.programs()),
        state_bytes_per_layer: states(subject)?,
        from_fit: from_fit(subject, &stock)?,
        intake_question: operations::question(subject, &unusual),
        fallbacks: fallbacks(subject, &stock, &serve, &unusual)?,
        serve,
        reserved,
        unusual,
    };
    Ok(Document::new("logos.rdu.vllm_plan", body, trace::TABLES, &subject.keys))
}

fn model(subject: &Subject<'_>, stock: &Inventory<'_>) -> PlanModel {
    PlanModel {
        id: subject.asked.model.to_owned(),
        hf_model_type: subject.spec.model_type.clone(),
        inherits: subject.inherits.clone(),
        checkpoint: subject.asked.checkpoint.map_or(subject.asked.model, |description| description.file).to_owned(),
        gguf_alternative: GgufAlternative { storage: Storage::Q8_0.as_str(), bytes: stock.weights.total.gguf.bytes },
    }
}

fn states(subject: &Subject<'_>) -> Result<StateOfLayer, TooLarge> {
    let sequences = u64::from(subject.sequences());
    let of_kind = |kind: &KindProgram| -> Result<StateOfKind, TooLarge> {
        let states = States::of(std::slice::from_ref(kind))?;
        let layers = kind.layers.len() as u64;
        let each = |bytes: u64, of: u64| bytes.checked_div(of).unwrap_or(0);
        Ok(StateOfKind {
            kind: kind.name.clone(),
            layers,
            attention_kv_per_token: each(states.a_position.whole, layers),
            gdn_memory: each(states.memories.whole, layers.saturating_mul(sequences)),
            conv_rings: each(states.rings.whole, layers.saturating_mul(sequences)),
        })
    };
    let layers = subject.programs().iter().filter(|kind| !kind.layers.is_empty());
    let by_kind = layers.map(of_kind).collect::<Result<Vec<_>, _>>()?;
    let most = |of: fn(&StateOfKind) -> u64| by_kind.iter().map(of).max().unwrap_or(0);
    Ok(StateOfLayer {
        attention_kv_per_token: most(|kind| kind.attention_kv_per_token),
        gdn_memory: most(|kind| kind.gdn_memory),
        conv_rings: most(|kind| kind.conv_rings),
        by_kind,
    })
}

fn from_fit(subject: &Subject<'_>, stock: &Inventory<'_>) -> Result<FromFit, TooLarge> {
    let needs = &subject.needs;
    Ok(FromFit {
        weights_bf16_bytes: stock.weights.total.bf16_bytes,
        weights_per_chip_bytes: needs.weight_bytes,
        fits: needs.fits,
        hbm_fit: needs.hbm_fit(&subject.chip),
        kv_cache_at_ctx: needs.kv_bytes,
        max_ctx_in_hbm: needs.max_ctx,
        sram_until_ctx: super::model::sram_until_ctx(subject, &stock.states)?,
    })
}

fn fallbacks(
    subject: &Subject<'_>,
    stock: &Inventory<'_>,
    serve: &Serve,
    unusual: &[Unusual],
) -> Result<Vec<Fallback>, TooLarge> {
    let mut fallbacks: Vec<Fallback> = unusual
        .iter()
        .map(|row| Fallback { without: format!("{} in the backend", row.what), then: row.fallback.to_owned() })
        .collect();
    fallbacks.extend(serve::fallbacks(subject, serve)?);
    let narrower = shard::widths(&subject.spec, subject.tp.saturating_sub(1));
    if let Some(width) = narrower.last() {
        fallbacks.push(Fallback {
            without: format!("{} chips", subject.tp),
            then: format!("{width} is the next width that the model admits; plan again with `--tp {width}`"),
        });
    }
    fallbacks.push(Fallback {
        without: format!("memory for {} weights", serve.dtype),
        then: format!("a GGUF file of Q8_0 matrices takes {} bytes, over all chips", stock.weights.total.gguf.bytes),
    });
    fallbacks.push(Fallback {
        without: "a vLLM backend for the chip".to_owned(),
        then: "the programs of this deployment are certified and run step by step as they are".to_owned(),
    });
    Ok(fallbacks)
}
