//! fork_storm: jobs forked as fast as possible, and how much CPU they leave to a hog (fair-class 13.6).
//!
//! The forker computes a little, forks a job and goes on without waiting while fewer than `-j` jobs live;
//! then it waits for one of them. With `--depth` a job is a chain of processes, each of which forks the next
//! and waits for it; the last one works (fair-class 5.7: a penalised child forks). With `--threads` they are
//! threads, which are created and joined, with `--exec` processes that execute a program first, for which
//! the forker waits in vfork (machine.md 4.2).

use super::command::{options, parser};
use super::error::LoadError;
use super::progress::{Remaining, Stopwatch, Tally};
use super::spawn::{program, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::program::{Block, Child, Observer, Template, Times};
use crate::units::{micros, micros_above_zero, seconds_above_zero};
use machine::{Env, ForkKind, Setup};
use scheduler::Nanos;
use schema::{ForkStormResult, LoadResult};
use std::cell::Cell;
use std::rc::Rc;

const NAME: &str = "fork_storm";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "A process that forks short jobs without waiting until N of them live, beside a hog.",
    ends: "Endless; with -s after that time, with -n when that many jobs are done.",
    source: "fair-class 13.6 and 5.7",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Jobs that live at one time (20).
    #[arg(
        short = 'j',
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    jobs: u32,
    /// Jobs altogether (endless).
    #[arg(short = 'n', long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Stop forking after this time, seconds without a unit (endless).
    #[arg(
        short = 's',
        long,
        value_name = "TIME",
        value_parser = seconds_above_zero,
        conflicts_with = "count",
    )]
    duration: Option<Nanos>,
    /// CPU time of a job, microseconds without a unit (3ms).
    #[arg(short = 'b', long, value_name = "TIME", default_value = "3ms", value_parser = micros_above_zero)]
    burst: Nanos,
    /// CPU time of the forker before each fork, likewise (1ms).
    #[arg(short = 'g', long, value_name = "TIME", default_value = "1ms", value_parser = micros)]
    gap: Nanos,
    /// Processes of a job, each forked by the one before (1).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=64),
    )]
    depth: u32,
    /// Jobs are threads, which are created and joined.
    #[arg(long)]
    threads: bool,
    /// Jobs execute a program, after a vfork.
    #[arg(long, conflicts_with = "threads")]
    exec: bool,
    /// Endless loops beside the storm (1).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(0..=10_000),
    )]
    hogs: u32,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(ForkStorm { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct ForkStorm {
    options: Options,
}

/// How often a hog says how much CPU time it has had.
const HOG_CYCLE: Nanos = Nanos::from_millis(1);

/// CPU time of a hog at its latest report.
#[derive(Clone, Debug, Default)]
struct CpuTime(Rc<Cell<Nanos>>);

impl Observer for CpuTime {
    fn observe(&self, env: &Env<'_>, _: &[Nanos]) {
        self.0.set(env.counters.sum_exec_runtime);
    }
}

impl ForkStorm {
    fn kind(&self) -> ForkKind {
        match (self.options.threads, self.options.exec) {
            (true, _) => ForkKind::Thread,
            (_, true) => ForkKind::Vfork,
            _ => ForkKind::Fork,
        }
    }

    /// The first process of a job.
    fn job(&self, forks: &Tally, finished: &Tally) -> Result<Template, LoadError> {
        let start = if self.options.exec { Block::new().exec("job") } else { Block::new() };
        let work = start.run(self.options.burst).observe(finished.clone());
        let mut job = Template::new("job", program(NAME, work)?);
        for _ in 1..self.options.depth {
            let parent = Block::new().observe(forks.clone()).fork(job, self.kind()).wait_child();
            job = Template::new("job", program(NAME, parent)?);
        }
        Ok(job)
    }

    fn forker(&self, job: Template, forks: &Tally) -> Block {
        let start = Block::new()
            .run(self.options.gap.max(Nanos(1)))
            .observe(forks.clone())
            .fork(Child::from(job), self.kind());
        let jobs = u64::from(self.options.jobs);
        let first = jobs.min(self.options.count.unwrap_or(jobs));
        let more = match (self.options.count, self.options.duration) {
            (Some(count), _) => Times::Count(count - first),
            (None, Some(time)) => Times::Until(time),
            (None, None) => Times::Forever,
        };
        let wait = Block::new().wait_child();
        Block::new()
            .repeat(Times::Count(first), start.clone())
            .repeat(more, wait.clone().then(start).iteration())
            .repeat(Times::Count(first), wait)
    }
}

impl Load for ForkStorm {
    fn length(&self) -> Length {
        match (self.options.count, self.options.duration) {
            (Some(_), _) => Length::Work,
            (None, Some(time)) => Length::Time(time),
            (None, None) => Length::Endless,
        }
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let (forks, finished, clock) = (Tally::default(), Tally::default(), Stopwatch::default());
        let remaining = Remaining::new(1);
        let storm = Block::new()
            .observe(clock.clone())
            .then(self.forker(self.job(&forks, &finished)?, &forks))
            .observe(clock.clone())
            .observe(remaining.clone());
        spawn(setup, &Template::new(NAME, program(NAME, storm)?));
        let mut hogs = Vec::new();
        for _ in 0..self.options.hogs {
            let time = CpuTime::default();
            let cycle = Block::new().run(HOG_CYCLE).observe(time.clone()).observe(clock.clone());
            spawn(setup, &Template::new("hog", program(NAME, Block::new().forever(cycle))?));
            hogs.push(time);
        }
        let result = Progress { jobs: self.options.jobs, forks, finished, hogs, clock };
        Ok(BuiltLoad::new(remaining, result))
    }
}

#[derive(Debug)]
struct Progress {
    jobs: u32,
    forks: Tally,
    finished: Tally,
    hogs: Vec<CpuTime>,
    clock: Stopwatch,
}

impl Results for Progress {
    fn result(&self, load: String) -> LoadResult {
        LoadResult::ForkStorm(ForkStormResult {
            load,
            jobs: self.jobs,
            forks: self.forks.get(),
            finished: self.finished.get(),
            hogs: self.hogs.len() as u32,
            hog_cpu_ns: self.hogs.iter().map(|hog| hog.0.get().0).sum(),
            elapsed_ns: self.clock.elapsed().unwrap_or(Nanos::ZERO).0,
        })
    }
}
