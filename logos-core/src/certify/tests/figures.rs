//! What Qwen3.5-27B becomes: the figures of every program, and what must hold of them.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::chip::{self, Chip};
use crate::compile::lay;
use crate::kinds::{self, KindProgram};
use crate::place::recurrence;
use crate::request::{Form, Weights};
use crate::spatial::{Binder, Section, SpatialProgram, Stage};

fn programs(chip: &Chip, form: Form) -> Vec<(KindProgram, SpatialProgram)> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs/qwen3.5-27b/config.json");
    let spec = crate::config::read(&std::fs::read(file).unwrap()).unwrap();
    let kinds = kinds::programs(&spec, form, 8, Weights::Config).unwrap();
    let spatial = lay(&spec, chip, form, &kinds, 0).ok().unwrap().laid.spatial;
    kinds.into_iter().zip(spatial).collect()
}

fn is_tight(section: &Section) -> bool {
    256 * (section.interval - section.bound) <= section.bound
}

/// One line a section; and every single-section program is tight.
fn check(chip: &str, form: Form, want: &Expect) {
    let chip = chip::lookup(chip).unwrap();
    let mut table =
        String::from("program           rows x groups  stages edges cells        H        B binder     span  MiB\n");
    for (kind, spatial) in programs(chip, form) {
        for section in &spatial.sections {
            let cells: u64 = section.stages.iter().map(|stage| stage.cells()).sum();
            assert!(cells <= u64::from(chip.unit().cells));
            assert!(section.buffer_bytes() < chip.unit().sram_bytes);
            assert!(spatial.sections.len() > 1 || is_tight(section), "{}: {section:?}", kind.name);
            let binder = format!("{:?}", section.binder).to_lowercase();
            writeln!(
                table,
                "{:<17} {:>4} x {:<7} {:>7} {:>5} {:>5} {:>8} {:>8} {:<10} {:>5} {:>4}",
                kind.name,
                section.group_rows,
                section.groups,
                section.stages.len(),
                section.edges.len(),
                cells,
                section.interval,
                section.bound,
                binder,
                section.span,
                section.buffer_bytes() >> 20,
            )
            .unwrap();
        }
    }
    want.assert_eq(&table);
}

#[test]
fn decode_of_one_sequence() {
    let form = Form::Decode { ctx: 262_144, batch: 1 };
    check(
        "SN50",
        form,
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed                1 x 1             3     2     3       40       40 memory      1164    0
            gated deltanet       1 x 1            57    66   860    83800    83728 memory     85493   92
            attention            1 x 1            48    55   864   319361   319047 memory     321055  153
            head                 1 x 1            10    10   844   278518   278478 memory     279846    2
        "#]],
    );
    check(
        "SN40L",
        form,
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed                1 x 1             3     2     3      120      120 stage       1244    0
            gated deltanet       1 x 1            57    66   999    85120    85058 memory     86871   92
            attention            1 x 1            48    55  1020   324279   324117 memory     326038  153
            head                 1 x 1            10    10  1000   282892   282852 memory     284196    2
        "#]],
    );
}

#[test]
fn decode_of_thirteen_sequences() {
    let form = Form::Decode { ctx: 262_144, batch: 13 };
    check(
        "SN50",
        form,
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed               13 x 1             3     2     3      400      400 stage       1532    0
            gated deltanet      13 x 1            57    66   864    83800    83728 memory     85982  102
            attention           13 x 1            48    55   864  3147389  3144264 memory     3149520  157
            head                13 x 1            10    10   851   278518   278478 memory     279869    2
        "#]],
    );
    check(
        "SN40L",
        form,
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed               13 x 1             3     2     3     1520     1520 stage       2652    0
            gated deltanet      13 x 1            57    66  1040    85120    85058 memory     88959   98
            attention           13 x 1            48    55  1040  3195483  3194234 memory     3199266  148
            head                13 x 1            10    10  1021   282892   282852 memory     284284    2
        "#]],
    );
}

