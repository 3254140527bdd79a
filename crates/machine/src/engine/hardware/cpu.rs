//! What the hardware of one CPU remembers: its interrupt controller and its execution unit.

use super::pace::{Fraction, Occupant, Rate};
use super::timers::{Expired, Fetched, TaskTimers};
use super::touched::Touched;
use super::winners::Slot;
use crate::objects::ChannelId;
use crate::paths::Situation;
use crate::rng::{Purpose, Rng};
use crate::setup::Arrival;
use crate::told::ToldMessage;
use scheduler::fair::Balancing;
use scheduler::platform::Ipi;
use scheduler::{MutexId, Nanos, TaskId};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// What a CPU is doing, as far as interrupts are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// In a kernel path with interrupts off; its work slot says when it goes on.
    InPath,
    /// The same, spinning for a lock: the releaser will set its work slot.
    Spinning,
    /// Interrupts are on: user mode, idle, or a long system call.
    Interruptible,
}

/// An interrupt at a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Irq {
    /// From another CPU.
    Ipi(Ipi),
    /// What another CPU wrote for this one's idle loop, which watches: no interrupt at all.
    Notice(Ipi),
    /// A task's timer expired.
    Timer(TaskId),
    /// The tick.
    Tick,
    /// The timer that ends a fair task's turn.
    Hrtick,
    /// The timer of deadline entities.
    Deadline,
    /// The real-time period timer.
    RtPeriod,
    /// A task of the setup appears.
    Spawn(u32),
    /// A message from outside (a [`ToldMessage`]).
    Outside { channel: ChannelId, by: Arrival, at: Nanos },
    /// A device reports on this channel.
    Served(ChannelId),
    /// A timer puts work into the list of the soft interrupt, by index.
    Softirq(u32),
    /// Settings changed: the queues are brought in line with them.
    Settings,
    /// Somebody outside changes a task or a group, by index.
    Change(u32),
    /// An interrupts-off section of this length, of this source.
    Off { source: u32, length: Nanos },
}

// It is handed on in two registers.
const _: () = assert!(size_of::<Irq>() <= 16);

impl Irq {
    /// Whether a timer of its CPU brings it, so that its handler looks for others that have expired.
    pub fn is_timer(self) -> bool {
        match self {
            Irq::Timer(_) | Irq::Tick | Irq::Hrtick | Irq::Deadline | Irq::RtPeriod | Irq::Softirq(_) => true,
            Irq::Ipi(_)
            | Irq::Notice(_)
            | Irq::Spawn(_)
            | Irq::Outside { .. }
            | Irq::Served(_)
            | Irq::Settings
            | Irq::Change(_)
            | Irq::Off { .. } => false,
        }
    }
}

/// What a CPU's soft interrupt is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Softirq {
    /// Its list is empty.
    #[default]
    Empty,
    /// There is work in its list.
    Raised,
    /// There is, and a thread of the CPU has been told.
    LeftToThread,
    /// It works on it: whoever runs on the CPU stands still, and cannot be replaced.
    Running,
}

/// What waits for a CPU's soft interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SoftWork {
    /// The timer of a fair task has expired (HRTIMER).
    Timer(TaskId),
    /// The timer wheel brings a message (TIMER).
    Message(ToldMessage),
    /// Domains are to be balanced (SCHED).
    Balance(Balancing),
    /// Work of a timer of the setup, by its index (TASKLET).
    Tasklet(u32),
    /// Callbacks can be called (RCU).
    Callbacks,
}

impl SoftWork {
    /// Whether it is a timer's, for which some kernels have a thread of its own.
    pub fn is_timer(self) -> bool {
        matches!(self, SoftWork::Timer(_) | SoftWork::Message(_))
    }

    /// Whether a task may wait for it. (Nobody is told of callbacks.)
    pub fn wakes(self) -> bool {
        self != SoftWork::Callbacks
    }
}

/// What an interrupt of a device leaves to the thread that handles those of its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IrqWork {
    /// A message from outside.
    Message(ToldMessage),
    /// A device has served a request, and reports so on this channel.
    Served(ChannelId),
    /// A handler of which nothing is known but how long it takes.
    Handler(Nanos),
}

