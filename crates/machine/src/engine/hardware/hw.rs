//! The hardware: the clock, the locks and lines, interrupts on their way. It is the scheduler's [`Platform`].
//!
//! One path is executed at a time. Costs it is charged add up as a *debt*; the debt is settled where other
//! CPUs may act: before it takes a run-queue lock. If nothing else happens before the settled time, the clock
//! just advances.

use super::cpu::{CpuHw, Mode};
use super::lines::LineTable;
use super::locks::{Attempt, LockStats, LockTiming, SpinState};
use super::noise::CpuNoise;
use super::push_ipis::PushIpis;
use super::queue::{EventQueue, Slot};
use super::wake_paths::Paths;
use crate::engine::observe::check::Watch;
use crate::engine::record::recorder::{LockWait, Recorder};
use crate::objects::ChannelId;
use crate::paths::WakePaths;
use crate::rng::{Purpose, Rng};
use crate::spec::MachineSpec;
use scheduler::platform::{Access, Cost, Ipi, Line, Lock, Platform};
use scheduler::registry::LockKind;
use scheduler::{CpuId, Event, MutexId, Nanos, TaskId, ThisCpu};
use std::cell::{Cell, OnceCell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something that fires once, not owned by a CPU or a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Once {
    /// An inter-processor interrupt arrives.
    Ipi { to: CpuId, ipi: Ipi },
    /// The same for a CPU whose idle loop polls: it notices by itself, without an interrupt.
    Notice { to: CpuId, ipi: Ipi },
    /// The real-time period timer; one for the machine, on CPU 0.
    RtPeriod { cpu: CpuId },
    /// A scheduled change of the settings, by index.
    Setting(u32),
    /// A message from outside arrives, by index.
    Outside(u32),
    /// A device has served a request and reports so on this channel.
    Served(ChannelId),
    /// A snapshot is to be taken.
    Snapshot,
    /// The stretch that is measured begins.
    WindowBegins,
    /// It ends.
    WindowEnds,
    /// The run ends, or may end; keeps paths from running ahead of it.
    End,
}

/// What a slot of the event queue stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// A CPU goes on with what it does.
    Work(CpuId),
    /// A CPU's tick.
    Tick(CpuId),
    /// A stretch with interrupts off begins on a CPU; the source is an index into the machine's noise.
    IrqOff { cpu: CpuId, source: u32 },
    /// A task's timer; that of a new task says when it appears.
    Timer(TaskId),
    /// A one-shot event; the slot is free again afterwards.
    Once(Once),
}

/// The hardware.
#[derive(Debug)]
pub(crate) struct Hw {
    pub spec: MachineSpec,
    pub now: Cell<Nanos>,
    pub debt: Cell<Nanos>,
    pub queue: EventQueue,
    pub sources: RefCell<Vec<Source>>,
    free_slots: RefCell<Vec<Slot>>,
    /// How many slots each CPU has, one beside the other: work, tick, sources of noise.
    slots_per_cpu: u32,
    pub cpus: Vec<CpuHw>,
    pub lock_timing: LockTiming,
    rq_locks: Vec<RefCell<SpinState>>,
    other_locks: RefCell<OtherLocks>,
    lines: LineTable,
    pub push_ipis: PushIpis,
    pub recorder: Recorder,
    /// Set if the run is checked.
    watch: OnceCell<Watch>,
    /// How long ways from wakeups to the woken tasks take, if that is known.
    pub paths: Option<Paths>,
    /// Whether there is a trace, a checker or such ways, who want to know of every event.
    observed: Cell<bool>,
}

/// Locks other than those of run queues; they are rarely contended.
#[derive(Debug)]
struct OtherLocks {
    pi: Vec<SpinState>,
    mutex: Vec<SpinState>,
    rto: SpinState,
    walker: Vec<SpinState>,
}

impl OtherLocks {
    fn get(&mut self, lock: Lock) -> &mut SpinState {
        fn grown(states: &mut Vec<SpinState>, index: usize) -> &mut SpinState {
            if index >= states.len() {
                states.resize_with(index + 1, SpinState::default);
            }
            &mut states[index]
        }
        match lock {
            Lock::Pi(TaskId(task)) => grown(&mut self.pi, task as usize),
            Lock::MutexWait(MutexId(mutex)) => grown(&mut self.mutex, mutex as usize),
            Lock::PushWalker(cpu) => grown(&mut self.walker, cpu.index()),
            Lock::Rto => &mut self.rto,
            Lock::Rq(_) => unreachable!("run-queue locks have their own table"),
        }
    }
}

