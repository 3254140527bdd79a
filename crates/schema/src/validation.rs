//! Schema `schedlab-validate/1`: recorded figures beside simulated ones, and which bounds that reaches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ValidateSchema, json};

/// How true the simulator is, measured on recordings, from `schedlab validate --format json`. Figures are
/// rounded to nine digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// Always `"schedlab-validate/1"`.
    pub schema: ValidateSchema,
    /// The command line that made this, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// What was run, in the order of their names.
    pub references: Vec<ValidatedReference>,
    /// How many figures of a kind come close enough.
    pub bounds: Vec<ValidatedBound>,
}

impl Validation {
    /// As indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Reads what [`Validation::to_json`] wrote.
    ///
    /// # Errors
    /// No JSON, another schema, unknown or missing fields: with line and column.
    pub fn from_json(text: &str) -> Result<Validation, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Every figure, with its run and the name of its reference.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &ValidatedRun, &ValidatedFigure)> {
        self.references.iter().flat_map(|reference| {
            let figures = |run| figures(&reference.name, run);
            reference.runs.iter().flat_map(figures)
        })
    }

    /// Every bound that is missed without a known reason, in words.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let of_figures = self.figures().filter(|(_, _, figure)| figure.fails());
        let figures = of_figures.map(|(reference, run, figure)| {
            let band = figure.band.as_ref().map_or(String::new(), |band| format!(", {band} wanted"));
            let outdated = match figure.unreached {
                Some(_) => ": it is there, and the reference says why it is not",
                None => "",
            };
            format!("{reference}, {}: {} is {}{band}{outdated}", run.name, figure.name(), figure.simulated)
        });
        let bounds = self.bounds.iter().filter(|bound| bound.fails()).map(|bound| {
            let (share, wanted) = (100.0 * bound.share(), 100.0 * bound.wanted);
            format!(
                "{}: {share:.1} % of {} are within {}, {wanted} % wanted",
                bound.what, bound.of, bound.within
            )
        });
        figures.chain(bounds).collect()
    }
}

fn figures<'a>(
    reference: &'a str,
    run: &'a ValidatedRun,
) -> impl Iterator<Item = (&'a str, &'a ValidatedRun, &'a ValidatedFigure)> {
    run.figures.iter().map(move |figure| (reference, run, figure))
}

/// One recorded run, or several of one machine and kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidatedReference {
    /// Its folder, or the recording.
    pub name: String,
    /// What was recorded, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What was made of it.
    pub runs: Vec<ValidatedRun>,
}

/// One simulation of a recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidatedRun {
    /// What it is, in a few words.
    pub name: String,
    /// How the simulation knows what the tasks did.
    pub mode: ValidationMode,
    /// What of it was taken from the recording with which it is compared, or chosen with its figures in view;
    /// absent of a replay, all of which was, and where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
    /// The kind of machine that was recorded: `native`, `guest`, or whatever the reference says.
    pub class: String,
    /// CPUs of the recorded machine.
    pub cpus: u64,
    /// What ran.
    pub loads: Vec<String>,
    /// Kernel, machine and everything set, as words of a comparison.
    pub settings: String,
    /// It was run with each of these.
    pub seeds: Vec<u64>,
    /// Events of all its runs: those of another program or model have another number.
    pub events: u64,
    /// The figures.
    pub figures: Vec<ValidatedFigure>,
    /// What is known as a distribution, to look at: figures are judged, these are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<ValidatedDistribution>,
}

/// Durations of one kind, as recorded and as simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidatedDistribution {
    /// What they are.
    pub what: String,
    /// What was recorded.
    pub recorded: Durations,
    /// What the simulation says, with all seeds.
    pub simulated: Durations,
}

/// How durations are distributed: all of them by length, or what is told of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Durations {
    /// How many there are of each length, nanoseconds: at most a sixteenth too short, the longest as it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<u64, u64>,
    /// Where nobody tells that, some quantiles, the least first: the median of several repetitions or seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<DurationQuantile>,
}

impl From<BTreeMap<u64, u64>> for Durations {
    fn from(counts: BTreeMap<u64, u64>) -> Durations {
        Durations { counts, quantiles: Vec::new() }
    }
}

