//! A deployment run step by step.

use std::sync::Arc;

use super::data::{Data, Matrix, beside};
use super::error::{LoadError, StepError};
use super::evaluate::evaluate;
use super::load::{Input, Kind, Loaded, Part, load};
use super::rotary::{self, RopeLength};
use super::shards::Shards;
use crate::kinds::KindProgram;
use crate::language::ast::{Recipe, Sharding, ValueId};
use crate::request::Form;

/// A deployment with its weights, the states of its sequences, and how far each sequence is.
pub struct Session {
    form: Form,
    loaded: Loaded,
    /// Tokens that each sequence has seen.
    seen: Vec<u32>,
    rope_length: RopeLength,
}

/// What a step gives.
#[derive(Clone, Debug)]
pub struct Output {
    /// The next token of each row of the head: of each row in a forward or decode step, of each sequence's last one in prefill.
    pub tokens: Vec<u32>,
    /// What the tokens are the largest of, `[rows of the head, vocab]`.
    pub logits: Matrix,
    /// The hidden state before layer 0 and after each layer, `[rows, hidden]`.
    pub hidden: Vec<Arc<Matrix>>,
}

impl Session {
    /// Loads the programs of a deployment, as [`crate::kinds::programs`] gives them for `form`.
    ///
    /// # Errors
    /// The first program or tensor that is not as it should be.
    pub fn new(form: Form, programs: &[KindProgram], shards: &mut Shards<'_>) -> Result<Self, LoadError> {
        let (sequences, rows) = (form.sequences() as usize, form.rows());
        let loaded = load(programs, shards)?;
        let mut states = loaded.layers.iter().flat_map(|layer| layer.states.iter().flatten());
        let states_fit = states.all(|state| state.seqs() == sequences);
        let hidden = loaded.head.input(&loaded.kinds, &Input::Hidden);
        if !states_fit || hidden.is_none_or(|value| Some(value.shape.rows) != rows) {
            return Err(LoadError::Programs { what: format!("they are not those of {form:?}") });
        }
        Ok(Session { form, loaded, seen: vec![0; sequences], rope_length: RopeLength::default() })
    }

    /// The length that scaled rotary angles reckon with.
    pub fn set_rope_length(&mut self, length: RopeLength) {
        self.rope_length = length;
    }

    /// Tokens that each sequence has seen.
    pub fn seen(&self) -> &[u32] {
        &self.seen
    }

    /// One decode or prefill step: the next token of every sequence, or the next chunk of each, sequence by sequence.
    ///
    /// # Errors
    /// Tokens or positions that the programs have no place for; the states are then as they were.
    pub fn step(&mut self, tokens: &[u32]) -> Result<Output, StepError> {
        let Some(ctx) = self.form.context() else {
            return Err(StepError::Form { what: "a forward step takes a hidden state: see `forward`" });
        };
        let advance = self.form.tokens();
        let rows = self.seen.len() * advance as usize;
        if tokens.len() != rows {
            return Err(StepError::Rows { expected: rows, found: tokens.len() });
        }
        let vocab = self.loaded.vocab.unwrap_or(u32::MAX);
        if let Some((row, &token)) = tokens.iter().enumerate().find(|(_, token)| **token >= vocab) {
            return Err(StepError::Token { row, token, vocab });
        }
        for (sequence, &seen) in self.seen.iter().enumerate() {
            let end = u64::from(seen) + u64::from(advance);
            if end > u64::from(ctx) {
                return Err(StepError::Context { sequence, position: end - 1, ctx });
            }
        }
        let positions: Vec<u32> = self.seen.iter().flat_map(|&seen| seen..seen + advance).collect();
        let reached: Vec<u32> = self.seen.iter().flat_map(|&seen| (0..advance).map(move |_| seen + advance)).collect();
        let mut run = Run::new(self.loaded.chips, self.rope_length, positions, &reached);
        let Loaded { kinds, embed, .. } = &mut self.loaded;
        let Some(embed) = embed else {
            return Err(StepError::Form { what: "the programs have no embedding, and the step starts from tokens" });
        };
        let kind = &kinds[embed.kind];
        let values = run.part(kind, embed, None, Data::Int(tokens.into()))?;
        let hidden = real(shown(kind, &values)?);
        let output = self.rest(&mut run, hidden)?;
        self.seen.iter_mut().for_each(|seen| *seen += advance);
        Ok(output)
    }

