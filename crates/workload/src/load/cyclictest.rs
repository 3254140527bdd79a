//! cyclictest: how late do threads wake up from an absolute timer?
//!
//! The defaults and the meaning of the options are those of rt-tests 2.x. Two of them matter for old reports.
//! Until 0.83 every further thread got a priority one lower (`-t 8 -p 90` ran at 90 to 83, seed 002); since
//! then that takes `--priospread`, and without it all threads have the same priority. And threads that nobody
//! pinned could run anywhere; now each has a CPU of its own, in turn, as with `-a` (machine.md 5.7: recorded
//! of 2.4 on 2 and on 4 CPUs), of those that the program may use, unless `--unbound` says otherwise.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::Remaining;
use super::shown::{numbered, pid};
use super::spawn::{PolicyName, affinity, program, spawn_at};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::latency::LatencyRecorder;
use crate::max_series::MaxSeries;
use crate::program::{Block, Overrun, Template, TimeVar, Times};
use crate::units::{self, micros, micros_above_zero, seconds_above_zero, step_nanos};
use machine::Setup;
use scheduler::{CpuMask, Nanos, Pid, RtPriority};
use schema::{CyclictestResult, CyclictestThread, LoadResult, MaxOverTime, UsHistogram};

const NAME: &str = "cyclictest";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Threads that sleep until an absolute time over and over, and measure how late they wake up.",
    ends: "Endless; with -l after that many cycles, with -D after that time.",
    source: "rt-tests 2.x; seeds 001 and 002 (rt-class 13.2, 13.3)",
    command: parser::<Options>,
    parse,
};

/// Threads that one machine can reasonably be asked for.
const MOST_THREADS: u32 = 4_096;

/// How many threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    OneForEachCpu,
    Number(u32),
}

fn threads(text: &str) -> Result<Count, String> {
    match text.parse() {
        Ok(number @ 1..=MOST_THREADS) => Ok(Count::Number(number)),
        Err(_) if text == "each" => Ok(Count::OneForEachCpu),
        _ => Err(format!(
            "not a number from 1 to {MOST_THREADS}; leave the number out for one thread on each CPU"
        )),
    }
}

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Number of threads (1); without a number one for each CPU.
    #[arg(
        short = 't',
        long,
        value_name = "NUM",
        num_args = 0..=1,
        default_missing_value = "each",
        value_parser = threads,
    )]
    threads: Option<Count>,
    /// Priority of the highest thread (0: no real-time policy).
    #[arg(
        short = 'p',
        long,
        value_name = "PRIO",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=99),
    )]
    priority: u8,
    /// Give each further thread a priority one lower, as versions up to 0.83 did without being asked.
    #[arg(short = 'Q', long)]
    priospread: bool,
    /// Base interval, microseconds without a unit (1000).
    #[arg(short = 'i', long, value_name = "INTV", default_value = "1000", value_parser = micros_above_zero)]
    interval: Nanos,
    /// Added to the interval of each further thread, microseconds without a unit (500).
    #[arg(short = 'd', long, value_name = "DIST", default_value = "500", value_parser = micros)]
    distance: Nanos,
    /// Cycles of each thread (0: endless).
    #[arg(short = 'l', long, value_name = "LOOPS", default_value_t = 0, conflicts_with = "duration")]
    loops: u64,
    /// Length of the test, seconds without a unit; m, h and d are known too.
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
    /// Keep a histogram of so many buckets of a microsecond; sets the distance to 0, as the real tool does.
    #[arg(short = 'h', long, value_name = "US", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    histogram: Option<u32>,
    /// Run thread n on the nth CPU of the list, or of all CPUs, as is done without being asked.
    #[arg(
        short = 'a',
        long,
        value_name = "CPUSET",
        num_args = 0..=1,
        default_missing_value = "all",
        value_parser = cpu_set,
    )]
    affinity: Option<CpuMask>,
    /// Model: threads may run on any CPU, as those of versions before 2.0 did if nobody pinned them.
    #[arg(long, conflicts_with_all = ["affinity", "smp", "numa"])]
    unbound: bool,
    /// One thread pinned to each CPU, all of the same priority.
    #[arg(short = 'S', long, conflicts_with = "priospread")]
    smp: bool,
    /// As --smp; the model has no memory nodes to allocate from.
    #[arg(short = 'U', long, conflicts_with_all = ["smp", "priospread"])]
    numa: bool,
    /// Scheduling policy (fifo with a priority, else other).
    #[arg(short = 'y', long, value_name = "NAME")]
    policy: Option<PolicyName>,
    /// Relative sleeps in place of the absolute timer.
    #[arg(short = 'r', long)]
    relative: bool,
    /// Accepted: the model always sleeps with clock_nanosleep.
    #[arg(short = 'n', long)]
    nanosleep: bool,
    /// Accepted: the model never pages memory out.
    #[arg(short = 'm', long)]
    mlockall: bool,
    /// Let idle CPUs enter deep states: it does not hold /dev/cpu_dma_latency at 0, which they poll beside.
    #[arg(long)]
    laptop: bool,
    /// Accepted: results are always printed at the end only.
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Model: each thread starts so long after the one before, microseconds without a unit (0: all at once).
    ///
    /// The real tool creates them one by one, and without --aligned each counts its intervals from its own
    /// start. Without this option the machine says how long that takes (vm2: 2.6 ms, a little more or less
    /// each time, from the seed), and where it does not, they start at once.
    #[arg(long, value_name = "TIME", value_parser = micros)]
    stagger: Option<Nanos>,
    /// Model: CPU time of a thread in each cycle beyond the system calls, nanoseconds without a unit (1500).
    ///
    /// Two clock readings, the statistics and their cold cache lines; assumed. Rt-class 13.3 puts the work of
    /// seed 001's threads at 2 to 10 µs.
    #[arg(long, value_name = "TIME", default_value = "1500", value_parser = step_nanos)]
    cycle_cost: Nanos,
}

