//! Is there anything to do, and how much? (fair-placement 4.6, 4.7)

use crate::Reason;
use crate::fair::balance::Situation;
use crate::fair::group::{Figures, GroupType};
use crate::shared::Kept;
use crate::stats::BalanceCounts;

/// In what the amount to be moved is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Load.
    Load,
    /// Utilisation, in 1024ths of a CPU.
    Util,
    /// Tasks.
    Task,
    /// One task that needs a better CPU.
    Misfit,
}

impl Kind {
    /// Where the sum of such amounts is kept.
    pub fn counter(self, counts: &BalanceCounts) -> &Kept<u64> {
        match self {
            Kind::Load => &counts.imbalance_load,
            Kind::Util => &counts.imbalance_util,
            Kind::Task => &counts.imbalance_task,
            Kind::Misfit => &counts.imbalance_misfit,
        }
    }
}

/// How much is to be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Imbalance {
    pub kind: Kind,
    pub amount: u64,
}

/// One group of a domain as seen in one pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub figures: Figures,
    pub kind: GroupType,
}

impl Seen {
    pub fn new(figures: Figures, pct: u64) -> Seen {
        Seen { figures, kind: figures.group_type(pct) }
    }

    /// Load of each CPU's worth; zero where no task waits for long.
    fn average(&self) -> u64 {
        if self.kind == GroupType::Overloaded { self.figures.average_load() } else { 0 }
    }

    /// Whether it is busier than `best`, the busiest so far. Of several that are equally busy, the first
    /// stays.
    #[inline]
    pub fn is_busier_than(&self, best: &Seen) -> bool {
        if self.kind != best.kind {
            return self.kind > best.kind;
        }
        let (own, other) = (&self.figures, &best.figures);
        match self.kind {
            GroupType::Overloaded | GroupType::FullyBusy => self.average() > best.average(),
            GroupType::Imbalanced => false,
            GroupType::AsymPacking => own.priority <= other.priority,
            GroupType::Misfit => own.misfit_load >= other.misfit_load,
            // They are fully busy, as far as averages go.
            GroupType::SmtBalance if own.idle == 0 && other.idle == 0 => false,
            GroupType::SmtBalance | GroupType::HasSpare => {
                own.idle < other.idle || (own.idle == other.idle && own.nr_running > other.nr_running)
            }
        }
    }
}

/// What a pass over a domain knows when it decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub situation: Situation,
    /// What balancing of the domain tolerates, in percent.
    pub pct: u64,
    /// The level below prefers to spread its tasks (SD_PREFER_SIBLING).
    pub prefer_sibling: bool,
    /// That only counts for a CPU that idles (eevdf-class 4.5).
    pub siblings_of_idle: bool,
    /// The domain's CPUs share a cache.
    pub shares_cache: bool,
    /// Its CPUs are not worth the same: who does not fit moves, whatever its load.
    pub asymmetric: bool,
    /// Tasks are placed by energy, and stay where they are.
    pub by_energy: bool,
    /// Load of each CPU's worth, over all groups.
    pub average: u64,
    /// What a local group with more than that lacks counts as huge (rule `lb_average`).
    pub lack_wraps: bool,
}

impl Pass {
    fn is_busy(&self) -> bool {
        self.situation == Situation::Busy
    }

    /// Why something should move, or not. `busiest` has a fair task.
    pub fn decide(&self, local: &Seen, busiest: &Seen) -> Reason {
        let (l, b) = (&local.figures, &busiest.figures);
        if busiest.kind == GroupType::Misfit {
            return Reason::LbMisfit;
        }
        if self.by_energy {
            return Reason::LbEnergy;
        }
        if busiest.kind == GroupType::AsymPacking {
            return Reason::LbAsymPacking;
        }
        if busiest.kind == GroupType::Imbalanced {
            return Reason::LbImbalanced;
        }
        if local.kind > busiest.kind {
            return Reason::LbLocalBusier;
        }
        if local.kind == GroupType::Overloaded {
            let (here, there) = (local.average(), busiest.average());
            if here >= self.average || 100 * there <= self.pct * here {
                return Reason::LbWithinPct;
            }
        }
        let spreads = self.prefer_sibling && !(self.siblings_of_idle && self.is_busy());
        if spreads && local.kind == GroupType::HasSpare && b.nr_running > l.nr_running + 1 {
            return Reason::LbSibling;
        }
        if busiest.kind != GroupType::Overloaded {
            if self.is_busy() {
                return Reason::LbBusy;
            }
            if b.weight > 1 && l.idle <= b.idle + 1 {
                return Reason::LbIdleEven;
            }
            if b.nr_fair == 1 {
                return Reason::LbOneTask;
            }
        }
        Reason::LbMove
    }

