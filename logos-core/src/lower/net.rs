//! Building one section's net: operations add their stages part by part and say what feeds them.

use crate::language::ast::{Axis, Program, Role, Sharding, Storage, Value, ValueId};
use crate::spatial::{Edge, Emission, Flow, Primitive, Recurrence, Stage, StageId, Tier, Work};
use crate::spec::SCALE_BYTES;

use super::{Context, LowerError};

/// How a port takes what it is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// This many tokens a firing.
    Stream(u64),
    /// A group, held.
    Hold,
    /// All groups, held.
    HoldAll,
    /// Held in this many groups of the stage's own.
    HoldIn(u64),
}

/// Bytes of a token, of a group and of the whole value on an edge.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Token.
    pub token: u64,
    /// Group.
    pub group: u64,
    /// All groups.
    pub all: u64,
}

impl Slot {
    /// A value that is one token, whatever the port.
    pub const fn one(bytes: u64) -> Self {
        Slot { token: bytes, group: bytes, all: bytes }
    }
}

/// The net of one section under construction.
pub struct Net<'a> {
    /// Program-wide facts.
    pub cx: &'a Context<'a>,
    /// Rows of a group.
    pub rows: u64,
    /// Groups.
    pub groups: u64,
    /// Stages so far, in order.
    pub stages: Vec<Stage>,
    /// Edges so far, in order of consumer and port.
    pub edges: Vec<Edge>,
    /// For each stage the value whose tier it reads or writes.
    pub moves: Vec<Option<ValueId>>,
    statement: u32,
    emitter: Vec<Option<StageId>>,
    ports: u32,
    from_product: Vec<bool>,
}

impl<'a> Net<'a> {
    pub(super) fn new(cx: &'a Context<'a>, rows: u64, groups: u64) -> Self {
        Net {
            cx,
            rows,
            groups,
            stages: Vec::with_capacity(80),
            edges: Vec::with_capacity(120),
            moves: Vec::with_capacity(80),
            statement: 0,
            emitter: vec![None; cx.program.values.len()],
            ports: 0,
            from_product: vec![false; cx.program.values.len()],
        }
    }

    pub(super) fn begin(&mut self, statement: u32) {
        self.statement = statement;
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.cx.program
    }

