//! The geometric series behind every average: a period counts `y` times the next younger one, `y` to the
//! power of 32 being one half (fair-placement 1.1, 1.2).

/// `(2^32 - 1) * y^n`, rounded down, for n from 0 to 31.
const POWERS: [u32; HALF_LIFE as usize] = [
    0xffff_ffff,
    0xfa83_b2da,
    0xf525_7d14,
    0xefe4_b99a,
    0xeac0_c6e6,
    0xe5b9_06e6,
    0xe0cc_deeb,
    0xdbfb_b796,
    0xd744_fcc9,
    0xd2a8_1d91,
    0xce24_8c14,
    0xc9b9_bd85,
    0xc567_2a10,
    0xc12c_4cc9,
    0xbd08_a39e,
    0xb8fb_af46,
    0xb504_f333,
    0xb123_f581,
    0xad58_3ee9,
    0xa9a1_5ab4,
    0xa5fe_d6a9,
    0xa270_4302,
    0x9ef5_325f,
    0x9b8d_39b9,
    0x9837_f050,
    0x94f4_efa8,
    0x91c3_d373,
    0x8ea4_398a,
    0x8b95_c1e3,
    0x8898_0e80,
    0x85aa_c367,
    0x82cd_8698,
];

/// Periods after which one counts half.
const HALF_LIFE: u64 = 32;

/// Periods after which nothing is left of any sum.
const FORGOTTEN: u64 = 63 * HALF_LIFE;

/// The sum of an activity that never paused, its last period being complete.
pub(super) const MAX_SUM: u64 = 47_742;

/// What is left of a sum after so many periods.
pub(super) fn decay(sum: u64, periods: u64) -> u64 {
    if periods > FORGOTTEN {
        return 0;
    }
    let halved = sum >> (periods / HALF_LIFE);
    let power = u128::from(POWERS[(periods % HALF_LIFE) as usize]);
    ((u128::from(halved) * power) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fair-placement E10.
    #[test]
    fn decays_of_the_worked_example() {
        let cases = [(1000, 0, 999), (1000, 32, 499), (1000, 1, 978), (1000, 40, 420), (47_742, 345, 26)];
        for (sum, periods, left) in cases {
            assert_eq!(decay(sum, periods), left, "{sum} after {periods}");
        }
        assert_eq!(decay(u64::MAX, 5000), 0, "however long ago");
    }

    /// 1.2: each entry is rounded down from the exact power, so its 32nd power brackets the exact one.
    #[test]
    fn the_table_is_geometric() {
        for pair in POWERS.windows(2) {
            let ratio = f64::from(pair[1]) / f64::from(pair[0]);
            assert!((ratio - 0.5f64.powf(1.0 / 32.0)).abs() < 1e-9, "{pair:x?}");
        }
    }

    /// 1.2: the fixed point of one more complete period.
    #[test]
    fn the_largest_sum_is_a_fixed_point() {
        let next = |sum: u64| ((sum * u64::from(POWERS[1])) >> 32) + 1024;
        assert_eq!(next(MAX_SUM), MAX_SUM);
        assert_eq!((0..1000).fold(0, |sum, _| next(sum)), MAX_SUM);
    }
}
