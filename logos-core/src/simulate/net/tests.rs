//! Nets small enough to time by hand, and schedules that are wrong.

use super::precede::Which;
use super::*;
use crate::chip;
use crate::spatial::{Binder, Emission, Head, Primitive, Recurrence, Stage, Tier, Turn, Work};

fn unit() -> UnitModel {
    chip::lookup("SN50").unwrap().unit()
}

fn stage(primitive: Primitive, firings: u64, ii: u64, start: u64) -> Stage {
    Stage {
        statement: 0,
        part: 0,
        primitive,
        firings,
        work: Work { a: 1, b: 1, base: ii },
        recurrence: Recurrence::None,
        emission: Emission::Stream(1),
        bytes: 0,
        adds: false,
        tier: None,
        split: (1, 1),
        site: 0,
        ii,
        period: ii,
        start,
        turn: None,
    }
}

fn section(stages: Vec<Stage>, edges: Vec<Edge>, interval: u64) -> Section {
    Section {
        group_rows: 1,
        groups: 1,
        stages,
        edges,
        turns: Vec::new(),
        interval,
        span: interval,
        binder: Binder::Stage,
        bound: 1,
    }
}

fn edge(from: u32, to: u32, flow: Flow, capacity: u64) -> Edge {
    Edge { from: StageId(from), to: StageId(to), port: 0, flow, slot_bytes: 1, value: None, capacity, address: 0 }
}

fn net<'a>(unit: &'a UnitModel, section: &'a Section) -> Net<'a> {
    let channels = section.edges.iter().map(|e| Channel {
        from: e.from,
        to: e.to,
        flow: e.flow,
        capacity: e.capacity,
        firings: (section.stage(e.from).firings, section.stage(e.to).firings),
    });
    Net { section, unit, channels: channels.collect(), precedences: precede::turns(section), once: false }
}

/// One site of one strip of eight rows: corners seven apart. DEPTH 6, inject 2, one a hop, and the rules' own 2.
const APART: u64 = 2 + 7;

fn forward(ii: u64) -> u64 {
    ii + 6 + 2 + APART
}

fn release(ii: u64) -> u64 {
    ii + 2 + APART
}

const STREAM: Flow = Flow::Stream { p: 1, q: 1 };

#[test]
fn a_stream_of_two_stages_is_timed_by_hand() {
    let unit = unit();
    let stages = vec![stage(Primitive::Map, 3, 10, 0), stage(Primitive::Map, 3, 20, forward(10))];
    let of_capacity = |c| section(stages.clone(), vec![edge(0, 1, STREAM, c)], 60);
    let roomy = of_capacity(8);
    let run = net(&unit, &roomy).run(2, &Pace::of(&net(&unit, &roomy))).unwrap();
    // The consumer is the slower one, and never starves after its first token.
    assert_eq!((run.end(0), run.end(1)), (forward(10) + 40, forward(10) + 100));
    assert_eq!(run.interval(), 60);

    // One slot: token, use, reuse, one after another.
    let narrow = of_capacity(1);
    let run = net(&unit, &narrow).run(2, &Pace::of(&net(&unit, &narrow))).unwrap();
    let around = forward(10) + release(20);
    assert_eq!((run.end(0), run.end(1)), (forward(10) + 2 * around, forward(10) + 5 * around));
}

#[test]
fn a_held_group_waits_for_its_last_token_and_keeps_its_buffer() {
    let unit = unit();
    let stages = vec![stage(Primitive::Map, 4, 10, 0), stage(Primitive::Map, 2, 50, 0)];
    let section = section(stages, vec![edge(0, 1, Flow::Hold { groups: 2 }, 1)], 200);
    let run = net(&unit, &section).run(1, &Pace::of(&net(&unit, &section))).unwrap();
    // Firings 0 and 1 fill the one buffer; the consumer's firing frees it for firings 2 and 3.
    let first = 10 + forward(10);
    assert_eq!(run.end(0), first + release(50) + 10 + forward(10));
}

#[test]
fn ragged_tokens_are_counted_as_they_are() {
    let unit = unit();
    // Two tokens a firing against three: 8 tokens are used as 3, 3 and 2.
    let stages = vec![stage(Primitive::Map, 4, 10, 0), stage(Primitive::Map, 3, 1, 30 + forward(10))];
    let ragged = section(stages, vec![edge(0, 1, Flow::Stream { p: 2, q: 3 }, 8)], 100);
    let net = net(&unit, &ragged);
    let channel = &net.channels[0];
    assert_eq!((0..6).map(|j| channel.needs(j)).collect::<Vec<_>>(), [3, 3, 2, 3, 3, 2]);
    assert_eq!((0..6).map(|j| channel.frees(j)).collect::<Vec<_>>(), [3, 3, 2, 3, 3, 2]);
    assert_eq!(net.follow(4), Ok(()));
}