#[test]
fn prefill_of_512_tokens() {
    let form = Form::Prefill { ctx: 262_144, chunk: 512, batch: 1 };
    check(
        "SN50",
        form,
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed              512 x 1             3     2     3    14760    14760 stage      16253    4
            gated deltanet      18 x 29           57    66   863    83760    83728 memory     191750  282
            attention          512 x 1            26    26   864    29297    20164 span       29297   45
            attention          512 x 1             9     8   850   516339   508346 span       516339   33
            attention          512 x 1            26    26   862   106864    67571 span       106864   48
            head                 1 x 1            10    10   844   278518   278478 memory     279846    2
        "#]],
    );
    check(
        "SN40L",
        form,
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed              512 x 1             3     2     3    58640    58640 stage      60135    5
            gated deltanet       6 x 86           57    66  1033   140360   140352 stage      296756  273
            attention          512 x 1            26    26  1036    48506    34056 span       48506   46
            attention          512 x 1             9     8   969  1200233  1184256 span       1200233   33
            attention            6 x 86           26    26  1035   172256   100878 span       172256   74
            head                 1 x 1            10    10  1000   282892   282852 memory     284196    2
        "#]],
    );
}

/// Four sequences of 128 tokens are as many rows as one of 512 and read the weights once; of 512 tokens each, rows bind where weights did.
#[test]
fn prefill_of_four_sequences() {
    let form = |chunk| Form::Prefill { ctx: 65_536, chunk, batch: 4 };
    check(
        "SN50",
        form(128),
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed              512 x 1             3     2     3    14760    14760 stage      16253    4
            gated deltanet      18 x 29           57    66   863    83760    83728 memory     191750  287
            attention          512 x 1            26    26   864    29297    20164 span       29297   45
            attention          512 x 1             9     8   864   242564   240015 span       242564    9
            attention          512 x 1            26    26   862   106864    67571 span       106864   48
            head                 4 x 1            10    10   861   278518   278478 memory     279854    2
        "#]],
    );
    check(
        "SN50",
        form(512),
        &expect![[r#"
            program           rows x groups  stages edges cells        H        B binder     span  MiB
            embed             2048 x 1             3     2     3    59000    59000 stage      61605   16
            gated deltanet      18 x 114          57    66   863   265404   265392 stage      555733  290
            attention           18 x 114          26    26   860    69298    46512 span       69298   24
            attention         2048 x 1             9     8   850   527793   514280 span       527793   39
            attention           18 x 114          26    26   862   243850   164160 span       243850   83
            head                 4 x 1            10    10   861   278518   278478 memory     279854    2
        "#]],
    );
}

#[test]
fn where_a_stage_binds_the_cells_are_used() {
    // SN40L has the fewer multiply-accumulates a byte, so that a chunk binds it by compute.
    let chip = chip::lookup("SN40L").unwrap();
    let cells = u64::from(chip.unit().cells);
    let mut bound_by_a_stage = 0;
    for chunk in [256, 384, 512, 768, 1024] {
        for (kind, spatial) in programs(chip, Form::Prefill { ctx: 262_144, chunk, batch: 1 }) {
            let [section] = &spatial.sections[..] else { continue };
            if section.groups == 1 || !matches!(section.binder, Binder::Stage | Binder::Recurrence) {
                continue;
            }
            bound_by_a_stage += 1;
            let computing = section.stages.iter().filter(|stage| !stage.primitive.moves_bytes());
            let work: u64 = computing.map(|s| s.firings * s.work.base * s.work.a * s.work.b).sum();
            let carried = |s: &Stage| {
                let (a, b) = (s.work.a.div_ceil(s.split.0), s.work.b.div_ceil(s.split.1));
                s.firings * recurrence(&chip.unit(), s.recurrence, a, b, s.split.1)
            };
            let least = section.stages.iter().map(carried).max().unwrap_or(0).max(work / cells);
            assert!(section.interval * 100 <= least * 105, "{} {chunk}: {} of {least}", kind.name, section.interval);
        }
    }
    assert!(bound_by_a_stage >= 3);
}
