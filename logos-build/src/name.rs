//! Names that become identifiers of the user's crate.

use logos_core::{At, Code, Refusal};

/// Words that cannot name a module or a constant, in any edition.
const KEYWORDS: [&str; 53] = [
    "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self", "static", "struct",
    "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while",
    "yield",
];

/// Refuses what is no identifier. Letters are ASCII, so that a name is also a file name everywhere.
pub(crate) fn check(what: &str, name: &str) -> Result<(), Refusal> {
    let refused = |why: &str| {
        Err(Refusal::new(Code::RequestForm, At::Request, format!("the {what} `{}` {why}", name.escape_debug()))
            .help("write ASCII letters, digits and underscores, not beginning with a digit"))
    };
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match name.bytes().next() {
        None => refused("is empty"),
        Some(first) if !letters || first.is_ascii_digit() => refused("is not an identifier"),
        Some(_) if KEYWORDS.contains(&name) => refused("is a keyword of Rust"),
        Some(_) if name.starts_with("__") => refused("is reserved: two underscores begin our own names"),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn names_are_identifiers() {
        for name in ["qwen35", "DECODE", "_x", "A1"] {
            assert!(check("name", name).is_ok(), "{name}");
        }
        for name in ["", "3b", "qwen3.5", "a/b", "fn", "_", "__REFUSED", "na\u{ef}ve", "a b"] {
            assert!(check("name", name).is_err(), "{name}");
        }
    }
}
