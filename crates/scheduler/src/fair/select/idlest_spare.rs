//! Where a new task went, or one that called exec, from 4.11 to 5.4: one that calls exec to the group with a
//! CPU that has most time to spare, if it needs that much; else to the group with the least load of queued
//! tasks, or about as little and less of all (fair-placement 8.5: `fork_balance=spare_time`).

use crate::domains::{SchedDomain, SchedGroup};
use crate::fair::balance::constants;
use crate::fair::cpu_load::look_at;
use crate::fair::pelt::{capacity_of, cpu_load, cpu_load_of_all, cpu_without, task_util_estimate};
use crate::platform::Platform;
use crate::{CpuMask, LevelKind, Reason, TaskId, ThisCpu};

/// A group as `p` would find it.
#[derive(Clone, Copy)]
struct Seen<'d> {
    group: &'d SchedGroup,
    /// Load of the queued tasks for each CPU's worth.
    queued: u64,
    /// The same of all, those asleep too.
    all: u64,
    /// What its CPU with most time to spare has, in 1024ths.
    spare: u64,
}

impl<'d> Seen<'d> {
    fn measure<P: Platform>(me: ThisCpu<'_, P>, group: &'d SchedGroup, p: TaskId) -> Seen<'d> {
        let (mut queued, mut all, mut spare) = (0, 0, 0);
        for cpu in group.span.iter() {
            look_at(me, cpu);
            queued += cpu_load(me, cpu);
            all += cpu_load_of_all(me, cpu);
            spare = capacity_of(me, cpu).saturating_sub(cpu_without(me, cpu, p).util).max(spare);
        }
        let for_each = |load: u64| (load * 1024).checked_div(group.capacity.get()).unwrap_or(0);
        Seen { group, queued: for_each(queued), all: for_each(all), spare }
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
    let tolerated = Tolerated { load: 1024 * (pct - 100) / 100, percent: 100 + (pct - 100) / 2 };
    let possible = |group: &&SchedGroup| group.span.intersects(allowed);
    let measure = |group: &'d SchedGroup| Seen::measure(me, group, p);
    let local = Some(domain.own_group()).filter(possible).map(measure);
    let mut idlest: Option<Seen<'d>> = None;
    let mut most_spare: Option<Seen<'d>> = None;
    for seen in domain.other_groups().filter(possible).map(measure) {
        if most_spare.is_none_or(|most| seen.spare > most.spare) {
            most_spare = Some(seen);
        }
        idlest = match idlest {
            Some(best) if tolerated.is_clearly_less(seen.queued, best.queued) => Some(Seen { ..seen }),
            // Only what all bring is taken over: the load of the queued ones stays the measure.
            Some(best) if tolerated.is_about_and_less(&seen, &best) => {
                Some(Seen { queued: best.queued, ..seen })
            }
            Some(best) => Some(best),
            None => Some(seen),
        };
    }
    let (idlest, most_spare) = (idlest?, most_spare?);
    let Some(local) = local else { return Some(idlest.group) };
    let needs = task_util_estimate(me, p) / 2;
    let calls_exec = p == me.curr();
    let (group, reason) =
        if calls_exec && local.spare > needs && tolerated.percent * local.spare > 100 * most_spare.spare {
            (None, Reason::LocalIdle)
        } else if calls_exec && most_spare.spare > needs {
            (Some(most_spare.group), Reason::OtherIdle)
        } else if stays(&tolerated, domain, &local, &idlest) {
            (None, Reason::LocalMargin)
        } else {
            (Some(idlest.group), Reason::OtherLoad)
        };
    me.decide(p, reason);
    group
}

/// Whether the idlest other group is no clearly better place.
fn stays(tolerated: &Tolerated, domain: &SchedDomain, local: &Seen<'_>, idlest: &Seen<'_>) -> bool {
    let numa = matches!(domain.kind, LevelKind::Numa { .. });
    numa && idlest.queued + tolerated.load >= local.queued
        || idlest.queued > local.queued + tolerated.load
        || (local.queued < idlest.queued + tolerated.load && 100 * local.all < tolerated.percent * idlest.all)
}

/// What differences do not count.
struct Tolerated {
    /// In load of a CPU's worth.
    load: u64,
    /// In percent.
    percent: u64,
}

impl Tolerated {
    fn is_clearly_less(&self, load: u64, than: u64) -> bool {
        than > load + self.load
    }

    /// About as much load of queued tasks, and clearly less of all.
    fn is_about_and_less(&self, seen: &Seen<'_>, than: &Seen<'_>) -> bool {
        seen.queued < than.queued + self.load && 100 * than.all > self.percent * seen.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, level};
    use crate::{CpuId, Topology};

    /// 8.5: between nodes 174 of load are tolerated, within one 174 of what is queued together with 108 % of
    /// all.
    #[test]
    fn how_much_less_load_a_new_task_moves_for() {
        let levels = [level(4, LevelKind::Mc, 2), level(4, LevelKind::Numa { distance: 20 }, 4)];
        let lab = Lab::on(&Topology::of(4, levels.into()), "5.4", &[]);
        let stays = |level: usize, local: [u64; 2], idlest: [u64; 2]| {
            let domain = &lab.k.domains(CpuId(0))[level];
            let seen = |[queued, all]: [u64; 2]| Seen { group: domain.own_group(), queued, all, spare: 0 };
            stays(&Tolerated { load: 174, percent: 108 }, domain, &seen(local), &seen(idlest))
        };
        assert!(stays(1, [1174, 9000], [1000, 0]) && !stays(1, [1175, 9000], [1000, 0]), "another node");
        assert!(!stays(0, [1174, 9000], [1000, 0]), "the same node");
        assert!(stays(0, [1000, 9000], [1175, 0]) && !stays(0, [1000, 9000], [1174, 0]), "much more there");
        assert!(stays(0, [1173, 1079], [1000, 1000]), "about as much of both");
        assert!(!stays(0, [1173, 1080], [1000, 1000]) && !stays(0, [1174, 1079], [1000, 1000]));
    }

    /// 8.5: clearly less queued load, or about as much and clearly less of all.
    #[test]
    fn the_better_of_two_groups() {
        let lab = Lab::on(&Topology::flat(2), "5.4", &[]);
        let group = lab.k.domains(CpuId(0))[0].own_group();
        let seen = |queued, all| Seen { group, queued, all, spare: 0 };
        let tolerated = Tolerated { load: 174, percent: 108 };
        assert!(tolerated.is_clearly_less(1000, 1175) && !tolerated.is_clearly_less(1000, 1174));
        let about = |queued, all| tolerated.is_about_and_less(&seen(queued, all), &seen(1000, 1080));
        assert!(about(1173, 999) && !about(1174, 999) && !about(1173, 1000));
    }
}
