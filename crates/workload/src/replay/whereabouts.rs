//! Where a task runs, and how long it waits for its CPU while another one has nothing to do.

use super::recording::TaskIndex;
use scheduler::{CpuId, CpuMask};

/// Shorter waits of fair tasks beside an idle CPU are everyday: balancing takes its time.
const LONG_WAIT_NS: u64 = 500_000;

/// A wait for a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The clock of idle time (of any CPU) when it began, ns.
    pub idle_clock_ns: u64,
    /// The task that waits has real-time priority.
    pub real_time: bool,
    /// Its CPU was running something at least as important.
    pub outranked: bool,
    /// Another CPU had nothing to do, or ran what the task would have preempted.
    pub beside_lower: bool,
}

/// See the module's head.
#[derive(Clone, Debug, Default)]
pub(super) struct Whereabouts {
    pub ran_on: CpuMask,
    /// Where it ran last.
    pub cpu: Option<u32>,
    /// The drafted step that marks when it came there.
    pub since_step: Option<usize>,
    pub waits: Option<Wait>,
    /// Time since then for which it was kept waiting although another CPU was idle.
    pub passed_idle_ns: u64,
    /// How often it has been woken there since then, under real-time priority, where one of these ran, less
    /// important than it and real-time as well, although another CPU was idle.
    pub stayed_with: Vec<(TaskIndex, u64)>,
    /// How often it waited there since then, under real-time priority, behind what is at least as important,
    /// although it could have preempted what another CPU ran.
    pub stayed_behind: u64,
    /// How often an interrupt has woken it there since then, under a fair policy, where a fair task ran,
    /// although another CPU was idle.
    pub woken_beside_idle: u64,
    /// How often it came onto a CPU, and onto another one than before.
    arrivals: u64,
    moves: u64,
    /// How often it came onto its last CPU since it was elsewhere.
    stays: u64,
}

impl Whereabouts {
    /// It comes onto a CPU. True if it was on another one before.
    pub fn arrive(&mut self, cpu: usize, idle_clock_ns: u64) -> bool {
        if cpu < CpuId::LIMIT {
            self.ran_on.insert(CpuId(cpu as u16));
        }
        let wait = self.waits.take();
        self.arrivals += 1;
        self.stays += 1;
        if self.cpu != Some(cpu as u32) {
            (self.passed_idle_ns, self.stayed_behind, self.woken_beside_idle, self.stays) = (0, 0, 0, 0);
            self.stayed_with.clear();
            self.moves += u64::from(self.cpu.is_some());
            return self.cpu.replace(cpu as u32).is_some();
        }
        let Some(wait) = wait else { return false };
        self.stayed_behind += u64::from(wait.real_time && wait.outranked && wait.beside_lower);
        let passed_ns = idle_clock_ns.saturating_sub(wait.idle_clock_ns);
        // A real-time task is sent to a CPU that can take it at once, so that even a short wait tells; but
        // not one that preempts what runs on its own CPU.
        let tells = if wait.real_time { wait.outranked } else { passed_ns >= LONG_WAIT_NS };
        if tells {
            self.passed_idle_ns += passed_ns;
        }
        false
    }

    /// It is woken where the other one runs; see [`Whereabouts::stayed_with`].
    pub fn stays_with(&mut self, other: TaskIndex) {
        match self.stayed_with.iter_mut().find(|(task, _)| *task == other) {
            Some((_, times)) => *times += 1,
            None => self.stayed_with.push((other, 1)),
        }
    }

    /// Whether it stays where it is now. Whoever moves all the time stays nowhere, even if it happens to be
    /// at one place for a while: by chance it would have moved several times since.
    pub fn has_settled(&self) -> bool {
        const BY_CHANCE: u64 = 5;
        self.keeps_its_cpu() || self.stays * self.moves >= BY_CHANCE * self.arrivals
    }

    /// Whether it has hardly ever moved: setting an affinity does that once.
    pub fn keeps_its_cpu(&self) -> bool {
        const FEW: u64 = 2;
        self.moves <= FEW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_moves_all_the_time_has_not_settled_before_it_stays_much_longer() {
        let mut task = Whereabouts::default();
        for n in 0..100 {
            task.arrive(n / 4 % 2, 0);
        }
        assert!(!task.has_settled(), "24 moves in 100 arrivals");
        for _ in 0..30 {
            task.arrive(1, 0);
        }
        assert!(task.has_settled(), "30 arrivals without a move, where 6 were to be expected");
        let mut once = Whereabouts::default();
        once.arrive(0, 0);
        once.arrive(1, 0);
        assert!(once.has_settled(), "sched_setaffinity moves a task once");
    }
}
