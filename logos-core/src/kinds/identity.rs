//! Which cut of which model a program is.

use sha2::{Digest, Sha256};

use crate::author::Part;
use crate::request::{Form, Weights};
use crate::spec::ModelSpec;

/// The identities of the cuts of one step: SHA-256 of the specification's digest and the cut.
///
/// The hashed message is the 32 bytes of [`ModelSpec::digest`], then, little endian: the form (one byte: 0
/// forward, 1 decode, 2 prefill of one sequence, 3 of more) with its two sizes (rows and 0; context and batch; context and chunk),
/// the width, the weights (one byte: 0 as in the config, 1 Q8_0), and the part (one byte: 0 embed, 1 layer, 2 head) with the layer;
/// after them, in form 3 alone, the sequences. At 55 bytes at most it is a single block of SHA-256, so that a layer's identity costs one.
#[derive(Clone, Debug)]
pub struct Identities {
    spec: [u8; 32],
    step: [u8; 14],
    /// Of a prefill of several sequences how many.
    batch: Option<u32>,
}

impl Identities {
    /// Those of a step of a model.
    pub fn new(spec: &ModelSpec, form: Form, tp: u32, weights: Weights) -> Self {
        let (code, a, b, batch) = match form {
            Form::Forward { rows } => (0u8, rows, 0, None),
            Form::Decode { ctx, batch } => (1, ctx, batch, None),
            Form::Prefill { ctx, chunk, batch: 1 } => (2, ctx, chunk, None),
            Form::Prefill { ctx, chunk, batch } => (3, ctx, chunk, Some(batch)),
        };
        let weights = match weights {
            Weights::Config => 0u8,
            Weights::Q8_0 => 1,
        };
        let mut step = [0; 14];
        step[0] = code;
        step[1..5].copy_from_slice(&a.to_le_bytes());
        step[5..9].copy_from_slice(&b.to_le_bytes());
        step[9..13].copy_from_slice(&tp.to_le_bytes());
        step[13] = weights;
        Identities { spec: spec.digest(), step, batch }
    }

    /// Of a part.
    pub fn of(&self, part: Part) -> [u8; 32] {
        let (code, layer) = match part {
            Part::Embed => (0u8, 0),
            Part::Layer(layer) => (1, layer),
            Part::Head => (2, 0),
        };
        let mut message = [0; 55];
        message[..32].copy_from_slice(&self.spec);
        message[32..46].copy_from_slice(&self.step);
        message[46] = code;
        message[47..51].copy_from_slice(&layer.to_le_bytes());
        let length = match self.batch {
            None => 51,
            Some(batch) => {
                message[51..].copy_from_slice(&batch.to_le_bytes());
                55
            }
        };
        Sha256::digest(&message[..length]).into()
    }

    /// Of a layer.
    pub fn layer(&self, layer: u32) -> [u8; 32] {
        self.of(Part::Layer(layer))
    }
}
