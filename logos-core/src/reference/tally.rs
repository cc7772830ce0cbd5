//! Multiply-accumulates that the evaluator carries out, counted where they happen: in tests, and nowhere else.
//!
//! Each loop that accumulates products says how many it has just done. Nothing here knows of a shape or a formula, so what comes out
//! is a second opinion on what operations say of themselves.

/// Says that `n` products were accumulated.
#[inline(always)]
pub(crate) fn accumulated(n: usize) {
    #[cfg(test)]
    counted::add(n as u64);
    #[cfg(not(test))]
    let _ = n;
}

/// Says that a statement of an operation ends; what was counted since the last one ended is its.
#[inline(always)]
pub(super) fn ends(operation: &'static str) {
    #[cfg(test)]
    counted::end(operation);
    #[cfg(not(test))]
    let _ = operation;
}

#[cfg(test)]
pub(crate) mod counted {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct Counts {
        open: u64,
        ended: BTreeMap<&'static str, u64>,
    }

    thread_local! {
        static COUNTS: RefCell<Counts> = RefCell::default();
    }

    pub(super) fn add(n: u64) {
        COUNTS.with_borrow_mut(|counts| counts.open += n);
    }

    pub(super) fn end(operation: &'static str) {
        COUNTS.with_borrow_mut(|counts| {
            let open = std::mem::take(&mut counts.open);
            *counts.ended.entry(operation).or_default() += open;
        });
    }

    /// What this thread has counted since it was last asked, by operation.
    pub(crate) fn take() -> BTreeMap<&'static str, u64> {
        COUNTS.with_borrow_mut(std::mem::take).ended
    }
}
