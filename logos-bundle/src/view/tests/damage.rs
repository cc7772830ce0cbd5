//! A damaged table is an error or reads as less; it never panics.

use std::fmt::Write;
use std::string::String;
use std::vec::Vec;

use crate::deployment::Deployment;
use crate::table::layout::{Part, ROW, header};
use crate::testing::small;
use crate::view::{Bundle, BundleError};

/// Reads everything there is to read and prints it; its length, so that nothing is optimised away.
fn read_all(bundle: Bundle<'_>) -> usize {
    let mut out = String::new();
    let chips = [0, 3, u32::MAX];
    let _ = write!(out, "{bundle} {:?} {:?} {:?}", bundle.fit(), bundle.chip(), bundle.verify_text());
    for layer in bundle.layers().take(100) {
        let _ = write!(out, "{layer}");
    }
    for program in bundle.programs().take(100) {
        let _ =
            write!(out, "{program} {} {} {}", program.weight_bytes(), program.state_bytes(), program.layers().count());
        for value in program.values().take(100) {
            let _ = write!(out, "{value} {} {} {:?} {:?}", value.share(), value.bytes(), value.rope(), value.tier());
            let _ = write!(out, "{:?} {:?}", chips.map(|chip| value.part_of(chip)), value.statement());
        }
        for statement in program.statements().take(100) {
            let _ = write!(out, "{statement}");
        }
        for binding in program.bindings().take(100) {
            let _ = write!(out, "{binding} {} {}", binding.name(u32::MAX), binding.bytes());
            for chip in chips {
                let _ = write!(
                    out,
                    "{:?}",
                    binding.axis0(chip).take(10).chain(binding.axis1(chip).take(10)).collect::<Vec<_>>()
                );
            }
        }
        for section in program.sections().take(100) {
            let _ = write!(out, "{section} {} {} {}", section.places(), section.cells(), section.buffer_bytes());
            for stage in section.stages().take(100) {
                let _ = write!(out, "{stage} {:?} {:?}", stage.turn(), stage.moved());
            }
            for edge in section.edges().take(100) {
                let _ = write!(out, "{edge} {:?} {:?} {:?}", edge.from(), edge.to(), edge.value());
            }
            for turn in section.turns().take(100) {
                let _ = write!(out, "{turn} {}", turn.loads().count());
            }
        }
    }
    out.len()
}

#[test]
fn every_word_set_to_wild_values() {
    let words = small();
    for index in 0..words.len() {
        for wild in [0, 1, words[index] ^ 1, words[index].wrapping_add(1), 0x7fff_ffff, u32::MAX - 1, u32::MAX] {
            let mut damaged = words.clone();
            damaged[index] = wild;
            let leaked: &'static [u32] = damaged.leak();
            assert!(read_all(Deployment::new(leaked).bundle()) > 0);
            if index == header::MAGIC || index == header::VERSION || index == header::WORDS {
                assert_eq!(Bundle::read(leaked).is_ok(), wild == words[index]);
            }
        }
    }
}

#[test]
fn every_length() {
    let words = small();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for length in 0..bytes.len() {
        let error = Bundle::from_bytes(&bytes[..length]).unwrap_err();
        assert_eq!(matches!(error, BundleError::Magic { .. }), length < 4, "{length}: {error}");
    }
    for length in 0..words.len() {
        assert!(Bundle::read(&words[..length]).is_err());
        let leaked: &'static [u32] = words[..length].to_vec().leak();
        assert!(read_all(Deployment::new(leaked).bundle()) > 0);
    }
    let mut longer = words.clone();
    longer.extend([0; ROW]);
    assert_eq!(
        Bundle::read(&longer).unwrap_err(),
        BundleError::Length { stated: words.len() as u32, bytes: longer.len() * 4 }
    );
}

#[test]
fn a_part_outside_the_table_is_named() {
    let mut words = small();
    let rows = (words.len() / ROW) as u32;
    words[header::DIRECTORY + 2 * Part::Stages as usize] = rows - 1;
    let error = Bundle::read(&words).unwrap_err();
    assert_eq!(error, BundleError::Part { part: Part::Stages, first: rows - 1, rows: 5 });
    assert_eq!(
        std::format!("{error}"),
        std::format!("damaged bundle: part Stages has 5 rows from row {}, which cannot be", rows - 1)
    );
}

#[test]
fn an_altered_text_has_another_digest() {
    let mut words = small();
    let strings = words[header::DIRECTORY + 2 * Part::Strings as usize] as usize * ROW;
    let text = Bundle::read(&small()).unwrap().program(1).unwrap().text().bytes().collect::<Vec<u8>>();
    let used = words[header::STRING_BYTES] as usize;
    let packed: Vec<u8> = words[strings..].iter().flat_map(|word| word.to_le_bytes()).take(used).collect();
    let at = packed.windows(text.len()).position(|window| window == text).unwrap();
    words[strings + at / 4] ^= 0x20 << (8 * (at % 4));
    let mismatch = Bundle::read(&words).unwrap().verify_text().unwrap_err();
    assert_eq!(mismatch.program, 1);
    assert_ne!(mismatch.stored, mismatch.computed);
}
