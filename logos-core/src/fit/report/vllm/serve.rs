//! How the server is started, and what its allocator would then reserve.

use super::offload::{self, Offload};
use super::{Fallback, ReservedBlock};
use crate::fit::inventory::Inventory;
use crate::fit::paged::{Paged, Policy, Unpaged};
use crate::fit::serving::Demand;
use crate::fit::{TooLarge, bytes};
use crate::spec::{Dtype, ExpertSplit};
use crate::{At, Code, Refusal, Weights, shard};

use super::super::subject::Subject;

/// Part of a device's memory that the server takes, a quotient.
///
/// Source: `vllm/config/cache.py`, `gpu_memory_utilization`: 0.92.
const UTILIZATION: (u64, u64) = (23, 25);

/// How the server is started.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Serve {
    /// Chips.
    pub tensor_parallel_size: u32,
    /// dtype of activations and caches.
    pub dtype: &'static str,
    /// Longest sequence: the context asked for, or less where less is all that fits.
    pub max_model_len: u32,
    /// The context asked for, where it does not fit.
    pub reduced_from: Option<u32>,
    /// Tokens of a batch, where the deployment is a prefill: all of its chunks.
    pub max_num_batched_tokens: Option<u32>,
    /// Experts that the server keeps outside the device's memory, where that does not hold them.
    pub offload: Option<Offload>,
    /// The command's arguments.
    pub arguments: Vec<Argument>,
    /// The command.
    pub command: String,
}

/// An argument of a command.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Argument {
    /// With its dashes.
    pub flag: &'static str,
    /// Its value; empty of a flag that has none.
    pub value: String,
}

/// The server's start, held to what its allocator would reserve.
pub(super) fn plan(subject: &Subject<'_>, stock: &Inventory<'_>) -> Result<(Serve, ReservedBlock), Refusal> {
    let paged = Paged::of(&subject.spec, subject.tp, policy(subject))?;
    let weights = &stock.weights.a_chip;
    let weights = weights.sharded.checked_add(weights.replicated).ok_or(TooLarge)?;
    let (usable, mut available) = memory(subject, weights);
    let mut longest = paged.longest(available, subject.ctx);
    let mut offload = None;
    if longest == 0 {
        let sequence = paged.reserved(subject.ctx, 1)?.0;
        offload = offload::offload(subject, weights, usable, sequence)?;
        let gone = offload.map_or(0, |offload| offload.bytes);
        available = usable.saturating_sub(weights.saturating_sub(gone));
        longest = paged.longest(available, subject.ctx);
    }
    if longest == 0 {
        return Err(refusal(subject, weights, usable, &paged)?);
    }
    let serve = serve(subject, longest, offload);
    let one = paged.reserved(longest, 1)?.0;
    let block = ReservedBlock {
        usable_bytes: usable,
        available_bytes: available,
        pool_block_bytes: paged.pool_block,
        block_tokens: paged.groups.iter().map(|group| group.block).collect(),
        group_layers: paged.group_layers,
        blocks_per_sequence: paged.blocks(longest),
        sequence_bytes: one,
        max_sequences: paged.sequences(available, longest),
        fits: one <= available,
    };
    Ok((serve, block))
}

/// What the server takes of a chip's memory, and what of it the weights leave.
fn memory(subject: &Subject<'_>, weights: u64) -> (u64, u64) {
    let (of, parts) = UTILIZATION;
    let memory = u128::from(subject.needs.memory_bytes);
    // Never more than the memory.
    let usable = u64::try_from((memory * u128::from(of)).div_ceil(parts.into())).unwrap_or(u64::MAX);
    (usable, usable.saturating_sub(weights))
}

/// What the server is started with: the version's own defaults on this chip, as if its backend were a GPU's; of a prefill batches of all
/// its chunks.
fn policy(subject: &Subject<'_>) -> Policy {
    let policy = Policy::of(&subject.spec, subject.needs.memory_bytes);
    match batched_tokens(subject) {
        Some(tokens) => policy.with_batches_of(tokens),
        None => policy,
    }
}

