//! The figures of a domain's groups (fair-placement 4.5), what they say about how many CPUs a wakeup may
//! search (2.8), and which CPU of the busiest group has most (4.8).

use super::decide::{Imbalance, Kind, Pass, Seen, moves};
use super::packing::{self, Occupied};
use super::unequal;
use super::{jiffies, room};
use crate::domains::{SchedDomain, SchedGroup};
use crate::fair::balance::{Counted, Situation, constants, interval_ms, numa_difference};
use crate::fair::cache::shared_cache;
use crate::fair::group::Figures;
use crate::fair::overutilised::is_overutilised;
use crate::fair::pelt::{capacity_of, cpu_load, is_reduced, misfits, refresh};
use crate::platform::Platform;
use crate::registry::{Lb, LbAverage, MisfitReduced, SmtBalance};
use crate::{CpuId, CpuMask, Nanos, Reason, ThisCpu};
use core::cell::Ref;

/// Who is balanced, where and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<'d> {
    pub dest: CpuId,
    pub domain: &'d SchedDomain,
    pub situation: Situation,
    /// The CPUs that are considered.
    pub cpus: CpuMask,
}

/// The group from which something should move, and how much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busiest<'d> {
    pub group: &'d SchedGroup,
    pub imbalance: Imbalance,
}

