//! Whether deployments can be had at all: their names, forms and sizes, before anything is lowered.
//!
//! What depends on memory is [`fit`](crate::fit)'s to say; what depends on how the model is split,
//! [`shard`](crate::shard)'s.

use super::name::misnamed;
use super::{DeploymentRequest, Form, require};
use crate::chip::{self, Chip};
use crate::spec::{AttentionSpan, ExpertSplit, Mixer, ModelSpec};
use crate::{At, Code, Key, Refusal, shard};

/// Most rows of a step: sequences, or tokens of a chunk. Beyond it buffers of one row block leave any chip.
pub const MOST_ROWS: u32 = 1 << 16;

/// Firings of a stage in one iteration stay below this, so that the checker's products stay inside 64 bits.
const FIRINGS: u64 = 1 << 22;

/// Largest row block that a section groups rows into.
const ROW_BLOCK: u32 = 64;

/// Every reason against the deployments of a request, in order.
///
/// # Errors
/// None; an empty list means that each deployment may be tried.
pub fn check(spec: &ModelSpec, chip: &Chip, deployments: &[DeploymentRequest]) -> Vec<Refusal> {
    let mut refusals = check_names(deployments);
    refusals.extend(check_requirements(deployments));
    for deployment in deployments {
        refusals.extend(check_deployment(&deployment.of(spec), chip, deployment));
    }
    refusals
}

/// Every reason against the deployments' names: each becomes a constant.
pub fn check_names(deployments: &[DeploymentRequest]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if deployments.is_empty() {
        let refusal = Refusal::new(Code::RequestForm, At::Request, "the request has no deployment");
        refusals.push(refusal.help("name one: `DECODE: decode { tp: 8, ctx: 4096, batch: 1 }`"));
    }
    for (i, deployment) in deployments.iter().enumerate() {
        let name = &deployment.name;
        let at = At::Deployment(name.clone());
        if let Some(why) = misnamed(name) {
            let message = format!("the deployment name `{}` {why}", name.escape_debug());
            let refusal = Refusal::new(Code::RequestForm, at.clone(), message);
            refusals.push(refusal.help("write ASCII letters, digits and underscores, as in `DECODE_LONG`; no keyword"));
        }
        if deployments[..i].iter().any(|earlier| earlier.name == *name) {
            let message = format!("the name `{}` is used by two deployments", name.escape_debug());
            refusals.push(Refusal::new(Code::RequestForm, at, message).help("give each deployment its own name"));
        }
    }
    refusals
}

/// Every reason for which requirements of a deployment cannot hold together.
pub fn check_requirements(deployments: &[DeploymentRequest]) -> Vec<Refusal> {
    deployments.iter().flat_map(|deployment| require::contradictions(&deployment.name, &deployment.require)).collect()
}

/// Every reason against one deployment's form and sizes, each at its key; the model is the deployment's own
/// ([`DeploymentRequest::of`]): the width against the chip and the model, the
/// context, batch, chunk or rows against the model and the limits of exact arithmetic.
pub fn check_deployment(spec: &ModelSpec, chip: &Chip, deployment: &DeploymentRequest) -> Vec<Refusal> {
    let tp = deployment.chips();
    let mut check = Check { spec, chip, name: &deployment.name, tp, refusals: Vec::new() };
    check.width(tp);
    check.experts(deployment.experts);
    match deployment.form {
        Form::Forward { rows } => check.forward(rows),
        Form::Decode { ctx, batch } => {
            let ctx_holds = check.ctx(ctx);
            if check.rows(Key::Batch, batch, "sequence") && ctx_holds {
                check.firings(Key::Batch, batch, ctx, 1);
            }
        }
        Form::Prefill { ctx, chunk, batch } => {
            let ctx_holds = check.ctx(ctx);
            let chunk_holds = check.rows(Key::Chunk, chunk, "token");
            let batch_holds = check.rows(Key::Batch, batch, "sequence");
            if ctx_holds && chunk_holds {
                check.chunk(chunk, ctx);
            }
            if ctx_holds && chunk_holds && batch_holds && check.rows_together(chunk, batch) {
                check.firings(if batch == 1 { Key::Chunk } else { Key::Batch }, batch, ctx, chunk);
                check.groups(Key::Chunk, chunk, batch, false);
            }
        }
    }
    check.refusals
}

