//! One wait in stretches, each with its cause.

use super::cpus::{Base, Mark};
use super::quota::{Span, cgroup_of};
use super::wait::{Began, Wait};
use super::{RecordedWaits, id};
use crate::model::Cpu;
use schema::Nanos;
use schema::why::{Budget, Cause, Precedence, WhyStretch};

/// From what should have ended the wait to the switch, without a gap.
pub fn stretches(of: &RecordedWaits<'_>, wait: &Wait) -> Vec<WhyStretch> {
    let mut cut = Cut { of, wait, at_ns: wait.due_ns(), stopped: None, stretches: Vec::new() };
    if wait.began == Began::Unseen {
        cut.until(wait.first_ns, None, Cause::NotRecorded {});
        return cut.stretches;
    }
    cut.timer();
    cut.path();
    cut.queues();
    cut.stretches
}

/// No idle state takes longer to leave: of those in machine.md 5.5 the deepest takes 0.9 ms. A CPU that idles
/// beside a waiting task for longer is kept from it, by a budget or by its host, and no event says by which.
const LONGEST_IDLE_EXIT_NS: u64 = 1_000_000;

struct Cut<'a> {
    of: &'a RecordedWaits<'a>,
    wait: &'a Wait,
    /// So far it is told.
    at_ns: u64,
    /// The budget that it has used up, once a choice has shown that.
    stopped: Option<Budget>,
    stretches: Vec<WhyStretch>,
}

impl Cut<'_> {
    /// From the timer's time to its interrupt, and what that does until it wakes the task.
    fn timer(&mut self) {
        let Some(timer) = self.wait.timer else { return };
        let cpu = self.wait.waker_cpu;
        self.until(timer.served_ns, Some(cpu), Cause::TimerLate {});
        for (mark, to_ns) in self.pieces(cpu, self.wait.woken_ns) {
            let handled = mark.handled.map(|handled| handled.named(&self.of.trace.strings));
            self.until(
                to_ns,
                Some(cpu),
                handled.map_or(Cause::WakePath {}, |handler| Cause::Handler { handler }),
            );
        }
    }

    /// From the wakeup into a queue.
    fn path(&mut self) {
        let wait = self.wait;
        if wait.began == Began::Preempted {
            return;
        }
        if wait.queued_ns.is_some() && wait.queued_by != wait.waker_cpu {
            let cause = Cause::InFlight { from: id(wait.waker_cpu) };
            self.until(wait.placed_ns, Some(wait.queued_by), cause);
        } else {
            self.until(wait.placed_ns, Some(wait.waker_cpu), Cause::WakePath {});
        }
    }

    /// In queue after queue.
    fn queues(&mut self) {
        let wait = self.wait;
        let moves = &self.of.course.moves[wait.moves.from as usize..wait.moves.to as usize];
        let last = moves.last().map_or(wait.placed, |last| last.to);
        if last != wait.cpu {
            // It moved, and nothing says when.
            self.until(wait.first_ns, None, Cause::NotRecorded {});
            return;
        }
        let mut queue = Queue { cpu: wait.placed, is_first: true };
        for one in moves {
            self.queue(queue, one.at_ns);
            queue = Queue { cpu: one.to, is_first: false };
        }
        self.queue(queue, wait.first_ns);
    }

    /// In the queue of one CPU.
    fn queue(&mut self, queue: Queue, to_ns: u64) {
        self.stopped = None;
        for (mark, to_ns) in self.pieces(queue.cpu, to_ns) {
            let inside = Span { from_ns: self.at_ns, to_ns };
            let pid = self.wait.task.pid;
            for to_ns in self.of.quotas.bounds(pid, queue.cpu, inside).into_iter().chain([to_ns]) {
                let cause = self.limited(queue.cpu).unwrap_or_else(|| match self.cause(queue, &mark) {
                    Cause::IdleExit { .. } if inside.to_ns - inside.from_ns > LONGEST_IDLE_EXIT_NS => {
                        Cause::NotRecorded {}
                    }
                    cause => cause,
                });
                self.until(to_ns, Some(queue.cpu), cause);
            }
        }
    }

    /// Whether its group has used up a limit that the recording names, where the account stands.
    fn limited(&self, cpu: Cpu) -> Option<Cause> {
        let task = self.wait.task;
        let (group, stop) = self.of.quotas.at(task.pid, cpu, self.at_ns)?;
        let budget = Budget::Group { group: Some(group.into()) };
        let is_fair = matches!(Class::of(task.prio), Class::Fair | Class::Idle);
        is_fair.then_some(Cause::Throttled { budget, until: Some(Nanos(stop.to_ns)) })
    }

    fn cause(&mut self, queue: Queue, mark: &Mark) -> Cause {
        if let Some(handled) = mark.handled {
            return Cause::Handler { handler: handled.named(&self.of.trace.strings) };
        }
        if mark.base == Base::Unknown {
            return Cause::NotRecorded {};
        }
        // Until it runs, or somebody who goes before it, it has got no more.
        self.stopped = self.used_up(queue, mark).or(self.stopped.take().filter(|_| self.goes_after(mark)));
        if let Some(budget) = self.stopped.clone() {
            return Cause::Throttled { budget, until: None };
        }
        match mark.base {
            // It executes itself, and its arrival was not recorded.
            Base::Task(task) if task.pid == self.wait.task.pid => Cause::NotRecorded {},
            Base::Task(task) => Cause::Running {
                task: self.of.task(task),
                since: Nanos(mark.since_ns.unwrap_or(mark.at_ns)),
                precedence: precedence(task.prio, self.wait.began_prio),
            },
            // Whoever puts a task into the queue of a CPU that idles also wakes that CPU.
            Base::Idle => Cause::IdleExit { state: None },
            Base::Unknown => Cause::NotRecorded {},
        }
    }

    /// The budget that a task has used up, where a CPU has chosen somebody who goes after it although it was
    /// in the queue.
    fn used_up(&self, queue: Queue, mark: &Mark) -> Option<Budget> {
        let wait = self.wait;
        let class = Class::of(wait.task.prio);
        // Whoever has changed its class may not have had it then; who moves comes later than the event.
        if class != Class::of(wait.began_prio) || !queue.is_first {
            return None;
        }
        let was_there = match (wait.began, wait.queued_ns, mark.since_ns?) {
            (Began::Preempted, _, chosen_ns) => chosen_ns >= wait.placed_ns,
            (_, Some(queued_ns), chosen_ns) => chosen_ns > queued_ns,
            (_, None, _) => false,
        };
        if !was_there || !self.goes_after(mark) {
            return None;
        }
        Some(match class {
            Class::Deadline => Budget::Deadline {},
            Class::RealTime => match self.rt_limited_group() {
                Some(group) => Budget::RtGroup { group: group.into() },
                None => Budget::RealTime {},
            },
            Class::Fair | Class::Idle => Budget::Group { group: self.limited_group() },
        })
    }

    /// Whether whoever has a CPU, however it came there, would not have it before the task: one of a lower
    /// class; and beside a real-time task whose group has a limit of its own one of a lower priority, too,
    /// which goes on when that is used up (deadline-groups B9).
    fn goes_after(&self, mark: &Mark) -> bool {
        let waits = self.wait.task.prio;
        let class = Class::of(waits);
        match mark.base {
            Base::Task(task) if class == Class::RealTime && Class::of(task.prio) == class => {
                task.prio > waits && self.rt_limited_group().is_some()
            }
            Base::Task(task) => Class::of(task.prio) > class,
            Base::Idle => Class::Idle > class,
            Base::Unknown => false,
        }
    }

    /// The group with a limit for real-time tasks that the task is in, if the recorder wrote it down.
    fn rt_limited_group(&self) -> Option<&str> {
        let trace = self.of.trace;
        trace.host.rt_limited(cgroup_of(trace, self.wait.task.pid)?)
    }

    /// The group with a limit that the task is in, if the recorder wrote it down.
    fn limited_group(&self) -> Option<Box<str>> {
        let trace = self.of.trace;
        let cgroup = cgroup_of(trace, self.wait.task.pid)?;
        trace.host.quotas_of(cgroup).next().map(|(path, _)| path.into())
    }

    /// What a CPU does from where the account stands to a time, each piece with its end.
    fn pieces(&self, cpu: Cpu, to_ns: u64) -> Vec<(Mark, u64)> {
        if to_ns <= self.at_ns {
            return Vec::new();
        }
        let marks: Vec<Mark> = self.of.course.cpus.between(cpu, self.at_ns, to_ns).collect();
        let ends = marks.iter().skip(1).map(|next| next.at_ns).chain([to_ns]);
        marks.iter().copied().zip(ends).collect()
    }

    /// Tells the time up to then.
    fn until(&mut self, to_ns: u64, cpu: Option<Cpu>, cause: Cause) {
        if to_ns <= self.at_ns {
            return;
        }
        let (from, to, cpu) = (Nanos(self.at_ns), Nanos(to_ns), cpu.map(id));
        self.at_ns = to_ns;
        match self.stretches.last_mut() {
            Some(last) if last.cause == cause && last.cpu == cpu => last.to = to,
            _ => self.stretches.push(WhyStretch::new(from, to, cpu, cause)),
        }
    }
}

