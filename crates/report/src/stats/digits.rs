//! Numbers that are calculated, as they are printed.

/// Rounded to nine significant digits: what is printed must not depend on the last bit of a calculation.
#[must_use]
pub fn nine_digits(value: f64) -> f64 {
    // A number printed this way always parses.
    format!("{value:.8e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::nine_digits;

    #[test]
    fn nine_digits_are_kept() {
        assert_eq!(nine_digits(0.1 + 0.2), 0.3);
        assert_eq!(nine_digits(123_456_789_012.0), 123_456_789_000.0);
        assert_eq!(nine_digits(-0.0), 0.0);
    }
}
