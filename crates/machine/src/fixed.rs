//! Logarithm and exponential in 32.32 fixed point: platform floats must not decide anything.

use std::hint::select_unpredictable;

/// ln 2 · 2³².
pub const LN_2_Q32: u128 = 2_977_044_472;

/// 1 / ln 2 · 2⁶².
const LOG2_E_Q62: u128 = (1 << 94) / LN_2_Q32;

/// log2(x) · 2³² for x ≥ 1, rounded down; error below 2⁻³⁰.
pub const fn log2_q32(x: u64) -> u64 {
    let whole = (63 - x.leading_zeros()) as u64;
    // The mantissa in 1.63; squaring it doubles the logarithm, each overflow past 2 yields one bit.
    let mut mantissa = x << x.leading_zeros();
    let mut fraction = 0u64;
    let mut bits = 0;
    while bits < 32 {
        bits += 1;
        let square = (mantissa as u128 * mantissa as u128) >> 63;
        fraction <<= 1;
        if square >> 64 != 0 {
            fraction |= 1;
            mantissa = (square >> 1) as u64;
        } else {
            mantissa = square as u64;
        }
    }
    whole << 32 | fraction
}

/// What [`log2_q32`] yields for x ≥ 1, give or take [`NEARLY`], in a fifth of the time.
pub fn nearly_log2_q32(x: u64) -> u64 {
    let whole = u64::from(63 - x.leading_zeros());
    let mantissa = x << x.leading_zeros();
    // 1 ≤ m < 2, as a multiple of 1/128 and what is left: m = (1 + i/128) · (1 + r), 0 ≤ r < 1/128.
    let i = (mantissa >> 56) as usize - 128;
    let one_plus_r = (u128::from(mantissa) * u128::from(PARTS[i].inverse_q63)) >> 63;
    let r_q63 = (one_plus_r as u64).saturating_sub(1 << 63);
    // ln(1 + r) = r − r²/2 + r³/3 − r⁴/4, by Horner; the next term is below 2⁻³⁷.
    let times_r = |a: u64| ((u128::from(a) * u128::from(r_q63)) >> 63) as u64;
    let quarter = r_q63 / 4;
    let third = times_r((1 << 63) / 3 - quarter);
    let half = times_r((1 << 62) - third);
    let ln_q63 = times_r((1 << 63) - half);
    let log2_q32 = ((u128::from(ln_q63) * LOG2_E_Q62) >> 93) as u64;
    (whole << 32) + PARTS[i].log2_q32 + log2_q32
}

/// The largest difference between [`nearly_log2_q32`] and [`log2_q32`]: the latter rounds down in each of its
/// steps, here once for the table and once for the result.
pub const NEARLY: u64 = 8;

/// 1 + i/128.
#[derive(Clone, Copy)]
struct Part {
    log2_q32: u64,
    inverse_q63: u64,
}

const PARTS: [Part; 128] = {
    let mut parts = [Part { log2_q32: 0, inverse_q63: 0 }; 128];
    let mut i = 0;
    while i < 128 {
        let n = 128 + i as u64;
        let inverse_q63 = (1u128 << 70) / n as u128;
        parts[i] = Part { log2_q32: log2_q32(n) - (7 << 32), inverse_q63: inverse_q63 as u64 };
        i += 1;
    }
    parts
};

/// e^(−x / tau) · 2³², for `tau` > 0; 0 once the result would be below 2⁻³².
pub fn exp_neg_q32(x: u64, tau: u64) -> u64 {
    // e^(−x/τ) = 2^(−y), y = x / (τ · ln 2).
    let y_q32 = (u128::from(x) << 64) / (u128::from(tau) * LN_2_Q32);
    let whole = y_q32 >> 32;
    if whole >= 32 {
        return 0;
    }
    let fraction = y_q32 as u32;
    // 2^(−f) as the product of 2^(−2^−k) over the set bits of f.
    let mut result = ONE_Q32;
    for (k, factor) in EXP2_NEG_Q32.iter().enumerate() {
        // A bit is set as often as not: the processor shall not guess.
        let factor = select_unpredictable(fraction >> (31 - k) & 1 == 1, *factor, ONE_Q32);
        // Neither is above 2³².
        result = ((u128::from(result) * u128::from(factor)) >> 32) as u64;
    }
    result >> whole
}

const ONE_Q32: u64 = 1 << 32;

/// 2^(−2^−k) · 2³² for k = 1..=16; later factors change the result by less than 2⁻¹⁶.
const EXP2_NEG_Q32: [u64; 16] = [
    3_037_000_500,
    3_611_622_603,
    3_938_502_376,
    4_112_874_773,
    4_202_935_003,
    4_248_701_965,
    4_271_771_996,
    4_283_353_945,
    4_289_156_690,
    4_292_061_010,
    4_293_513_907,
    4_294_240_540,
    4_294_603_903,
    4_294_785_595,
    4_294_876_445,
    4_294_921_870,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};

    #[test]
    fn logarithms() {
        assert_eq!(log2_q32(1), 0);
        assert_eq!(log2_q32(1 << 40), 40 << 32);
        let log2_10 = std::f64::consts::LOG2_10 * f64::from(1u32 << 31) * 2.0;
        assert!((log2_q32(10) as f64 - log2_10).abs() < 4.0);
    }

    #[test]
    fn nearly_the_same_logarithm() {
        let mut rng = Rng::keyed(1, Purpose::Load, 0);
        let random = (0..300_000).map(|n| rng.bits() >> (n % 64));
        let edges = (0..64).flat_map(|n| [1 << n, (1 << n) + 1, u64::MAX >> n]);
        let eighths = (128..256).flat_map(|n: u64| [n << 56, (n << 56) - 1, (n << 56) + 1]);
        for x in random.chain(edges).chain(eighths).filter(|x| *x > 0) {
            let difference = nearly_log2_q32(x).abs_diff(log2_q32(x));
            assert!(difference <= NEARLY, "{x}: {difference}");
        }
    }

    #[test]
    fn exponentials() {
        for (x, tau) in [(0, 5), (1_000, 1_000), (3_250_000, 3_250_000), (17, 4), (100, 1), (1, 1_000_000)] {
            let expected = (-(x as f64) / tau as f64).exp();
            let got = exp_neg_q32(x, tau) as f64 / (1u64 << 32) as f64;
            assert!((got - expected).abs() < 2e-5, "{x}/{tau}: {got} {expected}");
        }
    }
}
