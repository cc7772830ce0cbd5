//! See [`RouterOp`].

use super::attend::softmax;
use super::element_wise::rest_whole;
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::operation::{Operands, Operation, Words, expect_shape, wrong_sharding};
use super::sigmoid::sigmoid;
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chips, Data, Evaluate, Matrix};
use crate::spatial::{Emission, Primitive, Work};
use crate::spec::RouterScore;

/// The experts of each row, and their scores.
///
/// Scores are a softmax of the logits, a sigmoid of each, or a softmax of the chosen logits. Experts are chosen by score,
/// plus the correction where there is one; with groups, out of the kept groups of the greatest group scores (its best
/// expert's, or the sum of its two best's). Of equal ones the least comes first. The chosen scores, without correction, are divided
/// by their sum if normalised, and multiplied by the scale.
///
/// # Operands
/// `logits: [m, E]`, `correction: [1, E]` (a weight, or absent). Result `[m, 2 k]`, f32: a row's `k` ids, greatest score first, then
/// their `k` scores.
/// # Text
/// `router of logits with correction, top 8, score sigmoid, groups 8, kept 4, two best, normalised, scale 2.5`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouterOp {
    /// Experts a row, `k`.
    pub top: u32,
    /// What the scores are.
    pub score: RouterScore,
    /// Groups of experts, and how many of them are kept.
    pub groups: Option<(u32, u32)>,
    /// Whether a group's score is the sum of its two best (else its best).
    pub two_best: bool,
    /// Whether the chosen scores are divided by their sum.
    pub normalised: bool,
    /// Factor on the scores.
    pub scale: f32,
}

const NAMES: [&str; 2] = ["logits", "correction"];
const NORMALISED: u32 = 1;
const TWO_BEST: u32 = 2;

impl Operation for RouterOp {
    const CODE: u32 = logos_bundle::table::layout::op::ROUTER;
    const KEEPS_F32: bool = true;
    const FORM: Form = Form {
        name: "router",
        operands: &[operand(NAMES[0], OperandKind::Value), operand(NAMES[1], OperandKind::Weight)],
        optional: &[&[1]],
        text: &[
            Piece::Word("router"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Optional(0, &[Piece::Word("with"), Piece::Operand(1)]),
        ],
        attributes: &[
            attribute("top", 0, AttributeKind::Count),
            attribute("score", 1, AttributeKind::OneOf(&["softmax", "chosen", "sigmoid"])),
            attribute("groups", 2, AttributeKind::OptionalCount),
            attribute("kept", 3, AttributeKind::OptionalCount),
            attribute("two best", 4, AttributeKind::Bit(TWO_BEST)),
            attribute("normalised", 4, AttributeKind::Bit(NORMALISED)),
            attribute("scale", 5, AttributeKind::Real(Range::Any)),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        let score = match self.score {
            RouterScore::Softmax => 0,
            RouterScore::SoftmaxChosen => 1,
            RouterScore::Sigmoid => 2,
        };
        let (groups, kept) = self.groups.unwrap_or_default();
        let flag = |given: bool, bit: u32| if given { bit } else { 0 };
        let flags = flag(self.normalised, NORMALISED) | flag(self.two_best, TWO_BEST);
        [self.top, score, groups, kept, flags, self.scale.to_bits()]
    }

    fn from_attributes(words: Words) -> Self {
        RouterOp {
            top: words[0],
            score: match words[1] {
                0 => RouterScore::Softmax,
                1 => RouterScore::SoftmaxChosen,
                _ => RouterScore::Sigmoid,
            },
            groups: (words[2] != 0 || words[3] != 0).then_some((words[2], words[3])),
            two_best: words[4] & TWO_BEST != 0,
            normalised: words[4] & NORMALISED != 0,
            scale: f32::from_bits(words[5]),
        }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let logits = operands.at(0);
        let experts = logits.shape.cols;
        if let Some(correction) = operands.get(1) {
            expect_shape(NAMES[1], correction, Shape::matrix(1, experts))?;
        }
        let attribute = |name, expected: String, found: u32| {
            Err(Problem::Attribute { name, expected: expected.into(), found: found.to_string().into() })
        };
        let mut choices = experts;
        if let Some((groups, kept)) = self.groups {
            let least = if self.two_best { 2 } else { 1 };
            if groups == 0 || !experts.is_multiple_of(groups) || experts / groups < least {
                let expected = format!("a divisor of the {experts} experts that leaves {least} or more a group");
                return attribute("groups", expected, groups);
            }
            if kept == 0 || kept > groups {
                return attribute("kept", format!("1 to {groups}, the groups"), kept);
            }
            choices = experts / groups * kept;
        } else if self.two_best {
            return attribute("two best", "groups to choose by it".into(), TWO_BEST);
        }
        if self.top > choices {
            return attribute("top", format!("at most {choices}, the experts to choose from"), self.top);
        }
        let cols = self.top.checked_mul(2).ok_or(Problem::Overflow { what: "the result's width" })?;
        Ok(Shape::matrix(logits.shape.rows, cols))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let logits = operands.at(0);
        if logits.sharding != Sharding::Whole {
            return Err(wrong_sharding(Self::FORM.name, NAMES[0], logits, "whole"));
        }
        rest_whole(Self::FORM.name, &NAMES, 1, operands)?;
        Ok(Sharding::Whole)
    }
}

impl Evaluate for RouterOp {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (logits, correction) = (chip.real(0), chip.optional(1));
            let top = self.top as usize;
            let mut y = Matrix::zeros(logits.rows(), 2 * top);
            for row in 0..logits.rows() {
                let (ids, scores) = y.row_mut(row).split_at_mut(top);
                self.route(logits.row(row), correction.map(|correction| correction.row(0)), ids, scores);
            }
            y
        })
    }
}

