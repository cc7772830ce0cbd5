//! Executes a bundle's programs on the host, stage by stage and firing by firing, with the tokens, slots and order that the
//! certificate speaks of.
//!
//! In: a bundle and a source of checkpoint tensors. Out: next tokens, logits, hidden states. Every chip is executed, each on the
//! slices that its bindings name. A firing that lacks a token or a slot is an error, never a wait. Arithmetic is f32, whatever the declared
//! storage; sums over tiles are taken in the order of firings.

mod firing;
mod image;
mod run;
#[cfg(test)]
mod tests;
mod token;
mod trouble;

use std::ops::Range;
use std::sync::Arc;

use logos_bundle::Form;
use logos_bundle::view::{Binding, BindingClass, Bundle, ProgramRole};

use firing::Chest;
pub(crate) use firing::{Fire, Firing, part_of};
use image::{ProgramImage, is_hidden};
pub use run::Order;
use run::Setting;
pub(crate) use token::Token;
pub use trouble::{MachineError, Trouble};

use super::weights::{ChipTensor, SharedTensor, TensorStore};
use crate::language::{Axis, Element, Origin, Recipe, Role, Sharding, Statement, ValueId};
use crate::lower::share;
use crate::ops::Op;
use crate::reference::{Data, Matrix, Output, RopeLength, State, beside, rotary_table, temperatures};

/// A part of a step on the weights and states of a layer.
struct Part {
    program: usize,
    /// By chip.
    chests: Vec<Chest>,
}

/// A bundle with the weights of a checkpoint, the states of its sequences, and how far each is.
pub struct Machine {
    images: Vec<ProgramImage>,
    embed: Option<Part>,
    layers: Vec<Part>,
    head: Part,
    seqs: usize,
    tokens: usize,
    ctx: u32,
    form: Form,
    context_tile: usize,
    seen: Vec<u32>,
    rope_length: RopeLength,
    order: Order,
}

impl Machine {
    /// Loads a bundle: its programs, and every chip's slices of the checkpoint.
    ///
    /// # Errors
    /// A bundle that cannot be executed, or a tensor that is missing or of another shape.
    pub fn new(bundle: &Bundle<'_>, store: &dyn TensorStore) -> Result<Self, MachineError> {
        let images = image::read(bundle)?;
        let damaged = |what: &str| MachineError::Bundle { what: what.to_owned() };
        let index = |role| images.iter().position(|image| image.role == role);
        let part = |program: usize, layer: u32| load(bundle, &images, program, layer, store);
        let embed = index(ProgramRole::Embed).map(|program| part(program, 0)).transpose()?;
        let head = index(ProgramRole::Head).ok_or_else(|| damaged("it has no head"))?;
        let depth = bundle.layer_count();
        let mut layers = Vec::with_capacity(depth as usize);
        for layer in bundle.layers() {
            let program = layer.program().ok_or_else(|| damaged("a layer has no program"))?;
            layers.push(part(program.index() as usize, layer.index())?);
        }
        let head = part(head, depth)?;
        let chip = bundle.chip().ok_or_else(|| damaged("it names no chip"))?;
        let seqs = bundle.sequences() as usize;
        Ok(Machine {
            embed,
            layers,
            head,
            seqs,
            tokens: bundle.tokens() as usize,
            ctx: bundle.ctx(),
            form: bundle.form(),
            context_tile: chip.context_tile() as usize,
            seen: vec![0; seqs],
            // As the bundle's own tables are made: for the longest that the deployment can reach.
            rope_length: RopeLength::Fixed(bundle.ctx().max(bundle.tokens())),
            order: Order::Schedule,
            images,
        })
    }

    /// The order in which firings are executed from now on.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// The length that scaled rotary angles reckon with.
    pub fn set_rope_length(&mut self, length: RopeLength) {
        self.rope_length = length;
    }

    /// Tokens that each sequence has seen.
    pub fn seen(&self) -> &[u32] {
        &self.seen
    }

