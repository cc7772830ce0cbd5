//! The words of every operation, and the sharding table of `RULES.md` section 8.

use super::*;
use crate::language::ast::{Axis, Element, Role, Storage, ValueId};
use crate::language::{Builder, Problem};
use crate::spec::{Activation, Pairing, RouterScore};
use logos_bundle::table::layout::op;

const WHOLE: Sharding = Sharding::Whole;
const PARTIAL: Sharding = Sharding::Partial;
/// Split over the four chips, and over two groups of two.
const COLUMNS: Sharding = Sharding::Split { axis: Axis::Columns, parts: 4 };
const COLUMN_GROUPS: Sharding = Sharding::Split { axis: Axis::Columns, parts: 2 };
const ROWS: Sharding = Sharding::Split { axis: Axis::Rows, parts: 4 };
const SHARDINGS: [Sharding; 5] = [WHOLE, COLUMNS, COLUMN_GROUPS, ROWS, PARTIAL];

#[test]
fn words_are_those_of_the_table_layout() {
    let f = f32::to_bits;
    let attention =
        AttentionOp { heads: 24, kv_heads: 4, scale: 0.0625, window: Some(512), chunk: None, softcap: Some(50.0) };
    let router = RouterOp {
        top: 8,
        score: RouterScore::Sigmoid,
        groups: Some((8, 4)),
        two_best: true,
        normalised: true,
        scale: 2.5,
    };
    let clamped = Activation::SwigluClamped { alpha: 1.702, limit: 7.0 };
    let experts = ExpertsOp { count: 128, top: 8, activation: clamped, on_input: true };
    let (rows, columns) = (Along::Rows, Along::Columns);
    let table: [(Op, u32, Words); 19] = [
        (RowScale.into(), op::ROW_SCALE, [0; 6]),
        (HeadMatMul { heads: 16, along: rows }.into(), op::HEAD_MATMUL, [16, 1, 0, 0, 0, 0]),
        (HeadMatMul { heads: 16, along: columns }.into(), op::HEAD_MATMUL, [16, 0, 0, 0, 0, 0]),
        (LatentAttentionOp { heads: 128, scale: 0.1 }.into(), op::LATENT_ATTENTION, [128, f(0.1), 0, 0, 0, 0]),
        (MatMul.into(), op::MATMUL, [0; 6]),
        (Scaled { by: 0.5 }.into(), op::SCALED, [f(0.5), 0, 0, 0, 0, 0]),
        (Gelu { tanh: true }.into(), op::GELU, [1, 0, 0, 0, 0, 0]),
        (GeGlu { tanh: false }.into(), op::GEGLU, [0; 6]),
        (SoftCap { cap: 30.0 }.into(), op::SOFTCAP, [f(30.0), 0, 0, 0, 0, 0]),
        (
            RmsNorm { eps: 1e-6, offset: 1.0, heads: 24, over_chips: false }.into(),
            op::RMSNORM,
            [f(1e-6), f(1.0), 24, 0, 0, 0],
        ),
        (LayerNorm { eps: 1e-5, heads: 3 }.into(), op::LAYERNORM, [f(1e-5), 3, 0, 0, 0, 0]),
        (L2Norm { eps: 1e-6, scale: 0.25, heads: 16 }.into(), op::L2NORM, [f(1e-6), f(0.25), 16, 0, 0, 0]),
        (RopeOp { heads: 24, rotary: 64, pairing: Pairing::Adjacent }.into(), op::ROPE, [24, 64, 1, 0, 0, 0]),
        (attention.into(), op::ATTENTION, [24, 4, f(0.0625), 512, 0, f(50.0)]),
        (CausalConv { taps: 4, silu: true }.into(), op::CONV, [4, 1, 0, 0, 0, 0]),
        (GatedDeltaOp { heads: 48, key_heads: 16 }.into(), op::DELTA, [48, 16, 0, 0, 0, 0]),
        (router.into(), op::ROUTER, [8, 2, 8, 4, 3, f(2.5)]),
        (experts.into(), op::EXPERTS, [128, 8, 3, f(1.702), f(7.0), 1]),
        (LastRow { sequences: 2 }.into(), op::LAST_ROW, [2, 0, 0, 0, 0, 0]),
    ];
    for (operation, code, words) in table {
        assert_eq!((operation.code(), operation.attributes()), (code, words));
        let (_, make) = FORMS.iter().find(|(form, _)| form.name == operation.form().name).unwrap();
        assert_eq!(make(words), operation);
    }
}

