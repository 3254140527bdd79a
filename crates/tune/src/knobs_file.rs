//! Knobs as a file.

use crate::error::Error;
use crate::knob::{Knob, KnobValue, words};
use lab::Excerpt;
use scheduler::registry::{Feature, TUNABLES};
use serde::Deserialize;
use std::sync::Arc;
use suggest::suggest;

/// Values of a range where the file does not say how many.
const STEPS: u32 = 5;
/// More are not run for one knob.
const MOST_STEPS: u32 = 64;

/// A file of TOML that says what may be set. docs/tuning.md explains every field.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnobsFile {
    knob: Vec<KnobTable>,
}

/// A knob, as written: one of `set`, `feature`, `tunable` and `load`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnobTable {
    name: Option<String>,
    #[serde(default)]
    set: Vec<String>,
    feature: Option<String>,
    tunable: Option<String>,
    #[serde(default)]
    values: Vec<i64>,
    from: Option<i64>,
    to: Option<i64>,
    steps: Option<u32>,
    load: Option<String>,
    #[serde(default)]
    instead: Vec<String>,
}

impl KnobsFile {
    /// Reads a file; `path` is for errors.
    ///
    /// # Errors
    /// What is no TOML, or has fields that are unknown: with the place.
    pub fn parse(path: &str, text: &str) -> Result<KnobsFile, Error> {
        toml::from_str(text).map_err(|error| {
            let excerpt = Excerpt {
                file: path.to_owned(),
                text: Arc::from(text),
                span: error.span().unwrap_or(0..0),
                problem: suggest::in_words(error.message()),
                advice: "docs/tuning.md describes the file".to_owned(),
            };
            lab::Error::ExperimentFile(excerpt).into()
        })
    }

    /// Its knobs, for a base with these features on and these loads.
    ///
    /// # Errors
    /// A knob that says nothing, or two things; an unknown feature, tunable or load; values that cannot be.
    pub fn knobs(&self, is_on: impl Fn(&str) -> bool, loads: &[&str]) -> Result<Vec<Knob>, Error> {
        if self.knob.is_empty() {
            return Err(Error::NoKnob);
        }
        let mut knobs: Vec<Knob> = Vec::new();
        for (number, table) in self.knob.iter().enumerate() {
            let knob = table.knob(number + 1, &is_on, loads)?;
            if knobs.iter().any(|other| other.name == knob.name) {
                let problem = "there are two of this name; put the values of both into one".to_owned();
                return Err(Error::Knob { name: knob.name, problem });
            }
            knobs.push(knob);
        }
        Ok(knobs)
    }
}

impl KnobTable {
    fn knob(&self, number: usize, is_on: &impl Fn(&str) -> bool, loads: &[&str]) -> Result<Knob, Error> {
        let given = self.name.clone().or(self.feature.clone()).or(self.tunable.clone());
        let name = given.or_else(|| self.set.first().cloned()).unwrap_or_else(|| format!("number {number}"));
        let fault = |problem: &str| Error::Knob { name: name.clone(), problem: problem.to_owned() };
        let says =
            [!self.set.is_empty(), self.feature.is_some(), self.tunable.is_some(), self.load.is_some()];
        if says.iter().filter(|says| **says).count() != 1 {
            return Err(fault("write one of set, feature, tunable and load"));
        }
        if self.tunable.is_none() && (self.from.is_some() || self.to.is_some() || self.steps.is_some()) {
            return Err(fault("from, to and steps belong to a tunable"));
        }
        let mut values = match (&self.feature, &self.tunable, &self.load) {
            (Some(feature), ..) => vec![self.other_of(feature, is_on, &fault)?],
            (_, Some(tunable), _) => self.of_tunable(tunable, &fault)?,
            (.., Some(load)) => self.of_load(load, loads, &fault)?,
            _ => self.set.iter().map(|text| words(&name, text)).collect::<Result<_, _>>()?,
        };
        let mut seen: Vec<KnobValue> = Vec::new();
        values.retain(|value| {
            !seen.contains(value) && {
                seen.push(value.clone());
                true
            }
        });
        if values.is_empty() {
            return Err(fault("it has no values"));
        }
        Ok(Knob { name, values })
    }

    /// The value that the base has not.
    fn other_of(
        &self,
        feature: &str,
        is_on: &impl Fn(&str) -> bool,
        fault: &impl Fn(&str) -> Error,
    ) -> Result<KnobValue, Error> {
        let names = Feature::ALL.iter().map(|feature| feature.name());
        if !names.clone().any(|name| name == feature) {
            let nearest = suggest(feature, names).map(|name| format!("; did you mean `{name}`?"));
            return Err(fault(&format!("no feature is called so{}", nearest.unwrap_or_default())));
        }
        Ok(KnobValue::Words(if is_on(feature) { format!("NO_{feature}") } else { feature.to_owned() }))
    }

    fn of_tunable(&self, tunable: &str, fault: &impl Fn(&str) -> Error) -> Result<Vec<KnobValue>, Error> {
        let names = TUNABLES.iter().map(|tunable| tunable.name);
        let Some(known) = TUNABLES.iter().find(|known| known.name == tunable) else {
            let nearest = suggest(tunable, names).map(|name| format!("; did you mean `{name}`?"));
            return Err(fault(&format!("no tunable is called so{}", nearest.unwrap_or_default())));
        };
        let values = match (self.from, self.to) {
            (None, None) if !self.values.is_empty() => self.values.clone(),
            (Some(from), Some(to)) if self.values.is_empty() => {
                let steps = self.steps.unwrap_or(STEPS);
                if from < 1 || to <= from || !(2..=MOST_STEPS).contains(&steps) {
                    let problem = format!("a range goes up from 1 or more, in 2 to {MOST_STEPS} steps");
                    return Err(fault(&problem));
                }
                log_steps(from, to, steps)
            }
            _ => return Err(fault("write values, or from and to (and steps)")),
        };
        if let Some(value) = values.iter().find(|value| !(known.min..=known.max).contains(value)) {
            let problem = format!("{value} is not from {} to {}", known.min, known.max);
            return Err(fault(&problem));
        }
        Ok(values.iter().map(|value| KnobValue::Words(format!("{tunable}={value}"))).collect())
    }

