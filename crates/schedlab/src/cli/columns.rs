//! How wide a line may be.

use report::text::WIDTH;
use std::io;
use terminal_size::terminal_size_of;

/// Below this tables cannot be read, above it lines cannot.
const NARROWEST: usize = 40;
const WIDEST: usize = 250;

/// Columns of standard output: those of the terminal, within reason; [`WIDTH`] for files and pipes.
pub fn of_stdout() -> usize {
    within_reason(terminal_size_of(io::stdout()).map(|(width, _)| width.0))
}

/// The same of standard error.
pub fn of_stderr() -> usize {
    within_reason(terminal_size_of(io::stderr()).map(|(width, _)| width.0))
}

/// A terminal of no columns is one that does not know its size.
fn within_reason(terminal: Option<u16>) -> usize {
    match terminal {
        None | Some(0) => WIDTH,
        Some(columns) => usize::from(columns).clamp(NARROWEST, WIDEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_terminal_within_reason() {
        let cases = [(None, 80), (Some(0), 80), (Some(20), 40), (Some(40), 40), (Some(132), 132)];
        for (terminal, columns) in cases.into_iter().chain([(Some(1000), 250)]) {
            assert_eq!(within_reason(terminal), columns, "{terminal:?}");
        }
    }
}
