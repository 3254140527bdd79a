//! How late timers are: absolute sleeps like cyclictest's, by policy and by what their CPU does meanwhile.
//!
//! A thread of SCHED_FIFO is woken as soon as its timer has expired, whoever else is fair, so that its
//! lateness is that of the timer and of the way from there, and waits for nobody. Beside a fair task that
//! spins the CPU never idles, so that no idle state is in it either.

use super::figure::quantile;
use super::measure::{Bench, now};
use super::realtime::{Fifo, PRIORITY};
use super::sources::{Seen, Way};
use rustix::thread::{ClockId, clock_nanosleep_absolute, current_timer_slack, set_current_timer_slack};
use rustix::time::Timespec;
use scheduler::{CpuId, Nanos};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::hint::spin_loop;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// By how much sleeps were late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lateness {
    /// Number of sleeps.
    pub samples: usize,
    /// None was less late, ns.
    pub floor_ns: u64,
    /// A tenth was not as late, ns.
    pub p10_ns: u64,
    /// Half were not, ns.
    pub p50_ns: u64,
    /// Nine of ten were not, ns.
    pub p90_ns: u64,
    /// All but one of a hundred were not, ns.
    pub p99_ns: u64,
    /// None was later, ns.
    pub max_ns: u64,
}

impl Lateness {
    /// Of samples in any order; `None` without one.
    pub fn of(mut samples: Vec<u64>) -> Option<Lateness> {
        samples.sort_unstable();
        let at = |percent| quantile(&samples, percent);
        Some(Lateness {
            samples: samples.len(),
            floor_ns: at(0)?,
            p10_ns: at(10)?,
            p50_ns: at(50)?,
            p90_ns: at(90)?,
            p99_ns: at(99)?,
            max_ns: at(100)?,
        })
    }

    /// The timer's part of it: a floor and an exponential span above that, so that a tenth and a half of the
    /// sleeps lie where they were seen. Of the tail the model has other parts (interruptions, the host), so
    /// it has no say in it. What the way from the timer's interrupt to the task takes is `known`.
    pub fn of_timer(&self, known: Nanos) -> TimerJitter {
        // An exponential distribution of mean m has a tenth below 0.10536 m, a half below 0.69315 m.
        const TENTH_PPM: u64 = 105_361;
        const BETWEEN_PPM: u64 = 587_787;
        let mean = (self.p50_ns - self.p10_ns) * 1_000_000 / BETWEEN_PPM;
        let least = self.p10_ns.saturating_sub(mean * TENTH_PPM / 1_000_000).max(self.floor_ns);
        TimerJitter { min: Nanos(least.saturating_sub(known.0)), mean: Nanos(mean.max(1)) }
    }
}

/// `floor 9000, p10 9500, p50 10000, p90 12000, p99 30000, max 80000, n 4000`, in ns.
impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lateness { samples, floor_ns, p10_ns, p50_ns, p90_ns, p99_ns, max_ns } = self;
        write!(
            f,
            "floor {floor_ns}, p10 {p10_ns}, p50 {p50_ns}, p90 {p90_ns}, p99 {p99_ns}, max {max_ns}, \
             n {samples}"
        )
    }
}

/// How late a timer's interrupt is: `min` and an exponential span of this `mean`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerJitter {
    /// Never less.
    pub min: Nanos,
    /// Mean of what comes on top.
    pub mean: Nanos,
}

/// Whose timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sleeper {
    /// SCHED_FIFO, above everything fair.
    Fifo,
    /// SCHED_OTHER, with a timer slack of 1 ns.
    FairWithoutSlack,
    /// SCHED_OTHER, with the timer slack that it was born with.
    Fair,
}

impl Sleeper {
    /// Its policy, in words.
    pub fn name(self) -> &'static str {
        match self {
            Sleeper::Fifo => "fifo",
            Sleeper::FairWithoutSlack => "other, no slack",
            Sleeper::Fair => "other",
        }
    }
}

/// What the CPU does until the timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meanwhile {
    /// A fair task spins.
    Busy,
    /// It idles as it likes.
    Idle,
    /// It idles, and /dev/cpu_dma_latency is held at 0, as cyclictest does: it polls.
    Polls,
}

impl Meanwhile {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Meanwhile::Busy => "busy",
            Meanwhile::Idle => "idle",
            Meanwhile::Polls => "idle, latency 0",
        }
    }
}

/// Sleeps of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerRun {
    /// Whose.
    pub sleeper: Sleeper,
    /// What the CPU does.
    pub meanwhile: Meanwhile,
    /// From one expiry to the next, ns.
    pub interval_ns: u64,
    /// By how much they were late.
    pub lateness: Lateness,
}

