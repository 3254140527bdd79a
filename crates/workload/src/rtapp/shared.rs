//! What the threads of one load share: timers, condition variables, forks and the log.
//!
//! # Condition variables
//!
//! pthread_cond_wait gives the mutex back and goes to sleep as one, so that no signal falls in between; glibc
//! does it with a sequence number that the kernel compares. Here a waiter enters the list of the condition
//! while it still holds the mutex, then unlocks, then reads from a channel of its own; a signal takes the
//! first waiter off the list and writes to its channel, where the message stays until it is read. The list is
//! in the order of the kernel's futex queue: real-time waiters by their priority, all others behind them,
//! first come first served (rt-class 7.6). A signal without a waiter costs nothing, as in glibc. A broadcast
//! is one write for each waiter, where glibc needs one call for all.

use super::log::RtAppThread;
use super::model::{App, TimerRef};
use crate::load::Remaining;
use machine::{BarrierId, ChannelId};
use scheduler::{CpuMask, GroupId, MutexId, Nanos, Prio};
use std::cell::RefCell;
use std::sync::Arc;

/// As many forks of one task end the use case (rt-app's FORKS_LIMIT).
pub(super) const FORKS_LIMIT: u32 = 1024;

/// The file, the machine's objects for it, and the state that changes.
#[derive(Debug)]
pub(super) struct Shared {
    pub app: Arc<App>,
    pub mutexes: Vec<MutexId>,
    pub barriers: Vec<BarrierId>,
    pub semaphores: Vec<ChannelId>,
    /// By task and phase: the CPUs that the phase, or else the task, names.
    pub phase_cpus: Vec<Vec<Option<CpuMask>>>,
    /// By task: the group in which its threads begin; `None`: that of who starts them.
    pub groups: Vec<Option<GroupId>>,
    /// Threads that have not ended.
    pub remaining: Remaining,
    pub state: RefCell<State>,
}

#[derive(Debug)]
pub(super) struct State {
    /// Next expiry of each shared timer, once it has been used.
    timers: Vec<Option<Nanos>>,
    /// Waiters of each condition, in the order in which signals take them.
    conditions: Vec<Vec<Waiter>>,
    /// Threads at barriers, all barriers together.
    at_barriers: u32,
    /// Of each task.
    forks: Vec<Forks>,
    /// One entry for each thread, by number.
    pub log: Vec<RtAppThread>,
    /// Task that reached [`FORKS_LIMIT`]; everybody stops then.
    pub fork_limit: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    prio: Prio,
    channel: ChannelId,
}

#[derive(Debug)]
pub(super) struct Forks {
    pub count: u32,
    /// Channels for those that wait on conditions; empty if the task has no such event.
    pub channels: Vec<ChannelId>,
}

impl State {
    pub fn new(app: &App, forks: Vec<Forks>) -> State {
        State {
            timers: vec![None; app.resources.timers.len()],
            conditions: vec![Vec::new(); app.resources.conditions.len()],
            at_barriers: 0,
            forks,
            log: Vec::new(),
            fork_limit: None,
        }
    }

    pub fn shared_timer(&mut self, number: usize) -> &mut Option<Nanos> {
        &mut self.timers[number]
    }

    /// Adds a waiter; `prio` is without inheritance.
    pub fn wait(&mut self, condition: usize, prio: Prio, channel: ChannelId) {
        let waiters = &mut self.conditions[condition];
        let prio = prio.min(Prio::NO_RT);
        let at = waiters.partition_point(|waiter| waiter.prio <= prio);
        waiters.insert(at, Waiter { prio, channel });
    }

    /// Takes the waiter off that a signal wakes.
    pub fn signal(&mut self, condition: usize) -> Option<ChannelId> {
        let waiters = &mut self.conditions[condition];
        (!waiters.is_empty()).then(|| waiters.remove(0).channel)
    }

    /// Takes all waiters off, in the order in which they are woken.
    pub fn broadcast(&mut self, condition: usize) -> impl DoubleEndedIterator<Item = ChannelId> {
        self.conditions[condition].drain(..).map(|waiter| waiter.channel)
    }

    /// A thread comes to a barrier.
    pub fn arrive(&mut self) {
        self.at_barriers += 1;
    }

    /// It has passed the barrier.
    pub fn pass(&mut self) {
        self.at_barriers -= 1;
    }

    /// Notes a fork; `None` if the task has reached its limit.
    pub fn fork(&mut self, task: usize) -> Option<Forked> {
        let forks = &mut self.forks[task];
        if forks.count == FORKS_LIMIT {
            self.fork_limit = Some(task);
            return None;
        }
        let count = forks.count;
        forks.count += 1;
        Some(Forked { count, channel: forks.channels.get(count as usize).copied() })
    }
}

/// A fork that may happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forked {
    /// How many there were of this task before.
    pub count: u32,
    /// Channel for its waits.
    pub channel: Option<ChannelId>,
}

impl Shared {
    /// Whether the timer keeps its grid when it is late.
    pub fn is_absolute(&self, task: usize, timer: TimerRef) -> bool {
        match timer {
            TimerRef::Shared(number) => self.app.resources.absolute[number],
            TimerRef::Own(number) => self.app.tasks[task].own_timers[number],
        }
    }

    /// Whether the use case is over.
    pub fn is_over(&self, now: Nanos) -> bool {
        self.app.global.duration.is_some_and(|end| now >= end) || self.state.borrow().fork_limit.is_some()
    }

    /// Whether every thread that has not ended waits for another one, on a condition or at a barrier.
    pub fn all_wait(&self) -> bool {
        let state = self.state.borrow();
        let on_conditions: usize = state.conditions.iter().map(Vec::len).sum();
        on_conditions + state.at_barriers as usize >= self.remaining.get() as usize
    }

    /// CPU time of `run` for this long: whole calibration loops, second by second as rt-app counts them.
    pub fn work(&self, time: Nanos) -> Nanos {
        let Some(loop_ns) = self.app.global.loop_ns else { return time };
        let second = Nanos::from_secs(1).0;
        let whole = |span: u64| span / loop_ns * loop_ns;
        Nanos((time.0 / second) * whole(second) + whole(time.0 % second))
    }

    /// rt-app's `perf` of `run` for this long: microseconds over nanoseconds of a loop.
    pub fn perf(&self, time: Nanos) -> u64 {
        self.app.global.loop_ns.map_or(0, |loop_ns| time.0 / 1_000 / loop_ns)
    }
}
