//! Cache lines that CPUs share, as single-server queues: one transfer at a time (design 4, rt-class 10.5).

use super::transfers::Transfers;
use scheduler::platform::{Access, Line};
use scheduler::{CpuId, CpuMask, Nanos};

/// Where a line is.
#[derive(Clone, Debug)]
struct LineState {
    /// Who wrote it last.
    owner: CpuId,
    /// Who has a valid copy, while there is more than one.
    sharers: CpuMask,
    /// Transfers follow each other from here…
    busy_from: Nanos,
    /// …to here.
    free_at: Nanos,
}

/// cpupri levels, as the scheduler numbers them: 0 to 99.
const CPUPRI_LEVELS: usize = 100;

/// Lines of four cpupri counts each.
const CPUPRI_COUNTS: usize = CPUPRI_LEVELS / 4;

/// More than one CPU has a copy.
const SHARED: u16 = u16::MAX;

/// Every modelled line of a machine.
#[derive(Debug)]
pub(crate) struct LineTable {
    cpus: usize,
    /// The CPU that has the only copy of each line, or [`SHARED`]: most uses end here.
    lone: Vec<u16>,
    /// Run queues, wake lists, the singletons and the cpupri levels, then the tasks.
    states: Vec<LineState>,
}

impl LineTable {
    pub fn new(cpus: usize) -> LineTable {
        let mut table = LineTable { cpus, lone: Vec::new(), states: Vec::new() };
        table.grow(2 * cpus + 3 + CPUPRI_LEVELS + CPUPRI_COUNTS);
        table
    }

    /// Every CPU has a copy of a line that nobody wrote yet.
    fn grow(&mut self, lines: usize) {
        let state = LineState {
            owner: CpuId(0),
            sharers: CpuMask::first_n(self.cpus),
            busy_from: Nanos::ZERO,
            free_at: Nanos::ZERO,
        };
        self.lone.resize(lines, SHARED);
        self.states.resize(lines, state);
    }

    /// Number of a line; tasks' lines come last.
    #[inline]
    pub fn index(&self, line: Line) -> usize {
        let base = 2 * self.cpus;
        match line {
            Line::Rq(cpu) => cpu.index(),
            Line::WakeList(cpu) => self.cpus + cpu.index(),
            Line::Rto => base,
            Line::CpupriActive => base + 1,
            Line::PushRequest => base + 2,
            Line::CpupriLevel(level) => base + 3 + level as usize,
            Line::CpupriCounts(group) => base + 3 + CPUPRI_LEVELS + group as usize,
            Line::Task(task) => base + 3 + CPUPRI_LEVELS + CPUPRI_COUNTS + task.index(),
        }
    }

    /// Whether `me` has the only copy of a line.
    #[inline]
    pub fn is_lone(&self, me: CpuId, index: usize) -> bool {
        self.lone.get(index) == Some(&me.0)
    }

    /// What it costs `me` to use a line at its local time `now`.
    pub fn touch(
        &mut self,
        me: CpuId,
        now: Nanos,
        index: usize,
        access: Access,
        transfers: &Transfers,
    ) -> Nanos {
        if index >= self.lone.len() {
            self.grow(index + 1);
        }
        let state = &mut self.states[index];
        let lone = &mut self.lone[index];
        if *lone == me.0 || (access == Access::Read && *lone == SHARED && state.sharers.contains(me)) {
            return transfers.get(me, me);
        }
        // To write a line that it shares, its last writer has to reach another sharer.
        let holder =
            if state.owner == me { state.sharers.next_wrapping(me).unwrap_or(me) } else { state.owner };
        let transfer = transfers.get(holder, me);
        // Paths run a little ahead of each other: what others have asked for at a later time is not in the way.
        let done = if now + transfer <= state.busy_from {
            now + transfer
        } else {
            if now > state.free_at {
                state.busy_from = now;
            }
            state.free_at = now.max(state.free_at) + transfer;
            state.free_at
        };
        match access {
            Access::Read => {
                if *lone != SHARED {
                    state.sharers = CpuMask::single(state.owner);
                    *lone = SHARED;
                }
                state.sharers.insert(me);
            }
            Access::Write => {
                state.owner = me;
                *lone = me.0;
            }
        }
        done - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_others_wrote_is_transferred_once() {
        let spec = crate::engine::four_nodes();
        let transfers = Transfers::new(&spec);
        let mut lines = LineTable::new(40);
        let mut touch = |cpu, access| {
            let rto = lines.index(Line::Rto);
            lines.touch(CpuId(cpu), Nanos(0), rto, access, &transfers)
        };
        touch(0, Access::Write);
        assert_eq!(touch(0, Access::Write), spec.costs.line.own);
        let first = touch(30, Access::Read);
        assert!(first >= spec.costs.line.other_node);
        assert_eq!(touch(30, Access::Read), spec.costs.line.own);
    }

    #[test]
    fn transfers_of_one_line_queue_up() {
        let spec = crate::engine::four_nodes();
        let transfers = Transfers::new(&spec);
        let mut lines = LineTable::new(40);
        let rto = lines.index(Line::Rto);
        lines.touch(CpuId(0), Nanos(0), rto, Access::Write, &transfers);
        let waits: Vec<u64> = (10..20)
            .map(|cpu| lines.touch(CpuId(cpu), Nanos(1_000), rto, Access::Read, &transfers).0)
            .collect();
        assert!(waits.windows(2).all(|w| w[1] > w[0]), "each waits for the one before: {waits:?}");
        // A path that is still at an earlier time finds the line free.
        let earlier = lines.touch(CpuId(20), Nanos(100), rto, Access::Read, &transfers);
        assert_eq!(earlier, spec.costs.line.other_node);
    }
}
