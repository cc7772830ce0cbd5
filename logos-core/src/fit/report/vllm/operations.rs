//! The operations of a step with their shapes, and which of them not every backend has.

use super::super::subject::Subject;
use crate::kinds::KindProgram;
use crate::language::ast::{Origin, Program, Role, Statement, ValueId};
use crate::ops::{AttentionOp, Op};
use crate::spec::RouterScore;

/// An operation with its shapes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationRow {
    /// The operation.
    pub op: &'static str,
    /// Its first statement, from the program.
    pub statement: String,
    /// Its operands, in the order of the operation's own documentation.
    pub operands: Vec<OperandShape>,
    /// Its result.
    pub result: OperandShape,
    /// The programs that have it.
    pub programs: Vec<String>,
    /// How often a step does it.
    pub times_a_step: u64,
}

/// A value as an operation sees it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperandShape {
    /// `input`, `weight`, `state`, `table`, `value`.
    pub role: &'static str,
    /// Copies: one a sequence, one an expert, else 1.
    pub copies: u32,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// How it is stored.
    pub dtype: &'static str,
    /// How it lies over the chips.
    pub sharding: String,
}

/// What not every backend has.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unusual {
    /// What, in words.
    pub what: String,
    /// The operation.
    pub op: &'static str,
    /// Layers that have it; none where the embedding or the head has.
    pub layers: u64,
    /// What to do without it.
    pub fallback: &'static str,
}

