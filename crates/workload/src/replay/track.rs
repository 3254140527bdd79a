//! One task while the events of a trace go by: where it stands, and the draft of its program.

use super::causes::Cause;
use super::paths::Woken;
use super::recording::{Begin, TaskIndex};
use super::whereabouts::Whereabouts;
use trace::{Pid, PrevState, StrId};

/// A step whose particulars are not all known yet: what ended a sleep shows only later in the trace. When all
/// is known it becomes a [`super::recording::ReplayStep`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Draft {
    Run(u64),
    Wake {
        task: TaskIndex,
        interrupts: bool,
        same_call: bool,
    },
    Fork(TaskIndex),
    /// Number of an entry in [`Track::sleeps`].
    Sleep(usize),
    /// It gives a request to a device or a packet to the network. What comes of that is in the sleeps that it
    /// ends.
    Sends,
    Yield,
    SetPrio(i32),
    Lend {
        to: TaskIndex,
        prio: i32,
        round: u32,
    },
    GiveBack(i32),
    Bind(u32),
    Unbind,
    Exec(StrId),
    Marker(StrId),
    Interrupted {
        by_timer: bool,
    },
    Exit,
    /// Turned out to be nothing.
    Nothing,
}

/// A sleep, and what ended it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleep {
    /// When it began, ns; `None` if the trace does not show that.
    pub slept_ns: Option<u64>,
    /// In which state.
    pub state: PrevState,
    pub end: Option<Ending>,
    /// The sleep of another task, which this task was woken to end.
    pub on_behalf: Option<Behalf>,
    /// The timer that explains it, if one does.
    pub timer: Option<Timer>,
}

impl Sleep {
    fn is_ended_by_stopper(&self) -> bool {
        self.end.is_some_and(|end| end.by == By::Stopper)
    }
}

/// A sleep for which another task works.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behalf {
    pub task: TaskIndex,
    /// Number of an entry in its [`Track::sleeps`].
    pub sleep: usize,
    /// When it began, ns.
    pub slept_ns: u64,
}

/// The end of a sleep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub at_ns: u64,
    pub by: By,
    /// Why, if it was an interrupt.
    pub cause: Cause,
    /// The CPU on which the wakeup was made.
    pub made_on: u32,
    /// The CPU on which the wakeup was made, if the sleeper had last run elsewhere.
    pub cpu: Option<u32>,
}

/// Who ended a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A draft step of another task. `certain` unless the trace does not tell tasks from interrupts.
    Task { place: DraftStep, certain: bool },
    /// A migration thread.
    Stopper,
    /// An interrupt, on top of the task that has this draft step.
    Interrupt { below: Option<DraftStep> },
    /// A soft interrupt on this CPU.
    Softirq { cpu: u32 },
    /// The trace does not show it.
    Unseen,
}

/// A timer that explains a sleep; times in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    At(u64),
    After(u64),
}

/// A draft step of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DraftStep {
    pub task: TaskIndex,
    pub step: usize,
}

/// A `sched_waking` whose effect is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub at_ns: u64,
    pub by: By,
    pub cause: Cause,
    /// Where it was made.
    pub cpu: u32,
    /// Where the sleeper last ran.
    pub last_cpu: u32,
}

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// No event has told yet.
    Unseen,
    Running,
    Runnable,
    Asleep,
    /// Events were lost while it ran: what it did then is not known.
    Lost,
    Dead,
}

/// Its priority, and how much of it is its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prio {
    pub own: i32,
    effective: i32,
}

impl Prio {
    pub fn new(prio: i32) -> Prio {
        Prio { own: prio, effective: prio }
    }

    /// An event shows this priority. True if that is a change of its own: not inherited, and not the end of
    /// that.
    pub fn sight(&mut self, prio: i32) -> bool {
        let news = prio != self.effective && prio != self.own;
        self.effective = prio;
        if news {
            self.own = prio;
        }
        news
    }

    /// It has this priority of its own. True if that is a change.
    pub fn has_own(&mut self, prio: i32) -> bool {
        let before = std::mem::replace(&mut self.own, prio);
        if self.effective == before {
            self.effective = prio;
        }
        before != prio
    }

