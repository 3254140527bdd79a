//! The twin of a program as a load.

use super::figures::{Figures, Samples};
use super::twin::{Told, Twin};
use super::{Check, CheckError};
use lab::{Experiment, LoadSpec};
use machine::{Env, Setup};
use scheduler::{CpuId, CpuMask, Nanos, Policy, RtPriority};
use schema::{Better, LoadResult, OwnResult};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use workload::load::{BuiltLoad, Length, Load, LoadError, Remaining, Results};
use workload::program::{Block, Observer, Program, Template};

/// Runs the twin once: its figures, in the order of its statistics.
pub(super) fn figures(
    check: &Check,
    twin: &Arc<dyn Twin>,
    own_ns: u64,
    seed: u64,
) -> Result<Figures, CheckError> {
    let syscall_ns = check.machine.spec().costs.syscall.0;
    let load = TwinLoad { twin: Arc::clone(twin), own_ns, syscall_ns };
    let mut experiment = Experiment::new(check.machine.clone());
    experiment.loads.push(LoadSpec::new(twin.name(), load));
    experiment.kernel = check.kernel.clone();
    experiment.seed = seed;
    let there = |source| CheckError::There { program: twin.name().to_owned(), source: Box::new(source) };
    let result = experiment.run().map_err(there)?.result;
    let own = result.loads.iter().find_map(|load| match load {
        LoadResult::Own(own) => Some(own.figures.iter().map(|figure| figure.value).collect()),
        _ => None,
    });
    Ok(Figures(own.unwrap_or_default()))
}

#[derive(Debug)]
struct TwinLoad {
    twin: Arc<dyn Twin>,
    own_ns: u64,
    syscall_ns: u64,
}

impl Load for TwinLoad {
    fn length(&self) -> Length {
        Length::Work
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let recorder = Recorder::default();
        let TwinLoad { twin, own_ns, syscall_ns } = self;
        let told = Told { setup, recorder: &recorder, own_ns: *own_ns, syscall_ns: *syscall_ns };
        let remaining = twin.there(told)?;
        Ok(BuiltLoad::new(remaining, Recorded { twin: Arc::clone(twin), recorder }))
    }
}

/// What the tasks of a twin see, and for how long.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    each_ns: Rc<RefCell<Vec<u64>>>,
    watched_ns: Rc<Cell<u64>>,
}

impl Recorder {
    /// A sample each time a program comes by, if `what` makes one of the clock and of the program's
    /// variables.
    pub(super) fn samples<F>(&self, what: F) -> impl Observer + use<F>
    where
        F: Fn(Nanos, &[Nanos]) -> Option<Nanos> + 'static,
    {
        let recorder = self.clone();
        Look(move |env: &Env<'_>, times: &[Nanos]| {
            recorder.each_ns.borrow_mut().extend(what(env.now, times).map(|sample| sample.0));
            recorder.watched_ns.set(env.now.0);
        })
    }
}

/// A point in time that one task takes and another asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Moment(Rc<Cell<Nanos>>);

impl Moment {
    /// Takes it when a program comes by.
    pub(super) fn taken(&self) -> impl Observer + use<> {
        let moment = self.clone();
        Look(move |env: &Env<'_>, _: &[Nanos]| moment.0.set(env.now))
    }

    /// When that was last.
    pub(super) fn get(&self) -> Nanos {
        self.0.get()
    }
}

/// A closure that looks at a task.
struct Look<F>(F);

impl<F> fmt::Debug for Look<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Look(..)")
    }
}

impl<F: Fn(&Env<'_>, &[Nanos])> Observer for Look<F> {
    fn observe(&self, env: &Env<'_>, times: &[Nanos]) {
        (self.0)(env, times);
    }
}

#[derive(Debug)]
struct Recorded {
    twin: Arc<dyn Twin>,
    recorder: Recorder,
}

impl Results for Recorded {
    fn result(&self, load: String) -> LoadResult {
        let Recorder { each_ns, watched_ns } = &self.recorder;
        let samples = Samples { each_ns: each_ns.borrow().clone(), watched_ns: watched_ns.get() };
        let statistics = self.twin.statistics();
        let Figures(figures) = Figures::of(statistics, samples);
        let own = OwnResult::new(load, "twin");
        let all = statistics.iter().zip(figures);
        let own =
            all.fold(own, |own, (statistic, value)| own.count(statistic.name(), Better::Neutral, value));
        LoadResult::Own(own)
    }
}

/// Who does something, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doer {
    pub(super) comm: &'static str,
    pub(super) cpu: CpuId,
    pub(super) policy: Policy,
}

impl Doer {
    /// A fair task.
    pub(super) fn fair(comm: &'static str, cpu: CpuId) -> Doer {
        Doer { comm, cpu, policy: Policy::Normal }
    }

    /// A real-time task, of a priority that there is.
    pub(super) fn fifo(comm: &'static str, cpu: CpuId, priority: u8) -> Doer {
        Doer { comm, cpu, policy: RtPriority::new(priority).map_or(Policy::Normal, Policy::Fifo) }
    }

    /// A task of this kind that does this.
    pub(super) fn task(self, block: Block) -> Result<Template, LoadError> {
        let program = Program::new(block)
            .map_err(|source| LoadError::Program { load: self.comm.to_owned(), source })?;
        let Doer { comm, cpu, policy } = self;
        Ok(Template { policy, cpus: Some(CpuMask::single(cpu)), ..Template::new(comm, program) })
    }

    /// The same, from the start of the run.
    pub(super) fn starts(self, setup: &mut Setup, block: Block) -> Result<(), LoadError> {
        setup.spawn(Nanos::ZERO, self.task(block)?.spec());
        Ok(())
    }

    /// The same, and when it is done, the load is over.
    pub(super) fn ends(self, setup: &mut Setup, block: Block) -> Result<Remaining, LoadError> {
        let remaining = Remaining::new(1);
        self.starts(setup, block.observe(remaining.clone()))?;
        Ok(remaining)
    }
}
