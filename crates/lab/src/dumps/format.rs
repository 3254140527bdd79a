//! Pieces of the files.

use scheduler::Nanos;
use std::fmt::{self, Display};

/// A time as milliseconds with six decimals; `Display` honours a width before the point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Msecs(pub i64);

impl Msecs {
    /// Of a virtual time, which prints as a signed number.
    pub fn of_vruntime(vruntime: u64) -> Msecs {
        Msecs(vruntime as i64)
    }
}

impl From<Nanos> for Msecs {
    fn from(time: Nanos) -> Msecs {
        Msecs(i64::try_from(time.0).unwrap_or(i64::MAX))
    }
}

impl Display for Msecs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        let whole = format!("{sign}{}", ns / 1_000_000);
        write!(f, "{whole:>width$}.{:06}", ns % 1_000_000, width = f.width().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_with_six_decimals_and_their_sign_in_front() {
        assert_eq!(Msecs(1_234_567_890).to_string(), "1234.567890");
        assert_eq!(Msecs(-1).to_string(), "-0.000001");
        assert_eq!(format!("[{:9}]", Msecs(-5_000_001)), "[       -5.000001]");
        assert_eq!(Msecs::of_vruntime(u64::MAX).to_string(), "-0.000001");
    }
}
