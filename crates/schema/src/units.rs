//! Numbers that are shown in another unit than they are kept in.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration that JSON and the real tool show as decimal seconds, kept in nanoseconds so that it is exact.
///
/// Exact in JSON up to 2^53 ns, 104 days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds {
    ns: u64,
}

impl Seconds {
    /// From nanoseconds.
    #[must_use]
    pub fn from_ns(ns: u64) -> Self {
        Self { ns }
    }

    /// In nanoseconds.
    #[must_use]
    pub fn as_ns(self) -> u64 {
        self.ns
    }

    /// In seconds, for printing and statistics.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.ns as f64 / 1e9
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        // 2^64 ns is 584 years; the comparison also refuses NaN.
        if (0.0..1.8e10).contains(&seconds) {
            Ok(Self { ns: (seconds * 1e9).round() as u64 })
        } else {
            Err(serde::de::Error::custom(format!("{seconds} is not a duration in seconds")))
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Seconds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0 })
    }
}
