//! How groups were compared up to 5.4 (fair-placement 8.5, `lb=group_room`, `group_room_newest`): by load for
//! what their CPUs are worth, unless one has room for tasks and another has not.

use super::decide::{Imbalance, Kind};
use super::packing;
use super::statistics::{Busiest, Search};
use crate::domains::{SchedDomain, SchedGroup};
use crate::fair::balance::{Situation, constants};
use crate::fair::cpu_load::look_at;
use crate::fair::pelt::{cpu_load, cpu_util};
use crate::platform::Platform;
use crate::registry::{Feature, Lb};
use crate::{CpuId, LevelKind, Reason, ThisCpu};

/// The busiest group and what should leave it; `None` where all is well.
pub(super) fn find_busiest_group<'d, P: Platform>(
    me: ThisCpu<'_, P>,
    search: &Search<'d>,
) -> Option<Busiest<'d>> {
    let domain = search.domain;
    let pct = constants(me, domain).imbalance_pct;
    let form = Form::of(me);
    let packs = packing::packs_now(me, domain, search.situation);
    let measure = |group: &'d SchedGroup, local| Room::measure(me, search, group, local);
    let local = measure(domain.own_group(), true);
    let mut total = local;
    let mut busiest: Option<(&SchedGroup, Room, Rank)> = None;
    for group in domain.other_groups() {
        let room = measure(group, false);
        total.load += room.load;
        total.capacity += room.capacity;
        total.somebody_waits |= room.somebody_waits;
        let crowded = form.spreads(domain) && local.has_room(pct) && form.crowds(&room, &local);
        let rank = if crowded { Rank::Overloaded } else { room.rank(pct) };
        let drained = |best| room.nr_fair > 0 && packing::drains_before(me, search.dest, group, best);
        let goes_before = match busiest {
            Some((best, its, its_rank)) if rank == its_rank => {
                room.average() > its.average() && (!packs || drained(Some(best)))
            }
            Some((_, _, its_rank)) => rank > its_rank,
            None if packs && rank == Rank::Other => room.average() > 0 && drained(None),
            None => true,
        };
        if goes_before {
            busiest = Some((group, room, rank));
        }
    }
    search.note_overload(me, total.somebody_waits);
    let Some((group, room, rank)) = busiest.filter(|(_, room, _)| room.nr_fair > 0) else {
        super::note(me, Reason::LbNone);
        return None;
    };
    if packs && packing::comes_no_lower(me, search.dest, group) {
        super::note(me, Reason::LbAsymPacking);
        let amount = (room.average() * room.capacity + 512) / 1024;
        return Some(Busiest { group, imbalance: Imbalance { kind: Kind::Load, amount } });
    }
    let pass = Pass { form, situation: search.situation, pct, average: total.average() };
    let reason = pass.decide(&local, &room, rank);
    super::note(me, reason);
    if !super::decide::moves(reason) {
        return None;
    }
    let empty = || cpu_load(me, search.dest);
    let amount = pass.amount(&local, &room, rank, empty);
    if amount == 0 && form == Form::Recent {
        super::note(me, Reason::LbZero);
        return None;
    }
    Some(Busiest { group, imbalance: Imbalance { kind: Kind::Load, amount } })
}

/// Details in which 4.14 and 4.15 differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// 4.15 to 5.4: `group_room`.
    Recent,
    /// 4.3 to 4.14: `group_room_newest`. An amount of zero is one like any other, and nothing moves for it.
    Old,
}

impl Form {
    fn of<P: Platform>(me: ThisCpu<'_, P>) -> Form {
        if me.k.config.rules.lb.get() == Lb::GroupRoomNewest { Form::Old } else { Form::Recent }
    }

    /// Whether tasks of a domain are rather in different groups.
    fn spreads(self, domain: &SchedDomain) -> bool {
        match self {
            Form::Recent => domain.prefer_sibling,
            Form::Old => domain.prefer_sibling_above_mc,
        }
    }

    /// Whether a group has too many tasks for that, where the local one has room.
    fn crowds(self, group: &Room, local: &Room) -> bool {
        match self {
            Form::Recent => group.nr_fair > local.nr_fair + 1,
            Form::Old => group.nr_fair > 1,
        }
    }

    /// Whether a pass helps a group without room if the local one has some, whatever the averages say.
    fn helps(self, situation: Situation) -> bool {
        match self {
            Form::Recent => situation != Situation::Busy,
            Form::Old => situation == Situation::NewlyIdle,
        }
    }

