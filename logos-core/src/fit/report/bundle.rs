//! `logos.rdu.bundle`: what the words of a bundle say, exported from them; nothing reads it back.

use logos_bundle::table::layout::Part;
use logos_bundle::view::{Binding, Bundle, BundleError, Program, Sharding, Tier};

use super::frame::Document;
use super::program::{self, CertificateSummary, ProgramSummary};
use super::trace::{From, Row, Rows, derived};

/// The members of a bundle's document.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleDocument {
    /// What it is of.
    pub deployment: BundleDeployment,
    /// Bytes a chip.
    pub fit: BundleFit,
    /// The programs.
    pub programs: Vec<BundleProgram>,
    /// Which program runs each layer.
    pub layers: Vec<BundleLayer>,
    /// The certificate.
    pub certificate: CertificateSummary,
}

/// A deployment.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleDeployment {
    /// The model's name.
    pub model: String,
    /// `decode`, `prefill`, `forward`.
    pub form: String,
    /// The chip.
    pub chip: Option<String>,
    /// Chips.
    pub chips: u32,
    /// Context, positions; 0 of a forward step.
    pub ctx: u32,
    /// Sequences of a step.
    pub sequences: u32,
    /// Tokens of each in a step.
    pub tokens: u32,
    /// Bytes of the bundle.
    pub bundle_bytes: u64,
}

/// Bytes a chip.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleFit {
    /// Weights.
    pub weights_per_chip_bytes: u64,
    /// Of these in DDR beside an HBM.
    pub ddr_weight_bytes_per_chip: u64,
    /// Carried state.
    pub state_bytes_per_chip: u64,
    /// Of it caches.
    pub kv_cache_bytes_per_chip: u64,
    /// Of it in SRAM.
    pub sram_state_bytes_per_chip: u64,
    /// What the main memory has to hold.
    pub hbm_need_bytes: u64,
    /// The main memory.
    pub hbm_bytes_per_chip: u64,
    /// What is left of it.
    pub hbm_headroom_bytes: i64,
    /// Whether it fits, beside the experts that lie in DDR.
    pub fits: bool,
    /// Whether HBM alone holds everything.
    pub hbm_fit: bool,
    /// Largest context that fits.
    pub max_ctx_in_hbm: u32,
    /// Most sequences that fit.
    pub max_sequences: u32,
}

/// A program and where its declared values come from.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleProgram {
    /// What it consists of.
    pub summary: ProgramSummary,
    /// Its text.
    pub text: String,
    /// Its declared values, as of its first layer.
    pub bindings: Vec<BoundValue>,
}

/// A declared value.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundValue {
    /// Its name.
    pub name: String,
    /// `weight`, `state`, `table`, `hidden`, `index`.
    pub class: String,
    /// Copies: one a sequence, one an expert, else 1.
    pub copies: u32,
    /// Rows, over all chips.
    pub rows: u32,
    /// Columns, over all chips.
    pub cols: u32,
    /// How it is stored.
    pub storage: String,
    /// `whole`, `rows`, `columns`, `experts`.
    pub cut: &'static str,
    /// Parts it is cut into.
    pub parts: u32,
    /// The memory it lies in.
    pub tier: Option<String>,
    /// The checkpoint's tensor.
    pub tensor: Option<String>,
    /// Whether its rows are the tensor's last axis.
    pub transposed: bool,
    /// Bytes of a chip, all copies.
    pub bytes_per_chip: u64,
}

/// A layer.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleLayer {
    /// Its number.
    pub layer: u32,
    /// The program that runs it.
    pub program: String,
    /// Identity of its cut, hexadecimal.
    pub identity: String,
}

const DEPLOYMENT: &[From] = &[From::Certificate(Part::Deployment)];
const BOUND: &[From] = &[From::Certificate(Part::Bindings), From::Certificate(Part::Values)];