/// The threads of a CPU that do what interrupts leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CpuThreads {
    pub ksoftirqd: TaskId,
    /// Where timers have a thread of their own.
    pub ktimers: Option<TaskId>,
    /// Where interrupts of devices have.
    pub irq: Option<TaskId>,
    /// Who serves them holds this, where they exclude each other.
    pub lock: Option<MutexId>,
}

/// A task that was woken and that its CPU is about to switch to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arriving {
    pub task: TaskId,
    /// When its way began.
    pub since: Nanos,
    pub situation: Situation,
}

/// Up to where in its stretch in the kernel a task goes on that was asked to make room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Point {
    /// How often the CPU had called schedule() when it was drawn: after another time the request is another
    /// one.
    pub schedules: u64,
    /// What is left of the stretch there.
    pub left: Nanos,
}

/// One CPU.
#[derive(Debug)]
pub(crate) struct CpuHw {
    pub mode: Cell<Mode>,
    /// From when on the CPU, being interruptible, has settled its debts: an earlier interrupt waits until
    /// then.
    pub ready_at: Cell<Nanos>,
    /// Its idle loop watches the need-resched flag: a write to it is enough (rt-class 3.4).
    pub polling: Cell<bool>,
    /// Its next tick is set.
    pub ticks: Cell<bool>,
    /// When, if it does.
    pub next_tick: Cell<Nanos>,
    /// The idle task stopped the CPU: whatever comes next has to get it out of there.
    pub halted: Cell<bool>,
    /// When it began to idle last.
    pub idle_since: Cell<Nanos>,
    /// What tasks have touched here since a timer last woke one.
    pub touched: Cell<Touched>,
    /// It serves interrupts.
    pub in_interrupt: Cell<bool>,
    /// What its soft interrupt is about.
    pub softirq: Cell<Softirq>,
    /// What interrupts of both kinds have taken of it, as far as the kernel measures that.
    pub interrupt_time: Cell<Nanos>,
    /// Up to when that is measured, while one of them is served.
    pub measured_until: Cell<Nanos>,
    /// The work that waits for it.
    pub softirq_list: RefCell<VecDeque<SoftWork>>,
    /// The work that waits for the thread of devices' interrupts.
    pub irq_list: RefCell<VecDeque<IrqWork>>,
    /// Who works on both, beside interrupts or in their place.
    pub threads: Cell<Option<CpuThreads>>,
    /// Interrupts that wait to be served.
    pub pending: RefCell<VecDeque<Irq>>,
    /// What interrupts that wait have taken from the guest on their way, and will have, once they are served.
    pub stolen: Cell<Nanos>,
    /// The timers of tasks that were set here and not yet served.
    pub timers_set: RefCell<TaskTimers>,
    /// When the timer interrupt began that it serves.
    pub timer_pass: Cell<Option<Nanos>>,
    /// Timers of tasks that have expired here, whose interrupt is under way.
    pub timers_due: RefCell<Vec<Expired>>,
    /// When it last served interrupts, or set its timer.
    pub fetched: Cell<Fetched>,
    /// Messages from outside that the next tick brings.
    pub by_tick: RefCell<Vec<ToldMessage>>,
    /// The task that was last set up to execute here.
    pub seen: Cell<TaskId>,
    /// Time that tasks have executed here.
    pub busy: Cell<Nanos>,
    /// What it executes, as far as that decides speeds.
    pub occupant: Cell<Occupant>,
    /// How fast it executes that.
    pub rate: Cell<Rate>,
    /// How fast it executes the kernel's own work, which waits for nobody who reads from memory.
    pub kernel_rate: Cell<Rate>,
    /// What the task has done of its work beyond whole nanoseconds.
    pub fraction: Cell<Fraction>,
    /// Stretches with interrupts off, and the dice for them and for timer jitter.
    pub noise: CpuNoise,
    /// Where the running task makes room, if it was asked to inside the kernel.
    pub point: Cell<Option<Point>>,
    /// Slot of the timer of HRTICK, once that was used.
    pub hrtick: Cell<Option<Slot>>,
    /// That of the timer of deadline entities.
    pub deadline: Cell<Option<Slot>>,
    /// Who comes next, where the machine knows how long that takes.
    pub arriving: Cell<Option<Arriving>>,
    /// What the scheduler's own dice show.
    pub scheduler_dice: RefCell<Rng>,
    pub ipis_sent: Cell<u64>,
    pub ipis_received: Cell<u64>,
    /// Of these, those that asked it to push.
    pub push_ipis_received: Cell<u64>,
    /// Time in interrupts, soft ones not counted, whatever the kernel measures of it.
    pub in_interrupts: Cell<Nanos>,
    /// What others asked of it while it watched its flag.
    pub polled: Cell<u64>,
}

