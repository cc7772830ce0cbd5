//! What a user asks for: a model, a chip and named deployments. The macro, the build helper and the command make the
//! same value, so the same request gives the same bytes from each.

mod check;
mod name;
pub mod require;

use std::borrow::Cow;

use crate::Refusal;
use crate::chip::{self, Chip};
use crate::shard;
use crate::spec::{ExpertSplit, ModelSpec, Vocabulary};

pub(crate) use check::without_experts;
pub use check::{MOST_ROWS, check, check_deployment, check_names, check_requirements};
pub use name::misnamed;
pub use require::Requirement;

/// A form of deployment with its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One stateless pass over `rows` tokens of one sequence; the first hidden state is an input.
    Forward {
        /// Tokens.
        rows: u32,
    },
    /// One token of each of `batch` sequences, over `ctx` positions of carried state.
    Decode {
        /// Context, positions.
        ctx: u32,
        /// Sequences.
        batch: u32,
    },
    /// `chunk` tokens of each of `batch` sequences, over the decode step's own carried state.
    Prefill {
        /// Context, positions.
        ctx: u32,
        /// Tokens of each sequence in a step.
        chunk: u32,
        /// Sequences.
        batch: u32,
    },
}

impl Form {
    /// Sequences of a step.
    pub const fn sequences(self) -> u32 {
        match self {
            Form::Forward { .. } => 1,
            Form::Decode { batch, .. } | Form::Prefill { batch, .. } => batch,
        }
    }

    /// Tokens of each sequence in a step.
    pub const fn tokens(self) -> u32 {
        match self {
            Form::Forward { rows } => rows,
            Form::Decode { .. } => 1,
            Form::Prefill { chunk, .. } => chunk,
        }
    }

    /// Rows of an activation, sequence by sequence the tokens of each; none where they leave 32 bits.
    pub const fn rows(self) -> Option<u32> {
        self.sequences().checked_mul(self.tokens())
    }

    /// Positions of carried state; none of a forward step, which is stateless.
    pub const fn context(self) -> Option<u32> {
        match self {
            Form::Forward { .. } => None,
            Form::Decode { ctx, .. } | Form::Prefill { ctx, .. } => Some(ctx),
        }
    }
}

/// A named deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentRequest {
    /// The constant's name, `DECODE`.
    pub name: String,
    /// Form and sizes.
    pub form: Form,
    /// Tensor-parallel width, chips; where it is not given, the widest that the model admits within the chip's rack: see
    /// [`DeploymentRequest::at_width`].
    pub tp: Option<u32>,
    /// How routed experts lie over the chips.
    pub experts: ExpertSplit,
    /// What has to hold of it, or it is refused.
    pub require: Vec<Requirement>,
}

impl DeploymentRequest {
    /// A deployment without options beyond its width.
    pub fn new(name: impl Into<String>, form: Form, tp: Option<u32>) -> Self {
        DeploymentRequest { name: name.into(), form, tp, experts: ExpertSplit::Columns, require: Vec::new() }
    }

    /// The model as the deployment's options cut it.
    pub fn of<'s>(&self, spec: &'s ModelSpec) -> Cow<'s, ModelSpec> {
        if spec.expert_split == self.experts {
            return Cow::Borrowed(spec);
        }
        Cow::Owned(ModelSpec { expert_split: self.experts, ..spec.clone() })
    }

    /// The width, once there is one: 1 where none is given.
    pub fn chips(&self) -> u32 {
        self.tp.unwrap_or(1)
    }

    /// The same deployment with a width: its own, or the widest that the model admits within the rack the vendor ships (a node, where none is
    /// tabulated; one chip, where no rate between chips is known). What the rest of the rack can do is serve replicas.
    #[must_use]
    pub fn at_width(&self, spec: &ModelSpec, chip: &Chip) -> DeploymentRequest {
        let widest = || shard::widths(spec, chip.tensor_parallel_width()).last().copied().unwrap_or(1);
        DeploymentRequest { tp: Some(self.tp.unwrap_or_else(widest)), ..self.clone() }
    }
}

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Weights {
    /// Every weight in the config's own dtype.
    #[default]
    Config,
    /// Every projection as Q8_0 but those that experts are chosen by; the rest in the config's dtype.
    Q8_0,
}

impl Weights {
    /// The names of the storages, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["config", "q8_0"];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Weights::Config => "config",
            Weights::Q8_0 => "q8_0",
        }
    }

    /// The storage of a name.
    pub fn from_name(name: &str) -> Option<Weights> {
        match name {
            "config" => Some(Weights::Config),
            "q8_0" => Some(Weights::Q8_0),
            _ => None,
        }
    }
}

/// A checkpoint's description, as `cargo logos describe` writes it.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// The file's name, for refusals.
    pub file: &'a str,
    /// Its bytes.
    pub text: &'a [u8],
}

/// The chip of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipRequest<'a> {
    /// One that comes with the compiler, by name.
    Named(&'a str),
    /// One of the user's own: a chip file, see [`Chip::read`].
    File {
        /// The file's name, for refusals.
        file: &'a str,
        /// Its bytes.
        text: &'a [u8],
    },
}

impl<'a> From<&'a str> for ChipRequest<'a> {
    fn from(name: &'a str) -> Self {
        ChipRequest::Named(name)
    }
}

impl ChipRequest<'_> {
    /// The chip asked for.
    ///
    /// # Errors
    /// As [`chip::lookup`] or [`Chip::read`].
    pub fn chip(&self) -> Result<Cow<'static, Chip>, Vec<Refusal>> {
        match *self {
            ChipRequest::Named(name) => chip::lookup(name).map(Cow::Borrowed).map_err(|refusal| vec![refusal]),
            ChipRequest::File { file, text } => Chip::read(file, text).map(Cow::Owned),
        }
    }
}

/// A whole request.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The model's name, for people (the module's name, or the config's folder).
    pub model: &'a str,
    /// The bytes of `config.json`.
    pub config: &'a [u8],
    /// The chip.
    pub chip: ChipRequest<'a>,
    /// Storage of the weights.
    pub weights: Weights,
    /// The checkpoint that the model is held to, and whose storage each weight keeps; where there is one, `weights` is
    /// [`Weights::Config`].
    pub checkpoint: Option<Description<'a>>,
    /// Whether the vocabulary is padded to lie over the chips.
    pub vocabulary: Vocabulary,
    /// The deployments, in order.
    pub deployments: &'a [DeploymentRequest],
}
