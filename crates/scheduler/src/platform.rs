//! The only seam between the scheduler and the world: a clock, locks that take time, costs, interrupts,
//! events.

use crate::frequency::FrequencyDomain;
use crate::{CpuId, Event, MutexId, Nanos, RootId, TaskId, ThisCpu};
use core::future::Future;

/// What the scheduler runs on. The machine crate implements it with simulated hardware; unit tests with locks
/// that are always free.
///
/// One kernel path is executed at a time; [`Platform::now`] and [`Platform::charge`] speak of that path. **An
/// `.await` on a method here means: virtual time may pass and other CPUs may act.**
pub trait Platform: Sized {
    /// The executing CPU's clock, costs charged so far included.
    fn now(&self) -> Nanos;

    /// Time that interrupts have taken of `cpu` so far, as far as the kernel measures it: up to the last end
    /// of one, or the last begin of one within another. None on a platform whose kernel does not
    /// (`irq_accounting=off`).
    fn interrupt_time(&self, _cpu: CpuId) -> Nanos {
        Nanos::ZERO
    }

    /// Lets the time pass that the executing path has been charged, as far as other CPUs may act in it. Locks
    /// of run queues do so by themselves; who has done it before finds most of them free at once.
    fn settle(&self, _me: CpuId) -> impl Future<Output = ()> {
        core::future::ready(())
    }

    /// Takes `lock` if that is possible before any other CPU can act: a shorter way to do what
    /// [`Platform::acquire`] does, for most cases. A platform need not have one.
    fn acquire_at_once(&self, _me: CpuId, _lock: Lock) -> bool {
        false
    }

    /// Spins until `lock` is taken by `me`.
    fn acquire(&self, me: CpuId, lock: Lock) -> impl Future<Output = ()>;

    /// Takes `lock` if it is free at this moment.
    fn try_acquire(&self, me: CpuId, lock: Lock) -> impl Future<Output = bool>;

    /// The same without a wait: whether it was free; `None` if another CPU may act first. A platform need not
    /// have one.
    fn try_acquire_at_once(&self, _me: CpuId, _lock: Lock) -> Option<bool> {
        None
    }

    /// Gives `lock` up at the executing path's present time.
    fn release(&self, me: CpuId, lock: Lock);

    /// Lets a moment pass in a busy-wait for another CPU (cpu_relax).
    fn relax(&self, me: CpuId) -> impl Future<Output = ()>;

