//! The tensor inventory: every tensor of a deployment, and what the weights come to.
//!
//! Weights are listed as the checkpoint has them and stored as the authored programs keep them; states, tables and activations
//! are the programs' own. A tensor's bytes are those of the whole model, once, however many chips hold it or a part of it.

mod gguf;
mod states;

use super::size::{TooLarge, add, bytes_of, mul, share, stored, sum, times, word};
use crate::author::{Binding, Source, kept_as, storage_of};
use crate::kinds::{self, KindProgram};
use crate::language::ast::{Origin, Program, Role, Shape, Sharding, Storage, Value};
use crate::spec::{self, FeedForward, Held, ModelSpec, Stock};

pub use gguf::Gguf;
pub use states::{StateBytes, States};

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Of the checkpoint.
    Weight,
    /// Carried from one step to the next.
    State,
    /// Filled by the host each step: rotary tables, temperatures.
    Table,
    /// Given to a program or made by it.
    Activation,
}

/// A tensor, or all experts' of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// `{l}` in it for the layer, and of experts that are stored apart `{e}`.
    template: &'a str,
    /// The layer it is of; none for what is the model's. An activation is of its kind's first layer.
    pub layer: Option<u32>,
    /// How many tensors the name stands for: the experts where they are stored apart, of a state the sequences, else 1.
    pub count: u32,
    /// Rows of each: of a checkpoint's tensor all stored axes but the last, a vector being one row.
    pub rows: u64,
    /// Columns of each: the last stored axis.
    pub cols: u64,
    /// How it is stored.
    pub storage: Storage,
    /// What it is for.
    pub class: Class,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Row<'_> {
    /// The name, the layer filled in; `{e}` stands for the expert.
    pub fn name(&self) -> String {
        match self.layer {
            Some(layer) => self.template.replace("{l}", &layer.to_string()),
            None => self.template.to_owned(),
        }
    }
}

/// All tensors of a deployment.
#[derive(Clone, Debug)]
pub struct Inventory<'a> {
    spec: &'a ModelSpec,
    programs: &'a [KindProgram],
    /// Embedding, final norm and head.
    ends: Vec<Row<'a>>,
    /// Weights of each distinct layer.
    layers: Vec<Vec<Row<'a>>>,
    /// What the weights of each distinct layer come to.
    of_layer: Vec<Total>,
    /// What the weights come to.
    pub weights: Weights,
    /// What the states come to.
    pub states: States,
}

/// What some weights come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Parameters: elements that were trained.
    pub params: u64,
    /// Stored tensors.
    pub tensors: u64,
    /// Bytes as the programs keep them.
    pub bytes: u64,
    /// Bytes with every element in BF16.
    pub bf16_bytes: u64,
    /// As a GGUF file whose matrices are Q8_0 would store them.
    pub gguf: Gguf,
}

impl Total {
    fn add(&mut self, other: &Total, n: u64) -> Result<(), TooLarge> {
        let Total { params, tensors, bytes, bf16_bytes, gguf } = other;
        self.params = sum(self.params, times(*params, n)?)?;
        self.tensors = sum(self.tensors, times(*tensors, n)?)?;
        self.bytes = sum(self.bytes, times(*bytes, n)?)?;
        self.bf16_bytes = sum(self.bf16_bytes, times(*bf16_bytes, n)?)?;
        self.gguf.add(gguf, n)
    }
}

/// The weights of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// All of them.
    pub total: Total,
    /// Of each storage that occurs, in the order of [`Storage::ALL`].
    pub by_storage: Vec<ByStorage>,
    /// The embedding table.
    pub embedding: Embedding,
    /// What a chip holds of them.
    pub a_chip: OnChip,
}

/// The weights that are stored alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByStorage {
    /// How.
    pub storage: Storage,
    /// Stored tensors.
    pub tensors: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The embedding table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedding {
    /// Vocabulary.
    pub rows: u32,
    /// Hidden width.
    pub cols: u32,
    /// How it is stored.
    pub storage: Storage,
    /// Bytes, of the whole table once.
    pub bytes: u64,
    /// Whether the head is this table.
    pub tied: bool,
}

