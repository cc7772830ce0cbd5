//! How a file that orders or changes a tensor's values differs from the model's own tensor.

pub(super) use logos_bundle::load::Order;

/// What the stored value is of the model's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Change {
    /// The same.
    #[default]
    None,
    /// One more: a norm's whole factor for its weight.
    PlusOne,
    /// `-exp` of it.
    NegativeExp,
}

impl Change {
    /// Back to the model's values.
    pub(super) fn undo(self, values: &mut [f32]) {
        match self {
            Change::None => {}
            Change::PlusOne => values.iter_mut().for_each(|value| *value -= 1.0),
            // In f64, so that the logarithm is the closest f32. Of what is no `-exp` it is no number, which reading finds.
            Change::NegativeExp => values.iter_mut().for_each(|value| *value = (-f64::from(*value)).ln() as f32),
        }
    }
}

/// A tensor's rows and columns within the stored ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrangement {
    /// Stored rows before the first.
    pub(super) first_row: usize,
    pub(super) rows: Order,
    pub(super) columns: Order,
    pub(super) change: Change,
}

impl Arrangement {
    /// Whether blocks of `size` elements along the columns stay whole, and values what they are.
    pub(super) fn keeps_blocks(&self, size: usize) -> bool {
        let columns = match self.columns {
            Order::AsStored => true,
            Order::Interleaved { .. } => false,
            Order::Tiled { start, run, .. } => start.is_multiple_of(size) && run.is_multiple_of(size),
        };
        columns && self.change == Change::None
    }

    /// Whether all values are stored consecutively as they are.
    pub(super) fn is_consecutive(&self) -> bool {
        self.rows == Order::AsStored && self.columns == Order::AsStored && self.change == Change::None
    }
}