    /// A value of the program.
    pub fn value(&self, id: ValueId) -> &'a Value {
        self.cx.program.value(id)
    }

    /// Whether a value is a weight.
    pub fn is_weight(&self, id: ValueId) -> bool {
        matches!(self.value(id).origin, crate::language::ast::Origin::Declared(Role::Weight))
    }

    /// Whether a value is a table that the host fills.
    pub fn is_table(&self, id: ValueId) -> bool {
        matches!(self.value(id).origin, crate::language::ast::Origin::Declared(Role::Table(_)))
    }

    /// Tokens of an activation's row on this chip.
    pub fn tiles(&self, id: ValueId) -> u64 {
        self.cx.tiles(id)
    }

    /// Columns of a token.
    pub fn tile(&self, id: ValueId) -> u64 {
        self.cx.tile[id.0 as usize]
    }

    /// Cycles of a map over a tile of `columns`: units along the lanes.
    pub fn lanes(&self, columns: u64, ops: u64) -> Work {
        let unit = self.cx.unit;
        Work {
            a: (self.rows * columns).div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: ops.div_ceil(u64::from(unit.chain)),
        }
    }

    /// Units of `columns` over the array's columns.
    pub fn columns(&self, columns: u64) -> u64 {
        columns.div_ceil(u64::from(self.cx.unit.array_columns))
    }

    /// Passes of `rows` over the array's rows.
    pub fn passes(&self, rows: u64) -> u64 {
        rows.div_ceil(u64::from(self.cx.unit.array_rows))
    }

    /// How a weight port takes its operand: a stream of tiles where each is used once, held where every group uses it.
    pub fn weight_port(&self) -> Want {
        if self.groups == 1 { Want::Stream(1) } else { Want::HoldAll }
    }

    /// Bytes of `n` elements in a storage.
    pub fn bytes(n: u64, storage: Storage) -> u64 {
        storage_bytes(n, storage)
    }

    fn push(&mut self, stage: Stage, moves: Option<ValueId>) -> StageId {
        let id = StageId(self.stages.len() as u32);
        self.stages.push(stage);
        self.moves.push(moves);
        self.ports = 0;
        id
    }

    /// Adds a stage that reads `value`'s tier.
    pub fn load(&mut self, part: u32, value: ValueId, firings: u64, bytes: u64) -> StageId {
        let tier = self.cx.tier(value);
        self.mover(part, Primitive::Load, Some((tier, value)), firings, bytes)
    }

    /// Adds a stage that reads `value`'s tier by ids.
    pub fn gather(&mut self, part: u32, value: ValueId, firings: u64, bytes: u64) -> StageId {
        let tier = self.cx.tier(value);
        self.mover(part, Primitive::Gather, Some((tier, value)), firings, bytes)
    }

    /// Adds a stage that writes a value to a tier.
    pub fn store(&mut self, part: u32, value: ValueId, tier: Tier, firings: u64, bytes: u64) -> StageId {
        self.mover(part, Primitive::Store, Some((tier, value)), firings, bytes)
    }

    /// Adds a stage that gives every chip what each of them has.
    pub fn exchange(&mut self, part: u32, firings: u64, bytes: u64, emission: Emission) -> StageId {
        let id = self.mover(part, Primitive::Collective, None, firings, bytes);
        self.stages[id.index()].emission = emission;
        id
    }

    /// Adds a stage that gives every chip the sum of what each of them has.
    pub fn all_reduce(&mut self, part: u32, firings: u64, bytes: u64, emission: Emission) -> StageId {
        let id = self.exchange(part, firings, bytes, emission);
        self.stages[id.index()].adds = true;
        id
    }

    fn mover(
        &mut self,
        part: u32,
        primitive: Primitive,
        place: Option<(Tier, ValueId)>,
        firings: u64,
        bytes: u64,
    ) -> StageId {
        let stage = Stage {
            bytes,
            tier: place.map(|(tier, _)| tier),
            ..self.idle(part, primitive, firings, Work { a: 1, b: 1, base: 0 }, Emission::Stream(1))
        };
        self.push(stage, place.map(|(_, value)| value))
    }

    /// Adds a stage that computes.
    pub fn compute(
        &mut self,
        part: u32,
        primitive: Primitive,
        firings: u64,
        work: Work,
        emission: Emission,
    ) -> StageId {
        let stage = self.idle(part, primitive, firings, work, emission);
        self.push(stage, None)
    }

    /// A stage before it has cells and times.
    fn idle(&self, part: u32, primitive: Primitive, firings: u64, work: Work, emission: Emission) -> Stage {
        Stage {
            statement: self.statement,
            part,
            primitive,
            firings,
            work,
            recurrence: Recurrence::None,
            emission,
            bytes: 0,
            adds: false,
            tier: None,
            split: (1, 1),
            site: 0,
            ii: 1,
            period: 1,
            start: 0,
            turn: None,
        }
    }

    /// Says what holds a stage back.
    pub fn recur(&mut self, stage: StageId, recurrence: Recurrence) {
        self.stages[stage.index()].recurrence = recurrence;
    }

    /// Says which stage emits a value in this section.
    pub fn emit(&mut self, value: ValueId, stage: StageId) {
        self.emitter[value.0 as usize] = Some(stage);
    }

    /// Whether a value streams from a product through elementwise stages alone: then the next product streams it
    /// too, and the two overlap tile by tile.
    pub fn is_from_product(&self, value: ValueId) -> bool {
        self.from_product[value.0 as usize]
    }

    /// Says that a value streams from a product.
    pub fn mark_from_product(&mut self, value: ValueId, yes: bool) {
        self.from_product[value.0 as usize] = yes;
    }

    /// Feeds the next port of `to` with an operand from the stage that emits it.
    ///
    /// # Errors
    /// [`LowerError::NoEmitter`] where nothing of this section does.
    pub fn feed(&mut self, to: StageId, value: ValueId, want: Want) -> Result<(), LowerError> {
        let Some(from) = self.emitter[value.0 as usize] else {
            return Err(LowerError::NoEmitter { value: self.value(value).name.clone() });
        };
        let slot = if self.stages[from.index()].primitive == Primitive::Load {
            self.loaded(from)
        } else {
            let b = self.value(value);
            let cols = self.cx.cols(value);
            Slot {
                token: storage_bytes(self.rows * self.tile(value), b.storage),
                group: storage_bytes(self.rows * cols, b.storage),
                all: storage_bytes(self.cx.rows_of_program * cols, b.storage),
            }
        };
        self.join(from, to, want, slot, Some(value))
    }

    /// Feeds the next port of `to` from the load or gather of the same statement.
    ///
    /// # Errors
    /// As [`Net::link`].
    pub fn feed_loaded(&mut self, to: StageId, from: StageId, want: Want) -> Result<(), LowerError> {
        let slot = self.loaded(from);
        self.join(from, to, want, slot, None)
    }

    /// Feeds the next port of `to` from an earlier part of the same statement.
    ///
    /// # Errors
    /// [`LowerError::Ragged`] where a hold's groups do not divide the firings.
    pub fn link(&mut self, to: StageId, from: StageId, want: Want, slot: Slot) -> Result<(), LowerError> {
        self.join(from, to, want, slot, None)
    }

    /// As [`Net::link`], for a result that leaves firing by firing beside the one that is emitted whole.
    ///
    /// # Errors
    /// As [`Net::link`].
    pub fn link_tokens(&mut self, to: StageId, from: StageId, want: Want, slot: Slot) -> Result<(), LowerError> {
        let emission = std::mem::replace(&mut self.stages[from.index()].emission, Emission::Stream(1));
        let joined = self.join(from, to, want, slot, None);
        self.stages[from.index()].emission = emission;
        joined
    }

    fn loaded(&self, from: StageId) -> Slot {
        let load = &self.stages[from.index()];
        let all = load.bytes.saturating_mul(load.firings);
        Slot { token: load.bytes, group: all / self.groups, all }
    }

    fn join(
        &mut self,
        from: StageId,
        to: StageId,
        want: Want,
        slot: Slot,
        value: Option<ValueId>,
    ) -> Result<(), LowerError> {
        let emission = self.stages[from.index()].emission;
        let (flow, slot_bytes) = match (want, emission) {
            (Want::Stream(q), Emission::Stream(p)) => (Flow::Stream { p: u64::from(p), q }, slot.token),
            (Want::Stream(_) | Want::Hold, _) if self.groups == 1 => (Flow::Hold { groups: 1 }, slot.group),
            (Want::Stream(_) | Want::Hold, _) => (Flow::Hold { groups: self.groups }, slot.group),
            (Want::HoldAll, _) => (Flow::Hold { groups: 1 }, slot.all),
            (Want::HoldIn(groups), _) => (Flow::Hold { groups }, slot.all / groups.max(1)),
        };
        if let Flow::Hold { groups } = flow {
            let (fu, fv) = (self.stages[from.index()].firings, self.stages[to.index()].firings);
            if !fu.is_multiple_of(groups) || !fv.is_multiple_of(groups) {
                return Err(LowerError::Ragged { groups, producer: fu, consumer: fv });
            }
        }
        if slot_bytes > u64::from(u32::MAX) {
            return Err(LowerError::Slot { bytes: slot_bytes });
        }
        let port = self.ports;
        self.ports += 1;
        self.edges.push(Edge { from, to, port, flow, slot_bytes, value: value.map(|v| v.0), capacity: 0, address: 0 });
        Ok(())
    }
}

