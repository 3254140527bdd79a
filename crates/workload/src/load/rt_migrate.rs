//! rt-migrate: the program of seed 000 (rt-class 13.1), under which real-time tasks migrate all the time.
//!
//! Thread `id` has priority base + id. Until told to stop it passes over all locks: lock, spin for
//! (threads − id + extra) ms by the clock, unlock, sleep id ms. The lower the priority, the longer it holds a
//! lock. Main waits at the start barrier, sleeps for the run length at a priority above all, and raises the
//! stop flag, which each thread looks at between two passes.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::Remaining;
use super::shown::numbered;
use super::spawn::{program, rt_priority, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::dist::Dist;
use crate::flag::Flag;
use crate::program::{Action, Block, Observer, Template, Text, Times};
use crate::units::{micros, seconds_above_zero};
use machine::{BarrierId, Env, MutexKind, Setup};
use scheduler::{CpuMask, MutexId, Nanos, Policy};
use schema::{LoadResult, RtMigrateResult, RtMigrateThread};
use std::cell::Cell;
use std::rc::Rc;

const NAME: &str = "rt-migrate";
const LAB_NAME: &str = "rt_migrate_lab";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Real-time threads of different priority that take a row of mutexes in turn, spin and sleep.",
    ends: "After -s seconds (5) and the passes then under way, or after -i passes.",
    source: "seed 000 and the copy of its program (rt-class 13.1)",
    command: parser::<Options>,
    parse,
};

pub(super) const LAB_ENTRY: Entry = Entry {
    name: LAB_NAME,
    about: "The same as rt-migrate with the defaults of the program behind the recorded rtlab-* runs.",
    ends: "After -s seconds (10) and the passes then under way, or after -i passes.",
    source: "the program that recorded the rtlab-* data",
    command: parser::<Options>,
    parse: parse_lab,
};

/// As typed. Where the two programs differ, the option has no default here.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Use the first CPUS processors only (all).
    #[arg(short = 'c', long, value_name = "CPUS", value_parser = clap::value_parser!(u32).range(1..=512))]
    cpus: Option<u32>,
    /// Number of threads (2 x CPUS).
    #[arg(short = 'n', long, value_name = "THREADS", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Number of mutexes (CPUS).
    #[arg(short = 'l', long, value_name = "LOCKS", value_parser = clap::value_parser!(u32).range(1..=256))]
    locks: Option<u32>,
    /// Mutexes with priority inheritance (rt-migrate's default).
    #[arg(short = 'p', long, overrides_with = "no_pi")]
    pi: bool,
    /// Plain mutexes (rt_migrate_lab's default).
    #[arg(long, overrides_with = "pi")]
    no_pi: bool,
    /// Run length, seconds without a unit (5; rt_migrate_lab 10).
    #[arg(short = 's', long, value_name = "TIME", value_parser = seconds_above_zero)]
    seconds: Option<Nanos>,
    /// Stop each thread after so many passes instead.
    #[arg(
        short = 'i',
        long,
        value_name = "PASSES",
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with = "seconds",
    )]
    iterations: Option<u64>,
    /// Priority of thread 0 (2).
    #[arg(short = 'b', long, value_name = "PRIO", default_value_t = 2)]
    base_prio: u8,
    /// Spin for CPU time rather than by the clock.
    #[arg(short = 'u', long)]
    cpu_time: bool,
    /// Write each thread's progress into the trace (rt-migrate's default).
    #[arg(short = 'm', long, overrides_with = "no_markers")]
    markers: bool,
    /// Do not (rt_migrate_lab's default).
    #[arg(long, overrides_with = "markers")]
    no_markers: bool,
    /// Milliseconds that every thread spins longer than (threads - id) (1; rt_migrate_lab 0).
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=60_000))]
    extra_spin: Option<u64>,
    /// Model: each spin and sleep takes up to this much longer, uniformly; microseconds without a unit (0).
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = micros)]
    jitter: Nanos,
}

/// As meant; also what differs between the two programs.
#[derive(Debug)]
struct Settings {
    name: &'static str,
    kind: MutexKind,
    run: Nanos,
    markers: bool,
    extra_spin_ms: u64,
    /// `None`: threads + 2, as seed 000's program.
    main_prio: Option<u8>,
}

#[derive(Debug)]
struct RtMigrate {
    options: Options,
    settings: Settings,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let seed_000 = Settings {
        name: NAME,
        kind: MutexKind::Pi,
        run: Nanos::from_secs(5),
        markers: true,
        extra_spin_ms: 1,
        main_prio: None,
    };
    parse_with(seed_000, words)
}

fn parse_lab(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let lab = Settings {
        name: LAB_NAME,
        kind: MutexKind::Plain,
        run: Nanos::from_secs(10),
        markers: false,
        extra_spin_ms: 0,
        main_prio: Some(98),
    };
    parse_with(lab, words)
}

fn parse_with(mut settings: Settings, words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let options: Options = options(settings.name, words)?;
    if options.pi {
        settings.kind = MutexKind::Pi;
    }
    if options.no_pi {
        settings.kind = MutexKind::Plain;
    }
    settings.run = options.seconds.unwrap_or(settings.run);
    settings.markers = options.markers || settings.markers && !options.no_markers;
    settings.extra_spin_ms = options.extra_spin.unwrap_or(settings.extra_spin_ms);
    Ok(Box::new(RtMigrate { options, settings }))
}

