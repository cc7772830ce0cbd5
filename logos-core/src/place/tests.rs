//! Cells against every split there is, sites and distances by hand, addresses.

use super::*;
use crate::chip::{self, UnitModel};
use crate::spatial::{Edge, Emission, Flow, Primitive, Recurrence, Stage, StageId, Work};

fn unit(cells: u32) -> UnitModel {
    UnitModel { cells, ..chip::lookup("SN50").unwrap().unit() }
}

fn stage(primitive: Primitive, firings: u64, work: Work) -> Stage {
    Stage {
        statement: 0,
        part: 0,
        primitive,
        firings,
        work,
        recurrence: Recurrence::None,
        emission: Emission::Stream(1),
        bytes: 0,
        adds: false,
        tier: None,
        split: (1, 1),
        site: 0,
        ii: 1,
        period: 1,
        start: 0,
        turn: None,
    }
}

fn at(site: u64, cells: u64) -> Stage {
    Stage { site, split: (cells, 1), ..stage(Primitive::Map, 1, Work { a: cells, b: 1, base: 1 }) }
}

fn edge(from: u32, to: u32, slot_bytes: u64, capacity: u64) -> Edge {
    let flow = Flow::Stream { p: 1, q: 1 };
    Edge { from: StageId(from), to: StageId(to), port: 0, flow, slot_bytes, value: None, capacity, address: 0 }
}

struct Draw(u64);

impl Draw {
    fn within(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + self.0 % (high - low + 1)
    }
}

/// Initiation interval of SN50's unit model (depth 6, tree 3), as RULES.md section 4 words it.
fn interval(stage: &Stage, (na, nb): (u64, u64), traffic: u64) -> u64 {
    let (a, b) = (stage.work.a.div_ceil(na), stage.work.b.div_ceil(nb));
    let levels = (0..).find(|&e| 1 << e >= nb).unwrap();
    let recurrence = match stage.recurrence {
        Recurrence::None => 0,
        Recurrence::Cycles(cycles) => u64::from(cycles),
        Recurrence::DeltaRows => 2 * b * a + 2 * (6 + 3 * levels + if nb > 1 { 8 } else { 0 }),
    };
    [1, stage.work.base * a * b, recurrence, traffic.div_ceil(na * nb * 64)].into_iter().max().unwrap()
}

/// The fewest cells of any split whose firings take no more than `time`.
fn fewest(stage: &Stage, traffic: u64, time: u64) -> Option<u64> {
    let splits = (1..=stage.work.a).flat_map(|na| (1..=stage.work.b).map(move |nb| (na, nb)));
    // Only canonical splits: none of whose cells are empty.
    let canonical = |units: u64, n: u64| n == units.div_ceil(units.div_ceil(n));
    let fits = |&(na, nb): &(u64, u64)| stage.firings * interval(stage, (na, nb), traffic) <= time;
    splits
        .filter(|&(na, nb)| canonical(stage.work.a, na) && canonical(stage.work.b, nb))
        .filter(fits)
        .map(|(na, nb)| na * nb)
        .min()
}

#[test]
fn cells_are_those_of_the_least_scale_by_exhaustive_search() {
    let mut draw = Draw(0x51ab_1e55);
    let mut scarce = 0;
    for _ in 0..300 {
        let cells = draw.within(8, 60);
        let unit = unit(cells as u32);
        let count = draw.within(1, 4);
        let mut stages: Vec<Stage> = (0..count)
            .map(|_| {
                let work = Work { a: draw.within(1, 20), b: draw.within(1, 24), base: draw.within(1, 9) };
                let recurrence = match draw.within(0, 5) {
                    0 => Recurrence::DeltaRows,
                    1 => Recurrence::Cycles(12),
                    _ => Recurrence::None,
                };
                Stage { recurrence, ..stage(Primitive::Map, draw.within(8, 40), work) }
            })
            .collect();
        stages.push(stage(Primitive::Load, 8, Work { a: 1, b: 1, base: 0 }));
        let load = stages.len() as u32 - 1;
        let bytes = draw.within(1, 4000);
        let edges = [edge(load, 0, bytes, 1)];
        let budgets: Vec<Budget> = stages
            .iter()
            .map(|_| Budget {
                share: draw.within(1 << 17, 1 << 21),
                least: draw.within(0, 3) * draw.within(0, 2000),
                soon: None,
            })
            .collect();
        let traffic = |i: usize| if i == 0 { bytes } else { 0 };

        let computing = || 0..stages.len() - 1;
        let share = |scale: u64, i: usize| ((u128::from(scale) * u128::from(budgets[i].share)) >> 20) as u64;
        let time = |scale: u64, i: usize| share(scale, i).max(budgets[i].least);
        let need = |scale: u64| -> Option<u64> {
            computing().map(|i| fewest(&stages[i], traffic(i), time(scale, i))).sum::<Option<u64>>()
        };
        let fits = |scale: u64| need(scale).is_some_and(|sum| sum < cells);
        // A larger scale never needs more cells, so halving finds the least that fits.
        let (mut low, mut high) = (16, 1 << 30);
        while low + 1 < high {
            let middle = (low + high) / 2;
            if fits(middle) { high = middle } else { low = middle }
        }
        scarce += i32::from(!fits(high - high / 16));

        let mut placed = stages.clone();
        allocate(&unit, &mut placed, &edges, &budgets).unwrap();
        for i in computing() {
            let stage = &placed[i];
            assert_eq!(stage.ii, interval(stage, stage.split, traffic(i)), "{stage:?}");
            assert_eq!(Some(stage.cells()), fewest(stage, traffic(i), time(high, i)), "{stage:?} at {high}");
            assert!(stage.firings * stage.ii <= time(high, i), "{stage:?} at {high}");
            let canonical = |units: u64, n: u64| n == units.div_ceil(units.div_ceil(n));
            assert!(canonical(stage.work.a, stage.split.0) && canonical(stage.work.b, stage.split.1), "{stage:?}");
        }
        assert!(placed.iter().map(Stage::cells).sum::<u64>() <= cells);
    }
    assert!(scarce > 200, "{scarce}");
}

