use super::nohz::{nohz_balancer_kick, nohz_idle_balance};
use super::*;
use crate::fair::tests::groups::{hogs, limit};
use crate::fair::tests::q6600;
use crate::platform::Lock;
use crate::testing::{Lab, cpus, level};
use crate::{CpuMask, LevelKind, Partitions, Policy, Reason, TaskId, Topology};

/// fair-class 8.5 step 7: more than cache_nice_tries + 2 = 3 failures in a row ask the busy CPU.
#[test]
fn the_fourth_failure_asks_the_busy_cpu() {
    let lab = Lab::on(&q6600(), "2.6.36", &["newidle_stop=never"]);
    // Both run: nothing can be taken off their die.
    for cpu in [0, 1] {
        lab.spawn_allowed(Policy::Normal, cpu, CpuMask::ALL);
        let averages = &lab.k.rq(CpuId(cpu)).published.cpu_load;
        averages.iter().for_each(|average| average.overwrite(1024));
    }
    lab.advance(Nanos::from_secs(1));
    let dies = &lab.k.domains(CpuId(2))[1];
    for failures in 1..=4 {
        lab.run(load_balance(lab.cpu(2), CpuId(2), dies, Situation::Idle));
        let asked = dies.balance.other_counts.active.get();
        assert_eq!((dies.balance.counts[0].failed.get(), asked), (failures, u64::from(failures == 4)));
    }
}
const V2_6_36: &str = "2.6.36";

/// A hog that runs or waits on a CPU, and may run on these.
fn hog(lab: &Lab, cpu: u16, allowed: &[u16]) -> TaskId {
    let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(cpu), p, cpus(allowed)));
    p
}

/// How often the largest domain of these CPUs was balanced in that situation.
fn attempts(lab: &Lab, situation: Situation) -> [u64; 4] {
    let of =
        |cpu| lab.k.domains(CpuId(cpu)).last().map(|d| d.balance.counts[situation.index()].attempts.get());
    [0, 1, 2, 3].map(|cpu| of(cpu).unwrap_or(0))
}

/// Every CPU's domains are due, late by so much.
fn due_in(lab: &Lab, late: u64) {
    lab.advance(Nanos::from_secs(1));
    for rq in lab.k.rqs() {
        rq.published.balance.next_balance.set(lab.k.platform.now.get() + Nanos(late));
    }
}

/// Fair-class 8.5: a tick balances from the moment on for which that was planned, be it itself or by a
/// thread; alone on its machine a CPU has nothing to balance.
#[test]
fn when_a_tick_balances() {
    for rule in ["lb=group_load", "lb=group_type"] {
        let by_thread = |cpus: usize, late| {
            let lab = Lab::new(cpus, V2_6_36, &[rule]);
            hog(&lab, 0, &[0]);
            due_in(&lab, late);
            raise_load_balance(lab.cpu(0))
        };
        assert_eq!([by_thread(2, 0), by_thread(2, 1)], [Some(Balancing::Busy), None], "{rule}");
        assert_eq!(by_thread(1, 0), None, "{rule}");
        let by_itself = |late| {
            let lab = Lab::new(4, V2_6_36, &[rule]);
            hog(&lab, 0, &[0]);
            due_in(&lab, late);
            lab.run(rebalance_domains(lab.cpu(0)));
            attempts(&lab, Situation::Busy)[0]
        };
        assert_eq!([by_itself(0), by_itself(1)], [1, 0], "{rule}");
    }
}