/// Weight bytes of one chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnChip {
    /// The chip's parts of what is cut over the chips.
    pub sharded: u64,
    /// What every chip holds.
    pub replicated: u64,
}

/// Takes stock of a deployment: `programs` are those of a step of the model.
///
/// # Errors
/// Where a size leaves 64 bits.
pub fn inventory<'a>(spec: &'a ModelSpec, programs: &'a [KindProgram]) -> Result<Inventory<'a>, TooLarge> {
    let stock = spec::inventory(spec).map_err(|_| TooLarge)?;
    let mut by_storage = Storage::ALL.map(|storage| ByStorage { storage, tensors: 0, bytes: 0 });
    let mut total = Total::default();
    let mut take = |row: Option<u32>, layers: &[u32]| -> Result<(Vec<Row<'a>>, Total), TooLarge> {
        let kept = Kept::new(spec, programs, row, layers.first().copied());
        let n = if row.is_none() { 1 } else { layers.len() as u64 };
        let (mut rows, mut of_row) = (Vec::new(), Total::default());
        for stock in stock.of(row) {
            let (tensor, one) = kept.row(stock)?;
            for storage in by_storage.iter_mut().filter(|by| by.storage == tensor.storage) {
                storage.tensors = sum(storage.tensors, times(one.tensors, n)?)?;
                storage.bytes = sum(storage.bytes, times(one.bytes, n)?)?;
            }
            of_row.add(&one, 1)?;
            rows.push(tensor);
        }
        total.add(&of_row, n)?;
        Ok((rows, of_row))
    };
    let (ends, _) = take(None, &[])?;
    let (mut layers, mut of_layer) = (Vec::new(), Vec::new());
    for row in 0..spec.layers.len() as u32 {
        let using: Vec<u32> = (0u32..).zip(&spec.layer_of).filter(|(_, of)| **of == row).map(|(l, _)| l).collect();
        let (rows, total) = take(Some(row), &using)?;
        layers.push(rows);
        of_layer.push(total);
    }
    let embedding = ends.first().map(|row| (row.storage, row.bytes));
    let (storage, bytes) = embedding.unwrap_or((storage_of(spec.dtype), 0));
    let (rows, cols) = (spec.vocab, spec.hidden);
    let weights = Weights {
        total,
        by_storage: by_storage.into_iter().filter(|by| by.tensors > 0).collect(),
        embedding: Embedding { rows, cols, storage, bytes, tied: spec.head.tied },
        a_chip: on_chip(programs)?,
    };
    let states = States::of(programs)?;
    Ok(Inventory { spec, programs, ends, layers, of_layer, weights, states })
}

impl<'a> Inventory<'a> {
    /// Every tensor: embedding, final norm and head; each layer's weights, then its states; the tables; what each program is
    /// given and makes.
    ///
    /// # Errors
    /// Of a row, where its bytes leave 64 bits.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'a>, TooLarge>> + '_ {
        let layers = (0u32..).zip(&self.spec.layer_of).flat_map(|(layer, &row)| {
            let weights = self.layers.get(row as usize).into_iter().flatten();
            let weights = weights.map(move |row| Ok(Row { layer: Some(layer), ..*row }));
            let kind = self.programs.iter().find(|kind| kind.layers.binary_search(&layer).is_ok());
            weights.chain(kind.into_iter().flat_map(move |kind| states_of(kind, layer)))
        });
        self.ends.iter().copied().map(Ok).chain(layers).chain(self.tables()).chain(self.activations())
    }

    /// What the weights of a layer come to.
    pub fn layer(&self, layer: u32) -> Option<&Total> {
        self.of_layer.get(*self.spec.layer_of.get(layer as usize)? as usize)
    }

    /// Each table once: all layers that read one read the same.
    fn tables(&self) -> impl Iterator<Item = Result<Row<'a>, TooLarge>> {
        let mut names: Vec<&str> = Vec::new();
        let mut tables = Vec::new();
        for kind in self.programs {
            for value in &kind.authored.program.values {
                match &value.origin {
                    Origin::Declared(Role::Table(_)) if !names.contains(&value.name.as_str()) => {
                        names.push(&value.name);
                        tables.push(row(&value.name, None, value.shape, value.storage, Class::Table));
                    }
                    Origin::Declared(_) | Origin::Bound(_) => {}
                }
            }
        }
        tables.into_iter()
    }

    fn activations(&self) -> impl Iterator<Item = Result<Row<'a>, TooLarge>> {
        self.programs.iter().flat_map(|kind| {
            let values = kind.authored.program.values.iter();
            let made = values.filter(|value| matches!(value.origin, Origin::Declared(Role::Input) | Origin::Bound(_)));
            made.map(|value| row(&value.name, kind.first_layer, value.shape, value.storage, Class::Activation))
        })
    }
}

