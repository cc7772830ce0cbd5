//! Phases, their budgets, and the turns of the memory, on a net small enough to count.

use super::super::laps::{Free, Laps};
use super::super::levels;
use super::super::memory;
use crate::chip::{self, RATE_CYCLES, UnitModel};
use crate::place::Budget;
use crate::spatial::{
    Binder, Edge, Emission, Flow, Head, Primitive, Recurrence, Section, Stage, StageId, Tier, Turn, Work,
};

fn stage(primitive: Primitive, firings: u64, a: u64, bytes: u64) -> Stage {
    Stage {
        statement: 0,
        part: 0,
        primitive,
        firings,
        work: Work { a, b: 1, base: 1 },
        recurrence: Recurrence::None,
        emission: Emission::Stream(1),
        bytes,
        adds: false,
        tier: (bytes > 0).then_some(Tier::Hbm),
        split: (1, 1),
        site: 0,
        ii: 1,
        period: 1,
        start: 0,
        turn: None,
    }
}

const STREAM: Flow = Flow::Stream { p: 1, q: 1 };
const HOLD: Flow = Flow::Hold { groups: 1 };

fn edge(from: u32, to: u32, flow: Flow) -> Edge {
    Edge { from: StageId(from), to: StageId(to), port: 0, flow, slot_bytes: 1, value: None, capacity: 0, address: 0 }
}

/// x, a norm's sum, its weight, the normalised row, a weight in tiles, a product of both, a map with x, a store.
fn net() -> (Vec<Stage>, Vec<Edge>) {
    let stages = vec![
        stage(Primitive::Load, 4, 1, 0),
        stage(Primitive::Reduce, 4, 100, 0),
        stage(Primitive::Load, 4, 1, 256),
        stage(Primitive::Map, 4, 100, 0),
        stage(Primitive::Load, 8, 1, 1 << 20),
        stage(Primitive::GemmA, 8, 5000, 0),
        stage(Primitive::Map, 8, 100, 0),
        stage(Primitive::Store, 8, 1, 512),
    ];
    let edges = vec![
        edge(0, 1, STREAM),
        edge(0, 3, STREAM),
        edge(1, 3, HOLD),
        edge(2, 3, STREAM),
        edge(3, 5, HOLD),
        edge(4, 5, STREAM),
        edge(0, 6, STREAM),
        edge(5, 6, STREAM),
        edge(6, 7, STREAM),
    ];
    (stages, edges)
}

