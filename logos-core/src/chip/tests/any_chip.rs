//! Whatever a file says, a chip that is read lowers a model or refuses it: no figure in range makes the compiler overflow, divide by
//! zero, or write a bundle that does not check.

use crate::chip::{Field, Form as Figure};
use crate::{ChipRequest, Code, DeploymentRequest, Form, Request, Vocabulary, Weights, compile};

const EX1: &str = include_str!("../../../../tests/fixtures/chips/ex1.toml");
const CONFIG: &[u8] = include_bytes!("../../../../tests/fixtures/tiny/qwen3_5/config.json");

/// Figures that no other figure of the chip has to agree with.
const FREE: [Field; 18] = [
    Field::Strip,
    Field::ArrayRows,
    Field::ArrayColumns,
    Field::PcuLanes,
    Field::Chain,
    Field::PcuStages,
    Field::TreeLevel,
    Field::ScratchpadRate,
    Field::SramPorts,
    Field::Inject,
    Field::Hop,
    Field::HbmLatency,
    Field::DdrLatency,
    Field::LinkLatency,
    Field::ContextTile,
    Field::Tile,
    Field::PeakBf16,
    Field::ChipsPerNode,
];

/// The figures that a field takes.
fn range(field: Field) -> (u64, u64) {
    match field.form() {
        Figure::Number { least, most } => (least, most),
        Figure::Text | Figure::List => panic!("{field} is no number"),
    }
}

/// A chip file with another figure.
fn with(text: &str, field: Field, value: u64) -> String {
    let header = format!("[facts.{field}]\nvalue = ");
    let start = text.find(&header).expect("a fact of the example") + header.len();
    let end = start + text[start..].find('\n').expect("a line");
    format!("{}{value}{}", &text[..start], &text[end..])
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Up to `most`, small ones as likely as large ones.
    fn size(&mut self, most: u64) -> u64 {
        (self.below(most) >> self.below(22)) + 1
    }
}

/// How many of two deployments are had on the chip.
fn had(text: &str) -> usize {
    let forms = [(Form::Decode { ctx: 96, batch: 3 }, 2), (Form::Prefill { ctx: 96, chunk: 12, batch: 2 }, 1)];
    let holds = forms.map(|(form, tp)| {
        let deployment = DeploymentRequest::new("D", form, Some(tp));
        let request = Request {
            model: "m",
            config: CONFIG,
            chip: ChipRequest::File { file: "c", text: text.as_bytes() },
            weights: Weights::Config,
            checkpoint: None,
            vocabulary: Vocabulary::Exact,
            deployments: std::slice::from_ref(&deployment),
        };
        match compile(&request) {
            Ok(_) => true,
            Err(refusals) => {
                let fault = refusals.iter().find(|refusal| refusal.code == Code::Certificate);
                assert!(fault.is_none(), "{fault:?} of\n{text}");
                false
            }
        }
    });
    holds.into_iter().filter(|holds| *holds).count()
}

#[test]
fn one_figure_at_its_ends() {
    let ends = FREE.map(|field| {
        let (least, most) = range(field);
        [least, most].map(|value| had(&with(EX1, field, value)))
    });
    let made: usize = ends.as_flattened().iter().sum();
    assert!(made > FREE.len() * 2 && made < FREE.len() * 4, "{made} made: {ends:?}");
}

#[test]
fn several_figures_anywhere() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut made = 0;
    for _ in 0..24 {
        let mut text = EX1.to_owned();
        for _ in 0..1 + random.below(6) {
            let field = FREE[random.below(FREE.len() as u64) as usize];
            let (least, most) = range(field);
            text = with(&text, field, random.size(most).clamp(least, most));
        }
        let (columns, rows) = (random.size(256), random.size(256));
        let (cells, pad) = (columns * rows, random.size(range(Field::SramBytesPerPmu).1));
        for (field, value) in [
            (Field::MeshColumns, columns),
            (Field::MeshRows, rows),
            (Field::PcuCount, cells),
            (Field::PmuCount, cells),
            (Field::SramBytesPerPmu, pad),
            (Field::SramBytes, cells * pad),
        ] {
            text = with(&text, field, value);
        }
        made += had(&text);
    }
    assert!(made > 0, "none was made");
}
