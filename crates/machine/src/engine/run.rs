//! From a setup to an outcome: builds the machine, runs its events, gathers the counters.

use super::hardware::cpu::{Irq, Mode};
use super::hardware::hw::{Hw, Once, Source};
use super::kernel::cpu::cpu_main;
use super::kernel::kthreads::{Kthreads, kthreads};
use super::kernel::sim::{Family, Sim};
use super::observe::check::Watch;
use super::observe::snapshots::Snapshots;
use super::observe::windows::Measurement;
use super::record::recorder::{Recorder, Tracing};
use super::userland::world::{Device, World};
use crate::latency::Latency;
use crate::objects::ChannelId;
use crate::outcome::{Outcome, RunError, StuckTask, TaskOrigin, TaskOutcome};
use crate::setup::{Arrival, FIRST_PID, Outside, Setup};
use crate::snapshot::SnapshotPlan;
use crate::spec::MachineSpec;
use crate::told::ToldMessage;
use crate::window::Window;
use scheduler::fork::new_task;
use scheduler::registry::Config;
use scheduler::{CpuId, Nanos, Pid, Scheduler, TaskId, TaskState};
use std::cell::{Cell, RefCell};
use std::future::Future;
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
    /// Changes of the settings.
    pub settings: Vec<TimedSetting>,
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
            settings: Vec::new(),
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

impl Machine {
    /// Builds it. The kernel starts with `config`.
    ///
    /// # Errors
    /// A task without a CPU to run on, or a duration of zero.
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
        let recorder = Recorder::new(cpus, options.trace);
        let hw = Hw::new(spec, config.rules.lock_kind.get(), options.seed, recorder, setup.paths.take());
        let Kthreads { spawns: background, wakes } = kthreads(&hw.spec, &mut setup, options.seed);
        let world = World::new(&setup);
        let mut spawns = std::mem::take(&mut setup.tasks);
        let first_kthread = spawns.len();
        spawns.extend(background);
        let sim = Sim {
            k: Scheduler::new(hw, config, &topology, spawns.len()),
            seed: options.seed,
            tasks: RefCell::default(),
            world: RefCell::new(world),
            live: Cell::new(0),
            next_pid: Cell::new(FIRST_PID + spawns.len() as i32),
            spawn_cpus: spawns.iter().map(|s| s.cpu).collect(),
            mutexes: std::mem::take(&mut setup.mutexes),
            idle_polls: setup.cpu_dma_latency_held,
            outside: std::mem::take(&mut setup.outside),
            ticks_at: std::mem::take(&mut setup.ticks_at),
            looks: std::mem::take(&mut setup.looks),
            outside_lost: Cell::new(0),
            lock_holder_preemptions: Cell::new(0),
            cache_refill: Cell::new(Nanos::ZERO),
            finished: RefCell::default(),
            comms: RefCell::default(),
            error: RefCell::default(),
            kthread_wakes: wakes,
            settings: options.settings.iter().map(|s| s.setting.clone()).collect(),
            snapshots: Snapshots::new(options.snapshots.clone()),
            measurement: Measurement::default(),
        };
        for mutex in &sim.mutexes {
            sim.k.mutexes.create(mutex.kind);
        }
        if options.check {
            sim.hw().be_watched_by(Watch::new(&sim.k));
        }
        sim.populate(spawns, first_kthread)?;
        sim.announce(&options);
        Ok(Machine { sim, options })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// A deadlock, a program that misuses its locks or never lets time pass, or a broken invariant.
    pub fn run(self) -> Result<Outcome, RunError> {
        self.run_until(|_| false)
    }

    /// As [`Machine::run`], but ends earlier when `done`, which is asked after every event and told its time,
    /// says so: for loads that go on in the background of others.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub fn run_until(self, done: impl Fn(Nanos) -> bool) -> Result<Outcome, RunError> {
        let Machine { sim, options } = self;
        let end = options.duration;
        let mut cpus: Vec<_> = (0..sim.k.cpus()).map(|c| Box::pin(cpu_main(&sim, CpuId(c as u16)))).collect();
        for cpu in &mut cpus {
            poll(cpu.as_mut());
        }
        let mut stopped = false;
        while let Some(source) = sim.hw().next_event(end) {
            if let Some(cpu) = sim.happen(source) {
                poll(cpus[cpu.index()].as_mut());
            }
            sim.check();
            sim.go_on_with_snapshots();
            stopped = sim.live.get() == 0 || done(sim.hw().now.get());
            if stopped || sim.error.borrow().is_some() {
                break;
            }
        }
        drop(cpus);
        if let Some(error) = sim.error.take() {
            return Err(error);
        }
        let end = if stopped { sim.hw().now.get() } else { end };
        sim.last_snapshot(end);
        sim.end_window(end);
        Ok(sim.outcome(end))
    }
}