#[test]
fn a_phase_ends_where_something_is_held() {
    let (stages, edges) = net();
    // x has its first reader's, the weights their product's.
    assert_eq!(levels::of(&stages, &edges, 1), [0, 0, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn what_is_held_in_parts_of_a_group_is_no_new_phase() {
    let (stages, mut edges) = net();
    edges[4].flow = Flow::Hold { groups: 4 };
    assert_eq!(levels::of(&stages, &edges, 1), [0, 0, 1, 1, 1, 1, 1, 1]);
    // Held once a group, it is.
    assert_eq!(levels::of(&stages, &edges, 4), [0, 0, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn budgets_follow_the_root_of_work_and_what_cannot_be_read_ahead() {
    let (stages, edges) = net();
    let phases = levels::of(&stages, &edges, 1);
    // Loads and stores count one unit a firing: 404, 404 and 40,816 units; their roots 20, 20 and 202.
    let by_work = [20, 20, 202].map(|root| (root << 20) / 242);
    let mut tied = [0; 8];
    let budgets = |tied: &[u64]| levels::budgets(&unit(1024), &stages, &edges, &phases, tied);
    let want = |least| {
        let mut want = [0, 0, 1, 1, 2, 2, 2, 2].map(|l: usize| Budget {
            share: by_work[l],
            least: if l == 2 { least } else { 0 },
            soon: None,
        });
        // The map after the product: the root of the 100 units of a firing, times eight firings.
        want[6].soon = Some((80 << 20) / 242);
        want
    };
    assert_eq!(budgets(&tied), want(0));
    // 4 MiB take 4,096 cycles; with eight firings a sixteenth of them is soon enough, with 64 half would be.
    tied[4] = 4 << 20;
    assert_eq!(budgets(&tied), want(256));
}

/// A chip whose memory moves `rate` bytes a cycle.
fn unit(rate: u64) -> UnitModel {
    let mut unit = chip::lookup("SN50").unwrap().unit();
    unit.hbm_rate = (rate * RATE_CYCLES) as u32;
    unit
}

#[test]
fn turns_follow_the_phases_and_share_the_rate() {
    let (mut stages, edges) = net();
    let phases = levels::of(&stages, &edges, 1);
    let ranks = memory::ranks(&stages, &phases, &edges, &[false; 8]);
    assert_eq!((ranks[2], ranks[4]), (4, 7));

    let unit = unit(1024);
    assert_eq!(memory::bound(&unit, &stages, Tier::Hbm), Some(1 + 8192 + 4));
    let turns = memory::take_turns(&unit, &mut stages, &ranks, &[0; 8], false, 8197, &[]).unwrap();
    // The stores' 4,096 bytes an interval leave 65,536 · 1,024 - 32,749 of the rate, and each load's rounding one.
    let free = 65_536 * 1024 - 32_749 - 1;
    let first = (1024 * 65_536u64).div_ceil(free).next_multiple_of(4);
    let second = ((8u64 << 20) * 65_536).div_ceil(free).next_multiple_of(8);
    let want = [(0, first), (first, second)].map(|(start, length)| Turn { tier: Tier::Hbm, start, length, head: None });
    assert_eq!(turns, want);
    assert_eq!((stages[2].period, stages[2].start, stages[2].turn), (first / 4, 0, Some(0)));
    assert_eq!((stages[4].period, stages[4].start, stages[4].turn), (second / 8, first, Some(1)));
    assert_eq!(memory::cover(&turns), first + second);
    // All of them at the periods they got stay within the rate.
    for stage in [&stages[2], &stages[4]] {
        assert!((stage.bytes * 65_536).div_ceil(stage.period) + 32_749 <= u64::from(unit.hbm_rate));
    }
}

#[test]
fn loads_whose_tokens_make_a_detour_end_earlier_than_the_others_of_their_turn() {
    let (mut stages, _) = net();
    let unit = unit(1024);
    let free = memory::free(&unit, &stages, Tier::Hbm, 8197);
    let mut detours = [0; 8];
    let mut ends = |detour| {
        detours[4] = detour;
        let turns = memory::take_turns(&unit, &mut stages, &[0; 8], &[0; 8], false, 8197, &detours).unwrap();
        let ends = |i: usize| stages[i].firings * stages[i].period;
        assert!(memory::share(&stages[2], stages[2].period) + memory::share(&stages[4], stages[4].period) <= free);
        (turns[0].length, ends(2), ends(4))
    };
    let (length, one, other) = ends(0);
    assert!(one <= length && other <= length && length <= one + 8);
    // Nearly all that the turn reads ends 1,000 cycles before its end, so the turn is longer by nearly as much.
    let (longer, one, other) = ends(1000);
    assert!(other <= one - 992 && longer > length + 900 && longer <= length + 1008, "{longer} {one} {other}");
}

#[test]
fn a_window_is_no_shorter_than_its_readers_pace_and_a_steady_pipeline_has_one() {
    let (mut stages, edges) = net();
    let phases = levels::of(&stages, &edges, 1);
    let ranks = memory::ranks(&stages, &phases, &edges, &[false; 8]);
    let mut pace = [0; 8];
    pace[4] = 20_000;
    let unit = unit(1024);
    let turns = memory::take_turns(&unit, &mut stages, &ranks, &pace, false, 8197, &[]).unwrap();
    assert_eq!(turns[1].length, 20_000);
    assert_eq!(stages[4].period, 2_500);

    let turns = memory::take_turns(&unit, &mut stages, &[0; 8], &[0; 8], true, 9_000, &[]).unwrap();
    assert_eq!(turns, [Turn { tier: Tier::Hbm, start: 0, length: 9_000, head: None }]);
    assert_eq!((stages[2].period, stages[4].period), (2_250, 1_125));
}

#[test]
fn stores_beyond_the_rate_leave_no_turn() {
    let (mut stages, edges) = net();
    let phases = levels::of(&stages, &edges, 1);
    let ranks = memory::ranks(&stages, &phases, &edges, &[false; 8]);
    // 4,096 bytes in 4 cycles are all that the memory moves.
    let turns = memory::take_turns(&unit(1024), &mut stages, &ranks, &[0; 8], false, 4, &[]);
    assert_eq!(turns, Err(crate::place::PlaceError::Range));
}

#[test]
fn a_turn_waits_for_what_its_gathers_need_and_moves_later_ones_along() {
    let (mut stages, edges) = net();
    let phases = levels::of(&stages, &edges, 1);
    let ranks = memory::ranks(&stages, &phases, &edges, &[false; 8]);
    let mut turns = memory::take_turns(&unit(1024), &mut stages, &ranks, &[0; 8], false, 8197, &[]).unwrap();
    let length = turns[0].length;
    assert!(!memory::postpone(&mut stages, &mut turns, &[0, 0], &Laps::default()));
    assert!(memory::postpone(&mut stages, &mut turns, &[100, 0], &Laps::default()));
    assert_eq!((turns[0].start, turns[1].start), (100, 100 + length));
    assert_eq!((stages[2].start, stages[4].start), (100, 100 + length));
}

/// A norm's weight and a product's in turns of their own, and a gather by what the product says.
fn waiting() -> Section {
    let load = |start, firings, period, turn| Stage {
        start,
        period,
        turn: Some(turn),
        ..stage(Primitive::Load, firings, 1, 1 << 10)
    };
    let gather = Stage { primitive: Primitive::Gather, ..load(500, 10, 20, 3) };
    let stages = vec![load(0, 4, 10, 0), load(40, 4, 10, 1), load(80, 4, 10, 2), gather];
    let turn = |start, length| Turn { tier: Tier::Hbm, start, length, head: None };
    Section {
        group_rows: 1,
        groups: 1,
        stages,
        edges: Vec::new(),
        turns: vec![turn(0, 40), turn(40, 40), turn(80, 40), turn(500, 200)],
        interval: 0,
        span: 0,
        binder: Binder::Memory,
        bound: 0,
    }
}

#[test]
fn what_the_memory_reads_while_it_waits_for_ids_is_the_next_iterations() {
    let mut section = waiting();
    let laps =
        Laps::fill(&unit(1024), &mut section, Free { followed: &[false; 4], states: &[], layers: 8, heads: false });
    // 380 cycles of waiting are more than both free turns take; the one before the gather stays.
    let starts: Vec<(u64, u64)> = section.turns.iter().map(|turn| (turn.start, turn.length)).collect();
    assert_eq!(starts, [(80, 40), (120, 40), (160, 40), (500, 200)]);
    let turns = |section: &Section| -> Vec<_> { section.stages.iter().map(|s| s.turn.unwrap()).collect() };
    assert_eq!(turns(&section), [1, 2, 0, 3]);
    assert!(!laps.holds(0) && laps.holds(1) && laps.holds(2) && !laps.holds(3));

    // The interval is 80 cycles shorter than it was, and each load of these turns starts one before its turn.
    section.interval = memory::cover(&section.turns);
    assert_eq!(section.interval, 620);
    laps.settle(&mut section);
    let starts: Vec<u64> = section.stages.iter().map(|stage| stage.start).collect();
    assert_eq!(starts, [0, 40, 580, 1000]);
    assert_eq!(section.turns.iter().map(|turn| turn.start).collect::<Vec<_>>(), [580, 620, 660, 1000]);
}

#[test]
fn what_is_followed_and_one_layers_state_are_not_read_an_iteration_early() {
    let same = |followed: &[bool], states: &[(StageId, StageId)], layers| {
        let mut section = waiting();
        let laps = Laps::fill(&unit(1024), &mut section, Free { followed, states, layers, heads: false });
        !(0..4).any(|turn| laps.holds(turn)) && section.turns == waiting().turns
    };
    let state = [(StageId(0), StageId(3))];
    assert!(same(&[true, false, false, false], &[], 8));
    assert!(same(&[false; 4], &state, 1));
    assert!(!same(&[false; 4], &state, 2));
}

#[test]
fn of_what_is_followed_the_first_tokens_are_read_while_ids_are_waited_for() {
    let mut section = waiting();
    let free = Free { followed: &[true, false, false, false], states: &[], layers: 8, heads: true };
    let laps = Laps::fill(&unit(1024), &mut section, free);
    // At most half of them.
    let windows: Vec<_> = section.turns.iter().map(|turn| (turn.start, turn.length, turn.head)).collect();
    let head = Some(Head { of: 0, firings: 2 });
    assert_eq!(windows, [(20, 20, None), (40, 40, None), (80, 40, None), (120, 20, head), (500, 200, None)]);
    let ahead: Vec<_> = section.stages.iter().map(|stage| (stage.start, stage.turn, laps.ahead(stage))).collect();
    assert_eq!(ahead, [(0, Some(0), 2), (40, Some(1), 0), (80, Some(2), 0), (500, Some(4), 0)]);
    assert_eq!(section.ahead(&section.stages[0]), Some((3, 2)));

    section.interval = memory::cover(&section.turns);
    assert_eq!(section.interval, 680);
    laps.settle(&mut section);
    // The first two are read from cycle 0 on, an interval before the head, the others from 580 on.
    assert_eq!((section.turns[3].start, section.turns[0].start, section.stages[0].start), (680, 580, 560));

    // Nor at a rate that the memory does not have, nor of one layer's state.
    let unmoved = |unit: &UnitModel, free| {
        let mut section = waiting();
        !Laps::fill(unit, &mut section, free).has_head() && section.turns == waiting().turns
    };
    assert!(unmoved(&unit(1), free));
    let state = [(StageId(0), StageId(3))];
    assert!(unmoved(&unit(1024), Free { states: &state, layers: 1, ..free }));
}