impl<'d> Search<'d> {
    /// The busiest group and what should leave it; `None` where all is well. No lock is taken.
    pub fn find_busiest_group<P: Platform>(&self, me: ThisCpu<'_, P>) -> Option<Busiest<'d>> {
        let domain = self.domain;
        let pct = constants(me, domain).imbalance_pct;
        let own = domain.own_group();
        if self.situation != Situation::NewlyIdle || me.now() >= own.next_update.get() {
            update_group_capacity(me, self.dest, domain);
        }
        if matches!(me.k.config.rules.lb.get(), Lb::GroupRoom | Lb::GroupRoomNewest) {
            me.k.fair_root.sums.now(me);
            return room::find_busiest_group(me, self);
        }
        let view = View::new(me, self, pct);
        match view.whole {
            true => me.scan(domain.cpus_by_group()),
            false => me.scan(domain.cpus_by_group().filter(|cpu| self.cpus.contains(*cpu))),
        }
        let mut considered = Counted::default();
        let of_local = view.counted(own, &mut considered);
        let local = Seen::new(view.local(own, of_local), pct);
        let mut total = local.figures;
        let mut busiest: Option<(&SchedGroup, Seen)> = None;
        for group in domain.other_groups() {
            // A new one each time: kept from group to group, it costs a tenth of a pass.
            let mut considered = Counted::default();
            let counted = view.counted(group, &mut considered);
            total.load += counted.load;
            total.capacity += group.capacity.get();
            total.util += counted.util;
            total.somebody_waits |= counted.crowded > 0;
            // Where nobody is who could come, it ends here.
            if counted.nr_fair == 0 {
                continue;
            }
            let mut figures = view.other(group, counted);
            if view.packs {
                let occupied =
                    |group: &SchedGroup, c: &Counted| Occupied { cpus: group.weight, idle: c.idle };
                let both = [occupied(own, of_local), occupied(group, counted)];
                figures.is_drained = packing::drains(me, self.dest, [own, group], both);
                figures.priority = packing::priority(me, packing::first_choice(me, group));
            }
            let seen = Seen::new(figures, pct);
            total.somebody_waits |= view.misfits && seen.figures.misfit_load > 0;
            if view.misfits && !unequal::helps(me, self.dest, local.kind, group, &seen) {
                continue;
            }
            if busiest.as_ref().is_none_or(|(_, best)| seen.is_busier_than(best)) {
                busiest = Some((group, seen));
            }
        }
        let asymmetric = view.misfits;
        drop(view);
        self.update_idle_scan(me, total.util);
        self.note_overload(me, total.somebody_waits);
        self.note_overutilised(me);
        let pass = Pass {
            situation: self.situation,
            pct,
            prefer_sibling: domain.prefer_sibling,
            siblings_of_idle: me.k.config.rules.smt_balance.get() == SmtBalance::On,
            shares_cache: domain.shares_cache,
            asymmetric,
            by_energy: me.k.places_by_energy() && !me.k.root_domain(self.dest).overutilised.get(),
            average: total.average_load(),
            lack_wraps: me.k.config.rules.lb_average.get() == LbAverage::Wraps,
        };
        let Some((group, seen)) = busiest else {
            super::note(me, Reason::LbNone);
            return None;
        };
        let reason = pass.decide(&local, &seen);
        super::note(me, reason);
        if !moves(reason) {
            return None;
        }
        let numa = |difference| numa_difference(me, domain, &local.figures, &seen.figures, difference);
        let imbalance = pass.imbalance(&local, &seen, numa);
        if imbalance.amount == 0 {
            super::note(me, Reason::LbZero);
            return None;
        }
        Some(Busiest { group, imbalance })
    }

    /// A pass over the whole root domain knows whether anybody waits.
    pub fn note_overload<P: Platform>(&self, me: ThisCpu<'_, P>, somebody_waits: bool) {
        if self.is_of_all(me) {
            me.k.root_domain(self.dest).overload.set(somebody_waits);
        }
    }

    /// And whether any CPU has too little for its tasks; one over a part knows if one of those has.
    fn note_overutilised<P: Platform>(&self, me: ThisCpu<'_, P>) {
        if !me.k.places_by_energy() {
            return;
        }
        let any = self.cpus.iter().any(|cpu| is_overutilised(me, cpu));
        if any || self.is_of_all(me) {
            me.k.root_domain(self.dest).overutilised.set(any);
        }
    }

    fn is_of_all<P: Platform>(&self, me: ThisCpu<'_, P>) -> bool {
        me.k.domains(self.dest).last().is_some_and(|top| top.span == self.domain.span)
    }

    /// How many CPUs a wakeup may look at in this cache, now that its CPUs are so full (SIS_UTIL).
    fn update_idle_scan<P: Platform>(&self, me: ThisCpu<'_, P>, util: u64) {
        let size = u64::from(self.domain.span_weight);
        let of_a_cache = size == u64::from(me.k.llc_size(self.dest));
        if self.situation != Situation::NewlyIdle && of_a_cache {
            let pct = constants(me, self.domain).imbalance_pct;
            shared_cache(me, self.dest).nr_idle_scan.set(nr_idle_scan(util, size, pct));
        }
    }

    /// The CPU of a group that has most of what is to be moved, by what was counted to find the group. Of
    /// equals, the lowest.
    pub fn find_busiest_queue<P: Platform>(
        &self,
        me: ThisCpu<'_, P>,
        group: &SchedGroup,
        imbalance: Imbalance,
    ) -> Option<CpuId> {
        let pct = constants(me, self.domain).imbalance_pct;
        let counted = me.k.fair_root.sums.last();
        let unequal = unequal::counts(me, self.domain);
        let packs = packing::packs(me, self.domain);
        let mut busiest = None;
        let (mut most, mut worth) = (0, 1);
        for cpu in group.span.and(&self.cpus).iter() {
            debug_assert_eq!(counted[cpu.index()], Counted::of(me, cpu), "{cpu}");
            let Counted { nr_fair, load, util, nr_running, .. } = counted[cpu.index()];
            if nr_fair == 0 {
                continue;
            }
            let capacity = capacity_of(me, cpu);
            if unequal && nr_running == 1 && !unequal::is_clearly_better(me, self.dest, cpu) {
                continue;
            }
            if packs && nr_running == 1 && packing::keeps_its_task(me, cpu, self.dest) {
                continue;
            }
            let alone = match me.k.config.rules.lb.get() {
                Lb::GroupRoom | Lb::GroupRoomNewest => nr_running == 1,
                Lb::GroupType | Lb::GroupLoad => nr_fair == 1,
            };
            let candidate = match imbalance.kind {
                Kind::Load if alone && load > imbalance.amount && !is_reduced(me, cpu, pct) => None,
                Kind::Load => Some((load, capacity)),
                Kind::Util if nr_fair <= 1 => None,
                Kind::Util => Some((util, 1)),
                Kind::Task => Some((nr_fair, 1)),
                Kind::Misfit => Some((misfits(me, cpu), 1)),
            };
            if let Some((has, capacity)) = candidate
                && has * worth > most * capacity
            {
                (most, worth) = (has, capacity);
                busiest = Some(cpu);
            }
        }
        busiest
    }
}

/// The groups of a domain as they are at this moment.
struct View<'k, 's, P: Platform> {
    me: ThisCpu<'k, P>,
    search: &'s Search<'s>,
    pct: u64,
    sums: Ref<'k, [Counted]>,
    /// All CPUs of the domain are considered.
    whole: bool,
    /// CPUs that may have a misfit, if there are any.
    reduced: Option<CpuMask>,
    looks_for_cores: bool,
    /// The CPU idles, and may be preferred to others.
    packs: bool,
    /// Tasks are looked for that need a better CPU.
    misfits: bool,
}

impl<'k, 's, P: Platform> View<'k, 's, P> {
    fn new(me: ThisCpu<'k, P>, search: &'s Search<'s>, pct: u64) -> View<'k, 's, P> {
        let (rules, idles) = (&me.k.config.rules, search.situation != Situation::Busy);
        let misfits = unequal::counts(me, search.domain);
        let looks_for_reduced = idles && !misfits && rules.misfit_reduced.get() == MisfitReduced::On;
        let reduced = me.k.fair_root.reduced.borrow();
        View {
            me,
            search,
            pct,
            sums: me.k.fair_root.sums.now(me),
            whole: search.domain.span.is_subset(&search.cpus),
            reduced: (looks_for_reduced && !reduced.is_empty()).then_some(*reduced),
            looks_for_cores: idles && rules.smt_balance.get() == SmtBalance::On,
            packs: packing::packs_now(me, search.domain, search.situation),
            misfits,
        }
    }