impl Hw {
    /// The random streams of its CPUs derive from `seed`.
    pub fn new(
        spec: MachineSpec,
        kind: LockKind,
        seed: u64,
        recorder: Recorder,
        paths: Option<WakePaths>,
    ) -> Hw {
        let n = spec.topology.cpus;
        let noise_sources = spec.noise.irq_off.len();
        let queue = EventQueue::default();
        let mut sources = Vec::new();
        for cpu in (0..n as u16).map(CpuId) {
            sources.extend([Source::Work(cpu), Source::Tick(cpu)]);
            sources.extend((0..noise_sources as u32).map(|source| Source::IrqOff { cpu, source }));
        }
        for _ in &sources {
            queue.add_slot();
        }
        let cpu = |c: usize| {
            let noise = CpuNoise::new(Rng::keyed(seed, Purpose::CpuNoise, c as u64), noise_sources);
            CpuHw::new(TaskId(c as u32), noise)
        };
        Hw {
            now: Cell::new(Nanos::ZERO),
            debt: Cell::new(Nanos::ZERO),
            queue,
            sources: RefCell::new(sources),
            free_slots: RefCell::default(),
            slots_per_cpu: 2 + noise_sources as u32,
            cpus: (0..n).map(cpu).collect(),
            lock_timing: LockTiming::new(&spec, kind),
            rq_locks: (0..n).map(|_| RefCell::default()).collect(),
            other_locks: RefCell::new(OtherLocks {
                pi: Vec::new(),
                mutex: Vec::new(),
                rto: SpinState::default(),
                walker: Vec::new(),
            }),
            lines: LineTable::new(n),
            push_ipis: PushIpis::new(n),
            observed: Cell::new(recorder.is_traced() || paths.is_some()),
            paths: paths.map(Paths::new),
            recorder,
            watch: OnceCell::new(),
            spec,
        }
    }

    /// Lets `watch` look at everything that happens from now on.
    pub fn be_watched_by(&self, watch: Watch) {
        if self.watch.set(watch).is_ok() {
            self.observed.set(true);
        }
    }

