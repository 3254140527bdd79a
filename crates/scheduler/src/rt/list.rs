//! 100 FIFO lists, one for each RT priority, with a bitmap of those that hold something.
//!
//! The run queue and the pushable list both have this form. Links lie in the tasks, so nothing is allocated,
//! and every operation takes constant time.

use super::RtEntity;
use crate::task::TaskTable;
use crate::{Prio, TaskId};
use core::cell::Cell;
use core::marker::PhantomData;

/// Number of RT priorities, 0 to 99.
const LEVELS: usize = Prio::NO_RT.0 as usize;

/// A task's place in one of the two structures.
#[derive(Debug, Default)]
pub(super) struct Links {
    prev: Cell<Option<TaskId>>,
    next: Cell<Option<TaskId>>,
    /// The list it is on, if it is on one.
    level: Cell<Option<Prio>>,
}

impl Links {
    pub(super) fn reset(&self) {
        self.prev.set(None);
        self.next.set(None);
        self.level.set(None);
    }

    /// Whether the task is on a list.
    pub(super) fn is_linked(&self) -> bool {
        self.level.get().is_some()
    }
}

/// Which of a task's links a structure goes through.
pub(super) trait Member {
    fn links(entity: &RtEntity) -> &Links;
}

/// A set of levels. (One u128 would be written in parts and read as a whole: the processor waits for that.)
#[derive(Clone, Copy, Debug, Default)]
struct Levels([u64; LEVELS.div_ceil(64)]);

impl Levels {
    fn contains(&self, level: usize) -> bool {
        self.0[level / 64] >> (level % 64) & 1 == 1
    }

    fn insert(&mut self, level: usize) {
        self.0[level / 64] |= 1 << (level % 64);
    }

    fn remove(&mut self, level: usize) {
        self.0[level / 64] &= !(1 << (level % 64));
    }

    fn lowest(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    head: TaskId,
    tail: TaskId,
}

/// The lists, best priority first, and first come first served within a priority.
#[derive(Debug)]
pub(super) struct PrioLists<M> {
    /// Which lists hold something; only then are their `ends` valid.
    occupied: Levels,
    /// The lowest of these, or [`Prio::NO_RT`]: asked far more often than it changes.
    best: Prio,
    ends: [Ends; LEVELS],
    member: PhantomData<M>,
}

impl<M> Default for PrioLists<M> {
    fn default() -> PrioLists<M> {
        let none = Ends { head: TaskId(0), tail: TaskId(0) };
        PrioLists {
            occupied: Levels::default(),
            best: Prio::NO_RT,
            ends: [none; LEVELS],
            member: PhantomData,
        }
    }
}

impl<M: Member> PrioLists<M> {
    /// Whether every list is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.best == Prio::NO_RT
    }

    /// The best priority of which there is a task, or [`Prio::NO_RT`].
    #[inline]
    pub(super) fn best(&self) -> Prio {
        self.best
    }

    /// The first task of the best priority.
    #[inline]
    pub(super) fn first(&self) -> Option<TaskId> {
        self.ends.get(self.best.0 as usize).map(|ends| ends.head)
    }

    /// Behind its equals.
    #[inline]
    pub(super) fn push_back(&mut self, tasks: &TaskTable, p: TaskId, prio: Prio) {
        let level = prio.0 as usize;
        let links = M::links(&tasks.get(p).rt);
        debug_assert!(!links.is_linked());
        let tail = self.occupied.contains(level).then_some(self.ends[level].tail);
        links.level.set(Some(prio));
        links.prev.set(tail);
        links.next.set(None);
        match tail {
            Some(tail) => {
                M::links(&tasks.get(tail).rt).next.set(Some(p));
                self.ends[level].tail = p;
            }
            None => self.occupy(prio, p),
        }
    }

    /// Before its equals.
    pub(super) fn push_front(&mut self, tasks: &TaskTable, p: TaskId, prio: Prio) {
        let level = prio.0 as usize;
        let links = M::links(&tasks.get(p).rt);
        debug_assert!(!links.is_linked());
        let head = self.occupied.contains(level).then_some(self.ends[level].head);
        links.level.set(Some(prio));
        links.prev.set(None);
        links.next.set(head);
        match head {
            Some(head) => {
                M::links(&tasks.get(head).rt).prev.set(Some(p));
                self.ends[level].head = p;
            }
            None => self.occupy(prio, p),
        }
    }

    fn occupy(&mut self, prio: Prio, only: TaskId) {
        self.occupied.insert(prio.0 as usize);
        self.best = self.best.min(prio);
        self.ends[prio.0 as usize] = Ends { head: only, tail: only };
    }

