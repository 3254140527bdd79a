//! Where a new task goes, or one that calls exec, since 5.5: from the largest domain inwards to the group
//! with the most idle CPUs, or with the least load where nobody idles (fair-placement 2.9:
//! `fork_balance=group_type`). The task itself is left out wherever it counts.

use super::usable::{runs_only_sched_idle, sched_idle_cpu};
use crate::domains::{Asymmetry, SchedDomain, SchedGroup};
use crate::fair::balance::{constants, stays_on_node};
use crate::fair::cpu_load::look_at;
use crate::fair::group::{Figures, GroupType};
use crate::fair::pelt::{Without, cpu_load, cpu_without, task_fits};
use crate::platform::Platform;
use crate::registry::{ForkCounts, SchedIdleCpu};
use crate::{CpuId, CpuMask, LevelKind, Nanos, Reason, TaskId, ThisCpu};

/// How the idlest group of a domain is found; `None`: the local one.
type FindGroup<'k, P> = fn(ThisCpu<'k, P>, &'k SchedDomain, TaskId, &CpuMask) -> Option<&'k SchedGroup>;

/// The CPU for `p`, forked by the task that the executing CPU runs, or that task itself.
pub(super) fn find_idlest_cpu<'k, P: Platform>(
    me: ThisCpu<'k, P>,
    p: TaskId,
    find_idlest_group: FindGroup<'k, P>,
) -> CpuId {
    let allowed = me.task(p).cpus_allowed.get();
    let flagged = |cpu| me.k.domains(cpu).iter().take_while(|d| d.affine);
    let mut cpu = me.id;
    let mut level = flagged(cpu).count();
    if level == 0 || !me.k.domains(cpu)[level - 1].span.intersects(&allowed) {
        return me.task(p).cpu.get();
    }
    while level > 0 {
        let domain = &me.k.domains(cpu)[level - 1];
        let found = find_idlest_group(me, domain, p, &allowed)
            .map(|group| find_idlest_group_cpu(me, &group.span.and(&allowed), cpu));
        level = match found {
            Some(idlest) if idlest != cpu => {
                cpu = idlest;
                let size = domain.span_weight;
                flagged(cpu).take_while(|d| d.span_weight < size).count()
            }
            _ => level - 1,
        };
    }
    cpu
}

/// A group as `p` would find it.
struct Candidate<'d> {
    group: &'d SchedGroup,
    figures: Figures,
    kind: GroupType,
}

impl<'d> Candidate<'d> {
    fn measure<P: Platform>(
        me: ThisCpu<'_, P>,
        domain: &SchedDomain,
        group: &'d SchedGroup,
        p: TaskId,
        allowed: &CpuMask,
    ) -> Candidate<'d> {
        let mut figures = Figures {
            weight: group.weight,
            capacity: group.capacity.get(),
            imbalanced: group.imbalanced.get(),
            ..Figures::default()
        };
        let counted = match me.k.config.rules.fork_counts.get() {
            ForkCounts::Allowed => group.span.and(allowed),
            ForkCounts::All => group.span,
        };
        for cpu in counted.iter() {
            look_at(me, cpu);
            let Without { load, runnable, util, nr_running, idle } = cpu_without(me, cpu, p);
            figures.load += load;
            figures.runnable += runnable;
            figures.util += util;
            figures.nr_running += u64::from(nr_running);
            figures.idle += u64::from(idle);
        }
        if domain.asymmetric != Asymmetry::None && me.k.tasks_must_fit() {
            let fits = counted.iter().any(|cpu| task_fits(me, p, cpu));
            figures.misfit_load = u64::from(!fits);
        }
        let kind = figures.group_type(constants(me, domain).imbalance_pct);
        Candidate { group, figures, kind }
    }

    /// Whether it is a better place than `best`, the best so far.
    fn beats(&self, best: &Candidate<'_>) -> bool {
        let (own, other) = (&self.figures, &best.figures);
        if self.kind != best.kind {
            return self.kind < best.kind;
        }
        match self.kind {
            GroupType::Overloaded | GroupType::FullyBusy => own.average_load() < other.average_load(),
            GroupType::Misfit => self.group.max_capacity.get() > best.group.max_capacity.get(),
            GroupType::Imbalanced | GroupType::AsymPacking | GroupType::SmtBalance => false,
            GroupType::HasSpare => own.idle > other.idle || (own.idle == other.idle && own.util < other.util),
        }
    }
}

