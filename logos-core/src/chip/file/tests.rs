//! A chip file with one thing wrong: what is said, and where.

use expect_test::{Expect, expect};

use crate::chip::{Chip, Field, NAMES, Need, Provenance, lookup, text};
use crate::{Code, Refusal};

const EX1: &str = include_str!("../../../../tests/fixtures/chips/ex1.toml");

/// Every refusal of a file, `line:column code: message (help)`.
fn refusals(text: &str) -> String {
    let refusals: Vec<Refusal> = Chip::read("c", text.as_bytes()).expect_err("a refusal");
    let line = |refusal: &Refusal| {
        let help = refusal.help.as_deref().expect("what to write instead");
        format!("{} {}: {} ({help})\n", refusal.at, refusal.code, refusal.message)
    };
    refusals.iter().map(line).collect()
}

/// The example with one text replaced, which it has once.
fn with(old: &str, new: &str, expected: Expect) {
    assert_eq!(EX1.matches(old).count(), 1, "{old}");
    expected.assert_eq(&refusals(&EX1.replace(old, new)));
}

/// The table of a fact or a source.
fn table(name: &str) -> String {
    let start = EX1.find(&format!("[{name}]")).unwrap();
    let length = EX1[start..].find("\n\n").map_or(EX1.len() - start, |length| length + 1);
    EX1[start..start + length].to_owned()
}

/// The example with one line of a table replaced.
fn line(of: &str, key: &str, new: &str, expected: Expect) {
    let old = table(of);
    let line = old.lines().find(|line| line.starts_with(key)).unwrap();
    with(&old, &old.replace(&format!("{line}\n"), new), expected);
}

#[test]
fn the_example_is_a_chip_of_modeled_facts() {
    let chip = Chip::read("ex1.toml", EX1.as_bytes()).unwrap();
    assert_eq!((chip.name.as_str(), chip.target.as_str()), ("EX1", "ex1"));
    assert_eq!(chip.unit().cells, 96);
    assert_eq!(chip.modeled_fields().count(), chip.facts().len());
    // No rack is tabulated: a width left out is sought within the node, which is also the domain.
    assert_eq!((chip.chips_per_rack(), chip.tensor_parallel_width(), chip.domain()), (None, 4, 4));
    let lanes = chip.fact(Field::PcuLanes).unwrap();
    assert_eq!((lanes.number(), lanes.unit(), lanes.provenance), (Some(16), "count", Provenance::Modeled));
    assert_eq!((lanes.cite[0].key.as_str(), lanes.note.as_str()), ("PLASTICINE", "as Plasticine's"));
}