fn poll(future: Pin<&mut impl Future<Output = ()>>) {
    // A CPU's future never ends, and it is polled because the engine knows that it can go on.
    let _pending = future.poll(&mut Context::from_waker(Waker::noop()));
}

impl Sim {
    /// Creates every task of the setup and of the machine's background; the ids are those that the setup
    /// promised.
    fn populate(&self, spawns: Vec<crate::setup::Spawn>, first_kthread: usize) -> Result<(), RunError> {
        // The slots before the first task's belong to the idle tasks.
        for c in 0..self.k.cpus() as u32 {
            let idle = crate::behaviour::TaskSpec::new(format!("swapper/{c}"), Never);
            self.register(TaskId(c), Pid(0), idle, Family::default(), TaskOrigin::Machine);
        }
        for (number, spawn) in spawns.into_iter().enumerate() {
            let pid = Pid(FIRST_PID + number as i32);
            let id = new_task(&self.k, self.new_task(pid, &spawn.spec)?);
            debug_assert_eq!(id.index(), self.k.cpus() + number);
            let origin = if number < first_kthread { TaskOrigin::Setup } else { TaskOrigin::Machine };
            self.note_start(pid, &spawn.spec, Some(spawn.at), spawn.cpu);
            self.register(id, pid, spawn.spec, Family::default(), origin);
            // A new task's timer says when it appears.
            self.hw().queue.set(self.with(id, |t| t.timer), spawn.at);
        }
        Ok(())
    }

    /// Programs what will happen from outside.
    fn announce(&self, options: &RunOptions) {
        for (index, message) in self.outside.iter().enumerate() {
            self.hw().at(self.leaves_at(message), Once::Outside(index as u32));
        }
        for (index, setting) in options.settings.iter().enumerate() {
            self.hw().at(setting.at, Once::Setting(index as u32));
        }
        for at in &options.snapshots.at {
            self.hw().at(*at, Once::Snapshot);
        }
        if let Some(Window { from, to }) = options.window {
            if from == Nanos::ZERO {
                // What happens at time 0 is in it.
                self.begin_window();
            } else {
                self.hw().at(from, Once::WindowBegins);
            }
            // One that lasts longer ends with the run.
            if to < options.duration {
                self.hw().at(to, Once::WindowEnds);
            }
        }
        self.hw().start_noise();
        // A path that runs ahead of the queue must stop at the end of the run.
        for end in self.looks.iter().chain([&options.duration]) {
            self.hw().at(*end, Once::End);
        }
    }

    /// When a message from outside sets out: for a tick, half a period before its time, so that the next tick
    /// is the nearest.
    fn leaves_at(&self, message: &Outside) -> Nanos {
        match message.by {
            Arrival::Own => message.at,
            Arrival::Tick => message.at.saturating_sub(self.half_a_tick()),
        }
    }

    fn half_a_tick(&self) -> Nanos {
        Nanos(self.tick_period().0 / 2)
    }

    /// An event happens; the CPU that goes on because of it, if one does.
    #[inline]
    fn happen(&self, source: Source) -> Option<CpuId> {
        match source {
            // A CPU that spins for a lock goes on when it gets it, not when some older plan of it comes due.
            Source::Work(cpu) => {
                self.hw().catch_up(cpu);
                (self.cpu(cpu).mode.get() != Mode::Spinning).then_some(cpu)
            }
            Source::Timer(task) if self.k.task(task).state.get() == TaskState::New => self.appear(task),
            Source::Timer(task) => self.raise(self.k.task(task).cpu.get(), Irq::Timer(task)),
            Source::Tick(cpu) => {
                if !self.is_idle(cpu) {
                    let next = self.next_tick(cpu);
                    self.hw().queue.set(self.hw().tick_slot(cpu), next);
                } else if self.cpu(cpu).by_tick.borrow().is_empty() {
                    return None;
                }
                self.raise(cpu, Irq::Tick)
            }
            Source::IrqOff { cpu, source } => {
                let nobody_notices = self.rests(cpu) && self.kthread_wakes.none_by_irq_off();
                let length = self.hw().stretch_begins(cpu, source as usize, nobody_notices)?;
                self.raise(cpu, Irq::Off { source, length })
            }
            Source::Once(once) => self.happen_once(once),
        }
    }

