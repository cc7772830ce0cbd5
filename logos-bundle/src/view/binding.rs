//! Bindings: how a declared value of a program is named and found, for any layer and chip.

use core::fmt::{self, Write};
use core::ops::Range;

use super::source::Row;
use super::text::padded;
use super::{BindingClass, ProgramRole, RopePart, RopeScaling, Sharding, Text, Value, view};
use crate::table::layout::{Part, ROW, binding as field, rope};

view! {
    /// How one declared value of a program is named and found: a rule in the layer and the chip.
    Binding of program: Program
}

impl<'a> Binding<'a> {
    /// Its number in the program.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> Option<Value<'a>> {
        self.program.value(self.row.get(field::VALUE))
    }

    /// What the value is to whoever fills it.
    #[must_use]
    pub fn class(&self) -> BindingClass {
        BindingClass::from_code(self.row.get(field::CLASS))
    }

    /// The value's name in the model at a layer. The hidden state's is what the layer before shows: `x` at layer 0,
    /// `xo{l-1}` after; in the head, what the last layer shows. Embedding and head have one name whatever the layer.
    #[must_use]
    pub fn name(&self, layer: u32) -> Name<'a> {
        if self.class() == BindingClass::Hidden {
            let layer = match self.program.role() {
                ProgramRole::Head => self.program.bundle.layer_count(),
                ProgramRole::Embed => 0,
                ProgramRole::Layer | ProgramRole::Unknown(_) => layer,
            };
            return Name(Form::Hidden { layer });
        }
        Name(Form::Filled { template: self.program.bundle.text(self.row, field::NAME), layer, expert: None })
    }

    /// The checkpoint tensor it is loaded from at a layer; [`None`] for what no checkpoint holds. Where experts are tensors of
    /// their own, the name has `{e}` for the expert: see [`Binding::tensor_of`].
    #[must_use]
    pub fn tensor(&self, layer: u32) -> Option<Name<'a>> {
        self.tensor_at(layer, None)
    }

    /// The checkpoint tensor that holds an expert at a layer: the same one for all where they are stacked.
    #[must_use]
    pub fn tensor_of(&self, layer: u32, expert: u32) -> Option<Name<'a>> {
        self.tensor_at(layer, Some(expert))
    }

    fn tensor_at(&self, layer: u32, expert: Option<u32>) -> Option<Name<'a>> {
        let template = self.program.bundle.text(self.row, field::TENSOR);
        (!template.is_empty()).then_some(Name(Form::Filled { template, layer, expert }))
    }

    /// Copies of the value: of a weight of experts one an expert, of a state one a sequence, else 1.
    #[must_use]
    pub fn copies(&self) -> u32 {
        self.value().map_or(0, |value| value.shape().sequences)
    }

    /// Of these, the ones that a chip holds: all of them, but of experts that lie whole over the chips its own.
    #[must_use]
    pub fn copies_on(&self, chip: u32) -> Range<u32> {
        let Some(value) = self.value() else { return 0..0 };
        if chip >= self.program.bundle.chips() {
            return 0..0;
        }
        let each = value.share().sequences;
        let first = match value.sharding() {
            Sharding::Experts { .. } => each.saturating_mul(value.part_of(chip)),
            Sharding::Whole
            | Sharding::Partial
            | Sharding::Rows { .. }
            | Sharding::Columns { .. }
            | Sharding::Unknown(_) => 0,
        };
        first..first.saturating_add(each)
    }

    /// Whether the stored tensor has an axis for the experts before the two that [`Binding::stored`] tells of.
    #[must_use]
    pub fn stacked(&self) -> bool {
        self.row.get(field::STACKED) != 0
    }

    /// Whether the program's rows are the stored tensor's axis 1 (as of a `Linear`'s weight, stored outputs by inputs).
    #[must_use]
    pub fn transposed(&self) -> bool {
        self.row.get(field::TRANSPOSED) != 0
    }

    /// The stored tensor's shape, of one expert where they are stacked: axis 0, and all further axes as one.
    #[must_use]
    pub fn stored(&self) -> [u32; 2] {
        [self.row.get(field::STORED), self.row.get(field::STORED + 1)]
    }

    /// Zeros that the value has after its last stored index, along the axis that indices are taken of: rows of an embedding or
    /// columns of a head whose vocabulary is padded. No token is one of them.
    #[must_use]
    pub fn padding(&self) -> u32 {
        self.row.get(field::PADDING)
    }

    /// Of these, how many a chip holds: it loads so many indices fewer, and has zeros after those it loads.
    #[must_use]
    pub fn zeros(&self, chip: u32) -> u32 {
        let (taken, total) = self.extent();
        let (first, end) = self.share_of(total, chip, self.row.get(field::TAKEN));
        end.saturating_sub(first.max(taken)) as u32
    }

    /// Indices of stored axis 0 that a chip loads, as runs in ascending order; runs that touch are one. None for a chip that
    /// the deployment does not have, or that holds nothing but padding.
    #[must_use]
    pub fn axis0(&self, chip: u32) -> Runs {
        self.axis(chip, 0)
    }

    /// Indices of stored axis 1 that a chip loads, likewise.
    #[must_use]
    pub fn axis1(&self, chip: u32) -> Runs {
        self.axis(chip, 1)
    }

    fn axis(&self, chip: u32, axis: u32) -> Runs {
        let stored = u64::from(self.row.get(field::STORED + axis as usize));
        if self.row.get(field::TAKEN) != axis {
            let (first, end) = self.share_of(stored, chip, axis);
            let take = Take { offset: 0, run: stored, stride: stored };
            return Runs { take, next: first, end, stored };
        }
        let take = Take {
            offset: self.row.get(field::OFFSET).into(),
            run: self.row.get(field::RUN).into(),
            stride: self.row.get(field::STRIDE).into(),
        };
        let (taken, total) = self.extent();
        let (first, end) = self.share_of(total, chip, axis);
        Runs { take, next: first.min(taken), end: end.min(taken), stored }
    }

    /// Indices that are taken of a stored axis, and with the padding after them.
    fn extent(&self) -> (u64, u64) {
        let [run, stride, count, padding] =
            [field::RUN, field::STRIDE, field::COUNT, field::PADDING].map(|word| u64::from(self.row.get(word)));
        // Runs that overlap make no selection; only a damaged table has them.
        let taken = if count > 1 && stride < run { 0 } else { run * count };
        (taken, taken.saturating_add(padding))
    }

    /// Elements of the stored tensor, or tensors, that a chip loads.
    #[must_use]
    pub fn elements(&self, chip: u32) -> u64 {
        let along = |runs: Runs| runs.fold(0u64, |sum, run| sum.saturating_add(run.length.into()));
        let one = along(self.axis0(chip)).saturating_mul(along(self.axis1(chip)));
        match self.class() {
            BindingClass::Weight => one.saturating_mul(self.copies_on(chip).len() as u64),
            BindingClass::State
            | BindingClass::Table
            | BindingClass::Hidden
            | BindingClass::Index
            | BindingClass::Unknown(_) => one,
        }
    }

    /// Bytes of what a chip holds of the value, as the program stores it, all sequences.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.value().map_or(0, |value| value.bytes())
    }

    /// The part `[first, end)` of `length` indices along a stored axis that a chip takes: all of them where the value's
    /// split does not run along it.
    fn share_of(&self, length: u64, chip: u32, axis: u32) -> (u64, u64) {
        let Some(value) = self.value() else { return (0, 0) };
        if chip >= self.program.bundle.chips() {
            return (0, 0);
        }
        let rows_axis = u32::from(self.transposed());
        let (parts, along) = match value.sharding() {
            Sharding::Whole | Sharding::Partial | Sharding::Experts { .. } | Sharding::Unknown(_) => {
                return (0, length);
            }
            Sharding::Rows { parts } => (u64::from(parts), rows_axis),
            Sharding::Columns { parts } => (u64::from(parts), 1 - rows_axis),
        };
        if along != axis || parts == 0 {
            return (0, length);
        }
        let size = length / parts;
        let part = u64::from(value.part_of(chip)).min(parts - 1);
        (part * size, (part + 1) * size)
    }
}