    // Called for dozens of groups in each pass over a large machine: inlined, most of the figures that nobody
    // asks for are never put together. A pass takes half as many instructions.

    /// Sums over those of a group's CPUs that are considered. Where these are not all, they are added up in
    /// `considered`.
    #[inline(always)]
    fn counted<'c>(&'c self, group: &SchedGroup, considered: &'c mut Counted) -> &'c Counted {
        if !self.whole || cfg!(debug_assertions) {
            *considered = self.one_by_one(&group.span.and(&self.search.cpus));
        }
        if !self.whole {
            return considered;
        }
        let sum = &self.sums[group.number];
        debug_assert_eq!(sum, considered, "{group:?}");
        sum
    }

    #[inline(always)]
    fn local(&self, group: &SchedGroup, counted: &Counted) -> Figures {
        Figures {
            load: counted.load,
            util: counted.util,
            runnable: counted.runnable,
            nr_running: counted.nr_running,
            nr_fair: counted.nr_fair,
            somebody_waits: counted.crowded > 0,
            idle: counted.idle,
            weight: group.weight,
            capacity: group.capacity.get(),
            imbalanced: group.imbalanced.get(),
            misfit_load: 0,
            threads_compete: false,
            is_drained: false,
            priority: 0,
        }
    }

    #[inline(always)]
    fn other(&self, group: &SchedGroup, counted: &Counted) -> Figures {
        let mut figures = self.local(group, counted);
        if let Some(reduced) = &self.reduced {
            figures.misfit_load = self.misfit_load(&group.span.and(&self.search.cpus).and(reduced));
        }
        if self.misfits {
            let considered = group.span.and(&self.search.cpus);
            figures.misfit_load = considered.iter().map(|cpu| misfits(self.me, cpu)).max().unwrap_or(0);
        }
        figures.threads_compete = self.looks_for_cores && group.is_core && figures.nr_fair > 1;
        figures
    }

    #[inline(never)]
    fn one_by_one(&self, cpus: &CpuMask) -> Counted {
        let mut sum = Counted::default();
        cpus.iter().for_each(|cpu| sum.add(&Counted::of(self.me, cpu)));
        sum
    }

    /// The largest load of a CPU whose only fair task deserves a better one, as real-time tasks take it.
    fn misfit_load(&self, reduced: &CpuMask) -> u64 {
        let (me, pct) = (self.me, self.pct);
        let misfits = reduced.iter().filter(|cpu| me.k.nr_fair(*cpu) == 1 && is_reduced(me, *cpu, pct));
        misfits.map(|cpu| cpu_load(me, cpu)).max().unwrap_or(0)
    }
}

/// What the group of `dest` in its domain is worth, from what the groups below are.
fn update_group_capacity<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId, domain: &SchedDomain) {
    let below = me.k.domains(dest).iter().take_while(|d| d.span != domain.span).last();
    let group = domain.own_group();
    match below {
        None => {
            refresh(me, dest);
            let left = capacity_of(me, dest);
            group.capacity.set(left);
            group.max_capacity.set(left);
            group.min_capacity.set(left);
        }
        Some(child) => {
            let parts = || child.groups().iter();
            group.capacity.set(parts().map(|g| g.capacity.get()).sum());
            group.max_capacity.set(parts().map(|g| g.max_capacity.get()).max().unwrap_or(0));
            group.min_capacity.set(parts().map(|g| g.min_capacity.get()).min().unwrap_or(0));
        }
    }
    let valid_for = Nanos::from_millis(interval_ms(me, domain));
    group.next_update.set(me.now() + valid_for.max(crate::fair::cpu_load::tick_period(me)));
    debug_assert!(jiffies(me, me.now()) <= jiffies(me, group.next_update.get()));
}

/// CPUs to look at in a cache of `size` that is used so much, where `pct` percent are full.
fn nr_idle_scan(util: u64, size: u64, pct: u64) -> u64 {
    let each = util / size;
    let lost = (each * each * pct * pct / (10_000 * 1024)).min(1024);
    (1024 - lost) * size / 1024
}

#[cfg(test)]
mod tests;
