//! When a task runs, stint by stint, beside what was recorded.

use crate::validate::log::{Names, millis};
use schema::{Log, LogEvent};
use serde::Deserialize;
use workload::replay::TaskSelector;

/// Whose, and what was recorded of it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Sequence {
    /// The task of this name, or pattern of names.
    of: String,
    /// So many stints come before that the recorded program had no part in.
    #[serde(default)]
    skip: usize,
    /// How long each recorded stint took, milliseconds.
    ran_ms: Vec<f64>,
    /// How long the task was off the CPU after each of them but the last, milliseconds.
    off_ms: Vec<f64>,
    /// How far a time may be off, milliseconds.
    by_ms: f64,
}

/// From a switch to the task until the one away from it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stint {
    from_ms: f64,
    to_ms: f64,
}

impl Sequence {
    /// Whether one can be held against the other.
    pub fn check(&self) -> Result<(), String> {
        if self.ran_ms.is_empty() || self.off_ms.len() + 1 != self.ran_ms.len() {
            return Err("between every two times of `ran_ms` stands one in `off_ms`".to_owned());
        }
        Ok(())
    }

    /// How many per cent of the recorded times stand at the same place of the run, so long or nearly.
    pub fn of(&self, log: &Log) -> f64 {
        self.alike_percent(&self.stints(log))
    }

    fn alike_percent(&self, stints: &[Stint]) -> f64 {
        let stints = stints.get(self.skip..).unwrap_or_default();
        let ran = stints.iter().map(|stint| stint.to_ms - stint.from_ms);
        let off = stints.iter().zip(stints.iter().skip(1)).map(|(one, next)| next.from_ms - one.to_ms);
        let near = |(recorded, simulated): &(&f64, f64)| (*recorded - simulated).abs() <= self.by_ms;
        let alike = self.ran_ms.iter().zip(ran).filter(near).count()
            + self.off_ms.iter().zip(off).filter(near).count();
        100.0 * alike as f64 / (self.ran_ms.len() + self.off_ms.len()) as f64
    }

    fn stints(&self, log: &Log) -> Vec<Stint> {
        // What cannot be read as a pattern is one name.
        let whom: TaskSelector = self.of.parse().unwrap_or(TaskSelector::Comm(self.of.clone()));
        let (mut names, mut since, mut stints) = (Names::of(log), None, Vec::new());
        for record in &log.records {
            names.see(&record.event);
            let LogEvent::SchedSwitch { prev, next, .. } = &record.event else { continue };
            let now = millis(record.time);
            if names.is(&whom, prev.pid)
                && let Some(from_ms) = since.take()
            {
                stints.push(Stint { from_ms, to_ms: now });
            }
            if names.is(&whom, next.pid) {
                since = Some(now);
            }
        }
        stints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence() -> Sequence {
        Sequence {
            of: "w".to_owned(),
            skip: 1,
            ran_ms: vec![4.0, 2.0, 4.0],
            off_ms: vec![20.0, 50.0],
            by_ms: 0.2,
        }
    }

    fn at(stints: &[[f64; 2]]) -> Vec<Stint> {
        stints.iter().map(|[from_ms, to_ms]| Stint { from_ms: *from_ms, to_ms: *to_ms }).collect()
    }

    #[test]
    fn each_time_stands_at_its_place() {
        let alike = at(&[[0.0, 1.0], [10.0, 14.1], [34.0, 36.0], [86.1, 90.0]]);
        assert_eq!(sequence().alike_percent(&alike), 100.0);
        // The second stint takes 1 ms more, and what comes after it is as it was.
        let longer = at(&[[0.0, 1.0], [10.0, 14.1], [34.0, 37.0], [87.1, 91.0]]);
        assert_eq!(sequence().alike_percent(&longer), 80.0);
        assert_eq!(sequence().alike_percent(&at(&[[0.0, 1.0]])), 0.0, "it never ran again");
        // One that is not recorded moves all others off their places.
        let one_more = at(&[[0.0, 1.0], [2.0, 2.1], [10.0, 14.1], [34.0, 36.0], [86.1, 90.0]]);
        assert_eq!(sequence().alike_percent(&one_more), 0.0);
    }

    #[test]
    fn a_time_off_the_cpu_is_between_two_on_it() {
        assert!(sequence().check().is_ok());
        assert!(Sequence { off_ms: vec![20.0], ..sequence() }.check().is_err());
        assert!(Sequence { ran_ms: Vec::new(), off_ms: Vec::new(), ..sequence() }.check().is_err());
    }
}