const ROWS: &[Row] = &[
    derived("/version", &[], "version of the document's schema"),
    derived("/deployment/*", DEPLOYMENT, "of the row"),
    derived("/fit/weights_per_chip_bytes", DEPLOYMENT, "of the row"),
    derived("/fit/ddr_weight_bytes_per_chip", DEPLOYMENT, "of the row"),
    derived("/fit/state_bytes_per_chip", DEPLOYMENT, "of the row"),
    derived("/fit/kv_cache_bytes_per_chip", DEPLOYMENT, "of the row"),
    derived("/fit/sram_state_bytes_per_chip", DEPLOYMENT, "of the row"),
    derived("/fit/hbm_need_bytes", DEPLOYMENT, "weights less those in DDR, and state"),
    derived("/fit/hbm_bytes_per_chip", &[From::Certificate(Part::Chip)], "of the row"),
    derived(
        "/fit/hbm_headroom_bytes",
        &[From::Certificate(Part::Deployment), From::Certificate(Part::Chip)],
        "memory less need",
    ),
    derived("/fit/max_ctx_in_hbm", DEPLOYMENT, "of the row"),
    derived("/fit/max_sequences", DEPLOYMENT, "of the row"),
    derived("/programs/*/bindings/*/copies", BOUND, "of the row"),
    derived("/programs/*/bindings/*/rows", BOUND, "of the row"),
    derived("/programs/*/bindings/*/cols", BOUND, "of the row"),
    derived("/programs/*/bindings/*/parts", BOUND, "of the row"),
    derived("/programs/*/bindings/*/bytes_per_chip", BOUND, "a chip's share as stored"),
    derived("/layers/*/layer", &[From::Certificate(Part::Layers)], "number of the row"),
];

const TABLES: &[Rows] = &[
    Rows { under: "", rows: ROWS },
    Rows { under: "/programs/*/summary", rows: program::PROGRAM },
    Rows { under: "/certificate", rows: program::CERTIFICATE },
];

/// The document of a bundle, whose certificate is checked as it is made.
///
/// # Errors
/// [`BundleError`] if the words are no bundle.
pub fn bundle(words: &[u32]) -> Result<Document<BundleDocument>, BundleError> {
    let bundle = Bundle::read(words)?;
    let fit = bundle.fit();
    let body = BundleDocument {
        deployment: BundleDeployment {
            model: bundle.model().to_string(),
            form: bundle.form().to_string(),
            chip: bundle.chip().map(|chip| chip.name().to_string()),
            chips: bundle.chips(),
            ctx: bundle.ctx(),
            sequences: bundle.sequences(),
            tokens: bundle.tokens(),
            bundle_bytes: (bundle.len() as u64).saturating_mul(u64::from(u32::BITS / u8::BITS)),
        },
        fit: BundleFit {
            weights_per_chip_bytes: fit.weight_bytes,
            ddr_weight_bytes_per_chip: fit.ddr_weight_bytes,
            state_bytes_per_chip: fit.state_bytes,
            kv_cache_bytes_per_chip: fit.kv_bytes,
            sram_state_bytes_per_chip: fit.sram_state_bytes,
            hbm_need_bytes: fit.need_bytes,
            hbm_bytes_per_chip: fit.memory_bytes,
            hbm_headroom_bytes: fit.hbm_headroom_bytes,
            fits: fit.fits,
            hbm_fit: fit.fits && fit.hbm_bytes > 0 && fit.ddr_weight_bytes == 0,
            max_ctx_in_hbm: fit.max_ctx,
            max_sequences: fit.max_sequences,
        },
        programs: bundle.programs().map(|program| self::program(&program)).collect(),
        layers: bundle
            .layers()
            .map(|layer| BundleLayer {
                layer: layer.index(),
                program: layer.program().map_or_else(String::new, |program| program.name().to_string()),
                identity: layer.identity().to_string(),
            })
            .collect(),
        certificate: program::certificate(&bundle, words),
    };
    Ok(Document::new("logos.rdu.bundle", body, TABLES, &[]))
}

fn program(program: &Program<'_>) -> BundleProgram {
    let layer = program.first_layer();
    BundleProgram {
        summary: program::summary(program),
        text: program.text().to_string(),
        bindings: program.bindings().filter_map(|binding| bound(&binding, layer)).collect(),
    }
}

fn bound(binding: &Binding<'_>, layer: u32) -> Option<BoundValue> {
    let value = binding.value()?;
    let shape = value.shape();
    let (cut, parts) = match value.sharding() {
        Sharding::Rows { parts } => ("rows", parts),
        Sharding::Columns { parts } => ("columns", parts),
        Sharding::Experts { parts } => ("experts", parts),
        // A declared value is never a sum that is still to be taken.
        _ => ("whole", 1),
    };
    Some(BoundValue {
        name: binding.name(layer).to_string(),
        class: binding.class().to_string(),
        copies: shape.sequences,
        rows: shape.rows,
        cols: shape.columns,
        storage: value.storage().to_string(),
        cut,
        parts,
        tier: value.tier().map(|tier: Tier| tier.to_string()),
        tensor: binding.tensor(layer).map(|name| name.to_string()),
        transposed: binding.transposed(),
        bytes_per_chip: binding.bytes(),
    })
}
