//! What two layers must share to be one kind.

use sha2::{Digest, Sha256};

use crate::language;
use crate::language::ast::{Origin, Program, Role};

/// SHA-256 of the program's text with each name replaced by the order of its first appearance. Rotary tables keep their
/// names: all layers that read one read the same. Storage and sharding are part of the text, so programs with equal digests
/// differ by a one-to-one renaming and nothing else.
pub fn shape_digest(program: &Program) -> [u8; 32] {
    let mut renamed = program.clone();
    for (n, value) in renamed.values.iter_mut().enumerate() {
        match value.origin {
            Origin::Declared(Role::Table(_)) => {}
            // Values stand in the order of their appearance, declared ones first, as in the text.
            Origin::Declared(Role::Input | Role::Weight | Role::State) | Origin::Bound(_) => {
                value.name = format!("v{n}")
            }
        }
    }
    Sha256::digest(language::print(&renamed)).into()
}
