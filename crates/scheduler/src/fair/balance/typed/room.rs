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
            room.idle += u64::from(me.k.idle_cpu(cpu));
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
mod tests;
