//! Virtual time, kept as a task's vruntime: how real time becomes it, and how two of them compare (fair-class
//! 1.2, 1.3).

use super::queue::FairEntity;

/// How far virtual time `a` is to the right of `b`, in ns; negative: to the left. Virtual times wrap around,
/// so this is the only way to compare them.
#[inline]
pub fn lag(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b) as i64
}

/// The one further right.
#[inline]
pub(super) fn later(a: u64, b: u64) -> u64 {
    if lag(a, b) > 0 { a } else { b }
}

/// The one further left.
#[inline]
pub(super) fn earlier(a: u64, b: u64) -> u64 {
    if lag(a, b) < 0 { a } else { b }
}

/// `delta × weight / total`, rounded half up, at most `i64::MAX` (fair-class 1.2).
#[inline]
pub(super) fn proportion(delta: u64, weight: u64, total: u64) -> u64 {
    match delta.checked_mul(weight).and_then(|p| p.checked_add(total / 2)) {
        Some(product) => (product / total).min(i64::MAX as u64),
        None => {
            let wide = (u128::from(delta) * u128::from(weight) + u128::from(total / 2)) / u128::from(total);
            wide.min(i64::MAX as u128) as u64
        }
    }
}

/// `x × numerator / denominator`, rounded towards zero. (Nearly always in 64 bits: a division of twice the
/// width takes many times as long.)
#[inline]
pub(super) fn scaled(x: i64, numerator: u64, denominator: u64) -> i64 {
    match x.checked_mul(numerator as i64) {
        Some(product) => product / denominator as i64,
        None => (i128::from(x) * i128::from(numerator) / i128::from(denominator)) as i64,
    }
}

impl FairEntity {
    /// Real time in ns to virtual time of this task, START_NICE penalty included (fair-class 1.3).
    #[inline]
    pub(crate) fn vdelta(&self, delta: u64) -> u64 {
        self.penalised(self.exact_weight().virtual_time(delta))
    }

    /// Shifts a time by the START_NICE penalty, whether the feature is on or not.
    #[inline]
    pub(super) fn penalised(&self, delta: u64) -> u64 {
        match self.penalty.get() {
            0 => delta,
            penalty => delta.saturating_mul(1 << penalty).min(i64::MAX as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nice;

    fn entity(nice: i8, penalty: u8) -> FairEntity {
        let se = FairEntity::default();
        se.reset(Nice::new(nice).expect("-20 to 19").weight());
        se.penalty.set(penalty);
        se
    }

    /// fair-class 1.2: rounding half up, exact at any size.
    #[test]
    fn proportions_are_exact() {
        assert_eq!(proportion(5, 1, 2), 3);
        assert_eq!(proportion(4, 1, 3), 1);
        assert_eq!(proportion(6_000_000, 15, 1039), 86_622);
        assert_eq!(proportion(u64::MAX / 2, 88761, 88761), u64::MAX / 2);
        assert_eq!(proportion(u64::MAX, 88761, 15), i64::MAX as u64);
    }

    /// eevdf-class 3.8: lag and what is left of a request keep their real time; exact at any size.
    #[test]
    fn scaling_rounds_towards_zero() {
        assert_eq!([scaled(7, 3, 2), scaled(-7, 3, 2)], [10, -10]);
        assert_eq!(scaled(3_000_000, 1024, 335), 9_170_149);
        assert_eq!(scaled(-(1 << 62), 1024, 2048), -(1 << 61), "the product takes more than 64 bits");
        assert_eq!(scaled(i64::MAX, 88761, 88761), i64::MAX);
    }

    /// fair-class 1.3.
    #[test]
    fn virtual_time_passes_at_1024_over_weight() {
        assert_eq!(entity(0, 0).vdelta(1_000_000), 1_000_000);
        assert_eq!(entity(5, 0).vdelta(3_000_000), 9_170_149, "A6: 9.17 ms");
        assert_eq!(entity(-20, 0).vdelta(1_000_000), 11_537);
        assert_eq!(entity(0, 3).vdelta(1_000_000), 8_000_000);
        assert_eq!(entity(5, 2).vdelta(3_000_000), 4 * 9_170_149, "shifted after the weight");
        assert_eq!(entity(19, 8).vdelta(u64::MAX / 4), i64::MAX as u64);
    }

    #[test]
    fn comparisons_survive_the_wrap() {
        assert_eq!(lag(3, u64::MAX), 4);
        assert_eq!(later(3, u64::MAX), 3);
        assert_eq!(earlier(3, u64::MAX), u64::MAX);
    }
}
