//! periodic: tasks that are released again and again, use some CPU time, and should be done by the next
//! release.
//!
//! `--bench` is the load that scheduler simulators are commonly measured with: on N CPUs 2N tasks, the
//! periods spread geometrically from 100 µs to 10 ms, each task using 0.35 of its period, SCHED_FIFO
//! rate-monotonic from 95 down.
//!
//! `--random` makes the releases a Poisson process, as those of devices and of network traffic are often
//! modelled.

use super::clamps::ClampOptions;
use super::command::{options, parser, usage};
use super::deadline::{Budget, DeadlineOptions};
use super::error::LoadError;
use super::progress::Remaining;
use super::shown::{numbered, pid};
use super::spawn::{PolicyName, affinity, program, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::dist::Dist;
use crate::latency::LatencyRecorder;
use crate::program::{Action, Block, Overrun, Template, TimeVar, Times};
use crate::units::{cpu_list, micros_above_zero, seconds_above_zero, share_ppm, slice};
use machine::{LoneStep, Setup};
use scheduler::{CpuMask, DlParams, Nanos, Pid};
use schema::{LoadResult, ThreadResult, ThreadsResult};

const NAME: &str = "periodic";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Periodic tasks that use a share of a CPU; counts response times and missed deadlines.",
    ends: "Endless; with -D after that time.",
    source: "--bench: the common benchmark load of scheduler simulators",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Number of tasks (one for each period).
    #[arg(short = 'n', long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: Option<u32>,
    /// Periods of the tasks, taken in turn, microseconds without a unit, as in 1ms,2ms,10ms (10ms).
    #[arg(
        short = 'p',
        long,
        visible_alias = "periods",
        value_name = "LIST",
        value_delimiter = ',',
        num_args = 1,
        default_value = "10ms",
        value_parser = micros_above_zero,
    )]
    period: Vec<Nanos>,
    /// Share of its period that each task runs, as 0.35 or 35% (0.35).
    #[arg(short = 'u', long, value_name = "SHARE", default_value = "0.35", value_parser = share_ppm)]
    utilisation: u64,
    /// Run time of each task in place of a share, microseconds without a unit.
    #[arg(
        short = 'r',
        long,
        value_name = "TIME",
        value_parser = micros_above_zero,
        conflicts_with = "utilisation",
    )]
    run: Option<Nanos>,
    /// Sleep this long after each job, in place of until the next period; microseconds without a unit.
    /// Responses are from the end of that sleep on, and there are no deadlines.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = micros_above_zero,
        conflicts_with_all = ["random", "bench"],
    )]
    sleep: Option<Nanos>,
    /// What becomes of periods that are over before a job is done.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        default_value_t = Missed::CatchUp,
        conflicts_with_all = ["sleep", "random", "bench"],
    )]
    missed: Missed,
    /// Each task reads its CPU clock all the time, and a job ends by that: interrupts count, and the kernel
    /// charges each reading (as groups_lab of the recorded runs does).
    #[arg(long)]
    cpu_clock: bool,
    /// Random releases: the time from one to the next is exponential, the period is its mean. There are no
    /// deadlines.
    #[arg(short = 'x', long)]
    random: bool,
    /// SCHED_FIFO priority (none: SCHED_OTHER).
    #[arg(
        short = 'P',
        long,
        visible_alias = "prio",
        value_name = "PRIO",
        value_parser = clap::value_parser!(u8).range(1..=99),
    )]
    priority: Option<u8>,
    /// Rate-monotonic: the shortest period has that priority, each longer one the next lower, not below 1.
    #[arg(short = 'R', long, requires = "priority")]
    rate_monotonic: bool,
    #[command(flatten)]
    deadline: DeadlineOptions<DlBudget>,
    /// Slice that each task asks for under EEVDF, by sched_setattr, 100us to 100ms (that of all).
    #[arg(long, value_name = "TIME", value_parser = slice, conflicts_with = "priority")]
    slice: Option<Nanos>,
    #[command(flatten)]
    clamps: ClampOptions,
    /// CPUs that the tasks may use (all).
    #[arg(short = 'a', long, visible_alias = "cpus", value_name = "CPUSET", value_parser = cpu_list)]
    affinity: Option<CpuMask>,
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
    /// The common benchmark load: 2 tasks for each CPU, periods 100us to 10ms, 0.35 of each, rate-monotonic
    /// from 95.
    #[arg(
        long,
        conflicts_with_all = [
            "count", "period", "utilisation", "run", "random", "priority", "deadline", "affinity",
        ],
    )]
    bench: bool,
}