impl RouterOp {
    /// Ids and scores of one row.
    fn route(&self, logits: &[f32], correction: Option<&[f32]>, ids: &mut [f32], scores: &mut [f32]) {
        let mut all = logits.to_vec();
        match self.score {
            RouterScore::Softmax => softmax(&mut all),
            RouterScore::SoftmaxChosen => {}
            RouterScore::Sigmoid => all.iter_mut().for_each(|score| *score = sigmoid(*score)),
        }
        let mut choice = all.clone();
        if let Some(correction) = correction {
            choice.iter_mut().zip(correction).for_each(|(score, correction)| *score += correction);
        }
        if let Some((groups, kept)) = self.groups {
            self.keep(&mut choice, groups as usize, kept as usize);
        }
        let chosen = greatest(&choice, ids.len());
        for ((id, score), &expert) in ids.iter_mut().zip(&mut *scores).zip(&chosen) {
            // Exact: a row has fewer experts than f32 counts.
            (*id, *score) = (expert as f32, all[expert]);
        }
        if self.score == RouterScore::SoftmaxChosen {
            softmax(scores);
        }
        if self.normalised {
            let least = if self.score == RouterScore::Sigmoid { 1e-20 } else { 0.0 };
            let sum = scores.iter().sum::<f32>() + least;
            scores.iter_mut().for_each(|score| *score /= sum);
        }
        scores.iter_mut().for_each(|score| *score *= self.scale);
    }

    /// Leaves the experts of the best groups alone to choose from.
    fn keep(&self, choice: &mut [f32], groups: usize, kept: usize) {
        let size = choice.len() / groups;
        let best = if self.two_best { 2 } else { 1 };
        let of_group = |group: &[f32]| greatest(group, best).into_iter().map(|expert| group[expert]).sum::<f32>();
        let scores: Vec<f32> = choice.chunks_exact(size).map(of_group).collect();
        let best = greatest(&scores, kept);
        for (group, experts) in choice.chunks_exact_mut(size).enumerate() {
            if !best.contains(&group) {
                experts.fill(f32::NEG_INFINITY);
            }
        }
    }
}

/// The places of the `count` greatest numbers, the greatest first, of equal ones the least place first.
fn greatest(numbers: &[f32], count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    places.sort_by(|&a, &b| numbers[b].total_cmp(&numbers[a]));
    places.truncate(count);
    places
}

impl Lower for RouterOp {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let logits = bound.operands[0];
        let experts = net.cx.cols(logits);
        let correction = bound.operands.get(1).map(|&correction| {
            let bytes = storage_bytes(experts, net.value(correction).storage);
            net.load(0, correction, 1, bytes)
        });
        let unit = net.cx.unit;
        let work = Work {
            a: net.rows.saturating_mul(experts).div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: (2 * u64::from(self.top) + OPS).div_ceil(u64::from(unit.chain)),
        };
        let router = net.compute(1, Primitive::Reduce, net.groups, work, Emission::Whole);
        net.feed(router, logits, Want::Hold)?;
        if let Some(load) = correction {
            net.feed_loaded(router, load, Want::HoldAll)?;
        }
        net.emit(bound.result, router);
        Ok(())
    }
}