/// The best other group, if it is a better place for `p` than the local one.
pub(super) fn find_idlest_group<'d, P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &'d SchedDomain,
    p: TaskId,
    allowed: &CpuMask,
) -> Option<&'d SchedGroup> {
    let pct = constants(me, domain).imbalance_pct;
    let measure = |group: &'d SchedGroup| Candidate::measure(me, domain, group, p, allowed);
    let possible = |group: &&SchedGroup| group.span.intersects(allowed);
    let local = Some(domain.own_group()).filter(possible).map(measure);
    let others = domain.other_groups().filter(possible).map(measure);
    let idlest = others.reduce(|best, next| if next.beats(&best) { next } else { best })?;
    let Some(local) = local else { return Some(idlest.group) };
    let reason = compare(me, domain, p, &local, &idlest, pct);
    me.decide(p, reason);
    let goes = matches!(reason, Reason::OtherType | Reason::OtherLoad | Reason::OtherIdle);
    goes.then_some(idlest.group)
}

/// Why `p` goes to the idlest group, or stays with the local one.
fn compare<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    p: TaskId,
    local: &Candidate<'_>,
    idlest: &Candidate<'_>,
    pct: u64,
) -> Reason {
    if local.kind != idlest.kind {
        return if local.kind < idlest.kind { Reason::LocalType } else { Reason::OtherType };
    }
    let numa = matches!(domain.kind, LevelKind::Numa { .. });
    match local.kind {
        GroupType::Overloaded | GroupType::FullyBusy => {
            let margin = 1024 * (pct - 100) / 100;
            let (here, there) = (local.figures.average_load(), idlest.figures.average_load());
            let stays = numa && there + margin >= here || there >= here + margin || 100 * here <= pct * there;
            if stays { Reason::LocalMargin } else { Reason::OtherLoad }
        }
        GroupType::Misfit if idlest.beats(local) => Reason::OtherType,
        GroupType::Imbalanced | GroupType::AsymPacking | GroupType::SmtBalance | GroupType::Misfit => {
            Reason::LocalType
        }
        GroupType::HasSpare => {
            let (here, there) = (local.figures.idle, idlest.figures.idle);
            if numa && here < there {
                let usable = local.group.span.and(&me.task(p).cpus_allowed.get()).weight();
                if stays_on_node(me, domain, &local.figures, u64::from(usable), there - here) {
                    return Reason::NumaAllowance;
                }
            }
            if here >= there { Reason::LocalIdle } else { Reason::OtherIdle }
        }
    }
}

/// An idle CPU of a group: that in the shallowest state, of equals the one that went idle last; a CPU of
/// SCHED_IDLE tasks before all others; else the one with the least load, or `cpu` if that has no more.
fn find_idlest_group_cpu<P: Platform>(me: ThisCpu<'_, P>, group: &CpuMask, cpu: CpuId) -> CpuId {
    let mut idlest: Option<IdleCpu> = None;
    let mut least = (cpu, u64::MAX);
    let single = group.weight() == 1;
    let last_resort_only = me.k.config.rules.sched_idle_cpu.get() == SchedIdleCpu::LastResort;
    let mut last_resort = None;
    for candidate in group.iter() {
        if single {
            return candidate;
        }
        look_at(me, candidate);
        if sched_idle_cpu(me, candidate) {
            return candidate;
        }
        if last_resort_only && runs_only_sched_idle(me, candidate) {
            last_resort = last_resort.or(Some(candidate));
            continue;
        }
        if me.k.idle_cpu(candidate) {
            idlest = Some(IdleCpu::best(idlest, me, candidate));
        } else if idlest.is_none() {
            let load = cpu_load(me, candidate);
            if load < least.1 {
                least = (candidate, load);
            }
        }
    }
    idlest.map(|idlest| idlest.cpu).or(last_resort).unwrap_or(least.0)
}

/// The best idle CPU so far.
#[derive(Clone, Copy)]
struct IdleCpu {
    cpu: CpuId,
    /// Since when it, or a later one in a state that is not known, idles.
    since: Nanos,
    /// The least of the states that are known.
    latency: Nanos,
}