    /// One forward step from the embedded tokens of one sequence, at positions from 0.
    ///
    /// # Errors
    /// A hidden state that the programs have no place for.
    pub fn forward(&mut self, hidden: Matrix) -> Result<Output, StepError> {
        let Form::Forward { rows } = self.form else {
            return Err(StepError::Form { what: "a decode or prefill step takes tokens: see `step`" });
        };
        if hidden.rows() != rows as usize {
            return Err(StepError::Rows { expected: rows as usize, found: hidden.rows() });
        }
        let width = self.loaded.head.input(&self.loaded.kinds, &Input::Hidden).map(|value| value.shape.cols as usize);
        if let Some(expected) = width.filter(|&width| width != hidden.cols()) {
            return Err(StepError::Width { expected, found: hidden.cols() });
        }
        let reached = vec![rows; rows as usize];
        let mut run = Run::new(self.loaded.chips, self.rope_length, (0..rows).collect(), &reached);
        self.rest(&mut run, Arc::new(hidden))
    }

    /// Every layer, then the head.
    fn rest(&mut self, run: &mut Run, hidden: Arc<Matrix>) -> Result<Output, StepError> {
        let Loaded { kinds, layers, head, logits, tokens: columns, .. } = &mut self.loaded;
        let positions = Data::Int(run.positions.as_slice().into());
        let mut trace = Vec::with_capacity(layers.len() + 1);
        trace.push(hidden.clone());
        let mut hidden = hidden;
        for layer in layers {
            let kind = &kinds[layer.kind];
            let values = run.part(kind, layer, Some(&hidden), positions.clone())?;
            hidden = real(shown(kind, &values)?);
            trace.push(hidden.clone());
        }
        let kind = &kinds[head.kind];
        let values = run.part(kind, head, Some(&hidden), positions)?;
        let tokens = match shown(kind, &values)? {
            Data::Int(tokens) => tokens.to_vec(),
            Data::Real(_) => unreachable!("the head shows an argmax"),
        };
        let shares: Vec<Arc<Matrix>> = values[logits.0 as usize].iter().cloned().map(real).collect();
        let logits = match kind.program.value(*logits).sharding {
            Sharding::Whole | Sharding::Partial => (*shares[0]).clone(),
            Sharding::Split { .. } => beside(&shares.iter().map(|share| &**share).collect::<Vec<_>>()),
        };
        Ok(Output { tokens, logits: logits.left(*columns), hidden: trace })
    }

    /// Continues a sequence of another session, of the same model, context and width: its states and position are copied.
    ///
    /// # Errors
    /// A sequence that does not exist, or states of other shapes.
    pub fn adopt(&mut self, sequence: usize, from: &Session, from_sequence: usize) -> Result<(), StepError> {
        self.exists(sequence)?;
        from.exists(from_sequence)?;
        let (layers, others) = (&mut self.loaded.layers, &from.loaded.layers);
        let alike = |(layer, other): (&Part, &Part)| {
            let states = |part: &Part| part.states.iter().flatten().count();
            let mut pairs = layer.states.iter().flatten().zip(other.states.iter().flatten());
            states(layer) == states(other) && pairs.all(|(state, other)| state.is_like(other))
        };
        let first = layers.iter().zip(others).position(|pair| !alike(pair));
        let shorter = layers.len().min(others.len());
        if let Some(layer) = first.or((layers.len() != others.len()).then_some(shorter)) {
            return Err(StepError::States { layer });
        }
        for (layer, other) in layers.iter_mut().zip(others) {
            for (state, other) in layer.states.iter_mut().flatten().zip(other.states.iter().flatten()) {
                state.adopt(sequence, other, from_sequence);
            }
        }
        self.seen[sequence] = from.seen[from_sequence];
        Ok(())
    }

