//! Where tasks may run: the late one elsewhere, or whoever is in its way.

use super::attempts::Attempt;
use super::remedies::Late;
use scheduler::{CpuId, CpuMask};
use schema::LogEvent;
use schema::why::{Cause, WhyAlternative, WhyTask};

/// The affinities of a moment.
pub(super) struct Placement<'l> {
    pub late: &'l Late<'l>,
    /// How many CPUs there are.
    pub cpus: usize,
}

impl Placement<'_> {
    /// What may help against a cause on a CPU.
    pub fn against(&self, cause: &Cause, cpu: Option<schema::CpuId>) -> Vec<(Attempt, &'static str)> {
        let victim = &self.late.one.task;
        let away = |whose: &WhyTask, cpu| self.kept_off(whose, cpu);
        let (attempts, because) = match (cause, cpu) {
            (Cause::Running { task, .. }, Some(cpu)) => {
                (vec![away(victim, cpu), away(task, cpu), self.pinned(cpu)], "Another CPU may be free.")
            }
            (Cause::Sibling { cpu: sibling, task }, cpu) => (
                vec![away(task, *sibling), cpu.and_then(|cpu| away(victim, cpu))],
                "Threads of a core share it.",
            ),
            (Cause::InterruptsOff { .. } | Cause::Interrupt { .. } | Cause::Softirq {}, Some(cpu)) => {
                (vec![away(victim, cpu)], "Another CPU may have its interrupts on.")
            }
            (Cause::HandOver { from, .. }, _) => {
                (vec![self.only(*from)], "The task is moved to another CPU.")
            }
            _ => (Vec::new(), ""),
        };
        attempts.into_iter().flatten().map(|attempt| (attempt, because)).collect()
    }

    /// A task may use what it may now, but not this CPU, and all others if it may use this one only; `None`
    /// if there is no other one, or nobody may move it.
    fn kept_off(&self, whose: &WhyTask, cpu: schema::CpuId) -> Option<Attempt> {
        if is_bound(whose) {
            return None;
        }
        let (before, this) = (self.allowed(whose), CpuMask::single(CpuId(cpu.0)));
        let others = before.without(&this);
        let after = if others.is_empty() { CpuMask::first_n(self.cpus).without(&this) } else { others };
        (!after.is_empty() && before.intersects(&this)).then(|| Attempt::cpus(whose, after))
    }

    /// The late task on the CPU where, by one of the decisions, it could have run at once.
    fn pinned(&self, cpu: schema::CpuId) -> Option<Attempt> {
        let decisions = self.late.one.stretches.iter().flat_map(|stretch| &stretch.decisions);
        let free = decisions.flat_map(|decision| &decision.alternatives).find_map(|one| match one {
            WhyAlternative::Cpu { cpu: other, allowed: true, precedence: None, .. } if *other != cpu => {
                Some(*other)
            }
            _ => None,
        });
        free.and_then(|free| self.only(free))
    }

    fn only(&self, cpu: schema::CpuId) -> Option<Attempt> {
        let (victim, one) = (&self.late.one.task, CpuMask::single(CpuId(cpu.0)));
        let before = self.allowed(victim);
        (one != before && !is_bound(victim)).then(|| Attempt::cpus(victim, one))
    }

    /// The CPUs that a task may use when the latency begins.
    fn allowed(&self, whose: &WhyTask) -> CpuMask {
        let due_at = self.late.one.due_at;
        let until_then = self.late.log.records.iter().take_while(|record| record.time <= due_at);
        let told = until_then.filter_map(|record| match &record.event {
            LogEvent::CpusAllowed { of, cpus } if *of == whose.pid => Some(cpus),
            _ => None,
        });
        told.last().map_or(CpuMask::first_n(self.cpus), |cpus| {
            let mut mask = CpuMask::default();
            cpus.iter().for_each(|cpu| mask.insert(CpuId(cpu.0)));
            mask
        })
    }
}

/// A thread of the kernel that belongs to a CPU, which nobody can move: `ksoftirqd/3`.
fn is_bound(task: &WhyTask) -> bool {
    let number = task.comm.rsplit_once('/').map(|(_, number)| number);
    number.is_some_and(|number| number.parse::<u16>().is_ok())
}
