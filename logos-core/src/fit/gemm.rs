//! A matrix product by itself, as a LOGOS program of one statement that the ordinary pipeline lowers, places and
//! certifies: what the fit of a product is read from.

use sha2::{Digest, Sha256};

use super::FitFacts;
use super::size::{bytes_of, word};
use crate::author::{Authored, Binding, Source};
use crate::certify::{Composition, Duty, compose};
use crate::chip::Chip;
use crate::emit::{self, Contents, Lowering};
use crate::kinds::{KindProgram, Role as ProgramRole};
use crate::language::ast::{Element, Role, Shape, Sharding, Storage};
use crate::language::{self, Builder, ProgramError};
use crate::lower::Homes;
use crate::ops::MatMul;
use crate::request::{Form, MOST_ROWS};
use crate::spatial::{SpatialProgram, Tier};
use crate::spec::Weight;
use crate::{At, Code, Refusal, compile};

/// Output tiles of the default workload, by rows and by columns.
///
/// Source: ours; eight tiles each way keep every unit of a target busy in turn and still fit a scratchpad.
const OUTPUT_TILES: u32 = 8;

/// Tiles of the contracted axis of the default workload.
///
/// Source: ours; four are enough for sums to be carried from tile to tile.
const K_TILES: u32 = 4;

/// Longest axis of a matrix.
///
/// Source: the limits of a certificate, rows and columns of a value.
const LONGEST: u32 = 1 << 30;

/// The product `x W` of an `m` by `k` input and a `k` by `n` weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemm {
    /// Rows of the input and the result.
    pub m: u32,
    /// Columns of the weight and the result.
    pub n: u32,
    /// Columns of the input, rows of the weight.
    pub k: u32,
    /// How the weight is stored; the input and the result are bf16 where it is in blocks, else likewise.
    pub precision: Storage,
}

/// A target's tile: of the result `rows` by `cols`, and `k` of the contracted axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tile {
    /// Rows: one pass of the array.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// Of the contracted axis.
    pub k: u32,
}

impl Tile {
    /// Of a chip.
    pub const fn of(chip: &Chip) -> Tile {
        let unit = chip.unit();
        Tile { rows: unit.array_rows, cols: unit.tile, k: unit.tile }
    }
}

impl Gemm {
    /// The storages that a weight may have.
    pub const PRECISIONS: &'static [Storage] =
        &[Storage::Q8_0, Storage::F8E4M3, Storage::Mxfp4, Storage::Bf16, Storage::F16, Storage::F32];

    /// An int8 product of 8 by 8 output tiles over 4 tiles of the contracted axis, in the chip's tile geometry.
    pub const fn of_tiles(chip: &Chip) -> Gemm {
        let tile = Tile::of(chip);
        Gemm {
            m: OUTPUT_TILES.saturating_mul(tile.rows),
            n: OUTPUT_TILES.saturating_mul(tile.cols),
            k: K_TILES.saturating_mul(tile.k),
            precision: Storage::Q8_0,
        }
    }

    /// How input and result are stored.
    pub const fn activations(&self) -> Storage {
        match self.precision {
            Storage::F32 => Storage::F32,
            Storage::F16 => Storage::F16,
            Storage::Bf16 | Storage::Q8_0 | Storage::I32 | Storage::F8E4M3 | Storage::Mxfp4 => Storage::Bf16,
        }
    }

    /// Multiply-accumulates.
    pub(super) fn macs(&self) -> Option<u64> {
        u64::from(self.m).checked_mul(u64::from(self.n))?.checked_mul(u64::from(self.k))
    }

    /// Bytes of the input, the weight and the result; none beyond 64 bits.
    pub(super) fn bytes(&self) -> Option<(u64, u64, u64)> {
        let bytes = |rows, cols, storage| bytes_of(Shape::matrix(rows, cols), storage).and_then(word).ok();
        let x = bytes(self.m, self.k, self.activations())?;
        let w = bytes(self.k, self.n, self.precision)?;
        Some((x, w, bytes(self.m, self.n, self.activations())?))
    }

    /// What is wrong with the sizes, each reason.
    fn wrong(&self) -> Vec<Refusal> {
        let refuse = |message: String| Refusal::new(Code::RequestForm, At::Request, message);
        let mut refusals = Vec::new();
        for (name, size, most) in [("m", self.m, MOST_ROWS), ("n", self.n, LONGEST), ("k", self.k, LONGEST)] {
            if size == 0 || size > most {
                refusals.push(refuse(format!("`{name}` is {size}, expected a size from 1 to {most}")));
            }
        }
        if !Self::PRECISIONS.contains(&self.precision) {
            let refusal = refuse(format!("a product of {} is not implemented", self.precision));
            let names: Vec<String> = Self::PRECISIONS.iter().map(|precision| format!("`{precision}`")).collect();
            refusals.push(refusal.help(format!("write one of {}", names.join(", "))));
        }
        // Scales beside the elements may have a last block that is not whole; blocks that hold their scale may not.
        let (block, _) = self.precision.block();
        if !self.k.is_multiple_of(block) {
            let refusal = refuse(format!("`k` is {}, and {} has blocks of {block} along it", self.k, self.precision));
            let near = self.k.checked_next_multiple_of(block).filter(|&near| near <= LONGEST);
            let near = near.map(|near| format!(", {near} for instance")).unwrap_or_default();
            refusals.push(refusal.help(format!("write a multiple of {block}{near}, or `bf16`")));
        }
        refusals
    }

