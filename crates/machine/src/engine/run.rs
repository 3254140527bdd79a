//! From a setup to an outcome: builds the machine, runs its events, gathers the counters.

use super::hardware::{Hw, OneShot, Parts, Source};
use super::kernel::{CpuThreadPlan, Kthreads, Rcu, Sim, Surroundings, cpu_main, kthreads, softirq_dice};
use super::observe::Observed;
use super::record::{Recorder, Tracing, Watch};
use super::userland::process::{Newcomer, as_new_task, note_start};
use super::userland::{Family, Userland};
use crate::behaviour::{Behaviour, Env, TaskSpec};
use crate::cpusets::{check_option, divide};
use crate::group::{GroupSpec, QuotaSpec};
use crate::outcome::{Outcome, RunError, TaskOrigin, TaskOutcome};
use crate::rng::{Purpose, Rng};
use crate::rt_limits;
use crate::setup::{FIRST_PID, Setup, Spawn, TimedChange};
use crate::snapshot::SnapshotPlan;
use crate::spec::{IdleMonitor, MachineSpec, Spread};
use crate::step::Step;
use crate::window::Window;
use scheduler::dl::promises_hold;
use scheduler::fair::{GroupParams, QuotaParams};
use scheduler::fork::new_task;
use scheduler::registry::{Config, StopperForm};
use scheduler::stop::create_stopper;
use scheduler::{CpuId, Nanos, Pid, Scheduler, Standing, TaskId, ThisCpu};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Waker};

/// A change of the settings in the middle of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimedSetting {
    /// When.
    pub at: Nanos,
    /// In the syntax of [`Config::set`]; checked by whoever parsed it.
    pub setting: String,
}

/// Other random numbers from a moment of a run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Redraw {
    /// From when on.
    pub at: Nanos,
    /// From then on, everything random derives from it. What was drawn before holds: the length of a step
    /// that has begun, the next disturbance of a CPU, groups' periods and the starts of kernel threads.
    pub seed: u64,
}

/// How to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOptions {
    /// At most this long; the run ends earlier when all tasks have exited.
    pub duration: Nanos,
    /// Everything random derives from it.
    pub seed: u64,
    /// Which events to record.
    pub trace: Tracing,
    /// Whether to check the invariants of both specs after every event.
    pub check: bool,
    /// Checks those of a moment only, after every so many events: the state, not the course of events.
    pub check_every: Option<NonZeroU32>,
    /// Changes of the settings.
    pub settings: Vec<TimedSetting>,
    /// Other seeds in the middle of the run.
    pub redraws: Vec<Redraw>,
    /// What somebody outside changes.
    pub changes: Vec<TimedChange>,
    /// Moments to keep.
    pub snapshots: SnapshotPlan,
    /// A stretch to measure by itself.
    pub window: Option<Window>,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            duration: Nanos::from_secs(1),
            seed: 1,
            trace: Tracing::Off,
            check: false,
            check_every: None,
            settings: Vec::new(),
            redraws: Vec::new(),
            changes: Vec::new(),
            snapshots: SnapshotPlan::default(),
            window: None,
        }
    }
}

/// A machine with a kernel and tasks, ready to run once.
#[derive(Debug)]
pub struct Machine {
    pub(super) sim: Sim,
    options: RunOptions,
}

/// The numbers of the first of those tasks that are the machine's.
#[derive(Clone, Copy, Debug)]
struct Firsts {
    /// Background threads of the machine file.
    kthread: usize,
    /// Threads that do what interrupts leave.
    cpu_thread: usize,
}

