//! The hardware of a machine: one clock, one queue of events, its CPUs, locks and cache lines, and who is
//! told of what happens. How time passes is in [`super::time`], what the scheduler sees of it in
//! [`super::platform`].

use super::cpu::CpuHw;
use super::energy::EnergyMeters;
use super::idle::IdleCpus;
use super::lines::LineTable;
use super::locks::LockTable;
use super::pace::Paces;
use super::push_ipis::PushIpis;
use super::queue::EventQueue;
use super::source::{OneShot, Source};
use super::wake_paths::Paths;
use super::winners::Slot;
use crate::engine::record::{Recorder, Watch};
use crate::paths::WakePaths;
use crate::rng::{Purpose, Rng};
use crate::spec::{IdleMonitor, MachineSpec};
use scheduler::registry::LockKind;
use scheduler::{CpuId, CpuMask, Nanos, TaskId};
use schema::RqLockStats;
use std::cell::{Cell, OnceCell, RefCell};

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Hw {
    pub spec: MachineSpec,
    pub now: Cell<Nanos>,
    /// What the executing path has been charged and has not paid.
    pub debt: Cell<Nanos>,
    /// How fast CPUs execute, and what decides that.
    pub paces: Paces,
    pub queue: EventQueue,
    /// What each slot of the queue stands for.
    sources: RefCell<Vec<Source>>,
    /// What is to happen once.
    one_shots: RefCell<Vec<OneShot>>,
    free_slots: RefCell<Vec<FreeSlot>>,
    /// How many slots each CPU has beside the one of its work, next to each other: tick, sources of noise.
    slots_per_cpu: u32,
    pub cpus: Vec<CpuHw>,
    /// How idle CPUs wait in this run.
    pub idle_monitor: IdleMonitor,
    /// In which states they do, where there are several.
    pub idle: Option<IdleCpus>,
    /// CPUs that may stop their tick beside a task.
    pub nohz_full: CpuMask,
    pub locks: LockTable,
    pub lines: LineTable,
    pub push_ipis: PushIpis,
    pub energy: EnergyMeters,
    /// When the real-time period timer expires next.
    pub rt_period: Cell<Nanos>,
    pub recorder: Recorder,
    /// Set if the run is checked.
    watch: OnceCell<Watch>,
    /// How long ways from wakeups to the woken tasks take, if that is known.
    pub paths: Option<Paths>,
    /// Whether there is a trace, a checker or such ways, who want to know of every event.
    pub observed: Cell<bool>,
}

/// A slot for what happens once, that nothing uses.
#[derive(Clone, Copy, Debug)]
struct FreeSlot {
    slot: Slot,
    /// Where what it stands for is kept.
    place: u32,
}

/// What a CPU that may stop its tick pays for each way into the kernel and out again: the middle of 0.5 to
/// 1 us (deadline-groups B10 [I]).
const CONTEXT_TRACKING: Nanos = Nanos(750);

/// What a machine's hardware is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub spec: MachineSpec,
    /// So many tasks will be there from the start, beside the idle ones.
    pub spawned: usize,
    /// The kernel's kind of spinlocks.
    pub lock_kind: LockKind,
    /// The random streams of the CPUs derive from it.
    pub seed: u64,
    pub recorder: Recorder,
    pub paths: Option<WakePaths>,
    pub idle_monitor: IdleMonitor,
    /// Longer than this nobody wants to wait for an idle CPU.
    pub latency_limit: Nanos,
    pub root_domains: usize,
    pub nohz_full: CpuMask,
}

impl Hw {
    /// Nothing has happened on it.
    pub fn new(parts: Parts) -> Hw {
        let Parts { spec, spawned, lock_kind, seed, recorder, paths, .. } = parts;
        let Parts { idle_monitor, latency_limit, root_domains, nohz_full, .. } = parts;
        let n = spec.topology.cpus;
        let noise_sources = spec.noise.irq_off.len();
        let cpu_ids = (0..n as u16).map(CpuId);
        let queue = EventQueue::with_busy_slots(n as u32);
        let mut sources = Vec::with_capacity(n * (2 + noise_sources) + spawned);
        sources.extend(cpu_ids.clone().map(Source::Work));
        for cpu in cpu_ids {
            sources.push(Source::Tick(cpu));
            sources.extend((0..noise_sources as u32).map(|source| Source::IrqOff { cpu, source }));
        }
        for _ in n..sources.len() {
            queue.add_slot();
        }
        let paces = Paces::new(&spec);
        let cpu = |c: usize| {
            let dice = Rng::keyed(seed, Purpose::CpuNoise, c as u64);
            let scheduler_dice = Rng::keyed(seed, Purpose::Scheduler, c as u64);
            let rate = paces.of_idle(CpuId(c as u16));
            CpuHw::new(TaskId(c as u32), rate, dice, scheduler_dice, noise_sources)
        };
        Hw {
            now: Cell::new(Nanos::ZERO),
            debt: Cell::new(Nanos::ZERO),
            queue,
            sources: RefCell::new(sources),
            one_shots: RefCell::default(),
            free_slots: RefCell::default(),
            slots_per_cpu: 1 + noise_sources as u32,
            cpus: (0..n).map(cpu).collect(),
            paces,
            idle_monitor,
            idle: spec.idle.as_ref().map(|states| IdleCpus::new(states, n, latency_limit, seed)),
            nohz_full,
            locks: LockTable::new(&spec, lock_kind, 2 * n + spawned),
            lines: LineTable::new(n, root_domains, 2 * n + spawned),
            push_ipis: PushIpis::new(n),
            energy: EnergyMeters::new(&spec),
            rt_period: Cell::new(Nanos::ZERO),
            observed: Cell::new(recorder.is_traced() || paths.is_some()),
            paths: paths.map(|known| Paths::new(known, seed)),
            recorder,
            watch: OnceCell::new(),
            spec,
        }
    }