    /// `spinner` executes while it waits for another task, and what it watches has changed: it is to look
    /// again as soon as the news reaches its CPU. A platform on which spinners look all the time has nothing
    /// to do.
    fn look_again(&self, _me: ThisCpu<'_, Self>, _spinner: TaskId) {}

    /// Adds the cost of a piece of work to the executing path.
    fn charge(&self, cost: Cost);

    /// Reads or writes a cache line that CPUs share, paying for its transfer and for the queue in front of
    /// it.
    fn touch(&self, me: CpuId, line: Line, access: Access);

    /// Looks at what several CPUs publish, as searching and balancing do: pays for each and for its line.
    fn scan(&self, me: CpuId, cpus: impl Iterator<Item = CpuId>) {
        for cpu in cpus {
            self.charge(Cost::ScanCpu);
            self.touch(me, Line::Rq(cpu), Access::Read);
        }
    }

    /// Sends an interrupt. Sending to itself is allowed.
    fn send_ipi(&self, from: CpuId, to: CpuId, ipi: Ipi);

    /// A random number below `below`, from a stream that nothing else draws from.
    fn random(&self, me: CpuId, below: u64) -> u64;

    /// Starts the real-time period timer; [`crate::rt::sched_rt_period_timer`] is to be called at `at`.
    fn start_rt_period_timer(&self, at: Nanos);

    /// Lets the timer of `cpu` that ends a turn fire at `at`, or not at all; [`crate::tick::hrtick`] is to be
    /// called there then.
    fn set_hrtick(&self, cpu: CpuId, at: Option<Nanos>);

    /// Lets the timer of `cpu` for deadline entities fire at `at`, or not at all; [`crate::dl::dl_timer`] is
    /// to be called there then.
    fn set_dl_timer(&self, cpu: CpuId, at: Option<Nanos>);

    /// Whether somebody decides when the tick of an idle CPU stops ([`crate::tick::idle_tick_stops`]), where
    /// the kernel lets him (rule `idle_tick`).
    fn has_idle_governor(&self) -> bool {
        false
    }

    /// The exit latency of the idle state that a CPU is in (idle_get_state); `None` while it is in none, or
    /// on a platform that has one state.
    fn idle_state_latency(&self, _cpu: CpuId) -> Option<Nanos> {
        None
    }

    /// The CPUs of a domain run at another of its levels from now on.
    fn frequency_changes(&self, _me: ThisCpu<'_, Self>, _domain: &FrequencyDomain, _level: usize) {}

    /// Something happened that tracepoints and counters tell about. The platform may look at the tasks
    /// involved.
    fn event(&self, me: ThisCpu<'_, Self>, event: Event);
}

/// A spinlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// A CPU's run queue.
    Rq(CpuId),
    /// A task's pi_lock, which serialises its wakeups and parameter changes.
    Pi(TaskId),
    /// A mutex's wait_lock.
    MutexWait(MutexId),
    /// A root domain's rto_lock (rt-class 6.4).
    Rto(RootId),
    /// The walker lock in a run queue (rt-class 6.3).
    PushWalker(CpuId),
}

/// A cache line that several CPUs read and write (rt-class 10.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// What a run queue publishes beside its lock: curr, highest_prio, next, load.
    Rq(CpuId),
    /// One of a root domain.
    Root(RootId, RootLine),
    /// A CPU's list of queued remote wakeups.
    WakeList(CpuId),
    /// A task's structure.
    Task(TaskId),
}

/// A cache line of a root domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootLine {
    /// rto_count and rto_mask.
    Rto,
    /// dlo_count and dlo_mask.
    Dlo,
    /// cpudl: its lock, heap and mask.
    Cpudl,
    /// One level of cpupri: its mask (6.1), or its lock and mask.
    CpupriLevel(u8),
    /// The counts of four consecutive cpupri levels, by level / 4 (3.2 on).
    CpupriCounts(u8),
    /// The bitmap of active cpupri levels (up to 3.1).
    CpupriActive,
    /// rto_loop_next and the gate (2017). A source CPU's walker flags (2015) lie on its [`Line::Rq`].
    PushRequest,
}

/// How a line is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Shared copy is enough.
    Read,
    /// Exclusive copy, invalidates the others.
    Write,
}

/// A piece of work whose cost the machine file states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Fixed part of schedule(): entry, bookkeeping, pick.
    Schedule,
    /// Switching to another task.
    ContextSwitch,
    /// Inserting a task into a run queue.
    Enqueue,
    /// Removing one.
    Dequeue,
    /// Fixed part of a wakeup.
    Wakeup,
    /// Fixed part of the tick.
    Tick,
    /// Looking at one CPU while searching or balancing, beyond its cache line.
    ScanCpu,
    /// Looking at one task while balancing or scanning a queue.
    ScanTask,
    /// Changing a task's priority, inheritance included.
    SetPrio,
}

/// An interrupt from one CPU to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ipi {
    /// Look at the need-resched flag.
    Reschedule,
    /// Enqueue the wakeups on your list ([`crate::wakeup::sched_ttwu_pending`]).
    Wakeup,
    /// Run the push walker ([`crate::rt::push_irq_work`]); the CPU is the source whose walker it is (2015,
    /// broadcast), or the requester (2017).
    Push(CpuId),
    /// Balance on behalf of idle CPUs ([`crate::fair::nohz_csd_func`]).
    Nohz,
    /// The same by a reschedule interrupt, which also comes to a CPU that watches its flag (up to 4.16).
    NohzReschedule,
    /// Let the throttled groups go on that are on your list ([`crate::fair::unthrottle_called`]).
    Unthrottle,
    /// Tick again: more than one task is there ([`crate::tick::can_stop_tick`]).
    Tick,
    /// Run the stopper: move the named tasks away ([`crate::stop::migration_cpu_stop`]).
    Stop,
}