    /// What tasks for which a group has no CPU count.
    fn in_excess(self, tasks: u64, capacity: u64) -> u64 {
        match self {
            Form::Recent => tasks * 1024 / capacity.max(1),
            Form::Old => tasks,
        }
    }
}

/// What a group is; the higher, the more it has to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    Other,
    /// Tasks that may not leave it kept its own balancing from evening it out.
    Imbalanced,
    /// Its tasks have no room.
    Overloaded,
}

/// A group's figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Room {
    /// Sum of its CPUs' loads, leaning against moving.
    load: u64,
    /// The same, of this moment.
    load_now: u64,
    /// Runnable fair tasks.
    nr_fair: u64,
    /// Utilisation, in 1024ths of a CPU.
    util: u64,
    /// Idle CPUs.
    idle: u64,
    /// CPUs.
    weight: u64,
    /// What they are worth to fair tasks, in 1024ths of one.
    capacity: u64,
    imbalanced: bool,
    somebody_waits: bool,
}

impl Room {
    fn measure<P: Platform>(
        me: ThisCpu<'_, P>,
        search: &Search<'_>,
        group: &SchedGroup,
        local: bool,
    ) -> Room {
        let mut room = Room {
            weight: group.weight,
            capacity: group.capacity.get(),
            imbalanced: group.imbalanced.get(),
            ..Room::default()
        };
        let index = average_asked(search.domain, search.situation);
        for cpu in group.span.and(&search.cpus).iter() {
            look_at(me, cpu);
            let nr_running = me.k.rq(cpu).published.nr_running.get();
            room.load += leaning_load(me, cpu, index, local);
            room.load_now += cpu_load(me, cpu);
            room.nr_fair += u64::from(me.k.nr_fair(cpu));
            room.util += cpu_util(me, cpu);
            room.idle += u64::from(nr_running == 0 && me.k.idle_cpu(cpu));
            room.somebody_waits |= nr_running > 1;
        }
        room
    }

    /// Load of each CPU's worth.
    fn average(&self) -> u64 {
        (self.load * 1024).checked_div(self.capacity).unwrap_or(0)
    }

    /// Mean load of its tasks.
    fn per_task(&self) -> u64 {
        self.load_now.checked_div(self.nr_fair).unwrap_or(0)
    }

    fn has_room(&self, pct: u64) -> bool {
        self.nr_fair < self.weight || 100 * self.capacity > pct * self.util
    }

    fn rank(&self, pct: u64) -> Rank {
        if self.nr_fair > self.weight && 100 * self.capacity < pct * self.util {
            Rank::Overloaded
        } else if self.imbalanced {
            Rank::Imbalanced
        } else {
            Rank::Other
        }
    }
}

/// Which average of the CPUs' loads is asked: 0 the present (8.4).
fn average_asked(domain: &SchedDomain, situation: Situation) -> usize {
    match situation {
        Situation::NewlyIdle => 0,
        Situation::Busy if domain.kind == LevelKind::Smt => 0,
        Situation::Busy => domain.busy_idx,
        Situation::Idle => domain.idle_idx,
    }
}

/// A CPU's load as averaged, if that speaks more against moving than what it is now (LB_BIAS).
fn leaning_load<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, index: usize, local: bool) -> u64 {
    let now = cpu_load(me, cpu);
    let Some(asked) = index.checked_sub(1).filter(|_| me.has(Feature::LbBias)) else { return now };
    let average = me.k.rq(cpu).published.cpu_load[asked].get();
    if local { now.max(average) } else { now.min(average) }
}

/// What a pass knows when it decides.
#[derive(Clone, Copy, Debug)]
struct Pass {
    form: Form,
    situation: Situation,
    /// What balancing of the domain tolerates, in percent.
    pct: u64,
    /// Load of each CPU's worth, over all groups.
    average: u64,
}

impl Pass {
    fn decide(&self, local: &Room, busiest: &Room, rank: Rank) -> Reason {
        let (here, there) = (local.average(), busiest.average());
        let full = busiest.rank(self.pct) == Rank::Overloaded;
        if rank == Rank::Imbalanced {
            return Reason::LbImbalanced;
        }
        if self.form.helps(self.situation) && local.has_room(self.pct) && full {
            return Reason::LbMove;
        }
        if here >= there || here >= self.average {
            return Reason::LbLocalBusier;
        }
        if self.situation == Situation::Idle {
            if rank != Rank::Overloaded && local.idle <= busiest.idle + 1 {
                return Reason::LbIdleEven;
            }
        } else if 100 * there <= self.pct * here {
            return Reason::LbWithinPct;
        }
        Reason::LbMove
    }