fn cpu_set(text: &str) -> Result<CpuMask, String> {
    if text == "all" { Ok(CpuMask::ALL) } else { units::cpu_list(text) }
}

/// As meant.
#[derive(Debug)]
struct Cyclictest {
    options: Options,
    /// First priority and the policy; 0 under a fair policy.
    priority: u8,
    policy: PolicyName,
    notes: Vec<String>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let mut options: Options = options(NAME, words)?;
    let mut notes = Vec::new();
    if options.histogram.is_some() && options.distance > Nanos::ZERO {
        if words.iter().any(|w| w.starts_with("-d") || w.starts_with("--d")) {
            notes.push(
                "cyclictest: distance is ignored and set to 0, because a histogram was asked for".into(),
            );
        }
        options.distance = Nanos::ZERO;
    }
    if options.pinned_to_all() && (options.threads.is_some() || options.affinity.is_some()) {
        notes.push("cyclictest: -t and -a are ignored: --smp and --numa run a thread on each CPU".into());
    }
    let wanted = options.policy.unwrap_or(PolicyName::Other);
    let (policy, priority) = match (wanted, options.priority) {
        (policy, 0) if policy.is_rt() => {
            return Err(usage(NAME, "policies fifo and rr need a priority: add -p 1 to 99"));
        }
        (policy, 0) => (policy, 0),
        (policy, priority) if policy.is_rt() => (policy, priority),
        (_, priority) => {
            if options.policy.is_some() {
                notes.push("cyclictest: policy fifo is used, because a priority was given".into());
            }
            (PolicyName::Fifo, priority)
        }
    };
    if options.priospread && priority == 0 {
        return Err(usage(NAME, "--priospread needs a priority to start from: add -p PRIO"));
    }
    Ok(Box::new(Cyclictest { options, priority, policy, notes }))
}

impl Options {
    fn pinned_to_all(&self) -> bool {
        self.smp || self.numa
    }

    /// CPUs that were asked for; `None`: all that the program may use.
    fn cpus(&self, setup: &Setup) -> Result<Option<CpuMask>, LoadError> {
        let wanted = self.affinity.filter(|wanted| *wanted != CpuMask::ALL && !self.pinned_to_all());
        wanted.filter(|_| !self.unbound).map(|wanted| affinity(NAME, &wanted, setup)).transpose()
    }

    fn interval_of(&self, thread: u32) -> Nanos {
        self.interval.saturating_add(Nanos(self.distance.0.saturating_mul(u64::from(thread))))
    }

    fn thread_count(&self, setup: &Setup) -> u32 {
        match self.threads {
            Some(Count::Number(threads)) if !self.pinned_to_all() => threads,
            None if !self.pinned_to_all() => 1,
            _ => setup.cpus() as u32,
        }
    }

