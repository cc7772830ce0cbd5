//! The known word a mistyped one most likely meant.

/// Longest word that is compared, in characters: what a person mistypes is shorter.
const LONGEST: usize = 64;

/// The word of `known` nearest to `word`, if one is near: at most a third of its letters (and at least one) differ.
/// Case does not count.
/// Of equally near words one that starts with `word` is taken, else the first.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    if word.len() > LONGEST {
        return None;
    }
    let (distance, _, near) = known
        .iter()
        .map(|&k| (distance(&word, k), !k.to_lowercase().chars().take(word.len()).eq(word.iter().copied()), k))
        .min_by_key(|&(distance, unlike, _)| (distance, unlike))?;
    (distance <= (word.len() / 3).max(1)).then_some(near)
}

/// Insertions, deletions, changes and swaps of neighbours that turn `a` into `b` (optimal string alignment).
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_is_by_edits() {
        let chips = ["SN10", "SN30", "SN40L", "SN50"];
        assert_eq!(nearest("SN5O", &chips), Some("SN50"));
        assert_eq!(nearest("sn40", &chips), Some("SN40L"));
        assert_eq!(nearest("NS50", &chips), Some("SN50"));
        assert_eq!(nearest("H100", &chips), None);
        assert_eq!(nearest("", &chips), None);
        assert_eq!(nearest("batchs", &["tp", "ctx", "batch", "chunk"]), Some("batch"));
        assert_eq!(nearest(&"x".repeat(100_000), &chips), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
