//! fair-placement 8.5: the forms of 4.4, where they differ from 4.19's.

use super::wakeup::{Wake, by_load};
use super::{all_but, modern, two_sockets};
use crate::class::SelectFor;
use crate::platform::Ipi;
use crate::testing::{Lab, cpus};
use crate::{Class, CpuId, LevelKind, Nanos, Policy, Reason, TaskId, Topology, TopologyLevel};

/// `wake_placement=load_only`: 100 × (T's load + p's) ≤ 108 × P's, and p is not taken out of the latter.
#[test]
fn only_loads_decided_who_gets_a_woken_task() {
    const OLD: &[&str] = &["wake_placement=load_only", "NO_WA_WEIGHT", "NO_WA_IDLE", "NO_WA_BIAS"];
    let old = |t, p, own| by_load(t, p, own, OLD).first(false);
    assert_eq!(old(1024, 1226, 300), (2, Reason::WaWeight), "132400 against 132408");
    assert_eq!(old(1024, 1225, 300), (4, Reason::WaNo), "132400 against 132300");
    assert_eq!(old(780, 1000, 300), (2, Reason::WaWeight), "108000 against 108000");
    assert_eq!(by_load(1024, 1226, 300, &[]).first(false).1, Reason::WaNo, "since 4.17 against 926");
    // The waker is about to leave, and has more than all of the queue: nothing is left here.
    let sync = by_load(900, 1, 300, OLD);
    let waker = sync.lab.running(2);
    sync.lab.k.task(waker).se.pelt.average.load_avg.set(900);
    assert_eq!([sync.first(false).1, sync.first(true).1], [Reason::WaNo, Reason::WaWeight]);
    let worth = by_load(1024, 1226, 300, OLD);
    worth.lab.k.rq(CpuId(2)).published.pelt.capacity.left.set(1000);
    assert_eq!(worth.first(false).1, Reason::WaNo, "what is left of the waker's CPU counts");
}

/// The same: fair-placement E16 and E18 the other way round.
#[test]
fn an_idle_last_cpu_was_no_reason_at_all() {
    let first = |wake: Wake| wake.first(false);
    assert_eq!(first(Wake::new(0, 4, &["wake_placement=load_only"])), (0, Reason::WaWeight), "no load here");
    assert_eq!(first(Wake::new(0, 4, &[])), (4, Reason::WaPrevIdle));
    let far = Wake::new(2, 12, &["wake_placement=load_only"]).busy(&[2]);
    assert_eq!(far.first(false).1, Reason::WaNo, "by load");
}

/// `idle_sibling=idle_group`: cores of the cache in the order of the ring, then threads beside the target.
#[test]
fn whole_cores_then_threads_beside_the_target() {
    let old = |t| Wake::new(t, t, &["idle_sibling=idle_group", "recent_used=off"]);
    assert_eq!(old(4).busy(&[0, 1, 2, 3, 4]).last(), (6, Reason::SisCore), "5 is idle, but half a core");
    assert_eq!(old(2).busy(&[2, 3, 4, 5]).last(), (6, Reason::SisCore), "the ring: 4, 6, 0");
    assert_eq!(old(2).busy(&[2, 3, 4, 7]).last(), (0, Reason::SisCore), "around");
    assert_eq!(old(4).busy(&[0, 2, 4, 6]).last(), (5, Reason::SisSmt), "no whole core, the thread beside");
    assert_eq!(old(4).busy(&all_but(&[1, 3, 7], 8)).last(), (4, Reason::SisNone), "idle halves elsewhere");
    let bound = old(4).busy(&[0, 1, 2, 3, 4, 5]);
    super::allow(&bound.lab, bound.woken, cpus(&[4, 7]));
    assert_eq!(bound.last(), (7, Reason::SisCore), "6 idles, too, and may not be used");
    let near =
        Wake::new(4, 0, &["idle_sibling=idle_group", "wake_placement=load_only"]).busy(&[4]).load(0, 9000);
    assert_eq!(near.last(), (0, Reason::SisPrev), "the last CPU before that");
}

/// The same without threads: any idle CPU of the cache.
#[test]
fn cores_of_one_thread_are_groups_too() {
    let lab = modern(&Topology::flat(4), &["idle_sibling=idle_group", "recent_used=off"]);
    let p = lab.spawn(Policy::Normal, 2);
    lab.block(2);
    lab.hogs_of_load(&[2, 3], 1024);
    lab.forget();
    let cpu = crate::fair::select_task_rq_wake(lab.cpu(2), p, crate::wakeup::WakeFlags::default());
    assert_eq!((cpu, lab.decisions()), (CpuId(0), [Reason::SisCpu].into()), "2, 3, 0");
}

