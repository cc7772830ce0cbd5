//! Programs made at random: whatever the builder admits is kept, and what leads nowhere is led to a result.

use super::super::ast::{
    Axis, Element, Origin, Program, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Statement, Storage, ValueId,
};
use super::super::builder::Builder;
use crate::ops::*;
use crate::spec::{Activation, Pairing, RouterScore, Scaling, Temperature};

/// Marsaglia's xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// A positive f32 of any bits.
    fn real(&mut self) -> f32 {
        loop {
            let x = f32::from_bits(self.below(1 << 31) as u32);
            if x.is_finite() && x > 0.0 {
                return x;
            }
        }
    }
}

/// What a program is being made of.
struct Maker {
    random: Random,
    builder: Builder,
    chips: u32,
    rows: u32,
    seqs: u32,
    names: u32,
    values: Vec<ValueId>,
    pos: ValueId,
}

const HEADS: u32 = 8;
const WIDTH: u32 = 64;

/// The program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let chips = random.pick(&[1, 2, 4, 8]);
    let (seqs, tokens) = (random.pick(&[1, 2, 8]), random.pick(&[1, 3]));
    let mut builder = Builder::new(chips, random.pick(&[Storage::F32, Storage::F16, Storage::Bf16]));
    let (rows, whole) = (seqs * tokens, Sharding::Whole);
    let shape = Shape::matrix(rows, WIDTH);
    let x = builder.declare("x", Role::Input, shape, Element::Real, Storage::Bf16, whole).unwrap();
    let pos = Shape::matrix(rows, 1);
    let pos = builder.declare("pos", Role::Input, pos, Element::Int, Storage::I32, whole).unwrap();
    let mut maker = Maker { random, builder, chips, rows, seqs, names: 0, values: vec![x], pos };
    for _ in 0..24 {
        // What a refused operation declared would be refused at the end, as nothing reads it.
        let before = (maker.builder.clone(), maker.values.len());
        if maker.step().is_none() {
            maker.builder = before.0;
            maker.values.truncate(before.1);
        }
    }
    maker.finish()
}

impl Maker {
    fn name(&mut self) -> String {
        self.names += 1;
        let stem = self.random.pick(&["a", "an", "of", "W_", "matmul", "sum", "Let", "x__y", "_"]);
        format!("{stem}{}", self.names)
    }

    fn declare(&mut self, role: Role, shape: Shape, sharding: Sharding) -> Option<ValueId> {
        let storages = match role {
            Role::Weight => &[Storage::F32, Storage::F16, Storage::Bf16, Storage::Q8_0][..],
            Role::Input | Role::State | Role::Table(_) => &[Storage::F32, Storage::F16, Storage::Bf16],
        };
        let (name, storage) = (self.name(), self.random.pick(storages));
        self.builder.declare(name, role, shape, Element::Real, storage, sharding).ok()
    }

