//! Which wakeups were made in one system call, or in one interrupt: nobody preempts their maker in between,
//! so a replay must not either, where the first woken would.
//!
//! The flags of a trace prove it where the first wakeup asked for a preemption. Where it did not, or the
//! trace has no flags, the time between two wakeups is all there is.

use super::Walk;
use crate::replay::recording::TaskIndex;
use crate::replay::track::{Draft, DraftStep};
use trace::{Event, NeedResched};

/// From one step of a system call to the next it is a few µs; that long only where something holds it up.
const LONGEST_CALL_NS: u64 = 50_000;
/// Between two wakeups of one call that nothing else proves. Where the flags say that it is one, 6004 of 6071
/// distances are shorter; of two calls (hackbench, which writes to one pipe after the other), 20 of 5675 are
/// (shared recordings native-6.18).
const LONGEST_TO_THE_NEXT_NS: u64 = 1_500;
/// That many wakeups in a row, so close to each other, are one call (assumed). Two or three prove nothing:
/// the calls of hackbench come so at times. Four come only where it lets all its tasks go with one write.
const MANY: u32 = 4;
/// Between two wakeups of one call where the trace has no flags, and times of 1 µs: of 911 distances (shared
/// recordings native-6.18-groups, text of perf) 113 are shorter, most of them between timers of one
/// interrupt, or wakeups that another CPU has left to this one; 10 are from there to 7 µs. Two calls in a row
/// may be as close. That they count as one costs little: nobody preempted their caller in the recording.
const LONGEST_UNTOLD_NS: u64 = 4_000;

/// The system call that a task may still be in, by the last thing that it did there.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastCall {
    did: Did,
    /// When, ns.
    at_ns: u64,
    /// The first of the wakeups before it that are as close to each other as those of one call, and how many
    /// these are with it; a step of the task.
    row: Row,
}

/// Wakeups in a row.
#[derive(Clone, Copy, Debug)]
struct Row {
    first: usize,
    len: u32,
}

/// What a task does in a system call in which it may go on to wake somebody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Did {
    Wake,
    /// Give back a priority, which is how a mutex is unlocked for who waits.
    GiveBack,
}

impl LastCall {
    /// The call that the running task may be in after this step; `before` is the one before it.
    pub fn after(before: Option<LastCall>, step: Draft, place: DraftStep, at_ns: u64) -> Option<LastCall> {
        let did = match step {
            Draft::Wake { .. } => Did::Wake,
            Draft::GiveBack(_) => Did::GiveBack,
            // Not the task's own doing.
            Draft::Interrupted { .. } | Draft::Nothing => return before,
            _ => return None,
        };
        let is_next = |last: &LastCall| {
            let since_ns = at_ns.saturating_sub(last.at_ns);
            did == Did::Wake && last.did == Did::Wake && since_ns < LONGEST_TO_THE_NEXT_NS
        };
        let row = match before.filter(is_next) {
            Some(LastCall { row, .. }) => Row { len: row.len + 1, ..row },
            None => Row { first: place.step, len: 1 },
        };
        Some(LastCall { did, at_ns, row })
    }

    /// A wakeup at this event is still in it. Who goes on although it is to be preempted has not left the
    /// kernel: on the way out a lazy request acts, too.
    fn proves(&self, event: &Event) -> bool {
        let longest_ns = match (self.did, event.need_resched) {
            (Did::GiveBack, _) | (Did::Wake, NeedResched::Yes | NeedResched::Lazy) => LONGEST_CALL_NS,
            (Did::Wake, NeedResched::Unknown) => LONGEST_UNTOLD_NS,
            (Did::Wake, NeedResched::No) => return false,
        };
        event.time_ns.saturating_sub(self.at_ns) <= longest_ns
    }
}

impl Walk<'_> {
    /// Drafts a wakeup by the running task.
    pub(super) fn wakes_in_call(&mut self, event: &Event, task: TaskIndex, sleeper: TaskIndex) -> DraftStep {
        let cpu = event.cpu.index();
        let before = self.cpus[cpu].last_call;
        let same_call = before.is_some_and(|last| last.proves(event));
        let step = Draft::Wake { task: sleeper, interrupts: false, same_call };
        let place = self.draft(cpu, task, event.time_ns, step);
        if let Some(Row { first, len: MANY.. }) = self.cpus[cpu].last_call.map(|last| last.row) {
            for step in &mut self.tasks[task.index()].steps[first + 1..] {
                if let Draft::Wake { same_call, .. } = step {
                    *same_call = true;
                }
            }
        }
        place
    }
}