#[test]
fn a_capacity_below_a_firing_deadlocks() {
    let unit = unit();
    let stages = vec![stage(Primitive::Map, 4, 1, 0), stage(Primitive::Map, 2, 1, 0)];
    let starved = section(stages, vec![edge(0, 1, Flow::Stream { p: 1, q: 2 }, 1)], 100);
    let net = net(&unit, &starved);
    let stuck = net.run(1, &Pace::of(&net)).unwrap_err();
    assert_eq!(stuck, Fault::Deadlock { stage: StageId(0), firing: 1, iteration: 0 });
    assert_eq!(stuck.to_string(), "firing 1 of g0 in iteration 0 can never happen");
}

#[test]
fn a_schedule_that_is_a_cycle_early_or_a_slot_short_is_found() {
    let unit = unit();
    let with = |start: u64, capacity: u64| {
        let stages = vec![stage(Primitive::Map, 5, 10, 0), stage(Primitive::Map, 5, 10, start)];
        section(stages, vec![edge(0, 1, STREAM, capacity)], 50)
    };
    let follow = |section: &Section| net(&unit, section).follow(4);
    // A token is claimed at 0 and its slot free at forward + release = 27 + 21 = 48: five of them.
    let (start, slots) = (forward(10), (forward(10) + release(10)).div_ceil(10));
    assert_eq!(follow(&with(start, slots)), Ok(()));
    let early =
        Fault::Early { lack: Lack::Token, edge: Some(0), stage: StageId(1), firing: 0, iteration: 0, cycle: start - 1 };
    assert_eq!(follow(&with(start - 1, slots)), Err(early));
    assert_eq!(
        early.to_string(),
        format!("firing 0 of g1 in iteration 0, at cycle {}, lacks a token of edge 0", start - 1)
    );
    let full = Fault::Early {
        lack: Lack::Slot,
        edge: Some(0),
        stage: StageId(0),
        firing: slots - 1,
        iteration: 0,
        cycle: 10 * (slots - 1),
    };
    assert_eq!(follow(&with(start, slots - 1)), Err(full));
    // Late enough that a whole iteration and more is under way.
    let late = start + 3 * 50;
    let slots = (late + release(10)).div_ceil(10);
    assert_eq!(follow(&with(late, slots)), Ok(()));
    assert!(matches!(follow(&with(late, slots - 1)), Err(Fault::Early { lack: Lack::Slot, .. })));
}

#[test]
fn a_stage_busy_at_the_next_iteration_is_found() {
    let unit = unit();
    let busy = section(vec![stage(Primitive::Map, 5, 10, 7)], Vec::new(), 49);
    let fault = Fault::Early { lack: Lack::Stage, edge: None, stage: StageId(0), firing: 0, iteration: 1, cycle: 56 };
    assert_eq!(net(&unit, &busy).follow(2), Err(fault));
}

/// Two loads, each in a turn of its own, with `bytes` a firing.
fn two_turns(second: u64, bytes: u64) -> Section {
    let load =
        |start, turn| Stage { tier: Some(Tier::Hbm), bytes, turn: Some(turn), ..stage(Primitive::Load, 4, 10, start) };
    let mut section = section(vec![load(0, 0), load(second, 1)], Vec::new(), 80);
    section.turns =
        [(0, 40), (second, 40)].map(|(start, length)| Turn { tier: Tier::Hbm, start, length, head: None }).into();
    section
}

#[test]
fn turns_follow_each_other_in_schedule_and_run() {
    let unit = unit();
    let sound = two_turns(40, 1);
    let net_of = |section| net(&unit, section);
    assert_eq!(net_of(&sound).follow(3), Ok(()));
    let pairs: Vec<_> = net_of(&sound).precedences.iter().map(|p| (p.from, p.to, p.lag, p.which)).collect();
    let (a, b) = (StageId(0), StageId(1));
    let last_to_first = Which::One(3, 0);
    assert_eq!(pairs, [(b, a, 1, last_to_first), (a, b, 0, last_to_first)]);
    let run = net_of(&sound).run(3, &Pace::of(&net_of(&sound))).unwrap();
    assert_eq!(run.interval(), 80);

    let follow = |second, bytes| net(&unit, &two_turns(second, bytes)).follow(1);
    assert_eq!(follow(39, 1), Err(Fault::Overlap { turn: 1 }));
    assert_eq!(follow(41, 1), Err(Fault::Overlap { turn: 0 }));
    // A rate of about 1,144 bytes a cycle carries 11,446 bytes in ten.
    let most = u64::from(unit.hbm_rate) * 10 / crate::chip::RATE_CYCLES;
    assert_eq!(follow(40, most), Ok(()));
    assert_eq!(follow(40, most + 1), Err(Fault::Rate { turn: 0 }));
}

