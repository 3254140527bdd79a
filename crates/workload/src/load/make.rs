//! `make -jN`: a build as the scheduler sees it (fair-class 13.1).
//!
//! make vforks and execs a shell for each object and keeps N of them alive. The shell forks gcc and, after
//! it, three helpers (fixdep, mv, rm), waiting for each. gcc vforks cc1, the hog, then as. So seven processes
//! an object. In the recorded build make starts gcc itself: three processes an object, and no waits for
//! files.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::make_times::{self, BuildTimes, ShellTimes, TimesName};
use super::progress::{Remaining, Stopwatch, Tally};
use super::shown::seconds;
use super::spawn::{program, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::dist::Dist;
use crate::program::{Block, Child, Template, Times};
use crate::units::{bytes, micros, micros_above_zero};
use machine::{ForkKind, Setup};
use scheduler::Nanos;
use schema::{LoadResult, MakeResult};

const NAME: &str = "make";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "A build: make keeps N jobs alive, each a shell that runs gcc, cc1, as and small helpers.",
    ends: "Endless; with a number of OBJECTS when they are built.",
    source: "fair-class 13.1 and 13.4; with --times recorded a build recorded on the native-6.18 machine",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Jobs at one time.
    #[arg(
        short = 'j',
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
    )]
    jobs: u32,
    /// Objects to build (endless).
    #[arg(value_name = "OBJECTS", value_parser = objects)]
    objects: Option<u64>,
    /// Model: which build: of a kernel on a machine of 2010, or a recorded one of small C files.
    #[arg(long, value_name = "BUILD", default_value = "kernel")]
    times: TimesName,
    /// Model: mean CPU time of a cc1, microseconds without a unit (kernel: 300ms; recorded: 131ms).
    #[arg(long, value_name = "TIME", value_parser = micros_above_zero)]
    cc1: Option<Nanos>,
    /// Model: mean wait of cc1 for a file, after each 40 ms of CPU time on average, likewise (kernel: 80ms;
    /// recorded: none).
    #[arg(long, value_name = "TIME", value_parser = micros)]
    cc1_wait: Option<Nanos>,
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

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(Make { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct Make {
    options: Options,
}

/// How this build makes an object.
struct Recipe<'a> {
    options: &'a Options,
    times: BuildTimes,
    /// Mean wait for a file; `None`: there is none.
    cc1_wait: Option<Nanos>,
}

/// Mean CPU time and wait of a cc1 (fair-class 13.4).
const KERNEL_CC1: Nanos = Nanos::from_millis(300);
const KERNEL_CC1_WAIT: Nanos = Nanos::from_millis(80);
/// CPU time of cc1 between two waits (fair-class 13.4).
const CC1_BURST: Dist = Dist::exponential(Nanos::ZERO, Nanos::from_millis(40));
/// Shortest wait for a file (fair-class 13.4).
const CC1_WAIT_MIN: Nanos = Nanos::from_micros(100);
const HELPERS: [&str; 3] = ["fixdep", "mv", "rm"];

impl Recipe<'_> {
    fn new(options: &Options) -> Result<Recipe<'_>, LoadError> {
        let (times, own_wait) = match options.times {
            TimesName::Kernel => {
                (make_times::kernel(options.cc1.unwrap_or(KERNEL_CC1)), Some(KERNEL_CC1_WAIT))
            }
            TimesName::Recorded => {
                let times = make_times::recorded(options.cc1);
                (times.map_err(|error| usage(NAME, error.to_string()))?, None)
            }
        };
        Ok(Recipe { options, times, cc1_wait: options.cc1_wait.or(own_wait) })
    }

    fn leaf(&self, comm: &str, work: Block, working_set_bytes: u64) -> Result<Template, LoadError> {
        let block = Block::new().exec(comm).then(work);
        Ok(Template { working_set_bytes, ..Template::new(comm, program(NAME, block)?) })
    }

    /// A process other than cc1.
    fn small(&self, comm: &str, work: Block) -> Result<Template, LoadError> {
        self.leaf(comm, work, self.options.working_set / 8)
    }

    fn compile(&self) -> Block {
        let total = self.times.cc1.clone();
        match self.cc1_wait {
            Some(mean) => Block::new().bursts(total, CC1_BURST, Dist::exponential(CC1_WAIT_MIN, mean)),
            None => Block::new().run(total),
        }
    }

    fn gcc(&self) -> Result<Block, LoadError> {
        let cc1 = self.leaf("cc1", self.compile(), self.options.working_set)?;
        let assembler = self.small("as", Block::new().run(self.times.assembler.clone()))?;
        let run =
            |block: Block, child: Template| block.fork(Child::from(child), ForkKind::Vfork).wait_child();
        Ok(run(run(Block::new().run(self.times.gcc.clone()), cc1), assembler))
    }

    fn shell(&self, times: &ShellTimes, built: &Tally) -> Result<Template, LoadError> {
        let gcc = self.small("gcc", self.gcc()?)?;
        let mut block =
            Block::new().run(times.shell.clone()).fork(Child::from(gcc), ForkKind::Fork).wait_child();
        for name in HELPERS {
            let helper = self.small(name, Block::new().run(times.helper.clone()))?;
            block = block.fork(Child::from(helper), ForkKind::Fork).wait_child();
        }
        self.small("sh", block.observe(built.clone()))
    }

    /// What make starts for an object.
    fn job(&self, built: &Tally) -> Result<Template, LoadError> {
        match &self.times.shell {
            Some(times) => self.shell(times, built),
            None => self.small("gcc", self.gcc()?.observe(built.clone())),
        }
    }

    fn make(&self, job: Template) -> Block {
        let start = Block::new().run(self.times.make.clone()).fork(Child::from(job), ForkKind::Vfork);
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

    fn ends_with(&self) -> Option<&'static str> {
        self.options.objects.is_none().then_some("a number of OBJECTS to build, such as 100")
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let recipe = Recipe::new(&self.options)?;
        let (built, clock, remaining) = (Tally::default(), Stopwatch::default(), Remaining::new(1));
        let block = Block::new()
            .observe(clock.clone())
            .then(recipe.make(recipe.job(&built)?))
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
    fn result(&self, load: String) -> LoadResult {
        LoadResult::Make(MakeResult {
            load,
            jobs: self.jobs,
            objects: self.built.get(),
            seconds: seconds(self.clock.elapsed().filter(|_| self.remaining.is_zero())),
        })
    }
}