impl IdleCpu {
    /// The better one of that and `cpu`. One of which nobody knows the state (it is about to enter one)
    /// counts by its time alone.
    fn best<P: Platform>(before: Option<IdleCpu>, me: ThisCpu<'_, P>, cpu: CpuId) -> IdleCpu {
        let state = me.k.platform.idle_state_latency(cpu);
        // Without a time it has been idle since before anything happened here.
        let since = me.k.rq(cpu).published.balance.idle_since.get().unwrap_or(Nanos::ZERO);
        let least = before.map_or(Nanos::NEVER, |before| before.latency);
        let own = IdleCpu { cpu, since, latency: least.min(state.unwrap_or(Nanos::NEVER)) };
        match (before, state) {
            (None, _) => own,
            (_, Some(latency)) if latency < least => own,
            (Some(before), None) if since > before.since => own,
            (Some(before), Some(latency)) if latency == least && since > before.since => own,
            (Some(before), _) => before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, cpus, level};
    use crate::{Policy, Topology};

    /// Two nodes of a cache of two CPUs each.
    fn lab(settings: &[&str]) -> Lab {
        let levels = [level(4, LevelKind::Mc, 2), level(4, LevelKind::Numa { distance: 20 }, 4)];
        Lab::on(&Topology::of(4, levels.into()), "6.1.y", settings)
    }

    fn domain(lab: &Lab, level: usize) -> &SchedDomain {
        &lab.k.domains(CpuId(0))[level]
    }

    /// The own group of a domain as if it were of that kind.
    fn candidate(domain: &SchedDomain, kind: GroupType, figures: Figures) -> Candidate<'_> {
        Candidate { group: domain.own_group(), figures: Figures { capacity: 1024, ..figures }, kind }
    }

    fn loaded(load: u64) -> Figures {
        Figures { load, ..Figures::default() }
    }

    /// 2.9: a lower type is better; of equal ones, what the second table says, and nothing that is the same.
    #[test]
    fn the_better_of_two_groups() {
        let lab = lab(&[]);
        let (domain, other) = (domain(&lab, 0), &lab.k.domains(CpuId(2))[0]);
        let better = |kind, a: Figures, b: Figures| {
            let (a, b) = (candidate(domain, kind, a), candidate(domain, kind, b));
            [a.beats(&b), b.beats(&a)]
        };
        for kind in [GroupType::FullyBusy, GroupType::Overloaded] {
            assert_eq!(better(kind, loaded(999), loaded(1000)), [true, false]);
            assert_eq!(better(kind, loaded(1000), loaded(1000)), [false, false]);
        }
        let spare = |idle, util| Figures { idle, util, ..Figures::default() };
        let has_spare = |a, b| better(GroupType::HasSpare, a, b);
        assert_eq!(has_spare(spare(2, 900), spare(1, 100)), [true, false], "more idle CPUs");
        assert_eq!(has_spare(spare(2, 100), spare(2, 101)), [true, false], "as many, less used");
        assert_eq!(has_spare(spare(2, 100), spare(2, 100)), [false, false]);
        assert_eq!(better(GroupType::Imbalanced, loaded(1), loaded(2)), [false, false]);
        let lower = candidate(domain, GroupType::HasSpare, loaded(2000));
        let higher = candidate(domain, GroupType::FullyBusy, loaded(0));
        assert_eq!([lower.beats(&higher), higher.beats(&lower)], [true, false]);

        let misfit = |domain| candidate(domain, GroupType::Misfit, loaded(0));
        assert!(!misfit(domain).beats(&misfit(other)), "they are worth the same");
        other.own_group().max_capacity.set(domain.own_group().max_capacity.get() - 1);
        assert!(misfit(domain).beats(&misfit(other)) && !misfit(other).beats(&misfit(domain)));
    }

    /// 2.9 row 5, where no CPU idles: 117 of 100 are tolerated, and between nodes 174 of load, too.
    #[test]
    fn how_much_less_load_a_task_moves_for() {
        let lab = lab(&[]);
        let p = lab.spawn(Policy::Normal, 0);
        let reason = |level, kind, here, there| {
            let domain = domain(&lab, level);
            let pct = constants(lab.cpu(0), domain).imbalance_pct;
            let [here, there] = [here, there].map(|load| candidate(domain, kind, loaded(load)));
            compare(lab.cpu(0), domain, p, &here, &there, pct)
        };
        for kind in [GroupType::FullyBusy, GroupType::Overloaded] {
            let within = |here| reason(0, kind, here, 1000);
            assert_eq!([1170, 1171].map(within), [Reason::LocalMargin, Reason::OtherLoad]);
            let between = |here| reason(1, kind, here, 1000);
            assert_eq!([1174, 1175].map(between), [Reason::LocalMargin, Reason::OtherLoad]);
        }
        assert_eq!(reason(0, GroupType::Imbalanced, 2000, 0), Reason::LocalType);
        assert_eq!(reason(0, GroupType::Misfit, 2000, 0), Reason::LocalType, "it is worth no more");
    }

