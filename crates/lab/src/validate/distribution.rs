//! Distributions, to look at: where they stand in what programs printed, and in the result of a run.

use super::fault::Fault;
use super::measure::pointer::number;
use crate::error::Error;
use crate::sources::{self, Sources};
use report::validate::median;
use schema::validation::{DurationQuantile, Durations, ValidatedDistribution};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One distribution of a forward run, as a file says it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DistributionFile {
    pub what: String,
    /// Where it stands in the JSON of a simulated run.
    pub measure: Place,
    recorded: RecordedPlace,
}

/// Where it stands in files that a program printed, one for each repetition.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedPlace {
    files: Vec<String>,
    at: Place,
}

/// Where it stands in JSON, all of it (`histogram`) or what is told of it (`quantiles`).
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// A JSON pointer of an object with how often by value; a `*` in it is each entry there, and they add up.
    histogram: Option<String>,
    /// What does not fit into the histogram.
    beyond: Option<Beyond>,
    /// Shares, and the pointers of what they do not exceed, the least first.
    #[serde(default)]
    quantiles: Vec<(f64, String)>,
    /// The pointer of how many there are, by which the last of the quantiles is that of the longest.
    all: Option<String>,
    /// Nanoseconds in one of its values.
    unit_ns: f64,
}

/// Values behind the end of a histogram: only the longest is known.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beyond {
    /// The first value that is not in it.
    from: u64,
    /// The pointer of how many values there are in all, with the `*` of the histogram's.
    all: String,
    /// That of the longest.
    longest: String,
}

impl DistributionFile {
    pub fn check(&self) -> Result<(), String> {
        let places = [&self.measure, &self.recorded.at];
        places.into_iter().try_for_each(|place| {
            place.check().map_err(|problem| format!("distribution `{}`: {problem}", self.what))
        })
    }

    /// What was recorded (files are in this folder) beside what each seed gave.
    pub fn beside(
        &self,
        simulated: &[Durations],
        folder: &str,
        files: &dyn Sources,
    ) -> Result<ValidatedDistribution, Error> {
        let one = |name: &String| {
            let path = format!("{folder}{name}");
            let text = sources::text(&path, files)?;
            let fault = |problem: String| Error::from(Fault { path: &path, problem });
            let json = serde_json::from_str(&text).map_err(|error| fault(format!("no JSON: {error}")))?;
            self.recorded.at.of(&json).map_err(fault)
        };
        let recorded: Vec<Durations> = self.recorded.files.iter().map(one).collect::<Result<_, Error>>()?;
        Ok(ValidatedDistribution {
            what: self.what.clone(),
            recorded: together(&recorded),
            simulated: together(simulated),
        })
    }
}

impl Place {
    fn check(&self) -> Result<(), String> {
        let fault = |problem: &str| Err(problem.to_owned());
        match (&self.histogram, self.quantiles.as_slice()) {
            (None, []) => return fault("give a `histogram` or `quantiles`"),
            (Some(_), [_, ..]) => return fault("a `histogram` has all quantiles: leave `quantiles` out"),
            (None, _) if self.beyond.is_some() => return fault("`beyond` is the end of a `histogram`"),
            (Some(_), []) if self.all.is_some() => return fault("`all` belongs to `quantiles`"),
            (None, quantiles) => {
                let rises = quantiles.windows(2).all(|two| two[0].0 < two[1].0);
                let within = quantiles.iter().all(|(share, _)| (0.0..=1.0).contains(share));
                if !(rises && within) {
                    return fault("shares of quantiles rise, from 0 to 1");
                }
            }
            (Some(_), []) => {}
        }
        if self.unit_ns > 0.0 { Ok(()) } else { fault("`unit_ns` must be above 0") }
    }

    /// The distribution.
    pub fn of(&self, json: &Json) -> Result<Durations, String> {
        match &self.histogram {
            Some(at) => self.counts(at, json).map(Durations::from),
            None => self.quantiles(json).map(Durations::from),
        }
    }

