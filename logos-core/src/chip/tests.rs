mod any_chip;

use super::*;
use crate::{At, Code};

fn chips() -> impl Iterator<Item = &'static Chip> {
    NAMES.into_iter().map(|name| lookup(name).unwrap_or_else(|refusal| panic!("{}: {refusal}", refusal.at)))
}

/// Bytes a cycle, times ten, rounded to nearest.
fn tenths(rate: u32) -> u64 {
    (u64::from(rate) * 10 + RATE_CYCLES / 2) / RATE_CYCLES
}

#[test]
fn rates_are_the_published_ones_in_cycles_of_the_unit_model() {
    let sn50 = lookup("SN50").unwrap().unit();
    let sn40l = lookup("SN40L").unwrap().unit();
    assert_eq!(tenths(sn50.hbm_rate), 11_446);
    assert_eq!(tenths(sn50.link_rate), 6_221);
    assert_eq!(tenths(sn50.ddr_rate), 622);
    assert_eq!(tenths(sn40l.hbm_rate), 11_267);
    assert_eq!(tenths(sn40l.link_rate), 1_565);
    assert_eq!(tenths(sn40l.ddr_rate), 1_252);
    // Machine balance, MACs a byte of HBM: independent of the modeled cycle.
    let balance =
        |u: &UnitModel| u64::from(u.cells * u.array_rows * u.array_columns) * RATE_CYCLES / u64::from(u.hbm_rate);
    assert_eq!((balance(&sn50), balance(&sn40l)), (434, 177));
}

#[test]
fn unit_models_are_whole() {
    for chip in chips() {
        let u = chip.unit();
        assert_eq!(u64::from(u.cells), u64::from(u.columns) * u64::from(u.rows), "{}", chip.name);
        assert_eq!(chip.fact(Field::PmuCount).unwrap().number(), Some(u64::from(u.cells)), "{}", chip.name);
        assert_eq!(chip.fact(Field::SramBytes).unwrap().number(), Some(u.sram_bytes), "{}", chip.name);
        assert_eq!((u.array_columns, u.lanes, u.chain, u.depth, u.tree), (32, 16, 6, 6, 3));
        assert_eq!((u.scratchpad, u.scratchpad_rate, u.inject, u.hop), (524_288, 64, 2, 1));
        assert_eq!((u.hbm_latency, u.ddr_latency, u.link_latency), (64, 128, 1024));
        assert_eq!((u.context_tile, u.tile, u.sram_ports, u.strip), (1024, 128, 8, 8));
        assert_eq!(u.hbm_rate == 0, u.hbm_bytes == 0, "{}", chip.name);
        assert!(u.ddr_rate > 0 && u.ddr_bytes > 0, "{}", chip.name);
    }
    let by_name = |name| lookup(name).unwrap().unit();
    assert_eq!((by_name("SN50").columns, by_name("SN50").rows, by_name("SN50").array_rows), (36, 24, 18));
    assert_eq!((by_name("SN40L").columns, by_name("SN40L").rows, by_name("SN40L").array_rows), (40, 26, 6));
    assert_eq!(by_name("SN50").hbm_bytes, 64_000_000_000);
    assert_eq!(by_name("SN40L").hbm_bytes, 64 << 30);
}

#[test]
fn widths_are_bounded_by_what_is_published() {
    let scale = |name| {
        let c = lookup(name).unwrap();
        (c.chips_per_node(), c.chips_per_rack(), c.domain())
    };
    assert_eq!(scale("SN50"), (8, Some(16), 256));
    assert_eq!(scale("SN40L"), (8, Some(16), 16));
    assert_eq!(scale("SN10"), (8, Some(8), 8));
    // No rate between SN30s is published: no width above one chip.
    assert_eq!(scale("SN30"), (8, Some(16), 1));
    assert!(!lookup("SN30").unwrap().has_link());
}

