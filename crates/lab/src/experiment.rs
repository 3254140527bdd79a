//! One experiment: loads, machine, kernel, seed, length. Running it gives a result.

use crate::asked_tasks::{all_are_there, is_meant};
use crate::assumptions;
use crate::clock::Clock;
use crate::dumps::{self, DumpRequest};
use crate::error::Error;
use crate::export::Facts;
use crate::groups::{self, Groups};
use crate::kernel::{KernelConfig, NamedKernel};
use crate::length::Limit;
use crate::loads::{LoadSpec, RecordedLoad};
use crate::machines::NamedMachine;
use crate::recorded_cpus;
use crate::reference;
use crate::results::{self, Parts};
use machine::{
    Machine, MachineSpec, Redraw, RunOptions, Setup, TimedChange, TimedSetting, Tracing, WakePaths, Window,
};
use scheduler::registry::{Config, RtThrottle, RtmutexSpin};
use scheduler::{Nanos, Pid};
use schema::{Kernel, Log, RunResult};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use workload::Decided;
use workload::groups::Group;
use workload::load::BuiltLoad;
use workload::replay::{ReplayGroups, TaskSelector, Throttling};

/// Everything that decides about a run. The same experiment gives the same result, on any machine and in any
/// build.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What runs, all at the same time.
    pub loads: Vec<LoadSpec>,
    /// On what.
    pub machine: NamedMachine,
    /// Under which kernel.
    pub kernel: KernelConfig,
    /// Which task groups there are, and who is in them; who is a deadline task.
    pub groups: Groups,
    /// Everything random derives from it.
    pub seed: u64,
    /// Other seeds from moments of the run on.
    pub redraws: Vec<Redraw>,
    /// For how long; `None`: as long as the loads last (see [`crate::ENDLESS`] and [`crate::GRACE`]).
    pub duration: Option<Nanos>,
    /// Whether to check the invariants of the scheduler after every event.
    pub check: bool,
    /// Checks those of a moment only, after every so many events.
    pub check_every: Option<NonZeroU32>,
    /// Whether to sum up what latencies are due to ([`RunResult::late_by`]). Costs memory for every event.
    pub why: bool,
    /// Whether to keep every event, for a trace.
    pub record: bool,
    /// Whether to compare replays with their recordings. Where this is not the machine and the kernel of the
    /// recording, each is run once more on these for it. Costs memory for every event of that run.
    pub fidelity: bool,
    /// Files of Linux to show, of moments of the run.
    pub dumps: Vec<DumpRequest>,
    /// The tasks to tell of; empty: all. What is said of the machine and of a replay as a whole is of all
    /// tasks.
    pub tasks: Vec<TaskSelector>,
    /// The stretch of the run to tell of, in a replay since the recording's first event; `None`: all of it.
    /// What loads report and a trace of the run are of all of it, too.
    pub window: Option<Window>,
    /// What somebody outside changes in the middle of the run: policies, affinities, limits of groups.
    pub changes: Vec<TimedChange>,
    /// A clock of the computer on which it runs, for `engine.wall_ns`. Nothing else depends on it.
    pub clock: Option<Clock>,
    /// Somebody who may want it to stop; then a run ends as [`Error::Stopped`].
    pub stop: Option<Arc<AtomicBool>>,
}

/// What a run leaves behind.
#[derive(Debug)]
pub struct Run {
    /// The figures.
    pub result: RunResult,
    /// All that happened, if [`Experiment::record`] asked for it.
    pub logged: Option<Logged>,
}

/// A run that can be told again.
#[derive(Debug)]
pub struct Logged {
    /// Its log.
    pub log: Log,
    /// When what is replayed begins in it, in simulated time: the first event of the recording. Without a
    /// recording, 0.
    pub start: Nanos,
    /// Recorded pids of replayed tasks, by those of the run.
    pub(crate) recorded_pids: BTreeMap<Pid, u32>,
    /// What a recorder notes of a real machine beside its events.
    pub(crate) facts: Facts,
}