/// Fair-placement 4.10: balancing by group types notes at such a tick who idles without one; and where
/// balancing goes by loads, the busy CPU kicks an idle one after its own balancing.
#[test]
fn what_else_a_tick_does() {
    let noted = |rule: &str| {
        let lab = Lab::new(4, "6.1.y", &[rule]);
        hog(&lab, 0, &[0]);
        lab.tick(0);
        let before = lab.k.fair_root.idle_cpus().contains(CpuId(0));
        lab.block(0);
        due_in(&lab, 0);
        raise_load_balance(lab.cpu(0));
        (before, lab.k.fair_root.idle_cpus().contains(CpuId(0)))
    };
    assert_eq!(noted("lb=group_type"), (false, true));
    let kicked = |rule: &str| {
        let lab = Lab::on(&q6600(), "4.0", &[rule]);
        (0..2).for_each(|_| _ = hog(&lab, 0, &[0]));
        due_in(&lab, 0);
        lab.run(run_rebalance_domains(lab.cpu(0), Balancing::Busy));
        lab.k.rq(CpuId(1)).published.balance.nohz_kick.get()
    };
    assert_eq!([kicked("lb=group_load"), kicked("lb=group_type")], [true, false]);
}

/// Fair-class 8.5: a domain is due when its interval is over, and not before.
#[test]
fn when_a_domain_is_due() {
    let balanced = |early: u64| {
        let lab = Lab::new(4, V2_6_36, &[]);
        hog(&lab, 0, &[0]);
        lab.advance(Nanos::from_secs(1));
        let domain = &lab.k.domains(CpuId(0))[0];
        let interval = due(lab.cpu(0), domain, Situation::Idle) - domain.balance.last_balance.get();
        domain.balance.last_balance.set(lab.k.platform.now.get() + Nanos(early) - interval);
        lab.run(balance_domains(lab.cpu(0), CpuId(0), Situation::Idle));
        attempts(&lab, Situation::Idle)[0]
    };
    assert_eq!([0, 1].map(balanced), [1, 0]);
}

/// Fair-class 8.6: whoever is about to idle balances for itself, first of its group or not; and leaves the
/// interval as it is. After a periodic pass that found something it is the shortest.
#[test]
fn who_balances_as_newly_idle_and_what_follows() {
    let pulled = |situation| {
        let lab = Lab::on(&q6600(), V2_6_36, &[]);
        (0..3).for_each(|_| _ = hog(&lab, 2, &[0, 1, 2]));
        lab.advance(Nanos::from_secs(1));
        let dies = &lab.k.domains(CpuId(1))[1];
        dies.balance.balance_interval_ms.set(4);
        let outcome = lab.run(load_balance(lab.cpu(1), CpuId(1), dies, situation));
        (outcome != Outcome::Balanced, dies.balance.balance_interval_ms.get())
    };
    assert_eq!(pulled(Situation::NewlyIdle), (true, 4));
    assert_eq!(pulled(Situation::Idle), (false, 4), "CPU 0 idles, too, and does it");
    let first = || {
        let lab = Lab::on(&q6600(), V2_6_36, &[]);
        (0..3).for_each(|_| _ = hog(&lab, 2, &[0, 1, 2]));
        lab.advance(Nanos::from_secs(1));
        lab.k.rq(CpuId(2)).published.cpu_load.iter().for_each(|average| average.overwrite(3 * 1024));
        let dies = &lab.k.domains(CpuId(0))[1];
        dies.balance.balance_interval_ms.set(4);
        let outcome = lab.run(load_balance(lab.cpu(0), CpuId(0), dies, Situation::Idle));
        (outcome != Outcome::Balanced, dies.balance.balance_interval_ms.get())
    };
    assert_eq!(first(), (true, 1));
}

/// What CPU 1 takes of CPU 0, where three cold tasks lie of which the first runs: how many, and how many were
/// found too heavy, or hot.
fn takes(settings: &[&str], situation: Situation, amount: u64, failures: u32, waited: Nanos) -> [u64; 3] {
    let lab = Lab::new(2, V2_6_36, settings);
    (0..3).for_each(|_| _ = hog(&lab, 0, &[0, 1]));
    for p in lab.k.tasks.iter().skip(2) {
        lab.k.task(p).stats.exec_start.set(lab.k.platform.now.get());
    }
    lab.advance(waited);
    let domain = &lab.k.domains(CpuId(1))[0];
    domain.balance.nr_balance_failed.set(failures);
    let [mut from, mut to] = [0, 1].map(|cpu| lab.run(lab.cpu(cpu).lock(CpuId(cpu))));
    let moved = move_tasks(&mut from, &mut to, domain, amount, situation);
    [u64::from(moved), lab.count(Reason::NotMovedHeavy), lab.count(Reason::NotMovedHot)]
}

