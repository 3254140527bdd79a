//! What recording costs: the same work with the events and without them, in turn, just before the recording.
//!
//! Two threads on one CPU wake each other. On two, their placement would decide: an idle CPU that is woken
//! costs a multiple of all events, and of with and without, one may have it and the other not.

use rustix::pipe::pipe;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use scheduler::Nanos;
use std::fs::File;
use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

/// Round trips of one try: some milliseconds.
const ROUNDS: u32 = 300;
/// How often it is tried, each time with and without events.
pub const TRIES: usize = 7;

/// CPU time of two threads that wake each other a few hundred times, on the CPU on which the caller is.
///
/// # Errors
/// No pipes, no threads, no affinity.
pub fn wakeups() -> io::Result<Duration> {
    let ((near_read, far_write), (far_read, near_write)) = (pipe()?, pipe()?);
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    thread::scope(|scope| {
        let asks = scope.spawn(move || {
            sched_setaffinity(None, &here)?;
            ask(File::from(near_read), File::from(near_write))
        });
        let answers = scope.spawn(move || {
            sched_setaffinity(None, &here)?;
            answer(File::from(far_read), File::from(far_write))
        });
        let panicked = |_| Err(io::Error::other("a thread panicked"));
        Ok(asks.join().unwrap_or_else(panicked)? + answers.join().unwrap_or_else(panicked)?)
    })
}

fn ask(mut read: File, mut write: File) -> io::Result<Duration> {
    cpu_time(|| {
        write.write_all(&[1])?;
        read.read_exact(&mut [0])
    })
}

fn answer(mut read: File, mut write: File) -> io::Result<Duration> {
    cpu_time(|| {
        read.read_exact(&mut [0])?;
        write.write_all(&[1])
    })
}

/// What all rounds take of this thread's CPU time.
fn cpu_time(mut round: impl FnMut() -> io::Result<()>) -> io::Result<Duration> {
    let start = clock_gettime(ClockId::ThreadCPUTime);
    for _ in 0..ROUNDS {
        round()?;
    }
    let end = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(end - start).map_err(io::Error::other)
}

/// One measurement: the same work twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Try {
    /// Its CPU time while nothing was recorded.
    pub without: Duration,
    /// Its CPU time while events were recorded.
    pub with: Duration,
    /// How many events that were.
    pub events: u64,
}

impl Try {
    /// What each event took, ns.
    fn event_ns(&self) -> Option<i64> {
        let ns = |time: Duration| i64::try_from(time.as_nanos()).ok();
        let events = i64::try_from(self.events).ok()?;
        (ns(self.with)? - ns(self.without)?).checked_div(events)
    }
}

/// What an event costs: the median of the tries. `None` if they do not agree: if the middle half of them lies
/// further apart than the median is from nothing.
pub fn of_event(tries: &[Try]) -> Option<Nanos> {
    let mut all: Vec<i64> = tries.iter().filter_map(Try::event_ns).collect();
    all.sort_unstable();
    let quartile = |n: usize| all.get((all.len().checked_sub(1)? * n + 2) / 4).copied();
    let (low, median, high) = (quartile(1)?, quartile(2)?, quartile(3)?);
    let agree = median > 0 && high - low <= median;
    agree.then(|| Nanos(median.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many microseconds more for a thousand events each.
    fn of_differences(us: &[i64]) -> Option<Nanos> {
        let time = |us: i64| Duration::from_micros(us.unsigned_abs());
        let tries: Vec<Try> =
            us.iter().map(|us| Try { without: time(5_000), with: time(5_000 + us), events: 1_000 }).collect();
        of_event(&tries)
    }

    #[test]
    fn an_event_costs_the_median_of_what_most_tries_agree_on() {
        assert_eq!(of_differences(&[260, 240, 250, 3_300, 255, 245, 0]), Some(Nanos(250)));
        assert_eq!(of_differences(&[250]), Some(Nanos(250)));
    }

    #[test]
    fn tries_that_do_not_agree_say_nothing() {
        assert_eq!(of_differences(&[250, 3_300, 250, 3_300, 20, 3_300, 10]), None);
        assert_eq!(of_differences(&[-30, 20, -10, 5, 0, -5, 10]), None, "noise is no gain");
        assert_eq!(of_event(&[]), None);
        assert_eq!(
            of_event(&[Try { without: Duration::ZERO, with: Duration::from_secs(1), events: 0 }]),
            None
        );
    }

    #[test]
    fn two_threads_come_to_an_end() {
        assert!(wakeups().expect("pipes and threads") > Duration::ZERO);
    }
}