/// Where a child of the task on CPU 0 goes, of two CPUs with such loads.
fn forked(local: u64, other: u64, capacity_of_other: u64) -> (u16, Reason) {
    let lab = modern(&Topology::flat(2), &["fork_balance=group_load", "balance_load=queued"]);
    lab.hogs_of_load(&[0], local);
    lab.hogs_of_load(&[1], other);
    let groups = lab.k.domains(CpuId(1))[0].own_group();
    groups.capacity.set(capacity_of_other);
    let child = lab.fork_start(0, 0);
    lab.forget();
    let cpu = Class::Fair.select_task_rq(lab.cpu(0), child, SelectFor::Fork);
    (cpu.0, lab.first_decision())
}

/// `fork_balance=group_load`: away where 100 × local ≥ 108 × the smallest other.
#[test]
fn new_tasks_went_to_the_least_load() {
    assert_eq!(forked(1080, 1000, 1024), (1, Reason::OtherLoad));
    assert_eq!(forked(1079, 1000, 1024), (0, Reason::LocalMargin));
    assert_eq!(forked(1080, 500, 512), (1, Reason::OtherLoad), "for what it is worth");
    assert_eq!(forked(1080, 501, 512), (0, Reason::LocalMargin));
}

/// The same: who calls exec is a load of its own CPU, and of a group's idle CPUs the last to idle is taken.
#[test]
fn exec_left_its_own_load() {
    let goes = |rule: &str| {
        let level = |kind, spans: &[&[u16]]| TopologyLevel {
            kind,
            spans: spans.iter().map(|span| cpus(span)).collect(),
        };
        let levels =
            [level(LevelKind::Mc, &[&[0, 1], &[2, 3]]), level(LevelKind::Package, &[&[0, 1, 2, 3]])].into();
        let lab = modern(&Topology::of(4, levels), &[rule, "balance_load=queued"]);
        lab.hogs_of_load(&[1], 1024);
        let p = lab.spawn(Policy::Normal, 0);
        lab.set_averages(p, 1024, 1024);
        for cpu in [2, 3] {
            lab.advance(Nanos::from_millis(1));
            lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
            lab.block(cpu);
        }
        Class::Fair.select_task_rq(lab.cpu(0), p, SelectFor::Exec).0
    };
    // First to 3, or to the lowest of equals; then 0 is no less than 108 % of 0, and it goes on to the other
    // one.
    assert_eq!([goes("fork_balance=group_load"), goes("fork_balance=cpu_load")], [2, 3]);
    let alone = |rule: &str| {
        let lab = modern(&Topology::flat(2), &[rule, "balance_load=queued"]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.set_averages(p, 1024, 1024);
        Class::Fair.select_task_rq(lab.cpu(0), p, SelectFor::Exec).0
    };
    assert_eq!([alone("fork_balance=group_load"), alone("fork_balance=group_type")], [1, 0]);
}

/// `new_task_util=full` (fair-placement 1.7, E11): a new task counts as using all of a CPU, or half of what
/// is free.
#[test]
fn a_new_task_counted_as_using_a_whole_cpu() {
    let util = |rule: &str| {
        let lab = modern(&Topology::flat(2), &[rule]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.k.task(p).se.pelt.average.util_avg.get()
    };
    assert_eq!([util("new_task_util=full"), util("new_task_util=half")], [1024, 512]);
}

/// Three hogs on CPU 0, queued one after the other, the first of which runs and the third ran before it:
/// which of them goes to CPU 1 as that begins to idle, and who is looked at last afterwards.
fn pulled(rule: &str, pinned: &[usize]) -> (usize, usize) {
    let lab = modern(&Topology::flat(2), &[rule, "balance_load=queued"]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let hogs: [TaskId; 3] = [(); 3].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
    let runs = |n: usize| lab.running(0) == hogs[n];
    let until = |n: usize| {
        for _ in 0..100 {
            if !runs(n) {
                lab.advance(Nanos::from_millis(1));
                lab.tick(0);
            }
        }
        assert!(runs(n), "{n}");
    };
    lab.run_on(Nanos::from_millis(400));
    until(2);
    until(0);
    // By now the third is cold.
    lab.advance(Nanos::from_millis(1));
    for (n, p) in hogs.iter().enumerate() {
        if !pinned.contains(&n) {
            lab.k.task(*p).cpus_allowed.overwrite(lab.k.online);
            lab.k.task(*p).nr_cpus_allowed.overwrite(2);
        }
    }
    lab.block(1);
    let gone = (0..3).filter(|n| lab.cpu_of(hogs[*n]) == 1);
    let gone: alloc::vec::Vec<usize> = gone.collect();
    assert_eq!(gone.len(), 1, "{gone:?}");
    let last = lab.run(lab.cpu(1).lock(CpuId(0))).fair.tasks.oldest();
    (gone[0], hogs.iter().position(|p| Some(*p) == last).expect("a hog"))
}

/// `lb=group_room_newest`: who was queued last; who is passed over goes to the other end.
#[test]
fn balancing_took_who_was_queued_last() {
    assert_eq!(pulled("lb=group_room", &[]).0, 1, "who has not run for longest");
    assert_eq!(pulled("lb=group_room_newest", &[]), (2, 0));
    assert_eq!(pulled("lb=group_room_newest", &[2]), (1, 2));
}

/// Kicks by a CPU of each of these kinds.
fn kicks(lab: &Lab, cpu: u16) -> [usize; 2] {
    lab.k.platform.ipis.borrow_mut().clear();
    lab.forget();
    lab.run(crate::tick::scheduler_tick(lab.cpu(cpu)));
    let ipis = lab.k.platform.ipis.borrow();
    [Ipi::NohzReschedule, Ipi::Nohz].map(|kind| ipis.iter().filter(|sent| sent.ipi == kind).count())
}

/// `nohz_balance=balance_only`: one reschedule interrupt, until it is served; then the task goes to the
/// lowest other idle CPU that it may use, and not to the one that serves.
#[test]
fn an_idle_cpu_was_kicked_to_balance_by_a_reschedule_interrupt() {
    let lab = modern(&Topology::flat(4), &["nohz_balance=balance_only"]);
    for _ in 0..2 {
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    }
    lab.advance(Nanos::from_millis(100));
    assert_eq!(kicks(&lab, 0), [1, 0]);
    let kick = lab.k.platform.ipis.borrow()[0];
    assert_eq!((kick.to, lab.decisions().contains(&Reason::KickOverload)), (CpuId(1), true));
    lab.advance(Nanos::from_millis(100));
    assert_eq!(kicks(&lab, 0), [0, 0], "CPU 1 has been asked");
    for p in lab.k.tasks.iter().filter(|p| lab.k.task(*p).on_rq.get()) {
        lab.k.task(p).cpus_allowed.overwrite(cpus(&[0, 1, 3]));
        lab.k.task(p).nr_cpus_allowed.overwrite(3);
    }
    lab.deliver(kick);
    lab.settle();
    assert_eq!(lab.queued_on(), [1, 0, 0, 1]);
    lab.advance(Nanos::from_millis(100));
    assert_eq!(kicks(&lab, 0), [0, 0], "nobody waits");
}

/// The same: the server itself comes last, but comes.
#[test]
fn who_was_kicked_balanced_itself() {
    let lab = modern(&Topology::flat(2), &["nohz_balance=balance_only"]);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.spawn(Policy::Normal, 0);
    lab.run_on(Nanos::from_millis(100));
    assert_eq!(lab.queued_on(), [1, 1]);
}

/// The same: a busy cache is a reason only where another one could help; without it nobody is kicked, and
/// what sleeps on idle CPUs does not fade.
#[test]
fn nobody_was_kicked_for_averages_or_within_one_cache() {
    let kicked = |topology: &Topology, rule: &str| {
        let lab = modern(topology, &[rule]);
        lab.hogs_of_load(&[0, 2], 1024);
        lab.run_on(Nanos::from_millis(100));
        lab.count(Reason::KickBusyLlc) > 0
    };
    let (one, two) = (Topology::flat(8), two_sockets());
    assert_eq!([&one, &two].map(|t| kicked(t, "nohz_balance=balance_only")), [false, true]);
    assert_eq!([&one, &two].map(|t| kicked(t, "nohz_balance=next_due")), [true; 2]);
    let asleep = |rule: &str| {
        let lab = modern(&Topology::flat(2), &[rule]);
        for cpu in [0, 1] {
            lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
        }
        lab.run_on(Nanos::from_secs(1));
        lab.block(1);
        lab.run_on(Nanos::from_millis(200));
        lab.k.rq(CpuId(1)).published.pelt.average.load_avg.get()
    };
    assert!(asleep("nohz_balance=ascending") < 100 && asleep("nohz_balance=balance_only") > 1000);
}