/// Loads, machine, and the settings of the kernel at every time, without names.
#[derive(Clone, Debug)]
pub(crate) struct Simulation {
    loads: Vec<LoadSpec>,
    machine: MachineSpec,
    features: BTreeMap<String, bool>,
    rules: BTreeMap<String, String>,
    tunables: BTreeMap<String, i64>,
    during: Vec<TimedSetting>,
    groups: Groups,
}

impl PartialEq for Simulation {
    fn eq(&self, other: &Simulation) -> bool {
        let loads = || self.loads.iter().zip(&other.loads);
        (&self.features, &self.rules, &self.tunables, &self.during)
            == (&other.features, &other.rules, &other.tunables, &other.during)
            && self.machine == other.machine
            && self.groups == other.groups
            && self.loads.len() == other.loads.len()
            && loads().all(|(mine, others)| mine.is_same(others))
    }
}

impl Simulation {
    /// All that decides it, as text that is another one for another simulation. `None`: a load was made by
    /// other means than words, or comes from a pipe.
    pub(crate) fn written(&self) -> Option<String> {
        let Simulation { loads, machine, features, rules, tunables, during, groups } = self;
        let loads: Vec<String> = loads.iter().map(LoadSpec::written).collect::<Option<_>>()?;
        Some(format!("{loads:?} {machine:?} {features:?} {rules:?} {tunables:?} {during:?} {groups:?}"))
    }
}

impl Experiment {
    /// A machine without a load, under the default kernel and seed 1.
    #[must_use]
    pub fn new(machine: impl Into<NamedMachine>) -> Experiment {
        Experiment {
            loads: Vec::new(),
            machine: machine.into(),
            kernel: KernelConfig::default(),
            groups: Groups::default(),
            seed: 1,
            redraws: Vec::new(),
            duration: None,
            check: false,
            check_every: None,
            why: false,
            record: false,
            fidelity: true,
            dumps: Vec::new(),
            tasks: Vec::new(),
            window: None,
            changes: Vec::new(),
            clock: None,
            stop: None,
        }
    }

    /// Runs it on the calling thread.
    ///
    /// # Errors
    /// No load, a duration of zero, a load that this machine cannot run (no such CPU), a group that this
    /// kernel has not got, and what only shows while it runs: a deadlock, a program that misuses its locks, a
    /// broken invariant; a dump of a time after its end or of a task that does not exist; a group for tasks
    /// of which there were none.
    pub fn run(&self) -> Result<Run, Error> {
        match self.groups.in_recordings(&self.loads) {
            Some(loads) => Experiment { loads, ..self.clone() }.run_as_it_is(),
            None => self.run_as_it_is(),
        }
    }

    fn run_as_it_is(&self) -> Result<Run, Error> {
        let mut run = self.run_alone()?;
        run.result.notes.extend(reference::said_groups(self).filter(|_| self.fidelity));
        if self.fidelity && !self.repeats_a_recording() {
            for found in self.loads.iter().filter_map(|load| reference::fidelity(self, load)) {
                match found {
                    Ok(fidelity) => run.result.replay.push(fidelity),
                    Err(note) => run.result.notes.push(note),
                }
            }
            run.result.notes.extend(assumptions::if_relative(self, &run.result));
        }
        if self.is_stopped() {
            return Err(Error::Stopped);
        }
        self.leave_out_tasks(&mut run.result)?;
        Ok(run)
    }

    /// The same with other loads, for one figure of its result: nothing is recorded, dumped, checked or left
    /// out.
    pub(crate) fn aside(&self, loads: Vec<LoadSpec>) -> Experiment {
        Experiment {
            loads,
            check: false,
            check_every: None,
            why: false,
            record: false,
            dumps: Vec::new(),
            tasks: Vec::new(),
            ..self.clone()
        }
    }

    /// Leaves out the tasks of which nothing is to be told.
    fn leave_out_tasks(&self, result: &mut RunResult) -> Result<(), Error> {
        all_are_there(&self.tasks, result.tasks.iter().map(|task| (task.pid, task.comm.as_str())))?;
        let meant = |pid: u32, comm: &str| is_meant(&self.tasks, pid, comm);
        result.tasks.retain(|task| meant(task.pid, &task.comm));
        for replay in &mut result.replay {
            replay.tasks.retain(|task| meant(task.pid, &task.comm));
        }
        Ok(())
    }