/// Where a task waits.
#[derive(Clone, Copy)]
struct Queue {
    cpu: Cpu,
    /// It has not moved yet.
    is_first: bool,
}

/// Scheduling classes; the one that goes first is the least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    Deadline,
    RealTime,
    Fair,
    Idle,
}

impl Class {
    /// The kernel's numbers (rt-class 11.2).
    fn of(prio: i32) -> Class {
        match prio {
            ..0 => Class::Deadline,
            0..100 => Class::RealTime,
            100..140 => Class::Fair,
            140.. => Class::Idle,
        }
    }
}

/// Why a task that runs goes before one that waits.
fn precedence(runs: i32, waits: i32) -> Precedence {
    match (Class::of(runs), Class::of(waits)) {
        (first, second) if first < second => Precedence::Class,
        (first, second) if first > second => Precedence::NotPreempted,
        (Class::Deadline, _) => Precedence::NotRecorded,
        (Class::RealTime, _) if runs < waits => Precedence::HigherPriority,
        (Class::RealTime, _) if runs == waits => Precedence::SamePriority,
        (Class::RealTime, _) => Precedence::NotPreempted,
        (Class::Fair | Class::Idle, _) => Precedence::Fair,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_first() {
        for (runs, waits, why) in [
            (-1, 20, Precedence::Class),
            (20, 120, Precedence::Class),
            (120, 20, Precedence::NotPreempted),
            (-1, -1, Precedence::NotRecorded),
            (10, 20, Precedence::HigherPriority),
            (20, 20, Precedence::SamePriority),
            (20, 10, Precedence::NotPreempted),
            (139, 100, Precedence::Fair),
        ] {
            assert_eq!(precedence(runs, waits), why, "{runs} before {waits}");
        }
    }
}