#[test]
fn forms_are_consistent() {
    for (form, _) in FORMS {
        assert!(form.operands.len() <= form::MAX_OPERANDS && form.required() > 0, "{}", form.name);
        let optional: Vec<usize> = form.optional.iter().flat_map(|group| group.iter().copied()).collect();
        assert!(optional.is_sorted_by(|a, b| a < b), "{}: groups in order of their operands", form.name);
        assert!(form.attributes.len() <= 8, "{}", form.name);
        assert!(form.attributes.iter().all(|attribute| attribute.word < 6), "{}", form.name);
    }
}

/// A value of four rows and sixteen columns that lies as asked for.
fn value(b: &mut Builder, name: &str, sharding: Sharding) -> ValueId {
    let shape = Shape::matrix(4, 16);
    let mut declare = |name: &str, role, shape, sharding| {
        b.declare(name, role, shape, Element::Real, Storage::Bf16, sharding).unwrap()
    };
    if sharding != PARTIAL {
        return declare(name, Role::Input, shape, sharding);
    }
    let x = declare(&format!("{name}x"), Role::Input, shape, COLUMNS);
    let w = declare(&format!("{name}w"), Role::Weight, Shape::matrix(16, 16), ROWS);
    b.bind(name, MatMul, &[x, w]).unwrap()
}

fn weight(b: &mut Builder, rows: u32, cols: u32, sharding: Sharding) -> ValueId {
    b.declare("w", Role::Weight, Shape::matrix(rows, cols), Element::Real, Storage::Bf16, sharding).unwrap()
}

/// The sharding of the result of an operation on one value, for each sharding of it.
fn unary(op: impl Into<Op>) -> [Option<Sharding>; 5] {
    let op = op.into();
    SHARDINGS.map(|sharding| {
        let mut b = Builder::new(4, Storage::Bf16);
        let x = value(&mut b, "x", sharding);
        let y = b.bind("y", op, &[x]).ok()?;
        b.value(y).map(|value| value.sharding)
    })
}

#[test]
fn operations_on_one_value() {
    let kept = [Some(WHOLE), Some(COLUMNS), Some(COLUMN_GROUPS), None, None];
    let element_wise: [Op; 5] =
        [Silu.into(), Sigmoid.into(), Tanh.into(), Gelu { tanh: false }.into(), SoftCap { cap: 1.0 }.into()];
    for op in element_wise {
        assert_eq!(unary(op), kept);
    }
    assert_eq!(unary(Scaled { by: 2.0 }), [Some(WHOLE), Some(COLUMNS), Some(COLUMN_GROUPS), None, Some(PARTIAL)]);
    let norm = |heads| RmsNorm { eps: 0.0, offset: 0.0, heads, over_chips: false };
    assert_eq!(unary(norm(0)), [Some(WHOLE), None, None, None, None]);
    assert_eq!(unary(norm(8)), kept);
    assert_eq!(unary(norm(2)), [Some(WHOLE), None, Some(COLUMN_GROUPS), None, None]);
    let spread = RmsNorm { eps: 0.0, offset: 0.0, heads: 0, over_chips: true };
    assert_eq!(unary(spread), [None, Some(COLUMNS), Some(COLUMN_GROUPS), None, None]);
    assert_eq!(unary(RmsNorm { heads: 4, ..spread }), [None; 5]);
    assert_eq!(unary(L2Norm { eps: 0.0, scale: 1.0, heads: 4 }), kept);
    assert_eq!(unary(ArgMax::default()), [Some(WHOLE), Some(WHOLE), None, None, None]);
    assert_eq!(unary(SumOverChips), [None, None, None, None, Some(WHOLE)]);
    assert_eq!(unary(GatherOverChips), [None, Some(WHOLE), None, None, None]);
}

