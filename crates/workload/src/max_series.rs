//! The largest value of each interval of a run, in constant space.

use scheduler::Nanos;
use std::cell::RefCell;
use std::rc::Rc;

/// Interval at first.
const FIRST_INTERVAL: Nanos = Nanos::from_millis(100);
/// More intervals than this, and ten become one.
const MOST_INTERVALS: usize = 1_000;
const MERGED: usize = 10;

/// Largest value by interval, shared by all who record into it. Intervals are 100 ms long; ten times longer,
/// and again, in runs that would have more than 1000 of them.
#[derive(Clone, Debug)]
pub struct MaxSeries(Rc<RefCell<State>>);

#[derive(Debug)]
struct State {
    interval: Nanos,
    maxima: Vec<Nanos>,
}

impl MaxSeries {
    /// Nothing recorded yet.
    pub fn new() -> MaxSeries {
        MaxSeries(Rc::new(RefCell::new(State { interval: FIRST_INTERVAL, maxima: Vec::new() })))
    }

    /// A value that came at this time of the run.
    #[inline]
    pub fn record(&self, at: Nanos, value: Nanos) {
        self.0.borrow_mut().record(at, value);
    }

    /// Length of an interval. The first begins at time 0.
    pub fn interval(&self) -> Nanos {
        self.0.borrow().interval
    }

    /// The largest value of each interval up to the last that has one; zero where none came.
    pub fn maxima(&self) -> Vec<Nanos> {
        self.0.borrow().maxima.clone()
    }
}

impl Default for MaxSeries {
    fn default() -> MaxSeries {
        MaxSeries::new()
    }
}

impl State {
    fn record(&mut self, at: Nanos, value: Nanos) {
        let mut index = (at.0 / self.interval.0) as usize;
        while index >= MOST_INTERVALS {
            let max = |ten: &[Nanos]| ten.iter().copied().max().unwrap_or_default();
            self.maxima = self.maxima.chunks(MERGED).map(max).collect();
            self.interval = self.interval * MERGED as u64;
            index /= MERGED;
        }
        if index >= self.maxima.len() {
            self.maxima.resize(index + 1, Nanos::ZERO);
        }
        let max = &mut self.maxima[index];
        *max = value.max(*max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interval_has_its_largest() {
        let series = MaxSeries::new();
        for (at_ms, value) in [(0, 5), (99, 7), (100, 3), (350, 9), (120, 4)] {
            series.record(Nanos::from_millis(at_ms), Nanos(value));
        }
        assert_eq!(series.maxima(), [Nanos(7), Nanos(4), Nanos(0), Nanos(9)]);
    }

    #[test]
    fn a_long_run_has_longer_intervals() {
        let series = MaxSeries::new();
        for second in 0..3_600 {
            series.record(Nanos::from_secs(second), Nanos(second));
        }
        assert_eq!(series.interval(), Nanos::from_secs(10));
        let maxima = series.maxima();
        assert_eq!((maxima.len(), maxima[0], maxima[359]), (360, Nanos(9), Nanos(3_599)));
    }
}
