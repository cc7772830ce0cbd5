//! Names that become identifiers and file names of the user's crate.

/// Words that cannot name a module or a constant, in any edition.
const KEYWORDS: [&str; 53] = [
    "Self", "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Why a module or a constant cannot be named so: what the name is. Rust also takes letters beyond ASCII; a name that is a file's too stays
/// inside it.
pub fn misnamed(name: &str) -> Option<&'static str> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match name.bytes().next() {
        None => Some("is empty"),
        Some(first) if !letters || first.is_ascii_digit() => Some("is not an identifier"),
        Some(_) if KEYWORDS.binary_search(&name).is_ok() => Some("is a keyword of Rust"),
        Some(_) if name.starts_with("__") => Some("is reserved: two underscores begin our own names"),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers() {
        assert!(KEYWORDS.is_sorted());
        for name in ["qwen35", "DECODE", "_x", "_1", "A1"] {
            assert_eq!(misnamed(name), None, "{name}");
        }
        for name in ["3b", "qwen3.5", "a/b", "na\u{ef}ve", "a b", "a-b"] {
            assert_eq!(misnamed(name), Some("is not an identifier"), "{name}");
        }
        for name in ["fn", "_", "Self", "yield", "gen"] {
            assert_eq!(misnamed(name), Some("is a keyword of Rust"), "{name}");
        }
        assert_eq!(misnamed(""), Some("is empty"));
        assert!(misnamed("__REFUSED").is_some_and(|why| why.starts_with("is reserved")));
    }
}
