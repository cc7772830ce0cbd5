//! Products and norms with their weights, as the blocks write them.

use super::{Draft, LinearNames, NormNames};
use crate::language::ast::{Axis, Shape, Sharding, ValueId};
use crate::ops::{LayerNorm, MatMul, Op, Plus, RmsNorm};
use crate::refusal::Refusal;
use crate::spec::{Linear, Norm, NormKind, Weight};

impl Draft<'_> {
    /// `x W + b`, output features in `parts`.
    pub(in crate::author) fn column_parallel(
        &mut self,
        names: &LinearNames,
        linear: &Linear,
        sharding: Sharding,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let w = self.matrix(names.0, linear, sharding)?;
        self.projected(names, (linear, w), sharding, x)
    }

    /// `x W + b`, whole on every chip. Its weight stays in the config's dtype: what a choice is made by is small, and decides.
    pub(in crate::author) fn choosing(
        &mut self,
        names: &LinearNames,
        linear: &Linear,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let form = (self.floats(&linear.weight), Sharding::Whole);
        let w = self.transposed(names.0, &linear.weight, Shape::matrix(linear.input, linear.out), form)?;
        self.projected(names, (linear, w), Sharding::Whole, x)
    }

    fn projected(
        &mut self,
        names: &LinearNames,
        (linear, w): (&Linear, ValueId),
        sharding: Sharding,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let LinearNames(_, bias, result) = *names;
        match &linear.bias {
            None => self.bind(result, MatMul, &[x, w]),
            Some(b) => {
                let b = self.vector(bias, b, linear.out, sharding)?;
                let product = self.bind(&format!("{result}m"), MatMul, &[x, w])?;
                self.bind(result, Plus, &[product, b])
            }
        }
    }

    /// `x W` of an `x` whose columns lie over the chips: over several, a partial sum.
    pub(in crate::author) fn row_product(
        &mut self,
        weight: &str,
        linear: &Linear,
        result: &str,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let w = self.matrix(weight, linear, self.split_rows())?;
        self.bind(result, MatMul, &[x, w])
    }

    /// A norm over the whole row (`heads` 0) or over each of `heads` heads; `width` columns are normalised together. A whole row
    /// that lies over the chips is normalised over them.
    pub(in crate::author) fn norm(
        &mut self,
        names: &NormNames,
        norm: &Norm,
        (heads, width): (u32, u32),
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let NormNames(weight, bias, result) = *names;
        let mut operands = vec![x];
        let over_chips = heads == 0 && self.columns_of(x) != Sharding::Whole;
        if let Some(w) = &norm.weight {
            operands.push(self.norm_weight(weight, w, (heads, width), x)?);
        }
        let eps = norm.eps;
        let op: Op = match (norm.kind, &norm.weight, &norm.bias) {
            (NormKind::Rms { .. }, _, Some(_)) => {
                return Err(self.refuse("an rmsnorm with a bias is no operation yet"));
            }
            (NormKind::Rms { one_plus }, weight, None) => {
                let offset = if one_plus && weight.is_some() { 1.0 } else { 0.0 };
                RmsNorm { eps, offset, heads, over_chips }.into()
            }
            (NormKind::Layer, _, _) if over_chips => {
                return Err(self.refuse("a layernorm of rows that lie over several chips is no operation yet"));
            }
            (NormKind::Layer, None, Some(_)) => {
                return Err(self.refuse("a layernorm with a bias and without a weight is no operation yet"));
            }
            (NormKind::Layer, _, b) => {
                if let Some(b) = b {
                    operands.push(self.norm_weight(bias, b, (heads, width), x)?);
                }
                LayerNorm { eps, heads }.into()
            }
        };
        self.bind(result, op, &operands)
    }

    /// How the columns of a value lie.
    fn columns_of(&self, x: ValueId) -> Sharding {
        match self.builder.value(x).map(|x| x.sharding) {
            Some(split @ Sharding::Split { axis: Axis::Columns, .. }) => split,
            Some(Sharding::Whole | Sharding::Partial | Sharding::Split { axis: Axis::Rows | Axis::Experts, .. })
            | None => Sharding::Whole,
        }
    }

    /// Of a whole row one as wide, which lies as the row does. Of heads one row for all, or, where the checkpoint stores more than a vector, a row for each, which lie as the heads do.
    fn norm_weight(
        &mut self,
        stem: &str,
        weight: &Weight,
        (heads, width): (u32, u32),
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let columns = self.columns_of(x);
        if heads == 0 {
            return self.vector(stem, weight, width, columns);
        }
        // A row a head stays one where there is a single head.
        if weight.tensor.shape.len() <= 1 {
            return self.vector(stem, weight, width, Sharding::Whole);
        }
        let sharding = match columns {
            Sharding::Split { parts, .. } => self.split(Axis::Rows, parts),
            Sharding::Whole | Sharding::Partial => Sharding::Whole,
        };
        self.untransposed(stem, weight, Shape::matrix(heads.max(1), width), (self.floats(weight), sharding))
    }
}
