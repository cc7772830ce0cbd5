//! Over all chips: which bytes are read, by how many chips, and why by several.

use std::collections::BTreeMap;
use std::ops::Range;
use std::slice;

use logos_bundle::load::Ranges;

use super::evenly::{Takings, Uneven};
use super::{LoadError, Loader};
use crate::checkpoint::headers::TensorId;
use crate::checkpoint::storage::Storage;

/// Why several chips read the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Every chip holds the whole weight.
    Whole,
    /// There are fewer parts than chips: key and value heads lie over equal groups of them.
    Groups,
    /// The slices of neighbours meet within a block of elements that share bytes or a scale.
    Block,
}

/// How a stored tensor is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The tensor.
    pub tensor: TensorId,
    /// Bytes that one chip reads.
    pub once: u64,
    /// Bytes that several chips read on purpose, each counted once: how many chips, why, how many bytes.
    pub replicated: BTreeMap<(u32, Why), u64>,
}

/// Bytes that are read by a number of chips that is not the bundle's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The tensor.
    pub tensor: TensorId,
    /// From the file's start; of elements in blocks, all of the tensor's.
    pub bytes: Range<u64>,
    /// Chips that read them, or some elements of theirs.
    pub chips: u32,
    /// Chips that should; 0 where no weight takes them.
    pub expected: u32,
}

/// All chips' reading of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Tensors that some chip reads, in order.
    pub readings: Vec<Reading>,
    /// Tensors that no chip reads, in order.
    pub unused: Vec<TensorId>,
    /// Bytes of used tensors that too few or too many chips read.
    pub excess: Vec<Excess>,
    /// Bytes that the chips read together, those of several chips as often as they are read.
    pub bytes: u64,
}

impl Account {
    /// Whether every byte of every used tensor is read once, or by as many chips as hold it on purpose.
    pub fn holds(&self) -> bool {
        self.excess.is_empty()
    }
}

/// What the chips take of a tensor.
#[derive(Default)]
struct Taken {
    /// By chip.
    chips: BTreeMap<u32, Ranges>,
    /// On how many chips each range should be, from chip 0's and all others' loads.
    expected: BTreeMap<u32, Ranges>,
    /// Whether elements share bytes or are scales.
    blocks: bool,
    /// Of elements in blocks, what is taken of each of the model's tensors that are stored in this one.
    elements: BTreeMap<String, Takings>,
}

impl Loader<'_> {
    /// The account of all chips.
    ///
    /// # Errors
    /// As [`Loader::chip`].
    pub fn account(&self) -> Result<Account, LoadError> {
        let headers = self.checkpoint.headers();
        let chips = self.bundle.chips();
        let mut taken: BTreeMap<TensorId, Taken> = BTreeMap::new();
        for chip in 0..chips {
            for load in self.chip(chip)? {
                let load = load?;
                for (part, bytes) in load.parts.iter().enumerate() {
                    let of = taken.entry(bytes.tensor).or_default();
                    // A byte of MXFP4 is of two inputs.
                    let shared = load.stored.block_elements() > 1 || load.stored == Storage::U8;
                    of.blocks |= part > 0 || shared;
                    if part == 0 && shared {
                        let axes = [slice::from_ref(&load.experts), &load.rows, &load.columns];
                        of.elements.entry(load.tensor.clone()).or_default().add(chip, load.copies, axes);
                    }
                    let (own, all) = (of.chips.entry(chip).or_default(), of.expected.entry(load.copies).or_default());
                    own.extend(bytes.ranges.iter().cloned());
                    all.extend(bytes.ranges.iter().cloned());
                }
            }
        }
        let mut account = Account::default();
        for id in headers.ids() {
            let Some(taken) = taken.remove(&id) else {
                account.unused.push(id);
                continue;
            };
            account.tensor(id, self.checkpoint.extent(id), taken, chips);
        }
        Ok(account)
    }
}

impl Account {
    fn tensor(&mut self, tensor: TensorId, extent: Range<u64>, taken: Taken, chips: u32) {
        for Uneven { chips, expected } in taken.elements.values().filter_map(Takings::uneven) {
            self.excess.push(Excess { tensor, bytes: extent.clone(), chips, expected });
        }
        // Where the number of chips that read, or that should, changes.
        let mut changes: BTreeMap<u64, (i64, BTreeMap<u32, i64>)> = BTreeMap::new();
        for range in taken.chips.into_values().flat_map(|ranges| ranges.merged().into_vec()) {
            changes.entry(range.start).or_default().0 += 1;
            changes.entry(range.end).or_default().0 -= 1;
        }
        for (copies, ranges) in taken.expected {
            for range in ranges.merged().into_vec() {
                *changes.entry(range.start).or_default().1.entry(copies).or_default() += 1;
                *changes.entry(range.end).or_default().1.entry(copies).or_default() -= 1;
            }
        }
        let mut reading = Reading { tensor, once: 0, replicated: BTreeMap::new() };
        let (mut at, mut reads, mut should) = (extent.start, 0i64, BTreeMap::<u32, i64>::new());
        let ends = changes.into_iter().chain([(extent.end, Default::default())]);
        for (next, (more, copies)) in ends {
            let bytes = next - at;
            if bytes > 0 {
                let read = u32::try_from(reads).unwrap_or(0);
                let expected = should.iter().filter(|(_, loads)| **loads > 0).map(|(copies, _)| *copies).max();
                let expected = expected.unwrap_or(0);
                self.bytes += bytes * u64::from(read);
                let why = if read > expected {
                    taken.blocks.then_some(Why::Block)
                } else if read < expected {
                    None
                } else {
                    Some(if expected == chips { Why::Whole } else { Why::Groups })
                };
                match why.filter(|_| expected > 0) {
                    Some(_) if read == 1 => reading.once += bytes,
                    Some(why) => *reading.replicated.entry((read, why)).or_default() += bytes,
                    None => self.excess.push(Excess { tensor, bytes: at..next, chips: read, expected }),
                }
            }
            at = next;
            reads += more;
            for (copies, more) in copies {
                *should.entry(copies).or_default() += more;
            }
        }
        self.readings.push(reading);
    }
}