/// What the threads of one build share.
struct Shared {
    threads: u32,
    locks: Vec<MutexId>,
    start: BarrierId,
    stop: Flag,
    remaining: Remaining,
}

impl RtMigrate {
    fn thread_block(&self, id: u32, shared: &Shared, row: &Row) -> Block {
        let mut pass = Block::new();
        for (number, lock) in shared.locks.iter().enumerate() {
            pass = pass.then(self.grab_lock(id, number, *lock, shared.threads));
        }
        let times = match self.options.iterations {
            Some(passes) => Times::Count(passes),
            None => Times::UntilRaised(shared.stop.clone()),
        };
        Block::new()
            .barrier(shared.start)
            .repeat(times, pass.iteration().observe(row.clone()))
            .observe(shared.remaining.clone())
    }

    /// Seed 000's `grab_lock` and the sleep after it, with its words for the trace.
    fn grab_lock(&self, id: u32, number: usize, lock: MutexId, threads: u32) -> Block {
        let say = |block: Block, what: &str| match self.settings.markers {
            true => block.marker(Text::with_iteration(&format!("thread {id} iter "), what)),
            false => block,
        };
        let spin = self.jittered(u64::from(threads - id) + self.settings.extra_spin_ms);
        let spin = if self.options.cpu_time { Action::Run(spin) } else { Action::Spin(spin) };
        let mut block = say(Block::new(), &format!(", taking lock {number}")).lock(lock);
        block = say(block, &format!(", took lock {number}")).act(spin);
        block = say(block, &format!(", unlock lock {number}")).unlock(lock);
        block = say(block, " sleeping");
        if id == 0 { block } else { block.sleep(self.jittered(u64::from(id))) }
    }

    fn jittered(&self, ms: u64) -> Dist {
        Dist::up_to_longer(Nanos::from_millis(ms), self.options.jitter)
    }

    fn main_block(&self, shared: &Shared) -> Block {
        let main = Block::new().barrier(shared.start);
        match self.options.iterations {
            Some(_) => main,
            None => main.sleep(self.settings.run).raise(&shared.stop),
        }
    }
}

impl Load for RtMigrate {
    fn length(&self) -> Length {
        match self.options.iterations {
            Some(_) => Length::Work,
            None => Length::Time(self.settings.run),
        }
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let name = self.settings.name;
        let cpus = self.options.cpus.unwrap_or(setup.cpus() as u32);
        if cpus as usize > setup.cpus() {
            return Err(usage(name, format!("option '-c {cpus}': the machine has {} CPUs", setup.cpus())));
        }
        let all = cpus as usize == setup.cpus();
        let only = if all { None } else { Some(CpuMask::first_n(cpus as usize)) };
        let threads = self.options.threads.unwrap_or(2 * cpus);
        let locks = self.options.locks.unwrap_or(cpus);
        let base = i64::from(self.options.base_prio);
        let main_prio = self.settings.main_prio.map_or(i64::from(threads) + 2, i64::from);
        if base + i64::from(threads) - 1 > 99 || main_prio > 99 {
            let message = format!(
                "{threads} threads from priority {base} and main at {main_prio} do not fit priorities 1 to 99: \
                 choose fewer with -n"
            );
            return Err(usage(name, message));
        }
        let fifo = |what: &str, value| rt_priority(name, what, value).map(Policy::Fifo);

        let shared = Shared {
            threads,
            locks: (0..locks).map(|l| setup.mutex(format!("lock {l}"), self.settings.kind)).collect(),
            start: setup.barrier(threads + 1),
            stop: Flag::default(),
            remaining: Remaining::new(threads),
        };
        let mut main = Template::new(name, program(name, self.main_block(&shared))?);
        main.policy = fifo("main", main_prio)?;
        main.cpus = only;
        spawn(setup, &main);
        let mut rows = Vec::new();
        for id in 0..threads {
            let row = Row::default();
            let block = self.thread_block(id, &shared, &row);
            let mut thread = Template::new(format!("mig{id}"), program(name, block)?);
            thread.policy = fifo(&format!("thread {id}"), base + i64::from(id))?;
            thread.cpus = only;
            spawn(setup, &thread);
            rows.push(row);
        }
        Ok(BuiltLoad::new(shared.remaining, Rows(rows)))
    }
}

/// A thread's counters after its latest complete pass. The real program reads them once, after the last.
#[derive(Clone, Debug, Default)]
struct Row(Rc<Cell<Counts>>);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    voluntary: u64,
    involuntary: u64,
    migrations: u64,
    iterations: u64,
}

impl Observer for Row {
    fn observe(&self, env: &Env<'_>, _: &[Nanos]) {
        self.0.set(Counts {
            voluntary: env.counters.nr_voluntary_switches,
            involuntary: env.counters.nr_involuntary_switches,
            migrations: env.counters.nr_migrations,
            iterations: *env.iterations,
        });
    }
}

#[derive(Debug)]
struct Rows(Vec<Row>);

impl Results for Rows {
    fn result(&self, load: String) -> LoadResult {
        let thread = |id, row: &Row| {
            let counts = row.0.get();
            RtMigrateThread {
                id,
                vol: counts.voluntary,
                nonvol: counts.involuntary,
                migrated: counts.migrations,
                iterations: counts.iterations,
            }
        };
        LoadResult::RtMigrate(RtMigrateResult::new(load, numbered(&self.0, thread)))
    }
}
