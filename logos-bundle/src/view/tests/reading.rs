//! What a sound table reads as.

use std::string::{String, ToString};
use std::vec::Vec;

use crate::deployment::{Deployment, Form};
use crate::table::layout::{self, Part, ROW, header};
use crate::testing::{TEXT, small};
use crate::view::{
    Attribute, Binder, BindingClass, Bundle, BundleError, Bundles, Flow, Primitive, ProgramRole, RopePart, RopeScaling,
    Sharding, Share, Storage, Tier,
};

fn lines<T: ToString>(views: impl Iterator<Item = T>) -> Vec<String> {
    views.map(|view| view.to_string()).collect()
}

#[test]
fn header_deployment_and_chip() {
    let words = small();
    let bundle = Bundle::read(&words).unwrap();
    assert_eq!(bundle.model(), "tiny");
    assert_eq!((bundle.form(), bundle.chips(), bundle.ctx()), (Form::Decode, 4, 128));
    assert_eq!((bundle.fit().need_bytes, bundle.fit().hbm_headroom_bytes), (1024, 3072));
    let chip = bundle.chip().unwrap();
    assert_eq!(chip.name(), "SN50");
    assert_eq!((chip.scratchpad_bytes(), chip.hbm_bytes(), chip.strip_rows()), (16 * 1024, 4096, 8));
    assert_eq!(bundle.schedule_digest(), crate::table::digest(&words));
    assert!(bundle.to_string().starts_with("tiny decode, 4 SN50, ctx 128, 2 x 1 tokens, 6 layers, "));
}

#[test]
fn programs_and_layers() {
    let words = small();
    let bundle = Bundle::read(&words).unwrap();
    assert_eq!(lines(bundle.programs().map(|program| program.name())), ["empty", "attention", "head"]);
    let program = bundle.program(1).unwrap();
    assert_eq!((program.role(), program.layer_count(), program.first_layer()), (ProgramRole::Layer, 2, 3));
    assert!(program.is_loop());
    assert_eq!(lines(program.layers().map(|layer| layer.index())), ["3", "5"]);
    assert_eq!(bundle.program(2).unwrap().layers().count(), 0, "the head runs at no layer");
    assert_eq!(
        bundle.layer(5).unwrap().identity().to_string(),
        "0102030901020309010203090102030901020309010203090102030901020309"
    );
    assert!(bundle.layer(6).is_none());
    assert_eq!(program.identity().bytes()[2..4], [0xab, 0xcd]);
    assert_eq!(bundle.verify_text(), Ok(()));
}

#[test]
fn texts_print_utf8_in_place() {
    let words = small();
    let text = Bundle::read(&words).unwrap().program(1).unwrap().text();
    assert_eq!(text.to_string(), TEXT);
    assert_eq!(lines(text.lines()), ["## Main", "Show café5."]);
    assert_eq!(std::format!("{:<14}|", text.lines().nth(1).unwrap()), "Show café5.   |");
    assert_ne!(text, "## Main");
}

#[test]
fn values_and_their_shares() {
    let words = small();
    let program = Bundle::read(&words).unwrap().program(1).unwrap();
    assert_eq!(
        lines(program.values()),
        [
            "x: input 2 x 64 bf16, whole",
            "Wq3: weight 64 x 32 q8_0, columns/4",
            "Kc3: state 2 of 128 x 16 bf16, columns/2",
            "q3: bound 2 x 32 bf16, columns/4",
            "Wo3: weight 32 x 64 bf16, rows/4",
            "cos: table 2 x 4 f32, whole",
        ]
    );
    let value = |index| program.value(index).unwrap();
    assert_eq!(value(1).share(), Share { sequences: 1, rows: 64, columns: 8 });
    assert_eq!(value(1).storage(), Storage::Q8_0);
    assert_eq!(value(1).bytes(), 34 * 2 * 8);
    assert_eq!(value(2).sharding(), Sharding::Columns { parts: 2 });
    assert_eq!(value(2).bytes(), 2 * 128 * 8 * 2);
    assert_eq!([0, 1, 2, 3].map(|chip| value(2).part_of(chip)), [0, 0, 1, 1]);
    assert_eq!((value(4).tier(), value(3).tier()), (Some(Tier::Ddr), None));
    assert_eq!(value(0).statement().unwrap().operation().name(), "input");
    assert_eq!(program.weight_bytes(), 34 * 2 * 8 + 8 * 64 * 2);
    assert_eq!(program.state_bytes(), 2 * 128 * 8 * 2);
    let rope = value(5).rope().unwrap();
    assert_eq!((rope.part(), rope.theta(), rope.rotary()), (RopePart::Sin, 10_000.0, 8));
    assert_eq!((rope.scaling(), rope.parameters()[0], rope.factor()), (RopeScaling::Llama3, 8.0, 1.0));
    assert!(value(0).rope().is_none());
}