/// The states of a layer that runs a program, as [`Binding::name_at`] calls them.
fn states_of(kind: &KindProgram, layer: u32) -> impl Iterator<Item = Result<Row<'_>, TooLarge>> {
    let states = kind.authored.bindings.iter().filter(|binding| matches!(binding.source, Source::State));
    states.map(move |binding| {
        let value = kind.authored.program.value(binding.value);
        row(&binding.name, Some(layer), value.shape, value.storage, Class::State)
    })
}

/// The row of a program's own value.
fn row(name: &str, layer: Option<u32>, shape: Shape, storage: Storage, class: Class) -> Result<Row<'_>, TooLarge> {
    let Shape { seqs, rows, cols } = shape;
    let bytes = word(bytes_of(shape, storage)?)?;
    let (rows, cols) = (u64::from(rows), u64::from(cols));
    Ok(Row { template: name, layer, count: seqs, rows, cols, storage, class, bytes })
}

/// A tensor, or a part of one, where a program has it.
struct Bound<'a> {
    value: &'a Value,
    /// Whether it is the weight of a product.
    is_product: bool,
    /// Whether its rows are a stored axis before the last.
    lies_as_stored: bool,
}

/// How the programs keep the weights of one distinct layer, or of embedding and head.
struct Kept<'a> {
    spec: &'a ModelSpec,
    row: Option<u32>,
    /// Each program that binds them, with its bindings and which of its values are weights of products.
    programs: Vec<(&'a Program, &'a [Binding], Vec<bool>)>,
}

impl<'a> Kept<'a> {
    fn new(spec: &'a ModelSpec, programs: &'a [KindProgram], row: Option<u32>, layer: Option<u32>) -> Self {
        let of_row = |kind: &&KindProgram| match (kind.role, layer) {
            (kinds::Role::Layer, Some(layer)) => kind.layers.binary_search(&layer).is_ok(),
            (kinds::Role::Embed | kinds::Role::Head, None) => row.is_none(),
            (kinds::Role::Layer, None) | (kinds::Role::Embed | kinds::Role::Head, Some(_)) => false,
        };
        let programs = programs.iter().filter(of_row).map(|kind| {
            let program = &kind.authored.program;
            (program, kind.bindings(layer.unwrap_or_default()), gguf::products(program))
        });
        Kept { spec, row, programs: programs.collect() }
    }