/// All of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timers {
    /// Those that could be had.
    pub runs: Vec<TimerRun>,
    /// The slack of a fair task here, as the kernel tells it, ns.
    pub told_slack_ns: Option<u64>,
}

impl Timers {
    /// Sleeps of this kind.
    pub fn run(&self, sleeper: Sleeper, meanwhile: Meanwhile) -> Option<&TimerRun> {
        self.runs.iter().find(|run| run.sleeper == sleeper && run.meanwhile == meanwhile)
    }

    /// Those from which the jitter of timers is taken: of a real-time task on a busy CPU, or else of a fair
    /// one on a CPU that idles.
    pub fn of_jitter(&self) -> Option<&TimerRun> {
        let fifo = self.run(Sleeper::Fifo, Meanwhile::Busy);
        fifo.or_else(|| self.run(Sleeper::FairWithoutSlack, Meanwhile::Idle))
    }

    /// By how much the slack of fair tasks makes a timer later, ns: by what a tenth of the sleeps is late at
    /// most, with it and without. Other work on the CPU makes most of the others late.
    pub fn slack_ns(&self) -> Option<u64> {
        let of = |sleeper| Some(self.run(sleeper, Meanwhile::Idle)?.lateness.p10_ns);
        Some(of(Sleeper::Fair)?.saturating_sub(of(Sleeper::FairWithoutSlack)?))
    }
}

/// How `timer_jitter` is learned.
pub(super) fn way(timers: Option<&Timers>) -> Way {
    let run = timers.and_then(Timers::of_jitter);
    let probe = |run: &TimerRun| match run.sleeper {
        Sleeper::Fifo => "timer, fifo, busy CPU",
        Sleeper::Fair | Sleeper::FairWithoutSlack => "timer, fair, idle CPU",
    };
    Way {
        seen: run.map(|run| Seen { probe: probe(run), samples: run.lateness.samples }),
        unseen: "no timer was set; left out, timers are on time".to_owned(),
    }
}

impl Bench<'_> {
    /// Sleeps until absolute times, by policy, and by what their CPU does meanwhile.
    pub fn timers(&self) -> io::Result<Timers> {
        self.pin(CpuId(0))?;
        let born_with = current_timer_slack()?;
        let mut timers = Timers { told_slack_ns: Some(born_with), ..Timers::default() };
        let mut add = |sleeper, meanwhile, interval_ns, samples: Vec<u64>| {
            let lateness = Lateness::of(samples);
            let run = |lateness| TimerRun { sleeper, meanwhile, interval_ns, lateness };
            timers.runs.extend(lateness.map(run));
        };
        if let Some(samples) = self.beside_a_spinner(|| fifo_sleeps(250_000, 6000))? {
            add(Sleeper::Fifo, Meanwhile::Busy, 250_000, samples);
        }
        if let Some(samples) = fifo_sleeps(2_000_000, 500)? {
            add(Sleeper::Fifo, Meanwhile::Idle, 2_000_000, samples);
        }
        if let Ok(held) = no_idle_states()
            && let Some(samples) = fifo_sleeps(2_000_000, 500)?
        {
            add(Sleeper::Fifo, Meanwhile::Polls, 2_000_000, samples);
            drop(held);
        }
        add(Sleeper::Fair, Meanwhile::Idle, 2_000_000, sleeps(2_000_000, 300)?);
        set_current_timer_slack(NonZeroU64::new(1))?;
        let exact = sleeps(2_000_000, 300);
        set_current_timer_slack(None)?;
        add(Sleeper::FairWithoutSlack, Meanwhile::Idle, 2_000_000, exact?);
        Ok(timers)
    }

    /// Runs `what` while a fair thread spins on the same CPU.
    pub(super) fn beside_a_spinner<T>(&self, what: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.beside_a_thread(spin_loop, what)
    }

    /// Runs `what` while a fair thread of the same CPU does this `work` over and over.
    pub(super) fn beside_a_thread<T>(
        &self,
        mut work: impl FnMut() + Send,
        what: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let (over, runs) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            // A thread made here inherits the CPU.
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    work();
                    runs.store(true, Ordering::Relaxed);
                }
            });
            while !runs.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let done = what();
            over.store(true, Ordering::Relaxed);
            done
        })
    }
}

/// Holds idle CPUs out of their idle states until it is closed.
fn no_idle_states() -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok(file)
}

/// Sleeps as SCHED_FIFO; `None` where that is not allowed.
pub(super) fn fifo_sleeps(interval_ns: u64, count: usize) -> io::Result<Option<Vec<u64>>> {
    let Some(fifo) = Fifo::new(PRIORITY) else { return Ok(None) };
    let samples = sleeps(interval_ns, count);
    drop(fifo);
    samples.map(Some)
}