    fn vacate(&mut self, prio: Prio) {
        self.occupied.remove(prio.0 as usize);
        if prio == self.best {
            self.best = self.occupied.lowest().map_or(Prio::NO_RT, |level| Prio(level as i16));
        }
    }

    /// Takes a task out, wherever it is; whether it was in.
    #[inline]
    pub(super) fn remove(&mut self, tasks: &TaskTable, p: TaskId) -> bool {
        let links = M::links(&tasks.get(p).rt);
        let Some(prio) = links.level.take() else { return false };
        let level = prio.0 as usize;
        match (links.prev.take(), links.next.take()) {
            (None, None) => self.vacate(prio),
            (prev, next) => {
                match prev {
                    Some(prev) => M::links(&tasks.get(prev).rt).next.set(next),
                    None => self.ends[level].head = next.unwrap_or(p),
                }
                match next {
                    Some(next) => M::links(&tasks.get(next).rt).prev.set(prev),
                    None => self.ends[level].tail = prev.unwrap_or(p),
                }
            }
        }
        true
    }

    /// Whether a task that is in shares its list with others.
    pub(super) fn has_company(&self, tasks: &TaskTable, p: TaskId) -> bool {
        let links = M::links(&tasks.get(p).rt);
        links.prev.get().is_some() || links.next.get().is_some()
    }

    /// Every task, in the order in which they would be served.
    pub(super) fn iter<'a>(&'a self, tasks: &'a TaskTable) -> Iter<'a, M> {
        Iter { lists: self, tasks, rest: self.occupied, at: None }
    }
}

/// See [`PrioLists::iter`].
pub(super) struct Iter<'a, M> {
    lists: &'a PrioLists<M>,
    tasks: &'a TaskTable,
    /// Levels not yet begun.
    rest: Levels,
    at: Option<TaskId>,
}

impl<M: Member> Iterator for Iter<'_, M> {
    type Item = TaskId;

    fn next(&mut self) -> Option<TaskId> {
        if let (None, Some(level)) = (self.at, self.rest.lowest()) {
            self.at = Some(self.lists.ends[level].head);
            self.rest.remove(level);
        }
        let p = self.at?;
        self.at = M::links(&self.tasks.get(p).rt).next.get();
        Some(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt::Queued;
    use crate::{CpuMask, Nice, Pid, Policy};
    use alloc::vec::Vec;

    fn tasks(n: usize) -> (TaskTable, Vec<TaskId>) {
        let table = TaskTable::default();
        let new = |_| table.create(Pid(1), Policy::Normal, Nice::default(), CpuMask::first_n(1));
        let ids = (0..n).map(new).collect();
        (table, ids)
    }

    #[test]
    fn best_priority_first_then_first_come_first_served() {
        let (table, id) = tasks(4);
        let mut lists: PrioLists<Queued> = PrioLists::default();
        lists.push_back(&table, id[0], Prio(50));
        lists.push_back(&table, id[1], Prio(0));
        lists.push_back(&table, id[2], Prio(50));
        lists.push_front(&table, id[3], Prio(50));
        assert_eq!((lists.best(), lists.first()), (Prio(0), Some(id[1])));
        assert_eq!(lists.iter(&table).collect::<Vec<_>>(), [id[1], id[3], id[0], id[2]]);
    }

    #[test]
    fn removal_at_head_middle_and_tail_keeps_the_rest() {
        let (table, id) = tasks(5);
        for gone in 0..5 {
            let mut lists: PrioLists<Queued> = PrioLists::default();
            id.iter().for_each(|p| lists.push_back(&table, *p, Prio(98)));
            assert!(lists.remove(&table, id[gone]) && !lists.remove(&table, id[gone]));
            let rest: Vec<_> = id.iter().copied().filter(|p| *p != id[gone]).collect();
            assert_eq!(lists.iter(&table).collect::<Vec<_>>(), rest);
            rest.iter().for_each(|p| assert!(lists.remove(&table, *p)));
            assert!(lists.is_empty() && lists.first().is_none());
            assert_eq!(lists.best(), Prio::NO_RT);
        }
    }

    #[test]
    fn company_means_the_same_priority() {
        let (table, id) = tasks(3);
        let mut lists: PrioLists<Queued> = PrioLists::default();
        lists.push_back(&table, id[0], Prio(10));
        lists.push_back(&table, id[1], Prio(11));
        assert!(!lists.has_company(&table, id[0]));
        lists.push_back(&table, id[2], Prio(10));
        assert!(lists.has_company(&table, id[0]) && lists.has_company(&table, id[2]));
    }
}