    /// Lowers, places and certifies the product on one chip.
    ///
    /// # Errors
    /// Every size that is not possible; else what does not fit the chip, or does not lower.
    pub(super) fn certify(&self, chip: &Chip) -> Result<CertifiedGemm, Vec<Refusal>> {
        let wrong = self.wrong();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let too_large = || {
            let message = format!("a product of {} by {} by {} leaves 64 bits", self.m, self.n, self.k);
            vec![Refusal::new(Code::SizeOverflow, At::Request, message).help("take smaller sizes")]
        };
        let ((x, w, y), Some(_)) = (self.bytes().ok_or_else(too_large)?, self.macs()) else { return Err(too_large()) };
        let (memory_bytes, memory) = chip.main_memory();
        if w > memory_bytes {
            let message = format!("the weight does not fit the {memory} of one {}", chip.name);
            let refusal = Refusal::new(Code::FitMemory, At::Request, message);
            let refusal = refusal.fact("the weight", super::bytes(w.into()));
            return Err(vec![refusal.fact(memory, super::bytes(memory_bytes.into())).help("take smaller sizes")]);
        }
        let kind = self.program().map_err(|error| {
            vec![Refusal::new(Code::LowerStatement, At::Request, format!("the product is no program: {error}"))]
        })?;
        let form = Form::Forward { rows: self.m };
        let unit = chip.unit();
        let main = if unit.hbm_rate > 0 { Tier::Hbm } else { Tier::Ddr };
        let spatial = compose(&Composition {
            program: &kind.authored.program,
            unit: &unit,
            rows: u64::from(self.m),
            seqs: 1,
            duty: Duty::OnceAStep,
            homes: &Homes::all_in(main, compile::hidden_tier(chip, x.saturating_add(y), main)),
        })
        .map_err(|error| vec![compile::refusal(error, NAME, form, &kind, &[]).help("take smaller sizes")])?;
        let fit = FitFacts { weight_bytes: w, memory, memory_bytes, ..FitFacts::NOTHING };
        let words = emit::bundle(&Contents {
            model: NAME,
            chip,
            form,
            tp: 1,
            depth: 0,
            fit: &fit,
            programs: &[Lowering { kind: &kind, spatial: &spatial }],
            identity: &|_| kind.identity,
        })
        .map_err(|refusal| vec![refusal])?;
        compile::verify(&words, NAME).map_err(|refusal| vec![refusal])?;
        Ok(CertifiedGemm { spatial, words })
    }

    /// The program, as that of a step's last part.
    fn program(&self) -> Result<KindProgram, ProgramError> {
        let mut builder = Builder::new(1, self.activations());
        let matrix = |rows, cols| Shape::matrix(rows, cols);
        let (real, whole) = (Element::Real, Sharding::Whole);
        let x = builder.declare("x", Role::Input, matrix(self.m, self.k), real, self.activations(), whole)?;
        let w = builder.declare("W", Role::Weight, matrix(self.k, self.n), real, self.precision, whole)?;
        let y = builder.bind("y", MatMul, &[x, w])?;
        builder.show(y)?;
        let program = builder.finish()?;
        let text = language::print(&program);
        let weight = Weight::whole("W".to_owned(), &[self.n, self.k]);
        let bindings = vec![
            Binding { value: x, name: "x".to_owned(), source: Source::Hidden },
            Binding {
                value: w,
                name: "W".to_owned(),
                source: Source::Weight { weight, transposed: true, bank: None, padding: 0 },
            },
        ];
        Ok(KindProgram {
            name: NAME.to_owned(),
            role: ProgramRole::Head,
            first_layer: None,
            layers: Vec::new(),
            identity: Sha256::digest(text.as_bytes()).into(),
            text,
            authored: Authored { program, bindings },
            exceptions: Vec::new(),
        })
    }
}

/// The name of the program and its bundle.
const NAME: &str = "gemm";

/// A product's lowering and its bundle, checked.
pub(super) struct CertifiedGemm {
    pub(super) spatial: SpatialProgram,
    pub(super) words: Vec<u32>,
}