    /// Who watches, if the run is checked.
    #[inline]
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.get()
    }

    #[cold]
    #[inline(never)]
    fn tell(&self, me: ThisCpu<'_, Hw>, event: Event) {
        self.recorder.event(me, self.local_now(), event);
        if let Some(paths) = &self.paths {
            paths.event(me, self.local_now(), event);
        }
        if let Some(watch) = self.watch() {
            watch.checker.borrow_mut().event(me, event);
        }
    }

    pub fn work_slot(&self, cpu: CpuId) -> Slot {
        Slot(u32::from(cpu.0) * self.slots_per_cpu)
    }

    pub fn tick_slot(&self, cpu: CpuId) -> Slot {
        Slot(self.work_slot(cpu).0 + 1)
    }

    pub fn noise_slot(&self, cpu: CpuId, source: usize) -> Slot {
        Slot(self.work_slot(cpu).0 + 2 + source as u32)
    }

    /// A slot for a source that lives as long as the run.
    pub fn add_slot(&self, source: Source) -> Slot {
        self.sources.borrow_mut().push(source);
        self.queue.add_slot()
    }

    /// Lets a one-shot event happen at `at`.
    pub fn at(&self, at: Nanos, once: Once) {
        let free = self.free_slots.borrow_mut().pop();
        let slot = match free {
            Some(slot) => {
                self.sources.borrow_mut()[slot.0 as usize] = Source::Once(once);
                slot
            }
            None => self.add_slot(Source::Once(once)),
        };
        self.queue.set(slot, at);
    }

    /// Takes the next event that lies before or at `end` and moves the clock there. A part of the engine's
    /// loop: what is to happen does not go through memory.
    #[inline(always)]
    pub fn next_event(&self, end: Nanos) -> Option<Source> {
        let time = self.queue.next_time();
        if time > end {
            return None;
        }
        let slot = self.queue.pop()?;
        self.now.set(time);
        let source = self.sources.borrow()[slot.0 as usize];
        if matches!(source, Source::Once(_)) {
            self.free_slots.borrow_mut().push(slot);
        }
        Some(source)
    }

    pub fn charge_ns(&self, cost: Nanos) {
        self.debt.set(self.debt.get() + cost);
    }

    pub fn local_now(&self) -> Nanos {
        self.now.get() + self.debt.get()
    }

    /// Lets the time that the path has been charged pass, if nothing else happens meanwhile. Whether no debt
    /// is left.
    #[inline]
    fn run_ahead(&self) -> bool {
        let then = self.local_now();
        if self.queue.next_time() > then {
            self.now.set(then);
            self.debt.set(Nanos::ZERO);
        }
        self.debt.get() == Nanos::ZERO
    }

    /// Gives control back to the engine until this CPU's work slot fires (or, if interruptible, an interrupt
    /// comes).
    #[inline]
    pub fn suspend(&self, me: CpuId, meanwhile: Mode) -> Suspend<'_> {
        let mode = &self.cpus[me.index()].mode;
        mode.set(meanwhile);
        Suspend { mode, entered: false }
    }

    pub fn lock_stats(&self, cpu: CpuId) -> LockStats {
        self.rq_locks[cpu.index()].borrow().stats
    }

    /// The longest waits and the most waiters count anew from now on.
    pub fn forget_maxima(&self) {
        for lock in &self.rq_locks {
            lock.borrow_mut().stats.forget_maxima();
        }
        self.push_ipis.forget_most();
    }

    /// A CPU has spun for a lock and has it now.
    fn waited(&self, me: CpuId, lock: Lock, since: Nanos) {
        if let Lock::Rq(of) = lock {
            self.recorder.lock_wait(LockWait { cpu: me, of, since, until: self.local_now() });
        }
    }

    #[inline]
    fn take_if_free(&self, me: CpuId, lock: Lock) -> bool {
        let taken = self.with_lock(lock, |l| l.try_acquire(me, self.local_now(), &self.lock_timing));
        taken.inspect(|cost| self.charge_ns(*cost)).is_some()
    }

    #[inline]
    fn with_lock<T>(&self, lock: Lock, f: impl FnOnce(&mut SpinState) -> T) -> T {
        match lock {
            Lock::Rq(cpu) => f(&mut self.rq_locks[cpu.index()].borrow_mut()),
            other => f(self.other_locks.borrow_mut().get(other)),
        }
    }
}

// The innermost of all futures are written by hand: polling one is a few instructions within whoever awaits
// it.

/// Pending once; then the CPU is in a path again.
pub(crate) struct Suspend<'h> {
    mode: &'h Cell<Mode>,
    entered: bool,
}

impl Future for Suspend<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.entered, true) {
            self.mode.set(Mode::InPath);
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// The wait for the time that a path has been charged, interrupts off; none if it can pass at once.
pub(crate) struct Settle<'h> {
    hw: &'h Hw,
    me: CpuId,
    waits: bool,
}

impl Future for Settle<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.waits || self.hw.run_ahead() {
            return Poll::Ready(());
        }
        self.hw.queue.set(self.hw.work_slot(self.me), self.hw.local_now());
        self.hw.debt.set(Nanos::ZERO);
        self.waits = true;
        Poll::Pending
    }
}

/// How long a busy-wait looks away between two looks.
const RELAX: Nanos = Nanos(50);

impl Platform for Hw {
    #[inline]
    fn now(&self) -> Nanos {
        self.local_now()
    }

    #[inline]
    fn settle(&self, me: CpuId) -> impl Future<Output = ()> {
        Settle { hw: self, me, waits: false }
    }

    // The order in which CPUs reach a run queue is part of the behaviour; the small locks are taken in
    // passing.

    #[inline]
    fn acquire_at_once(&self, me: CpuId, lock: Lock) -> bool {
        (!matches!(lock, Lock::Rq(_)) || self.run_ahead()) && self.take_if_free(me, lock)
    }

    #[inline]
    fn try_acquire_at_once(&self, me: CpuId, lock: Lock) -> Option<bool> {
        self.run_ahead().then(|| self.take_if_free(me, lock))
    }