    /// How much should move. `numa` is what the NUMA allowance leaves of a difference in tasks.
    pub fn imbalance(&self, local: &Seen, busiest: &Seen, numa: impl Fn(u64) -> u64) -> Imbalance {
        let (l, b) = (&local.figures, &busiest.figures);
        let tasks = |amount| Imbalance { kind: Kind::Task, amount };
        match busiest.kind {
            GroupType::Misfit if self.asymmetric => return Imbalance { kind: Kind::Misfit, amount: 1 },
            GroupType::Misfit => return Imbalance { kind: Kind::Load, amount: b.misfit_load },
            GroupType::AsymPacking => return tasks(b.nr_fair),
            GroupType::Imbalanced | GroupType::SmtBalance => return tasks(1),
            GroupType::HasSpare | GroupType::FullyBusy | GroupType::Overloaded => {}
        }
        if local.kind == GroupType::HasSpare {
            if busiest.kind > GroupType::FullyBusy && !self.shares_cache {
                let amount = l.capacity.saturating_sub(l.util);
                let one = amount == 0 && !self.is_busy();
                return if one { tasks(1) } else { Imbalance { kind: Kind::Util, amount } };
            }
            let difference = if b.weight == 1 || self.prefer_sibling {
                b.nr_running.saturating_sub(l.nr_running)
            } else {
                l.idle.saturating_sub(b.idle)
            };
            return tasks(numa(difference) / 2);
        }
        self.by_load(local, busiest)
    }

    /// Neither more than the busiest group has above the average, nor more than the local one has below it.
    fn by_load(&self, local: &Seen, busiest: &Seen) -> Imbalance {
        let (l, b) = (&local.figures, &busiest.figures);
        let (here, there) = (l.average_load(), busiest.average());
        let above = there.saturating_sub(self.average) * b.capacity;
        let below = match self.average.checked_sub(here) {
            Some(below) => below * l.capacity,
            None if self.lack_wraps => u64::MAX,
            None => 0,
        };
        let amount = if here >= there { 0 } else { above.min(below) / 1024 };
        Imbalance { kind: Kind::Load, amount }
    }
}