impl Machine {
    /// Builds it. The kernel starts with `config`.
    ///
    /// # Errors
    /// A task without a CPU to run on or in a group that there is not, a group with a limit that the kernel
    /// refuses, a change of the settings that its groups forbid, CPUs that cannot be divided so, or a
    /// duration of zero.
    pub fn new(
        spec: MachineSpec,
        config: Config,
        mut setup: Setup,
        options: RunOptions,
    ) -> Result<Machine, RunError> {
        if options.duration == Nanos::ZERO {
            return Err(RunError::NoDuration);
        }
        let cpus = spec.topology.cpus;
        let topology = spec.topology.clone();
        let Kthreads { spawns: background, wakes } = kthreads(&spec, &mut setup, options.seed);
        let mut spawns = std::mem::take(&mut setup.tasks);
        if let Some(each) = &spec.noise.thread_start {
            start_one_by_one(&mut spawns, each, options.seed);
        }
        let first_kthread = spawns.len();
        spawns.extend(background);
        let first_cpu_thread = spawns.len();
        let threads = CpuThreadPlan::of(&config, &setup, &spec);
        spawns.extend(threads.map_or_else(Vec::new, |plan| plan.spawns(cpus)));
        let groups = std::mem::take(&mut setup.groups);
        for (number, spec) in groups.iter().enumerate() {
            spec.check(number)?;
        }
        rt_limits::check(&groups, &config)?;
        rt_limits::check_during(&groups, &config, &options)?;
        let division = divide(cpus, &groups, &setup.isolcpus)?;
        check_option("nohz_full", cpus, &setup.nohz_full)?;
        let rcu = Rcu::new(cpus, spec.rcu_callback);
        let hw = Hw::new(Parts {
            root_domains: division.partitions.root_domains(cpus),
            nohz_full: setup.nohz_full,
            spawned: spawns.len(),
            recorder: Recorder::new(cpus, cpus + spawns.len(), options.trace),
            lock_kind: config.rules.lock_kind.get(),
            seed: options.seed,
            paths: setup.paths.take(),
            // No state but polling is shallow enough then (machine.md 5.4, menu, step 1).
            latency_limit: if setup.cpu_dma_latency_held { Nanos::ZERO } else { Nanos::NEVER },
            idle_monitor: if setup.cpu_dma_latency_held { IdleMonitor::Poll } else { spec.idle_monitor },
            spec,
        });
        let rwsems = hw.spec.rwsems;
        let mut k = Scheduler::new(hw, config, &topology, &division.partitions, spawns.len() + cpus);
        k.cpusets = division.cpusets;
        k.nohz_full = setup.nohz_full;
        promises_hold(&k).map_err(RunError::Promised)?;
        k.expect_groups(groups.len());
        for (number, spec) in groups.iter().enumerate() {
            k.create_group(as_params(spec, &k.config, options.seed, number as u64));
        }
        let sim = Sim {
            k,
            groups,
            partitions: division.outcome,
            isolcpus: setup.isolcpus,
            user: Userland::new(&mut setup, options.seed, spawns.len(), rwsems),
            observed: Observed::new(options.snapshots.clone(), setup.waits.take()),
            surroundings: Surroundings {
                spawn_cpus: spawns.iter().map(|s| s.cpu).collect(),
                outside: std::mem::take(&mut setup.outside),
                softirq_dice: RefCell::new(softirq_dice(setup.softirqs.len(), options.seed)),
                softirqs_due: setup.softirqs.iter().map(|_| Cell::new(Nanos::NEVER)).collect(),
                softirqs: std::mem::take(&mut setup.softirqs),
                ticks_at: std::mem::take(&mut setup.ticks_at),
                next_remote_tick: Cell::new(Nanos::from_secs(1)),
                kthread_wakes: wakes,
                settings: options.settings.iter().map(|s| s.setting.clone()).collect(),
                redraws: options.redraws.iter().map(|redraw| redraw.seed).collect(),
                changes: options.changes.iter().map(|timed| timed.change).collect(),
            },
            rcu,
        };
        for mutex in &sim.user.mutexes.specs {
            sim.k.mutexes.create(mutex.kind);
        }
        sim.user.channels.create_mutexes(&sim.k);
        if options.check {
            sim.hw().set_watch(Watch::new(&sim.k, &sim.hw().spec, options.check_every));
        }
        sim.populate(spawns, Firsts { kthread: first_kthread, cpu_thread: first_cpu_thread })?;
        if let Some(plan) = threads {
            sim.has_threads(plan, TaskId((cpus + first_cpu_thread) as u32));
        }
        sim.schedule_events(&options, &setup.looks);
        Ok(Machine { sim, options })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// A deadlock, a program that misuses its locks or never lets time pass, or a broken invariant.
    pub fn run(self) -> Result<Outcome, RunError> {
        self.run_until(&|_| false)
    }

    /// As [`Machine::run`], but ends earlier when `done`, which is asked after every event and told its time,
    /// says so: for loads that go on in the background of others.
    ///
    /// # Errors
    /// As [`Machine::run`].
    // No type parameter: who calls it would compile the whole engine once more, and as optimised as himself.
    pub fn run_until(self, done: &dyn Fn(Nanos) -> bool) -> Result<Outcome, RunError> {
        let Machine { sim, options } = self;
        let end = options.duration;
        let mut cpus: Vec<_> = (0..sim.k.cpus()).map(|c| Box::pin(cpu_main(&sim, CpuId(c as u16)))).collect();
        for cpu in &mut cpus {
            poll(cpu.as_mut());
        }
        let mut stopped = false;
        while let Some(source) = sim.hw().next_event(end) {
            sim.step(source, &mut cpus);
            sim.check();
            if sim.observed.snapshots.is_under_way() {
                sim.observed.snapshots.go_on(sim.view());
            }
            stopped = sim.user.processes.live.get() == 0 || done(sim.hw().now.get());
            if stopped || sim.hw().recorder.has_failed() {
                break;
            }
        }
        if let Some(error) = sim.hw().recorder.take_error() {
            return Err(error);
        }
        let end = if stopped { sim.hw().now.get() } else { end };
        sim.observed.snapshots.end(sim.view(), end);
        sim.observed.end_window(sim.view(), end);
        sim.observed.end_waits(end);
        let mut outcome = sim.outcome(end);
        if sim.hw().recorder.tells_everything() {
            let until = options.duration.min(end + LONGEST_EXIT);
            while sim.some_exit(&outcome.tasks)
                && let Some(source) = sim.hw().next_event(until)
            {
                sim.step(source, &mut cpus);
            }
            outcome.aftermath = sim.hw().recorder.take_log().unwrap_or_default();
        }
        Ok(outcome)
    }
}

/// Threads that their program starts one by one, each so much later than the one before.
fn start_one_by_one(spawns: &mut [Spawn], each: &Spread, seed: u64) {
    let mut last = Nanos::ZERO;
    for (number, spawn) in (0..).zip(spawns) {
        let Some(thread) = spawn.thread else { continue };
        let before = if thread == 0 { Nanos::ZERO } else { last };
        last = before + each.draw(&mut Rng::keyed(seed, Purpose::ThreadStart, number));
        spawn.at += last;
    }
}

/// What the scheduler has to know about a group. When its first period begins is up to chance, as in Linux.
fn as_params(spec: &GroupSpec, config: &Config, seed: u64, number: u64) -> GroupParams {
    let quota = spec.quota.map(|QuotaSpec { quota, period, burst }| {
        let offset = Nanos(Rng::keyed(seed, Purpose::Group, number).below(period.0));
        QuotaParams { quota, period, burst, offset }
    });
    let GroupSpec { parent, shares, idle, clamps, .. } = *spec;
    let rt = spec.rt.map(|spec| rt_limits::limit(&spec, config));
    GroupParams { parent, shares, idle, quota, clamps, rt }
}

/// So long a log goes on for those who are on their way out as the run ends: even among a hundred others they
/// have had their turn by then.
const LONGEST_EXIT: Nanos = Nanos::from_secs(1);

fn poll(future: Pin<&mut impl Future<Output = ()>>) {
    // A CPU's future never ends, and it is polled because the engine knows that it can go on.
    let _pending = future.poll(&mut Context::from_waker(Waker::noop()));
}

impl Sim {
    /// Lets something happen, and the CPU go on that it concerns.
    fn step(&self, source: Source, cpus: &mut [Pin<Box<impl Future<Output = ()>>>]) {
        if let Some(cpu) = self.handle(source) {
            self.hw().paces.executing.set(self.hw().cpu(cpu).kernel_rate.get());
            poll(cpus[cpu.index()].as_mut());
        }
    }