    fn of_load(
        &self,
        load: &str,
        loads: &[&str],
        fault: &impl Fn(&str) -> Error,
    ) -> Result<Vec<KnobValue>, Error> {
        if !loads.contains(&load) {
            let problem = format!("no load is `{load}`; there are: {}", loads.join(", "));
            return Err(fault(&problem));
        }
        let value = |text: &String| KnobValue::Load { of: load.to_owned(), instead: text.clone() };
        Ok(self.instead.iter().map(value).collect())
    }
}

/// From one to the other in steps of one factor, each a whole number with two digits that count.
fn log_steps(from: i64, to: i64, steps: u32) -> Vec<i64> {
    let (low, high) = ((from as f64).ln(), (to as f64).ln());
    let at = |n: u32| (low + (high - low) * f64::from(n) / f64::from(steps - 1)).exp();
    let mut values: Vec<i64> = (1..steps - 1).map(|n| two_digits(at(n))).collect();
    values.insert(0, from);
    values.push(to);
    values.dedup();
    values
}

fn two_digits(value: f64) -> i64 {
    let unit = 10f64.powi((value.log10().floor() as i32 - 1).max(0));
    ((value / unit).round() * unit) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADS: [&str; 2] = ["cyclictest -t2 -p80", "hackbench"];

    fn knobs(text: &str) -> Result<Vec<Knob>, Error> {
        KnobsFile::parse("knobs.toml", text)?.knobs(|feature| feature == "TTWU_QUEUE", &LOADS)
    }

    fn texts(text: &str) -> Vec<String> {
        let knobs = knobs(text).expect(text);
        knobs.iter().flat_map(|knob| &knob.values).map(|value| value.text().to_owned()).collect()
    }

    #[test]
    fn each_kind_of_knob_has_its_values() {
        assert_eq!(texts("[[knob]]\nfeature = 'TTWU_QUEUE'"), ["NO_TTWU_QUEUE"]);
        assert_eq!(texts("[[knob]]\nfeature = 'RT_PUSH_IPI'"), ["RT_PUSH_IPI"]);
        assert_eq!(
            texts("[[knob]]\ntunable = 'base_slice_ns'\nfrom = 100_000\nto = 1_600_000"),
            [100_000, 200_000, 400_000, 800_000, 1_600_000].map(|n| format!("base_slice_ns={n}"))
        );
        assert_eq!(
            texts("[[knob]]\ntunable = 'sched_nr_migrate'\nvalues = [8, 128, 8]"),
            ["sched_nr_migrate=8", "sched_nr_migrate=128"]
        );
        assert_eq!(
            texts("[[knob]]\nset = ['group=web=cpu.weight:300', 'policy=a=fifo:5  nice=b=3']"),
            ["group=web=cpu.weight:300", "policy=a=fifo:5 nice=b=3"]
        );
        let load = "[[knob]]\nname = 'prio'\nload = 'cyclictest -t2 -p80'\ninstead = ['cyclictest -t2 -p90']";
        assert_eq!(texts(load), ["cyclictest -t2 -p90"]);
    }

    #[test]
    fn steps_of_a_range_have_one_factor() {
        assert_eq!(log_steps(1, 1000, 4), [1, 10, 100, 1000]);
        assert_eq!(log_steps(1, 3, 5), [1, 2, 3]);
    }

    #[test]
    fn mistakes_say_which_knob_and_what_to_write() {
        for (text, said) in [
            ("[[knob]]\nfeature = 'TTWU_QUEU'", "did you mean `TTWU_QUEUE`?"),
            ("[[knob]]\ntunable = 'base_slice'\nvalues = [1]", "no tunable is called so"),
            ("[[knob]]\ntunable = 'hz'\nvalues = [1]", "1 is not from 24 to 10000"),
            ("[[knob]]\ntunable = 'hz'", "write values, or from and to"),
            ("[[knob]]\ntunable = 'hz'\nfrom = 100\nto = 50", "a range goes up"),
            ("[[knob]]\nset = ['kernel=6.1']", "no knobs"),
            ("[[knob]]\nset = ['cpus=4']", "no knobs"),
            ("[[knob]]\nset = ['scale=a=2']", "changes the work"),
            ("[[knob]]\nset = [' ']", "a value is empty"),
            ("[[knob]]\nname = 'x'", "knob `x`: write one of set, feature, tunable and load"),
            ("[[knob]]\nload = 'hackbench'\ninstead = []", "it has no values"),
            ("[[knob]]\nload = 'make'\ninstead = ['a']", "no load is `make`; there are: cyclictest"),
            ("[[knob]]\nset = ['A']\n[[knob]]\nset = ['A']", "there are two of this name"),
            ("knob = []", "there is no knob"),
            ("[[knob]]\nsteps = 3\nset = ['A']", "belong to a tunable"),
        ] {
            let error = knobs(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert!(knobs("[[knob]]\nvalus = [1]").is_err());
    }
}