/// What becomes of periods that are over before a job is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Missed {
    /// Each is made up for: its job follows at once.
    CatchUp,
    /// They are left out, and the next ones come when they would have come (as in cyclictest).
    Skip,
    /// They are left out, and periods count from then on (as a timer of rt-app).
    Restart,
}

impl Missed {
    fn overrun(self) -> Overrun {
        match self {
            Missed::CatchUp => Overrun::CatchUp,
            Missed::Skip => Overrun::Skip,
            Missed::Restart => Overrun::Restart,
        }
    }
}

/// Run time and deadline of a deadline task whose period is known; no deadline: that of the period.
#[derive(Clone, Copy, Debug)]
struct DlBudget {
    runtime: Nanos,
    deadline: Option<Nanos>,
}

impl DlBudget {
    fn params(self, period: Nanos) -> Result<DlParams, LoadError> {
        let params = DlParams::new(self.runtime, self.deadline.unwrap_or(period), period);
        params.map_err(|why| usage(NAME, why.to_string()))
    }
}

impl Budget for DlBudget {
    const FORM: &'static str = "R/D";
    const TAKES: &'static str = "run time and deadline in each period, as chrt -d: 4ms/8ms, or 4ms";
    const MORE: &'static str = ". A job that is done after its deadline counts as missed";
    const EXCLUDES: &'static [&'static str] = &["priority", "random", "slice", "util_min", "util_max"];

    fn parse(text: &str) -> Result<DlBudget, String> {
        let (runtime, deadline) = match text.split_once('/') {
            Some((runtime, deadline)) => (runtime, Some(micros_above_zero(deadline)?)),
            None => (text, None),
        };
        Ok(DlBudget { runtime: micros_above_zero(runtime)?, deadline })
    }
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let options: Options = options(NAME, words)?;
    options.deadline.check(NAME)?;
    options.clamps.check(NAME)?;
    if let Some(run) = options.run
        && let Some(period) = options.period.iter().find(|period| **period < run)
    {
        return Err(usage(NAME, format!("a run time of {run} s does not fit into a period of {period} s")));
    }
    if let Some(budget) = options.deadline.budget() {
        options.period.iter().try_for_each(|period| budget.params(*period).map(|_| ()))?;
    }
    Ok(Box::new(Periodic { options }))
}

#[derive(Debug)]
struct Periodic {
    options: Options,
}

/// One task of the load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Task {
    period: Nanos,
    run: Nanos,
    /// 0: a normal task.
    priority: u8,
}

const BENCH_PRIORITY: u8 = 95;
const BENCH_SHARE_PPM: u64 = 350_000;

fn share(period: Nanos, ppm: u64) -> Nanos {
    Nanos((u128::from(period.0) * u128::from(ppm) / 1_000_000) as u64)
}

impl Periodic {
    fn tasks(&self, cpus: usize) -> Vec<Task> {
        if self.options.bench {
            return bench(2 * cpus as u32);
        }
        let periods = &self.options.period;
        let count = self.options.count.map_or(periods.len(), |n| n as usize);
        let task = |period: &Nanos| Task {
            period: *period,
            run: self.options.run.unwrap_or(share(*period, self.options.utilisation)),
            priority: self.options.priority.unwrap_or(0),
        };
        let mut tasks: Vec<Task> = periods.iter().cycle().take(count).map(task).collect();
        if let (Some(top), true) = (self.options.priority, self.options.rate_monotonic) {
            rate_monotonic(&mut tasks, top);
        }
        tasks
    }
}

fn bench(count: u32) -> Vec<Task> {
    let periods = geometric(Nanos::from_micros(100), 100, count);
    let task = |period| Task { period, run: share(period, BENCH_SHARE_PPM), priority: 0 };
    let mut tasks: Vec<Task> = periods.into_iter().map(task).collect();
    rate_monotonic(&mut tasks, BENCH_PRIORITY);
    tasks
}

/// The shortest period gets `top`, each longer one the next priority below, down to 1; equal periods in their
/// order.
fn rate_monotonic(tasks: &mut [Task], top: u8) {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|index| tasks[*index].period);
    for (rank, index) in order.into_iter().enumerate() {
        tasks[index].priority = u8::try_from(rank).map_or(1, |rank| top.saturating_sub(rank).max(1));
    }
}

