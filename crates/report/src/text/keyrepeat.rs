//! How evenly a cursor moved.

use super::paragraph::wrap;
use crate::numbers::{duration_ns, many};
use schema::KeyrepeatResult;

/// Drawings and the times between them; then the times from keys to drawings.
#[must_use]
pub fn keyrepeat(result: &KeyrepeatResult) -> String {
    let (between, response) = (&result.between_ns, &result.response_ns);
    let drawn = format!(
        "{} drawn, {}; between drawings: mean {}, spread {}, max {}",
        many(result.frames, "key"),
        many(result.stops, "stop"),
        duration_ns(between.mean),
        duration_ns(result.spread_ns),
        duration_ns(between.max)
    );
    let seen = format!(
        "from key to screen: mean {}, p99 {}, max {}",
        duration_ns(response.mean),
        duration_ns(response.p99),
        duration_ns(response.max)
    );
    wrap(&drawn, "", "  ") + &wrap(&seen, "", "  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn drawings_stand_before_answers() {
        let result = KeyrepeatResult {
            load: "keyrepeat".to_owned(),
            period_ns: 33_333_333,
            frames: 300,
            between_ns: example::latency(299, 33_000_000),
            spread_ns: 4_100_000,
            stops: 1,
            response_ns: example::latency(300, 7_000_000),
        };
        insta::assert_snapshot!(keyrepeat(&result), @r"
        300 keys drawn, 1 stop; between drawings: mean 33.0ms, spread 4.10ms, max 396ms
        from key to screen: mean 7.00ms, p99 28.0ms, max 84.0ms
        ");
    }
}
