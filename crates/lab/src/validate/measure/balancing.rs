//! What /proc/schedstat counts of balancing, versions 15 to 17 (fair-class 11.4).

use super::Measured;
use serde::Deserialize;

/// Which passes, and what of them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Passes {
    /// Passes of which CPUs.
    #[serde(default)]
    of: Kind,
    take: Take,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Idle,
    #[default]
    Busy,
    NewlyIdle,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    /// Passes a CPU and second.
    PerCpuSecond,
    /// Per cent of the passes that found no imbalance.
    BalancedPercent,
    /// Per cent that found one and moved nothing.
    FailedPercent,
    /// Per cent that moved tasks.
    MovedPercent,
    /// Failed ones for each that moved.
    FailedForEachMoved,
    /// Tasks moved by each that moved any.
    GainedByEach,
    /// Passes for every hundred times that a CPU became idle.
    PercentOfIdleEntries,
    /// Tasks pushed by active balancing, whoever asked for it.
    ActivePushed,
    /// Tasks moved, by all passes.
    Gained,
    /// Of wakeups that leave the waker's CPU or move the task there, how many per cent move it there.
    PulledPercent,
}

/// The sums over all CPUs and domains.
#[derive(Default)]
struct Sums {
    passes: f64,
    balanced: f64,
    failed: f64,
    gained: f64,
    pushed: f64,
    idle_entries: f64,
    woken_elsewhere: f64,
    moved_to_waker: f64,
}

impl Passes {
    pub fn of(&self, run: &Measured<'_>) -> Result<f64, String> {
        let dump = run.result.dumps.first().ok_or("/proc/schedstat was not kept")?;
        let sums = self.sums(&dump.text).ok_or("/proc/schedstat has another form")?;
        let moved = sums.passes - sums.balanced - sums.failed;
        let percent = |part: f64| 100.0 * part / sums.passes.max(1.0);
        let cpus = run.result.cpus.len() as f64;
        Ok(match self.take {
            Take::PerCpuSecond => sums.passes / run.seconds() / cpus,
            Take::BalancedPercent => percent(sums.balanced),
            Take::FailedPercent => percent(sums.failed),
            Take::MovedPercent => percent(moved),
            Take::FailedForEachMoved => sums.failed / moved.max(1.0),
            Take::GainedByEach => sums.gained / moved.max(1.0),
            Take::PercentOfIdleEntries => 100.0 * sums.passes / sums.idle_entries.max(1.0),
            Take::ActivePushed => sums.pushed,
            Take::Gained => sums.gained,
            Take::PulledPercent => {
                100.0 * sums.moved_to_waker / (sums.moved_to_waker + sums.woken_elsewhere).max(1.0)
            }
        })
    }

    fn sums(&self, text: &str) -> Option<Sums> {
        let version: u32 = text.lines().next()?.strip_prefix("version ")?.parse().ok()?;
        // From 17 on a domain has its name, and an imbalance is counted by kind.
        let (before, fields) = if version >= 17 { (3, 11) } else { (2, 8) };
        // From 16 on busy CPUs come first.
        let place = match (self.of, version >= 16) {
            (Kind::Idle, false) | (Kind::Busy, true) => 0,
            (Kind::Busy, false) | (Kind::Idle, true) => 1,
            (Kind::NewlyIdle, _) => 2,
        };
        let mut sums = Sums::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |index: usize| words.get(index)?.parse::<f64>().ok();
            if line.starts_with("cpu") {
                sums.idle_entries += number(4)?;
            } else if line.starts_with("domain") {
                let first = before + place * fields;
                sums.passes += number(first)?;
                sums.balanced += number(first + 1)?;
                sums.failed += number(first + 2)?;
                sums.gained += number(first + fields - 4)?;
                let behind = before + 3 * fields;
                sums.pushed += number(behind + 2)?;
                // Behind the three of active balancing and those of exec and fork, which are always 0.
                sums.woken_elsewhere += number(behind + 9)?;
                sums.moved_to_waker += number(behind + 10)?;
            }
        }
        Some(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second field behind the imbalance is that of hot tasks: gained is the first.
    #[test]
    fn each_version_has_its_order() {
        let of = |of, text: &str| Passes { of, take: Take::PerCpuSecond }.sums(text).expect("its form");
        let old = "version 15\ntimestamp 1\ncpu0 0 0 9 7 0 0 0 0 0\n\
                   domain0 3 10 1 2 3 4 5 6 7 20 11 12 13 14 15 16 17 30 21 22 23 24 25 26 27 1 2 3 0 0 0 0 0 0 40 60 0";
        let busy = of(Kind::Busy, old);
        assert_eq!((busy.passes, busy.balanced, busy.failed, busy.gained), (20.0, 11.0, 12.0, 14.0));
        assert_eq!((busy.idle_entries, busy.pushed), (7.0, 3.0));
        assert_eq!((busy.woken_elsewhere, busy.moved_to_waker), (40.0, 60.0));
        assert_eq!(of(Kind::Idle, old).passes, 10.0);
        let new = "version 17\ntimestamp 1\n\
                   domain0 MC 3 10 1 2 3 3 3 3 4 5 6 7 20 1 2 3 3 3 3 4 5 6 7 30 1 2 3 3 3 3 9 5 6 7 1 2 3 0 0 0 0 0 0 40 60 0";
        assert_eq!((of(Kind::Busy, new).passes, of(Kind::Idle, new).passes), (10.0, 20.0));
        assert_eq!((of(Kind::NewlyIdle, new).gained, of(Kind::NewlyIdle, new).pushed), (9.0, 3.0));
        assert!(Passes { of: Kind::Busy, take: Take::ActivePushed }.sums("nothing").is_none());
    }
}