    /// Inheritance changes it.
    pub fn inherit(&mut self, prio: i32) {
        self.effective = prio;
    }

    /// With inheritance.
    pub fn effective(self) -> i32 {
        self.effective
    }
}

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub pid: Pid,
    pub incarnation: u32,
    pub first_comm: Option<StrId>,
    pub last_comm: Option<StrId>,
    pub begin: Option<Begin>,
    /// The fork step that made it.
    pub forked_by: Option<DraftStep>,
    pub first_prio: Option<i32>,
    pub prio: Option<Prio>,
    pub steps: Vec<Draft>,
    pub sleeps: Vec<Sleep>,
    /// The last one that was not in state D: in the middle of a piece of work, a worker may wait for a device
    /// itself.
    idle_sleep: Option<usize>,
    /// Where it last took a piece of work, and when, ns.
    pub piece: Option<(usize, u64)>,
    pub state: State,
    /// When it left its last CPU for good, ns.
    pub exited_ns: Option<u64>,
    /// It has passed `sched_process_exit`.
    pub ended: bool,
    /// A `sched_waking` that no `sched_wakeup` has followed yet.
    pub pending: Option<Pending>,
    /// A wakeup that came while it was still running, maybe on its way to sleep.
    pub early: Option<Pending>,
    /// The wakeup by which it comes onto a CPU next.
    pub woken: Option<Woken>,
    pub cpu_time_ns: u64,
    pub arrivals: u64,
    pub whereabouts: Whereabouts,
    pub round_robin: bool,
    /// To which CPU it has bound itself.
    pub bound: Option<u32>,
    /// How often it has given back a priority.
    pub given_back: u32,
}

impl Track {
    pub fn new(pid: Pid, incarnation: u32) -> Track {
        Track {
            pid,
            incarnation,
            first_comm: None,
            last_comm: None,
            begin: None,
            forked_by: None,
            first_prio: None,
            prio: None,
            steps: Vec::new(),
            sleeps: Vec::new(),
            idle_sleep: None,
            exited_ns: None,
            piece: None,
            state: State::Unseen,
            ended: false,
            pending: None,
            early: None,
            woken: None,
            cpu_time_ns: 0,
            arrivals: 0,
            whereabouts: Whereabouts::default(),
            round_robin: false,
            bound: None,
            given_back: 0,
        }
    }

    /// Adds CPU time.
    pub fn run(&mut self, ns: u64) {
        self.cpu_time_ns = self.cpu_time_ns.saturating_add(ns);
        match self.steps.last_mut() {
            Some(Draft::Run(before)) => *before = before.saturating_add(ns),
            _ if ns > 0 => self.steps.push(Draft::Run(ns)),
            _ => {}
        }
    }

    /// Of the CPU time added last, `counted_ns`, it really had `true_ns`.
    pub fn correct(&mut self, counted_ns: u64, true_ns: u64) {
        self.run(true_ns.saturating_sub(counted_ns));
        let mut excess_ns = counted_ns.saturating_sub(true_ns);
        self.cpu_time_ns = self.cpu_time_ns.saturating_sub(excess_ns);
        for step in self.steps.iter_mut().rev() {
            if excess_ns == 0 {
                break;
            }
            if let Draft::Run(ns) = step {
                let taken_ns = excess_ns.min(*ns);
                (*ns, excess_ns) = (*ns - taken_ns, excess_ns - taken_ns);
            }
        }
    }

    /// Goes to sleep.
    pub fn sleep(&mut self, slept_ns: Option<u64>, state: PrevState) {
        if self.bound.is_some() {
            // Where it may turn out that it had been free again: nothing moves to which others point.
            self.steps.push(Draft::Nothing);
        }
        self.steps.push(Draft::Sleep(self.sleeps.len()));
        if state != PrevState::Uninterruptible {
            self.idle_sleep = Some(self.sleeps.len());
        }
        self.sleeps.push(Sleep { slept_ns, state, end: None, on_behalf: None, timer: None });
        self.state = State::Asleep;
    }

    /// It takes a piece of work for which it was not woken: as if it had slept and been woken.
    pub fn take_piece(&mut self, sleep: Sleep) {
        self.idle_sleep = Some(self.sleeps.len());
        self.sleeps.push(sleep);
    }

