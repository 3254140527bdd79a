//! Names of the schemas. Each has one value, so a document of another schema cannot be held by accident. The
//! number in a name rises when a reader of the old one would go wrong.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! names {
    ($($(#[$doc:meta])* $type:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $type;

        impl $type {
            /// The name as it stands in the JSON.
            pub const NAME: &str = $name;
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(Self::NAME)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let found = String::deserialize(deserializer)?;
                if found == Self::NAME {
                    Ok(Self)
                } else {
                    let name = Self::NAME;
                    Err(serde::de::Error::custom(format!("schema is {found:?}, this version reads {name:?}")))
                }
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "const": $name })
            }
        }
    )*};
}

names! {
    /// Of a [`RunResult`](crate::RunResult).
    RunSchema = "schedlab/1";
    /// Of a [`Comparison`](crate::comparison::Comparison).
    CompareSchema = "schedlab-compare/1";
    /// Of a [`Reproduction`](crate::reproduction::Reproduction).
    ReproduceSchema = "schedlab-reproduce/1";
    /// Of a [`Validation`](crate::validation::Validation).
    ValidateSchema = "schedlab-validate/1";
    /// Of a [`Calibration`](crate::calibration::Calibration).
    CalibrateSchema = "schedlab-calibrate/1";
    /// Of a [`MachineCheck`](crate::machine_check::MachineCheck).
    CheckSchema = "schedlab-check/1";
    /// Of a [`SweepResult`](crate::SweepResult).
    SweepSchema = "schedlab-sweep/1";
    /// Of a [`TuneResult`](crate::TuneResult).
    TuneSchema = "schedlab-tune/1";
    /// Of a [`SearchResult`](crate::SearchResult).
    SearchSchema = "schedlab-search/1";
    /// Of an [`InspectResult`](crate::InspectResult).
    InspectSchema = "schedlab-inspect/1";
    /// Of a [`RecordingsComparison`](crate::recordings::RecordingsComparison).
    InspectCompareSchema = "schedlab-inspect-compare/1";
    /// Of a [`ListResult`](crate::ListResult).
    ListSchema = "schedlab-list/1";
    /// Of an [`ExplainResult`](crate::ExplainResult).
    ExplainSchema = "schedlab-explain/1";
    /// Of a [`WhyResult`](crate::why::WhyResult).
    WhySchema = "schedlab-why/1";
    /// Of a [`LogHead`](crate::LogHead).
    LogSchema = "schedlab-log/1";
}
