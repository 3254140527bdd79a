//! Cache lines that CPUs share, as single-server queues: one transfer at a time (rt-class 10.5).

use super::sharers::Sharers;
use super::transfers::Transfers;
use scheduler::platform::{Access, Line};
use scheduler::{CpuId, Nanos, TaskId};
use std::cell::{Cell, RefCell};

/// Where a line is. Every CPU has a copy of one that nobody wrote yet.
#[derive(Debug)]
struct LineState {
    /// The CPU that has the only copy, or [`SHARED`], or [`UNWRITTEN`]: most uses end here.
    lone: Cell<CpuId>,
    /// Who wrote it last.
    owner: Cell<CpuId>,
    /// Transfers follow each other from here…
    busy_from: Cell<Nanos>,
    /// …to here.
    free_at: Cell<Nanos>,
    /// Who has a copy, while it is shared.
    sharers: Sharers,
}

impl Default for LineState {
    fn default() -> LineState {
        LineState {
            lone: Cell::new(UNWRITTEN),
            owner: Cell::default(),
            busy_from: Cell::default(),
            free_at: Cell::default(),
            sharers: Sharers::default(),
        }
    }
}

/// No CPU has the only copy.
const SHARED: CpuId = CpuId(u16::MAX);

/// Nobody wrote it yet.
const UNWRITTEN: CpuId = CpuId(u16::MAX - 1);

/// cpupri levels, as the scheduler numbers them: 0 to 100.
const CPUPRI_LEVELS: usize = 101;

/// Lines of four cpupri counts each.
const CPUPRI_COUNTS: usize = CPUPRI_LEVELS.div_ceil(4);

/// Lines of which a machine has one each; cpupri's come after them.
const SINGLETONS: usize = 5;

/// Lines of which each CPU has some come after these.
const PER_CPU: usize = SINGLETONS + CPUPRI_LEVELS + CPUPRI_COUNTS;

/// Every modelled line of a machine.
#[derive(Debug)]
pub(crate) struct LineTable {
    /// The singletons, those of cpupri, and those of the CPUs.
    states: Box<[LineState]>,
    tasks: RefCell<Vec<LineState>>,
}

impl LineTable {
    /// With room for the lines of so many tasks.
    pub fn new(cpus: usize, tasks: usize) -> LineTable {
        LineTable {
            states: (0..PER_CPU + 2 * cpus).map(|_| LineState::default()).collect(),
            tasks: RefCell::new(Vec::with_capacity(tasks)),
        }
    }

    /// What it costs `me` to use a line at its local time `now`.
    #[inline(always)]
    pub fn touch(&self, me: CpuId, now: Nanos, line: Line, access: Access, transfers: &Transfers) -> Nanos {
        let index = match line {
            Line::Rto => 0,
            Line::CpupriActive => 1,
            Line::PushRequest => 2,
            Line::Dlo => 3,
            Line::Cpudl => 4,
            Line::CpupriLevel(level) => SINGLETONS + level as usize,
            Line::CpupriCounts(group) => SINGLETONS + CPUPRI_LEVELS + group as usize,
            Line::Rq(cpu) => PER_CPU + 2 * cpu.index(),
            Line::WakeList(cpu) => PER_CPU + 2 * cpu.index() + 1,
            Line::Task(task) => return self.touch_task(me, now, task, access, transfers),
        };
        self.states[index].touch(me, now, access, transfers)
    }

    /// The same for looking at what a CPU publishes, in loops over many of them: inlined, it takes a third
    /// less.
    #[inline(always)]
    pub fn look(&self, me: CpuId, now: Nanos, cpu: CpuId, transfers: &Transfers) -> Nanos {
        let line = &self.states[PER_CPU + 2 * cpu.index()];
        if line.lone.get() == me { transfers.own() } else { line.read_inline(me, now, transfers) }
    }

    fn touch_task(
        &self,
        me: CpuId,
        now: Nanos,
        task: TaskId,
        access: Access,
        transfers: &Transfers,
    ) -> Nanos {
        if task.index() >= self.tasks.borrow().len() {
            self.tasks.borrow_mut().resize_with(task.index() + 1, LineState::default);
        }
        self.tasks.borrow()[task.index()].touch(me, now, access, transfers)
    }
}

