//! Mixtures of experts: which layers have them, how many there are, and how checkpoints store them.

use std::collections::BTreeSet;

use crate::Code;
use crate::spec::{ExpertTensors, Experts, Linear, Mlp, Router, RouterScore, Take, Tensor, Weight};

use super::keys::{Absent, Keys};
use super::names::{GATED, MlpForm, Names};

/// Experts and how many of them a token takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) experts: u32,
    pub(super) top_k: u32,
}

impl Count {
    /// Reads `experts` and `num_experts_per_tok`, which must be there: the classes' values are some other model's. `None`
    /// after a refusal.
    pub(super) fn read(keys: &Keys<'_>, experts: &'static str) -> Option<Count> {
        const TOP_K: &str = "num_experts_per_tok";
        let (count, top_k) = (keys.size(experts, Absent::Refused), keys.size(TOP_K, Absent::Refused));
        let (count, top_k) = (count?, top_k?);
        if top_k > count {
            keys.refuse_key(
                Code::ConfigConflict,
                TOP_K,
                format_args!("is {top_k}, expected at most `{experts}`, {count}"),
            );
            return None;
        }
        Some(Count { experts: count, top_k })
    }

    /// A router `module`, its scores divided by their sum or not. The rest is as plain as it can be.
    pub(super) fn router(
        self,
        names: Names,
        module: &str,
        hidden: u32,
        score: RouterScore,
        normalised: bool,
    ) -> Router {
        Router {
            linear: names.linear(module, self.experts, hidden, false),
            score,
            correction: None,
            groups: (1, 1),
            group_sum_of_two: false,
            top_k: self.top_k,
            normalised,
            scale: 1.0,
            on_input: false,
        }
    }

    /// Experts that are stored apart, `{e}` in `module`'s name.
    pub(super) fn apart(self, names: Names, module: &str, parts: [&str; 3], form: MlpForm, router: Router) -> Experts {
        self.stored(names.gated_mlp(module, parts, form), ExpertTensors::Apart, router)
    }

    /// Experts of a router, without a shared one.
    pub(super) fn stored(self, expert: Mlp, stored: ExpertTensors, router: Router) -> Experts {
        Experts { count: self.experts, router, expert, stored, shared: None, shared_gate: None }
    }
}

/// Names of all experts' tensors: `gate_up_proj` and `down_proj` below `module`, with `_bias` behind for their biases.
pub(super) struct Stack<'n> {
    pub(super) names: Names,
    pub(super) module: &'n str,
    pub(super) experts: u32,
    /// `2 * width`
    pub(super) stored: u32,
    pub(super) form: MlpForm,
    pub(super) tensors: ExpertTensors,
}

/// Where gate and up features stand among those of the fused projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateUp {
    /// The gate's, then up's.
    Halves,
    /// One of each in turn.
    Interleaved,
}

impl Stack<'_> {
    /// One expert of those stored in stacks.
    pub(super) fn expert(&self, order: GateUp) -> Mlp {
        let MlpForm { width, hidden, bias: _, activation } = self.form;
        let [gate, up] = match order {
            GateUp::Halves => [Take::range(0, width), Take::range(width, width)],
            GateUp::Interleaved => [0, 1].map(|offset| Take { offset, run: 1, stride: 2, count: width }),
        };
        Mlp {
            width,
            gate: Some(self.part("gate_up_proj", self.stored, gate, (width, hidden))),
            up: self.part("gate_up_proj", self.stored, up, (width, hidden)),
            down: self.part("down_proj", hidden, Take::range(0, hidden), (hidden, width)),
            activation,
        }
    }

    fn part(&self, name: &str, stored: u32, take: Take, (out, input): (u32, u32)) -> Linear {
        let name = self.names.layer(&format!("{}.{name}", self.module));
        let experts = self.experts;
        let weight = |name: String, shape| Weight { tensor: Tensor { name, shape }, take };
        let bias = self.form.bias.then(|| weight(format!("{name}_bias"), vec![experts, stored]));
        let shape = match self.tensors {
            ExpertTensors::Apart | ExpertTensors::Stacked => vec![experts, stored, input],
            ExpertTensors::StackedTransposed => vec![experts, input, stored],
        };
        Linear { out, input, weight: weight(name, shape), bias }
    }
}

/// Which layers have experts by Qwen's keys: those not in `mlp_only_layers` whose number, counted from 1, is a multiple of
/// `decoder_sparse_step`. `None` after a refusal.
pub(super) fn qwen_layers(keys: &Keys<'_>, depth: Option<u32>) -> Option<Vec<bool>> {
    let step = keys.size("decoder_sparse_step", Absent::Gives(1));
    let dense = keys.counts("mlp_only_layers", 0..=u32::MAX);
    let (step, dense, depth) = (step?, BTreeSet::from_iter(dense?.unwrap_or_default()), depth?);
    Some((0..depth).map(|layer| !dense.contains(&layer) && (layer + 1).is_multiple_of(step)).collect())
}

