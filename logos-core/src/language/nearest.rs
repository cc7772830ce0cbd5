//! The known word nearest to a misspelt one.

/// Longer words are not compared.
const MAX_WORD: usize = 32;

/// The first of the nearest `known` words, if it is near: at most a third of its letters differ, and at least one may.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let limit = (candidate.len() / 3).max(1);
        if candidate.len() > MAX_WORD || candidate.len().abs_diff(word.len()) > limit {
            continue;
        }
        let distance = distance(word.as_bytes(), candidate.as_bytes());
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, word)| word)
}

/// Letters inserted, left out or replaced, without regard to case (Levenshtein).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(!from.eq_ignore_ascii_case(to));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["rmsnorm", "l2norm", "layernorm", "rope"];
        assert_eq!(nearest("rmsnrom", known), Some("rmsnorm"));
        assert_eq!(nearest("layrnorm", known), Some("layernorm"));
        assert_eq!(nearest("Rope", known), Some("rope"));
        assert_eq!(nearest("softmax", known), None);
        assert_eq!(nearest(&"r".repeat(1 << 20), known), None);
    }
}
