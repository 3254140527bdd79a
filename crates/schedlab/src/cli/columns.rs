//! How wide a line may be.

use std::io;
use std::os::fd::AsFd;
use terminal_size::terminal_size_of;

/// Below this tables cannot be read, above it lines cannot.
const NARROWEST: usize = 40;
const WIDEST: usize = 250;

/// Columns of standard output, where somebody says so: COLUMNS in the environment, else the terminal.
pub fn of_stdout() -> Option<usize> {
    asked_for().or_else(|| terminal(io::stdout()))
}

/// The same of standard error.
pub fn of_stderr() -> Option<usize> {
    asked_for().or_else(|| terminal(io::stderr()))
}

fn asked_for() -> Option<usize> {
    within_reason(std::env::var("COLUMNS").ok()?.trim().parse().ok()?)
}

fn terminal(stream: impl AsFd) -> Option<usize> {
    within_reason(terminal_size_of(stream)?.0.0)
}

/// A terminal of no columns is one that does not know its size.
fn within_reason(columns: u16) -> Option<usize> {
    (columns > 0).then(|| usize::from(columns).clamp(NARROWEST, WIDEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_terminal_within_reason() {
        for (terminal, columns) in [(20, 40), (40, 40), (132, 132), (1000, 250)] {
            assert_eq!(within_reason(terminal), Some(columns));
        }
        assert_eq!(within_reason(0), None);
    }
}
