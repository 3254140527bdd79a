//! Cache lines that CPUs share, as single-server queues: one transfer at a time (design 4, rt-class 10.5).

use super::locks::line_transfer;
use crate::spec::MachineSpec;
use scheduler::platform::{Access, Line};
use scheduler::{CpuId, CpuMask, Nanos};

/// Where a line is.
#[derive(Clone, Debug)]
struct LineState {
    /// Who wrote it last.
    owner: CpuId,
    /// Whether others have read it since; if not, the owner's copy is the only one.
    shared: bool,
    /// Who has a valid copy, once it is shared.
    sharers: CpuMask,
    /// End of the transfer that is under way.
    free_at: Nanos,
}

impl Default for LineState {
    fn default() -> LineState {
        LineState { owner: CpuId(0), shared: true, sharers: CpuMask::ALL, free_at: Nanos::ZERO }
    }
}

impl LineState {
    fn has_copy(&self, cpu: CpuId) -> bool {
        if self.shared { self.sharers.contains(cpu) } else { self.owner == cpu }
    }

    fn read_by(&mut self, cpu: CpuId) {
        if !self.shared {
            self.shared = true;
            self.sharers = CpuMask::single(self.owner);
        }
        self.sharers.insert(cpu);
    }

    fn written_by(&mut self, cpu: CpuId) {
        self.owner = cpu;
        self.shared = false;
    }
}

/// cpupri levels, as the scheduler numbers them: 0 to 99.
const CPUPRI_LEVELS: usize = 100;

/// Lines of four cpupri counts each.
const CPUPRI_COUNTS: usize = CPUPRI_LEVELS / 4;

/// Every modelled line of a machine.
#[derive(Debug)]
pub(crate) struct LineTable {
    /// Run queues, wake lists, then the singletons and the cpupri levels.
    fixed: Vec<LineState>,
    cpus: usize,
    /// Owner of each task's line; tasks are touched under their pi_lock, so they need no queue.
    tasks: Vec<CpuId>,
}

impl LineTable {
    pub fn new(cpus: usize) -> LineTable {
        LineTable {
            fixed: vec![LineState::default(); 2 * cpus + 3 + CPUPRI_LEVELS + CPUPRI_COUNTS],
            cpus,
            tasks: Vec::new(),
        }
    }

    /// What it costs `me` to use `line` at its local time `now`.
    pub fn touch(&mut self, me: CpuId, now: Nanos, line: Line, access: Access, spec: &MachineSpec) -> Nanos {
        let base = 2 * self.cpus;
        let index = match line {
            Line::Task(task) => return self.touch_task(me, task.index(), spec),
            Line::Rq(cpu) => cpu.index(),
            Line::WakeList(cpu) => self.cpus + cpu.index(),
            Line::Rto => base,
            Line::CpupriActive => base + 1,
            Line::PushRequest => base + 2,
            Line::CpupriLevel(level) => base + 3 + level as usize,
            Line::CpupriCounts(group) => base + 3 + CPUPRI_LEVELS + group as usize,
        };
        let state = &mut self.fixed[index];
        let own = spec.costs.line.own;
        let have_it = state.sharers.contains(me);
        match access {
            Access::Read if have_it => return own,
            Access::Write if have_it && state.owner == me && state.sharers == CpuMask::single(me) => {
                return own;
            }
            _ => {}
        }
        let transfer = line_transfer(&spec.costs, spec, state.owner, me).max(own);
        let start = now.max(state.free_at);
        state.free_at = start + transfer;
        match access {
            Access::Read => state.read_by(me),
            Access::Write => state.written_by(me),
        }
        state.free_at - now
    }

    fn touch_task(&mut self, me: CpuId, task: usize, spec: &MachineSpec) -> Nanos {
        if task >= self.tasks.len() {
            self.tasks.resize(task + 1, me);
        }
        let owner = std::mem::replace(&mut self.tasks[task], me);
        line_transfer(&spec.costs, spec, owner, me).max(spec.costs.line.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_others_wrote_is_transferred_once() {
        let spec = crate::engine::four_nodes();
        let mut lines = LineTable::new(40);
        let mut touch = |cpu, access| lines.touch(CpuId(cpu), Nanos(0), Line::Rto, access, &spec);
        touch(0, Access::Write);
        assert_eq!(touch(0, Access::Write), spec.costs.line.own);
        let first = touch(30, Access::Read);
        assert!(first >= spec.costs.line.other_node);
        assert_eq!(touch(30, Access::Read), spec.costs.line.own);
    }

    #[test]
    fn transfers_of_one_line_queue_up() {
        let spec = crate::engine::four_nodes();
        let mut lines = LineTable::new(40);
        lines.touch(CpuId(0), Nanos(0), Line::Rto, Access::Write, &spec);
        let waits: Vec<u64> = (10..20)
            .map(|cpu| lines.touch(CpuId(cpu), Nanos(1_000), Line::Rto, Access::Read, &spec).0)
            .collect();
        assert!(waits.windows(2).all(|w| w[1] > w[0]), "each waits for the one before: {waits:?}");
    }
}
