//! Which CPU is the busiest, and how much load should leave it (fair-class 8.5, steps 1 to 6).

use super::{Situation, constants};
use crate::domains::SchedDomain;
use crate::fair::cpu_load::{look_at, source_load, target_load, weighted_cpuload};
use crate::platform::Platform;
use crate::registry::LoadBalanceAmount;
use crate::stats::bump;
use crate::{CpuId, CpuMask, NICE_0_LOAD, ThisCpu};

/// Where to pull from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Busiest {
    /// The CPU.
    pub cpu: CpuId,
    /// Weight that should move.
    pub amount: u64,
}

/// The busiest CPU of a domain as seen from `dest`; `None` where no action is needed. No lock is taken: what
/// others publish may be stale.
pub(super) fn find_busiest<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    domain: &SchedDomain,
    situation: Situation,
) -> Option<Busiest> {
    let index = match situation {
        Situation::Busy => domain.busy_idx,
        Situation::Idle => domain.idle_idx,
        Situation::NewlyIdle => 0,
    };
    debug_assert!(domain.own_group().span.contains(dest));
    let local = Group::measure(me, domain, &domain.own_group().span, index, target_load);
    let (mut load, mut cpus) = (local.load, local.cpus);
    let mut busiest: Option<(&CpuMask, Group)> = None;
    for group in domain.other_groups().map(|g| &g.span) {
        let measured = Group::measure(me, domain, group, index, source_load);
        load += measured.load;
        cpus += measured.cpus;
        if (measured.nr > measured.capacity || measured.imbalanced)
            && busiest.as_ref().is_none_or(|(_, b)| measured.average() > b.average())
        {
            busiest = Some((group, measured));
        }
    }
    let counts = &domain.balance.counts[situation.index()];
    let needed = busiest.and_then(|(group, busiest)| {
        Some((group, calculate_imbalance(me, domain, &local, &busiest, load / cpus)?))
    });
    let Some((group, amount)) = needed else {
        bump(&counts.no_busier_group);
        return None;
    };
    let cpu = find_busiest_queue(me, group, amount);
    if cpu.is_none() {
        bump(&counts.no_busier_queue);
    }
    Some(Busiest { cpu: cpu?, amount })
}

/// What is known about a group of CPUs. Every CPU has the same power, so a group's power is its size.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Sum of the CPUs' loads, leaning against moving.
    load: u64,
    /// Number of CPUs.
    cpus: u64,
    /// Runnable tasks.
    nr: u64,
    /// Their weight now.
    weight: u64,
    /// How many tasks it is meant to run.
    capacity: u64,
    /// Some CPU has far more load than another.
    imbalanced: bool,
}

impl Group {
    fn measure<P: Platform>(
        me: ThisCpu<'_, P>,
        domain: &SchedDomain,
        span: &CpuMask,
        index: usize,
        guess: fn(ThisCpu<'_, P>, CpuId, usize) -> u64,
    ) -> Group {
        let mut group = Group { load: 0, cpus: 0, nr: 0, weight: 0, capacity: 0, imbalanced: false };
        let (mut least, mut most) = (u64::MAX, 0);
        for cpu in span.iter() {
            look_at(me, cpu);
            let load = guess(me, cpu, index);
            group.load += load;
            group.cpus += 1;
            group.nr += u64::from(me.k.rq(cpu).published.nr_running.get());
            group.weight += weighted_cpuload(me, cpu);
            least = least.min(load);
            most = most.max(load);
        }
        group.capacity = if domain.prefer_sibling { 1 } else { group.cpus };
        group.imbalanced = group.nr > 0 && most - least > 2 * group.per_task();
        group
    }

    /// Load of each CPU.
    fn average(&self) -> u64 {
        self.load / self.cpus
    }

    /// Mean weight of its tasks.
    fn per_task(&self) -> u64 {
        self.weight.checked_div(self.nr).unwrap_or(0)
    }
}

/// Steps 3 to 5. `domain_average` is the load of each CPU of the domain.
fn calculate_imbalance<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    local: &Group,
    busiest: &Group,
    domain_average: u64,
) -> Option<u64> {
    let (here, there) = (local.average(), busiest.average());
    if here >= domain_average || 100 * there <= constants(me, domain).imbalance_pct * here {
        return None;
    }
    let mut per_task = busiest.per_task();
    if busiest.imbalanced {
        per_task = per_task.min(domain_average);
    }
    let limit = match me.k.config.rules.load_balance_amount.get() {
        LoadBalanceAmount::LoadPerTask if there <= per_task => return None,
        LoadBalanceAmount::LoadPerTask => there - per_task,
        LoadBalanceAmount::Capacity if busiest.imbalanced => u64::MAX,
        LoadBalanceAmount::Capacity => (busiest.nr - busiest.capacity) * NICE_0_LOAD / busiest.cpus,
    };
    // Neither more than the busiest group has above the average, nor more than the local one has below it.
    let pull = there.saturating_sub(domain_average).min(limit);
    let amount = pull.saturating_mul(busiest.cpus).min((domain_average - here) * local.cpus);
    if amount >= per_task {
        return Some(amount);
    }
    // Less than a task: one task still moves where that leaves the groups no more apart than they are.
    let heavier_there = local.nr > 0 && busiest.per_task() > local.per_task();
    let factor = if heavier_there { 1 } else { 2 };
    let worth_a_task = there - here + per_task >= per_task * factor;
    Some(if worth_a_task { per_task } else { amount })
}