impl fmt::Display for Binding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layer = self.program.first_layer();
        write!(f, "{} ({})", self.name(layer), self.class())?;
        match self.tensor(layer) {
            Some(tensor) => write!(f, " <- {tensor}{}", if self.transposed() { ", transposed" } else { "" }),
            None => Ok(()),
        }
    }
}

/// Contiguous indices along an axis; prints as `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First index.
    pub start: u32,
    /// Indices.
    pub length: u32,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, u64::from(self.start) + u64::from(self.length))
    }
}

/// Which indices of stored axis 0 make a value: index `j` of it is stored at `offset + (j / run) * stride + j % run`.
#[derive(Clone, Copy, Debug)]
struct Take {
    offset: u64,
    run: u64,
    stride: u64,
}

/// Runs of indices along stored axis 0. Indices beyond the stored tensor, which only a damaged table has, are left out.
#[derive(Clone, Debug)]
pub struct Runs {
    take: Take,
    next: u64,
    end: u64,
    stored: u64,
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clone().enumerate().try_for_each(|(i, run)| write!(f, "{}{run}", if i == 0 { "" } else { ", " }))
    }
}

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let Take { offset, run, stride, .. } = self.take;
        if self.next >= self.end {
            return None;
        }
        // Indices lie below 2^64 (run * count of u32 each), stored indices need not: strides of a damaged table overflow.
        let (number, within) = (self.next.checked_div(run)?, self.next.checked_rem(run)?);
        let start = u128::from(offset) + u128::from(number) * u128::from(stride) + u128::from(within);
        let length = if stride == run { self.end - self.next } else { (run - within).min(self.end - self.next) };
        self.next += length;
        let stored = u128::from(self.stored);
        if start >= stored {
            self.next = self.end;
            return None;
        }
        let length = u128::from(length).min(stored - start);
        Some(Run { start: start as u32, length: length as u32 })
    }
}

