//! No bare number: what `fit/` and `residency/` compute with comes from the config, the programs or a chip's facts. A literal
//! beyond 0, 1 and 2 stands in a constant that has a name and says where the figure is from.

use std::fs;
use std::path::{Path, PathBuf};

/// Rust files below a folder but for tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The text with comments, strings and characters blanked out, line by line as it was.
fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let blank = |code: &mut Vec<u8>, from: usize, to: usize| {
        for byte in &mut code[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            let end = at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            blank(&mut code, at, end);
            at = end;
        } else if rest.starts_with(b"r\"") || rest.starts_with(b"r#\"") {
            let close: &[u8] = if rest[1] == b'#' { b"\"#" } else { b"\"" };
            let open = if rest[1] == b'#' { 3 } else { 2 };
            let length =
                rest[open..].windows(close.len()).position(|window| window == close).expect("a raw string's end");
            let end = at + open + length + close.len();
            blank(&mut code, at, end);
            at = end;
        } else if rest[0] == b'"' {
            let mut end = at + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            blank(&mut code, at, end + 1);
            at = end + 1;
        } else if rest[0] == b'\'' && (rest[1] == b'\\' || rest.get(2) == Some(&b'\'')) {
            let end = at + 2 + rest[2..].iter().position(|&b| b == b'\'').expect("a character's end");
            blank(&mut code, at, end + 1);
            at = end + 1;
        } else {
            at += 1;
        }
    }
    String::from_utf8(code).expect("text")
}

/// Number literals of a line of code, but for the fields of tuples.
fn literals(line: &str) -> Vec<&str> {
    let bytes = line.as_bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !word(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && word(bytes[at]) {
            at += 1;
        }
        if !bytes[start].is_ascii_digit() {
            continue;
        }
        // A fraction, if a digit follows the point: `1..2` is a range.
        if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            at += 1;
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
        }
        let field = start > 0 && bytes[start - 1] == b'.' && !(start > 1 && bytes[start - 2] == b'.');
        // The length of a constant list is that of its value.
        let length = line[..start].ends_with("; ") && line[at..].starts_with("] = [");
        if !field && !length {
            found.push(&line[start..at]);
        }
    }
    found
}

/// Whether a literal is 0, 1 or 2, of whatever type.
fn is_small(literal: &str) -> bool {
    let digits = literal.trim_end_matches(|c: char| c != '.' && !c.is_ascii_digit());
    let digits = literal.find(['u', 'i', 'f']).map_or(digits, |suffix| literal[..suffix].trim_end_matches('_'));
    matches!(digits, "0" | "1" | "2" | "0.0" | "1.0" | "2.0")
}

/// Lines with a literal that is neither small nor a constant's with a source.
fn bare(text: &str) -> Vec<String> {
    let code = code_of(text);
    let (lines, code): (Vec<&str>, Vec<&str>) = (text.lines().collect(), code.lines().collect());
    let mut found = Vec::new();
    // Whether a test's lines run, and whether those of a constant with a source do.
    let (mut in_test, mut cited) = (false, false);
    for (at, line) in code.iter().enumerate() {
        if lines[at] == "#[cfg(test)]" {
            in_test = code.get(at + 1).is_some_and(|next| next.ends_with('{'));
        }
        let trimmed = line.trim_start().trim_start_matches("pub(super) ").trim_start_matches("pub ");
        if trimmed.starts_with("const ") && !trimmed.starts_with("const fn") {
            let doc = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with("///"));
            cited = doc.into_iter().any(|line| line.contains("/// Source: "));
        }
        if !in_test && !cited {
            found.extend(
                literals(line)
                    .into_iter()
                    .filter(|literal| !is_small(literal))
                    .map(|literal| format!("line {}: {literal} in `{}`", at + 1, lines[at].trim())),
            );
        }
        if trimmed.ends_with(';') {
            cited = false;
        }
        if *line == "}" {
            in_test = false;
        }
    }
    found
}

/// F1: figures come from the config, the programs, the facts, or a constant that says where it is from.
#[test]
fn no_number_is_bare() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for folder in ["fit", "residency"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 20, "{files:?}");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        let name = file.strip_prefix(&root).expect("below").display().to_string();
        found.extend(bare(&text).into_iter().map(|line| format!("{name}, {line}")));
    }
    assert!(found.is_empty(), "figures without a source:\n{}", found.join("\n"));
}

#[test]
fn bare_numbers_are_found() {
    let refused = "fn f(x: u64) -> u64 {\n    x * 34 + y.0 + 2\n}\n\n/// A constant.\nconst BLOCK: u64 = 32;\n";
    assert_eq!(bare(refused), ["line 2: 34 in `x * 34 + y.0 + 2`", "line 6: 32 in `const BLOCK: u64 = 32;`"]);
    let taken = "/// A block.\n///\n/// Source: the format.\npub const BLOCK: u64 = 32;\n\
        fn f() -> f64 {\n    // 99 and \"98\"\n    let s = \"97\"; let c = '9'; 1.0 + 2_u64 as f64 + f(0..1).1\n}\n\
        #[cfg(test)]\nmod tests {\n    const N: u64 = 1000;\n}\n";
    assert_eq!(bare(taken), Vec::<String>::new());
}