    fn bind(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> Option<ValueId> {
        let name = self.name();
        let result = self.builder.bind(name, op, operands).ok()?;
        self.values.push(result);
        Some(result)
    }

    /// Adds one operation; none if its operands do not suit it.
    fn step(&mut self) -> Option<ValueId> {
        let (x, y) = (self.random.pick(&self.values), self.random.pick(&self.values));
        let (shape, sharding) = self.builder.value(x).map(|value| (value.shape, value.sharding))?;
        let columns = Sharding::Split { axis: Axis::Columns, parts: self.chips };
        let (eps, real) = (self.random.real(), self.random.real());
        let heads = self.random.pick(&[0, HEADS]);
        let scale = if self.random.coin() { real } else { -real };
        match self.random.below(20) {
            0..4 => {
                let (cols, of_weight) = match sharding {
                    Sharding::Whole if self.random.coin() => (WIDTH * 2, columns),
                    Sharding::Whole => (WIDTH, Sharding::Whole),
                    Sharding::Split { parts, .. } => (WIDTH, Sharding::Split { axis: Axis::Rows, parts }),
                    Sharding::Partial => return None,
                };
                let weight = self.declare(Role::Weight, Shape::matrix(shape.cols, cols), of_weight)?;
                self.bind(MatMul, &[x, weight])
            }
            4 => self.bind(Plus, &[x, y]),
            5 => {
                let weight = self.declare(Role::Weight, Shape::matrix(1, shape.cols), sharding)?;
                self.bind(Times, &[x, weight])
            }
            6 => self.bind(Scaled { by: scale }, &[x]),
            7 => {
                let tanh = self.random.coin();
                let ops: [Op; 4] = [Gelu { tanh }.into(), Silu.into(), SoftCap { cap: real }.into(), Tanh.into()];
                let op = self.random.pick(&ops);
                self.bind(op, &[x])
            }
            8 => {
                let tanh = self.random.coin();
                self.bind(GeGlu { tanh }, &[x, y])
            }
            9 => {
                let offset = self.random.pick(&[0.0, 1.0, -0.0]);
                let over_chips = self.random.coin();
                self.bind(RmsNorm { eps, offset, heads, over_chips }, &[x])
            }
            10 => {
                let width = shape.cols / heads.max(1);
                let weight = self.declare(Role::Weight, Shape::matrix(1, width), Sharding::Whole)?;
                self.bind(LayerNorm { eps, heads }, &[x, weight])
            }
            11 => self.bind(L2Norm { eps, scale, heads: HEADS }, &[x]),
            12 => self.rope(x),
            13 => self.attention(x, y, shape, sharding),
            14 => self.conv(x, shape, sharding),
            15 => {
                let along = self.random.pick(&[Along::Rows, Along::Columns]);
                let (rows, cols) = match along {
                    Along::Rows => (shape.cols, WIDTH / HEADS),
                    Along::Columns => (shape.cols / HEADS, WIDTH),
                };
                let of_weight = match sharding {
                    Sharding::Split { parts, .. } => Sharding::Split { axis: along.axis(), parts },
                    Sharding::Whole | Sharding::Partial => Sharding::Whole,
                };
                let weight = self.declare(Role::Weight, Shape::matrix(rows, cols), of_weight)?;
                self.bind(HeadMatMul { heads: HEADS, along }, &[x, weight])
            }
            16 => {
                let temperature = Temperature { scale, floor: real };
                let role = Role::Table(Recipe::Temperature(temperature));
                let table = self.declare(role, Shape::matrix(self.rows, 1), Sharding::Whole)?;
                self.bind(RowScale, &[x, table])
            }
            17 => self.latent_attention(x),
            18 => self.mixture(x, shape),
            _ => self.bind(SumOverChips, &[x]).or_else(|| self.bind(GatherOverChips, &[x])),
        }
    }

    fn rope(&mut self, x: ValueId) -> Option<ValueId> {
        let rotary = self.random.pick(&[2, 4, 8]);
        let factor = self.random.real();
        let scaling = if self.random.coin() { Scaling::None } else { Scaling::Linear { factor } };
        let theta = f64::from(self.random.real());
        let mut table = |part| {
            let table = RopeTable { part, theta, rotary, scaling: scaling.clone() };
            self.declare(Role::Table(Recipe::Rope(table)), Shape::matrix(self.rows, rotary / 2), Sharding::Whole)
        };
        let (cos, sin) = (table(RopePart::Cos)?, table(RopePart::Sin)?);
        let pairing = self.random.pick(&[Pairing::Halves, Pairing::Adjacent]);
        self.bind(RopeOp { heads: HEADS, rotary, pairing }, &[x, cos, sin])
    }

    fn attention(&mut self, q: ValueId, v: ValueId, shape: Shape, sharding: Sharding) -> Option<ValueId> {
        let given = |random: &mut Random| random.coin().then(|| 1 + random.below(1 << 20) as u32);
        let op = AttentionOp {
            heads: HEADS,
            kv_heads: HEADS,
            scale: self.random.real(),
            window: given(&mut self.random),
            chunk: given(&mut self.random),
            softcap: self.random.coin().then(|| self.random.real()),
        };
        if self.random.coin() {
            return self.bind(op, &[q, q, v]);
        }
        let cache = Shape { seqs: self.seqs, rows: 128, cols: shape.cols };
        let keys = self.declare(Role::State, cache, sharding)?;
        let of_values = Shape { cols: self.builder.value(v)?.shape.cols, ..cache };
        let values = self.declare(Role::State, of_values, sharding)?;
        let pos = self.pos;
        let result = self.bind(op, &[q, q, v, pos, keys, values])?;
        self.builder.append(q, keys, pos).ok()?;
        self.builder.append(v, values, pos).ok()?;
        Some(result)
    }

    fn latent_attention(&mut self, q: ValueId) -> Option<ValueId> {
        let latent = Shape::matrix(self.rows, self.builder.value(q)?.shape.cols / HEADS);
        let mut key = || {
            let input = self.declare(Role::Input, latent, Sharding::Whole)?;
            self.bind(Silu, &[input])
        };
        let (c, p) = (key()?, key()?);
        let op = LatentAttentionOp { heads: HEADS, scale: self.random.real() };
        if self.random.coin() {
            return self.bind(op, &[q, q, c, p]);
        }
        let cache = Shape { seqs: self.seqs, rows: 128, cols: latent.cols };
        let latents = self.declare(Role::State, cache, Sharding::Whole)?;
        let positions = self.declare(Role::State, cache, Sharding::Whole)?;
        let pos = self.pos;
        let result = self.bind(op, &[q, q, c, p, pos, latents, positions])?;
        self.builder.append(c, latents, pos).ok()?;
        self.builder.append(p, positions, pos).ok()?;
        Some(result)
    }

    /// A router and its experts.
    fn mixture(&mut self, x: ValueId, shape: Shape) -> Option<ValueId> {
        let (count, cut) = (self.random.pick(&[1, 6, 8]), self.random.coin() && self.chips > 1);
        let top = 1 + self.random.below(u64::from(count)) as u32;
        let router = RouterOp {
            top,
            score: self.random.pick(&[RouterScore::Softmax, RouterScore::SoftmaxChosen, RouterScore::Sigmoid]),
            groups: self.random.coin().then(|| self.random.pick(&[(1, 1), (2, 1), (2, 2)])),
            two_best: self.random.coin(),
            normalised: self.random.coin(),
            scale: self.random.real(),
        };
        let weight = self.declare(Role::Weight, Shape::matrix(shape.cols, count), Sharding::Whole)?;
        let logits = self.bind(MatMul, &[x, weight])?;
        let mut operands = vec![logits];
        if self.random.coin() {
            operands.push(self.declare(Role::Weight, Shape::matrix(1, count), Sharding::Whole)?);
        }
        let r = self.bind(router, &operands)?;
        // Nothing but its experts may read it.
        self.values.pop();
        let clamped = Activation::SwigluClamped { alpha: self.random.real(), limit: self.random.real() };
        let op = ExpertsOp {
            count,
            top,
            activation: self.random.pick(&[Activation::Silu, Activation::Gelu, Activation::GeluTanh, clamped]),
            on_input: self.random.coin(),
        };
        let split = |axis, parts| if cut { Sharding::Split { axis, parts } } else { Sharding::Whole };
        let mut lie = [Axis::Columns, Axis::Rows].map(|axis| split(axis, self.chips));
        let mut of_down = Sharding::Whole;
        if self.random.coin() {
            of_down = split(Axis::Experts, self.chips);
            lie = [of_down; 2];
        }
        let [columns, rows] = lie;
        let mut bank = |rows, cols, sharding| self.declare(Role::Weight, Shape { seqs: count, rows, cols }, sharding);
        let (gate, up) = (bank(shape.cols, WIDTH, columns)?, bank(shape.cols, WIDTH, columns)?);
        let mut operands = vec![x, r, gate, up, bank(WIDTH, shape.cols, rows)?];
        let biases = [bank(1, WIDTH, columns)?, bank(1, WIDTH, columns)?, bank(1, shape.cols, of_down)?];
        operands.extend(biases);
        self.bind(op, &operands)
    }

    fn conv(&mut self, x: ValueId, shape: Shape, sharding: Sharding) -> Option<ValueId> {
        let op = CausalConv { taps: self.random.pick(&[2, 4]), silu: self.random.coin() };
        let taps = self.declare(Role::Weight, Shape::matrix(op.taps, shape.cols), sharding)?;
        if self.random.coin() {
            return self.bind(op, &[x, taps]);
        }
        let state = Shape { seqs: self.seqs, rows: op.taps - 1, cols: shape.cols };
        let state = self.declare(Role::State, state, sharding)?;
        self.bind(op, &[x, taps, state])
    }

    /// Leads every bound value that nothing uses to a `Show`, over a collective where it is not whole.
    fn finish(mut self) -> Program {
        let unused = |maker: &Maker| {
            let used = maker.builder.used();
            let bound =
                |id: &ValueId| maker.builder.value(*id).is_some_and(|value| matches!(value.origin, Origin::Bound(_)));
            maker.values.iter().copied().filter(bound).find(|id| !used.contains(id))
        };
        if self.values.len() == 1 {
            let x = self.values[0];
            self.bind(Silu, &[x]).unwrap();
        }
        while let Some(id) = unused(&self) {
            let sharding = self.builder.value(id).unwrap().sharding;
            match sharding {
                Sharding::Whole => self.builder.show(id).unwrap(),
                Sharding::Partial => {
                    self.bind(SumOverChips, &[id]).unwrap();
                }
                Sharding::Split { .. } => {
                    self.bind(GatherOverChips, &[id]).unwrap();
                }
            }
        }
        self.builder.finish().unwrap()
    }
}

impl Builder {
    /// Every value that a statement uses.
    fn used(&self) -> Vec<ValueId> {
        let mut used = Vec::new();
        for statement in self.statements() {
            match statement {
                Statement::Let { operands, .. } => used.extend(operands),
                Statement::Append { value, .. } | Statement::Show { value } => used.push(*value),
            }
        }
        used
    }
}
