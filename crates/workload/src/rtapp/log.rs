//! What threads measure: the columns of rt-app's log (`perf run period start end slack c_duration c_period
//! wu_lat`), summed up, because a log would grow with the simulated time. Times are in nanoseconds, not cut
//! to microseconds.

use crate::load::pid;
use scheduler::{Nanos, Pid};
use schema::{RtappColumn, RtappThread};

/// Results of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RtAppThread {
    /// `task-number`, and `-fork` if it was forked.
    pub name: String,
    /// `None` if it never ran.
    pub pid: Option<Pid>,
    /// Completed loops: lines that rt-app's log would have.
    pub loops: u64,
    /// Work done, in thousands of calibration loops, with rt-app's rounding; `None` if `calibration` is no
    /// number.
    pub perf: Option<u64>,
    /// Start of the first loop; zero without one.
    pub first_start: Nanos,
    /// End of the latest loop; zero without one.
    pub last_end: Nanos,
    /// What the run and runtime events of all loops ask for.
    pub c_duration: Nanos,
    /// What the timer events of all loops ask for.
    pub c_period: Nanos,
    /// Wall-clock time of the run and runtime events of each loop.
    pub run: Summary,
    /// Wall-clock time of each loop.
    pub period: Summary,
    /// Time from the last timer event of a loop (all of them with `cumulative_slack`) to its expiry; negative
    /// if it came too late. Only of loops with a timer.
    pub slack: Summary,
    /// Wakeup latency after the timers of a loop: rt-app sets it to zero where a timer was missed. Only of
    /// loops with a timer.
    pub wu_lat: Summary,
    /// Loops with negative slack.
    pub late: u64,
}

impl RtAppThread {
    pub(super) fn new(name: String, perf_is_known: bool) -> RtAppThread {
        RtAppThread {
            name,
            pid: None,
            loops: 0,
            perf: perf_is_known.then_some(0),
            first_start: Nanos::ZERO,
            last_end: Nanos::ZERO,
            c_duration: Nanos::ZERO,
            c_period: Nanos::ZERO,
            run: Summary::default(),
            period: Summary::default(),
            slack: Summary::default(),
            wu_lat: Summary::default(),
            late: 0,
        }
    }

    /// As results have it, thread number `t`.
    pub(super) fn result(t: u32, thread: &RtAppThread) -> RtappThread {
        let with_timer = |column: Summary| (column.count() > 0).then(|| column.result());
        RtappThread {
            t,
            pid: thread.pid.map(pid),
            name: thread.name.clone(),
            loops: thread.loops,
            perf: thread.perf,
            c_duration_ns: thread.c_duration.0,
            c_period_ns: thread.c_period.0,
            run_ns: thread.run.result(),
            period_ns: thread.period.result(),
            late: (thread.slack.count() > 0).then_some(thread.late),
            slack_ns: with_timer(thread.slack),
            wu_lat_ns: with_timer(thread.wu_lat),
        }
    }

    pub(super) fn add(&mut self, line: &Line, end: Nanos) {
        if self.loops == 0 {
            self.first_start = line.start;
        }
        self.loops += 1;
        self.last_end = end;
        self.c_duration = self.c_duration.saturating_add(line.c_duration);
        self.c_period = self.c_period.saturating_add(line.c_period);
        if let Some(perf) = &mut self.perf {
            *perf += line.perf;
        }
        self.run.add(signed(line.run));
        self.period.add(signed(end.saturating_sub(line.start)));
        if line.has_timer {
            self.slack.add(line.slack_ns);
            self.wu_lat.add(signed(line.wu_lat));
            self.late += u64::from(line.slack_ns < 0);
        }
    }
}

/// Count, extremes and mean of a column, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    count: u64,
    sum_ns: i128,
    min_ns: i64,
    max_ns: i64,
}

impl Summary {
    fn result(self) -> RtappColumn {
        RtappColumn { min: self.min_ns(), mean: self.mean_ns(), max: self.max_ns() }
    }

    fn add(&mut self, value_ns: i64) {
        self.min_ns = if self.count == 0 { value_ns } else { self.min_ns.min(value_ns) };
        self.max_ns = if self.count == 0 { value_ns } else { self.max_ns.max(value_ns) };
        self.count += 1;
        self.sum_ns += i128::from(value_ns);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest; zero without a value.
    pub fn min_ns(&self) -> i64 {
        self.min_ns
    }

    /// Largest; zero without a value.
    pub fn max_ns(&self) -> i64 {
        self.max_ns
    }

    /// Mean, rounded towards zero; zero without a value.
    pub fn mean_ns(&self) -> i64 {
        // Between the smallest and the largest, so it fits.
        self.sum_ns.checked_div(i128::from(self.count)).map_or(0, |mean| mean as i64)
    }
}

/// One line of the log while it is being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Line {
    pub start: Nanos,
    pub perf: u64,
    pub run: Nanos,
    pub slack_ns: i64,
    pub c_duration: Nanos,
    pub c_period: Nanos,
    pub wu_lat: Nanos,
    pub has_timer: bool,
}

/// A span as a signed number; no run lasts the 292 years that would not fit.
pub(super) fn signed(span: Nanos) -> i64 {
    i64::try_from(span.0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_signed_values() {
        let mut summary = Summary::default();
        assert_eq!((summary.min_ns(), summary.mean_ns(), summary.max_ns()), (0, 0, 0));
        for value in [5, -7, 4] {
            summary.add(value);
        }
        assert_eq!((summary.count(), summary.min_ns(), summary.max_ns()), (3, -7, 5));
        assert_eq!(summary.mean_ns(), 0, "2/3 is rounded towards zero");
    }

    #[test]
    fn slack_counts_only_where_there_is_a_timer() {
        let mut thread = RtAppThread::new("t-0".into(), false);
        thread.add(&Line { start: Nanos(10), run: Nanos(5), ..Line::default() }, Nanos(20));
        thread.add(&Line { start: Nanos(20), slack_ns: -3, has_timer: true, ..Line::default() }, Nanos(50));
        assert_eq!((thread.loops, thread.slack.count(), thread.late), (2, 1, 1));
        assert_eq!((thread.first_start, thread.last_end), (Nanos(10), Nanos(50)));
        assert_eq!((thread.period.min_ns(), thread.period.max_ns()), (10, 30));
        assert_eq!((thread.run.max_ns(), thread.perf), (5, None));
    }
}