/// Whether that reason moves something.
pub(super) fn moves(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::LbMisfit | Reason::LbAsymPacking | Reason::LbImbalanced | Reason::LbSibling | Reason::LbMove
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use GroupType as T;
    use Situation::{Busy, Idle, NewlyIdle};
    use alloc::vec::Vec;

    /// CPUs with so many hogs.
    fn hogs(nr: u64, cpus: u64) -> Figures {
        Figures {
            load: 1024 * nr,
            util: 1024 * nr.min(cpus),
            runnable: 1024 * nr,
            nr_running: nr,
            nr_fair: nr,
            idle: cpus.saturating_sub(nr),
            weight: cpus,
            capacity: 1024 * cpus,
            ..Figures::default()
        }
    }

    struct Case {
        groups: Vec<Figures>,
        situation: Situation,
        pct: u64,
        prefer_sibling: bool,
        siblings_of_idle: bool,
        shares_cache: bool,
        imb_numa_nr: Option<u64>,
        lack_wraps: bool,
    }

    /// CPUs of one cache, the local one first.
    fn cpus(nrs: &[u64], situation: Situation) -> Case {
        let groups = nrs.iter().map(|nr| hogs(*nr, 1)).collect();
        Case {
            groups,
            situation,
            pct: 117,
            prefer_sibling: false,
            siblings_of_idle: false,
            shares_cache: true,
            imb_numa_nr: None,
            lack_wraps: false,
        }
    }

    fn figures(groups: &[Figures], situation: Situation) -> Case {
        Case { groups: groups.to_vec(), ..cpus(&[], situation) }
    }

    impl Case {
        /// Type of the local group and of the busiest, the reason, and what should move.
        fn comes_to(&self) -> (T, T, Reason, Imbalance) {
            let seen: Vec<Seen> = self.groups.iter().map(|f| Seen::new(*f, self.pct)).collect();
            let sum = |of: fn(&Figures) -> u64| self.groups.iter().map(of).sum::<u64>();
            let pass = Pass {
                by_energy: false,
                situation: self.situation,
                pct: self.pct,
                prefer_sibling: self.prefer_sibling,
                siblings_of_idle: self.siblings_of_idle,
                shares_cache: self.shares_cache,
                asymmetric: false,
                average: sum(|f| f.load) * 1024 / sum(|f| f.capacity),
                lack_wraps: self.lack_wraps,
            };
            let busiest = *seen[1..]
                .iter()
                .reduce(|best, next| if next.is_busier_than(best) { next } else { best })
                .expect("another group");
            let running = seen[0].figures.nr_running + 1;
            let numa = |i| match self.imb_numa_nr {
                Some(allowed) if running <= allowed && i <= 2 => 0,
                _ => i,
            };
            let reason = pass.decide(&seen[0], &busiest);
            (seen[0].kind, busiest.kind, reason, pass.imbalance(&seen[0], &busiest, numa))
        }
    }

    fn load(amount: u64) -> Imbalance {
        Imbalance { kind: Kind::Load, amount }
    }

    fn tasks(amount: u64) -> Imbalance {
        Imbalance { kind: Kind::Task, amount }
    }

    #[test]
    fn e38_to_e41_hogs_on_two_cpus() {
        let cases = [
            ([1, 2], T::FullyBusy, Reason::LbMove, load(512)),
            ([2, 3], T::Overloaded, Reason::LbMove, load(512)),
            ([3, 4], T::Overloaded, Reason::LbMove, load(512)),
        ];
        for (nrs, local, reason, imbalance) in cases {
            assert_eq!(cpus(&nrs, Busy).comes_to(), (local, T::Overloaded, reason, imbalance), "{nrs:?}");
        }
        let (local, busiest, reason, _) = cpus(&[6, 7], Busy).comes_to();
        assert_eq!((local, busiest, reason), (T::Overloaded, T::Overloaded, Reason::LbWithinPct));
        assert_eq!(Case { pct: 116, ..cpus(&[6, 7], Busy) }.comes_to().2, Reason::LbMove, "700 of 696");
    }

    #[test]
    fn e42_to_e44_an_idle_cpu() {
        assert_eq!(cpus(&[0, 2], Idle).comes_to(), (T::HasSpare, T::Overloaded, Reason::LbMove, tasks(1)));
        let stale = Figures { load: 300, ..hogs(0, 1) };
        let (local, busiest, reason, _) = figures(&[stale, hogs(1, 1)], Idle).comes_to();
        assert_eq!((local, busiest, reason), (T::HasSpare, T::FullyBusy, Reason::LbOneTask));
        let light = Figures { load: 210, runnable: 210, util: 200, ..hogs(2, 1) };
        let light = figures(&[hogs(0, 1), light], Idle).comes_to();
        assert_eq!(light, (T::HasSpare, T::HasSpare, Reason::LbMove, tasks(1)));
    }

    #[test]
    fn e45_e46_hogs_on_four_cpus() {
        let idle = cpus(&[0, 2, 1, 1], NewlyIdle).comes_to();
        assert_eq!(idle, (T::HasSpare, T::Overloaded, Reason::LbMove, tasks(1)));
        let busy = cpus(&[1, 2, 1, 1], Busy).comes_to();
        assert_eq!(busy, (T::FullyBusy, T::Overloaded, Reason::LbMove, load(256)));
    }

    #[test]
    fn e47_e48_cores_of_two_threads() {
        let cores = |local, situation| Case {
            prefer_sibling: true,
            ..figures(&[hogs(local, 2), hogs(2, 2), hogs(0, 2)], situation)
        };
        let empty = cores(0, Idle).comes_to();
        assert_eq!(empty, (T::HasSpare, T::FullyBusy, Reason::LbSibling, tasks(1)));
        let (local, busiest, reason, _) = cores(1, Busy).comes_to();
        assert_eq!((local, busiest, reason), (T::HasSpare, T::FullyBusy, Reason::LbBusy));
    }

    /// eevdf-class 4.5: from 6.6 on a core of two busy threads ranks above a busy group and above a misfit,
    /// an idle CPU takes one task of it, and a busy one spreads no more.
    #[test]
    fn a_core_whose_threads_compete() {
        let core = Figures { threads_compete: true, ..hogs(2, 2) };
        let misfit = Figures { misfit_load: 900, ..hogs(1, 2) };
        let idle = Case { siblings_of_idle: true, ..figures(&[hogs(0, 2), misfit, core], Idle) };
        assert_eq!(idle.comes_to(), (T::HasSpare, T::SmtBalance, Reason::LbMove, tasks(1)));
        // Light tasks: three in one core, none in the other.
        let light = |nr| Figures { load: 100 * nr, util: 100 * nr, runnable: 100 * nr, ..hogs(nr, 2) };
        let busy = |siblings_of_idle| {
            let groups = [light(1), light(3)];
            Case { prefer_sibling: true, siblings_of_idle, ..figures(&groups, Busy) }.comes_to().2
        };
        assert_eq!([busy(false), busy(true)], [Reason::LbSibling, Reason::LbBusy]);
    }

    #[test]
    fn e49_to_e51_two_nodes_of_eight() {
        let nodes = |nrs: [u64; 2]| Case {
            prefer_sibling: true,
            shares_cache: false,
            imb_numa_nr: Some(1),
            ..figures(&nrs.map(|nr| hogs(nr, 8)), Idle)
        };
        assert_eq!(nodes([2, 6]).comes_to(), (T::HasSpare, T::HasSpare, Reason::LbSibling, tasks(2)));
        // The decision is to move; the allowance leaves nothing of it.
        assert_eq!(nodes([0, 2]).comes_to().3, tasks(0));
        let util = Imbalance { kind: Kind::Util, amount: 2048 };
        assert_eq!(nodes([6, 12]).comes_to(), (T::HasSpare, T::Overloaded, Reason::LbSibling, util));
    }

    #[test]
    fn e52_e53_a_fair_hog_behind_a_real_time_one() {
        let behind = Figures { util: 40, nr_running: 2, capacity: 51, ..hogs(1, 1) };
        let idle = figures(&[hogs(0, 1), behind], Idle).comes_to();
        assert_eq!(idle, (T::HasSpare, T::Overloaded, Reason::LbMove, tasks(1)));
        let busy = figures(&[hogs(2, 1), behind], Busy).comes_to();
        assert_eq!(busy, (T::Overloaded, T::Overloaded, Reason::LbMove, load(878)));
    }

    /// 4.6: what replaces the busiest group so far.
    #[test]
    fn of_equals_the_first_stays() {
        let seen = |f: Figures| Seen::new(f, 117);
        let full = |load| seen(Figures { load, ..hogs(2, 2) });
        assert!(!full(9000).is_busier_than(&full(2048)), "loads count for overloaded groups only");
        let over = |load| seen(Figures { load, ..hogs(3, 2) });
        assert!(over(3074).is_busier_than(&over(3072)) && !over(3072).is_busier_than(&over(3072)));
        let misfit = |misfit_load| seen(Figures { misfit_load, ..hogs(1, 1) });
        assert!(misfit(7).is_busier_than(&misfit(7)), "here the last one");
        let spare = |nr| seen(Figures { util: 0, runnable: 0, ..hogs(nr, 4) });
        assert!(spare(2).is_busier_than(&spare(1)) && !spare(2).is_busier_than(&spare(2)));
    }

    /// 4.7 rows 4 and 7.
    #[test]
    fn a_full_local_group_takes_nothing_but_a_task_for_an_idle_cpu() {
        let nodes = |situation| Case {
            shares_cache: false,
            prefer_sibling: true,
            ..figures(&[Figures { util: 4096, runnable: 0, ..hogs(3, 4) }, hogs(9, 4)], situation)
        };
        assert_eq!(nodes(Idle).comes_to().3, tasks(1));
        assert_eq!(nodes(Busy).comes_to().3, Imbalance { kind: Kind::Util, amount: 0 });
        let even = cpus(&[1, 1], Busy).comes_to();
        assert_eq!((even.2, even.3), (Reason::LbBusy, load(0)));
    }

    /// 4.7 rows 7 and 8, 8.7: loads of 3072, 3200 and 1024, the average is 2432. The local task is alone.
    #[test]
    fn a_local_cpu_with_more_than_the_average_pulled_up_to_6_1_24() {
        let loaded = |nr, load| Figures { load, ..hogs(nr, 1) };
        let groups = [loaded(1, 3072), loaded(2, 3200), loaded(1, 1024)];
        let amount = |lack_wraps| {
            let (local, busiest, _, imbalance) = Case { lack_wraps, ..figures(&groups, Idle) }.comes_to();
            assert_eq!((local, busiest), (T::FullyBusy, T::Overloaded));
            imbalance
        };
        assert_eq!(amount(false), load(0));
        assert_eq!(amount(true), load(3200 - 2432), "the first term alone");
        let even = [loaded(1, 3200), loaded(2, 3200), loaded(1, 100)];
        assert_eq!(
            Case { lack_wraps: true, ..figures(&even, Idle) }.comes_to().3,
            load(0),
            "as much as it has"
        );
        let below = [loaded(1, 2000), loaded(2, 3200), loaded(1, 1024)];
        let less = |lack_wraps| Case { lack_wraps, ..figures(&below, Idle) }.comes_to().3;
        assert_eq!((less(false), less(true)), (load(74), load(74)), "2074 - 2000");
    }

    /// 4.6: what goes before what, and that of equals neither does.
    #[test]
    fn the_busier_of_two_groups() {
        let busier = |kind, a: Figures, b: Figures| {
            let seen = |figures| Seen { figures, kind };
            [seen(a).is_busier_than(&seen(b)), seen(b).is_busier_than(&seen(a))]
        };
        let loaded = |load| Figures { load, ..hogs(3, 2) };
        assert_eq!(busier(T::Overloaded, loaded(3001), loaded(2999)), [true, false], "1500 and 1499");
        assert_eq!(busier(T::Overloaded, loaded(3001), loaded(3000)), [false, false]);
        assert_eq!(busier(T::Imbalanced, loaded(9000), loaded(10)), [false, false]);
        let misfit = |misfit_load| Figures { misfit_load, ..hogs(1, 1) };
        assert_eq!(busier(T::Misfit, misfit(8), misfit(7)), [true, false]);
        let spare = |idle, nr_running| Figures { idle, nr_running, ..hogs(1, 4) };
        for kind in [T::HasSpare, T::SmtBalance] {
            assert_eq!(busier(kind, spare(1, 1), spare(2, 9)), [true, false], "fewer idle CPUs");
            assert_eq!(busier(kind, spare(1, 3), spare(1, 2)), [true, false], "as many, more tasks");
            assert_eq!(busier(kind, spare(1, 3), spare(1, 3)), [false, false]);
        }
        assert_eq!(busier(T::SmtBalance, spare(0, 9), spare(0, 1)), [false, false], "the first one stays");
        let drained = |priority| Figures { priority, ..hogs(1, 1) };
        assert_eq!(busier(T::AsymPacking, drained(35), drained(60)), [true, false], "the less preferred");
        assert_eq!(busier(T::AsymPacking, drained(35), drained(35)), [true, true], "the last one");
        let kinds = [
            T::HasSpare,
            T::FullyBusy,
            T::Misfit,
            T::SmtBalance,
            T::AsymPacking,
            T::Imbalanced,
            T::Overloaded,
        ];
        for pair in kinds.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(|kind| Seen { figures: hogs(1, 1), kind });
            assert!(high.is_busier_than(&low) && !low.is_busier_than(&high), "{pair:?}");
        }
    }

    /// A pass over CPUs of one cache, in which nothing is special.
    fn pass(situation: Situation) -> Pass {
        Pass {
            situation,
            pct: 117,
            prefer_sibling: false,
            siblings_of_idle: false,
            shares_cache: true,
            asymmetric: false,
            by_energy: false,
            average: 1024,
            lack_wraps: false,
        }
    }

    /// 4.6 rows 1 to 5, where loads decide: 117 of 100 are tolerated, and who has the average pulls nothing.
    #[test]
    fn overloaded_groups_are_compared_by_load() {
        let over = |load| Seen { figures: Figures { load, ..hogs(2, 1) }, kind: T::Overloaded };
        let reason = |here, there, average| Pass { average, ..pass(Idle) }.decide(&over(here), &over(there));
        let within = |there| reason(1000, there, 1100);
        assert_eq!([1170, 1171].map(within), [Reason::LbWithinPct, Reason::LbMove]);
        let below = |average| reason(1000, 2000, average);
        assert_eq!([1000, 1001].map(below), [Reason::LbWithinPct, Reason::LbMove]);
        let more = Seen { kind: T::Imbalanced, ..over(0) };
        assert_eq!(pass(Idle).decide(&over(9000), &more), Reason::LbImbalanced, "whatever the loads");
        let less = Seen { kind: T::FullyBusy, ..over(9000) };
        assert_eq!(pass(Idle).decide(&over(0), &less), Reason::LbLocalBusier);
    }

    /// 4.6 row 6: only a group with CPU time left takes from one with two tasks more, and only where the
    /// level below spreads its tasks.
    #[test]
    fn tasks_spread_over_siblings() {
        let group = |nr, kind| Seen { figures: hogs(nr, 2), kind };
        let spreads = Pass { prefer_sibling: true, ..pass(Idle) };
        let reason = |pass: Pass, kind, nr| pass.decide(&group(1, kind), &group(nr, T::Overloaded));
        assert_eq!(reason(spreads, T::HasSpare, 3), Reason::LbSibling);
        assert_ne!(reason(spreads, T::HasSpare, 2), Reason::LbSibling);
        assert_ne!(reason(spreads, T::FullyBusy, 3), Reason::LbSibling);
        assert_ne!(reason(pass(Idle), T::HasSpare, 3), Reason::LbSibling);
        let of_idle = |situation| Pass { siblings_of_idle: true, ..Pass { situation, ..spreads } };
        assert_eq!(reason(of_idle(Idle), T::HasSpare, 3), Reason::LbSibling);
        assert_ne!(reason(of_idle(Busy), T::HasSpare, 3), Reason::LbSibling);
    }

    /// 4.6 rows 7 to 10: what is taken from a group that is not overloaded.
    #[test]
    fn a_group_that_is_not_overloaded_gives_to_idle_cpus() {
        let seen = |idle, nr, weight| Seen {
            figures: Figures { idle, ..hogs(nr, weight) },
            kind: if nr < weight { T::HasSpare } else { T::FullyBusy },
        };
        let reason = |situation, local: Seen, busiest| pass(situation).decide(&local, &busiest);
        assert_eq!(reason(Busy, seen(2, 0, 2), seen(0, 4, 4)), Reason::LbBusy);
        assert_eq!(reason(Idle, seen(2, 0, 2), seen(0, 4, 4)), Reason::LbMove, "two more idle CPUs");
        assert_eq!(reason(Idle, seen(1, 1, 2), seen(0, 4, 4)), Reason::LbIdleEven, "one more");
        assert_eq!(
            reason(Idle, seen(1, 0, 1), seen(0, 2, 1)),
            Reason::LbMove,
            "of a single CPU that is no matter"
        );
        assert_eq!(reason(Idle, seen(1, 0, 1), seen(0, 1, 1)), Reason::LbOneTask);
    }

    /// 4.7 rows 4 to 6: a local group with time left.
    #[test]
    fn in_what_an_amount_is_counted() {
        let local =
            Seen { figures: Figures { idle: 6, nr_running: 2, util: 2048, ..hogs(2, 8) }, kind: T::HasSpare };
        let busiest =
            |kind, weight| Seen { figures: Figures { idle: 1, nr_running: 7, weight, ..hogs(7, 8) }, kind };
        let amount = |pass: Pass, busiest: Seen| pass.imbalance(&local, &busiest, |difference| difference);
        let apart = Pass { shares_cache: false, ..pass(Idle) };
        let util = |amount| Imbalance { kind: Kind::Util, amount };
        assert_eq!(amount(apart, busiest(T::Overloaded, 8)), util(6144), "8 CPUs are worth 8192");
        assert_eq!(amount(pass(Idle), busiest(T::Overloaded, 8)), tasks(2), "in one cache: idle CPUs");
        assert_eq!(amount(apart, busiest(T::FullyBusy, 8)), tasks(2), "it is only busy");
        assert_eq!(amount(pass(Idle), busiest(T::HasSpare, 1)), tasks(2), "a single CPU: tasks, 7 and 2");
        let spreads = Pass { prefer_sibling: true, ..pass(Idle) };
        let three =
            Seen { figures: Figures { nr_running: 9, ..busiest(T::HasSpare, 8).figures }, kind: T::HasSpare };
        assert_eq!(amount(spreads, three), tasks(3), "9 and 2");
        assert_eq!(amount(pass(Idle), three), tasks(2), "6 and 1 idle");
    }
}