impl LineState {
    #[inline(always)]
    fn touch(&self, me: CpuId, now: Nanos, access: Access, transfers: &Transfers) -> Nanos {
        if self.lone.get() == me {
            return transfers.own();
        }
        match access {
            Access::Read => self.read(me, now, transfers),
            Access::Write => self.write(me, now, transfers),
        }
    }

    #[inline(never)]
    fn read(&self, me: CpuId, now: Nanos, transfers: &Transfers) -> Nanos {
        self.read_inline(me, now, transfers)
    }

    #[inline(always)]
    fn read_inline(&self, me: CpuId, now: Nanos, transfers: &Transfers) -> Nanos {
        let (lone, owner) = (self.lone.get(), self.owner.get());
        if lone == UNWRITTEN || (lone == SHARED && self.sharers.contains(me)) {
            return transfers.own();
        }
        if lone != SHARED {
            self.lone.set(SHARED);
            self.sharers.clear();
            self.sharers.insert(owner);
        }
        self.sharers.insert(me);
        self.queue_up(now, transfers.get(owner, me))
    }

    #[inline(never)]
    fn write(&self, me: CpuId, now: Nanos, transfers: &Transfers) -> Nanos {
        let owner = self.owner.get();
        if owner == me {
            return self.write_shared(me, now, transfers);
        }
        self.owner.set(me);
        self.lone.set(me);
        self.queue_up(now, transfers.get(owner, me))
    }

    /// Its last writer shares it, and has to reach another sharer. (Apart: what it takes would be saved and
    /// restored in every write.)
    #[inline(never)]
    fn write_shared(&self, me: CpuId, now: Nanos, transfers: &Transfers) -> Nanos {
        let unwritten = self.lone.get() == UNWRITTEN;
        let holder = if unwritten { transfers.next_wrapping(me) } else { self.sharers.next_wrapping(me) };
        self.lone.set(me);
        self.queue_up(now, transfers.get(holder, me))
    }

    /// How long a transfer takes from `now` on, behind those that are under way.
    #[inline]
    fn queue_up(&self, now: Nanos, transfer: Nanos) -> Nanos {
        // Paths run a little ahead of each other: what others have asked for at a later time is not in the
        // way.
        if now + transfer <= self.busy_from.get() {
            return transfer;
        }
        if now > self.free_at.get() {
            self.busy_from.set(now);
        }
        let free_at = now.max(self.free_at.get()) + transfer;
        self.free_at.set(free_at);
        free_at - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_others_wrote_is_transferred_once() {
        let spec = crate::engine::hardware::four_nodes();
        let transfers = Transfers::new(&spec);
        let lines = LineTable::new(40, 0);
        let touch = |cpu, access| lines.touch(CpuId(cpu), Nanos(0), Line::Rto, access, &transfers);
        touch(0, Access::Write);
        assert_eq!(touch(0, Access::Write), spec.costs.line.own);
        let first = touch(30, Access::Read);
        assert!(first >= spec.costs.line.other_node);
        assert_eq!(touch(30, Access::Read), spec.costs.line.own);
    }

    #[test]
    fn transfers_of_one_line_queue_up() {
        let spec = crate::engine::hardware::four_nodes();
        let transfers = Transfers::new(&spec);
        let lines = LineTable::new(40, 0);
        lines.touch(CpuId(0), Nanos(0), Line::Rto, Access::Write, &transfers);
        let waits: Vec<u64> = (10..20)
            .map(|cpu| lines.touch(CpuId(cpu), Nanos(1_000), Line::Rto, Access::Read, &transfers).0)
            .collect();
        assert!(waits.windows(2).all(|w| w[1] > w[0]), "each waits for the one before: {waits:?}");
        // A path that is still at an earlier time finds the line free.
        let earlier = lines.touch(CpuId(20), Nanos(100), Line::Rto, Access::Read, &transfers);
        assert_eq!(earlier, spec.costs.line.other_node);
    }
}