    /// A CPU's hardware.
    #[inline]
    pub fn cpu(&self, cpu: CpuId) -> &CpuHw {
        &self.cpus[cpu.index()]
    }

    /// Lets `watch` look at everything that happens from now on.
    pub fn set_watch(&self, watch: Watch) {
        if self.watch.set(watch).is_ok() {
            self.observed.set(true);
        }
    }

    /// Who watches, if the run is checked.
    #[inline]
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.get()
    }

    /// The slot in which a CPU goes on with what it does.
    pub fn work_slot(&self, cpu: CpuId) -> Slot {
        Slot(u32::from(cpu.0))
    }

    fn tick_slot(&self, cpu: CpuId) -> Slot {
        Slot(self.cpus.len() as u32 + u32::from(cpu.0) * self.slots_per_cpu)
    }

    /// Lets a CPU tick at `at`.
    pub fn tick_at(&self, cpu: CpuId, at: Nanos) {
        self.cpu(cpu).ticks.set(true);
        self.cpu(cpu).next_tick.set(at);
        self.queue.set(self.tick_slot(cpu), at);
    }

    /// It ticks no more.
    pub fn stop_tick(&self, cpu: CpuId) {
        self.cpu(cpu).ticks.set(false);
        self.queue.clear(self.tick_slot(cpu));
    }

    /// When the next timer of a CPU expires that is not its tick, as far as the hardware has to know;
    /// [`Nanos::NEVER`] without one.
    pub fn next_timer(&self, cpu: CpuId) -> Nanos {
        let hw = self.cpu(cpu);
        let of_deadlines = hw.deadline.get().and_then(|slot| self.queue.time_of(slot));
        let of_rt_period = Some(self.rt_period.get()).filter(|at| cpu == CpuId(0) && *at > self.now.get());
        let of_kernel = of_deadlines.into_iter().chain(of_rt_period).min();
        hw.timers_set.borrow().first().into_iter().chain(of_kernel).min().unwrap_or(Nanos::NEVER)
    }

    /// What it takes a CPU that wakes up to leave its idle state, if it has to.
    #[inline]
    pub fn leaves_halt(&self, cpu: CpuId) -> Option<Nanos> {
        self.cpu(cpu).halted.take().then(|| match &self.idle {
            None => self.spec.costs.idle_exit,
            Some(idle) => idle.leaving(cpu),
        })
    }

    /// What entering and leaving the kernel costs more on a CPU that may stop its tick: it tells each time
    /// where it is, so that nobody waits for it (deadline-groups B10).
    #[inline]
    pub fn context_tracking(&self, cpu: CpuId) -> Nanos {
        // Where the kernel costs nothing, this does neither.
        let costs = self.nohz_full.contains(cpu) && self.spec.costs.syscall > Nanos::ZERO;
        if costs { CONTEXT_TRACKING } else { Nanos::ZERO }
    }

    /// The CPU that serves a timer that `cpu` sets for `expires`: its own, unless it may stop its tick and a
    /// housekeeping CPU ticks before.
    pub fn timer_base(&self, cpu: CpuId, expires: Nanos) -> CpuId {
        if !self.nohz_full.contains(cpu) {
            return cpu;
        }
        let housekeeping = CpuMask::first_n(self.cpus.len()).without(&self.nohz_full);
        let ticks_before = |other: &CpuId| {
            let other = self.cpu(*other);
            other.ticks.get() && other.next_tick.get() < expires
        };
        housekeeping.iter().find(ticks_before).unwrap_or(cpu)
    }

    /// That of a source of its noise, by number.
    pub fn noise_slot(&self, cpu: CpuId, source: usize) -> Slot {
        Slot(self.tick_slot(cpu).0 + 1 + source as u32)
    }

    /// A slot for a source that lives as long as the run.
    pub fn add_slot(&self, source: Source) -> Slot {
        self.sources.borrow_mut().push(source);
        self.queue.add_slot()
    }

    /// What a slot stands for.
    pub fn source(&self, slot: Slot) -> Source {
        self.sources.borrow()[slot.0 as usize]
    }

    /// Lets a one-shot event happen at `at`.
    pub fn at(&self, at: Nanos, once: OneShot) {
        let free = self.free_slots.borrow_mut().pop();
        let FreeSlot { slot, place } = free.unwrap_or_else(|| self.add_one_shot());
        self.one_shots.borrow_mut()[place as usize] = once;
        self.queue.set(slot, at);
    }

    fn add_one_shot(&self) -> FreeSlot {
        let mut one_shots = self.one_shots.borrow_mut();
        let place = one_shots.len() as u32;
        one_shots.push(OneShot::End);
        FreeSlot { slot: self.add_slot(Source::OneShot(place)), place }
    }

    /// What was to happen once, and happens now.
    pub fn one_shot(&self, place: u32) -> OneShot {
        self.one_shots.borrow()[place as usize]
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
        let source = self.source(slot);
        if let Source::OneShot(place) = source {
            self.free_slots.borrow_mut().push(FreeSlot { slot, place });
        }
        Some(source)
    }

    /// Counters of a CPU's run-queue lock.
    pub fn lock_stats(&self, cpu: CpuId) -> RqLockStats {
        self.locks.rq(cpu).borrow().stats()
    }

    /// The longest waits and the most waiters count anew from now on.
    pub fn forget_maxima(&self) {
        self.locks.forget_maxima();
        self.push_ipis.forget_most();
    }
}