#[test]
fn more_stages_than_cells_have_no_place() {
    let mut stages: Vec<Stage> = (0..5).map(|_| stage(Primitive::Map, 1, Work { a: 1, b: 1, base: 1 })).collect();
    stages.push(stage(Primitive::Load, 1, Work { a: 1, b: 1, base: 0 }));
    let budgets = [Budget::WHOLE; 6];
    let placed = allocate(&unit(5), &mut stages, &[], &budgets);
    assert_eq!(placed, Err(PlaceError::Cells { needed: 6, cells: 5 }));
    assert_eq!(allocate(&unit(6), &mut stages, &[], &budgets), Ok(()));
}

#[test]
fn stages_take_one_site_after_another() {
    let mut stages = vec![at(7, 3), at(7, 1), at(7, 40)];
    settle(&mut stages);
    assert_eq!([0, 1, 2].map(|i| stages[i].site), [0, 3, 4]);
}

#[test]
fn distances_on_the_mesh_by_hand() {
    // 36 columns, 24 rows, strips of 8 rows: 288 sites a strip. Injection 2, one a hop.
    let sn50 = unit(864);
    let cases = [
        // The first column of the first strip, to itself, to the next column, to the last one.
        (at(0, 8), at(0, 8), 7),
        (at(0, 1), at(8, 1), 1 + 7),
        (at(0, 1), at(280, 8), 35 + 7),
        // Three columns and three: from the first of the one to the last of the other.
        (at(0, 24), at(24, 24), 5 + 7),
        // Strips one below the other: rows 0 to 15, and 0 to 23.
        (at(0, 1), at(288, 1), 15),
        (at(0, 1), at(576, 1), 23),
        (at(16, 8), at(576 + 80, 8), 8 + 23),
        // A run over the end of a strip has both strips' rows and all columns.
        (at(286, 4), at(0, 1), 35 + 15),
        (at(286, 4), at(286, 4), 35 + 15),
    ];
    for (from, to, hops) in cases {
        assert_eq!(distance(&sn50, &from, &to), 2 + hops, "{} {}", from.site, to.site);
        assert_eq!(distance(&sn50, &to, &from), 2 + hops, "{} {}", to.site, from.site);
    }
    // SN40L: 40 columns, 26 rows; the last strip has two rows, from site 960 on.
    let sn40l = chip::lookup("SN40L").unwrap().unit();
    assert_eq!(distance(&sn40l, &at(960, 2), &at(960, 2)), 2 + 1);
    assert_eq!(distance(&sn40l, &at(960, 2), &at(1038, 2)), 2 + 39 + 1);
    assert_eq!(distance(&sn40l, &at(0, 8), &at(960, 2)), 2 + 25);
}

#[test]
fn buffers_lie_near_their_readers_in_order_and_apart() {
    let unit = unit(864);
    let scratchpad = u64::from(unit.scratchpad);
    let stages = [at(0, 1), at(1, 2), at(10, 4), at(863, 1)];
    // 100 bytes take 128; two tokens of 65 bytes too; the last reader's site has no room for a whole scratchpad and more.
    let mut edges = [edge(0, 1, 100, 1), edge(0, 2, 65, 2), edge(1, 2, 64, 3), edge(2, 3, scratchpad, 2)];
    assert_eq!(assign_addresses(&unit, &stages, &mut edges, 0), Ok(()));
    let starts = edges.each_ref().map(|edge| edge.address);
    assert_eq!(starts, [scratchpad, 10 * scratchpad, 10 * scratchpad + 192, 862 * scratchpad]);
    // What stays in SRAM lies behind them: the last buffer moves down.
    assert_eq!(assign_addresses(&unit, &stages, &mut edges, 1000), Ok(()));
    assert_eq!(edges[3].address, 862 * scratchpad - 1024);
}

#[test]
fn buffers_beyond_the_scratchpads_are_refused_with_both_figures() {
    let unit = unit(864);
    let whole = 864 * u64::from(unit.scratchpad);
    let stages = [at(0, 1), at(1, 1)];
    let mut edges = [edge(0, 1, 64, 10), edge(0, 1, 1, 1)];
    assert_eq!(assign_addresses(&unit, &stages, &mut edges, whole - 704), Ok(()));
    assert_eq!(edges.each_ref().map(|edge| edge.address), [0, 640]);
    let refused = PlaceError::Scratchpad { needed: 704, available: 640 };
    assert_eq!(assign_addresses(&unit, &stages, &mut edges, whole - 703), Err(refused));
    assert_eq!(refused.to_string(), "its buffers need 704 bytes of scratchpad and 640 are free");
}
