//! How wide a line may be.

use super::WIDTH;
use std::cell::Cell;

thread_local! {
    /// Not an argument: every paragraph and table of every result needs it, and nothing else differs by it.
    static COLUMNS: Cell<usize> = const { Cell::new(WIDTH) };
}

/// Columns that a line may take in what this thread writes: [`WIDTH`] outside of [`in_columns`].
#[must_use]
pub fn columns() -> usize {
    COLUMNS.get()
}

/// Does something, with texts made for lines of so many columns.
pub fn in_columns<T>(columns: usize, write: impl FnOnce() -> T) -> T {
    /// Takes the width back, also when a panic passes.
    struct Before(usize);
    impl Drop for Before {
        fn drop(&mut self) {
            COLUMNS.set(self.0);
        }
    }
    let _before = Before(COLUMNS.replace(columns));
    write()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_holds_for_what_is_done_in_it() {
        let inner = in_columns(40, || (columns(), in_columns(132, columns), columns()));
        assert_eq!((inner, columns()), ((40, 132, 40), WIDTH));
    }
}