    /// Whether one of these has called exit and has not left its CPU for the last time.
    fn some_exit(&self, tasks: &[TaskOutcome]) -> bool {
        tasks.iter().filter(|t| t.exited.is_some()).any(|t| {
            let task = self.k.task(t.task);
            task.pid.get() == t.pid && task.standing() != Standing::Outside
        })
    }

    /// Creates every task of the setup and of the machine's background; the ids are those that the setup
    /// promised.
    fn populate(&self, spawns: Vec<Spawn>, firsts: Firsts) -> Result<(), RunError> {
        // The slots before the first task's belong to the idle tasks.
        for c in 0..self.k.cpus() as u32 {
            let idle = TaskSpec::new(format!("swapper/{c}"), Never);
            self.register(CpuId(c as u16), TaskId(c), Pid(0), idle, TaskOrigin::Machine);
        }
        for (number, mut spawn) in spawns.into_iter().enumerate() {
            let pid = Pid(FIRST_PID + number as i32);
            let id = new_task(&self.k, as_new_task(&self.k, pid, &mut spawn.spec, None)?);
            debug_assert_eq!(id.index(), self.k.cpus() + number);
            let origin = if number < firsts.kthread { TaskOrigin::Setup } else { TaskOrigin::Machine };
            // Those that do what interrupts leave have no program of their own: every machine on which the
            // run is replayed makes them again.
            if number < firsts.cpu_thread {
                note_start(self.hw(), pid, &spawn.spec, Some(spawn.at), spawn.cpu);
            }
            self.register(CpuId(0), id, pid, spawn.spec, origin);
            // Some appear when there is work for them.
            if spawn.at != Nanos::NEVER {
                // A new task's timer says when.
                self.hw().queue.set(self.user.tasks.with(id, |t| t.timer), spawn.at);
            }
        }
        if self.k.config.rules.stopper.get() == StopperForm::Thread {
            self.create_stoppers();
        }
        Ok(())
    }

