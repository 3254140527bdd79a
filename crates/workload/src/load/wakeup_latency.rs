//! wakeup-latency: how late does the callback of a periodic POSIX timer run? (seed 003; fair-class 13.2)
//!
//! The C library keeps a helper thread that waits for the timer's signal and starts a new thread for each
//! expiry; that thread reads the clock and compares it with the intended expiry. So a lateness is the
//! helper's wakeup, the copying of a thread, and the wait of a freshly forked thread for its first run.

use super::command::{options, parser};
use super::error::LoadError;
use super::progress::Remaining;
use super::spawn::{program, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::latency::LatencyRecorder;
use crate::program::{Action, Block, Child, Observer, Overrun, Template, TimeVar, Times};
use crate::units::{micros, micros_above_zero};
use machine::{Behaviour, Env, ForkKind, Setup, Step, TaskSpec};
use scheduler::Nanos;
use schema::{LoadResult, WakeupLatencyMode, WakeupLatencyResult};
use std::cell::Cell;
use std::rc::Rc;

const NAME: &str = "wakeup-latency";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "A periodic timer whose every expiry starts a new thread, which measures how late it runs.",
    ends: "Endless; with -n after that many expiries.",
    source: "seed 003 (fair-class 13.2)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Period of the timer, microseconds without a unit (10ms).
    #[arg(short = 'i', long, value_name = "TIME", default_value = "10ms", value_parser = micros_above_zero)]
    interval: Nanos,
    /// Number of expiries (endless).
    #[arg(short = 'n', long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..))]
    events: Option<u64>,
    /// A thread that sleeps until each expiry in place of the timer: without the new thread.
    #[arg(short = 'x', long)]
    nanosleep: bool,
    /// Model: expiries lie this long after a whole millisecond (wherever the start puts them), likewise.
    ///
    /// Ticks come at whole milliseconds on a machine of one CPU with hz=1000, so this is how long after a
    /// tick the timer expires, at every expiry of a period of whole milliseconds.
    #[arg(long, value_name = "TIME", value_parser = micros)]
    phase: Option<Nanos>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(WakeupLatency { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct WakeupLatency {
    options: Options,
}

/// From the signal to the clone: taking the library's mutex, allocating (fair-class 13.2).
const HELPER: Nanos = Nanos::from_micros(15);
/// From the new thread's first instruction to its reading of the clock: unblocking signals (fair-class 13.4).
const CALLBACK: Nanos = Nanos::from_micros(5);
/// The expiry that is being served.
const DUE: TimeVar = TimeVar(0);

/// What the tasks of one build share.
#[derive(Clone, Debug)]
struct Shared {
    interval: Nanos,
    latency: LatencyRecorder,
    missed: Rc<Cell<u64>>,
    /// Intended time of the expiry whose thread is created next.
    due: Rc<Cell<Nanos>>,
    remaining: Remaining,
}

/// Notes what the thread to be created has to know, and the expiries that passed while the signal was still
/// pending.
#[derive(Debug)]
struct Expiry(Shared);

impl Observer for Expiry {
    fn observe(&self, env: &Env<'_>, times: &[Nanos]) {
        let due = times[usize::from(DUE.0)];
        self.0.due.set(due);
        let late = env.now.saturating_sub(due);
        self.0.missed.set(self.0.missed.get() + late.0 / self.0.interval.0);
    }
}

/// The thread of one expiry.
#[derive(Debug)]
struct Callback {
    due: Nanos,
    shared: Shared,
    started: bool,
}

impl Behaviour for Callback {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        if !self.started {
            self.started = true;
            return Step::Compute(CALLBACK);
        }
        self.shared.latency.record(env.now.saturating_sub(self.due));
        self.shared.remaining.one_less();
        Step::Exit
    }
}

impl Shared {
    fn callback(&self) -> Child {
        let shared = self.clone();
        Child::from_fn(move || {
            TaskSpec::new(NAME, Callback { due: shared.due.get(), shared: shared.clone(), started: false })
        })
    }
}

impl WakeupLatency {
    /// `note` looks at each expiry when its signal is taken, which sets the timer to the next expiry that has
    /// not passed; `serve` follows.
    fn every_expiry(&self, note: Block, serve: Block) -> Block {
        let times = self.options.events.map_or(Times::Forever, Times::Count);
        let interval = self.options.interval;
        let cycle = Block::new().sleep_until(DUE).then(note).advance(DUE, interval, Overrun::Skip);
        let first = match self.options.phase {
            // From time 0, which is a whole millisecond, to the first such time that lies ahead.
            Some(phase) => Block::new().act(Action::SetTime { var: DUE, to: phase }).advance(
                DUE,
                interval,
                Overrun::Skip,
            ),
            None => Block::new().mark(DUE).advance(DUE, interval, Overrun::CatchUp),
        };
        first.repeat(times, cycle.then(serve).iteration())
    }
}

impl Load for WakeupLatency {
    fn length(&self) -> Length {
        let events = self.options.events;
        events.map_or(Length::Endless, |n| Length::Time(Nanos(self.options.interval.0.saturating_mul(n))))
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        // Each event counts itself off; an endless load never comes to zero.
        let events = self.options.events.map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX));
        let shared = Shared {
            interval: self.options.interval,
            latency: LatencyRecorder::new(),
            missed: Rc::default(),
            due: Rc::default(),
            remaining: Remaining::new(events),
        };
        let noted = Block::new().observe(Expiry(shared.clone()));
        if self.options.nanosleep {
            let note = noted.probe(DUE, &shared.latency).observe(shared.remaining.clone());
            let cycles = self.every_expiry(note, Block::new().run(CALLBACK));
            spawn(setup, &Template::new(NAME, program(NAME, cycles)?));
        } else {
            let serve = Block::new().run(HELPER).fork(shared.callback(), ForkKind::Thread);
            let helper = Template::new(NAME, program(NAME, self.every_expiry(noted, serve))?);
            let main = Block::new().fork(Child::from_fn(move || precise(&helper)), ForkKind::Thread);
            spawn(setup, &Template::new(NAME, program(NAME, main.wait_child())?));
        }
        let remaining = shared.remaining.clone();
        Ok(BuiltLoad::new(remaining, Progress { nanosleep: self.options.nanosleep, shared }))
    }
}

/// A timer that signals has no slack, other than a sleep.
fn precise(template: &Template) -> TaskSpec {
    TaskSpec { timer_slack: Nanos::ZERO, ..template.spec() }
}

#[derive(Debug)]
struct Progress {
    nanosleep: bool,
    shared: Shared,
}

impl Results for Progress {
    fn result(&self, load: String) -> LoadResult {
        LoadResult::WakeupLatency(WakeupLatencyResult {
            load,
            mode: if self.nanosleep { WakeupLatencyMode::Nanosleep } else { WakeupLatencyMode::SigevThread },
            period_ns: self.shared.interval.0,
            latency_ns: self.shared.latency.stats().all().summary(),
            missed: self.shared.missed.get(),
        })
    }
}
