//! Requirements that no deployment meets together.

use super::{Compare, Figure, Requirement, at};
use crate::{Code, Refusal};

/// The values of its figure that a requirement allows, the ends included. No figure is negative.
fn range(compare: Compare, value: u64) -> (u128, u128) {
    let value = u128::from(value);
    match compare {
        Compare::AtLeast => (value, u128::MAX),
        Compare::AtMost => (0, value),
        Compare::Equal => (value, value),
        Compare::Above => (value + 1, u128::MAX),
        // Below 0 there is nothing: an empty range.
        Compare::Below => value.checked_sub(1).map_or((1, 0), |most| (0, most)),
    }
}

/// Every reason for which the requirements of the deployment `name` cannot hold together: one that is given twice, one that nothing meets,
/// and of two that exclude each other the later, with both. (Ranges of numbers that exclude each other do so in pairs.)
pub fn contradictions(name: &str, requirements: &[Requirement]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (i, requirement) in requirements.iter().enumerate() {
        let at = at(name, i);
        if requirements[..i].contains(requirement) {
            refusals.push(
                Refusal::new(Code::RequestForm, at, format!("`{requirement}` is required twice"))
                    .help("leave one of the two out"),
            );
            continue;
        }
        let Requirement::Figure { figure, compare, value } = *requirement else { continue };
        let (least, most) = range(compare, value);
        if least > most {
            let message = format!("nothing meets `{requirement}`: no figure is negative");
            refusals.push(Refusal::new(Code::RequireContradiction, at, message).help("leave it out"));
            continue;
        }
        let other = requirements[..i].iter().find(|other| excludes(other, figure, least, most));
        if let Some(other) = other {
            let message = format!("`{requirement}` contradicts `{other}`: nothing meets both");
            refusals.push(Refusal::new(Code::RequireContradiction, at, message).help("leave one of the two out"));
        }
    }
    refusals
}

/// Whether a requirement allows no value of the range; one that allows nothing at all is reported by itself.
fn excludes(other: &Requirement, figure: Figure, least: u128, most: u128) -> bool {
    let Requirement::Figure { figure: same, compare, value } = *other else { return false };
    let (from, to) = range(compare, value);
    same == figure && from <= to && (from > most || to < least)
}