/// Elementwise operations of the scores a logit; the choice takes two more a chosen expert.
const OPS: u64 = 8;

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::RouterOp;
    use crate::ops::form::MAX_OPERANDS;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for RouterOp {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            if firing.part == 0 {
                return firing.load_all(firing.operand(1)?);
            }
            let logits = Data::Real(firing.held(0)?);
            let correction = if firing.has_port(1) { Some(firing.numbers(1, 0)?) } else { None };
            let mut data = [None; MAX_OPERANDS];
            (data[0], data[1]) = (Some(&logits), correction.as_ref());
            let result = firing.evaluate(self, data, None)?;
            firing.emit(result);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: RouterOp =
        RouterOp { top: 2, score: RouterScore::Softmax, groups: None, two_best: false, normalised: false, scale: 1.0 };

    /// Ids and scores for logits whose exponentials are given.
    #[track_caller]
    fn routes(router: RouterOp, exponentials: &[f32], correction: Option<&[f32]>, ids: &[f32], scores: &[f32]) {
        let logits: Vec<f32> = exponentials.iter().map(|x| x.ln()).collect();
        let (mut found, mut of) = (vec![0.0; router.top as usize], vec![0.0; router.top as usize]);
        router.route(&logits, correction, &mut found, &mut of);
        assert_eq!(found, ids);
        for (found, expected) in of.iter().zip(scores) {
            assert!((found - expected).abs() < 1e-6, "{of:?} for {scores:?}");
        }
    }

    #[test]
    fn scores_are_of_all_or_of_the_chosen() {
        let exponentials = [1.0, 4.0, 2.0, 1.0];
        routes(PLAIN, &exponentials, None, &[1.0, 2.0], &[0.5, 0.25]);
        let normalised = RouterOp { normalised: true, scale: 3.0, ..PLAIN };
        routes(normalised, &exponentials, None, &[1.0, 2.0], &[2.0, 1.0]);
        let chosen = RouterOp { score: RouterScore::SoftmaxChosen, ..PLAIN };
        routes(chosen, &exponentials, None, &[1.0, 2.0], &[2.0 / 3.0, 1.0 / 3.0]);
        let sigmoid = RouterOp { score: RouterScore::Sigmoid, ..PLAIN };
        routes(sigmoid, &exponentials, None, &[1.0, 2.0], &[0.8, 2.0 / 3.0]);
        // Of equal ones the least.
        routes(RouterOp { top: 3, ..PLAIN }, &exponentials, None, &[1.0, 2.0, 0.0], &[0.5, 0.25, 0.125]);
    }

    #[test]
    fn a_correction_chooses_and_is_no_part_of_the_score() {
        let sigmoid = RouterOp { score: RouterScore::Sigmoid, ..PLAIN };
        let correction = [0.5, 0.0, 0.0, 0.2];
        routes(sigmoid, &[1.0, 4.0, 1.0, 1.0], Some(&correction), &[0.0, 1.0], &[0.5, 0.8]);
    }

    #[test]
    fn experts_of_groups_that_are_not_kept_are_not_chosen() {
        // Groups of two: the best expert is alone in its group, the third group has the best two.
        let exponentials = [1.0, 9.0, 5.0, 1.0, 6.0, 6.0];
        let grouped = RouterOp { groups: Some((3, 1)), ..PLAIN };
        routes(grouped, &exponentials, None, &[1.0, 0.0], &[9.0 / 28.0, 1.0 / 28.0]);
        let by_two = RouterOp { two_best: true, ..grouped };
        routes(by_two, &exponentials, None, &[4.0, 5.0], &[6.0 / 28.0; 2]);
        let two_of_three = RouterOp { groups: Some((3, 2)), top: 3, ..PLAIN };
        routes(two_of_three, &exponentials, None, &[1.0, 4.0, 5.0], &[9.0 / 28.0, 6.0 / 28.0, 6.0 / 28.0]);
    }
}
