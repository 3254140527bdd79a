//! The `[cold]` of a machine file: what the way to a woken task costs where its code and data have left the
//! caches (machine.md 6.1).

use super::entries;
use super::error::SpecError;
use super::origin::Origin;
use super::parse::read_figure;
use super::reader::Field;
use crate::fixed::exp_neg_q32;
use scheduler::Nanos;

/// What a timer's wakeup costs beyond that on warm caches, after other work on the CPU or a halt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColdPath {
    /// On caches that have forgotten all of it.
    pub path: Nanos,
    /// After this many bytes that tasks touched on the CPU since the last such wakeup, 1/e of it is left.
    pub bytes: u64,
    /// After a halt of this length, 1/e of it is left.
    pub halted: Nanos,
}

impl ColdPath {
    /// What is to be fetched anew after tasks have touched so many bytes, or the CPU has halted for so long.
    pub fn cost(&self, touched: u64, halted: Nanos) -> Nanos {
        let left = exp_neg_q32(touched, self.bytes.max(1)).min(exp_neg_q32(halted.0, self.halted.0.max(1)));
        Nanos(((u128::from(self.path.0) * u128::from((1u64 << 32) - left)) >> 32) as u64)
    }
}

pub(super) fn read_cold(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<ColdPath, SpecError> {
    let table = field.table(&entries::COLD)?;
    Ok(ColdPath {
        path: Nanos(read_figure(&table.required("path")?, "ns", 0, 1_000_000, origins)?),
        bytes: read_figure(&table.required("bytes")?, "bytes", 1, 1 << 40, origins)?,
        halted: Nanos(read_figure(&table.required("halted")?, "ns", 1, 10_000_000_000, origins)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// machine.md M36.
    #[test]
    fn m36_four_times_the_cache_leaves_next_to_nothing() {
        let cold = ColdPath { path: Nanos(14_000), bytes: 1 << 20, halted: Nanos::from_millis(5) };
        assert_eq!(cold.cost(4 << 20, Nanos::ZERO).0 / 100, 137);
        assert_eq!(cold.cost(64 << 10, Nanos::ZERO).0 / 10, 84);
        assert_eq!(cold.cost(0, Nanos::ZERO), Nanos::ZERO);
        // 1 - 1/e; the larger of both counts.
        assert_eq!(cold.cost(64 << 10, Nanos::from_millis(5)).0 / 10, 884);
    }
}