/// Fair-class 8.6: half of a task's weight may be all that is to move; hot ones go after more failures than
/// cache_nice_tries (1); only a newly idle CPU of a preemptible kernel stops after one; nobody is looked at
/// once enough has moved.
#[test]
fn which_tasks_move_and_when_it_ends() {
    let cold = Nanos::from_millis(1);
    let amount = |amount| takes(&[], Situation::Idle, amount, 0, cold);
    assert_eq!(amount(512), [1, 0, 0], "half of 1024");
    assert_eq!(amount(511)[..2], [0, 3]);
    assert_eq!(amount(1024), [1, 0, 0]);
    let hot = |failures| takes(&[], Situation::Idle, 9000, failures, Nanos(1));
    assert_eq!([hot(1), hot(2)], [[0, 0, 2], [2, 0, 0]]);
    let full = |situation| takes(&["preempt_model=full"], situation, 9000, 0, cold)[0];
    assert_eq!([full(Situation::NewlyIdle), full(Situation::Idle), full(Situation::Busy)], [1, 2, 2]);
}

/// Eevdf-class 4.5: whoever may not come is counted as bound, whether it owes service or not.
#[test]
fn a_bound_task_that_owes_service_is_bound() {
    let lab = Lab::on(&Topology::flat(2), "6.18.y", &["lb=group_load"]);
    hog(&lab, 1, &[1]);
    let p = [hog(&lab, 0, &[0]), hog(&lab, 0, &[0])][1];
    let vruntime = &lab.k.task(p).se.vruntime;
    {
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        crate::fair::eevdf::leave_tree(&mut rq, &lab.k.task(p).se);
        vruntime.set(vruntime.get().wrapping_add(100_000_000));
        crate::fair::eevdf::join_tree(&mut rq, crate::fair::EntityId::of(p), &lab.k.task(p).se);
    }
    lab.advance(Nanos::from_millis(1));
    let [mut from, mut to] = [0, 1].map(|cpu| lab.run(lab.cpu(cpu).lock(CpuId(cpu))));
    move_tasks(&mut from, &mut to, &lab.k.domains(CpuId(1))[0], 9000, Situation::Idle);
    assert_eq!((lab.count(Reason::NotMovedLag), lab.k.task(p).stats.balanced.failed_affine.get()), (0, 1));
}

/// Deadline-groups B4: a task stays where its group is throttled, or would be.
#[test]
fn tasks_of_a_throttled_group_stay() {
    let stays = |used_up_on: Option<u16>| {
        let (lab, g) = hogs(2, "6.1.y", limit(20, 100));
        let waits = lab.spawn_in(g, 0);
        let p = [waits, lab.running(0)][usize::from(lab.running(0) == waits)];
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), p, CpuMask::first_n(2)));
        if let Some(cpu) = used_up_on {
            for _ in 0..8 {
                lab.advance(Nanos::from_millis(4));
                lab.tick(cpu);
            }
        }
        assert_eq!([0, 1].map(|cpu| lab.is_throttled(g, cpu)), [0, 1].map(|cpu| used_up_on == Some(cpu)));
        let rq = lab.run(lab.cpu(1).lock(CpuId(0)));
        (move_tasks::throttled_pair(&rq, CpuId(1), p), move_tasks::first_allowed(&rq, CpuId(1)).is_none())
    };
    assert_eq!([stays(None), stays(Some(0)), stays(Some(1))], [(false, false), (true, true), (true, true)]);
}

