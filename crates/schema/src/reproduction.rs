//! Schema `schedlab-reproduce/1`: published figures beside simulated ones.

use serde::{Deserialize, Serialize};

use crate::fit::Fit;
use crate::{ExperimentText, ReproduceSchema, Unit, json};

/// Published experiments, run again, from `schedlab reproduce --format json`. Simulated figures are rounded
/// to nine digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reproduction {
    /// Always `"schedlab-reproduce/1"`.
    pub schema: ReproduceSchema,
    /// The command line that made this, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// Whether the runs were shortened.
    pub quick: bool,
    /// One for each experiment.
    pub experiments: Vec<ReproducedExperiment>,
}

impl Reproduction {
    /// As indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Reads what [`Reproduction::to_json`] wrote.
    ///
    /// # Errors
    /// No JSON, another schema, unknown or missing fields: with line and column.
    pub fn from_json(text: &str) -> Result<Reproduction, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReproducedExperiment {
    /// Its name on the command line.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// The document and the place in it; the section of the specification.
    pub source: String,
    /// What it is, in a paragraph.
    pub about: String,
    /// Every variant was run with each of these.
    pub seeds: Vec<u64>,
    /// Name of what is varied from row to row, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<String>,
    /// The variants in the order of the file.
    pub variants: Vec<ReproducedVariant>,
    /// How many rows of each group had to agree.
    pub requirements: Vec<ReproducedRequirement>,
    /// Parameters that no document gives.
    pub free: Vec<FreeParameter>,
    /// How the outcome moves when each of them is halved and doubled; empty without `--sensitivity`.
    pub sensitivity: Vec<Sensitivity>,
    /// In stored results of full length: the events of each variant's quick runs by the same program. When
    /// quick runs have other numbers now, the stored results are those of an older program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quick_events: Vec<u64>,
    /// What comes of choosing parameters by its fitted variants; absent without `--fit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReproducedVariant {
    /// Its name.
    pub name: String,
    /// Whether its figures were used to choose parameters.
    pub role: Role,
    /// What ran.
    pub loads: Vec<String>,
    /// Kernel, machine and everything set, as words of a comparison.
    pub settings: String,
    /// What ran, for each value of the sweep in order; one without a sweep. Empty in results of versions
    /// that did not say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<ReproducedPoint>,
    /// Simulated time of its first run.
    pub simulated_ns: u64,
    /// Events of all its runs: runs of another program or model have another number.
    pub events: u64,
    /// The figures.
    pub rows: Vec<ReproducedRow>,
}

/// A variant at one value of the sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReproducedPoint {
    /// The value of the sweep; of a sweep over names the number of the name, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The name, in a sweep over names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_name: Option<String>,
    /// What ran, with the first of the seeds: the others differ in the seed alone. In a file of its own,
    /// `schedlab run` runs it again.
    pub experiment: ExperimentText,
}

/// What a variant is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Parameters were chosen so that it agrees.
    Fitted,
    /// Nothing was chosen by its figures.
    Prediction,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReproducedRow {
    /// What it is.
    pub what: String,
    /// Its place in a published table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<Cell>,
    /// The value of the sweep; of a sweep over names the number of the name, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The name, in a sweep over names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_name: Option<String>,
    /// What the document says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// What the simulation says, over all seeds.
    pub simulated: f64,
    /// The least of any seed; of an extrapolated figure
    /// (`largest_of_runs`) the lower end of its 95 % interval.
    pub low: f64,
    /// The most of any seed, or the upper end.
    pub high: f64,
    /// What lies from one to the other, where it is not the figures of the seeds.
    #[serde(default, skip_serializing_if = "RowSpan::is_of_seeds")]
    pub span: RowSpan,
    /// Unit of all four.
    pub unit: RowUnit,
    /// Simulated by published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Whether it is as wanted; absent where nothing is wanted, or the runs are too short to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
    /// What is wanted, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The group with which it counts; without one, it has to agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Why it is known not to agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreached: Option<String>,
    /// The scheduler's decisions of which it is the number, where something is wanted of it:
    /// `schedlab list decisions` says what each means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
}

impl ReproducedRow {
    /// The value of the sweep in words.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        self.at.map(|at| self.at_name.clone().unwrap_or_else(|| at.to_string()))
    }

    /// Whether it should agree, does not, and nobody knows why.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.group.is_none() && self.agrees == Some(false) && self.unreached.is_none()
    }
}