    /// How much load should move. `empty`: what tasks weigh in a local group without any.
    fn amount(&self, local: &Room, busiest: &Room, rank: Rank, empty: impl Fn() -> u64) -> u64 {
        let (here, there) = (local.average(), busiest.average());
        let mut per_task = busiest.per_task();
        if rank == Rank::Imbalanced {
            per_task = per_task.min(self.average);
        }
        let small = |amount: u64| {
            let of_local = if local.nr_fair == 0 { empty() } else { local.per_task() };
            let factor = if per_task > of_local { 1 } else { 2 };
            let scaled = (per_task * 1024).checked_div(busiest.capacity).unwrap_or(0);
            let worth_a_task = there + scaled >= here + scaled * factor;
            if worth_a_task { per_task } else { amount }
        };
        if there <= self.average || here >= self.average {
            return small(0);
        }
        let mut above = u64::MAX;
        if rank == Rank::Overloaded && local.rank(self.pct) == Rank::Overloaded {
            let excess = (busiest.nr_fair * 1024).saturating_sub(busiest.capacity);
            if excess > 0 {
                above = self.form.in_excess(excess, busiest.capacity);
            }
        }
        let leaves = (there - self.average).min(above).saturating_mul(busiest.capacity);
        let amount = leaves.min((self.average - here) * local.capacity) / 1024;
        if amount < per_task { small(amount) } else { amount }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::pelt::set_averages;
    use crate::testing::{Lab, level};
    use crate::{CpuMask, Policy, Topology};
    use Situation::{Busy, Idle, NewlyIdle};

    /// CPUs with so many hogs.
    fn hogs(nr_fair: u64, weight: u64) -> Room {
        Room {
            load: 1024 * nr_fair,
            load_now: 1024 * nr_fair,
            nr_fair,
            util: 1024 * nr_fair.min(weight),
            idle: weight.saturating_sub(nr_fair),
            weight,
            capacity: 1024 * weight,
            ..Room::default()
        }
    }

    fn comes_to(local: Room, busiest: Room, situation: Situation) -> (Reason, u64) {
        by_form(Form::Recent, local, busiest, situation)
    }

    fn by_form(form: Form, local: Room, busiest: Room, situation: Situation) -> (Reason, u64) {
        let average = (local.load + busiest.load) * 1024 / (local.capacity + busiest.capacity);
        let pass = Pass { form, situation, pct: 117, average };
        let rank = busiest.rank(117);
        (pass.decide(&local, &busiest, rank), pass.amount(&local, &busiest, rank, || 0))
    }

    /// 8.5: a task moves where that leaves the groups no more apart than they are.
    #[test]
    fn hogs_on_two_cpus() {
        assert_eq!(comes_to(hogs(1, 1), hogs(2, 1), Busy), (Reason::LbMove, 1024), "1024 + 1024 is 2 × 1024");
        assert_eq!(comes_to(hogs(0, 1), hogs(2, 1), Idle), (Reason::LbMove, 1024));
        assert_eq!(comes_to(hogs(6, 1), hogs(7, 1), Busy).0, Reason::LbWithinPct);
        assert_eq!(comes_to(hogs(2, 1), hogs(2, 1), Busy).0, Reason::LbLocalBusier);
    }

    /// A group with a free CPU helps one whose tasks have no room, whatever the averages say.
    #[test]
    fn room_here_and_none_there() {
        let light = Room { load: 300, load_now: 300, ..hogs(5, 4) };
        let heavy = Room { load: 3000, load_now: 3000, ..hogs(3, 4) };
        assert_eq!(comes_to(heavy, light, NewlyIdle).0, Reason::LbMove);
        assert_eq!(comes_to(heavy, light, Busy).0, Reason::LbLocalBusier);
    }

    /// 8.5, `group_room_newest`: only a CPU about to idle does so.
    #[test]
    fn before_4_15_an_idle_pass_went_by_the_averages() {
        let light = Room { load: 300, load_now: 300, ..hogs(5, 4) };
        let heavy = Room { load: 3000, load_now: 3000, ..hogs(3, 4) };
        let reason = |situation| by_form(Form::Old, heavy, light, situation).0;
        assert_eq!(
            [NewlyIdle, Idle, Busy].map(reason),
            [Reason::LbMove, Reason::LbLocalBusier, Reason::LbLocalBusier]
        );
    }

    /// The same: eight heavy tasks on four CPUs against five light ones. 4096 tasks' worth in excess are more
    /// than the average allows (3456); scaled by what the group is worth (1024) they are less.
    #[test]
    fn before_4_15_tasks_in_excess_counted_in_full() {
        let heavy = Room { load: 8 * 4096, load_now: 8 * 4096, ..hogs(8, 4) };
        let amount = |form| by_form(form, hogs(5, 4), heavy, Busy).1;
        assert_eq!(amount(Form::Recent), 1024 * 4096 / 1024);
        assert_eq!(amount(Form::Old), 3456 * 4096 / 1024);
    }

    /// The same: a group beside one with room has too many tasks with two of them.
    #[test]
    fn before_4_15_two_tasks_were_too_many_beside_room() {
        let crowds = |form: Form, nr| form.crowds(&hogs(nr, 2), &hogs(1, 2));
        assert_eq!([2, 3].map(|nr| crowds(Form::Recent, nr)), [false, true]);
        assert_eq!([1, 2].map(|nr| crowds(Form::Old, nr)), [false, true]);
    }

    /// The same: where the newly idle CPU's group has more load, nothing is to move, and up to 4.14 that was
    /// an amount.
    #[test]
    fn before_4_15_nothing_was_an_amount() {
        let found = |rule: &str| {
            let levels = [level(8, LevelKind::Mc, 4), level(8, LevelKind::Package, 8)].into();
            let lab = Lab::on(&Topology::of(8, levels), "6.1.y", &[rule]);
            for (cpu, load) in [(1, 1000), (2, 1000), (3, 1000), (4, 60), (4, 60), (5, 60), (6, 60), (7, 60)]
            {
                let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
                set_averages(lab.cpu(0), p, load, 1024);
            }
            let domain = &lab.k.domains(CpuId(0))[1];
            let search = Search { dest: CpuId(0), domain, situation: NewlyIdle, cpus: domain.span };
            search.find_busiest_group(lab.cpu(0)).map(|busiest| busiest.imbalance.amount)
        };
        assert_eq!(found("lb=group_room"), None);
        assert_eq!(found("lb=group_room_newest"), Some(0));
    }

    #[test]
    fn an_idle_cpu_takes_nothing_where_as_many_idle() {
        assert_eq!(comes_to(hogs(1, 4), hogs(2, 4), Idle).0, Reason::LbIdleEven);
        assert_eq!(comes_to(hogs(0, 4), hogs(3, 4), Idle).0, Reason::LbMove);
    }

    /// 8.5: a group has room with a CPU free, or where 117 of 100 of its use are less than it is worth; it
    /// has none with more tasks than CPUs of which that is more.
    #[test]
    fn who_has_room_and_who_has_none() {
        let four = |nr_fair, util| Room { nr_fair, util, ..hogs(4, 4) };
        let has_room = |room: Room| room.has_room(117);
        assert_eq!([four(3, 4096), four(4, 3500), four(4, 3501)].map(has_room), [true, true, false]);
        let rank = |nr, util, imbalanced| Room { imbalanced, ..four(nr, util) }.rank(117);
        let none = [rank(5, 3501, false), rank(5, 3500, false), rank(4, 4096, false)];
        assert_eq!(none, [Rank::Overloaded, Rank::Other, Rank::Other]);
        assert_eq!([rank(5, 3501, true), rank(4, 4096, true)], [Rank::Overloaded, Rank::Imbalanced]);
        let just = Room { nr_fair: 2, weight: 1, util: 100, capacity: 117, ..Room::default() };
        assert_eq!((just.has_room(117), just.rank(117)), (false, Rank::Other), "exactly as much");
    }

    /// deadline-groups C9, up to 5.4: of equally crowded groups one with more load goes first only if its CPU
    /// is less preferred, too; all of its load comes. The loads alone decide where packing is off, and in
    /// busy passes.
    #[test]
    fn an_idle_cpu_that_is_preferred_takes_from_the_least_preferred() {
        let found = |rule: &str, dest: u16, situation| {
            let topology = Topology::flat(4).with_priorities([60, 50, 35, 35].into());
            let lab = Lab::on(&topology, "5.4", &[rule]);
            for (cpu, load) in [(1, 500), (2, 900), (3, 1000)] {
                let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
                set_averages(lab.cpu(0), p, load, 1024);
            }
            lab.forget();
            let domain = &lab.k.domains(CpuId(dest))[0];
            let search = Search { dest: CpuId(dest), domain, situation, cpus: domain.span };
            let busiest = search.find_busiest_group(lab.cpu(0));
            let found = busiest.map(|b| (b.group.span.first().map(|cpu| cpu.0), b.imbalance.amount));
            (found, lab.count(Reason::LbAsymPacking) > 0)
        };
        let packs = "asym_packing=by_priority";
        let least = (Some((Some(2), 900)), true);
        assert_eq!([Idle, NewlyIdle].map(|situation| found(packs, 0, situation)), [least; 2]);
        assert!(!found(packs, 0, Busy).1 && !found("asym_packing=off", 0, Idle).1);
        assert_eq!(found(packs, 2, Idle), (None, false), "1 is preferred, 3 is no less");
    }

    /// CPUs of such load each, of which so many idle.
    fn loaded(load: u64, idle: u64) -> Room {
        Room { load, load_now: load, idle, ..hogs(1, 1) }
    }

    fn decides(situation: Situation, average: u64, rank: Rank, [local, busiest]: [Room; 2]) -> Reason {
        Pass { form: Form::Recent, situation, pct: 117, average }.decide(&local, &busiest, rank)
    }

    /// 8.5: who has as much as the busiest or as the domain on average takes nothing, unless that is
    /// imbalanced.
    #[test]
    fn who_takes_nothing() {
        let other = |average, here| decides(Busy, average, Rank::Other, [loaded(here, 0), loaded(2000, 0)]);
        assert_eq!([other(1000, 999), other(1000, 1000)], [Reason::LbMove, Reason::LbLocalBusier]);
        assert_eq!(other(9000, 2000), Reason::LbLocalBusier, "as much as the busiest");
        let rank = |rank| decides(Busy, 1000, rank, [loaded(3000, 0), loaded(2000, 0)]);
        assert_eq!([Rank::Imbalanced, Rank::Other].map(rank), [Reason::LbImbalanced, Reason::LbLocalBusier]);
    }

    /// 8.5: an idle pass asks how many idle, the others by how much the loads differ.
    #[test]
    fn idle_passes_count_idle_cpus_and_others_compare_loads() {
        let idle = |rank, idle| decides(Idle, 1500, rank, [loaded(1000, idle), loaded(1100, 0)]);
        assert_eq!([idle(Rank::Other, 1), idle(Rank::Other, 2)], [Reason::LbIdleEven, Reason::LbMove]);
        assert_eq!(idle(Rank::Overloaded, 1), Reason::LbMove, "it has too many tasks");
        for situation in [Busy, NewlyIdle] {
            let loads = |there| decides(situation, 1500, Rank::Other, [loaded(1000, 9), loaded(there, 0)]);
            assert_eq!([1170, 1171].map(loads), [Reason::LbWithinPct, Reason::LbMove]);
        }
    }

    /// 8.5, small: an empty local group weighs what the averages of the CPU say; half as far apart is enough
    /// if the tasks there are heavier. An imbalanced group's tasks weigh no more than the average.
    #[test]
    fn what_is_less_than_a_task() {
        let amount = |average, rank, local: Room, empty| {
            let busiest = Room { load: 1000, load_now: 1024, ..hogs(1, 1) };
            let pass = Pass { form: Form::Recent, situation: Idle, pct: 117, average };
            pass.amount(&local, &busiest, rank, || empty)
        };
        let nobody = Room { load: 0, load_now: 0, nr_fair: 0, ..hogs(1, 1) };
        assert_eq!([1023, 1024].map(|empty| amount(1000, Rank::Other, nobody, empty)), [1024, 0]);
        assert_eq!(amount(999, Rank::Other, nobody, 1023), 1024, "one above the average is less than a task");
        assert_eq!(amount(999, Rank::Other, nobody, 1024), 1);
        let one = |load_now| Room { load: 0, load_now, ..hogs(1, 1) };
        assert_eq!([one(1023), one(1024)].map(|local| amount(1000, Rank::Other, local, 0)), [1024, 0]);
        assert_eq!(amount(600, Rank::Imbalanced, nobody, 9000), 600, "1000 + 614 against 1228");
        let as_average = Room { load: 400, load_now: 2000, ..hogs(1, 1) };
        assert_eq!(amount(400, Rank::Other, as_average, 0), 0, "it has the average");
    }

    /// 8.5: what tasks are in excess counts only where both groups have no room.
    #[test]
    fn excess_counts_where_nobody_has_room() {
        let amount = |local: Room| {
            let busiest = Room { load: 8 * 4096, load_now: 8 * 4096, ..hogs(8, 4) };
            let pass = Pass { form: Form::Recent, situation: Busy, pct: 117, average: 4736 };
            pass.amount(&local, &busiest, Rank::Overloaded, || 0)
        };
        assert_eq!([amount(hogs(5, 4)), amount(hogs(4, 4))], [1024 * 4, 3456 * 4]);
    }
}