/// Fair-class 8.6: a search of a CPU about to idle ends where somebody has come meanwhile.
#[test]
fn a_search_ends_where_somebody_has_come() {
    let searched = |comes: bool| {
        let lab = Lab::on(&q6600(), V2_6_36, &["newidle_stop=on_move"]);
        hog(&lab, 1, &[1]);
        (0..3).for_each(|_| _ = hog(&lab, 0, &[0]));
        lab.advance(Nanos::from_secs(1));
        lab.k.task(lab.running(1)).state.overwrite(crate::TaskState::Interruptible);
        let path = crate::schedule::schedule(lab.cpu(1), crate::schedule::Entry::Call);
        // First for the switch itself, then for what the pair's other CPU has.
        let mut locks = 0;
        lab.meanwhile(
            |lock| lock == Lock::Rq(CpuId(1)),
            path,
            |_| {
                locks += 1;
                if comes && locks == 2 {
                    lab.spawn_unsettled(Policy::Normal, 0, 1, cpus(&[1]));
                }
            },
        );
        attempts(&lab, Situation::NewlyIdle)[1]
    };
    assert_eq!([false, true].map(searched), [1, 0], "of the level above");
}

/// 2.6.33 on, and fair-placement 4.9, I19: an idle spell counts only if a wakeup ends it; one of more than
/// twice sched_migration_cost, which nothing dearer has replaced, counts as that much.
#[test]
fn which_idle_spells_count() {
    let average = |rule: &str, length: u64, forked: bool| {
        let lab = Lab::new(2, "4.0", &[rule, "sched_migration_cost_ns=500000"]);
        let p = hog(&lab, 0, &[0]);
        lab.block(0);
        let balance = &lab.k.rq(CpuId(0)).published.balance;
        balance.idle.average.set(Nanos::ZERO);
        balance.idle_since.set(Some(lab.k.platform.now.get()));
        lab.advance(Nanos(length));
        if forked {
            lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(&[0]));
        } else {
            lab.wake_unsettled(0, p);
        }
        (balance.avg_idle().0, balance.idle_since.get().is_some())
    };
    let by_load = |length, forked| average("lb=group_load", length, forked);
    assert_eq!(
        [by_load(1_000_000, false), by_load(1_000_001, false)],
        [(125_000, false), (1_000_000, false)]
    );
    assert_eq!(by_load(800_000, true), (0, false));
    let by_type = |forked| average("lb=group_type", 800_000, forked);
    assert_eq!([by_type(false), by_type(true)], [(100_000, false), (0, true)], "a fork does not end it");
}

/// Eevdf-class 3.7, E15: a CPU on whose queue all sleep is about to idle, and looks for work first.
#[test]
fn a_queue_of_sleepers_is_an_empty_one() {
    let lab = Lab::on(&Topology::flat(2), "6.18.y", &["NO_NI_RANDOM"]);
    let [owes, other] = [(); 2].map(|()| hog(&lab, 1, &[1]));
    (0..2).for_each(|_| _ = hog(&lab, 0, &[0]));
    assert_eq!(lab.running(1), owes);
    let vruntime = &lab.k.task(owes).se.vruntime;
    vruntime.set(vruntime.get().wrapping_add(50_000_000));
    lab.k.task(owes).se.eevdf.deadline.set(vruntime.get().wrapping_add(1_000_000));
    lab.block(1);
    assert!(lab.k.task(owes).se.eevdf.sched_delayed.get() && lab.running(1) == other);
    lab.advance(Nanos::from_millis(10));
    lab.block(1);
    assert!(lab.idle(1));
    assert_eq!(lab.k.domains(CpuId(1))[0].balance.counts[Situation::NewlyIdle.index()].attempts.get(), 1);
}

/// Whom CPU 0 kicks a tick after it has kicked somebody, or so much earlier.
fn kicks(partitions: &Partitions, tasks: &[u16], early: u64) -> Option<u16> {
    let lab = Lab::divided(&q6600(), partitions, "4.0", &["lb=group_load", "newidle_stop=never"]);
    tasks.iter().for_each(|cpu| _ = hog(&lab, *cpu, &[*cpu]));
    lab.advance(Nanos::from_secs(1));
    lab.run(nohz_balancer_kick(lab.cpu(0)));
    let kick = |cpu: u16| &lab.k.rq(CpuId(cpu)).published.balance.nohz_kick;
    (0..4).for_each(|cpu| kick(cpu).set(false));
    lab.advance(tick_period(lab.cpu(0)) - Nanos(early));
    lab.run(nohz_balancer_kick(lab.cpu(0)));
    (0..4).find(|cpu| kick(*cpu).get())
}

