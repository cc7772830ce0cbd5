//! Numbers and tables for people.

use std::io::{self, Write};

/// `12_345_678` as `12,345,678`.
pub fn grouped(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// Bytes in the largest binary unit that leaves a whole digit, to two places, cut off, not rounded.
pub fn bytes(bytes: impl Into<i128>) -> String {
    let bytes = bytes.into();
    let size = bytes.unsigned_abs();
    let (unit, name) = match size {
        0..0x400 => return format!("{bytes} B"),
        0x400..0x10_0000 => (1u128 << 10, "KiB"),
        0x10_0000..0x4000_0000 => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    };
    let hundredths = size * 100 / unit;
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}.{:02} {name}", hundredths / 100, hundredths % 100)
}

/// `1 token`, `512 tokens`.
pub fn counted(number: u32, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Ascending numbers as runs: `0-2, 4-6, 8`.
pub fn runs(numbers: impl Iterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    let texts: Vec<String> = runs
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    texts.join(", ")
}

/// Where a column's text stands.
#[derive(Clone, Copy)]
pub enum Align {
    Left,
    Right,
}

/// Prints rows under their headings, each column as wide as its widest entry.
pub fn table<const N: usize>(
    out: &mut impl Write,
    headings: [(&str, Align); N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let mut widths = headings.map(|(heading, _)| heading.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let heading = headings.map(|(heading, _)| heading.to_owned());
    for row in std::iter::once(&heading).chain(rows) {
        let mut line = String::new();
        for ((cell, width), (_, align)) in row.iter().zip(widths).zip(headings) {
            let cell = match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            };
            line.push_str("  ");
            line.push_str(&cell);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!([0i64, 999, 1_000, -1_234_567].map(grouped), ["0", "999", "1,000", "-1,234,567"]);
        assert_eq!([1023i64, 1024, 1 << 20, -(3 << 29)].map(bytes), ["1023 B", "1.00 KiB", "1.00 MiB", "-1.50 GiB"]);
        assert_eq!(runs([0, 1, 2, 4, 6, 7].into_iter()), "0-2, 4, 6-7");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_entry() {
        let mut out = Vec::new();
        let rows = [["a".to_owned(), "1".to_owned()], ["long".to_owned(), "1,000".to_owned()]];
        table(&mut out, [("name", Align::Left), ("n", Align::Right)], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  name      n\n  a         1\n  long  1,000\n");
    }
}
