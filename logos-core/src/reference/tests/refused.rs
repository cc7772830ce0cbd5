//! What cannot be loaded or stepped, and that a refused step changes nothing.

use super::super::data::{Data, Matrix};
use super::super::session::differing;
use super::super::{EmbedError, LoadError, Session, Shards, StepError, embed};
use super::source::Random;
use crate::author::sample::*;
use crate::author::{Source, sample};
use crate::kinds::{self, KindProgram};
use crate::request::{Form, Weights};
use crate::spec::Take;

const DECODE: Form = Form::Decode { ctx: 4, batch: 2 };

fn programs(form: Form) -> Vec<KindProgram> {
    kinds::programs(&hybrid_model(), form, 1, Weights::Config).unwrap()
}

fn source() -> Random {
    Random::of(&programs(DECODE))
}

fn load(form: Form, programs: &[KindProgram], source: &Random) -> Result<Session, LoadError> {
    Session::new(form, programs, &mut Shards::new(source))
}

#[track_caller]
fn not_loaded(change: impl FnOnce(&mut Random), message: &str) {
    let mut source = source();
    change(&mut source);
    assert_eq!(load(DECODE, &programs(DECODE), &source).err().unwrap().to_string(), message);
}

#[test]
fn tensors_are_refused_by_name() {
    let name = "l.1.q.weight";
    let missing = "the checkpoint has no tensor `l.1.q.weight`, expected of shape [64, 64]";
    not_loaded(|source| drop(source.0.remove(name)), missing);
    let shape = "tensor `l.1.q.weight` is of shape [32, 128], expected [64, 64]";
    not_loaded(|source| source.0.get_mut(name).unwrap().0 = vec![32, 128], shape);
    let values = "tensor `l.1.q.weight` has 4095 values, expected 4096";
    not_loaded(|source| source.0.get_mut(name).unwrap().1.truncate(4095), values);
    let nan = "value 7 of tensor `l.1.q.weight` is NaN, expected a finite number";
    not_loaded(|source| source.0.get_mut(name).unwrap().1[7] = f32::NAN, nan);
}

#[track_caller]
fn no_step(form: Form, change: impl FnOnce(&mut Vec<KindProgram>), message: &str) {
    let mut programs = programs(DECODE);
    change(&mut programs);
    assert_eq!(load(form, &programs, &source()).err().unwrap().to_string(), message);
}

#[test]
fn programs_must_make_a_step() {
    no_step(DECODE, Vec::clear, "the programs make no step: there is none");
    no_step(DECODE, |programs| drop(programs.pop()), "the programs make no step: there is no head");
    no_step(DECODE, |programs| drop(programs.remove(1)), "the programs make no step: layer 0 has no program, or two");
    let others = "the programs make no step: they are not those of Decode { ctx: 4, batch: 3 }";
    no_step(Form::Decode { ctx: 4, batch: 3 }, |_| (), others);
    let unbound = "the programs make no step: `head` declares 3 values and binds 2";
    no_step(DECODE, |programs| drop(programs[3].authored.bindings.pop()), unbound);
    let another = |programs: &mut Vec<KindProgram>| programs[3].authored.bindings[1].source = Source::State;
    no_step(DECODE, another, "the programs make no step: `nw` of `head` is bound as what it is not declared");
    let chips = "the programs make no step: `head` is for 2 chips and the first for 1";
    no_step(DECODE, |programs| programs[3].authored.program.chips = 2, chips);
    let cut = |programs: &mut Vec<KindProgram>| {
        if let Source::Weight { weight, .. } = &mut programs[3].authored.bindings[1].source {
            weight.take = Take::range(0, 5);
        }
    };
    let narrow = "the programs make no step: `nw` is 1 by 64 a chip, and its slice of `l.2.final.weight` 1 by 5";
    no_step(DECODE, cut, narrow);
    let beyond = |programs: &mut Vec<KindProgram>| {
        if let Source::Weight { weight, .. } = &mut programs[3].authored.bindings[1].source {
            weight.take = Take::range(1, 64);
        }
    };
    no_step(DECODE, beyond, "the programs make no step: `nw` takes more of `l.2.final.weight` than there is");
}

