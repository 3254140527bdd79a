//! What each CPU does at each time.

use super::handlers::Handled;
use crate::activity::Activity;
use crate::model::{Cpu, TaskRef};

/// Whom a CPU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Nothing tells.
    Unknown,
    Idle,
    Task(TaskRef),
}

/// What a CPU does from a time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub at_ns: u64,
    pub base: Base,
    /// Since when it has that one, if the switch was seen.
    pub since_ns: Option<u64>,
    /// What it does on top.
    pub handled: Option<Handled>,
}

const UNKNOWN: Mark = Mark { at_ns: 0, base: Base::Unknown, since_ns: None, handled: None };

/// All CPUs.
#[derive(Debug)]
pub struct Cpus {
    cpus: Vec<OneCpu>,
}

#[derive(Clone, Debug, Default)]
struct OneCpu {
    marks: Vec<Mark>,
    /// The interrupts that it serves, each on top of the one before.
    frames: Vec<Handled>,
    /// When the first of them began.
    entered_ns: u64,
}

impl Cpus {
    pub fn new(count: u32) -> Self {
        Cpus { cpus: vec![OneCpu::default(); count as usize] }
    }

    /// A CPU goes over to somebody, which a recorded switch says, or else what it does then.
    pub fn has(&mut self, cpu: Cpu, at_ns: u64, base: Base, since_ns: Option<u64>) {
        let one = &mut self.cpus[cpu.index()];
        if since_ns.is_some() {
            // Interrupts do not switch; where softirqs are served in tasks, the one that serves them is seen.
            one.frames.clear();
        }
        let handled = one.frames.last().copied();
        one.mark(Mark { at_ns, base, since_ns, handled });
    }

    /// Nothing is known of a CPU from then on, which may be before other things that were.
    pub fn lose(&mut self, cpu: Cpu, from_ns: u64) {
        let one = &mut self.cpus[cpu.index()];
        one.frames.clear();
        while one.marks.last().is_some_and(|mark| mark.at_ns > from_ns) {
            one.marks.pop();
        }
        one.mark(Mark { at_ns: from_ns, ..UNKNOWN });
    }

    /// The task that a CPU has has another priority from then on.
    pub fn has_prio(&mut self, cpu: Cpu, at_ns: u64, prio: i32) {
        let one = &mut self.cpus[cpu.index()];
        if let Some(Mark { base: Base::Task(task), since_ns, handled, .. }) = one.marks.last().copied() {
            one.mark(Mark { at_ns, base: Base::Task(TaskRef { prio, ..task }), since_ns, handled });
        }
    }

    /// An interrupt begins or ends.
    pub fn does(&mut self, cpu: Cpu, at_ns: u64, activity: &Activity) {
        let one = &mut self.cpus[cpu.index()];
        if let Some(handled) = Handled::begins(activity) {
            if one.frames.is_empty() {
                one.entered_ns = at_ns;
            }
            one.frames.push(handled);
        } else if let Some(place) = one.frames.iter().rposition(|frame| frame.ends_with(activity)) {
            // What it interrupted goes on; ends of what came on top were not recorded.
            one.frames.truncate(place);
        } else {
            return;
        }
        let Mark { base, since_ns, .. } = one.marks.last().copied().unwrap_or(UNKNOWN);
        let handled = one.frames.last().copied();
        one.mark(Mark { at_ns, base, since_ns, handled });
    }

    /// Whether anything was recorded on a CPU.
    pub fn is_recorded(&self, cpu: Cpu) -> bool {
        self.cpus.get(cpu.index()).is_some_and(|one| !one.marks.is_empty())
    }

    /// The interrupt that a CPU serves now.
    pub fn serves(&self, cpu: Cpu) -> Option<Handled> {
        self.cpus[cpu.index()].frames.last().copied()
    }

    /// When a CPU began to serve interrupts, if it does.
    pub fn serves_since(&self, cpu: Cpu) -> Option<u64> {
        let one = &self.cpus[cpu.index()];
        (!one.frames.is_empty()).then_some(one.entered_ns)
    }

    /// What a CPU does at a time.
    pub fn at(&self, cpu: Cpu, at_ns: u64) -> Mark {
        let marks = &self.cpus[cpu.index()].marks;
        let place = marks.partition_point(|mark| mark.at_ns <= at_ns);
        place.checked_sub(1).map_or(UNKNOWN, |place| marks[place])
    }

    /// What a CPU does between two times: each piece with its beginning, the first one at `from_ns`.
    pub fn between(&self, cpu: Cpu, from_ns: u64, to_ns: u64) -> impl Iterator<Item = Mark> + '_ {
        let marks = &self.cpus[cpu.index()].marks;
        let begin = marks.partition_point(|mark| mark.at_ns <= from_ns);
        let end = marks.partition_point(|mark| mark.at_ns < to_ns).max(begin);
        std::iter::once(Mark { at_ns: from_ns, ..self.at(cpu, from_ns) })
            .chain(marks[begin..end].iter().copied())
    }
}

impl OneCpu {
    fn mark(&mut self, mark: Mark) {
        match self.marks.last_mut() {
            Some(last) if last.at_ns == mark.at_ns => *last = mark,
            Some(last) if Mark { at_ns: mark.at_ns, ..*last } == mark => {}
            _ => self.marks.push(mark),
        }
    }
}
