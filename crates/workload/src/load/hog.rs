//! hog: tasks that never give the CPU away.

use super::clamps::ClampOptions;
use super::command::{options, parser, usage};
use super::deadline::{Budget, DeadlineOptions};
use super::error::LoadError;
use super::progress::{Remaining, Tally};
use super::shown::{numbered, pid};
use super::spawn::{PolicyName, affinity, program, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::program::{Block, Template, Times};
use crate::units::{bytes, cpu_list, deadline, micros_above_zero, seconds_above_zero, slice};
use machine::Setup;
use scheduler::{CpuMask, DlParams, Nanos, Nice, Pid};
use schema::{LoadResult, ThreadResult, ThreadsResult};

const NAME: &str = "hog";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Tasks that compute without a pause.",
    ends: "Endless; with -D after that time.",
    source: "the usual endless loop",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Number of tasks (1).
    #[arg(
        short = 'n',
        long,
        value_name = "NUM",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
    )]
    count: u32,
    /// Nice value, -20 to 19 (0).
    #[arg(long, value_name = "NICE", default_value = "0", value_parser = nice)]
    nice: Nice,
    /// Slice that each task asks for under EEVDF, by sched_setattr, 100us to 100ms (that of all).
    #[arg(long, value_name = "TIME", value_parser = slice)]
    slice: Option<Nanos>,
    #[command(flatten)]
    clamps: ClampOptions,
    /// Scheduling policy (fifo with a priority, else other).
    #[arg(short = 'y', long, value_name = "NAME")]
    policy: Option<PolicyName>,
    /// Real-time priority, for policies fifo and rr.
    #[arg(short = 'p', long, value_name = "PRIO", value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: Option<u8>,
    #[command(flatten)]
    deadline: DeadlineOptions<DlParams>,
    /// CPUs that the tasks may use (all).
    #[arg(short = 'a', long, visible_alias = "cpus", value_name = "CPUSET", value_parser = cpu_list)]
    affinity: Option<CpuMask>,
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
    /// CPU time of what counts as one cycle, microseconds without a unit (10ms).
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = micros_above_zero)]
    cycle: Nanos,
    /// Working set in bytes, K or M (0).
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = bytes)]
    working_set: u64,
    /// What each reads from memory while it executes at full speed, MB a second, at most 1000000 (0). Tasks
    /// that read slow each other down on a machine that says what memory gives.
    #[arg(
        long,
        value_name = "MB",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=1_000_000),
    )]
    reads: u32,
}

impl Budget for DlParams {
    const FORM: &'static str = "R/D/P";
    const TAKES: &'static str = "run time, deadline and period, as chrt -d: 10ms/30ms/100ms, or 10ms/100ms";
    const MORE: &'static str = "";
    const EXCLUDES: &'static [&'static str] = &["policy", "priority", "slice", "util_min", "util_max"];

    fn parse(text: &str) -> Result<DlParams, String> {
        deadline(text)
    }
}

pub(super) fn nice(text: &str) -> Result<Nice, String> {
    text.parse().ok().and_then(Nice::new).ok_or_else(|| "nice values are -20 to 19".to_string())
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let options: Options = options(NAME, words)?;
    options.deadline.check(NAME)?;
    options.clamps.check(NAME)?;
    match (options.policy, options.priority) {
        (Some(policy), None) if policy.is_rt() => {
            Err(usage(NAME, "policies fifo and rr need a priority: add -p 1 to 99"))
        }
        (Some(policy), Some(_)) if !policy.is_rt() => {
            Err(usage(NAME, "a priority needs policy fifo or rr; fair tasks have --nice"))
        }
        _ if options.slice.is_some() && options.is_real_time() => {
            Err(usage(NAME, "a slice is of fair tasks: leave --slice out, or the policy and the priority"))
        }
        _ => Ok(Box::new(Hog { options })),
    }
}

impl Options {
    fn is_real_time(&self) -> bool {
        self.priority.is_some() || self.policy.is_some_and(PolicyName::is_rt)
    }
}

#[derive(Debug)]
struct Hog {
    options: Options,
}

impl Load for Hog {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let options = &self.options;
        let cpus = options.affinity.map(|mask| affinity(NAME, &mask, setup)).transpose()?;
        let with_priority = if options.priority.is_some() { PolicyName::Fifo } else { PolicyName::Other };
        let priority = i64::from(options.priority.unwrap_or(0));
        let policy = options.policy.unwrap_or(with_priority).policy(NAME, "each task", priority)?;
        let deadline = &options.deadline;
        let policy = deadline.budget().map_or(policy, |params| deadline.policy(*params));
        let remaining = Remaining::new(options.count);
        let mut hogs = Vec::new();
        for _ in 0..options.count {
            let cycles = Tally::default();
            let cycle = Block::new().run(options.cycle).iteration().observe(cycles.clone());
            let times = options.duration.map_or(Times::Forever, Times::For);
            let block = Block::new().slice(options.slice).clamps(options.clamps.request());
            let block = block.repeat(times, cycle).observe(remaining.clone());
            let task = Template {
                policy,
                nice: options.nice,
                cpus,
                working_set_bytes: options.working_set,
                // A MB a second is a byte a microsecond.
                reads_bytes_per_us: options.reads,
                ..Template::new(NAME, program(NAME, block)?)
            };
            hogs.push(Task { pid: spawn(setup, &task), cycles });
        }
        Ok(BuiltLoad::new(remaining, Hogs(hogs)))
    }
}

#[derive(Debug)]
struct Task {
    pid: Pid,
    cycles: Tally,
}

#[derive(Debug)]
struct Hogs(Vec<Task>);

impl Results for Hogs {
    fn result(&self, load: String) -> LoadResult {
        let thread = |t, task: &Task| ThreadResult {
            t,
            pid: pid(task.pid),
            name: NAME.to_string(),
            cycles: task.cycles.get(),
            deadline_misses: None,
            longest_lateness_ns: None,
            response_ns: None,
        };
        LoadResult::Hog(ThreadsResult { load, threads: numbered(&self.0, thread) })
    }
}
