//! A load of somebody's own: its figures, then its threads.

use super::table::{Align, Table};
use super::threads::threads;
use crate::numbers::{count_u64, duration_ns};
use schema::{OwnResult, Unit};

/// A row for each figure; then the threads, where it shows them.
#[must_use]
pub fn own(result: &OwnResult) -> String {
    let mut table = Table::new(&[("figure", Align::Left), ("value", Align::Right)]);
    for figure in &result.figures {
        let value = match figure.unit {
            Unit::Count => count_u64(figure.value),
            Unit::Nanoseconds => duration_ns(figure.value),
        };
        table.row([figure.name.clone(), value]);
    }
    let figures = if result.figures.is_empty() { String::new() } else { table.render() };
    let threads = if result.threads.is_empty() { String::new() } else { threads(&result.threads) };
    figures + &threads
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Better;

    #[test]
    fn figures_stand_in_their_order_with_their_units() {
        let result = OwnResult::new("a pool of 4".to_owned(), "pool")
            .nanos("longest job", Better::Lower, 10_400_000)
            .count("jobs", Better::Higher, 20);
        insta::assert_snapshot!(own(&result), @r"
        figure       value
        longest job 10.4ms
        jobs            20
        ");
    }
}
