//! Load weights. Those of tasks are whole numbers; that of a group on one of many CPUs may be less than one
//! (deadline-groups B3).

use crate::NICE_0_LOAD;
use crate::fair::vruntime::{proportion, scaled};
use core::hint::cold_path;

/// Of what a unit consists for the finest weights.
const PARTS: u64 = 1024;

/// The load weight of an entity, in 1024ths of a unit; a task of nice 0 has 1024 units.
///
/// Kernels from 4.7 on keep it as finely, and count with whole units, two at least, in averages, in sums and
/// in the zero-lag point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Weight {
    whole: u32,
    /// What it has beyond that, or, where the least whole weight is more than it has, lacks.
    beyond: i16,
}

impl Weight {
    /// The least that an entity of a group counts as.
    pub(in crate::fair) const LEAST_WHOLE: u64 = 2;

    /// In 1024ths of a unit; below 2^42.
    pub(in crate::fair) fn of_parts(parts: u64) -> Weight {
        let whole = (parts / PARTS).max(Weight::LEAST_WHOLE);
        Weight { whole: whole as u32, beyond: (parts as i64 - (whole * PARTS) as i64) as i16 }
    }

    /// In whole units.
    #[inline]
    pub fn whole(self) -> u64 {
        u64::from(self.whole)
    }

    /// In 1024ths of a unit.
    #[inline]
    pub fn parts(self) -> u64 {
        (u64::from(self.whole) * PARTS).wrapping_add_signed(i64::from(self.beyond))
    }

    /// Virtual time in which it gets so much real time, START_NICE left out (fair-class 1.3).
    #[inline]
    pub(in crate::fair) fn virtual_time(self, real: u64) -> u64 {
        if self.beyond != 0 {
            cold_path();
            return proportion(real, NICE_0_LOAD * PARTS, self.parts());
        }
        if self.whole() == NICE_0_LOAD { real } else { proportion(real, NICE_0_LOAD, self.whole()) }
    }

    /// The least real time in which that much virtual time passes, but for what rounding takes.
    pub(in crate::fair) fn real_time(self, virtual_time: u64) -> u64 {
        let product = u128::from(virtual_time) * u128::from(self.parts());
        product.div_ceil(u128::from(NICE_0_LOAD * PARTS)) as u64
    }

    /// Virtual time that was so long at this weight, in which an entity of another one gets the same real
    /// time; rounded towards zero.
    #[inline]
    pub(in crate::fair) fn same_service_at(self, other: Weight, virtual_time: i64) -> i64 {
        if self.beyond == 0 && other.beyond == 0 {
            return scaled(virtual_time, self.whole(), other.whole());
        }
        scaled(virtual_time, self.parts(), other.parts())
    }
}

impl From<u64> for Weight {
    /// Whole units; below 2^32.
    #[inline]
    fn from(whole: u64) -> Weight {
        Weight { whole: whole as u32, beyond: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// deadline-groups B3: 10 shares over 64 busy CPUs give 160 1024ths.
    #[test]
    fn a_weight_below_two_units_counts_as_two_and_gets_what_it_has() {
        let weight = Weight::of_parts(10 * 1024 / 64);
        assert_eq!((weight.whole(), weight.parts()), (2, 160));
        // 1024 units to 160 1024ths of one.
        assert_eq!(weight.virtual_time(160), 1 << 20);
        assert_eq!(Weight::of_parts(5 * 1024 + 512).virtual_time(11), 2048);
        assert_eq!(Weight::of_parts(5 * 1024 + 512).whole(), 5);
        assert_eq!(Weight::of_parts(2), Weight { whole: 2, beyond: -2046 });
    }

    #[test]
    fn whole_weights_are_what_they_were() {
        assert_eq!(Weight::from(335).parts(), 335 * 1024);
        assert_eq!(Weight::from(335), Weight::of_parts(335 * 1024));
        assert_eq!(Weight::from(1024).same_service_at(Weight::from(335), 3_000_000), 9_170_149);
        assert_eq!(Weight::of_parts(160).same_service_at(Weight::from(1024), 1 << 20), 160);
    }
}