/// What `low` and `high` of a row are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RowSpan {
    /// The least and the most of any seed.
    #[default]
    Seeds,
    /// The ends of the 95 % interval of the mean over the seeds (BCa bootstrap).
    Interval,
}

impl RowSpan {
    fn is_of_seeds(&self) -> bool {
        *self == RowSpan::Seeds
    }
}

/// The unit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RowUnit {
    /// A number of things.
    #[serde(rename = "count")]
    Count,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// One figure divided by another.
    #[serde(rename = "ratio")]
    Ratio,
}

impl From<Unit> for RowUnit {
    fn from(unit: Unit) -> RowUnit {
        match unit {
            Unit::Count => RowUnit::Count,
            Unit::Nanoseconds => RowUnit::Nanoseconds,
        }
    }
}

impl RowUnit {
    /// A figure of this unit, to three decimals.
    fn text(self, number: f64) -> String {
        let unit = match self {
            RowUnit::Count | RowUnit::Ratio => "",
            RowUnit::Nanoseconds => " ns",
            RowUnit::Microseconds => " us",
            RowUnit::Milliseconds => " ms",
            RowUnit::Seconds => " s",
        };
        figure(number) + unit
    }

    /// Nanoseconds, or whatever is counted, in one of this unit.
    #[must_use]
    pub fn scale(self) -> f64 {
        match self {
            RowUnit::Count | RowUnit::Nanoseconds | RowUnit::Ratio => 1.0,
            RowUnit::Microseconds => 1e3,
            RowUnit::Milliseconds => 1e6,
            RowUnit::Seconds => 1e9,
        }
    }
}

/// Enough to compare with a bound by eye.
fn figure(number: f64) -> String {
    ((number * 1e3).round() / 1e3).to_string()
}

/// A place in a published table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Name of the row.
    pub row: String,
    /// Heading of the column.
    pub column: String,
}

/// How many rows of a group agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReproducedRequirement {
    /// In words.
    pub what: String,
    /// Rows that agree.
    pub agree: u64,
    /// Rows that were judged.
    pub of: u64,
    /// The least share that was wanted.
    pub share: f64,
    /// Whether it is met; absent where the runs are too short to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// Why it is known not to be met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreached: Option<String>,
}

impl ReproducedRequirement {
    /// Whether it should be met, is not, and nobody knows why.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.met == Some(false) && self.unreached.is_none()
    }
}

/// A parameter that no document gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FreeParameter {
    /// Its name.
    pub name: String,
    /// Its value, with its unit; several for a compound one.
    pub value: String,
    /// Why it has this value.
    pub reason: String,
}

/// The outcome with one free parameter changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// Name of the parameter.
    pub parameter: String,
    /// What it was multiplied by.
    pub factor: f64,
    /// Figures that must agree one by one.
    pub rows: Vec<SensitivityRow>,
    /// How many of each group agree.
    pub requirements: Vec<ReproducedRequirement>,
}

/// A figure with a free parameter changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SensitivityRow {
    /// Name of the variant.
    pub variant: String,
    /// What the figure is.
    pub what: String,
    /// The value of the sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// Its value as it is.
    pub unchanged: f64,
    /// Its value with the parameter changed.
    pub simulated: f64,
    /// Whether it still agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<bool>,
}

impl ReproducedExperiment {
    /// Rows that were judged, whatever the outcome.
    pub fn judged(&self) -> impl Iterator<Item = &ReproducedRow> {
        self.variants.iter().flat_map(|variant| &variant.rows).filter(|row| row.agrees.is_some())
    }

    /// What should agree and does not, in words; disagreements that are known and explained are none.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let rows = self.variants.iter().flat_map(|variant| {
            let failing = variant.rows.iter().filter(|row| row.fails());
            failing.map(move |row| {
                let at = row.place().map_or(String::new(), |at| format!(" at {at}"));
                let wanted = row.wanted.as_ref().map_or(String::new(), |wanted| format!(", wanted {wanted}"));
                let of =
                    row.published.map_or(String::new(), |figure| format!(" of {}", row.unit.text(figure)));
                let is = row.unit.text(row.simulated);
                format!("{}: {}{at} is {is}{wanted}{of}", variant.name, row.what)
            })
        });
        let requirements = self.requirements.iter().filter(|requirement| requirement.fails());
        let requirements = requirements.map(|r| {
            let least = figure(r.share * 100.0);
            format!("{}: {} of {} agree, wanted at least {least} %", r.what, r.agree, r.of)
        });
        rows.chain(requirements).collect()
    }
}