impl CpuHw {
    /// A CPU that executes `idle` and is about to look around.
    pub fn new(idle: TaskId, rate: Rate, dice: Rng, scheduler_dice: Rng, noise_sources: usize) -> CpuHw {
        CpuHw {
            mode: Cell::new(Mode::InPath),
            ready_at: Cell::new(Nanos::ZERO),
            polling: Cell::new(false),
            ticks: Cell::new(false),
            next_tick: Cell::new(Nanos::ZERO),
            halted: Cell::new(false),
            idle_since: Cell::new(Nanos::ZERO),
            touched: Cell::default(),
            in_interrupt: Cell::new(false),
            softirq: Cell::default(),
            interrupt_time: Cell::new(Nanos::ZERO),
            measured_until: Cell::new(Nanos::ZERO),
            softirq_list: RefCell::default(),
            irq_list: RefCell::default(),
            threads: Cell::default(),
            pending: RefCell::default(),
            stolen: Cell::new(Nanos::ZERO),
            timers_set: RefCell::default(),
            timer_pass: Cell::default(),
            timers_due: RefCell::default(),
            fetched: Cell::default(),
            by_tick: RefCell::default(),
            seen: Cell::new(idle),
            busy: Cell::new(Nanos::ZERO),
            occupant: Cell::default(),
            rate: Cell::new(rate),
            kernel_rate: Cell::new(rate),
            fraction: Cell::default(),
            noise: CpuNoise::new(dice, noise_sources),
            scheduler_dice: RefCell::new(scheduler_dice),
            point: Cell::default(),
            hrtick: Cell::default(),
            deadline: Cell::default(),
            arriving: Cell::default(),
            ipis_sent: Cell::new(0),
            ipis_received: Cell::new(0),
            push_ipis_received: Cell::new(0),
            in_interrupts: Cell::new(Nanos::ZERO),
            polled: Cell::new(0),
        }
    }

    /// Its streams derive from this seed from now on; it has this number.
    pub fn redraw(&self, seed: u64, number: u64) {
        *self.noise.rng.borrow_mut() = Rng::keyed(seed, Purpose::CpuNoise, number);
        *self.scheduler_dice.borrow_mut() = Rng::keyed(seed, Purpose::Scheduler, number);
    }
}

/// A CPU's dice, and its stretches with interrupts off (see [`super::noise`]).
#[derive(Debug)]
pub(crate) struct CpuNoise {
    /// Stream for timer jitter and the stretches.
    pub rng: RefCell<Rng>,
    /// When the next stretch of each source begins.
    pub next: Box<[Cell<Nanos>]>,
    /// Some of them began while the CPU was idle.
    pub unseen: Cell<bool>,
}

impl CpuNoise {
    fn new(rng: Rng, sources: usize) -> CpuNoise {
        CpuNoise {
            rng: RefCell::new(rng),
            next: vec![Cell::new(Nanos::NEVER); sources].into(),
            unseen: Cell::new(false),
        }
    }

    /// The source whose stretch begins next, if that is before or at `now`.
    pub fn first_begun(&self, now: Nanos) -> Option<usize> {
        let sources = 0..self.next.len();
        sources.min_by_key(|source| self.next[*source].get()).filter(|s| self.next[*s].get() <= now)
    }
}
