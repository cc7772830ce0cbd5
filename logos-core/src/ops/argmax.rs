//! See [`ArgMax`].

use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::operation::{Operands, Operation, Words, wrong_sharding};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Slot, Want};
use crate::reference::{Chips, Data, Evaluate};
use crate::spatial::{Emission, Primitive, Work};

/// The column of the largest element of each row; the lowest of equals. Over the chips where the operand is split.
///
/// # Operands
/// `x: [m, n]`. Result `[m, 1]` of Int.
/// # Text
/// `argmax of x`; `argmax of x, below 50257` where the columns from there on stand for nothing, and are not chosen.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ArgMax {
    /// Columns of the whole row that are chosen from, the first; all of them where it is not given.
    pub below: Option<u32>,
}

impl Operation for ArgMax {
    const CODE: u32 = logos_bundle::table::layout::op::ARGMAX;
    const FORM: Form = Form {
        name: "argmax",
        operands: &[operand("x", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("argmax"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[attribute("below", 0, AttributeKind::OptionalCount)],
        result: Element::Int,
    };

    fn attributes(&self) -> Words {
        [self.below.unwrap_or(0), 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        ArgMax { below: (words[0] != 0).then_some(words[0]) }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let shape = operands.at(0).shape;
        if let Some(found) = self.below.filter(|below| !(1..shape.cols).contains(below)) {
            return Err(Problem::Attribute {
                name: "below",
                expected: format!("above 0 and below the {} columns of x", shape.cols).into(),
                found: found.to_string().into(),
            });
        }
        Ok(Shape::matrix(shape.rows, 1))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (x, chips) = (operands.at(0), operands.chips());
        match x.sharding {
            Sharding::Whole => Ok(Sharding::Whole),
            Sharding::Split { axis: Axis::Columns, parts } if parts == chips => Ok(Sharding::Whole),
            Sharding::Split { .. } | Sharding::Partial => {
                Err(wrong_sharding(Self::FORM.name, "x", x, format!("whole or split columns {chips} ways")))
            }
        }
    }
}

impl ArgMax {
    /// The first column that is not chosen.
    fn end(&self) -> u32 {
        self.below.unwrap_or(u32::MAX)
    }
}

impl Evaluate for ArgMax {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        let shares = chips.all(0);
        let split = chips.value(0).sharding != Sharding::Whole;
        // Whole, every chip finds the same; split, the chips' parts follow each other.
        let held = if split { &shares[..] } else { &shares[..1] };
        let mut best = vec![(f32::NEG_INFINITY, 0); held[0].rows()];
        let mut first = 0;
        for share in held {
            for (row, best) in best.iter_mut().enumerate() {
                for (column, &x) in (first..self.end()).zip(share.row(row)) {
                    if x > best.0 {
                        *best = (x, column);
                    }
                }
            }
            first += share.cols() as u32;
        }
        chips.same(Data::Int(best.into_iter().map(|(_, column)| column).collect()))
    }
}

impl Lower for ArgMax {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let x = bound.operands[0];
        let fold = net.compute(
            0,
            Primitive::Reduce,
            net.tiles(x) * net.groups,
            net.lanes(net.tile(x), FOLD_OPS),
            Emission::Whole,
        );
        net.feed(fold, x, Want::Stream(1))?;
        // The largest element and its column.
        let pair = net.rows * 8;
        let split = matches!(net.value(x).sharding, Sharding::Split { axis: Axis::Columns, .. });
        if !split {
            net.emit(bound.result, fold);
            return Ok(());
        }
        let chips = u64::from(net.program().chips);
        let gather = net.exchange(1, net.groups, pair, Emission::Whole);
        net.link(gather, fold, Want::Hold, Slot::one(pair))?;
        let unit = net.cx.unit;
        let work = Work {
            a: (net.rows * chips).div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: FOLD_OPS.div_ceil(u64::from(unit.chain)),
        };
        let last = net.compute(2, Primitive::Reduce, net.groups, work, Emission::Whole);
        net.link(last, gather, Want::Hold, Slot::one(pair * chips))?;
        net.emit(bound.result, last);
        Ok(())
    }
}

/// Compare and select.
const FOLD_OPS: u64 = 2;

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::ArgMax;
    use crate::reference::{Data, Matrix, beside};
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use crate::spatial::Primitive;
    use std::sync::Arc;

    impl Fire for ArgMax {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            if firing.primitive != Primitive::Reduce {
                return Err(Trouble::Part { part: firing.part });
            }
            if firing.part == 2 {
                let pairs = firing.held(0)?;
                let best = (0..pairs.rows()).map(|row| largest(pairs.row(row))).collect();
                firing.emit(Data::Int(best));
                return Ok(());
            }
            let x = firing.operand(0)?;
            let tile = firing.real(0)?;
            let columns = firing.tile_columns(x, firing.within());
            let first = firing.chip_columns(x) + columns.start;
            firing.observe(x, &tile, columns.start);
            let rows = tile.rows();
            let best = firing.memory_of_group(rows, 2);
            let fresh = columns.start == 0;
            for row in 0..rows {
                let [value, column] = best.row_mut(row) else { continue };
                if fresh {
                    (*value, *column) = (f32::NEG_INFINITY, first as f32);
                }
                for (at, &x) in (first..self.end() as usize).zip(tile.row(row)) {
                    if x > *value {
                        (*value, *column) = (x, at as f32);
                    }
                }
            }
            if !firing.is_last() || firing.hands_within() {
                return firing.pass_group();
            }
            let best = firing.memory.matrices.pop().ok_or(Trouble::Absent { what: "fold" })?;
            firing.emit(Data::Int((0..rows).map(|row| best.row(row)[1] as u32).collect()));
            Ok(())
        }

        /// The chips' pairs, in their order.
        fn combine(&self, part: u32, chips: &[Data]) -> Result<Data, Trouble> {
            let mut shares: Vec<&Matrix> = Vec::with_capacity(chips.len());
            for chip in chips {
                match chip {
                    Data::Real(pairs) => shares.push(pairs),
                    Data::Int(_) => return Err(Trouble::Part { part }),
                }
            }
            Ok(Data::Real(Arc::new(beside(&shares))))
        }
    }

    /// The column of the largest of (element, column) pairs; of equals the first chip's, whose columns come first.
    fn largest(pairs: &[f32]) -> u32 {
        let mut best = (f32::NEG_INFINITY, 0);
        for pair in pairs.as_chunks::<2>().0 {
            if pair[0] > best.0 {
                best = (pair[0], pair[1] as u32);
            }
        }
        best.1
    }
}