#[test]
fn statements_stages_edges_and_the_net() {
    let words = small();
    let program = Bundle::read(&words).unwrap().program(1).unwrap();
    assert_eq!(lines(program.statements()), ["x = input()", "q3 = matmul(x, Wq3)", "Kc3 = append(q3)", "q3 = show()"]);
    let section = program.section(0).unwrap();
    assert_eq!(
        lines(section.stages().map(|stage| stage.name())),
        ["load x", "load Wq3", "gemm A q3", "store Kc3", "spill q3"]
    );
    let stage = section.stage(1).unwrap();
    assert_eq!(stage.to_string(), "1 load Wq3: 3 firings on 2 x 3 cells from site 0, start 7, period 0, II 0");
    assert_eq!(stage.turn().unwrap().to_string(), "HBM 5 + 50");
    assert_eq!(lines(stage.turn().unwrap().loads().map(|stage| stage.index())), ["1"]);
    assert_eq!(
        lines(section.edges()),
        [
            "0 -> 2.0: hold 1, 5 x 16 B at 0x40, x",
            "1 -> 2.0: stream 1:2, 5 x 16 B at 0x40",
            "2 -> 3.0: stream 1:2, 5 x 16 B at 0x40, q3",
        ]
    );
    let edge = section.edge(2).unwrap();
    assert_eq!(edge.flow(), Flow::Stream { produced: 1, consumed: 2 });
    assert_eq!(edge.from().unwrap().primitive(), Primitive::GemmA);
    assert_eq!((section.cells(), section.buffer_bytes()), (30, 240));
    // 5 self-loops, 3 edges of two places, 1 turn, the layer loop, the state `Kc3`.
    assert_eq!((section.transitions(), section.places()), (5, 5 + 6 + 1 + 1 + 1));
    assert_eq!((section.interval_cycles(), section.span_cycles()), (257, 1 << 32));
    assert_eq!(section.binder(), Binder::Memory);
    assert!(section.is_tight(), "257 is 256 + 256/256");
}

#[test]
fn attributes_by_name() {
    use crate::table::layout::op;
    use crate::view::Operation;
    let norm = Operation::from_code(op::RMSNORM);
    assert_eq!(norm.attribute(0, 1e-6f32.to_bits()), Some(("eps", Attribute::Real(1e-6))));
    assert_eq!(norm.attribute(0, 1e-6f32.to_bits()).unwrap().1.to_string(), "1e-6");
    assert_eq!(norm.attribute(2, 24), Some(("heads", Attribute::Count(24))));
    assert_eq!(norm.attribute(4, 0), None);
}

#[test]
fn bindings_for_a_layer_and_a_chip() {
    let words = small();
    let bundle = Bundle::read(&words).unwrap();
    let program = bundle.program(1).unwrap();
    let binding = |index| program.binding(index).unwrap();
    assert_eq!(
        lines(program.bindings()),
        [
            "xo2 (hidden)",
            "Wq3 (weight) <- layers.3.qkv.3.weight, transposed",
            "Kc3 (state)",
            "Wo3 (weight) <- layers.3.o.weight, transposed",
            "cos (table)",
        ]
    );
    assert_eq!(binding(0).name(0), "x");
    assert_eq!(binding(0).name(5), "xo4");
    assert_eq!(bundle.program(2).unwrap().binding(0).unwrap().name(0), "xo5");
    assert_eq!(binding(1).name(17), "Wq17");
    assert_ne!(binding(1).name(17), "Wq1");
    assert_ne!(binding(1).name(17), "Wq171");
    assert_eq!(binding(1).tensor(17).unwrap(), "layers.17.qkv.17.weight");
    assert!(binding(2).tensor(0).is_none());
    assert_eq!(binding(1).class(), BindingClass::Weight);
    // Columns of the program are stored axis 0: a head of 8 a chip, 16 apart.
    assert_eq!(lines(binding(1).axis0(0)), ["16..24"]);
    assert_eq!(lines(binding(1).axis0(3)), ["64..72"]);
    assert_eq!(binding(1).axis0(4).next(), None, "there is no fifth chip");
    assert_eq!(lines(binding(1).axis1(3)), ["0..64"]);
    // Rows of the program are stored axis 1.
    assert_eq!(lines(binding(3).axis0(2)), ["0..64"]);
    assert_eq!(lines(binding(3).axis1(2)), ["16..24"]);
    assert_eq!((binding(3).elements(2), binding(3).bytes()), (8 * 64, 8 * 64 * 2));
}

#[test]
fn the_chips_of_a_split_axis_tile_it() {
    let words = small();
    let program = Bundle::read(&words).unwrap().program(1).unwrap();
    let mut taken: Vec<u32> = Vec::new();
    for chip in 0..4 {
        taken.extend(program.binding(1).unwrap().axis0(chip).flat_map(|run| run.start..run.start + run.length));
    }
    assert_eq!(taken, (0..4).flat_map(|head| 16 + 16 * head..24 + 16 * head).collect::<Vec<u32>>());
}