    fn ns(&self, value: f64) -> u64 {
        (value * self.unit_ns).round() as u64
    }

    fn counts(&self, at: &str, json: &Json) -> Result<BTreeMap<u64, u64>, String> {
        let mut counts = BTreeMap::new();
        for key in entries(at, json)? {
            let here = |pointer: &str| pointer.replacen('*', &key, 1);
            let mut within = 0;
            for (value, count) in histogram(&here(at), json)? {
                within += count;
                *counts.entry(self.ns(value as f64)).or_insert(0) += count;
            }
            let Some(beyond) = &self.beyond else { continue };
            let all = number(json, &here(&beyond.all))? as u64;
            if all > within {
                // One is the longest; of the others nobody knows how long they are.
                let longest = self.ns(number(json, &here(&beyond.longest))?);
                *counts.entry(longest).or_insert(0) += 1;
                *counts.entry(self.ns(beyond.from as f64)).or_insert(0) += all - within - 1;
            }
        }
        counts.retain(|_, count| *count > 0);
        Ok(coarse(counts))
    }

    fn quantiles(&self, json: &Json) -> Result<Vec<DurationQuantile>, String> {
        let all = self.all.as_ref().map(|at| number(json, at)).transpose()?;
        let of = |(share, at): &(f64, String)| {
            let longest = |all: f64| if *share == 1.0 { 1.0 - 1.0 / all.max(1.0) } else { *share };
            let share = super::figure::digits(all.map_or(*share, longest));
            Ok(DurationQuantile { share, ns: self.ns(number(json, at)?) })
        };
        self.quantiles.iter().map(of).collect()
    }
}

/// Bits of a length that are kept: it is told at most a sixteenth too short, as loads measure it.
const BITS: u32 = 5;

/// As finely as a picture shows it; the longest as it is.
pub(super) fn coarse(counts: BTreeMap<u64, u64>) -> BTreeMap<u64, u64> {
    let longest = counts.last_key_value().map(|(ns, _)| *ns);
    let mut coarse = BTreeMap::new();
    for (ns, count) in counts {
        let cut = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS);
        let told = if Some(ns) == longest { ns } else { ns >> cut << cut };
        *coarse.entry(told).or_insert(0) += count;
    }
    coarse
}

/// What may stand for the `*` of a pointer; without one, anything.
fn entries(at: &str, json: &Json) -> Result<Vec<String>, String> {
    let Some((above, _)) = at.split_once("/*") else { return Ok(vec![String::new()]) };
    match json.pointer(above) {
        Some(Json::Object(entries)) => Ok(entries.keys().cloned().collect()),
        Some(Json::Array(entries)) => Ok((0..entries.len()).map(|index| index.to_string()).collect()),
        _ => Err(format!("neither an object nor an array stands at {above}")),
    }
}

fn histogram(at: &str, json: &Json) -> Result<Vec<(u64, u64)>, String> {
    let no_histogram = || format!("no histogram stands at {at}: an object with how often by value");
    let object = json.pointer(at).and_then(Json::as_object).ok_or_else(no_histogram)?;
    let pair = |(value, count): (&String, &Json)| Some((value.parse().ok()?, count.as_u64()?));
    object.iter().map(pair).collect::<Option<_>>().ok_or_else(no_histogram)
}