#[test]
fn what_would_take_too_long_is_not_run() {
    let unit = unit();
    let long = section(vec![stage(Primitive::Map, 1 << 21, 1, 0)], Vec::new(), 1 << 21);
    let net = net(&unit, &long);
    let refused = Fault::TooLong { firings: 9 << 21 };
    assert_eq!(net.follow(9), Err(refused));
    assert_eq!(net.run(9, &Pace::of(&net)).unwrap_err(), refused);
}

#[test]
fn drawn_paces_repeat_and_stay_within_the_unit_models() {
    let unit = unit();
    let stages = vec![stage(Primitive::Map, 3, 1000, 0), stage(Primitive::Map, 3, 7, 0)];
    let section = section(stages, vec![edge(0, 1, STREAM, 8)], 3000);
    let net = net(&unit, &section);
    let full = Pace::of(&net);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let (one, again) = (Pace::drawn(&net, seed), Pace::drawn(&net, seed));
        assert_eq!((&one.ii, &one.latency, &one.release), (&again.ii, &again.latency, &again.release));
        let within = |drawn: &[u64], most: &[u64]| drawn.iter().zip(most).all(|(d, m)| (1..=*m).contains(d));
        assert!(
            within(&one.ii, &full.ii) && within(&one.latency, &full.latency) && within(&one.release, &full.release)
        );
        seen.insert(one.ii[0]);
    }
    assert!(seen.len() > 40);
}

/// A load of eight firings, two of them read ahead after the second load's turn, and a reader with so many slots.
fn with_a_head(head: u64, capacity: u64) -> Section {
    let load = |firings, start, turn| Stage {
        tier: Some(Tier::Hbm),
        bytes: 1,
        turn: Some(turn),
        ..stage(Primitive::Load, firings, 10, start)
    };
    let reader = stage(Primitive::Map, 8, 10, 80 + forward(10));
    let stream = edge(0, 2, Flow::Stream { p: 1, q: 1 }, capacity);
    let mut section = section(vec![load(8, 80, 0), load(4, 160, 1), reader], vec![stream], 140);
    let turn = |start, length, head| Turn { tier: Tier::Hbm, start, length, head };
    section.turns = vec![turn(100, 60, None), turn(160, 40, None), turn(head, 20, Some(Head { of: 0, firings: 2 }))];
    section
}

#[test]
fn what_is_read_ahead_is_there_an_interval_before_its_turn() {
    let unit = UnitModel { hbm_latency: 0, ..unit() };
    let enough = (forward(10) + release(10)).div_ceil(10);
    let sound = with_a_head(200, enough);
    assert_eq!(net(&unit, &sound).follow(3), Ok(()));
    // The first two firings an interval before the head, the others where the turn is.
    assert_eq!(net(&unit, &sound).scheduled(1)[0], [60, 70, 100, 110, 120, 130, 140, 150]);
    let pairs: Vec<_> = net(&unit, &sound).precedences.iter().map(|p| (p.from.0, p.to.0, p.lag, p.which)).collect();
    let want = [(0, 0, 0, Which::One(1, 2)), (0, 1, 0, Which::One(7, 0)), (1, 0, 1, Which::One(3, 0))];
    assert_eq!(pairs, want);
    assert_eq!(net(&unit, &sound).run(4, &Pace::of(&net(&unit, &sound))).unwrap().interval(), 120);

    // A slot less, a head in the turn before it, and one without room.
    let slots = net(&unit, &with_a_head(200, enough - 1)).follow(3);
    assert!(matches!(slots, Err(Fault::Early { lack: Lack::Slot, .. })), "{slots:?}");
    assert_eq!(net(&unit, &with_a_head(190, enough)).follow(3), Err(Fault::Overlap { turn: 2 }));
    let mut short = with_a_head(200, enough);
    short.turns[2].length = 10;
    let short = net(&unit, &short).follow(3);
    assert!(matches!(short, Err(Fault::Early { lack: Lack::Turn, firing: 1, .. })), "{short:?}");
}