#[test]
fn experts_are_found_in_a_stack_or_by_their_names() {
    let mut bytes: Vec<u8> = small().iter().flat_map(|word| word.to_le_bytes()).collect();
    let hole = bytes.windows(7).position(|window| window == b"qkv.{l}").unwrap();
    bytes[hole + 5] = b'e';
    let mut words: Vec<u32> = bytes.chunks(4).map(|word| u32::from_le_bytes(*word.first_chunk().unwrap())).collect();
    let row =
        |words: &[u32], part: Part, row: usize| (words[header::DIRECTORY + 2 * part as usize] as usize + row) * ROW;
    let (value, stored) = (row(&words, Part::Values, 1), row(&words, Part::Bindings, 1));
    words[value + layout::value::SEQS] = 3;
    let text = |words: &[u32]| {
        let binding = Bundle::read(words).unwrap().program(1).unwrap().binding(1).unwrap();
        (
            binding.tensor_of(17, 2).unwrap().to_string(),
            binding.axis0(3).to_string(),
            binding.axis1(3).to_string(),
            (binding.copies(), binding.stacked(), binding.elements(3)),
        )
    };
    let apart = ("layers.17.qkv.2.weight".into(), "64..72".into(), "0..64".into(), (3, false, 3 * 8 * 64));
    assert_eq!(text(&words), apart);
    let binding = Bundle::read(&words).unwrap().program(1).unwrap().binding(1).unwrap();
    assert_eq!(binding.tensor(17).unwrap(), "layers.17.qkv.{e}.weight");
    // The other way round: columns of the program are stored axis 1, a head of 8 a chip, 16 apart.
    words[stored + layout::binding::TRANSPOSED] = 0;
    words[stored + layout::binding::TAKEN] = 1;
    words[stored + layout::binding::STACKED] = 1;
    words[stored + layout::binding::STORED] = 64;
    words[stored + layout::binding::STORED + 1] = 80;
    let stacked = ("layers.17.qkv.2.weight".into(), "0..64".into(), "64..72".into(), (3, true, 3 * 8 * 64));
    assert_eq!(text(&words), stacked);
}

#[test]
fn bytes_of_either_order_unaligned_and_in_a_section() {
    let words = small();
    let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let expected = lines(Bundle::read(&words).unwrap().program(1).unwrap().bindings());
    for bytes in [&little, &big] {
        let mut shifted = std::vec![0];
        shifted.extend(bytes);
        let bundle = Bundle::from_bytes(&shifted[1..]).unwrap();
        assert_eq!(lines(bundle.program(1).unwrap().bindings()), expected);
        assert_eq!(bundle.program(1).unwrap().text(), TEXT);
        assert_eq!(bundle.verify_text(), Ok(()));
        assert!(bundle.words().eq(words.iter().copied()));
    }
    let mut section = std::vec![0u8; 12];
    section.extend(&little);
    section.extend([0; 64]);
    section.extend(&little);
    section.extend([0; 7]);
    let found: Vec<_> = Bundles::scan(&section).map(|bundle| bundle.map(|bundle| bundle.len())).collect();
    assert_eq!(found, [Ok(words.len()), Ok(words.len())]);
    assert_eq!(Bundles::scan(&[]).count() + Bundles::scan(&[0; 1000]).count(), 0);
    let cut = &section[..section.len() - 100];
    let found: Vec<_> = Bundles::scan(cut).map(|bundle| bundle.map(|bundle| bundle.len())).collect();
    assert_eq!(
        found,
        [Ok(words.len()), Err(BundleError::Length { stated: words.len() as u32, bytes: little.len() - 93 })]
    );
}

#[test]
fn a_deployment_is_tight_where_every_program_of_one_section_is() {
    let is_tight = |words: Vec<u32>| Deployment::new(Vec::leak(words)).is_tight();
    let words = small();
    let tight = |words: &[u32]| {
        let bundle = Bundle::read(words).unwrap();
        bundle.programs().all(|program| program.sections().count() != 1 || program.sections().all(|s| s.is_tight()))
    };
    assert_eq!(is_tight(words.clone()), tight(&words));
    let entry = header::DIRECTORY + 2 * Part::Sections as usize;
    for section in 0..words[entry + 1] as usize {
        for interval in [0, 255, 256, 257, 258] {
            let mut changed = words.clone();
            changed[(words[entry] as usize + section) * ROW + layout::section::INTERVAL] = interval;
            assert_eq!(is_tight(changed.clone()), tight(&changed), "{section}: {interval}");
        }
    }
    // What is not a table has no program.
    assert!(is_tight(std::vec![u32::MAX; 64]) && is_tight(Vec::new()));
}