#[test]
fn products() {
    let expected = |x: Sharding, w: Sharding| match (x, w) {
        (WHOLE, WHOLE | COLUMNS | COLUMN_GROUPS) => Some(w),
        (COLUMNS, ROWS) => Some(PARTIAL),
        _ => None,
    };
    let weights = [WHOLE, COLUMNS, COLUMN_GROUPS, ROWS, Sharding::Split { axis: Axis::Rows, parts: 2 }];
    for (x, w) in SHARDINGS.into_iter().flat_map(|x| weights.map(|w| (x, w))) {
        let mut b = Builder::new(4, Storage::Bf16);
        let (a, m) = (value(&mut b, "x", x), weight(&mut b, 16, 16, w));
        let got = b.bind("y", MatMul, &[a, m]).ok().and_then(|y| b.value(y)).map(|value| value.sharding);
        assert_eq!(got, expected(x, w), "{x} matmul {w}");
    }
}

#[test]
fn products_of_heads() {
    let groups = Sharding::Split { axis: Axis::Rows, parts: 2 };
    let weights = [WHOLE, COLUMNS, COLUMN_GROUPS, ROWS, groups];
    for (along, shape) in [(Along::Rows, (16, 8)), (Along::Columns, (4, 64))] {
        let expected = |x: Sharding, w: Sharding| match (x, w, along) {
            (WHOLE, WHOLE, _)
            | (COLUMNS, ROWS, Along::Rows)
            | (COLUMNS, COLUMNS, Along::Columns)
            | (COLUMN_GROUPS, COLUMN_GROUPS, Along::Columns) => Some(x),
            (COLUMN_GROUPS, w, Along::Rows) if w == groups => Some(x),
            _ => None,
        };
        for (x, w) in SHARDINGS.into_iter().flat_map(|x| weights.map(|w| (x, w))) {
            let mut b = Builder::new(4, Storage::Bf16);
            let operands = [value(&mut b, "x", x), weight(&mut b, shape.0, shape.1, w)];
            let op = HeadMatMul { heads: 4, along };
            let got = b.bind("y", op, &operands).ok().and_then(|y| b.value(y)).map(|value| value.sharding);
            assert_eq!(got, expected(x, w), "{x} by {w} along {along:?}");
        }
    }
    // Two heads over four chips.
    let mut b = Builder::new(4, Storage::Bf16);
    let operands = [value(&mut b, "x", COLUMNS), weight(&mut b, 16, 8, ROWS)];
    assert!(b.bind("y", HeadMatMul { heads: 2, along: Along::Rows }, &operands).is_err());
}

#[test]
fn rows_scaled() {
    for (y, expected) in
        SHARDINGS.into_iter().zip([Some(WHOLE), Some(COLUMNS), Some(COLUMN_GROUPS), None, Some(PARTIAL)])
    {
        let mut b = Builder::new(4, Storage::Bf16);
        let shape = Shape::matrix(4, 1);
        let g = b.declare("g", Role::Input, shape, Element::Real, Storage::Bf16, WHOLE).unwrap();
        let operands = [value(&mut b, "y", y), g];
        let got = b.bind("z", RowScale, &operands).ok().and_then(|z| b.value(z)).map(|value| value.sharding);
        assert_eq!(got, expected, "{y}");
    }
}

#[test]
fn latent_attention_of_heads_over_the_chips() {
    for (q, qp, c) in
        SHARDINGS.into_iter().flat_map(|q| SHARDINGS.map(|qp| [WHOLE, COLUMNS].map(|c| (q, qp, c)))).flatten()
    {
        let mut b = Builder::new(4, Storage::Bf16);
        let (queries, turned) = (value(&mut b, "q", q), value(&mut b, "qp", qp));
        let mut key = |name: &str| {
            // Four columns, as of each of four heads.
            b.declare(name, Role::Input, Shape::matrix(4, 4), Element::Real, Storage::Bf16, c).unwrap()
        };
        let operands = [queries, turned, key("c"), key("p")];
        let op = LatentAttentionOp { heads: 4, scale: 1.0 };
        let got = b.bind("y", op, &operands).ok().and_then(|y| b.value(y)).map(|value| value.sharding);
        let expected = (q == qp && c == WHOLE && (q == WHOLE || q == COLUMNS)).then_some(q);
        assert_eq!(got, expected, "{q}, {qp} over {c}");
    }
}

