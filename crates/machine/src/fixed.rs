//! Logarithm and exponential in 32.32 fixed point: platform floats must not decide anything.

/// ln 2 · 2³².
pub const LN_2_Q32: u128 = 2_977_044_472;

/// log2(x) · 2³² for x ≥ 1, rounded down; error below 2⁻³⁰.
pub fn log2_q32(x: u64) -> u64 {
    let whole = u64::from(63 - x.leading_zeros());
    // The mantissa in 1.63; squaring it doubles the logarithm, each overflow past 2 yields one bit.
    let mut mantissa = x << x.leading_zeros();
    let mut fraction = 0u64;
    for _ in 0..32 {
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 63;
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
    let mut result = 1u64 << 32;
    for (k, factor) in EXP2_NEG_Q32.iter().enumerate() {
        if fraction >> (31 - k) & 1 == 1 {
            result = ((u128::from(result) * u128::from(*factor)) >> 32) as u64;
        }
    }
    result >> whole
}

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

    #[test]
    fn logarithms() {
        assert_eq!(log2_q32(1), 0);
        assert_eq!(log2_q32(1 << 40), 40 << 32);
        let log2_10 = std::f64::consts::LOG2_10 * f64::from(1u32 << 31) * 2.0;
        assert!((log2_q32(10) as f64 - log2_10).abs() < 4.0);
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