    /// The first program's values that are the tensor or its parts.
    fn bound(&self, name: &str) -> Vec<Bound<'a>> {
        let of_program = |(program, bindings, products): &(&'a Program, &'a [Binding], Vec<bool>)| {
            let bound = bindings.iter().filter_map(|binding| match &binding.source {
                Source::Weight { weight, transposed, bank, padding: _ } if weight.tensor.name == name => {
                    let is_product = products.get(binding.value.0 as usize).copied().unwrap_or_default();
                    let lies_as_stored = bank.is_some() && !transposed;
                    Some(Bound { value: program.value(binding.value), is_product, lies_as_stored })
                }
                Source::Weight { .. } | Source::State | Source::Table | Source::Hidden | Source::Index => None,
            });
            bound.collect::<Vec<_>>()
        };
        self.programs.iter().map(of_program).find(|bound| !bound.is_empty()).unwrap_or_default()
    }

    fn row(&self, stock: &Stock<'a>) -> Result<(Row<'a>, Total), TooLarge> {
        let Stock { tensor, copies, parameter } = *stock;
        let (last, outer) = tensor.shape.split_last().map_or((0, &[][..]), |(last, outer)| (*last, outer));
        let rows = outer.iter().try_fold(1, |n, &axis| mul(n, u128::from(axis)))?;
        let all = mul(rows, u128::from(last))?;
        let bound = self.bound(&tensor.name);
        // Parts of one tensor may be kept unlike; it is called what its largest part is.
        let largest =
            bound.iter().max_by_key(|bound| u64::from(bound.value.shape.rows) * u64::from(bound.value.shape.cols));
        let storage = largest.map_or_else(|| self.unbound(tensor), |bound| bound.value.storage);
        let is_matrix = bound.iter().any(|bound| bound.is_product) || *tensor == self.spec.embedding;
        // Blocks lie along what products contract: the last stored axis, but for experts that are stored as they multiply.
        let run = match largest {
            Some(Bound { value, lies_as_stored: true, .. }) => u128::from(value.shape.rows),
            Some(_) | None => u128::from(last),
        };
        let runs = all.checked_div(run).unwrap_or_default();
        let copies_of = u128::from(copies);
        let mut of_parts = bound.iter().map(|Bound { value, .. }| bytes_of(value.shape, value.storage));
        let bytes = match &bound[..] {
            [] => mul(stored(runs, run, storage)?, copies_of)?,
            [_, ..] => of_parts.try_fold(0, |all, part| add(all, part?))?,
        };
        let bytes = word(bytes)?;
        let elements = mul(all, copies_of)?;
        let total = Total {
            params: if parameter { word(elements)? } else { 0 },
            tensors: u64::from(copies),
            bytes,
            bf16_bytes: word(stored(elements, 1, Storage::Bf16)?)?,
            gguf: Gguf::of(is_matrix && !self.chooses(tensor), (mul(runs, copies_of)?, run), copies)?,
        };
        let (rows, cols) = (word(rows)?, u64::from(last));
        let template = tensor.name.as_str();
        let row = Row { template, layer: None, count: copies, rows, cols, storage, class: Class::Weight, bytes };
        Ok((row, total))
    }

    /// Whether experts are chosen or weighed by it.
    fn chooses(&self, tensor: &spec::Tensor) -> bool {
        let layer = self.row.and_then(|row| self.spec.layers.get(row as usize));
        match layer.map(|layer| &layer.feed_forward) {
            Some(FeedForward::Experts(experts)) => {
                let by = [Some(&experts.router.linear), experts.shared_gate.as_ref()];
                by.into_iter().flatten().any(|linear| linear.weight.tensor == *tensor)
            }
            Some(FeedForward::Dense(_)) | None => false,
        }
    }

    /// How a tensor is stored that no program of the step reads: a forward step looks no token up.
    fn unbound(&self, tensor: &spec::Tensor) -> Storage {
        kept_as(self.spec.held(self.row, tensor).unwrap_or(Held::Float(self.spec.dtype)))
    }
}

/// What the programs declare on one chip, each program's for every layer that runs it. A tied head reads the table that the
/// embedding keeps.
fn on_chip(programs: &[KindProgram]) -> Result<OnChip, TooLarge> {
    let table = |kind: &&KindProgram| kind.role == kinds::Role::Embed;
    let table = programs.iter().find(table).and_then(|kind| {
        kind.authored.bindings.iter().find_map(|binding| match &binding.source {
            Source::Weight { weight, .. } => Some(&weight.tensor),
            Source::State | Source::Table | Source::Hidden | Source::Index => None,
        })
    });
    let (mut sharded, mut replicated) = (0u128, 0u128);
    for kind in programs {
        let layers = (kind.layers.len() as u128).max(1);
        for binding in &kind.authored.bindings {
            let Source::Weight { weight, .. } = &binding.source else { continue };
            if kind.role == kinds::Role::Head && table == Some(&weight.tensor) {
                continue;
            }
            let value = kind.authored.program.value(binding.value);
            let bytes = mul(bytes_of(share(value), value.storage)?, layers)?;
            match value.sharding {
                Sharding::Split { .. } => sharded = add(sharded, bytes)?,
                Sharding::Whole | Sharding::Partial => replicated = add(replicated, bytes)?,
            }
        }
    }
    Ok(OnChip { sharded: word(sharded)?, replicated: word(replicated)? })
}

#[cfg(test)]
pub(crate) mod tests;