#[test]
fn tokens_have_their_places() {
    let source = source();
    let mut session = load(DECODE, &programs(DECODE), &source).unwrap();
    assert_eq!(session.step(&[1]).unwrap_err(), StepError::Rows { expected: 2, found: 1 });
    assert_eq!(session.step(&[1, 96]).unwrap_err(), StepError::Token { row: 1, token: 96, vocab: 96 });
    let hidden = || Matrix::zeros(2, HIDDEN as usize);
    assert!(matches!(session.forward(hidden()), Err(StepError::Form { .. })));
    for _ in 0..4 {
        session.step(&[1, 2]).unwrap();
    }
    assert_eq!(session.step(&[1, 2]).unwrap_err(), StepError::Context { sequence: 0, position: 4, ctx: 4 });
    assert_eq!(session.seen(), [4, 4]);
    session.restart(1).unwrap();
    assert_eq!(session.seen(), [4, 0]);
    assert_eq!(session.restart(2).unwrap_err(), StepError::Sequence { sequence: 2, sequences: 2 });

    let form = Form::Forward { rows: 3 };
    let mut forward = load(form, &programs(form), &source).unwrap();
    assert!(matches!(forward.step(&[1, 2, 3]), Err(StepError::Form { .. })));
    assert_eq!(forward.forward(hidden()).unwrap_err(), StepError::Rows { expected: 3, found: 2 });
    let narrow = Matrix::zeros(3, 5);
    assert_eq!(forward.forward(narrow).unwrap_err(), StepError::Width { expected: 64, found: 5 });
    let token = embed(&sample::hybrid_model(), &Shards::new(&source), &[3, 97]).unwrap_err();
    assert!(matches!(token, EmbedError::Step(StepError::Token { row: 1, token: 97, vocab: 96 })));
}

#[test]
fn a_restarted_sequence_knows_nothing_of_before() {
    let source = source();
    let mut session = load(DECODE, &programs(DECODE), &source).unwrap();
    let fresh = session.step(&[7, 8]).unwrap().logits;
    session.step(&[9, 10]).unwrap();
    session.restart(0).unwrap();
    let again = session.step(&[7, 11]).unwrap().logits;
    assert_eq!(again.row(0), fresh.row(0));
    assert_ne!(again.row(1), fresh.row(1));
}

/// Every sequence of a prefill takes a whole chunk: fewer tokens, or a sequence with too few positions left, change no state.
#[test]
fn a_chunk_is_whole_for_every_sequence() {
    let source = source();
    let form = Form::Prefill { ctx: 8, chunk: 3, batch: 2 };
    let mut session = load(form, &programs(form), &source).unwrap();
    assert_eq!(session.step(&[7, 8, 9, 10, 11]).unwrap_err(), StepError::Rows { expected: 6, found: 5 });
    for _ in 0..2 {
        session.step(&[7, 8, 9, 10, 11, 12]).unwrap();
    }
    session.restart(0).unwrap();
    let full = StepError::Context { sequence: 1, position: 8, ctx: 8 };
    assert_eq!(session.step(&[7, 8, 9, 10, 11, 12]).unwrap_err(), full);
    assert_eq!(session.seen(), [0, 6]);
}

#[test]
fn only_equal_states_are_adopted() {
    let source = source();
    let mut session = load(DECODE, &programs(DECODE), &source).unwrap();
    let form = Form::Prefill { ctx: 8, chunk: 2, batch: 1 };
    let other = load(form, &programs(form), &source).unwrap();
    assert_eq!(session.adopt(0, &other, 0).unwrap_err(), StepError::States { layer: 1 });
    assert_eq!(session.adopt(0, &other, 1).unwrap_err(), StepError::Sequence { sequence: 1, sequences: 1 });
}

#[test]
fn chips_that_differ_are_found() {
    let share = |x: f32| Data::Real(std::sync::Arc::new(Matrix::new(1, vec![1.0, x]).unwrap()));
    assert_eq!(differing(&[share(2.0), share(2.0), share(2.5)]), Some(2));
    assert_eq!(differing(&[share(0.0), share(-0.0)]), Some(1));
    assert_eq!(differing(&[share(2.0), share(2.0)]), None);
}