#[test]
fn operations_on_equal_shardings() {
    let expected = |op: Op, a: Sharding, b: Sharding| match (a, b) {
        (WHOLE, WHOLE) | (COLUMNS, COLUMNS) | (COLUMN_GROUPS, COLUMN_GROUPS) => Some(a),
        (PARTIAL, PARTIAL) if op == Plus.into() => Some(a),
        _ => None,
    };
    let operations: [Op; 4] = [Plus.into(), Times.into(), SwiGlu.into(), GeGlu { tanh: true }.into()];
    for (x, y) in SHARDINGS.into_iter().flat_map(|x| SHARDINGS.map(|y| (x, y))) {
        for op in operations {
            let mut b = Builder::new(4, Storage::Bf16);
            let operands = [value(&mut b, "x", x), value(&mut b, "y", y)];
            let got = b.bind("z", op, &operands).ok().and_then(|z| b.value(z)).map(|value| value.sharding);
            assert_eq!(got, expected(op, x, y), "{op:?} of {x} and {y}");
        }
    }
}

#[test]
fn rows_of_a_table() {
    let groups = Sharding::Split { axis: Axis::Rows, parts: 2 };
    for (table, expected) in [(WHOLE, Some(WHOLE)), (ROWS, Some(PARTIAL)), (groups, None), (COLUMNS, None)] {
        let mut b = Builder::new(4, Storage::Bf16);
        let ids = b.declare("t", Role::Input, Shape::matrix(4, 1), Element::Int, Storage::I32, WHOLE).unwrap();
        let table = weight(&mut b, 64, 16, table);
        let got = b.bind("y", Rows, &[table, ids]).ok().and_then(|y| b.value(y)).map(|value| value.sharding);
        assert_eq!(got, expected);
    }
}

#[test]
fn attributes_out_of_range_are_refused() {
    let refused = |op: Op| {
        let mut b = Builder::new(4, Storage::Bf16);
        let x = value(&mut b, "x", WHOLE);
        match b.bind("y", op, &[x]).map_err(|error| error.problem) {
            Err(Problem::Attribute { name, .. }) => Some(name),
            Ok(_) | Err(_) => None,
        }
    };
    assert_eq!(refused(RmsNorm { eps: f32::NAN, offset: 0.0, heads: 0, over_chips: false }.into()), Some("eps"));
    assert_eq!(refused(RmsNorm { eps: -1e-6, offset: 0.0, heads: 0, over_chips: false }.into()), Some("eps"));
    assert_eq!(
        refused(RmsNorm { eps: 1e-6, offset: f32::INFINITY, heads: 0, over_chips: false }.into()),
        Some("offset")
    );
    assert_eq!(refused(SoftCap { cap: 0.0 }.into()), Some("cap"));
    assert_eq!(refused(Scaled { by: f32::NEG_INFINITY }.into()), Some("factor"));
    assert_eq!(refused(L2Norm { eps: 0.0, scale: 1.0, heads: 0 }.into()), Some("heads"));
    assert_eq!(refused(RmsNorm { eps: 0.0, offset: 0.0, heads: 0, over_chips: false }.into()), None);
    let attention = |window, softcap| AttentionOp { heads: 2, kv_heads: 2, scale: 1.0, window, chunk: None, softcap };
    for (op, name) in [(attention(Some(0), None), "window"), (attention(None, Some(0.0)), "softcap")] {
        let mut b = Builder::new(4, Storage::Bf16);
        let x = value(&mut b, "x", WHOLE);
        let problem = b.bind("y", op, &[x, x, x]).unwrap_err().problem;
        assert!(matches!(&problem, Problem::Attribute { name: found, .. } if *found == name), "{problem}");
    }
}

/// A router's statement and experts' over four chips, changed as asked for: what the experts' result lies as, or the problem.
fn mixture(change: impl Fn(&mut RouterOp, &mut ExpertsOp), cut: bool) -> Result<Sharding, String> {
    let lie = if cut { [COLUMNS, COLUMNS, ROWS] } else { [WHOLE; 3] };
    mixture_over(2, change, lie)
}