/// Fair-class 8.6, nohz: the first idle CPU that is balanced at all is kicked, once a tick, by a CPU with two
/// tasks or with a busy neighbour in its cache.
#[test]
fn who_kicks_whom() {
    let whole = Partitions::whole(4);
    assert_eq!([kicks(&whole, &[0, 0], 0), kicks(&whole, &[0, 0], 1)], [Some(1), None]);
    assert_eq!(kicks(&whole, &[0], 0), None, "its neighbour idles");
    assert_eq!(kicks(&whole, &[0, 1], 0), Some(2));
    assert_eq!(kicks(&whole, &[0, 2], 0), None, "nobody in its cache");
    let without_1 = Partitions::new([cpus(&[0, 2, 3])]);
    assert_eq!(kicks(&without_1, &[0, 0], 0), Some(2), "CPU 1 is left alone");
}

/// The kicked CPU balances itself, then others that idle and are due, each once.
#[test]
fn whom_the_kicked_cpu_balances() {
    let lab = Lab::new(4, "4.0", &["lb=group_load", "newidle_stop=never"]);
    hog(&lab, 0, &[0]);
    lab.advance(Nanos::from_secs(1));
    let now = lab.k.platform.now.get();
    for cpu in 0..4 {
        let domain = &lab.k.domains(CpuId(cpu))[0];
        let interval = due(lab.cpu(1), domain, Situation::Idle) - domain.balance.last_balance.get();
        // CPU 3 is due a nanosecond later.
        domain.balance.last_balance.set(now + Nanos(u64::from(cpu == 3)) - interval);
    }
    lab.run(nohz_idle_balance(lab.cpu(1)));
    assert_eq!(attempts(&lab, Situation::Idle), [0, 1, 1, 0]);
}

/// Fair-placement 4.10: at the start all CPUs idle without a tick but those that balancing knows nothing of.
#[test]
fn who_idles_at_the_start() {
    let idle = |partitions: &Partitions, cpus: usize| {
        Lab::divided(&Topology::flat(cpus), partitions, "6.1.y", &[]).k.fair_root.idle_cpus()
    };
    assert_eq!(idle(&Partitions::whole(4), 4), CpuMask::first_n(4));
    assert_eq!(idle(&Partitions::new([cpus(&[1, 2, 3])]), 4), cpus(&[1, 2, 3]));
    assert_eq!(idle(&Partitions::whole(1), 1), CpuMask::first_n(1), "the only one");
}

/// What the machine has says how tasks are placed: clusters; energy, where CPUs are unequal and have no
/// threads (deadline-groups C4).
#[test]
fn what_a_machine_has() {
    let clusters = |kind| {
        let levels = [level(4, kind, 2), level(4, LevelKind::Package, 4)];
        Lab::on(&Topology::of(4, levels.into()), "6.1.y", &[]).k.fair_root.has_clusters
    };
    assert_eq!([clusters(LevelKind::Cluster), clusters(LevelKind::Mc)], [true, false]);
    let by_energy = |kind, unequal: bool, known: bool| {
        let levels = [level(4, kind, 2), level(4, LevelKind::Mc, 4)];
        let mut topology = Topology::of(4, levels.into());
        if unequal {
            topology = topology.with_capacities([446, 446, 1024, 1024].into());
        }
        let power = |khz| crate::frequency::PerfLevel { khz, milliwatts: known.then_some(100) };
        topology.frequencies =
            [crate::frequency::FrequencyDomain { cpus: CpuMask::first_n(4), levels: [power(100)].into() }]
                .into();
        Lab::on(&topology, "6.1.y", &[]).k.fair_root.has_energy_model
    };
    let caches = LevelKind::Cluster;
    assert!(by_energy(caches, true, true));
    assert!(!by_energy(caches, false, true) && !by_energy(caches, true, false));
    assert!(!by_energy(LevelKind::Smt, true, true) && !by_energy(LevelKind::Smt, false, true));
}
