//! cpupri: which CPUs have which best queued priority, by priority (rt-class 4.3).
//!
//! Writers hold the run-queue lock of the CPU that changes; readers hold nothing, and what they find is
//! advice. The levels are numbered as in 6.1: 0 for "no RT task queued", u for user priority u. The kernels
//! up to about 3.15 number them one or two higher, which changes nothing but for the two highest
//! (`cpupri_top`).
//!
//! An update is one step of the model, so other CPUs cannot look into it, with one exception: under
//! `search=cpupri_gap` the CPU leaves its old level before it enters the new one, and a search at a moment
//! between the two misses it. 6.1's order (new level first, so that the CPU is in both for a moment) can only
//! make a reader take a CPU that has just risen, which every reader has to expect anyway.

use crate::platform::{Access, Line, Platform, RootLine};
use crate::registry::{CpupriTop, Search};
use crate::{CpuId, CpuMask, Nanos, Prio, RootId, ThisCpu};
use alloc::boxed::Box;
use alloc::vec;
use core::cell::RefCell;

/// Level 0 (normal), one for each user priority 1 to 99, and 100 for deadline tasks (deadline-groups A1).
const LEVELS: usize = 101;

/// Levels whose counts share a cache line in 6.1 (rt-class 10.1).
const COUNTS_PER_LINE: u8 = 4;

/// Levels of user priorities 98 and 99. The kernels that number two higher (from 3.2 on, up to about 3.15)
/// take them for above all real-time ones, for which there is nothing to find (`cpupri_top=missed`).
const TOP: core::ops::RangeInclusive<u8> = 98..=99;

/// The level of a CPU or task of this priority.
fn level_of(prio: Prio) -> u8 {
    (99 - prio.0).max(0) as u8
}

/// The two-dimensional map.
#[derive(Debug)]
pub(super) struct Cpupri(RefCell<Map>);

#[derive(Debug)]
struct Map {
    /// Whose it is.
    root: RootId,
    /// Bit per level that holds a CPU. The kernels up to 3.1 keep it in memory and read it; for 6.1 it only
    /// saves this program from looking at 100 counts.
    active: u128,
    vectors: Box<[Vector]>,
    /// Level of each CPU.
    level: Box<[u8]>,
    /// When each CPU was last in no level (`cpupri_gap`).
    unseen: Box<[Window]>,
    /// The latest end of those windows.
    unseen_until: Nanos,
}

/// One level.
#[derive(Clone, Debug, Default)]
struct Vector {
    count: u32,
    cpus: CpuMask,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    from: Nanos,
    until: Nanos,
}

impl Cpupri {
    /// The CPUs of `span` are without RT tasks; the machine has `cpus`.
    pub(super) fn new(root: RootId, span: CpuMask, cpus: usize) -> Cpupri {
        let mut vectors = vec![Vector::default(); LEVELS].into_boxed_slice();
        vectors[0] = Vector { count: span.weight(), cpus: span };
        Cpupri(RefCell::new(Map {
            root,
            active: 1,
            vectors,
            level: vec![0; cpus].into(),
            unseen: vec![Window::default(); cpus].into(),
            unseen_until: Nanos::ZERO,
        }))
    }

