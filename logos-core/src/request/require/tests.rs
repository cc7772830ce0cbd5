use super::*;
use crate::Code;

fn read(text: &str) -> Result<Vec<Requirement>, Vec<(usize, Code, String)>> {
    Requirement::list(text, "D", 0).map_err(|refusals| {
        let one = |refusal: Refusal| {
            let At::Require(name, index) = &refusal.at else { panic!("{refusal:?}") };
            assert_eq!(name, "D");
            assert!(refusal.help.is_some(), "{refusal:?}");
            (*index, refusal.code, format!("{}; {}", refusal.message, refusal.help.clone().unwrap_or_default()))
        };
        refusals.into_iter().map(one).collect()
    })
}

fn figure(figure: Figure, compare: Compare, value: u64) -> Requirement {
    Requirement::Figure { figure, compare, value }
}

#[test]
fn lists_are_read() {
    assert_eq!(read("hbm_fit, ctx >= 131_072"), Ok(vec![Requirement::HbmFit, Figure::Ctx.at_least(131_072)]));
    let gib = 8u64 << 30;
    for (text, requirement) in [
        ("tight", Requirement::Tight),
        ("ctx>=1_0", figure(Figure::Ctx, Compare::AtLeast, 10)),
        (" sequences <= 8 ,", figure(Figure::Sequences, Compare::AtMost, 8)),
        ("sequences==8", figure(Figure::Sequences, Compare::Equal, 8)),
        ("hbm_headroom > 8 GiB", figure(Figure::HbmHeadroom, Compare::Above, gib)),
        ("hbm_headroom > 8GiB", figure(Figure::HbmHeadroom, Compare::Above, gib)),
        ("hbm_headroom > 8 GB", figure(Figure::HbmHeadroom, Compare::Above, 8_000_000_000)),
        ("hbm_headroom < 8_589_934_592", figure(Figure::HbmHeadroom, Compare::Below, gib)),
        ("hbm_headroom < 18446744073709551615 B", figure(Figure::HbmHeadroom, Compare::Below, u64::MAX)),
    ] {
        assert_eq!(read(text), Ok(vec![requirement]), "{text}");
    }
    // What is printed reads as what it was.
    for requirement in [Requirement::HbmFit, Requirement::Tight, figure(Figure::HbmHeadroom, Compare::Above, gib)] {
        assert_eq!(read(&requirement.to_string()), Ok(vec![requirement]));
    }
}

#[test]
fn what_cannot_be_read_is_said_with_what_to_write() {
    use Code::{RequestForm as Form, RequestUnknownKey as Unknown, SizeOverflow as Overflow};
    for (text, code, said) in [
        ("", Form, "a requirement is missing; write one of `hbm_fit`, `ctx`, `sequences`, `hbm_headroom`, `tight`"),
        ("hbmfit", Unknown, "unknown requirement `hbmfit`; did you mean `hbm_fit`?"),
        ("ctxt >= 1", Unknown, "unknown requirement `ctxt`; did you mean `ctx`?"),
        (
            "colour",
            Unknown,
            "unknown requirement `colour`; known: `hbm_fit`, `ctx`, `sequences`, `hbm_headroom`, `tight`",
        ),
        ("hbm_fit >= 3", Form, "`hbm_fit` is compared with nothing, found `>=`; write `hbm_fit` and a comma"),
        ("ctx", Form, "`ctx` is compared with no number; write it as in `ctx >= 131_072`"),
        (
            "ctx 5",
            Form,
            "expected an operator after `ctx`, found `5`; an operator is one of `>=`, `<=`, `==`, `>`, `<`",
        ),
        ("ctx => 5", Form, "expected an operator after `ctx`, found `=>`; write `>=`"),
        ("ctx = 5", Form, "expected an operator after `ctx`, found `=`; write `==`"),
        (
            "ctx != 5",
            Form,
            "expected an operator after `ctx`, found `!=`; an operator is one of `>=`, `<=`, `==`, `>`, `<`",
        ),
        ("ctx >=", Form, "`ctx >=` is followed by no number; write it as in `ctx >= 131_072`"),
        ("ctx >= 5.0", Form, "`ctx` is compared with a whole number, found `5.0`; write it as in `ctx >= 131_072`"),
        ("ctx >= LONG", Form, "`ctx` is compared with a whole number, found `LONG`; write it as in `ctx >= 131_072`"),
        ("ctx >= - 5", Form, "`ctx` is compared with a whole number, found `-`; write it as in `ctx >= 131_072`"),
        ("ctx >= 5 GiB", Form, "expected a comma, found `GiB`; write it as in `ctx >= 131_072`"),
        ("hbm_headroom >= 5 GiB more", Form, "expected a comma, found `more`; write it as in `hbm_headroom >= 8 GiB`"),
        ("hbm_headroom >= 5 gib", Unknown, "unknown unit `gib`; did you mean `GiB`?"),
        (
            "ctx >= 18446744073709551616",
            Overflow,
            "`ctx` is compared with 18446744073709551616, which leaves 64 bits; the most that can be written is 18446744073709551615",
        ),
        (
            "hbm_headroom >= 17179869184 GiB",
            Overflow,
            "17179869184 GiB are more bytes than 64 bits count; the most that can be written is 17179869183 GiB",
        ),
    ] {
        assert_eq!(read(text), Err(vec![(0, code, said.to_owned())]), "{text}");
    }
    let several = read("hbm_fit, ctxt >= 1, ctx >= 1, tigth").expect_err("two are unknown");
    assert_eq!(several.iter().map(|(index, ..)| *index).collect::<Vec<_>>(), [1, 3]);
    // No text panics, whatever stands in it.
    for text in ["\u{e9}\u{2265}5", "\0", "ctx\u{a0}>=\u{a0}5", "_", "٣", "ctx >= ٣", ",,", "ctx >= __"] {
        let _ = read(text);
    }
}

#[test]
fn contradictions_are_found_in_pairs() {
    let against = |text: &str| -> Vec<(Code, At, String)> {
        let requirements = read(text).expect("reads");
        contradictions("D", &requirements).into_iter().map(|r| (r.code, r.at, r.message)).collect()
    };
    let both = |index, said: &str| vec![(Code::RequireContradiction, At::Require("D".into(), index), said.to_owned())];
    for fine in
        ["ctx >= 10, ctx <= 10", "ctx > 5, ctx < 7", "ctx >= 10, sequences <= 5", "ctx >= 5, ctx >= 10, ctx == 10"]
    {
        assert_eq!(against(fine), [], "{fine}");
    }
    let said = "`ctx <= 5` contradicts `ctx >= 10`: nothing meets both";
    assert_eq!(against("ctx >= 10, hbm_fit, ctx <= 5"), both(2, said));
    // Of whole numbers none lies between 5 and 6.
    let said = "`ctx < 6` contradicts `ctx > 5`: nothing meets both";
    assert_eq!(against("ctx > 5, ctx < 6"), both(1, said));
    let said = "`sequences == 4` contradicts `sequences == 3`: nothing meets both";
    assert_eq!(against("sequences == 3, sequences == 4"), both(1, said));
    assert_eq!(against("ctx < 0"), both(0, "nothing meets `ctx < 0`: no figure is negative"));
    assert_eq!(against("hbm_headroom > 18446744073709551615"), []);
    let twice = against("tight, tight");
    assert_eq!(twice, [(Code::RequestForm, At::Require("D".into(), 1), "`tight` is required twice".to_owned())]);
}