/// Every operation of a step, those of equal shapes once, in the order of the programs.
pub(super) fn rows(programs: &[KindProgram]) -> Vec<OperationRow> {
    let mut rows: Vec<(Op, OperationRow)> = Vec::new();
    for kind in programs {
        let program = &kind.authored.program;
        let times = (kind.layers.len() as u64).max(1);
        let lines: Vec<&str> = kind.text.lines().collect();
        // Declarations come first, a line each; then the statements, a line each.
        let first = lines.len().saturating_sub(program.statements.len());
        for (at, statement) in program.statements.iter().enumerate() {
            let Statement::Let { result, op, operands } = statement else { continue };
            let operands: Vec<OperandShape> = operands.iter().map(|&id| shape(program, id)).collect();
            let result = shape(program, *result);
            let same =
                |row: &&mut (Op, OperationRow)| row.0 == *op && row.1.operands == operands && row.1.result == result;
            match rows.iter_mut().find(same) {
                Some((_, row)) => {
                    row.times_a_step = row.times_a_step.saturating_add(times);
                    if !row.programs.contains(&kind.name) {
                        row.programs.push(kind.name.clone());
                    }
                }
                None => {
                    let row = OperationRow {
                        op: op.form().name,
                        statement: lines.get(first + at).copied().unwrap_or_default().to_owned(),
                        operands,
                        result,
                        programs: vec![kind.name.clone()],
                        times_a_step: times,
                    };
                    rows.push((*op, row));
                }
            }
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn shape(program: &Program, id: ValueId) -> OperandShape {
    let value = program.value(id);
    OperandShape {
        role: match &value.origin {
            Origin::Declared(Role::Input) => "input",
            Origin::Declared(Role::Weight) => "weight",
            Origin::Declared(Role::State) => "state",
            Origin::Declared(Role::Table(_)) => "table",
            Origin::Bound(_) => "value",
        },
        copies: value.shape.seqs,
        rows: value.shape.rows,
        cols: value.shape.cols,
        dtype: value.storage.as_str(),
        sharding: value.sharding.to_string(),
    }
}

/// What of a step not every backend has, each once, in the order of the programs.
pub(super) fn unusual(programs: &[KindProgram]) -> Vec<Unusual> {
    let mut found: Vec<Unusual> = Vec::new();
    for kind in programs {
        let layers = kind.layers.len() as u64;
        let mut here: Vec<String> = Vec::new();
        for statement in &kind.authored.program.statements {
            let Statement::Let { op, operands, .. } = statement else { continue };
            for (what, fallback) in asks(op, operands) {
                // A kind that has it twice has it in as many layers.
                if here.contains(&what) {
                    continue;
                }
                match found.iter_mut().find(|known| known.what == what) {
                    Some(known) => known.layers = known.layers.saturating_add(layers),
                    None => found.push(Unusual { what: what.clone(), op: op.form().name, layers, fallback }),
                }
                here.push(what);
            }
        }
    }
    found
}

const STEP_BY_STEP: &str = "run the recurrence a token at a time, on its memory, in f32; slower and the same";
const FULL: &str = "keep the whole context and mask: the same result, and the cache of a full layer";
const COMPOSED: &str = "compose it of elementwise operations and products";
const EXPERTS: &str = "gather the chosen experts' rows and multiply one expert at a time";
const EAGER: &str = "compute scores, softmax and values apart, in place of one fused kernel";

/// The operand of attention that is a sink logit a head.
///
/// Source: the operation's own documentation.
const SINKS: usize = 6;

/// That weights of experts are read where the device's own memory does not hold them.
pub(super) fn offloaded(programs: &[KindProgram], gib: u32) -> Unusual {
    let experts = |statement: &Statement| matches!(statement, Statement::Let { op: Op::ExpertsOp(_), .. });
    let kinds = programs.iter().filter(|kind| kind.authored.program.statements.iter().any(experts));
    Unusual {
        what: format!(
            "weights of experts read in place from memory beside the device's own, {gib} GiB a chip, which is the chip's DDR here"
        ),
        op: "experts",
        layers: kinds.fold(0, |layers, kind| layers.saturating_add(kind.layers.len() as u64)),
        fallback: "take chips whose own memory holds them, or store the weights in fewer bytes",
    }
}

/// What an operation asks of a backend beyond what every decoder does, with what to do without it.
fn asks(op: &Op, operands: &[ValueId]) -> Vec<(String, &'static str)> {
    let one = |what: &str, fallback| vec![(what.to_owned(), fallback)];
    match op {
        Op::GatedDeltaOp(delta) => {
            vec![(format!("the gated delta rule over {} value heads with a carried memory", delta.heads), STEP_BY_STEP)]
        }
        Op::CausalConv(conv) => {
            vec![(format!("a causal convolution of {} taps with carried inputs", conv.taps), COMPOSED)]
        }
        Op::Decay(_) => one("the decay of a gated recurrence", COMPOSED),
        Op::L2Norm(_) => one("an L2 norm a head", COMPOSED),
        Op::LatentAttentionOp(_) => {
            one("attention over a latent cache, keys and values of all heads in one vector", EAGER)
        }
        Op::HeadMatMul(_) => one("a product of each head with its own block", COMPOSED),
        Op::RouterOp(router) => {
            let groups =
                router.groups.map_or_else(String::new, |(groups, kept)| format!(", {kept} of {groups} groups kept"));
            let score = match router.score {
                RouterScore::Softmax => "softmax",
                RouterScore::SoftmaxChosen => "softmax of the chosen",
                RouterScore::Sigmoid => "sigmoid",
            };
            vec![(format!("a router by {score} scores, top {}{groups}", router.top), EXPERTS)]
        }
        Op::ExpertsOp(experts) => {
            vec![(format!("{} experts of which a token takes {}", experts.count, experts.top), EXPERTS)]
        }
        Op::AttentionOp(attention) => attends(attention, op.form().place(operands)[SINKS].is_some()),
        Op::RowScale(_) => one("a factor a row by its position", COMPOSED),
        Op::SoftCap(cap) => vec![(format!("a soft cap of {} on logits", cap.cap), COMPOSED)],
        Op::MatMul(_)
        | Op::Plus(_)
        | Op::Times(_)
        | Op::Scaled(_)
        | Op::Silu(_)
        | Op::Gelu(_)
        | Op::Sigmoid(_)
        | Op::Tanh(_)
        | Op::SwiGlu(_)
        | Op::GeGlu(_)
        | Op::RmsNorm(_)
        | Op::LayerNorm(_)
        | Op::RopeOp(_)
        | Op::Rows(_)
        | Op::LastRow(_)
        | Op::ArgMax(_)
        | Op::SumOverChips(_)
        | Op::GatherOverChips(_) => Vec::new(),
    }
}

fn attends(attention: &AttentionOp, has_sinks: bool) -> Vec<(String, &'static str)> {
    let mut asks = Vec::new();
    if let Some(window) = attention.window {
        asks.push((format!("attention over a window of {window} positions"), FULL));
    }
    if let Some(chunk) = attention.chunk {
        asks.push((format!("attention within chunks of {chunk} positions"), FULL));
    }
    if let Some(cap) = attention.softcap {
        asks.push((format!("attention with scores capped at {cap}"), EAGER));
    }
    if has_sinks {
        asks.push(("attention with a sink logit a head".to_owned(), EAGER));
    }
    asks
}

/// What to ask of a backend before it is given the model.
pub(super) fn question(subject: &Subject<'_>, unusual: &[Unusual]) -> String {
    let (chip, model, step) = (&subject.chip.name, subject.asked.model, subject.asked.step.as_str());
    if unusual.is_empty() {
        return format!(
            "Does vLLM's backend for {chip} run a {step} step of {model} as listed: every operation of it is one that \
             all decoders have?"
        );
    }
    let asks: Vec<String> = unusual
        .iter()
        .map(|row| match row.layers {
            0 => row.what.clone(),
            1 => format!("{} (1 layer)", row.what),
            layers => format!("{} ({layers} layers)", row.what),
        })
        .collect();
    format!("Does vLLM's backend for {chip} run, in a {step} step of {model}: {}?", asks.join("; "))
}
