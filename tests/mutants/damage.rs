//! Damage that no compiler makes: flipped words, cut off and extended tables, hostile rows. Nothing panics, the checker or the
//! digest refuses, and every view reads what is left.

use std::fmt::Write;

use logos_bundle::Deployment;
use logos_bundle::check::all;
use logos_bundle::table::layout::*;
use logos_bundle::view::{Bundle, Bundles};
use logos_core::inspect;

use super::subjects::{Subject, small};
use super::table::seal;

/// Reads everything there is to read and prints it; its length, so that nothing is left out.
fn read_all(bundle: Bundle<'_>) -> usize {
    let mut out = String::new();
    let chips = [0, 1, u32::MAX];
    write!(out, "{bundle} {:?} {:?} {:?}", bundle.fit(), bundle.chip(), bundle.verify_text()).expect("a string");
    for layer in bundle.layers().take(10) {
        write!(out, "{layer} {}", layer.identity()).expect("a string");
    }
    for program in bundle.programs().take(4) {
        let layers = program.layers().take(10).count();
        write!(out, "{program} {} {} {layers}", program.weight_bytes(), program.state_bytes()).expect("a string");
        for value in program.values().take(20) {
            write!(out, "{value} {} {} {:?}", value.share(), value.bytes(), value.rope()).expect("a string");
            write!(out, "{:?} {:?}", chips.map(|chip| value.part_of(chip)), value.statement()).expect("a string");
        }
        for statement in program.statements().take(20) {
            write!(out, "{statement}").expect("a string");
        }
        for binding in program.bindings().take(20) {
            write!(out, "{binding} {} {}", binding.name(u32::MAX), binding.bytes()).expect("a string");
            for chip in chips {
                let runs: Vec<_> = binding.axis0(chip).take(5).collect();
                write!(out, "{runs:?} {:?} {}", binding.axis1(chip), binding.elements(chip)).expect("a string");
            }
        }
        for section in program.sections().take(3) {
            write!(out, "{section} {} {} {}", section.places(), section.cells(), section.buffer_bytes())
                .expect("a string");
            for stage in section.stages().take(20) {
                write!(out, "{stage} {:?} {:?}", stage.turn(), stage.moved()).expect("a string");
            }
            for edge in section.edges().take(20) {
                write!(out, "{edge} {:?} {:?} {:?}", edge.from(), edge.to(), edge.value()).expect("a string");
            }
            for turn in section.turns().take(20) {
                write!(out, "{turn} {}", turn.loads().count()).expect("a string");
            }
        }
    }
    out.len()
}

/// Every reader there is, on words that may be anything.
fn read_every_way(words: &[u32]) {
    if let Ok(bundle) = Bundle::read(words) {
        read_all(bundle);
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for found in Bundles::scan(&bytes).flatten().take(2) {
        read_all(found);
    }
    let _ = inspect::verify(words);
}

/// The smallest subject: every word of it counts.
fn smallest() -> &'static Subject {
    small().iter().min_by_key(|subject| subject.words.len()).expect("subjects")
}

#[test]
fn every_word_damaged_is_refused() {
    let subject = smallest();
    let mut words = subject.words.clone();
    for at in 0..words.len() {
        let old = words[at];
        for bit in [0, 7, 21, 31] {
            words[at] = old ^ 1 << bit;
            assert!(!all(&words).hold(), "word {at} bit {bit}");
        }
        for new in [0, u32::MAX, old.wrapping_add(0x100)].into_iter().filter(|&new| new != old) {
            words[at] = new;
            assert!(!all(&words).hold(), "word {at} as {new:#x}");
        }
        words[at] = old;
    }
}

#[test]
fn sampled_bits_of_every_bundle_are_refused() {
    for subject in small().iter().chain(super::subjects::big()) {
        let mut words = subject.words.clone();
        for n in 0..400 {
            let at = (n * 7919 + 13) % words.len();
            words[at] ^= 1 << (n % 32);
            assert!(!all(&words).hold(), "{}: word {at} bit {}", subject.name, n % 32);
            words[at] ^= 1 << (n % 32);
        }
        assert_eq!(words, subject.words);
    }
}