/// A name with the layer, and perhaps the expert, filled in; prints itself, honours a width, and `==` compares it with a `str`.
#[derive(Clone, Copy)]
pub struct Name<'a>(Form<'a>);

#[derive(Clone, Copy)]
enum Form<'a> {
    /// The template with `{l}` replaced, and `{e}` where an expert is asked for.
    Filled { template: Text<'a>, layer: u32, expert: Option<u32> },
    /// What the layer before shows.
    Hidden { layer: u32 },
}

const LAYER: &str = "{l}";
const EXPERT: &str = "{e}";

impl Name<'_> {
    fn write_to(&self, out: &mut dyn Write) -> fmt::Result {
        let (mut rest, layer, expert) = match self.0 {
            Form::Hidden { layer } => {
                return match layer.checked_sub(1) {
                    None => out.write_str("x"),
                    Some(before) => write!(out, "xo{before}"),
                };
            }
            Form::Filled { template, layer, expert } => (template, layer, expert),
        };
        loop {
            let of_layer = rest.find(LAYER).map(|at| (at, layer));
            let of_expert = expert.and_then(|expert| Some((rest.find(EXPERT)?, expert)));
            let next = match (of_layer, of_expert) {
                (Some(layer), Some(expert)) => Some(if layer.0 < expert.0 { layer } else { expert }),
                (one, other) => one.or(other),
            };
            let Some((at, number)) = next else { return rest.write_to(out) };
            write!(out, "{}{number}", rest.part(0, at))?;
            rest = rest.part(at + LAYER.len() as u32, u32::MAX);
        }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        padded(f, |out| self.write_to(out))
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        let mut rest = Rest(other);
        write!(rest, "{self}").is_ok() && rest.0.is_empty()
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Fails as soon as what is written is not what is left.
struct Rest<'a>(&'a str);

impl Write for Rest<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(text).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// A table's recipe. Of a rotary one `angle = position * frequency(m)`, for `m` below half the rotary width; of a temperature
/// the parameters are its scale and floor.
#[derive(Clone, Copy)]
pub struct Rope<'a> {
    pub(super) row: Row<'a>,
    pub(super) index: u32,
}

impl fmt::Debug for Rope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rope({self})")
    }
}

impl<'a> Rope<'a> {
    /// Its number in the bundle.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// What it fills a table with.
    #[must_use]
    pub fn part(&self) -> RopePart {
        RopePart::from_code(self.row.get(rope::PART))
    }

    /// Base of the frequencies.
    #[must_use]
    pub fn theta(&self) -> f64 {
        f64::from_bits(self.row.wide(rope::THETA))
    }

    /// Columns of a head that rotate.
    #[must_use]
    pub fn rotary(&self) -> u32 {
        self.row.get(rope::ROTARY)
    }

    /// How the frequencies are scaled.
    #[must_use]
    pub fn scaling(&self) -> RopeScaling {
        RopeScaling::from_code(self.row.get(rope::SCALING))
    }

    /// Parameters of the scaling, in the order of the specification's fields; the rest are zero.
    #[must_use]
    pub fn parameters(&self) -> [f32; 8] {
        self.row.hash(rope::PARAMETERS).map(f32::from_bits)
    }

    /// Longrope's divisors of the frequencies, one a pair, as chosen for the deployment's length; none for other scalings.
    pub fn factors(&self) -> impl Iterator<Item = f32> + Clone + use<'a> {
        let source = self.row.source();
        let first = self.row.get(rope::FACTORS);
        let count = if self.scaling() == RopeScaling::LongRope { self.rotary() / 2 } else { 0 };
        (0..count).map_while(move |m| {
            let word = first.checked_add(m)?;
            let row = source.row(Part::Factors, word / ROW as u32)?;
            Some(f32::from_bits(row.get(word as usize % ROW)))
        })
    }

    /// Factor on every entry.
    #[must_use]
    pub fn factor(&self) -> f32 {
        f32::from_bits(self.row.get(rope::FACTOR))
    }
}

impl fmt::Display for Rope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part() == RopePart::Temperature {
            let [scale, floor, ..] = self.parameters();
            return write!(f, "{} scale {scale:?}, floor {floor:?}", self.part());
        }
        write!(f, "{} theta {}, rotary {}, scaling {}", self.part(), self.theta(), self.rotary(), self.scaling())?;
        if self.factor() != 1.0 {
            write!(f, ", factor {:?}", self.factor())?;
        }
        Ok(())
    }
}