    /// The best queued priority of `cpu` changed. The caller holds that CPU's run-queue lock.
    #[inline]
    pub(super) fn set<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId, highest: Prio) {
        let mut map = self.0.borrow_mut();
        let new = level_of(highest);
        let old = core::mem::replace(&mut map.level[cpu.index()], new);
        if old == new {
            return;
        }
        match me.k.config.rules.search.get() {
            Search::Cpupri => {
                map.enter(new, cpu);
                map.write_counts(me, new);
                map.touch(me, RootLine::CpupriLevel(new), Access::Write);
                map.leave(old, cpu);
                map.write_counts(me, old);
                map.touch(me, RootLine::CpupriLevel(old), Access::Write);
            }
            Search::CpupriLocked => {
                map.enter_locked(me, new, cpu);
                map.leave_locked(me, old, cpu);
            }
            Search::CpupriGap => {
                map.leave_locked(me, old, cpu);
                let from = me.now();
                map.enter_locked(me, new, cpu);
                let until = me.now();
                map.unseen[cpu.index()] = Window { from, until };
                map.unseen_until = map.unseen_until.max(until);
            }
            // Those kernels had no cpupri: kept up to date, in case the rule changes, but at no cost.
            Search::LinearMask | Search::Linear => {
                map.enter(new, cpu);
                map.leave(old, cpu);
            }
        }
    }

    /// The allowed CPUs of the lowest level strictly below `prio` that has any.
    #[inline]
    pub(super) fn find<P: Platform>(
        &self,
        me: ThisCpu<'_, P>,
        prio: Prio,
        allowed: &CpuMask,
    ) -> Option<CpuMask> {
        let map = self.0.borrow();
        let lockless = me.k.config.rules.search.get() == Search::Cpupri;
        let top = level_of(prio);
        if lockless && TOP.contains(&top) && me.k.config.rules.cpupri_top.get() == CpupriTop::Missed {
            return None;
        }
        let mut rest = map.active & ((1 << top) - 1);
        let mut counts_read = 0;
        if !lockless {
            map.touch(me, RootLine::CpupriActive, Access::Read);
        }
        while rest != 0 {
            let level = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            if lockless {
                map.read_counts(me, &mut counts_read, level);
            }
            map.touch(me, RootLine::CpupriLevel(level), Access::Read);
            let mut found = map.vectors[usize::from(level)].cpus.and(allowed);
            map.forget_unseen(me, &mut found);
            if !found.is_empty() {
                return Some(found);
            }
        }
        if lockless && top > 0 {
            map.read_counts(me, &mut counts_read, top - 1);
        }
        None
    }

    /// Level of a CPU, 0 to 100.
    pub(super) fn level(&self, cpu: CpuId) -> u8 {
        self.0.borrow().level[cpu.index()]
    }

    /// The CPUs at a level, and how many the level believes to have.
    pub(super) fn cpus_at(&self, level: u8) -> LevelCpus {
        let map = self.0.borrow();
        let vector = &map.vectors[usize::from(level)];
        LevelCpus { count: vector.count, cpus: vector.cpus }
    }
}

/// What a level of cpupri holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelCpus {
    /// Its occupancy count.
    pub count: u32,
    /// Its mask.
    pub cpus: CpuMask,
}

impl Map {
    /// Whether the level was empty.
    fn enter(&mut self, level: u8, cpu: CpuId) -> bool {
        let vector = &mut self.vectors[usize::from(level)];
        vector.cpus.insert(cpu);
        vector.count += 1;
        self.active |= 1 << level;
        vector.count == 1
    }

    /// Whether the level is empty now.
    fn leave(&mut self, level: u8, cpu: CpuId) -> bool {
        let vector = &mut self.vectors[usize::from(level)];
        vector.cpus.remove(cpu);
        vector.count -= 1;
        if vector.count == 0 {
            self.active &= !(1 << level);
        }
        vector.count == 0
    }

    /// Under the level's spinlock, which lies in the level's line.
    fn enter_locked<P: Platform>(&mut self, me: ThisCpu<'_, P>, level: u8, cpu: CpuId) {
        self.touch(me, RootLine::CpupriLevel(level), Access::Write);
        if self.enter(level, cpu) {
            self.touch(me, RootLine::CpupriActive, Access::Write);
        }
    }

    fn leave_locked<P: Platform>(&mut self, me: ThisCpu<'_, P>, level: u8, cpu: CpuId) {
        self.touch(me, RootLine::CpupriLevel(level), Access::Write);
        if self.leave(level, cpu) {
            self.touch(me, RootLine::CpupriActive, Access::Write);
        }
    }

    #[inline]
    fn touch<P: Platform>(&self, me: ThisCpu<'_, P>, line: RootLine, access: Access) {
        me.touch(Line::Root(self.root, line), access);
    }

    #[inline]
    fn write_counts<P: Platform>(&self, me: ThisCpu<'_, P>, level: u8) {
        self.touch(me, RootLine::CpupriCounts(level / COUNTS_PER_LINE), Access::Write);
    }

    /// Reads the lines of counts up to the one that holds `level`; `read` is how many were read before.
    #[inline]
    fn read_counts<P: Platform>(&self, me: ThisCpu<'_, P>, read: &mut u8, level: u8) {
        while *read <= level / COUNTS_PER_LINE {
            self.touch(me, RootLine::CpupriCounts(*read), Access::Read);
            *read += 1;
        }
    }

    /// Takes out the CPUs that are between two levels at the reader's present time.
    #[inline]
    fn forget_unseen<P: Platform>(&self, me: ThisCpu<'_, P>, found: &mut CpuMask) {
        let now = me.now();
        if now >= self.unseen_until {
            return;
        }
        for cpu in found.iter() {
            let window = self.unseen[cpu.index()];
            if window.from <= now && now < window.until {
                found.remove(cpu);
            }
        }
    }
}