impl From<Vec<DurationQuantile>> for Durations {
    fn from(quantiles: Vec<DurationQuantile>) -> Durations {
        Durations { counts: BTreeMap::new(), quantiles }
    }
}

/// A share of durations, and the length that it does not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DurationQuantile {
    /// 0 to 1. The longest of `n` stands at 1 - 1/n: so many are not as long.
    pub share: f64,
    /// The length, nanoseconds.
    pub ns: u64,
}

/// How the simulation knows what the tasks did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ValidationMode {
    /// The same program is run as a synthetic load.
    Forward,
    /// A trace says it, and the replay runs as what recorded it.
    Replay,
    /// A trace says it, and the replay runs on something else, of which there is a recording, too.
    Transfer,
}

impl ValidationMode {
    /// As in the JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ValidationMode::Forward => "forward",
            ValidationMode::Replay => "replay",
            ValidationMode::Transfer => "transfer",
        }
    }
}

/// What it says of the model when a figure agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// Nothing: the simulation was given it, or a parameter was chosen by it.
    Input,
    /// That the recording is read as the field's own tools read it; nothing is simulated.
    Reading,
    /// That what the recording does not say was inferred well, and that the model does with it what the
    /// kernel did: a replay, or a program beside which something ran that was chosen with its figures in
    /// view.
    Inference,
    /// That the model does what the kernel did: no figure of the recording was used.
    Prediction,
}

impl Claim {
    /// As in the JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Claim::Input => "input",
            Claim::Reading => "reading",
            Claim::Inference => "inference",
            Claim::Prediction => "prediction",
        }
    }
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidatedFigure {
    /// What it is.
    pub what: String,
    /// Whose, where it is a task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Whether that task is a real-time one: most of its CPU time was under SCHED_FIFO or SCHED_RR.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub realtime: bool,
    /// What its agreement says.
    pub claim: Claim,
    /// Unit of all its numbers, empty where things are counted.
    pub unit: String,
    /// What was recorded, the median of several repetitions; absent where the source gives a band only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<f64>,
    /// The least of several repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_low: Option<f64>,
    /// The most of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_high: Option<f64>,
    /// What the simulation says, the median over the seeds; of a reading, what was read.
    pub simulated: f64,
    /// The least of any seed.
    pub low: f64,
    /// The most of any seed.
    pub high: f64,
    /// How far it is off, as a share of what was recorded, negative where it is too low.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<f64>,
    /// What the reference wants of it, in words; without that it counts with others of its kind only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<String>,
    /// Whether it is as wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<bool>,
    /// The kind of figures with which it counts, where the reference names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Where the recorded figure comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why it is known not to be as wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreached: Option<String>,
}

impl ValidatedFigure {
    /// With its task.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.task {
            Some(task) => format!("{task} {}", self.what),
            None => self.what.clone(),
        }
    }

    /// Whether it should be as wanted, is not, and nobody knows why; or somebody does, and it is.
    #[must_use]
    pub fn fails(&self) -> bool {
        match self.within {
            Some(false) => self.unreached.is_none(),
            Some(true) => self.unreached.is_some(),
            None => false,
        }
    }
}

/// How many figures of a kind come close enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidatedBound {
    /// Which figures.
    pub what: String,
    /// The question that they answer, for a table of what can be trusted.
    pub question: String,
    /// How close is close, in words: `15 %`, `a factor of 3`.
    pub within: String,
    /// The share that is to be so close, 0 to 1.
    pub wanted: f64,
    /// Figures that are.
    pub reached: u64,
    /// Figures that were judged.
    pub of: u64,
    /// The median of how far they are off, as a share of what was recorded; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_off: Option<f64>,
    /// Whether enough are; absent where too few were judged to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// Why it is known not to be met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreached: Option<String>,
}

impl ValidatedBound {
    /// The share that is close enough, 0 of none.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.reached as f64 / self.of as f64 }
    }

    /// Whether it should be met, is not, and nobody knows why.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.met == Some(false) && self.unreached.is_none()
    }
}
