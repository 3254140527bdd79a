//! What can be timed from outside are composites: a hop through a pipe, a program started and awaited. The
//! primitive costs of a machine file come from them by differences, and by shares where nothing else tells
//! them apart.

use super::MeasuredPair;
use super::distances::Kind;
use super::figure::Figure;
use super::file::{Cost, Primitives};

/// What a measurement says that may be missing. Other work on the machine can only make it longer, so that
/// the lower quartile is nearer to the truth than the median.
fn undisturbed(figure: Option<Figure>) -> Option<u64> {
    figure.map(|figure| figure.quarter_ns)
}

/// Parts of composites that cannot be told apart are split as on the machine `vm2`, in percent.
const WAKEUP_PERCENT: u64 = 40;
const ENQUEUE_PERCENT: u64 = 30;
const FORK_PERCENT: u64 = 15;
const EXEC_PERCENT: u64 = 76;
const EXIT_PERCENT: u64 = 9;
const THREAD_CREATE_PERCENT: u64 = 56;
const THREAD_EXIT_PERCENT: u64 = 25;

impl Primitives<'_> {
    /// A cost that was measured; `None` where it was not, or never is.
    pub(super) fn measured_cost(&self, name: &str) -> Option<Cost> {
        let m = self.measured;
        let of = |ns: u64, origin: String| Some(Cost { ns, origin: format!("measured: {origin}") });
        match name {
            "syscall" => of(undisturbed(m.syscall)?, format!("getppid {}", m.syscall?)),
            "lock_uncontended" => of(undisturbed(m.lock)?, format!("two atomic operations {}", m.lock?)),
            "schedule" | "context_switch" if m.yields_were_disturbed() => None,
            "schedule" => {
                let ns = undisturbed(m.yield_alone)?
                    .saturating_sub(self.ns("syscall") + self.ns("lock_uncontended"));
                of(ns, format!("sched_yield alone {} less a system call and a lock", m.yield_alone?))
            }
            "context_switch" => {
                let ns = undisturbed(m.yield_switch)?.saturating_sub(undisturbed(m.yield_alone)?);
                of(
                    ns,
                    format!(
                        "sched_yield of two threads, by switch, {} less sched_yield alone",
                        m.yield_switch?
                    ),
                )
            }
            "tick" => {
                let ticks = m.interruptions.ticks?;
                let known = self.ns("irq_entry") + self.ns("irq_exit") + self.ns("timer_program");
                of(
                    ticks.lengths.median_ns.saturating_sub(known),
                    format!(
                        "gaps of a spinning thread {} times a second, {}, less irq_entry, irq_exit and \
                         timer_program",
                        ticks.hz,
                        ticks.lengths.as_median()
                    ),
                )
            }
            "wakeup" => self.of_hop(WAKEUP_PERCENT),
            "enqueue" | "dequeue" => self.of_hop(ENQUEUE_PERCENT),
            // Where another timer was due even sooner, the hardware was not told: low samples are no better
            // ones here.
            "timer_program" => of(
                m.timer_program?.median_ns,
                format!(
                    "setting a timer that is the next to expire, longer than one that is not, {}",
                    m.timer_program?.as_median()
                ),
            ),
            "set_prio" => {
                let known = self.ns("syscall")
                    + self.ns("wakeup")
                    + self.ns("enqueue")
                    + self.locks()
                    + self.switch();
                of(
                    m.hand_over?.quarter_ns.saturating_sub(known),
                    format!(
                        "a PI futex handed over to a thread of the same CPU {} less a system call, the wakeup, the \
                         insertion, a switch and 4 locks: what its mutex takes in the kernel is in it",
                        m.hand_over?
                    ),
                )
            }
            "thread_create" => self.part(m.thread, THREAD_CREATE_PERCENT, "a thread made and awaited"),
            "thread_exit" => self.part(m.thread, THREAD_EXIT_PERCENT, "a thread made and awaited"),
            "fork" => self.part(m.process, FORK_PERCENT, "the program true started and awaited"),
            "exec" => self.part(m.process, EXEC_PERCENT, "the program true started and awaited"),
            "exit" => self.part(m.process, EXIT_PERCENT, "the program true started and awaited"),
            "ipi_send" => {
                let call = self.nearest()?.hop.call?;
                let known =
                    undisturbed(m.pipe_alone)? / 2 + self.ns("wakeup") + self.ns("enqueue") + self.locks();
                of(
                    call.quarter_ns.saturating_sub(known),
                    format!(
                        "a write that wakes a task on an idle CPU {call} less a write that wakes nobody, the \
                         wakeup, the insertion and 4 locks"
                    ),
                )
            }
            "idle_exit" => {
                let pair = self.nearest()?;
                let hop = pair.hop.hop?;
                let known = undisturbed(m.pipe_alone)?
                    + self.ns("wakeup")
                    + self.ns("enqueue")
                    + self.ns("dequeue")
                    + self.locks()
                    + self.ns("ipi_send")
                    + self.over(Kind::Ipi, pair.distance).ns
                    + self.ns("irq_entry")
                    + self.ns("irq_exit")
                    + self.switch();
                of(
                    hop.quarter_ns.saturating_sub(known),
                    format!(
                        "a hop through a pipe to an idle CPU {hop} less all that a hop costs without idling; \
                         nothing left means that idle CPUs poll, or that none was idle"
                    ),
                )
            }
            _ => None,
        }
    }

    /// Four locks on the way of a wakeup.
    pub(super) fn locks(&self) -> u64 {
        4 * self.ns("lock_uncontended")
    }

    /// From one task to the next.
    pub(super) fn switch(&self) -> u64 {
        self.ns("schedule") + self.ns("context_switch")
    }

    /// The nearest other CPU.
    fn nearest(&self) -> Option<&MeasuredPair> {
        self.measured.pairs.first()
    }

    /// A share of what a hop through a pipe on one CPU has beyond the pipe and the switch.
    fn of_hop(&self, percent: u64) -> Option<Cost> {
        let hop = self.measured.hop.hop?;
        let known = undisturbed(self.measured.pipe_alone)? + self.switch() + self.locks();
        let ns = hop.quarter_ns.saturating_sub(known) * percent / 100;
        Some(Cost {
            ns,
            origin: format!(
                "measured: {percent} % (assumed) of a hop through a pipe on one CPU {hop} less the pipe, a \
                 switch and 4 locks"
            ),
        })
    }

    fn part(&self, figure: Option<Figure>, percent: u64, what: &str) -> Option<Cost> {
        let figure = figure?;
        let ns = figure.quarter_ns * percent / 100;
        Some(Cost { ns, origin: format!("measured: {percent} % (assumed) of {what} {figure}") })
    }
}