    /// It sleeps in state D.
    pub fn awaits_device(&self) -> bool {
        let sleep = self.sleeps.last().filter(|_| self.state == State::Asleep);
        sleep.is_some_and(|sleep| sleep.state == PrevState::Uninterruptible)
    }

    /// The sleep that its present piece of work ended, if it is a worker.
    pub fn work_came(&mut self) -> Option<&mut Sleep> {
        self.sleeps.get_mut(self.idle_sleep?)
    }

    /// Whether it has woken one task since, and no more.
    pub fn has_woken_one_since_work_came(&self) -> bool {
        let since = self.steps.iter().rev();
        let idle = self.idle_sleep;
        let since = since.take_while(|step| !matches!(step, Draft::Sleep(number) if Some(*number) == idle));
        since.filter(|step| matches!(step, Draft::Wake { .. })).take(2).count() == 1
    }

    /// It comes onto a CPU: where the stopper has brought it, for which it waited, it has bound itself;
    /// elsewhere it is bound no more, and was not when it went to sleep.
    pub fn arrive(&mut self, cpu: u32) {
        match self.steps.last_mut() {
            Some(step @ Draft::Sleep(_)) if self.sleeps.last().is_some_and(Sleep::is_ended_by_stopper) => {
                (*step, self.bound) = (Draft::Bind(cpu), Some(cpu));
            }
            last if self.bound.is_some_and(|bound| bound != cpu) => {
                let slept = matches!(last, Some(Draft::Sleep(_)));
                let before = self.steps.len().checked_sub(2).filter(|_| slept);
                match before.and_then(|before| self.steps.get_mut(before)) {
                    Some(reserved @ Draft::Nothing) => *reserved = Draft::Unbind,
                    _ => self.steps.push(Draft::Unbind),
                }
                self.bound = None;
            }
            _ => {}
        }
    }

    /// It becomes another program. If it has just been moved, that was why: exec balances. True if so.
    pub fn was_moved_by_exec(&mut self) -> bool {
        let last = self.steps.iter_mut().rev().find(|step| !matches!(step, Draft::Run(_) | Draft::Nothing));
        match last {
            Some(step @ Draft::Bind(_)) => {
                (*step, self.bound) = (Draft::Nothing, None);
                true
            }
            _ => false,
        }
    }

    /// The sleep under way ends.
    pub fn wake(&mut self, end: Ending) {
        if let Some(sleep) = self.sleeps.last_mut() {
            sleep.end = Some(end);
        }
        self.state = State::Runnable;
    }

    /// An event shows its priority; true if it has changed.
    pub fn sight(&mut self, prio: i32) -> bool {
        let Some(known) = &mut self.prio else {
            self.first_prio = Some(prio);
            self.prio = Some(Prio::new(prio));
            return false;
        };
        if !known.sight(prio) {
            return false;
        }
        let place = match (self.state, self.steps.last()) {
            // Whoever changed it did so before the wakeup: the task wakes up with the new one.
            (State::Asleep, Some(Draft::Sleep(_))) => self.steps.len() - 1,
            _ => self.steps.len(),
        };
        self.steps.insert(place, Draft::SetPrio(prio));
        true
    }

    /// Something other than an event of its own shows which priority it has of its own; true if it has
    /// changed it.
    pub fn had(&mut self, prio: i32) -> bool {
        let changed = self.prio.as_mut().is_some_and(|known| known.has_own(prio));
        if changed {
            self.steps.push(Draft::SetPrio(prio));
        }
        changed
    }

    /// A dead task moves again, which only a damaged trace can show: it has slept instead.
    pub fn revive(&mut self) {
        if self.steps.last() == Some(&Draft::Exit) {
            self.steps.pop();
        }
        self.sleep(None, PrevState::Unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_priority_is_not_a_change_of_its_own() {
        let mut prio = Prio::new(120);
        prio.inherit(10);
        assert!(!prio.sight(10));
        assert!(!prio.sight(120), "the end of the inheritance, seen or not");
        assert!(prio.sight(89));
        assert!(!prio.sight(89));
        assert_eq!(prio.own, 89);
    }
}