    /// A task of the setup, or of the machine's background, is to start.
    fn appear(&self, task: TaskId) -> Option<CpuId> {
        let index = task.0 - self.k.cpus() as u32;
        let cpu = self.spawn_cpu(index).filter(|c| c.index() < self.k.cpus());
        self.raise(cpu.unwrap_or_default(), Irq::Spawn(index))
    }

    /// Whether a CPU idles, with nothing on the way that it would find when it looks around.
    fn rests(&self, cpu: CpuId) -> bool {
        let (hw, rq) = (self.cpu(cpu), &self.k.rq(cpu).published);
        hw.mode.get() == Mode::Interruptible
            && rq.curr.get() == self.k.idle_task(cpu)
            && !rq.need_resched.get()
            && hw.pending.borrow().is_empty()
    }

    fn happen_once(&self, once: Once) -> Option<CpuId> {
        match once {
            Once::Ipi { to, ipi } => self.raise(to, Irq::Ipi(ipi)),
            Once::Notice { to, ipi } => self.raise(to, Irq::Notice(ipi)),
            Once::RtPeriod { cpu } => self.raise(cpu, Irq::RtPeriod),
            Once::Outside(index) => {
                let message = self.outside[index as usize];
                if let Some(period) = message.every {
                    self.hw().at(self.hw().now.get() + period.max(Nanos(1)), Once::Outside(index));
                }
                let cpu = message.cpu.unwrap_or_else(|| self.near(message.channel));
                let Outside { by, channel, .. } = message;
                let now = self.hw().now.get();
                match by {
                    Arrival::Own => self.raise(cpu, Irq::Outside(ToldMessage { channel, by, at: now })),
                    Arrival::Tick => {
                        let at = now + self.half_a_tick();
                        self.cpu(cpu).by_tick.borrow_mut().push(ToldMessage { channel, by, at });
                        self.keep_ticking(cpu);
                        None
                    }
                }
            }
            Once::Served(channel) => self.raise(self.near(channel), Irq::Served(channel)),
            Once::Setting(index) => {
                let setting = &self.settings[index as usize];
                if let Err(error) = self.k.config.set(setting) {
                    self.fail(RunError::Setting(error.to_string()));
                }
                self.hw().lock_timing.kind.set(self.k.config.rules.lock_kind.get());
                if let Some(watch) = self.hw().watch() {
                    watch.checker.borrow_mut().settings_changed(&self.k);
                }
                self.raise(CpuId(0), Irq::Settings)
            }
            Once::Snapshot => {
                self.begin_snapshot(self.hw().now.get());
                None
            }
            Once::WindowBegins => {
                self.begin_window();
                None
            }
            Once::WindowEnds => {
                self.end_window(self.hw().now.get());
                None
            }
            // The loop ends when the next event lies behind it.
            Once::End => None,
        }
    }

    /// Where an interrupt for this channel arrives unless somebody says otherwise: where its reader last ran.
    fn near(&self, channel: ChannelId) -> CpuId {
        let reader = self.world.borrow().channels[channel.0 as usize].last_reader;
        reader.map(|reader| self.k.task(reader).cpu.get()).unwrap_or_default()
    }

    /// An interrupt arrives at `cpu`: it is served at once if the CPU takes interrupts, else as soon as it
    /// does.
    #[inline]
    fn raise(&self, cpu: CpuId, irq: Irq) -> Option<CpuId> {
        self.hw().catch_up(cpu);
        let hw = self.cpu(cpu);
        hw.pending.borrow_mut().push_back(irq);
        if hw.mode.get() != Mode::Interruptible {
            return None;
        }
        if hw.ready_at.get() <= self.hw().now.get() {
            return Some(cpu);
        }
        self.hw().queue.set(self.hw().work_slot(cpu), hw.ready_at.get());
        None
    }