/// By how much each of so many sleeps ended late. An expiry that was missed, because the one before came so
/// late, is left out: the next one is in the future again.
fn sleeps(interval_ns: u64, count: usize) -> io::Result<Vec<u64>> {
    let mut at = now();
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        at += interval_ns;
        let time = now();
        if at <= time {
            at = time + interval_ns;
        }
        let request = Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as i64 };
        clock_nanosleep_absolute(ClockId::Monotonic, &request)?;
        samples.push(now().saturating_sub(at));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeps whose lateness has this distribution to the nanosecond: one for each step of its quantiles.
    fn exponential(min: f64, mean: f64, count: u32) -> Vec<u64> {
        let quantile = |n: u32| (f64::from(n) + 0.5) / f64::from(count);
        (0..count).map(|n| (min - mean * (1.0 - quantile(n)).ln()) as u64).collect()
    }

    #[test]
    fn floor_and_mean_come_out_again() {
        for (min, mean) in [(5600.0, 1000.0), (0.0, 300.0), (12_000.0, 4000.0)] {
            let path = 8000;
            let samples = exponential(min + path as f64, mean, 4000);
            let jitter = Lateness::of(samples).expect("samples").of_timer(Nanos(path));
            assert!((jitter.min.0 as f64 - min).abs() <= 15.0, "{min}: {jitter:?}");
            assert!((jitter.mean.0 as f64 / mean - 1.0).abs() <= 0.02, "{mean}: {jitter:?}");
        }
    }

    /// One sleep in twenty is held up by something else, for milliseconds.
    #[test]
    fn stalls_of_the_host_are_not_the_timers_jitter() {
        let mut samples = exponential(13_600.0, 1000.0, 1900);
        samples.extend(exponential(2_000_000.0, 3_000_000.0, 100));
        let jitter = Lateness::of(samples).expect("samples").of_timer(Nanos(8000));
        assert!(jitter.min.0.abs_diff(5600) <= 30, "{jitter:?}");
        assert!(jitter.mean.0.abs_diff(1000) <= 100, "{jitter:?}");
    }

    #[test]
    fn a_way_that_is_longer_than_all_that_was_seen_leaves_no_floor() {
        let jitter = Lateness::of(vec![5000; 100]).expect("samples").of_timer(Nanos(8000));
        assert_eq!(jitter, TimerJitter { min: Nanos(0), mean: Nanos(1) });
    }

    #[test]
    fn quantiles_and_the_floor() {
        let lateness = Lateness::of((0..=1000).rev().collect()).expect("samples");
        let words = "floor 0, p10 100, p50 500, p90 900, p99 990, max 1000, n 1001";
        assert_eq!(lateness.to_string(), words);
        assert_eq!(Lateness::of(Vec::new()), None);
    }

    fn run(sleeper: Sleeper, meanwhile: Meanwhile, ns: u64) -> TimerRun {
        let lateness = Lateness::of(vec![ns; 10]).expect("samples");
        TimerRun { sleeper, meanwhile, interval_ns: 1_000_000, lateness }
    }

    #[test]
    fn slack_is_what_it_makes_timers_later() {
        let runs = vec![
            run(Sleeper::Fifo, Meanwhile::Busy, 15_000),
            run(Sleeper::Fair, Meanwhile::Idle, 74_000),
            run(Sleeper::FairWithoutSlack, Meanwhile::Idle, 24_000),
        ];
        let timers = Timers { runs, told_slack_ns: Some(50_000) };
        assert_eq!(timers.slack_ns(), Some(50_000));
        assert_eq!(timers.of_jitter().map(|run| run.sleeper), Some(Sleeper::Fifo));
    }

    #[test]
    fn without_the_right_to_real_time_a_fair_task_on_an_idle_cpu_has_to_do() {
        let runs = vec![
            run(Sleeper::Fair, Meanwhile::Idle, 74_000),
            run(Sleeper::FairWithoutSlack, Meanwhile::Idle, 24_000),
        ];
        let timers = Timers { runs, told_slack_ns: None };
        assert_eq!(timers.of_jitter().map(|run| run.sleeper), Some(Sleeper::FairWithoutSlack));
        assert_eq!(way(Some(&timers)).seen.map(|seen| seen.samples), Some(10));
        assert_eq!(way(Some(&Timers::default())).seen, None);
    }

    /// The sleeps themselves, with bounds that any machine keeps.
    #[test]
    fn sleeps_end_after_their_time() {
        let samples = sleeps(100_000, 20).expect("a clock");
        assert_eq!(samples.len(), 20);
        assert!(samples.iter().all(|late| *late > 0));
    }
}
