//! `make -jN`: a build as the scheduler sees it (fair-class 13.1), with the times of fair-class 13.4.
//!
//! make vforks and execs a shell for each object and keeps N of them alive. The shell forks gcc and, after it, three
//! helpers (fixdep, mv, rm), waiting for each. gcc vforks cc1, the hog, then as. So seven processes an object.

use super::command::options;
use super::error::LoadError;
use super::progress::{Remaining, Stopwatch, Tally};
use super::result::{LoadResult, MakeResult};
use super::spawn::{program, spawn};
use super::{BuiltLoad, Length, Load, Results};
use crate::dist::Dist;
use crate::program::{Block, Child, Template, Times};
use crate::units::{bytes, micros, micros_above_zero};
use machine::{ForkKind, Setup};
use scheduler::Nanos;

pub(super) const NAME: &str = "make";

/// As typed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// Jobs at one time.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    jobs: u32,
    /// Objects to build (endless).
    #[arg(value_name = "OBJECTS", value_parser = objects)]
    objects: Option<u64>,
    /// Model: mean CPU time of a cc1, microseconds without a unit; 3/10 of it fixed, the rest exponential.
    #[arg(long, value_name = "TIME", default_value = "300ms", value_parser = micros_above_zero)]
    cc1: Nanos,
    /// Model: mean wait of cc1 for a file, after each 40 ms of CPU time on average, likewise.
    #[arg(long, value_name = "TIME", default_value = "80ms", value_parser = micros)]
    cc1_wait: Nanos,
    /// Model: working set of cc1 in bytes, K or M (assumed; the other processes have an eighth of it).
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = bytes)]
    working_set: u64,
}

fn objects(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("give the number of objects to build; targets have no meaning here".to_string()),
    }
}

pub(super) fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(Make { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct Make {
    options: Options,
}

/// An offset and the mean of what comes on top, microseconds (fair-class 13.4).
const fn exp(offset_us: u64, mean_us: u64) -> Dist {
    Dist::exponential(Nanos::from_micros(offset_us), Nanos::from_micros(mean_us))
}

const SH: Dist = exp(300, 1_500);
const GCC: Dist = exp(400, 1_500);
const CC1_BURST: Dist = exp(0, 40_000);
const AS: Dist = exp(0, 15_000);
const HELPER: Dist = exp(400, 1_000);
const HELPERS: [&str; 3] = ["fixdep", "mv", "rm"];
/// make's own work for a job, 0.2 to 2 ms (fair-class 13.1).
const PARSE: Dist = Dist::up_to_longer(Nanos::from_micros(200), Nanos::from_micros(1_800));

impl Make {
    fn leaf(&self, comm: &str, work: Block, working_set_bytes: u64) -> Result<Template, LoadError> {
        let block = Block::new().exec(comm).then(work);
        Ok(Template { working_set_bytes, ..Template::new(comm, program(NAME, block)?) })
    }

    /// A process other than cc1.
    fn small(&self, comm: &str, work: Block) -> Result<Template, LoadError> {
        self.leaf(comm, work, self.options.working_set / 8)
    }

    fn gcc(&self) -> Result<Template, LoadError> {
        let (fixed, rest) = (Nanos(self.options.cc1.0 / 10 * 3), Nanos(self.options.cc1.0 / 10 * 7));
        // Each wait is 0.1 ms and what the file takes.
        let wait = Dist::exponential(Nanos::from_micros(100), self.options.cc1_wait);
        let compile = Block::new().bursts(Dist::exponential(fixed, rest), CC1_BURST, wait);
        let cc1 = self.leaf("cc1", compile, self.options.working_set)?;
        let assembler = self.small("as", Block::new().run(AS))?;
        let run =
            |block: Block, child: Template| block.fork(Child::from(child), ForkKind::Vfork).wait_child();
        self.small("gcc", run(run(Block::new().run(GCC), cc1), assembler))
    }

    fn shell(&self, built: &Tally) -> Result<Template, LoadError> {
        let mut block = Block::new().run(SH).fork(Child::from(self.gcc()?), ForkKind::Fork).wait_child();
        for name in HELPERS {
            let helper = self.small(name, Block::new().run(HELPER))?;
            block = block.fork(Child::from(helper), ForkKind::Fork).wait_child();
        }
        self.small("sh", block.observe(built.clone()))
    }

    fn make(&self, shell: Template) -> Block {
        let shell = Child::from(shell);
        let start = Block::new().run(PARSE).fork(shell, ForkKind::Vfork);
        let wait = Block::new().wait_child();
        let jobs = u64::from(self.options.jobs);
        let first = jobs.min(self.options.objects.unwrap_or(jobs));
        let more = match self.options.objects {
            Some(objects) => Times::Count(objects - first),
            None => Times::Forever,
        };
        Block::new()
            .repeat(Times::Count(first), start.clone())
            .repeat(more, wait.clone().then(start).iteration())
            .repeat(Times::Count(first), wait)
    }
}

impl Load for Make {
    fn length(&self) -> Length {
        if self.options.objects.is_some() { Length::Work } else { Length::Endless }
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let (built, clock, remaining) = (Tally::default(), Stopwatch::default(), Remaining::new(1));
        let block = Block::new()
            .observe(clock.clone())
            .then(self.make(self.shell(&built)?))
            .observe(clock.clone())
            .observe(remaining.clone());
        let working_set_bytes = self.options.working_set / 8;
        spawn(setup, &Template { working_set_bytes, ..Template::new(NAME, program(NAME, block)?) });
        let result = Progress { jobs: self.options.jobs, built, clock, remaining: remaining.clone() };
        Ok(BuiltLoad::new(remaining, result))
    }
}

#[derive(Debug)]
struct Progress {
    jobs: u32,
    built: Tally,
    clock: Stopwatch,
    remaining: Remaining,
}

impl Results for Progress {
    fn result(&self) -> LoadResult {
        LoadResult::Make(MakeResult {
            jobs: self.jobs,
            objects: self.built.get(),
            time: if self.remaining.is_zero() { self.clock.elapsed() } else { None },
        })
    }
}