    /// One thread: set the timer, sleep, read the clock, note the difference, go on by whole intervals.
    fn cycles(&self, interval: Nanos, latency: &LatencyRecorder, remaining: &Remaining) -> Block {
        let next = TimeVar(0);
        let woken = |sleep: Block| sleep.probe(next, latency).iteration();
        let cycle = if self.relative {
            let set = Block::new().mark(next).advance(next, interval, Overrun::CatchUp);
            woken(set.sleep(interval)).run(self.cycle_cost)
        } else {
            // The real loop compares with the clock that it read for the latency.
            woken(Block::new().sleep_until(next)).advance(next, interval, Overrun::Skip).run(self.cycle_cost)
        };
        let times = match (self.loops, self.duration) {
            (_, Some(time)) => Times::For(time),
            (0, None) => Times::Forever,
            (loops, None) => Times::Count(loops),
        };
        Block::new()
            .mark(next)
            .advance(next, interval, Overrun::CatchUp)
            .repeat(times, cycle)
            .observe(remaining.clone())
    }
}

impl Load for Cyclictest {
    fn length(&self) -> Length {
        match (self.options.loops, self.options.duration) {
            (_, Some(time)) => Length::Time(time),
            (0, None) => Length::Endless,
            (loops, None) => Length::Time(Nanos(self.options.interval.0.saturating_mul(loops))),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let options = &self.options;
        if !options.laptop {
            // It opens /dev/cpu_dma_latency and writes 0, so that idle CPUs do not halt.
            setup.hold_cpu_dma_latency();
        }
        let cpus = options.cpus(setup)?;
        let remaining = Remaining::new(options.thread_count(setup));
        let series = MaxSeries::new();
        let mut threads = Vec::new();
        for t in 0..options.thread_count(setup) {
            let interval = options.interval_of(t);
            let latency = match options.histogram {
                Some(buckets) => LatencyRecorder::with_histogram(buckets as usize),
                None => LatencyRecorder::new(),
            }
            .also_into(&series);
            let mut task =
                Template::new(NAME, program(NAME, options.cycles(interval, &latency, &remaining))?);
            let spread = if options.priospread { i64::from(t) } else { 0 };
            let priority = i64::from(self.priority) - spread;
            task.policy = self.policy.policy(NAME, &format!("thread {t}"), priority)?;
            let prio = task.policy.rt_priority().map_or(0, RtPriority::get);
            task.cpus = cpus;
            task.nth_cpu = Some(t).filter(|_| !options.unbound);
            let pid = match options.stagger {
                Some(stagger) => spawn_at(setup, stagger * u64::from(t), &task),
                None => setup.spawn_thread(t, task.spec()).1,
            };
            threads.push(Thread { pid, prio, interval, latency });
        }
        Ok(BuiltLoad::new(remaining, Threads { threads, series }))
    }
}

#[derive(Debug)]
struct Thread {
    pid: Pid,
    prio: u8,
    interval: Nanos,
    latency: LatencyRecorder,
}

#[derive(Debug)]
struct Threads {
    threads: Vec<Thread>,
    series: MaxSeries,
}

impl Results for Threads {
    fn result(&self, load: String) -> LoadResult {
        let first = self.threads.first();
        LoadResult::Cyclictest(CyclictestResult {
            load,
            histogram_us: first.and_then(|t| Some(t.latency.stats().histogram()?.counts.len() as u64)),
            threads: numbered(&self.threads, Thread::result),
            max_over_time: MaxOverTime {
                interval_ns: self.series.interval().0,
                max_ns: self.series.maxima().into_iter().map(|max| max.0).collect(),
            },
        })
    }
}

impl Thread {
    /// Whole microseconds are cut, as the real tool does.
    fn result(t: u32, thread: &Thread) -> CyclictestThread {
        let stats = thread.latency.stats();
        let latency = stats.all();
        let us = |ns: u64| ns / 1_000;
        let histogram = stats.histogram();
        let counts = histogram.map_or(&[][..], |h| &h.counts);
        CyclictestThread {
            t,
            pid: pid(thread.pid),
            prio: u32::from(thread.prio),
            interval_us: us(thread.interval.0),
            cycles: latency.count(),
            min_us: us(latency.min_ns()),
            act_us: us(stats.last().0),
            avg_us: us(latency.mean_ns()),
            max_us: us(latency.max_ns()),
            latency_ns: Some(latency.summary()),
            histogram: UsHistogram {
                counts: (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect(),
            },
            overflows: histogram.map_or(0, |h| h.overflows),
            overflow_cycles: histogram.map_or(Vec::new(), |h| h.overflow_cycles.clone()),
        }
    }
}
