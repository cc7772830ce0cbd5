//! Kinds over depth: a cell a layer, with its kind's letter.

use logos_core::fit::report::StepKind;
use logos_core::kinds::Role;

use super::page::Page;
use super::write::Html;
use crate::cli::report::ranges;

/// Colours of kinds; more kinds than colours share them, and have letters of their own.
const COLOURS: usize = 8;

/// The letter of a program: layer kinds by their number among kinds; embedding and head have two letters, which no kind has.
pub(super) fn letter(kinds: &[StepKind], at: usize) -> String {
    match kinds.get(at).map(|kind| kind.role) {
        None => String::new(),
        Some(Role::Embed) => "Em".to_owned(),
        Some(Role::Head) => "Hd".to_owned(),
        Some(Role::Layer) => {
            let number = number(kinds, at);
            let letter = char::from(b'A' + (number % 26) as u8);
            // After Z comes A1.
            if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
        }
    }
}

/// The colour of a program.
pub(super) fn colour(kinds: &[StepKind], at: usize) -> String {
    match kinds.get(at).map(|kind| kind.role) {
        None | Some(Role::Embed | Role::Head) => "k-ends".to_owned(),
        Some(Role::Layer) => format!("k{}", number(kinds, at) % COLOURS),
    }
}

fn number(kinds: &[StepKind], at: usize) -> usize {
    kinds.iter().take(at).filter(|kind| kind.role == Role::Layer).count()
}

/// The strip and what its letters are.
pub(super) fn write(html: &mut Html, page: &Page<'_>) {
    let kinds = &page.step.kinds;
    let mut layers: Vec<(u32, usize)> =
        kinds.iter().enumerate().flat_map(|(at, kind)| kind.layers.iter().map(move |&layer| (layer, at))).collect();
    layers.sort_unstable();
    html.element("section", &[("id", &"depth")], |html| {
        html.texts("h2", &[], "Layer kinds over depth");
        let many = format!("{} layers in order, each by the letter of its kind", layers.len());
        html.element("ol", &[("class", &"strip"), ("aria-label", &many)], |html| {
            for &(layer, at) in &layers {
                let name = kinds.get(at).map_or("", |kind| &kind.name);
                let (class, title) = (colour(kinds, at), format!("layer {layer}: {name}"));
                html.texts("li", &[("class", &class), ("title", &title)], letter(kinds, at));
            }
        });
        html.line();
        html.element("ul", &[("class", &"legend")], |html| {
            for (at, kind) in kinds.iter().enumerate().filter(|(_, kind)| kind.role == Role::Layer) {
                html.element("li", &[], |html| {
                    chip(html, kinds, at);
                    let many = if kind.layers.len() == 1 { "layer" } else { "layers" };
                    html.text(format_args!("{}: {} {many}, ", kind.name, kind.layers.len()));
                    html.text(ranges(&kind.layers));
                });
            }
        });
    });
    html.line();
}

/// A program's letter on its colour.
pub(super) fn chip(html: &mut Html, kinds: &[StepKind], at: usize) {
    html.texts("span", &[("class", &format!("letter {}", colour(kinds, at)))], letter(kinds, at));
    html.text(" ");
}

#[cfg(test)]
mod tests {
    use logos_core::fit::report::StepKind;
    use logos_core::fit::work::Work;
    use logos_core::kinds::Role;

    use super::{colour, letter};

    #[test]
    fn every_kind_has_a_letter_of_its_own() {
        let kind = |role| StepKind { name: String::new(), role, layers: Vec::new(), a_chip: Work::default() };
        let mut kinds = vec![kind(Role::Embed)];
        kinds.extend((0..30).map(|_| kind(Role::Layer)));
        kinds.push(kind(Role::Head));
        let letters: std::collections::BTreeSet<String> = (0..kinds.len()).map(|at| letter(&kinds, at)).collect();
        assert_eq!(letters.len(), 32);
        assert_eq!((letter(&kinds, 1), letter(&kinds, 27)), ("A".to_owned(), "A1".to_owned()));
        assert_eq!((colour(&kinds, 1), colour(&kinds, 9)), ("k0".to_owned(), "k0".to_owned()));
    }
}