    /// 2.9: the CPU of a group, by what runs there.
    #[test]
    fn the_cpu_of_a_group() {
        let goes_to = |rule: &str, policies: [Option<Policy>; 2], loads: [u64; 2]| {
            let lab = lab(&[rule]);
            for (cpu, policy) in [2, 3].into_iter().zip(policies) {
                if let Some(policy) = policy {
                    lab.spawn_allowed(policy, cpu, cpus(&[cpu]));
                }
                lab.k.rq(CpuId(cpu)).published.pelt.average.load_avg.set(loads[usize::from(cpu) - 2]);
            }
            find_idlest_group_cpu(lab.cpu(0), &cpus(&[2, 3]), CpuId(0)).0
        };
        let (hog, idle) = (Some(Policy::Normal), Some(Policy::Idle));
        let on = "sched_idle_cpu=on";
        assert_eq!(goes_to(on, [hog, hog], [500, 499]), 3, "the least load");
        assert_eq!(goes_to(on, [hog, hog], [500, 500]), 2);
        assert_eq!(goes_to(on, [hog, None], [500, 900]), 3, "an idle CPU, whatever its load");
        assert_eq!(goes_to(on, [None, hog], [900, 500]), 2);
        assert_eq!(goes_to(on, [None, None], [0, 0]), 2, "of equals the first");
        assert_eq!(goes_to(on, [None, idle], [0, 3]), 3, "SCHED_IDLE tasks go before an idle CPU");
        let last = "sched_idle_cpu=last_resort";
        assert_eq!(goes_to(last, [idle, None], [3, 0]), 3, "up to 5.6 they come after it,");
        assert_eq!(goes_to(last, [hog, idle], [1, 3]), 3, "and before any load");
        assert_eq!(goes_to(last, [None, hog], [0, 3]), 2);
        assert_eq!(goes_to("sched_idle_cpu=off", [hog, idle], [1, 3]), 2, "they are tasks like others");
    }

    /// 2.9, row 2: the smallest exit latency; among equals, and where none is known, who idles for the
    /// shortest time.
    #[test]
    fn the_shallowest_idle_cpu() {
        let goes_to = |since: [u64; 2], latencies: &[(u16, u64)]| {
            let lab = lab(&[]);
            for (cpu, at) in [2, 3].into_iter().zip(since) {
                lab.k.rq(CpuId(cpu)).published.balance.idle_since.set(Some(Nanos(at)));
            }
            let known = latencies.iter().map(|(cpu, latency)| (CpuId(*cpu), Nanos(*latency)));
            *lab.k.platform.idle_latencies.borrow_mut() = known.collect();
            find_idlest_group_cpu(lab.cpu(0), &cpus(&[2, 3]), CpuId(0)).0
        };
        assert_eq!(goes_to([5, 9], &[]), 3, "the last one");
        assert_eq!(goes_to([5, 9], &[(2, 1), (3, 133)]), 2, "the shallower one");
        assert_eq!(goes_to([9, 5], &[(2, 133), (3, 1)]), 3);
        assert_eq!(goes_to([5, 9], &[(2, 1), (3, 1)]), 3, "of equals the last one");
        assert_eq!(goes_to([9, 5], &[(2, 1), (3, 1)]), 2);
        assert_eq!(goes_to([5, 9], &[(2, 1)]), 3, "one that is about to enter a state: by time");
        assert_eq!(goes_to([9, 5], &[(2, 1)]), 2);
        assert_eq!(goes_to([9, 5], &[(3, 133)]), 3, "a state that is known before one that is not");
    }

    /// 2.9: nothing to choose from.
    #[test]
    fn on_one_cpu_a_child_stays() {
        let lab = Lab::on(&Topology::flat(1), "6.1.y", &[]);
        let p = lab.spawn(Policy::Normal, 0);
        assert_eq!(find_idlest_cpu(lab.cpu(0), p, find_idlest_group), CpuId(0));
    }
}