    /// One decode or prefill step.
    ///
    /// # Errors
    /// Tokens or positions that the programs have no place for, or a firing that cannot be executed.
    pub fn step(&mut self, tokens: &[u32]) -> Result<Output, MachineError> {
        let Some(embed) = &mut self.embed else {
            return Err(MachineError::Form {
                what: "the bundle has no embedding: a forward step takes a hidden state",
            });
        };
        let rows = self.seqs * self.tokens;
        if tokens.len() != rows {
            return Err(MachineError::Tokens { expected: rows, found: tokens.len() });
        }
        let image = &self.images[embed.program];
        let vocab = image.vocab.unwrap_or(u32::MAX);
        if let Some((row, &token)) = tokens.iter().enumerate().find(|(_, token)| **token >= vocab) {
            return Err(MachineError::Token { row, token, vocab });
        }
        for (sequence, &seen) in self.seen.iter().enumerate() {
            let end = u64::from(seen) + self.tokens as u64;
            if end > u64::from(self.ctx) {
                return Err(MachineError::Context { sequence, position: end - 1, ctx: self.ctx });
            }
        }
        let advance = self.tokens as u32;
        let positions: Vec<u32> = self.seen.iter().flat_map(|&seen| seen..seen + advance).collect();
        let reached: Vec<u32> = self.seen.iter().flat_map(|&seen| vec![seen + advance; self.tokens]).collect();
        let ids: Data = Data::Int(tokens.into());
        let mut host = Host {
            positions,
            reached,
            length: self.rope_length,
            seqs: self.seqs,
            context_tile: self.context_tile,
            tables: Vec::new(),
        };
        let hidden = real(host.part(&self.images, embed, &ids, None, self.order)?)?;
        let output = self.rest(&mut host, hidden)?;
        self.seen.iter_mut().for_each(|seen| *seen += advance);
        Ok(output)
    }

    /// One forward step from the embedded tokens of one sequence, at positions from 0.
    ///
    /// # Errors
    /// A hidden state that the programs have no place for, or a firing that cannot be executed.
    pub fn forward(&mut self, hidden: Matrix) -> Result<Output, MachineError> {
        if self.form != Form::Forward {
            return Err(MachineError::Form { what: "a decode or prefill step takes tokens" });
        }
        if hidden.rows() != self.tokens {
            return Err(MachineError::Tokens { expected: self.tokens, found: hidden.rows() });
        }
        let rows = self.tokens as u32;
        let mut host = Host {
            positions: (0..rows).collect(),
            reached: vec![rows; self.tokens],
            length: self.rope_length,
            seqs: self.seqs,
            context_tile: self.context_tile,
            tables: Vec::new(),
        };
        self.rest(&mut host, Arc::new(hidden))
    }

    /// Every layer, then the head.
    fn rest(&mut self, host: &mut Host, hidden: Arc<Matrix>) -> Result<Output, MachineError> {
        let positions = Data::Int(host.positions.as_slice().into());
        let mut trace = vec![hidden.clone()];
        let mut hidden = hidden;
        for layer in &mut self.layers {
            hidden = real(host.part(&self.images, layer, &positions, Some(&hidden), self.order)?)?;
            trace.push(hidden.clone());
        }
        let tokens = match host.part(&self.images, &mut self.head, &positions, Some(&hidden), self.order)? {
            Data::Int(tokens) => tokens.to_vec(),
            Data::Real(_) => return Err(MachineError::Bundle { what: "the head shows no tokens".to_owned() }),
        };
        let logits = self.logits()?;
        Ok(Output { tokens, logits, hidden: trace })
    }

    /// What the head's argmax read, over all chips, without padding.
    fn logits(&mut self) -> Result<Matrix, MachineError> {
        let image = &self.images[self.head.program];
        let operand = image.program.statements.iter().find_map(|statement| match statement {
            Statement::Let { op: Op::ArgMax(argmax), operands, .. } => Some((*operands.first()?, argmax.below)),
            Statement::Let { .. } | Statement::Append { .. } | Statement::Show { .. } => None,
        });
        let nothing = || MachineError::Bundle { what: "the head has no argmax".to_owned() };
        let (operand, below) = operand.ok_or_else(nothing)?;
        let mut shares = Vec::new();
        for chest in &mut self.head.chests {
            shares.push(real(chest.values[operand.0 as usize].take().ok_or_else(nothing)?)?);
        }
        let logits = match image.program.value(operand).sharding {
            Sharding::Whole | Sharding::Partial => (*shares[0]).clone(),
            Sharding::Split { .. } => beside(&shares.iter().map(|share| &**share).collect::<Vec<_>>()),
        };
        Ok(logits.left(below.map_or(usize::MAX, |below| below as usize)))
    }