    /// Every task but the idle ones; a fork that the end of the run interrupts has a task that is not known
    /// here yet.
    pub fn known_tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        let known = |p: &TaskId| {
            let pid = self.k.task(*p).pid.get();
            self.tasks.borrow().get(p.index()).is_some_and(|t| t.pid == pid)
        };
        self.k.tasks.iter().skip(self.k.cpus()).filter(known)
    }

    /// Writes down what is known of a task that is about to give its slot back.
    pub fn bury(&self, p: TaskId) {
        self.snapshot_of_exited(p);
        let outcome = self.task_outcome(p, self.hw().recorder.take_latency(p));
        self.finished.borrow_mut().push(outcome);
    }

    /// A task, with what has been recorded of its latencies.
    pub fn task_outcome(&self, p: TaskId, wakeup_latency: Option<Box<Latency>>) -> TaskOutcome {
        let task = self.k.task(p);
        if self.with(p, |t| !t.time_under.is_empty()) {
            self.account_under(p, self.served(p));
        }
        self.with(p, |t| TaskOutcome {
            task: p,
            pid: t.pid,
            comm: t.comm.clone(),
            policy: task.policy.get(),
            nice: task.nice.get(),
            cpus: task.cpus_allowed.get(),
            time_under: t.time_under.clone(),
            origin: t.origin,
            exited: t.exited,
            iterations: t.iterations,
            counters: self.counters(p),
            wait_sum: task.stats.wait_sum.get(),
            wakeup_latency,
        })
    }

    /// The tasks that still live, if all of them sleep and neither a timer nor anything from outside will
    /// wake one.
    fn stalled(&self, end: Nanos) -> Vec<StuckTask> {
        let queue = &self.hw().queue;
        let asleep = |p: TaskId| {
            // A spinner for a mutex has the state of a sleeper, too; but then its owner runs.
            let state = self.k.task(p).state.get();
            matches!(state, TaskState::Interruptible | TaskState::Uninterruptible)
                && !queue.is_set(self.with(p, |t| t.timer))
        };
        let serving = |device: &Device| device.is_busy(end);
        let living = || self.known_tasks().filter(|p| self.with(*p, |t| t.origin != TaskOrigin::Machine));
        let to_come = self.outside.iter().any(|m| m.at > end || m.every.is_some())
            || self.hw().cpus.iter().any(|cpu| !cpu.by_tick.borrow().is_empty())
            || self.world.borrow().devices.iter().any(serving);
        if to_come || !living().all(asleep) {
            return Vec::new();
        }
        let stuck = |p| {
            let waits_for = self.waits_for(p);
            self.with(p, |t| StuckTask { pid: t.pid, comm: t.comm.clone(), waits_for })
        };
        living().map(stuck).collect()
    }

    fn outcome(&self, end: Nanos) -> Outcome {
        let mut tasks = self.finished.take();
        let living = self.known_tasks();
        tasks.extend(living.map(|p| self.task_outcome(p, self.hw().recorder.take_latency(p))));
        tasks.sort_by_key(|t| t.pid);
        // Each was written down at its CPU's local time.
        let mut comms = self.comms.take();
        comms.sort_by_key(|c| c.since);
        let (snapshots, exited) = self.snapshots.take();
        let totals = self.totals();
        Outcome {
            simulated: end,
            events: totals.wakeups + totals.context_switches,
            tasks,
            cpus: self.cpu_outcomes(end),
            totals,
            decisions: self.decisions().filter(|d| d.count > 0).collect(),
            stalled: self.stalled(end),
            outside_lost: self.outside_lost.get(),
            spinlock_sleeps: self.spinlock_sleeps(),
            lock_holder_preemptions: self.lock_holder_preemptions.get(),
            cache_refill: self.cache_refill.get(),
            idle_polls: self.idle_polls,
            ticks_at: self.ticks_at.clone(),
            trace: self.hw().recorder.take_trace(),
            lock_waits: self.hw().recorder.take_lock_waits(),
            starts: self.hw().recorder.take_starts(),
            objects: self.world.borrow().objects(&self.mutexes),
            comms,
            snapshots,
            exited,
            window: self.take_window(),
        }
    }
}

/// What the idle tasks' slots hold: it is never asked.
#[derive(Debug)]
struct Never;

impl crate::behaviour::Behaviour for Never {
    fn next(&mut self, _: &mut crate::behaviour::Env<'_>) -> crate::behaviour::Step {
        crate::behaviour::Step::Exit
    }
}