#[test]
fn every_length_is_refused() {
    let subject = smallest();
    let bytes: Vec<u8> = subject.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for length in (0..bytes.len()).filter(|length| length % 13 == 0 || length % (ROW * 4) < 2) {
        assert!(Bundle::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
    for length in 0..subject.words.len() {
        assert!(!all(&subject.words[..length]).hold(), "{length} words");
        assert!(Bundle::read(&subject.words[..length]).is_err(), "{length} words");
    }
    // Cut at a row, with a header that says so and a digest that agrees.
    for rows in 0..subject.words.len() / ROW {
        let mut words = subject.words[..rows * ROW].to_vec();
        if rows >= HEADER_ROWS {
            words[header::WORDS] = words.len() as u32;
            seal(&mut words);
        }
        assert!(!all(&words).hold(), "{rows} rows");
        if rows % 8 == 0 {
            read_every_way(&words);
        }
    }
    for more in [1, 15, ROW, 4 * ROW] {
        let mut words = subject.words.clone();
        words.resize(words.len() + more, 0);
        assert!(!all(&words).hold() && Bundle::read(&words).is_err(), "{more} words more");
        words[header::WORDS] = words.len() as u32;
        seal(&mut words);
        assert!(!all(&words).hold(), "{more} words more, counted and sealed");
        read_every_way(&words);
    }
}

#[test]
fn hostile_words_are_read_without_a_panic() {
    let subject = smallest();
    let mut words = subject.words.clone();
    let strings = subject.words[header::DIRECTORY + 2 * Part::Strings as usize] as usize * ROW;
    let mut read = 0;
    for at in 0..words.len() {
        let old = words[at];
        let hostile = [0, 1, old.wrapping_add(1), 1 << 22, 0x7fff_ffff, NONE - 1, NONE];
        for new in hostile.into_iter().skip(at % 3).step_by(3) {
            words[at] = new;
            seal(&mut words);
            let _ = all(&words);
            // Views and text take longer to read: every fifth word.
            if at % 5 == 0 && at < strings {
                read_every_way(&words);
                read += 1;
            }
            words[at] = old;
        }
    }
    assert!(read > 1000, "{read}");
}

/// Rows that point at each other in circles, or claim more than there is.
#[test]
fn hostile_rows_are_refused_without_a_panic() {
    for subject in small() {
        let table = &subject.table;
        let mut hostile = Vec::new();
        let mut add = |change: &dyn Fn(&mut super::table::Table)| {
            let mut changed = table.clone();
            change(&mut changed);
            hostile.push(changed.words());
        };
        // Values bound by the statement that reads them, statements that bind their own operands.
        add(&|t| {
            for s in 0..t.rows(Part::Statements).len() {
                let result = t.get(Part::Statements, s, statement::RESULT);
                t.set(Part::Statements, s, statement::OPERANDS, result);
            }
        });
        add(&|t| {
            for v in 0..t.rows(Part::Values).len() {
                t.set(Part::Values, v, value::STATEMENT, 0);
            }
        });
        // Every edge in a circle, every section the first's rows, every layer and binding the first's.
        add(&|t| {
            for e in 0..t.rows(Part::Edges).len() {
                let to = t.get(Part::Edges, e, edge::TO);
                t.set(Part::Edges, e, edge::FROM, to);
            }
        });
        for (part, fields) in [
            (Part::Sections, [section::STAGES, section::EDGES, section::TURNS]),
            (Part::Programs, [program::VALUES, program::STATEMENTS, program::SECTIONS]),
        ] {
            add(&|t| {
                for row in 0..t.rows(part).len() {
                    for field in fields {
                        t.set(part, row, field, 0);
                    }
                }
            });
            for count in [NONE, 1 << 31, 513] {
                add(&|t| {
                    for row in 0..t.rows(part).len() {
                        for field in fields {
                            t.set(part, row, field + 1, count);
                        }
                    }
                });
            }
        }
        // Every row of a part that rules read all ones, all zeros, or the largest number that no limit forbids.
        for part in 0..Part::Digests as usize {
            for word in [NONE, 0, (1 << 22) - 1] {
                let mut words = subject.words.clone();
                let [first, rows] = [0, 1].map(|at| words[header::DIRECTORY + 2 * part + at] as usize);
                // Layers of nothing but zeros are layers of the first program.
                if rows > 0 && !(part == Part::Layers as usize && word == 0) {
                    words[first * ROW..(first + rows) * ROW].fill(word);
                    seal(&mut words);
                    hostile.push(words);
                }
            }
        }
        for words in hostile {
            assert!(!all(&words).hold(), "{}", subject.name);
            read_every_way(&words);
        }
    }
}

/// Constants read words that nobody has looked at: they too only read less.
#[test]
fn constants_of_damaged_words() {
    let subject = smallest();
    for n in 0..60 {
        let mut words = subject.words.clone();
        let at = (n * 271) % words.len();
        words[at] = [NONE, 0, 1 << 31][n % 3];
        words.truncate(words.len() - (n % 5) * 37);
        let deployment = Deployment::new(words.leak());
        let _ = (deployment.fit(), deployment.form(), deployment.chips(), deployment.ctx(), deployment.layers());
        let _ = (deployment.sequences(), deployment.tokens(), deployment.schedule_digest(), format!("{deployment:?}"));
        read_all(deployment.bundle());
    }
}
