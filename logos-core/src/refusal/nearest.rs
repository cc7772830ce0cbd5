//! The known word nearest to an unknown one, for `did you mean`.

/// Longest word that is compared, in characters: the cost grows with its square, and longer ones are no typing mistakes.
const LONGEST: usize = 64;

/// The known word nearest to `word`, if one is near enough to be what was meant: at most a third of its letters
/// differ (one where it is short), or one is the beginning of the other. Upper and lower case count as equal. Of
/// words as near, the one with the longest common beginning is taken, then the first.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = folded(word)?;
    let mut best: Option<((usize, usize), &str)> = None;
    for candidate in known {
        let Some(letters) = folded(candidate) else { continue };
        let mut away = distance(&word, &letters);
        let (short, long) = if word.len() < letters.len() { (&word, &letters) } else { (&letters, &word) };
        if short.len() >= 2 && long.starts_with(short) {
            away = away.min(1);
        }
        let allowed = (word.len().max(letters.len()) / 3).max(1);
        let beginning = word.iter().zip(&letters).take_while(|(a, b)| a == b).count();
        // Of words as near, the one that begins most like it: who writes SN40 means SN40L and not SN10.
        let rank = (away, LONGEST - beginning.min(LONGEST));
        if away <= allowed && short.len() > away && best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = word.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    (letters.len() <= LONGEST).then_some(letters)
}

/// Insertions, deletions, substitutions and swaps of neighbours that make one word of the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut current = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut least =
                (previous[j] + usize::from(x != y)).min(previous[j + 1] + 1).min(current.last().map_or(0, |&c| c + 1));
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(before[j - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const KEYS: [&str; 5] = ["tp", "ctx", "batch", "chunk", "rows"];

    #[test]
    fn finds_what_was_meant() {
        for (typed, meant) in [
            ("ctxt", Some("ctx")),
            ("context", None),
            ("c", None),
            ("batches", Some("batch")),
            ("bacth", Some("batch")),
            ("TP", Some("tp")),
            ("pt", Some("tp")),
            ("row", Some("rows")),
            ("x", None),
            ("", None),
            ("weights", None),
        ] {
            assert_eq!(nearest(typed, KEYS), meant, "{typed}");
        }
        assert_eq!(nearest("SN50X", ["SN10", "SN40L", "SN50"]), Some("SN50"));
        assert_eq!(nearest("SN40", ["SN10", "SN30", "SN40L", "SN50"]), Some("SN40L"));
        assert_eq!(nearest("SN51", ["SN10", "SN30", "SN40L", "SN50"]), Some("SN50"));
        assert_eq!(nearest("q8", ["config", "q8_0"]), Some("q8_0"));
        assert_eq!(nearest(&"a".repeat(100_000), KEYS), None);
    }
}