/// The same of six or twelve experts and weights that lie as they are said to.
fn mixture_over(
    pairs: u32,
    change: impl Fn(&mut RouterOp, &mut ExpertsOp),
    [of_gate, of_up, of_down]: [Sharding; 3],
) -> Result<Sharding, String> {
    let count = 3 * pairs;
    let mut router =
        RouterOp { top: 2, score: RouterScore::Softmax, groups: None, two_best: false, normalised: false, scale: 1.0 };
    let mut experts = ExpertsOp { count, top: 2, activation: Activation::Silu, on_input: false };
    change(&mut router, &mut experts);
    let mut b = Builder::new(4, Storage::Bf16);
    let mut declare = |name: &str, role, (seqs, rows, cols), sharding| {
        b.declare(name, role, Shape { seqs, rows, cols }, Element::Real, Storage::Bf16, sharding).unwrap()
    };
    let x = declare("x", Role::Input, (1, 4, 16), WHOLE);
    let of_router = declare("wr", Role::Weight, (1, 16, count), WHOLE);
    let [gate, up] =
        [("wg", of_gate), ("wu", of_up)].map(|(name, lies)| declare(name, Role::Weight, (count, 16, 8), lies));
    let down = declare("wd", Role::Weight, (count, 8, 16), of_down);
    let logits = b.bind("l", MatMul, &[x, of_router]).unwrap();
    let r = b.bind("r", router, &[logits]).map_err(|error| error.problem.to_string())?;
    assert_eq!(b.value(r).map(|value| (value.storage, value.shape.cols)), Some((Storage::F32, 2 * router.top)));
    let y = b.bind("y", experts, &[x, r, gate, up, down]).map_err(|error| error.problem.to_string())?;
    let sharding = b.value(y).unwrap().sharding;
    let shown = if sharding == PARTIAL { b.bind("s", SumOverChips, &[y]).unwrap() } else { y };
    b.show(shown).unwrap();
    b.finish().map_err(|error| error.problem.to_string())?;
    Ok(sharding)
}

#[test]
fn whole_experts_lie_over_all_chips_in_all_their_weights() {
    let experts = |parts| Sharding::Split { axis: Axis::Experts, parts };
    let lie = |lie| mixture_over(4, |_, _| {}, lie);
    assert_eq!(lie([experts(4); 3]), Ok(PARTIAL));
    let rows = lie([experts(4), experts(4), ROWS]);
    assert_eq!(rows, Err("down `wd` must be split experts 4 ways, found split rows 4 ways".to_owned()));
    assert!(lie([experts(2); 3]).is_err());
    assert!(lie([COLUMNS, experts(4), ROWS]).is_err());
}

#[test]
fn experts_are_those_of_their_router() {
    assert_eq!(mixture(|_, _| {}, false), Ok(WHOLE));
    assert_eq!(mixture(|_, _| {}, true), Ok(PARTIAL));
    assert_eq!(mixture(|router, _| router.groups = Some((3, 1)), true), Ok(PARTIAL));
    let refused = |change: fn(&mut RouterOp, &mut ExpertsOp)| mixture(change, true).unwrap_err();
    assert_eq!(refused(|router, _| router.top = 7), "`top` must be at most 6, the experts to choose from, found 7");
    assert_eq!(
        refused(|router, _| router.groups = Some((4, 2))),
        "`groups` must be a divisor of the 6 experts that leaves 1 or more a group, found 4"
    );
    assert_eq!(refused(|router, _| router.groups = Some((3, 4))), "`kept` must be 1 to 3, the groups, found 4");
    assert_eq!(refused(|router, _| router.two_best = true), "`two best` must be groups to choose by it, found 2");
    assert_eq!(refused(|_, experts| experts.top = 3), "r `r` must be 4 by 6, found 4 by 4");
    assert_eq!(refused(|_, experts| experts.count = 5), "gate `wg` must be 5 of 16 by 8, found 6 of 16 by 8");
}

#[test]
fn a_routers_result_is_for_experts_alone() {
    let mut b = Builder::new(1, Storage::Bf16);
    let x = value(&mut b, "x", WHOLE);
    let router =
        RouterOp { top: 2, score: RouterScore::Softmax, groups: None, two_best: false, normalised: false, scale: 1.0 };
    let r = b.bind("r", router, &[x]).unwrap();
    let y = b.bind("y", Silu, &[r]).unwrap();
    b.show(y).unwrap();
    let error = b.finish().unwrap_err().problem.to_string();
    assert_eq!(
        error,
        "its operand `r` must be a value that anything may read, found a router's result, which only experts read"
    );
}