/// Bytes of `n` elements in a storage; of F8_E4M3, of `n` in a column.
pub fn storage_bytes(n: u64, storage: Storage) -> u64 {
    matrix_bytes(n, 1, storage)
}

/// Bytes of a weight's elements in so many rows and columns. A scale of F8_E4M3 goes with the token that its block begins in.
pub fn matrix_bytes(rows: u64, cols: u64, storage: Storage) -> u64 {
    let (elements, bytes) = storage.block();
    let blocks = rows.saturating_mul(cols).div_ceil(u64::from(elements)).saturating_mul(u64::from(bytes));
    let Some((high, wide)) = storage.scaled() else { return blocks };
    let scales = rows.div_ceil(u64::from(high)).saturating_mul(cols.div_ceil(u64::from(wide)));
    blocks.saturating_add(scales.saturating_mul(SCALE_BYTES.into()))
}

/// The part of an axis one chip holds.
pub fn share(value: &Value, axis: Axis) -> u64 {
    let whole = match axis {
        Axis::Rows => value.shape.rows,
        Axis::Columns => value.shape.cols,
        Axis::Experts => value.shape.seqs,
    };
    match value.sharding {
        Sharding::Split { axis: cut, parts } if cut == axis => u64::from(whole) / u64::from(parts.max(1)),
        Sharding::Whole | Sharding::Partial | Sharding::Split { .. } => u64::from(whole),
    }
}
