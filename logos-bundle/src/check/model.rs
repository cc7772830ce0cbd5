//! What the programs make together: their order, the layers that run them, the hidden state they hand on (rule 1), and what
//! the chip's memories hold (rule 9).

use super::frame::Frame;
use super::ledger::{At, Ledger, count, each, equal, hold, holds, part};
use super::program::{Program, Value, role};

/// Bytes a chip holds, added up over the programs, and the hidden state that goes from one to the next.
pub(super) struct Totals {
    weights: [i128; 3],
    states: [i128; 3],
    caches: i128,
    /// Most scratchpad any program takes beside what stays.
    pub(super) scratch: i128,
    /// Rows, columns, storage and tier of the hidden state; no rows before the first program that has one.
    hidden: (i128, i128, u32, u32),
}

impl Totals {
    pub(super) const NOTHING: Totals =
        Totals { weights: [0; 3], states: [0; 3], caches: 0, scratch: 0, hidden: (0, 0, 0, 0) };

    /// What a program takes and shows of the hidden state is what the program before it does.
    pub(super) const fn hands_on(&mut self, p: &Program<'_>, l: &mut Ledger) {
        if p.role != 0 && p.inputs > 0 {
            self.hidden(&p.values[p.input], p.value_at(p.input), l);
        }
        if p.role != 2 && p.shows > 0 {
            self.hidden(&p.values[p.shown], p.value_at(p.shown), l);
        }
    }

    const fn hidden(&mut self, v: &Value, at: At, l: &mut Ledger) {
        let (rows, cols, storage, tier) = self.hidden;
        if rows == 0 {
            self.hidden = (v.rows, v.cols, v.storage, v.tier);
            return;
        }
        equal!(l, 9, at, tier, v.tier, "tier of the hidden state");
        holds!(l, 1 * 3, at,
            rows == v.rows => rows, v.rows, "rows of the hidden state";
            cols == v.cols => cols, v.cols, "columns of the hidden state";
            storage == v.storage => storage, v.storage, "storage of the hidden state";
        );
    }

    /// Adds the weights and states of a program, once for every layer that runs it.
    pub(super) const fn add(&mut self, p: &Program<'_>) {
        let mut i = 0;
        while i < p.count {
            let v = &p.values[i];
            let weight = v.role == role::WEIGHT;
            // A tier beyond the three is refused with its row; it is in none of the sums.
            if (weight || v.role == role::STATE) && !v.counted_elsewhere && v.tier <= 2 {
                let (all, tier) = (v.share * p.layers, v.tier as usize);
                if weight {
                    self.weights[tier] += all;
                } else {
                    self.states[tier] += all;
                    self.caches += if v.cache { all } else { 0 };
                }
            }
            i += 1;
        }
    }

    /// Compares the sums with the deployment's words and the chip's memories.
    pub(super) const fn close(&self, f: &Frame<'_>, l: &mut Ledger) {
        let at = At(part::DEPLOYMENT, 0);
        let ([sram_w, hbm_w, ddr_w], [sram_s, hbm_s, ddr_s]) = (self.weights, self.states);
        let d = &f.deployment;
        let [_, hbm, ddr] = f.chip.bytes;
        equal!(l, 9, at, sram_w + hbm_w + ddr_w, d.weight_bytes, "weight bytes of a chip");
        equal!(l, 9, at, sram_s + hbm_s + ddr_s, d.state_bytes, "state bytes of a chip");
        equal!(l, 9, at, self.caches, d.kv_bytes, "KV cache bytes of a chip");
        let beside = if hbm > 0 { ddr_w } else { 0 };
        equal!(l, 9, at, beside, d.ddr_weight_bytes, "weight bytes of a chip in DDR");
        equal!(l, 9, at, sram_s, d.sram_state_bytes, "state bytes of a chip in SRAM");
        self.fits(f, at, l);
        let at = At(part::CHIP, 0);
        let sram = sram_w + sram_s + self.scratch;
        hold!(l, 9, sram <= f.chip.bytes[0], at, f.chip.bytes[0], sram, "bytes in SRAM, at most");
        hold!(l, 9, hbm_w + hbm_s <= hbm, at, hbm, hbm_w + hbm_s, "bytes in HBM, at most");
        hold!(l, 9, ddr_w + ddr_s <= ddr, at, ddr, ddr_w + ddr_s, "bytes in DDR, at most");
    }
}