#[test]
fn a_fact_says_where_it_comes_from() {
    let of = "facts.hbm_bytes";
    line(
        of,
        "cite",
        "",
        expect![[r#"
        c:73:1 LOGOS-CHIP-05: `hbm_bytes` has no citation (write `cite = ["KEY"]`, and describe the source in `[sources.KEY]`)
    "#]],
    );
    line(
        of,
        "cite",
        "cite = []\n",
        expect![[r#"
        c:77:8 LOGOS-CHIP-05: `hbm_bytes` cites nothing (write `cite = ["KEY"]`, and describe the source in `[sources.KEY]`)
    "#]],
    );
    line(
        of,
        "cite",
        "cite = \"EXAMPLE\"\n",
        expect![[r#"
        c:77:8 LOGOS-CHIP-05: what `hbm_bytes` cites is not a list (write `cite = ["KEY"]`, and describe the source in `[sources.KEY]`)
    "#]],
    );
    line(
        of,
        "cite",
        "cite = [\"EXAMPEL\"]\n",
        expect![[r#"
        c:77:9 LOGOS-CHIP-05: `hbm_bytes` cites `EXAMPEL`, which is not described (did you mean `EXAMPLE`?)
    "#]],
    );
    line(
        of,
        "cite",
        "cite = [\"EXAMPLE\", \"HC26\"]\n",
        expect![[r#"
        c:77:20 LOGOS-CHIP-05: `hbm_bytes` cites `HC26`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
    "#]],
    );
    line(
        of,
        "provenance",
        "",
        expect![[r#"
        c:73:1 LOGOS-CHIP-05: `hbm_bytes` has no provenance: nobody can tell where its figure comes from (write `provenance = "…"`, one of published, derived, modeled, measured)
    "#]],
    );
    line(
        of,
        "provenance",
        "provenance = \"guessed\"\n",
        expect![[r#"
        c:76:14 LOGOS-CHIP-05: `guessed` is no provenance (write `provenance = "…"`, one of published, derived, modeled, measured)
    "#]],
    );
    line(
        of,
        "unit",
        "unit = \"GB\"\n",
        expect![[r#"
        c:75:8 LOGOS-CHIP-05: the unit of `hbm_bytes` is bytes, not GB (write `unit = "bytes"`, and the value in it)
    "#]],
    );
    line(
        of,
        "unit",
        "",
        expect![[r#"
        c:73:1 LOGOS-CHIP-05: `hbm_bytes` has no unit (write `unit = "bytes"`, and the value in it)
    "#]],
    );
    line(
        of,
        "value",
        "",
        expect![[r#"
        c:73:1 LOGOS-CHIP-05: `hbm_bytes` has no value (add `value = …`: High-bandwidth memory; 0 where there is none)
    "#]],
    );
    line(
        of,
        "note",
        "",
        expect![[r#"
        c:73:1 LOGOS-CHIP-05: `hbm_bytes` does not say why it was chosen so (add `note = "…"`; a published figure needs none)
    "#]],
    );
    line(
        "sources.PLASTICINE",
        "url",
        "",
        expect![[r#"
        c:259:1 LOGOS-CHIP-05: the source `PLASTICINE` has no url (add `url = "…"`)
    "#]],
    );
}

#[test]
fn names_are_known_and_written_once() {
    with(
        "[facts.hbm_bytes]",
        "[facts.hbm_byte]",
        expect![[r#"
        c:73:8 LOGOS-CHIP-04: unknown field `hbm_byte` (did you mean `hbm_bytes`?)
    "#]],
    );
    with(
        "[facts.hbm_bytes]",
        "[facts.colour]",
        expect![[r#"
        c:73:8 LOGOS-CHIP-04: unknown field `colour` (logos-core/chips/README.md lists the fields)
        c:264:1 LOGOS-CHIP-06: the chip has no `hbm_bytes`, which its unit model needs (add `[facts.hbm_bytes]` with `unit = "bytes"`: High-bandwidth memory; 0 where there is none)
    "#]],
    );
    with(
        "[facts.hbm_bytes]",
        "[fact.hbm_bytes]",
        expect![[r#"
        c:73:1 LOGOS-CHIP-04: unknown group `fact` (did you mean `facts`?)
    "#]],
    );
    with(
        "[facts.hbm_bytes]",
        "[facts.mesh_rows]",
        expect![[r#"
        c:74:9 LOGOS-CHIP-07: `mesh_rows` is out of range: 16000000000 count (write a whole number from 1 to 4194303: Mesh rows)
        c:75:8 LOGOS-CHIP-05: the unit of `mesh_rows` is count, not bytes (write `unit = "count"`, and the value in it)
        c:126:8 LOGOS-CHIP-03: `mesh_rows` is stated twice (leave one of the two out)
        c:264:1 LOGOS-CHIP-06: the chip has no `hbm_bytes`, which its unit model needs (add `[facts.hbm_bytes]` with `unit = "bytes"`: High-bandwidth memory; 0 where there is none)
    "#]],
    );
    with(
        "[sources.PLASTICINE]",
        "[sources.EXAMPLE]",
        expect![[r#"
            c:68:9 LOGOS-CHIP-05: `sram_bytes_per_pmu` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:146:9 LOGOS-CHIP-05: `array_rows` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:153:9 LOGOS-CHIP-05: `array_columns` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:160:9 LOGOS-CHIP-05: `pcu_lanes` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:167:9 LOGOS-CHIP-05: `chain` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:174:9 LOGOS-CHIP-05: `pcu_stages` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:188:9 LOGOS-CHIP-05: `scratchpad_rate` cites `PLASTICINE`, which is not described (add `[sources.KEY]` with title, publisher, date, url)
            c:259:10 LOGOS-CHIP-03: the source `EXAMPLE` is described twice (give the other its own key, or leave it out)
        "#]],
    );
    line(
        "facts.hbm_bytes",
        "note",
        "notes = \"a round figure\"\n",
        expect![[r#"
            c:78:1 LOGOS-CHIP-04: unknown key `notes` of a fact (did you mean `note`?)
        "#]],
    );
    line(
        "facts.hbm_bytes",
        "unit",
        "unit = \"bytes\"\nunit = \"bytes\"\n",
        expect![[r#"
        c:76:1 LOGOS-CHIP-03: the key `unit` is written twice (leave one of the two out)
    "#]],
    );
    with(
        "target = ",
        "traget = ",
        expect![[r#"
            c:7:1 LOGOS-CHIP-04: unknown key `traget` of the chip (did you mean `target`?)
        "#]],
    );
    with(
        "name = \"EX1\"\n",
        "",
        expect![[r#"
        c:1:1 LOGOS-CHIP-06: the chip has no `name` (write `name = "MY1"`, what bundles and people call it: a letter, then letters, digits, `-`, `_` and `.`, at most 32)
    "#]],
    );
    with(
        "name = \"EX1\"",
        "name = \"1 chip\"",
        expect![[r#"
        c:5:8 LOGOS-CHIP-07: `1 chip` is no name of a chip (write `name = "MY1"`, what bundles and people call it: a letter, then letters, digits, `-`, `_` and `.`, at most 32)
    "#]],
    );
    line(
        "facts.precisions",
        "value",
        "value = [\"bf16\", \"fp23\", \"bf16\"]\n",
        expect![[r#"
        c:35:18 LOGOS-CHIP-04: unknown number format `fp23` (did you mean `fp32`?)
        c:35:26 LOGOS-CHIP-07: `bf16` is listed twice (leave one of the two out)
    "#]],
    );
}

#[test]
fn figures_are_in_range_and_agree() {
    line(
        "facts.chips_per_node",
        "value",
        "value = 0\n",
        expect![[r#"
        c:104:9 LOGOS-CHIP-07: `chips_per_node` is out of range: 0 count (write a whole number from 1 to 65536: Chips of a node)
    "#]],
    );
    line(
        "facts.pcu_lanes",
        "value",
        "value = 4_194_304\n",
        expect![[r#"
        c:157:9 LOGOS-CHIP-07: `pcu_lanes` is out of range: 4194304 count (write a whole number from 1 to 4194303: f32 lanes of a PCU)
    "#]],
    );
    line(
        "facts.pcu_lanes",
        "value",
        "value = \"16\"\n",
        expect![[r#"
        c:157:9 LOGOS-CHIP-07: the value of `pcu_lanes` is not a whole number (write a whole number: f32 lanes of a PCU)
    "#]],
    );
    line(
        "facts.pcu_lanes",
        "value",
        "value = 9_223_372_036_854_775_808\n",
        expect![[r#"
        c:157:9 LOGOS-CHIP-03: the number is too large (write a whole number without a sign, a point or an exponent, `1_600` or `1600`)
    "#]],
    );
    line(
        "facts.mesh_columns",
        "value",
        "value = 11\n",
        expect![[r#"
        c:120:9 LOGOS-CHIP-07: `mesh_columns`: a mesh of 11 by 8 does not hold 96 PCUs, one a site (choose `mesh_columns` and `mesh_rows` whose product is `pcu_count`)
    "#]],
    );
    line(
        "facts.pmu_count",
        "value",
        "value = 97\n",
        expect![[r#"
        c:51:9 LOGOS-CHIP-07: `pmu_count`: 97 PMUs do not pair with 96 PCUs: a cell is one of each (another ratio is not modeled: write the number of pairs in both)
        c:58:9 LOGOS-CHIP-07: `sram_bytes`: 97 PMUs of 262144 bytes are 25427968 bytes of SRAM, not 25165824 (`sram_bytes` is `pmu_count` times `sram_bytes_per_pmu`)
    "#]],
    );
    line(
        "facts.sram_bytes",
        "value",
        "value = 1\n",
        expect![[r#"
        c:58:9 LOGOS-CHIP-07: `sram_bytes`: 96 PMUs of 262144 bytes are 25165824 bytes of SRAM, not 1 (`sram_bytes` is `pmu_count` times `sram_bytes_per_pmu`)
    "#]],
    );
    line(
        "facts.hbm_bytes",
        "value",
        "value = 0\n",
        expect![[r#"
        c:81:9 LOGOS-CHIP-07: `hbm_bandwidth_bytes_per_s`: a rate of HBM where there is none (leave it out, or state the memory's bytes)
    "#]],
    );
    line(
        "facts.hbm_bandwidth_bytes_per_s",
        "value",
        "value = 0\n",
        expect![[r#"
        c:81:9 LOGOS-CHIP-07: `hbm_bandwidth_bytes_per_s`: HBM with a rate of 0 is never read (write its rate in bytes a second)
    "#]],
    );
    line(
        "facts.ddr_bandwidth",
        "value",
        "value = 1\n",
        expect![[r#"
        c:95:9 LOGOS-CHIP-07: `ddr_bandwidth`: the rate is out of range: in 65536 cycles of the unit model it moves no byte, or more than 4294967295 (a cycle follows from `peak_bf16_tflops`, `pcu_count`, `array_rows` and `array_columns`)
    "#]],
    );
    line(
        "facts.ddr_bandwidth",
        "value",
        "value = 9_223_372_036_854_775_807\n",
        expect![[r#"
        c:95:9 LOGOS-CHIP-07: `ddr_bandwidth`: the rate is out of range: in 65536 cycles of the unit model it moves no byte, or more than 4294967295 (a cycle follows from `peak_bf16_tflops`, `pcu_count`, `array_rows` and `array_columns`)
    "#]],
    );
    let inter = "[facts.scale_up_inter_node_bandwidth]\nvalue = 100_000_000_001\nunit = \"bytes/s\"\nprovenance = \"published\"\n\
        cite = [\"EXAMPLE\"]\n\n[facts.ddr_bytes_max]\nvalue = 1\nunit = \"bytes\"\nprovenance = \"published\"\ncite = [\"EXAMPLE\"]\n";
    with(
        "# Sources\n",
        inter,
        expect![[r#"
        c:88:9 LOGOS-CHIP-07: `ddr_bytes_sizing_default`: 64000000000 bytes of DDR to size with are above the most, 1 (size with the DDR that a chip is sold with)
        c:252:9 LOGOS-CHIP-07: `scale_up_inter_node_bandwidth`: 100000000001 bytes/s are more than the whole rate between chips, 100000000000 (`scale_up_bandwidth_per_direction` is the whole, of which this is a part)
    "#]],
    );
}

#[test]
fn what_the_unit_model_needs_is_there() {
    for field in Field::ALL {
        let name = format!("facts.{field}");
        if !EX1.contains(&format!("[{name}]")) {
            continue;
        }
        let found = Chip::read("c", EX1.replace(&table(&name), "").as_bytes());
        match (field.need(), found) {
            (Need::Always, Err(refusals)) => {
                assert_eq!(refusals.len(), 1, "{refusals:?}");
                assert_eq!(refusals[0].code, Code::ChipMissing);
                assert!(refusals[0].message.contains(field.as_str()), "{refusals:?}");
            }
            (Need::Optional, Ok(chip)) => assert_eq!(chip.fact(*field), None),
            (Need::Optional, Err(refusals)) => {
                let rates = [Field::HbmBandwidth, Field::DdrBandwidth];
                assert!(rates.contains(field) && refusals[0].code == Code::ChipMissing, "{refusals:?}");
            }
            (Need::Always, Ok(_)) => panic!("{field} was not missed"),
        }
    }
    expect![[r#"
        c:258:1 LOGOS-CHIP-06: the chip has no `strip`, which its unit model needs (add `[facts.strip]` with `unit = "rows"`: Mesh rows of a strip of the site snake)
    "#]].assert_eq(&refusals(&EX1.replace(&table("facts.strip"), "")));
}

#[test]
fn one_fault_is_told_once() {
    line(
        "facts.hbm_bytes",
        "value",
        "value = 1.6e10\n",
        expect![[r#"
        c:74:9 LOGOS-CHIP-03: the figure is not a whole number (write a whole number without a sign, a point or an exponent, `1_600` or `1600`)
    "#]],
    );
    with(
        "[facts.hbm_bytes]",
        "[facts.hbm_bytes",
        expect![[r#"
        c:73:17 LOGOS-CHIP-03: expected `]` after the name, found the end of the line (write `[facts.FIELD]` or `[sources.KEY]`)
    "#]],
    );
    with(
        "[facts.hbm_bytes]",
        "[[facts.hbm_bytes]]",
        expect![[r#"
        c:73:2 LOGOS-CHIP-03: expected the name of a group, found `[` (write `[facts.FIELD]` or `[sources.KEY]`)
    "#]],
    );
    with(
        "title = \"An example",
        "title = An example",
        expect![[r#"
        c:254:9 LOGOS-CHIP-03: expected a value, found `A` (write a text in double quotes, a whole number, or a list of texts, on one line)
    "#]],
    );
    with(
        "name = \"EX1\"",
        "name = 'EX1'",
        expect![[r#"
            c:5:8 LOGOS-CHIP-03: expected a value, found `'` (write a text in double quotes, a whole number, or a list of texts, on one line)
        "#]],
    );
}

#[test]
fn a_known_chips_name_is_for_that_chip() {
    // As `cargo logos chips SN50 --toml` prints it: the same chip under its own name.
    for name in NAMES {
        assert_eq!(Chip::read("mine.toml", text(name).unwrap().as_bytes()).as_ref(), Ok(lookup(name).unwrap()));
    }
    let changed = text("SN50").unwrap().replace("value = 64_000_000_000", "value = 96_000_000_000");
    expect![[r#"
        c:7:8 LOGOS-CHIP-08: `SN50` is a chip that comes with the compiler, and its `hbm_bytes` is another (give the chip of your file a name of its own)
    "#]].assert_eq(&refusals(&changed));
    let renamed = changed.replace("name = \"SN50\"", "name = \"SN50-96\"");
    assert_eq!(Chip::read("mine.toml", renamed.as_bytes()).unwrap().unit().hbm_bytes, 96_000_000_000);
    expect![[r#"
        c:5:8 LOGOS-CHIP-08: `sn40l` is a chip that comes with the compiler, and its `generation` is another (give the chip of your file a name of its own)
    "#]].assert_eq(&refusals(&EX1.replace("name = \"EX1\"", "name = \"sn40l\"")));
}

#[test]
fn no_bytes_are_a_crash() {
    let empty = refusals("");
    assert!(empty.starts_with("c:1:1 LOGOS-CHIP-06: the chip has no `name`"), "{empty}");
    let bad = Chip::read("c", b"name = \"\xff\"").unwrap_err();
    assert_eq!(bad[0].to_string(), "LOGOS-CHIP-03: the file is not UTF-8\n  help: save it as UTF-8");
    let large = vec![b'\n'; crate::chip::LARGEST_CHIP_BYTES + 1];
    assert_eq!(Chip::read("c", &large).unwrap_err().len(), 1);
    let junk = "[\n".repeat(10_000);
    assert_eq!(Chip::read("c", junk.as_bytes()).unwrap_err().len(), 64);
    // Cut off anywhere, or with any byte replaced.
    let bytes = EX1.as_bytes();
    for end in (0..bytes.len()).step_by(13) {
        assert!(Chip::read("c", &bytes[..end]).is_err() || end + 60 > bytes.len(), "{end}");
    }
    let others = [b'"', b'\n', b'[', b'=', b'9', 0, 0xff];
    for (at, &byte) in (0..bytes.len()).step_by(3).zip(others.iter().cycle()) {
        let mut changed = bytes.to_vec();
        changed[at] = byte;
        if let Err(refusals) = Chip::read("c", &changed) {
            assert!(!refusals.is_empty() && refusals.iter().all(|refusal| refusal.help.is_some()), "{at}");
        }
    }
}

/// Addresses of buffers are words: a larger SRAM would have buffers that no address reaches.
#[test]
fn sram_is_what_addresses_count() {
    let figure = |text: String, name: &str, value: u64| {
        let old = table(&format!("facts.{name}"));
        let lines =
            old.lines().map(|line| if line.starts_with("value") { format!("value = {value}") } else { line.into() });
        text.replace(&old, &(lines.collect::<Vec<_>>().join("\n") + "\n"))
    };
    let of = |cells: u64, each: u64| {
        let figures =
            [("pcu_count", cells), ("pmu_count", cells), ("sram_bytes_per_pmu", each), ("sram_bytes", cells * each)];
        let text = figures.iter().fold(EX1.to_owned(), |text, (name, value)| figure(text, name, *value));
        figure(figure(text, "mesh_columns", 32), "mesh_rows", cells / 32)
    };
    let each = (1 << 22) - 1;
    assert!(Chip::read("c", of(1024, each).as_bytes()).is_ok());
    let large = of(1536, each);
    expect![[r#"
        c:58:9 LOGOS-CHIP-07: `sram_bytes`: 6442449408 bytes of SRAM are more than a buffer's address counts, 4294967295 (an address in a bundle is a word of 32 bits: size the chip by less, or each die as one)
    "#]].assert_eq(&refusals(&large));
}

/// The rack is no wider than what is joined: a width left out is one that the chip takes.
#[test]
fn a_width_left_out_is_within_the_domain() {
    let start = EX1.find("[facts.chips_per_node]").unwrap();
    let rack = EX1[start..]
        .split("\n\n")
        .next()
        .unwrap()
        .replace("chips_per_node", "chips_per_rack")
        .replace("value = 4", "value = 16");
    let chip = Chip::read("c", EX1.replace("# Sources\n", &format!("{rack}\n\n# Sources\n")).as_bytes()).unwrap();
    assert_eq!((chip.chips_per_rack(), chip.domain(), chip.tensor_parallel_width()), (Some(16), 4, 4));
}