/// That experts are to lie whole over the chips, and there are none.
pub(crate) fn without_experts(spec: &ModelSpec, split: ExpertSplit, at: At) -> Option<Refusal> {
    let asked = match split {
        ExpertSplit::Columns => false,
        ExpertSplit::Parallel => true,
    };
    (asked && !spec.has_experts()).then(|| {
        let message = "the model has no experts that could lie whole over the chips";
        Refusal::new(Code::TpSplit, at, message).help("leave `experts` out: a dense block is cut by columns")
    })
}

struct Check<'a> {
    spec: &'a ModelSpec,
    chip: &'a Chip,
    name: &'a str,
    tp: u32,
    refusals: Vec<Refusal>,
}

impl Check<'_> {
    fn at(&self, key: Key) -> At {
        At::Key(self.name.to_owned(), key)
    }

    fn width(&mut self, tp: u32) {
        let chip = self.chip;
        if tp > 1 && !chip.has_link() {
            // How the model splits does not matter where no width above one chip can be had.
            let message = format!("{tp} {} do not form a width: no rate from chip to chip is known", chip.name);
            let known = chip::NAMES.into_iter().filter(|name| chip::lookup(name).is_ok_and(Chip::has_link));
            let linked: Vec<&str> = known.collect();
            let help = format!("write `tp: 1`, or take a chip with a known rate: {}", linked.join(", "));
            self.refusals.push(Refusal::new(Code::ChipLacks, self.at(Key::Tp), message).help(help));
        } else if let Err(refusals) = shard::admits(self.spec, tp, chip.domain(), &self.at(Key::Tp)) {
            self.refusals.extend(refusals);
        }
    }

    fn experts(&mut self, split: ExpertSplit) {
        self.refusals.extend(without_experts(self.spec, split, self.at(Key::Experts)));
    }

    /// Whether the context is one.
    fn ctx(&mut self, ctx: u32) -> bool {
        let most = self.spec.max_context;
        let (message, help) = if ctx == 0 {
            (
                "a context of 0 positions holds nothing".to_owned(),
                format!("write `ctx: {most}`, the model's own, or less"),
            )
        } else if ctx > most {
            let message = format!("a context of {ctx} positions is above the model's {most}");
            (
                message,
                format!("write `ctx: {most}` or less; a longer one needs rope scaling stated in the model's config"),
            )
        } else {
            return true;
        };
        self.refusals.push(Refusal::new(Code::CtxRange, self.at(Key::Ctx), message).help(help));
        false
    }

    /// Whether `n` rows of a step are none too many and none too few.
    fn rows(&mut self, key: Key, n: u32, what: &str) -> bool {
        let code = match key {
            Key::Batch => Code::BatchRange,
            Key::Chunk => Code::ChunkRange,
            Key::Rows | Key::Form | Key::Tp | Key::Ctx | Key::Experts => Code::RowsRange,
        };
        let message = match n {
            0 => format!("a step of 0 {what}s computes nothing"),
            1..=MOST_ROWS => return true,
            _ => format!("a step of {n} {what}s is above the {MOST_ROWS} that can be lowered"),
        };
        let help = format!("write `{}: {}`", key.as_str(), if n == 0 { 1 } else { MOST_ROWS });
        self.refusals.push(Refusal::new(code, self.at(key), message).help(help));
        false
    }

    /// Whether the rows of all sequences together are none too many; either size alone is not.
    fn rows_together(&mut self, chunk: u32, batch: u32) -> bool {
        let rows = u64::from(chunk) * u64::from(batch);
        if rows <= u64::from(MOST_ROWS) {
            return true;
        }
        let message = format!(
            "{chunk} tokens of each of {batch} sequences are {rows} rows of a step, above the {MOST_ROWS} that can be lowered"
        );
        let refusal = Refusal::new(Code::BatchRange, self.at(Key::Batch), message);
        let (most, shorter) = (MOST_ROWS / chunk, MOST_ROWS / batch);
        self.refusals.push(refusal.help(format!("write `batch: {most}` or less, or `chunk: {shorter}` or less")));
        false
    }

    fn forward(&mut self, rows: u32) {
        if !self.rows(Key::Rows, rows, "token") {
            return;
        }
        let most = self.spec.max_context;
        if rows > most {
            let message = format!("{rows} tokens are more than the model's {most} positions");
            let refusal = Refusal::new(Code::RowsRange, self.at(Key::Rows), message);
            self.refusals.push(refusal.help(format!("write `rows: {most}` or less")));
        }
        self.groups(Key::Rows, rows, 1, true);
    }

    fn chunk(&mut self, chunk: u32, ctx: u32) {
        if chunk > ctx {
            let message = format!("a chunk of {chunk} tokens is above the context of {ctx} positions");
            let refusal = Refusal::new(Code::ChunkRange, self.at(Key::Chunk), message);
            self.refusals.push(refusal.help(format!("write `chunk: {ctx}` or less")));
        }
    }

    /// Attention fires once a sequence and context tile.
    fn firings(&mut self, key: Key, sequences: u32, ctx: u32, tokens: u32) {
        let tile = self.chip.unit().context_tile;
        let longest = self.spec.layers.iter().filter_map(|layer| match &layer.mixer {
            Mixer::Attention(attention) => Some(match attention.span {
                AttentionSpan::Full => ctx,
                AttentionSpan::Window(n) | AttentionSpan::Chunked(n) => ctx.min(n),
            }),
            Mixer::Latent(_) => Some(ctx),
            Mixer::GatedDelta(_) => None,
        });
        let Some(longest) = longest.max() else { return };
        let a_sequence = u64::from(longest.div_ceil(tile)) + u64::from(tokens.div_ceil(tile));
        if u64::from(sequences) * a_sequence >= FIRINGS {
            let most = (FIRINGS - 1) / a_sequence;
            let (code, key, help) = if most > 0 {
                let code = if key == Key::Batch { Code::BatchRange } else { Code::ChunkRange };
                (code, key, format!("write at most `batch: {most}` at this context"))
            } else {
                // A chunk is at most as long as what it sees, so half of the tiles are the context's.
                let shorter = (FIRINGS - 1) / 2 * u64::from(tile);
                (Code::CtxRange, Key::Ctx, format!("write `ctx: {shorter}` or less: one sequence alone has too many"))
            };
            let message = format!("{sequences} sequences over {longest} positions are too many tiles of attention");
            let refusal = Refusal::new(code, self.at(key), message)
                .fact("tiles", u64::from(sequences) * a_sequence)
                .fact("limit", FIRINGS - 1);
            self.refusals.push(refusal.help(help));
        }
    }

    /// A stage over the widest value fires once a column tile and row block.
    fn groups(&mut self, key: Key, tokens: u32, sequences: u32, whole_head: bool) {
        let tile = self.chip.unit().tile;
        let vocab = self.spec.vocab_rows(self.tp).unwrap_or(self.spec.vocab);
        let widest = if whole_head { vocab.max(self.spec.hidden) } else { self.spec.hidden };
        let tiles = u64::from(widest.div_ceil(tile));
        let rows = u64::from(tokens) * u64::from(sequences);
        if tiles * rows.div_ceil(u64::from(ROW_BLOCK)) >= FIRINGS {
            let code = if key == Key::Chunk { Code::ChunkRange } else { Code::RowsRange };
            let message = format!("{rows} rows of {widest} columns are too many tiles for one step");
            let most = (FIRINGS - 1) / tiles * u64::from(ROW_BLOCK) / u64::from(sequences);
            let refusal = Refusal::new(code, self.at(key), message).fact("limit", FIRINGS - 1);
            self.refusals.push(refusal.help(format!("write `{}: {most}` or less", key.as_str())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::lookup;
    use crate::spec::test_models::{llama, qwen35};

    fn against(chip: &str, tp: u32, form: Form) -> Vec<(Code, At, String)> {
        let deployment = DeploymentRequest::new("D", form, Some(tp));
        let refusals = check_deployment(&qwen35(), lookup(chip).unwrap(), &deployment);
        assert!(refusals.iter().all(|r| r.help.is_some()), "{refusals:?}");
        refusals.into_iter().map(|r| (r.code, r.at, r.message)).collect()
    }

    fn decode(ctx: u32, batch: u32) -> Form {
        Form::Decode { ctx, batch }
    }

    #[test]
    fn a_width_left_out_is_the_widest_admitted_in_a_rack() {
        let width = |spec: &ModelSpec, chip: &str| {
            let deployment = DeploymentRequest::new("D", decode(1024, 1), None);
            deployment.at_width(spec, lookup(chip).unwrap()).tp
        };
        // A rack of SN50 has 16 chips; 24 query heads do not split over them. SN30's rate between chips is not published.
        assert_eq!(width(&qwen35(), "SN50"), Some(8));
        assert_eq!(width(&llama(), "SN50"), Some(16));
        assert_eq!(width(&llama(), "SN10"), Some(8));
        assert_eq!(width(&llama(), "SN30"), Some(1));
    }

    /// The one refusal of a deployment that has one.
    fn only(chip: &str, tp: u32, form: Form, key: Key) -> (Code, String) {
        let mut found = against(chip, tp, form);
        assert_eq!(found.len(), 1, "{found:?}");
        let (code, at, message) = found.remove(0);
        assert_eq!(at, At::Key("D".into(), key));
        (code, message)
    }

    #[test]
    fn what_can_be_had_is_not_refused() {
        for (tp, form) in [
            (8, decode(262_144, 8)),
            (1, decode(1, 1)),
            (4, Form::Prefill { ctx: 262_144, chunk: 512, batch: 1 }),
            (8, Form::Prefill { ctx: 7, chunk: 7, batch: 1 }),
            (8, Form::Prefill { ctx: 8192, chunk: 512, batch: 128 }),
            (8, Form::Forward { rows: 4096 }),
        ] {
            assert_eq!(against("SN50", tp, form), [], "{form:?}");
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused_at_their_key() {
        let ctx = "a context of 0 positions holds nothing".to_owned();
        assert_eq!(only("SN50", 8, decode(0, 1), Key::Ctx), (Code::CtxRange, ctx));
        let ctx = "a context of 262145 positions is above the model's 262144".to_owned();
        assert_eq!(only("SN50", 8, decode(262_145, 1), Key::Ctx), (Code::CtxRange, ctx));
        let batch = "a step of 0 sequences computes nothing".to_owned();
        assert_eq!(only("SN50", 8, decode(1, 0), Key::Batch), (Code::BatchRange, batch));
        let batch = "a step of 4294967295 sequences is above the 65536 that can be lowered".to_owned();
        assert_eq!(only("SN50", 8, decode(1, u32::MAX), Key::Batch), (Code::BatchRange, batch));
        // 65,536 sequences of 257 tiles of attention.
        let (code, message) = only("SN50", 8, decode(262_144, 65_536), Key::Batch);
        assert_eq!(code, Code::BatchRange);
        assert!(message.contains("too many tiles"), "{message}");
        let chunk = |ctx, chunk| only("SN50", 8, Form::Prefill { ctx, chunk, batch: 1 }, Key::Chunk);
        assert_eq!(chunk(64, 0), (Code::ChunkRange, "a step of 0 tokens computes nothing".to_owned()));
        let above = "a chunk of 65 tokens is above the context of 64 positions".to_owned();
        assert_eq!(chunk(64, 65), (Code::ChunkRange, above));
        let batch = |chunk, batch| only("SN50", 8, Form::Prefill { ctx: 262_144, chunk, batch }, Key::Batch);
        let none = "a step of 0 sequences computes nothing".to_owned();
        assert_eq!(batch(512, 0), (Code::BatchRange, none));
        let rows = "512 tokens of each of 129 sequences are 66048 rows of a step, above the 65536 that can be lowered";
        assert_eq!(batch(512, 129), (Code::BatchRange, rows.to_owned()));
        let (code, message) = batch(1, 65_536);
        assert_eq!(code, Code::BatchRange);
        assert!(message.contains("too many tiles"), "{message}");
        let rows = |rows| only("SN50", 8, Form::Forward { rows }, Key::Rows).0;
        assert_eq!((rows(0), rows(u32::MAX)), (Code::RowsRange, Code::RowsRange));
    }

    /// A context that not one sequence may have is what has to be shorter.
    #[test]
    fn too_many_tiles_of_one_sequence() {
        let file = include_str!("../../../tests/fixtures/chips/ex1.toml");
        let (before, after) = file.split_once("[facts.context_tile]\nvalue = 256").unwrap();
        let file = format!("{before}[facts.context_tile]\nvalue = 1{after}");
        let chip = Chip::read("ex1.toml", file.as_bytes()).unwrap();
        let spec = ModelSpec { max_context: 10_000_000, ..qwen35() };
        let refusals = |ctx| check_deployment(&spec, &chip, &DeploymentRequest::new("D", decode(ctx, 1), Some(1)));
        let [refusal] = &refusals(10_000_000)[..] else { panic!("{:?}", refusals(10_000_000)) };
        assert_eq!((refusal.code, &refusal.at), (Code::CtxRange, &At::Key("D".into(), Key::Ctx)));
        let help = refusal.help.as_deref().unwrap();
        assert_eq!(help, "write `ctx: 2097151` or less: one sequence alone has too many");
        assert_eq!(refusals(2_097_151), []);
    }

    #[test]
    fn every_reason_is_given() {
        let codes = |chip, tp, form| against(chip, tp, form).into_iter().map(|(code, _, _)| code).collect::<Vec<_>>();
        assert_eq!(codes("SN50", 0, decode(0, 0)), [Code::TpWidth, Code::CtxRange, Code::BatchRange]);
        // 24 heads over 16 chips; the KV heads replicate, the rest splits.
        assert_eq!(codes("SN50", 16, decode(1, 1)), [Code::TpSplit]);
        let five = codes("SN50", 5, Form::Prefill { ctx: 8, chunk: 9, batch: 1 });
        assert!(five.len() > 5 && five[..5].iter().all(|&c| c == Code::TpSplit), "{five:?}");
        assert_eq!(five.last(), Some(&Code::ChunkRange));
        assert_eq!(codes("SN10", 16, decode(1, 1)), [Code::TpWidth, Code::TpSplit]);
    }

    #[test]
    fn a_chip_without_a_link_forms_no_width() {
        assert_eq!(against("SN30", 1, decode(1, 1)), []);
        let (code, message) = only("SN30", 2, decode(1, 1), Key::Tp);
        assert_eq!(code, Code::ChipLacks);
        assert_eq!(message, "2 SN30 do not form a width: no rate from chip to chip is known");
        // However absurd the width, nothing is tried one by one.
        assert_eq!(against("SN30", u32::MAX, decode(1, 1))[0].0, Code::ChipLacks);
    }

    #[test]
    fn names_become_constants() {
        let named = |names: &[&str]| {
            let form = decode(1, 1);
            let all: Vec<_> = names.iter().map(|&n| DeploymentRequest::new(n, form, Some(1))).collect();
            check_names(&all).into_iter().map(|r| (r.code, r.at)).collect::<Vec<_>>()
        };
        assert_eq!(named(&["DECODE", "_1", "decode_8x"]), []);
        let bad = |name: &str| vec![(Code::RequestForm, At::Deployment(name.into()))];
        for name in ["", "_", "8X", "A B", "A-B", "fn", "Self", "crate", "\u{e9}", "A\n"] {
            assert_eq!(named(&[name]), bad(name), "{name:?}");
        }
        assert_eq!(named(&["A", "B", "A"]), bad("A"));
        assert_eq!(named(&[]), [(Code::RequestForm, At::Request)]);
        let all = [DeploymentRequest::new("A", decode(0, 1), Some(1))];
        assert_eq!(check(&llama(), lookup("SN50").unwrap(), &all).len(), 1);
    }
}