impl Totals {
    /// How many sequences the main memory holds beside the weights in it; a forward step carries none.
    const fn fits(&self, f: &Frame<'_>, at: At, l: &mut Ledger) {
        let d = &f.deployment;
        let main = if f.chip.bytes[1] > 0 { 1 } else { 2 };
        let [sram, hbm, ddr] = self.states;
        let (free, sequence) = (f.chip.bytes[main] - self.weights[main], (sram + hbm + ddr) / d.seqs);
        let most = u32::MAX as i128;
        let fit = if d.form == 0 || free < 0 {
            0
        } else if sequence == 0 || free / sequence > most {
            most
        } else {
            free / sequence
        };
        equal!(l, 9, at, fit, d.max_seqs, "sequences that fit, at most");
        let least = if d.form == 0 { d.max_ctx == 0 } else { d.max_ctx >= d.ctx };
        hold!(l, 9, least, at, d.ctx, d.max_ctx, "context that fits, at least (0 of a forward step)");
    }
}

/// The order of the programs, and the layers.
pub(super) const fn layers(f: &Frame<'_>, l: &mut Ledger) {
    let n = f.layers.len();
    let d = &f.deployment;
    let ctx = if d.form == 0 { d.ctx == 0 } else { d.tokens <= d.ctx };
    holds!(l, 1 * 3, At(part::DEPLOYMENT, 0),
        n == d.layers as usize => n, d.layers, "layers of the model";
        d.form != 0 || d.seqs == 1 => 1, d.seqs, "sequences of a forward step";
        ctx => d.tokens, d.ctx, "context, at least (0 of a forward step)";
    );
    let programs = f.programs.len();
    // A layer names a layer program; the first layers of two programs stand in the programs' order.
    let mut next = 0;
    while next < programs && f.programs[next][4] == 0 {
        next += 1;
    }
    hold!(l, 1, next <= 1, At(part::PROGRAMS, 0), 1, next, "embed programs, at most");
    count!(l, n, 1 * 2);
    let mut i = 0;
    while i < n {
        let row = f.layers[i];
        let [k, ..] = row;
        let row = f.programs[k as usize];
        let [_, _, _, _, role, _, _, _, _, _, _, _, _, _, _, first] = row;
        each!(l, 1 * 2, At(part::LAYERS, i as u32),
            role == 1 => 1, role, "role of a layer's program";
            first as usize <= i => i, first, "first layer that runs the program, at most";
        );
        if first as usize == i {
            equal!(
                l,
                1,
                At(part::LAYERS, i as u32),
                next,
                k as usize,
                "program of a layer that is the first of its kind"
            );
            next += 1;
        }
        i += 1;
    }
    let mut heads = 0;
    let mut i = next;
    while i < programs {
        equal!(l, 1, At(part::PROGRAMS, i as u32), 2, f.programs[i][4], "role of a program no layer runs");
        heads += 1;
        i += 1;
    }
    hold!(l, 1, heads <= 1, At(part::PROGRAMS, 0), 1, heads, "head programs, at most");
}

/// Layers that run a program: as many as it says.
pub(super) const fn runs(f: &Frame<'_>, index: usize, l: &mut Ledger) {
    let row = f.programs[index];
    let [_, _, _, _, role, layers, .., first] = row;
    let at = At(part::PROGRAMS, index as u32);
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
        equal!(l, 1, at, 0, first, "first layer of a program no layer runs");
        count = 1;
    }
    equal!(l, 1, at, count, layers, "layers that run the program");
}