/// Of several repetitions or seeds: all that was counted, and the median of each quantile.
fn together(each: &[Durations]) -> Durations {
    let mut counts = BTreeMap::new();
    for (ns, count) in each.iter().flat_map(|one| &one.counts) {
        *counts.entry(*ns).or_insert(0) += count;
    }
    let middle = |index: usize, of: fn(&DurationQuantile) -> f64| {
        median(each.iter().filter_map(|one| one.quantiles.get(index)).map(of).collect()).unwrap_or(0.0)
    };
    let of = |index| DurationQuantile {
        share: middle(index, |quantile| quantile.share),
        ns: middle(index, |quantile| quantile.ns as f64).round() as u64,
    };
    let quantiles = each.first().map_or(0, |first| first.quantiles.len());
    Durations { counts: coarse(counts), quantiles: (0..quantiles).map(of).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(place: &str, json: &str) -> Result<Durations, String> {
        let place: Place = toml::from_str(place).expect("a place");
        place.check()?;
        place.of(&serde_json::from_str(json).expect("JSON"))
    }

    const THREADS: &str = r#"
histogram = "/thread/*/histogram"
beyond = { from = 100, all = "/thread/*/cycles", longest = "/thread/*/max" }
unit_ns = 1000
"#;

    /// Of seven, two are beyond the histogram: the longest, and one that was at least 100 us.
    #[test]
    fn the_histograms_of_all_threads_add_up_and_nothing_beyond_them_is_lost() {
        let json = r#"{"thread": {
            "0": {"cycles": 3, "max": 9, "histogram": {"8": 2, "9": 1}},
            "1": {"cycles": 4, "max": 2500, "histogram": {"9": 2}}}}"#;
        let wanted = BTreeMap::from([(7_936, 2), (8_704, 3), (98_304, 1), (2_500_000, 1)]);
        assert_eq!(of(THREADS, json), Ok(Durations::from(wanted)));
    }

    #[test]
    fn lengths_are_told_at_most_a_sixteenth_too_short_and_the_longest_as_it_is() {
        let counts = [0, 31, 33, 1_000_000, 1_000_001, 1_000_002].map(|ns| (ns, 1));
        let told = coarse(BTreeMap::from(counts));
        assert_eq!(told, BTreeMap::from([(0, 1), (31, 1), (32, 1), (983_040, 2), (1_000_002, 1)]));
    }

    #[test]
    fn the_longest_of_500_is_not_reached_by_499() {
        let place =
            "quantiles = [[0, \"/min\"], [0.5, \"/p50\"], [1, \"/max\"]]\nall = \"/n\"\nunit_ns = 1000";
        let told = of(place, r#"{"n": 500, "min": 1.5, "p50": 83.384, "max": 6289}"#);
        let quantile = |share, ns| DurationQuantile { share, ns };
        let wanted = vec![quantile(0.0, 1_500), quantile(0.5, 83_384), quantile(0.998, 6_289_000)];
        assert_eq!(told, Ok(Durations::from(wanted)));
    }

    #[test]
    fn seeds_add_up_as_counts_and_have_a_median_as_quantiles() {
        let counts =
            |pairs: &[(u64, u64)]| Durations::from(pairs.iter().copied().collect::<BTreeMap<u64, u64>>());
        let all = together(&[counts(&[(1, 2), (3, 1)]), counts(&[(3, 4)])]);
        assert_eq!(all, counts(&[(1, 2), (3, 5)]));
        let median = |ns| Durations::from(vec![DurationQuantile { share: 0.5, ns }]);
        assert_eq!(together(&[median(10), median(70), median(20)]), median(20));
    }

    #[test]
    fn what_is_wrong_with_a_place_is_said() {
        let json = r#"{"h": {"1": 1}, "n": 3}"#;
        for (place, words) in [
            ("unit_ns = 1", "give a `histogram` or `quantiles`"),
            ("histogram = \"/h\"\nquantiles = [[0, \"/n\"]]\nunit_ns = 1", "leave `quantiles` out"),
            ("histogram = \"/h\"\nall = \"/n\"\nunit_ns = 1", "`all` belongs to `quantiles`"),
            ("quantiles = [[0.5, \"/n\"], [0.1, \"/n\"]]\nunit_ns = 1", "rise"),
            ("histogram = \"/h\"\nunit_ns = 0", "above 0"),
            ("histogram = \"/n\"\nunit_ns = 1", "no histogram stands at /n"),
            ("histogram = \"/n/*\"\nunit_ns = 1", "neither an object nor an array stands at /n"),
            ("quantiles = [[0.5, \"/m\"]]\nunit_ns = 1", "nothing stands at /m"),
        ] {
            let error = of(place, json).expect_err("it is wrong");
            assert!(error.contains(words), "{place}: {error}");
        }
    }
}