    async fn acquire(&self, me: CpuId, lock: Lock) {
        if matches!(lock, Lock::Rq(_)) {
            self.settle(me).await;
        }
        let since = self.local_now();
        let holds_own = lock != Lock::Rq(me) && self.rq_locks[me.index()].borrow().is_held_by(me);
        match self.with_lock(lock, |l| l.acquire(me, since, holds_own, &self.lock_timing)) {
            Attempt::Taken { cost } => self.charge_ns(cost),
            Attempt::TakenAt(at) => {
                self.charge_ns(at.saturating_sub(self.local_now()));
                self.settle(me).await;
                self.waited(me, lock, since);
            }
            Attempt::Queued => {
                // What was charged passes while it spins.
                self.debt.set(Nanos::ZERO);
                self.suspend(me, Mode::Spinning).await;
                self.waited(me, lock, since);
            }
        }
    }

    async fn try_acquire(&self, me: CpuId, lock: Lock) -> bool {
        self.settle(me).await;
        self.take_if_free(me, lock)
    }

    #[inline]
    fn release(&self, _me: CpuId, lock: Lock) {
        if let Some(next) = self.with_lock(lock, |l| l.release(self.local_now(), &self.lock_timing)) {
            self.queue.set(self.work_slot(next.to), next.at);
            self.cpus[next.to.index()].mode.set(Mode::InPath);
        }
    }

    async fn relax(&self, me: CpuId) {
        self.charge_ns(RELAX);
        // Through the queue even if nothing else is due: the CPU that is waited for may be about to act at
        // this time.
        let then = self.local_now();
        self.debt.set(Nanos::ZERO);
        self.queue.set(self.work_slot(me), then);
        self.suspend(me, Mode::InPath).await;
    }

    fn look_again(&self, me: ThisCpu<'_, Hw>, spinner: TaskId) {
        let at = me.task(spinner).cpu.get();
        let there = &self.cpus[at.index()];
        // A CPU that serves an interrupt, or has another task by now, looks by itself.
        if me.k.rq(at).published.curr.get() == spinner && there.mode.get() == Mode::Interruptible {
            let noticed = self.local_now() + self.lock_timing.transfers.get(me.id, at);
            self.queue.set_earlier(self.work_slot(at), noticed.max(there.ready_at.get()));
        }
    }

    #[inline]
    fn charge(&self, cost: Cost) {
        let c = &self.spec.costs;
        self.charge_ns(match cost {
            Cost::Schedule => c.schedule,
            Cost::ContextSwitch => c.context_switch,
            Cost::Enqueue => c.enqueue,
            Cost::Dequeue => c.dequeue,
            Cost::Wakeup => c.wakeup,
            Cost::Tick => c.tick,
            Cost::ScanCpu => c.scan_cpu,
            Cost::ScanTask => c.scan_task,
            Cost::SetPrio => c.set_prio,
        });
    }

    #[inline(always)]
    fn touch(&self, me: CpuId, line: Line, access: Access) {
        let now = self.local_now();
        let cost = self.lines.touch(me, now, line, access, &self.lock_timing.transfers);
        self.charge_ns(cost);
    }

    fn send_ipi(&self, from: CpuId, to: CpuId, ipi: Ipi) {
        // The flag that goes with it is also seen after a stretch of noise, should one begin on the way.
        self.catch_up(to);
        if let Some(watch) = self.watch() {
            watch.checker.borrow_mut().ipi_sent(to, ipi);
        }
        if matches!(ipi, Ipi::Reschedule | Ipi::Wakeup) && self.cpus[to.index()].polling.get() {
            let noticed = self.local_now() + self.lock_timing.transfers.get(from, to);
            return self.at(noticed, Once::Notice { to, ipi });
        }
        let sent = &self.cpus[from.index()].ipis_sent;
        sent.set(sent.get() + 1);
        self.charge_ns(self.spec.costs.ipi_send);
        let latency = self.spec.costs.ipi.at(self.spec.distance(from, to));
        self.at(self.local_now() + latency, Once::Ipi { to, ipi });
        if let Ipi::Push(source) = ipi {
            self.push_ipis.sent(source);
        }
    }

    fn start_rt_period_timer(&self, at: Nanos) {
        self.at(at, Once::RtPeriod { cpu: CpuId(0) });
    }

    #[inline(always)]
    fn event(&self, me: ThisCpu<'_, Self>, event: Event) {
        if let Event::Switch { prev, next, .. } = event {
            self.recorder.switched(me, self.local_now(), prev, next);
        }
        if self.observed.get() {
            self.tell(me, event);
        }
    }
}
