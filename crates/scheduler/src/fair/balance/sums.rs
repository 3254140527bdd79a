//! What balancing counts of CPUs, summed for each group (fair-placement 4.5).
//!
//! A newly idle CPU of a large machine looks through all groups, many thousand times a second. Most CPUs are
//! as they were the last time, so sums are kept, and only those CPUs are counted anew whose lock was taken,
//! or who were handed a wakeup, since then. On 512 CPUs where nothing costs time this is two thirds of all
//! instructions (`cargo bench --bench events -- --once ideal-6.1 512`, 8.4 for 8 CPUs becomes less than 2).

use crate::cpumask::CellMask;
use crate::domains::SchedDomain;
use crate::fair::pelt::{cpu_load, cpu_runnable, cpu_util};
use crate::platform::Platform;
use crate::registry::{BalanceLoad, DelayedCount, LoadTracking, RtLoadWeight};
use crate::{CpuId, ThisCpu};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, Ref, RefCell};

/// Of one CPU, or the sums over several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::fair) struct Counted {
    /// See [`cpu_load`].
    pub load: u64,
    /// See [`cpu_util`].
    pub util: u64,
    /// See [`cpu_runnable`].
    pub runnable: u64,
    /// Runnable tasks of all classes.
    pub nr_running: u64,
    /// Runnable fair tasks.
    pub nr_fair: u64,
    /// CPUs with more than one task.
    pub crowded: u64,
    /// CPUs that idle.
    pub idle: u64,
}

impl Counted {
    pub fn of<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> Counted {
        let nr_running = u64::from(me.k.rq(cpu).published.nr_running.get());
        Counted {
            load: cpu_load(me, cpu),
            util: cpu_util(me, cpu),
            runnable: cpu_runnable(me, cpu),
            nr_running,
            nr_fair: u64::from(me.k.nr_fair(cpu)),
            crowded: u64::from(nr_running > 1),
            idle: u64::from(me.k.idle_cpu(cpu)),
        }
    }

    pub fn add(&mut self, other: &Counted) {
        self.replace(&Counted::default(), other);
    }

    /// A CPU that was part of the sum as `before` is now so.
    fn replace(&mut self, before: &Counted, now: &Counted) {
        self.load = self.load + now.load - before.load;
        self.util = self.util + now.util - before.util;
        self.runnable = self.runnable + now.runnable - before.runnable;
        self.nr_running = self.nr_running + now.nr_running - before.nr_running;
        self.nr_fair = self.nr_fair + now.nr_fair - before.nr_fair;
        self.crowded = self.crowded + now.crowded - before.crowded;
        self.idle = self.idle + now.idle - before.idle;
    }
}

/// The sums of all groups of a machine.
#[derive(Debug)]
pub(in crate::fair) struct GroupSums {
    /// CPUs that are to be counted anew.
    changed: CellMask,
    /// By the number of the group: first the CPUs, then the groups of several.
    counted: RefCell<Box<[Counted]>>,
    /// By CPU: the numbers of its groups of several CPUs.
    groups_of: Box<[Box<[usize]>]>,
    /// By which rules they were counted.
    rules: Cell<Option<Rules>>,
}

type Rules = (LoadTracking, BalanceLoad, DelayedCount, RtLoadWeight);

impl GroupSums {
    pub fn new(domains: &[Vec<SchedDomain>]) -> GroupSums {
        let mut groups_of = vec![Vec::new(); domains.len()];
        let mut free = domains.len();
        for group in domains.iter().flatten().flat_map(SchedDomain::groups) {
            // CPUs share groups: one that is known has been seen in the domains of another CPU.
            if group.number == free {
                group.span.iter().for_each(|cpu| groups_of[cpu.index()].push(group.number));
                free += 1;
            }
        }
        GroupSums {
            changed: CellMask::default(),
            counted: RefCell::new(vec![Counted::default(); free].into()),
            groups_of: groups_of.into_iter().map(Vec::into).collect(),
            rules: Cell::new(None),
        }
    }

    /// A CPU's figures may change until its lock is free again.
    #[inline(always)]
    pub fn may_change(&self, cpu: CpuId) {
        self.changed.insert(cpu);
    }

    /// What is counted at this moment, by the number of the group.
    pub fn now<P: Platform>(&self, me: ThisCpu<'_, P>) -> Ref<'_, [Counted]> {
        let rules = &me.k.config.rules;
        let current = (
            rules.load_tracking.get(),
            rules.balance_load.get(),
            rules.delayed_count.get(),
            rules.rt_load_weight.get(),
        );
        if self.rules.replace(Some(current)) != Some(current) {
            me.k.online.iter().for_each(|cpu| self.may_change(cpu));
        }
        let mut counted = self.counted.borrow_mut();
        self.changed.drain(|cpu| {
            let now = Counted::of(me, cpu);
            let before = core::mem::replace(&mut counted[cpu.index()], now);
            if now != before {
                for group in &self.groups_of[cpu.index()] {
                    counted[*group].replace(&before, &now);
                }
            }
            if me.k.rq(cpu).inspect().is_none() {
                self.changed.insert(cpu);
            }
        });
        drop(counted);
        self.last()
    }

    /// What the last call of [`GroupSums::now`] has counted, for whoever called that.
    pub fn last(&self) -> Ref<'_, [Counted]> {
        Ref::map(self.counted.borrow(), |counted| &**counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;
    use crate::{Policy, Topology};

    /// The sums follow what happens under a CPU's lock, also while it is held, and nothing else is counted
    /// anew.
    #[test]
    fn sums_follow_the_locks() {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
        let (me, number) = (lab.cpu(1), lab.k.domains(CpuId(0))[0].own_group().number);
        let running = || me.k.fair_root.sums.now(me)[number].nr_running;
        assert_eq!(running(), 0);
        lab.spawn(Policy::Normal, 0);
        assert_eq!(running(), 1);
        let published = &lab.k.rq(CpuId(0)).published.nr_running;
        published.overwrite(5);
        assert_eq!(running(), 1, "nobody took the lock");
        let held = lab.run(me.lock(CpuId(0)));
        assert_eq!(running(), 5);
        published.overwrite(3);
        assert_eq!(running(), 3, "it is still held");
        drop(held);
        published.overwrite(2);
        assert_eq!([running(), running()], [2, 2], "once more after it was given back");
        published.overwrite(1);
        assert_eq!(running(), 2);
    }

    /// fair-placement 4.5: with two tasks a CPU is crowded; one to which somebody comes does not idle.
    #[test]
    fn what_a_cpu_counts() {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
        let crowded_and_idle = || {
            let Counted { crowded, idle, .. } = Counted::of(lab.cpu(1), CpuId(0));
            [crowded, idle]
        };
        assert_eq!(crowded_and_idle(), [0, 1]);
        for crowded in [0, 1, 1] {
            lab.spawn_allowed(Policy::Normal, 0, crate::CpuMask::single(CpuId(0)));
            assert_eq!(crowded_and_idle(), [crowded, 0]);
        }
        let p = lab.running(0);
        (0..3).for_each(|_| _ = lab.block(0));
        lab.k.rq(CpuId(0)).wake_list.push(p);
        assert_eq!(crowded_and_idle(), [0, 0]);
    }
}
