//! Figures as people name them: `p99(cyclictest)`, `max(cyclictest/0)`, `hackbench time`, or a metric's key.

use crate::error::Error;
use schema::Metric;
use suggest::suggest;

/// What stands before the brackets, and the last parts of keys that it may mean, in the order in which they
/// are looked for. Any other word means a last part of its own name: `time(hackbench)`, `wait(cc1)`.
const FUNCTIONS: &[(&str, &[&str])] =
    &[("max", MAX), ("worst", MAX), ("p99", &["p99_latency", "p99"]), ("mean", MEAN), ("avg", MEAN)];
const MAX: &[&str] =
    &["worst_latency", "worst_response", "max", "latency_max", "response_max", "longest", "worst_wu_lat"];
const MEAN: &[&str] = &["mean_latency", "avg", "latency", "response"];

/// The metric that a text means, of those that a run has: by its key, by its name for people, or as
/// `FUNCTION(WHO)`, where WHO is a load (`cyclictest`, a thread of it: `cyclictest/0`), a task name or a task
/// group.
///
/// # Errors
/// No such metric; the message suggests the nearest.
pub fn resolve<'m>(text: &str, metrics: &'m [Metric]) -> Result<&'m Metric, Error> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let same = |name: &str| name.eq_ignore_ascii_case(&words);
    let spaced = |metric: &&Metric| same(&metric.key.replace(['.', '_'], " "));
    metrics
        .iter()
        .find(|metric| same(&metric.key))
        .or_else(|| metrics.iter().find(|metric| same(&metric.label)))
        .or_else(|| metrics.iter().find(spaced))
        .or_else(|| of_function(&words, metrics))
        .ok_or_else(|| unknown(&words, metrics))
}

fn of_function<'m>(text: &str, metrics: &'m [Metric]) -> Option<&'m Metric> {
    let (function, rest) = text.split_once('(')?;
    let who = rest.strip_suffix(')')?.trim();
    let function = function.trim().to_lowercase();
    let parts = FUNCTIONS.iter().find(|(name, _)| *name == function);
    let parts = parts.map_or_else(|| vec![function.as_str()], |(_, parts)| parts.to_vec());
    let find = |prefix: &str| {
        let named = |part: &&str| metrics.iter().find(|metric| metric.key == format!("{prefix}.{part}"));
        parts.iter().find_map(named)
    };
    let who = match who.rsplit_once('/') {
        // A load with one thread has no figures of threads: its own are those of the thread.
        Some((load, "0")) if !metrics.iter().any(|metric| metric.key.starts_with(&format!("{load}.t"))) => {
            load.to_owned()
        }
        Some((load, thread)) if thread.chars().all(|c| c.is_ascii_digit()) => format!("{load}.t{thread}"),
        _ => who.to_owned(),
    };
    find(&who).or_else(|| find(&format!("tasks.{who}"))).or_else(|| find(&format!("groups.{who}")))
}

fn unknown(text: &str, metrics: &[Metric]) -> Error {
    let forms: Vec<String> = metrics.iter().flat_map(forms).collect();
    let nearest = suggest(text, &forms).cloned();
    let main = metrics.iter().filter(|metric| metric.headline).map(|metric| metric.key.clone());
    Error::UnknownMetric { text: text.to_owned(), nearest, known: main.collect() }
}

/// All that a metric may be called.
fn forms(metric: &Metric) -> Vec<String> {
    let mut forms = vec![metric.key.clone(), metric.label.clone()];
    if let Some((prefix, last)) = metric.key.rsplit_once('.') {
        let who = prefix.strip_prefix("tasks.").or(prefix.strip_prefix("groups.")).unwrap_or(prefix);
        let who = match who.rsplit_once(".t") {
            Some((load, thread)) if thread.chars().all(|c| c.is_ascii_digit()) => format!("{load}/{thread}"),
            _ => who.to_owned(),
        };
        let functions = FUNCTIONS.iter().filter(|(_, parts)| parts.contains(&last));
        forms.extend(functions.map(|(name, _)| format!("{name}({who})")));
        forms.push(format!("{last}({who})"));
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{Better, Unit};

    fn metric(key: &str, label: &str) -> Metric {
        Metric {
            key: key.to_owned(),
            label: label.to_owned(),
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            resolution: 1,
            headline: true,
        }
    }

    fn metrics() -> Vec<Metric> {
        vec![
            metric("cyclictest.worst_latency", "cyclictest worst latency"),
            metric("cyclictest.p99_latency", "cyclictest p99 of worst thread"),
            metric("cyclictest.t0.max", "cyclictest T0 max"),
            metric("cyclictest.t1.p99", "cyclictest T1 p99"),
            metric("hackbench.time", "hackbench time"),
            metric("wakeup_latency.max", "wakeup-latency maximum latency"),
            metric("tasks.cc1.wait", "cc1: waiting time"),
            metric("tasks.cc1.p99_latency", "cc1: p99 of worst task"),
        ]
    }

    #[test]
    fn a_figure_has_several_names() {
        let metrics = metrics();
        for (text, key) in [
            ("p99(cyclictest)", "cyclictest.p99_latency"),
            ("max( cyclictest )", "cyclictest.worst_latency"),
            ("max(cyclictest/0)", "cyclictest.t0.max"),
            ("p99(cyclictest/1)", "cyclictest.t1.p99"),
            ("max(wakeup_latency/0)", "wakeup_latency.max"),
            ("time(hackbench)", "hackbench.time"),
            ("hackbench  time", "hackbench.time"),
            ("Hackbench.Time", "hackbench.time"),
            ("cyclictest worst latency", "cyclictest.worst_latency"),
            ("wait(cc1)", "tasks.cc1.wait"),
            ("p99(cc1)", "tasks.cc1.p99_latency"),
        ] {
            assert_eq!(resolve(text, &metrics).expect(text).key, key, "{text}");
        }
    }

    #[test]
    fn the_nearest_of_all_names_is_suggested() {
        let metrics = metrics();
        for (text, meant) in [
            ("p99(cyclictets)", "`p99(cyclictest)`?"),
            ("hackbench tiem", "`hackbench time`?"),
            ("max(cyclictest/7)", "`max(cyclictest/0)`?"),
            ("cyclictest.wurst_latency", "`cyclictest.worst_latency`?"),
        ] {
            let said = resolve(text, &metrics).expect_err(text).to_string();
            assert!(said.ends_with(&format!("did you mean {meant}")), "{said}");
        }
        let said = resolve("throughput", &metrics).expect_err("none").to_string();
        assert!(said.contains("there are: cyclictest.worst_latency, cyclictest.p99_latency"), "{said}");
    }
}