#[test]
fn a_width_above_a_node_is_bound_by_what_leaves_it() {
    let sn50 = lookup("SN50").unwrap();
    assert_eq!(sn50.unit_at(8), sn50.unit());
    assert_eq!(tenths(sn50.unit_at(16).link_rate), 1_244);
    // SN40L publishes no such figure, so it has one rate.
    let sn40l = lookup("SN40L").unwrap();
    assert_eq!(sn40l.unit_at(16), sn40l.unit());
}

#[test]
fn facts_are_cited_ordered_and_explained() {
    for chip in chips() {
        let fields: Vec<Field> = chip.facts().iter().map(|f| f.field).collect();
        assert!(fields.is_sorted() && fields.windows(2).all(|w| w[0] != w[1]), "{}", chip.name);
        for fact in chip.facts() {
            let here = format!("{} {}", chip.name, fact.field);
            assert!(!fact.cite.is_empty(), "{here}");
            for source in &fact.cite {
                assert!(source.url.starts_with("https://") && !source.title.is_empty(), "{here}");
            }
            match fact.provenance {
                Provenance::Published => {}
                Provenance::Derived | Provenance::Modeled => assert!(!fact.note.is_empty(), "{here}"),
                Provenance::Measured => panic!("{here}: nothing of ours ran on an RDU"),
            }
        }
    }
}

/// The collected facts: every one that our tables state has the same figure, unit, label and sources there.
#[test]
fn facts_are_the_collected_ones() {
    let collected: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/fixtures/chips.json")).unwrap();
    let mut compared = 0;
    for chip in chips() {
        let rows = collected[&chip.name].as_object().unwrap();
        for fact in chip.facts() {
            let Some(row) = rows.get(fact.field.as_str()) else { continue };
            let here = format!("{} {}", chip.name, fact.field);
            match &fact.value {
                Value::Number(n) => assert_eq!(row[0].as_u64(), Some(*n), "{here}"),
                value @ (Value::Text(_) | Value::List(_)) => {
                    assert_eq!(row[0].as_str(), Some(value.to_string().as_str()), "{here}");
                }
            }
            assert_eq!(row[1].as_str(), Some(fact.unit()), "{here}");
            assert_eq!(row[2].as_str(), Some(fact.provenance.as_str()), "{here}");
            for key in row[3].as_array().unwrap() {
                assert!(fact.cite.iter().any(|s| Some(s.key.as_str()) == key.as_str()), "{here} does not cite {key}");
            }
            compared += 1;
        }
    }
    assert!(compared > 80, "only {compared} facts were compared");
}

#[test]
fn unknown_chips_are_refused_with_the_nearest() {
    assert_eq!(lookup("sn50").unwrap().name, "SN50");
    let near = lookup("SN5O").unwrap_err();
    assert_eq!((near.code, near.at.clone()), (Code::ChipUnknown, At::Chip));
    assert_eq!(near.help.as_deref(), Some("write `SN50`"));
    let far = lookup("H100").unwrap_err();
    assert_eq!(far.help.as_deref(), Some("write one of SN10, SN30, SN40L, SN50"));
    assert!(lookup("").is_err());
}

/// The table of fields that users look things up in is the fields' own.
#[test]
fn the_fields_are_listed() {
    let mut table = "| field | unit | value | needed | meaning |\n|---|---|---|---|---|\n".to_owned();
    for field in Field::ALL {
        let value = match field.form() {
            Form::Number { least, most } if most == i64::MAX as u64 => format!("{least} or more"),
            Form::Number { least, most } => format!("{least} to {most}"),
            Form::Text => "a text".to_owned(),
            Form::List => format!("a list of {}", Precision::ALL.map(Precision::as_str).join(", ")),
        };
        let need = match field.need() {
            Need::Always => "yes",
            Need::Optional => "",
        };
        let (unit, meaning) = (field.unit(), field.meaning().trim());
        table.push_str(&format!("| `{field}` | {unit} | {value} | {need} | {meaning} |\n"));
    }
    let page = include_str!("../../chips/README.md");
    assert!(page.contains(&table), "the table in logos-core/chips/README.md should be:\n{table}");
}