    /// Continues the sequences of another machine of the same model and width, as a decode bundle continues a prefill's: states
    /// and positions are copied, sequence by sequence.
    ///
    /// # Errors
    /// A sequence that does not exist, or states of other shapes.
    pub fn adopt(&mut self, sequence: usize, from: &Machine, from_sequence: usize) -> Result<(), MachineError> {
        let other = MachineError::Form { what: "the sequence to continue is of another model, context or width" };
        if sequence >= self.seqs || from_sequence >= from.seqs || self.layers.len() != from.layers.len() {
            return Err(other);
        }
        for (layer, theirs) in self.layers.iter_mut().zip(&from.layers) {
            for (chest, theirs) in layer.chests.iter_mut().zip(&theirs.chests) {
                let ours = chest.states.iter_mut().flatten();
                let mut theirs = theirs.states.iter().flatten();
                for state in ours {
                    match theirs.next().filter(|theirs| state.is_like(theirs)) {
                        Some(theirs) => state.adopt(sequence, theirs, from_sequence),
                        None => return Err(other),
                    }
                }
            }
        }
        self.seen[sequence] = from.seen[from_sequence];
        Ok(())
    }
}

impl Machine {
    /// Starts a sequence afresh.
    ///
    /// # Errors
    /// A sequence that does not exist.
    pub fn restart(&mut self, sequence: usize) -> Result<(), MachineError> {
        if sequence >= self.seqs {
            return Err(MachineError::Form { what: "the sequence to start afresh does not exist" });
        }
        let chests = self.layers.iter_mut().flat_map(|layer| &mut layer.chests);
        chests.flat_map(|chest| chest.states.iter_mut().flatten()).for_each(|state| state.clear(sequence));
        self.seen[sequence] = 0;
        Ok(())
    }
}

/// What the host fills in each step.
struct Host {
    positions: Vec<u32>,
    reached: Vec<u32>,
    length: RopeLength,
    seqs: usize,
    context_tile: usize,
    /// Filled as programs ask for them.
    tables: Vec<(Recipe, Data)>,
}

impl Host {
    /// Executes a part; gives what it shows.
    fn part(
        &mut self,
        images: &[ProgramImage],
        part: &mut Part,
        index: &Data,
        hidden: Option<&Arc<Matrix>>,
        order: Order,
    ) -> Result<Data, MachineError> {
        let image = &images[part.program];
        for (i, value) in image.program.values.iter().enumerate() {
            let id = ValueId(i as u32);
            let data = match (&value.origin, value.element) {
                (Origin::Declared(Role::Input), Element::Int) => index.clone(),
                (Origin::Declared(Role::Input), Element::Real) => match hidden {
                    Some(hidden) if is_hidden(&image.program, id) => Data::Real(hidden.clone()),
                    Some(_) | None => continue,
                },
                (Origin::Declared(Role::Table(recipe)), _) => self.table(recipe),
                (Origin::Declared(Role::Weight | Role::State) | Origin::Bound(_), _) => continue,
            };
            for chest in &mut part.chests {
                chest.values[i] = Some(data.clone());
            }
        }
        for (number, section) in image.sections.iter().enumerate() {
            let setting = Setting {
                image,
                number,
                section,
                seqs: self.seqs,
                context_tile: self.context_tile,
                positions: &self.positions,
            };
            run::run(&setting, &mut part.chests, order)?;
        }
        let shown = image.shown.0 as usize;
        let mut results = part.chests.iter_mut().map(|chest| chest.values[shown].take());
        let missing = || MachineError::Bundle { what: format!("`{}` shows nothing", image.name) };
        let first = results.next().flatten().ok_or_else(missing)?;
        for (chip, other) in (1..).zip(results) {
            if !other.is_some_and(|other| same(&first, &other)) {
                return Err(MachineError::Diverged { program: image.name.clone(), chip });
            }
        }
        Ok(first)
    }

    fn table(&mut self, recipe: &Recipe) -> Data {
        if let Some((_, data)) = self.tables.iter().find(|(filled, _)| filled == recipe) {
            return data.clone();
        }
        let table = match recipe {
            Recipe::Rope(recipe) => {
                let lengths: Vec<u32> = self.reached.iter().map(|&reached| self.length.of(reached)).collect();
                rotary_table(recipe, &self.positions, &lengths)
            }
            Recipe::Temperature(temperature) => temperatures(temperature, &self.positions),
        };
        let data = Data::Real(Arc::new(table));
        self.tables.push((recipe.clone(), data.clone()));
        data
    }
}