    /// Starts a sequence afresh.
    ///
    /// # Errors
    /// A sequence that does not exist.
    pub fn restart(&mut self, sequence: usize) -> Result<(), StepError> {
        self.exists(sequence)?;
        let layers = &mut self.loaded.layers;
        layers.iter_mut().flat_map(|layer| layer.states.iter_mut().flatten()).for_each(|state| state.clear(sequence));
        self.seen[sequence] = 0;
        Ok(())
    }

    fn exists(&self, sequence: usize) -> Result<(), StepError> {
        let sequences = self.seen.len();
        if sequence < sequences { Ok(()) } else { Err(StepError::Sequence { sequence, sequences }) }
    }
}

/// What the parts of one step share.
struct Run {
    chips: usize,
    positions: Vec<u32>,
    lengths: Vec<u32>,
    /// Filled as layers ask for them.
    tables: Vec<(Recipe, Data)>,
}

impl Run {
    fn new(chips: usize, rope_length: RopeLength, positions: Vec<u32>, reached: &[u32]) -> Self {
        let lengths = reached.iter().map(|&reached| rope_length.of(reached)).collect();
        Run { chips, positions, lengths, tables: Vec::new() }
    }

    /// Evaluates a part; gives every value, by value and chip.
    fn part(
        &mut self,
        kind: &Kind,
        part: &mut Part,
        hidden: Option<&Arc<Matrix>>,
        index: Data,
    ) -> Result<Vec<Vec<Data>>, StepError> {
        let mut values = part.weights.clone();
        for (value, input) in &kind.inputs {
            let data = match (input, hidden) {
                (Input::Index, _) => index.clone(),
                (Input::Hidden, Some(hidden)) => Data::Real(hidden.clone()),
                (Input::Hidden, None) => {
                    return Err(StepError::Form { what: "the embedding asks for a hidden state" });
                }
                (Input::Table(recipe), _) => self.table(recipe),
            };
            values[value.0 as usize] = vec![data; self.chips];
        }
        Ok(evaluate(&kind.program, values, &mut part.states))
    }

    fn table(&mut self, recipe: &Recipe) -> Data {
        if let Some((_, data)) = self.tables.iter().find(|(filled, _)| filled == recipe) {
            return data.clone();
        }
        let table = match recipe {
            Recipe::Rope(recipe) => rotary::table(recipe, &self.positions, &self.lengths),
            Recipe::Temperature(temperature) => rotary::temperatures(temperature, &self.positions),
        };
        let data = Data::Real(Arc::new(table));
        self.tables.push((recipe.clone(), data.clone()));
        data
    }
}

impl Part {
    /// The declaration of an input.
    fn input<'a>(&self, kinds: &'a [Kind], input: &Input) -> Option<&'a crate::language::Value> {
        let kind = &kinds[self.kind];
        let found = kind.inputs.iter().find(|(_, candidate)| candidate == input);
        found.map(|(value, _)| kind.program.value(*value))
    }
}

/// The one value a program shows, which all chips must hold alike.
fn shown(kind: &Kind, values: &[Vec<Data>]) -> Result<Data, StepError> {
    let [value] = kind.shown[..] else {
        return Err(StepError::Form { what: "a program shows more than one value" });
    };
    let shares = &values[value.0 as usize];
    match differing(shares) {
        Some(chip) => Err(StepError::Diverged { value: name(kind, value), chip }),
        None => Ok(shares[0].clone()),
    }
}

fn name(kind: &Kind, value: ValueId) -> String {
    kind.program.value(value).name.clone()
}

/// The first chip that holds another value than chip 0.
pub(super) fn differing(shares: &[Data]) -> Option<usize> {
    shares.iter().position(|share| !alike(share, &shares[0]))
}

/// Equal to the last bit.
fn alike(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Real(a), Data::Real(b)) => {
            Arc::ptr_eq(a, b) || a.data().iter().map(|x| x.to_bits()).eq(b.data().iter().map(|x| x.to_bits()))
        }
        (Data::Int(a), Data::Int(b)) => a == b,
        (Data::Real(_), Data::Int(_)) | (Data::Int(_), Data::Real(_)) => false,
    }
}

fn real(data: Data) -> Arc<Matrix> {
    match data {
        Data::Real(matrix) => matrix,
        Data::Int(_) => unreachable!("only the head shows Int"),
    }
}
