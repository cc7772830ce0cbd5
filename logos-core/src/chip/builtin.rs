//! The chips that come with the compiler: files of `logos-core/chips`, read when they are asked for.

use std::sync::OnceLock;

use super::Chip;
use super::file;
use crate::refusal::nearest;
use crate::{At, Code, Refusal};

/// Names of the chips that come with the compiler, oldest first.
pub const NAMES: [&str; 4] = ["SN10", "SN30", "SN40L", "SN50"];

/// Their files, in the order of their names.
const FILES: [(&str, &str); NAMES.len()] = [
    ("chips/sn10.toml", include_str!("../../chips/sn10.toml")),
    ("chips/sn30.toml", include_str!("../../chips/sn30.toml")),
    ("chips/sn40l.toml", include_str!("../../chips/sn40l.toml")),
    ("chips/sn50.toml", include_str!("../../chips/sn50.toml")),
];

static CHIPS: [OnceLock<Result<Chip, Vec<Refusal>>>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];

/// The chip named `name`, in any case. Its file is read the first time, and no other's.
///
/// # Errors
/// [`Code::ChipUnknown`] with the known names and the nearest.
pub fn lookup(name: &str) -> Result<&'static Chip, Refusal> {
    let index = index(name)?;
    let (file, text) = FILES[index];
    let read = CHIPS[index].get_or_init(|| file::read(file, text.as_bytes()));
    // That each of them reads is a test's to hold; were one damaged, the refusal says where.
    read.as_ref().map_err(|refusals| {
        let unread = || Refusal::new(Code::ChipSyntax, At::Chip, format!("`{file}` does not read"));
        refusals.first().cloned().unwrap_or_else(unread)
    })
}

/// The file of the chip named `name`, in any case: a template for one's own.
///
/// # Errors
/// As [`lookup`].
pub fn text(name: &str) -> Result<&'static str, Refusal> {
    index(name).map(|index| FILES[index].1)
}

fn index(name: &str) -> Result<usize, Refusal> {
    if let Some(index) = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(index);
    }
    let refusal = Refusal::new(Code::ChipUnknown, At::Chip, format!("no chip is named `{}`", name.escape_debug()))
        .fact("known chips", NAMES.join(", "));
    Err(match nearest(name, NAMES) {
        Some(near) => refusal.help(format!("write `{near}`")),
        None => refusal.help(format!("write one of {}", NAMES.join(", "))),
    })
}

/// Refuses a file's chip that is called like one of these and is another: a bundle names its chip, and is compared with the
/// facts of that name.
pub(super) fn check_name(file: &str, bytes: &[u8], chip: &Chip) -> Result<(), Refusal> {
    let Ok(known) = lookup(&chip.name) else { return Ok(()) };
    if known == chip {
        return Ok(());
    }
    let differs = chip.facts().iter().chain(known.facts()).find(|fact| {
        let field = fact.field;
        known.fact(field) != chip.fact(field)
    });
    let message = match differs {
        Some(fact) => {
            format!("`{}` is a chip that comes with the compiler, and its `{}` is another", chip.name, fact.field)
        }
        None => format!("`{}` is a chip that comes with the compiler, and is described otherwise", chip.name),
    };
    let (line, column) = file::place_of_name(bytes);
    let at = At::ChipFile { file: file.to_owned(), line, column };
    Err(Refusal::new(Code::ChipName, at, message).help("give the chip of your file a name of its own"))
}