    /// One for each CPU. Their pids are below those of the tasks, whatever the number of CPUs.
    fn create_stoppers(&self) {
        for c in 0..self.k.cpus() {
            let (cpu, pid) = (CpuId(c as u16), Pid(FIRST_STOPPER_PID + c as i32));
            let id = create_stopper(&self.k, cpu, pid);
            let spec = TaskSpec::new(format!("migration/{c}"), Never);
            self.register(cpu, id, pid, spec, TaskOrigin::Machine);
        }
    }

    /// Makes the machine's side of a task that nobody forked.
    fn register(&self, cpu: CpuId, id: TaskId, pid: Pid, spec: TaskSpec, origin: TaskOrigin) {
        let new = Newcomer { id, pid, family: Family::default(), origin };
        self.user.processes.register(ThisCpu { k: &self.k, id: cpu }, &self.user.tasks, new, spec);
    }

    /// Programs what will happen from outside, and when the run may be over.
    fn schedule_events(&self, options: &RunOptions, looks: &[Nanos]) {
        for (index, message) in self.surroundings.outside.iter().enumerate() {
            self.hw().at(self.leaves_at(message), OneShot::Outside(index as u32));
        }
        for (index, timer) in self.surroundings.softirqs.iter().enumerate() {
            if timer.cpu.index() < self.k.cpus() {
                self.surroundings.softirq_at(self.hw(), index as u32, timer.at);
            }
        }
        for (index, setting) in options.settings.iter().enumerate() {
            self.hw().at(setting.at, OneShot::Setting(index as u32));
        }
        for (index, redraw) in options.redraws.iter().enumerate() {
            self.hw().at(redraw.at, OneShot::Redraw(index as u32));
        }
        for (index, change) in options.changes.iter().enumerate() {
            self.hw().at(change.at, OneShot::Change(index as u32));
        }
        for at in &options.snapshots.at {
            self.hw().at(*at, OneShot::Snapshot);
        }
        if let Some(Window { from, to }) = options.window {
            if from == Nanos::ZERO {
                // What happens at time 0 is in it.
                self.observed.begin_window(self.view());
            } else {
                self.hw().at(from, OneShot::WindowBegins);
            }
            // One that lasts longer ends with the run.
            if to < options.duration {
                self.hw().at(to, OneShot::WindowEnds);
            }
        }
        self.hw().start_noise();
        // A path that runs ahead of the queue must stop at the end of the run.
        for end in looks.iter().chain([&options.duration]) {
            self.hw().at(*end, OneShot::End);
        }
    }

    fn rt_borrowed(&self, end: Nanos) -> Nanos {
        let of_groups = self.k.groups.ids().filter_map(|group| self.k.groups.get(group).rt.as_ref());
        of_groups.chain([&self.k.rt_bandwidth]).map(|of| of.counts_until(end).borrowed).sum()
    }

    fn outcome(&self, end: Nanos) -> Outcome {
        let (view, user, observed) = (self.view(), &self.user, &self.observed);
        let recorder = &self.hw().recorder;
        let tasks = observed.take_tasks(view);
        let totals = view.totals();
        Outcome {
            simulated: end,
            events: totals.wakeups + totals.context_switches,
            tasks,
            groups: view.group_outcomes(&self.groups, end),
            partitions: self.partitions.clone(),
            isolcpus: self.isolcpus,
            nohz_full: self.k.nohz_full,
            cpus: view.cpu_results(end),
            frequencies: self.hw().energy.results(end),
            totals,
            decisions: view.decisions().filter(|d| d.count > 0).collect(),
            stalled: view.stalled(end, &self.surroundings.outside),
            rt_borrowed: self.rt_borrowed(end),
            outside_lost: user.channels.outside_lost.get(),
            idle_polls: self.hw().idle_monitor == IdleMonitor::Poll,
            idle_states: view.idle_results(end),
            ticks_at: self.surroundings.ticks_at.clone(),
            log: recorder.take_log(),
            aftermath: Vec::new(),
            starts: recorder.take_starts(),
            objects: user.objects(),
            snapshots: observed.snapshots.take(),
            exited: observed.snapshots.take_exited(),
            window: observed.measurement.take(),
        }
    }
}

/// Of CPU 0; the others' follow.
const FIRST_STOPPER_PID: i32 = 10;
const _: () = assert!(FIRST_STOPPER_PID + (CpuId::LIMIT as i32) < FIRST_PID);

/// What the idle tasks' and the stoppers' slots hold: it is never asked, as the scheduler knows what they do.
#[derive(Debug)]
struct Never;

impl Behaviour for Never {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        Step::Exit
    }
}