/// The weights and states of a program at a layer, on every chip.
fn load(
    bundle: &Bundle<'_>,
    images: &[ProgramImage],
    program: usize,
    layer: u32,
    store: &dyn TensorStore,
) -> Result<Part, MachineError> {
    let image = &images[program];
    let values = image.program.values.len();
    let chips = bundle.chips();
    let empty = || Chest { weights: vec![Vec::new(); values], states: vec![None; values], values: vec![None; values] };
    let mut chests: Vec<Chest> = (0..chips).map(|_| empty()).collect();
    let view = bundle.program(program as u32);
    let bindings = view.into_iter().flat_map(|view| view.bindings().collect::<Vec<_>>());
    for binding in bindings {
        let Some(value) = binding.value().map(|value| value.index() as usize).filter(|&v| v < values) else { continue };
        match binding.class() {
            BindingClass::Weight => {
                let copies = binding.copies().max(1);
                for copy in 0..copies {
                    let mut opened = None;
                    let stored = binding.stored().map(|length| length as usize);
                    for (chip, chest) in (0..).zip(&mut chests) {
                        // Where experts lie whole over the chips, one has none of the others'.
                        if !binding.copies_on(chip).contains(&copy) {
                            continue;
                        }
                        let (tensor, expert) = match opened.take() {
                            Some(opened) if store.is_shared() => opened,
                            Some(_) | None => open(&binding, layer, copy, copies, chip, store)?,
                        };
                        opened = Some((tensor.clone(), expert));
                        let runs = [binding.axis0(chip), binding.axis1(chip)].map(|runs| runs.map(range).collect());
                        let zeros = binding.zeros(chip) as usize;
                        let part = ChipTensor::new(tensor, expert, stored, (runs, zeros), binding.transposed());
                        chest.weights[value].push(part);
                    }
                }
            }
            BindingClass::State => {
                let declared = &image.program.values[value];
                let rows = share(declared, Axis::Rows) as usize;
                let cols = share(declared, Axis::Columns) as usize;
                for chest in &mut chests {
                    chest.states[value] = Some(State::new(declared.shape.seqs as usize, rows, cols));
                }
            }
            _ => {}
        }
    }
    Ok(Part { program, chests })
}

fn range(run: logos_bundle::view::Run) -> Range<usize> {
    run.start as usize..run.start as usize + run.length as usize
}

/// The stored tensor of a binding at a layer, and the expert in it where it holds them all.
fn open(
    binding: &Binding<'_>,
    layer: u32,
    copy: u32,
    copies: u32,
    chip: u32,
    store: &dyn TensorStore,
) -> Result<(SharedTensor, Option<usize>), MachineError> {
    let name = binding.tensor_of(layer, copy).map(|name| name.to_string()).unwrap_or_default();
    let [first, second] = binding.stored();
    let mut expected = vec![first as usize, second as usize];
    if binding.stacked() {
        expected.insert(0, copies as usize);
    }
    let Some(tensor) = store.open_on(chip, &name) else {
        return Err(MachineError::Missing { tensor: name, expected });
    };
    let shape = tensor.shape();
    // Axes beyond those that a binding tells of are folded into the last one.
    let all: usize = shape.iter().product();
    let alike = all == expected.iter().product::<usize>()
        && shape.iter().zip(&expected).take(expected.len() - 1).all(|(a, b)| a == b);
    if !alike {
        return Err(MachineError::Shape { tensor: name, expected, found: shape.to_vec() });
    }
    Ok((tensor, binding.stacked().then_some(copy as usize)))
}

fn real(data: Data) -> Result<Arc<Matrix>, MachineError> {
    match data {
        Data::Real(matrix) => Ok(matrix),
        Data::Int(_) => Err(MachineError::Bundle { what: "a program shows ids where numbers are expected".to_owned() }),
    }
}

/// Equal to the last bit.
fn same(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Real(a), Data::Real(b)) => {
            a.cols() == b.cols() && a.data().iter().map(|x| x.to_bits()).eq(b.data().iter().map(|x| x.to_bits()))
        }
        (Data::Int(a), Data::Int(b)) => a == b,
        (Data::Real(_), Data::Int(_)) | (Data::Int(_), Data::Real(_)) => false,
    }
}