/// `count` periods from `first` to `first · ratio`, each the same factor above the one before, to the
/// nanosecond.
///
/// In integers, because the periods decide what runs: ratio^(i/m) is the product of the 2^k-th roots of the
/// ratio that belong to the binary digits of i/m.
fn geometric(first: Nanos, ratio: u64, count: u32) -> Vec<Nanos> {
    /// Fraction bits; the ratio takes the rest of 64.
    const BITS: u32 = 56;
    /// Digits of i/m: the last root differs from 1 in the last bits only.
    const DIGITS: usize = 48;
    let mut root = ratio << BITS;
    let roots: [u64; DIGITS] = std::array::from_fn(|_| {
        root = (u128::from(root) << BITS).isqrt() as u64;
        root
    });
    let steps = u128::from(count.max(2) - 1);
    let period = |i: u32| {
        let digits = (u128::from(i) << DIGITS) / steps;
        let factor = match digits >> DIGITS {
            0 => roots.iter().enumerate().fold(1u128 << BITS, |product, (k, root)| {
                match digits >> (DIGITS - 1 - k) & 1 {
                    1 => (product * u128::from(*root)) >> BITS,
                    _ => product,
                }
            }),
            _ => u128::from(ratio) << BITS,
        };
        let half = 1u128 << (BITS - 1);
        Nanos(((u128::from(first.0) * factor + half) >> BITS) as u64)
    };
    (0..count).map(period).collect()
}

impl Load for Periodic {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let cpus = self.options.affinity.map(|mask| affinity(NAME, &mask, setup)).transpose()?;
        let tasks = self.tasks(setup.cpus());
        let remaining = Remaining::new(tasks.len() as u32);
        let mut threads = Vec::with_capacity(tasks.len());
        for (number, task) in tasks.iter().enumerate() {
            let name = name(number);
            let response = self.response(task);
            let clamps = self.options.clamps.request();
            let block = Block::new().slice(self.options.slice).clamps(clamps);
            let block = block.then(self.cycles(task, &response)).observe(remaining.clone());
            let mut template = Template::new(&name, program(NAME, block)?);
            template.cpus = cpus;
            if task.priority > 0 {
                let priority = i64::from(task.priority);
                template.policy = PolicyName::Fifo.policy(NAME, &name, priority)?;
            }
            if let Some(budget) = self.options.deadline.budget() {
                template.policy = self.options.deadline.policy(budget.params(task.period)?);
            }
            threads.push(Thread { pid: spawn(setup, &template), response });
        }
        Ok(BuiltLoad::new(remaining, Threads(threads)))
    }
}

impl Periodic {
    /// Response times, counted apart where they are over the deadline, if there is one.
    fn response(&self, task: &Task) -> LatencyRecorder {
        let deadline = self.options.deadline.budget().and_then(|budget| budget.deadline);
        let each_period = !self.options.random && self.options.sleep.is_none();
        let limit = deadline.or(each_period.then_some(task.period));
        limit.map_or_else(LatencyRecorder::new, LatencyRecorder::with_limit)
    }

    /// A job follows each release.
    fn cycles(&self, task: &Task, response: &LatencyRecorder) -> Block {
        let release = TimeVar(0);
        let job = match self.options.cpu_clock {
            true => Block::new().step(LoneStep::ComputeByClock(task.run)),
            false => Block::new().run(task.run),
        };
        let job = job.probe(release, response).iteration();
        let cycle = match self.options.sleep {
            Some(sleep) => job.mark(release).advance(release, sleep, Overrun::CatchUp).sleep_until(release),
            None if self.options.random => random_release(release, task.period).then(job),
            None => job.advance(release, task.period, self.options.missed.overrun()).sleep_until(release),
        };
        let times = self.options.duration.map_or(Times::Forever, Times::For);
        Block::new().act(Action::SetTime { var: release, to: Nanos::ZERO }).repeat(times, cycle)
    }
}

/// The next release of a Poisson process; one that comes before the work of the last is done waits for it.
fn random_release(release: TimeVar, mean: Nanos) -> Block {
    let gap = Dist::exponential(Nanos::ZERO, mean);
    Block::new().advance(release, gap, Overrun::CatchUp).sleep_until(release)
}

/// The name of a task, by its number.
fn name(number: usize) -> String {
    format!("periodic{number}")
}

#[derive(Debug)]
struct Thread {
    pid: Pid,
    response: LatencyRecorder,
}

#[derive(Debug)]
struct Threads(Vec<Thread>);

impl Results for Threads {
    fn result(&self, load: String) -> LoadResult {
        let thread = |t, thread: &Thread| {
            let response = thread.response.stats();
            ThreadResult {
                t,
                pid: pid(thread.pid),
                name: name(t as usize),
                cycles: response.all().count(),
                deadline_misses: response.over_limit(),
                longest_lateness_ns: response.most_over_limit().map(|most| most.0),
                response_ns: Some(response.all().summary()),
            }
        };
        LoadResult::Periodic(ThreadsResult { load, threads: numbered(&self.0, thread) })
    }
}