    /// Runs it, and nothing else.
    pub(crate) fn run_alone(&self) -> Result<Run, Error> {
        if self.loads.is_empty() {
            return Err(Error::NoLoad);
        }
        let config = self.config()?;
        let described = self.described_groups(&config)?;
        self.check_machine_has()?;
        let kernel = self.kernel.describe(&config, self.machine.spec().cpus());
        let throttling = match config.rules.rt_throttle.get() {
            RtThrottle::Groups => Throttling::Groups,
            _ => self.recorded_throttling(),
        };
        let mut setup = Setup::new(self.machine.spec().cpus());
        let members = self.groups.make(&mut setup, &described);
        let deadlines = self.groups.deadlines();
        let build = |(number, load): (usize, &LoadSpec)| {
            let session = self.groups.session(&mut setup, number + 1);
            load.build(&mut setup, &members, &deadlines, session)
        };
        let built: Vec<BuiltLoad> = self.loads.iter().enumerate().map(build).collect::<Result<_, _>>()?;
        let kernel_of_run = self.kernel.named();
        let left_out = groups::fit(&mut setup, kernel_of_run, config.rules.rt_throttle.get())?;
        let undivided = recorded_cpus::fit(&mut setup, kernel_of_run, &self.groups, &self.recorded_groups());
        if let Some(recorded) = self.loads.iter().find_map(LoadSpec::recorded_paths) {
            // On another machine latencies still count from where they did.
            let none = || WakePaths::new(recorded.counted_from);
            setup.take_paths(self.recorded_paths().cloned().unwrap_or_else(none));
        }
        let limit = Limit::new(self.duration, &self.loads.iter().map(LoadSpec::length).collect::<Vec<_>>());
        dumps::check(&self.dumps, limit)?;
        let start = results::start(&built);
        let options = RunOptions {
            duration: limit.duration,
            seed: self.seed,
            trace: match (self.record || self.why, self.repeats_a_recording()) {
                (true, _) => Tracing::Everything,
                (false, true) => Tracing::Scheduling,
                (false, false) => Tracing::Off,
            },
            check: self.check,
            check_every: self.check_every,
            settings: self.kernel.during(),
            redraws: self.redraws.clone(),
            changes: self.changes.clone(),
            snapshots: dumps::plan(&self.dumps, self.loads.iter().any(|load| load.recorded().is_some())),
            window: self.window.map(|window| window.after(start)),
        };
        let machine = Machine::new(self.machine.spec().clone(), config, setup, options)?;
        let waits_for: Vec<&BuiltLoad> = if limit.stop_when_done { self.ending(&built) } else { Vec::new() };
        let done = |now| {
            self.is_stopped()
                || !waits_for.is_empty()
                    && waits_for.iter().all(|load| load.is_finished() && now >= load.lasts_until())
        };
        let began = self.clock.map(|clock| clock());
        let outcome = machine.run_until(&done);
        let wall = self.clock.zip(began).map(|(clock, began)| clock().saturating_sub(began));
        let mut outcome = outcome?;
        if self.is_stopped() {
            return Err(Error::Stopped);
        }
        self.groups.all_met(&members, &deadlines, &outcome.tasks)?;
        if let (Some(asked), None) = (self.window, &outcome.window) {
            return Err(Error::BehindRun { from: asked.from, end: outcome.simulated.saturating_sub(start) });
        }
        let records = outcome.log.take().unwrap_or_default();
        let recorded = results::recorded_pids(&built);
        let parts = Parts {
            experiment: self,
            kernel,
            loads: &built,
            outcome: &outcome,
            log: &records,
            left_out,
            undivided,
            wall_ns: wall.map(|wall| wall.0),
            dumps: dumps::dumps(&self.dumps, &outcome, self.kernel.profile(), &recorded)?,
        };
        let mut result = results::assemble(&parts);
        let logged = (self.record || self.why).then(|| {
            let decided = Decided {
                hz: self.recorded_hz(),
                rtmutex_spins: self.was_recorded_without_spinning().then_some(false),
                throttling,
                paths: self.recorded_paths(),
            };
            let head = results::log_head(self, &result, &outcome);
            outcome.log = Some(records);
            let log = Log { head, records: outcome.take_whole_log() };
            Logged { log, start, recorded_pids: recorded, facts: Facts::of(&outcome, decided) }
        });
        if let Some(logged) = logged.as_ref().filter(|_| self.why) {
            result.late_by =
                crate::why::late_by(&logged.log, &self.tasks, self.window.map(|window| window.after(start)));
        }
        Ok(Run { result, logged: logged.filter(|_| self.record) })
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// A governor that chooses among frequencies needs some, and packing a CPU that is preferred.
    fn check_machine_has(&self) -> Result<(), Error> {
        const GOVERNOR: &str = "governor=schedutil";
        const PACKING: &str = "asym_packing=";
        let spec = self.machine.spec();
        let asked = self.kernel.changes().iter().map(|change| change.setting.as_str());
        for word in asked {
            let lacks = if word == GOVERNOR && spec.topology.frequencies.is_empty() {
                "has one frequency for each CPU; take one with several, such as phone, or give its file a \
                 [frequency]"
            } else if (word.starts_with(PACKING) || word.starts_with("sched_itmt_enabled="))
                && spec.topology.priorities.is_empty()
            {
                "prefers no CPU to another; take one that does, such as hybrid, or give the CPUs of its file a \
                 priority"
            } else {
                continue;
            };
            let problem = format!("machine {} {lacks}", spec.name);
            return Err(Error::Settings { word: word.to_owned(), problem });
        }
        Ok(())
    }

    /// The kernel's configuration before the run: what the user says, and what the recordings show.
    fn config(&self) -> Result<Config, Error> {
        let config = self.kernel.at_start()?;
        if let Some(hz) = self.recorded_hz() {
            config.tunables.hz.set(i64::from(hz));
        }
        if self.was_recorded_without_spinning() {
            config.rules.rtmutex_spin.set(RtmutexSpin::Never);
        }
        match self.recorded_throttling() {
            Throttling::NotSeen => {}
            Throttling::Seen => config.rules.rt_throttle.set(RtThrottle::Root),
            Throttling::Groups => config.rules.rt_throttle.set(RtThrottle::Groups),
        }
        Ok(config)
    }

    /// Makes sure that the kernel takes what is said of groups.
    ///
    /// # Errors
    /// What it does not take.
    pub(crate) fn check_groups(&self) -> Result<(), Error> {
        self.described_groups(&self.config()?).map(drop)
    }

    /// What is said of groups, by the user and in the recordings. Of what the user says, the kernel has all.
    fn described_groups(&self, config: &Config) -> Result<Vec<Group>, Error> {
        self.groups.check(self.kernel.named(), config.rules.rt_throttle.get())?;
        let recorded = self.recorded_groups();
        let recorded: Vec<&Group> = recorded.iter().flat_map(|groups| &groups.described).collect();
        self.groups.with_recorded(&recorded)
    }

    /// What the recordings say of groups.
    fn recorded_groups(&self) -> Vec<&ReplayGroups> {
        let recorded = self.loads.iter().filter_map(LoadSpec::recorded);
        recorded.map(|load| &load.replay.recording().groups).collect()
    }

    /// What decides about what happens in it, whatever its parts are called; `None` for a kernel that cannot
    /// be set up.
    pub(crate) fn simulation(&self) -> Option<Simulation> {
        let cpus = self.machine.spec().cpus();
        let Kernel { features, rules, tunables, .. } = self.kernel.describe(&self.config().ok()?, cpus);
        Some(Simulation {
            loads: self.loads.clone(),
            machine: self.machine.spec().clone(),
            features,
            rules,
            tunables,
            during: self.kernel.during(),
            groups: self.groups.clone(),
        })
    }

    /// Whether two are one simulation under two names.
    pub(crate) fn is_same_simulation(&self, other: &Experiment) -> bool {
        self.simulation().is_some_and(|mine| other.simulation() == Some(mine))
    }

    /// Whether this is a replay alone, on the machine and the kernel on which it was recorded, as far as both
    /// are known.
    pub(crate) fn repeats_a_recording(&self) -> bool {
        let [load] = self.loads.as_slice() else { return false };
        let Some(recorded) = load.recorded() else { return false };
        let (uname, hz) = (recorded.replay.kernel(), recorded.replay.recording().hz);
        self.fidelity
            && self.groups == reference::known_groups(self)
            && recorded.replay.has_original()
            && !recorded.replay.is_changed()
            && recorded.on().is_some_and(|machine| machine.name == self.machine.spec().name)
            && reference::recorded_cpus(self, &recorded.replay) == self.machine.spec().cpus()
            && uname
                .and_then(NamedKernel::of_uname)
                .is_none_or(|recorded| recorded.profile == self.kernel.profile())
            && hz.is_none_or(|recorded| self.kernel.named().build.is_none_or(|build| build.hz == recorded))
            && (self.kernel.changes().is_empty() || hz.is_none() && self.kernel.sets_only("hz"))
            && self.duration.is_none()
            && !self.looks_behind(recorded.replay.recording().span)
    }

    /// Whether the stretch to tell of begins after a recording of this length.
    pub(crate) fn looks_behind(&self, recorded: Nanos) -> bool {
        self.window.is_some_and(|window| window.from >= recorded)
    }

    /// What the ways from wakeups to the woken tasks took when a load was recorded, if it was recorded on
    /// this make of machine: the recording knows that better than the machine file. (Another machine is asked
    /// for to see what its costs change.)
    pub(crate) fn recorded_paths(&self) -> Option<&WakePaths> {
        let here = |load: &&LoadSpec| {
            let machine = load.recorded().and_then(RecordedLoad::on);
            machine.is_some_and(|machine| machine.name == self.machine.spec().name)
        };
        self.loads.iter().filter(here).find_map(LoadSpec::recorded_paths)
    }

    /// Ticks a second of the kernel that recorded the loads, where they show and the user does not say
    /// otherwise: they decide when slices end.
    pub(crate) fn recorded_hz(&self) -> Option<u32> {
        let recorded = self.loads.iter().find_map(|load| load.recorded()?.replay.recording().hz);
        recorded.filter(|_| !self.kernel.says_hz())
    }

    /// The kernel that recorded the loads does not spin for the owners of mutexes, and the user does not say
    /// otherwise.
    pub(crate) fn was_recorded_without_spinning(&self) -> bool {
        let spins = |load: &LoadSpec| load.recorded()?.replay.recording().rtmutex_spins;
        self.loads.iter().find_map(spins) == Some(false) && !self.kernel.says("rtmutex_spin")
    }

    /// The kernel that recorded a load throttles real-time tasks although others of its release do not: it
    /// was built with RT_GROUP_SCHED (deadline-groups A12, B9). So will be those that take its place, if they
    /// may have been, and the user does not say otherwise. Where the release throttles all
    /// of them anyway, that says nothing of its successors.
    pub(crate) fn recorded_throttling(&self) -> Throttling {
        if self.kernel.says("rt_throttle") {
            return Throttling::NotSeen;
        }
        let has_shown = |load: &LoadSpec| {
            let recorded = load.recorded()?;
            let uname = recorded.replay.kernel().and_then(NamedKernel::of_uname);
            let profile = uname.map_or(self.kernel.profile(), |named| named.profile);
            let may_not = |config: Config| config.rules.rt_throttle.get() == RtThrottle::Off;
            match recorded.replay.recording().throttling {
                Throttling::NotSeen => None,
                Throttling::Seen => {
                    Config::of_profile(profile).is_ok_and(may_not).then_some(Throttling::Seen)
                }
                Throttling::Groups => self.kernel.named().may_have_rt_groups().then_some(Throttling::Groups),
            }
        };
        let all = || self.loads.iter().filter_map(has_shown);
        let with_groups = all().find(|throttling| *throttling == Throttling::Groups);
        with_groups.or_else(|| all().next()).unwrap_or_default()
    }

    /// The loads that come to an end by themselves.
    fn ending<'a>(&self, built: &'a [BuiltLoad]) -> Vec<&'a BuiltLoad> {
        let pairs = self.loads.iter().zip(built);
        pairs.filter(|(spec, _)| spec.ends()).map(|(_, load)| load).collect()
    }
}