/// The CPU with the most load now, passing over those whose only task is heavier than the amount.
fn find_busiest_queue<P: Platform>(me: ThisCpu<'_, P>, group: &CpuMask, amount: u64) -> Option<CpuId> {
    let mut busiest = None;
    let mut most = 0;
    for cpu in group.iter() {
        let load = weighted_cpuload(me, cpu);
        let alone = me.k.rq(cpu).published.nr_running.get() == 1;
        if load > most && !(alone && load > amount) {
            most = load;
            busiest = Some(cpu);
        }
    }
    busiest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, level};
    use crate::{LevelKind, Nanos, Policy, Topology};

    /// 8.1, 8.5 step 3: the busiest group needs more than 125 % of the local one's load.
    #[test]
    fn a_quarter_more_load_is_not_enough() {
        let lab = Lab::new(2, "2.6.36", &[]);
        (0..4).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, 0, CpuMask::ALL));
        (0..4).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, 1, CpuMask::ALL));
        lab.advance(Nanos::from_secs(1));
        let found = |there: u64| {
            for (cpu, load) in [(0, 4000), (1, there)] {
                let published = &lab.k.rq(CpuId(cpu)).published;
                published.load.overwrite(load);
                published.cpu_load.iter().for_each(|average| average.overwrite(load));
            }
            let domain = &lab.k.domains(CpuId(0))[0];
            find_busiest(lab.cpu(0), CpuId(0), domain, Situation::Busy).is_some()
        };
        assert_eq!([4000, 4700, 5000, 5001].map(found), [false, false, false, true]);
    }

    /// A group of one CPU with so much load by the averages, and so many tasks of this weight in all.
    fn one_cpu(load: u64, nr: u64, weight: u64) -> Group {
        Group { load, cpus: 1, nr, weight, capacity: 1, imbalanced: false }
    }

    fn amount(profile: &str, local: Group, busiest: Group, average: u64) -> Option<u64> {
        let lab = Lab::new(2, profile, &[]);
        calculate_imbalance(lab.cpu(0), &lab.k.domains(CpuId(0))[0], &local, &busiest, average)
    }

    /// Step 3: who has as much as the domain on average pulls nothing; up to 2.6.33 nobody gives a whole task
    /// of its mean weight.
    #[test]
    fn who_pulls_nothing() {
        let busy = one_cpu(1300, 2, 2048);
        let pulls = |average| amount("2.6.36", one_cpu(1000, 1, 1024), busy, average).is_some();
        assert_eq!([1000, 1001].map(pulls), [false, true]);
        let gives = |profile, load| amount(profile, one_cpu(0, 0, 0), one_cpu(load, 2, 2048), 512).is_some();
        assert_eq!([1024, 1025].map(|load| gives("2.6.32", load)), [false, true]);
        assert!(gives("2.6.36", 1024));
    }

    /// Step 4: no more than the busiest group has above the average and above what it is meant to run, nor
    /// than the local one has below the average.
    #[test]
    fn the_least_of_three_amounts() {
        let idle = one_cpu(0, 0, 0);
        let amount = |local, busiest, average| amount("2.6.36", local, busiest, average);
        assert_eq!(amount(idle, one_cpu(4096, 4, 4096), 2048), Some(2048), "above the average");
        assert_eq!(amount(idle, one_cpu(4096, 2, 2048), 2048), Some(1024), "a task too many");
        assert_eq!(amount(one_cpu(500, 1, 500), one_cpu(9000, 9, 9000), 1500), Some(1000), "below it");
        let imbalanced = Group { imbalanced: true, ..one_cpu(4096, 1, 1000) };
        assert_eq!(amount(idle, imbalanced, 2048), Some(2048), "tasks too many do not count then");
    }

    /// Step 5: less than a task is one task if the groups are no further apart then; lighter local tasks and
    /// heavier ones there make that easier, an idle local group does not.
    #[test]
    fn less_than_a_task_may_be_one() {
        let amount = |local, busiest, average| amount("2.6.36", local, busiest, average);
        let busy = |load| one_cpu(load, 2, 2048);
        assert_eq!(amount(one_cpu(1536, 3, 1536), busy(2048), 1792), Some(1024), "lighter here: 512 apart");
        assert_eq!(amount(one_cpu(1536, 1, 1536), busy(2048), 1792), Some(256), "heavier here");
        assert_eq!(amount(one_cpu(1200, 1, 1024), busy(1600), 1400), Some(200), "as heavy");
        assert_eq!(amount(one_cpu(1536, 1, 1536), busy(2560), 2048), Some(1024), "a whole task apart");
        assert_eq!(amount(one_cpu(1537, 1, 1536), busy(2560), 2048), Some(511));
        assert_eq!(amount(one_cpu(600, 0, 0), busy(1500), 1050), Some(450), "nobody runs here");
    }

    /// Lets the averages of a CPU say that, whatever runs there.
    fn set_load(lab: &Lab, cpu: u16, load: u64) {
        let published = &lab.k.rq(CpuId(cpu)).published;
        published.load.overwrite(load);
        published.cpu_load.iter().for_each(|average| average.overwrite(load));
    }

    /// Step 2: a group with no more tasks than it is meant to run is not the busiest, whatever its load; of
    /// the others it is the one with most load for each CPU.
    #[test]
    fn the_busiest_has_a_task_too_many() {
        let busiest = |tasks: [usize; 4], loads: [u64; 4]| {
            let lab = Lab::new(4, "2.6.36", &[]);
            for (cpu, n) in (0..).zip(tasks) {
                (0..n).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::ALL));
            }
            (0..).zip(loads).for_each(|(cpu, load)| set_load(&lab, cpu, load));
            let domain = &lab.k.domains(CpuId(0))[0];
            find_busiest(lab.cpu(0), CpuId(0), domain, Situation::Idle).map(|found| found.cpu.0)
        };
        assert_eq!(busiest([0, 1, 2, 2], [0, 9000, 3000, 4000]), Some(3));
        assert_eq!(busiest([0, 1, 2, 2], [0, 9000, 4000, 4000]), Some(2), "of equals the first");
        assert_eq!(busiest([0, 1, 1, 1], [0, 9000, 3000, 4000]), None);
    }

    /// Step 1: the loads of its CPUs differ by more than two tasks.
    #[test]
    fn a_group_whose_cpus_differ_is_imbalanced() {
        let imbalanced = |tasks: u16, loads: [u64; 2]| {
            let lab = Lab::new(2, "2.6.36", &[]);
            (0..tasks).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, 0, CpuMask::ALL));
            set_load(&lab, 0, loads[0]);
            set_load(&lab, 1, loads[1]);
            let domain = &lab.k.domains(CpuId(0))[0];
            Group::measure(lab.cpu(0), domain, &CpuMask::first_n(2), 0, source_load).imbalanced
        };
        // Two tasks that weigh 2000 together.
        assert_eq!([imbalanced(2, [2000, 0]), imbalanced(2, [3000, 0])], [false, false], "1000, 1500 a task");
        let three = |load| imbalanced(3, [load, 0]);
        assert_eq!([3, 3000].map(three), [true, true], "a third each");
        assert!(!imbalanced(0, [2000, 0]), "nobody runs there, the averages have yet to see it");
    }

    /// Step 6: most load now, but not a CPU whose only task is heavier than what is to move.
    #[test]
    fn the_busiest_queue() {
        let lab = Lab::new(3, "2.6.36", &[]);
        for cpu in [1, 2, 2] {
            lab.spawn_allowed(Policy::Normal, cpu, CpuMask::ALL);
        }
        let found = |loads: [u64; 2], amount| {
            set_load(&lab, 1, loads[0]);
            set_load(&lab, 2, loads[1]);
            find_busiest_queue(lab.cpu(0), &CpuMask::first_n(3), amount).map(|cpu| cpu.0)
        };
        assert_eq!([found([2000, 1500], 1999), found([2000, 1500], 2000)], [Some(2), Some(1)]);
        assert_eq!(found([2000, 2000], 2000), Some(1), "of equals the first");
        assert_eq!(found([1000, 2000], 2000), Some(2));
    }

    /// Step 2: an imbalanced group may be the busiest though it has no task too many. Three tasks on one of
    /// four CPUs weigh 1000 each: that one has more than twice as much more than the others.
    #[test]
    fn an_imbalanced_group_may_be_the_busiest() {
        for (others, found) in [(0, Some(4)), (1000, None)] {
            let levels = [level(8, LevelKind::Mc, 4), level(8, LevelKind::Package, 8)];
            let lab = Lab::on(&Topology::of(8, levels.into()), "2.6.36", &[]);
            let mut all = lab.k.domains(CpuId(0))[1].clone();
            all.prefer_sibling = false;
            (0..3).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, 4, CpuMask::single(CpuId(4))));
            set_load(&lab, 4, 3000);
            (5..8).for_each(|cpu| set_load(&lab, cpu, others));
            let busiest = find_busiest(lab.cpu(0), CpuId(0), &all, Situation::Idle);
            assert_eq!(busiest.map(|found| found.cpu.0), found, "{others}");
        }
    }
}
