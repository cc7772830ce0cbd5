//! What the programs make together: their order, the layers that run them, how declared values are named and sliced
//! (rules 1 and 11), and what the chip's memories hold (rule 9).

use super::frame::Frame;
use super::ledger::{At, Ledger, equal, hold};
use super::program::{Program, role};
use super::{MAX_VALUES, SHAPE_LIMIT};
use crate::table::layout::{NONE, Part, storage};

/// Bytes a chip holds, added up over the programs.
pub(super) struct Totals {
    by_tier: [i128; 3],
    weights: i128,
    states: i128,
    caches: i128,
    /// Most scratchpad any program takes beside what stays.
    pub(super) scratch: i128,
}

impl Totals {
    pub(super) const NOTHING: Totals = Totals { by_tier: [0; 3], weights: 0, states: 0, caches: 0, scratch: 0 };

    /// Adds the weights and states of a program, once for every layer that runs it.
    pub(super) const fn add(&mut self, p: &Program<'_>) {
        let mut i = 0;
        while i < p.count {
            let v = &p.values[i];
            let weight = v.role == role::WEIGHT;
            if (weight || v.role == role::STATE) && !v.counted_elsewhere {
                let all = v.share * p.layers;
                if v.tier <= 2 {
                    self.by_tier[v.tier as usize] += all;
                }
                if weight {
                    self.weights += all;
                } else {
                    self.states += all;
                    self.caches += if v.cache { all } else { 0 };
                }
            }
            i += 1;
        }
    }

    /// Compares the sums with the deployment's words and the chip's memories.
    pub(super) const fn close(&self, f: &Frame<'_>, l: &mut Ledger) {
        let at = At(Part::Deployment as u32, 0);
        equal!(l, 9, at, self.weights, f.deployment.weight_bytes, "weight bytes of a chip");
        equal!(l, 9, at, self.states, f.deployment.state_bytes, "state bytes of a chip");
        equal!(l, 9, at, self.caches, f.deployment.kv_bytes, "KV cache bytes of a chip");
        let at = At(Part::Chip as u32, 0);
        let sram = self.by_tier[0] + self.scratch;
        hold!(l, 9, sram <= f.chip.bytes[0], at, f.chip.bytes[0], sram, "bytes in SRAM, at most");
        hold!(l, 9, self.by_tier[1] <= f.chip.bytes[1], at, f.chip.bytes[1], self.by_tier[1], "bytes in HBM, at most");
        hold!(l, 9, self.by_tier[2] <= f.chip.bytes[2], at, f.chip.bytes[2], self.by_tier[2], "bytes in DDR, at most");
    }
}

/// The order of the programs, and the layers.
pub(super) const fn layers(f: &Frame<'_>, l: &mut Ledger) {
    let n = f.layers.len();
    equal!(l, 1, At(Part::Deployment as u32, 0), n, f.deployment.layers as usize, "layers of the model");
    let programs = f.programs.len();
    // A layer names a layer program; the first layers of two programs stand in the programs' order.
    let mut next = 0;
    while next < programs && f.programs[next][4] == 0 {
        next += 1;
    }
    hold!(l, 1, next <= 1, At(Part::Programs as u32, 0), 1, next, "embed programs, at most");
    let mut i = 0;
    while i < n {
        let [k, ..] = f.layers[i];
        let at = At(Part::Layers as u32, i as u32);
        let [_, _, _, _, role, _, _, _, _, _, _, _, _, _, _, first] = f.programs[k as usize];
        equal!(l, 1, at, 1, role, "role of a layer's program");
        hold!(l, 1, first as usize <= i, at, i, first, "first layer that runs the program, at most");
        if first as usize == i {
            equal!(l, 1, at, next, k as usize, "program of a layer that is the first of its kind");
            next += 1;
        }
        i += 1;
    }
    let mut heads = 0;
    let mut i = next;
    while i < programs {
        equal!(l, 1, At(Part::Programs as u32, i as u32), 2, f.programs[i][4], "role of a program no layer runs");
        heads += 1;
        i += 1;
    }
    hold!(l, 1, heads <= 1, At(Part::Programs as u32, 0), 1, heads, "head programs, at most");
}

/// Layers that run a program: as many as it says.
pub(super) const fn runs(f: &Frame<'_>, index: usize, l: &mut Ledger) {
    let [_, _, _, _, role, layers, ..] = f.programs[index];
    let mut count = 0;
    if role == 1 {
        let n = f.layers.len();
        let mut i = 0;
        while i < n {
            if f.layers[i][0] as usize == index {
                count += 1;
            }
            i += 1;
        }
    } else {
        count = 1;
    }
    equal!(l, 1, At(Part::Programs as u32, index as u32), count, layers, "layers that run the program");
}

/// One binding for every declared value, of its role, and for a weight the stored indices it takes.
pub(super) const fn bindings(p: &Program<'_>, first: u32, count: u32, l: &mut Ledger) {
    let mut bound = [false; MAX_VALUES];
    let mut declared = 0;
    let mut i = 0;
    while i < p.count {
        if p.values[i].role != role::BOUND {
            declared += 1;
        }
        i += 1;
    }
    let mut i = first;
    while i < first + count {
        let [v, _, _, _, tensor, transposed, offset, run, stride, runs, axis0, axis1, class, ..] =
            p.frame.bindings[i as usize];
        let at = At(Part::Bindings as u32, i);
        let value = &p.values[v as usize];
        hold!(l, 1, !bound[v as usize], at, v, v, "the one binding of a value");
        bound[v as usize] = true;
        let expected = match value.role {
            role::WEIGHT => 0,
            role::STATE => 1,
            role::TABLE => 2,
            role::INPUT if value.storage == storage::I32 => 4,
            role::INPUT => 3,
            _ => NONE,
        };
        equal!(l, 1, at, expected, class, "class of the binding");
        if tensor != 0 {
            equal!(l, 11, at, role::WEIGHT, value.role, "role of a value a checkpoint holds");
            let (taken, other) = if transposed == 1 { (value.cols, value.rows) } else { (value.rows, value.cols) };
            equal!(l, 11, at, taken, run as i128 * runs as i128, "stored indices taken along axis 0");
            equal!(l, 11, at, other, axis1 as i128, "stored axis 1");
            hold!(l, 11, runs <= 1 || stride >= run, at, run, stride, "distance between runs, at least");
            let end = offset as i128 + (runs as i128 - 1) * stride as i128 + run as i128;
            let inside = runs > 0 && end <= axis0 as i128 && axis0 <= SHAPE_LIMIT;
            hold!(l, 11, inside, at, axis0, end, "end of the last run, at most");
        }
        i += 1;
    }
    equal!(l, 1, At(Part::Values as u32, p.first_value), declared, count, "bindings of the program");
}