/// Which layers have experts where the first `first_k_dense_replace` do not. `None` after a refusal.
pub(super) fn after_dense(keys: &Keys<'_>, depth: Option<u32>, absent: u32) -> Option<Vec<bool>> {
    let dense = keys.count("first_k_dense_replace", Absent::Gives(absent), 0..=u32::MAX);
    // The reference has experts in every layer after those.
    let frequency = keys.count("moe_layer_freq", Absent::Gives(1), 1..=1);
    let (dense, _, depth) = (dense?, frequency?, depth?);
    Some((0..depth).map(|layer| layer >= dense).collect())
}

/// DeepSeek's form of a mixture: a router whose choice may be corrected and limited to groups, and a shared expert.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeepSeek {
    pub(super) count: Count,
    pub(super) width: u32,
    /// Width of the shared experts, which are one block.
    pub(super) shared: u32,
    /// Groups and how many of them are kept.
    pub(super) groups: (u32, u32),
    pub(super) scale: f32,
    pub(super) normalised: bool,
    pub(super) method: Method,
}

/// How DeepSeek's routers choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// By softmax; a group counts as its best expert (V2).
    Softmax,
    /// By sigmoid and a correction; a group counts as the sum of its two best (V3, GLM-4.5).
    Corrected,
}

/// What DeepSeek's families make of absent keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeepSeekDefaults {
    pub(super) shared: u32,
    pub(super) scale: f32,
    pub(super) normalised: bool,
    pub(super) groups: (u32, u32),
}

impl DeepSeek {
    /// Reads a mixture like V3's. `None` after a refusal.
    pub(super) fn corrected(keys: &Keys<'_>, defaults: DeepSeekDefaults) -> Option<DeepSeek> {
        let count = Count::read(keys, "n_routed_experts");
        let widths = widths(keys, defaults.shared);
        let scale = keys.positive("routed_scaling_factor", Absent::Gives(defaults.scale));
        let normalised = keys.flag("norm_topk_prob", Absent::Gives(defaults.normalised));
        keys.word("scoring_func", Absent::Gives(()), &[("sigmoid", ())]);
        keys.word("topk_method", Absent::Gives(()), &[("noaux_tc", ())]);
        // A group counts as two of its experts.
        let groups = groups(keys, count, defaults.groups, 2);
        let (width, shared) = widths?;
        let (count, groups, scale, normalised) = (count?, groups?, scale?, normalised?);
        Some(DeepSeek { count, width, shared, groups, scale, normalised, method: Method::Corrected })
    }

    /// The block below `mlp.`.
    pub(super) fn experts(&self, names: Names, form: MlpForm) -> Experts {
        let score = match self.method {
            Method::Softmax => RouterScore::Softmax,
            Method::Corrected => RouterScore::Sigmoid,
        };
        let plain = self.count.router(names, "mlp.gate", form.hidden, score, self.normalised);
        let correction = match self.method {
            Method::Softmax => None,
            Method::Corrected => {
                Some(Weight::whole(names.layer("mlp.gate.e_score_correction_bias"), &[self.count.experts]))
            }
        };
        let router = Router {
            correction,
            groups: self.groups,
            group_sum_of_two: self.method == Method::Corrected && self.groups != (1, 1),
            scale: self.scale,
            ..plain
        };
        let form = MlpForm { width: self.width, ..form };
        Experts {
            shared: Some(names.gated_mlp("mlp.shared_experts", GATED, MlpForm { width: self.shared, ..form })),
            ..self.count.apart(names, "mlp.experts.{e}", GATED, form, router)
        }
    }
}

/// Width of an expert, and of the shared ones together. `None` after a refusal.
pub(super) fn widths(keys: &Keys<'_>, absent: u32) -> Option<(u32, u32)> {
    let width = keys.size("moe_intermediate_size", Absent::Refused);
    let shared = keys.size("n_shared_experts", Absent::Gives(absent));
    let width = width?;
    Some((width, keys.product("n_shared_experts", "shared-expert columns", &[shared?, width])?))
}

/// `n_group` and `topk_group`, where a group counts as `best` of its experts; 1 and 1 where all groups are kept. `None`
/// after a refusal.
pub(super) fn groups(
    keys: &Keys<'_>,
    count: Option<Count>,
    (groups, kept): (u32, u32),
    best: u32,
) -> Option<(u32, u32)> {
    let groups = keys.size("n_group", Absent::Gives(groups));
    let kept = keys.size("topk_group", Absent::Gives(kept));
    let (Count { experts, top_k }, groups, kept) = (count?, groups?, kept?);
    let refuse = |key, what: std::fmt::Arguments<'_>| {
        keys.refuse_key(Code::ConfigConflict, key, what);
        None
    };
    if !experts.is_multiple_of(groups) || experts / groups < best {
        return refuse(
            "n_group",
            format_args!("is {groups}, expected a divisor of the {experts} experts that leaves {best} or more a group"),
        );
    }
    if kept > groups {
        return refuse("topk_group", format_args!("is {kept}, expected at most `n_group`, {groups}"));
    }
    if u64::from(top_k) > u64::from(kept) * u64::from(experts / groups) {
        return refuse(
            "topk_group",
            format_args!("is {kept}, which leaves fewer experts than the {top_k} of `num_experts_per_tok`"),
        );
    }
    Some(if kept == groups { (1, 1) } else { (groups, kept) })
}