/// Tokens of a prefill's step.
fn batched_tokens(subject: &Subject<'_>) -> Option<u32> {
    subject.asked.step.chunk()?.checked_mul(subject.sequences())
}

fn serve(subject: &Subject<'_>, max_model_len: u32, offload: Option<Offload>) -> Serve {
    let dtype = match subject.spec.dtype {
        Dtype::F32 => "float32",
        Dtype::F16 => "float16",
        Dtype::Bf16 => "bfloat16",
    };
    let argument = |flag, value: String| Argument { flag, value };
    let mut arguments = vec![
        argument("--tensor-parallel-size", subject.tp.to_string()),
        argument("--dtype", dtype.to_owned()),
        argument("--max-model-len", max_model_len.to_string()),
    ];
    if subject.spec.has_experts() && subject.asked.experts == ExpertSplit::Parallel {
        arguments.push(argument("--enable-expert-parallel", String::new()));
    }
    let max_num_batched_tokens = batched_tokens(subject);
    arguments.extend(max_num_batched_tokens.map(|tokens| argument("--max-num-batched-tokens", tokens.to_string())));
    if let Some(Offload { gib, .. }) = offload {
        arguments.push(argument("--offload-backend", "uva".to_owned()));
        arguments.push(argument("--cpu-offload-gb", gib.to_string()));
        arguments.push(argument("--cpu-offload-params", "experts".to_owned()));
    }
    let mut command = format!("vllm serve {}", quoted(subject.asked.model));
    for Argument { flag, value } in &arguments {
        command.push_str(&format!(" {flag}"));
        if !value.is_empty() {
            command.push_str(&format!(" {value}"));
        }
    }
    Serve {
        tensor_parallel_size: subject.tp,
        dtype,
        max_model_len,
        reduced_from: (max_model_len < subject.ctx).then_some(subject.ctx),
        max_num_batched_tokens,
        offload,
        arguments,
        command,
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+:@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn refusal(subject: &Subject<'_>, weights: u64, usable: u64, paged: &Paged) -> Result<Refusal, TooLarge> {
    let message = format!("vLLM would serve not one sequence of any length on {} x {}", subject.tp, subject.chip.name);
    let at = At::Key(subject.asked.step.as_str().to_ascii_uppercase(), crate::Key::Tp);
    let refusal = Refusal::new(Code::FitMemory, at, message)
        .fact("weights a chip", bytes(weights.into()))
        .fact("memory that the server takes of a chip", bytes(usable.into()));
    let refusal = match paged.reserved(1, 1) {
        Ok(least) => refusal.fact("least that its allocator reserves", bytes(least.0.into())),
        Err(TooLarge) => refusal,
    };
    Ok(match wider(subject, 1) {
        Some(tp) => refusal.help(format!("write `tp: {tp}`")),
        None if quantised(subject) => {
            refusal.help("no admitted width leaves enough: write `weights: q8_0`, which nearly halves the weights")
        }
        None => refusal.help("no admitted width leaves enough: choose a chip with more memory"),
    })
}

/// Whether weights as Q8_0 would leave enough at the width, where they are not stored in some way already.
fn quantised(subject: &Subject<'_>) -> bool {
    let as_config = subject.asked.weights == Weights::Config && subject.asked.checkpoint.is_none();
    let paged = Paged::of(&subject.spec, subject.tp, policy(subject));
    let needs = Demand { weights: Weights::Q8_0, ..subject.demand() }.at(subject.tp);
    let (true, Ok(paged), Ok(needs)) = (as_config, paged, needs) else { return false };
    paged.longest(memory(subject, needs.weight_bytes).1, 1) == 1
}

/// What else the server could be started with, with what each would change.
pub(super) fn fallbacks(subject: &Subject<'_>, serve: &Serve) -> Result<Vec<Fallback>, TooLarge> {
    let mut fallbacks: Vec<Fallback> = Vec::new();
    let len = serve.max_model_len;
    let policy = policy(subject);
    // The plan was made with this policy: it grants memory.
    let with = |policy: Policy| Paged::of(&subject.spec, subject.tp, policy).ok();
    let Some(now) = with(policy) else { return Ok(fallbacks) };
    let now = now.reserved(len, 1)?.0;
    if let Some(offload) = serve.offload {
        let then = match wider(subject, len) {
            Some(tp) => format!("`--tp {tp}` needs none: plan with it"),
            None => "no admitted width of the chip's domain does without".to_owned(),
        };
        let without = format!("{} GiB a chip beside its {}, for experts", offload.gib, subject.chip.main_memory().1);
        fallbacks.push(Fallback { without, then });
    }
    let mut offer = |without: &str, flag: &str, policy: Policy| -> Result<(), TooLarge> {
        let Some(paged) = with(policy) else { return Ok(()) };
        let then = paged.reserved(len, 1)?.0;
        if then < now {
            let then = format!("`{flag}` reserves {then} bytes a sequence and chip in place of {now}");
            fallbacks.push(Fallback { without: without.to_owned(), then });
        }
        Ok(())
    };
    let plain = Policy { prefix_caching: false, ..policy };
    offer("memory for two states a recurrence", "--no-enable-prefix-caching", plain)?;
    let fewer = policy.in_flight / 2;
    let flag = format!("--max-num-batched-tokens {}", fewer / 2);
    offer("memory for the tokens in flight of windows", &flag, Policy { in_flight: fewer, ..policy })?;
    fallbacks.extend(without_groups(subject, len, now)?);
    if let Some(asked) = serve.reduced_from {
        let holds = wider(subject, asked);
        let then = match holds {
            Some(tp) => format!("plan with `--tp {tp}`"),
            None => format!("no admitted width serves it; `--max-model-len {len}` is the most here"),
        };
        fallbacks.push(Fallback { without: format!("{asked} positions on {} chips", subject.tp), then });
    }
    Ok(fallbacks)
}

/// What is charged where the backend's platform does not say that it grants groups of unlike kinds: the engine switches them off on
/// platforms that are no GPU's.
fn without_groups(subject: &Subject<'_>, len: u32, now: u64) -> Result<Option<Fallback>, TooLarge> {
    let policy = policy(subject);
    let then = match Paged::of(&subject.spec, subject.tp, Policy { hybrid: false, ..policy }) {
        Ok(paged) => {
            let then = paged.reserved(len, 1)?.0;
            if !policy.hybrid || then <= now {
                return Ok(None);
            }
            format!("every layer is charged the whole context: {then} bytes a sequence and chip in place of {now}")
        }
        Err(Unpaged::Groups) => "the server does not start: recurrent layers need groups of their own".to_owned(),
        Err(Unpaged::TooLarge(too_large)) => return Err(too_large),
        // What the plan was made with would not have passed either.
        Err(Unpaged::Pages(..) | Unpaged::Split(..) | Unpaged::Zero) => return Ok(None),
    };
    let without =
        "a platform that supports the hybrid KV cache manager (the engine switches it off where none is said to)";
    Ok(Some(Fallback { without: without.to_owned(), then }))
}

/// The least wider width of the chip's domain at which vLLM serves a sequence of `len` tokens.
fn wider(subject: &Subject<'_>, len: u32) -> Option<u32> {
    let widths = shard::widths(&subject.spec, subject.chip.domain());
    widths.into_iter().filter(|&tp| tp > subject.tp).find(|&tp| {
        let needs = subject.demand().at(tp);
        let paged = Paged::of(&subject.spec, tp, policy(subject));
        let (Ok(needs), Ok(paged)) = (needs, paged) else { return false };
        let (_, available) = memory(subject, needs.weight_bytes);
        paged.longest(available, len) == len
    })
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_models_name_is_one_word_of_a_shell() {
        assert_eq!(quoted("org/model-7B.v1"), "org/model-7B.v1");
        assert_eq!(quoted("a model"), "'a model'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
